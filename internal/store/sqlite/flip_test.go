package sqlite

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/store/storetest"
	"github.com/rimewatch/rimewatch/internal/trial"
	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// neighbours is a store with two workspaces that have some of everything, and
// what the second one is answered.
type neighbours struct {
	path   string
	theirs []int64 // devices of the first
	ours   []int64 // devices of the second
	want   answers
}

type answers struct {
	Devices  []rimewatch.DeviceView
	Readings map[int64][]rimewatch.Reading
	Buckets  map[int64][]store.Bucket
	Alerts   []rimewatch.AlertView
	Channels []rimewatch.Channel
	Audit    []rimewatch.AuditEntry
	Outcomes []store.Outcome
}

const theirs, ours = 1, 2

func newNeighbours(t *testing.T) *neighbours {
	n := &neighbours{path: filepath.Join(t.TempDir(), FileName)}
	s := ready(t, openAt(t, Config{Path: n.path, quiet: true}))
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	reading := func(id int64, minute int) store.Input {
		in := store.Input{Kind: store.InputReading, DeviceID: id}
		in.Reading.At = crashBase + rimewatch.Time(minute)*rimewatch.Minute
		in.Reading.Set(rimewatch.ProductZoneTemp, float64(minute%70)/10+float64(id))
		return in
	}
	for _, name := range []string{"theirs", "ours"} {
		w := &rimewatch.Workspace{Name: name, TimeZone: "UTC", RawDays: 30, RollupDays: 60, CreatedAt: 1, UpdatedAt: 1}
		must(s.CreateWorkspace(t.Context(), w))
		must(s.Sites().Create(t.Context(), &rimewatch.Site{WorkspaceID: w.ID, Name: "site of " + name, TimeZone: "UTC"}))
		must(s.Routing().Channels().Create(t.Context(), &rimewatch.Channel{WorkspaceID: w.ID, Name: "channel of " + name, Kind: rimewatch.ChannelEmail, To: []string{"a@example.com"}}))
		for i := range 3 {
			id := s.NewDeviceID()
			serial := fmt.Sprint(name, i)
			op := &store.DeviceOp{WorkspaceID: w.ID, Serial: serial, Create: &rimewatch.Device{ID: id, WorkspaceID: w.ID, Serial: serial, Name: serial, EquipmentType: "other", CreatedAt: 1, UpdatedAt: 1}}
			must(storetest.Commit(t.Context(), s, &store.Group{Now: crashBase, Devices: []*store.DeviceOp{op}}, &store.Effects{}))
			alert := &rimewatch.Alert{ID: s.NewAlertID(), WorkspaceID: w.ID, DeviceID: id, Type: "t", Status: rimewatch.AlertActive, Severity: rimewatch.Warning, TriggeredAt: crashBase}
			must(storetest.Commit(t.Context(), s, &store.Group{Now: crashBase}, &store.Effects{Alerts: []*rimewatch.Alert{alert},
				Transitions: []rimewatch.AlertTransition{{WorkspaceID: w.ID, AlertID: alert.ID, Kind: rimewatch.TransitionOpened, At: crashBase}},
				Excursions:  []*rimewatch.Excursion{{WorkspaceID: w.ID, DeviceID: id, From: crashBase, To: crashBase + 1}}}))
			if w.ID == theirs {
				n.theirs = append(n.theirs, id)
			} else {
				n.ours = append(n.ours, id)
			}
		}
	}
	all := slices.Concat(n.theirs, n.ours)
	var seq store.Seq
	for from := 0; from < 3*24*60; from += 12 * 60 {
		for _, id := range all {
			var inputs []store.Input
			for m := from; m < from+12*60; m += 7 {
				inputs = append(inputs, reading(id, m))
			}
			g := &store.Group{Now: crashBase + rimewatch.Time(from)*rimewatch.Minute, Parts: [][]store.Input{inputs}}
			must(storetest.Commit(t.Context(), s, g, &store.Effects{}))
			seq = g.Seq
		}
		if from <= 24*60 {
			must(s.Rest(t.Context()))
		}
		if from == 36*60 {
			var states []store.Checkpoint
			for _, id := range all {
				states = append(states, store.Checkpoint{DeviceID: id, Seq: seq, State: []byte{1, 2, 3}})
			}
			must(s.SaveCheckpoints(t.Context(), states, seq+1))
			must(s.disk.Seal(t.Context(), nil))
		}
	}
	must(s.Retain(t.Context(), crashBase+31*rimewatch.Day)) // rollups of the first day
	n.path = crashed(t, n.path)
	n.want = n.ask(t, ready(t, openAt(t, Config{Path: crashed(t, n.path), quiet: true})))
	if len(n.want.Readings[n.ours[0]]) < 200 || len(n.want.Alerts) != 3 || n.want.Outcomes[1] != store.Accepted || n.want.Outcomes[2] != store.Duplicate {
		t.Fatalf("the store has little in it: %+v", n.want)
	}
	return n
}

