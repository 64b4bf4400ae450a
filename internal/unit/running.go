package unit

import (
	"math"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/state"
)

const (
	warmUp      = 5 * minute // of a run, before anything of the compressor is judged
	shortWarm   = 2 * minute // the same of a unit whose usual runs are short
	countedGap  = 75.0       // s: readings slower than once a minute do not show every start
	followedGap = 330.0      // s: slower than once in five minutes they do not show every run
	spikeRatio  = 2.5        // times the running level: a starting or locked motor
	spikeLasts  = minute     // a protector opens within seconds: what lasts longer is another load, such as a defrost heater
	spikeAgain  = 45 * second
	strayFor    = 14 * rimewatch.Day
	otherAgain  = 4 * hour // heaters come less often
	otherLasts  = 5 * minute
	forgetAfter = 3 * rimewatch.Day // without a run the running level may be another one
)

// running is whether the compressor runs, learnt from a signal that has two
// levels, one while running and one while standing.
type running struct {
	hi, lo    float32     // the signal while running and while standing
	prev      state.Fixed // its newest value
	high, low float32     // A, running quantiles of the current while running
	seen      float32     // min of running behind them, up to loadMemory
	spikeAmps float32     // A of the newest start that was seen at its peak or failed
	since     state.Stamp // start of the present run or stop
	lastOn    state.Stamp // newest reading that showed it running
	spikedAt  state.Stamp // the present spike began
	strayed   state.Stamp // newest spike amid a run that went on
	otherAt   state.Stamp // the newest load far above running began, the one before the present included
	otherAmps state.Fixed // A of that load
	tried     state.Fixed // A of the newest start that no run followed
	triedAt   state.Stamp // which began
	alike     uint8       // such starts in a row before it that drew as much, up to 2
	grain     state.Fixed // A, least change of the current that was ever seen: what its meter resolves
	idle      state.Fixed // A of what else is behind the meter, as lately when the compressor stood
	otherPipe state.Fixed // °C of the discharge line when the present spike began
	stopZone  state.Fixed // °C of the zone when the compressor stopped
	source    source
	spike     spike
	known, on bool
	shakes    state.Fixed // mm/s, median of the vibration while running
	rests     state.Fixed // and while standing
	still     uint16      // s for which the current has shown a run without vibration, since it last vibrated
	mute      uint16      // s for which the vibration has shown a run without current
	speeds    uint8       // windows in a row in which current and vibration moved together
	modulated bool        // its load varies: an inverter, a digital scroll
	dated     bool        // since is the true moment
	bare      bool        // nothing of the compressor but its current is measured
}

// source is the signal that running is read from; a better one replaces a worse.
type source uint8

const (
	noSource source = iota
	fromHeat        // discharge line above ambient, slow: no starts are counted
	fromVibration
	fromAmps
	fromFlag // the device says so
)

// levelFloors are the least difference of levels that means running.
var levelFloors = [...]float32{fromHeat: 12, fromVibration: 0.1, fromAmps: 0.15, fromFlag: 0.15}

// bareFloor is the least difference of levels of a unit of which only the current is
// measured, A: the smallest compressors of a household draw little more.
const bareFloor = 0.06

// floor is the least difference of the levels of its signal.
func (w *running) floor() float32 {
	if w.source == fromAmps && w.bare {
		return bareFloor
	}
	return levelFloors[w.source]
}

// separate reports whether running and standing can be told apart.
func (w *running) separate() bool {
	return w.hi-w.lo > w.floor() && (w.source == fromHeat || w.hi > 1.6*w.lo)
}

func (w *running) threshold(share float32) float32 { return w.lo + share*(w.hi-w.lo) }

// learn follows the two levels. A rise counts when two values in a row show it,
// so that the current of a start does not pass for that of a run.
func (w *running) learn(v float32) {
	if w.hi == 0 && w.lo == 0 {
		w.hi, w.lo, w.prev = v, v, state.Fixed(v*1e4+0.5)
		return
	}
	if both := min(v, float32(w.prev.Float())); both > w.hi {
		w.hi += 0.5 * (both - w.hi)
	}
	if v < w.lo {
		w.lo += 0.5 * (v - w.lo)
	}
	w.prev = state.Fixed(v*1e4 + 0.5) // no signal is negative
}

