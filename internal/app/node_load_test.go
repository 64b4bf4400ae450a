package app_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/account"
	"github.com/rimewatch/rimewatch/internal/app"
	"github.com/rimewatch/rimewatch/internal/store/postgres/pgtest"
	"github.com/rimewatch/rimewatch/internal/trial"
)

// TestNodeServesBeforeAllIsRead: a shard is served before the states of its devices
// have been read. Requests that need them wait, and none is put off.
func TestNodeServesBeforeAllIsRead(t *testing.T) {
	trial.NeedsAll(t)
	database, err := pgtest.Start("fsync=off")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(database.Stop)
	hold := func(c *app.Config) { c.ClusterHold = 20 * time.Second } // the longest
	first, _ := startNode(t, database.URL("postgres"), 1, hold)
	await(t, "the first node does not serve the shard", func() bool { return first.Part(0) != nil })
	part := first.Part(0)
	now := rimewatch.TimeOf(time.Now())
	w, err := part.Accounts.FindWorkspace(t.Context(), "W", true, now)
	if err != nil {
		t.Fatal(err)
	}
	_, token, err := part.Accounts.CreateToken(t.Context(), account.Operator(w.ID), account.TokenRequest{Name: "t", Scopes: rimewatch.ScopesFull}, now)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 300 { // more than are read first
		d := &rimewatch.Device{WorkspaceID: w.ID, Serial: fmt.Sprint("D-", i), Name: "D", EquipmentType: "other"}
		if _, err := part.Ingest.CreateDevice(t.Context(), d); err != nil {
			t.Fatal(err)
		}
	}
	// Without this column no state can be read.
	if err := database.Exec("postgres", "ALTER TABLE checkpoint RENAME state TO away"); err != nil {
		t.Fatal(err)
	}
	second, _ := startNode(t, database.URL("postgres"), 1, hold)
	if err := first.Stop(); err != nil {
		t.Fatal(err)
	}
	await(t, "the shard is not served before all states are read", func() bool { return second.Part(0) != nil })
	get := func(patience time.Duration) (status int, err error) {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+second.Addr()+"/api/v1/devices/D-1", nil)
		if err != nil {
			return 0, err
		}
		r.Header.Set("Authorization", "Bearer "+token)
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			return 0, err
		}
		return resp.StatusCode, resp.Body.Close()
	}
	if status, err := get(300 * time.Millisecond); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a request that needs states is answered %d, %v before they are read", status, err)
	}
	if err := database.Exec("postgres", "ALTER TABLE checkpoint RENAME away TO state"); err != nil {
		t.Fatal(err)
	}
	status, err := get(patience)
	for status == http.StatusServiceUnavailable { // held for as long as it may be
		status, err = get(patience)
	}
	if status != http.StatusOK {
		t.Errorf("afterwards: %d, %v", status, err)
	}
}
