package v1

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/account"
	"github.com/rimewatch/rimewatch/internal/store"
)

// refused lists the entries about refusals of the first workspace's audit trail,
// oldest first.
func (r *rig) refused() (out []string) {
	r.t.Helper()
	list, _, err := r.store.Audit().AuditEntries(r.t.Context(), r.workspace.ID, "request.refused", "", store.Page{Limit: 1000})
	if err != nil {
		r.t.Fatal(err)
	}
	for _, e := range list {
		out = append([]string{e.Actor + ": " + e.Subject + " " + e.Detail}, out...)
	}
	return out
}

// TestRefusalsAreAudited: a workspace learns which of its tokens and people are
// refused, from where, and how often, and however many refusals there are they do
// not fill its trail. Of tokens that were never anybody's the log tells.
func TestRefusalsAreAudited(t *testing.T) {
	r := newRig(t, func(w *whole) { w.RateLimit = 60 })
	for range 100 {
		if a := r.do(post("/v1/devices", r.read, `{"serial":"X"}`)); a.status != 403 {
			t.Fatal(a.status)
		}
	}
	entry := func(code string, n int) string {
		return fmt.Sprintf(`token test: token 3 {"address":"192.0.2.1","code":"%s","in_this_hour":%d,"request":"POST /v1/devices"}`, code, n)
	}
	want := []string{entry("forbidden", 1), entry("forbidden", 2), entry("forbidden", 4), entry("forbidden", 8), entry("forbidden", 16), entry("forbidden", 32), entry("forbidden", 64)}
	if got := r.refused(); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("refusals:\n%s", strings.Join(got, "\n"))
	}
	r.advance(time.Hour)
	r.do(post("/v1/devices", r.read, `{"serial":"X"}`))
	if got := r.refused(); len(got) != len(want)+1 || got[len(want)] != entry("forbidden", 1) {
		t.Errorf("an hour later: %s", got[len(want):])
	}
	before := len(r.refused())
	for range 2000 { // the burst, and beyond
		if r.do(get("/v1/sites", r.read)).status == 429 {
			break
		}
	}
	if got := r.refused(); len(got) != before+1 || !strings.Contains(got[before], `"code":"rate_limited"`) {
		t.Errorf("too many requests: %s", got[before:])
	}
	before = len(r.refused())
	tokens, err := r.accounts.Tokens(t.Context(), account.Operator(r.workspace.ID))
	if err != nil {
		t.Fatal(err)
	}
	if err := r.accounts.RevokeToken(t.Context(), account.Operator(r.workspace.ID), tokens[1].ID, r.now()); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/v1/readings", "/v1/devices"} {
		if a := r.do(post(path, r.feed, `{}`)); a.status != 401 {
			t.Error(a.status)
		}
	}
	if got := r.refused(); len(got) != before+2 || !strings.HasPrefix(got[before], "token test: token 2 ") || !strings.Contains(got[before], `"code":"unauthenticated"`) {
		t.Errorf("a token that was revoked: %s", got[before:])
	}
	before = len(r.refused())
	for range 10 {
		if a := r.do(get("/v1/devices", rimewatch.NewToken(func() byte { return 7 }))); a.status != 401 {
			t.Error(a.status)
		}
	}
	if got := r.refused(); len(got) != before {
		t.Errorf("a token that is nobody's: %s", got[before:])
	}
}
