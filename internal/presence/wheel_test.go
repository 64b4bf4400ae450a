package presence_test

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/presence"
	"pgregory.net/rapid"
)

const (
	tick = 256 // ms
	noon = rimewatch.Time(1_780_000_000_000)
)

// TestWheelProperties drives a wheel beside a plain map.
func TestWheelProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		now := rimewatch.Time(rapid.SampledFrom([]int64{0, 1, int64(noon), int64(rimewatch.MaxTime) - 1e9}).Draw(t, "start"))
		w := presence.NewWheel(now)
		model := map[int64]rimewatch.Time{}
		for range rapid.IntRange(1, 120).Draw(t, "steps") {
			id := rapid.Int64Range(-3, 40).Draw(t, "id") * rapid.SampledFrom([]int64{1, 1 << 40}).Draw(t, "spread")
			switch rapid.IntRange(0, 5).Draw(t, "op") {
			case 0:
				w.Remove(id)
				delete(model, id)
			case 1, 2, 3:
				reach := rapid.SampledFrom([]int64{1000, 20_000, 1_200_000, 1e9, 1e12}).Draw(t, "reach")
				at := now + rimewatch.Time(rapid.Int64Range(-reach/10, reach).Draw(t, "in"))
				w.Set(id, at)
				model[id] = at
			default:
				reach := rapid.SampledFrom([]int64{100, 1000, 100_000, 1e9, 1e12}).Draw(t, "jump")
				now += rimewatch.Time(rapid.Int64Range(0, reach).Draw(t, "by"))
				checkExpired(t, w, model, now, rapid.IntRange(1, 10).Draw(t, "most"))
			}
			if w.Len() != len(model) {
				t.Fatal("Len:", w.Len(), "want", len(model))
			}
		}
		for len(model) > 0 { // in the end everything is named
			now += 1e13
			checkExpired(t, w, model, now, 7)
		}
	})
}

func checkExpired(t *rapid.T, w *presence.Wheel, model map[int64]rimewatch.Time, now rimewatch.Time, most int) {
	ids := w.Expired(now, most)
	if len(ids) > most {
		t.Fatal("too many:", len(ids))
	}
	for _, id := range ids {
		at, ok := model[id]
		if !ok || at > now {
			t.Fatalf("%d named at %d, its deadline is %d %v", id, now, at, ok)
		}
		delete(model, id)
	}
	if len(ids) < most {
		for id, at := range model {
			if at <= now-tick {
				t.Fatalf("%d with deadline %d not named at %d", id, at, now)
			}
		}
	}
}

func TestWheelNamesInOrder(t *testing.T) {
	w := presence.NewWheel(noon)
	rnd := rand.New(rand.NewPCG(1, 2))
	want := make([]rimewatch.Time, 5000)
	for id := range want {
		want[id] = noon + rimewatch.Time(rnd.Int64N(3_600_000))
		w.Set(int64(id), want[id])
	}
	last, named := rimewatch.Time(0), 0
	for {
		ids := w.Expired(noon+rimewatch.Hour, 100)
		if len(ids) == 0 {
			break
		}
		for _, id := range ids {
			if want[id] < last-tick {
				t.Fatalf("%d comes %d ms after a later one", id, last-want[id])
			}
			last = max(last, want[id])
			named++
		}
	}
	if named != len(want) || w.Len() != 0 {
		t.Fatal(named, w.Len())
	}
}

// TestWheelClockGoesBack: nothing may be named early, and setting what was
// named again must not bring it back at once.
func TestWheelClockGoesBack(t *testing.T) {
	w := presence.NewWheel(noon)
	w.Expired(noon+rimewatch.Hour, 1)
	w.Set(1, noon+10_000)
	w.Set(2, noon+20_000)
	if ids := w.Expired(noon, 10); len(ids) != 0 {
		t.Fatal("named early:", ids)
	}
	if ids := w.Expired(noon+10_000, 10); !slices.Equal(ids, []int64{1}) {
		t.Fatal(ids)
	}
	if ids := w.Expired(noon+20_000, 10); !slices.Equal(ids, []int64{2}) {
		t.Fatal(ids)
	}
}

func fill(n int) *presence.Wheel {
	w := presence.NewWheel(noon)
	for id := range n {
		w.Set(int64(id), noon+rimewatch.Time(id%180_000))
	}
	return w
}

func TestWheelMemory(t *testing.T) {
	for _, n := range []int{100_000, 130_000, 200_000} {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		w := fill(n)
		runtime.GC()
		runtime.ReadMemStats(&after)
		bytes := float64(after.HeapAlloc-before.HeapAlloc) / float64(n)
		t.Logf("%d: %.1f bytes an entry", n, bytes)
		if bytes > 42 || w.Len() != n {
			t.Errorf("%d: %.1f bytes an entry", n, bytes)
		}
	}
}

func BenchmarkWheelMove(b *testing.B) {
	const n = 100_000
	w := fill(n)
	i := 0
	for b.Loop() {
		w.Set(int64(i*7919%n), noon+rimewatch.Time(i))
		i++
	}
}

func BenchmarkWheelExpire100k(b *testing.B) {
	for b.Loop() {
		b.StopTimer()
		w := fill(100_000)
		b.StartTimer()
		for len(w.Expired(noon+rimewatch.Hour, 2000)) > 0 {
		}
	}
}
