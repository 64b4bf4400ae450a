package unit

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/rimewatch/rimewatch"
	_ "github.com/rimewatch/rimewatch/internal/trial"
)

// zoneFeed plays temperatures of a zone, one a minute, and nothing else.
type zoneFeed struct {
	s  State
	at rimewatch.Time
	c  Config
}

func newZoneFeed() *zoneFeed {
	return &zoneFeed{at: rimewatch.TimeOf(time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC))}
}

func (z *zoneFeed) value(v float64) {
	z.at += minute
	r := rimewatch.Reading{At: z.at, ReceivedAt: z.at}
	r.Set(rimewatch.ProductZoneTemp, math.Round(10*v)/10)
	var o Observation
	z.s.Observe(&z.c, &r, z.at, 0, &o)
}

// cycle plays a thermostat around −20 °C.
func (z *zoneFeed) cycle(minutes int) {
	for k := range minutes {
		z.value(-20 + 0.8*math.Sin(float64(k)/4))
	}
}

// hump plays a warm spell: up for a while, a plateau, down.
func (z *zoneFeed) hump(height float64, up, stay, down int) {
	for k := range up {
		z.value(-20 + height*float64(k)/float64(up))
	}
	for range stay {
		z.value(-20 + height)
	}
	for k := range down {
		z.value(-20 + height*(1-float64(k)/float64(down)))
	}
}

// TestDefrostsByShape: humps that come back are recognised from the third on,
// whenever they come: every six hours, every 41 hours, or at odd times.
func TestDefrostsByShape(t *testing.T) {
	for name, pauses := range map[string][]int{
		"every six hours": {300, 300, 300, 300, 300},
		"by run time":     {2400, 2450, 2380, 2420, 2400},
		"at odd times":    {200, 900, 2000, 450, 1300},
	} {
		z := newZoneFeed()
		z.cycle(600)
		for k, pause := range pauses {
			z.hump(10, 20, 8, 25)
			known := z.s.KnowsDefrosts()
			if want := k >= 1; known != want {
				t.Errorf("%s: after hump %d known %v, want %v", name, k+1, known, want)
			}
			z.cycle(pause)
			if k < 2 {
				continue
			}
		}
		z.hump(10, 20, 0, 0)
		d, ok := z.s.Defrost()
		if !ok {
			t.Errorf("%s: a hump like five before it is not recognised on its way up", name)
			continue
		}
		if back := float64(d.Back-d.Since) / float64(minute); back < 40 || back > 60 {
			t.Errorf("%s: back after %.0f min, want about 50", name, back)
		}
		if d.Latest > d.Since+100*minute || d.Latest <= d.Back {
			t.Errorf("%s: at the latest after %v", name, d.Latest.Sub(d.Since))
		}
	}
}

// TestFailuresAreNoDefrosts: what begins like a defrost and goes on otherwise is
// not taken for one any more.
func TestFailuresAreNoDefrosts(t *testing.T) {
	taught := func() *zoneFeed {
		z := newZoneFeed()
		z.cycle(600)
		for range 5 {
			z.hump(10, 20, 8, 25)
			z.cycle(300)
		}
		return z
	}
	for name, c := range map[string]struct {
		play    func(z *zoneFeed)
		minutes int // after the begin, by which it is no defrost any more
	}{
		"it stays warm":   {func(z *zoneFeed) { z.value(-10) }, 50},
		"it warms on":     {func(z *zoneFeed) { z.value(float64(z.s.humps.prev) + 0.5) }, 30},
		"it falls slowly": {func(z *zoneFeed) { z.value(float64(z.s.humps.prev) - 0.1) }, 75},
	} {
		z := taught()
		z.hump(10, 20, 0, 0)
		if _, ok := z.s.Defrost(); !ok {
			t.Fatalf("%s: not recognised at first", name)
		}
		for k := 20; ; k++ {
			c.play(z)
			if _, ok := z.s.Defrost(); !ok {
				if k > c.minutes {
					t.Errorf("%s: a defrost until minute %d, want at most %d", name, k, c.minutes)
				}
				break
			}
			if k > 200 {
				t.Errorf("%s: a defrost for ever", name)
				break
			}
		}
	}
}

// TestIrregularRoomsAreNotTrusted: humps of any size and length teach no kind.
func TestIrregularRoomsAreNotTrusted(t *testing.T) {
	z := newZoneFeed()
	z.cycle(600)
	for k := range 12 {
		z.hump([]float64{3, 9, 5, 15}[k%4], []int{3, 70, 15, 40}[k%4], []int{0, 45, 3, 120}[(k/2)%4], []int{200, 8, 60, 25}[(k/3)%4])
		z.cycle(100 + 217*k%300)
	}
	z.hump(7, 10, 0, 0)
	if d, ok := z.s.Defrost(); ok {
		t.Errorf("recognised after %d humps that have nothing in common", d.Known)
	}
}

// TestMovedProbe: a step between two readings that no zone makes is not learnt as
// a defrost.
func TestMovedProbe(t *testing.T) {
	z := newZoneFeed()
	z.cycle(600)
	for range 4 {
		z.hump(10, 20, 8, 25)
		z.cycle(300)
	}
	n := z.s.humps.kinds[0].n
	z.value(5)
	for k := range 20 {
		z.value(5 - float64(k))
	}
	z.cycle(200)
	if z.s.humps.kinds[0].n > n {
		t.Errorf("a pulled probe taught a kind of defrost")
	}
	if !z.s.humps.movedAt.Set() {
		t.Errorf("a step of 25 K was not noticed")
	}
}

// TestHumpsKeepTheirBounds: whatever the zone does, what is stated lies after the
// begin, at most by the length of a hump, and the state survives its encoding.
func TestHumpsKeepTheirBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		z := newZoneFeed()
		v := -20.0
		for range rapid.IntRange(1, 60).Draw(t, "pieces") {
			to := rapid.Float64Range(-30, 20).Draw(t, "to")
			length := rapid.IntRange(1, 120).Draw(t, "length")
			if rapid.IntRange(0, 9).Draw(t, "gap") == 0 {
				z.at += rimewatch.Time(rapid.IntRange(1, 600).Draw(t, "silence")) * minute
			}
			for k := range length {
				z.value(v + (to-v)*float64(k+1)/float64(length))
				if d, ok := z.s.Defrost(); ok && (d.Latest <= d.Since || d.Latest > d.Since+6*hour || d.Back > d.Latest+minute) {
					t.Fatalf("since %v, back %v, at the latest %v", d.Since, d.Back, d.Latest)
				}
			}
			v = to
		}
		var copied State
		b := z.s.AppendBinary(nil)
		if _, err := copied.DecodeBinary(b); err != nil || copied != z.s {
			t.Fatalf("the state did not survive its encoding: %v", err)
		}
	})
}
