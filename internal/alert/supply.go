package alert

import (
	"math"

	"github.com/rimewatch/rimewatch"
)

// nominalVoltages are those of the supplies of the world.
var nominalVoltages = [...]float64{100, 110, 115, 120, 200, 208, 220, 230, 240, 277, 380, 400, 415, 440, 460, 480}

const (
	voltageSamples = 60 // readings from which the nominal voltage is learnt
	noSupply       = 30 // V: below it nothing is supplied
)

// nominal is the voltage of the supply, learnt from its first readings.
type nominal struct {
	mean  float32
	n     uint8
	value float32 // 0 until learnt
}

func (n *nominal) learn(v float64) {
	if n.value != 0 || v < noSupply {
		return
	}
	n.n++
	n.mean += (float32(v) - n.mean) / float32(n.n)
	if n.n < voltageSamples {
		return
	}
	best := nominalVoltages[0]
	for _, c := range nominalVoltages {
		if math.Abs(c-float64(n.mean)) < math.Abs(best-float64(n.mean)) {
			best = c
		}
	}
	n.value = float32(best)
}

// nominalVoltage is that of the configuration or the one learnt, 0 = unknown.
func (s *State) nominalVoltage(c *Config) float64 {
	if c.NominalVoltage > 0 {
		return c.NominalVoltage
	}
	return float64(s.volts.value)
}

// judgeSupply judges the voltage. Without supply there is no low voltage.
func (s *State) judgeSupply(x *pass, r *rimewatch.Reading, valid rimewatch.Fields) {
	if x.c.Rules&RuleSupply == 0 || !valid.Has(rimewatch.Voltage) {
		return
	}
	v := r.Values[rimewatch.Voltage]
	s.volts.learn(v)
	s.level(x, rulePower, v)
	s.level(x, ruleHighVolts, v)
	if v >= s.nominalVoltage(x.c)*x.th.PowerLoss.Crit {
		s.level(x, ruleLowVolts, v)
	} else if t := s.pool.track(ruleLowVolts); t != nil {
		t.enter(zoneBand, zoneBand, x.e, s.isActive(ruleLowVolts))
	}
}

// humidityLimit depends on where the sensor hangs; nil = not judged.
func humidityLimit(c *Config, th *Thresholds, dry bool) *Limit {
	switch {
	case !c.HumidityInZone && dry:
		return nil
	case !c.HumidityInZone:
		return &th.Humidity
	case c.freezes() && dry:
		return nil
	case c.freezes():
		return &th.FreezerHumid
	case dry:
		return &th.ZoneDry
	default:
		return &th.ZoneHumid
	}
}

// usualHumidity is the humidity that a place usually has: the air outdoors is
// damp every night, that of a machine room is not.
type usualHumidity struct {
	mean, spread float32 // %RH; spread is the mean absolute deviation
	hours        float32 // behind it, up to usualMemory
}

const (
	usualMemory = 14 * 24 // h that the usual humidity rests on
	usualKnown  = 48      // h before it counts
)

// learn takes what held for a time; a gap counts as an hour at most.
func (u *usualHumidity) learn(v float64, held rimewatch.Time) {
	h := min(float32(held)/float32(hour), 1)
	if u.hours == 0 {
		u.mean = float32(v)
	}
	u.hours = min(u.hours+h, usualMemory)
	if u.hours <= 0 {
		return
	}
	a := h / u.hours
	u.mean += a * (float32(v) - u.mean)
	u.spread += a * (abs(float32(v)-u.mean) - u.spread)
}

func abs(v float32) float32 { return max(v, -v) }

// surroundingBounds widen the limits on the air by what the place is used to: a
// condenser outdoors has its winters and its damp nights. Of a place that is
// not known yet only what is critical anywhere is told, and as a warning where
// it may be the weather.
func (s *State) surroundingBounds(c *Config, th *Thresholds, i rule) bounds {
	switch i {
	case ruleHot:
		b := th.Hot.bounds(1, false)
		if mean, spread, known := s.usualAmbient(); known {
			// What overheats a condenser does so however used to it the place is.
			b.warn = max(b.warn, min(mean+max(3*spread, 5), b.crit))
		}
		return b
	case ruleCold:
		b := th.Cold.bounds(1, true)
		mean, spread, known := s.usualAmbient()
		if !known {
			b.warn, b.hasCrit = b.crit, false
			return b
		}
		room := max(3*spread, 5)
		b.warn = min(b.warn, mean-room)
		b.crit = min(b.crit, mean-2*room)
		return b
	default:
		l := humidityLimit(c, th, false)
		b := l.bounds(1, false)
		if l != &th.Humidity {
			return b
		}
		if s.damp.hours < usualKnown {
			b.warn, b.hasCrit = b.crit, false
			return b
		}
		room := max(4*float64(s.damp.spread), 10)
		b.warn = max(b.warn, float64(s.damp.mean)+room)
		b.crit = max(b.crit, float64(s.damp.mean)+2*room)
		return b
	}
}

// usualAmbient is mean and spread of ambient temperature over about a month, as
// the baseline has seen it.
func (s *State) usualAmbient() (mean, spread float64, known bool) {
	return float64(s.base.x), math.Sqrt(max(0, float64(s.base.xx))), s.base.ready()
}

// judgeSurroundings judges ambient temperature and humidity.
func (s *State) judgeSurroundings(x *pass, r *rimewatch.Reading, valid rimewatch.Fields, gap rimewatch.Time) {
	if v, ok := r.Values[rimewatch.AmbientTemp], valid.Has(rimewatch.AmbientTemp); ok && x.c.Rules&RuleAmbient != 0 {
		s.level(x, ruleHot, v)
		s.level(x, ruleCold, v)
	}
	if v, ok := r.Values[rimewatch.Humidity], valid.Has(rimewatch.Humidity); ok && x.c.Rules&RuleHumidity != 0 {
		s.damp.learn(v, gap)
		s.level(x, ruleHumid, v)
		if humidityLimit(x.c, x.th, true) != nil || s.pool.track(ruleDry) != nil {
			s.level(x, ruleDry, v)
		}
	}
	if v, ok := r.Values[rimewatch.AmpDraw], valid.Has(rimewatch.AmpDraw) && valid.Has(rimewatch.VibrationLevel); ok && x.c.Rules&RuleAmps != 0 {
		s.judgeIdleMotor(x, v, r.Values[rimewatch.VibrationLevel])
	}
}

// judgeIdleMotor finds a machine that vibrates as if it ran and draws next to
// nothing: the fan alone, or an open winding.
func (s *State) judgeIdleMotor(x *pass, amps, vibration float64) {
	usual := float64(s.base.y[channelVibration])
	switch {
	case !s.base.ready() || usual <= 0:
	case vibration > 0.5*usual:
		s.level(x, ruleLowAmps, amps)
	case s.pool.track(ruleLowAmps) != nil:
		b := s.bounds(x.c, &x.p, x.th, ruleLowAmps)
		s.judge(x, ruleLowAmps, &b, sample{v: amps})
	}
}
