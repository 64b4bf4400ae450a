package simulate

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rimewatch/rimewatch"
)

func TestSameSeedSameReadings(t *testing.T) {
	cfg := Config{Equipment: "reach_in_cooler", Seed: 42, Start: testStart, Extras: true, Faults: []Fault{{Name: "capacitor"}}}
	a := mustNew(t, cfg).History(testStart + 6*rimewatch.Hour)
	b := mustNew(t, cfg).History(testStart + 6*rimewatch.Hour)
	if d := cmp.Diff(a, b); d != "" {
		t.Error(d)
	}
	if len(a) != 361 {
		t.Errorf("%d readings in 6 h at 60 s, both ends included, want 361", len(a))
	}
	cfg.Seed++
	c := mustNew(t, cfg).History(testStart + 6*rimewatch.Hour)
	if cmp.Equal(a, c) {
		t.Error("another seed gives the same readings")
	}
}

// Units of one site agree about weather and mains whenever they were started.
func TestSiteIsShared(t *testing.T) {
	site := Site{Seed: 5}
	p, _ := TypicalParams("walkin_cooler")
	early := mustNew(t, Config{Equipment: "walkin_cooler", Seed: 1, Site: site, Start: testStart - 9*rimewatch.Day, SampleEvery: time.Hour, Params: &p})
	late := mustNew(t, Config{Equipment: "walkin_cooler", Seed: 2, Site: site, Start: testStart, SampleEvery: time.Hour, Params: &p})
	early.History(testStart - 1)
	for range 48 {
		early.Next()
		late.Next()
		a, b := early.sur, late.sur
		if math.Abs(a.ambient-b.ambient) > 1e-3 || math.Abs(a.humidity-b.humidity) > 1e-2 || math.Abs(a.volts-b.volts) > 1e-5 {
			t.Fatalf("%v: %v °C %v %% %v, other %v °C %v %% %v", early.t, a.ambient, a.humidity, a.volts, b.ambient, b.humidity, b.volts)
		}
	}
}

// A fault changes nothing before its onset, and the step of the physics hardly
// anything at all.
func TestFaultLeavesThePastAlone(t *testing.T) {
	onset := testStart + 5*rimewatch.Hour
	healthy := mustNew(t, Config{Equipment: "walkin_freezer", Seed: 3, Start: testStart})
	faulty := mustNew(t, Config{Equipment: "walkin_freezer", Seed: 3, Start: testStart, Faults: []Fault{{Name: "door_open", Onset: onset}}})
	if d := cmp.Diff(healthy.History(onset), faulty.History(onset)); d != "" {
		t.Error(d)
	}
	if cmp.Equal(healthy.History(onset+rimewatch.Hour), faulty.History(onset+rimewatch.Hour)) {
		t.Error("the fault shows nothing after its onset")
	}
}

func TestStepHardlyMatters(t *testing.T) {
	for _, equipment := range FittedEquipment() {
		fine := summarise(typicalUnit(t, equipment, Config{Step: 2 * time.Second}), testStart, testStart+4*rimewatch.Day)
		coarse := summarise(typicalUnit(t, equipment, Config{Step: 10 * time.Second}), testStart, testStart+4*rimewatch.Day)
		if math.Abs(fine.zoneMean-coarse.zoneMean) > 0.15 || math.Abs(fine.discharge-coarse.discharge) > 1 || math.Abs(fine.duty-coarse.duty) > 0.02 {
			t.Errorf("%s: 2 s %+v, 10 s %+v", equipment, fine, coarse)
		}
	}
}

