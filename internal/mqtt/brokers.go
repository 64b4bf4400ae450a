package mqtt

import (
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/inlet"
	"github.com/rimewatch/rimewatch/internal/source"
	"github.com/rimewatch/rimewatch/internal/ticker"
)

// Sources has the methods of source.Service that Brokers call.
type Sources interface {
	Receiver
	ByID(ctx context.Context, workspaceID, id int64) (*source.Live, error)
	Fresh(ctx context.Context, l *source.Live) (*source.Live, error)
	// TooLarge counts a message that was too large to be read.
	TooLarge()
}

// BrokersConfig of Brokers. Sources, List, Dial, Fleet and Now are needed.
type BrokersConfig struct {
	Sources Sources
	List    func(ctx context.Context) ([]rimewatch.Source, error) // those of kind mqtt
	Dial    func(ctx context.Context, network, address string) (net.Conn, error)
	// Fleet calls each for every device of a workspace, until it returns an error.
	Fleet func(ctx context.Context, workspaceID int64, each func(*rimewatch.DeviceView) error) error
	Now   func() rimewatch.Time
	Log   *slog.Logger
}

// Brokers keep a connection to the broker of every source of kind mqtt that is
// enabled.
type Brokers struct {
	cfg     BrokersConfig
	changed chan struct{}

	ctx    context.Context // of the connections
	cancel context.CancelFunc
	hard   context.Context // of what is being stored
	abort  context.CancelFunc
	wait   sync.WaitGroup

	mu      sync.Mutex
	running map[int64]*link
}

// NewBrokers makes brokers that are not connected yet.
func NewBrokers(cfg BrokersConfig) *Brokers {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	b := &Brokers{cfg: cfg, changed: make(chan struct{}, 1), running: make(map[int64]*link)}
	b.ctx, b.cancel = context.WithCancel(context.Background())
	b.hard, b.abort = context.WithCancel(context.Background())
	return b
}

// Changed makes the brokers look at the sources again.
func (b *Brokers) Changed() {
	select {
	case b.changed <- struct{}{}:
	default:
	}
}

// State returns that of a source's broker; false for one that is not to be
// connected.
func (b *Brokers) State(sourceID int64) (source.BrokerState, bool) {
	b.mu.Lock()
	k := b.running[sourceID]
	b.mu.Unlock()
	if k == nil {
		return source.BrokerState{}, false
	}
	return k.current(), true
}

// Connected returns how many brokers are.
func (b *Brokers) Connected() (n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, k := range b.running {
		if k.current().Connected {
			n++
		}
	}
	return n
}

// lookEvery is how soon a change by another process counts.
const lookEvery = 30 * time.Second

// Start begins to connect.
func (b *Brokers) Start() {
	b.wait.Go(func() {
		b.look()
		for range ticker.Every(b.ctx.Done(), lookEvery, b.changed) {
			b.look()
		}
	})
}

// Stop ends all connections: what is being stored is stored and acknowledged
// first, as far as ctx allows.
func (b *Brokers) Stop(ctx context.Context) {
	b.cancel()
	defer context.AfterFunc(ctx, b.abort)()
	b.wait.Wait()
	b.abort()
}

// look starts and ends connections as the sources are now.
func (b *Brokers) look() {
	list, err := b.cfg.List(b.ctx)
	if err != nil {
		if b.ctx.Err() == nil {
			b.cfg.Log.Warn("MQTT: read the sources", "err", err)
		}
		return
	}
	wanted := make(map[int64]*rimewatch.Source, len(list))
	for i := range list {
		if list[i].Enabled {
			wanted[list[i].ID] = &list[i]
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	before := make(map[int64]*link)
	for id, k := range b.running {
		if s := wanted[id]; s == nil || !sameBroker(&s.Broker, &k.source.Broker) {
			k.gone.Store(s == nil || s.Broker.URL != k.source.Broker.URL || s.Broker.Discovery != k.source.Broker.Discovery)
			k.stop()
			delete(b.running, id)
			before[id] = k
		}
	}
	for id, s := range wanted {
		if b.running[id] != nil {
			continue
		}
		run, stop := context.WithCancel(b.ctx)
		k := &link{b: b, source: *s, stop: stop, ended: make(chan struct{}), state: source.BrokerState{Since: b.cfg.Now()}}
		b.running[id] = k
		old := before[id]
		b.wait.Go(func() {
			defer stop()
			defer close(k.ended)
			if old != nil {
				<-old.ended // what it stores it acknowledges
			}
			k.keep(run)
		})
	}
}

func sameBroker(a, b *rimewatch.Broker) bool {
	return a.URL == b.URL && a.Username == b.Username && a.Password == b.Password && a.ClientID == b.ClientID && a.Discovery == b.Discovery && slices.Equal(a.Topics, b.Topics)
}

// Pauses between tries to connect: each twice the one before.
const (
	firstPause = time.Second
	maxPause   = time.Minute
)

// keep keeps a source connected until ctx ends.
func (k *link) keep(ctx context.Context) {
	pause := firstPause
	for ctx.Err() == nil {
		worked, err := k.connection(ctx)
		if ctx.Err() != nil {
			return
		}
		k.failed(err)
		if worked {
			pause = firstPause
		}
		jitter := time.Duration(rand.Int64N(int64(pause) / 4)) // those who lost one broker do not return at once
		select {
		case <-ctx.Done():
		case <-time.After(pause - jitter):
		}
		pause = min(2*pause, maxPause)
	}
}

func (k *link) current() source.BrokerState {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.state
}

func (k *link) failed(err error) {
	why := explain(err)
	text := why.Stored()
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.state.Connected || k.state.Problem != text {
		k.state.Since = k.b.cfg.Now()
		k.b.cfg.Log.Warn("MQTT broker", "source", k.source.ID, "name", k.source.Name, "problem", why.String(), "err", err)
	}
	k.state.Connected, k.state.Problem = false, text
}

func (k *link) connected(problem string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.state.Connected, k.state.Problem, k.state.Since = true, problem, k.b.cfg.Now()
	k.b.cfg.Log.Info("MQTT broker connected", "source", k.source.ID, "name", k.source.Name)
}

// leftOut notes a message of a topic that was too large to be read.
func (k *link) leftOut(topic string) {
	const shown = 100
	topic = rimewatch.Shorten(topic, shown)
	k.b.cfg.Sources.TooLarge()
	k.mu.Lock()
	defer k.mu.Unlock()
	k.state.Messages++
	k.state.LastAt = k.b.cfg.Now()
	k.state.Problem = rimewatch.Sentencef("A message of %s was larger than %d MiB and was left out.", topic, inlet.MaxPayload>>20).Stored()
}

func (k *link) received(n int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.state.Messages += int64(n)
	k.state.LastAt = k.b.cfg.Now()
}

// dial connects to the broker, by TLS where its URL says so.
func (k *link) dial(ctx context.Context) (net.Conn, error) {
	host, port, secure := address(k.source.Broker.URL)
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	c, err := k.b.cfg.Dial(ctx, "tcp", net.JoinHostPort(host, port))
	if err != nil || !secure {
		return c, err
	}
	t := tls.Client(c, &tls.Config{ServerName: host, MinVersion: tls.VersionTLS12})
	if err := t.HandshakeContext(ctx); err != nil {
		_ = c.Close()
		return nil, fmt.Errorf("%w: %w", errHandshake, err)
	}
	return t, nil
}

// clientID names this installation's source to its broker, which keeps what comes
// for it while we are away.
func clientID(s *rimewatch.Source) string {
	return cmp.Or(s.Broker.ClientID, nodeID(s))
}