// ask asks all that the second workspace may ask, and sends readings of both in
// one group.
func (n *neighbours) ask(t *testing.T, s *Store) (a answers) {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Error(err)
		}
	}
	var err error
	a.Devices, _, err = s.Devices(t.Context(), ours, store.DeviceFilter{}, store.Page{Limit: 100})
	must(err)
	a.Readings, a.Buckets = make(map[int64][]rimewatch.Reading), make(map[int64][]store.Bucket)
	for _, id := range n.ours {
		must(s.Readings(t.Context(), store.HistoryQuery{DeviceID: id, To: rimewatch.MaxTime}, func(r *rimewatch.Reading) error {
			a.Readings[id] = append(a.Readings[id], *r)
			return nil
		}))
		a.Buckets[id], err = s.Buckets(t.Context(), store.BucketQuery{DeviceID: id, From: crashBase - rimewatch.Day, To: crashBase + 4*rimewatch.Day, Step: rimewatch.Hour, Fields: rimewatch.AllFields})
		must(err)
	}
	a.Alerts, _, err = s.Alerts(t.Context(), ours, store.AlertFilter{}, store.AlertPage{Limit: 100})
	must(err)
	a.Channels, err = s.Routing().Channels().List(t.Context(), ours)
	must(err)
	a.Audit, _, err = s.Audit().AuditEntries(t.Context(), ours, "", "", store.Page{Limit: 100})
	must(err)
	at := func(id int64, minute int) store.Input {
		in := store.Input{Kind: store.InputReading, DeviceID: id}
		in.Reading.At = crashBase + rimewatch.Time(minute)*rimewatch.Minute
		in.Reading.Set(rimewatch.ProductZoneTemp, 1)
		return in
	}
	inputs := []store.Input{at(n.theirs[0], 35*60), at(n.ours[0], 4*24*60), at(n.ours[0], 35*60), at(n.theirs[1], 47*60)}
	inputs[2].Reading.At = n.lastOf(a, n.ours[0])
	must(storetest.Commit(t.Context(), s, &store.Group{Now: crashBase + 4*rimewatch.Day, Parts: [][]store.Input{inputs}}, &store.Effects{}))
	a.Outcomes = []store.Outcome{0, inputs[1].Outcome, inputs[2].Outcome}
	return a
}

// lastOf is a moment that is stored.
func (n *neighbours) lastOf(a answers, id int64) rimewatch.Time {
	if rs := a.Readings[id]; len(rs) > 0 {
		return rs[len(rs)/2].At
	}
	return 0
}

// ownedBy returns which rows of a table are the first workspace's. Tables that are
// nobody's (the schema's version, the service's own figures) are left out.
func (n *neighbours) ownedBy(table string, columns []string) string {
	list := func(ids []int64) string {
		var parts []string
		for _, id := range ids {
			parts = append(parts, strconv.FormatInt(id, 10))
		}
		return strings.Join(parts, ",")
	}
	switch {
	case table == "commit_log":
		return "1"
	case table == "workspace":
		return "id = 1"
	case table == "chunk_segment", table == "young_segment":
		return fmt.Sprintf(`EXISTS (SELECT 1 FROM reading_chunk c WHERE c.device_id IN (%s) AND c.young = %t AND %s.id >= c.segment AND %s.id < c.segment + c.segments)`,
			list(n.theirs), table == "young_segment", table, table)
	case slices.Contains(columns, "workspace_id"):
		return "workspace_id = 1"
	case slices.Contains(columns, "device_id"):
		return "device_id IN (" + list(n.theirs) + ")"
	}
	return ""
}

// bound are the columns of rows without a checksum that say whose the row is.
var bound = []string{"id", "workspace_id", "device_id"}

