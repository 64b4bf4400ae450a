package unit

import (
	"math/bits"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/state"
)

// format is that of a State. One of a version before the oldest that is read is refused:
// its device is then learnt anew.
var format = state.Of[State](14, 14)

// AppendBinary appends the state for a checkpoint. Equal states give equal
// bytes.
func (s *State) AppendBinary(b []byte) []byte { return format.Append(b, s) }

// DecodeBinary reads what AppendBinary wrote and returns the rest of b. After an
// error s is unspecified.
func (s *State) DecodeBinary(b []byte) (rest []byte, err error) {
	if v := state.Version(b); v == version12 || v == version13 {
		*s = State{}
		rest, err = state.ReadFormer(b[1:], func(c *state.Former) { s.former(c, v) })
	} else {
		rest, err = format.Decode(b, s)
	}
	if err == nil && !s.sound() {
		return nil, state.ErrDamaged
	}
	if s.model.all.n > 0 { // a sample was taken
		s.model.keepOwn()
	}
	return rest, err
}

// sound reports whether a state that was read could have been written: what selects
// among others is one of them.
func (s *State) sound() bool {
	h, b, p := &s.humps, &s.doubts, &s.doubts.probes
	for _, j := range [...]*jump{&p.zone, &p.pipe} {
		if j.field >= numProbes {
			return false
		}
	}
	return bits.Len32(uint32(s.broken)) <= int(rimewatch.NumCore) &&
		int(s.why) < len(reasons) && s.running.source <= fromFlag && s.running.spike <= inRun && s.running.alike <= 2 &&
		s.phases.phase <= NoPower && s.phases.from <= NoPower && int(s.phases.tripN) < len(s.phases.trips) &&
		int(h.looseN) <= len(h.loose) && int(h.onsetN) <= len(h.onsets) && max(h.hump.departed[0], h.hump.departed[1]) <= noKind &&
		int(s.supply.n) <= voltageSamples+len(nominalVoltages) && s.unreached.n <= leastShown &&
		b.creeps.known <= weekDays && p.exam < rimewatch.NumCore
}

// Move moves every moment that is remembered by so many milliseconds, and the ends of the hour
// and of the six hours that are being gathered by whole hours.
func (s *State) Move(by rimewatch.Time) {
	format.Move(s, by)
	for _, end := range [...]*rimewatch.Time{&s.hourEnd, &s.winEnd} {
		if *end != 0 {
			*end += by / hour * hour
		}
	}
	s.doubts.probes.exam = examined(s)
}
