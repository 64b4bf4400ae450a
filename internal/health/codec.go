package health

import (
	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/state"
)

// format is that of a State.
var format = state.Of[State](4, 4)

// AppendBinary appends the state for a checkpoint, 70–130 bytes for a device
// that reports all the time, some 40 more while short runs out of limits add up.
func (s *State) AppendBinary(b []byte) []byte { return format.Append(b, s) }

// DecodeBinary reads what AppendBinary wrote and returns the rest of b. After an
// error s is unspecified.
func (s *State) DecodeBinary(b []byte) (rest []byte, err error) {
	if v := state.Version(b); v == version2 || v == version3 {
		rest, err = s.decodeFormer(b[1:], v)
	} else {
		rest, err = format.Decode(b, s)
	}
	if err == nil && !s.sound() {
		err = state.ErrDamaged
	}
	return rest, err
}

// sound reports whether a decoded state could have been written.
func (s *State) sound() bool {
	if max(s.side, -s.side, s.excursion, -s.excursion) > 1 || s.at < 0 || s.slot != slotOf(s.at) {
		return false
	}
	for i, p := range s.past {
		if p.covered() > full || p.out() > p.covered() || p.bad() > p.out() || uint32(s.cold[i]) > p.out()/coldUnits+1 {
			return false
		}
	}
	if x := &s.day; x.runs > 0 && (x.from < 0 || x.from+rimewatch.Time(x.to) > s.at) {
		return false
	}
	return s.now.covered <= uint32(span+unit) && s.start <= s.at && s.lateFrom <= s.lateTo
}
