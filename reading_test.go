package rimewatch

import (
	"maps"
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
