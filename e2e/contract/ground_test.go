package contract

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/account"
)

// endpoint is one of three, each refused in a way of its own: by the frame, by the short path of readings, and as
// what no token may. That every route is, internal/httpapi/v1 goes through the table of routes for.
type endpoint struct {
	method, path string
	scope        string // "person" = never a token
	body         string
}

var endpoints = []endpoint{
	{"DELETE", "/v1/devices/D-1", "devices:write", ""},
	{"POST", "/v1/readings", "readings:write", `{"device_serial":"D-1","humidity":1}`},
	{"GET", "/v1/members", "person", ""},
}

// TestEndpointsAuthenticate: "no / malformed / unknown / expired / revoked
// token: 401 unauthenticated (one code: no oracle) + WWW-Authenticate: Bearer".
func TestEndpointsAuthenticate(t *testing.T) {
	t.Parallel()
	s := start(t)
	n := s.tenant(t, "Alpha")
	n.device(t, `{"serial":"D-1"}`)
	operator := account.Operator(n.id)
	revoked, plainRevoked, err := s.app.Accounts.CreateToken(t.Context(), operator, account.TokenRequest{Name: "r"}, s.moment())
	if err != nil {
		t.Fatal(err)
	}
	if err := s.app.Accounts.RevokeToken(t.Context(), operator, revoked.ID, s.moment()); err != nil {
		t.Fatal(err)
	}
	_, plainExpired, err := s.app.Accounts.CreateToken(t.Context(), operator, account.TokenRequest{Name: "e", ExpiresAt: s.moment() + rimewatch.Minute}, s.moment())
	if err != nil {
		t.Fatal(err)
	}
	s.advance(time.Hour)
	last := "0"
	if strings.HasSuffix(n.full, "0") {
		last = "1"
	}
	credentials := map[string]map[string]string{
		"no token":       {},
		"malformed":      {"Authorization": "Bearer nonsense"},
		"wrong checksum": {"Authorization": "Bearer " + n.full[:len(n.full)-1] + last},
		"unknown":        {"Authorization": "Bearer " + rimewatch.NewToken(func() byte { return 3 })},
		"expired":        {"Authorization": "Bearer " + plainExpired},
		"revoked":        {"Authorization": "Bearer " + plainRevoked},
		"other scheme":   {"Authorization": "Basic " + n.full},
		"no scheme":      {"Authorization": n.full},
		"unknown cookie": {"Cookie": "rimewatch_session=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"},
	}
	bodies := make(map[string]string)
	for _, e := range endpoints {
		for name, header := range credentials {
			a := s.do(t, request{method: e.method, path: e.path, body: e.body, header: header})
			if a.status != http.StatusUnauthorized || a.text("error.code") != "unauthenticated" || a.header.Get("WWW-Authenticate") != "Bearer" {
				t.Errorf("%s %s with %s: %d %q", e.method, e.path, name, a.status, a.text("error.code"))
			}
			bodies[strings.ReplaceAll(string(a.body), a.header.Get("X-Request-Id"), "")] = e.method + e.path + name
		}
	}
	if len(bodies) != 1 {
		t.Errorf("the answers tell why: %v", bodies)
	}
}

// TestEndpointsNeedTheirScope: "token lacks the scope: 403 forbidden,
// fields.scope names the missing one"; members, tokens and settings need a
// signed-in user, never a token.
func TestEndpointsNeedTheirScope(t *testing.T) {
	t.Parallel()
	s := start(t)
	n := s.tenant(t, "Alpha")
	n.device(t, `{"serial":"D-1"}`)
	tokens := make(map[string]string)
	for _, name := range rimewatch.ScopesFull.Names() {
		scope, err := rimewatch.ParseScopes([]string{name})
		if err != nil {
			t.Fatal(err)
		}
		tokens[name] = n.token(t, scope)
	}
	for _, e := range endpoints {
		for scope, token := range tokens {
			allowed := e.scope == scope
			a := s.do(t, request{method: e.method, path: e.path, body: e.body, token: token})
			switch {
			case allowed && (a.status == http.StatusForbidden || a.status == http.StatusUnauthorized || a.status >= 500):
				t.Errorf("%s %s with %s: %d", e.method, e.path, scope, a.status)
			case !allowed && (a.status != http.StatusForbidden || a.text("error.code") != "forbidden"):
				t.Errorf("%s %s with %s: %d %q", e.method, e.path, scope, a.status, a.text("error.code"))
			case !allowed && e.scope != "person" && !holds([]string{e.scope}, a.at("error.fields.scope")):
				t.Errorf("%s %s with %s: fields.scope is %v, want %s", e.method, e.path, scope, a.at("error.fields.scope"), e.scope)
			}
		}
	}
}

