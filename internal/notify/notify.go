package notify

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/notify/message"
	"github.com/rimewatch/rimewatch/internal/store"
)

// Store has the methods of a store that notifications call.
type Store interface {
	store.Alerts
	Routing() store.Routing
	Outbox() store.Outbox
	Records() store.Records
	Everywhere() store.Everywhere
	Workspaces(ctx context.Context) ([]rimewatch.Workspace, error)
	Workspace(ctx context.Context, id int64) (rimewatch.Workspace, error)
	Sites() store.Resource[rimewatch.Site]
	Contacts() store.Resource[rimewatch.Contact]
	People() store.People
}

// Sender hands a message to a receiver once. key is the delivery's and the same
// for every attempt. The remark says what did not work although the message was
// taken, as Sentence.Stored returns it, "" = nothing. An error with CodeUnavailable may pass (after RetryAfter,
// if that is set); any other is final. Its message is shown to people. Check
// reports, without connecting to anybody, whether a channel can be used:
// CodeValidationFailed. Bundles reports whether several alerts may go to the
// channel in one message.
type Sender interface {
	Check(c *rimewatch.Channel) error
	Bundles(c *rimewatch.Channel) bool
	Send(ctx context.Context, c *rimewatch.Channel, key string, m *message.Message) (remark string, err error)
}

// Config of a Service.
type Config struct {
	Store   Store
	Senders map[rimewatch.ChannelKind]Sender // a kind without one cannot be used
	Post    Poster                           // nil = webhooks cannot be used
	Newest  Newest                           // nil = webhooks are sent no readings
	Report  Reporter                         // nil = reports are not made
	// Address returns how people reach the service, "" = unknown; nil likewise.
	Address func(context.Context) string
	// LinkKey signs the links by which somebody acknowledges who is not signed in; nil = there are none.
	LinkKey []byte
	Now     func() time.Time
	Logger  *slog.Logger
	// PerChannel bounds the messages under way to one channel. Default 4.
	PerChannel int
	// PerLane bounds the deliveries in memory for one channel; those beyond that
	// wait in the store. Default 1000.
	PerLane int
}

// Service plans and sends. Start it before use, stop it after the last use.
type Service struct {
	cfg   Config
	store Store
	log   *slog.Logger

	wake    chan struct{} // the planner has something to do
	started rimewatch.Time
	planner planner // of the planner goroutine

	programs programs

	mu      sync.Mutex
	asked   map[int64]int64 // alerts to be planned again, with their workspace
	changed map[int64]bool  // workspaces whose rules have changed
	back    bool            // the clock was set back: all active alerts are to be planned again
	lanes   map[int64]*lane // by channel
	figures Figures
	missed  map[int64]missed // active critical alerts without a route or without a notified person
	stopped bool

	handing sync.RWMutex // held to read between storing deliveries and handing them over, and by who reads the store for a lane

	turned  atomic.Int64 // when the planner last went round
	ctx     context.Context
	cancel  context.CancelFunc
	workers sync.WaitGroup
}

// New makes a service; Start brings it to life.
func New(cfg Config) *Service {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.PerChannel == 0 {
		cfg.PerChannel = 4
	}
	if cfg.PerLane == 0 {
		cfg.PerLane = 1000
	}
	s := &Service{
		cfg: cfg, store: cfg.Store, log: cfg.Logger,
		wake:  make(chan struct{}, 1),
		asked: make(map[int64]int64), changed: make(map[int64]bool), lanes: make(map[int64]*lane), missed: make(map[int64]missed),
		figures: Figures{Deliveries: make(map[Kind]int64)},
	}
	s.planner.init()
	s.programs.init()
	s.ctx, s.cancel = context.WithCancel(context.Background())
	return s
}

func (s *Service) now() rimewatch.Time { return rimewatch.TimeOf(s.cfg.Now()) }

// Start takes up waiting deliveries and begins to plan and to send.
func (s *Service) Start(ctx context.Context) error {
	s.started = s.now()
	s.turned.Store(int64(s.started))
	if err := s.restore(ctx); err != nil {
		return err
	}
	s.workers.Go(s.run)
	s.workers.Go(s.runPrograms)
	if s.cfg.Newest != nil {
		s.workers.Go(s.runBatches)
	}
	return nil
}

// Stop breaks off messages under way (they are sent again after the next start), plans committed
// transitions and returns when nothing runs any more.
func (s *Service) Stop() {
	s.mu.Lock()
	s.stopped = true
	s.mu.Unlock()
	s.cancel()
	s.workers.Wait()
}

// finishWithin bounds a stop's wait for the store.
const finishWithin = 2 * time.Second

