package predict

import (
	"errors"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/unit"
)

// State is what the predictor remembers of one device beside what the unit has
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

const stateVersion = 4

var errState = errors.New("predict: not an encoded state of this version")

// AppendBinary appends the state for a checkpoint. Equal states give equal
// bytes.
func (s *State) AppendBinary(b []byte) []byte {
	c := unit.Writer(append(b, stateVersion))
	own := *s // the codec writes what it reads
	own.code(&c)
	b, _ = c.Done()
	return b
}

// DecodeBinary reads what AppendBinary wrote and returns the rest of b. After an
// error s is as it was.
func (s *State) DecodeBinary(b []byte) (rest []byte, err error) {
	if len(b) == 0 || b[0] != stateVersion {
		return nil, errState
	}
	c := unit.Reader(b[1:])
	var fresh State
	fresh.code(&c)
	rest, ok := c.Done()
	if !ok || fresh.alarm.fault >= numFaults || fresh.alarm.second >= numFaults || fresh.raised >= numFaults ||
		fresh.hist.n > historyLen || fresh.hist.next >= historyLen {
		return nil, errState
	}
	*s = fresh
	return rest, nil
}

// Move moves every moment that is remembered by so many milliseconds.
func (s *State) Move(by rimewatch.Time) {
	for _, t := range []*unit.Stamp{&s.quick.from, &s.quick.muted, &s.alarm.since, &s.alarm.opened, &s.alarm.renewed} {
		if t.Set() {
			*t = unit.StampOf(t.Time() + by)
		}
	}
}

func (s *State) code(c *unit.Codec) {
	for ch := range trendChannels {
		for i := range historyLen {
			v := s.hist.get(ch, i)
			c.Signed(&v)
			s.hist.put(ch, i, v)
		}
	}
	c.Bytes(&s.hist.next, &s.hist.n, &s.raised)
	s.quick.code(c)
	s.alarm.code(c)
}

func (q *quick) code(c *unit.Codec) {
	for i := range q.early {
		for k := range q.early[i] {
			c.Reals(&q.early[i][k].mean, &q.early[i][k].vari)
			c.Shorts(&q.early[i][k].n)
		}
	}
	for i := range q.mean {
		c.Floats(&q.mean[i])
	}
	c.Stamps(&q.from, &q.muted)
	c.Floats(&q.tripAmp)
	c.Bytes(&q.n, &q.steady, &q.cried)
}

func (a *alarm) code(c *unit.Codec) {
	c.Stamps(&a.since, &a.opened, &a.renewed)
	c.Floats(&a.lead.h, &a.lead.lo, &a.lead.hi, &a.score, &a.risk)
	c.Bytes(&a.fault, (*uint8)(&a.departs), &a.second, &a.calm, &a.other, &a.pending, &a.weak)
	c.Bools(&a.critical, &a.sudden, &a.supported, &a.byEvent, &a.hasLead, &a.asks)
}
