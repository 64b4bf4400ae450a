package alert

import (
	"math"

	"github.com/rimewatch/rimewatch"
)

// startsEase is how long no start may fail before failing starts are a warning
// again: they come in bursts.
const startsEase = 6 * hour

// bounds gives what rule i judges by. Bounds without a limit mean that it is
// not judged, for want of a configuration or of something still to be learnt.
func (s *State) bounds(c *Config, p *Presence, th *Thresholds, i rule) bounds {
	if !c.judges(i) {
		return bounds{}
	}
	switch i {
	case ruleHigh, ruleLow:
		return s.zoneBounds(c, i == ruleLow)
	case ruleOffline:
		return offlineBounds(p)
	case ruleStale:
		after := s.staleAfter(p, th)
		return bounds{hasWarn: true, warn: float64(after / second), warnDelay: after}
	case ruleFault:
		return bounds{hasWarn: true, warnDelay: th.Fault, clear: th.Fault}
	case ruleVibration:
		return s.vibrationBounds(th)
	case ruleStarts:
		// What is critical shows in the second measure alone.
		return bounds{hasWarn: true, warn: atLeast(th.FailedStartsDay), hasCrit: true, crit: math.MaxInt16, delta: 0.5, clear: hour, ease: startsEase}
	case ruleCycling:
		return s.run.cyclingBounds(th)
	case ruleSuction:
		return s.suctionBounds(th)
	case ruleHot, ruleCold, ruleHumid:
		return s.surroundingBounds(c, th, i)
	case ruleRecovery:
		return s.recoveryBounds(c, th)
	default:
		l, scale := s.limit(c, th, i)
		if l == nil {
			return bounds{}
		}
		b := l.bounds(scale, ruleSpecs[i].low)
		if ruleSpecs[i].second != "" && ruleSpecs[i].running {
			b.clearSecond = deviationClear
		}
		return b
	}
}

// limit gives the limit of a rule whose bounds are a limit times a scale; nil
// for others and where it does not apply.
func (s *State) limit(c *Config, th *Thresholds, i rule) (l *Limit, scale float64) {
	switch i {
	case rulePower:
		return &th.PowerLoss, s.nominalVoltage(c)
	case ruleLowVolts:
		return &th.LowVoltage, s.nominalVoltage(c)
	case ruleHighVolts:
		return &th.HighVoltage, s.nominalVoltage(c)
	case ruleHumid, ruleDry:
		return humidityLimit(c, th, i == ruleDry), 1
	case ruleHot:
		return &th.Hot, 1
	case ruleCold:
		return &th.Cold, 1
	case ruleDischarge:
		return &th.Discharge, 1
	case ruleLowDischarge:
		return &th.LowDischarge, 1
	case ruleLowSuction:
		if c.freezes() {
			return &th.FreezerSuction, 1
		}
		return &th.LowSuction, 1
	case ruleAmps:
		return &th.Amps, s.ratedAmps(c)
	case ruleLowAmps:
		return &th.LowAmps, s.usualAmps()
	case ruleRunTime:
		return &th.RunTime, 1
	case ruleDoor:
		return &th.Door, 1
	default:
		return nil, 0
	}
}

// passes tells whether v may be beyond a limit of rule i: a cheap test for the
// usual case that it is not.
func (s *State) passes(x *pass, i rule, v float64) bool {
	if !x.c.judges(i) {
		return false
	}
	if i == ruleSuction {
		return v > x.th.Suction.Warn
	}
	l, scale := s.limit(x.c, x.th, i)
	return l == nil || l.passed(v, scale, ruleSpecs[i].low)
}

// secondBounds are those of a rule's second measure. It shares the delays of
// the first.
func (s *State) secondBounds(th *Thresholds, i rule) bounds {
	switch i {
	case ruleDischarge:
		return th.DischargeDeviation.bounds(1, false)
	case ruleSuction:
		return th.SuctionDeviation.bounds(1, false)
	case ruleLowSuction:
		return th.SuctionDeviation.bounds(-1, true)
	case ruleAmps:
		return th.AmpsDeviation.bounds(1, false)
	case ruleCycling:
		return s.runBounds(th)
	case ruleRunTime:
		return th.RunTimeDeviation.bounds(1, false)
	case ruleStarts:
		return bounds{hasCrit: true, crit: atLeast(th.FailedStartsHour), delta: 0.5}
	default:
		return bounds{}
	}
}

