package postgres

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/store/storetest"
)

const testShards = 4

// divided connects to a fresh database of several shards, twice.
func divided(t *testing.T) (a, b *Database) {
	t.Helper()
	u := server.Database(t)
	c, err := pgx.Connect(t.Context(), u)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Exec(t.Context(), "DROP SCHEMA public CASCADE; CREATE SCHEMA public"); err != nil {
		t.Fatal(err)
	}
	_ = c.Close(t.Context())
	connect := func() *Database {
		db, err := Connect(t.Context(), Config{URL: u, Shards: testShards})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := db.Close(); err != nil {
				t.Error(err)
			}
		})
		return db
	}
	return connect(), connect()
}

// openAll takes all shards from their streams.
func openAll(t *testing.T, db *Database) (list []*Store) {
	t.Helper()
	v, err := db.Look(t.Context())
	if err != nil || len(v.Holdings) != testShards {
		t.Fatal(v.Holdings, err)
	}
	for _, h := range v.Holdings {
		s, err := db.Open(t.Context(), h.Shard, h.Stream, Config{quiet: true})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		list = append(list, ready(t, s))
	}
	return list
}

// TestShards has two nodes serve four shards after each other.
func TestShards(t *testing.T) {
	first, second := divided(t)
	stores := openAll(t, first)
	shops := make([]*shop, 0, 2*testShards)
	for i := range cap(shops) {
		w := rimewatch.Workspace{Name: fmt.Sprint("W", i), TimeZone: "UTC", RawDays: 30, RollupDays: 60, CreatedAt: 1, UpdatedAt: 1}
		if err := stores[0].CreateWorkspace(t.Context(), &w); err != nil { // in its own shard's trail
			t.Fatal(err)
		}
		s := stores[store.ShardOf(w.ID, testShards)]
		op := &store.DeviceOp{WorkspaceID: w.ID, Serial: "A", Create: &rimewatch.Device{ID: s.NewDeviceID(), WorkspaceID: w.ID, Serial: "A", Name: "A", EquipmentType: "other"}}
		if err := storetest.Commit(t.Context(), s, &store.Group{Now: 1, Devices: []*store.DeviceOp{op}}, &store.Effects{}); err != nil || op.Err != nil {
			t.Fatal(err, op.Err)
		}
		shops = append(shops, &shop{T: t, s: s, workspace: w.ID, device: op.Device.ID})
	}
	ids := make(map[int64]bool)
	for i, x := range shops {
		for range i + 1 {
			if err := x.commit(); err != nil {
				t.Fatal(err)
			}
		}
		if ids[x.device] {
			t.Fatalf("device %d exists twice", x.device)
		}
		ids[x.device] = true
	}
	if err := stores[1].Rest(t.Context()); err != nil { // some of it in chunks
		t.Fatal(err)
	}
	for range 2 { // the log of one node, and of one after it
		taken := openAll(t, second)
		for i, x := range shops {
			if err := x.commit(); rimewatch.CodeOf(err) != rimewatch.CodeUnavailable {
				t.Fatalf("a commit of a shard that was taken: %v", err)
			}
			x.s = taken[store.ShardOf(x.workspace, testShards)]
			if n := x.history(); n != x.n || x.n < i+1 {
				t.Errorf("workspace %d has %d readings, not %d", x.workspace, n, x.n)
			}
			if err := x.commit(); err != nil {
				t.Fatal(err)
			}
			if broken, err := x.s.Audit().VerifyAudit(t.Context(), x.workspace); err != nil || broken != 0 {
				t.Errorf("audit entry %d: %v", broken, err)
			}
		}
		for number, s := range taken {
			list, err := s.Workspaces(t.Context())
			n := 0
			if err == nil {
				err = s.Everywhere().AllDevices(t.Context(), func(d *rimewatch.Device) error {
					if n++; store.ShardOf(d.WorkspaceID, testShards) != int64(number) {
						t.Errorf("shard %d has device %d of workspace %d", number, d.ID, d.WorkspaceID)
					}
					return nil
				})
			}
			if err != nil || len(list) != 2 || n != 2 {
				t.Fatalf("shard %d has %d workspaces, %d devices, %v", number, len(list), n, err)
			}
		}
		first, second = second, first
	}
}

