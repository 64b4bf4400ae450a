package contract

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/app"
	"github.com/rimewatch/rimewatch/internal/config"
)

// TestPolicies reads the page about policies.
func TestPolicies(t *testing.T) {
	t.Parallel()
	s := start(t)
	get := func(path string) request { return request{path: path} }
	etag := s.do(t, get("/v1/policies/privacy")).header.Get("ETag")
	cached := map[string]string{"ETag": "*", "Cache-Control": "public, max-age=300"}
	matching := func(value string) request {
		return request{path: "/v1/policies/privacy", header: map[string]string{"If-None-Match": value}}
	}
	fields := []string{"slug", "title", "version", "effective_at", "updated_at", "content_type", "content"}
	rows := []row{
		{says: "GET /v1/policies: no token needed", req: get("/v1/policies"), status: 200, header: cached, want: map[string]any{
			"data": keys{"policies"}, "data.policies.#": 4, "data.policies.0": keys(fields), "data.policies.0.slug": "privacy", "data.policies.1.slug": "terms", "data.policies.2.slug": "data-retention", "data.policies.3.slug": "security",
			"data.policies.0.content_type": "text/markdown", "data.policies.0.content": present{}, "data.policies.0.effective_at": present{},
		}},
		{says: "GET /v1/policies/privacy: data.policy with content_html", req: get("/v1/policies/privacy"), status: 200, header: cached, want: map[string]any{"data": keys{"policy"}, "data.policy": keys(append([]string{"content_html"}, fields...)), "data.policy.slug": "privacy"}, then: func(t *testing.T, a answer) {
			if html := strings.ToLower(a.text("data.policy.content_html")); !strings.Contains(html, "<h") || strings.Contains(html, "<script") || strings.Contains(html, "javascript:") {
				t.Errorf("not sanitised HTML: %s", html)
			}
		}},
		{says: "a bad token is ignored", req: request{path: "/v1/policies/privacy", token: "rw_bad"}, status: 200},
		{says: "ETag: not modified, no body", req: matching(etag), status: 304, header: map[string]string{"ETag": etag, "Content-Type": ""}, then: func(t *testing.T, a answer) {
			if len(a.body) != 0 {
				t.Errorf("%q", a.body)
			}
		}},
		{says: "a weak ETag among others", req: matching(`"x", ` + etag), status: 304},
		{says: "another ETag", req: matching(`"x"`), status: 200},
		{says: "a policy is not written", req: request{method: "POST", path: "/v1/policies", body: `{}`}, status: 405, code: "method_not_allowed"},
	}
	for _, slug := range []string{"terms", "data-retention", "security"} {
		rows = append(rows, row{says: "GET /v1/policies/" + slug, req: get("/v1/policies/" + slug), status: 200, want: map[string]any{"data.policy.slug": slug}})
	}
	s.recite(t, rows)
}

