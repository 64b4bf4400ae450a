package capability

import (
	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/state"
)

// excuse is why a unit may stand beyond its usual start for a while, as in its defrosts: for
// how long it has done so and begun to cool by itself, and how soon it did again. Of both it
// is the second that counts: one cut of the mains is no habit. Each time forgets a little of all.
type excuse struct {
	longest, twice uint16      // s, the two longest
	nearest, apart uint16      // min from one to the next, the two shortest
	newest         state.Stamp // the newest began
	pairs          uint8       // that apart was learnt from, up to leastPairs
}

const (
	leastIdle  = 17 * minute // beyond and not running that counts
	onceTimes  = 1.35        // the longest, after which it is none
	twiceTimes = 1.7         // the second longest, likewise
	leastLong  = 5 * minute  // that may be a defrost
	longPart   = 0.5         // of the second longest, likewise
	forgets    = 256         // times after which most of what was is forgotten
	leastPairs = 6           // before it is known how soon another may come
	leastApart = 2 * 60      // min, else they come at any time
	duePart    = 0.8         // of the shortest time between two, from which on one is due
)

// take takes one that began at a moment and ended by itself.
func (x *excuse) take(began state.Stamp, lasted rimewatch.Time) {
	length := uint16(min(lasted, mostWorst) / second)
	if length < max(uint16(longPart*float32(x.twice)), uint16(leastLong/second)) || lasted <= leastIdle && !x.due(began) {
		return
	}
	x.longest -= x.longest / forgets
	x.twice -= x.twice / forgets
	x.twice, x.longest = max(x.twice, min(x.longest, length)), max(x.longest, length)
	if x.newest.Set() {
		between := uint16(min((began.Time()-x.newest.Time())/minute, 1<<15))
		x.nearest += x.nearest / forgets
		x.apart += x.apart / forgets
		if x.pairs < 2 {
			x.apart = max(x.nearest, between)
		} else {
			x.apart = min(x.apart, max(x.nearest, between))
		}
		if x.pairs == 0 || between < x.nearest {
			x.nearest = between
		}
		x.pairs = min(x.pairs+1, leastPairs)
	}
	x.newest = began
}

// most is how long one is at most.
func (x *excuse) most() rimewatch.Time {
	return rimewatch.Time(lesser(onceTimes*float32(x.longest), twiceTimes*float32(x.twice))) * second
}

// due reports whether the one that began at a moment may be as long as those before it: it comes
// no sooner after the newest than they did.
func (x *excuse) due(began state.Stamp) bool {
	return x.pairs < leastPairs || x.apart < leastApart || !began.Set() || float32((began.Time()-x.newest.Time())/minute) >= duePart*float32(x.apart)
}