// TestOrderOfChecks: "route, method, authentication, scope, rate, content type,
// size, JSON, fields, existence". Each request is wrong in one thing more than
// the one before.
func TestOrderOfChecks(t *testing.T) {
	t.Parallel()
	s := start(t)
	n := s.tenant(t, "Alpha")
	big := `{"name":"` + strings.Repeat("x", 1<<20) + `"}`
	q := func(method, path, token, kind, body string) request {
		return request{method: method, path: path, token: token, kind: kind, body: body}
	}
	s.recite(t, []row{
		{says: "existence comes last", req: q("PATCH", "/v1/devices/none", n.full, "", `{"name":"x"}`), status: 404, code: "device_not_found"},
		{says: "fields before existence", req: q("PATCH", "/v1/devices/none", n.full, "", `{"nmae":"x"}`), status: 422, code: "validation_failed"},
		{says: "JSON before fields", req: q("PATCH", "/v1/devices/none", n.full, "", `{"nmae":"x"`), status: 400, code: "invalid_json"},
		{says: "size before JSON", req: q("PATCH", "/v1/devices/none", n.full, "", big[:len(big)-1]), status: 413, code: "payload_too_large"},
		{says: "content type before size", req: q("PATCH", "/v1/devices/none", n.full, "text/csv", big), status: 415, code: "unsupported_media_type"},
		{says: "scope before content type", req: q("PATCH", "/v1/devices/none", n.read, "text/csv", big), status: 403, code: "forbidden"},
		{says: "authentication before scope", req: q("PATCH", "/v1/devices/none", "rw_x", "text/csv", big), status: 401, code: "unauthenticated"},
		{says: "method before authentication", req: q("PUT", "/v1/devices/none", "rw_x", "text/plain", "x"), status: 405, code: "method_not_allowed", header: map[string]string{"Allow": "DELETE, GET, HEAD, PATCH"}},
		{says: "route before method", req: q("PUT", "/v1/nothing/here", "rw_x", "text/plain", "x"), status: 404, code: "not_found"},

		{says: "on the ingest route too: unknown device last", req: q("POST", "/v1/readings", n.feed, "", `{"device_serial":"none","humidity":1}`), status: 202},
		{says: "on the ingest route too: fields", req: q("POST", "/v1/readings", n.feed, "", `{"device_serial":"none","humidity":"x"}`), status: 422, code: "validation_failed", fields: []string{"humidity"}},
		{says: "on the ingest route too: JSON", req: q("POST", "/v1/readings", n.feed, "", `{"device_serial":"none","humidity":"1"`), status: 400, code: "invalid_json"},
		{says: "on the ingest route too: size", req: q("POST", "/v1/readings", n.feed, "", big[:len(big)-1]), status: 413, code: "payload_too_large"},
		{says: "on the ingest route too: content type", req: q("POST", "/v1/readings", n.feed, "text/csv", big), status: 415, code: "unsupported_media_type"},
		{says: "on the ingest route too: scope", req: q("POST", "/v1/readings", n.read, "text/csv", big), status: 403, code: "forbidden"},
		{says: "on the ingest route too: authentication", req: q("POST", "/v1/readings", "rw_x", "text/csv", big), status: 401, code: "unauthenticated"},
		{says: "on the ingest route too: method", req: q("PUT", "/v1/readings", "rw_x", "text/plain", "x"), status: 405, code: "method_not_allowed", header: map[string]string{"Allow": "GET, HEAD, POST"}},
	})
}

