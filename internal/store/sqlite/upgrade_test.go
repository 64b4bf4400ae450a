package sqlite

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/store/storetest"
	"github.com/rimewatch/rimewatch/internal/store/tables"
	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// later is a history in which two versions followed: a column, and a table that others refer to made anew with what it held rewritten.
func later(rewrite error) *tables.History {
	return &tables.History{Version: store.SchemaVersion + 2, Upgrades: []tables.Upgrade{
		{From: store.SchemaVersion, SQL: "ALTER TABLE device ADD COLUMN asset TEXT NOT NULL DEFAULT '?';"},
		{From: store.SchemaVersion + 1, SQL: `
			CREATE TABLE new_workspace AS SELECT * FROM workspace;
			DROP TABLE workspace;
			ALTER TABLE new_workspace RENAME TO workspace;
			CREATE UNIQUE INDEX workspace_id ON workspace(id);`,
			Rewrite: func(c tables.Conn) error {
				if _, err := c.Exec("UPDATE device SET asset = serial || '!'"); err != nil {
					return err
				}
				return rewrite
			}},
	}}
}

// furnished is the file of a closed store with a device and a reading.
func furnished(t *testing.T) (path string, device int64) {
	t.Helper()
	path = filepath.Join(t.TempDir(), FileName)
	s, err := Open(t.Context(), Config{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	ready(t, s)
	w := rimewatch.Workspace{Name: "Shop", TimeZone: "UTC", RawDays: 396, RollupDays: 1096}
	if err := s.CreateWorkspace(t.Context(), &w); err != nil {
		t.Fatal(err)
	}
	op := &store.DeviceOp{WorkspaceID: w.ID, Serial: "D-1", Payload: []byte("D"),
		Create: &rimewatch.Device{ID: s.NewDeviceID(), WorkspaceID: w.ID, Serial: "D-1", Name: "D", EquipmentType: "other"}}
	if err := storetest.Commit(t.Context(), s, &store.Group{Now: 1000, Devices: []*store.DeviceOp{op}}, &store.Effects{}); err != nil || op.Err != nil {
		t.Fatal(err, op.Err)
	}
	r := rimewatch.Reading{At: 900}
	r.Set(rimewatch.ProductZoneTemp, -18.5)
	in := []store.Input{{Kind: store.InputReading, DeviceID: op.Device.ID, Reading: r}}
	if err := storetest.Commit(t.Context(), s, &store.Group{Now: 1000, Parts: [][]store.Input{in}}, &store.Effects{}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return path, op.Device.ID
}

// asides are the copies beside a store's file.
func asides(t *testing.T, path string) []string {
	t.Helper()
	list, err := filepath.Glob(path + ".schema*")
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// asked is what a query's only row holds.
func asked(t *testing.T, path, query string) string {
	t.Helper()
	c, err := sqlite.OpenConn(path, sqlite.OpenReadWrite)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var v string
	if err := sqlitex.Execute(c, query, &sqlitex.ExecOptions{ResultFunc: func(s *sqlite.Stmt) error { v = s.ColumnText(0); return nil }}); err != nil {
		t.Fatal(err)
	}
	return v
}

// A store of an older version is copied aside and brought up to date, once; the
// copy is a store of before, which the program of before opens.
func TestUpgrade(t *testing.T) {
	path, device := furnished(t)
	var log bytes.Buffer
	for range 2 {
		s, err := Open(t.Context(), Config{Path: path, history: later(nil), Logger: slog.New(slog.NewTextHandler(&log, nil))})
		if err != nil {
			t.Fatal(err)
		}
		ready(t, s)
		if n := readingsOf(t, s, device); n != 1 {
			t.Errorf("%d readings", n)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if got := asked(t, path, "SELECT asset || (SELECT name FROM workspace) FROM device"); got != "D-1!Shop" {
		t.Errorf("rewritten: %q", got)
	}
	list := asides(t, path)
	if len(list) != 1 {
		t.Fatalf("copies: %v", list)
	}
	if st, err := os.Stat(list[0]); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("the copy: %v %v", st.Mode(), err)
	}
	if text := log.String(); strings.Count(text, "go back") != 1 || !strings.Contains(text, list[0]) {
		t.Errorf("said:\n%s", text)
	}
	if _, err := Open(t.Context(), Config{Path: path}); err == nil || !strings.Contains(err.Error(), "newer version") {
		t.Errorf("the program of before opens it: %v", err)
	}
	before := openAt(t, Config{Path: list[0]})
	if n := readingsOf(t, ready(t, before), device); n != 1 {
		t.Errorf("the copy: %d readings", n)
	}
}

func readingsOf(t *testing.T, s *Store, device int64) (n int) {
	t.Helper()
	err := s.Readings(t.Context(), store.HistoryQuery{DeviceID: device, To: rimewatch.MaxTime}, func(*rimewatch.Reading) error { n++; return nil })
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// Wherever the way breaks off, by an error or as by kill −9, the store is as it
// was, and the next start goes the whole way.
func TestUpgradeBreaksOff(t *testing.T) {
	for _, c := range []struct {
		name    string
		step    string // where it breaks off
		n       int
		rewrite error
		copies  int // whole ones that are left
	}{
		{"no room for the copy", "backup", 1, nil, 0},
		{"after the first step", "upgrade", 1, nil, 1},
		{"after the last step", "upgrade", 2, nil, 1},
		{"a row that cannot be rewritten", "", 0, errors.New("row 7 is odd"), 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			path, device := furnished(t)
			var dead string // the files at that moment
			seen := 0
			fault := func(step string) error {
				if step == c.step {
					if seen++; seen == c.n {
						dead = crashed(t, path)
						return errors.New("broken off")
					}
				}
				return nil
			}
			if _, err := Open(t.Context(), Config{Path: path, history: later(c.rewrite), fault: fault}); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("schema %d to %d", store.SchemaVersion, store.SchemaVersion+2)) {
				t.Fatalf("opened: %v", err)
			}
			if list := asides(t, path); len(list) != c.copies {
				t.Errorf("copies: %v", list)
			}
			for _, path := range []string{path, dead} {
				if path == "" {
					continue
				}
				if got := asked(t, path, "PRAGMA user_version"); got != fmt.Sprint(store.SchemaVersion) {
					t.Errorf("version %s", got)
				}
				old := openAt(t, Config{Path: path}) // by the program of before
				if n := readingsOf(t, ready(t, old), device); n != 1 {
					t.Errorf("%d readings", n)
				}
				if err := old.Close(); err != nil {
					t.Fatal(err)
				}
				s := openAt(t, Config{Path: path, history: later(nil)})
				if n := readingsOf(t, ready(t, s), device); n != 1 {
					t.Errorf("brought up to date: %d readings", n)
				}
			}
		})
	}
}

// A command beside a server changes no schema, and what nobody knows the way from
// is refused.
func TestUpgradeRefuses(t *testing.T) {
	path, _ := furnished(t)
	if err := openAt(t, Config{Path: path, history: later(nil), ControlOnly: true}).Close(); err != nil {
		t.Error(err)
	}
	if got := asked(t, path, "PRAGMA user_version"); got != fmt.Sprint(store.SchemaVersion) {
		t.Errorf("a command brought it to version %s", got)
	}
	gap := &tables.History{Version: store.SchemaVersion + 2, Upgrades: later(nil).Upgrades[1:]}
	if _, err := gap.Steps(store.SchemaVersion); err == nil {
		t.Error("a step is missing and nobody says so")
	}
	dangling := &tables.History{Version: store.SchemaVersion + 1, Upgrades: []tables.Upgrade{{From: store.SchemaVersion, SQL: "DELETE FROM workspace;"}}}
	if _, err := Open(context.Background(), Config{Path: path, history: dangling}); err == nil || !strings.Contains(err.Error(), "refer to nothing") {
		t.Errorf("rows that refer to nothing: %v", err)
	}
}

// TestFoldSenders: senders that a version before told apart by how an address is written are
// one, with what they were bound to and what waits of them.
func TestFoldSenders(t *testing.T) {
	path, _ := furnished(t)
	s := ready(t, openAt(t, Config{Path: path}))
	src := rimewatch.Source{WorkspaceID: 1, Kind: rimewatch.SourcePush, Name: "LoRa", Template: rimewatch.TemplateAuto, OnUnknown: rimewatch.HoldUnknown, Enabled: true, CreatedAt: 1, UpdatedAt: 1}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(s.Inlets().Sources().Create(t.Context(), &src))
	const hex, upper, base64 = "24e124136b502217", "24E124136B502217", "JOEkE2tQIhc="
	must(s.Inlets().PutBindings(t.Context(), 1, src.ID, []rimewatch.Binding{{ExternalID: "x1", Serial: "A"}, {ExternalID: "x2", Serial: "A"}, {ExternalID: "x3", Serial: "B"}}))
	var waiting []*rimewatch.Held
	for i, id := range []string{"x1", "x2", "x2", "x3"} {
		waiting = append(waiting, &rimewatch.Held{SourceID: src.ID, ExternalID: id, ReceivedAt: rimewatch.Time(100 - i), Body: []byte("{}")})
	}
	must(s.Inlets().Hold(t.Context(), 1, waiting))
	must(s.Close())
	for i, id := range []string{hex, upper, base64} { // as the version before wrote them
		for _, table := range []string{"binding", "held", "held_sender"} {
			asked(t, path, fmt.Sprintf("UPDATE %s SET external_id = '%s', external_key = '%s' WHERE external_key = 'x%d'", table, id, id, i+1))
		}
	}
	s = ready(t, openAt(t, Config{Path: path, history: &tables.History{Version: store.SchemaVersion + 1, Upgrades: []tables.Upgrade{{From: store.SchemaVersion, Rewrite: tables.FoldSenders}}}}))
	bound, err := s.Inlets().Bindings(t.Context(), 1, src.ID)
	must(err)
	senders, total, err := s.Inlets().HeldSenders(t.Context(), 1, src.ID, store.Page{Limit: 10})
	must(err)
	payloads, err := s.Inlets().Held(t.Context(), 1, src.ID, upper, 0, 10)
	must(err)
	n, bytes, err := s.Inlets().HeldTotal(t.Context(), 1)
	must(err)
	if len(bound) != 2 || total != 1 || len(payloads) != 4 || n != 1 {
		t.Fatalf("%d bindings, %d senders with %d payloads, %d in all", len(bound), total, len(payloads), n)
	}
	if x := senders[0]; x.Count != 4 || x.Bytes != bytes || x.FirstAt != 97 || x.LastAt != 100 {
		t.Errorf("what waits: %+v, %d bytes", x, bytes)
	}
	must(s.Inlets().DeleteBinding(t.Context(), 1, src.ID, base64, "b"))
	must(s.Inlets().ReleaseHeld(t.Context(), 1, []int64{payloads[0].ID, payloads[1].ID, payloads[2].ID, payloads[3].ID}))
	if n, bytes, err = s.Inlets().HeldTotal(t.Context(), 1); n != 0 || bytes != 0 || err != nil {
		t.Errorf("%d senders, %d bytes are left: %v", n, bytes, err)
	}
}
