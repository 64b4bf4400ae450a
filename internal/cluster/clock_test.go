package cluster

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rimewatch/rimewatch/internal/store"
)

// TestWrongClock has a node whose clock is wrong give its shards away.
func TestWrongClock(t *testing.T) { synctest.Test(t, testWrongClock) }

func testWrongClock(t *testing.T) {
	b := newBook()
	x, y := join(t, b, "x", 0), join(t, b, "y", time.Minute)
	for deadline := time.Now().Add(patience); y.Ready() == nil || !strings.Contains(y.Ready().Error(), "clock"); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("it is ready: %v", y.Ready())
		}
	}
	settle(t, map[*rig]int{x: 4})
	if offset := y.Counts.Offset.Load(); offset < 59_000 || offset > 61_000 {
		t.Errorf("the clock is %d ms ahead", offset)
	}
}

// TestWrongClockAtStart: a node whose clock is wrong when it starts takes no shard, not for
// a moment, until it is right.
func TestWrongClockAtStart(t *testing.T) { synctest.Test(t, testWrongClockAtStart) }

func testWrongClockAtStart(t *testing.T) {
	b := newBook()
	x := join(t, b, "x", 0)
	settle(t, map[*rig]int{x: 4})
	y := join(t, b, "y", time.Hour)
	if off := y.Now().Sub(b.now()); off.Abs() > clockSlack {
		t.Errorf("it stamps %v off", off)
	}
	time.Sleep(patience)
	if n := x.Counts.Given.Load() + y.Counts.Opened.Load(); n != 0 || y.Ready() == nil {
		t.Errorf("%d shards were given or taken, ready: %v", n, y.Ready())
	}
	y.ahead.Store(0)
	settle(t, map[*rig]int{x: 2, y: 2})
}

// TestStampOfAWrongClock: what a node stamps is by the database's clock, whether its own
// was wrong from the start or has stepped a moment ago.
func TestStampOfAWrongClock(t *testing.T) { synctest.Test(t, testStampOfAWrongClock) }

func testStampOfAWrongClock(t *testing.T) {
	b := newBook()
	x, y := join(t, b, "x", 0), join(t, b, "y", time.Hour)
	settle(t, map[*rig]int{x: 4})
	var came []store.Arrival
	x.Each(func(_ int64, s Service) { s.(*service).asked = func(a store.Arrival) { came = append(came, a) } })
	ask := func(what string) {
		came = came[:0]
		if status, answer := y.ask(1, http.MethodPost, ""); status != http.StatusOK {
			t.Fatalf("%s: %d %s", what, status, answer)
		}
		for _, a := range came {
			if off := a.At.Sub(b.now()); off.Abs() > clockSlack {
				t.Errorf("%s: stamped %v off", what, off)
			}
		}
	}
	ask("wrong from the start")
	y.ahead.Store(0)
	ask("set right")
	time.Sleep(patience)
	y.ahead.Store(int64(-time.Hour))
	ask("stepped")
	time.Sleep(patience)
	ask("wrong for long")
}