// decide reports whether the compressor runs at level v; ok is false while the
// two levels cannot be told apart. The pace is that of follow.
func (w *running) decide(v, pace float32) (on, ok bool) {
	if !w.separate() {
		return false, false
	}
	on = w.on && w.known
	start, stop := float32(0.5), float32(0.35)
	if w.modulated {
		start, stop = 0.22, 0.15 // at its slowest
	}
	switch {
	case v > w.threshold(start):
		on = true
	case v < w.threshold(stop):
		on = false
	}
	w.follow(v, on, pace)
	return on, true
}

// follow lets the levels move with the unit: ambient, charge, wear. The pace of a reading
// is 1, less if it stands for less than a minute: a scroll that is unloaded for seconds
// does not stand.
func (w *running) follow(v float32, on bool, pace float32) {
	if on {
		w.hi += 0.005 * pace * (min(v, 1.5*w.hi) - w.hi)
	} else {
		w.lo += 0.01 * pace * (v - w.lo)
	}
}

// followRun decides whether the compressor runs and counts its starts.
func (s *State) followRun(o *Observation) {
	w := &s.running
	if s.blind(o.Gap) {
		w.known, w.dated = false, false // what happened meanwhile is not known
	}
	on, ok := s.readRun(o)
	if !ok {
		w.known = false
	} else if !w.known || on != w.on {
		s.turn(o.At, on)
	}
	if s.Running() {
		w.lastOn = state.StampOf(o.At)
	}
	s.readCounters(o)
	o.Warm = s.warm(o.At)
}

// readRun returns the running state that a reading shows.
func (s *State) readRun(o *Observation) (on, ok bool) {
	w, r := &s.running, o.Reading
	w.bare = s.last[rimewatch.CompressorDischargeTemp]|s.last[rimewatch.CompressorSuctionTemp]|s.last[rimewatch.VibrationLevel] == 0
	amps, hasAmps := float32(r.Values[rimewatch.AmpDraw]), o.Valid.Has(rimewatch.AmpDraw)
	if flag, sent := r.Flags.Bool(rimewatch.CompressorOn); sent {
		s.use(fromFlag)
		if hasAmps && !s.followSpike(o, amps) {
			w.learn(amps)
			w.follow(amps, flag, s.pace())
			if flag && !s.Slow() {
				w.followLoad(amps, o)
			}
		}
		return flag, true
	}
	src, v := noSource, float32(0)
	switch {
	case hasAmps:
		src, v = fromAmps, amps
	case o.Valid.Has(rimewatch.VibrationLevel):
		// Single readings that stray are too high, so two in a row must show a run.
		src, v = fromVibration, float32(min(o.fixed[rimewatch.VibrationLevel], max(s.last[rimewatch.VibrationLevel], 1)).Float())
	case o.Valid.Has(rimewatch.CompressorDischargeTemp) && o.Valid.Has(rimewatch.AmbientTemp):
		src, v = fromHeat, float32(max(0.01, r.Values[rimewatch.CompressorDischargeTemp]-r.Values[rimewatch.AmbientTemp]))
	}
	if src == noSource || src < w.source && w.mute <= muteFor {
		return false, false // its usual source is silent
	}
	s.use(src)
	if src == fromAmps && s.followSpike(o, v) {
		return w.on, w.known
	}
	if w.lastOn.Set() && o.At-w.lastOn.Time() > forgetAfter {
		w.hi, w.lastOn = w.lo, state.StampOf(o.At)
	}
	if src != fromAmps {
		w.learn(v)
		return w.decide(v, 1)
	}
	if d := max(o.fixed[rimewatch.AmpDraw]-w.prev, w.prev-o.fixed[rimewatch.AmpDraw]); w.prev > 0 && d > 0 && (w.grain == 0 || d < w.grain) {
		w.grain = d
	}
	if w.otherRuns(o, v) {
		return false, true
	}
	if !s.Slow() {
		w.followLoad(v, o)
		s.glimpse(o, v)
		s.presume(o, v)
	}
	w.learn(v)
	on, ok = w.decide(v, s.pace())
	if ok && !on && (w.rests == 0 || w.quiet(o)) { // by steps, so that single readings that stray count little
		most := state.Fixed(idleStep * w.hi * 1e4)
		w.idle += max(-most, min(most, o.fixed[rimewatch.AmpDraw]-w.idle))
	}
	if ok {
		w.followShaking(o, on)
	}
	return on, ok
}