// TestOperatorPolicies: "an operator's folder overrides them"; content_html is
// sanitised whatever the folder holds.
func TestOperatorPolicies(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"privacy":    "---\ntitle: Ours\nversion: 7\neffective_at: 2026-01-02\nupdated_at: 2026-01-03T04:05:06Z\n---\n# Hello\n\n<script>alert(1)</script>\n\n[x](javascript:alert(1)) <img src=x onerror=alert(1)> **bold**\n",
		"es/cookies": "---\ntitle: Galletas\nversion: 1\neffective_at: 2026-01-02\nupdated_at: 2026-01-02\n---\nNinguna.\n",
		"cookies":    "---\ntitle: Cookies\nversion: 1\neffective_at: 2026-01-02\nupdated_at: 2026-01-02\n---\nNone.\n",
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name+".md"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := start(t, func(_ *service, c *app.Config) { c.Policies = dir })
	s.recite(t, []row{
		{says: "the operator's goes before", req: request{path: "/v1/policies/privacy"}, status: 200, want: map[string]any{
			"data.policy.title": "Ours", "data.policy.version": "7", "data.policy.effective_at": "2026-01-02T00:00:00.000Z", "data.policy.updated_at": "2026-01-03T04:05:06.000Z",
		}, then: func(t *testing.T, a answer) {
			html := a.text("data.policy.content_html")
			for _, evil := range []string{"<script", "javascript:", "onerror"} {
				if strings.Contains(strings.ToLower(html), evil) {
					t.Errorf("%s is in %s", evil, html)
				}
			}
			if !strings.Contains(html, "<strong>bold</strong>") {
				t.Errorf("not rendered: %s", html)
			}
		}},
		{says: "also before the shipped one of another language", req: request{path: "/v1/policies/privacy", header: map[string]string{"Accept-Language": "es"}}, status: 200, want: map[string]any{"data.policy.title": "Ours"}},
		{says: "the shipped one of another language", req: request{path: "/v1/policies/terms", header: map[string]string{"Accept-Language": "es-MX"}}, status: 200, want: map[string]any{"data.policy.title": "Condiciones de uso"}},
		{says: "the operator's own of another language", req: request{path: "/v1/policies/cookies", header: map[string]string{"Accept-Language": "es"}}, status: 200, want: map[string]any{"data.policy.title": "Galletas"}},
		{says: "English without one", req: request{path: "/v1/policies/terms", header: map[string]string{"Accept-Language": "fr"}}, status: 200, want: map[string]any{"data.policy.title": "Terms of use"}},
		{says: "one that the operator adds", req: request{path: "/v1/policies/cookies"}, status: 200, want: map[string]any{"data.policy.title": "Cookies"}},
		{says: "is listed after the shipped ones", req: request{path: "/v1/policies"}, status: 200, want: map[string]any{"data.policies.#": 5, "data.policies.0.title": "Ours", "data.policies.4.slug": "cookies"}},
	})
	if err := os.WriteFile(filepath.Join(dir, "terms.md"), []byte("no header"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := app.New(t.Context(), app.Config{Serve: config.Serve{Data: t.TempDir(), Listen: "127.0.0.1:0", HeadMemory: 16, SealAfter: time.Hour, Policies: dir}}); err == nil {
		t.Error("a document that cannot be read goes unnoticed")
	}
}

// TestPublicPages: OpenAPI and docs need no token, nor do the probes.
func TestPublicPages(t *testing.T) {
	t.Parallel()
	s := start(t)
	a := s.do(t, request{path: "/openapi.json"})
	var doc struct {
		OpenAPI string                    `json:"openapi"`
		Paths   map[string]map[string]any `json:"paths"`
	}
	if err := json.Unmarshal(a.body, &doc); a.status != 200 || err != nil || !strings.HasPrefix(doc.OpenAPI, "3.1") {
		t.Fatalf("%d %v %s", a.status, err, clip(a.body))
	}
	for _, e := range endpoints {
		path := strings.NewReplacer("/D-1", "/{serial}", "/1", "/{id}", "/terms", "/{slug}").Replace(e.path)
		if doc.Paths[path][strings.ToLower(e.method)] == nil {
			t.Errorf("%s %s is not described", e.method, path)
		}
	}
	if a := s.do(t, request{path: "/docs"}); a.status != 200 || strings.Contains(string(a.body), "https://cdn") || !strings.HasPrefix(a.header.Get("Content-Type"), "text/html") {
		t.Errorf("docs: %d %v", a.status, a.header)
	}
	figure := "rimewatch_http_requests_total"
	if nodes.Load() { // a node counts them where they are answered
		figure = "rimewatch_cluster_forwarded_total"
	}
	for path, want := range map[string]string{"/healthz": `"success":true`, "/readyz": `"success":true`, "/metrics": figure} {
		resp, err := s.client.Get(strings.TrimSuffix(s.base, "/api") + path)
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != 200 || !strings.Contains(string(b), want) {
			t.Errorf("%s: %d %s", path, resp.StatusCode, clip(b))
		}
	}
}

// TestSetUp: "first start with an empty store leads to a set-up page", which
// asks for a one-time code that the server logs.
func TestSetUp(t *testing.T) {
	t.Parallel()
	s := start(t)
	code, _, err := s.app.Accounts.SetupCode(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	post := func(body string) request { return request{method: "POST", path: "/v1/setup", body: body} }
	right := fmt.Sprintf(`{"code":%q,"workspace":"Alpha","email":"olga@example.com","password":%q}`, code, password)
	foreign := post(right)
	foreign.header = map[string]string{"Origin": "https://evil.example"}
	var cookie string
	s.recite(t, []row{
		{says: "it is needed", req: request{path: "/v1/setup"}, status: 200, want: map[string]any{"data.needed": true}},
		{says: "a wrong code", req: post(strings.Replace(right, code, "AAAA-AAAA-AAAA-AAAA", 1)), status: 403, code: "forbidden"},
		{says: "a short password", req: post(strings.Replace(right, password, "short", 1)), status: 422, code: "validation_failed", fields: []string{"password"}},
		{says: "no e-mail address", req: post(strings.Replace(right, "olga@example.com", "olga", 1)), status: 422, code: "validation_failed", fields: []string{"email"}},
		{says: "another site's page", req: foreign, status: 403, code: "forbidden"},
		{says: "it makes the owner and signs in", req: post(right), status: 201, want: map[string]any{"data.user.email": "olga@example.com"}, then: func(t *testing.T, a answer) {
			cookie = a.header.Get("Set-Cookie")
			for _, attribute := range []string{"HttpOnly", "SameSite=Lax", "Path=/"} {
				if !strings.Contains(cookie, attribute) {
					t.Errorf("the cookie %s lacks %s", cookie, attribute)
				}
			}
			if strings.Contains(cookie, "Secure") {
				t.Error("Secure without TLS locks people out")
			}
		}},
		{says: "once", req: post(right), status: 409, code: "conflict"},
		{says: "not needed any more", req: request{path: "/v1/setup"}, status: 200, want: map[string]any{"data.needed": false}},
	})
	session, _, _ := strings.Cut(cookie, ";")
	if a := s.do(t, request{path: "/v1/me", cookie: session}); a.text("data.role") != "owner" {
		t.Errorf("%s", a.body)
	}
}

// TestSessions reads the sentences about signing in, roles and cross-origin
// writes.
func TestSessions(t *testing.T) {
	t.Parallel()
	s := start(t)
	n := s.tenant(t, "Alpha")
	n.device(t, `{"serial":"D-1"}`)
	owner := n.signIn(t, "owner@example.com", rimewatch.RoleOwner)
	technician := n.signIn(t, "tech@example.com", rimewatch.RoleTechnician)
	viewer := n.signIn(t, "viewer@example.com", rimewatch.RoleViewer)
	signIn := func(email, pw string) request {
		return request{method: "POST", path: "/v1/auth/sign-in", body: fmt.Sprintf(`{"email":%q,"password":%q}`, email, pw)}
	}
	wrong, unknown := s.do(t, signIn("owner@example.com", "wrong horse battery")), s.do(t, signIn("nobody@example.com", "wrong horse battery"))
	if wrong.status != 401 || unknown.status != 401 || wrong.text("error.message") != unknown.text("error.message") || wrong.text("error.code") != "unauthenticated" {
		t.Errorf("an oracle: %s%s", wrong.body, unknown.body)
	}
	as := func(cookie, method, path, body string, header ...string) request {
		q := request{method: method, path: path, body: body, cookie: cookie, header: map[string]string{}}
		for i := 0; i+1 < len(header); i += 2 {
			q.header[header[i]] = header[i+1]
		}
		return q
	}
	host := "http://" + s.addr
	change := `{"notes":"x"}`
	foreign := func(says string, header ...string) row {
		return row{says: "cross-origin writes refused: " + says, req: as(owner, "PATCH", "/v1/devices/D-1", change, header...), status: 403, code: "forbidden"}
	}
	s.recite(t, []row{
		{says: "an e-mail address has no case", req: signIn(" OWNER@example.com ", password), status: 200},
		{says: "a session cookie reads", req: as(viewer, "GET", "/v1/devices/D-1", ""), status: 200},
		{says: "a cookie writes from our own page", req: as(owner, "PATCH", "/v1/devices/D-1", change, "Origin", host, "Sec-Fetch-Site", "same-origin"), status: 200},
		foreign("Sec-Fetch-Site cross-site", "Sec-Fetch-Site", "cross-site"),
		foreign("Sec-Fetch-Site same-site", "Sec-Fetch-Site", "same-site"),
		foreign("another Origin", "Origin", "https://evil.example"),
		foreign("the Origin null", "Origin", "null"),
		foreign("another port", "Origin", "http://127.0.0.1:1"),
		{says: "cross-origin readings refused", req: as(owner, "POST", "/v1/readings", `{"device_serial":"D-1","humidity":1}`, "Origin", "https://evil.example"), status: 403, code: "forbidden"},
		{says: "cross-origin batches refused", req: as(owner, "POST", batchPath, `{"readings":[{"device_serial":"D-1","humidity":1}]}`, "Origin", "https://evil.example"), status: 403, code: "forbidden"},
		{says: "cross-origin imports refused", req: request{method: "POST", path: "/v1/devices/import", cookie: owner, kind: "text/csv", body: "serial\nX\n", header: map[string]string{"Origin": "https://evil.example"}}, status: 403, code: "forbidden"},
		{says: "a token writes from anywhere", req: request{method: "PATCH", path: "/v1/devices/D-1", token: n.full, body: change, header: map[string]string{"Origin": "https://app.example"}}, status: 200},
		{says: "a bad token is not saved by a good cookie", req: as(owner, "GET", "/v1/devices", "", "Authorization", "Bearer rw_x"), status: 401, code: "unauthenticated"},
		{says: "viewer reads", req: as(viewer, "GET", "/v1/alerts", ""), status: 200},
		{says: "viewer does not edit devices", req: as(viewer, "PATCH", "/v1/devices/D-1", change), status: 403, code: "forbidden"},
		{says: "viewer does not see members", req: as(viewer, "GET", "/v1/members", ""), status: 403, code: "forbidden"},
		{says: "technician edits devices", req: as(technician, "PATCH", "/v1/devices/D-1", change), status: 200},
		{says: "technician does not make tokens", req: as(technician, "POST", "/v1/tokens", `{"name":"x"}`), status: 403, code: "forbidden"},
		{says: "technician does not change settings", req: as(technician, "PATCH", "/v1/workspace", `{"auto_register":true}`), status: 403, code: "forbidden"},
		{says: "owner sees members", req: as(owner, "GET", "/v1/members", ""), status: 200, want: map[string]any{"data.members.#": 3}},
		{says: "settings", req: as(owner, "PATCH", "/v1/workspace", `{"timezone":"Europe/Berlin","raw_days":30,"rollup_days":60}`), status: 200, want: map[string]any{"data.workspace.timezone": "Europe/Berlin", "data.workspace.raw_days": 30}},
		{says: "a reading before the retention window of the workspace", req: request{method: "POST", path: "/v1/readings", token: n.feed, body: `{"device_serial":"D-1","humidity":1,"recorded_at":"` + s.ago(31*24*time.Hour) + `"}`}, status: 422, code: "validation_failed", fields: []string{"recorded_at"}},
		{says: "no mass assignment in settings", req: as(owner, "PATCH", "/v1/workspace", `{"id":9}`), status: 422, code: "validation_failed", fields: []string{"id"}},
		{says: "sign out", req: as(viewer, "POST", "/v1/auth/sign-out", ""), status: 200},
		{says: "the session has ended", req: as(viewer, "GET", "/v1/devices", ""), status: 401, code: "unauthenticated"},
	})
}

// TestTokenAdmin reads "Account settings → API tokens".
func TestTokenAdmin(t *testing.T) {
	t.Parallel()
	s := start(t)
	n := s.tenant(t, "Alpha")
	owner := n.signIn(t, "owner@example.com", rimewatch.RoleOwner)
	post := func(body string) request {
		return request{method: "POST", path: "/v1/tokens", cookie: owner, body: body}
	}
	var plain, id string
	everything := []any{"devices:read", "devices:write", "readings:read", "readings:write", "alerts:read", "alerts:write"}
	s.recite(t, []row{
		{says: "name, scopes, expiry; the plain token is shown once; full by default", req: post(`{"name":"ci"}`), status: 201, want: map[string]any{
			"data.token.name": "ci", "data.token.scopes": everything, "data.token.expires_at": nil, "data.token.last_used_at": nil, "data.token.created_at": present{}, "data.token.created_by": present{}, "data.token.prefix": present{}, "data.plain_token": present{},
		}, then: func(t *testing.T, a answer) {
			plain, id = a.text("data.plain_token"), fmt.Sprint(a.at("data.token.id"))
			if !rimewatch.ValidToken(plain) || !strings.HasPrefix(plain, a.text("data.token.prefix")) {
				t.Errorf("%s", a.body)
			}
		}},
		{says: "preset ingest", req: post(`{"name":"x","scopes":["ingest"]}`), status: 201, want: map[string]any{"data.token.scopes": []any{"readings:write"}}},
		{says: "preset read", req: post(`{"name":"x","scopes":["read"]}`), status: 201, want: map[string]any{"data.token.scopes": []any{"devices:read", "readings:read", "alerts:read"}}},
		{says: "single scopes", req: post(`{"name":"x","scopes":["alerts:write","devices:read"]}`), status: 201, want: map[string]any{"data.token.scopes": []any{"devices:read", "alerts:write"}}},
		{says: "an empty list of scopes is not everything", req: post(`{"name":"x","scopes":[]}`), status: 422, code: "validation_failed", fields: []string{"scopes"}},
		{says: "an unknown scope", req: post(`{"name":"x","scopes":["everything"]}`), status: 422, code: "validation_failed"},
		{says: "an expiry in the past", req: post(`{"name":"x","expires_at":"2020-01-01T00:00:00Z"}`), status: 422, code: "validation_failed", fields: []string{"expires_at"}},
		{says: "no name", req: post(`{}`), status: 422, code: "validation_failed", fields: []string{"name"}},
		{says: "no mass assignment", req: post(`{"name":"x","workspace_id":1}`), status: 422, code: "validation_failed", fields: []string{"workspace_id"}},
	})
	s.recite(t, []row{
		{says: "it works at once", req: request{path: "/v1/devices", token: plain}, status: 200},
		{says: "the list never shows a token", req: request{path: "/v1/tokens", cookie: owner}, status: 200, then: func(t *testing.T, a answer) {
			if strings.Contains(string(a.body), plain) || strings.Contains(string(a.body), "hash") {
				t.Errorf("%s", a.body)
			}
		}},
		{says: "revoke", req: request{method: "DELETE", path: "/v1/tokens/" + id, cookie: owner}, status: 200},
		{says: "it has stopped working", req: request{path: "/v1/devices", token: plain}, status: 401, code: "unauthenticated"},
		{says: "on the ingest route too", req: request{method: "POST", path: "/v1/readings", token: plain, body: `{}`}, status: 401, code: "unauthenticated"},
		{says: "an unknown token", req: request{method: "DELETE", path: "/v1/tokens/987654", cookie: owner}, status: 404, code: "not_found"},
	})
}

// TestPeopleAreApart: an owner's session reaches nothing of another workspace.
func TestPeopleAreApart(t *testing.T) {
	t.Parallel()
	s := start(t)
	mine, theirs := s.tenant(t, "Alpha"), s.tenant(t, "Beta")
	me, them := mine.signIn(t, "me@example.com", rimewatch.RoleOwner), theirs.signIn(t, "them@example.com", rimewatch.RoleOwner)
	member := s.do(t, request{path: "/v1/members", cookie: them}).at("data.members.0.user_id")
	token := s.do(t, request{path: "/v1/tokens", cookie: them}).at("data.tokens.0.id")
	session := s.do(t, request{path: "/v1/me/sessions", cookie: them}).at("data.sessions.0.id")
	workspace := s.do(t, request{path: "/v1/workspace", cookie: them}).at("data.workspace.id")
	as := func(method, path, body string) request {
		return request{method: method, path: path, body: body, cookie: me}
	}
	s.recite(t, []row{
		{says: "no member of another workspace: role", req: as("PATCH", fmt.Sprintf("/v1/members/%v", member), `{"role":"viewer"}`), status: 404, code: "not_found"},
		{says: "no member of another workspace: remove", req: as("DELETE", fmt.Sprintf("/v1/members/%v", member), ""), status: 404, code: "not_found"},
		{says: "no token of another workspace", req: as("DELETE", fmt.Sprintf("/v1/tokens/%v", token), ""), status: 404, code: "not_found"},
		{says: "no session of another person", req: as("DELETE", fmt.Sprintf("/v1/me/sessions/%v", session), ""), status: 404, code: "not_found"},
		{says: "no switch to another workspace", req: as("POST", "/v1/me/workspace", fmt.Sprintf(`{"workspace_id":%v}`, workspace)), status: 422, code: "validation_failed", fields: []string{"workspace_id"}},
		{says: "the name of another workspace is taken", req: as("PATCH", "/v1/workspace", `{"name":"Beta"}`), status: 409, code: "conflict"},
		{says: "the list holds my own members", req: as("GET", "/v1/members", ""), status: 200, want: map[string]any{"data.members.#": 1, "data.members.0.email": "me@example.com"}},
		{says: "the last owner stays", req: as("PATCH", fmt.Sprintf("/v1/members/%v", s.do(t, as("GET", "/v1/members", "")).at("data.members.0.user_id")), `{"role":"viewer"}`), status: 409, code: "conflict"},
		{says: "their token still works", req: request{path: "/v1/devices", token: theirs.full}, status: 200},
		{says: "their session still works", req: request{path: "/v1/me", cookie: them}, status: 200, want: map[string]any{"data.role": "owner"}},
	})
}

// TestLimits reads the page about limits.
func TestLimits(t *testing.T) {
	t.Parallel()
	s := start(t, limited)
	n := s.tenant(t, "Alpha")
	n.device(t, `{"serial":"D-1"}`)
	n.device(t, `{"serial":"D-2"}`)
	other := n.token(t, rimewatch.ScopesFull)

	// 20 failed authentications a minute per address; a valid token still works.
	bad := request{path: "/v1/devices", token: "rw_bad"}
	if got := s.statuses(t, 25, bad); got[401] != 20 || got[429] != 5 {
		t.Errorf("failed authentications: %v", got)
	}
	if a := s.do(t, bad); a.text("error.code") != "rate_limited" || a.header.Get("Retry-After") == "" {
		t.Errorf("%d %s", a.status, a.body)
	}
	spoofed := bad
	spoofed.header = map[string]string{"X-Forwarded-For": "203.0.113.9"}
	for q, want := range map[*request]int{
		{path: "/v1/devices", token: n.full}:                                                               200,
		{path: "/v1/policies", token: "rw_bad"}:                                                            200,
		{method: "POST", path: "/v1/readings", token: "rw_bad", body: `{}`}:                                429,
		{method: "POST", path: "/v1/readings", token: n.feed, body: `{"device_serial":"D-2","voltage":1}`}: 201,
		{method: "POST", path: "/v1/auth/sign-in", body: `{"email":"a@example.com","password":"x"}`}:       401, // counted apart
		&spoofed: 429,
	} {
		if a := s.do(t, *q); a.status != want {
			t.Errorf("%s %s from an address that failed: %d, want %d", q.method, q.path, a.status, want)
		}
	}

	// Per token: bursts of 1,000 here, for everything but ingest.
	list := request{path: "/v1/devices/D-2", token: other}
	first := s.do(t, list)
	if p, r := first.header.Get("RateLimit-Policy"), first.header.Get("RateLimit"); !strings.Contains(p, "q=1000") || !strings.Contains(p, "w=10") || !strings.Contains(r, "r=999") || !strings.Contains(r, "t=1") {
		t.Errorf("RateLimit-Policy %q, RateLimit %q", p, r)
	}
	if got := s.statuses(t, 1010, list); got[200] != 999 || got[429] != 11 {
		t.Errorf("requests of one token: %v", got)
	}
	if a := s.do(t, list); a.header.Get("Retry-After") != "1" || a.text("error.code") != "rate_limited" {
		t.Errorf("Retry-After %q", a.header.Get("Retry-After"))
	}
	reading := request{method: "POST", path: "/v1/readings", token: other, body: `{"device_serial":"D-1","humidity":1}`}
	if a := s.do(t, reading); a.status != http.StatusCreated {
		t.Errorf("ingest counts against the token: %d", a.status)
	}
	if a := s.do(t, request{path: "/v1/equipment-types", token: n.full}); a.status != 200 {
		t.Errorf("another token: %d", a.status)
	}

	// Per device: heartbeats and single readings, batch items not counted.
	got := s.statuses(t, 1010, request{method: "PATCH", path: "/v1/devices/D-1/heartbeat", token: n.feed})
	if got[200] != 999 || got[429] != 11 {
		t.Errorf("heartbeats of one device: %v", got)
	}
	if a := s.do(t, reading); a.status != 429 || a.header.Get("Retry-After") != "1" || !strings.Contains(a.header.Get("RateLimit-Policy"), "q=1000;w=500") {
		t.Errorf("a reading of the same device: %d %v", a.status, a.header)
	}
	for q, want := range map[*request]int{
		{method: "POST", path: batchPath, token: n.feed, body: `{"readings":[{"device_serial":"D-1","humidity":1}]}`}: 200,
		{method: "PATCH", path: "/v1/devices/D-2/heartbeat", token: n.feed}:                                           200,
	} {
		if a := s.do(t, *q); a.status != want {
			t.Errorf("%s: %d, want %d", q.path, a.status, want)
		}
	}
	s.advance(time.Second)
	if a := s.do(t, reading); a.status != http.StatusCreated {
		t.Errorf("120 a minute are two a second: %d after one", a.status)
	}
	s.advance(time.Minute)
	if a := s.do(t, bad); a.status != 401 {
		t.Errorf("a minute later: %d", a.status)
	}
}
