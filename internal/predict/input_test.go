package predict

import (
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/simulate"
	_ "github.com/rimewatch/rimewatch/internal/trial"
)

// spoils are ways in which what arrives of a unit is not what it measured.
var spoils = []struct {
	name string
	make func(t *rapid.T, list []rimewatch.Reading) []rimewatch.Reading
}{
	{"constant", func(t *rapid.T, list []rimewatch.Reading) []rimewatch.Reading {
		f := rimewatch.Field(rapid.IntRange(0, int(rimewatch.NumCore)-1).Draw(t, "field"))
		return each(list, func(r *rimewatch.Reading) { r.Set(f, list[0].Values[f]) })
	}},
	{"absent", func(t *rapid.T, list []rimewatch.Reading) []rimewatch.Reading {
		set := rimewatch.Fields(rapid.IntRange(1, int(rimewatch.CoreFields)).Draw(t, "fields"))
		return each(list, func(r *rimewatch.Reading) { r.Present &^= set })
	}},
	{"broken", func(t *rapid.T, list []rimewatch.Reading) []rimewatch.Reading {
		set := rimewatch.Fields(rapid.IntRange(1, int(rimewatch.CoreFields)).Draw(t, "fields"))
		return each(list, func(r *rimewatch.Reading) { r.Present, r.Faults = r.Present&^set, set })
	}},
	{"infinite", func(_ *rapid.T, list []rimewatch.Reading) []rimewatch.Reading {
		return each(list, func(r *rimewatch.Reading) {
			r.Values[0], r.Values[1], r.Values[6] = math.Inf(1), -math.MaxFloat64, math.MaxFloat64
		})
	}},
	{"twice", func(_ *rapid.T, list []rimewatch.Reading) []rimewatch.Reading {
		return slices.Concat(list, list)
	}},
	{"reversed", func(_ *rapid.T, list []rimewatch.Reading) []rimewatch.Reading {
		slices.Reverse(list)
		return list
	}},
	{"seldom", func(t *rapid.T, list []rimewatch.Reading) []rimewatch.Reading {
		every := rapid.IntRange(2, 60).Draw(t, "every")
		kept := list[:0]
		for i := range list {
			if i%every == 0 {
				kept = append(kept, list[i])
			}
		}
		return kept
	}},
	{"a clock that jumps", func(t *rapid.T, list []rimewatch.Reading) []rimewatch.Reading {
		at, by := rapid.IntRange(0, len(list)-1).Draw(t, "at"), rimewatch.Time(rapid.IntRange(-72, 72).Draw(t, "hours"))*rimewatch.Hour
		i := 0
		return each(list, func(r *rimewatch.Reading) {
			if i++; i > at {
				r.At += by
			}
		})
	}},
	{"in °F", func(_ *rapid.T, list []rimewatch.Reading) []rimewatch.Reading {
		return each(list, func(r *rimewatch.Reading) { inFahrenheit(r, nil) })
	}},
	{"swapped", func(t *rapid.T, list []rimewatch.Reading) []rimewatch.Reading {
		a, b := rapid.IntRange(0, 7).Draw(t, "one"), rapid.IntRange(0, 7).Draw(t, "other")
		return each(list, func(r *rimewatch.Reading) { r.Values[a], r.Values[b] = r.Values[b], r.Values[a] })
	}},
	{"off for days", func(t *rapid.T, list []rimewatch.Reading) []rimewatch.Reading {
		from := rapid.IntRange(0, len(list)-1).Draw(t, "from")
		return each(list[from:], func(r *rimewatch.Reading) { r.Values[1], r.Values[2], r.Values[6], r.Values[7] = 22, 22, 0, 0 })
	}},
}

func each(list []rimewatch.Reading, change func(r *rimewatch.Reading)) []rimewatch.Reading {
	for i := range list {
		change(&list[i])
	}
	return list
}

// TestBadInput: whatever arrives of a healthy unit in its first days, in whatever
// order and as whatever equipment, nothing is predicted, and the state stays one that
// can be written and read.
func TestBadInput(t *testing.T) {
	u, err := simulate.New(simulate.Config{Equipment: "walkin_cooler", Seed: 11, Start: testStart, Step: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	var clean []rimewatch.Reading
	for u.NextAt() < testStart+3*rimewatch.Day {
		clean = append(clean, u.Next())
	}
	rapid.Check(t, func(t *rapid.T) {
		list := slices.Clone(clean)
		for range rapid.IntRange(1, 3).Draw(t, "spoils") {
			s := rapid.SampledFrom(spoils).Draw(t, "spoil")
			list = s.make(t, list)
			t.Log(s.name)
		}
		c := testConfig(rapid.SampledFrom([]string{"walkin_cooler", "walkin_freezer", "ult_freezer", "wine_cooler", "ice_machine", "other", "?"}).Draw(t, "equipment"))
		var d device
		now := rimewatch.Time(0)
		for i := range list {
			r := &list[i]
			now = max(now, r.At)
			for _, tr := range d.Observe(c, r, now, nil) {
				t.Fatalf("%s %s %s after %s", tr.Kind, tr.Type, tr.Prediction.Fault, r.At.Sub(testStart))
			}
		}
		var back device
		if err := back.UnmarshalBinary(d.AppendBinary(nil)); err != nil {
			t.Errorf("the state cannot be read: %v", err)
		}
	})
}
