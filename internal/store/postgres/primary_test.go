package postgres

import (
	"bytes"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/rimewatch/rimewatch/internal/store/postgres/pgtest"
)

// TestOldPrimary: a primary that is started again beside the one that replaced it gets
// nothing to write, whatever the connection string names first.
func TestOldPrimary(t *testing.T) {
	first, err := pgtest.Start("fsync=off")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(first.Stop)
	second, err := first.Standby("", "fsync=off")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(second.Stop)
	both := strings.Replace(first.URL("postgres"), first.Address(), first.Address()+","+second.Address(), 1) + "&target_session_attrs=read-write"
	alone := first.URL("postgres")
	file := filepath.Join(t.TempDir(), "primary")
	var log bytes.Buffer
	x := newShop(t, ready(t, openAt(t, Config{URL: both, Primary: file, Logger: slog.New(slog.NewTextHandler(&log, nil)), quiet: true})))
	commit := func() {
		t.Helper()
		until(t, func() bool { return x.commit() == nil }) // a connection that broke is noticed
	}
	commit()
	first.Kill()
	if err := second.Promote(); err != nil {
		t.Fatal(err)
	}
	commit()
	// It waits for no standby, so that it would take writes by itself.
	if err := first.Restart("fsync=off", "synchronous_standby_names="); err != nil {
		t.Fatal(err)
	}
	x.s.disk.writes.Reset() // the next connection is a new one
	commit()
	if text := log.String(); !strings.Contains(text, "was the primary before a fail-over") || !strings.Contains(text, "server="+first.Address()) {
		t.Errorf("the log says nothing of the old primary:\n%s", text)
	}
	for _, s := range []struct {
		*pgtest.Server
		want int
	}{{first, 1}, {second, x.n}} {
		if n := logRows(t, s.Server); n != s.want {
			t.Errorf("%s has %d readings, not %d", s.Address(), n, s.want)
		}
	}
	if err := x.s.Close(); err != nil {
		t.Fatal(err)
	}
	// Whoever was there remembers; whoever was not asks all servers.
	x.s = ready(t, openAt(t, Config{URL: both, quiet: true, takeOver: true}))
	commit()
	if n := logRows(t, second); n != x.n {
		t.Errorf("%d readings, not %d", n, x.n)
	}
	if err := x.s.Close(); err != nil {
		t.Fatal(err)
	}
	s, err := Open(t.Context(), Config{URL: alone, Primary: file, takeOver: true})
	if err == nil {
		_ = s.Close()
	}
	if err == nil || !strings.Contains(err.Error(), "was the primary before a fail-over") || strings.Contains(err.Error(), "\n") {
		t.Errorf("after a restart the old primary is taken for the primary: %v", err)
	}
	in, err := Inspect(t.Context(), both, false)
	if text := strings.Join(in.Problems, "\n"); err != nil || !strings.Contains(text, "take writes") || !strings.Contains(text, first.Address()) {
		t.Errorf("doctor says %q, %v", text, err)
	}
}

// TestOtherDatabase: a server of another database is refused while this one runs, and
// taken for a restored one at the next start.
func TestOtherDatabase(t *testing.T) {
	p := newPrimary(filepath.Join(t.TempDir(), "primary"), slog.New(slog.DiscardHandler))
	resets := 0
	p.onMove(func() { resets++ })
	for _, x := range []struct {
		seen    sighting
		refused string
	}{
		{sighting{"a", "1", 3, false}, ""},
		{sighting{"a", "1", 3, false}, ""},
		{sighting{"b", "1", 2, true}, ""}, // a standby that is behind
		{sighting{"b", "1", 2, false}, "before a fail-over"},
		{sighting{"c", "2", 9, false}, "another database"},
		{sighting{"b", "1", 4, true}, ""}, // a standby of a newer primary
		{sighting{"a", "1", 3, false}, "before a fail-over"},
	} {
		if err := p.judge(x.seen); (err == nil) != (x.refused == "") || err != nil && !strings.Contains(err.Error(), x.refused) {
			t.Errorf("%+v: %v, not %q", x.seen, err, x.refused)
		}
	}
	if resets != 1 {
		t.Errorf("connections were closed %d times, not once", resets)
	}
	p = newPrimary(p.file, p.log)
	if err := p.judge(sighting{"a", "1", 3, false}); err == nil {
		t.Error("the newest primary is forgotten at the next start")
	}
	p = newPrimary(p.file, p.log)
	if err := p.judge(sighting{"c", "2", 1, false}); err != nil {
		t.Errorf("a restored database: %v", err)
	}
}

// logRows is how many commits of readings a server has.
func logRows(t *testing.T, s *pgtest.Server) (n int) {
	t.Helper()
	c, err := pgx.Connect(t.Context(), s.URL("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(t.Context())
	if err := c.QueryRow(t.Context(), "SELECT count(*) FROM commit_log WHERE seq > 1").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}
