package account

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
)

// trail are the entries of a workspace's audit trail with an action, oldest
// first.
func (f *fixture) trail(workspaceID int64, action string) (list []map[string]any) {
	f.Helper()
	entries, _, err := f.audit.AuditEntries(f.ctx, workspaceID, action, "", store.Page{Limit: 1000})
	f.ok(err)
	for i := len(entries) - 1; i >= 0; i-- {
		m := map[string]any{"actor": entries[i].Actor, "action": entries[i].Action}
		f.ok(json.Unmarshal([]byte(entries[i].Detail), &m))
		list = append(list, m)
	}
	return list
}

func TestSignInsAreAudited(t *testing.T) {
	f := newFixture(t)
	u := f.person("ada@example.com", rimewatch.RoleViewer)
	second, err := f.FindWorkspace(f.ctx, "Second", true, t0)
	f.ok(err)
	f.ok(f.store.People().PutMember(f.ctx, &rimewatch.Member{WorkspaceID: second.ID, UserID: u.ID, Role: rimewatch.RoleViewer, CreatedAt: t0}))
	other, err := f.FindWorkspace(f.ctx, "Other", true, t0)
	f.ok(err)
	f.signIn("ada@example.com", t0)
	for range 20 {
		_, err = f.SignIn(f.ctx, Credentials{Email: "ada@example.com", Password: "wrong", Client: Client{Address: "203.0.113.9"}}, t0)
		f.code(err, rimewatch.CodeUnauthenticated)
	}
	_, err = f.SignIn(f.ctx, Credentials{Email: "nobody@example.com", Password: "wrong"}, t0)
	f.code(err, rimewatch.CodeUnauthenticated)
	want := []map[string]any{{"actor": "Ada <ada@example.com>", "action": "user.signed_in", "address": "192.0.2.1", "by": "password"}}
	for _, n := range []float64{1, 2, 4, 8, 16} { // nobody fills the trail by guessing
		want = append(want, map[string]any{"actor": "service", "action": "user.sign_in_refused", "address": "203.0.113.9", "wrong": "password", "in_this_hour": n})
	}
	same(t, f.trail(f.ws.ID, "user.sign"), want)
	same(t, f.trail(second.ID, "user.sign"), want)
	same(t, len(f.trail(other.ID, "user.")), 0)
}

// Guesses from many addresses end for the account's strangers, and for nobody
// who is known there.
func TestStrangersDoNotStarveTheOwner(t *testing.T) {
	f := newFixture(t)
	f.person("ada@example.com", rimewatch.RoleOwner)
	f.person("bob@example.com", rimewatch.RoleViewer)
	f.ok(f.SignOut(f.ctx, f.signIn("ada@example.com", t0).Principal)) // known, though signed out
	guess := func(email string, i int, now rimewatch.Time) rimewatch.Code {
		_, err := f.SignIn(f.ctx, Credentials{Email: email, Password: "wrong", Client: Client{Address: fmt.Sprintf("2001:db8:%x::1", i)}}, now)
		return rimewatch.CodeOf(err)
	}
	for _, email := range []string{"ada@example.com", "nobody@example.com"} { // alike, so that this is no oracle
		for i := range strangerTries {
			same(t, guess(email, i, t0), rimewatch.CodeUnauthenticated)
		}
		same(t, guess(email, 99, t0), rimewatch.CodeRateLimited)
	}
	f.signIn("ada@example.com", t0)
	_, err := f.SignIn(f.ctx, Credentials{Email: "bob@example.com", Password: password, Client: Client{Address: "2001:db8:99::1"}}, t0)
	f.ok(err)
	same(t, guess("ada@example.com", 99, t0+strangerWindow), rimewatch.CodeUnauthenticated)
	for range 2 * strangerTries { // right ones cost nothing
		_, err := f.SignIn(f.ctx, Credentials{Email: "bob@example.com", Password: password, Client: Client{Address: "2001:db8:98::1"}}, t0)
		f.ok(err)
	}
}
