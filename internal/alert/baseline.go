package alert

import (
	"math"

	"github.com/rimewatch/rimewatch"
)

const (
	windowLen     = 6 * hour
	windowSamples = 12  // warm readings that make a window count
	baselineReady = 8   // windows (two days) before deviations are judged
	baselineSpan  = 120 // windows (a month) that the baseline remembers
	noDeviation   = -1e9
	// deviationClear is the run time for which a deviation must be gone: two
	// windows or so, since each of them speaks for its time of day.
	deviationClear = 6 * hour
	slopeTrust     = 40 // K² of ambient spread that outweigh the usual slope
)

// The channels that a baseline is learnt for.
const (
	channelDischarge = iota
	channelSuction
	channelAmps
	channelVibration
	measured // the channels above are fields of readings
)

// channelShare is the share of running time in a window.
const (
	channelShare = measured
	channels     = measured + 1
)

var channelField = [measured]rimewatch.Field{
	rimewatch.CompressorDischargeTemp, rimewatch.CompressorSuctionTemp, rimewatch.AmpDraw, rimewatch.VibrationLevel,
}

// usualSlope is how a channel moves with ambient, per K, until the unit has
// shown it: K, K, shares of the value, and points.
var usualSlope = [channels]float64{0.9, 0.2, 0.008, 0, 1}

// window gathers what warm readings say within six hours.
type window struct {
	index   uint32 // of the window since the epoch
	on, all uint32 // ms running and known
	n       uint16 // warm readings
	starts  uint16
	counts  [measured]uint16
	x       float32 // sum of ambient
	y       [measured]float32
	shares  [4]uint8          // % running of the last four windows + 1; 0 = unknown
	prev    [channels]float32 // deviation in the window before, noDeviation = not known
	dev     [channels]float32 // deviation that the last two windows agree on
	started bool
}

// baseline is the linear relation of each channel to ambient temperature, over
// the means of windows: forgetting sums around the running mean.
type baseline struct {
	w     float32 // windows in it
	x, xx float32
	y     [channels]float32
	xy    [channels]float32
}

// ready tells whether the baseline knows the unit.
func (b *baseline) ready() bool { return b.w >= baselineReady }

// expected is what a channel should show at an ambient temperature. The slope
// is drawn towards the usual one while the unit has seen little of ambient.
func (b *baseline) expected(ch int, ambient float64) float64 {
	usual := usualSlope[ch]
	if ch == channelAmps || ch == channelVibration {
		usual *= float64(b.y[ch])
	}
	spread := float64(b.xx) * float64(b.w)
	slope := (float64(b.xy[ch])*float64(b.w) + slopeTrust*usual) / (spread + slopeTrust)
	return float64(b.y[ch]) + slope*(ambient-float64(b.x))
}

// learn takes the means of one window.
func (b *baseline) learn(x float64, y [channels]float64) {
	b.w = min(b.w+1, baselineSpan)
	a := 1 / float64(b.w)
	dx := x - float64(b.x)
	b.x += float32(a * dx)
	b.xx += float32(a * (dx*(x-float64(b.x)) - float64(b.xx)))
	for ch := range channels {
		dy := y[ch] - float64(b.y[ch])
		b.y[ch] += float32(a * dy)
		b.xy[ch] += float32(a * (dx*(y[ch]-float64(b.y[ch])) - float64(b.xy[ch])))
	}
}

// followWindow adds a reading to the present window and closes it when its time
// is over.
func (s *State) followWindow(x *pass, r *rimewatch.Reading, valid rimewatch.Fields, gap rimewatch.Time) {
	w := &s.win
	if i := uint32(x.e / windowLen); i != w.index {
		if w.started {
			s.closeWindow(x)
		}
		if !w.started {
			for ch := range channels {
				w.prev[ch] = noDeviation
			}
		}
		*w = window{index: i, shares: w.shares, prev: w.prev, dev: w.dev, started: true}
	}
	held := min(gap, max(rimewatch.Time(2000*s.gap), minute), 15*minute)
	if s.run.known && !s.melt.declared {
		w.all += uint32(held)
		if s.run.on {
			w.on += uint32(held)
		}
	}
	if !s.warm(x.e) || !valid.Has(rimewatch.AmbientTemp) || s.melt.hump {
		return
	}
	w.n++
	w.x += float32(r.Values[rimewatch.AmbientTemp])
	for ch, f := range channelField {
		if valid.Has(f) {
			w.counts[ch]++
			w.y[ch] += float32(r.Values[f])
		}
	}
}

