package cluster

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

// TestLeftToAnother: a shard that one node cannot open is opened by another, and stays
// there; the node that cannot open it serves its other shards and tries once.
func TestLeftToAnother(t *testing.T) { synctest.Test(t, testLeftToAnother) }

func testLeftToAnother(t *testing.T) {
	b := newBook()
	x := join(t, b, "x", 0)
	settle(t, map[*rig]int{x: 4})
	y := join(t, b, "y", 0)
	settle(t, map[*rig]int{x: 2, y: 2})
	shard := -1
	for i := range testShards {
		if b.owner(i) == "y" {
			shard = i
		}
	}
	b.mu.Lock()
	b.broken[int64(shard)] = "x"
	b.mu.Unlock()
	z := join(t, b, "z", 0)
	settle(t, map[*rig]int{x: 2, y: 1, z: 1})
	if b.owner(shard) == "z" { // z gives way: the shard is to be with x or y
		z.Leave()
	} else {
		y.die()
	}
	begun := time.Now()
	for time.Since(begun) < time.Minute {
		time.Sleep(time.Second)
		for _, g := range []*rig{x, y, z} {
			if g.ctx.Err() == nil && !g.Leaving() && g.Ready() != nil {
				t.Fatalf("%s is not ready: %v", g.name, g.Ready())
			}
		}
	}
	if owner := b.owner(shard); owner == "x" || b.tries[int64(shard)] > 1 {
		t.Errorf("the shard is with %s after %d tries that failed", owner, b.tries[int64(shard)])
	}
	if status, answer := x.ask(shard, http.MethodPost, "body"); status != http.StatusOK {
		t.Errorf("%d %s", status, answer)
	}
}

// TestQuarantine: a shard that no node can open costs nobody anything: the nodes are ready
// and serve the others, it is tried three times and then once a minute, and its requests
// are refused at once. Once it can be opened it is served.
func TestQuarantine(t *testing.T) { synctest.Test(t, testQuarantine) }

func testQuarantine(t *testing.T) {
	b := newBook()
	b.broken[2] = ""
	x, y := join(t, b, "x", 0), join(t, b, "y", 0)
	await(t, func() bool { return x.Quarantined() == 1 && y.Quarantined() == 1 })
	tries := func() int { b.mu.Lock(); defer b.mu.Unlock(); return b.tries[2] }
	if n := tries(); n != mostFailures {
		t.Errorf("it was tried %d times", n)
	}
	time.Sleep(10 * quarantineFor)
	if n := tries(); n < mostFailures+9 || n > mostFailures+11 {
		t.Errorf("in ten minutes it was tried %d times", n)
	}
	for _, g := range []*rig{x, y} {
		if err := g.Ready(); err != nil {
			t.Errorf("%s: %v", g.name, err)
		}
		begun := time.Now()
		if status, answer := g.ask(2, http.MethodPost, "body"); status != http.StatusServiceUnavailable {
			t.Errorf("%s: %d %s", g.name, status, answer)
		}
		if took := time.Since(begun); took > 0 {
			t.Errorf("%s: a request waited %v", g.name, took)
		}
		for _, shard := range []int{0, 1, 3} {
			if status, answer := g.ask(shard, http.MethodPost, "body"); status != http.StatusOK {
				t.Errorf("shard %d through %s: %d %s", shard, g.name, status, answer)
			}
		}
	}
	b.mu.Lock()
	delete(b.broken, 2)
	b.mu.Unlock()
	time.Sleep(quarantineFor + 2*beatEvery)
	settle(t, map[*rig]int{x: 2, y: 2})
	if x.Quarantined()+y.Quarantined() != 0 {
		t.Error("it is served, and counts as one that cannot be")
	}
	// An old failure does not count when the shard is given away.
	x.Leave()
	settle(t, map[*rig]int{y: 4})
}
