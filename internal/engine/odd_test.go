package engine_test

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/alert"
	"github.com/rimewatch/rimewatch/internal/engine"
	"github.com/rimewatch/rimewatch/internal/simulate"
)

// told plays readings as they are measured, and returns how often each alert opened.
func told(equipment string, list []rimewatch.Reading) map[string]int {
	cfg := engine.ConfigOf(&rimewatch.Device{EquipmentType: equipment})
	var s engine.State
	out := map[string]int{}
	count := func(transitions []alert.Transition) {
		for _, tr := range transitions {
			if tr.Kind == rimewatch.TransitionOpened {
				out[fmt.Sprint(tr.Type, " ", tr.Metric)]++
			}
		}
	}
	for i := range list {
		r := &list[i]
		for due := s.Deadline(&cfg, nil); i > 0 && due != 0 && due < r.At; due = s.Deadline(&cfg, nil) {
			count(tick(&s, &cfg, due))
		}
		r.ReceivedAt = r.At
		count(take(&s, &cfg, r, r.At))
	}
	return out
}

var oddUnits = flag.Int("odd", 5, "units that TestOddReadings draws, each at four intervals")

// TestOddReadings: single readings of any field that differ by up to 20 from what they should
// be, in K or in its unit, open nothing, however seldom a unit measures. One that its zone may
// have reached and that is beyond the critical limit counts.
func TestOddReadings(t *testing.T) {
	const learning, days = 4, 10
	minutes := []time.Duration{1, 5, 15, 60}
	types := []string{"walkin_freezer", "walkin_cooler", "vaccine_refrigerator", "reach_in_freezer", "display_case_open"}
	for _, kind := range simulate.Simulable() {
		if !slices.Contains(types, kind) {
			types = append(types, kind)
		}
	}
	n := 0
	for k := range *oddUnits {
		equipment := types[k%len(types)]
		e, _ := rimewatch.EquipmentBySlug(equipment)
		for _, every := range minutes {
			wild, err := simulate.Draw(equipment, uint64(k), t0, t0+days*rimewatch.Day, false)
			if err != nil {
				t.Fatal(err)
			}
			wild.Config.SampleEvery = every * time.Minute
			u, err := simulate.New(wild.Config)
			if err != nil {
				t.Fatal(err)
			}
			var clean []rimewatch.Reading
			for u.NextAt() < t0+days*rimewatch.Day {
				clean = append(clean, u.Next())
			}
			rnd := rand.New(rand.NewPCG(uint64(k), uint64(every)))
			odd, was, newest := slices.Clone(clean), n, -9
			for i := range odd {
				if odd[i].At < t0+learning*rimewatch.Day || i-newest < 8 || rnd.IntN(100) != 0 {
					continue
				}
				r, f := &odd[i], rimewatch.Field(rnd.IntN(int(rimewatch.NumCore)))
				v := max(f.Info().Min, r.Values[f]+rnd.Float64()*40-20)
				if low := e.Limits.CriticalMin; f == rimewatch.ProductZoneTemp && every > 5 && low != nil && v < *low {
					continue
				}
				r.Set(f, v)
				n, newest = n+1, i
			}
			want, got := told(equipment, clean), told(equipment, odd)
			for _, what := range slices.Sorted(maps.Keys(got)) {
				if got[what] > want[what] {
					t.Errorf("%s, every %d min: %s opened %d times, not %d, with %d odd readings", equipment, every, what, got[what], want[what], n-was)
				}
			}
		}
	}
	t.Logf("%d odd readings", n)
}

// TestZoneStandsStill: a freezer whose zone shows one number from its first day on is told after a
// day, as of the first reading, and well again when it moves.
func TestZoneStandsStill(t *testing.T) {
	cfg := engine.ConfigOf(&rimewatch.Device{EquipmentType: "reach_in_freezer"})
	var s engine.State
	var out []alert.Transition
	for at := t0; at < t0+30*rimewatch.Hour; at += 5 * rimewatch.Minute {
		r := rimewatch.Reading{At: at, ReceivedAt: at}
		r.Set(rimewatch.ProductZoneTemp, -18)
		if at > t0+29*rimewatch.Hour {
			r.Set(rimewatch.ProductZoneTemp, -18-float64(at/rimewatch.Minute%7)/10)
		}
		out = append(out, take(&s, &cfg, &r, at)...)
	}
	if len(out) != 2 || out[0].Type != rimewatch.SensorFault || out[0].Metric != rimewatch.ZoneStill || out[0].ConditionStartedAt != t0 ||
		out[0].At < t0+rimewatch.Day || out[0].At > t0+rimewatch.Day+10*rimewatch.Minute || out[1].Kind != rimewatch.TransitionResolved || out[1].Metric != rimewatch.ZoneStill {
		t.Errorf("%+v", out)
	}
}
