package health

import "github.com/rimewatch/rimewatch"

// Late are the readings that came after newer ones and have not been judged yet, and those
// in doubt: the span in which they lie, and how often there were any, from which it is seen whether more have come since.
type Late struct {
	From, To rimewatch.Time // 0 = there are none
	Count    uint32         // ever, modulo 2³²
}

// Late returns what has to be judged once more, in its order, from the stored readings.
func (s *State) Late() Late { return Late{s.lateFrom, s.lateTo, s.lateN} }

// HasLate reports whether anything has to be judged once more.
func (s *State) HasLate() bool { return s.lateFrom != 0 }

// noteLate takes note of a late reading.
func (s *State) noteLate(at rimewatch.Time) {
	if s.lateFrom == 0 {
		s.lateFrom, s.lateTo = at, at
	}
	s.lateFrom, s.lateTo = min(s.lateFrom, at), max(s.lateTo, at)
	s.lateN++
}

// Brought takes note of a reading that somebody brought: whether or not it is newer than all
// others, it is judged with them, in its order, and not as it comes.
func (s *State) Brought(at rimewatch.Time) { s.noteLate(at) }

// Doubt takes note that readings from a moment on mean something else than they did when they
// were judged: they have to be judged once more, too.
func (s *State) Doubt(from rimewatch.Time) {
	if s.at == 0 || from > s.at {
		return
	}
	s.noteLate(max(from, rimewatch.MinTime))
	s.lateTo = max(s.lateTo, s.at)
}

// WindowFrom is where the window of compliance begins that ends at now.
func WindowFrom(now rimewatch.Time) rimewatch.Time {
	return (rimewatch.Time(slotOf(now)) - numSlots) * span
}

// Settled reports whether nothing runs: no excursion, nor anything that might become one.
func (s *State) Settled() bool { return s.side == 0 && s.excursion == 0 }

// Since is when what runs began, 0 = nothing does.
func (s *State) Since() rimewatch.Time { return s.start }

// Rejudged is the state of the device of which in order is known what judged knows,
// from the same readings: what late readings have put wrong is right, what is not about
// the temperature stays as it is. The late readings that seen knows of are done with.
func (s *State) Rejudged(judged *State, seen Late) State {
	out := *judged
	out.lateFrom, out.lateTo, out.lateN = s.lateFrom, s.lateTo, s.lateN
	if s.lateN == seen.Count {
		out.lateFrom, out.lateTo = 0, 0
	}
	for k := range s.severity {
		if Component(k) != Temperature {
			out.severity[k], out.severityAt[k] = s.severity[k], s.severityAt[k]
		}
	}
	if s.excursion != 0 && s.excursion == out.excursion || s.side != 0 && s.side == out.side {
		out.hints |= s.hints
	}
	return out
}

// Began has the excursion that lasts begin earlier, with what is known of it since then: what
// was judged did not reach back to its beginning.
func (s *State) Began(start rimewatch.Time, peak, degreeMinutes float64) {
	s.start, s.peak, s.degrees = start, fixed(peak), float32(degreeMinutes)
}

// Checked is the state once the late readings that seen knows of have been judged and
// have changed nothing of it.
func (s *State) Checked(seen Late) State { return s.Rejudged(s, seen) }

// HintOf is what a reading by itself says about the cause of an excursion, which is all
// that is known of the past.
func HintOf(r *rimewatch.Reading) (h Hints) {
	if open, sent := r.Flags.Bool(rimewatch.DoorOpen); sent && open {
		h |= HintDoor
	}
	if on, sent := r.Flags.Bool(rimewatch.DefrostActive); sent && on {
		h |= HintDefrost
	}
	return h
}

// Calm finds, going back from a moment through the readings before it, where judging may
// begin with nothing known: there nothing ran that is not over by that moment.
type Calm struct {
	from, to rimewatch.Time // of the readings in a row that are back in limits, 0 = none
	seen     int
	oldest   rimewatch.Time
}

// enough are as many readings as it takes to know how often a device sends.
const enough = 64

// Before takes the next older reading, and reports whether it is far enough.
func (k *Calm) Before(c *Config, at rimewatch.Time, v float64) bool {
	k.seen++
	k.oldest = at
	switch {
	case c.excludes(at) || !c.judges(): // what ran is over
		return k.seen >= enough
	case !cleared(&c.Limits, 1, v) || !cleared(&c.Limits, -1, v):
		k.from, k.to = 0, 0
		return false
	case k.to == 0:
		k.to = at
	}
	k.from = at
	return k.seen >= enough && k.to-k.from >= rimewatch.Time(c.Limits.ClearS)*rimewatch.Second
}

// From is the oldest reading that it took.
func (k *Calm) From() rimewatch.Time { return k.oldest }
