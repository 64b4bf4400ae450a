package v1

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/account"
	"github.com/rimewatch/rimewatch/internal/httpapi"
)

// sample is a request to a route whose checks up to authentication and scope
// it must pass.
func sample(rt *httpapi.Route) request {
	path := strings.NewReplacer("{serial}", "A", "{id}", "1", "{slug}", "privacy").Replace(rt.Path)
	q := request{method: rt.Method, path: httpapi.Prefix + path}
	if len(rt.Body.Types) > 0 && !rt.Body.Optional {
		q.body = `{"x":1}`
		if types := rt.Body.Types; !slices.Contains(types, httpapi.TypeJSON) {
			q = q.with("Content-Type", types[0])
		}
	}
	return q
}

func TestEveryRouteAuthenticates(t *testing.T) {
	r := newRig(t, withSources)
	revoked := r.token(r.workspace.ID, rimewatch.ScopesFull)
	list, err := r.accounts.Tokens(t.Context(), account.Operator(r.workspace.ID))
	if err != nil {
		t.Fatal(err)
	}
	if err := r.accounts.RevokeToken(t.Context(), account.Operator(r.workspace.ID), list[len(list)-1].ID, r.now()); err != nil {
		t.Fatal(err)
	}
	_, expired, err := r.accounts.CreateToken(t.Context(), account.Operator(r.workspace.ID), account.TokenRequest{Name: "x", ExpiresAt: r.now() + 1}, r.now())
	if err != nil {
		t.Fatal(err)
	}
	r.advance(time.Second)
	bad := map[string]map[string]string{
		"no token":      {},
		"empty":         {"Authorization": ""},
		"no scheme":     {"Authorization": r.full},
		"basic":         {"Authorization": "Basic " + r.full},
		"empty bearer":  {"Authorization": "Bearer "},
		"malformed":     {"Authorization": "Bearer nonsense"},
		"bad checksum":  {"Authorization": "Bearer " + r.full[:len(r.full)-1] + "!"},
		"unknown":       {"Authorization": "Bearer " + rimewatch.NewToken(func() byte { return 7 })},
		"revoked":       {"Authorization": "Bearer " + revoked},
		"expired":       {"Authorization": "Bearer " + expired},
		"bad cookie":    {"Cookie": "rimewatch_session=x"},
		"foreign token": {"Authorization": "Bearer " + r.full + r.full},
	}
	var bodies []string
	for i := range r.api.Routes() {
		rt := &r.api.Routes()[i]
		for name, header := range bad {
			q := sample(rt)
			q.header = header
			a := r.do(q)
			if rt.Access.Public {
				if a.status == http.StatusUnauthorized && rt.ID != "sign-in" {
					t.Errorf("%s with %s: %d", rt.ID, name, a.status)
				}
				continue
			}
			if a.status != http.StatusUnauthorized || a.code() != "unauthenticated" {
				t.Errorf("%s with %s: %d %s", rt.ID, name, a.status, a.code())
			}
			bodies = append(bodies, strings.ReplaceAll(a.body, a.header.Get(httpapi.RequestIDHeader), ""))
		}
	}
	for _, b := range bodies {
		if b != bodies[0] {
			t.Fatalf("the answers differ, which tells why:\n%s%s", b, bodies[0])
		}
	}
}

func TestEveryRouteChecksScopes(t *testing.T) {
	r := newRig(t, withSources)
	byScope := make(map[rimewatch.Scopes]string)
	for _, name := range (rimewatch.ScopesFull | rimewatch.ScopesManage).Names() {
		s, err := rimewatch.ParseScopes([]string{name})
		if err != nil {
			t.Fatal(err)
		}
		byScope[s] = r.token(r.workspace.ID, s)
	}
	for i := range r.api.Routes() {
		rt := &r.api.Routes()[i]
		for s, token := range byScope {
			q := sample(rt)
			q.path = strings.Replace(q.path, "/1", "/987654", 1)
			q.token = token
			a := r.do(q)
			never := rt.Access.Own || rt.Access.Role != "" && rt.Access.Scopes == 0
			want := !rt.Access.Public && (never || !s.Has(rt.Access.Scopes))
			if got := a.status == http.StatusForbidden; got != want && rt.ID != "set-up" {
				t.Errorf("%s with %v: %d", rt.ID, s.Names(), a.status)
			}
			if want && !never && fmt.Sprint(a.get("error.fields.scope")) != fmt.Sprint((rt.Access.Scopes&^s).Names()) {
				t.Errorf("%s does not name the missing scope: %s", rt.ID, a.body)
			}
		}
	}
}

