package ingest

import (
	"context"
	"errors"
	"time"

	"github.com/rimewatch/rimewatch/internal/engine"
	"github.com/rimewatch/rimewatch/internal/rejudge"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/ticker"
)

// rejudger is the goroutine that judges devices with late readings again.
type rejudger struct{ s *Service }

func (s rejudger) run() {
	select {
	case <-s.s.known.loaded:
	case <-s.s.inbox.stopping:
		return
	}
	for range ticker.Every(s.s.inbox.stopping, rejudgeTick, nil) {
		for s.some() {
		}
	}
}

// some judges some devices again, and reports whether there may be others.
func (s rejudger) some() (more bool) {
	var list []*rejudged
	if !s.s.inbox.call(func(w *writer) { list = w.beginRejudging() }) || len(list) == 0 {
		return false
	}
	began := time.Now()
	for _, x := range list {
		if x.found, x.err = rejudge.Read(context.Background(), s.s.store, &x.device, s.s.clock()); x.err != nil {
			s.s.troubled("judge late readings", x.err)
		}
	}
	select {
	case <-time.After(rejudgePause * time.Since(began)):
	case <-s.s.inbox.stopping:
		return false
	}
	return s.s.inbox.call(func(w *writer) { w.finishRejudging(list) })
}

// beginRejudging begins with the units whose turn has come.
func (w *writer) beginRejudging() (list []*rejudged) {
	for _, u := range w.eval.rejudging.take(w.clock()) {
		state, err := w.stateOf(u)
		switch {
		case u.Deleted:
			u.Own.late = false
		case err != nil || w.fleet.Current(u) == nil:
			w.eval.rejudging.end(u, w.clock())
			w.eval.rejudging.add(u)
		case !state.Health.HasLate():
			u.Own.late = false
		default:
			list = append(list, &rejudged{unit: u, cfg: u.Config, siteID: u.Own.siteID, device: lateDevice(u, state)})
		}
	}
	return list
}

// stateOf returns a unit's state, which comes into memory if it is not there.
func (w *writer) stateOf(u *unit) (*engine.State, error) {
	if w.fleet.State(u) == nil && !u.Deleted {
		if err := w.makeRoom(1); err != nil {
			return nil, err
		}
		if err := w.fleet.LoadOne(u); err != nil {
			w.troubled("read the states of devices", err)
			return nil, err
		}
		w.fleet.Lock()
		defer w.fleet.Unlock()
		w.eval.takeNews()
	}
	return w.fleet.State(u), nil
}

// finishRejudging commits the conclusions about some units.
func (w *writer) finishRejudging(list []*rejudged) {
	r := &request{done: make(chan error, 1)}
	for _, one := range list {
		u := one.unit
		w.eval.rejudging.end(u, w.clock())
		if u.Deleted {
			continue
		}
		if one.err == nil {
			one.err = w.concludeRejudged(one, r)
		}
		if one.err != nil && !u.Own.late {
			w.eval.rejudging.add(u)
		}
	}
	if len(r.inputs) > 0 {
		w.inbox.waiting.Add(int64(r.weight()))
		w.commit(r, nil)
	}
}

var errChanged = errors.New("the device has changed meanwhile")

// concludeRejudged adds the conclusion about a unit to a request. All commits are in its state and
// in the store, and nothing else changes now.
func (w *writer) concludeRejudged(one *rejudged, r *request) error {
	u := one.unit
	state, err := w.stateOf(u)
	if err != nil {
		return err
	}
	if w.fleet.Current(u) == nil || u.Config != one.cfg || u.Own.siteID != one.siteID {
		return errChanged
	}
	next, m, err := one.found.Finish(context.Background(), &state.Health, w.clock())
	if err != nil {
		return err
	}
	r.inputs = append(r.inputs, store.Input{Kind: store.InputRejudged, DeviceID: u.ID, Payload: next.AppendBinary(nil)})
	r.rejudged = append(r.rejudged, m)
	return nil
}
