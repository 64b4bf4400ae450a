package storetest

import (
	"sync"
	"testing"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
)

// Processes checks a server and a command that change the same tables at the same
// time: each sees what the other did, no change is lost, the audit trail stays
// whole.
func Processes(t *testing.T, server, command store.Store) {
	w := rimewatch.Workspace{Name: "a", TimeZone: "UTC", RawDays: 1, RollupDays: 1}
	if err := command.CreateWorkspace(t.Context(), &w); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for i, s := range []store.Store{server, command, server, command} {
		wg.Go(func() {
			for k := range 25 {
				tok := rimewatch.Token{WorkspaceID: w.ID, Name: "x", Hash: [32]byte{byte(i), byte(k)}, Scopes: rimewatch.ScopesRead}
				if err := s.People().CreateToken(t.Context(), &tok); err != nil {
					t.Error(err)
				}
				other := server
				if s == server {
					other = command
				}
				if got, err := other.People().TokenByHash(t.Context(), tok.Hash); err != nil || got.ID != tok.ID {
					t.Errorf("the other process finds %+v, %v", got, err)
				}
				if _, err := s.UpdateWorkspace(t.Context(), w.ID, func(w *rimewatch.Workspace) error { w.RollupDays++; return nil }); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	got, err := server.Workspace(t.Context(), w.ID)
	if err != nil || got.RollupDays != 1+4*25 {
		t.Fatalf("%d updates are there, %v", got.RollupDays-1, err)
	}
	if broken, err := server.Audit().VerifyAudit(t.Context(), w.ID); err != nil || broken != 0 {
		t.Fatalf("the audit trail is broken at %d, %v", broken, err)
	}
}
