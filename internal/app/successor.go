package app

import (
	"context"
	"errors"

	"github.com/rimewatch/rimewatch/internal/cluster"
	"github.com/rimewatch/rimewatch/internal/store/postgres"
)

// successorInputs is how many inputs of a shard lie behind its oldest checkpoint before states
// are written, and behind its oldest unsealed reading before readings are sealed, unless
// many devices send: whoever takes the shard over reads so many, however heavy the load was.
const successorInputs = 100_000

// successor is an App that has read a shard which another node serves. It begins, and waits
// in that until the shard is its own.
type successor struct {
	app    *App
	store  *postgres.Store
	begun  chan error
	cancel context.CancelFunc // of its beginning
}

// follow reads a shard while the owner of a stream still serves it.
func (n *Node) follow(ctx context.Context, shard, stream, moved int64) (cluster.Successor, error) {
	defer n.reading()()
	a, cfg, err := n.appFor(ctx, shard)
	if err != nil {
		return nil, err
	}
	s, err := n.database.Follow(ctx, shard, stream, moved, cfg)
	if err != nil {
		return nil, errors.Join(err, a.Stop())
	}
	a.cfg.part.store.Store = s
	h := &successor{app: a, store: s, begun: make(chan error, 1)}
	run, cancel := context.WithCancel(n.run)
	h.cancel = cancel
	go func() { h.begun <- a.begin(run) }() // whoever has the successor waits for it
	select {
	case <-s.Followed():
		return h, nil
	case err := <-h.begun:
		cancel()
		return nil, errors.Join(err, a.Stop())
	case <-ctx.Done():
		h.Drop()
		return nil, ctx.Err()
	}
}

// Serve implements cluster.Successor.
func (h *successor) Serve(context.Context) (cluster.Service, error) {
	h.store.Take()
	if err := <-h.begun; err != nil {
		h.cancel()
		return nil, errors.Join(err, h.app.Stop())
	}
	return h.app, nil
}

// Drop implements cluster.Successor.
func (h *successor) Drop() {
	h.cancel()
	<-h.begun //nolint:errcheck // it was broken off
	if err := h.app.Stop(); err != nil {
		h.app.log.Warn("drop a shard that was read ahead", "err", err)
	}
}