// TestRoutes reads the sentences about paths and methods.
func TestRoutes(t *testing.T) {
	t.Parallel()
	s := start(t)
	n := s.tenant(t, "Alpha")
	for _, serial := range []string{"Dev-1", "...", "a:b", "health", "import"} {
		n.device(t, fmt.Sprintf(`{"serial":%q}`, serial))
	}
	get := func(path string) request { return request{path: path, token: n.full} }
	found := func(says, path, serial string) row {
		return row{says: says, req: get(path), status: 200, want: map[string]any{"data.device.serial": serial}}
	}
	lost := func(says, path, code string) row {
		return row{says: says, req: get(path), status: 404, code: code, want: map[string]any{"data": map[string]any{}}}
	}
	s.recite(t, []row{
		found("a serial is compared without case, kept as written", "/v1/devices/DEV-1", "Dev-1"),
		found("a serial may be percent-encoded", "/v1/devices/%44ev%2D1", "Dev-1"),
		found("a serial of three dots is one", "/v1/devices/...", "..."),
		found("a colon may be encoded", "/v1/devices/A%3AB", "a:b"),
		found("a serial may be named like a route", "/v1/devices/health", "health"),
		found("a serial may be named like a route, import", "/v1/devices/import", "import"),
		lost("the serial . is refused", "/v1/devices/.", "device_not_found"),
		lost("the serial .. is refused", "/v1/devices/..", "device_not_found"),
		lost("the serial %2e%2e is refused", "/v1/devices/%2e%2e", "device_not_found"),
		lost("a traversal leads nowhere", "/v1/devices/..%2f..%2fetc%2fpasswd", "device_not_found"),
		lost("a traversal through a serial leads nowhere", "/v1/devices/Dev-1/..%2fDev-1", "not_found"),
		lost("a slash in a serial", "/v1/devices/Dev-1%2Freadings", "device_not_found"),
		lost("a NUL in a serial", "/v1/devices/Dev-1%00", "device_not_found"),
		lost("bad UTF-8 in a serial", "/v1/devices/%ff", "device_not_found"),
		lost("a serial of 65 characters", "/v1/devices/"+strings.Repeat("x", 65), "device_not_found"),
		lost("a very long serial", "/v1/devices/"+strings.Repeat("x", 8000), "device_not_found"),
		{says: "a slash at the end is ignored", req: get("/v1/devices/"), status: 200, want: map[string]any{"data.devices.0.serial": "Dev-1"}},
		lost("an unknown policy", "/v1/policies/nothing", "policy_not_found"),
		lost("a policy's slug has a case", "/v1/policies/PRIVACY", "policy_not_found"),
		lost("a policy's file is not its slug", "/v1/policies/privacy.md", "policy_not_found"),
		lost("a NUL in a slug", "/v1/policies/privacy%00", "policy_not_found"),
		lost("a traversal in a slug", "/v1/policies/..%2f..%2fetc%2fpasswd", "policy_not_found"),
		lost("an unknown alert", "/v1/alerts/1", "alert_not_found"),
		lost("an alert's id has one form", "/v1/alerts/01", "alert_not_found"),
		lost("an alert's id is a number", "/v1/alerts/1e0", "alert_not_found"),
		lost("an alert's id fits a machine word", "/v1/alerts/99999999999999999999", "alert_not_found"),
		lost("an unknown site", "/v1/sites/1", "not_found"),
		lost("an unknown path", "/v1/nothing", "not_found"),
		lost("two slashes at the end", "/v1/alerts//", "not_found"),
		{says: "HEAD answers like GET, without a body", req: request{method: "HEAD", path: "/v1/devices/Dev-1", token: n.full}, status: 200, header: map[string]string{"Content-Type": "application/json", "X-Request-Id": "*"}},
		{says: "OPTIONS tells the methods", req: request{method: "OPTIONS", path: "/v1/devices"}, status: 200, header: map[string]string{"Allow": "GET, HEAD, POST, OPTIONS", "Access-Control-Allow-Origin": ""}},
		{says: "TRACE is no method of any path", req: request{method: "TRACE", path: "/v1/devices", token: n.full}, status: 405, code: "method_not_allowed"},
		{says: "an unknown method", req: request{method: "FROB", path: "/v1/devices", token: n.full}, status: 405, code: "method_not_allowed", header: map[string]string{"Allow": "GET, HEAD, POST"}},
		{says: "a method has a case", req: request{method: "get", path: "/v1/devices", token: n.full}, status: 405, code: "method_not_allowed"},
		{says: "no header overrides the method", req: request{method: "POST", path: "/v1/devices/Dev-1", token: n.full, header: map[string]string{"X-HTTP-Method-Override": "DELETE"}}, status: 405, code: "method_not_allowed"},
		{says: "a sane X-Request-Id is taken over", req: request{path: "/v1/devices/none", token: n.full, header: map[string]string{"X-Request-Id": "abc-1.2_3"}}, status: 404, code: "device_not_found", header: map[string]string{"X-Request-Id": "abc-1.2_3"}},
		{says: "another X-Request-Id is replaced", req: request{path: "/v1/devices/none", token: n.full, header: map[string]string{"X-Request-Id": "a b"}}, status: 404, code: "device_not_found",
			then: func(t *testing.T, a answer) {
				if a.header.Get("X-Request-Id") == "a b" {
					t.Error("it came back")
				}
			}},
	})
}

