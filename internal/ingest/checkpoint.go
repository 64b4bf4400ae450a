package ingest

import (
	"math"
	"time"

	"github.com/rimewatch/rimewatch/internal/fleet"
	"github.com/rimewatch/rimewatch/internal/ticker"
)

const (
	checkpointTick = time.Second
	settingsTicks  = 5 // between two looks at the settings: an idle server is not to read them every second
)

// checkpoints is the goroutine that writes the states of changed units.
func (s *Service) checkpoints() {
	ticks := 0
	for range ticker.Every(s.inbox.stopping, checkpointTick, nil) {
		s.checkpoint(s.cfg.CheckpointAfter, true)
		if ticks++; ticks%settingsTicks == 0 || s.known.lagging.Load() {
			s.watchSettings()
		}
	}
}

// checkpoint writes the units whose oldest change is older than age, paced as many
// as one tick may, and all that lag far behind. The log may then drop the inputs that no
// unit needs.
func (s *Service) checkpoint(age time.Duration, paced bool) {
	s.checkpointing.Lock()
	defer s.checkpointing.Unlock()
	due := fleet.Due{Before: s.clock().Add(-age), Most: math.MaxInt, Inputs: s.cfg.CheckpointInputs}
	if paced && !s.inbox.call(func(w *writer) { due.Most = w.fleet.Pace(checkpointTick, age) }) {
		return
	}
	for wrote := false; ; wrote = true {
		if !s.inbox.call(func(w *writer) { w.fleet.Copy(&s.copies, due, w.known.durable.Seq) }) || s.copies.Needless() || s.copies.Len() == 0 && wrote {
			return
		}
		n := s.copies.Len()
		due.Most = max(0, due.Most-n)
		err := s.fleet.Save(&s.copies)
		s.inbox.call(func(w *writer) { w.fleet.Saved(&s.copies, err) })
		s.copies.Clear()
		if err != nil {
			s.log.Warn("checkpoint", "err", err)
			return
		}
		if n < fleet.CheckpointTake {
			return
		}
	}
}

// CheckpointAll writes the states of all changed units now: before the store
// is brought to rest.
func (s *Service) CheckpointAll() {
	select {
	case <-s.known.loaded:
		s.checkpoint(0, false)
	case <-s.inbox.stopping:
	}
}
