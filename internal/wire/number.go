package wire

import (
	"math"
	"strconv"
)

// AppendNumber appends v in the shortest form that reads back as v, as JSON
// numbers are written. Sensors send few decimals, so those are tried first: the
// quotient of two exact floats is correctly rounded, hence v == i/10^k means
// that i/10^k is what was sent.
func AppendNumber(b []byte, v float64) []byte {
	if v > -1e9 && v < 1e9 {
		for k := range 4 {
			i := math.Round(v * pow10[k])
			if i/pow10[k] == v {
				return appendDecimal(b, int64(i), k)
			}
		}
	}
	return appendFloat(b, v)
}

// appendDecimal writes i/10^k, 0 ≤ k ≤ 3.
func appendDecimal(b []byte, i int64, k int) []byte {
	if i < 0 {
		b = append(b, '-')
		i = -i
	}
	unit := [...]int64{1, 10, 100, 1000}[k]
	b = AppendInt(b, i/unit)
	if k == 0 {
		return b
	}
	b = append(b, '.')
	frac := i % unit
	for unit /= 10; unit > 0; unit /= 10 {
		b = append(b, byte('0'+frac/unit%10))
	}
	return b
}

// AppendInt appends i ≥ 0.
func AppendInt(b []byte, i int64) []byte {
	if i < 10 {
		return append(b, byte('0'+i))
	}
	return strconv.AppendInt(b, i, 10)
}

// appendFloat writes v as encoding/json does.
func appendFloat(b []byte, v float64) []byte {
	abs := math.Abs(v)
	format := byte('f')
	if abs != 0 && (abs < 1e-6 || abs >= 1e21) {
		format = 'e'
	}
	start := len(b)
	b = strconv.AppendFloat(b, v, format, -1, 64)
	if n := len(b); format == 'e' && n-start >= 4 && b[n-4] == 'e' && (b[n-3] == '-' || b[n-3] == '+') && b[n-2] == '0' {
		b[n-2] = b[n-1]
		b = b[:n-1]
	}
	return b
}