const idleStep = 0.03 // of the running level, a reading

// OwnAmps is what the compressor draws of a current while it runs: without lights
// and fans that are behind the same meter, as lately when it stood, A.
func (w *running) OwnAmps(v float64) float64 {
	if idle := w.idle.Float(); idle < 0.3*v {
		return v - idle
	}
	return v
}

// Grain is what the meter of the current resolves, A.
func (w *running) Grain() float64 { return w.grain.Float() }

// otherRuns reports whether a current as high as that of the compressor is drawn by
// something else, such as the heater of a defrost behind the same meter: nothing
// shakes. A vibration sensor that shows no run for long says nothing any more.
func (w *running) otherRuns(o *Observation, amps float32) bool {
	if w.shakes < 2*w.rests+leastShaking || !w.separate() || amps < w.threshold(0.35) {
		return false
	}
	if !o.Sane.Has(rimewatch.VibrationLevel) {
		return false
	}
	if !w.quiet(o) {
		w.still = 0
		return false
	}
	if w.still += uint16(min(o.Gap, 20*minute) / second); w.still > stillFor {
		w.shakes, w.still = 0, 0
		return false
	}
	return true
}

// quiet reports whether nothing shows that the unit shakes more than when it stands.
func (w *running) quiet(o *Observation) bool {
	return !o.Sane.Has(rimewatch.VibrationLevel) || o.fixed[rimewatch.VibrationLevel] <= w.rests+w.rests/2+leastShaking/2
}

const (
	leastShaking = state.Fixed(1000) // 0.1 mm/s above that of standing
	stillFor     = uint16(90 * 60)   // s for which the current may speak of a run that the vibration does not show: longer than the heater of any defrost
	shakeSteps   = 50                // each a share of the level, so that single readings that stray count little
)

// followShaking learns how the compressor shakes while it runs and while it stands.
func (w *running) followShaking(o *Observation, on bool) {
	v := o.fixed[rimewatch.VibrationLevel]
	if v <= 0 || !o.Sane.Has(rimewatch.VibrationLevel) {
		return
	}
	level := &w.rests
	if on {
		level = &w.shakes
	}
	switch {
	case *level == 0:
		*level = v
	case v > *level:
		*level += *level/shakeSteps + 1
	default:
		*level -= *level/shakeSteps + 1
	}
}

// use makes src the signal that running is read from.
func (w *running) use(src source) {
	if src == w.source {
		return
	}
	if src != fromFlag || w.source != fromAmps {
		w.hi, w.lo = 0, 0
	}
	w.source = src
}

// likeOther reports whether a current far above that of running is that of another
// load, which lasted when it was seen before.
func (w *running) likeOther(amps float32, at rimewatch.Time) bool {
	other := float32(w.otherAmps.Float())
	return other > 0 && w.otherAt.Set() && at-w.otherAt.Time() < strayFor && max(amps-other, other-amps) < 0.05*other
}

// compressorToo reports whether a lasting load far above that of running so far is
// the compressor itself: its discharge line warms up, which that of a defrost heater
// does not; where it is not measured, it comes more often than a heater.
func (w *running) compressorToo(o *Observation) bool {
	pipe, okPipe := o.Value(rimewatch.CompressorDischargeTemp)
	air, okAir := o.Value(rimewatch.AmbientTemp)
	if okPipe && okAir && w.otherPipe != 0 {
		return pipe-air > float64(levelFloors[fromHeat]) && pipe >= w.otherPipe.Float()+2
	}
	return w.otherAt.Set() && w.spikedAt.Time()-w.otherAt.Time() < otherAgain
}

