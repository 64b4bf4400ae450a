package unit

import (
	"math"
	"testing"
	"time"

	"github.com/rimewatch/rimewatch"
)

// TestComparedByLoad: a compressor whose load varies is compared by its load. That it
// carries more for days is nothing, that its discharge line is hotter than the load
// explains departs, and its current is no evidence of its own.
func TestComparedByLoad(t *testing.T) {
	departs := func(heavier, hotter float64) *State {
		var s State
		at := rimewatch.TimeOf(time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC))
		const days = 16
		for k := range days * 24 * 60 {
			at += minute
			load, off := 0.6+0.3*math.Sin(2*math.Pi*float64(k)/(17*60)), 0.0
			if k >= (days-2)*24*60 {
				load, off = load+heavier, hotter
			}
			r := rimewatch.Reading{At: at, ReceivedAt: at}
			r.Set(rimewatch.CompressorDischargeTemp, 50+30*load+off)
			r.Set(rimewatch.CompressorSuctionTemp, 8-4*load)
			r.Set(rimewatch.AmpDraw, 3*load)
			r.Set(rimewatch.VibrationLevel, 0.4+0.6*load)
			r.Set(rimewatch.AmbientTemp, 22+math.Sin(float64(k)/700))
			r.Set(rimewatch.Voltage, 230)
			r.Flags = r.Flags.WithBool(rimewatch.CompressorOn, true)
			var o Observation
			s.Observe(&Config{}, &r, at, 0, &o)
		}
		return &s
	}
	s := departs(0.3, 0)
	now, _, _ := s.Departure(Discharge)
	amps, _, _ := s.Departure(Amps)
	if !s.ByLoad() || s.Learning() || s.Scored(Amps) || math.Abs(now) > Discharge.Floor() || amps < 2*Amps.Floor() {
		t.Errorf("by load %v, learning %v, current counts %v, beside %.0f %% of current the discharge line departs by %.1f K", s.ByLoad(), s.Learning(), s.Scored(Amps), amps, now)
	}
	if got := s.LoadSlope(Discharge); got < 0.1 || got > 0.5 {
		t.Errorf("the discharge line follows the load by %.2f K a %%", got)
	}
	if now, _, _ := departs(0, 6).Departure(Discharge); now < 4 || now > 7 {
		t.Errorf("a discharge line that is 6 K too hot departs by %.1f K", now)
	}
	if s.Supply() != 0 {
		t.Errorf("the supply is %.1f %% off", s.Supply())
	}
}

// TestUnmetLoad: what a load explains that was not met before is doubted by half.
func TestUnmetLoad(t *testing.T) {
	var m model
	m.coef[Discharge][1+covVolts], m.volts = 0.2, 50
	if got := m.unmetLoad(Discharge); got != 0 {
		t.Errorf("of a fixed speed %.1f K", got)
	}
	m.loadRef = 100
	if got := m.unmetLoad(Discharge); math.Abs(got-5) > 1e-6 {
		t.Errorf("%.1f K, want half of a fifth of 50 %%", got)
	}
}
