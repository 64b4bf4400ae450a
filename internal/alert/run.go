package alert

import (
	"slices"

	"github.com/rimewatch/rimewatch"
)

const (
	warmUp      = 5 * minute // of a run, before anything of the compressor is judged
	shortWarm   = 2 * minute // the same of a unit whose usual runs are short
	countedGap  = 75.0       // s: readings slower than once a minute do not show every start
	followedGap = 330.0      // s: slower than once in five minutes they do not show every run
	bucket      = 5 * minute // of the count of starts
	spikeRatio  = 2.5        // times the running level: a starting or locked motor
)

// runState is whether the compressor runs, learnt from a level that differs
// between running and standing, and what its starts look like.
type runState struct {
	hi, lo     float32   // the source's level while running and while standing
	prev       float32   // its newest value
	since      stamp     // start of the present run or stop
	paused     stamp     // since when running rules are not judged; 0 = they are
	lens       [5]uint16 // s, the newest runs, newest first; 0 = none
	starts     [12]uint8 // by bucket, the last hour
	failed     [12]uint8 // failed starts, two hours of the day in a byte
	usualStart float32   // starts an hour that are normal for this unit; 0 = not known yet
	usualRun   float32   // min, length of a normal run
	startCount uint32    // the device's own counters at its newest start
	runSeconds uint32
	stopZone   fixed // °C of the zone when the compressor stopped
	source     source
	known, on  bool
	dated      bool // since is the true moment
	counted    bool // the device counts its starts itself
	spike      bool // the newest value was that of a starting motor
}

// source is what running is read from; a better one replaces a worse.
type source uint8

const (
	noSource source = iota
	fromHeat        // discharge line above ambient, slow: no starts are counted
	fromVibration
	fromAmps
	fromFlag // the device says so
)

// floors are the least difference of levels that means running.
var floors = [...]float32{fromHeat: 12, fromVibration: 0.1, fromAmps: 0.15}

// separate tells whether running and standing can be told apart.
func (r *runState) separate() bool {
	return r.hi-r.lo > floors[r.source] && (r.source == fromHeat || r.hi > 1.6*r.lo)
}

func (r *runState) threshold(share float32) float32 { return r.lo + share*(r.hi-r.lo) }

// learn follows the two levels. A rise counts when two values in a row show it,
// so that the current of a start does not pass for that of a run.
func (r *runState) learn(v float32) {
	if r.hi == 0 && r.lo == 0 {
		r.hi, r.lo, r.prev = v, v, v
		return
	}
	if both := min(v, r.prev); both > r.hi {
		r.hi += 0.5 * (both - r.hi)
	}
	if v < r.lo {
		r.lo += 0.5 * (v - r.lo)
	}
	r.prev = v
}

// decide tells whether the compressor runs at level v; ok is false while the
// two levels cannot be told apart.
func (r *runState) decide(v float32) (on, ok bool) {
	if !r.separate() {
		return false, false
	}
	on = r.on && r.known
	switch {
	case v > r.threshold(0.5):
		on = true
	case v < r.threshold(0.35):
		on = false
	}
	// The levels move with the unit: ambient, charge, wear.
	if on {
		r.hi += 0.005 * (min(v, 1.5*r.hi) - r.hi)
	} else {
		r.lo += 0.01 * (v - r.lo)
	}
	return on, true
}

// followRun decides whether the compressor runs and counts its starts.
func (s *State) followRun(x *pass, r *rimewatch.Reading, valid rimewatch.Fields, gap rimewatch.Time) {
	w := &s.run
	if s.blind(gap) {
		w.known, w.dated = false, false // what happened meanwhile is not known
	}
	on, ok := s.readRun(x, r, valid)
	if !ok {
		w.known = false
	} else if !w.known || on != w.on {
		s.turn(x, on)
	}
	s.readCounters(x, r)
	s.pause(x)
}

// blind tells whether a time without readings is too long to know what happened
// in it.
func (s *State) blind(gap rimewatch.Time) bool {
	return gap > max(5*minute, rimewatch.Time(3000*s.gap))
}

