package cluster

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

// TestStall: the database answers nobody for a while. No shard changes hands, whichever node
// is heard of first afterwards, and requests are answered again at once. A node that died
// meanwhile is noticed all the same.
func TestStall(t *testing.T) { synctest.Test(t, testStall) }

func testStall(t *testing.T) {
	b := newBook()
	x := join(t, b, "x", 0)
	settle(t, map[*rig]int{x: 4})
	y := join(t, b, "y", 0)
	settle(t, map[*rig]int{x: 2, y: 2})
	z := join(t, b, "z", 0)
	settle(t, map[*rig]int{x: 2, y: 1, z: 1})
	for _, stall := range []time.Duration{mostPause, 2500 * time.Millisecond, 8 * time.Second, time.Minute} {
		time.Sleep(patience) // as if nothing had been
		before := b.streams()
		end := b.stall()
		time.Sleep(stall)
		end()
		time.Sleep(2 * time.Second)
		for shard := range testShards {
			if status, answer := x.ask(shard, http.MethodPost, "body"); status != http.StatusOK {
				t.Errorf("shard %d, 2 s after a stall of %v: %d %s", shard, stall, status, answer)
			}
		}
		time.Sleep(patience)
		if after := b.streams(); after != before {
			t.Errorf("after a stall of %v the streams are %v, not %v", stall, after, before)
		}
	}
	end := b.stall()
	z.end() // its listener goes on, as that of a machine that is frozen
	time.Sleep(8 * time.Second)
	end()
	settle(t, map[*rig]int{x: 2, y: 2})
}

// TestReadOnlyStall: a database that can be read and takes no beats buries nobody either.
func TestReadOnlyStall(t *testing.T) { synctest.Test(t, testReadOnlyStall) }

func testReadOnlyStall(t *testing.T) {
	b := newBook()
	x, y := join(t, b, "x", 0), join(t, b, "y", 0)
	settle(t, map[*rig]int{x: 2, y: 2})
	time.Sleep(patience)
	before := b.streams()
	b.mu.Lock()
	b.deaf = true
	b.mu.Unlock()
	time.Sleep(8 * time.Second)
	b.mu.Lock()
	b.deaf = false
	b.mu.Unlock()
	time.Sleep(patience)
	if after := b.streams(); after != before {
		t.Errorf("the streams are %v, not %v", after, before)
	}
}
