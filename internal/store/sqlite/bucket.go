package sqlite

import (
	"context"
	"fmt"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/store/chunk"
	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// Buckets implements store.History.
func (s *Store) Buckets(ctx context.Context, q store.BucketQuery) ([]store.Bucket, error) {
	b, err := chunk.NewBuckets(q.From, q.To, q.Step, q.Fields)
	if err != nil {
		return nil, rimewatch.Invalid("step", "%s", err)
	}
	head := s.headRows(q.DeviceID, q.From, q.To)
	err = s.read(ctx, func(conn *sqlite.Conn) error {
		end, err := snapshotOf(conn)
		if err != nil {
			return err
		}
		defer end()
		if q.Step%rimewatch.Hour == 0 {
			if err := addRollups(conn, b, q); err != nil {
				return err
			}
		}
		list, err := spans(conn, q.DeviceID, q.From, q.To)
		if err != nil {
			return err
		}
		var scratch chunk.Scratch
		for _, g := range clusters(list) {
			if err := ctx.Err(); err != nil {
				return err
			}
			if head, err = addCluster(conn, b, q.DeviceID, g, head, &scratch); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for i := range head {
		b.AddReading(&head[i])
	}
	return bucketList(b, q.Fields), nil
}

// addCluster takes in overlapping chunks. What of the head lies among them may
// be in them already: it is merged, and the rest of the head given back.
func addCluster(conn *sqlite.Conn, b *chunk.Buckets, deviceID int64, g []span, head []rimewatch.Reading, scratch *chunk.Scratch) ([]rimewatch.Reading, error) {
	from, to := g[0].from, g[0].to
	for _, sp := range g {
		to = max(to, sp.to)
	}
	var near, rest []rimewatch.Reading
	for i := range head {
		if head[i].At >= from && head[i].At <= to {
			near = append(near, head[i])
		} else {
			rest = append(rest, head[i])
		}
	}
	if len(near) == 0 {
		rest = head
	}
	if len(g) == 1 && len(near) == 0 {
		return rest, addChunk(conn, b, deviceID, g[0], scratch)
	}
	rs, err := decodeCluster(conn, g)
	if err != nil {
		return nil, err
	}
	for _, r := range chunk.Merge(nil, rs, near) {
		b.AddReading(&r)
	}
	return rest, nil
}

// addChunk takes in one chunk, by its summary where that is enough.
func addChunk(conn *sqlite.Conn, b *chunk.Buckets, deviceID int64, sp span, scratch *chunk.Scratch) error {
	whole := false
	err := sqlitex.Execute(conn, "SELECT summary FROM reading_chunk WHERE device_id = ? AND to_at = ? AND young = ? AND segment = ?", &sqlitex.ExecOptions{
		Args: []any{deviceID, int64(sp.to), sp.young, sp.id},
		ResultFunc: func(stmt *sqlite.Stmt) error {
			buf := make([]byte, stmt.ColumnLen(0))
			stmt.ColumnBytes(0, buf)
			summary, _, err := chunk.DecodeSummary(buf)
			if err != nil {
				return fmt.Errorf("chunk %d: %w", sp.id, err)
			}
			whole = b.AddSummary(&summary)
			return nil
		},
	})
	if err != nil || whole {
		return err
	}
	c, err := openChunk(conn, sp, nil)
	if err != nil {
		return err
	}
	return b.AddChunk(c, scratch)
}

func bucketList(b *chunk.Buckets, fields rimewatch.Fields) []store.Bucket {
	out := make([]store.Bucket, 0, b.Len())
	for i := range b.Len() {
		if b.Count(i) == 0 {
			continue
		}
		bucket := store.Bucket{At: b.At(i), Count: b.Count(i), Defrost: b.Defrost(i)}
		for f := range fields.All() {
			if a := b.Aggregate(i, f); a.Count > 0 {
				n := int(f) + 1
				bucket.Fields = append(bucket.Fields, make([]store.Aggregate, n-len(bucket.Fields))...)
				bucket.Fields[f] = store.Aggregate{Count: a.Count, Min: a.Min, Max: a.Max, Sum: a.Sum}
			}
		}
		out = append(out, bucket)
	}
	return out
}

// A rollup row holds a summary of each hour of one expired chunk.

func appendRollup(dst []byte, rs []rimewatch.Reading) []byte {
	for len(rs) > 0 {
		hour := rs[0].At / rimewatch.Hour
		n := 1
		for n < len(rs) && rs[n].At/rimewatch.Hour == hour {
			n++
		}
		summary := chunk.Summarize(rs[:n])
		dst = summary.Append(dst)
		rs = rs[n:]
	}
	return dst
}

// addRollups takes in the hours whose raw readings have expired.
func addRollups(conn *sqlite.Conn, b *chunk.Buckets, q store.BucketQuery) error {
	return sqlitex.Execute(conn, "SELECT id, data FROM reading_rollup WHERE device_id = ? AND to_at >= ? AND from_at < ?", &sqlitex.ExecOptions{
		Args: []any{q.DeviceID, int64(q.From), int64(q.To)},
		ResultFunc: func(stmt *sqlite.Stmt) error {
			data := make([]byte, stmt.ColumnLen(1))
			stmt.ColumnBytes(1, data)
			for len(data) > 0 {
				hour, n, err := chunk.DecodeSummary(data)
				if err != nil {
					return fmt.Errorf("rollup %d: %w", stmt.ColumnInt64(0), err)
				}
				data = data[n:]
				// An hour counts where it begins: it cannot be cut any more.
				hour.First = hour.First / rimewatch.Hour * rimewatch.Hour
				hour.Last = hour.First
				b.AddSummary(&hour)
			}
			return nil
		},
	})
}
