package v1

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/httpapi"
)

func cookieOf(t *testing.T, a answer) *http.Cookie {
	t.Helper()
	all := (&http.Response{Header: a.header}).Cookies()
	if len(all) != 1 || !strings.HasSuffix(all[0].Name, "rimewatch_session") {
		t.Fatalf("cookies %v in %d %s", all, a.status, a.body)
	}
	return all[0]
}

func TestSigningIn(t *testing.T) {
	r := newRig(t)
	signIn := func(email, password string) request {
		return post("/v1/auth/sign-in", "", `{"email":"`+email+`","password":"`+password+`"}`)
	}
	r.run(t, []scenario{
		{name: "wrong password", req: signIn("olga@example.com", "wrong"), status: 401, code: rimewatch.CodeUnauthenticated, header: map[string]string{"Set-Cookie": ""}},
		{name: "unknown person", req: signIn("nobody@example.com", ownerPassword), status: 401, code: rimewatch.CodeUnauthenticated},
		{name: "nothing", req: post("/v1/auth/sign-in", "", `{}`), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"email", "password"}},
		{name: "a form", req: signIn("olga@example.com", ownerPassword).with("Content-Type", "application/x-www-form-urlencoded"), status: 415, code: rimewatch.CodeUnsupportedMedia},
		{name: "set-up is over", req: get("/v1/setup", ""), status: 200, want: map[string]any{"data.needed": false, "data.signed_in": false, "data.role": nil}},
		{name: "no second set-up", req: post("/v1/setup", "", `{"code":"x","workspace":"W","email":"a@b.c","password":"0123456789"}`), status: 409, code: rimewatch.CodeConflict},
		{name: "me without a session", req: get("/v1/me", ""), status: 401, code: rimewatch.CodeUnauthenticated},
		{name: "me with a token", req: get("/v1/me", r.full), status: 403, code: rimewatch.CodeForbidden},
	})
	a := r.do(signIn("OLGA@example.com", ownerPassword))
	cookie := cookieOf(t, a)
	if a.status != 200 || !cookie.HttpOnly || cookie.SameSite != http.SameSiteLaxMode || cookie.Secure || cookie.Path != "/" {
		t.Errorf("%d %+v", a.status, cookie)
	}
	if strings.Contains(a.body, cookie.Value) {
		t.Error("the secret is in the body")
	}
	r.owner = cookie.Value
	r.run(t, []scenario{
		{name: "me", req: r.browser(get("/v1/me", "")), status: 200, want: map[string]any{"data.user.email": "olga@example.com", "data.workspace.name": "Alpha", "data.role": "owner"}},
		{name: "the page is told that they are signed in", req: r.browser(get("/v1/setup", "")), status: 200, want: map[string]any{"data.signed_in": true, "data.role": "owner"}},
		{name: "settings", req: r.browser(patch("/v1/me", "", `{"units":"f","theme":"dark","name":"O."}`)), status: 200, want: map[string]any{"data.user.units": "f", "data.user.theme": "dark", "data.user.name": "O."}},
		{name: "bad settings", req: r.browser(patch("/v1/me", "", `{"units":"k","email":"x@y.z"}`)), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"email", "units"}},
		{name: "null settings", req: r.browser(patch("/v1/me", "", `{"units":null}`)), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"units"}},
		{name: "sessions", req: r.browser(get("/v1/me/sessions", "")), status: 200, want: map[string]any{"data.sessions.0.current": false, "data.sessions.1.current": true, "data.sessions.1.address": "192.0.2.1"}},
		{name: "end an unknown session", req: r.browser(remove("/v1/me/sessions/99", "")), status: 404, code: rimewatch.CodeNotFound},
		{name: "end the other one", req: r.browser(remove("/v1/me/sessions/1", "")), status: 200},
		{name: "it is gone", req: r.browser(get("/v1/me/sessions", "")), status: 200, want: map[string]any{"data.sessions.1": nil}},
		{name: "a workspace that is not mine", req: r.browser(post("/v1/me/workspace", "", `{"workspace_id":2}`)), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"workspace_id"}},
		{name: "a session may do what the role may", req: r.browser(post("/v1/devices", "", `{"serial":"A"}`)), status: 201, events: []string{"device.created"}},
		{name: "wrong current password", req: r.browser(post("/v1/me/password", "", `{"current_password":"x","password":"another good one"}`)), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"current_password"}},
		{name: "new password too short", req: r.browser(post("/v1/me/password", "", `{"current_password":"`+ownerPassword+`","password":"short"}`)), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"password"}},
	})
	changed := r.do(r.browser(post("/v1/me/password", "", `{"current_password":"`+ownerPassword+`","password":"another good one"}`)))
	fresh := cookieOf(t, changed)
	r.run(t, []scenario{{name: "the old session is over", req: r.browser(get("/v1/me", "")), status: 401, code: rimewatch.CodeUnauthenticated}})
	r.owner = fresh.Value
	r.run(t, []scenario{
		{name: "the new one works", req: r.browser(get("/v1/me", "")), status: 200},
		{name: "sign out", req: r.browser(post("/v1/auth/sign-out", "", "")), status: 200},
		{name: "signed out", req: r.browser(get("/v1/me", "")), status: 401, code: rimewatch.CodeUnauthenticated},
	})
}

