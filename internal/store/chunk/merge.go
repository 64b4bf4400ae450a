package chunk

import (
	"sort"

	"github.com/rimewatch/rimewatch"
)

// Merge appends the readings of all sets in order of At. Each set is ascending
// and unique by At; of readings of the same moment that of the earliest set is
// kept. The sets are not changed. It costs least where they hardly overlap.
func Merge(dst []rimewatch.Reading, sets ...[]rimewatch.Reading) []rimewatch.Reading {
	rest := make([][]rimewatch.Reading, 0, len(sets))
	for _, s := range sets {
		if len(s) > 0 {
			rest = append(rest, s)
		}
	}
	for len(rest) > 1 {
		first, until := firstRun(rest)
		run := rest[first]
		n := 1
		if run[0].At < until {
			n = sort.Search(len(run), func(i int) bool { return run[i].At >= until })
		}
		at := run[n-1].At
		dst = append(dst, run[:n]...)
		rest[first] = run[n:]
		for i := len(rest) - 1; i >= 0; i-- {
			if len(rest[i]) > 0 && rest[i][0].At == at {
				rest[i] = rest[i][1:]
			}
			if len(rest[i]) == 0 {
				rest = append(rest[:i], rest[i+1:]...)
			}
		}
	}
	for _, s := range rest {
		dst = append(dst, s...)
	}
	return dst
}

// firstRun finds the set with the earliest reading, the first of them where
// several have it, and the time at which the next set begins.
func firstRun(sets [][]rimewatch.Reading) (first int, until rimewatch.Time) {
	for i := range sets {
		if sets[i][0].At < sets[first][0].At {
			first = i
		}
	}
	until = rimewatch.Time(1<<63 - 1)
	for i := range sets {
		if i != first {
			until = min(until, sets[i][0].At)
		}
	}
	return first, until
}
