package alert

import (
	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/state"
)

// format is that of a State. One of a version before the oldest that is read is refused:
// its device is then judged anew, and alerts that are active lose their peaks.
var format = state.Of[State](16, 16)

// AppendBinary appends the state for a checkpoint: equal states give equal
// bytes. Rules that hold nothing take next to no room.
func (s *State) AppendBinary(b []byte) []byte { return format.Append(b, s) }

// DecodeBinary reads what AppendBinary wrote and returns the rest of b. After an
// error s is unspecified.
func (s *State) DecodeBinary(b []byte) (rest []byte, err error) {
	if v := state.Version(b); v >= oldestFormer && v <= withCooling {
		*s = State{}
		rest, err = state.ReadFormer(b[1:], func(c *state.Former) { s.former(c, v) })
	} else {
		rest, err = format.Decode(b, s)
	}
	if err == nil && !s.sound() {
		err = state.ErrDamaged
	}
	return rest, err
}

// sound reports whether a state that was read could have been written. An active alert
// always has a track.
func (s *State) sound() bool {
	for k := range s.exposures {
		if !s.exposures[k].sound() {
			return false
		}
	}
	return s.pool.sound() && s.cool.Sound() && int(s.why) < len(unmets) &&
		(s.active|s.live|s.edited)>>numRules == 0 && s.active&^s.pool.rules == 0 && (s.inhibited|s.spoke)&^s.active == 0 && s.inhibited&s.spoke == 0 &&
		(!s.kept || s.isActive(ruleHigh) && s.stated.Set())
}

// sound reports whether each rule has a slot, and a slot one rule at most.
func (p *pool) sound() bool {
	if p.rules>>numRules != 0 {
		return false
	}
	slots := uint16(0)
	for set := p.rules; set != 0; set &= set - 1 {
		k := p.index[lowest(set)]
		if k >= poolSize || slots&(1<<k) != 0 {
			return false
		}
		slots |= 1 << k
	}
	return slots == p.slots
}

func (y *exposure) sound() bool {
	if y.of == 0 {
		return *y == exposure{}
	}
	for _, slots := range [...][]uint8{y.warned.slots[:], y.critical.slots[:], y.lasted.slots[:], y.day.slots[:]} {
		for _, n := range slots {
			if n > slotFull {
				return false
			}
		}
	}
	return y.of <= uint8(numRules) && exposed&(1<<(y.of-1)) != 0
}

// Move moves the moments that are remembered by so many milliseconds: those by
// arrival, those by event time, or both.
func (s *State) Move(by rimewatch.Time, arrivals, events bool) {
	offline := rimewatch.Time(0) // what its track, which goes by arrival, is still to be moved by
	if events {
		format.Move(s, by)
		offline -= by
	}
	if arrivals {
		offline += by
		for _, t := range []*rimewatch.Time{&s.seenAt, &s.aliveUntil, &s.holdUntil} {
			if *t != 0 && *t != never {
				*t += by
			}
		}
		s.odd.Move(by)
	}
	if t := s.pool.track(ruleOffline); t != nil {
		for _, m := range [...]*state.Stamp{&t.mark, &t.cmark, &t.start} {
			m.Move(offline)
		}
	}
}
