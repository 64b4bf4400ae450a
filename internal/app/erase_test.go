package app_test

import (
	"net/http"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/account"
	"github.com/rimewatch/rimewatch/internal/app"
	"github.com/rimewatch/rimewatch/internal/store"
)

// rowsOf counts the rows of each table that belong to a workspace or to one of its
// devices, in the file itself.
func rowsOf(t *testing.T, file string, workspaceID int64, devices string) map[string]int64 {
	t.Helper()
	conn, err := sqlite.OpenConn(file, sqlite.OpenReadWrite)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	out := make(map[string]int64)
	one := func(query string, row func(*sqlite.Stmt)) {
		t.Helper()
		err := sqlitex.ExecuteTransient(conn, query, &sqlitex.ExecOptions{ResultFunc: func(s *sqlite.Stmt) error { row(s); return nil }})
		if err != nil {
			t.Fatalf("%s: %v", query, err)
		}
	}
	var named [][2]string
	one(`SELECT m.name, c.name FROM sqlite_schema m JOIN pragma_table_info(m.name) c WHERE m.type = 'table' AND c.name IN ('workspace_id', 'device_id')`,
		func(s *sqlite.Stmt) { named = append(named, [2]string{s.ColumnText(0), s.ColumnText(1)}) })
	for _, n := range named {
		which := "workspace_id = " + strconv.FormatInt(workspaceID, 10)
		if n[1] == "device_id" {
			which = "device_id IN (" + devices + ")"
		}
		if n[0] == "session" || n[0] == "seal_mark" { // looks at it; goes with the log
			continue
		}
		one("SELECT count(*) FROM "+n[0]+" WHERE "+which, func(s *sqlite.Stmt) { out[n[0]+"."+n[1]] = s.ColumnInt64(0) })
	}
	one("SELECT count(*) FROM workspace WHERE id = "+strconv.FormatInt(workspaceID, 10), func(s *sqlite.Stmt) { out["workspace"] = s.ColumnInt64(0) })
	return out
}

// TestWorkspaceIsErased deletes one of two workspaces and looks for what is left of
// it, in every table of the file and in its bytes.
func TestWorkspaceIsErased(t *testing.T) {
	var ahead atomic.Int64
	dir := t.TempDir()
	h := newHouse(t, func(c *app.Config) {
		c.Data = dir
		c.Now = func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
	})
	now := func() rimewatch.Time { return rimewatch.TimeOf(time.Now().Add(time.Duration(ahead.Load()))) }
	owner := account.Operator(h.workspace())
	other, err := h.Accounts.FindWorkspace(t.Context(), "Other", true, now())
	h.must(err)
	_, otherToken, err := h.Accounts.CreateToken(t.Context(), account.Operator(other.ID), account.TokenRequest{Name: "o"}, now())
	h.must(err)
	h.must(h.create(other.ID, "X-1", "walkin_freezer"))

	h.call("POST", "/sites", `{"name":"Only-here Street"}`)
	h.call("PATCH", "/devices/D-1", `{"site_id":1,"notes":"a note that stands nowhere else","limits":{"temp_max":-15,"delay_s":0},"confirm_loosening":true}`)
	h.call("POST", "/readings", `{"device_serial":"D-1","product_zone_temp":-18.25}`)
	h.call("POST", "/readings", `{"device_serial":"D-1","product_zone_temp":-14.75}`)
	h.call("POST", "/devices/D-1/calibrations", `{"method":"reference_probe","reference":-18,"as_found":-18.5,"performed_by":"Pat"}`)
	h.must(h.Store.Rest(t.Context())) // one part in chunks, one in the log
	h.call("POST", "/readings", `{"device_serial":"D-1","product_zone_temp":-14.5}`)

	_, err = h.Accounts.DeleteWorkspace(t.Context(), owner, "Other", now())
	if rimewatch.CodeOf(err) != rimewatch.CodeValidationFailed {
		t.Fatalf("with another's name: %v", err)
	}
	_, err = h.Accounts.DeleteWorkspace(t.Context(), owner, "W", now())
	h.must(err)
	_, err = h.Accounts.DeleteWorkspace(t.Context(), owner, "W", now())
	if rimewatch.CodeOf(err) != rimewatch.CodeConflict {
		t.Fatalf("twice: %v", err)
	}
	_, err = h.Accounts.KeepWorkspace(t.Context(), owner, now())
	h.must(err)
	ahead.Add(int64(8 * 24 * time.Hour))
	h.must(h.Erase(t.Context()))
	h.call("GET", "/devices/D-1", "") // it was kept

	_, err = h.Accounts.DeleteWorkspace(t.Context(), owner, "W", now())
	h.must(err)
	ahead.Add(int64(7*24*time.Hour - time.Hour))
	h.must(h.Erase(t.Context()))
	h.call("GET", "/devices/D-1", "") // the grace is not over
	file := filepath.Join(dir, "rimewatch.db")
	before := rowsOf(t, file, h.workspace(), "1, 2")
	for _, table := range []string{"device.workspace_id", "alert.workspace_id", "audit.workspace_id", "reading_chunk.device_id", "site.workspace_id", "token.workspace_id", "member.workspace_id", "calibration.workspace_id"} {
		if before[table] == 0 {
			t.Errorf("nothing in %s to erase: %v", table, before)
		}
	}
	ahead.Add(int64(2 * time.Hour))
	h.must(h.Erase(t.Context()))
	for table, n := range rowsOf(t, file, h.workspace(), "1, 2") {
		if n != 0 {
			t.Errorf("%d rows are left in %s", n, table)
		}
	}
	h.opens(h.token, http.StatusUnauthorized)
	h.opens(otherToken, http.StatusOK)
	if _, err := h.Store.Device(t.Context(), other.ID, "X-1"); err != nil {
		t.Errorf("the other workspace's device: %v", err)
	}
	if broken, err := h.Store.Audit().VerifyAudit(t.Context(), other.ID); broken != 0 || err != nil {
		t.Errorf("the other workspace's trail: %d, %v", broken, err)
	}
	h.must(h.Erase(t.Context())) // nothing is left to do

	h.must(h.Stop())
	again := serving(t, within(dir), by(func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) })) // nothing in the log is of a device that nobody knows
	if n, _, err := again.Store.Devices(t.Context(), other.ID, store.DeviceFilter{}, pageOf(10)); err != nil || len(n) != 1 {
		t.Errorf("after a restart: %d devices of the other workspace, %v", len(n), err)
	}
}

// opens checks what a token is answered.
func (h *house) opens(token string, want int) {
	h.t.Helper()
	r, err := http.NewRequestWithContext(h.t.Context(), http.MethodGet, h.URL()+"/api/v1/devices", nil)
	h.must(err)
	r.Header.Set("Authorization", "Bearer "+token)
	resp, err := h.http.Do(r)
	h.must(err)
	_ = resp.Body.Close()
	if resp.StatusCode != want {
		h.t.Errorf("a token afterwards: %d, want %d", resp.StatusCode, want)
	}
}
