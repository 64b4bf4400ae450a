package sqlite

import (
	"context"
	"fmt"
	"slices"

	"github.com/rimewatch/rimewatch"
	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// compactDue merges the small chunks of the devices that have many.
func (s *Store) compactDue(ctx context.Context) error {
	s.mu.Lock()
	var due []int64
	for id, n := range s.seal.small {
		if n >= compactAt {
			due = append(due, id)
		}
	}
	s.mu.Unlock()
	slices.Sort(due)
	for _, id := range due {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := s.compact(ctx, id); err != nil {
			return fmt.Errorf("compact device %d: %w", id, err)
		}
		s.mu.Lock()
		delete(s.seal.small, id)
		s.mu.Unlock()
		if err := s.checkpointWAL(ctx); err != nil {
			return err
		}
	}
	return nil
}

// compact merges, day by day, a device's small and overlapping chunks. Readers
// either see the old chunks or the new one.
func (s *Store) compact(ctx context.Context, deviceID int64) error {
	days := make(map[rimewatch.Time][]span)
	err := s.read(ctx, func(conn *sqlite.Conn) error {
		return sqlitex.Execute(conn, "SELECT "+spanColumns+" FROM reading_chunk WHERE device_id = ? ORDER BY to_at", &sqlitex.ExecOptions{
			Args: []any{deviceID},
			ResultFunc: func(stmt *sqlite.Stmt) error {
				c := scanSpan(stmt)
				days[c.from/rimewatch.Day] = append(days[c.from/rimewatch.Day], c)
				return nil
			},
		})
	})
	if err != nil {
		return err
	}
	for _, list := range days {
		if !worthMerging(list) {
			continue
		}
		if err := s.mergeChunks(ctx, deviceID, list); err != nil {
			return err
		}
	}
	return nil
}

func worthMerging(day []span) bool {
	small := 0
	for i := range day {
		if day[i].n < smallChunk {
			small++
		}
	}
	return small >= 1 && len(day) >= 2
}

func (s *Store) mergeChunks(ctx context.Context, deviceID int64, day []span) error {
	var merged []newChunk
	err := s.read(ctx, func(conn *sqlite.Conn) error {
		rs, err := decodeCluster(conn, day)
		merged = encodeChunks(rs)
		return err
	})
	if err != nil {
		return err
	}
	return s.write(ctx, func(conn *sqlite.Conn) error {
		for i := range merged {
			if err := s.cfg.fault("merge"); err != nil {
				return err
			}
			if err := saveChunk(conn, deviceID, &merged[i]); err != nil {
				return err
			}
		}
		for _, sp := range day {
			if err := s.cfg.fault("drop"); err != nil {
				return err
			}
			if err := deleteChunk(conn, deviceID, sp); err != nil {
				return err
			}
		}
		return nil
	})
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
	ids, err := s.devicesWithSmallChunks(ctx)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if err := s.compact(ctx, id); err != nil {
			return err
		}
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

func (s *Store) devicesWithSmallChunks(ctx context.Context) ([]int64, error) {
	var ids []int64
	err := s.read(ctx, func(conn *sqlite.Conn) error {
		return sqlitex.Execute(conn, "SELECT device_id FROM reading_chunk GROUP BY device_id, from_at / 86400000 HAVING count(*) > 1 AND min(n) < ?", &sqlitex.ExecOptions{
			Args: []any{smallChunk},
			ResultFunc: func(stmt *sqlite.Stmt) error {
				if id := stmt.ColumnInt64(0); len(ids) == 0 || ids[len(ids)-1] != id {
					ids = append(ids, id)
				}
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
