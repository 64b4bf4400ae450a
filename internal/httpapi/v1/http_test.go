package v1

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/httpapi"
	"github.com/rimewatch/rimewatch/internal/httpapi/submit"
	"github.com/rimewatch/rimewatch/internal/store"
)

// TestCodesAreComplete proves that every code of the root package has the status
// that the contract gives it.
func TestCodesAreComplete(t *testing.T) {
	want := map[rimewatch.Code]int{
		"invalid_json": 400, "unauthenticated": 401, "forbidden": 403,
		"not_found": 404, "device_not_found": 404, "alert_not_found": 404, "policy_not_found": 404, "method_not_allowed": 405,
		"serial_taken": 409, "alert_not_active": 409, "conflict": 409, "payload_too_large": 413, "unsupported_media_type": 415,
		"validation_failed": 422, "unknown_device": 422, "rate_limited": 429, "internal": 500, "unavailable": 503,
	}
	for code, status := range want {
		if httpapi.StatusOf[code] != status {
			t.Errorf("%s is %d, want %d", code, httpapi.StatusOf[code], status)
		}
	}
	for _, code := range codesInSource(t) {
		if httpapi.StatusOf[code] == 0 {
			t.Errorf("%s has no status", code)
		}
	}
}

func TestRouter(t *testing.T) {
	r := newRig(t)
	r.run(t, []scenario{
		{name: "unknown path", req: get("/v1/nothing", r.full), status: 404, code: rimewatch.CodeNotFound},
		{name: "unknown path without a token", req: get("/v1/nothing", ""), status: 404, code: rimewatch.CodeNotFound},
		{name: "the prefix itself", req: request{method: "GET", path: "/api"}, status: 404, code: rimewatch.CodeNotFound},
		{name: "v2", req: get("/v2/devices", r.full), status: 404, code: rimewatch.CodeNotFound},
		{name: "trailing slash", req: get("/v1/devices/", r.full), status: 200, want: map[string]any{"data.devices": "[]"}},
		{name: "two of them", req: get("/v1/devices//", r.full), status: 404, code: rimewatch.CodeNotFound},
		{name: "dots for a policy", req: get("/v1/policies/%2e%2e", ""), status: 404, code: rimewatch.CodePolicyNotFound},
		{name: "double slash", req: get("/v1//devices", r.full), status: 404, code: rimewatch.CodeNotFound},
		{name: "dots", req: get("/v1/x/../devices", r.full), status: 404, code: rimewatch.CodeNotFound},
		{name: "traversal in a slug", req: get("/v1/policies/..%2f..%2fetc%2fpasswd", ""), status: 404, code: rimewatch.CodePolicyNotFound},
		{name: "not of the API", req: request{method: "GET", path: "/index.html"}, status: 404, code: rimewatch.CodeNotFound},
		{name: "wrong method", req: request{method: "PUT", path: "/api/v1/devices"}, status: 405, code: rimewatch.CodeMethodNotAllowed, header: map[string]string{"Allow": "GET, HEAD, POST"}},
		{name: "wrong method on ingest", req: patch("/v1/readings", r.full, `{}`), status: 405, code: rimewatch.CodeMethodNotAllowed, header: map[string]string{"Allow": "GET, HEAD, POST"}},
		{name: "wrong method on a batch", req: get("/v1/readings/batch", r.full), status: 405, code: rimewatch.CodeMethodNotAllowed, header: map[string]string{"Allow": "POST"}},
		{name: "wrong method with a name", req: post("/v1/devices/A", r.full, `{}`), status: 405, code: rimewatch.CodeMethodNotAllowed, header: map[string]string{"Allow": "DELETE, GET, HEAD, PATCH"}},
		{name: "unknown method", req: request{method: "BREW", path: "/api/v1/devices"}, status: 405, code: rimewatch.CodeMethodNotAllowed},
		{name: "TRACE", req: request{method: "TRACE", path: "/api/v1/devices"}, status: 405, code: rimewatch.CodeMethodNotAllowed},
		{name: "OPTIONS", req: request{method: "OPTIONS", path: "/api/v1/devices"}, status: 200, header: map[string]string{"Allow": "GET, HEAD, POST, OPTIONS", "Access-Control-Allow-Origin": ""}},
		{name: "OPTIONS of nothing", req: request{method: "OPTIONS", path: "/api/v1/nothing"}, status: 404, code: rimewatch.CodeNotFound},
		{name: "HEAD", req: request{method: "HEAD", path: "/api/v1/devices", token: r.read}, status: 200, header: map[string]string{"Content-Type": "application/json"}},
		{name: "HEAD without a token", req: request{method: "HEAD", path: "/api/v1/devices"}, status: 401, code: ""},
		{name: "health", req: request{method: "GET", path: "/healthz"}, status: 200, contains: []string{`"status":"ok"`}},
		{name: "ready", req: request{method: "GET", path: "/readyz"}, status: 200},
		{name: "metrics are not served without a handler", req: request{method: "GET", path: "/metrics"}, status: 404, code: rimewatch.CodeNotFound},
		{name: "docs", req: get("/docs", ""), status: 200, contains: []string{"docs/docs.js"}, header: map[string]string{"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'", "Content-Type": "text/html; charset=utf-8"}},
		{name: "docs script", req: get("/docs/docs.js", ""), status: 200, header: map[string]string{"Content-Type": "text/javascript; charset=utf-8", "X-Content-Type-Options": "nosniff"}},
		{name: "docs file that is not there", req: get("/docs/..%2fdocs.go", ""), status: 404, code: rimewatch.CodeNotFound},
		{name: "description of the stream", req: get("/asyncapi.json", ""), status: 200, contains: []string{`"asyncapi":"3.0.0"`}},
		{name: "description", req: get("/openapi.json", ""), status: 200, contains: []string{`"openapi":"3.1.0"`}},
		{name: "answers are not cached", req: get("/v1/devices", r.read), status: 200, header: map[string]string{"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}},
	})
}

func TestRequestID(t *testing.T) {
	r := newRig(t)
	for sent, kept := range map[string]bool{
		"abc-123_X.y": true, strings.Repeat("a", 64): true, strings.Repeat("a", 65): false, "a b": false, "a\"b": false, "ä": false, "": false,
	} {
		for _, q := range []request{get("/v1/devices", r.read), post("/v1/readings", r.feed, `{}`)} {
			if got := r.do(q.with(httpapi.RequestIDHeader, sent)).header.Get(httpapi.RequestIDHeader); (got == sent) != kept {
				t.Errorf("%q became %q", sent, got)
			}
		}
	}
	seen := make(map[string]bool)
	for range 1000 {
		id := r.api.RequestID(nil)
		if seen[id] || !httpapi.SaneID(id) {
			t.Fatalf("%q again", id)
		}
		seen[id] = true
	}
}

func TestPolicies(t *testing.T) {
	r := newRig(t)
	etag := r.do(get("/v1/policies/privacy", "")).header.Get("ETag")
	r.run(t, []scenario{
		{name: "all", req: get("/v1/policies", ""), status: 200, want: map[string]any{"data.policies.0.slug": "privacy", "data.policies.1.slug": "terms", "data.policies.2.slug": "data-retention", "data.policies.3.slug": "security", "data.policies.0.content_type": "text/markdown"}, lacks: []string{"content_html"}, header: map[string]string{"Cache-Control": "public, max-age=300"}},
		{name: "privacy", req: get("/v1/policies/privacy", ""), status: 200, want: map[string]any{"data.policy.title": "Privacy policy", "data.policy.version": "1.0", "data.policy.effective_at": "2026-11-01T00:00:00.000Z"}, contains: []string{"<h1", "<table>", "# Privacy policy"}, lacks: []string{"title:"}},
		{name: "another", req: get("/v1/policies/data-retention", "bad token"), status: 200, want: map[string]any{"data.policy.slug": "data-retention"}},
		{name: "unknown", req: get("/v1/policies/nothing", ""), status: 404, code: rimewatch.CodePolicyNotFound},
		{name: "not modified", req: get("/v1/policies/privacy", "").with("If-None-Match", etag), status: 304, header: map[string]string{"ETag": etag, "Content-Type": ""}},
		{name: "not modified, weakly and among others", req: get("/v1/policies/privacy", "").with("If-None-Match", `"x", `+etag), status: 304},
		{name: "modified", req: get("/v1/policies/privacy", "").with("If-None-Match", `"x"`), status: 200},
	})
	if a := r.do(get("/v1/policies/privacy", "").with("If-None-Match", etag)); a.body != "" {
		t.Errorf("304 with a body: %s", a.body)
	}
}

func TestOperatorsPolicies(t *testing.T) {
	text := "---\r\ntitle: Ours\r\nversion: 7\r\neffective_at: 2026-01-02\r\nupdated_at: 2026-01-03T04:05:06Z\r\n---\r\n\r\n# Hi\r\n<script>alert(1)</script><a href=\"javascript:x\">y</a>\r\n[z](javascript:alert(1))\r\n"
	r := newRig(t, func(c *whole) {
		c.PolicyDir = mapFS{"privacy.md": text, "house-rules.md": text}
	})
	r.run(t, []scenario{
		{name: "replaced", req: get("/v1/policies/privacy", ""), status: 200, want: map[string]any{"data.policy.title": "Ours", "data.policy.effective_at": "2026-01-02T00:00:00.000Z", "data.policy.updated_at": "2026-01-03T04:05:06.000Z"}},
		{name: "added", req: get("/v1/policies", ""), status: 200, want: map[string]any{"data.policies.4.slug": "house-rules"}},
	})
	html, _ := r.do(get("/v1/policies/house-rules", "")).get("data.policy.content_html").(string)
	if strings.Contains(html, "script") || !strings.Contains(html, "Hi</h1>") {
		t.Errorf("not sanitised: %s", html)
	}
	for _, bad := range []string{"no header", "---\ntitle: x\n---\nbody", "---\ntitle: x\nversion: 1\neffective_at: soon\nupdated_at: 2026-01-01\n---\n", "---\nowner: x\n---\n"} {
		if _, err := loadPolicies(mapFS{"terms.md": bad}); err == nil {
			t.Errorf("taken: %q", bad)
		}
	}
}

// TestPoliciesInEveryLanguage: a shipped document says the same in each: the same
// version with as many headings and rows.
func TestPoliciesInEveryLanguage(t *testing.T) {
	sets, err := loadPolicies(nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(sets) < 2 || sets.in("es") == sets.in("en") || sets.in("de") != sets.in("en") {
		t.Errorf("%d languages", len(sets))
	}
	for language, set := range sets {
		for slug, p := range set.bySlug {
			english := sets.in("en").bySlug[slug]
			if language != "en" && p.Content == english.Content {
				t.Errorf("%s is not in %s", slug, language)
			}
			if p.Version != english.Version || p.EffectiveAt != english.EffectiveAt || p.UpdatedAt != english.UpdatedAt || shape(p.ContentHTML) != shape(english.ContentHTML) {
				t.Errorf("%s in %s: %s %s, English has %s %s", slug, language, p.Version, shape(p.ContentHTML), english.Version, shape(english.ContentHTML))
			}
		}
	}
}

// shape is how often each tag of a text begins.
func shape(html string) string {
	n := map[string]int{}
	for _, tag := range regexp.MustCompile(`<\w+`).FindAllString(html, -1) {
		n[tag]++
	}
	return fmt.Sprint(n)
}

func TestMetrics(t *testing.T) {
	registry := prometheus.NewRegistry()
	r := newRig(t, func(c *whole) {
		c.Registerer, c.Metrics, c.MetricsToken = registry, promhttp.HandlerFor(registry, promhttp.HandlerOpts{}), "metrics-secret"
	})
	r.do(get("/v1/devices", r.read))
	r.do(post("/v1/readings", r.feed, `{}`))
	r.do(get("/v1/nothing-known", ""))
	ask := func(addr string, header ...string) *httptest.ResponseRecorder {
		hr := httptest.NewRequest("GET", "http://127.0.0.1:8080/metrics", nil)
		hr.RemoteAddr = addr
		for i := 0; i+1 < len(header); i += 2 {
			hr.Header.Set(header[i], header[i+1])
		}
		return serveMetrics(r, hr)
	}
	local := ask("127.0.0.1:5")
	for _, line := range []string{
		`rimewatch_http_requests_total{method="GET",route="/v1/devices",status="200"} 1`,
		`rimewatch_http_requests_total{method="POST",route="/v1/readings",status="422"} 1`,
		`rimewatch_http_requests_total{method="other",route="other",status="404"} 1`,
	} {
		if !strings.Contains(local.Body.String(), line) {
			t.Errorf("%s is missing in\n%s", line, local.Body)
		}
	}
	if strings.Contains(local.Body.String(), "nothing-known") {
		t.Error("a stranger's path is a label")
	}
	for name, rec := range map[string]*httptest.ResponseRecorder{
		"far":       ask("192.0.2.1:5"),
		"forwarded": ask("127.0.0.1:5", "X-Forwarded-For", "192.0.2.1"),
		"bad token": ask("192.0.2.1:5", "Authorization", "Bearer "+r.full),
	} {
		if rec.Code != 401 {
			t.Errorf("%s: %d", name, rec.Code)
		}
	}
	if rec := ask("192.0.2.1:5", "Authorization", "Bearer metrics-secret"); rec.Code != 200 {
		t.Errorf("with the token: %d", rec.Code)
	}
}

func serveMetrics(r *rig, hr *http.Request) *httptest.ResponseRecorder {
	rec := httptest.NewRecorder()
	r.api.ServeHTTP(rec, hr)
	return rec
}

// TestMetricsBehindProxy: a proxy on the same machine is not the machine, also
// where it says nothing of itself.
func TestMetricsBehindProxy(t *testing.T) {
	served := func(c *whole) { c.Metrics = http.NotFoundHandler() } // 404 = it was let in
	for _, tt := range []struct {
		name, host string
		change     func(*http.Request)
		cfg        func(*whole)
		want       int
	}{
		{name: "this machine", host: "localhost:8080", want: 404},
		{name: "this machine by IPv6", host: "[::1]", want: 404},
		{name: "a proxy that keeps Host", host: "fridge.example", want: 401},
		{name: "nginx as it comes", host: "127.0.0.1:8080", want: 401, change: func(r *http.Request) { r.Proto, r.ProtoMinor = "HTTP/1.0", 0 }},
		{name: "Via", host: "127.0.0.1:8080", want: 401, change: func(r *http.Request) { r.Header.Set("Via", "1.1 proxy") }},
		{name: "an empty X-Forwarded-For", host: "127.0.0.1:8080", want: 401, change: func(r *http.Request) { r.Header["X-Forwarded-For"] = []string{""} }},
		{name: "a proxy that the operator named by its URL", host: "127.0.0.1:8080", want: 401, cfg: func(c *whole) { c.PublicURL = "https://fridge.example" }},
		{name: "a proxy that the operator trusts", host: "127.0.0.1:8080", want: 401, cfg: func(c *whole) { c.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")} }},
	} {
		change := []func(*whole){served}
		if tt.cfg != nil {
			change = append(change, tt.cfg)
		}
		r := newRig(t, change...)
		hr := httptest.NewRequest("GET", "/metrics", nil)
		hr.RemoteAddr, hr.Host = "127.0.0.1:5", tt.host
		if tt.change != nil {
			tt.change(hr)
		}
		if rec := serveMetrics(r, hr); rec.Code != tt.want {
			t.Errorf("%s: %d, want %d", tt.name, rec.Code, tt.want)
		}
	}
}

func TestNotReady(t *testing.T) {
	r := newRig(t, func(c *whole) { c.Ready = func(context.Context) error { return errors.New("the secret reason") } })
	r.run(t, []scenario{{name: "not ready", req: request{method: "GET", path: "/readyz"}, status: 503, code: rimewatch.CodeUnavailable, lacks: []string{"secret"}, header: map[string]string{"Retry-After": "1"}}})
}

// brokenFleet fails in every way.
type brokenFleet struct {
	store.Fleet
	err error
}

func (b brokenFleet) Devices(context.Context, int64, store.DeviceFilter, store.Page) ([]rimewatch.DeviceView, int, error) {
	panic("secret panic")
}

func (b brokenFleet) Device(context.Context, int64, string) (rimewatch.DeviceView, error) {
	return rimewatch.DeviceView{}, b.err
}

type brokenWriter struct {
	submit.Writer
	err error
}

func (b brokenWriter) Submit(context.Context, []store.Input, []store.Vitals) error {
	if b.err == nil {
		panic("secret panic")
	}
	return b.err
}

func TestOurFailures(t *testing.T) {
	unavailable := rimewatch.Wrap(rimewatch.CodeUnavailable, errors.New("secret: disk full"), "The disk is full.")
	unavailable.RetryAfter = 2500 * time.Millisecond
	var writer *brokenWriter
	r := newRig(t, func(c *whole) {
		c.Fleet = brokenFleet{c.Fleet, errors.New("secret: select from devices")}
		writer = &brokenWriter{c.readings.Writer, unavailable}
		c.readings.Writer = writer
	})
	r.device("A", "other")
	r.events.take(t, 1)
	r.run(t, []scenario{
		{name: "panic", req: get("/v1/devices", r.read), status: 500, code: rimewatch.CodeInternal, lacks: []string{"secret"}},
		{name: "failure", req: get("/v1/devices/A", r.read), status: 500, code: rimewatch.CodeInternal, lacks: []string{"secret"}},
		{name: "unavailable", req: post("/v1/readings", r.feed, `{"device_serial":"A","humidity":1}`), status: 503, code: rimewatch.CodeUnavailable, lacks: []string{"secret"}, header: map[string]string{"Retry-After": "3"}},
		{name: "unavailable batch", req: post("/v1/readings/batch", r.feed, batchOf(reading("A", 1))), status: 503, code: rimewatch.CodeUnavailable, lacks: []string{"accepted"}},
		{name: "panic on the hot path", req: post("/v1/readings", r.feed, `{"device_serial":"A","humidity":1}`), before: func(*rig) { writer.err = nil }, status: 500, code: rimewatch.CodeInternal, lacks: []string{"secret"}},
	})
	log := r.log.String()
	for text, n := range map[string]int{"secret panic": 2, "select from devices": 1} {
		if got := strings.Count(log, text); got != n {
			t.Errorf("%q is logged %d times, want %d:\n%s", text, got, n, log)
		}
	}
}

func TestCrossOrigin(t *testing.T) {
	r := newRig(t, func(c *whole) { c.PublicURL = "https://fridge.example" })
	write := r.browser(patch("/v1/me", "", `{"theme":"dark"}`))
	signIn := post("/v1/auth/sign-in", "", `{"email":"olga@example.com","password":"`+ownerPassword+`"}`)
	tests := []struct {
		name   string
		q      request
		status int
	}{
		{"same origin", write.with("Sec-Fetch-Site", "same-origin"), 200},
		{"typed by hand", write.with("Sec-Fetch-Site", "none"), 200},
		{"cross-site", write.with("Sec-Fetch-Site", "cross-site"), 403},
		{"same-site but another origin", write.with("Sec-Fetch-Site", "same-site"), 403},
		{"old browser, another origin", write.with("Origin", "https://evil.example"), 403},
		{"old browser, our public origin", write.with("Origin", "https://fridge.example"), 200},
		{"our host without TLS", write.with("Origin", "http://fridge.example").with("Host", "fridge.example"), 403},
		{"null origin", write.with("Origin", "null"), 403},
		{"reading is harmless", r.browser(get("/v1/me", "")).with("Sec-Fetch-Site", "cross-site"), 200},
		{"tokens are not sent by browsers on their own", post("/v1/devices", r.full, `{"serial":"X"}`).with("Sec-Fetch-Site", "cross-site"), 201},
		{"signing somebody in", signIn.with("Sec-Fetch-Site", "cross-site"), 403},
		{"signing in", signIn.with("Sec-Fetch-Site", "same-origin"), 200},
	}
	for _, tt := range tests {
		if a := r.do(tt.q); a.status != tt.status {
			t.Errorf("%s: %d %s", tt.name, a.status, a.body)
		}
	}
}

// TestHostChangedByProxy: a page of ours behind a proxy that changes the header Host is
// refused with the cure, another site's page without.
func TestHostChangedByProxy(t *testing.T) {
	r := newRig(t, func(*whole) {})
	page := r.browser(patch("/v1/me", "", `{"theme":"dark"}`)).with("Origin", "https://fridge.example").with("Host", "127.0.0.1:8080")
	for _, tt := range []struct {
		name, from string // Sec-Fetch-Site
		q          request
		cure       bool
	}{
		{"no TLS up to the browser", "", page, true},
		{"another site", "cross-site", page, false},
		{"a stream", "same-origin", r.browser(get("/v1/stream", "")).with("Origin", "https://fridge.example").with("Host", "127.0.0.1:8080").
			with("Connection", "Upgrade").with("Upgrade", "websocket"), true},
	} {
		q := tt.q
		if tt.from != "" {
			q = q.with("Sec-Fetch-Site", tt.from)
		}
		a := r.do(q)
		if a.status != 403 || strings.Contains(a.body, "start Rimewatch with --public-url http") != tt.cure {
			t.Errorf("%s: %d %s", tt.name, a.status, a.body)
		}
	}
}

func TestClientAddress(t *testing.T) {
	r := newRig(t, func(c *whole) {
		c.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("::1/128")}
	})
	for _, tt := range []struct{ remote, forwarded, want string }{
		{"192.0.2.7:1", "", "192.0.2.7"},
		{"192.0.2.7:1", "198.51.100.1", "192.0.2.7"},
		{"10.1.1.1:1", "198.51.100.1", "198.51.100.1"},
		{"10.1.1.1:1", "203.0.113.9, 198.51.100.1, 10.2.2.2", "198.51.100.1"},
		{"10.1.1.1:1", "198.51.100.1:40112", "198.51.100.1"},
		{"10.1.1.1:1", "[2001:db8::1]:40112, 10.2.2.2:8080", "2001:db8::1"},
		{"10.1.1.1:1", "[2001:db8::1]", "2001:db8::1"},
		{"10.1.1.1:1", "198.51.100.1:port", "10.1.1.1"},
		{"10.1.1.1:1", "nonsense", "10.1.1.1"},
		{"10.1.1.1:1", "198.51.100.1, nonsense", "10.1.1.1"},
		{"[::1]:1", "2001:db8::1", "2001:db8::1"},
		{"[::ffff:10.1.1.1]:1", "198.51.100.1", "198.51.100.1"},
		{"@", "", "invalid IP"},
	} {
		hr := httptest.NewRequest("GET", "/", nil)
		hr.RemoteAddr = tt.remote
		if tt.forwarded != "" {
			hr.Header.Set("X-Forwarded-For", tt.forwarded)
		}
		if got := r.api.ClientAddr(hr).String(); got != tt.want {
			t.Errorf("%s for %q: %s, want %s", tt.remote, tt.forwarded, got, tt.want)
		}
	}
}
