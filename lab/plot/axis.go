package plot

import (
	"math"

	"github.com/rimewatch/rimewatch"
)

// span is what the axis of a panel has to show.
func (p *Panel) span() (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	if p.Low != 0 || p.High != 0 {
		low, high = p.Low, p.High
	}
	for _, s := range p.Series {
		for _, v := range s.Values {
			if !math.IsNaN(v) {
				low, high = min(low, v), max(high, v)
			}
		}
	}
	for _, l := range p.Limits {
		low, high = min(low, l.Value), max(high, l.Value)
	}
	if low > high {
		return 0, 1
	}
	return low, high
}

// axis chooses round ticks, at most about n, and widens the span to hold the
// data with a little air.
func axis(low, high float64, n int) (ticks []float64, from, to float64) {
	if high-low < 1e-9 {
		low, high = low-0.5, high+0.5
	}
	air := 0.04 * (high - low)
	from, to = low-air, high+air
	step := tickStep((to - from) / float64(max(n, 2)))
	for k := math.Ceil(from / step); k*step <= to; k++ {
		// Rounding removes 0.30000000000000004, adding 0 the sign of −0.
		ticks = append(ticks, math.Round(k*step*1e6)/1e6+0)
	}
	return ticks, from, to
}

// tickStep is the smallest of 1, 2, 2.5, 5 times a power of ten that is at least x.
func tickStep(x float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(x)))
	for _, m := range []float64{1, 2, 2.5, 5} {
		if m*power >= x {
			return m * power
		}
	}
	return 10 * power
}

// timeStep spaces the ticks of a time axis so that there are 6 to 14.
func timeStep(span rimewatch.Time) rimewatch.Time {
	steps := []rimewatch.Time{
		rimewatch.Minute, 5 * rimewatch.Minute, 15 * rimewatch.Minute, 30 * rimewatch.Minute,
		rimewatch.Hour, 2 * rimewatch.Hour, 6 * rimewatch.Hour, 12 * rimewatch.Hour,
		rimewatch.Day, 2 * rimewatch.Day, 7 * rimewatch.Day,
	}
	for _, s := range steps {
		if span/s <= 13 {
			return s
		}
	}
	return 30 * rimewatch.Day
}
