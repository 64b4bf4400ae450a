package sqlite

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/store/storetest"
	"github.com/rimewatch/rimewatch/internal/store/tables"
)

// damaged is a store at rest with 100 readings of one device, whose checkpoint
// covers them, after a statement did what a failing disk might do.
func damaged(t *testing.T, statement string) (path string, device int64) {
	t.Helper()
	path = filepath.Join(t.TempDir(), FileName)
	r := newCrashRun(t, Config{Path: path, quiet: true})
	device = r.ids[0]
	inputs := make([]store.Input, 100)
	for i := range inputs {
		inputs[i] = store.Input{Kind: store.InputReading, DeviceID: device}
		inputs[i].Reading.At = crashBase + rimewatch.Time(i)*rimewatch.Minute
		inputs[i].Reading.Set(rimewatch.ProductZoneTemp, float64(i))
	}
	g := &store.Group{Now: crashBase, Parts: [][]store.Input{inputs}}
	if err := storetest.Commit(t.Context(), r.s, g, &store.Effects{}); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(statement, "commit_log") {
		r.damage(statement)
		return path, device
	}
	if r.seq = g.Seq; r.checkpoint() != nil {
		t.Fatal("no checkpoint")
	}
	if err := r.s.Rest(t.Context()); err != nil {
		t.Fatal(err)
	}
	r.damage(statement)
	return path, device
}

func (r *crashRun) damage(statement string) {
	r.t.Helper()
	err := r.s.disk.Write(r.t.Context(), func(conn tables.Conn) error {
		n, err := conn.Exec(statement)
		if n == 0 {
			r.t.Errorf("%s changes nothing", statement)
		}
		return err
	})
	if err != nil {
		r.t.Fatal(err)
	}
}

// TestDamagedCheckpoint: the device learns anew, and its newest reading comes
// from its chunks, so that a repeated one is still told apart.
func TestDamagedCheckpoint(t *testing.T) {
	for _, column := range []string{"state", "latest"} {
		path, device := damaged(t, "UPDATE checkpoint SET "+column+" = zeroblob(length("+column+"))")
		s := openAt(t, Config{Path: crashed(t, path), quiet: true})
		states := 0
		err := s.Recover(t.Context(), func(c store.Checkpoint) error {
			if states++; c.DeviceID == device && len(c.State) != 0 {
				t.Errorf("%s: a damaged state is given out: %v", column, c.State)
			}
			return nil
		}, func(*store.Entry) error { return nil })
		if err != nil || states != 4 {
			t.Fatalf("%s: %d states, %v", column, states, err)
		}
		newest := crashBase + 99*rimewatch.Minute
		if v, _ := s.DeviceByID(device); v.Latest.At != newest || v.CurrentTemp != 99 {
			t.Errorf("%s: the newest reading is %+v", column, v.Latest)
		}
		in := store.Input{Kind: store.InputReading, DeviceID: device}
		in.Reading.At = newest
		parts := [][]store.Input{{in}}
		if err := storetest.Commit(t.Context(), s, &store.Group{Now: newest, Parts: parts}, &store.Effects{}); err != nil || parts[0][0].Outcome != store.Duplicate {
			t.Errorf("%s: a repeated reading: %v, %v", column, parts[0][0].Outcome, err)
		}
	}
}

// TestDamagedRow: what cannot be built again is an error that names the row.
func TestDamagedRow(t *testing.T) {
	day := store.BucketQuery{From: crashBase - rimewatch.Day, To: crashBase + 2*rimewatch.Day, Step: rimewatch.Day, Fields: rimewatch.AllFields}
	buckets := func(s *Store, device int64) error {
		q := day
		q.DeviceID = device
		_, err := s.Buckets(t.Context(), q)
		return err
	}
	for _, c := range []struct {
		statement, want string
		read            func(s *Store, device int64) error
	}{
		{"UPDATE reading_chunk SET summary = zeroblob(length(summary))", "summary of chunk 1 is damaged", buckets},
		{"UPDATE chunk_segment SET data = zeroblob(length(data))", "chunk 1: ", func(s *Store, device int64) error {
			return s.Readings(t.Context(), store.HistoryQuery{DeviceID: device, To: rimewatch.MaxTime}, func(*rimewatch.Reading) error { return nil })
		}},
		{"INSERT INTO reading_rollup (device_id, from_at, to_at, data) SELECT device_id, from_at, to_at, zeroblob(40) FROM reading_chunk", "rollup 1 is damaged", buckets},
		{"UPDATE commit_log SET data = zeroblob(length(data)) WHERE seq = 5", "commit 5 is damaged: checksum", func(s *Store, _ int64) error {
			return s.Recover(t.Context(), func(store.Checkpoint) error { return nil }, func(*store.Entry) error { return nil })
		}},
	} {
		path, device := damaged(t, c.statement)
		s := openAt(t, Config{Path: crashed(t, path), quiet: true})
		if err := c.read(s, device); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.statement, err, c.want)
		}
	}
}
