package simulate

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rimewatch/rimewatch"
)

// week is what a unit shows in six days after its first.
type week struct {
	zone, lowest, discharge, frost float64 // means, and frost as a share of FrostM at the end
	duty                           float64
	trips                          int64
}

func playWeek(t *testing.T, equipment string, build func(*Params), faults ...Fault) (w week) {
	t.Helper()
	p, err := TypicalParams(equipment)
	if err != nil {
		t.Fatal(err)
	}
	build(&p)
	start := rimewatch.TimeOf(time.Date(2025, 5, 1, 0, 0, 0, 0, time.UTC))
	u, err := New(Config{Equipment: equipment, Seed: 5, Start: start, Step: 10 * time.Second, Params: &p, Faults: faults})
	if err != nil {
		t.Fatal(err)
	}
	n, on := 0.0, 0.0
	w.lowest = 99
	for u.NextAt() < start+7*rimewatch.Day {
		r := u.Next()
		if r.At < start+rimewatch.Day {
			continue
		}
		n++
		w.zone += r.Values[rimewatch.ProductZoneTemp]
		w.lowest = min(w.lowest, r.Values[rimewatch.ProductZoneTemp])
		if u.Truth().Running && !u.hotGas() {
			on++
			w.discharge += r.Values[rimewatch.CompressorDischargeTemp]
		}
	}
	tr := u.Truth()
	return week{w.zone / n, w.lowest, w.discharge / on, tr.Frost / p.FrostM, on / n, tr.Trips}
}

// TestBuildsAreHealthy: however a unit is built, it keeps its zone, stays free of
// ice and never trips.
func TestBuildsAreHealthy(t *testing.T) {
	builds := map[string]func(*Params){
		"capillary": func(p *Params) { p.Capillary = true },
		"inverter":  func(p *Params) { p.Drive = VariableSpeed },
		"digital":   func(p *Params) { p.Drive = DigitalScroll },
		"hot gas":   func(p *Params) { p.HotGas = true },
		"run time":  func(p *Params) { p.Trigger = ByRunTime },
		"on demand": func(p *Params) { p.Trigger = OnDemand },
		"fans stop": func(p *Params) { p.FansCycle = p.DefrostW > 0 },
	}
	for _, equipment := range FittedEquipment() {
		usual := playWeek(t, equipment, func(*Params) {})
		for name, build := range builds {
			w := playWeek(t, equipment, build)
			if d := w.zone - usual.zone; d < -1.2 || d > 1.2 || w.lowest < usual.lowest-1 {
				t.Errorf("%s, %s: zone %.1f, lowest %.1f; the usual build has %.1f and %.1f", equipment, name, w.zone, w.lowest, usual.zone, usual.lowest)
			}
			if w.trips > 0 || w.frost > 0.7 {
				t.Errorf("%s, %s: %d trips, frost %.2f", equipment, name, w.trips, w.frost)
			}
		}
	}
}

// TestCapillaryHidesNoLeak: a receiver hides the first 18 % of a lost charge; a
// unit without one shows it at once.
func TestCapillaryHidesNoLeak(t *testing.T) {
	leak := Fault{Name: "leak", Severity: 0.28}
	for _, equipment := range []string{"reach_in_cooler", "walkin_freezer"} {
		capillary := func(p *Params) { p.Capillary = true }
		valve := func(*Params) {}
		if a, b := playWeek(t, equipment, valve), playWeek(t, equipment, valve, leak); b.discharge-a.discharge > 0.3 {
			t.Errorf("%s with a receiver: discharge %.1f after %.1f", equipment, b.discharge, a.discharge)
		}
		if a, b := playWeek(t, equipment, capillary), playWeek(t, equipment, capillary, leak); b.discharge-a.discharge < 2 || b.duty < a.duty*1.03 {
			t.Errorf("%s with a capillary tube: discharge %.1f after %.1f, duty %.2f after %.2f", equipment, b.discharge, a.discharge, b.duty, a.duty)
		}
	}
}

