package unit

import (
	"slices"

	"github.com/rimewatch/rimewatch"
)

// warming is that of a unit of which only the zone is measured: bit by bit, over days, so
// that no limit shows it while there is time. It is told by the daily means of four weeks.
type warming struct {
	since     Stamp // it began; zero = the unit is as it was
	from, top int16 // creepUnit, the mean of the day before and of the warmest day since
}

const (
	weekDays   = 28
	warmDays   = 7   // in which it is seen
	warmLearnt = 14  // days that are known before
	warmLeast  = 1.5 // K
	warmSteps  = 4   // times what one day usually differs from the next
	warmOwn    = 1.4 // times the most that it warmed up within as many days in the weeks before
	warmRank   = 0.8 // Kendall's τ of the days: they rise one after the other
	warmDay    = 0.6 // of it on one day, and
	warmTwo    = 0.8 // on two: more was done by somebody, as where a thermostat is set anew
	warmAbove  = 0.8 // of all days that the newest is above
)

// ZoneOnly reports whether the zone is measured and nothing that shows the compressor.
func (s *State) ZoneOnly() bool { return s.zoneAt != 0 && s.running.source == noSource }

// Warmed returns since when a unit of which only the zone is measured has been warming up
// slowly, 0 = it has not or has given half of it back, with the daily means of before and
// of the newest day, °C.
func (s *State) Warmed() (since rimewatch.Time, from, now float64) {
	d := &s.doubts.creeps
	return d.since.Time(), float64(d.from) * creepUnit, float64(d.newest) * creepUnit
}

// KeepWarm takes what a unit has warmed up to for its usual level: a person says so.
func (s *State) KeepWarm() {
	d := &s.doubts.creeps
	d.since, d.known = Stamp{}, 0
}

// reviewWarming decides at the end of a day.
func (d *creeps) reviewWarming(day rimewatch.Time) {
	if d.since.Set() {
		if d.top = max(d.top, d.newest); d.newest <= d.from+(d.top-d.from)/2 {
			d.since = Stamp{}
		}
		return
	}
	if days := d.warms(); days > 0 {
		d.since, d.from, d.top = StampOf(day-rimewatch.Time(days)*rimewatch.Day), d.level(days), d.newest
	}
}

// level is the mean of the day so many before the newest.
func (d *creeps) level(ago int) int16 {
	v := d.newest
	for _, step := range d.steps[:ago] {
		v -= int16(step)
	}
	return v
}

// warms returns for how many days the zone has been warming up, 0 = it has not.
func (d *creeps) warms() (days int) {
	if d.known < warmLearnt {
		return 0
	}
	steps := d.steps[:d.known-1]
	recent := steps[:warmDays-1]
	rise := int(sum(recent))
	least := max(warmLeast/creepUnit, warmSteps*float64(usualStep(steps)), warmOwn*float64(greatestRise(steps[warmDays-1:])))
	if float64(rise) < least || d.rank() < warmRank {
		return 0
	}
	for i, step := range recent {
		if float64(step) > warmDay*float64(rise) || i > 0 && float64(sum(recent[i-1:i+1])) > warmTwo*float64(rise) {
			return 0
		}
	}
	below := 0
	for ago := range steps {
		if d.level(ago+1) < d.newest {
			below++
		}
	}
	if float64(below) < warmAbove*float64(len(steps)) {
		return 0
	}
	for days = warmDays - 1; days < len(steps) && steps[days] > 0; days++ { // it may have begun before
	}
	return days
}

func sum(steps []int8) (by int16) {
	for _, v := range steps {
		by += int16(v)
	}
	return by
}

// usualStep is the median of what a day differs from the one before it.
func usualStep(steps []int8) int8 {
	var size [weekDays - 1]int8
	for i, v := range steps {
		size[i] = max(v, -max(v, -127))
	}
	of := size[:len(steps)]
	slices.Sort(of)
	return of[len(of)/2]
}

// greatestRise is the most that the zone warmed up within warmDays.
func greatestRise(steps []int8) (most int16) {
	for i := range steps {
		by := int16(0)
		for _, v := range steps[i:min(len(steps), i+warmDays-1)] {
			by += int16(v)
			most = max(most, by)
		}
	}
	return most
}

// rank is Kendall's τ of the newest days.
func (d *creeps) rank() float64 {
	concordant := 0
	for a := range warmDays {
		for b := range a {
			switch by := d.level(b) - d.level(a); {
			case by > 0:
				concordant++
			case by < 0:
				concordant--
			}
		}
	}
	return float64(concordant) / (warmDays * (warmDays - 1) / 2)
}
