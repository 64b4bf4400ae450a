package sqlite

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/store/chunk"
	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// load reads what every query needs; Recover adds readings and states.
func (s *Store) load(context.Context) error {
	s.fleet = newFleet()
	s.counts = make(alertCounts)
	if err := loadDevices(s.writer, &s.fleet); err != nil {
		return fmt.Errorf("devices: %w", err)
	}
	if err := s.refreshSites(s.writer); err != nil {
		return fmt.Errorf("sites: %w", err)
	}
	if err := s.loadAlerts(s.writer); err != nil {
		return fmt.Errorf("alerts: %w", err)
	}
	for table, last := range map[string]*atomic.Int64{"device": &s.deviceID, "alert": &s.alertID} {
		id, err := queryInt(s.writer, "SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = ?), 0)", table)
		if err != nil {
			return err
		}
		last.Store(id)
	}
	s.lastAlert = s.alertID.Load()
	// The log is emptied as it is sealed; meta remembers how far it got.
	var err error
	if s.seq, err = queryInt(s.writer, "SELECT max(coalesce((SELECT max(seq) FROM commit_log), 0), coalesce((SELECT value FROM meta WHERE key = 'seq'), 0))"); err != nil {
		return err
	}
	alive, err := queryInt(s.writer, "SELECT coalesce((SELECT value FROM meta WHERE key = 'alive_at'), 0)")
	s.lastNow = rimewatch.Time(alive)
	return err
}

// refreshSites reloads the sites' names and zones.
func (s *Store) refreshSites(conn *sqlite.Conn) error {
	sites := make(map[int64]*rimewatch.Site)
	err := sqlitex.Execute(conn, "SELECT id, workspace_id, name, time_zone, address, created_at, updated_at FROM site", &sqlitex.ExecOptions{
		ResultFunc: func(stmt *sqlite.Stmt) error {
			sites[stmt.ColumnInt64(0)] = &rimewatch.Site{
				ID: stmt.ColumnInt64(0), WorkspaceID: stmt.ColumnInt64(1), Name: stmt.ColumnText(2), TimeZone: stmt.ColumnText(3),
				Address: stmt.ColumnText(4), CreatedAt: rimewatch.Time(stmt.ColumnInt64(5)), UpdatedAt: rimewatch.Time(stmt.ColumnInt64(6)),
			}
			return nil
		},
	})
	if err != nil {
		return err
	}
	s.mu.Lock()
	s.fleet.sites = sites
	s.mu.Unlock()
	return nil
}

// Recover implements store.Log.
func (s *Store) Recover(ctx context.Context, checkpoint func(store.Checkpoint) error, entry func(*store.Entry) error) error {
	s.writeMu.Lock()
	defer s.writeMu.Unlock()
	if s.writer == nil {
		return errClosed()
	}
	err := sqlitex.Execute(s.writer, "SELECT device_id, seq, latest, current_temp, current_temp_at, state FROM checkpoint", &sqlitex.ExecOptions{
		ResultFunc: func(stmt *sqlite.Stmt) error {
			c := store.Checkpoint{DeviceID: stmt.ColumnInt64(0), Seq: store.Seq(stmt.ColumnInt64(1))}
			d := s.fleet.byID[c.DeviceID]
			if d == nil {
				return nil
			}
			if err := restoreLatest(stmt, d); err != nil {
				return fmt.Errorf("checkpoint of device %d: %w", c.DeviceID, err)
			}
			c.State = make([]byte, stmt.ColumnLen(5))
			stmt.ColumnBytes(5, c.State)
			return checkpoint(c)
		},
	})
	if err != nil {
		return storeError(err, "recover checkpoints")
	}
	if err := s.replayLog(ctx, entry); err != nil {
		return storeError(err, "recover log")
	}
	s.startSealer()
	return nil
}

func restoreLatest(stmt *sqlite.Stmt, d *device) error {
	if n := stmt.ColumnLen(2); n > 0 {
		buf := make([]byte, n)
		stmt.ColumnBytes(2, buf)
		if _, err := chunk.DecodeReading(buf, &d.live.Latest, 0); err != nil {
			return err
		}
	}
	d.live.CurrentTemp, d.live.CurrentTempAt = stmt.ColumnFloat(3), rimewatch.Time(stmt.ColumnInt64(4))
	return nil
}

// replayLog fills the heads. Readings that a seal has already moved into a
// chunk while their commit's other devices were still waiting are told apart by
// the device's seal mark.
func (s *Store) replayLog(ctx context.Context, entry func(*store.Entry) error) error {
	sealed, err := s.loadSealMarks()
	if err != nil {
		return err
	}
	var buf []byte
	return sqlitex.Execute(s.writer, "SELECT seq, data FROM commit_log ORDER BY seq", &sqlitex.ExecOptions{
		ResultFunc: func(stmt *sqlite.Stmt) error {
			if err := ctx.Err(); err != nil {
				return err
			}
			seq := stmt.ColumnInt64(0)
			n := stmt.ColumnLen(1)
			if cap(buf) < n {
				buf = make([]byte, n+n/2)
			}
			buf = buf[:n]
			stmt.ColumnBytes(1, buf)
			return decodeLog(seq, buf, func(e *store.Entry, encoded []byte) error {
				s.lastNow = max(s.lastNow, e.Now)
				d := s.fleet.byID[e.Input.DeviceID]
				if d == nil {
					if encoded == nil {
						return nil // deleted since
					}
					// Deleted since, too, but its history is kept.
					d = &device{row: row{id: e.Input.DeviceID, deleted: e.Now}}
					s.fleet.byID[e.Input.DeviceID] = d
				}
				if encoded != nil && seq > sealed[e.Input.DeviceID] {
					d.head.stage(encoded, e.Input.Reading.At)
					s.publishHead(d, int32(len(encoded)), 1, seq, e.Now)
					s.head.add(int64(len(encoded)), 1)
				}
				if d.row.deleted != 0 {
					return nil
				}
				if encoded != nil {
					d.newest(&e.Input.Reading)
				}
				return entry(e)
			})
		},
	})
}