func TestSecureCookies(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*whole)
		header string
		secure bool
	}{
		"plain":             {func(*whole) {}, "https", false}, // a stranger's header
		"public URL":        {func(c *whole) { c.PublicURL = "https://f.example" }, "", true},
		"plain public URL":  {func(c *whole) { c.PublicURL = "http://f.example" }, "", false},
		"behind a proxy":    {func(c *whole) { c.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")} }, "https", true},
		"proxy without TLS": {func(c *whole) { c.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")} }, "http", false},
	} {
		r := newRig(t, tt.change)
		q := post("/v1/auth/sign-in", "", `{"email":"olga@example.com","password":"`+ownerPassword+`"}`)
		if tt.header != "" {
			q = q.with("X-Forwarded-Proto", tt.header)
		}
		a := r.do(q)
		c := cookieOf(t, a)
		if c.Secure != tt.secure || strings.HasPrefix(c.Name, "__Host-") != tt.secure || c.Path != "/" || c.Domain != "" {
			t.Errorf("%s: %+v", name, c)
		}
		if got := a.header.Get("Strict-Transport-Security"); (got == "max-age=31536000") != tt.secure || !tt.secure && got != "" {
			t.Errorf("%s: Strict-Transport-Security %q", name, got)
		}
		if got := a.header.Get("Cross-Origin-Opener-Policy"); got != "same-origin" {
			t.Errorf("%s: Cross-Origin-Opener-Policy %q", name, got)
		}
		me := get("/v1/me", "").with("Cookie", c.Name+"="+c.Value).with("X-Forwarded-Proto", tt.header)
		if a := r.do(me); a.status != 200 {
			t.Errorf("%s: the session does not work: %s", name, a.body)
		}
		if tt.secure { // what another host of the domain could have set is not believed
			if a := r.do(me.with("Cookie", "rimewatch_session="+c.Value)); a.status != 401 {
				t.Errorf("%s: a cookie without the prefix works", name)
			}
		}
	}
}

// However many guesses come at once, no more are heard than may fail in a
// minute.
func TestGuessesAtOnce(t *testing.T) {
	r := newRig(t, func(c *whole) { c.AuthRateLimit = 20 })
	var wg sync.WaitGroup
	var heard, refused atomic.Int32
	for i := range 60 {
		wg.Go(func() {
			body := fmt.Sprintf(`{"email":"p%d@example.com","password":"a wrong one"}`, i)
			hr := httptest.NewRequest(http.MethodPost, "/api/v1/auth/sign-in", strings.NewReader(body))
			hr.Header.Set("Content-Type", httpapi.TypeJSON)
			rec := httptest.NewRecorder()
			r.api.ServeHTTP(rec, hr)
			switch rec.Code {
			case http.StatusUnauthorized:
				heard.Add(1)
			case http.StatusTooManyRequests:
				refused.Add(1)
			default:
				t.Errorf("%d %s", rec.Code, rec.Body)
			}
		})
	}
	wg.Wait()
	if heard.Load() != 20 || refused.Load() != 40 {
		t.Errorf("%d guesses were heard and %d refused, want 20 and 40", heard.Load(), refused.Load())
	}
}

// Wrong set-up codes count per address: nobody locks out whoever has the code.
func TestWrongSetupCodes(t *testing.T) {
	r := emptyRig(t, func(c *whole) {
		c.AuthRateLimit, c.TrustedProxies = 20, []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}
	})
	code, _, err := r.accounts.SetupCode(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	setUp := func(code, from string) answer {
		return r.do(post("/v1/setup", "", `{"code":"`+code+`","workspace":"W","email":"olga@example.com","password":"`+ownerPassword+`"}`).with("X-Forwarded-For", from))
	}
	for i := range 25 {
		want := http.StatusForbidden
		if i >= 20 {
			want = http.StatusTooManyRequests
		}
		if a := setUp("AAAA", "203.0.113.9"); a.status != want {
			t.Fatalf("wrong code %d: %d", i, a.status)
		}
	}
	if a := setUp(code, "198.51.100.1"); a.status != http.StatusCreated {
		t.Errorf("the owner: %d %s", a.status, a.body)
	}
}

// Common passwords are refused where one is chosen.
func TestCommonPasswords(t *testing.T) {
	r := newRig(t)
	r.run(t, []scenario{
		{name: "a common one", req: r.browser(post("/v1/me/password", "", `{"current_password":"`+ownerPassword+`","password":"password123"}`)), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"password"}},
		{name: "one's own address", req: r.browser(post("/v1/me/password", "", `{"current_password":"`+ownerPassword+`","password":"olga@example.com"}`)), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"password"}},
	})
}

// The audit trail shows every sign-in and refusal.
func TestSignInsInTheTrail(t *testing.T) {
	r := newRig(t)
	for _, password := range []string{"a wrong one", ownerPassword} {
		r.do(post("/v1/auth/sign-in", "", `{"email":"olga@example.com","password":"`+password+`"}`))
	}
	r.run(t, []scenario{{name: "both", req: r.browser(get("/v1/audit?action=user.", "")), status: 200, want: map[string]any{
		"data.entries.0.action": "user.signed_in", "data.entries.0.actor": "Olga <olga@example.com>", "data.entries.0.detail.address": "192.0.2.1",
		"data.entries.1.action": "user.sign_in_refused", "data.entries.1.detail.address": "192.0.2.1", "data.entries.1.detail.wrong": "password",
	}}})
}

func TestWorkspaceSettings(t *testing.T) {
	r := newRig(t)
	r.run(t, []scenario{
		{name: "get", req: r.browser(get("/v1/workspace", "")), status: 200, want: map[string]any{"data.workspace.auto_register": false, "data.workspace.raw_days": 396}},
		{name: "never by a token", req: get("/v1/workspace", r.full), status: 403, code: rimewatch.CodeForbidden},
		{name: "an unknown device", req: post("/v1/readings", r.feed, `{"device_serial":"N","humidity":1}`), status: 422, code: rimewatch.CodeUnknownDevice},
		{name: "auto_register on", req: r.browser(patch("/v1/workspace", "", `{"auto_register":true,"name":"Alpha 2","timezone":"Europe/Berlin","raw_days":30,"rollup_days":60}`)), status: 200, want: map[string]any{"data.workspace.name": "Alpha 2", "data.workspace.auto_register": true}},
		{name: "works at once", req: post("/v1/readings", r.feed, `{"device_serial":"N","humidity":1}`), status: 201, events: []string{"device.created", "reading.created", "device.online"}},
		{name: "the retention too", req: post("/v1/readings", r.feed, `{"device_serial":"N","humidity":1,"recorded_at":"2026-10-20T00:00:00Z"}`), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"recorded_at"}},
		{name: "bad values", req: r.browser(patch("/v1/workspace", "", `{"name":"","raw_days":0,"rollup_days":"x","id":7}`)), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"id", "name", "raw_days", "rollup_days"}},
		{name: "bad zone", req: r.browser(patch("/v1/workspace", "", `{"timezone":"Mars/Olympus"}`)), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"timezone"}},
		{name: "rollups shorter than raw", req: r.browser(patch("/v1/workspace", "", `{"raw_days":100}`)), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"rollup_days"}},
		{name: "a name that is taken", req: r.browser(patch("/v1/workspace", "", `{"name":"beta"}`)), status: 409, code: rimewatch.CodeConflict},

		{name: "make a site", req: post("/v1/sites", r.full, `{"name":"Hall","timezone":"America/New_York","address":"1 Main St"}`), status: 201, want: map[string]any{"data.site.id": 1, "data.site.timezone": "America/New_York"}},
		{name: "in the workspace's zone", req: post("/v1/sites", r.full, `{"name":"Yard"}`), status: 201, want: map[string]any{"data.site.timezone": "Europe/Berlin"}},
		{name: "a bad site", req: post("/v1/sites", r.full, `{"name":"","timezone":"Local"}`), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"name"}},
		{name: "a bad zone", req: post("/v1/sites", r.full, `{"name":"x","timezone":"Local"}`), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"timezone"}},
		{name: "sites", req: get("/v1/sites", r.read), status: 200, want: map[string]any{"data.sites.1.name": "Yard"}},
		{name: "one site", req: get("/v1/sites/1", r.read), status: 200, want: map[string]any{"data.site.address": "1 Main St"}},
		{name: "of another workspace", req: get("/v1/sites/1", r.otherFull), status: 404, code: rimewatch.CodeNotFound},
		{name: "no id", req: get("/v1/sites/x", r.read), status: 404, code: rimewatch.CodeNotFound},
		{name: "change", req: patch("/v1/sites/1", r.full, `{"name":"Market","address":""}`), status: 200, want: map[string]any{"data.site.name": "Market", "data.site.address": "", "data.site.timezone": "America/New_York"}},
		{name: "change unknown", req: patch("/v1/sites/9", r.full, `{"name":"x"}`), status: 404, code: rimewatch.CodeNotFound},
		{name: "a device there", req: patch("/v1/devices/N", r.full, `{"site_id":1}`), status: 200, want: map[string]any{"data.device.site.name": "Market"}, events: []string{"device.updated"}},
		{name: "delete", req: remove("/v1/sites/1", r.full), status: 200},
		{name: "the device stays", req: get("/v1/devices/N", r.full), status: 200, want: map[string]any{"data.device.site": nil}},
		{name: "delete again", req: remove("/v1/sites/1", r.full), status: 404, code: rimewatch.CodeNotFound},
	})
}

