package unit

import (
	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/state"
)

const weekDays = 28 // whose means are kept

// warming is that of a unit of which only the zone is measured: bit by bit, over days, so
// that no limit shows it while there is time. It is recognised by the daily means of four weeks.
type warming struct {
	since     state.Stamp // it began; zero = the unit is as it was
	from, top int16       // creepUnit, the mean of the day before and of the warmest day since
}

// zoneOnly reports whether the zone is measured and nothing that shows the compressor.
func zoneOnly(s *State) bool { return s.zoneAt != 0 && s.running.source == noSource }

// Warmed returns since when a unit of which only the zone is measured has been warming up
// slowly, 0 = it has not or has given half of it back, with the daily means of before and
// of the newest day, °C.
func Warmed(s *State) (since rimewatch.Time, from, now float64) {
	d := &s.doubts.creeps
	return d.since.Time(), float64(d.from) * creepUnit, float64(d.newest) * creepUnit
}

// KeepWarm takes what a unit has warmed up to for its usual level: a person says so.
func KeepWarm(s *State) {
	d := &s.doubts.creeps
	d.since = state.Stamp{}
	d.keep(0)
}

// ReviewWarming decides at the end of a day. warms is for how many days the zone has been
// warming up by the steps from day to day, newest first, 0 = it has not.
func ReviewWarming(s *State, day rimewatch.Time, warms func(steps []int8) (days int)) {
	d := &s.doubts.creeps
	if d.since.Set() {
		if d.top = max(d.top, d.newest); d.newest <= d.from+(d.top-d.from)/2 {
			d.since = state.Stamp{}
		}
		return
	}
	past := *d // a copy, so that nothing of s is handed out: every reading would pay for it with memory
	if days := warms(past.between()); days > 0 && zoneOnly(s) {
		d.since, d.from, d.top = state.StampOf(day-rimewatch.Time(days)*rimewatch.Day), d.newest, d.newest
		for _, step := range d.steps[:days] {
			d.from -= int16(step)
		}
	}
}
