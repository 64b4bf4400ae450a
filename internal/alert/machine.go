package alert

import (
	"cmp"
	"math"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/state"
	"github.com/rimewatch/rimewatch/internal/unit"
)

// startsEase is how long no start may fail before failing starts are a warning
// again: they come in bursts.
const startsEase = 6 * hour

// bounds returns what rule i judges by. Bounds without a limit mean that it is
// not judged, for want of a configuration or of something still to be learnt.
func (s *State) bounds(x *pass, i rule) bounds {
	c := x.c
	if !c.judges(i) {
		return bounds{}
	}
	switch i.kind() {
	case ruleHigh, ruleLow:
		return confirmed(s, x, i, s.zoneBounds(c, i == ruleLow))
	case ruleOffline:
		return offlineBounds(x.p)
	case ruleWarming:
		_, from, _ := unit.Warmed(x.u)
		return bounds{hasWarn: true, warn: from}
	case ruleCooling:
		return s.coolingBounds(x)
	case ruleStale:
		after := x.staleAfter()
		return bounds{hasWarn: true, warn: float64(after / second), warnDelay: after}
	case ruleFault:
		return bounds{hasWarn: true, warnDelay: faultAfter, clear: faultAfter}
	case ruleVibration:
		return x.vibrationBounds()
	case ruleStarts:
		// Critical values show in the second measure alone.
		return bounds{hasWarn: true, warn: atLeast(failedStartsDay), hasCrit: true, crit: math.MaxInt16, delta: 0.5, clear: hour, ease: startsEase}
	case ruleCycling:
		return x.cyclingBounds(s)
	case ruleDischarge:
		return x.dischargeBounds()
	case ruleSuction:
		return x.suctionBounds()
	case ruleHot, ruleCold, ruleHumid:
		b := x.surroundingBounds(i)
		b.hasCrit = b.hasCrit && (i == ruleHumid || !keepsGoods(s, x))
		return b
	case ruleRecovery:
		return x.recoveryBounds()
	default:
		l, scale := x.limit(i)
		if l == nil {
			return bounds{}
		}
		b := l.bounds(scale, ruleSpecs[i].low)
		if i == ruleLowDischarge { // what lasts no longer than its defrosts by hot gas may be one
			b.warnDelay = max(b.warnDelay, x.u.MeltsRunning())
			b.critDelay = max(b.critDelay, x.u.MeltsRunning())
		}
		if i == ruleAmps {
			b.critDelay = max(b.critDelay, 2*x.u.Interval()) // for which a median of three keeps up two that stray
			if x.u.Strays(x.u.At()) {
				b.critDelay += strayReadings * x.u.Interval()
			}
		}
		if ruleSpecs[i].second != "" && ruleSpecs[i].running {
			b.clearSecond = deviationClear
		}
		return b
	}
}

// strayReadings is how many readings two wrong ones of the current can spoil.
const strayReadings = 3

// limit returns the limit of a rule whose bounds are a limit times a scale; nil
// for others and where it does not apply.
func (x *pass) limit(i rule) (l *Limit, scale float64) {
	l = &ruleSpecs[i].limit
	switch i {
	case rulePower, ruleLowVolts, ruleHighVolts:
		return l, x.u.NominalVoltage(&x.c.Config)
	case ruleHumid, ruleDry:
		return humidityLimit(x.c, i == ruleDry), 1
	case ruleLowSuction:
		if x.c.freezes() {
			return &freezerSuction, 1
		}
	case ruleAmps:
		return l, x.ratedAmps()
	case ruleLowAmps:
		return l, x.u.UsualAmps()
	case ruleVibration, ruleCycling: // their bounds are wider for some units
		return nil, 0
	default: // its row says all
	}
	if unlimited&(1<<i) != 0 {
		return nil, 0
	}
	return l, 1
}

// unlimited is the set of rules whose row has no limit.
var unlimited = func() (set ruleSet) {
	for i := range numRules {
		if ruleSpecs[i].limit == (Limit{}) {
			set |= 1 << i
		}
	}
	return set
}()