func (s *Store) loadSealMarks() (map[int64]int64, error) {
	marks := make(map[int64]int64)
	err := sqlitex.Execute(s.writer, "SELECT device_id, seq FROM seal_mark WHERE seq >= coalesce((SELECT min(seq) FROM commit_log), 0)", &sqlitex.ExecOptions{
		ResultFunc: func(stmt *sqlite.Stmt) error {
			marks[stmt.ColumnInt64(0)] = stmt.ColumnInt64(1)
			return nil
		},
	})
	return marks, err
}

// PutLive implements store.Log.
func (s *Store) PutLive(live []store.LiveWrite, touched []store.AlertTouch) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range live {
		if d := s.fleet.byID[live[i].DeviceID]; d != nil {
			d.live.Presence = live[i].Presence
		}
	}
	s.touchAlerts(touched)
}

// PutLimits implements store.Log.
func (s *Store) PutLimits(limits map[int64]map[string]rimewatch.LimitOverrides) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fleet.limits = limits
}

// NewDeviceID implements store.Log.
func (s *Store) NewDeviceID() int64 { return s.deviceID.Add(1) }

// NewAlertID implements store.Log.
func (s *Store) NewAlertID() int64 { return s.alertID.Add(1) }

// SaveCheckpoints implements store.Log.
func (s *Store) SaveCheckpoints(ctx context.Context, states []store.Checkpoint, floor store.Seq) error {
	latest := make([]rimewatch.Live, len(states))
	s.mu.RLock()
	for i := range states {
		if d := s.fleet.byID[states[i].DeviceID]; d != nil {
			latest[i] = d.live
		}
	}
	s.mu.RUnlock()
	err := s.write(ctx, func(conn *sqlite.Conn) error {
		var row []byte
		for i := range states {
			if err := s.cfg.fault("checkpoint"); err != nil {
				return err
			}
			row = row[:0]
			if latest[i].Latest.At != 0 {
				row = chunk.AppendReading(row, &latest[i].Latest, 0)
			}
			err := sqlitex.Execute(conn, `INSERT INTO checkpoint (device_id, seq, latest, current_temp, current_temp_at, state)
				VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (device_id) DO UPDATE SET seq = excluded.seq, latest = excluded.latest,
				current_temp = excluded.current_temp, current_temp_at = excluded.current_temp_at, state = excluded.state`,
				&sqlitex.ExecOptions{Args: []any{states[i].DeviceID, int64(states[i].Seq), row,
					latest[i].CurrentTemp, int64(latest[i].CurrentTempAt), states[i].State}})
			if err != nil {
				return fmt.Errorf("checkpoint of device %d: %w", states[i].DeviceID, err)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	s.ckptFloor.Store(int64(floor))
	return nil
}

// MarkAlive implements store.Log.
func (s *Store) MarkAlive(ctx context.Context, now rimewatch.Time) error {
	return s.write(ctx, func(conn *sqlite.Conn) error { return setMeta(conn, "alive_at", int64(now)) })
}

// AliveAt implements store.Log.
func (s *Store) AliveAt(context.Context) (rimewatch.Time, error) {
	s.writeMu.Lock()
	defer s.writeMu.Unlock()
	return s.lastNow, nil
}

// AddDowntime implements store.Log.
func (s *Store) AddDowntime(ctx context.Context, d store.Downtime) ([]store.Downtime, error) {
	var all []store.Downtime
	err := s.write(ctx, func(conn *sqlite.Conn) error {
		if d.To > d.From {
			err := sqlitex.Execute(conn, "INSERT INTO downtime (from_at, to_at) VALUES (?, ?) ON CONFLICT DO UPDATE SET to_at = max(to_at, excluded.to_at)",
				&sqlitex.ExecOptions{Args: []any{int64(d.From), int64(d.To)}})
			if err != nil {
				return err
			}
		}
		return sqlitex.Execute(conn, "SELECT from_at, to_at FROM downtime ORDER BY from_at", &sqlitex.ExecOptions{
			ResultFunc: func(stmt *sqlite.Stmt) error {
				all = append(all, store.Downtime{From: rimewatch.Time(stmt.ColumnInt64(0)), To: rimewatch.Time(stmt.ColumnInt64(1))})
				return nil
			},
		})
	})
	return all, err
}

func queryInt(conn *sqlite.Conn, query string, args ...any) (v int64, err error) {
	err = sqlitex.Execute(conn, query, &sqlitex.ExecOptions{Args: args, ResultFunc: func(stmt *sqlite.Stmt) error {
		v = stmt.ColumnInt64(0)
		return nil
	}})
	return v, err
}

func setMeta(conn *sqlite.Conn, key string, v int64) error {
	return sqlitex.Execute(conn, "INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value",
		&sqlitex.ExecOptions{Args: []any{key, v}})
}
