package unit

import (
	"math/rand/v2"
	"testing"

	"github.com/rimewatch/rimewatch"
)

// zones is a zone sensor of a type.
type zones struct {
	*testing.T
	State
	Config
	at rimewatch.Time
}

func newZones(t *testing.T, kind string) *zones {
	t.Helper()
	e, ok := rimewatch.EquipmentBySlug(kind)
	if !ok {
		t.Fatal(kind)
	}
	return &zones{T: t, Config: Config{Equipment: e}, at: 1_790_000_000_000}
}

// send has the zone show a temperature after a while, and reports whether it counts.
func (z *zones) send(after rimewatch.Time, v float64) bool {
	z.at += after
	r := rimewatch.Reading{At: z.at}
	r.Set(rimewatch.ProductZoneTemp, v)
	var o Observation
	z.Observe(&z.Config, &r, z.at, 0, &o)
	return o.Valid.Has(rimewatch.ProductZoneTemp) && z.Last(rimewatch.ProductZoneTemp) == v
}

// cycle lets the zone go about what it does for a while.
func (z *zones) cycle(every rimewatch.Time, v float64, n int) {
	z.Helper()
	for i := range n {
		if now := v + float64(i%5)*0.3; !z.send(every, now) {
			z.Fatalf("%v does not count", now)
		}
	}
}

// TestUnreached: what the unit cannot have reached does not count, and once it is gone nothing
// is known of it.
func TestUnreached(t *testing.T) {
	for _, c := range []struct {
		kind  string
		usual float64
		every rimewatch.Time
		odd   []float64
	}{
		{"walkin_freezer", -19, minute, []float64{-100, -40, 0, -1, 1, 20, 85}},
		{"walkin_freezer", -19, 5 * minute, []float64{-100, -50, 0, -1, 15, 85}},
		{"walkin_freezer", -19, 15 * minute, []float64{-100, -60, 0, -1, 35, 85}},
		{"walkin_freezer", -19, hour, []float64{-100, -60, 85}},
		{"walkin_cooler", 3, minute, []float64{-100, -17.78, -10, 13, 85}},
		{"walkin_cooler", 3, 5 * minute, []float64{-100, -17.78, 25, 85}},
		{"walkin_cooler", 3, hour, []float64{-100, -25, 45, 85}},
		{"vaccine_refrigerator", 5, minute, []float64{-17.78, -1, 0, 14}},
		{"ult_freezer", -80, 5 * minute, []float64{-100, 0, -1, -17.78, 25, 85}},
		{"other", 3, minute, []float64{-100, -17.78, 20, 85}},
	} {
		z := newZones(t, c.kind)
		z.cycle(c.every, c.usual, 200)
		for _, v := range c.odd {
			if z.send(c.every, v) {
				t.Errorf("%s every %d min: %v after %v counts", c.kind, c.every/minute, v, c.usual)
			}
			z.cycle(c.every, c.usual, 12)
		}
	}
}

// TestReached: what doors, defrosts, loads, a failure and the way back may do counts at once.
func TestReached(t *testing.T) {
	for _, c := range []struct {
		kind  string
		usual float64
		every rimewatch.Time
		next  []float64
	}{
		{"walkin_freezer", -19, minute, []float64{-16, -13, -10, -8, -9, -12, -15, -18}}, // a defrost
		{"reach_in_freezer", -19, minute, []float64{-14, -9, -5, -1.5, 1, -3, -8, -12}},  // its door stands open
		{"walkin_freezer", -19, 5 * minute, []float64{-9, 0.5, 4, -3, -10, -16}},         // likewise
		{"walkin_freezer", -19, hour, []float64{5, 15, 20, 0, -12, -19}},                 // it is off
		{"walkin_cooler", 3, minute, []float64{6, 9, 11, 8, 5, 3}},                       // a door
		{"walkin_cooler", 3, 5 * minute, []float64{0.4, -1, -4, -6, 3}},                  // it freezes
		{"walkin_cooler", -20, 5 * minute, []float64{-22, -24, -21, -18}},                // it is another type
		{"blast_chiller", 3, 5 * minute, []float64{20, 45, 40, 30, 18, 9, 3}},            // hot food
		{"vaccine_refrigerator", 5, minute, []float64{6.5, 8.1, 9, 7, 5}},
		{"other", 55, 5 * minute, []float64{52, 47, 56}},
	} {
		z := newZones(t, c.kind)
		z.cycle(c.every, c.usual, 100)
		for _, v := range c.next {
			if !z.send(c.every, v) {
				t.Errorf("%s every %d min: %v after %v does not count (%v)", c.kind, c.every/minute, v, c.usual, c.next)
			}
		}
	}
}

// TestUnreachedConfirmed: a jump counts when the next two readings show it, too, within ten
// minutes where a reading comes every five; back it goes at once. Of two probes that
// alternate both count from then on.
func TestUnreachedConfirmed(t *testing.T) {
	z := newZones(t, "walkin_freezer")
	z.cycle(minute, -19, 100)
	for i, v := range []float64{15, 15.4, 15.1, 15.2} {
		if got, want := z.send(minute, v), i >= 2; got != want {
			t.Errorf("reading %d after the jump counts: %v", i+1, got)
		}
	}
	if !z.send(minute, -18.8) {
		t.Error("it does not come back")
	}
	z = newZones(t, "walkin_cooler")
	z.cycle(minute, 3, 100)
	for i := range 20 {
		if got := z.send(30*second, -18); i > 2 && !got || i < 2 && got {
			t.Errorf("of two probes that alternate reading %d of the second one counts: %v", i+1, got)
		}
		if !z.send(30*second, 3) {
			t.Errorf("of two probes that alternate reading %d of the first one does not count", i+1)
		}
	}
}

// TestUnreachedLearnsNothing: a unit that shows a single odd temperature now and then knows the same as
// one that does not.
func TestUnreachedLearnsNothing(t *testing.T) {
	odd, clean := newZones(t, "walkin_freezer"), newZones(t, "walkin_freezer")
	rnd := rand.New(rand.NewPCG(5, 0))
	for i := range 3 * 24 * 60 {
		v := -19 + float64(i%30)*0.1
		clean.send(minute, v)
		if rnd.IntN(200) == 0 {
			odd.send(minute, v+[]float64{-30, 20, 104, 19}[rnd.IntN(4)])
		} else {
			odd.send(minute, v)
		}
	}
	if odd.humps.steps != clean.humps.steps || odd.humps.mid-clean.humps.mid > 0.02 || ZoneJump(&odd.State) != 0 || odd.Broken() != 0 {
		t.Errorf("steps %v and %v K, in the middle %v and %v °C, jump %v", odd.humps.steps, clean.humps.steps, odd.humps.mid, clean.humps.mid, ZoneJump(&odd.State))
	}
}