// passes reports whether v may be beyond a limit of rule i: a cheap test for the
// usual case that it is not.
func (x *pass) passes(i rule, v float64) bool {
	if !x.c.judges(i) {
		return false
	}
	l, scale := x.limit(i)
	return l == nil || l.passed(v, scale, ruleSpecs[i].low)
}

// secondBounds are those of a rule's second measure. It shares the delays of
// the first.
func (x *pass) secondBounds(s *State, i rule) bounds {
	spec := &ruleSpecs[i]
	switch {
	case i == ruleCycling:
		return x.runBounds(s)
	case i == ruleStarts:
		return bounds{hasCrit: true, crit: atLeast(failedStartsHour), delta: 0.5}
	case i == ruleStale, i == ruleFault:
		return s.bounds(x, i)
	case spec.beyond == Limit{}:
		return bounds{}
	case spec.low:
		return spec.beyond.bounds(-1, true)
	default:
		return spec.beyond.bounds(1, false)
	}
}

// passesSecond is passes for the second measure.
func (x *pass) passesSecond(i rule, v float64) bool {
	spec := &ruleSpecs[i]
	switch {
	case i == ruleCycling || spec.beyond == Limit{}:
		return true
	case spec.low:
		return -v > spec.beyond.Warn
	default:
		return v > spec.beyond.Warn
	}
}

// atLeast makes a limit that n itself is beyond.
func atLeast(n float64) float64 { return n - 1e-6 }

// bounds makes the bounds of a measure that must stay within the limits times
// scale. A limit of 0, or a scale of 0, is none.
func (l *Limit) bounds(scale float64, low bool) bounds {
	return bounds{
		low: low, warn: l.Warn * scale, hasWarn: l.Warn*scale != 0, crit: l.Crit * scale, hasCrit: l.Crit*scale != 0,
		delta: max(l.Clear*scale, -l.Clear*scale), warnDelay: l.WarnDelay, critDelay: l.CritDelay, clear: l.ClearTime,
		window: 2 * l.WarnDelay, critWindow: 2 * l.CritDelay,
	}
}

// passed reports whether v is beyond any of the limits.
func (l *Limit) passed(v, scale float64, low bool) bool {
	warn, crit := l.Warn*scale, l.Crit*scale
	if low {
		return (warn != 0 && v < warn) || (crit != 0 && v < crit)
	}
	return (warn != 0 && v > warn) || (crit != 0 && v > crit)
}

// recoveryBounds are multiples of what this unit needs, and never less than
// what its type is given.
func (x *pass) recoveryBounds() bounds {
	usual, ok := x.u.UsualRecovery()
	if !ok || x.c.Equipment == nil {
		return bounds{}
	}
	given := float64(x.c.Equipment.Defrost.MaxMin + x.c.Equipment.Defrost.RecoverMin)
	// The next defrost shows whether it is over.
	return bounds{warn: max(usual*recoveryTimes, given), hasWarn: true, delta: given / 2, clear: 8 * hour}
}

// around is how warm it is around the condenser by what is measured, or what stands in
// for it, °C; ok is false where the sensor is wrong.
func around(u *unit.State) (air float64, ok bool) {
	if u.AirMeasured() {
		return u.Last(rimewatch.AmbientTemp), !u.SetAside().Has(rimewatch.AmbientTemp)
	}
	return u.RestAir(), true
}

// suctionBounds widen the limit for a unit whose suction line is always warm,
// as that of small cabinets is, up to the level that is critical for all. Until the unit
// is known, only that counts.
func (x *pass) suctionBounds() bounds {
	b := ruleSpecs[ruleSuction].limit.bounds(1, false)
	air, measured := around(x.u)
	usual, known := x.u.UsualSuction(air)
	if !known || !measured {
		b.warn = b.crit
		return b // without deviations either
	}
	b.warn = max(b.warn, min(usual+5, b.crit))
	b.clearSecond = deviationClear
	return b
}

