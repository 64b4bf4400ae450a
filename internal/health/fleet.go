package health

import "github.com/rimewatch/rimewatch"

// steps is the number of scores that one decimal can tell apart.
const steps = 1001

// Share is what one device contributes to its fleet. The zero value contributes
// nothing.
type Share struct {
	Covered uint32 // ms of the last 24 h
	In      uint32
	Strict  uint32
	Window  uint32
	score   uint16 // tenths + 1, 0 = none
	// unjudged devices are counted and have no score: see rimewatch.Judged.
	unjudged bool
}

// Unjudged reports whether the device is not judged.
func (s Share) Unjudged() bool { return s.unjudged }

// NewShare makes the share of a device that was heard of, with its score 0–100.
func NewShare(score float64, c Compliance) Share {
	tenths := min(max(tenth(score)*10, 0), steps-1)
	return Share{
		Covered: uint32(c.Covered), In: uint32(c.In), Strict: uint32(c.Strict), Window: uint32(c.Window),
		score: uint16(tenths+0.5) + 1,
	}
}

// NewUnjudgedShare returns the share of a device that is not judged: its covered
// time counts, a score it has none.
func NewUnjudgedShare(c Compliance) Share {
	s := NewShare(0, c)
	s.score, s.unjudged = 0, true
	return s
}

// Fleet adds up the shares of the devices of a workspace. It is kept up by
// replacing a device's former share by its new one and is read in time that
// does not depend on the number of devices. A device's share ages without
// readings, as its window slides: refresh each at least every half hour.
type Fleet struct {
	scores   [steps]int32 // devices by score in tenths
	devices  int          // with a score
	unjudged int
	tenths   int64 // sum of scores
	covered  int64
	in       int64
	strict   int64
	window   int64
}

// Replace puts a device's new share in place of its former one; the zero Share
// stands for a device that was not or will not be there.
func (f *Fleet) Replace(former, share Share) {
	f.add(former, -1)
	f.add(share, 1)
}

func (f *Fleet) add(s Share, sign int64) {
	if s.unjudged {
		f.unjudged += int(sign)
	}
	if s.score != 0 {
		f.scores[s.score-1] += int32(sign)
		f.devices += int(sign)
		f.tenths += sign * int64(s.score-1)
	}
	f.covered += sign * int64(s.Covered)
	f.in += sign * int64(s.In)
	f.strict += sign * int64(s.Strict)
	f.window += sign * int64(s.Window)
}

// Devices is the number of devices that have a score.
func (f *Fleet) Devices() int { return f.devices }

// Unjudged is the number of devices that are not judged.
func (f *Fleet) Unjudged() int { return f.unjudged }

// Score is the workspace's health, 0–100 to one decimal; 100 without devices.
func (f *Fleet) Score() float64 {
	if f.devices == 0 {
		return 100
	}
	worst := int64(max(f.devices/10, 1))
	left, sum := worst, int64(0)
	for t := 0; left > 0; t++ {
		n := min(int64(f.scores[t]), left)
		sum += n * int64(t)
		left -= n
	}
	mean := float64(f.tenths) / 10 / float64(f.devices)
	return tenth(0.7*mean + 0.3*float64(sum)/10/float64(worst))
}

// Compliance is the share of covered device-time that was within limits, 0–100
// to one decimal; 100 when nothing is covered.
func (f *Fleet) Compliance() float64 { return share(f.in, f.covered, 100) }

// StrictCompliance is Compliance without forgiveness.
func (f *Fleet) StrictCompliance() float64 { return share(f.strict, f.covered, 100) }

// Coverage is the share of the time that could have been covered, 0–100 to one
// decimal, over devices with a temperature limit; 0 without any.
func (f *Fleet) Coverage() float64 { return share(f.covered, f.window, 0) }

func share(part, whole int64, without float64) float64 {
	if whole <= 0 {
		return without
	}
	return rimewatch.Share(float64(part)/float64(whole), 1)
}