func TestTokensAndMembers(t *testing.T) {
	r := newRig(t)
	made := r.do(r.browser(post("/v1/tokens", "", `{"name":"Line 1","scopes":["ingest","devices:read"],"expires_at":"2026-12-01T00:00:00Z"}`)))
	plain, _ := made.get("data.plain_token").(string)
	if made.status != 201 || !rimewatch.ValidToken(plain) || made.get("data.token.created_by") != "Olga" {
		t.Fatalf("%d %s", made.status, made.body)
	}
	r.run(t, []scenario{
		{name: "it works", req: get("/v1/devices", plain), status: 200},
		{name: "list", req: r.browser(get("/v1/tokens", "")), status: 200, want: map[string]any{"data.tokens.3.name": "Line 1", "data.tokens.3.prefix": plain[:9], "data.tokens.3.scopes": "[devices:read readings:write]", "data.tokens.3.last_used_at": "2026-11-20T12:00:00.000Z", "data.tokens.3.expires_at": "2026-12-01T00:00:00.000Z", "data.tokens.0.created_by": nil, "data.tokens.4": nil}, lacks: []string{plain}},
		{name: "never by a token", req: get("/v1/tokens", r.full), status: 403, code: rimewatch.CodeForbidden},
		{name: "bad ones", req: r.browser(post("/v1/tokens", "", `{"name":"","scopes":["all"],"expires_at":"never"}`)), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"expires_at", "name", "scopes[0]"}},
		{name: "already over", req: r.browser(post("/v1/tokens", "", `{"name":"x","expires_at":"2026-11-20T12:00:00Z"}`)), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"expires_at"}},
		{name: "full by default", req: r.browser(post("/v1/tokens", "", `{"name":"x","expires_at":null}`)), status: 201, want: map[string]any{"data.token.scopes": "[devices:read devices:write readings:read readings:write alerts:read alerts:write]", "data.token.expires_at": nil}},
		{name: "revoke", req: r.browser(remove("/v1/tokens/5", "")), status: 200},
		{name: "it is dead", req: get("/v1/devices", plain), status: 401, code: rimewatch.CodeUnauthenticated},
		{name: "revoke again", req: r.browser(remove("/v1/tokens/5", "")), status: 200},
		{name: "revoke unknown", req: r.browser(remove("/v1/tokens/99", "")), status: 404, code: rimewatch.CodeNotFound},
		{name: "revoke that of another workspace", req: r.browser(remove("/v1/tokens/4", "")), status: 404, code: rimewatch.CodeNotFound},

		{name: "members", req: r.browser(get("/v1/members", "")), status: 200, want: map[string]any{"data.members.0.email": "olga@example.com", "data.members.0.role": "owner", "data.invitations.0": nil}},
		{name: "a bad member", req: r.browser(post("/v1/members", "", `{"email":"no","role":"king"}`)), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"email", "role"}},
		{name: "two addresses in one", req: r.browser(post("/v1/members", "", `{"email":"a@b.c,d@e.f","role":"viewer"}`)), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"email"}},
		{name: "the last owner stays", req: r.browser(patch("/v1/members/1", "", `{"role":"viewer"}`)), status: 409, code: rimewatch.CodeConflict},
		{name: "and cannot leave", req: r.browser(remove("/v1/members/1", "")), status: 409, code: rimewatch.CodeConflict},
		{name: "unknown member", req: r.browser(remove("/v1/members/77", "")), status: 404, code: rimewatch.CodeNotFound},
	})
	added := r.do(r.browser(post("/v1/members", "", `{"email":"Tom@example.com","role":"technician"}`)))
	first, _ := added.get("data.secret").(string)
	if added.status != 201 || first == "" || added.get("data.invitation.email") != "tom@example.com" || added.get("data.invitation.expired") != false {
		t.Fatalf("%d %s", added.status, added.body)
	}
	renewed := r.do(r.browser(post("/v1/invitations/1/renew", "", "")))
	link, _ := renewed.get("data.secret").(string)
	accept := func(password string) request {
		return post("/v1/invitations/accept", "", `{"secret":"`+link+`","name":"Tom","password":"`+password+`"}`)
	}
	r.run(t, []scenario{
		{name: "it is pending", req: r.browser(get("/v1/members", "")), status: 200, want: map[string]any{"data.members.1": nil, "data.invitations.0.email": "tom@example.com", "data.invitations.0.role": "technician"}},
		{name: "invite again", req: r.browser(post("/v1/members", "", `{"email":"tom@example.com","role":"viewer"}`)), status: 409, code: rimewatch.CodeConflict},
		{name: "the old link is dead", req: post("/v1/invitations/lookup", "", `{"secret":"`+first+`"}`), status: 404, code: rimewatch.CodeNotFound},
		{name: "the new one", req: post("/v1/invitations/lookup", "", `{"secret":"`+link+`"}`), status: 200, want: map[string]any{"data.email": "tom@example.com", "data.workspace_name": "Alpha", "data.role": "technician", "data.invited_by": "Olga"}},
		{name: "it is not Olga's", req: r.browser(post("/v1/me/invitations", "", `{"secret":"`+link+`"}`)), status: 403, code: rimewatch.CodeForbidden},
		{name: "too short a password", req: accept("short"), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"password"}},
		{name: "accept", req: accept("tom's long one"), status: 200, want: map[string]any{"data.user.email": "tom@example.com", "data.user.name": "Tom"}},
		{name: "accept again", req: accept("tom's long one"), status: 404, code: rimewatch.CodeNotFound},
		{name: "invite a member", req: r.browser(post("/v1/members", "", `{"email":"tom@example.com","role":"viewer"}`)), status: 409, code: rimewatch.CodeConflict},
		{name: "change the role", req: r.browser(patch("/v1/members/2", "", `{"role":"viewer"}`)), status: 200, want: map[string]any{"data.member.role": "viewer"}},
		{name: "remove", req: r.browser(remove("/v1/members/2", "")), status: 200},
		{name: "invite and withdraw", req: r.browser(remove("/v1/invitations/2", "")), status: 200, before: func(r *rig) {
			r.do(r.browser(post("/v1/members", "", `{"email":"tom@example.com","role":"admin"}`)))
		}},
		{name: "nothing is pending", req: r.browser(get("/v1/members", "")), status: 200, want: map[string]any{"data.invitations.0": nil}},
		{name: "nothing to withdraw", req: r.browser(remove("/v1/invitations/2", "")), status: 404, code: rimewatch.CodeNotFound},
	})
	// Tom has an account and signs in, but he is nobody's member.
	tom := cookieOf(t, r.do(post("/v1/auth/sign-in", "", `{"email":"tom@example.com","password":"tom's long one"}`))).Value
	as := func(q request) request { return q.with("Cookie", "rimewatch_session="+tom) }
	invited := r.do(r.browser(post("/v1/members", "", `{"email":"tom@example.com","role":"viewer"}`)))
	link, _ = invited.get("data.secret").(string)
	r.run(t, []scenario{
		{name: "no workspace: me", req: as(get("/v1/me", "")), status: 403, code: rimewatch.CodeForbidden},
		{name: "no workspace: devices", req: as(get("/v1/devices", "")), status: 403, code: rimewatch.CodeForbidden},
		{name: "no workspace: readings", req: as(post("/v1/readings", "", `{"device_serial":"A","humidity":1}`)), status: 403, code: rimewatch.CodeForbidden},
		{name: "no workspace: equipment types", req: as(get("/v1/equipment-types", "")), status: 403, code: rimewatch.CodeForbidden},
		{name: "his workspaces", req: as(get("/v1/me/workspaces", "")), status: 200, want: map[string]any{"data.user.email": "tom@example.com", "data.memberships.0": nil}},
		{name: "no second account", req: accept("tom's long one"), status: 409, code: rimewatch.CodeConflict},
		{name: "join", req: as(post("/v1/me/invitations", "", `{"secret":"`+link+`"}`)), status: 200},
		{name: "me", req: as(get("/v1/me", "")), status: 200, want: map[string]any{"data.workspace.name": "Alpha", "data.role": "viewer"}},
		{name: "join again", req: as(post("/v1/me/invitations", "", `{"secret":"`+link+`"}`)), status: 404, code: rimewatch.CodeNotFound},
	})
}

func FuzzCursor(f *testing.F) {
	codec := httpapi.CursorCodec{Key: [32]byte{9}}
	f.Add(codec.Encode(httpapi.CursorAlerts, 7, 1_700_000_000_000, 42), int64(7), byte('a'))
	f.Add("", int64(0), byte('d'))
	f.Add("AQ", int64(1), byte('d'))
	f.Fuzz(func(t *testing.T, s string, owner int64, kind byte) {
		a, b, e := codec.Decode(httpapi.CursorKind(kind), owner, s)
		if e != nil {
			if e.Code != rimewatch.CodeValidationFailed || len(e.Fields["cursor"]) != 1 {
				t.Fatalf("%v", e)
			}
			return
		}
		if codec.Encode(httpapi.CursorKind(kind), owner, a, b) != s {
			t.Fatalf("%q is not what encode gives", s)
		}
		if _, _, e := codec.Decode(httpapi.CursorKind(kind), owner+1, s); e == nil {
			t.Fatal("good for another owner")
		}
		other := httpapi.CursorCodec{Key: [32]byte{10}}
		if _, _, e := other.Decode(httpapi.CursorKind(kind), owner, s); e == nil {
			t.Fatal("good under another key")
		}
	})
}
