package contract

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/app"
)

// neighbours lets channels point at this machine.
func neighbours(_ *service, c *app.Config) { c.OutboundAllow = []string{"127.0.0.0/8"} }

// hidden checks that no answer reveals what only the receiver of a channel knows.
func hidden(secrets ...string) func(*testing.T, answer) {
	return func(t *testing.T, a answer) {
		t.Helper()
		for _, s := range secrets {
			if strings.Contains(string(a.body), s) {
				t.Errorf("%q is in %s", s, clip(a.body))
			}
		}
	}
}

// TestChannels reads the page about channels, with real receivers.
func TestChannels(t *testing.T) {
	t.Parallel()
	s := start(t, neighbours)
	mine, theirs := s.tenant(t, "Alpha"), s.tenant(t, "Beta")
	me, them := mine.signIn(t, "me@example.com", rimewatch.RoleAdmin), theirs.signIn(t, "them@example.com", rimewatch.RoleOwner)
	technician, viewer := mine.signIn(t, "tech@example.com", rimewatch.RoleTechnician), mine.signIn(t, "view@example.com", rimewatch.RoleViewer)
	program := mine.token(t, rimewatch.ScopesAdmin) // what people delete waits for ten seconds
	var status atomic.Int64
	status.Store(http.StatusNoContent)
	ids := make(chan string, 8)
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		ids <- r.Header.Get("Webhook-Id")
		w.WriteHeader(int(status.Load()))
	}))
	t.Cleanup(receiver.Close)
	as := func(cookie, method, path, body string) request {
		return request{method: method, path: path, body: body, cookie: cookie}
	}
	const none = "No channel works: nobody is notified of alerts."
	hook := fmt.Sprintf(`{"name":"Hook","kind":"webhook","url":"%s/T0/s3cret?key=hush"}`, receiver.URL)
	var secret string
	s.recite(t, []row{
		{says: "without a channel there is a warning", req: as(me, "GET", "/v1/channels", ""), status: 200, want: map[string]any{"data.channels.#": 0, "data.warning": none}},
		{says: "everybody sees it in the workspace", req: as(viewer, "GET", "/v1/workspace", ""), status: 200, want: map[string]any{"data.notifications.warning": none, "data.notifications.working_channels": 0}},
		{says: "a technician sees no channels", req: as(technician, "GET", "/v1/channels", ""), status: 403, code: "forbidden"},
		{says: "a token sees no channels", req: request{path: "/v1/channels", token: mine.full}, status: 403, code: "forbidden"},
		{says: "a webhook gets a secret, shown once", req: as(me, "POST", "/v1/channels", hook), status: 201, header: map[string]string{"Location": "*"}, then: func(t *testing.T, a answer) {
			secret = a.text("data.secret")
			if !strings.HasPrefix(secret, "whsec_") {
				t.Errorf("secret %q", secret)
			}
			hidden("s3cret", "hush")(t, a)
		}},
	})
	a := s.do(t, as(me, "GET", "/v1/channels/1", ""))
	hidden(secret, "whsec_", "s3cret", "hush")(t, a)
	s.recite(t, []row{
		{says: "the URL is masked", req: as(me, "GET", "/v1/channels/1", ""), status: 200, want: map[string]any{"data.channel.url": receiver.URL + "/•••", "data.channel.working": nil, "data.channel.enabled": true}},
		{says: "a test is sent", req: as(me, "POST", "/v1/channels/1/test", ""), status: 200, want: map[string]any{"data.delivery.status": "sent", "data.delivery.kind": "test", "data.delivery.attempts": 1, "data.delivery.channel.name": "Hook"},
			then: func(t *testing.T, a answer) {
				if got := <-ids; got != a.text("data.delivery.key") {
					t.Errorf("webhook-id %q, key %q", got, a.text("data.delivery.key"))
				}
			}},
		{says: "the channel works", req: as(me, "GET", "/v1/channels", ""), status: 200, want: map[string]any{"data.warning": nil, "data.channels.0.working": true, "data.channels.0.failures": 0}},
	})
	status.Store(http.StatusGone)
	s.recite(t, []row{
		{says: "a receiver that refuses is a delivery that failed", req: as(me, "POST", "/v1/channels/1/test", ""), status: 200, want: map[string]any{"data.delivery.status": "failed"}, then: hidden("s3cret", "hush")},
		{says: "the channel does not work", req: as(me, "GET", "/v1/channels", ""), status: 200, want: map[string]any{"data.warning": none, "data.channels.0.working": false}, then: hidden("s3cret", "hush", "whsec_")},
		{says: "the log", req: as(me, "GET", "/v1/channels/1/deliveries?per_page=1", ""), status: 200, want: map[string]any{"data.pagination.total": 2, "data.deliveries.#": 1, "data.deliveries.0.status": "failed"}, header: map[string]string{"Link": "*"}},
		{says: "an address inside may be written down", req: as(me, "POST", "/v1/channels", `{"name":"Meta","kind":"webhook","url":"http://169.254.169.254/latest"}`), status: 201},
		{says: "it is never called", req: as(me, "POST", "/v1/channels/2/test", ""), status: 200, want: map[string]any{"data.delivery.status": "failed"}, text: "address is not allowed", then: hidden("169.254.169.254")},
		{says: "settings can be tried before they are stored", req: as(me, "POST", "/v1/channels/test", fmt.Sprintf(`{"kind":"webhook","url":%q}`, receiver.URL+"/s3cret")), status: 200, want: map[string]any{"data.sent": false, "data.error": "The receiver answered 410 Gone."}, then: hidden("s3cret", "whsec_")},
		{says: "an address inside is not called either way", req: as(me, "POST", "/v1/channels/test", `{"kind":"webhook","url":"http://169.254.169.254/latest"}`), status: 200, want: map[string]any{"data.sent": false}, text: "address is not allowed", then: hidden("169.254.169.254")},
		{says: "a kind that cannot be used is named", req: as(me, "GET", "/v1/channels", ""), status: 200, want: map[string]any{"data.unavailable.#": 2, "data.unavailable.0.kind": "email", "data.unavailable.0.reason": "this server has no mail server (--smtp-host)",
			"data.unavailable.1.kind": "call", "data.unavailable.1.reason": "this server does not know the address that Twilio reaches it at (--public-url)"}},
		{says: "no e-mail without a mail server", req: as(me, "POST", "/v1/channels", `{"name":"Mail","kind":"email","to":["a@example.com"]}`), status: 422, code: "validation_failed", fields: []string{"kind"}},
		{says: "no service that is unknown", req: as(me, "POST", "/v1/channels", `{"name":"S","kind":"service","url":"pigeon://hush"}`), status: 422, code: "validation_failed", fields: []string{"url"}, then: hidden("hush")},
		{says: "no mail through a service URL", req: as(me, "POST", "/v1/channels", `{"name":"S","kind":"service","url":"smtp://u:hush@h/?from=a@b.c&to=d@e.f"}`), status: 422, code: "validation_failed", fields: []string{"url"}, then: hidden("hush")},
		{says: "a service by its URL", req: as(me, "POST", "/v1/channels", `{"name":"S","kind":"service","url":"ntfy://ntfy.sh/hush"}`), status: 201, want: map[string]any{"data.channel.url": "ntfy://•••"}, then: hidden("hush")},

		{says: "no list of another workspace", req: as(them, "GET", "/v1/channels", ""), status: 200, want: map[string]any{"data.channels.#": 0}},
		{says: "no channel of another workspace", req: as(them, "GET", "/v1/channels/1", ""), status: 404, code: "not_found"},
		{says: "no change there", req: as(them, "PATCH", "/v1/channels/1", `{"enabled":false}`), status: 404, code: "not_found"},
		{says: "no end there", req: as(them, "DELETE", "/v1/channels/1", ""), status: 404, code: "not_found"},
		{says: "no test there", req: as(them, "POST", "/v1/channels/1/test", ""), status: 404, code: "not_found"},
		{says: "no log there", req: as(them, "GET", "/v1/channels/1/deliveries", ""), status: 404, code: "not_found"},
		{says: "nothing sent again there", req: as(them, "POST", "/v1/deliveries/1/resend", ""), status: 404, code: "not_found"},
		{says: "no route over there", req: as(them, "POST", "/v1/routes", `{"name":"r","steps":[{"after_s":0,"channel_ids":[1]}]}`), status: 422, code: "validation_failed", fields: []string{"steps"}},
		{says: "a route", req: as(me, "POST", "/v1/routes", `{"name":"r","steps":[{"after_s":0,"channel_ids":[1]}]}`), status: 201},
		{says: "a channel in use stays", req: as(me, "DELETE", "/v1/channels/1", ""), status: 409, code: "conflict"},
		{says: "the route goes", req: request{method: "DELETE", path: "/v1/routes/1", token: program}, status: 200},
		{says: "then the channel goes, too", req: request{method: "DELETE", path: "/v1/channels/1", token: program}, status: 200},
		{says: "what it was told is not sent again", req: as(me, "POST", "/v1/deliveries/1/resend", ""), status: 409, code: "conflict"},
		{says: "reports go by mail alone", req: as(me, "POST", "/v1/report-schedules", `{"period":"weekly","channel_ids":[2]}`), status: 422, code: "validation_failed", fields: []string{"channel_ids"}},
		{says: "to channels of one's own", req: as(them, "POST", "/v1/report-schedules", `{"period":"weekly","channel_ids":[2]}`), status: 422, code: "validation_failed", fields: []string{"channel_ids"}},
		{says: "weekly or monthly", req: as(me, "POST", "/v1/report-schedules", `{"period":"daily","channel_ids":[2]}`), status: 422, code: "validation_failed", fields: []string{"period"}},
		{says: "without a mail server the list says so", req: as(me, "GET", "/v1/report-schedules", ""), status: 200, want: map[string]any{"data.report_schedules.#": 0, "data.unavailable": "this server has no mail server (--smtp-host)"}},
		{says: "the audit trail tells of it without its credentials", req: as(me, "GET", "/v1/audit?action=channel.", ""), status: 200, want: map[string]any{"data.chain_ok": true}, then: hidden("s3cret", "hush", "whsec_")},
	})
}

