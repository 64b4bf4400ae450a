package rejudge

import (
	"math"

	"github.com/rimewatch/rimewatch"
)

// Mending is what late readings change of the recorded excursions of a device.
type Mending struct {
	Rows      []*rimewatch.Excursion // new ones, and those with an ID as they are now
	Unfounded []int64                // ids of those that never were
}

// mend holds what is recorded of a device against what was found. Only what touches
// [from, to], or touches what does, is changed: all else was known in order. Of found, one
// that lasts has no To: it is not recorded yet.
func mend(recorded, found []rimewatch.Excursion, from, to, now rimewatch.Time) (m Mending) {
	from, to = touched(from, to, recorded, found)
	var old []*rimewatch.Excursion
	for i := range recorded {
		if recorded[i].Runs == 0 && touches(&recorded[i], from, to) {
			old = append(old, &recorded[i])
		}
	}
	for i := range found {
		f := &found[i]
		if f.Runs > 0 || f.To == 0 || !touches(f, from, to) {
			continue
		}
		k := closest(old, f)
		if k < 0 {
			f.FoundLateAt = now
			m.Rows = append(m.Rows, f)
			continue
		}
		m.replace(old[k], f, now)
		old = append(old[:k], old[k+1:]...)
	}
	for _, was := range old {
		m.Unfounded = append(m.Unfounded, was.ID)
	}
	return m
}

// replace puts what was found in place of what is recorded, where that says something else.
func (m *Mending) replace(was, f *rimewatch.Excursion, now rimewatch.Time) {
	if alike(was, f, 0) {
		return
	}
	f.ID, f.FoundLateAt = was.ID, was.FoundLateAt
	if !alike(was, f, 0.01) {
		f.FoundLateAt = now
	}
	if f.Cause == rimewatch.CauseUnknown {
		f.Cause = was.Cause // the alerts of that time said so
	}
	m.Rows = append(m.Rows, f)
}

// mendDays holds the recorded excursions of short runs against those that were found, day by
// day: a day has one at most. Those that began before the first reading that is left stay.
func (x *Judgement) mendDays(m *Mending, recorded []rimewatch.Excursion, now rimewatch.Time) {
	old := make(map[rimewatch.Time]*rimewatch.Excursion)
	for i := range recorded {
		if e := &recorded[i]; e.Runs > 0 && e.From >= x.from() && e.From < x.to {
			old[x.Days.Begin(e.From)] = e
		}
	}
	for i := range x.found {
		f := &x.found[i]
		if f.Runs == 0 || f.From < x.from() || f.From >= x.to {
			continue
		}
		switch was := old[x.Days.Begin(f.From)]; {
		case was == nil:
			f.FoundLateAt = now
			m.Rows = append(m.Rows, f)
		case was.From >= x.first:
			m.replace(was, f, now)
		}
		delete(old, x.Days.Begin(f.From))
	}
	for i := range recorded {
		if e := &recorded[i]; e.From >= x.first && old[x.Days.Begin(e.From)] == e {
			m.Unfounded = append(m.Unfounded, e.ID)
		}
	}
}

// touched extends a span by the excursions that reach into it.
func touched(from, to rimewatch.Time, lists ...[]rimewatch.Excursion) (_, _ rimewatch.Time) {
	for more := true; more; {
		more = false
		for _, list := range lists {
			for i := range list {
				if e := &list[i]; e.Runs == 0 && touches(e, from, to) && (e.From < from || until(e) > to) {
					from, to, more = min(from, e.From), max(to, until(e)), true
				}
			}
		}
	}
	return from, to
}

func touches(e *rimewatch.Excursion, from, to rimewatch.Time) bool {
	return e.From <= to && until(e) >= from
}

func until(e *rimewatch.Excursion) rimewatch.Time {
	if e.To == 0 {
		return math.MaxInt64
	}
	return e.To
}

// closest is the index of the recorded excursion that f is, or was taken for: of the same
// side, and as much of its time as with no other; -1 when there is none.
func closest(old []*rimewatch.Excursion, f *rimewatch.Excursion) (k int) {
	k = -1
	most := rimewatch.Time(0)
	for i, e := range old {
		if e.From == f.From && e.To == f.To && e.Low == f.Low {
			return i
		}
		if both := min(e.To, f.To) - max(e.From, f.From); e.Low == f.Low && both > most {
			k, most = i, both
		}
	}
	return k
}

// alike reports whether two say the same; their sums may differ by a share: what is known
// of the usual time between readings differs a little.
func alike(a, b *rimewatch.Excursion, share float64) bool {
	return a.From == b.From && a.To == b.To && a.Low == b.Low && math.Abs(a.Peak-b.Peak) < 1e-3 &&
		math.Abs(a.DegreeMinutes-b.DegreeMinutes) < 0.05+share*b.DegreeMinutes && a.Runs == b.Runs &&
		math.Abs(float64(a.Sum-b.Sum)) <= 2000+share*float64(b.Sum)
}
