package alert

import "github.com/rimewatch/rimewatch"

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
	case rulePower, ruleLowVolts, ruleHighVolts:
		return s.supplyBounds(c, th, i)
	case ruleHumid, ruleDry:
		return humidityBounds(c, th, i == ruleDry)
	case ruleHot:
		return th.Hot.over(1)
	case ruleCold:
		return th.Cold.under(1)
	case ruleDischarge:
		return th.Discharge.over(1)
	case ruleLowDischarge:
		return th.LowDischarge.under(1)
	case ruleSuction:
		return th.Suction.over(1)
	case ruleLowSuction:
		if c.freezes() {
			return th.FreezerSuction.under(1)
		}
		return th.LowSuction.under(1)
	case ruleAmps:
		return th.Amps.over(s.ratedAmps(c))
	case ruleLowAmps:
		return th.LowAmps.under(s.usualAmps())
	case ruleVibration:
		return s.vibrationBounds(th)
	case ruleCycling:
		return th.Starts.over(1)
	case ruleStarts:
		return bounds{hasWarn: true, warn: atLeast(th.FailedStartsDay), delta: 0.5, clear: hour}
	case ruleRunTime:
		return th.RunTime.over(1)
	default:
		return s.recoveryBounds(th)
	}
}

// secondBounds are those of a rule's second measure. It shares the delays of
// the first.
func (s *State) secondBounds(th *Thresholds, i rule) bounds {
	switch i {
	case ruleDischarge:
		return th.DischargeDeviation.over(1)
	case ruleSuction:
		return th.SuctionDeviation.over(1)
	case ruleLowSuction:
		return th.SuctionDeviation.under(-1)
	case ruleAmps:
		return th.AmpsDeviation.over(1)
	case ruleCycling:
		return th.RunLength.under(1)
	case ruleStarts:
		return bounds{hasCrit: true, crit: atLeast(th.FailedStartsHour), delta: 0.5}
	default:
		return bounds{}
	}
}

// atLeast makes a limit that n itself is beyond.
func atLeast(n float64) float64 { return n - 1e-6 }

// over makes the bounds of a measure that must not exceed the limits, times
// scale. A limit of 0, or a scale of 0, is none.
func (l *Limit) over(scale float64) bounds {
	return bounds{
		warn: l.Warn * scale, hasWarn: l.Warn*scale != 0, crit: l.Crit * scale, hasCrit: l.Crit*scale != 0,
		delta: max(l.Clear*scale, -l.Clear*scale), warnDelay: l.WarnDelay, critDelay: l.CritDelay, clear: l.ClearTime,
	}
}

// under makes those of one that must not fall below them.
func (l *Limit) under(scale float64) bounds {
	b := l.over(scale)
	b.low = true
	return b
}

func (s *State) recoveryBounds(th *Thresholds) bounds {
	usual := max(15, float64(s.melt.usual))
	return bounds{
		warn: usual * th.Recovery[0], hasWarn: s.melt.learnt >= learntHumps,
		crit: usual * th.Recovery[1], hasCrit: s.melt.learnt >= learntHumps,
	}
}

func (s *State) vibrationBounds(th *Thresholds) bounds {
	b := th.Vibration.over(1)
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
	b := s.bounds(x.c, x.p, x.th, i)
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
	if !warm && s.run.known {
		return
	}
	relative := warm && x.c.Rules&RuleRelative != 0 && s.base.ready()
	dev := &s.win.dev
	discharge, suction := r.Values[rimewatch.CompressorDischargeTemp], r.Values[rimewatch.CompressorSuctionTemp]
	hasDischarge, hasSuction := valid.Has(rimewatch.CompressorDischargeTemp), valid.Has(rimewatch.CompressorSuctionTemp)
	if hasDischarge {
		s.either(x, ruleDischarge, discharge, true, float64(dev[channelDischarge]), relative)
	}
	if valid.Has(rimewatch.AmpDraw) && (warm || x.c.RatedAmps > 0) {
		s.either(x, ruleAmps, r.Values[rimewatch.AmpDraw], true, float64(dev[channelAmps]), relative)
	}
	if valid.Has(rimewatch.VibrationLevel) {
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
		median, ok := w.medianRun()
		s.either(x, ruleCycling, float64(w.startsPerHour()), true, median, ok)
	}
	if x.c.Rules&RuleStarts != 0 {
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
		return s.brokenSensor(), "", 0, false
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
	case ruleRecovery:
		if s.melt.hump {
			v = float64(s.at-s.melt.since.time()) / float64(minute)
		}
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

// brokenSensor names the first sensor that is broken.
func (s *State) brokenSensor() string {
	if s.sensor.stuck {
		return rimewatch.ProductZoneTemp.String()
	}
	for f := range rimewatch.NumFields {
		if s.broken.Has(f) {
			return f.String()
		}
	}
	return ""
}