// dischargeBounds widen the limit for a unit whose discharge line is hot by its
// build, as that of small low-temperature ones is on warm days, up to what is
// critical for all.
func (x *pass) dischargeBounds() bounds {
	spec := &ruleSpecs[ruleDischarge]
	b := spec.limit.bounds(1, false)
	b.clearSecond = deviationClear
	air, measured := around(x.u)
	if usual, known := x.u.UsualDischarge(air); known && measured {
		b.warn = max(b.warn, min(usual+spec.beyond.Warn, b.crit))
	} else if known {
		b.warn = b.crit
	}
	return b
}

func (x *pass) vibrationBounds() bounds {
	b, usual := ruleSpecs[ruleVibration].limit.bounds(1, false), x.u.UsualVibration()
	b.warn = max(b.warn, usual*vibrationWarn)
	b.crit = max(b.crit, usual*vibrationCrit)
	return b
}

// ratedAmps is what stands for the rated-load current once the unit is known: its
// usual current and a quarter, which is about the 95th percentile of its current and
// a tenth. There is no limit where the current varies by itself, or is not known to
// keep still.
func (x *pass) ratedAmps() float64 {
	if !x.u.SteadyLoad() || x.u.Resettling() {
		return 0
	}
	return 1.25 * x.u.UsualAmps()
}

// cyclingBounds widen the limit on starts for a unit that always starts often,
// up to the level that is critical for all.
func (x *pass) cyclingBounds(s *State) bounds {
	b := ruleSpecs[ruleCycling].limit.bounds(1, false)
	b.hasCrit = x.cyclesGravely(s)
	starts, run := x.u.UsualCycle()
	if run == 0 {
		b.warn = b.crit
		return b
	}
	b.warn = max(b.warn, min(1.5*starts, b.crit))
	return b
}

// cyclesGravely reports whether short cycles may be critical: they are sure to be some, and
// nothing shows that the unit keeps its goods all the same.
func (x *pass) cyclesGravely(s *State) bool {
	return (x.u.SelfCounted() || x.u.RunsSure()) && !keepsGoods(s, x)
}

// runBounds widen the limit on the length of runs likewise, down to half. A run
// seen in samples may have been longer by half an interval, and so may one between
// seldom readings of the device's own counters.
func (x *pass) runBounds(s *State) bounds {
	b := ruleSpecs[ruleCycling].beyond.bounds(1, true)
	b.hasCrit = x.cyclesGravely(s)
	_, usual := x.u.UsualCycle()
	b.warn = max(b.warn/2, min(b.warn, 0.5*usual))
	b.crit = max(b.crit/2, min(b.crit, 0.4*usual))
	if !x.u.SelfCounted() || x.u.Interval() > seldomCounts {
		half := float64(x.u.Interval()) / float64(2*minute)
		b.warn -= half
		b.crit -= half
	}
	return b
}

// seldomCounts is an interval in which the run that goes on may be a large part of what a
// counter shows of the one before.
const seldomCounts = 75 * second

// freezes reports whether the unit is a freezer.
func (c *Config) freezes() bool {
	e := c.Equipment
	return e != nil && e.Setpoint != nil && *e.Setpoint < -10
}

// either judges rule i by two measures: the worse one counts.
func (s *State) either(x *pass, i rule, v float64, have bool, v2 float64, have2 bool) {
	if s.pool.track(i) == nil && !(have && x.passes(i, v)) && !(have2 && x.passesSecond(i, v2)) {
		return
	}
	b := s.bounds(x, i)
	if !b.judged() {
		return
	}
	m := sample{v: v, low: b.low}
	if have {
		m.z, m.cz = b.zones(v)
	}
	if have2 {
		b2 := x.secondBounds(s, i)
		if z, cz := b2.zones(v2); z > m.z || cz > m.cz || !have {
			m = sample{v: v2, low: b2.low, second: true, z: max(z, m.z), cz: max(cz, m.cz)}
		}
	}
	if !have && m.z != zoneBeyond {
		if t := s.pool.track(i); t == nil || !t.is(bitSecond) {
			return // the first measure is not known: no evidence
		}
	}
	s.judge(x, i, &b, m)
}

// deviationClear is the run time for which a deviation must be gone: two
// windows or so, since each of them speaks for its time of day.
const deviationClear = 6 * hour

