package capability

import (
	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/unit"
)

// excuse is why a unit may stand beyond its usual start for a while, as in its defrosts: for
// how long it has done so and begun to cool by itself, and how soon it did again. Of both it
// is the second that counts: one cut of the mains is no habit.
type excuse struct {
	longest, twice float32    // s, the two longest, fading
	nearest, apart float32    // s from one to the next, the two shortest, fading
	newest         unit.Stamp // the newest began
	pairs          uint8      // that apart was learnt from, saturating
}

const (
	leastIdle  = 17 * minute // beyond and not running that counts
	onceTimes  = 1.35        // the longest, after which it is none
	twiceTimes = 1.7         // the second longest, likewise
	leastLong  = 5 * minute  // likewise that may be a defrost
	longPart   = 0.5         // of it that may be another such
	leastPairs = 6           // before it is known how soon another may come
	leastApart = 2 * hour    // else they come at any time
	duePart    = 0.8         // of that after which one is due
)

// take takes one that began at a moment and ended by itself.
func (x *excuse) take(began unit.Stamp, lasted rimewatch.Time) {
	length := float32(min(lasted, mostWorst) / second)
	if length < greater(longPart*x.twice, float32(leastLong/second)) || lasted <= leastIdle && !x.due(began) {
		return
	}
	x.twice = greater(x.twice, lesser(x.longest, length))
	x.longest = greater(x.longest, length)
	if x.newest.Set() {
		between := float32((began.Time() - x.newest.Time()) / second)
		if x.pairs++; x.pairs <= 2 {
			x.apart = greater(x.nearest, between)
		} else {
			x.apart = lesser(x.apart, greater(x.nearest, between))
		}
		if x.pairs == 1 {
			x.nearest = between
		}
		x.nearest = lesser(x.nearest, between)
		x.pairs = min(x.pairs, leastPairs)
	}
	x.newest = began
}

// fade forgets a share of it.
func (x *excuse) fade(keep float32) {
	x.longest *= keep
	x.twice *= keep
	x.nearest /= keep
	x.apart /= keep
}

// most is how long one is at most.
func (x *excuse) most() rimewatch.Time {
	return rimewatch.Time(lesser(onceTimes*x.longest, twiceTimes*x.twice)) * second
}

// due reports whether the one that began at a moment may be as long as those before it: it comes
// no sooner after the newest than they did.
func (x *excuse) due(began unit.Stamp) bool {
	return x.pairs < leastPairs || x.apart < float32(leastApart/second) || !began.Set() || float32((began.Time()-x.newest.Time())/second) >= duePart*x.apart
}

func (x *excuse) code(c *unit.Codec) {
	c.Floats(&x.longest, &x.twice, &x.nearest, &x.apart)
	c.Stamps(&x.newest)
	c.Bytes(&x.pairs)
}
