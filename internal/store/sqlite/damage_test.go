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
		var ids []int64
		err := s.Recover(t.Context(), 1, func(_ int, c store.Checkpoint) error {
			ids = append(ids, c.DeviceID)
			return nil
		}, func(_ int, _ *store.Entry) error { return nil })
		if err != nil || len(ids) != 4 {
			t.Fatalf("%s: checkpoints of %d, %v", column, ids, err)
		}
		states := 0
		err = s.Checkpoints(t.Context(), ids, func(c store.Checkpoint) error {
			if states++; c.DeviceID == device && (len(c.State) == 0) != (column == "state") {
				t.Errorf("%s: state of device %d: %v", column, c.DeviceID, c.State)
			}
			return nil
		})
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

// TestDamagedRow: a damaged chunk or rollup is left out, and known; a damaged
// summary costs nothing; a damaged commit is an error that names it and the way
// out, which says what it costs.
func TestDamagedRow(t *testing.T) {
	read := func(s *Store, device int64) (readings, counted int) {
		t.Helper()
		err := s.Readings(t.Context(), store.HistoryQuery{DeviceID: device, To: rimewatch.MaxTime}, func(*rimewatch.Reading) error { readings++; return nil })
		if err != nil {
			t.Error(err)
		}
		b, err := s.Buckets(t.Context(), store.BucketQuery{DeviceID: device, From: crashBase - rimewatch.Day, To: crashBase + 2*rimewatch.Day, Step: rimewatch.Day, Fields: rimewatch.AllFields})
		if err != nil {
			t.Error(err)
		}
		for i := range b {
			counted += int(b[i].Count)
		}
		return readings, counted
	}
	for _, c := range []struct {
		statement     string
		left, counted int    // readings that can be read, and counted: by the summary
		chunks        int    // damaged chunks that are known then
		inspectReads  string // what doctor says
	}{
		{statement: "UPDATE reading_chunk SET summary = zeroblob(length(summary))", left: 100, counted: 100, inspectReads: "checksum of its summary"},
		{statement: "UPDATE chunk_segment SET data = zeroblob(length(data))", counted: 100, chunks: 1, inspectReads: "checksum"},
		{statement: "DELETE FROM chunk_segment", counted: 100, chunks: 1, inspectReads: "0 of "},
		{statement: "UPDATE reading_chunk SET device_id = device_id + 1", inspectReads: "checksum"},
		{statement: "INSERT INTO reading_rollup (device_id, from_at, to_at, data) SELECT device_id, from_at, to_at, zeroblob(40) FROM reading_chunk", left: 100, counted: 100, inspectReads: "rollup 1 of device 1"},
	} {
		path, device := damaged(t, c.statement)
		path = crashed(t, path)
		in, err := Inspect(t.Context(), path, true)
		if err != nil || len(in.Damage) != 1 || !strings.Contains(in.Damage[0], c.inspectReads) {
			t.Errorf("%s: doctor finds %q, %v", c.statement, in.Damage, err)
		}
		s := ready(t, openAt(t, Config{Path: path, quiet: true}))
		if readings, counted := read(s, device); readings != c.left || counted != c.counted {
			t.Errorf("%s: %d readings, %d counted, want %d and %d", c.statement, readings, counted, c.left, c.counted)
		}
		if n := len(s.Damage()); n != c.chunks {
			t.Errorf("%s: %d damaged chunks are known, want %d", c.statement, n, c.chunks)
		}
	}

	path, _ := damaged(t, "UPDATE commit_log SET data = zeroblob(length(data)) WHERE seq = 5")
	path = crashed(t, path)
	recover := func(s *Store) (entries int, err error) {
		err = s.Recover(t.Context(), 1, func(_ int, _ store.Checkpoint) error { return nil }, func(_ int, _ *store.Entry) error { entries++; return nil })
		return entries, err
	}
	if _, err := recover(openAt(t, Config{Path: path, quiet: true})); err == nil || !strings.Contains(err.Error(), "commit 5 is damaged: checksum") || !strings.Contains(err.Error(), "--set-damaged-commits-aside") {
		t.Errorf("a damaged commit: %v", err)
	}
	if n, err := recover(openAt(t, Config{Path: path, quiet: true, LogAside: true})); err != nil || n != 4 {
		t.Errorf("with it set aside: %d entries, %v", n, err)
	}
	s := openAt(t, Config{Path: path, quiet: true})
	if n, err := recover(s); err != nil || n != 4 {
		t.Errorf("after it was set aside: %d entries, %v", n, err)
	}
	if in, err := Inspect(t.Context(), path, true); err != nil || len(in.Damage) != 0 || len(in.Aside) != 1 || !strings.Contains(in.Aside[0], "commit 5") {
		t.Errorf("doctor names %q and %q, %v", in.Damage, in.Aside, err)
	}
	g := &store.Group{Now: crashBase, Parts: [][]store.Input{{{Kind: store.InputTick, DeviceID: 1}}}}
	if err := storetest.Commit(t.Context(), s, g, &store.Effects{}); err != nil || g.Seq != 6 {
		t.Errorf("the next commit has the number %d, %v: that of the damaged one may stand in checkpoints", g.Seq, err)
	}
}