// showsStarts reports whether readings come often enough to tell a start that failed
// from a run so short that one reading shows it, and that one is wrong.
func (p *phases) showsStarts(gap float32, w *running, at rimewatch.Time) bool {
	length := p.runMin * minuteS
	return gap <= followedGap && p.runs >= 10 && (length >= 4*gap || length >= 3*gap && w.seen >= loadKnown && !w.Strays(at))
}

// Strays reports whether single readings of this meter are wrong now and then:
// then one at the end of a run is no failed start.
func (w *running) Strays(at rimewatch.Time) bool {
	return w.strayed.Set() && at-w.strayed.Time() < strayFor
}

// strayRun reports whether the run that began at a moment is one reading of a meter
// whose single readings are known to be wrong.
func (w *running) strayRun(began state.Stamp, at rimewatch.Time) bool {
	return w.source == fromAmps && w.lastOn == began && w.Strays(at)
}

// turn notes that the compressor has started or stopped.
func (s *State) turn(at rimewatch.Time, on bool) {
	w := &s.running
	seen := w.known // the change itself was seen, not found after a gap
	if seen && on {
		if s.stuck.runs < 255 {
			s.stuck.runs++
		}
		if !s.cycles.counted {
			s.addStarts(at, 1)
		}
	}
	if seen && !on && w.dated && !s.cycles.counted && w.source != fromHeat {
		if s.strayRun(w.since, at) {
			s.cycles.takeStart(w.since.Time(), at)
			s.window.starts -= min(1, s.window.starts)
		} else {
			s.cycles.addRun(int64((at - w.since.Time()) / second))
		}
	}
	w.known, w.on, w.dated = true, on, seen
	w.since = state.StampOf(at)
	w.stopZone = s.last[rimewatch.ProductZoneTemp]
}

// A compressor whose load varies shows by how far its current is spread while it
// runs: that of one with a fixed speed keeps within a quarter, apart from the first
// minutes of a run. One that runs at its slowest most of the time shows it by its
// rare highest, one that cools with hot gas has a rare lowest.
const (
	loadHigh       = 0.96 // quantiles of the current while running
	loadLow        = 0.15
	modulatedBelow = 0.6 // times the upper quantile: the lower one of a varying load
	steadyAbove    = 0.85
	steadyLoad     = 0.72
	overload       = 1.2     // times the upper quantile: no load of a fixed speed
	loadKnown      = 12 * 60 // min of running
	loadMemory     = 7 * 24 * 60
	loadStep       = 0.01 // a minute
	presumeAfter   = 2 * hour
	leastRunning   = 0.25 // A: fans alone draw less
	bareRunning    = 0.09 // A, where nothing else is measured: one that never starts is recognised as surely as one that never stops
)

// followLoad learns how the current is spread while the compressor runs. Of a unit that is suspected
// to be failing, and whose load was not known to vary until then, nothing is concluded: a
// fan that stands and dirt spread a current, too.
func (w *running) followLoad(v float32, o *Observation) {
	if o.suspected && !w.Modulated() {
		return
	}
	if w.bare && o.Gap > 2*minute && !(w.known && w.on) {
		return // the first reading of a run may be of its start: they are too many of so few
	}
	if !w.separate() || v < w.lo+0.2*(w.hi-w.lo) || v < w.floor() || v > spikeRatio*w.hi {
		return
	}
	if w.seen == 0 {
		w.high, w.low = v, v
	}
	if v > overload*w.high && w.keepsSteady() && o.Sane.Has(rimewatch.VibrationLevel) && state.FixedOf(o.Reading.Values[rimewatch.VibrationLevel]) < w.shakes+w.shakes/8 {
		return // no other speed: it would shake more
	}
	span := float32(min(o.Gap, 5*minute)) / float32(minute)
	w.seen = min(w.seen+span, loadMemory)
	step := loadStep * span
	if v > w.high {
		w.high *= 1 + loadHigh*step
	} else {
		w.high *= 1 - (1-loadHigh)*step
	}
	if v < w.low {
		w.low *= 1 - (1-loadLow)*step
	} else {
		w.low *= 1 + loadLow*step
	}
	switch share := w.low / w.high; {
	case w.seen < loadKnown:
	case share < modulatedBelow:
		w.modulated = true
	case share > steadyAbove:
		w.modulated = false
	}
}

