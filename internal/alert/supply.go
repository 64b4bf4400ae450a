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

// judgeSurroundings judges ambient temperature and humidity.
func (s *State) judgeSurroundings(x *pass, r *rimewatch.Reading, valid rimewatch.Fields) {
	if v, ok := r.Values[rimewatch.AmbientTemp], valid.Has(rimewatch.AmbientTemp); ok && x.c.Rules&RuleAmbient != 0 {
		s.level(x, ruleHot, v)
		s.level(x, ruleCold, v)
	}
	if v, ok := r.Values[rimewatch.Humidity], valid.Has(rimewatch.Humidity); ok && x.c.Rules&RuleHumidity != 0 {
		s.level(x, ruleHumid, v)
		s.level(x, ruleDry, v)
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