// TestTokens reads what the contract says of the form of tokens.
func TestTokens(t *testing.T) {
	t.Parallel()
	s := start(t)
	n := s.tenant(t, "Alpha")
	if len(n.full) != 3+32+6 || !strings.HasPrefix(n.full, "rw_") || !rimewatch.ValidToken(n.full) {
		t.Errorf("%q is not rw_, 32 characters and a checksum", n.full)
	}
	with := func(value string) request {
		return request{path: "/v1/devices", header: map[string]string{"Authorization": value}}
	}
	s.recite(t, []row{
		{says: "the scheme word is case-insensitive, lower", req: with("bearer " + n.full), status: 200},
		{says: "the scheme word is case-insensitive, upper", req: with("BEARER " + n.full), status: 200},
		{says: "no token in a URL", req: request{path: "/v1/devices?access_token=" + n.full}, status: 401, code: "unauthenticated"},
		{says: "not two tokens", req: with("Bearer " + n.full + ", Bearer " + n.full), status: 401, code: "unauthenticated"},
		{says: "a token has a case", req: with("Bearer " + strings.ToUpper(n.full)), status: 401, code: "unauthenticated"},
	})
	two := fmt.Sprintf("GET /api/v1/devices HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer %s\r\nAuthorization: Bearer %s\r\n\r\n", n.full, n.full)
	if a, _ := s.raw(t, two); !strings.HasPrefix(a, "HTTP/1.1 401 ") {
		t.Errorf("two Authorization headers: %s", a)
	}
}