// TestStaysWithPeople: what a button does, a token with the right scope can do, but for these.
func TestStaysWithPeople(t *testing.T) {
	want := map[string]string{
		"delete-workspace": "it ends everything for everybody", "keep-workspace": "it ends everything for everybody",
		"update-address": "it is the whole installation's",
	}
	own := []string{
		"add-my-channel", "list-my-channels", "remove-my-channel", "try-my-channel", "update-my-channel",
		"begin-second-factor", "change-password", "confirm-second-factor", "end-other-sessions", "end-session", "erase-me", "get-me", "get-second-factor", "join-workspace",
		"list-my-workspaces", "list-sessions", "remove-second-factor", "renew-recovery-codes", "sign-out", "switch-workspace", "update-me",
	}
	for _, id := range own {
		want[id] = "it is about that person's own account"
	}
	for _, id := range []string{"list-acts", "get-act", "undo-act"} {
		want[id] = "only what people do waits, tokens act at once"
	}
	want["verify-work-order"] = "a record is verified by a person, who is another than the one who did it"
	want["verify-corrective-action"] = "a record is verified by a person, who is another than the one who did it"
	want["sign-case"] = "a signature is that of a person, who shows again who signs"
	got := make(map[string]string)
	r := newRig(t, withSources)
	for i := range r.api.Routes() {
		if rt := &r.api.Routes()[i]; rt.Access.Role != "" && rt.Access.Scopes == 0 || rt.Access.Own {
			got[rt.ID] = rt.Access.Why
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestEveryRouteChecksRoles asks with people of every role.
func TestEveryRouteChecksRoles(t *testing.T) {
	r := newRig(t, withSources)
	for _, role := range []rimewatch.Role{rimewatch.RoleViewer, rimewatch.RoleTechnician, rimewatch.RoleAdmin} {
		email := string(role) + "@example.com"
		if _, err := r.accounts.AddUser(t.Context(), r.workspace.ID, account.UserRequest{Email: email, Name: "P", Password: ownerPassword, Role: role}, r.now()); err != nil {
			t.Fatal(err)
		}
		for i := range r.api.Routes() {
			rt := &r.api.Routes()[i]
			// Leaving is open to everyone, removing others is not: see the accounts.
			if rt.Access.Public || rt.ID == "sign-out" || rt.ID == "remove-member" {
				continue
			}
			in, err := r.accounts.SignIn(t.Context(), account.Credentials{Email: email, Password: ownerPassword}, r.now())
			if err != nil {
				t.Fatal(err)
			}
			q := sample(rt).with("Cookie", "rimewatch_session="+in.Secret)
			q.path = strings.Replace(q.path, "/1", "/987654", 1)
			a := r.do(q)
			allowed := role.AtLeast(rt.Access.Role) && rt.Access.Role != "" || rt.Access.Role == "" && role.Scopes().Has(rt.Access.Scopes)
			if got := a.status != http.StatusForbidden; got != allowed {
				t.Errorf("%s as %s: %d %s", rt.ID, role, a.status, clip(a.body))
			}
		}
	}
}

// TestOtherWorkspaces asks with a token of another workspace for everything
// that has a name: it must look exactly like what does not exist.
func TestOtherWorkspaces(t *testing.T) {
	r := newRig(t)
	theirToken := r.token(r.other.ID, rimewatch.ScopesAdmin|rimewatch.ScopeExportRead)
	r.device("A", "other")
	site := rimewatch.Site{WorkspaceID: r.workspace.ID, Name: "S", TimeZone: "UTC"}
	err := r.accounts.Sites(account.Operator(r.workspace.ID)).Create(t.Context(), &site)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for i := range r.api.Routes() {
		rt := &r.api.Routes()[i]
		if !strings.Contains(rt.Path, "{") || rt.Access.Public || rt.Access.Own || rt.Access.Role != "" && rt.Access.Scopes == 0 {
			continue
		}
		n++
		theirs, missing := sample(rt), sample(rt)
		theirs.path = strings.Replace(theirs.path, "/sites/1", fmt.Sprintf("/sites/%d", site.ID), 1)
		missing.path = strings.NewReplacer("/A", "/Zz", "/1", "/987654").Replace(missing.path)
		for _, q := range []*request{&theirs, &missing} {
			q.token = theirToken
			if body := bodyOf[rt.ID]; body != "" {
				q.body = body
			}
		}
		x, y := r.do(theirs), r.do(missing)
		if x.status != http.StatusNotFound || strings.ReplaceAll(x.body, x.header.Get(httpapi.RequestIDHeader), "") != strings.ReplaceAll(y.body, y.header.Get(httpapi.RequestIDHeader), "") {
			t.Errorf("%s: %d %s%s", rt.ID, x.status, x.body, y.body)
		}
	}
	if n < 10 {
		t.Errorf("only %d routes were asked", n)
	}
}

func TestBearerForms(t *testing.T) {
	r := newRig(t)
	for _, scheme := range []string{"Bearer ", "bearer ", "BEARER ", "Bearer   "} {
		q := get("/v1/devices", "").with("Authorization", scheme+r.read)
		if a := r.do(q); a.status != 200 {
			t.Errorf("%q: %d", scheme, a.status)
		}
	}
	// A bad token is not made good by a cookie.
	q := r.browser(get("/v1/devices", "")).with("Authorization", "Bearer nonsense")
	if a := r.do(q); a.status != 401 {
		t.Errorf("bad token and good cookie: %d", a.status)
	}
	hr := httptest.NewRequest("GET", "/api/v1/devices", nil)
	hr.Header["Authorization"] = []string{"Bearer " + r.read, "Bearer " + r.read}
	rec := httptest.NewRecorder()
	r.api.ServeHTTP(rec, hr)
	if rec.Code != 401 {
		t.Errorf("two headers: %d", rec.Code)
	}
}

func TestTokenLimit(t *testing.T) {
	r := newRig(t, func(c *whole) { c.RateLimit, c.readings.Writer = 6000, instantWriter{c.readings.Writer} })
	r.device("A", "other")
	for range 1000 {
		if a := r.do(get("/v1/alerts/counts", r.read)); a.status != 200 {
			t.Fatal(a.body)
		}
	}
	r.events.take(t, 1)
	r.run(t, []scenario{
		{
			name: "over the limit", req: get("/v1/devices", r.read), status: 429, code: rimewatch.CodeRateLimited,
			header: map[string]string{"RateLimit": `"token";r=0;t=10`, "RateLimit-Policy": `"token";q=1000;w=10`, "Retry-After": "1"},
		},
		{name: "scope before rate", req: post("/v1/devices", r.read, `{}`), status: 403, code: rimewatch.CodeForbidden},
		{name: "rate before content type", req: get("/v1/alerts", r.read).with("Content-Type", "x"), status: 429, code: rimewatch.CodeRateLimited},
		{name: "another token", req: get("/v1/devices", r.full), status: 200, header: map[string]string{"RateLimit": `"token";r=999;t=1`, "Retry-After": ""}},
		{name: "a person", req: r.browser(get("/v1/devices", "")), status: 200},
		{name: "public ones have no limit", req: get("/v1/policies", r.read), status: 200, header: map[string]string{"RateLimit": ""}},
		{name: "after 10 ms", req: get("/v1/devices", r.read), before: func(r *rig) { r.advance(10 * time.Millisecond) }, status: 200},
		{name: "and no more", req: get("/v1/devices", r.read), status: 429, code: rimewatch.CodeRateLimited},
	})
	for range 1010 { // ingest has its own limit
		if a := r.do(post("/v1/readings/batch", r.full, batchOf(reading("A", 1)))); a.status != 200 {
			t.Fatal(a.body)
		}
	}
}

// TestSmallTokenLimit: at once there are never more requests than a minute has.
func TestSmallTokenLimit(t *testing.T) {
	r := newRig(t, func(c *whole) { c.RateLimit = 3 })
	for left := 2; left >= 0; left-- {
		a := r.do(get("/v1/devices", r.read))
		if want := fmt.Sprintf(`"token";r=%d;t=%d`, left, 20*(3-left)); a.status != 200 || a.header.Get("RateLimit") != want || a.header.Get("RateLimit-Policy") != `"token";q=3;w=60` {
			t.Errorf("%d %v, want %s", a.status, a.header, want)
		}
	}
	if a := r.do(get("/v1/devices", r.read)); a.status != 429 || a.header.Get("Retry-After") != "20" {
		t.Errorf("%d %v", a.status, a.header)
	}
}

func TestFailedAuthentications(t *testing.T) {
	r := newRig(t, func(c *whole) { c.AuthRateLimit = 20 })
	for i := range 20 {
		if a := r.do(get("/v1/devices", "bad")); a.status != 401 {
			t.Fatalf("%d: %d", i, a.status)
		}
	}
	signIn := post("/v1/auth/sign-in", "", `{"email":"olga@example.com","password":"`+ownerPassword+`"}`)
	r.run(t, []scenario{
		{name: "refused", req: get("/v1/devices", "bad"), status: 429, code: rimewatch.CodeRateLimited, header: map[string]string{"Retry-After": "60"}},
		{name: "also for ingest", req: post("/v1/readings", "bad", nominalBody), status: 429, code: rimewatch.CodeRateLimited},
		{name: "a valid token still works", req: get("/v1/devices", r.read), status: 200},
		{name: "a bad token does not matter to the public", req: get("/v1/policies", "bad"), status: 200},
		{name: "a token is no guess at a password", req: signIn, status: 200},
	})
	guess := post("/v1/auth/sign-in", "", `{"email":"olga@example.com","password":"not the password"}`)
	for i := range 20 {
		if a := r.do(guess); a.status != 401 {
			t.Fatalf("guess %d: %d", i, a.status)
		}
	}
	r.run(t, []scenario{
		{name: "no guessing of passwords", req: signIn, status: 429, code: rimewatch.CodeRateLimited, header: map[string]string{"Retry-After": "60"}},
		{name: "nor of links", req: post("/v1/auth/forgot", "", `{"email":"olga@example.com"}`), status: 429, code: rimewatch.CodeRateLimited},
		{name: "after a minute", req: signIn, before: func(r *rig) { r.advance(time.Minute) }, status: 200},
	})
}

// Somebody who is limited to sites is told so, and pages do not offer what is refused.
func TestMeIsLimited(t *testing.T) {
	r := newRig(t)
	site := rimewatch.Site{WorkspaceID: r.workspace.ID, Name: "S", TimeZone: "UTC"}
	if err := r.accounts.Sites(account.Operator(r.workspace.ID)).Create(t.Context(), &site); err != nil {
		t.Fatal(err)
	}
	u, err := r.accounts.AddUser(t.Context(), r.workspace.ID, account.UserRequest{Email: "t@example.com", Name: "T", Password: ownerPassword, Role: rimewatch.RoleTechnician}, r.now())
	if err != nil {
		t.Fatal(err)
	}
	me := func() any {
		in, err := r.accounts.SignIn(t.Context(), account.Credentials{Email: "t@example.com", Password: ownerPassword}, r.now())
		if err != nil {
			t.Fatal(err)
		}
		return r.do(as(in.Secret, get("/v1/me", ""))).get("data.site_ids")
	}
	if got := me(); got != nil {
		t.Errorf("limited to %v", got)
	}
	if _, err := r.accounts.ChangeMember(t.Context(), account.Operator(r.workspace.ID), u.ID, account.MemberPatch{Sites: rimewatch.Sites{site.ID}}); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(me()); got != fmt.Sprintf("[%d]", site.ID) {
		t.Errorf("limited to %s", got)
	}
}
