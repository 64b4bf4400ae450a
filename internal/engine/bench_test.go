package engine_test

import (
	"math"
	"testing"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/alert"
	"github.com/rimewatch/rimewatch/internal/engine"
)

// freezerDay is a day of a freezer, one reading a minute with all eight
// measurements: it cycles every 17 minutes and defrosts four times.
func freezerDay() []rimewatch.Reading {
	rs := make([]rimewatch.Reading, 1440)
	for i := range rs {
		r := &rs[i]
		r.At = t0 + rimewatch.Time(i)*rimewatch.Minute
		zone, amps, discharge, vibration := -20+1.5*math.Sin(float64(i)/3), 0.2, 45.0, 0.06
		switch {
		case i%360 < 20:
			zone = -13
		case i%17 < 9:
			amps, discharge, vibration = 15+0.1*float64(i%7), 87, 0.9
		}
		for f, v := range [rimewatch.NumCore]float64{math.Round(zone*10) / 10, discharge, -3, 24 + float64(i%300)/100, 52, 229, amps, vibration} {
			r.Set(rimewatch.Field(f), v)
		}
	}
	return rs
}

// BenchmarkReading is everything that a reading costs beside its way to the
// store: presence, rules, compliance and the predictor.
func BenchmarkReading(b *testing.B) {
	b.ReportAllocs()
	for step := freezerSteps(); b.Loop(); {
		step()
	}
}

// A reading leaves nothing to collect.
func TestReadingTakesNoMemory(t *testing.T) {
	if n := testing.AllocsPerRun(5000, freezerSteps()); n > 0 {
		t.Errorf("%v allocations a reading", n)
	}
}

// freezerSteps is what is done with one reading after the other of a freezer.
func freezerSteps() func() {
	cfg := engine.ConfigOf(&rimewatch.Device{EquipmentType: "walkin_freezer"})
	rs := freezerDay()
	var s engine.State
	var r rimewatch.Reading
	in := engine.Input{Kind: engine.Reading, Last: true, Reading: &r}
	var out []alert.Transition
	i, shift := 0, rimewatch.Time(0)
	return func() {
		r = rs[i]
		r.At += shift
		out, _ = s.Step(&cfg, nil, &in, r.At+300, out[:0])
		s.Deadline(&cfg, nil)
		if i++; i == len(rs) {
			i, shift = 0, shift+rimewatch.Day
		}
	}
}

// BenchmarkPack is what it costs to put a state away and to take it up again.
func BenchmarkPack(b *testing.B) {
	cfg := engine.ConfigOf(&rimewatch.Device{EquipmentType: "walkin_freezer"})
	var s engine.State
	for _, r := range freezerDay() {
		take(&s, &cfg, &r, r.At+300)
	}
	var buf []byte
	b.ReportAllocs()
	for b.Loop() {
		buf = s.AppendBinary(buf[:0])
		if err := s.UnmarshalBinary(buf); err != nil {
			b.Fatal(err)
		}
	}
}
