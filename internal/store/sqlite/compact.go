package sqlite

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/rimewatch/rimewatch"
	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// merge replaces the chunks of one device's day by as few as can be.
type merge struct {
	deviceID int64
	old      []span
	chunks   []newChunk
	over     bool // the day is over: the chunks are grown, however few their readings
}

// mergeBytes is about what one transaction of merges writes.
const mergeBytes = 512 << 10

// compactDue merges the young chunks of the devices that have many.
func (s *Store) compactDue(ctx context.Context) error {
	s.mu.Lock()
	var due []int64
	for id, n := range s.seal.young {
		if n >= compactAt {
			due = append(due, id)
		}
	}
	s.mu.Unlock()
	slices.Sort(due)
	return s.compact(ctx, due, rimewatch.TimeOf(s.cfg.Now())/rimewatch.Day)
}

// compact merges, day by day, the devices' young and overlapping chunks. Those
// of a day before today become grown ones. Readers see either the old chunks or
// the new.
func (s *Store) compact(ctx context.Context, ids []int64, today rimewatch.Time) error {
	var (
		pending []merge
		bytes   int
		left    = make(map[int64]int, len(ids))
	)
	flush := func() error {
		if len(pending) == 0 {
			return nil
		}
		err := s.write(ctx, func(conn *sqlite.Conn) error { return s.saveMerges(conn, pending) })
		pending, bytes = pending[:0], 0
		if err != nil {
			return fmt.Errorf("compact: %w", err)
		}
		return s.checkpointWAL(ctx)
	}
	for _, id := range ids {
		if err := ctx.Err(); err != nil {
			return err
		}
		merges, young, err := s.planMerges(ctx, id, today)
		if err != nil {
			return fmt.Errorf("compact device %d: %w", id, err)
		}
		left[id] = young
		pending = append(pending, merges...)
		for i := range merges {
			for k := range merges[i].chunks {
				bytes += len(merges[i].chunks[k].data)
			}
		}
		if bytes >= mergeBytes {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	if err := flush(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, n := range left {
		s.seal.young[id] = n
	}
	return nil
}

// planMerges decodes and encodes what is to be merged of one device and gives
// the number of young chunks that will be left.
func (s *Store) planMerges(ctx context.Context, deviceID int64, today rimewatch.Time) (merges []merge, left int, err error) {
	err = s.read(ctx, func(conn *sqlite.Conn) error {
		days := make(map[rimewatch.Time][]span)
		err := sqlitex.Execute(conn, "SELECT "+spanColumns+" FROM reading_chunk WHERE device_id = ? ORDER BY to_at", &sqlitex.ExecOptions{
			Args: []any{deviceID},
			ResultFunc: func(stmt *sqlite.Stmt) error {
				c := scanSpan(stmt)
				days[c.from/rimewatch.Day] = append(days[c.from/rimewatch.Day], c)
				return nil
			},
		})
		if err != nil {
			return err
		}
		for day, list := range days {
			young := 0
			for i := range list {
				if list[i].young {
					young++
				}
			}
			m := merge{deviceID: deviceID, old: list, over: day < today}
			if young == 0 || (!m.over && young < compactAt) {
				left += young
				continue
			}
			if !m.over {
				left++
			}
			rs, err := decodeCluster(conn, list)
			if err != nil {
				return err
			}
			m.chunks = encodeChunks(rs)
			merges = append(merges, m)
		}
		return nil
	})
	return merges, left, err
}

func (s *Store) saveMerges(conn *sqlite.Conn, merges []merge) error {
	for i := range merges {
		m := &merges[i]
		for k := range m.chunks {
			if err := s.cfg.fault("merge"); err != nil {
				return err
			}
			if err := saveChunk(conn, m.deviceID, &m.chunks[k], !m.over && m.chunks[k].n < grown); err != nil {
				return err
			}
		}
		for _, sp := range m.old {
			if err := s.cfg.fault("drop"); err != nil {
				return err
			}
			if err := deleteChunk(conn, m.deviceID, sp); err != nil {
				return err
			}
		}
	}
	return nil
}

// Rest seals, trims and compacts everything that can be and gives free pages
// back to the disk: the file is then as small as it gets. Commits go on beside it.
func (s *Store) Rest(ctx context.Context) error {
	s.maintMu.Lock()
	defer s.maintMu.Unlock()
	for {
		devices := s.anyUnsealed()
		if len(devices) == 0 {
			break
		}
		if _, err := s.sealSlice(ctx, devices); err != nil {
			return err
		}
		if err := s.tidyLog(ctx); err != nil {
			return err
		}
	}
	ids, err := s.devicesWithYoungChunks(ctx)
	if err != nil {
		return err
	}
	if err := s.compact(ctx, ids, math.MaxInt64); err != nil {
		return err
	}
	if err := s.vacuum(ctx); err != nil {
		return err
	}
	s.writeMu.Lock()
	defer s.writeMu.Unlock()
	return storeError(sqlitex.ExecuteTransient(s.maint, "PRAGMA wal_checkpoint(TRUNCATE)", nil), "checkpoint the write-ahead log")
}

func (s *Store) anyUnsealed() []*device {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []*device
	s.seal.dropStale()
	for i := range s.seal.queue {
		if it := &s.seal.queue[i]; !it.stale() && it.device.head.sealSize == 0 {
			out = append(out, it.device)
			if len(out) == sliceDevices {
				break
			}
		}
	}
	return out
}

func (s *Store) devicesWithYoungChunks(ctx context.Context) ([]int64, error) {
	var ids []int64
	err := s.read(ctx, func(conn *sqlite.Conn) error {
		return sqlitex.Execute(conn, "SELECT DISTINCT device_id FROM reading_chunk WHERE young", &sqlitex.ExecOptions{
			ResultFunc: func(stmt *sqlite.Stmt) error {
				ids = append(ids, stmt.ColumnInt64(0))
				return nil
			},
		})
	})
	return ids, err
}

// vacuum moves free pages to the end of the file and cuts them off, in slices.
func (s *Store) vacuum(ctx context.Context) error {
	for {
		var free int64
		err := s.exclusive(ctx, func(conn *sqlite.Conn) error {
			var err error
			if free, err = queryInt(conn, "PRAGMA freelist_count"); err != nil || free == 0 {
				return err
			}
			return sqlitex.ExecuteTransient(conn, fmt.Sprintf("PRAGMA incremental_vacuum(%d)", vacuumPages), nil)
		})
		if err != nil || free == 0 {
			return err
		}
		if err := s.checkpointWAL(ctx); err != nil {
			return err
		}
	}
}

// exclusive runs f on the writer outside a transaction.
func (s *Store) exclusive(ctx context.Context, f func(*sqlite.Conn) error) error {
	s.writeMu.Lock()
	defer s.writeMu.Unlock()
	if s.writer == nil || s.closed.Load() {
		return errClosed()
	}
	if err := ctx.Err(); err != nil {
		return storeError(err, "write")
	}
	return storeError(f(s.writer), "write")
}
