package ingest

import (
	"context"
	"sync"
	"time"

	"github.com/rimewatch/rimewatch/internal/fleet"
)

// Service is the write path: it queues writes and answers questions about the present state of
// devices. Start it before use, stop it after the last use.
type Service struct {
	*base
	inbox *inbox
	known *known
	fleet *fleet.Fleet[about]

	refreshing    sync.Mutex // held to read settings and hand them over, so that older ones never come last
	checkpointing sync.Mutex
	copies        fleet.Copies[about] // kept for the next checkpoint; under checkpointing

	stopOnce sync.Once
	workers  sync.WaitGroup
}

// New makes a service; Start starts it.
func New(cfg Config) *Service {
	cfg.defaults()
	return &Service{
		base:  &base{cfg: cfg, store: cfg.Store, log: cfg.Logger},
		inbox: newInbox(&cfg),
		known: &known{totals: make(map[int64]*totals), loaded: make(chan struct{})},
		fleet: fleet.New[about](fleet.Config{Store: cfg.Store, Logger: cfg.Logger, StateMemory: cfg.StateMemory}),
	}
}

// Start rebuilds the units from the store and begins to take requests. Those of a
// large fleet are rebuilt when they are needed, and all the others meanwhile.
func (s *Service) Start(ctx context.Context) error {
	w := newWriter(s.base, s.inbox, s.known, s.fleet)
	if err := (&recovery{w}).recover(ctx); err != nil {
		return err
	}
	s.workers.Go(w.write)
	s.workers.Go(rejudger{s}.run)
	if s.Loading() {
		s.workers.Go(func() {
			if s.loadRest() {
				s.applySettings(context.Background())
				s.checkpoints()
			}
		})
		return nil
	}
	s.workers.Go(s.checkpoints)
	s.applySettings(ctx)
	return nil
}

// Stop refuses new requests, commits those that wait and returns when nothing runs any more. It
// writes no checkpoints: the next start replays the log instead.
func (s *Service) Stop() {
	s.stopOnce.Do(s.inbox.stop)
	s.workers.Wait()
}

// WorstCommit returns the longest time that a group took since the last call, from its staging to
// its commit, for metrics.
func (s *Service) WorstCommit() time.Duration { return time.Duration(s.known.worst.Swap(0)) }

// QueueDepth is the number of inputs that wait, for metrics and readiness.
func (s *Service) QueueDepth() int64 { return s.inbox.waiting.Load() }
