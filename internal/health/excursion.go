package health

import (
	"math"
	"time"

	"github.com/rimewatch/rimewatch"
)

// Excursion is one time that the product zone was out of limits for at least
// the alarm delay, or the short runs of a local day that were together more than is graced.
type Excursion struct {
	Start         rimewatch.Time // the first reading out of limits
	End           rimewatch.Time // when the zone came back to stay, or maintenance began; 0 while it lasts
	High          bool           // above the limit, else below; of short runs, for the longer time
	Peak          float64        // the worst value on that side, °C to four decimals
	DegreeMinutes float64        // K·min of covered time out of limits
	Hints         Hints          // what pointed at its cause
	Runs          int            // short runs that it consists of; 0 = it is one lasting time
	Sum           rimewatch.Time // ms that the short runs took together
}

// Hints are observations that point at the cause of an excursion.
type Hints uint8

// The hints. Door and defrost count while the zone leaves its limits, that is
// until the alarm delay has passed: what happens later is no reason for it.
const (
	HintDoor Hints = 1 << iota
	HintDefrost
	HintPower
	HintFault
	HintSensor
	earlyHints = HintDoor | HintDefrost
)

// longestDefrost is more than any defrost of the catalogue takes with its
// recovery: an excursion that lasts longer has another cause.
const longestDefrost = 4 * time.Hour

// Cause judges by the hints, the strongest first: what a doubtful sensor shows
// proves nothing, without power nothing cools, and a broken machine explains
// more than a door or a defrost. Neither of the two makes a zone too cold.
func (e *Excursion) Cause() rimewatch.ExcursionCause {
	switch h := e.Hints; {
	case h&HintSensor != 0:
		return rimewatch.CauseSensor
	case h&HintPower != 0:
		return rimewatch.CausePower
	case h&HintFault != 0:
		return rimewatch.CauseFault
	case h&HintDoor != 0 && e.High:
		return rimewatch.CauseDoor
	case h&HintDefrost != 0 && e.High && e.Duration() <= longestDefrost:
		return rimewatch.CauseDefrost
	}
	return rimewatch.CauseUnknown
}

// Hint notes what points at the cause while the newest reading is out of limits;
// otherwise it is remembered until the next reading, which may be the first one
// outside.
func (s *State) Hint(h Hints) {
	if s.excursion != 0 {
		h &^= earlyHints
	}
	if s.side == 0 && s.excursion == 0 {
		s.hints = h
		return
	}
	s.hints |= h
}

// Duration is the time from Start to End, 0 while the excursion lasts.
func (e *Excursion) Duration() time.Duration {
	if e.End == 0 {
		return 0
	}
	return e.End.Sub(e.Start)
}

// Record is the excursion of a device as it is recorded, by the limits that it passed. It has
// no ID, and while it lasts no end.
func (e *Excursion) Record(workspaceID, deviceID int64, l *rimewatch.Limits) rimewatch.Excursion {
	return rimewatch.Excursion{
		WorkspaceID: workspaceID, DeviceID: deviceID, From: e.Start, To: e.End, Low: !e.High, Limit: l.Passed(!e.High),
		Peak: e.Peak, DegreeMinutes: e.DegreeMinutes, Cause: e.Cause(), Runs: e.Runs, Sum: e.Sum,
	}
}

// Observe takes one reading that was newly stored. It returns the excursions that are over
// with it: the one that lasted, and that of the short runs of the day before. Excursion and
// Day return those that last. Readings without a product-zone temperature say nothing. Of one
// that is older than the newest it only takes note: Late says what has to be judged once more.
// Two of the same moment are what a clock that is ahead sends, as of their arrival.
func (s *State) Observe(c *Config, r *rimewatch.Reading) (ended []Excursion) {
	v, has := r.Value(rimewatch.ProductZoneTemp)
	switch {
	case !has:
		return nil
	case r.At < s.at:
		s.noteLate(r.At)
		return nil
	case !c.judges(): // not any more: what ran is over
		return s.closeDay(s.finish(c, s.at, nil))
	case s.at == 0:
		s.at, s.slot = r.At, slotOf(r.At)
	}
	gap := r.At - s.at
	if gap > 0 {
		s.pass(c, r.At)
		s.gap.Learn(gap)
	}
	if at, excluded := c.firstExcluded(s.at, r.At); excluded {
		ended = s.finish(c, at, ended)
	}
	s.at = r.At
	s.slide(slotOf(r.At))
	s.judged = !c.excludes(r.At)
	if s.judged {
		ended = s.judge(c, v, gap, ended)
	} else {
		s.side = 0
	}
	if s.dayOver(c) {
		ended = s.closeDay(ended)
	}
	return ended
}

// Newest is when the newest product-zone temperature was measured, 0 = none yet.
func (s *State) Newest() rimewatch.Time { return s.at }

// Excursion returns the one that lasts, if any.
func (s *State) Excursion() (e Excursion, ok bool) {
	if s.excursion == 0 {
		return Excursion{}, false
	}
	return Excursion{
		Start: s.start, High: s.excursion > 0,
		Peak: float64(s.peak) / 1e4, DegreeMinutes: float64(s.degrees), Hints: s.hints,
	}, true
}

// Finish ends at a moment what runs: the device is watched no longer. It returns
// the excursions that lasted.
func (s *State) Finish(c *Config, at rimewatch.Time) []Excursion {
	return s.closeDay(s.finish(c, max(at, s.at), nil))
}

