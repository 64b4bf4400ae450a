package sqlite

import (
	"context"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/store/storetest"
	"github.com/rimewatch/rimewatch/internal/store/tables"
	"zombiezen.com/go/sqlite"
)

func TestControl(t *testing.T) {
	storetest.Control(t, func(t *testing.T) store.Store {
		return openControl(t, Config{Path: filepath.Join(t.TempDir(), FileName)})
	})
}

func TestInlets(t *testing.T) {
	storetest.Inlets(t, func(t *testing.T) store.Store {
		return openControl(t, Config{Path: filepath.Join(t.TempDir(), FileName)})
	})
}

func openControl(t *testing.T, cfg Config) *Store {
	t.Helper()
	s, err := Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// A token is found while all who read history wait for slow clients.
func TestControlDoesNotWaitForHistory(t *testing.T) {
	s := openControl(t, Config{Path: filepath.Join(t.TempDir(), FileName), Readers: 1})
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	err := s.disk.ReadLong(ctx, func(tables.Conn) error {
		_, err := s.People().TokenByHash(ctx, [32]byte{})
		return err
	})
	if rimewatch.CodeOf(err) != rimewatch.CodeNotFound {
		t.Fatal(err)
	}
}

// Commands beside a server write the same tables at the same time.
func TestControlFromTwoProcesses(t *testing.T) {
	path := filepath.Join(t.TempDir(), FileName)
	storetest.Processes(t, openControl(t, Config{Path: path}), openControl(t, Config{Path: path, ControlOnly: true}))
}

func TestQuotas(t *testing.T) {
	storetest.Quotas(t, openControl(t, Config{Path: filepath.Join(t.TempDir(), FileName), Quotas: storetest.SmallQuotas}))
}

// A commit that fails leaves nothing behind, and the store goes on.
func TestControlFault(t *testing.T) {
	var failing atomic.Bool
	s := openControl(t, Config{Path: filepath.Join(t.TempDir(), FileName), fault: func(step string) error {
		if failing.Load() && step == "commit" {
			return sqlite.ResultFull.ToError()
		}
		return nil
	}})
	ctx := t.Context()
	w := rimewatch.Workspace{Name: "a", TimeZone: "UTC", RawDays: 1, RollupDays: 1}
	u := rimewatch.User{Email: "a@example.com", Locale: rimewatch.Locale{Units: "c"}, Theme: "dark"}
	if err := s.People().CreateFirstOwner(ctx, &w, &u); err != nil {
		t.Fatal(err)
	}
	site := rimewatch.Site{WorkspaceID: w.ID, Name: "x", TimeZone: "UTC"}
	if err := s.Sites().Create(ctx, &site); err != nil {
		t.Fatal(err)
	}
	second := rimewatch.Workspace{Name: "b", TimeZone: "UTC", RawDays: 1, RollupDays: 1}
	writes := map[string]func() error{
		"workspace": func() error { return s.CreateWorkspace(ctx, &second) },
		"password":  func() error { return s.People().SetPassword(ctx, u.ID, "$new", 1) },
		"member": func() error {
			return s.People().PutMember(ctx, &rimewatch.Member{WorkspaceID: w.ID, UserID: u.ID, Role: rimewatch.RoleOwner})
		},
		"site": func() error { return s.Sites().Delete(ctx, w.ID, site.ID) },
		"token": func() error {
			return s.People().CreateToken(ctx, &rimewatch.Token{WorkspaceID: w.ID, Name: "x", Hash: [32]byte{1}, Scopes: rimewatch.ScopesRead})
		},
	}
	failing.Store(true)
	for name, write := range writes {
		if err := write(); rimewatch.CodeOf(err) != rimewatch.CodeUnavailable {
			t.Errorf("%s on a full disk: %v", name, err)
		}
	}
	if got, err := s.People().User(ctx, u.ID); err != nil || got.PasswordHash != "" {
		t.Errorf("the password was changed: %v", err)
	}
	if _, err := s.Sites().Get(ctx, w.ID, site.ID); err != nil {
		t.Errorf("the site was deleted: %v", err)
	}
	if _, err := s.WorkspaceByName(ctx, "b"); rimewatch.CodeOf(err) != rimewatch.CodeNotFound {
		t.Errorf("the workspace was made: %v", err)
	}
	if _, err := s.People().TokenByHash(ctx, [32]byte{1}); rimewatch.CodeOf(err) != rimewatch.CodeNotFound {
		t.Errorf("the token was made: %v", err)
	}
	failing.Store(false)
	for name, write := range writes {
		if err := write(); err != nil {
			t.Errorf("%s afterwards: %v", name, err)
		}
	}
}

func BenchmarkTokenByHash(b *testing.B) {
	s, err := Open(b.Context(), Config{Path: filepath.Join(b.TempDir(), FileName), ControlOnly: true})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = s.Close() })
	w := rimewatch.Workspace{Name: "a", TimeZone: "UTC", RawDays: 1, RollupDays: 1}
	if err := s.CreateWorkspace(b.Context(), &w); err != nil {
		b.Fatal(err)
	}
	tok := rimewatch.Token{WorkspaceID: w.ID, Name: "x", Hash: [32]byte{1}, Scopes: rimewatch.ScopesRead}
	if err := s.People().CreateToken(b.Context(), &tok); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := s.People().TokenByHash(b.Context(), tok.Hash); err != nil {
			b.Fatal(err)
		}
	}
}

// The audit trail is only added to, and what somebody forces upon it shows.
func TestAuditCannotBeRewritten(t *testing.T) {
	s := openControl(t, Config{Path: filepath.Join(t.TempDir(), FileName)})
	for _, name := range []string{"a", "b"} {
		w := rimewatch.Workspace{Name: name, TimeZone: "UTC", RawDays: 1, RollupDays: 1}
		if err := s.CreateWorkspace(t.Context(), &w); err != nil {
			t.Fatal(err)
		}
		for range 3 {
			if err := s.Sites().Create(t.Context(), &rimewatch.Site{WorkspaceID: w.ID, Name: "x", TimeZone: "UTC"}); err != nil {
				t.Fatal(err)
			}
		}
	}
	force := func(query string) error {
		return s.disk.Write(t.Context(), func(conn tables.Conn) error {
			_, err := conn.Exec(query)
			return err
		})
	}
	for _, query := range []string{"UPDATE audit SET actor = 'x' WHERE id = 2", "DELETE FROM audit WHERE id = 2", "REPLACE INTO audit SELECT * FROM audit WHERE id = 2"} {
		if err := force(query); rimewatch.CodeOf(err) != rimewatch.CodeInternal {
			t.Errorf("%s: %v", query, err)
		}
	}
	for _, c := range []struct {
		query string
		want  int64
	}{
		{"UPDATE audit SET actor = 'x' WHERE id = 3", 3},
		{"DELETE FROM audit WHERE id = 2", 3},
		{"UPDATE audit SET hash = x'00' WHERE id = 1", 1},
	} {
		for _, query := range []string{"DROP TRIGGER IF EXISTS audit_never_changes", "DROP TRIGGER IF EXISTS audit_never_shrinks", c.query} {
			if err := force(query); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := s.Audit().VerifyAudit(t.Context(), 1); err != nil || got != c.want {
			t.Errorf("after %s: %d %v, want %d", c.query, got, err, c.want)
		}
	}
	if got, err := s.Audit().VerifyAudit(t.Context(), 2); err != nil || got != 0 {
		t.Errorf("the other workspace: %d %v", got, err)
	}
}