// TestWorkspacesAreApart: "unknown serial or id in a path, another workspace's
// included (same body, same timing class)".
func TestWorkspacesAreApart(t *testing.T) {
	t.Parallel()
	s := start(t)
	mine, theirs := s.tenant(t, "Alpha"), s.tenant(t, "Beta")
	theirs.device(t, `{"serial":"SECRET-1","limits":{"temp_max":5,"delay_s":0},"equipment_type":"vaccine_refrigerator"}`)
	theirs.reading(t, `{"device_serial":"SECRET-1","product_zone_temp":30,"recorded_at":"`+s.ago(time.Minute)+`"}`)
	theirs.reading(t, `{"device_serial":"SECRET-1","product_zone_temp":30}`)
	alert := theirs.get(t, "/v1/alerts")
	id := alert.number(t, "data.alerts.0.id")
	site := s.do(t, request{method: "POST", path: "/v1/sites", token: theirs.full, body: `{"name":"Secret"}`}).number(t, "data.site.id")
	for _, pair := range [][2]request{
		{{path: "/v1/devices/SECRET-1"}, {path: "/v1/devices/NOTHING1"}},
		{{path: "/v1/devices/SECRET-1/readings"}, {path: "/v1/devices/NOTHING1/readings"}},
		{{method: "PATCH", path: "/v1/devices/SECRET-1", body: `{"name":"x"}`}, {method: "PATCH", path: "/v1/devices/NOTHING1", body: `{"name":"x"}`}},
		{{method: "PATCH", path: "/v1/devices/SECRET-1/heartbeat"}, {method: "PATCH", path: "/v1/devices/NOTHING1/heartbeat"}},
		{{method: "DELETE", path: "/v1/devices/SECRET-1"}, {method: "DELETE", path: "/v1/devices/NOTHING1"}},
		{{path: fmt.Sprintf("/v1/alerts/%.0f", id)}, {path: "/v1/alerts/987654"}},
		{{method: "POST", path: fmt.Sprintf("/v1/alerts/%.0f/acknowledge", id)}, {method: "POST", path: "/v1/alerts/987654/acknowledge"}},
		{{method: "POST", path: fmt.Sprintf("/v1/alerts/%.0f/resolve", id)}, {method: "POST", path: "/v1/alerts/987654/resolve"}},
		{{path: fmt.Sprintf("/v1/sites/%.0f", site)}, {path: "/v1/sites/987654"}},
		{{method: "DELETE", path: fmt.Sprintf("/v1/sites/%.0f", site)}, {method: "DELETE", path: "/v1/sites/987654"}},
		{{method: "POST", path: "/v1/readings", body: `{"device_serial":"SECRET-1","humidity":1}`}, {method: "POST", path: "/v1/readings", body: `{"device_serial":"NOTHING1","humidity":1}`}},
		{{method: "POST", path: "/v1/devices", body: fmt.Sprintf(`{"serial":"M-1","site_id":%.0f}`, site)}, {method: "POST", path: "/v1/devices", body: `{"serial":"M-1","site_id":987654}`}},
		{{path: "/v1/alerts?status=all&device_serial=SECRET-1"}, {path: "/v1/alerts?status=all&device_serial=NOTHING1"}},
		{{path: fmt.Sprintf("/v1/devices?site_id=%.0f", site)}, {path: "/v1/devices?site_id=987654"}},
	} {
		var got [2]string
		for i, q := range pair {
			q.token = mine.full
			a := s.do(t, q)
			if a.status == http.StatusForbidden || a.status >= 500 {
				t.Errorf("%s %s: %d", q.method, q.path, a.status)
			}
			got[i] = fmt.Sprint(a.status) + strings.NewReplacer(a.header.Get("X-Request-Id"), "", "NOTHING1", "SECRET-1").Replace(string(a.body))
		}
		if got[0] != got[1] {
			t.Errorf("%s %s tells that it is there:\n%s%s", pair[0].method, pair[0].path, got[0], got[1])
		}
	}
	for _, path := range []string{"/v1/devices", "/v1/readings/latest", "/v1/alerts?status=all", "/v1/sites"} {
		if a := mine.get(t, path); strings.Contains(strings.ToLower(string(a.body)), "secret") {
			t.Errorf("%s shows the other workspace: %s", path, a.body)
		}
	}
	a := mine.get(t, "/v1/devices/health/summary")
	if a.number(t, "data.total_devices") != 0 || a.number(t, "data.active_alerts") != 0 {
		t.Errorf("the summary counts the other workspace: %s", a.body)
	}
	cursor := theirs.pageCursor(t)
	s.recite(t, []row{
		{says: "another workspace's cursor is no cursor", req: request{path: "/v1/devices?cursor=" + cursor, token: mine.full}, status: 422, code: "validation_failed", fields: []string{"cursor"}},
		{says: "another list's cursor is no cursor", req: request{path: "/v1/alerts?cursor=" + cursor, token: theirs.full}, status: 422, code: "validation_failed", fields: []string{"cursor"}},
		{says: "the serial of another workspace is free", req: request{method: "POST", path: "/v1/devices", body: `{"serial":"SECRET-1"}`, token: mine.full}, status: 201},
	})
}

// pageCursor makes a second device and returns the cursor of the first page.
func (n *tenant) pageCursor(t *testing.T) string {
	t.Helper()
	n.device(t, `{"serial":"CURSOR-2"}`)
	return n.get(t, "/v1/devices?per_page=1").text("data.pagination.next_cursor")
}
