package health

import (
	"math"
	"time"

	"github.com/rimewatch/rimewatch"
)

// Days say how the short runs out of limits of a local day add up.
type Days struct {
	Zone  *time.Location // of the clock whose midnight counts; nil = short runs do not add up
	Since rimewatch.Time // days that began earlier are counted as they were then: they do not
	Grace rimewatch.Time // ms that all short runs of a day may take in addition to one alarm delay, 0…1 day
}

// Begin is when the local day of a moment begins; the moment itself where short runs do not add up.
func (d *Days) Begin(at rimewatch.Time) rimewatch.Time {
	if d.Zone == nil || at <= rimewatch.MinTime {
		return at
	}
	return max(at.DayTime(0, 0, d.Zone), rimewatch.MinTime)
}

// End is when the local day of a moment ends; the moment itself where short runs do not add up.
func (d *Days) End(at rimewatch.Time) rimewatch.Time {
	if d.Zone == nil || at >= rimewatch.MaxTime {
		return at
	}
	return at.DayTime(1, 0, d.Zone)
}

// day sums up the short runs of one local day: those that began on it and ended
// before the alarm delay.
type day struct {
	from    rimewatch.Time // the first begins
	to      uint32         // ms after from: the last ends
	end     uint32         // ms after from: midnight; 0 = not known
	first   uint32         // ms of them in the slot in which the first began
	degrees float32        // K·min
	above   daySide
	below   daySide
	runs    uint16
	hints   Hints
	out     bool // they are more than is graced: all of them count
}

// daySide are those on one side of the limits.
type daySide struct {
	all  uint32 // ms
	own  uint32 // ms that no recognised defrost explains
	peak int32  // worst value, 1/10,000 K
}

// endRun adds a run that ends at a moment, before the alarm delay, to its day.
func (s *State) endRun(c *Config, at rimewatch.Time) {
	ran, x := s.ran, &s.day
	s.ran = 0
	if s.side == 0 || s.excursion != 0 || ran == 0 || c.Days.Zone == nil {
		return
	}
	if x.runs == 0 {
		if c.Days.Begin(s.start) < c.Days.Since {
			return
		}
		*x = day{from: s.start, first: s.first}
		x.setEnd(c)
	}
	x.to = uint32(at - x.from)
	x.runs = min(x.runs, math.MaxUint16-1) + 1
	x.degrees += s.degrees
	x.hints |= s.hints &^ earlyHints
	x.add(s.side, s.hints, ran, s.peak)
	if x.beyond(c) {
		if !x.out {
			x.out = true
			s.condemn(x.from, x.first)
		}
		s.Note(Temperature, temperatureSeverity(&c.Limits, s.side, s.peak), s.at)
	}
}

// add adds a run of some ms on a side.
func (x *day) add(side int8, hints Hints, ran uint32, peak int32) {
	d := &x.above
	if side < 0 {
		d = &x.below
	}
	if d.all == 0 || int32(side)*peak > int32(side)*d.peak {
		d.peak = peak
	}
	d.all += ran
	if side < 0 || hints&HintDefrost == 0 { // no defrost makes a zone too cold
		d.own += ran
	}
}

// beyond reports whether the runs are more than is graced: one alarm delay of those that are
// no defrost, and in addition Grace of all together.
func (x *day) beyond(c *Config) bool {
	high, low := delay(&c.Limits, 1), delay(&c.Limits, -1)
	longest := rimewatch.Time(0)
	if c.Limits.TempMax != nil {
		longest = high
	}
	if c.Limits.TempMin != nil {
		longest = max(longest, low)
	}
	return rimewatch.Time(x.above.own) > high || rimewatch.Time(x.below.own) > low ||
		rimewatch.Time(x.above.all)+rimewatch.Time(x.below.all) > c.Days.Grace+longest
}

// Day returns the excursion that the short runs of the present local day are together,
// if they are more than is graced. It lasts until a reading of the next day.
func (s *State) Day() (e Excursion, ok bool) {
	x := &s.day
	if !x.out {
		return Excursion{}, false
	}
	e = Excursion{
		Start: x.from, High: x.above.all >= x.below.all, DegreeMinutes: float64(x.degrees), Hints: x.hints,
		Runs: int(x.runs), Sum: rimewatch.Time(x.above.all) + rimewatch.Time(x.below.all),
	}
	worse := &x.below
	if e.High {
		worse = &x.above
	}
	e.Peak = float64(worse.peak) / 1e4
	return e, true
}

// dayOver reports whether the newest reading is of a later day than the runs that were
// summed up, and none of that day goes on.
func (s *State) dayOver(c *Config) bool {
	x := &s.day
	if x.runs == 0 {
		return false
	}
	if x.end == 0 && c.Days.Zone != nil {
		x.setEnd(c)
	}
	end := x.from + rimewatch.Time(x.end)
	return s.at >= end && (s.side == 0 || s.excursion != 0 || s.start >= end)
}

// setEnd finds the midnight that ends the day.
func (x *day) setEnd(c *Config) { x.end = uint32(x.from.DayTime(1, 0, c.Days.Zone) - x.from) }

// closeDay ends the day and appends its excursion, if it is one.
func (s *State) closeDay(ended []Excursion) []Excursion {
	if e, ok := s.Day(); ok {
		e.End = s.day.from + rimewatch.Time(s.day.to)
		ended = append(ended, e)
	}
	s.day = day{}
	return ended
}
