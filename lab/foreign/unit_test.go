package foreign

import (
	"math"
	"testing"
	"time"

	"github.com/rimewatch/rimewatch"
)

var start = rimewatch.TimeOf(time.Date(2025, 6, 2, 0, 0, 0, 0, time.UTC))

func made(t testing.TB, c Config) *Unit {
	t.Helper()
	c.Start = start
	u, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// shown is what a unit showed over some days.
type shown struct {
	air, warmest, goods, duty, starts, frost float64
	values                                   [rimewatch.NumCore]float64 // means of steady running
}

func watch(u *Unit, from, to rimewatch.Time) (s shown) {
	s.warmest = -100
	n, ran, steady, row := 0.0, 0.0, 0.0, 0
	starts := u.starts
	for u.NextAt() < to {
		r, _ := u.Next()
		if r.At < from {
			starts = u.starts
			continue
		}
		is := u.Truth()
		n, s.air, s.goods, s.warmest, s.frost = n+1, s.air+is.Air, s.goods+is.Goods, max(s.warmest, r.Values[0]), max(s.frost, is.Frost)
		if row++; !is.Running {
			row = 0
			continue
		}
		if ran++; row > 5 {
			steady++
			for f := range s.values {
				s.values[f] += r.Values[f]
			}
		}
	}
	s.air, s.goods, s.duty, s.starts = s.air/n, s.goods/n, ran/n, float64(u.starts-starts)/(float64(to-from)/float64(rimewatch.Hour))
	for f := range s.values {
		s.values[f] /= max(1, steady)
	}
	return s
}

// Healthy units of every type hold the range of their type and run as such units do:
// between a tenth and nine tenths of the time, at most ten starts an hour.
func TestHealthyUnitsHold(t *testing.T) {
	for _, name := range Types() {
		kind, ok := rimewatch.EquipmentBySlug(name)
		if !ok {
			t.Fatalf("%s is no equipment type", name)
		}
		for seed := range uint64(3) {
			u := made(t, Config{Equipment: name, Seed: 100 + seed})
			s := watch(u, start+3*rimewatch.Day, start+8*rimewatch.Day)
			if kind.Limits.Outside(s.air) || kind.Limits.Outside(s.goods) {
				t.Errorf("%s %d: air %.1f, goods %.1f °C on average, outside the limits", name, seed, s.air, s.goods)
			}
			if s.duty < 0.1 || s.duty > 0.9 || s.starts > 10 || s.frost > icedUp {
				t.Errorf("%s %d: runs %.0f %% of the time, %.1f starts/h, frost %.2f", name, seed, 100*s.duty, s.starts, s.frost)
			}
			if s.values[rimewatch.CompressorDischargeTemp] < 40 || s.values[rimewatch.CompressorDischargeTemp] > 110 ||
				s.values[rimewatch.CompressorDischargeTemp] < s.values[rimewatch.CompressorSuctionTemp]+15 {
				t.Errorf("%s %d: discharge %.0f, suction %.0f °C", name, seed, s.values[rimewatch.CompressorDischargeTemp], s.values[rimewatch.CompressorSuctionTemp])
			}
		}
	}
}

// The heat that comes in less that which is taken out is what the box has stored.
func TestEnergyBalance(t *testing.T) {
	for _, name := range Types() {
		u := made(t, Config{Equipment: name, Seed: 7, Faults: []Fault{{Name: Emptied, Severity: 1, Onset: start + rimewatch.Day}}})
		watch(u, start, start+3*rimewatch.Day)
		if got := u.stored() - u.stored0; math.Abs(got-(u.in-u.out)) > 0.002*u.out || u.out <= 0 {
			t.Errorf("%s: stored %.0f J, in %.0f, out %.0f", name, got, u.in, u.out)
		}
	}
}

// A unit whose compressor is dead draws nothing and warms up as goods do: 5 K take
// between ten minutes and a day, and days later it is as warm as its room.
func TestDeadCompressorWarms(t *testing.T) {
	for _, name := range Types() {
		onset := start + 2*rimewatch.Day
		u := made(t, Config{Equipment: name, Seed: 3, Faults: []Fault{{Name: DeadCompressor, Severity: 1, Onset: onset}}})
		var before float64
		var at rimewatch.Time
		for u.NextAt() < onset+8*rimewatch.Day {
			r, _ := u.Next()
			is := u.Truth()
			switch {
			case r.At < onset:
				before = is.Goods
			case is.Running && r.At > onset+rimewatch.Minute:
				t.Fatalf("%s runs", name)
			case at == 0 && is.Air > before+5 && is.Goods > before+2:
				at = r.At
			}
		}
		if took := at - onset; at == 0 || took < 10*rimewatch.Minute || took > rimewatch.Day {
			t.Errorf("%s: 5 K after %.1f h", name, float64(took)/float64(rimewatch.Hour))
		}
		warm := u.ambient + (u.fans+0.5*u.lights)/u.wall/(1+u.curtain*airHeat/u.wall) // its fans run on
		if is := u.Truth(); math.Abs(is.Air-warm) > 5 {
			t.Errorf("%s: air %.1f °C in a room of %.1f", name, is.Air, warm)
		}
	}
}

// Defrosts by heat come as often as they are set, melt the ice, and warm the zone by some
// kelvin for less than an hour.
func TestDefrosts(t *testing.T) {
	for seed := range uint64(6) {
		u := made(t, Config{Equipment: "walkin_freezer", Seed: seed})
		var n, left int
		var begun, peak, longest float64
		was := false
		for u.NextAt() < start+6*rimewatch.Day {
			u.Next()
			is := u.Truth()
			switch {
			case is.Defrosting && !was:
				begun, peak, longest = is.Frost, -100, 0
			case is.Defrosting:
				longest++
			case was:
				n++
				if is.Frost > 0.35*begun+0.01 {
					left++
				}
				if peak < u.set+2 || peak > u.set+20 || longest > 45 {
					t.Errorf("seed %d: a defrost of %.0f min up to %.1f °C", seed, longest, peak)
				}
			}
			peak = max(peak, is.Air)
			was = is.Defrosting
		}
		if n < 5 || n > 6*12 || left > n/4 {
			t.Errorf("seed %d: %d defrosts in six days, ice left after %d", seed, n, left)
		}
	}
}

// A unit is a function of its seed, and a faulty one lives through the same days as the
// healthy one until its fault begins.
func TestSameSeedSameUnit(t *testing.T) {
	onset := start + 3*rimewatch.Day
	a, b := made(t, Config{Equipment: "reach_in_cooler", Seed: 5}), made(t, Config{Equipment: "reach_in_cooler", Seed: 5, Faults: []Fault{{Name: Leak, Severity: 1, Onset: onset}}})
	for a.NextAt() < onset {
		x, _ := a.Next()
		y, _ := b.Next()
		if x.Values != y.Values {
			t.Fatalf("%v and %v", x.Values, y.Values)
		}
	}
}

// Odd readings come on every channel, as often as is asked for.
func TestOddReadings(t *testing.T) {
	a, b := made(t, Config{Equipment: "walkin_cooler", Seed: 9}), made(t, Config{Equipment: "walkin_cooler", Seed: 9, Spikes: 0.01})
	var odd [rimewatch.NumCore]int
	const rows = 10_000
	for range rows {
		x, _ := a.Next()
		y, _ := b.Next()
		for f := range odd {
			if x.Values[f] != y.Values[f] {
				odd[f]++
			}
		}
	}
	for f, n := range odd {
		if n < rows/200 || n > rows/50 {
			t.Errorf("%s: %d odd readings of %d", rimewatch.Field(f), n, rows)
		}
	}
}

// Faults show as measured ones do: a condenser short of air raises the current on both
// expansion devices and cools the suction line behind a capillary tube alone (a trainer
// with both: +10…19 % and −9 K, +4…5 % and 0), a leak warms it, a fan that stands chills it.
func TestSignatures(t *testing.T) {
	for _, tt := range []struct {
		equipment, fault string
		severity         float64
		amps             [2]float64 // %
		suction          [2]float64 // K
	}{
		{"reach_in_cooler", DirtyCondenser, 0.8, [2]float64{3, 30}, [2]float64{-16, -0.5}},
		{"beverage_cooler", DirtyCondenser, 0.8, [2]float64{3, 30}, [2]float64{-16, -0.5}},
		{"walkin_cooler", DirtyCondenser, 0.8, [2]float64{3, 30}, [2]float64{-1, 1.5}},
		{"reach_in_cooler", Leak, 0.8, [2]float64{-25, -2}, [2]float64{0.5, 9}},
		{"reach_in_cooler", EvaporatorFan, 1, [2]float64{-50, -8}, [2]float64{-60, -6}},
		{"reach_in_freezer", ValveWear, 0.8, [2]float64{-30, -4}, [2]float64{-16, 3}},
	} {
		for seed := range uint64(3) {
			onset := start + 2*rimewatch.Day
			c := Config{Equipment: tt.equipment, Seed: 20 + seed}
			healthy := watch(made(t, c), onset+rimewatch.Day, onset+4*rimewatch.Day)
			c.Faults = []Fault{{Name: tt.fault, Severity: tt.severity, Onset: onset}}
			ill := watch(made(t, c), onset+rimewatch.Day, onset+4*rimewatch.Day)
			amps := 100 * (ill.values[rimewatch.AmpDraw]/healthy.values[rimewatch.AmpDraw] - 1)
			suction := ill.values[rimewatch.CompressorSuctionTemp] - healthy.values[rimewatch.CompressorSuctionTemp]
			if amps < tt.amps[0] || amps > tt.amps[1] || suction < tt.suction[0] || suction > tt.suction[1] {
				t.Errorf("%s %s %d: current %+.0f %%, suction %+.1f K", tt.equipment, tt.fault, c.Seed, amps, suction)
			}
		}
	}
}

// Whatever goes wrong, at any sampling, what is measured can be, but for a probe that is cut.
func TestEveryFault(t *testing.T) {
	every := []time.Duration{time.Second, time.Minute, 5 * time.Minute, 15 * time.Minute, time.Hour}
	for i, name := range FaultNames() {
		equipment := Types()[i%len(Types())]
		sample := every[i%len(every)]
		onset := start + 6*rimewatch.Hour
		u := made(t, Config{Equipment: equipment, Seed: uint64(i), SampleEvery: sample, Faults: []Fault{{Name: name, Severity: 1, Onset: onset}}})
		cut := 0
		for at := rimewatch.Time(0); u.NextAt() < onset+2*rimewatch.Day; {
			r, _ := u.Next()
			if r.At <= at {
				t.Fatalf("%s: a reading of %d after one of %d", name, r.At, at)
			}
			at = r.At
			for f := range rimewatch.NumCore {
				v, has := r.Value(f)
				if has && !(v >= f.Info().Low && v <= f.Info().High) {
					t.Fatalf("%s of %s: %s is %g", name, equipment, f, v)
				}
				if !has {
					cut++
				}
			}
		}
		if (cut > 0) != (name == ProbeDead) {
			t.Errorf("%s: %d values are missing", name, cut)
		}
	}
}

func TestRefused(t *testing.T) {
	for _, c := range []Config{{Equipment: "ice_machine"}, {Equipment: "walkin_cooler", Faults: []Fault{{Name: "rust", Severity: 1}}}, {Equipment: "walkin_cooler", Faults: []Fault{{Name: Leak}}}} {
		if _, err := New(c); err == nil {
			t.Errorf("%+v is taken", c)
		}
	}
}

// A device-month at a reading a minute.
func BenchmarkMonth(b *testing.B) {
	for b.Loop() {
		u := made(b, Config{Equipment: "reach_in_cooler", Seed: 1})
		for u.NextAt() < start+30*rimewatch.Day {
			u.Next()
		}
	}
}
