package state_test

import (
	"bytes"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/state"
	_ "github.com/rimewatch/rimewatch/internal/trial"
)

type part struct {
	Real  state.Real
	Short uint16
	Steps [3]uint32
}

type sample struct {
	Truths  [3]bool
	Byte    uint8
	Bytes   [9]uint8
	Word    uint32
	Long    uint64
	Small   int8
	Signed  int16
	Fixed   state.Fixed
	Float   float32
	At      rimewatch.Time
	Arrived rimewatch.Time `state:"unmoved"`
	Lag     rimewatch.Time `state:"span"`
	Since   state.Stamp
	Parts   [2]part
	Derived float64 `state:"-"`
}

var format = state.Of[sample](7, 7)

func draw(t *rapid.T) sample {
	at := func(name string) rimewatch.Time {
		return rimewatch.Time(rapid.SampledFrom([]int64{0, 0, 1, 1_790_000_000_000, 1<<48 - 1}).Draw(t, name))
	}
	s := sample{
		Truths: [3]bool{1: rapid.Bool().Draw(t, "truth")}, Byte: rapid.Uint8().Draw(t, "byte"), Bytes: [9]uint8{8: rapid.Uint8().Draw(t, "last byte")},
		Word: rapid.Uint32().Draw(t, "word"), Long: rapid.Uint64().Draw(t, "long"), Small: rapid.Int8().Draw(t, "small"), Signed: rapid.Int16().Draw(t, "signed"),
		Fixed: state.Fixed(rapid.Int32().Draw(t, "fixed")), Float: rapid.SampledFrom([]float32{0, float32(math.Copysign(0, -1)), 1.5, float32(math.Inf(-1))}).Draw(t, "float"),
		At: at("at"), Arrived: at("arrived"), Lag: rimewatch.Time(rapid.Int64().Draw(t, "lag")), Since: state.StampOf(at("since")),
	}
	for i := range s.Parts {
		p := &s.Parts[i]
		p.Real, p.Short = state.RealOf(rapid.SampledFrom([]float32{0, -3.25}).Draw(t, "real")), rapid.Uint16().Draw(t, "short")
		for k := range p.Steps {
			p.Steps[k] = rapid.SampledFrom([]uint32{0, 1, 800, 800, math.MaxUint32}).Draw(t, "step")
		}
	}
	return s
}

// TestRoundTrip: what is written is read again, in the same bytes, and no cut of it passes
// for the whole.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := draw(t)
		s.Derived = 3
		b := format.Append([]byte("x"), &s)[1:]
		got := draw(t)
		rest, err := format.Decode(append(b[:len(b):len(b)], "rest"...), &got)
		s.Derived = 0
		if err != nil || string(rest) != "rest" || got != s || math.Signbit(float64(got.Float)) != math.Signbit(float64(s.Float)) {
			t.Fatalf("%+v, want %+v: %q %v", got, s, rest, err)
		}
		if again := format.Append(nil, &got); !bytes.Equal(again, b) {
			t.Fatalf("%x, want %x", again, b)
		}
		for n := range b {
			if _, err := format.Decode(b[:n], &got); err == nil {
				t.Fatalf("%d of %d bytes pass for the whole", n, len(b))
			}
		}
	})
}

// TestMove: moments are moved, but for those that are none, and those that stay.
func TestMove(t *testing.T) {
	s := sample{At: 50, Arrived: 50, Lag: 50, Since: state.StampOf(50)}
	format.Move(&s, -20)
	if want := (sample{At: 30, Arrived: 50, Lag: 50, Since: state.StampOf(30)}); s != want {
		t.Errorf("%+v", s)
	}
	none := sample{}
	if format.Move(&none, -20); none != (sample{}) {
		t.Errorf("%+v", none)
	}
}

// TestNewField: a state of before there was a field is read, and holds none; one of a
// later version is refused.
func TestNewField(t *testing.T) {
	type before struct{ A, C uint8 }
	type since struct {
		A uint8
		B struct{ X, Y uint8 } `state:"since=3"`
		C uint8
	}
	old, now := state.Of[before](2, 2), state.Of[since](2, 3)
	var got since
	if _, err := now.Decode(old.Append(nil, &before{1, 2}), &got); err != nil || got.A != 1 || got.C != 2 || got.B.X != 0 {
		t.Errorf("%+v: %v", got, err)
	}
	got.B.Y = 5
	b := now.Append(nil, &got)
	var again since
	if _, err := now.Decode(b, &again); err != nil || again != got {
		t.Errorf("%+v: %v", again, err)
	}
	if _, err := old.Decode(b, new(before)); err == nil {
		t.Error("a later version is read")
	}
	b[0] = 1
	if _, err := now.Decode(b, &got); err == nil {
		t.Error("a version before the oldest is read")
	}
}

// TestNotFlat: a type that could not be a state has no format.
func TestNotFlat(t *testing.T) {
	for name, of := range map[string]func(){
		"pointer": func() { state.Of[struct{ P *int }](1, 1) },
		"text":    func() { state.Of[struct{ S string }](1, 1) },
		"unknown tag": func() {
			state.Of[struct { //nolint:revive // a tag that is none
				A uint8 `state:"span"`
			}](1, 1)
		},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: has a format", name)
				}
			}()
			of()
		}()
	}
}

// TestDamage: what no Format writes is refused.
func TestDamage(t *testing.T) {
	type numbers struct {
		Byte  uint8
		Short uint16
		Real  float32
		Since state.Stamp
	}
	of := state.Of[numbers](1, 1)
	for name, b := range map[string][]byte{
		"a zero that is marked":      {1, 1, 0},
		"a number that is too large": {1, 2, 0xff, 0xff, 4},
		"a number without an end":    {1, 2, 0x80},
		"not a number":               {1, 4, 0, 0, 0xc0, 0x7f},
		"a moment beyond 48 bits":    {1, 8, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 1},
	} {
		var v numbers
		if _, err := of.Decode(b, &v); err == nil {
			t.Errorf("%s is taken for %+v", name, v)
		}
	}
}

// TestFixedRounds to the nearest, away from 0 where two are.
func TestFixedRounds(t *testing.T) {
	for v, want := range map[float64]state.Fixed{
		0: 0, math.Copysign(0, -1): 0, 21.3: 213_000, -21.3: -213_000, 0.00005: 1, -0.00005: -1, 0.00004: 0, -0.00004: 0,
		1e9: math.MaxInt32, -1e9: math.MinInt32, math.Inf(1): math.MaxInt32, math.Inf(-1): math.MinInt32,
	} {
		if got := state.FixedOf(v); got != want {
			t.Errorf("%v is %d, want %d", v, got, want)
		}
	}
}
