package cluster

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/rimewatch/rimewatch/internal/store"
)

const (
	// followFor is how long a node that gives a shard away waits for its successor to have
	// read it, and goes on serving it.
	followFor = 3 * time.Second
	// followTries is how often a successor reads a shard, while what it reads changes.
	followTries = 3
	// successorKeeps is how long a successor keeps what it has read of a shard that it is not given.
	successorKeeps = 10 * time.Second
)

// Successor is a node's copy of a shard that another still serves.
type Successor interface {
	// Serve takes the shard, whose owner has let go of it, and serves it. It fails with
	// store.ErrMoved, and takes nothing, where the copy is valid no more.
	Serve(ctx context.Context) (Service, error)
	// Drop ends it instead.
	Drop()
}

// successor is a Successor on this node.
type successor struct {
	Successor
	stream int64 // of the owner
}

// announce has another node read a shard that it is to be given, while this one still
// serves it: then little is left to be read at the hand-over. It is only an optimisation.
func (n *Node) announce(shard int64, own *held, base string) {
	until := time.Now().Add(followFor)
	n.mu.Lock()
	if n.leaving { // others are announced at the same time
		until = n.leaveBy
	}
	n.mu.Unlock()
	ctx, cancel := context.WithDeadline(n.ctx, until)
	defer cancel()
	select {
	case n.announcing <- struct{}{}:
		defer func() { <-n.announcing }()
	case <-ctx.Done():
		return
	}
	own.service.Quiesce(time.Until(until) + readingEnd)
	for range followTries {
		begun, moved := time.Now(), own.service.Moved()
		q := url.Values{
			"shard": {strconv.FormatInt(shard, 10)}, "stream": {strconv.FormatInt(own.stream, 10)}, "moved": {strconv.FormatInt(moved, 10)},
		}
		_, read := n.call(ctx, http.MethodPost, base+pathFollow+"?"+q.Encode(), followFor)
		if !read || own.service.Moved() == moved || time.Until(until) < time.Since(begun) {
			return
		}
	}
}

// inherit reads a shard that this node is to be given, and answers when that is done.
func (n *Node) inherit(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	shard, err := strconv.ParseInt(q.Get("shard"), 10, 64)
	stream, err2 := strconv.ParseInt(q.Get("stream"), 10, 64)
	moved, err3 := strconv.ParseInt(q.Get("moved"), 10, 64)
	if err := errors.Join(err, err2, err3); err != nil || shard < 0 || shard >= n.cfg.Database.Shards() {
		http.Error(w, "this is no shard", http.StatusBadRequest)
		return
	}
	n.mu.Lock()
	busy := n.leaving || n.busy[shard] || n.held[shard] != nil || len(n.busy) >= opening
	if !busy {
		n.busy[shard] = true
		if x := n.successors[shard]; x != nil { // it changed while that was read
			delete(n.successors, shard)
			n.work.Go(x.Drop)
		}
	}
	n.mu.Unlock()
	if busy {
		http.Error(w, "the shard cannot be read now", http.StatusServiceUnavailable)
		return
	}
	h, err := n.cfg.Follow(r.Context(), shard, stream, moved)
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.busy, shard)
	if err != nil {
		n.log.Warn("a shard that is to be taken cannot be read ahead", "shard", shard, "err", err)
		n.Wake() // its owner may be gone
		http.Error(w, "the shard cannot be read now", http.StatusServiceUnavailable)
		return
	}
	x := &successor{h, stream}
	n.successors[shard] = x
	n.work.Go(func() { n.forget(shard, x) })
}

// forget drops the copy of a shard when it has not been given to this node.
func (n *Node) forget(shard int64, x *successor) {
	t := time.NewTimer(successorKeeps)
	defer t.Stop()
	select {
	case <-t.C:
	case <-n.ctx.Done():
	}
	n.mu.Lock()
	still := n.successors[shard] == x
	if still {
		delete(n.successors, shard)
	}
	n.mu.Unlock()
	if still {
		x.Drop()
	}
}

// open takes a shard from the owner of a stream: with what was read of it before, or as
// if nothing had been.
func (n *Node) open(shard, stream int64, x *successor) (s Service, ahead bool, err error) {
	if x != nil && x.stream != stream {
		x.Drop()
		x = nil
	}
	if x != nil {
		s, err = x.Serve(n.ctx)
		if !errors.Is(err, store.ErrMoved) {
			return s, true, err
		}
	}
	s, err = n.cfg.Open(n.ctx, shard, stream)
	return s, false, err
}
