package chunk

import "math"

// maxExact is the magnitude up to which every integer is a float64.
const maxExact = 1 << 53

// pow10 are the powers that a float64 holds exactly and that are used.
var pow10 = [...]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17}

// scaled returns m with m/10^e identical to v, bit for bit; ok is false where
// there is none. The check makes every rounding on the way harmless.
func scaled(v float64, e int) (m int64, ok bool) {
	t := v * pow10[e]
	if !(t >= -maxExact && t <= maxExact) {
		return 0, false
	}
	if t < 0 {
		m = int64(t - 0.5)
	} else {
		m = int64(t + 0.5)
	}
	return m, math.Float64bits(float64(m)/pow10[e]) == math.Float64bits(v)
}

// decimal finds the smallest exponent of at least from and less than to.
func decimal(v float64, from, to int) (m int64, e int, ok bool) {
	for e = from; e < to; e++ {
		if m, ok = scaled(v, e); ok {
			return m, e, true
		}
	}
	return 0, 0, false
}