// passesSecond is passes for the second measure.
func (s *State) passesSecond(x *pass, i rule, v float64) bool {
	th := x.th
	switch i {
	case ruleDischarge:
		return v > th.DischargeDeviation.Warn
	case ruleSuction:
		return v > th.SuctionDeviation.Warn
	case ruleLowSuction:
		return -v > th.SuctionDeviation.Warn
	case ruleAmps:
		return v > th.AmpsDeviation.Warn
	case ruleRunTime:
		return v > th.RunTimeDeviation.Warn
	default:
		return true
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
	}
}

// passed tells whether v is beyond any of the limits.
func (l *Limit) passed(v, scale float64, low bool) bool {
	warn, crit := l.Warn*scale, l.Crit*scale
	if low {
		return (warn != 0 && v < warn) || (crit != 0 && v < crit)
	}
	return (warn != 0 && v > warn) || (crit != 0 && v > crit)
}

// recoveryBounds are multiples of what this unit needs, and never less than
// what its type is given.
func (s *State) recoveryBounds(c *Config, th *Thresholds) bounds {
	if s.melt.learnt < learntHumps || c.Equipment == nil {
		return bounds{}
	}
	usual := float64(s.melt.usual)
	given := float64(c.Equipment.Defrost.MaxMin + c.Equipment.Defrost.RecoverMin)
	// The next defrost tells whether it is over.
	return bounds{warn: max(usual*th.Recovery, given), hasWarn: true, delta: given / 2, clear: 8 * hour}
}

// suctionBounds widen the limit for a unit whose suction line is always warm,
// as that of small cabinets is, up to what is critical for all. Until the unit
// is known, only that counts.
func (s *State) suctionBounds(th *Thresholds) bounds {
	b := th.Suction.bounds(1, false)
	if !s.base.ready() {
		b.warn = b.crit
		return b // without deviations either
	}
	usual := s.base.expected(channelSuction, s.last[rimewatch.AmbientTemp].float())
	b.warn = max(b.warn, min(usual+5, b.crit))
	b.clearSecond = deviationClear
	return b
}

func (s *State) vibrationBounds(th *Thresholds) bounds {
	b := th.Vibration.bounds(1, false)
	if s.base.ready() {
		usual := float64(s.base.y[channelVibration])
		b.warn = max(b.warn, usual*th.VibrationRatio[0])
		b.crit = max(b.crit, usual*th.VibrationRatio[1])
	}
	return b
}

// ratedAmps is the rated-load current as configured, or what stands for it once
// the unit is known: its usual current and a quarter, which is about the 95th
// percentile of its current and a tenth.
func (s *State) ratedAmps(c *Config) float64 {
	if c.RatedAmps > 0 {
		return c.RatedAmps
	}
	return 1.25 * s.usualAmps()
}

// usualAmps is the unit's own current while running, 0 until it is known.
func (s *State) usualAmps() float64 {
	if !s.base.ready() {
		return 0
	}
	return float64(s.base.y[channelAmps])
}

// freezes tells whether the unit is a freezer.
func (c *Config) freezes() bool {
	e := c.Equipment
	return e != nil && e.Setpoint != nil && *e.Setpoint < -10
}

