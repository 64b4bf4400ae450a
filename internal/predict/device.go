package predict

import (
	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/state"
	"github.com/rimewatch/rimewatch/internal/unit"
)

// State is what the predictor remembers of one device in addition to what the unit has
// learnt of it. The zero State is a device that was never heard of. It holds no
// pointers: a copy is a snapshot.
type State struct {
	quick  quick
	hist   history
	alarm  alarm
	raised uint8 // fault of the alert that the caller knows of, 0 = none
}

// Observe judges what the unit u has observed in a reading that arrived at now.
// The transitions it brings are appended to out.
//
// A reading that is old on arrival is learnt from and judged like any other, but
// nothing is announced of it: history that is imported makes the unit known, and
// what still holds when readings are recent again is announced then.
func (s *State) Observe(u *unit.State, o *unit.Observation, now rimewatch.Time, out []Transition) []Transition {
	if o.Late {
		return out
	}
	from := len(out)
	if o.Relearnt {
		out = s.forget(u, o.At, rimewatch.EndedRelearning, out)
	}
	if unjudged(u) {
		return s.announce(u, o.At, from, out)
	}
	if a := &s.alarm; a.active() && a.departs != 0 && a.departs&decisives&^u.Aside() == 0 && !a.byEvent {
		out = s.resolve(u, o.At, rimewatch.EndedSensor, out)
	}
	if a := &s.alarm; a.active() && u.AirOff() && !a.byEvent {
		out = s.resolve(u, o.At, rimewatch.EndedAmbient, out)
	}
	if u.Doubtful() || u.Contradicted() || u.Missing().Has(rimewatch.AmbientTemp) {
		return s.announce(u, o.At, from, out)
	}
	if o.WindowEnded && !u.Learning() && !u.Resettling() {
		out = s.judge(u, o, out)
	}
	if !u.Modulated() { // another load looks like a sudden fault
		out = s.quickLook(u, o, out)
	}
	if now-o.At > staleAfter {
		return out[:from]
	}
	return s.announce(u, o.At, from, out)
}

// unjudged reports whether nothing is concluded of a compressor whose load varies: its
// current and its vibration follow the load, and neither pipe is known well enough.
func unjudged(u *unit.State) bool {
	return u.Modulated() && !u.Scored(unit.Discharge) && !u.Scored(unit.Suction)
}

// staleAfter is the age at which a reading says nothing about now.
const staleAfter = rimewatch.Hour

// announce makes the transitions of a reading agree with what the caller was
// notified of before: what happened in readings that were too old for that is made up
// for.
func (s *State) announce(u *unit.State, at rimewatch.Time, from int, out []Transition) []Transition {
	if s.raised == s.alarm.fault && len(out) == from {
		return out // the usual case
	}
	raised, now := faults[s.raised].alert, faults[s.alarm.fault].alert
	if raised == now && len(out) == from || follows(out[from:], raised, now) {
		s.raised = s.alarm.fault
		return out
	}
	out = out[:from]
	f := s.findings(u)
	if raised != "" && raised != now {
		kept := s.alarm
		s.alarm = alarm{fault: s.raised}
		t := s.transition(u, rimewatch.TransitionResolved, at, &f)
		t.Resolution, t.Ending = rimewatch.ResolvedAuto, rimewatch.EndedAsUsual
		if now != "" {
			t.Resolution, t.Ending = rimewatch.ResolvedSuperseded, rimewatch.EndedOtherFault
		}
		s.alarm = kept
		out = append(out, t)
	}
	switch {
	case now == "":
	case now == raised:
		out = append(out, s.transition(u, rimewatch.TransitionUpdated, at, &f))
	default:
		out = append(out, s.transition(u, rimewatch.TransitionOpened, at, &f))
	}
	s.raised = s.alarm.fault
	return out
}

// follows reports whether transitions lead from an open alert of one type to one
// of another; "" is none.
func follows(list []Transition, open, end rimewatch.AlertType) bool {
	for i := range list {
		switch t := &list[i]; {
		case t.Kind == rimewatch.TransitionOpened && open == "":
			open = t.Type
		case t.Kind == rimewatch.TransitionResolved && open == t.Type:
			open = ""
		case t.Kind == rimewatch.TransitionOpened || t.Kind == rimewatch.TransitionResolved || open != t.Type:
			return false
		}
	}
	return open == end
}

// Hold returns what the unit must not learn while an alert is open.
func (s *State) Hold() unit.Hold {
	if s.alarm.active() {
		return unit.HoldBaseline
	}
	return 0
}

// format is that of a State.
var format = state.Of[State](5, 5)

// AppendBinary appends the state for a checkpoint. Equal states give equal bytes.
func (s *State) AppendBinary(b []byte) []byte { return format.Append(b, s) }

// DecodeBinary reads what AppendBinary wrote and returns the rest of b. After an
// error s is unspecified.
func (s *State) DecodeBinary(b []byte) (rest []byte, err error) {
	if state.Version(b) == version4 {
		*s = State{}
		rest, err = state.ReadFormer(b[1:], s.former)
	} else {
		rest, err = format.Decode(b, s)
	}
	if err == nil && !s.sound() {
		err = state.ErrDamaged
	}
	return rest, err
}

// sound reports whether a state that was read could have been written.
func (s *State) sound() bool {
	return s.alarm.fault < numFaults && s.alarm.second < numFaults && s.raised < numFaults && s.hist.n <= historyLen && s.hist.next < historyLen
}

// Move moves every moment that is remembered by so many milliseconds.
func (s *State) Move(by rimewatch.Time) { format.Move(s, by) }
