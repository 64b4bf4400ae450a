package cluster

import (
	"context"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rimewatch/rimewatch/internal/store"
)

// testHeir is of a shard that another node serves.
type testHeir struct {
	v                    viewOf
	g                    *rig
	shard, stream, moved int64
	served, dropped      atomic.Bool
}

func (g *rig) follow(ctx context.Context, shard, stream, moved int64) (Successor, error) {
	h := &testHeir{v: g.cfg.Database.(viewOf), g: g, shard: shard, stream: stream, moved: moved}
	if g.mayFollow != nil {
		select {
		case <-g.mayFollow:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	if g.successors != nil {
		g.successors <- h
	}
	return h, nil
}

func (h *testHeir) Serve(context.Context) (Service, error) {
	h.v.mu.Lock()
	moved, closed := h.v.closed[h.shard]
	open := h.v.holdings[h.shard].Open
	h.v.mu.Unlock()
	if open || !closed || moved != h.moved {
		h.dropped.Store(true)
		return nil, store.ErrMoved
	}
	if err := h.v.take(h.shard, h.stream); err != nil {
		return nil, err
	}
	h.served.Store(true)
	return &service{v: h.v, shard: h.shard, stream: h.stream + 1, failed: make(chan error, 1), asked: h.g.asked}, nil
}

func (h *testHeir) Drop() { h.dropped.Store(true) }

// twoNodes are nodes that serve two shards each.
func twoNodes(t *testing.T) (x, y *rig) {
	t.Helper()
	b := newBook()
	x, y = join(t, b, "x", 0), join(t, b, "y", 0)
	settle(t, map[*rig]int{x: 2, y: 2})
	return x, y
}

// TestHeir: a node that leaves goes on serving its shards until whoever is to have them
// has read them.
func TestHeir(t *testing.T) { synctest.Test(t, testHeirReads) }

func testHeirReads(t *testing.T) {
	x, y := twoNodes(t)
	x.successors, x.mayFollow = make(chan *testHeir, testShards), make(chan struct{})
	go y.Leave()
	time.Sleep(followFor / 2)
	for shard := range testShards {
		if status, answer := x.ask(shard, http.MethodPost, "body"); status != http.StatusOK {
			t.Errorf("shard %d: %d %q", shard, status, answer)
		}
	}
	y.Each(func(shard int64, s Service) {
		if s.(*service).still.Load() <= int64(followFor) {
			t.Errorf("shard %d may move while it is read", shard)
		}
	})
	if shards, _ := y.Held(); shards != 2 {
		t.Errorf("%d shards are left before they are read", shards)
	}
	close(x.mayFollow)
	settle(t, map[*rig]int{x: 4})
	for range 2 {
		if h := <-x.successors; !h.served.Load() {
			t.Errorf("shard %d was read for nothing", h.shard)
		}
	}
}

// TestHeirMoved: what changes while a successor reads it is read again, and once more; what
// a successor has read then and holds no more, it does not serve.
func TestHeirMoved(t *testing.T) {
	for changes := 1; changes <= followTries; changes++ {
		t.Run(fmt.Sprint(changes), func(t *testing.T) { synctest.Test(t, func(t *testing.T) { testHeirMoved(t, changes) }) })
	}
}

func testHeirMoved(t *testing.T, changes int) {
	x, y := twoNodes(t)
	x.successors, x.mayFollow = make(chan *testHeir, 2*followTries), make(chan struct{})
	go y.Leave()
	for range changes {
		time.Sleep(followFor / 10)
		y.Each(func(_ int64, s Service) { s.(*service).moved.Add(1) })
		for range 2 {
			x.mayFollow <- struct{}{}
		}
	}
	close(x.mayFollow)
	settle(t, map[*rig]int{x: 4})
	close(x.successors)
	served, read := 0, 0
	for h := range x.successors {
		read++
		if h.served.Load() {
			served++
		}
		if h.served.Load() == h.dropped.Load() {
			t.Errorf("what was read of shard %d is served: %v, dropped: %v", h.shard, h.served.Load(), h.dropped.Load())
		}
	}
	want := 2 // shards by what was read ahead
	if changes == followTries {
		want = 0
	}
	if served != want || read != 2*min(changes+1, followTries) {
		t.Errorf("%d shards are served by what was read ahead, %d were read", served, read)
	}
}

// TestHeirSlow: nobody is waited for for ever.
func TestHeirSlow(t *testing.T) { synctest.Test(t, testHeirSlow) }

func testHeirSlow(t *testing.T) {
	x, y := twoNodes(t)
	x.mayFollow = make(chan struct{}) // never
	begun := time.Now()
	go y.Leave()
	settle(t, map[*rig]int{x: 4})
	if took := time.Since(begun); took > patience+followFor {
		t.Errorf("it takes %v", took)
	}
}

// TestHeirKept: what was read of a shard that never comes is dropped.
func TestHeirKept(t *testing.T) { synctest.Test(t, testHeirKept) }

func testHeirKept(t *testing.T) {
	x, y := twoNodes(t)
	x.successors = make(chan *testHeir, testShards)
	for shard, own := range y.held {
		y.announce(shard, own, x.inner.url)
		break
	}
	h := <-x.successors
	time.Sleep(successorKeeps - time.Second)
	if h.dropped.Load() {
		t.Error("it is dropped at once")
	}
	time.Sleep(2 * time.Second)
	if !h.dropped.Load() || h.served.Load() {
		t.Error("it is kept for ever")
	}
}

// TestHeirOfTheDead: the owner dies while it is waited for what it gives away, and its
// shards are served like those of any node that dies.
func TestHeirOfTheDead(t *testing.T) { synctest.Test(t, testHeirOfTheDead) }

func testHeirOfTheDead(t *testing.T) {
	x, y := twoNodes(t)
	x.mayFollow = make(chan struct{}) // never
	go y.Leave()
	time.Sleep(followFor / 2)
	begun := time.Now()
	y.die()
	settle(t, map[*rig]int{x: 4})
	if took := time.Since(begun); took >= time.Second {
		t.Errorf("it takes %v", took)
	}
}