// flip changes one bit of a value of the first workspace and says where.
func (n *neighbours) flip(t *testing.T, rnd *rand.Rand, path string) (where string) {
	t.Helper()
	conn, err := sqlite.OpenConn(path, sqlite.OpenReadWrite)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	names := func(query string) (list []string) {
		t.Helper()
		err := sqlitex.ExecuteTransient(conn, query, &sqlitex.ExecOptions{ResultFunc: func(stmt *sqlite.Stmt) error { list = append(list, stmt.ColumnText(0)); return nil }})
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	for _, trigger := range names("SELECT name FROM sqlite_schema WHERE type = 'trigger'") {
		if err := sqlitex.ExecuteTransient(conn, "DROP TRIGGER "+trigger, nil); err != nil { // a failing disk asks none of them
			t.Fatal(err)
		}
	}
	tables := names("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name")
	for {
		table := tables[rnd.IntN(len(tables))]
		columns := names(fmt.Sprintf("SELECT name FROM pragma_table_info('%s')", table))
		owned := n.ownedBy(table, columns)
		if owned == "" {
			continue
		}
		column := columns[rnd.IntN(len(columns))]
		summed := slices.Contains([]string{"commit_log", "reading_chunk", "reading_rollup", "chunk_segment", "young_segment"}, table)
		if !summed && slices.Contains(bound, column) || strings.HasSuffix(table, "_segment") && column == "id" {
			continue
		}
		key := "rowid"
		if table == "reading_chunk" {
			key = "segment * 4 + young"
		} else if len(names(fmt.Sprintf("SELECT 1 FROM sqlite_schema WHERE name = '%s' AND sql LIKE '%%WITHOUT ROWID%%'", table))) > 0 {
			continue // nothing of the first workspace's is in it
		}
		rows := names(fmt.Sprintf("SELECT %s FROM %s WHERE %s", key, table, owned))
		if len(rows) == 0 {
			continue
		}
		row := rows[rnd.IntN(len(rows))]
		if n.flipValue(conn, rnd, table, column, key, row) {
			return fmt.Sprintf("%s.%s of %s", table, column, row)
		}
	}
}

// flipValue reports whether there was a value that could be changed.
func (n *neighbours) flipValue(conn *sqlite.Conn, rnd *rand.Rand, table, column, key, row string) bool {
	var value any
	query := fmt.Sprintf("SELECT %s FROM %s WHERE %s = %s", column, table, key, row)
	err := sqlitex.ExecuteTransient(conn, query, &sqlitex.ExecOptions{ResultFunc: func(stmt *sqlite.Stmt) error {
		switch stmt.ColumnType(0) {
		case sqlite.TypeNull: // nothing to change
		case sqlite.TypeInteger:
			value = stmt.ColumnInt64(0) ^ 1<<rnd.IntN(48)
		case sqlite.TypeFloat:
			value = -stmt.ColumnFloat(0)
		case sqlite.TypeText, sqlite.TypeBlob:
			b := make([]byte, stmt.ColumnLen(0))
			stmt.ColumnBytes(0, b)
			if len(b) == 0 {
				return nil
			}
			b[rnd.IntN(len(b))] ^= 1 << rnd.IntN(8)
			if value = any(b); stmt.ColumnType(0) == sqlite.TypeText {
				value = string(b)
			}
		}
		return nil
	}})
	if err != nil || value == nil {
		return false
	}
	err = sqlitex.ExecuteTransient(conn, fmt.Sprintf("UPDATE %s SET %s = ? WHERE %s = %s", table, column, key, row), &sqlitex.ExecOptions{Args: []any{value}})
	return err == nil // else the file could not hold it
}

// flips returns how many bits the test flips: RIMEWATCH_FLIPS, by default as many as it says.
func flips(most int) int {
	if n, err := strconv.Atoi(os.Getenv("RIMEWATCH_FLIPS")); err == nil {
		return n
	}
	return most
}

// TestFlippedBits: whatever bit of one workspace's rows is flipped, in whatever
// table, the other one gets the answers that it always got. A damaged commit is
// set aside at the operator's wish; what both had in it is lost to both.
func TestFlippedBits(t *testing.T) {
	n := newNeighbours(t)
	rnd := rand.New(rand.NewPCG(7, 11))
	seen := make(map[string]int)
	most := 60
	if !trial.Long() {
		most = 15
	}
	for range flips(most) {
		path := filepath.Join(t.TempDir(), FileName)
		for _, suffix := range []string{"", "-wal"} {
			data, err := os.ReadFile(n.path + suffix)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path+suffix, data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		where := n.flip(t, rnd, path)
		table, _, _ := strings.Cut(where, ".")
		seen[table]++
		n.check(t, where, path)
		_ = os.Remove(path)
		_ = os.Remove(path + "-wal")
	}
	t.Log(seen)
}

func (n *neighbours) check(t *testing.T, where, path string) {
	t.Helper()
	open := func(aside bool) (*Store, error) {
		s, err := Open(t.Context(), Config{Path: path, quiet: true, LogAside: aside})
		if err == nil {
			err = s.Recover(t.Context(), 1, func(_ int, _ store.Checkpoint) error { return nil }, func(_ int, _ *store.Entry) error { return nil })
		}
		return s, err
	}
	s, err := open(false)
	inLog := strings.HasPrefix(where, "commit_log")
	if err != nil && inLog && strings.Contains(err.Error(), "is damaged") {
		if s != nil {
			_ = s.Close()
		}
		s, err = open(true)
	}
	if err != nil {
		t.Errorf("%s: %v", where, err)
		return
	}
	defer s.Close()
	got := n.ask(t, s)
	want := n.want
	if inLog { // each commit is of one device: what ours loses is its own
		got.Readings, want.Readings, got.Buckets, want.Buckets, got.Devices, want.Devices, got.Outcomes, want.Outcomes = nil, nil, nil, nil, nil, nil, nil, nil
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("%s (-want +got):\n%.2000s", where, d)
	}
	if err := s.Rest(t.Context()); err != nil && !strings.Contains(err.Error(), "damaged") {
		t.Errorf("%s: at rest: %v", where, err)
	}
}