// TestHotGasKeepsRunning: hot gas defrosts while the compressor runs.
func TestHotGasKeepsRunning(t *testing.T) {
	p, _ := TypicalParams("walkin_freezer")
	p.HotGas = true
	start := rimewatch.TimeOf(time.Date(2025, 5, 1, 0, 0, 0, 0, time.UTC))
	u, err := New(Config{Equipment: "walkin_freezer", Seed: 5, Start: start, Step: 10 * time.Second, Params: &p, Extras: true})
	if err != nil {
		t.Fatal(err)
	}
	both := 0
	for u.NextAt() < start+rimewatch.Day {
		r := u.Next()
		melts, _ := r.Flags.Bool(rimewatch.DefrostActive)
		runs, _ := r.Flags.Bool(rimewatch.CompressorOn)
		if melts && runs {
			both++
		}
	}
	if both < 20 {
		t.Errorf("%d minutes of a day with defrost and compressor, want at least 20", both)
	}
}

// TestSensorEvents: each event does to the readings what it says, from its
// moment on and not before.
func TestSensorEvents(t *testing.T) {
	start := rimewatch.TimeOf(time.Date(2025, 5, 1, 0, 0, 0, 0, time.UTC))
	at := start + 3*rimewatch.Hour
	play := func(d Flaws) []rimewatch.Reading {
		u, err := New(Config{Equipment: "walkin_cooler", Seed: 5, Start: start, Step: 10 * time.Second, Flaws: d})
		if err != nil {
			t.Fatal(err)
		}
		return u.History(start + 6*rimewatch.Hour)
	}
	clean := play(Flaws{})
	const f = rimewatch.CompressorSuctionTemp
	for _, c := range []struct {
		event SensorEvent
		want  func(v, discharge float64) float64
	}{
		{SensorEvent{Kind: SensorShift, Value: 4}, func(v, _ float64) float64 { return v + 4 }},
		{SensorEvent{Kind: SensorScale, Value: 2}, func(v, _ float64) float64 { return v * 2 }},
		{SensorEvent{Kind: SensorFrozen, Value: 7}, func(_, _ float64) float64 { return 7 }},
		{SensorEvent{Kind: SensorFahrenheit}, func(v, _ float64) float64 { return v*1.8 + 32 }},
		{SensorEvent{Kind: SensorSwap, With: rimewatch.CompressorDischargeTemp}, func(_, d float64) float64 { return d }},
	} {
		c.event.Field, c.event.At = f, at
		dirty := play(Flaws{Events: []SensorEvent{c.event}})
		for i := range clean {
			want := clean[i].Values[f]
			if clean[i].At >= at {
				want = c.want(want, clean[i].Values[rimewatch.CompressorDischargeTemp])
			}
			if got := dirty[i].Values[f]; got < want-0.2 || got > want+0.2 {
				t.Fatalf("%v at %v: %.2f, want %.2f", c.event.Kind, clean[i].At, got, want)
			}
		}
	}
}

// TestDraw: a seed gives one unit, another seed another one, and every type of
// the catalogue that can be simulated can be drawn.
func TestDraw(t *testing.T) {
	start := rimewatch.TimeOf(time.Date(2025, 5, 1, 0, 0, 0, 0, time.UTC))
	builds := map[Build]bool{}
	for i, equipment := range Simulable() {
		a, err := Draw(equipment, uint64(i), start, start+90*rimewatch.Day, true)
		if err != nil {
			t.Fatal(err)
		}
		b, _ := Draw(equipment, uint64(i), start, start+90*rimewatch.Day, true)
		ua, err := New(a.Config)
		if err != nil {
			t.Fatal(equipment, err)
		}
		ub, _ := New(b.Config)
		for range 300 {
			if ra, rb := ua.Next(), ub.Next(); !cmp.Equal(ra, rb) {
				t.Fatalf("%s: one seed, two units", equipment)
			}
		}
		builds[a.Config.Params.Build] = true
	}
	if len(builds) != len(Simulable()) {
		t.Errorf("%d builds of %d seeds", len(builds), len(Simulable()))
	}
}