// followSpeed sees that current and vibration have moved together: the compressor turns
// at another speed. What shakes with the pressures moves with the current, too, once a fan
// stands: of a unit that is suspected nothing is concluded, as in followLoad.
func (w *running) followSpeed(amps, vib float64, suspected bool) {
	if suspected && !w.Modulated() {
		w.speeds = 0
		return
	}
	if together(amps, vib) {
		w.speeds = min(w.speeds+1, speedKnown)
	} else if w.speeds < speedKnown {
		w.speeds = 0
	}
}

// together reports whether current and vibration depart, in %, as they do when a
// compressor turns at another speed.
func together(amps, vib float64) bool {
	share := vib / amps
	return math.Abs(amps) >= 8 && share > 0.3 && share < 1.3
}

// OtherSpeed reports whether current and vibration of a reading are both away from
// the unit's own as at another speed of the compressor.
func (s *State) OtherSpeed(o *Observation) bool {
	amps, okAmps := s.Calm(o, rimewatch.AmpDraw)
	vib, okVib := s.Calm(o, rimewatch.VibrationLevel)
	usual, shakes := s.usual(Amps), s.UsualVibration()
	return okAmps && okVib && usual > 0 && shakes > 0 && amps > 0 && vib > 0 &&
		together(100*math.Log(s.OwnAmps(amps)/usual), 100*math.Log(vib/shakes))
}

// speedKnown is the windows in a row that prove a varying speed.
const speedKnown = 2

// Modulated reports whether the compressor's load varies by itself, as that of an
// inverter or of a digital scroll: the averages of a fixed speed do not hold.
func (w *running) Modulated() bool { return w.modulated || w.speeds >= speedKnown }

// SteadyLoad reports whether the current of the running compressor is known to keep
// within narrow bounds, as that of a fixed speed does.
func (w *running) SteadyLoad() bool { return w.keepsSteady() && !w.Modulated() }

// RunsSure reports whether what looks like starts and stops of the compressor is. Until
// its load is known to vary, one that is unloaded for seconds at a time, as a digital
// scroll, looks by its current as if it stopped.
func (w *running) RunsSure() bool { return w.source != fromAmps || w.seen >= loadKnown }

func (w *running) keepsSteady() bool { return w.seen >= loadKnown && w.low >= steadyLoad*w.high }

// Running reports whether the compressor is known to run.
func (w *running) Running() bool { return w.known && w.on }

// RunningKnown reports whether it is known that the compressor runs or stands.
func (w *running) RunningKnown() bool { return w.known }

// RunningSince is the start of the present run or stop, as far as it is known.
func (w *running) RunningSince() rimewatch.Time { return w.since.Time() }

// warm reports whether measurements of the compressor count at e: it has run
// for five minutes, or for more than half of the unit's usual run, outside a
// declared defrost.
func (s *State) warm(e rimewatch.Time) bool {
	return s.Running() && !s.Slow() && s.running.since.Time()+s.cycles.warmUp() <= e && !s.defrost.declared
}

// Settled reports whether the compressor has run for so long at e that the pipes
// have taken on their temperatures.
func (w *running) Settled(e rimewatch.Time) bool { return w.since.Time()+2*warmUp <= e }

// ByCurrent reports whether the compressor is seen to run by its current.
func (w *running) ByCurrent() bool { return w.source == fromAmps }

// Started reports whether the compressor has run since a start was last seen to be tried.
func (w *running) Started() bool { return w.lastOn.Time() > w.spikedAt.Time()+spikeLasts }