// closeWindow compares the window with the baseline, teaches the baseline a
// normal one, and judges the share of running time.
func (s *State) closeWindow(x *pass) {
	w := &s.win
	copy(w.shares[1:], w.shares[:])
	w.shares[0] = 0
	known := w.all > uint32(windowLen)/2
	if known {
		w.shares[0] = uint8(100*uint64(w.on)/uint64(w.all)) + 1
	}
	if known && !s.isActive(ruleCycling) && s.countsStarts() {
		s.run.learnCycles(w.starts, float32(w.all)/float32(hour), 1/8.0)
	}
	// A window of short runs alone is not evidence either way: those are
	// short_cycling's.
	if w.n >= windowSamples {
		s.compareWindow(x.th, known)
	}
	s.judgeRunTime(x)
}

// compareWindow updates the deviations and the baseline.
func (s *State) compareWindow(th *Thresholds, known bool) {
	w := &s.win
	ambient := float64(w.x) / float64(w.n)
	normal := true
	var y [channels]float64
	for ch := range channels {
		seen, ok := 100*float64(w.on)/max(1, float64(w.all)), known
		if ch < measured {
			seen, ok = float64(w.y[ch])/max(1, float64(w.counts[ch])), w.counts[ch] >= windowSamples
		}
		y[ch] = s.base.expected(ch, ambient)
		dev := float32(noDeviation)
		if ok {
			if s.base.ready() {
				dev = float32(deviation(ch, seen, y[ch]))
				normal = normal && math.Abs(float64(dev)) < usualDeviation(th, ch)
			}
			y[ch] = seen
		}
		w.dev[ch] = agreed(dev, w.prev[ch], w.dev[ch])
		w.prev[ch] = dev
	}
	if normal {
		s.base.learn(ambient, y)
	}
}

// deviation is in K for temperatures, in % for current and vibration, in points
// for the share of running time.
func deviation(ch int, seen, expected float64) float64 {
	if ch < channelAmps || ch == channelShare {
		return seen - expected
	}
	if expected <= 0 {
		return 0
	}
	return 100 * (seen/expected - 1)
}

// usualDeviation is what still counts as normal and is learnt.
func usualDeviation(th *Thresholds, ch int) float64 {
	switch ch {
	case channelDischarge:
		return th.DischargeDeviation.Warn
	case channelSuction:
		return th.SuctionDeviation.Warn
	case channelAmps:
		return th.AmpsDeviation.Warn
	case channelShare:
		return th.RunTimeDeviation.Warn
	default:
		return 50
	}
}

// agreed is the part of the deviation that two windows in a row show; was is
// kept where one of them is not known.
func agreed(dev, prev, was float32) float32 {
	switch {
	case dev == noDeviation || prev == noDeviation:
		return was
	case dev > 0 && prev > 0:
		return min(dev, prev)
	case dev < 0 && prev < 0:
		return max(dev, prev)
	default:
		return 0
	}
}

// runShare is the share of running time in %, over the last n windows of which
// most are known.
func (w *window) runShare(n int) (float64, bool) {
	sum, known := 0, 0
	for _, v := range w.shares[:n] {
		if v > 0 {
			sum += int(v) - 1
			known++
		}
	}
	if 2*known <= n {
		return 0, false
	}
	return float64(sum) / float64(known), true
}

// judgeRunTime opens excessive_run_time when a window ends: a warning for a day
// of it, or for much more than the unit usually needs; critical for six hours
// without a pause that do not keep the zone cold.
func (s *State) judgeRunTime(x *pass) {
	if x.c.Rules&RuleRunTime == 0 {
		return
	}
	day, ok := s.win.runShare(len(s.win.shares))
	if now, known := s.win.runShare(1); known && now > x.th.RunTime.Crit && s.warmZone(x) {
		b := s.bounds(x.c, &x.p, x.th, ruleRunTime)
		s.judge(x, ruleRunTime, &b, sample{v: now, z: zoneBeyond, cz: zoneBeyond})
		return
	}
	relative := x.c.Rules&RuleRelative != 0 && s.base.ready()
	// Below the critical line whatever the share: that takes a warm zone too.
	s.either(x, ruleRunTime, min(day, x.th.RunTime.Crit), ok, float64(s.win.dev[channelShare]), relative)
}

// warmZone tells whether the zone has been well above its setpoint for hours.
func (s *State) warmZone(x *pass) bool {
	e := x.c.Equipment
	return e != nil && e.Setpoint != nil && s.zoneAt != 0 && float64(s.melt.mean) > *e.Setpoint+x.th.RunTimeZoneK
}
