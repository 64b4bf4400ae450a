package rimewatch

import (
	"maps"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	_ "github.com/rimewatch/rimewatch/internal/trial"
)

// TestReadingHolds sets measurements in any order, of copies too, and compares
// with a map.
func TestReadingHolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var r Reading
		model := map[Field]float64{}
		type copied struct {
			r     Reading
			model map[Field]float64
		}
		var copies []copied
		for range rapid.IntRange(0, 40).Draw(t, "steps") {
			f := Field(rapid.IntRange(0, int(MaxFields)-1).Draw(t, "field"))
			v := float64(rapid.IntRange(-9, 9).Draw(t, "value"))
			r.Set(f, v)
			model[f] = v
			if rapid.IntRange(0, 3).Draw(t, "copy") == 0 {
				copies = append(copies, copied{r, maps.Clone(model)})
			}
		}
		for _, c := range append(copies, copied{r, model}) {
			if got := maps.Collect(c.r.All()); !maps.Equal(got, c.model) {
				t.Fatalf("%v, want %v", got, c.model)
			}
			var order []Field
			for f := range c.r.All() {
				order = append(order, f)
			}
			if !slices.IsSorted(order) || len(c.r.Optional) != (c.r.Present&^CoreFields).Len() {
				t.Fatal(order, c.r.Optional)
			}
			for f := range MaxFields {
				v, ok := c.r.Value(f)
				if want, sent := c.model[f]; v != want || ok != sent {
					t.Fatalf("%d: %v %v, want %v %v", f, v, ok, want, sent)
				}
			}
		}
	})
}

func TestCorrectOptional(t *testing.T) {
	offsets := []Offset{{Field: SuctionPressure, From: 10, Add: 2.5}, {Field: ProductZoneTemp, From: 20, Add: -1}}
	var r Reading
	r.At = 20
	r.Set(ProductZoneTemp, 4)
	r.Set(SuctionPressure, 100)
	r.Set(Power, 7)
	as := r
	as.Correct(offsets)
	if as.Values[ProductZoneTemp] != 3 || !slices.Equal(as.Optional, []float64{102.5, 7}) {
		t.Error(as)
	}
	if r.Values[ProductZoneTemp] != 4 || !slices.Equal(r.Optional, []float64{100, 7}) {
		t.Error("the reading that was copied has changed:", r)
	}
}

func TestFlags(t *testing.T) {
	var f Flags
	for x := range NumFlags {
		if _, ok := f.Bool(x); ok {
			t.Errorf("%s was not sent", x)
		}
		f = f.WithBool(x, true)
		f = f.WithBool(x, x == DoorOpen)
	}
	for x := range NumFlags {
		if v, ok := f.Bool(x); !ok || v != (x == DoorOpen) {
			t.Errorf("%s: %v %v", x, v, ok)
		}
	}
}

func TestReceived(t *testing.T) {
	const at = 1_800_000_000_123
	for _, tc := range []struct{ delay, want Time }{
		{0, 0}, {1, 0}, {999, 0}, {1000, 1000}, {1999, 1000}, {59_999, 59_000}, {60_000, 60_000}, {60_876, 60_000}, {60_877, 60_877}, {60_900, 60_877}, {3_600_405, 3_599_877},
		{-1, 0}, {-999, 0}, {-1000, -1000}, {-1001, -1000},
	} {
		r := Reading{At: at, ReceivedAt: at + tc.delay}
		if got := r.Received() - at; got != tc.want {
			t.Errorf("received %d after: %d, want %d", tc.delay, got, tc.want)
		}
	}
}

// TestReceivedHolds: rounding twice is rounding once, never by a second or more, and never
// to the other side of the measurement.
func TestReceivedHolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		at := 1_800_000_000_000 + Time(rapid.Int64Range(-5000, 5000).Draw(t, "at"))
		r := Reading{At: at, ReceivedAt: at + Time(rapid.Int64Range(-300_000, 200_000).Draw(t, "delay"))}
		got, early := r.Received(), r.ReceivedAt < at
		if d := r.ReceivedAt - got; d >= Second || d <= -Second || got > at && early || got < at && !early || !early && got > r.ReceivedAt {
			t.Fatalf("%d, measured at %d, became %d", r.ReceivedAt, at, got)
		}
		r.ReceivedAt = got
		if again := r.Received(); again != got {
			t.Fatalf("rounded %d, again %d", got, again)
		}
	})
}

func TestCount(t *testing.T) {
	for _, tc := range []struct {
		name   string
		values []float64
		want   Count
	}{
		{"nothing", nil, Count{}},
		{"one value counts nothing", []float64{7}, Count{First: 7, Last: 7, Known: true}},
		{"on and on", []float64{1, 1, 4}, Count{First: 1, Last: 4, Increase: 3, Known: true}},
		{"a restart", []float64{1000, 1015, 0, 2}, Count{First: 1000, Last: 2, Increase: 17, Known: true, Restarted: true}},
		{"what was counted before the first value after a restart", []float64{10, 3, 4}, Count{First: 10, Last: 4, Increase: 4, Known: true, Restarted: true}},
		{"two restarts that end above", []float64{5, 9, 1, 6, 2, 20}, Count{First: 5, Last: 20, Increase: 4 + 1 + 5 + 2 + 18, Known: true, Restarted: true}},
		{"little by little", []float64{0.5, 0.625, 1}, Count{First: 0.5, Last: 1, Increase: 0.5, Known: true}},
		{"great numbers", []float64{maxWhole - 3, maxWhole, 1, 2}, Count{First: maxWhole - 3, Last: 2, Increase: 5, Known: true, Restarted: true}},
	} {
		var forward, backward Count
		for i, v := range tc.values {
			forward = forward.Then(CountOf(v))
			backward = CountOf(tc.values[len(tc.values)-1-i]).Then(backward)
		}
		if forward != tc.want || backward != tc.want {
			t.Errorf("%s: %+v, from its end %+v", tc.name, forward, backward)
		}
	}
}

// TestImplausible: all core measurements at once are judged as one by one, at
// every bound and beside it.
func TestImplausible(t *testing.T) {
	values := []float64{0, 85, -127, 999, -999, 998, 1998, 1999, math.NaN(), math.Inf(1), math.Inf(-1)}
	for f := range NumCore {
		info := f.Info()
		for _, v := range []float64{info.Low, info.High, info.Min, info.Max} {
			values = append(values, v, math.Nextafter(v, math.Inf(1)), math.Nextafter(v, math.Inf(-1)))
		}
	}
	for _, v := range values {
		r, want := Reading{}, Fields(0)
		for f := range NumCore {
			r.Values[f] = v
			if !f.Plausible(v) {
				want = want.With(f)
			}
		}
		for present := Fields(0); present <= CoreFields; present++ {
			if r.Present = present; r.Implausible() != want&present {
				t.Fatalf("%v in %v: %v are implausible, want %v", v, present, r.Implausible(), want&present)
			}
		}
	}
}
