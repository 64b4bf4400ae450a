package logfile

import (
	"slices"
	"time"

	"github.com/rimewatch/rimewatch"
)

// moments returns when clocks of a zone show what a clock in UTC shows at wall, in order: at
// one moment, at two in the hour that comes twice, and never in the one that is skipped.
func moments(zone *time.Location, wall rimewatch.Time) (at [2]rimewatch.Time, n int) {
	for _, around := range [...]rimewatch.Time{-rimewatch.Day, rimewatch.Day} {
		t := wall - ahead(zone, wall+around)
		if t+ahead(zone, t) == wall && (n == 0 || at[0] != t) {
			at[n] = t
			n++
		}
	}
	if n == 2 && at[0] > at[1] {
		at[0], at[1] = at[1], at[0]
	}
	return at, n
}

// ahead returns how far clocks of a zone are ahead of UTC at a moment.
func ahead(zone *time.Location, at rimewatch.Time) rimewatch.Time {
	_, offset := at.Std().In(zone).Zone()
	return rimewatch.Time(offset) * rimewatch.Second
}

// stamp is the time of a row.
type stamp struct {
	wall rimewatch.Time // as its text says; 0 = it says none
	at   rimewatch.Time // the moment; 0 = there is none
}

// place finds the moments of the rows of a file, in its order, in a zone. Of the hour that
// comes twice those that come first are of the first pass, and time goes on from there: a row
// that would be no later than the one before is of the second. Files that begin with the
// newest are gone through from behind.
func place(rows []stamp, zone *time.Location) {
	ups, downs := 0, 0
	last := rimewatch.Time(0)
	for i := range rows {
		w := rows[i].wall
		switch {
		case w == 0:
			continue
		case last == 0 || w == last:
		case w > last:
			ups++
		default:
			downs++
		}
		last = w
	}
	order := slices.All(rows)
	if downs > ups {
		order = slices.Backward(rows)
	}
	var before, wallBefore, step rimewatch.Time
	for i := range order {
		x := &rows[i]
		if x.wall == 0 {
			continue
		}
		at, n := moments(zone, x.wall)
		if n == 0 {
			continue
		}
		x.at = at[0]
		// The same time once more is the second pass of a logger that writes once an hour; one
		// that writes more often has written a row twice, or more than one in its unit of time.
		again := at[0] == before && step >= 45*rimewatch.Minute
		if n == 2 && (at[0] < before || again) && at[1] >= before {
			x.at = at[1]
		}
		if wallBefore != 0 && x.wall != wallBefore {
			step = max(x.wall-wallBefore, 0)
		}
		before, wallBefore = x.at, x.wall
	}
}
