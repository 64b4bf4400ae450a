package ingest

import (
	"context"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/clock"
	"github.com/rimewatch/rimewatch/internal/fleet"
	"github.com/rimewatch/rimewatch/internal/store"
)

// clockSteps adopts steps of the machine's clock. Of the writer goroutine.
type clockSteps struct {
	w    *writer
	news []clockOp // not written yet
}

// pass looks at the machine's clock. News that cannot be written, since the
// disk is full, is kept for the next tick.
func (s *clockSteps) pass() {
	if s.w.cfg.Clock == nil {
		return
	}
	switch e := s.w.cfg.Clock.Look(); e.Kind {
	case clock.Stepped:
		s.w.log.Warn("the machine's clock has stepped; it is believed once it has run steadily for a minute", "seconds", seconds(e.By))
		s.news = append(s.news, clockOp{action: "clock.stepped", by: e.By})
	case clock.Returned:
		s.w.log.Info("the machine's clock is back; its step was not believed")
		s.news = append(s.news, clockOp{action: "clock.returned"})
	case clock.Due:
		if s.adopt(e.By) {
			s.w.log.Warn("the machine's new time is adopted; deadlines move with it", "seconds", seconds(e.By))
			s.news = append(s.news, clockOp{action: "clock.adopted", by: e.By})
		}
	case clock.Steady:
	}
	for len(s.news) > 0 && s.note(s.news[0]) {
		s.news = s.news[1:]
	}
}

// adopt takes the machine's time. Forward, the time between is a downtime: no device could be
// heard.
func (s *clockSteps) adopt(by rimewatch.Time) bool {
	now := s.w.clock()
	if by < 0 {
		return s.note(clockOp{by: by, back: true})
	}
	if err := s.w.addDowntime(now + by); err != nil {
		s.w.troubled("record a step of the clock", err)
		return false
	}
	s.w.cfg.Clock.Adopt(by)
	return true
}

// note writes a step of the clock into the audit trail of every
// workspace, and sets the clock back.
func (s *clockSteps) note(op clockOp) bool {
	if op.action != "" {
		list, err := s.w.store.Workspaces(context.Background())
		if err != nil {
			s.w.troubled("list workspaces", err)
			return false
		}
		for i := range list {
			op.workspaces = append(op.workspaces, list[i].ID)
		}
		if len(list) == 0 {
			return true
		}
	}
	r := &request{clock: &op, done: make(chan error, 1)}
	if op.back {
		r.inputs = []store.Input{{Kind: store.InputClock, Payload: fleet.EncodeClock(op.by)}}
	}
	return s.w.commit(r, nil)
}

// committed ends a commit that has set the clock back, before anybody hears of it. All
// states come into memory for it. Under the lock.
func (s *clockSteps) committed(g *group) {
	by := g.requests[0].clock.by
	s.w.cfg.Clock.Adopt(by)
	s.w.watched, s.w.lastAlive = g.store.Now, g.store.Now
	if err := s.w.fleet.LoadAll(); err != nil {
		s.w.troubled("read the states of devices", err)
		s.w.away = true
	}
	s.w.eval.takeNews()
	s.w.fleet.SetBack(by, g.store.Now, g.store.Seq)
	for u := range s.w.fleet.All() {
		u.Own.sharedAt = min(u.Own.sharedAt, g.store.Now)
	}
	for _, x := range s.w.eval.sites.byID {
		x.lastAlertAt = min(x.lastAlertAt, g.store.Now)
		s.w.eval.sites.markDirty(x.id)
	}
	live := make([]store.LiveWrite, 0, s.w.fleet.Len())
	for u := range s.w.fleet.All() {
		state := s.w.fleet.State(u)
		if state == nil {
			continue
		}
		live = append(live, store.LiveWrite{DeviceID: u.ID, Presence: presenceOf(state, u.Config, &u.Vitals)})
		s.w.eval.setDeadline(u, state)
	}
	s.w.store.PutLive(live, nil)
}
