package cluster

import (
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// TestLeave has a node leave in order: not one request fails, through that node or
// through another.
func TestLeave(t *testing.T) { synctest.Test(t, testLeave) }

func testLeave(t *testing.T) {
	b := newBook()
	x, y := join(t, b, "x", 0), join(t, b, "y", 0)
	settle(t, map[*rig]int{x: 2, y: 2})
	done := make(chan struct{})
	var asked sync.WaitGroup
	for workspace := range 2 * testShards {
		asked.Go(func() {
			for {
				if status, answer := []*rig{x, y}[workspace/testShards].ask(workspace, http.MethodPost, "body"); status != http.StatusOK {
					t.Errorf("workspace %d: %d %q", workspace, status, answer)
				}
				select {
				case <-done:
					return
				case <-time.After(time.Millisecond):
				}
			}
		})
	}
	y.Leave()
	if y.Ready() == nil {
		t.Error("a node that leaves says that it is ready")
	}
	close(done)
	asked.Wait()
	y.Stop()
	settle(t, map[*rig]int{x: 4})
	if y.Counts.Given.Load() != 2 || x.Counts.TakenOver.Load() != 0 {
		t.Errorf("%d given, %d taken over", y.Counts.Given.Load(), x.Counts.TakenOver.Load())
	}
}

// TestLeaveElsewhere asks a node for shards that one of the others hands over to the
// third: it hears of that before it looks by itself.
func TestLeaveElsewhere(t *testing.T) { synctest.Test(t, testLeaveElsewhere) }

func testLeaveElsewhere(t *testing.T) {
	b := newBook()
	x := join(t, b, "x", 0)
	settle(t, map[*rig]int{x: 4})
	y := join(t, b, "y", 0)
	settle(t, map[*rig]int{x: 2, y: 2})
	z := join(t, b, "z", 0)
	settle(t, map[*rig]int{x: 2, y: 1, z: 1})
	shard := 0
	y.Each(func(number int64, _ Service) { shard = int(number) })
	time.Sleep(lookEvery) // x has just looked
	go y.Leave()
	await(t, func() bool { return b.owner(shard) == "z" })
	begun := time.Now()
	if status, answer := x.ask(shard, http.MethodPost, "body"); status != http.StatusOK || !strings.HasPrefix(answer, "z ") {
		t.Errorf("%d %q", status, answer)
	}
	if took := time.Since(begun); took > lookEvery/5 {
		t.Errorf("it took %v", took)
	}
}

// TestLeaveRunning has a shard wait for the requests that change something, and for
// those that read for a while only.
func TestLeaveRunning(t *testing.T) { synctest.Test(t, testLeaveRunning) }

func testLeaveRunning(t *testing.T) {
	b := newBook()
	x := join(t, b, "x", 0)
	settle(t, map[*rig]int{x: 4})
	_, reads, _ := x.Local(0, http.MethodGet)
	_, writes, _ := x.Local(1, http.MethodPost)
	y := join(t, b, "y", 0)
	left := make(chan struct{})
	go func() {
		defer close(left)
		x.Leave()
	}()
	await(t, func() bool { held, _ := y.Held(); return held == 3 })
	b.mu.Lock()
	if h := b.holdings[1]; h.Node != "x" || !h.Open {
		t.Errorf("the shard of a request that changes something is with %s", h.Node)
	}
	b.mu.Unlock()
	writes()
	settle(t, map[*rig]int{y: 4})
	<-left
	reads()
}

// TestUnclosed: shards that are given away while the database takes no writes stay open
// in the name of the node that had them. They are served once it takes writes again.
func TestUnclosed(t *testing.T) { synctest.Test(t, testUnclosed) }

func testUnclosed(t *testing.T) {
	b := newBook()
	x := join(t, b, "x", 0)
	settle(t, map[*rig]int{x: testShards})
	set := func(readOnly bool) { b.mu.Lock(); defer b.mu.Unlock(); b.readOnly = readOnly }
	set(true)
	y := join(t, b, "y", 0)
	await(t, func() bool { shards, _ := x.Held(); return shards == testShards/2 })
	time.Sleep(patience)
	if shards, _ := y.Held(); shards != 0 {
		t.Fatalf("%d shards were opened in a database that is read-only", shards)
	}
	set(false)
	settle(t, map[*rig]int{x: testShards / 2, y: testShards / 2})
}
