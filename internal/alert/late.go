package alert

import (
	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/state"
)

// before is what late readings say of the time before the product temperature passed
// a limit: a device that was cut off often sends what it measures now first, and
// what it measured meanwhile after that.
type before struct {
	first    state.Stamp // the first reading beyond the limit that was not late
	mark     state.Stamp // of the track, as it was left
	within   state.Stamp // the last moment before it at which the temperature was within the limit
	from, to state.Stamp // late readings in a row beyond the limit
}

// passed notes that the temperature passed the limit with the reading of this pass.
func (f *before) passed(mark state.Stamp, x *pass) {
	*f = before{first: mark, mark: mark}
	if x.o.Gap > 0 {
		f.within = state.StampOf(x.e - x.o.Gap)
	}
}

// late takes a reading that is older than the newest one. It cannot begin, escalate
// or end anything, but what lasts now may turn out to have lasted for longer.
func (s *State) late(x *pass) {
	v, has := x.o.Reading.Value(rimewatch.ProductZoneTemp)
	if !has || !rimewatch.ProductZoneTemp.Plausible(v) {
		return
	}
	gap := rimewatch.Time(x.p.OfflineAfter.Milliseconds())
	for _, i := range [...]rule{ruleHigh, ruleLow} {
		t := s.pool.track(i)
		if t == nil {
			continue
		}
		b := s.zoneBounds(x.c, i == ruleLow)
		z, cz := b.zones(v)
		if t.zone() == zoneBeyond {
			s.warnBefore.take(&t.mark, x.e, z == zoneBeyond, gap)
		}
		if t.czone() == zoneBeyond {
			s.critBefore.take(&t.cmark, x.e, cz == zoneBeyond, gap)
		}
	}
}

// take follows a row of late readings, in whichever direction it comes, and moves the
// mark once the row reaches it. gap is the longest time between two of a row.
func (f *before) take(mark *state.Stamp, e rimewatch.Time, beyond bool, gap rimewatch.Time) {
	from, to := f.from.Time(), f.to.Time()
	switch {
	case *mark != f.mark || e <= f.within.Time() || e >= f.first.Time() || beyond && e >= mark.Time():
		return
	case !beyond:
		f.within = state.StampOf(e)
		if mark.Time() <= e { // what was taken for one row is none
			*mark, f.mark = f.first, f.first
		}
		if from < e {
			f.from, f.to = state.Stamp{}, state.Stamp{}
		}
		return
	case to != 0 && from-gap <= e && e <= to+gap:
		from, to = min(from, e), max(to, e)
	default:
		from, to = e, e
	}
	f.from, f.to = state.StampOf(from), state.StampOf(to)
	if from < to && mark.Time()-to <= gap { // one odd reading is no row
		*mark, f.mark = f.from, f.from
	}
}
