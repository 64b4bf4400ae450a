package simulate

import (
	"math"
	"testing"
	"time"

	"github.com/rimewatch/rimewatch"
)

// The week that the domain notes give for the typical unit of each type.
var healthyWeeks = []struct {
	equipment                                           string
	zone, discharge, suction, amps, duty, starts, split float64
}{
	{"walkin_freezer", -19.3, 87, -3, 15.0, 0.56, 3.4, 12.5},
	{"walkin_cooler", 2.7, 75, 10, 10.8, 0.39, 3.0, 14},
	{"reach_in_cooler", 2.9, 75, 14, 3.6, 0.41, 2.5, 16},
	{"display_case_open", 3.4, 70, 8, 5.8, 0.46, 7.3, 16.5},
	{"vaccine_refrigerator", 4.7, 63, 15, 1.1, 0.21, 2.8, 16},
}

// typicalUnit takes steps of 10 s unless told otherwise: half the work, and
// TestStepHardlyMatters shows that it may.
func typicalUnit(t testing.TB, equipment string, cfg Config) *Unit {
	t.Helper()
	p, err := TypicalParams(equipment)
	if err != nil {
		t.Fatal(err)
	}
	cfg.Equipment, cfg.Params = equipment, &p
	cfg.Site = Site{Seed: 1, Climate: testClimate}
	if cfg.Seed == 0 {
		cfg.Seed = 1
	}
	if cfg.Step == 0 {
		cfg.Step = 10 * time.Second
	}
	return mustNew(t, cfg)
}

func TestHealthyWeek(t *testing.T) {
	for _, w := range healthyWeeks {
		t.Run(w.equipment, func(t *testing.T) {
			s := summarise(typicalUnit(t, w.equipment, Config{Step: 5 * time.Second}), testStart, testStart+7*rimewatch.Day)
			check := func(what string, got, want, tolerance float64) {
				t.Helper()
				if math.IsNaN(got) || math.Abs(got-want) > tolerance {
					t.Errorf("%s: %.2f, want %.2f ± %.2f", what, got, want, tolerance)
				}
			}
			check("zone mean °C", s.zoneMean, w.zone, 0.7)
			check("discharge °C", s.discharge, w.discharge, 6)
			check("suction °C", s.suction, w.suction, 3)
			check("amps", s.amps, w.amps, 0.12*w.amps)
			check("duty", s.duty, w.duty, 0.1)
			check("starts/h", s.startsAnHr, w.starts, 1.5)
			check("condenser split K", s.split, w.split, 2)
			check("trips/d", s.tripsADay, 0, 0)
			t.Logf("zone %.1f/%.1f °C, discharge %.0f/%.0f, suction %.1f, %.1f A, duty %.2f, %.1f starts/h, split %.1f K, evaporating %.1f °C, most frost %.2f kg, zone RH %.0f %%",
				s.zoneMean, s.zoneP995, s.discharge, s.dischargeP95, s.suction, s.amps, s.duty, s.startsAnHr, s.split, s.evap, s.frost, s.humidity)
		})
	}
}

// Every type that is offered must hold its place in the catalogue: within its
// limits, with a compressor that cycles and no protector that opens.
func TestEveryTypeRunsHealthily(t *testing.T) {
	for _, equipment := range Simulable() {
		t.Run(equipment, func(t *testing.T) {
			s := summarise(typicalUnit(t, equipment, Config{}), testStart, testStart+4*rimewatch.Day)
			limits := (&rimewatch.Device{EquipmentType: equipment}).LimitsInForce()
			if limits.TempMax != nil && (s.zoneMean > *limits.TempMax || s.zoneMean < *limits.TempMin) {
				t.Errorf("zone mean %.1f °C outside %.1f…%.1f", s.zoneMean, *limits.TempMin, *limits.TempMax)
			}
			if s.duty < 0.15 || s.duty > 0.8 || s.tripsADay > 0 || s.on == 0 {
				t.Errorf("duty %.2f, %.1f trips a day, %d on-samples", s.duty, s.tripsADay, s.on)
			}
			t.Logf("zone %.1f/%.1f °C, discharge %.0f, suction %.1f, %.2f A, duty %.2f, %.1f starts/h, most frost %.2f kg", s.zoneMean, s.zoneP995, s.discharge, s.suction, s.amps, s.duty, s.startsAnHr, s.frost)
		})
	}
}

// Whatever is drawn, a unit without a fault stays healthy through ten hot days:
// no protector opens and no coil ices up.
func TestRandomUnitsStayHealthy(t *testing.T) {
	july := testStart + 85*rimewatch.Day
	for _, equipment := range FittedEquipment() {
		for seed := range uint64(5) {
			u := mustNew(t, Config{Equipment: equipment, Seed: 1000 + seed, Start: july, Step: 10 * time.Second})
			s := summarise(u, july, july+10*rimewatch.Day)
			limits := (&rimewatch.Device{EquipmentType: equipment}).LimitsInForce()
			if s.tripsADay > 0 || s.frost > 1.2*u.p.FrostM || s.zoneMean > *limits.TempMax || s.zoneMean < *limits.TempMin || s.duty > 0.85 || s.duty < 0.1 {
				t.Errorf("%s seed %d: zone %.1f °C, %.2f trips a day, frost %.2f of %.2f kg, duty %.2f", equipment, 1000+seed, s.zoneMean, s.tripsADay, s.frost, u.p.FrostM, s.duty)
			}
		}
	}
}

func BenchmarkDay(b *testing.B) {
	for _, bench := range []struct {
		name string
		cfg  Config
	}{
		{"5s", Config{Step: 5 * time.Second}},
		{"10s", Config{Step: 10 * time.Second}},
		{"5s_leak", Config{Step: 5 * time.Second, Faults: []Fault{{Name: "leak", Severity: 0.7}}}},
	} {
		b.Run(bench.name, func(b *testing.B) {
			u := typicalUnit(b, "walkin_freezer", bench.cfg)
			for b.Loop() {
				for range 1440 {
					u.Next()
				}
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "device-days/s")
		})
	}
}
