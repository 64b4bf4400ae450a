package app

import (
	"context"
	"errors"

	"github.com/rimewatch/rimewatch/internal/cluster"
	"github.com/rimewatch/rimewatch/internal/store/postgres"
)

// heirInputs is how many inputs of a shard lie behind its oldest checkpoint before states
// are written, and behind its oldest unsealed reading before readings are sealed, unless
// many devices send: whoever takes the shard over reads so many, however heavy the load was.
const heirInputs = 100_000

// heir is an App that has read a shard which another node serves. It begins, and waits
// in that until the shard is its own.
type heir struct {
	app    *App
	store  *postgres.Store
	begun  chan error
	cancel context.CancelFunc // of its beginning
}

// follow reads a shard while the owner of a stream still serves it.
func (n *Node) follow(ctx context.Context, shard, stream, moved int64) (cluster.Heir, error) {
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
	h := &heir{app: a, store: s, begun: make(chan error, 1)}
	run, cancel := context.WithCancel(n.run)
	h.cancel = cancel
	go func() { h.begun <- a.begin(run) }() // whoever has the heir waits for it
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

// Serve implements cluster.Heir.
func (h *heir) Serve(context.Context) (cluster.Service, error) {
	h.store.Take()
	if err := <-h.begun; err != nil {
		h.cancel()
		return nil, errors.Join(err, h.app.Stop())
	}
	return h.app, nil
}

// Drop implements cluster.Heir.
func (h *heir) Drop() {
	h.cancel()
	<-h.begun //nolint:errcheck // it was broken off
	if err := h.app.Stop(); err != nil {
		h.app.log.Warn("drop a shard that was read ahead", "err", err)
	}
}