// finish plans the transitions of before the stop, to be sent after the next start:
// who divides the store, or moves it, finds no alert that nobody was to hear of yet.
func (s *Service) finish() {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(s.ctx), finishWithin)
	defer cancel()
	for _, l := range s.planner.looks {
		if l.pause > 0 { // the stop may be why it was put off
			s.planner.setLook(l, s.now())
		}
	}
	if err := s.planDue(ctx); err != nil {
		s.log.Warn("the latest changes of alerts are planned after the next start", "err", err)
	}
}

// Wake is called when a commit has changed alerts. It returns at once.
func (s *Service) Wake() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// Changed is called when a workspace's channels, routes, silences or maintenance
// windows have changed: its active alerts are looked at again.
func (s *Service) Changed(workspaceID int64) {
	s.mu.Lock()
	s.changed[workspaceID] = true
	s.mu.Unlock()
	s.Wake()
}

// again asks for an alert to be planned again.
func (s *Service) again(workspaceID, alertID int64) {
	s.mu.Lock()
	s.asked[alertID] = workspaceID
	s.mu.Unlock()
	s.Wake()
}

// SetBack is called once the clock was set back by so many milliseconds (by < 0). What
// waits for its next attempt is tried at once: its moment has moved away.
func (s *Service) SetBack(by rimewatch.Time) {
	s.mu.Lock()
	s.back = true
	lanes := slices.Collect(maps.Values(s.lanes))
	s.mu.Unlock()
	for _, l := range lanes {
		l.setBack(by, s.now())
	}
	s.Wake()
}

// Kind are the labels that deliveries are counted by.
type Kind struct {
	Kind   rimewatch.DeliveryKind
	Status rimewatch.DeliveryStatus // sent, failed or dropped
}

// Figures describe a service for metrics.
type Figures struct {
	Deliveries    map[Kind]int64 // finished ones, since the start
	Attempts      int64          // to send a message, which may be of several alerts
	Failures      int64          // attempts that failed
	Pending       int            // deliveries that wait or are under way
	OldestPending rimewatch.Time // when the oldest of them was made, 0 = none
	Failing       int            // channels whose last attempt failed
	Unrouted      int            // active critical alerts that no route brings to anybody
	Untold        int            // those of them, and others, that nobody was notified of
}

// Figures returns the figures of the moment.
func (s *Service) Figures() Figures {
	s.mu.Lock()
	f := s.figures
	f.Deliveries = maps.Clone(s.figures.Deliveries)
	lanes := slices.Collect(maps.Values(s.lanes))
	for _, m := range s.missed {
		m.add(&f.Unrouted, &f.Untold)
	}
	s.mu.Unlock()
	for _, l := range lanes {
		pending, oldest, failing := l.state()
		f.Pending += pending
		if oldest != 0 && (f.OldestPending == 0 || oldest < f.OldestPending) {
			f.OldestPending = oldest
		}
		if failing {
			f.Failing++
		}
	}
	return f
}

// missed is an active critical alert without anyone to notify.
type missed struct {
	workspace        int64
	unrouted, untold bool
}

func (m missed) add(unrouted, untold *int) {
	if m.unrouted {
		*unrouted++
	}
	if m.untold {
		*untold++
	}
}

// Missed counts the active critical alerts of a workspace that no route brings to anybody,
// and those that nobody was notified of.
func (s *Service) Missed(workspaceID int64) (unrouted, untold int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range s.missed {
		if m.workspace == workspaceID {
			m.add(&unrouted, &untold)
		}
	}
	return unrouted, untold
}

// note keeps the facts of an alert for Missed and Figures.
func (s *Service) note(alert int64, m missed) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if m.unrouted || m.untold {
		s.missed[alert] = m
	} else {
		delete(s.missed, alert)
	}
}

// count notes how deliveries have come to an end; those that are pending still have not.
func (s *Service) count(list ...*item) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, it := range list {
		if it.Status != rimewatch.DeliveryPending {
			s.figures.Deliveries[Kind{it.Kind, it.Status}]++
		}
	}
}

// tried notes an attempt to send a message, or to make one.
func (s *Service) tried(failed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.figures.Attempts++
	if failed {
		s.figures.Failures++
	}
}

// stuckAfter is how long the planner may take for a round before it counts as
// stuck. It goes round every quarter of a minute even when there is nothing to do.
const stuckAfter = rimewatch.Minute

// Stuck returns CodeUnavailable when the planner has not gone round for a minute.
func (s *Service) Stuck() error {
	if since := s.now() - rimewatch.Time(s.turned.Load()); since > stuckAfter {
		return rimewatch.Errorf(rimewatch.CodeUnavailable, "Notifications have not been planned for %d s.", since/rimewatch.Second)
	}
	return nil
}