// judgeMachine judges the measurements of a running compressor.
func (s *State) judgeMachine(x *pass) {
	u, warm := x.u, x.o.Warm
	if !warm && u.RunningKnown() && !u.Slow() {
		return
	}
	relative := warm && x.relative()
	agreed := func(ch unit.Channel) float64 { // of a sensor that is set aside nothing is concluded
		if u.Aside().Has(ch) {
			return 0
		}
		return u.Agreed(ch)
	}
	discharge, hasDischarge := x.value(rimewatch.CompressorDischargeTemp)
	if hasDischarge {
		s.either(x, ruleDischarge, discharge, true, agreed(unit.Discharge), relative)
	}
	// Another speed of the compressor excuses a current beyond the limit, which is its own.
	if v, ok := x.calm(rimewatch.AmpDraw); ok && warm && !u.Aside().Has(unit.Amps) && !(x.passes(ruleAmps, v) && u.OtherSpeed(x.o)) {
		// A wrong voltage explains a wrong current.
		const supply = 1<<ruleLowVolts | 1<<ruleHighVolts
		s.either(x, ruleAmps, v, true, agreed(unit.Amps), relative && s.active&supply == 0)
	}
	if v, ok := x.calm(rimewatch.VibrationLevel); ok && !u.Slow() && (v > ruleSpecs[ruleVibration].limit.Warn || s.pool.track(ruleVibration) != nil) {
		s.level(x, ruleVibration, v)
	}
	if !warm {
		if !u.RunningKnown() && !s.isActive(ruleLowDischarge) && s.pool.track(ruleLowDischarge) != nil {
			l := &ruleSpecs[ruleLowDischarge].limit
			s.level(x, ruleLowDischarge, l.Warn+l.Clear) // what looked like a run may have been none
		}
		return
	}
	settled := u.Settled(x.e)
	suction, hasSuction := x.value(rimewatch.CompressorSuctionTemp)
	if hasSuction {
		s.either(x, ruleSuction, suction, true, agreed(unit.Suction), relative)
		zone, hasZone := x.o.Value(rimewatch.ProductZoneTemp) // not one that is doubted
		s.either(x, ruleLowSuction, suction-zone, settled && hasZone, agreed(unit.Suction), relative)
	}
	if ambient, ok := x.value(rimewatch.AmbientTemp); ok && hasDischarge && settled && !u.Modulated() { // a slow one hardly heats its gas
		above := discharge - ambient
		if l := &ruleSpecs[ruleLowDischarge].limit; hasSuction && x.warmSuction(suction, ambient) {
			// Hot gas that melts the evaporator's ice cools the discharge line as liquid
			// does, but comes back warmer than usual: then no liquid reaches the compressor.
			above = max(above, l.Warn+l.Clear)
		}
		s.level(x, ruleLowDischarge, above)
	}
}

// warmSuction reports whether the suction line is warmer than the unit usually has it.
func (x *pass) warmSuction(suction, ambient float64) bool {
	usual, known := x.u.UsualSuction(ambient)
	return known && suction > usual+unit.Suction.Floor()
}

// relative reports whether the unit is judged by its own baseline: not where its
// load varies by itself.
func (x *pass) relative() bool {
	return x.c.Rules&RuleRelative != 0 && x.u.Known() && !x.u.Modulated() && !x.u.Resettling()
}

// judgeCycles judges starts, runs and recoveries.
func (s *State) judgeCycles(x *pass) {
	u := x.u
	if x.c.Rules&RuleCycling != 0 && u.CountsStarts() {
		starts := float64(u.StartsPerHour())
		if spec := &ruleSpecs[ruleCycling]; starts > spec.limit.Warn || u.RunsBelow(spec.beyond.Warn) || s.pool.track(ruleCycling) != nil {
			median, ok := u.MedianRun()
			s.either(x, ruleCycling, starts, true, median, ok)
		}
	}
	if x.c.Rules&RuleStarts != 0 && (u.HasFailedStarts() || s.pool.track(ruleStarts) != nil) {
		s.either(x, ruleStarts, float64(u.FailedStarts(24)), true, float64(u.FailedStarts(2)), true)
	}
	if x.o.WindowEnded {
		s.judgeRunTime(x)
	}
	judgeRecovery(s, x)
}

