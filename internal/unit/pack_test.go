package unit_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/unit"
)

type state struct {
	A, B  uint8
	S     uint16
	W     uint32
	I     int16
	F     unit.Fixed
	T, U  rimewatch.Time
	P     unit.Stamp
	G     rimewatch.Time
	X     float32
	Y, N  bool
	Extra [5]uint8
}

func (s *state) code(c *unit.Codec) {
	c.Bytes(&s.A, &s.B)
	c.Shorts(&s.S)
	c.Words(&s.W)
	c.Signed(&s.I)
	c.Fixeds(&s.F)
	c.Times(&s.T, &s.U)
	c.Stamps(&s.P)
	c.Grid(rimewatch.Hour, &s.G)
	c.Floats(&s.X)
	c.Bools(&s.Y, &s.N)
	for i := range s.Extra {
		c.Bytes(&s.Extra[i])
	}
}

// TestRoundTrip: what is written is read again, and no cut of it passes for the
// whole.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		at := func(name string) rimewatch.Time {
			return rimewatch.Time(rapid.SampledFrom([]int64{0, 0, 1, 1_790_000_000_000, 1<<48 - 1}).Draw(t, name))
		}
		s := state{
			A: rapid.Uint8().Draw(t, "a"), S: rapid.Uint16().Draw(t, "s"), W: rapid.Uint32().Draw(t, "w"),
			I: int16(rapid.IntRange(-32767, 32767).Draw(t, "i")), F: unit.FixedOf(rapid.Float64Range(-200, 200).Draw(t, "f")),
			T: at("t"), U: at("u"), P: unit.StampOf(at("p")), G: at("g") / rimewatch.Hour * rimewatch.Hour,
			X: float32(rapid.Float64Range(-1e9, 1e9).Draw(t, "x")), Y: rapid.Bool().Draw(t, "y"), Extra: [5]uint8{4: rapid.Uint8().Draw(t, "e")},
		}
		w := unit.Writer([]byte{7})
		copied := s
		copied.code(&w)
		b, _ := w.Done()
		if copied != s {
			t.Fatalf("writing changed the state: %+v", copied)
		}
		var got state
		r := unit.Reader(b[1:])
		got.code(&r)
		if rest, ok := r.Done(); !ok || len(rest) != 0 {
			t.Fatalf("ok %v, %d bytes are left", ok, len(rest))
		}
		if d := cmp.Diff(s, got); d != "" {
			t.Fatal(d)
		}
		for n := range len(b) - 1 {
			r := unit.Reader(b[1 : 1+n])
			var cut state
			cut.code(&r)
			if _, ok := r.Done(); ok {
				t.Fatalf("%d of %d bytes pass for the whole", n, len(b)-1)
			}
		}
	})
}

// TestDamage: what no Writer writes is refused.
func TestDamage(t *testing.T) {
	for name, b := range map[string][]byte{
		"a zero that is marked as present": {1, 0},
		"a number that is too large":       {1, 0xff, 0xff, 3},
		"a number without an end":          {1, 0x80},
	} {
		r := unit.Reader(b)
		var v uint8
		r.Bytes(&v)
		if _, ok := r.Done(); ok {
			t.Errorf("%s is taken for %d", name, v)
		}
	}
	r := unit.Reader([]byte{1, 0, 0, 0xc0, 0x7f})
	var f float32
	r.Floats(&f)
	if _, ok := r.Done(); ok {
		t.Error("NaN is taken")
	}
	r = unit.Reader([]byte{1, 4})
	var x, y bool
	r.Bools(&x, &y)
	if _, ok := r.Done(); ok {
		t.Error("a third of two booleans is taken")
	}
}

// TestFixedRounds to the nearest, away from 0 where two are.
func TestFixedRounds(t *testing.T) {
	for v, want := range map[float64]unit.Fixed{
		0: 0, math.Copysign(0, -1): 0, 21.3: 213_000, -21.3: -213_000, 0.00005: 1, -0.00005: -1, 0.00004: 0, -0.00004: 0,
		1e9: math.MaxInt32, -1e9: math.MinInt32, math.Inf(1): math.MaxInt32, math.Inf(-1): math.MinInt32,
	} {
		if got := unit.FixedOf(v); got != want {
			t.Errorf("%v is %d, want %d", v, got, want)
		}
	}
}
