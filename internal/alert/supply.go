package alert

import (
	"github.com/rimewatch/rimewatch"
)

// judgeSupply judges the voltage. Without supply there is no low voltage.
func (s *State) judgeSupply(x *pass) {
	v, ok := x.value(rimewatch.Voltage)
	if !ok || x.c.Rules&RuleSupply == 0 {
		return
	}
	nominal := x.u.NominalVoltage(&x.c.Config)
	if s.pool.rules&(1<<rulePower|1<<ruleHighVolts|1<<ruleLowVolts) == 0 && !ruleSpecs[rulePower].limit.passed(v, nominal, ruleSpecs[rulePower].low) &&
		!ruleSpecs[ruleHighVolts].limit.passed(v, nominal, false) && !ruleSpecs[ruleLowVolts].limit.passed(v, nominal, true) {
		return // the usual case, in which none of the three has anything to do
	}
	s.level(x, rulePower, v)
	s.level(x, ruleHighVolts, v)
	if v >= nominal*ruleSpecs[rulePower].limit.Crit {
		s.level(x, ruleLowVolts, v)
	} else if t := s.pool.track(ruleLowVolts); t != nil {
		b := s.bounds(x, ruleLowVolts)
		t.enter(zoneBand, zoneBand, x.e, s.isActive(ruleLowVolts))
		s.addUp(x, ruleLowVolts, &b, &sample{v: v, low: true, z: zoneBand, cz: zoneBand})
	}
}

// humidityLimit depends on where the sensor hangs; nil = not judged.
func humidityLimit(c *Config, dry bool) *Limit {
	switch {
	case !c.HumidityInZone && dry:
		return nil
	case !c.HumidityInZone:
		return &ruleSpecs[ruleHumid].limit
	case c.freezes() && dry:
		return nil
	case c.freezes():
		return &freezerHumid
	case dry:
		return &ruleSpecs[ruleDry].limit
	default:
		return &zoneHumid
	}
}

// surroundingBounds widen the limits on the air by what the place is used to: a
// condenser outdoors has its winters and its damp nights. Of a place that is
// not known yet only a voltage that is critical anywhere is raised, and as a warning where
// it may be the weather.
func (x *pass) surroundingBounds(i rule) bounds {
	switch i {
	case ruleHot:
		b := ruleSpecs[i].limit.bounds(1, false)
		if mean, spread, known := x.u.UsualAmbient(); known {
			// What overheats a condenser does so however used to it the place is.
			b.warn = max(b.warn, min(mean+max(ambientSpreads*spread, 5), b.crit))
		}
		return b
	case ruleCold:
		b := ruleSpecs[i].limit.bounds(1, true)
		mean, spread, known := x.u.UsualAmbient()
		if !known {
			b.warn, b.hasCrit = b.crit, false
			return b
		}
		room := max(ambientSpreads*spread, 5)
		b.warn = min(b.warn, mean-room)
		b.crit = min(b.crit, mean-2*room)
		return b
	default:
		l := humidityLimit(x.c, false)
		b := l.bounds(1, false)
		if l != &ruleSpecs[i].limit {
			return b
		}
		mean, spread, known := x.u.UsualHumidity()
		if !known {
			b.warn, b.hasCrit = b.crit, false
			return b
		}
		room := max(4*spread, 10)
		b.warn = max(b.warn, mean+room)
		b.crit = max(b.crit, mean+2*room)
		return b
	}
}

// ambientSpreads is how many mean absolute deviations from its usual the air of a
// place is unusual: three standard deviations of a normal distribution.
const ambientSpreads = 3.75

// judgeSurroundings judges what a reading says by itself, the humidity, and a
// machine that vibrates without current.
func (s *State) judgeSurroundings(x *pass) {
	for k := range plainRules {
		p := &plainRules[k]
		if v, ok := x.value(p.field); ok && (p.limit.passed(v, 1, p.low) || s.pool.track(p.rule) != nil) {
			s.level(x, p.rule, v)
		}
	}
	if v, ok := x.value(rimewatch.Humidity); ok && x.c.Rules&RuleHumidity != 0 {
		s.level(x, ruleHumid, v)
		if humidityLimit(x.c, true) != nil || s.pool.track(ruleDry) != nil {
			s.level(x, ruleDry, v)
		}
	}
	amps, ok := x.value(rimewatch.AmpDraw)
	if vibration, both := x.value(rimewatch.VibrationLevel); ok && both && x.c.Rules&RuleAmps != 0 {
		judgeIdleMotor(s, x, amps, vibration)
	}
}

// judgeIdleMotor finds a machine that vibrates as if it ran and draws next to
// nothing: the fan alone, or an open winding.
func judgeIdleMotor(s *State, x *pass, amps, vibration float64) {
	const both = rimewatch.Fields(1<<rimewatch.AmpDraw | 1<<rimewatch.VibrationLevel)
	usual := x.u.UsualVibration()
	switch {
	case usual <= 0:
	case vibration > 0.5*usual && s.pool.track(ruleLowAmps) == nil && x.o.Moved&both != both: // a meter that is stuck shows it for ever
	case vibration > 0.5*usual:
		s.level(x, ruleLowAmps, amps)
	case s.pool.track(ruleLowAmps) != nil:
		b := s.bounds(x, ruleLowAmps)
		s.judge(x, ruleLowAmps, &b, sample{v: amps})
	}
}