// finish ends at a moment what runs, and appends the excursion that lasted, if one did.
func (s *State) finish(c *Config, at rimewatch.Time, ended []Excursion) []Excursion {
	if e, ok := s.Excursion(); ok {
		e.End = at
		ended = append(ended, e)
	}
	s.endRun(c, at)
	s.start, s.excursion, s.side, s.back, s.hints = 0, 0, 0, 0, 0
	return ended
}

// begin starts a run out of limits at the newest reading.
func (s *State) begin(v float64) {
	s.start, s.first, s.degrees, s.peak, s.ran = s.at, 0, 0, fixed(v), 0
}

// judge takes the newest reading, gap after the one before it.
func (s *State) judge(c *Config, v float64, gap rimewatch.Time, ended []Excursion) []Excursion {
	side, excess := beyond(&c.Limits, v)
	if s.excursion != 0 && side != s.excursion {
		if end, over := s.clears(c, v, side, gap); over {
			ended = s.finish(c, end, ended)
		}
	}
	switch {
	case s.excursion != 0:
		if side == s.excursion {
			s.back = 0
			s.worsen(c, v, side)
		}
	case side == 0:
		s.endRun(c, s.at)
		s.start = 0
	case side != s.side || s.start == 0:
		if s.side != 0 {
			s.endRun(c, s.at)
			s.hints = 0 // of the run on the other side
		}
		s.begin(v)
	default:
		s.worsen(c, v, side)
	}
	s.side, s.excess = side, uint16(min(math.Round(excess*100), math.MaxUint16))
	if side != 0 && s.excursion == 0 && s.at-s.start >= delay(&c.Limits, side) {
		s.confirm(c)
	}
	return ended
}

// clears reports whether an excursion is over with a reading that is not beyond
// its limit, and when it ended.
func (s *State) clears(c *Config, v float64, side int8, gap rimewatch.Time) (end rimewatch.Time, over bool) {
	if side == -s.excursion {
		return s.at, true
	}
	if !cleared(&c.Limits, s.excursion, v) {
		s.back = 0
		return 0, false
	}
	if s.back == 0 {
		s.back = 1
	} else {
		s.back = uint32(min(rimewatch.Time(s.back)+gap, math.MaxUint32))
	}
	back := rimewatch.Time(s.back - 1)
	return s.at - back, back >= rimewatch.Time(c.Limits.ClearS)*rimewatch.Second
}

// worsen takes the peak of what runs on a side.
func (s *State) worsen(c *Config, v float64, side int8) {
	p := fixed(v)
	if (side > 0 && p > s.peak) || (side < 0 && p < s.peak) {
		s.peak = p
	}
	if s.excursion != 0 {
		s.Note(Temperature, temperatureSeverity(&c.Limits, s.excursion, s.peak), s.at)
	}
}

// confirm makes the run out of limits an excursion: its time counts as out, in
// retrospect too.
func (s *State) confirm(c *Config) {
	s.excursion, s.ran = s.side, 0
	if !s.day.out { // else it counted from its beginning
		s.condemn(s.start, s.first)
	}
	if s.day.runs > 0 && slotOf(s.start) == slotOf(s.day.from) {
		s.day.first -= min(s.first, s.day.first)
	}
	s.Note(Temperature, temperatureSeverity(&c.Limits, s.side, s.peak), s.at)
}

// condemn withdraws forgiveness from a run of readings out of limits: from
// first ms in the slot in which it started and from all that is out of limits
// in the slots after that one.
func (s *State) condemn(start rimewatch.Time, first uint32) {
	n := slotOf(start)
	if n == s.slot {
		s.now.bad = min(s.now.bad+first, s.now.out)
		return
	}
	if n+numSlots >= s.slot {
		p := &s.past[n%numSlots]
		*p = newSlot(p.covered(), p.out(), min(p.bad()+(first+uint32(unit)/2)/uint32(unit), p.out()))
		n++
	} else {
		n = s.slot - numSlots
	}
	for ; n < s.slot; n++ {
		p := &s.past[n%numSlots]
		*p = newSlot(p.covered(), p.out(), p.out())
	}
	s.now.bad = s.now.out
}

// temperatureSeverity is 0.5 for an excursion to the limit on a side and 1 for one to the
// critical bound, by its peak in 1/10,000 K.
func temperatureSeverity(l *rimewatch.Limits, side int8, peak int32) float64 {
	limit, critical := l.TempMax, l.CriticalMax
	if side < 0 {
		limit, critical = l.TempMin, l.CriticalMin
	}
	if limit == nil || critical == nil || *limit == *critical {
		return 0.5
	}
	return min(max(0.5+0.5*(float64(peak)/1e4-*limit)/(*critical-*limit), 0.5), 1)
}

// beyond returns on which side of the limits v is, and by how much.
func beyond(l *rimewatch.Limits, v float64) (side int8, excess float64) {
	switch {
	case l.TempMax != nil && v > *l.TempMax:
		return 1, v - *l.TempMax
	case l.TempMin != nil && v < *l.TempMin:
		return -1, *l.TempMin - v
	}
	return 0, 0
}

// cleared reports whether v is inside the limit of an excursion by ClearDelta.
func cleared(l *rimewatch.Limits, excursion int8, v float64) bool {
	if excursion > 0 {
		return l.TempMax == nil || v <= *l.TempMax-l.ClearDelta
	}
	return l.TempMin == nil || v >= *l.TempMin+l.ClearDelta
}

func delay(l *rimewatch.Limits, side int8) rimewatch.Time {
	if side > 0 {
		return rimewatch.Time(l.DelayS) * rimewatch.Second
	}
	return rimewatch.Time(l.LowDelayS) * rimewatch.Second
}

// fixed keeps four decimals.
func fixed(v float64) int32 {
	return int32(math.Round(min(max(v, -2e5), 2e5) * 1e4))
}
