package unit

import "math"

// The measures of a hump's course: its height, and s to half of it, to the turn,
// from there to half down, to a quarter left and to the end, and in all.
const (
	mHeight = iota
	mRise
	mTurn
	mFall
	mQuarter
	mEnd
	mLength
	numMeasures
)

type course [numMeasures]float32

// packed is a course in steps of 0.01 K and 1 s.
type packed [numMeasures]uint16

func (c *course) pack() (p packed) {
	for m, v := range c {
		p.set(m, v)
	}
	return p
}

// set rounds a measure into a packed course.
func (p *packed) set(m int, v float32) {
	if m == mHeight {
		v *= 100
	}
	p[m] = uint16(max(0, min(math.MaxUint16, v+0.5)))
}

// of is a measure of a packed course, K or s.
func (p *packed) of(m int) float32 {
	if m == mHeight {
		return float32(p[m]) / 100
	}
	return float32(p[m])
}

// markHeight are the heights, K, whose first moments are kept of a running hump,
// so that the time to half of its height is known when its height is.
func markHeight(i int) float32 { return [...]float32{1, 1.5, 2.2, 3.3, 5, 7.5, 11, 16}[i] }

// measure returns the course of a hump that ended t seconds after its begin; whole
// is false where a stage was not seen.
func (h *humps) measure(t uint16) (c course, whole bool) {
	if h.turned == 0 {
		h.turned = t
	}
	if h.half == 0 {
		h.half = t
	}
	if h.quarter == 0 {
		h.quarter = t
	}
	height := h.peak - h.base
	c[mHeight], c[mTurn], c[mLength] = height, float32(h.turned), float32(t)
	c[mFall], c[mQuarter], c[mEnd] = float32(h.half-h.turned), float32(h.quarter-h.turned), float32(t-h.turned)
	half, last := height/2, float32(0)
	lastAt := float32(0)
	for i, m := range h.marks {
		if m == 0 {
			break
		}
		top := markHeight(i)
		if top >= half {
			c[mRise] = lastAt + (float32(m)-lastAt)*(half-last)/(top-last)
			return c, true
		}
		last, lastAt = top, float32(m)
	}
	c[mRise] = lastAt
	return c, height >= 1
}

// alike reports whether two lengths or heights differ by at most a ratio, or by as
// much as slack.
func alike(a, b, ratio, slack float32) bool {
	return max(a, b) <= ratio*min(a, b)+slack
}
