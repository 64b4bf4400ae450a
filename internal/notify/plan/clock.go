package plan

import (
	"time"

	"github.com/rimewatch/rimewatch"
)

// minuteOf is the minute of the local day.
func minuteOf(t rimewatch.Time, zone *time.Location) int {
	l := t.Std().In(zone)
	return l.Hour()*60 + l.Minute()
}

// quiet reports whether it is quiet by the clock on the wall.
func quiet(q *rimewatch.QuietHours, t rimewatch.Time, zone *time.Location) bool {
	m := minuteOf(t, zone)
	if q.From <= q.To {
		return q.From <= m && m < q.To
	}
	return m >= q.From || m < q.To
}

// quietEnd is the first moment after t at which it is not quiet. The wall clock
// passes from quiet to loud where it shows To, or where it is set: over To in
// spring, or back out of the span in autumn.
func quietEnd(q *rimewatch.QuietHours, t rimewatch.Time, zone *time.Location) rimewatch.Time {
	end := rimewatch.Time(0)
	consider := func(c rimewatch.Time) {
		if c > t && !quiet(q, c, zone) && (end == 0 || c < end) {
			end = c
		}
	}
	for day := range 3 {
		for _, c := range wall(q.To, t, day-1, zone) {
			consider(c)
		}
	}
	if _, set := t.Std().In(zone).ZoneBounds(); !set.IsZero() {
		consider(rimewatch.TimeOf(set))
	}
	if end == 0 {
		end = t + rimewatch.Day // quiet all day long: looked at again tomorrow
	}
	return end
}

// wall returns the moments of the local day some days after that of t at which the
// clock shows a minute of the day: one, two where it is set back over it, and
// where it is set forward over it, the moment of that.
func wall(minute int, t rimewatch.Time, days int, zone *time.Location) (list []rimewatch.Time) {
	at := t.DayTime(days, minute, zone).Std().In(zone)
	for _, shift := range []time.Duration{-time.Hour, -30 * time.Minute, 0, 30 * time.Minute, time.Hour} {
		if c := at.Add(shift); c.Hour()*60+c.Minute() == minute {
			list = append(list, rimewatch.TimeOf(c))
		}
	}
	if len(list) == 0 {
		_, set := at.Add(-2 * time.Hour).ZoneBounds()
		list = append(list, rimewatch.TimeOf(set))
	}
	return list
}
