package state

import (
	"math"

	"github.com/rimewatch/rimewatch"
)

// Stamp is a rimewatch.Time in 48 bits, enough until the year 10889.
type Stamp [3]uint16

// StampOf packs a time.
func StampOf(t rimewatch.Time) Stamp { return Stamp{uint16(t), uint16(t >> 16), uint16(t >> 32)} }

// Time unpacks the time.
func (s Stamp) Time() rimewatch.Time {
	return rimewatch.Time(s[0]) | rimewatch.Time(s[1])<<16 | rimewatch.Time(s[2])<<32
}

// Set reports whether the stamp holds a time other than 0.
func (s Stamp) Set() bool { return s != Stamp{} }

// Move moves the moment by so many milliseconds, if there is one.
func (s *Stamp) Move(by rimewatch.Time) {
	if s.Set() {
		*s = StampOf(s.Time() + by)
	}
}

// Fixed is a measurement in units of 10⁻⁴: exact for every decimal a sensor
// sends, in half the room of a float64.
type Fixed int32

// FixedOf rounds a value, within ±214,748.
func FixedOf(v float64) Fixed {
	switch v *= 1e4; {
	case v >= math.MaxInt32:
		return math.MaxInt32
	case v <= math.MinInt32:
		return math.MinInt32
	default:
		return nearest(v)
	}
}

// PlausibleFixed is FixedOf for a value that is plausible, and so within its range.
func PlausibleFixed(v float64) Fixed { return nearest(float64(v * 1e4)) }

// nearest is without a branch: the zone of a freezer is below 0, its pipes are not.
func nearest(v float64) Fixed { return Fixed(v + math.Copysign(0.5, v)) }

// Float is the value.
func (f Fixed) Float() float64 { return float64(f) / 1e4 }

// Real is a float32 that may lie at any even address: next to a number of 16 bits
// it needs no padding.
type Real [2]uint16

// RealOf packs a number.
func RealOf(v float32) Real {
	b := math.Float32bits(v)
	return Real{uint16(b), uint16(b >> 16)}
}

// Float is the number.
func (r Real) Float() float32 {
	return math.Float32frombits(uint32(r[0]) | uint32(r[1])<<16)
}
