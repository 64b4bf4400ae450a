package health_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/health"
	"pgregory.net/rapid"
)

// TestLateIsNoted: a late reading changes nothing but what is noted of it.
func TestLateIsNoted(t *testing.T) {
	var s health.State
	c := cooler()
	feed(&s, c, noon, noon+hour, 3)
	before := s.Compliance(c, noon+hour, 0)
	for i, age := range []rimewatch.Time{20, 5, 40} {
		if list := s.Observe(c, at(noon+hour-age*minute-1, 9)); len(list) > 0 {
			t.Errorf("it ended %+v", list)
		}
		if n := s.Late().Count; n != uint32(i)+1 || !s.HasLate() {
			t.Errorf("%d are late, want %d", n, i+1)
		}
	}
	want := health.Late{From: noon + 20*minute - 1, To: noon + 55*minute - 1, Count: 3}
	if got := s.Late(); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got := s.Compliance(c, noon+hour, 0); got != before {
		t.Errorf("compliance went from %+v to %+v", before, got)
	}
	seen := s.Late()
	if done := s.Checked(seen); done.HasLate() || done.Late().Count != 3 {
		t.Errorf("%+v is left of what was judged", done.Late())
	}
	s.Observe(c, at(noon+30*minute+1, 9))
	if left := s.Checked(seen); left.Late().From != want.From || left.Late().To != want.To {
		t.Errorf("%+v is left although one more came", left.Late())
	}
}

// TestMomentOfANewerOne: the readings of a clock that is ahead count as of their arrival;
// the last of those that arrive together is what holds from then on.
func TestMomentOfANewerOne(t *testing.T) {
	var s health.State
	c := cooler()
	feed(&s, c, noon, noon+hour, 3)
	s.Observe(c, at(noon+hour, 3))
	s.Observe(c, at(noon+hour, 9))
	if s.HasLate() || s.Since() != noon+hour {
		t.Errorf("it is out of limits since %v, want %v; late: %v", s.Since(), noon+hour, s.HasLate())
	}
}

// TestRejudged: in whatever order readings come, what is known after they were judged
// once more is what is known of a device that sent them in order.
func TestRejudged(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, samples := drawHistory(t, 2*second)
		last := samples[len(samples)-1].at
		var want, live health.State
		var found []health.Excursion
		for _, p := range samples {
			found = append(found, observe(&want, c, &p)...)
		}
		want.Note(health.Vibration, 0.5, last)
		live.Note(health.Vibration, 0.5, last)
		for _, p := range rapid.Permutation(samples).Draw(t, "arrival") {
			live.Observe(c, at(p.at, p.value))
		}
		if !live.HasLate() {
			return
		}
		from := c.Days.Begin(min(live.Late().From, health.WindowFrom(last)))
		var calm health.Calm
		n, _ := slices.BinarySearchFunc(samples, from, func(p sample, at rimewatch.Time) int { return int(p.at - at) })
		for n--; n >= 0 && !calm.Before(c, samples[n].at, samples[n].value); n-- {
		}
		var judged health.State
		var again []health.Excursion
		for _, p := range samples[max(n, 0):] {
			again = append(again, observe(&judged, c, &p)...)
		}
		got := live.Rejudged(&judged, live.Late())
		if got.HasLate() {
			t.Fatal("there is something left to be judged")
		}
		found = slices.DeleteFunc(found, func(e health.Excursion) bool { return e.End < from })
		again = slices.DeleteFunc(again, func(e health.Excursion) bool { return e.End < from })
		if d := cmp.Diff(found, again, cmpopts.EquateApprox(1e-4, 0.02), cmpopts.EquateEmpty()); d != "" {
			t.Fatal("excursions:", d)
		}
		today, over := got.Day()
		wasToday, wasOver := want.Day()
		if d := cmp.Diff(wasToday, today, cmpopts.EquateApprox(1e-4, 0.02)); d != "" || over != wasOver {
			t.Fatal("the short runs of the day:", d)
		}
		is, lasts := got.Excursion()
		was, lasted := want.Excursion()
		if d := cmp.Diff(was, is, cmpopts.EquateApprox(1e-4, 0.02)); d != "" || lasts != lasted {
			t.Fatal("the one that lasts:", d)
		}
		now := last + minute*rimewatch.Time(rapid.IntRange(0, 300).Draw(t, "later"))
		a, b := want.Compliance(c, now, 0), got.Compliance(c, now, 0)
		slack := int64(2000 * (1 + len(found)))
		if a.Window != b.Window || max(a.Covered-b.Covered, b.Covered-a.Covered, a.In-b.In, b.In-a.In, a.Strict-b.Strict, b.Strict-a.Strict) > slack {
			t.Fatalf("compliance: want %+v, got %+v", a, b)
		}
		at := health.Circumstances{Now: now}
		if x, y := want.Score(&at), got.Score(&at); x != y {
			t.Fatalf("the score is %v, want %v", y, x)
		}
	})
}
