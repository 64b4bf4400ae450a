package engine_test

import (
	"testing"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/engine"
)

// TestAheadOnce: one reading five minutes ahead does not make those without a
// time of their own late.
func TestAheadOnce(t *testing.T) {
	most, delay := -10.0, 120
	cfg := engine.ConfigOf(&rimewatch.Device{EquipmentType: "walkin_freezer", Limits: &rimewatch.LimitOverrides{TempMax: &most, DelayS: &delay}})
	var s engine.State
	opened := rimewatch.Time(0)
	for i := range 5 {
		now := t0 + rimewatch.Time(i)*rimewatch.Minute
		r := rimewatch.Reading{At: now, ReceivedAt: now}
		if i == 0 {
			r.At += 5 * rimewatch.Minute
		}
		r.Set(rimewatch.ProductZoneTemp, 5)
		for _, tr := range take(&s, &cfg, &r, now) {
			if tr.Type == rimewatch.HighTemperature && opened == 0 {
				opened = now
			}
		}
	}
	if opened != t0+2*rimewatch.Minute {
		t.Errorf("the alert opened %d s after the first reading, want 120", (opened-t0)/rimewatch.Second)
	}
}

// TestSetBack: moved by whole days, a unit behaves as one that lived
// earlier by as much.
func TestSetBack(t *testing.T) {
	const by = -2 * rimewatch.Day
	cfg := engine.ConfigOf(&rimewatch.Device{EquipmentType: "walkin_freezer"})
	var moved, earlier engine.State
	step := func(i int, r rimewatch.Reading) {
		now := r.At + 300
		if i == 700 {
			moved.SetBack(by, now+by)
		}
		early := r
		early.At += by
		if i >= 700 {
			r, now = early, now+by
		}
		a, b := take(&moved, &cfg, &r, now), take(&earlier, &cfg, &early, early.At+300)
		if len(a) != len(b) {
			t.Fatalf("reading %d: %v, want %v", i, a, b)
		}
		if moved.Deadline(&cfg, nil)-now != earlier.Deadline(&cfg, nil)-early.At-300 {
			t.Fatalf("reading %d: the deadline is %d, want %d", i, moved.Deadline(&cfg, nil), earlier.Deadline(&cfg, nil))
		}
	}
	for i, r := range freezerDay() {
		if i > 600 {
			r.Set(rimewatch.ProductZoneTemp, 8) // an alert is pending, or open
		}
		step(i, r)
	}
	if a, b := moved.AppendBinary(nil), earlier.AppendBinary(nil); string(a) != string(b) {
		t.Error("the states differ in the end")
	}
}
