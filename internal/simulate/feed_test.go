package simulate

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rimewatch/rimewatch"
)

func arrivalsOf(t *testing.T, n Network, seed uint64, count int) []rimewatch.Reading {
	t.Helper()
	f := NewFeed(mustNew(t, Config{Equipment: "vaccine_refrigerator", Seed: seed, Site: Site{Seed: 77}, Step: 10 * time.Second}), n)
	var all []rimewatch.Reading
	for range count {
		due := f.NextAt()
		r, ok := f.Next()
		if !ok || r.ReceivedAt != due {
			t.Fatalf("arrived %v at %v, was due at %v", ok, r.ReceivedAt, due)
		}
		if len(all) > 0 && r.ReceivedAt < all[len(all)-1].ReceivedAt {
			t.Fatalf("%v arrives after %v", r.ReceivedAt, all[len(all)-1].ReceivedAt)
		}
		all = append(all, r)
	}
	return all
}

func TestPerfectNetwork(t *testing.T) {
	got := arrivalsOf(t, Network{}, 1, 500)
	want := mustNew(t, Config{Equipment: "vaccine_refrigerator", Seed: 1, Site: Site{Seed: 77}, Step: 10 * time.Second}).History(testStart + 499*rimewatch.Minute)
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestNetworkLosesAndDoubles(t *testing.T) {
	all := arrivalsOf(t, Network{Missing: 0.05, Duplicate: 0.03, Latency: time.Second}, 2, 10000)
	times := map[rimewatch.Time]int{}
	for _, r := range all {
		times[r.At]++
	}
	doubled := len(all) - len(times)
	span := int((all[len(all)-1].At-all[0].At)/rimewatch.Minute) + 1
	missing := span - len(times)
	if doubled < 230 || doubled > 370 || missing < 430 || missing > 640 {
		t.Errorf("of %d readings %d are missing and %d doubled, want about 5 and 3 %%", span, missing, doubled)
	}
}

// During an outage of the gateway nothing arrives from any unit of the site;
// afterwards what was kept comes, out of order, within the time to catch up.
func TestOutage(t *testing.T) {
	n := Network{OutagesADay: 1, OutageMean: 40 * time.Minute, Buffer: 30 * time.Minute, CatchUp: 10 * time.Minute}
	a, b := arrivalsOf(t, n, 3, 12000), arrivalsOf(t, n, 4, 12000)
	disorder, late := 0, rimewatch.Time(0)
	silences := map[rimewatch.Time]bool{}
	newest := a[0].At
	for i := 1; i < len(a); i++ {
		if a[i].At < newest {
			disorder++
		}
		newest = max(newest, a[i].At)
		late = max(late, a[i].ReceivedAt-a[i].At)
		if a[i].ReceivedAt-a[i-1].ReceivedAt > 10*rimewatch.Minute {
			silences[a[i-1].ReceivedAt/rimewatch.Minute] = true
		}
	}
	span := int((newest-a[0].At)/rimewatch.Minute) + 1
	lost := span - len(a)
	if disorder == 0 || lost < 20 || late > 40*rimewatch.Minute || len(silences) < 5 {
		t.Errorf("%d out of order, %d lost, latest by %v, %d silences", disorder, lost, time.Duration(late)*time.Millisecond, len(silences))
	}
	for i := 1; i < len(b); i++ {
		if from := b[i-1].ReceivedAt; b[i].ReceivedAt-from > 12*rimewatch.Minute && b[i].ReceivedAt < a[len(a)-1].ReceivedAt {
			if !silences[from/rimewatch.Minute] && !silences[from/rimewatch.Minute-1] && !silences[from/rimewatch.Minute+1] {
				t.Errorf("unit 4 is silent from %v, unit 3 is not", from)
			}
		}
	}
}

func TestClockSkew(t *testing.T) {
	all := arrivalsOf(t, Network{Skew: -90 * time.Second, SkewADay: time.Minute}, 5, 1441)
	if first := all[0].ReceivedAt - all[0].At; first != 90*rimewatch.Second {
		t.Errorf("clock is %v behind at first", first)
	}
	if last := all[1440].ReceivedAt - all[1440].At; last != 30*rimewatch.Second {
		t.Errorf("clock is %v behind after a day", last)
	}
	f := NewFeed(mustNew(t, Config{Equipment: "walkin_cooler", Seed: 1}), Network{Missing: 1})
	if _, ok := f.Next(); ok || f.NextAt() != rimewatch.MaxTime {
		t.Error("something arrives from a dead network")
	}
}