func TestTakeOnce(t *testing.T) {
	first, second := divided(t)
	if _, err := Open(t.Context(), Config{URL: first.disk.cfg.URL}); err == nil || !strings.Contains(err.Error(), "--cluster-listen") {
		t.Fatalf("a server that is no node: %v", err)
	}
	if _, err := OpenSource(t.Context(), first.disk.cfg.URL); err == nil || !strings.Contains(err.Error(), "divided") {
		t.Fatalf("a copy of a part: %v", err)
	}
	s, err := first.Open(t.Context(), 2, 0, Config{quiet: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := second.Open(t.Context(), 2, 0, Config{quiet: true}); !errors.Is(err, store.ErrTaken) {
		t.Fatalf("a shard that somebody else has taken: %v", err)
	}
	select {
	case <-s.Lost():
		t.Fatal("whoever came second closed the stream")
	default:
	}
}

func TestMembers(t *testing.T) {
	a, b := divided(t)
	see := func(want ...string) store.ClusterState {
		t.Helper()
		v, err := b.Look(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for i := range v.Members {
			names = append(names, v.Members[i].URL)
		}
		if fmt.Sprint(names) != fmt.Sprint(want) {
			t.Fatalf("members %q, not %q", names, want)
		}
		return v
	}
	v, err := a.Beat(t.Context(), &store.Member{URL: "http://a", Version: "1"})
	if err != nil || len(v.Members) != 1 || v.Members[0].Leaving || v.Silent(&v.Members[0]) {
		t.Fatalf("%+v, %v", v, err)
	}
	if _, err := a.Beat(t.Context(), &store.Member{URL: "http://a", Version: "1", Leaving: true, Failed: []store.Failure{{Shard: 3, Times: 2, Why: "broken"}}}); err != nil {
		t.Fatal(err)
	}
	v = see("http://a")
	if !v.Members[0].Leaving {
		t.Error("a node that leaves is not known to")
	}
	if times, why := v.Failures(3); times != 2 || why != "broken" {
		t.Errorf("a shard that could not be opened twice could not %d times: %q", times, why)
	}
	if err := b.RemoveMember(t.Context(), a.Name(), v.Members[0].Beat-1); err != nil { // it was heard of since
		t.Fatal(err)
	}
	see("http://a")
	if err := b.RemoveMember(t.Context(), a.Name(), v.Members[0].Beat); err != nil {
		t.Fatal(err)
	}
	see()
	if _, err := a.Beat(t.Context(), &store.Member{URL: "http://a"}); err != nil { // over a new connection
		if _, err = a.Beat(t.Context(), &store.Member{URL: "http://a"}); err != nil {
			t.Fatal(err)
		}
	}
	see("http://a")
	if err := a.Leave(t.Context()); err != nil {
		t.Fatal(err)
	}
	see()
}

// TestDivide divides a database with something in it, and brings it together again.
func TestDivide(t *testing.T) {
	u := server.Database(t)
	s := ready(t, openAt(t, Config{URL: u, quiet: true}))
	x := newShop(t, s)
	for range 3 {
		if err := x.commit(); err != nil {
			t.Fatal(err)
		}
	}
	db, err := Connect(t.Context(), Config{URL: u})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.Divide(t.Context(), 4); err == nil || !strings.Contains(err.Error(), "stop all servers") {
		t.Fatalf("while a server runs: %v", err)
	}
	if err := s.SaveCheckpoints(t.Context(), nil, store.Seq(x.n+2)); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := db.Divide(t.Context(), 4); err == nil || !strings.Contains(err.Error(), "not sealed") {
		t.Fatalf("with a log: %v", err)
	}
	s = ready(t, openAt(t, Config{URL: u, quiet: true}))
	if err := s.SaveCheckpoints(t.Context(), nil, store.Seq(x.n+2)); err != nil {
		t.Fatal(err)
	}
	if err := s.Rest(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := db.Divide(t.Context(), testShards); err != nil {
		t.Fatal(err)
	}
	shards := openAll(t, db)
	x.s = shards[store.ShardOf(x.workspace, testShards)]
	if n := x.history(); n != 3 {
		t.Errorf("%d readings after the division", n)
	}
	if id := x.s.NewDeviceID(); id <= x.device {
		t.Errorf("device %d comes after %d", id, x.device)
	}
	g := &store.Group{Now: 2, Parts: [][]store.Input{{{Kind: store.InputHeartbeat, DeviceID: x.device}}}}
	if err := storetest.Commit(t.Context(), x.s, g, &store.Effects{}); err != nil || g.Seq <= store.Seq(x.n) {
		t.Errorf("position %d after the division, %v", g.Seq, err)
	}
}

// TestShardsFarApart: what a shard costs to open does not depend on how many ids were
// given out before, to it or to others.
func TestShardsFarApart(t *testing.T) {
	first, second := divided(t)
	device := func(stores []*Store, serial string) int64 {
		t.Helper()
		w := rimewatch.Workspace{Name: serial, TimeZone: "UTC", RawDays: 30, RollupDays: 60, CreatedAt: 1, UpdatedAt: 1}
		if err := stores[0].CreateWorkspace(t.Context(), &w); err != nil {
			t.Fatal(err)
		}
		s := stores[store.ShardOf(w.ID, testShards)]
		op := &store.DeviceOp{WorkspaceID: w.ID, Serial: serial, Create: &rimewatch.Device{ID: s.NewDeviceID(), WorkspaceID: w.ID, Serial: serial, Name: serial, EquipmentType: "other"}}
		if err := storetest.Commit(t.Context(), s, &store.Group{Now: 1, Devices: []*store.DeviceOp{op}}, &store.Effects{}); err != nil || op.Err != nil {
			t.Fatal(err, op.Err)
		}
		return op.Device.ID
	}
	near := device(openAll(t, first), "near")
	err := second.disk.with(t.Context(), second.disk.writes, func(c *pgx.Conn) error {
		_, err := c.Exec(t.Context(), "SELECT setval('device_block', 1 << 30)")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	far := device(openAll(t, second), "far")
	if far-near < 1<<40 {
		t.Fatalf("ids %d and %d: this proves nothing", near, far)
	}
	found := 0
	for _, s := range openAll(t, first) {
		for _, id := range []int64{near, far} {
			if _, ok := s.DeviceByID(id); ok {
				found++
			}
		}
	}
	if found != 2 {
		t.Errorf("%d of two devices are there again", found)
	}
}

// TestInspectShards: commits are counted in each shard, so damage names it.
func TestInspectShards(t *testing.T) {
	db, _ := divided(t)
	x := served(t, db)
	c, err := pgx.Connect(t.Context(), db.disk.cfg.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close(t.Context()) }()
	if _, err := c.Exec(t.Context(), "UPDATE commit_log SET data = set_byte(data, length(data) - 1, 255 - get_byte(data, length(data) - 1)) WHERE shard = $1", x.s.disk.shard); err != nil {
		t.Fatal(err)
	}
	in, err := Inspect(t.Context(), db.disk.cfg.URL, true)
	if err != nil || len(in.Damage) < 3 || !strings.HasPrefix(in.Damage[0], "shard 1: commit ") {
		t.Errorf("damage is told of as %q, %v", in.Damage, err)
	}
}
