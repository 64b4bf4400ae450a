// Package weeks decides by the daily means of four weeks whether a unit of which only the
// zone is measured warms up slowly. It takes by how much each day differed from the one
// before it, in 0.05 K, newest first.
package weeks

import (
	"cmp"
	"slices"
)

// Days are kept.
const Days = 28

const (
	warmDays   = 7   // in which it is seen
	warmLearnt = 14  // days that are known before
	warmLeast  = 30  // Unit: 1.5 K
	warmSteps  = 4   // times what one day usually differs from the next
	warmOwn    = 1.4 // times the most that it warmed up within as many days in the weeks before
	warmRank   = 0.8 // Kendall's τ of the days: they rise one after the other
	warmDay    = 0.6 // of it on one day, and
	warmTwo    = 0.8 // on two: more was done by somebody, as where a thermostat is set anew
	warmAbove  = 0.8 // of all days that the newest is above
)

// Warms returns for how many days the zone has been warming up, 0 = it has not.
func Warms(steps []int8) (days int) {
	if len(steps)+1 < warmLearnt {
		return 0
	}
	recent := steps[:warmDays-1]
	rise := int(Sum(recent))
	least := max(warmLeast, warmSteps*float64(usualStep(steps)), warmOwn*float64(greatestRise(steps[warmDays-1:])))
	if float64(rise) < least || rank(recent) < warmRank {
		return 0
	}
	for i, step := range recent {
		if float64(step) > warmDay*float64(rise) || i > 0 && float64(Sum(recent[i-1:i+1])) > warmTwo*float64(rise) {
			return 0
		}
	}
	below := 0
	for ago := range steps {
		below += min(1, max(0, int(Sum(steps[:ago+1]))))
	}
	if float64(below) < warmAbove*float64(len(steps)) {
		return 0
	}
	for days = warmDays - 1; days < len(steps) && steps[days] > 0; days++ { // it may have begun before
	}
	return days
}

// Sum is by how much they differ in all.
func Sum(steps []int8) (by int16) {
	for _, v := range steps {
		by += int16(v)
	}
	return by
}

// usualStep is the median of what a day differs from the one before it.
func usualStep(steps []int8) int8 {
	var size [Days - 1]int8
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
		for to := i + 1; to < min(len(steps)+1, i+warmDays); to++ {
			most = max(most, Sum(steps[i:to]))
		}
	}
	return most
}

// rank is Kendall's τ of the newest days.
func rank(recent []int8) float64 {
	concordant := 0
	for a := range warmDays {
		for b := range a {
			concordant += cmp.Compare(Sum(recent[b:a]), 0)
		}
	}
	return float64(concordant) / (warmDays * (warmDays - 1) / 2)
}