// either judges rule i by two measures: the worse one counts.
func (s *State) either(x *pass, i rule, v float64, have bool, v2 float64, have2 bool) {
	if s.pool.track(i) == nil && !(have && s.passes(x, i, v)) && !(have2 && s.passesSecond(x, i, v2)) {
		return
	}
	b := s.bounds(x.c, &x.p, x.th, i)
	if !b.judged() {
		return
	}
	m := sample{v: v, low: b.low}
	if have {
		m.z, m.cz = b.zones(v)
	}
	if have2 {
		b2 := s.secondBounds(x.th, i)
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

// judgeMachine judges what is measured of a running compressor.
func (s *State) judgeMachine(x *pass, r *rimewatch.Reading, valid rimewatch.Fields) {
	warm := s.warm(x.e)
	if !warm && s.run.known && !s.slow() {
		return
	}
	relative := warm && x.c.Rules&RuleRelative != 0 && s.base.ready()
	dev := &s.win.dev
	discharge, suction := r.Values[rimewatch.CompressorDischargeTemp], r.Values[rimewatch.CompressorSuctionTemp]
	hasDischarge, hasSuction := valid.Has(rimewatch.CompressorDischargeTemp), valid.Has(rimewatch.CompressorSuctionTemp)
	if hasDischarge {
		s.either(x, ruleDischarge, discharge, true, float64(dev[channelDischarge]), relative)
	}
	if valid.Has(rimewatch.AmpDraw) && (warm || (x.c.RatedAmps > 0 && !s.slow())) {
		// A wrong voltage explains a wrong current.
		const supply = 1<<ruleLowVolts | 1<<ruleHighVolts
		s.either(x, ruleAmps, r.Values[rimewatch.AmpDraw], true, float64(dev[channelAmps]), relative && s.active&supply == 0)
	}
	if v := r.Values[rimewatch.VibrationLevel]; valid.Has(rimewatch.VibrationLevel) && !s.slow() && (v > x.th.Vibration.Warn || s.pool.track(ruleVibration) != nil) {
		s.level(x, ruleVibration, r.Values[rimewatch.VibrationLevel])
	}
	if !warm {
		return
	}
	long := s.run.since.time()+2*warmUp <= x.e // the pipes have settled
	if hasSuction {
		s.either(x, ruleSuction, suction, true, float64(dev[channelSuction]), relative)
		zone := r.Values[rimewatch.ProductZoneTemp]
		s.either(x, ruleLowSuction, suction-zone, long && valid.Has(rimewatch.ProductZoneTemp), float64(dev[channelSuction]), relative)
	}
	if hasDischarge && long && valid.Has(rimewatch.AmbientTemp) {
		s.level(x, ruleLowDischarge, discharge-r.Values[rimewatch.AmbientTemp])
	}
}

// judgeCycles judges starts, runs and recoveries.
func (s *State) judgeCycles(x *pass) {
	w := &s.run
	if x.c.Rules&RuleCycling != 0 && s.countsStarts() {
		starts := w.startsPerHour()
		if float64(starts) > x.th.Starts.Warn || w.runsBelow(x.th.RunLength.Warn) || s.pool.track(ruleCycling) != nil {
			median, ok := w.medianRun()
			s.either(x, ruleCycling, float64(starts), true, median, ok)
		}
	}
	if x.c.Rules&RuleStarts != 0 && (w.failed != [12]uint8{} || s.pool.track(ruleStarts) != nil) {
		day, recent := w.failures(x.e)
		s.either(x, ruleStarts, float64(day), true, float64(recent), true)
	}
	s.judgeRecovery(x)
}

// measure tells by which measure rule i is seen at present, and its newest
// value.
func (s *State) measure(i rule, t *track) (metric, unit string, v float64, ok bool) {
	spec := &ruleSpecs[i]
	if t.is(bitSecond) {
		return spec.second, spec.secondUnit, s.secondValue(i), true
	}
	last := func(f rimewatch.Field) float64 { return s.last[f].float() }
	switch i {
	case ruleFault:
		return s.brokenSensor(t), "", 0, false
	case ruleOffline, ruleStale:
		return spec.metric, spec.unit, 0, false
	case ruleLowSuction:
		v = (s.last[rimewatch.CompressorSuctionTemp] - s.last[rimewatch.ProductZoneTemp]).float()
	case ruleLowDischarge:
		v = (s.last[rimewatch.CompressorDischargeTemp] - s.last[rimewatch.AmbientTemp]).float()
	case ruleCycling:
		v = float64(s.run.startsPerHour())
	case ruleStarts:
		day, _ := s.run.failures(s.at)
		v = float64(day)
	case ruleRunTime:
		n := len(s.win.shares)
		if t.czone() == zoneBeyond {
			n = 1
		}
		v, _ = s.win.runShare(n)
		v = round(v)
	case ruleRecovery:
		if s.melt.hump {
			v = float64(s.at-s.melt.since.time()) / float64(minute)
		}
	case ruleDoor:
		v = s.doorMinutes()
	default:
		f, _ := rimewatch.FieldByName(spec.metric)
		v = last(f)
	}
	return spec.metric, spec.unit, v, true
}

func (s *State) secondValue(i rule) float64 {
	switch i {
	case ruleDischarge:
		return round(float64(s.win.dev[channelDischarge]))
	case ruleSuction, ruleLowSuction:
		return round(float64(s.win.dev[channelSuction]))
	case ruleAmps:
		return round(float64(s.win.dev[channelAmps]))
	case ruleRunTime:
		return round(float64(s.win.dev[channelShare]))
	case ruleCycling:
		v, _ := s.run.medianRun()
		return round(v)
	case ruleStarts:
		_, recent := s.run.failures(s.at)
		return float64(recent)
	default:
		return 0
	}
}

func round(v float64) float64 { return fix(v).float() }

// brokenSensor names the first sensor that is broken, or was until just now.
func (s *State) brokenSensor(t *track) string {
	set := s.Broken()
	if set == 0 {
		set = rimewatch.Fields(t.peak)
	}
	for f := range rimewatch.NumCore {
		if set.Has(f) {
			return f.String()
		}
	}
	return ""
}
