package health_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/health"
	"pgregory.net/rapid"
)

// TestBacklogAfterALiveReading: a device was cut off, comes back with a live
// reading and then sends what it has kept.
func TestBacklogAfterALiveReading(t *testing.T) {
	for _, tc := range []struct {
		name    string
		backlog func(s *health.State, c *health.Config, from, to rimewatch.Time)
		want    [4]float64 // window, covered, in, strict, in minutes
	}{
		{"none", func(*health.State, *health.Config, rimewatch.Time, rimewatch.Time) {}, [4]float64{1440, 122, 122, 122}},
		{"within limits", func(s *health.State, c *health.Config, from, to rimewatch.Time) {
			feed(s, c, from, to, 3)
		}, [4]float64{1440, 360, 360, 360}},
		{"out for too long", func(s *health.State, c *health.Config, from, to rimewatch.Time) {
			feed(s, c, from, from+hour, 3)
			feed(s, c, from+hour, from+2*hour, 9)
			feed(s, c, from+2*hour, to, 3)
		}, [4]float64{1440, 360, 300, 300}},
		{"out and forgiven", func(s *health.State, c *health.Config, from, to rimewatch.Time) {
			feed(s, c, from, from+hour, 3)
			feed(s, c, from+hour, from+hour+40*minute, 9)
			feed(s, c, from+hour+40*minute, to, 3)
		}, [4]float64{1440, 360, 360, 320}},
		{"sent twice", func(s *health.State, c *health.Config, from, to rimewatch.Time) {
			feed(s, c, from, to, 3)
			feed(s, c, from, to, 3)
		}, [4]float64{1440, 360, 360, 360}},
		{"newest first counts nothing", func(s *health.State, c *health.Config, from, to rimewatch.Time) {
			for at := to - minute; at >= from; at -= minute {
				feed(s, c, at, at+1, 3)
			}
		}, [4]float64{1440, 122, 122, 122}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var s health.State
			c := cooler()
			feed(&s, c, noon, noon+hour, 3)
			feed(&s, c, noon+5*hour, noon+6*hour, 3)
			tc.backlog(&s, c, noon+hour, noon+5*hour)
			s.Observe(c, at(noon+6*hour, 3))
			got := minutes(s.Compliance(c, noon+6*hour, 0))
			// The last late reading is held for nothing, and where the gap
			// begins the last live one had been held already.
			for i, slack := range []float64{0, 2, 2, 2} {
				if d := got[i] - tc.want[i]; d > slack || d < -slack {
					t.Fatal(cmp.Diff(tc.want, got))
				}
			}
		})
	}
}

// TestLateProperties: whatever comes late, the sums stay sound and what runs
// now is not touched.
func TestLateProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, samples := drawHistory(t, 1)
		var s health.State
		for _, p := range samples {
			s.Observe(c, at(p.at, p.value))
		}
		last := samples[len(samples)-1].at
		before, open := s.Excursion()
		sum := s.Compliance(c, last, 0)
		for range rapid.IntRange(1, 200).Draw(t, "late") {
			when := last - rimewatch.Time(rapid.Int64Range(0, int64(30*hour)).Draw(t, "age"))
			for i := range rimewatch.Time(rapid.IntRange(1, 5).Draw(t, "run")) {
				r := at(min(when+i*minute, last), rapid.SampledFrom([]float64{3, 9, -2}).Draw(t, "value"))
				if e, ok := s.Observe(c, r); ok {
					t.Fatalf("a late reading ended %+v", e)
				}
			}
			got := s.Compliance(c, last, 0)
			if got.Covered < sum.Covered || got.Window != sum.Window || got.Covered > got.Window+4000 {
				t.Fatalf("%+v became %+v", sum, got)
			}
			if got.Strict > got.In || got.In > got.Covered || got.Strict < 0 {
				t.Fatalf("%+v", got)
			}
			sum = got
		}
		if after, stillOpen := s.Excursion(); after != before || open != stillOpen {
			t.Fatalf("the open excursion changed from %+v to %+v", before, after)
		}
	})
}