func TestConfigErrors(t *testing.T) {
	for name, cfg := range map[string]Config{
		"unknown type":    {Equipment: "toaster", Start: testStart},
		"cascade":         {Equipment: "ult_freezer", Start: testStart},
		"ice machine":     {Equipment: "ice_machine", Start: testStart},
		"no start":        {Equipment: "walkin_cooler"},
		"unknown fault":   {Equipment: "walkin_cooler", Start: testStart, Faults: []Fault{{Name: "gremlins"}}},
		"severity":        {Equipment: "walkin_cooler", Start: testStart, Faults: []Fault{{Name: "door", Severity: 1.5}}},
		"severity is NaN": {Equipment: "walkin_cooler", Start: testStart, Faults: []Fault{{Name: "door", Severity: math.NaN()}}},
		"ends first":      {Equipment: "walkin_cooler", Start: testStart, Faults: []Fault{{Name: "door", Onset: testStart, End: testStart}}},
		"sampling":        {Equipment: "walkin_cooler", Start: testStart, SampleEvery: time.Millisecond},
		"step":            {Equipment: "walkin_cooler", Start: testStart, Step: time.Minute},
		"refrigerant":     {Equipment: "walkin_cooler", Start: testStart, Params: &Params{Refrigerant: "R22", Volts: 230}},
	} {
		if _, err := New(cfg); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestEvents(t *testing.T) {
	change := testStart + 6*rimewatch.Hour
	run := func(events ...Event) (summary, Truth) {
		u := typicalUnit(t, "walkin_cooler", Config{Events: events})
		s := summarise(u, change+4*rimewatch.Hour, change+10*rimewatch.Hour)
		return s, u.Truth()
	}
	plain, was := run()
	colder, _ := run(Event{At: change, Kind: SetpointChange, Value: -0.5})
	if drop := plain.zoneMean - colder.zoneMean; drop < 1.5 || drop > 2.5 {
		t.Errorf("set-point 2 K lower, zone %.2f K", drop)
	}
	loaded, is := run(Event{At: change + 4*rimewatch.Hour, Kind: Loading, Value: 4000e3 * 5})
	if is.Goods < was.Goods+2 || loaded.duty < plain.duty+0.1 {
		t.Errorf("warm goods: %.1f °C, %.1f without; duty %.2f, %.2f without", is.Goods, was.Goods, loaded.duty, plain.duty)
	}
}

func TestExtras(t *testing.T) {
	u := typicalUnit(t, "walkin_freezer", Config{Extras: true, Faults: []Fault{{Name: "door", Onset: testStart + rimewatch.Hour}}})
	var r rimewatch.Reading
	ran, defrosted := int64(0), false
	for u.NextAt() <= testStart+rimewatch.Day {
		r = u.Next()
		on, ok := r.Flags.Bool(rimewatch.CompressorOn)
		if !ok || on != u.Truth().Running {
			t.Fatalf("%v: compressor_on %v %v", r.At, on, ok)
		}
		if on {
			ran += 60
		}
		melting, _ := r.Flags.Bool(rimewatch.DefrostActive)
		defrosted = defrosted || melting
	}
	if open, ok := r.Flags.Bool(rimewatch.DoorOpen); !ok || !open {
		t.Error("door_open is not reported")
	}
	if starts, ok := r.Value(rimewatch.StartCount); !defrosted || starts < 5 || !ok {
		t.Errorf("defrosted %v, %v starts", defrosted, starts)
	}
	if seconds, _ := r.Value(rimewatch.RunSeconds); math.Abs(seconds-float64(ran)) > 3600 || seconds == 0 {
		t.Errorf("run_seconds %v, sampled %d", seconds, ran)
	}
	plain := typicalUnit(t, "walkin_freezer", Config{}).Next()
	if plain.Flags != 0 || plain.Present&^rimewatch.CoreFields != 0 {
		t.Errorf("flags %b, measurements %v without Extras", plain.Flags, plain.Present.Names())
	}
}

// What is sent fits the API: plausible, and no finer than the sensors resolve.
func TestReadingsArePlausible(t *testing.T) {
	for _, fault := range FaultNames() {
		u := mustNew(t, Config{Equipment: "display_case_open", Seed: 9, Start: testStart, Faults: []Fault{{Name: fault, Severity: 1, Onset: testStart + rimewatch.Hour}}})
		for _, r := range u.History(testStart + 2*rimewatch.Day) {
			for f := range rimewatch.NumCore {
				v, ok := r.Value(f)
				if !ok {
					if v != 0 || !r.Faults.Has(f) {
						t.Fatalf("%s: %s absent with value %v and no fault", fault, f, v)
					}
					continue
				}
				info := f.Info()
				if !(v >= info.Min && v <= info.Max) || math.Signbit(v) && v == 0 {
					t.Fatalf("%s: %s = %v", fault, f, v)
				}
				if step := v * resolution[f]; math.Abs(step-math.Round(step)) > 1e-6 {
					t.Fatalf("%s: %s = %v is finer than the sensor", fault, f, v)
				}
			}
		}
	}
}