// judgeRecovery opens slow_recovery while the compressor needs a multiple of
// what it usually does to pull the zone down after a recognised defrost. Beyond
// its limit the zone has an alert of its own.
func judgeRecovery(s *State, x *pass) {
	if _, known := x.u.UsualRecovery(); x.c.Rules&RuleRecovery == 0 || !known {
		return
	}
	v, recovers := x.u.Recovery()
	if !recovers || !x.u.Running() || s.tooWarm() || s.isActive(ruleHigh) {
		v = 0
	}
	if v > 0 || s.pool.track(ruleRecovery) != nil {
		s.level(x, ruleRecovery, v)
	}
}

// judgeDoor hears of an open door, or suspects one. It never concerns the product: the limits of
// its temperature have alerts of their own.
func (s *State) judgeDoor(x *pass) {
	if x.c.Rules&RuleDoor == 0 {
		return
	}
	v, t := x.u.DoorMinutes(), s.pool.track(ruleDoor)
	if v == 0 && t == nil {
		return
	}
	if !x.u.DoorReported() && (t == nil || !t.is(bitSecond)) {
		s.level(x, ruleDoor, v)
		return
	}
	b := x.secondBounds(s, ruleDoor)
	z, cz := b.zones(v)
	s.judge(x, ruleDoor, &b, sample{v: v, second: true, z: z, cz: cz})
}

// measure returns the measure by which rule i is seen at present, and its newest
// value.
func (s *State) measure(u *unit.State, i rule, t *track) (metric string, v float64, ok bool) {
	spec := &ruleSpecs[i]
	if t.is(bitSecond) {
		return spec.second, secondValue(u, i), true
	}
	if f, one := i.field(); one {
		return sensorName(u, f, t), 0, false
	}
	switch i {
	case ruleFault:
		return brokenSensors(u, t), 0, false
	case ruleStale:
		return cmp.Or(nameOf(rimewatch.Fields(t.peak)), spec.metric), 0, false
	case ruleOffline:
		return spec.metric, 0, false
	case ruleLowSuction:
		v = round(u.Last(rimewatch.CompressorSuctionTemp) - u.Last(rimewatch.ProductZoneTemp))
	case ruleLowDischarge:
		v = round(u.Last(rimewatch.CompressorDischargeTemp) - u.Last(rimewatch.AmbientTemp))
	case ruleCycling:
		v = float64(u.StartsPerHour())
	case ruleStarts:
		v = float64(u.FailedStarts(24))
	case ruleRunTime:
		n := unit.WindowsADay
		if t.czone() == zoneBeyond {
			n = 1
		}
		v, _ = u.RunShare(n)
		v = round(v)
	case ruleRecovery:
		v = u.Hump()
	case ruleDoor:
		v = u.DoorMinutes()
	case ruleWarming:
		_, _, v = unit.Warmed(u)
	case ruleCooling:
		v = round(s.cool.Zone())
	default:
		f, _ := rimewatch.FieldByName(spec.metric)
		if v = u.Last(f); i == ruleAmps || i == ruleVibration { // the judged value: the current of a start is no current of a run
			if run, ok := u.Run(f); ok {
				v = round(run)
			}
		}
	}
	return spec.metric, v, true
}

func secondValue(u *unit.State, i rule) float64 {
	switch i {
	case ruleFault:
		return unit.ZoneJump(u)
	case ruleDischarge:
		return round(u.Agreed(unit.Discharge))
	case ruleSuction, ruleLowSuction:
		return round(u.Agreed(unit.Suction))
	case ruleAmps:
		return round(u.Agreed(unit.Amps))
	case ruleRunTime:
		return round(u.Agreed(unit.Duty))
	case ruleCycling:
		v, _ := u.MedianRun()
		return round(v)
	case ruleStarts:
		return float64(u.FailedStarts(2))
	case ruleDoor:
		return u.DoorMinutes()
	default:
		return 0
	}
}

func round(v float64) float64 { return state.FixedOf(v).Float() }
