package simulate

import (
	"math"
	"testing"
	"time"

	"github.com/rimewatch/rimewatch"
	_ "github.com/rimewatch/rimewatch/internal/trial"
	"pgregory.net/rapid"
)

// Whatever unit, faults and sampling are asked for, readings come in order, in
// range, without NaN, and the physics stays within the possible.
func TestAnyUnitStaysPossible(t *testing.T) {
	equipment, faults := Simulable(), FaultNames()
	rapid.Check(t, func(t *rapid.T) {
		cfg := Config{
			Equipment:   rapid.SampledFrom(equipment).Draw(t, "equipment"),
			Seed:        rapid.Uint64().Draw(t, "seed"),
			Start:       testStart + rimewatch.Time(rapid.Int64Range(0, int64(365*rimewatch.Day)).Draw(t, "start")),
			SampleEvery: time.Duration(rapid.Int64Range(1, 900).Draw(t, "every")) * time.Second,
			Step:        time.Duration(rapid.IntRange(2, 10).Draw(t, "step")) * time.Second,
		}
		for range rapid.IntRange(0, 3).Draw(t, "faults") {
			onset := cfg.Start + rimewatch.Time(rapid.Int64Range(0, int64(5*rimewatch.Hour)).Draw(t, "onset"))
			cfg.Faults = append(cfg.Faults, Fault{
				Name:     rapid.SampledFrom(faults).Draw(t, "fault"),
				Severity: rapid.Float64Range(0, 1).Draw(t, "severity"),
				Onset:    onset,
				End:      onset + rimewatch.Time(rapid.Int64Range(1, int64(5*rimewatch.Hour)).Draw(t, "length")),
				Profile:  Profile(rapid.IntRange(0, 2).Draw(t, "profile")),
				Ramp:     time.Duration(rapid.Int64Range(0, int64(8*time.Hour)).Draw(t, "ramp")),
				Field:    rimewatch.Field(rapid.IntRange(0, int(rimewatch.NumCore)-1).Draw(t, "field")),
			})
		}
		u, err := New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		last := rimewatch.Time(0)
		for u.NextAt() <= cfg.Start+8*rimewatch.Hour {
			due := u.NextAt()
			r := u.Next()
			if r.At != due || r.At <= last {
				t.Fatalf("reading at %v, due %v, last %v", r.At, due, last)
			}
			last = r.At
			for f := range rimewatch.NumCore {
				if info := f.Info(); !(r.Values[f] >= info.Min && r.Values[f] <= info.Max) {
					t.Fatalf("%v: %s = %v", r.At, f, r.Values[f])
				}
			}
			h := u.Truth()
			for what, v := range map[string][3]float64{
				"air": {h.Air, -80, 60}, "goods": {h.Goods, -60, 50}, "coil": {h.Coil, -85, 70}, "frost": {h.Frost, 0, 2000},
				"evaporating": {h.Evaporating, -85, 60}, "condensing": {h.Condensing, 0, 90}, "discharge": {h.Discharge, 0, 350},
			} {
				if math.IsNaN(v[0]) || v[0] < v[1] || v[0] > v[2] {
					t.Fatalf("%v: %s is %v", r.At, what, v[0])
				}
			}
		}
	})
}

func TestDeliveries(t *testing.T) {
	p, _ := TypicalParams("walkin_cooler")
	offset := 2 * time.Hour
	events := Deliveries(p, 3, testStart, testStart+28*rimewatch.Day, offset)
	if len(events) < 14 || len(events) > 18 {
		t.Errorf("%d events in four weeks, want a held door and a load on two days of each", len(events))
	}
	for i, e := range events {
		if hour := e.At.Std().Add(offset).Hour(); hour < 7 || hour > 9 {
			t.Errorf("%v is no morning", e.At)
		}
		if i > 0 && e.At < events[i-1].At {
			t.Errorf("%v before %v", e.At, events[i-1].At)
		}
	}
	if got := planned(events, testStart+14*rimewatch.Day, &p); len(got) >= len(events) || got[0].At < testStart+14*rimewatch.Day {
		t.Errorf("%d of %d events are still planned", len(got), len(events))
	}
	was := p.Setpoint
	planned([]Event{{At: 2, Kind: SetpointChange, Value: was - 1}, {At: 1, Kind: SetpointChange, Value: was - 3}}, 10, &p)
	if p.Setpoint != was-1 {
		t.Errorf("set-point %v, the last one was %v", p.Setpoint, was-1)
	}
}
