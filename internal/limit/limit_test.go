package limit

import (
	"testing"
	"time"

	"github.com/rimewatch/rimewatch"
)

func TestTake(t *testing.T) {
	l := ByKey(PerMinute(60, 10))
	now := rimewatch.Time(1_795_176_000_000)
	for i := range 10 {
		if left, wait := l.Take(1, now); left != 9-i || wait != 0 {
			t.Fatalf("%d: %d left, wait %v", i, left, wait)
		}
	}
	if _, wait := l.Take(1, now); wait != time.Second {
		t.Errorf("wait %v", wait)
	}
	if left, wait := l.Take(2, now); left != 9 || wait != 0 {
		t.Error("keys share a bucket")
	}
	if _, wait := l.Take(1, now+999); wait != time.Millisecond {
		t.Errorf("wait %v", wait)
	}
	if _, wait := l.Take(1, now+1000); wait != 0 {
		t.Error("nothing came back")
	}
	if left, _ := l.Take(1, now+rimewatch.Hour); left != 9 {
		t.Errorf("%d left after an hour", left)
	}
	if left, _ := l.Take(1, now); left < 0 || left > 9 {
		t.Errorf("%d left after the clock went back", left)
	}
	for key := range int64(1_000_000) { // each used once, one a millisecond
		l.Take(key, now+rimewatch.Hour+rimewatch.Time(key))
	}
	n := 0
	for i := range l.shards {
		n += len(l.shards[i].buckets)
	}
	if n > 16*2*minSweep {
		t.Errorf("%d entries are remembered", n)
	}
	off := ByKey(PerMinute(0, 10))
	for range 100 {
		if _, wait := off.Take(1, now); wait != 0 {
			t.Fatal("a limit of 0 limits")
		}
	}
}

func TestGate(t *testing.T) {
	var g Gate
	now := rimewatch.Time(1_795_176_000_000)
	for _, c := range []struct {
		by   rimewatch.Time
		ok   bool
		held int
	}{
		{0, true, 0}, {0, false, 0}, {59_999, false, 0}, {1, true, 2}, {60_000, true, 0},
		{1, false, 0}, {-rimewatch.Hour, true, 1}, {1, false, 0}, // the clock was set back
	} {
		now += c.by
		if held, ok := g.Pass(now, time.Minute); ok != c.ok || held != c.held {
			t.Errorf("after %d ms: %v, %d held back", c.by, ok, held)
		}
	}
}