// readRun gives the running state that a reading shows.
func (s *State) readRun(x *pass, r *rimewatch.Reading, valid rimewatch.Fields) (on, ok bool) {
	w := &s.run
	if flag, sent := r.Flags.Bool(rimewatch.CompressorOn); sent {
		w.source = fromFlag
		if valid.Has(rimewatch.AmpDraw) {
			s.followSpike(x, float32(r.Values[rimewatch.AmpDraw]))
		}
		return flag, true
	}
	src, v := noSource, 0.0
	switch {
	case valid.Has(rimewatch.AmpDraw):
		src, v = fromAmps, r.Values[rimewatch.AmpDraw]
	case valid.Has(rimewatch.VibrationLevel):
		src, v = fromVibration, r.Values[rimewatch.VibrationLevel]
	case valid.Has(rimewatch.CompressorDischargeTemp) && valid.Has(rimewatch.AmbientTemp):
		src, v = fromHeat, max(0.01, r.Values[rimewatch.CompressorDischargeTemp]-r.Values[rimewatch.AmbientTemp])
	}
	if src < w.source || src == noSource {
		return false, false // its usual source is silent
	}
	if src != w.source {
		w.source, w.hi, w.lo = src, 0, 0
	}
	level := float32(v)
	if src == fromAmps && s.followSpike(x, level) {
		return w.on, w.known
	}
	w.learn(level)
	return w.decide(level)
}

// followSpike notes a current that only a starting or locked motor draws. When
// the motor does not run afterwards, the start has failed.
func (s *State) followSpike(x *pass, amps float32) bool {
	w := &s.run
	level := w.hi
	if w.source == fromFlag {
		level = max(w.hi, float32(s.base.y[channelAmps]))
	}
	if level > 0 && (w.source == fromFlag || w.separate()) && amps > spikeRatio*level {
		if w.spike {
			w.fail(x.e) // two in a row: the one before did not start either
		}
		w.spike = true
		return true
	}
	if w.spike {
		w.spike = false
		if amps < level*0.5 && !s.slow() {
			w.fail(x.e)
		}
	}
	return false
}

// turn notes that the compressor has started or stopped.
func (s *State) turn(x *pass, on bool) {
	w := &s.run
	seen := w.known // the change itself was seen, not found after a gap
	if seen && on {
		if s.sensor.runs < 255 {
			s.sensor.runs++
		}
		if !w.counted {
			s.addStarts(x.e, 1)
		}
	}
	if seen && !on && w.dated && !w.counted && w.source != fromHeat {
		w.addRun(int64((x.e - w.since.time()) / second))
	}
	w.known, w.on, w.dated = true, on, seen
	w.since = stampOf(x.e)
	w.stopZone = s.last[rimewatch.ProductZoneTemp]
}

// readCounters prefers the device's own counters, which miss no start.
func (s *State) readCounters(x *pass, r *rimewatch.Reading) {
	w := &s.run
	starts, sent := r.Value(rimewatch.StartCount)
	if !sent {
		return
	}
	seconds, timed := r.Value(rimewatch.RunSeconds)
	count, run := uint32(int64(starts)), uint32(int64(seconds))
	if w.counted && count > w.startCount && count-w.startCount <= 60 {
		n := count - w.startCount
		s.addStarts(x.e, n)
		if timed && run >= w.runSeconds {
			// All but the newest of these starts have ended; the seconds are
			// about those of the runs before it.
			for range min(n, 5) {
				w.addRun(int64((run - w.runSeconds) / n))
			}
		}
	}
	if !w.counted || count != w.startCount {
		w.startCount, w.runSeconds = count, run
	}
	w.counted = true
}

func (r *runState) addRun(seconds int64) {
	copy(r.lens[1:], r.lens[:])
	r.lens[0] = uint16(max(1, min(seconds, 65535)))
}

// addStarts counts n starts since the last reading, spread evenly over the
// buckets in between.
func (s *State) addStarts(e rimewatch.Time, n uint32) {
	s.win.starts += uint16(n)
	first, last := e/bucket, e/bucket
	if s.at != 0 && n > 1 {
		first = min(last, s.at/bucket+1)
	}
	span := uint32(last - first + 1)
	for k := range span {
		share := n*(k+1)/span - n*k/span
		if b := &s.run.starts[(first+rimewatch.Time(k))%12]; span-k <= 12 {
			*b = uint8(min(255, uint32(*b)+share))
		}
	}
}

func (r *runState) fail(e rimewatch.Time) {
	h := e / hour % 24
	b := &r.failed[h/2]
	shift := 4 * (h % 2)
	if n := *b >> shift & 15; n < 15 {
		*b += 1 << shift
	}
}

// roll empties the buckets that lie between two readings.
func (r *runState) roll(from, to rimewatch.Time) {
	if from == 0 || from/bucket == to/bucket {
		return
	}
	for b := max(from/bucket+1, to/bucket-11); b <= to/bucket; b++ {
		r.starts[b%12] = 0
	}
	for h := max(from/hour+1, to/hour-23); h <= to/hour; h++ {
		r.failed[h%24/2] &^= 15 << (4 * (h % 2))
	}
}

