package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/rimewatch/rimewatch/internal/store"
)

// following is how a store reads a shard that another node still serves.
type following struct {
	stream int64         // of that node
	moved  int64         // its Moved, before anything was read
	there  chan struct{} // closed when all has been read that there is
	taken  chan struct{} // closed when that node has let go
}

// errFollows is of a write to a shard that is another node's.
var errFollows = errors.New("the shard is another node's still")

// Follow reads a shard while the owner of a stream still serves it, which has Moved so
// much before. Nothing can be written before Take. Recover reads what there is, and Join
// waits for Take: the stream is this node's when that returns nil. Join fails with
// store.ErrMoved, and takes nothing, unless the owner let go of the shard in order, and
// did nothing meanwhile but add to the log.
func (db *Database) Follow(ctx context.Context, shard, stream, moved int64, cfg Config) (*Store, error) {
	d := db.shard(shard, cfg)
	d.follows = &following{stream: stream, moved: moved, there: make(chan struct{}), taken: make(chan struct{})}
	// Devices are looked for up to where ids can have been given out.
	err := d.with(ctx, d.reads, func(c *pgx.Conn) error {
		return c.QueryRow(ctx, "SELECT (last_value + 1) * $1 FROM device_block", int64(deviceBlock)).Scan(&d.first.DeviceID)
	})
	if err != nil {
		return nil, fmt.Errorf("follow shard %d: %w", shard, explain(err))
	}
	return load(ctx, d)
}

// Followed is closed when all that there is has been read of a shard that Follow reads.
func (s *Store) Followed() <-chan struct{} { return s.disk.follows.there }

// Take lets the shard that Follow reads be taken: its owner has let go of it.
func (s *Store) Take() { close(s.disk.follows.taken) }

// join waits until the shard can be taken, and takes it.
func (d *disk) join(ctx context.Context) error {
	close(d.follows.there)
	select {
	case <-d.follows.taken:
	case <-d.closing.Done():
		return context.Canceled
	case <-ctx.Done():
		return ctx.Err()
	}
	if err := d.take(ctx, d.follows.stream); err != nil {
		return d.untaken(err)
	}
	return nil
}

// unmoved reports whether nothing has changed that Follow has read, but for what the log
// shows. It is asked when the owner's writes have ended: what he wrote last says so.
func (x *following) unmoved(ctx context.Context, tx pgx.Tx, shard int64) error {
	var change int64
	err := tx.QueryRow(ctx, "SELECT change FROM stream WHERE shard = $1 AND id = $2", shard, x.stream).Scan(&change)
	if err == nil && change != closedAfter(x.moved) {
		err = store.ErrMoved
	}
	return err
}

// closedAfter is what a stream has for the number of its last change once it was closed
// in order by somebody who has Moved so much.
func closedAfter(moved int64) int64 { return -1 - moved }