// TestDamageIsOnesOwn: a reading that would have to be looked up in a damaged
// chunk is stored, and so is everything else in its group. What is merged and
// expires does so for everybody else, and the damaged chunk goes in the end.
func TestDamageIsOnesOwn(t *testing.T) {
	path := filepath.Join(t.TempDir(), FileName)
	r := newCrashRun(t, Config{Path: path, quiet: true})
	for day := range 3 {
		for _, id := range r.ids {
			inputs := make([]store.Input, 100)
			for i := range inputs {
				inputs[i] = store.Input{Kind: store.InputReading, DeviceID: id}
				inputs[i].Reading.At = crashBase + rimewatch.Time(day)*rimewatch.Day + rimewatch.Time(i)*rimewatch.Minute
				inputs[i].Reading.Set(rimewatch.ProductZoneTemp, float64(i))
			}
			if err := storetest.Commit(t.Context(), r.s, &store.Group{Now: crashBase, Parts: [][]store.Input{inputs}}, &store.Effects{}); err != nil {
				t.Fatal(err)
			}
		}
		if err := r.s.Rest(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	r.damage("UPDATE chunk_segment SET data = zeroblob(length(data)) WHERE id = (SELECT segment FROM reading_chunk WHERE device_id = 1 ORDER BY to_at LIMIT 1)")
	at := func(device int64, minute float64) store.Input {
		in := store.Input{Kind: store.InputReading, DeviceID: device}
		in.Reading.At = crashBase + rimewatch.Time(minute*60_000)
		in.Reading.Set(rimewatch.ProductZoneTemp, 7)
		return in
	}
	inputs := []store.Input{at(1, 5), at(2, 5), at(2, 5.5), at(1, 24*60+5)}
	if err := storetest.Commit(t.Context(), r.s, &store.Group{Now: crashBase, Parts: [][]store.Input{inputs}}, &store.Effects{}); err != nil {
		t.Fatal(err)
	}
	for i, want := range []store.Outcome{store.Accepted, store.Duplicate, store.Accepted, store.Duplicate} {
		if inputs[i].Outcome != want {
			t.Errorf("input %d: outcome %d, want %d", i, inputs[i].Outcome, want)
		}
	}
	known := r.s.Damage()
	if len(known) != 1 || known[0].DeviceID != 1 || known[0].Readings != 100 {
		t.Fatalf("damaged chunks: %+v", known)
	}
	if err := r.s.Rest(t.Context()); err != nil {
		t.Fatal(err)
	}
	count := func(s *Store, id int64) (n int) {
		t.Helper()
		err := s.Readings(t.Context(), store.HistoryQuery{DeviceID: id, To: rimewatch.MaxTime}, func(*rimewatch.Reading) error { n++; return nil })
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	if one, two := count(r.s, 1), count(r.s, 2); one != 201 || two != 301 {
		t.Errorf("%d and %d readings are left, want 201 and 301", one, two)
	}
	// The first day expires: for the damaged chunk, too.
	if err := r.s.Retain(t.Context(), crashBase+3000*rimewatch.Day+12*rimewatch.Hour); err != nil {
		t.Fatal(err)
	}
	if one, two := count(r.s, 1), count(r.s, 2); one != 200 || two != 200 {
		t.Errorf("%d and %d readings are left after retention, want 200 of each", one, two)
	}
	s := openAt(t, Config{Path: crashed(t, path), quiet: true})
	if n := len(s.Damage()); n != 0 {
		t.Errorf("%d damaged chunks after their readings would have expired", n)
	}
}