// startsPerHour counts the starts of the last hour.
func (r *runState) startsPerHour() int {
	n := 0
	for _, b := range r.starts {
		n += int(b)
	}
	return n
}

// failures counts the failed starts of the last 24 h and of this clock hour
// and the one before.
func (r *runState) failures(e rimewatch.Time) (day, recent int) {
	for _, b := range r.failed {
		day += int(b&15) + int(b>>4)
	}
	for _, h := range [...]rimewatch.Time{e / hour % 24, (e/hour + 23) % 24} {
		recent += int(r.failed[h/2] >> (4 * (h % 2)) & 15)
	}
	return day, recent
}

// medianRun is the median of the newest five runs in minutes; ok is false
// before there are five.
func (r *runState) medianRun() (float64, bool) {
	if r.lens[4] == 0 {
		return 0, false
	}
	l := r.lens
	slices.Sort(l[:])
	return float64(l[2]) / 60, true
}

// runsBelow tells whether the median of the newest five runs is below so many
// minutes, without sorting them.
func (r *runState) runsBelow(minutes float64) bool {
	if r.lens[4] == 0 {
		return false
	}
	n := 0
	for _, l := range r.lens {
		if float64(l)/60 < minutes {
			n++
		}
	}
	return n > len(r.lens)/2
}

// countsStarts tells whether starts can be judged at all: by the device's own
// counters, or by readings at least once a minute.
func (s *State) countsStarts() bool {
	return s.run.counted || (s.run.source > fromHeat && s.gap > 0 && s.gap <= countedGap)
}

// slow tells whether readings come too seldom to know how long the compressor
// has been running: two in a row may belong to two runs.
func (s *State) slow() bool { return s.gap > followedGap }

// warm tells whether what is measured of the compressor at e counts: it has run
// for five minutes, or for more than half of the unit's usual run, outside a
// defrost.
func (s *State) warm(e rimewatch.Time) bool {
	return s.run.known && !s.slow() && s.run.on && s.run.since.time()+s.run.warmUp() <= e && !s.melt.declared
}

func (r *runState) warmUp() rimewatch.Time {
	if r.usualRun == 0 {
		return warmUp
	}
	return max(shortWarm, min(warmUp, rimewatch.Time(0.6*r.usualRun*float32(minute))))
}

// learnCycles follows what is normal for this unit: open cases start eight times
// an hour all their life. n starts were seen in a window.
func (r *runState) learnCycles(n uint16, hours, weight float32) {
	median, ok := r.medianRun()
	if !ok {
		return
	}
	if r.usualRun == 0 {
		r.usualStart, r.usualRun = float32(n)/hours, float32(median)
		return
	}
	r.usualStart += weight * (float32(n)/hours - r.usualStart)
	r.usualRun += weight * (float32(median) - r.usualRun)
}

// cyclingBounds widen the limit on starts for a unit that always starts often,
// up to what is critical for all.
func (r *runState) cyclingBounds(th *Thresholds) bounds {
	b := th.Starts.bounds(1, false)
	if r.usualRun == 0 {
		b.warn = b.crit
		return b
	}
	b.warn = max(b.warn, min(1.5*float64(r.usualStart), b.crit))
	return b
}

// runBounds widen the limit on the length of runs likewise, down to half. A run seen in
// samples may have been longer by half an interval.
func (s *State) runBounds(th *Thresholds) bounds {
	b := th.RunLength.bounds(1, true)
	usual := float64(s.run.usualRun)
	b.warn = max(b.warn/2, min(b.warn, 0.5*usual))
	b.crit = max(b.crit/2, min(b.crit, 0.4*usual))
	if !s.run.counted {
		b.warn -= float64(s.gap) / 120
		b.crit -= float64(s.gap) / 120
	}
	return b
}

// pause stops the clocks of the running rules while nothing they judge is
// measured: their delays count run time.
func (s *State) pause(x *pass) {
	w := &s.run
	judged := s.warm(x.e) || s.slow() || !w.known
	switch {
	case !judged && w.paused == (stamp{}):
		w.paused = stampOf(x.e)
	case judged && w.paused != (stamp{}):
		d := x.e - w.paused.time()
		for set := s.pool.rules; set != 0; set &= set - 1 {
			if i := lowest(set); ruleSpecs[i].running {
				s.pool.track(i).shift(d)
			}
		}
		w.paused = stamp{}
	}
}