// TestTold: an alert reaches the receiver, and the log says so; a silence keeps
// it from being told until it ends.
func TestTold(t *testing.T) {
	t.Parallel()
	s := start(t, neighbours)
	n := s.tenant(t, "Alpha")
	me := n.signIn(t, "me@example.com", rimewatch.RoleAdmin)
	told := make(chan string, 16)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		told <- r.Header.Get("Webhook-Id")
	}))
	t.Cleanup(receiver.Close)
	heard := func() string {
		t.Helper()
		select {
		case id := <-told:
			return id
		case <-time.After(patience):
			t.Fatal("nobody was told")
			return ""
		}
	}
	post := func(path, body string) answer {
		t.Helper()
		a := s.do(t, request{method: "POST", path: path, body: body, cookie: me})
		if a.status >= 300 {
			t.Fatalf("POST %s: %d %s", path, a.status, a.body)
		}
		return a
	}
	post("/v1/channels", fmt.Sprintf(`{"name":"Hook","kind":"webhook","url":%q}`, receiver.URL))
	for _, serial := range []string{"LOUD", "QUIET"} {
		n.device(t, fmt.Sprintf(`{"serial":%q,"equipment_type":"walkin_cooler","limits":{"temp_max":5,"delay_s":0}}`, serial))
	}
	silence := post("/v1/silences", fmt.Sprintf(`{"match":{"device_serials":["QUIET"]},"ends_at":%q}`, s.moment().Add(time.Hour)))
	n.reading(t, `{"device_serial":"QUIET","product_zone_temp":8}`)
	n.reading(t, `{"device_serial":"LOUD","product_zone_temp":8}`)
	loud, quiet := n.get(t, "/v1/alerts?device_serial=LOUD").at("data.alerts.0.id"), n.get(t, "/v1/alerts?device_serial=QUIET").at("data.alerts.0.id")
	first := heard()
	if !strings.HasPrefix(first, fmt.Sprintf("alert/%v/", loud)) {
		t.Errorf("told of %s, want alert %v", first, loud)
	}
	s.recite(t, []row{
		{says: "the log names the message", req: request{path: fmt.Sprintf("/v1/alerts/%v/deliveries", loud), token: n.read}, status: 200, want: map[string]any{
			"data.deliveries.#": 1, "data.deliveries.0.key": first, "data.deliveries.0.kind": "opened", "data.deliveries.0.channel.name": "Hook", "data.deliveries.0.route": nil, "data.deliveries.0.level": 0}},
		{says: "nobody was told of the silenced one", req: request{path: fmt.Sprintf("/v1/alerts/%v/deliveries", quiet), token: n.read}, status: 200, want: map[string]any{"data.deliveries.#": 0}},
		{says: "the silence ends", req: request{method: "POST", path: fmt.Sprintf("/v1/silences/%v/end", silence.at("data.silence.id")), token: n.full}, status: 200, want: map[string]any{"data.silence.active": false}},
	})
	if late := heard(); !strings.HasPrefix(late, fmt.Sprintf("alert/%v/", quiet)) {
		t.Errorf("told of %s, want alert %v", late, quiet)
	}
}
