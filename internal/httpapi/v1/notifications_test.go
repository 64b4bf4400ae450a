package v1

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/account"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/store/storetest"
)

const hookSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

// sentNotifier stores what it would send, as sent.
type sentNotifier struct {
	s   store.Store
	now func() rimewatch.Time
	n   int

	changed map[int64]int // by workspace
	tried   []rimewatch.Channel
	forgets bool     // no test is noted
	ordered []string // who was told of which order
}

func (f *sentNotifier) WebhooksChanged(workspaceID int64) { f.changed[workspaceID]++ }

func (f *sentNotifier) Ping(ctx context.Context, workspaceID, id int64) (rimewatch.Delivery, error) {
	return f.Test(ctx, workspaceID, -id)
}

func (f *sentNotifier) Replay(ctx context.Context, workspaceID, id, after int64) (rimewatch.Webhook, error) {
	return f.s.Outbox().RewindWebhook(ctx, workspaceID, id, after)
}

func (f *sentNotifier) Changed(workspaceID int64) { f.changed[workspaceID]++ }

func (f *sentNotifier) Test(ctx context.Context, workspaceID, channelID int64) (rimewatch.Delivery, error) {
	f.n++
	d := rimewatch.Delivery{WorkspaceID: workspaceID, ChannelID: channelID, Key: fmt.Sprint("test/", f.n), Kind: rimewatch.DeliveryTest,
		Status: rimewatch.DeliverySent, Attempts: 1, CreatedAt: f.now(), SentAt: f.now()}
	if err := f.s.Outbox().PutDeliveries(ctx, []*rimewatch.Delivery{&d}, 0); err != nil {
		return d, err
	}
	return d, f.s.Outbox().UpdateDeliveries(ctx, []*rimewatch.Delivery{&d}, &rimewatch.ChannelHealth{LastSuccessAt: f.now()})
}

func (f *sentNotifier) Try(_ context.Context, c *rimewatch.Channel) (string, error) {
	f.tried = append(f.tried, *c)
	if strings.Contains(c.URL, "refuses") {
		return "", rimewatch.Errorf(rimewatch.CodeConflict, "The receiver answered 404.")
	}
	return "", nil
}

// Tested stores a delivery at the moment of the test.
func (f *sentNotifier) Tested(ctx context.Context, workspaceID, channelID int64, at rimewatch.Time) error {
	if f.forgets {
		return rimewatch.Errorf(rimewatch.CodeUnavailable, "The store is overloaded.")
	}
	f.n++
	d := rimewatch.Delivery{WorkspaceID: workspaceID, ChannelID: channelID, Key: fmt.Sprint("tested/", f.n), Kind: rimewatch.DeliveryTest, Status: rimewatch.DeliverySent, CreatedAt: at, SentAt: at}
	if err := f.s.Outbox().PutDeliveries(ctx, []*rimewatch.Delivery{&d}, 0); err != nil {
		return err
	}
	return f.s.Outbox().UpdateDeliveries(ctx, []*rimewatch.Delivery{&d}, &rimewatch.ChannelHealth{LastSuccessAt: at})
}

func (f *sentNotifier) Missing(k rimewatch.ChannelKind) string {
	if k == rimewatch.ChannelService {
		return "this server is not set up for it"
	}
	return ""
}

func (f *sentNotifier) Resend(ctx context.Context, workspaceID, id int64) (rimewatch.Delivery, error) {
	d, err := f.s.Outbox().Delivery(ctx, workspaceID, id)
	d.Status, d.NextAttemptAt = rimewatch.DeliveryPending, f.now()
	return d, err
}

func (f *sentNotifier) SendReport(ctx context.Context, workspaceID, id int64) ([]rimewatch.Delivery, error) {
	s, err := f.s.Routing().ReportSchedules().Get(ctx, workspaceID, id)
	if err != nil || !s.Enabled {
		return nil, cmp.Or(err, error(rimewatch.Errorf(rimewatch.CodeConflict, "None of its channels is switched on.")))
	}
	f.n++
	d := rimewatch.Delivery{WorkspaceID: workspaceID, ChannelID: s.ChannelIDs[0], Key: fmt.Sprint("report/", f.n), Kind: rimewatch.DeliveryReport, Status: rimewatch.DeliveryPending, NextAttemptAt: f.now(), CreatedAt: f.now()}
	return []rimewatch.Delivery{d}, f.s.Outbox().PutDeliveries(ctx, []*rimewatch.Delivery{&d}, 0)
}

func (f *sentNotifier) Check(c *rimewatch.Channel) error {
	if strings.HasPrefix(c.URL, "bad://") {
		return rimewatch.Invalid("url", "is not a service")
	}
	return nil
}

// notifyRig is a rig with a Notifier, a route per role and another workspace's
// admin.
type notifyRig struct {
	*rig
	stranger, technician, viewer string // session secrets
	notifier                     *sentNotifier
}

// told checks how often the Notifier heard of changes since the last look.
func (n *notifyRig) told(t *testing.T, mine, theirs int) {
	t.Helper()
	if n.notifier.changed[n.workspace.ID] != mine || n.notifier.changed[n.other.ID] != theirs {
		t.Errorf("the notifier heard of changes %v, want %d and %d", n.notifier.changed, mine, theirs)
	}
}

func newNotifyRig(t *testing.T) *notifyRig {
	t.Helper()
	r := newRig(t, withSources)
	n := &notifyRig{rig: r, notifier: r.notifier}
	n.stranger = n.person(r.other.ID, rimewatch.RoleOwner)
	n.technician = n.person(r.workspace.ID, rimewatch.RoleTechnician)
	n.viewer = n.person(r.workspace.ID, rimewatch.RoleViewer)
	return n
}

func (n *notifyRig) person(workspaceID int64, role rimewatch.Role) string {
	n.t.Helper()
	email := fmt.Sprintf("%s-%d@example.com", role, workspaceID)
	if _, err := n.accounts.AddUser(n.t.Context(), workspaceID, account.UserRequest{Email: email, Name: "P", Password: ownerPassword, Role: role}, n.now()); err != nil {
		n.t.Fatal(err)
	}
	in, err := n.accounts.SignIn(n.t.Context(), account.Credentials{Email: email, Password: ownerPassword}, n.now())
	if err != nil {
		n.t.Fatal(err)
	}
	return in.Secret
}

// as is a request with a session, as a page of the web UI makes it.
func as(secret string, q request) request {
	return q.with("Cookie", "rimewatch_session="+secret).with("Prefer", "respond-async")
}

// What people are told while nobody would hear of an alert.
const (
	warnNone    = "No channel works: nobody is notified of alerts."
	warnUntried = "No channel has been tried yet: send a test to see whether alerts arrive."
)

func TestChannels(t *testing.T) {
	r := newNotifyRig(t)
	mine := func(q request) request { return r.browser(q) }
	hook := `{"name":"Hook","kind":"webhook","url":"https://hooks.example.com/B00K/secret?key=s3cret","secret":"` + hookSecret + `"}`
	r.run(t, []scenario{
		{name: "none", req: mine(get("/v1/channels", "")), status: 200, want: map[string]any{"data.channels": "[]", "data.warning": warnNone}},
		{name: "the workspace warns", req: mine(get("/v1/workspace", "")), status: 200, want: map[string]any{"data.notifications.working_channels": 0, "data.notifications.untried_channels": 0, "data.notifications.warning": warnNone}},
		{name: "never by a token", req: get("/v1/channels", r.full), status: 403, code: rimewatch.CodeForbidden},
		{name: "not by a technician", req: as(r.technician, get("/v1/channels", "")), status: 403, code: rimewatch.CodeForbidden},
		{name: "e-mail", req: mine(post("/v1/channels", "", `{"name":"Kitchen","kind":"email","to":["kitchen@example.com"]}`)), status: 201,
			want: map[string]any{"data.channel.id": 1, "data.channel.enabled": true, "data.channel.url": nil, "data.channel.to": "[kitchen@example.com]", "data.channel.working": nil, "data.secret": nil}, header: map[string]string{"Location": "/api/v1/channels/1"}},
		{name: "webhook", req: mine(post("/v1/channels", "", hook)), status: 201,
			want: map[string]any{"data.channel.id": 2, "data.channel.url": "https://hooks.example.com/•••", "data.secret": hookSecret}, lacks: []string{"s3cret", "B00K"}},
		{name: "never again", req: mine(get("/v1/channels/2", "")), status: 200, want: map[string]any{"data.channel.to": "[]"}, lacks: []string{hookSecret, "s3cret", "B00K", "whsec_"}},
		{name: "service", req: mine(post("/v1/channels", "", `{"name":"Chat","kind":"service","url":"slack://tok-a/tok-b","enabled":false,"fallback_channel_id":1}`)), status: 201,
			want: map[string]any{"data.channel.url": "slack://•••", "data.channel.enabled": false, "data.channel.fallback_channel_id": 1, "data.secret": nil}, lacks: []string{"tok-"}},
		{name: "untried", req: mine(get("/v1/channels", "")), status: 200, want: map[string]any{"data.warning": warnUntried, "data.channels.2.id": 3}, lacks: []string{"tok-", "s3cret", "whsec_"}},

		{name: "a name twice", req: mine(post("/v1/channels", "", `{"name":"KITCHEN","kind":"email","to":["a@example.com"]}`)), status: 409, code: rimewatch.CodeConflict, fields: []string{"name"}},
		{name: "nothing", req: mine(post("/v1/channels", "", `{}`)), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"name", "kind"}},
		{name: "a strange kind", req: mine(post("/v1/channels", "", `{"name":"x","kind":"pigeon"}`)), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"kind"}},
		{name: "an unknown field", req: mine(post("/v1/channels", "", `{"name":"x","kind":"email","to":["a@example.com"],"failures":3}`)), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"failures"}},
		{name: "no address", req: mine(post("/v1/channels", "", `{"name":"x","kind":"email"}`)), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"to"}},
		{name: "no e-mail address", req: mine(post("/v1/channels", "", `{"name":"x","kind":"email","to":["a@b\r\nBcc: c@d"]}`)), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"to"}},
		{name: "a password in the URL", req: mine(post("/v1/channels", "", `{"name":"x","kind":"webhook","url":"https://u:hush@example.com"}`)), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"url"}, lacks: []string{"hush"}},
		{name: "another scheme", req: mine(post("/v1/channels", "", `{"name":"x","kind":"webhook","url":"file:///etc/passwd"}`)), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"url"}},
		{name: "a weak secret", req: mine(post("/v1/channels", "", `{"name":"x","kind":"webhook","url":"https://example.com","secret":"hush"}`)), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"secret"}, lacks: []string{"hush"}},
		{name: "not a service", req: mine(post("/v1/channels", "", `{"name":"x","kind":"service","url":"bad://hush"}`)), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"url"}, lacks: []string{"hush"}},
		{name: "no such fallback", req: mine(post("/v1/channels", "", `{"name":"x","kind":"service","url":"ntfy://h/t","fallback_channel_id":99}`)), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"fallback_channel_id"}},

		{name: "change", req: mine(patch("/v1/channels/3", "", `{"name":"Chat 2","enabled":null,"fallback_channel_id":null}`)), status: 200,
			want: map[string]any{"data.channel.name": "Chat 2", "data.channel.enabled": true, "data.channel.fallback_channel_id": nil, "data.channel.url": "slack://•••"}},
		{name: "the kind is for ever", req: mine(patch("/v1/channels/3", "", `{"kind":"email"}`)), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"kind"}},
		{name: "not its own fallback", req: mine(patch("/v1/channels/3", "", `{"fallback_channel_id":3}`)), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"fallback_channel_id"}},
		{name: "a bad change", req: mine(patch("/v1/channels/3", "", `{"url":"bad://hush"}`)), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"url"}},
		{name: "an e-mail channel has no URL", req: mine(patch("/v1/channels/1", "", `{"url":"https://example.com"}`)), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"url"}},
		{name: "a new secret", req: mine(patch("/v1/channels/2", "", `{"secret":null}`)), status: 200, contains: []string{"whsec_"}, lacks: []string{hookSecret}},
		{name: "others do not see it", req: as(r.stranger, get("/v1/channels", "")), status: 200, want: map[string]any{"data.channels": "[]"}},
		{name: "others do not get it", req: as(r.stranger, get("/v1/channels/1", "")), status: 404, code: rimewatch.CodeNotFound},
		{name: "others do not change it", req: as(r.stranger, patch("/v1/channels/1", "", `{"name":"x"}`)), status: 404, code: rimewatch.CodeNotFound},
		{name: "others do not delete it", req: as(r.stranger, remove("/v1/channels/1", "")), status: 404, code: rimewatch.CodeNotFound},
		{name: "others do not test it", req: as(r.stranger, post("/v1/channels/1/test", "", "")), status: 404, code: rimewatch.CodeNotFound},
		{name: "others do not see its log", req: as(r.stranger, get("/v1/channels/1/deliveries", "")), status: 404, code: rimewatch.CodeNotFound},

		{name: "test", req: mine(post("/v1/channels/1/test", "", "")), status: 200,
			want: map[string]any{"data.delivery.status": "sent", "data.delivery.kind": "test", "data.delivery.channel.name": "Kitchen", "data.delivery.alert_id": nil, "data.delivery.route": nil, "data.delivery.next_attempt_at": nil}},
		{name: "it works", req: mine(get("/v1/channels", "")), status: 200, want: map[string]any{"data.warning": nil, "data.channels.0.working": true}},
		{name: "the workspace is told", req: as(r.viewer, get("/v1/workspace", "")), status: 200, want: map[string]any{"data.notifications.working_channels": 1, "data.notifications.warning": nil, "data.workspace.name": "Alpha"}},
		{name: "switched off", req: mine(patch("/v1/channels/1", "", `{"enabled":false}`)), status: 200, want: map[string]any{"data.channel.working": true}},
		{name: "nobody is told", req: mine(get("/v1/workspace", "")), status: 200, want: map[string]any{"data.notifications.working_channels": 0, "data.notifications.untried_channels": 2, "data.notifications.warning": warnUntried}},
		{name: "delete", req: mine(remove("/v1/channels/1", "")), status: 200},
		{name: "gone", req: mine(get("/v1/channels/1", "")), status: 404, code: rimewatch.CodeNotFound},
		{name: "the trail", req: mine(get("/v1/audit?action=channel.", "")), status: 200, lacks: []string{"s3cret", "tok-", "whsec_"}, want: map[string]any{"data.entries.0.action": "channel.deleted", "data.entries.0.actor": "Olga <olga@example.com>"}},
	})
	r.told(t, 7, 0) // three made, three changed, one deleted
	if log := r.log.String(); strings.Contains(log, "s3cret") || strings.Contains(log, "tok-") || strings.Contains(log, "whsec_") {
		t.Errorf("a secret is in the log: %s", log)
	}
}

// TestTryChannel tries settings that are not stored: nothing but the trail of it remains.
func TestTryChannel(t *testing.T) {
	r := newNotifyRig(t)
	mine := func(q request) request { return r.browser(q) }
	try := func(body string) request { return post("/v1/channels/test", "", body) }
	r.do(mine(post("/v1/channels", "", `{"name":"Hook","kind":"webhook","url":"https://hooks.example.com/s3cret","secret":"`+hookSecret+`","language":"es","enabled":false}`)))
	changes := r.notifier.changed[r.workspace.ID]
	r.run(t, []scenario{
		{name: "new settings", req: mine(try(`{"kind":"email","to":["a@example.com"],"name":"Night"}`)), status: 200, want: map[string]any{"data.sent": true, "data.error": nil}},
		{name: "a receiver that refuses", req: mine(try(`{"kind":"service","url":"ntfy://refuses/s3cret"}`)), status: 200, want: map[string]any{"data.sent": false, "data.error": "The receiver answered 404."}, lacks: []string{"s3cret"}},
		{name: "a stored one as it is", req: mine(try(`{"channel_id":1}`)), status: 200, want: map[string]any{"data.sent": true}, lacks: []string{"s3cret", "whsec_"}},
		{name: "a stored one with another address", req: mine(try(`{"channel_id":1,"url":"https://new.example.com/x"}`)), status: 200, want: map[string]any{"data.sent": true}},
		{name: "nothing", req: mine(try(`{}`)), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"kind"}},
		{name: "not another kind", req: mine(try(`{"channel_id":1,"kind":"email"}`)), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"kind"}},
		{name: "no such channel", req: mine(try(`{"channel_id":9}`)), status: 404, code: rimewatch.CodeNotFound},
		{name: "not a service", req: mine(try(`{"kind":"service","url":"bad://hush"}`)), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"url"}, lacks: []string{"hush"}},
		{name: "not that of others", req: as(r.stranger, try(`{"channel_id":1}`)), status: 404, code: rimewatch.CodeNotFound},
		{name: "not by a technician", req: as(r.technician, try(`{"kind":"email","to":["a@example.com"]}`)), status: 403, code: rimewatch.CodeForbidden},
		{name: "never by a token", req: post("/v1/channels/test", r.full, `{"channel_id":1}`), status: 403, code: rimewatch.CodeForbidden},
		{name: "nothing is stored", req: mine(get("/v1/channels", "")), status: 200, want: map[string]any{"data.channels.0.url": "https://hooks.example.com/•••", "data.channels.0.working": nil, "data.unavailable.0.kind": "service"}},
		{name: "but who did it", req: mine(get("/v1/audit?action=channel.tried", "")), status: 200, lacks: []string{"s3cret", "whsec_", "/x"},
			want: map[string]any{"data.pagination.total": 4, "data.entries.0.subject": "channel 1", "data.entries.0.actor": "Olga <olga@example.com>", "data.entries.0.detail.url": "https://new.example.com/•••"}},
	})
	if got := r.notifier.changed[r.workspace.ID]; got != changes {
		t.Errorf("%d changes were announced", got-changes)
	}
	if len(r.notifier.tried) != 4 {
		t.Fatalf("%d were tried", len(r.notifier.tried))
	}
	if c := r.notifier.tried[3]; c.Secret != hookSecret || c.URL != "https://new.example.com/x" || c.Language != "es" || !c.Enabled {
		t.Errorf("tried %+v", c)
	}
	for range 20 - 4 {
		r.do(mine(try(`{"channel_id":1}`)))
	}
	if a := r.do(mine(try(`{"channel_id":1}`))); a.status != 429 {
		t.Errorf("%d %s", a.status, a.body)
	}
}

// TestTestedBeforeStored: a channel counts as tested when it is stored with the settings
// that were, and for an hour.
func TestTestedBeforeStored(t *testing.T) {
	r := newNotifyRig(t)
	mine := func(q request) request { return r.browser(q) }
	receipt := func(as request) string {
		a := r.do(as)
		text, _ := a.get("data.receipt").(string)
		if a.status != 200 || text == "" {
			t.Fatalf("%d %s", a.status, a.body)
		}
		return text
	}
	try := func(body string) request { return post("/v1/channels/test", "", body) }
	hook := receipt(mine(try(`{"kind":"webhook","url":"https://hooks.example.com/s3cret","name":"Other"}`)))
	theirs := receipt(as(r.stranger, try(`{"kind":"webhook","url":"https://hooks.example.com/s3cret"}`)))
	tested := r.now().String()
	make := func(name, url, receipt string) request {
		return mine(post("/v1/channels", "", fmt.Sprintf(`{"name":%q,"kind":"webhook","url":%q,"receipt":%q}`, name, url, receipt)))
	}
	const url, other = "https://hooks.example.com/s3cret", "https://hooks.example.com/else"
	r.advance(30 * time.Minute)
	r.run(t, []scenario{
		{name: "one that was refused has none", req: mine(try(`{"kind":"service","url":"ntfy://refuses/s3cret"}`)), status: 200, want: map[string]any{"data.sent": false, "data.receipt": nil}},
		{name: "tested", req: make("Hook", url, hook), status: 201, want: map[string]any{"data.channel.working": true, "data.channel.last_success_at": tested}},
		{name: "it is in its log", req: mine(get("/v1/channels/1/deliveries", "")), status: 200, want: map[string]any{"data.pagination.total": 1, "data.deliveries.0.kind": "test", "data.deliveries.0.status": "sent"}},
		{name: "another address", req: make("Else", other, hook), status: 201, want: map[string]any{"data.channel.working": nil}},
		{name: "another workspace's", req: make("Theirs", url, theirs), status: 201, want: map[string]any{"data.channel.working": nil}},
		{name: "made up", req: make("Made up", url, "1."+strings.Repeat("0", 32)), status: 201, want: map[string]any{"data.channel.working": nil}},
		{name: "no receipt at all", req: make("Words", url, "yes"), status: 201, want: map[string]any{"data.channel.working": nil}},
		{name: "too long", req: make("Long", url, strings.Repeat("1", 101)), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"receipt"}},
		{name: "changed to what was tested", req: mine(patch("/v1/channels/2", "", fmt.Sprintf(`{"url":%q,"receipt":%q}`, url, hook))), status: 200, want: map[string]any{"data.channel.working": true}},
	})
	r.advance(30 * time.Minute)
	r.run(t, []scenario{{name: "after an hour still", req: make("Late", url, hook), status: 201, want: map[string]any{"data.channel.working": true}}})
	r.advance(time.Millisecond)
	r.run(t, []scenario{{name: "not after it", req: make("Too late", url, hook), status: 201, want: map[string]any{"data.channel.working": nil}}})

	hook, r.notifier.forgets = receipt(mine(try(`{"kind":"webhook","url":"https://hooks.example.com/s3cret"}`))), true
	r.run(t, []scenario{
		{name: "made, and its test not noted", req: make("Unnoted", url, hook), status: 201, want: map[string]any{"data.channel.name": "Unnoted", "data.channel.working": nil}},
		{name: "changed, and its test not noted", req: mine(patch("/v1/channels/3", "", fmt.Sprintf(`{"name":"Renamed","url":%q,"receipt":%q}`, url, hook))), status: 200, want: map[string]any{"data.channel.name": "Renamed", "data.channel.working": nil}},
	})
}

func TestSendingByHandIsLimited(t *testing.T) {
	r := newNotifyRig(t)
	r.do(r.browser(post("/v1/channels", "", `{"name":"Kitchen","kind":"email","to":["kitchen@example.com"]}`)))
	test := r.browser(post("/v1/channels/1/test", "", ""))
	for range 20 {
		if a := r.do(test); a.status != 200 {
			t.Fatalf("%d %s", a.status, a.body)
		}
	}
	if a := r.do(test); a.status != 429 {
		t.Fatalf("%d %s", a.status, a.body)
	}
	r.advance(time.Minute)
	if a := r.do(test); a.status != 200 {
		t.Fatalf("%d %s", a.status, a.body)
	}
	page := r.do(r.browser(get("/v1/channels/1/deliveries?per_page=2", "")))
	if page.get("data.pagination.total") != float64(20+1) || page.get("data.deliveries.0.id") != float64(20+1) {
		t.Fatal(page.body)
	}
	next := r.do(r.browser(get(fmt.Sprintf("/v1/channels/1/deliveries?per_page=2&cursor=%v", page.get("data.pagination.next_cursor")), "")))
	if next.get("data.deliveries.0.id") != float64(20-1) {
		t.Fatal(next.body)
	}
	r.do(r.browser(post("/v1/channels", "", `{"name":"Other","kind":"email","to":["kitchen@example.com"]}`)))
	r.run(t, []scenario{{name: "a cursor of another channel", req: r.browser(get(fmt.Sprintf("/v1/channels/2/deliveries?cursor=%v", page.get("data.pagination.next_cursor")), "")), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"cursor"}}})
}

func TestRoutes(t *testing.T) {
	r := newNotifyRig(t)
	mine := func(q request) request { return r.browser(q) }
	r.device("WIF-1", "walkin_freezer")
	r.device("WIF-2", "walkin_freezer")
	for _, name := range []string{"a", "b"} {
		r.do(mine(post("/v1/channels", "", `{"name":"`+name+`","kind":"email","to":["kitchen@example.com"]}`)))
	}
	r.do(as(r.stranger, post("/v1/channels", "", `{"name":"theirs","kind":"email","to":["kitchen@example.com"]}`)))
	r.do(mine(post("/v1/sites", "", `{"name":"Hall"}`)))
	r.events.take(t, 0)
	full := `{"name":"Night","match":{"severities":["critical"],"types":["high_temperature"],"site_ids":[1],"equipment_types":["walkin_freezer"],"device_serials":["wif-1"]},
		"steps":[{"after_s":0,"channel_ids":[1]},{"after_s":600,"channel_ids":[1,2]}],"repeat_s":3600,"recovery":false,"quiet_hours":{"from":"22:00","to":"06:05"},"digest_at":"07:30"}`
	bad := func(name, body string, fields ...string) scenario {
		return scenario{name: name, req: mine(post("/v1/routes", "", body)), status: 422, code: rimewatch.CodeValidationFailed, fields: fields}
	}
	steps := `"steps":[{"after_s":0,"channel_ids":[1]}]`
	r.run(t, []scenario{
		{name: "none", req: mine(get("/v1/routes", "")), status: 200, want: map[string]any{"data.routes": "[]"}},
		{name: "never by a token", req: post("/v1/routes", r.full, full), status: 403, code: rimewatch.CodeForbidden},
		{name: "not by a technician", req: as(r.technician, get("/v1/routes", "")), status: 403, code: rimewatch.CodeForbidden},
		{name: "full", req: mine(post("/v1/routes", "", full)), status: 201, want: map[string]any{
			"data.route.id": 1, "data.route.enabled": true, "data.route.match.device_serials": "[WIF-1]", "data.route.match.site_ids": "[1]", "data.route.steps.1.channel_ids": "[1 2]",
			"data.route.quiet_hours.from": "22:00", "data.route.quiet_hours.to": "06:05", "data.route.digest_at": "07:30", "data.route.recovery": false, "data.route.repeat_s": 3600}},
		{name: "plain", req: mine(post("/v1/routes", "", `{"name":"Day",`+steps+`}`)), status: 201, want: map[string]any{
			"data.route.match.severities": "[]", "data.route.match.device_serials": "[]", "data.route.quiet_hours": nil, "data.route.digest_at": nil, "data.route.recovery": true, "data.route.repeat_s": 0}},
		{name: "list", req: mine(get("/v1/routes", "")), status: 200, want: map[string]any{"data.routes.0.match.device_serials": "[WIF-1]", "data.routes.1.name": "Day"}},
		{name: "a name twice", req: mine(post("/v1/routes", "", `{"name":"day",`+steps+`}`)), status: 409, code: rimewatch.CodeConflict, fields: []string{"name"}},
		bad("nothing", `{}`, "name", "steps"),
		bad("no steps", `{"name":"x","steps":[]}`, "steps"),
		bad("a step without channels", `{"name":"x","steps":[{"after_s":0,"channel_ids":[]}]}`, "steps"),
		bad("falling delays", `{"name":"x","steps":[{"after_s":5,"channel_ids":[1]},{"after_s":5,"channel_ids":[2]}]}`, "steps"),
		bad("another's channel", `{"name":"x","steps":[{"after_s":0,"channel_ids":[3]}]}`, "steps"),
		bad("a misspelt type", `{"name":"x","match":{"types":["high_temprature"]},`+steps+`}`, "match.types"),
		bad("a strange severity", `{"name":"x","match":{"severities":["bad"]},`+steps+`}`, "match.severities[0]"),
		bad("another's site", `{"name":"x","match":{"site_ids":[7]},`+steps+`}`, "match.site_ids"),
		bad("a strange time", `{"name":"x","quiet_hours":{"from":"24:00","to":"7:30"},`+steps+`}`, "quiet_hours.from", "quiet_hours.to"),
		bad("no quiet at all", `{"name":"x","quiet_hours":{"from":"07:30","to":"07:30"},`+steps+`}`, "quiet_hours"),
		bad("hectic", `{"name":"x","repeat_s":5,`+steps+`}`, "repeat_s"),
		bad("an unknown field", `{"name":"x","match":{"device_ids":[1]},`+steps+`}`, "match.device_ids"),
		{name: "an unknown device", req: mine(post("/v1/routes", "", `{"name":"x","match":{"device_serials":["nope"]},`+steps+`}`)), status: 422, code: rimewatch.CodeUnknownDevice, fields: []string{"match.device_serials"}},
		{name: "change", req: mine(patch("/v1/routes/1", "", `{"name":"Late","match":{"device_serials":["WIF-2"]},"quiet_hours":null,"digest_at":null,"enabled":false}`)), status: 200, want: map[string]any{
			"data.route.name": "Late", "data.route.match.severities": "[]", "data.route.match.device_serials": "[WIF-2]", "data.route.quiet_hours": nil, "data.route.digest_at": nil,
			"data.route.enabled": false, "data.route.repeat_s": 3600, "data.route.steps.1.after_s": 600}},
		{name: "match all", req: mine(patch("/v1/routes/1", "", `{"match":null,"steps":[{"after_s":0,"channel_ids":[2]}]}`)), status: 200, want: map[string]any{"data.route.match.device_serials": "[]", "data.route.steps.0.channel_ids": "[2]"}},
		{name: "a bad change", req: mine(patch("/v1/routes/1", "", `{"steps":[{"after_s":0,"channel_ids":[99]}]}`)), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"steps"}},
		{name: "a channel in use", req: mine(remove("/v1/channels/2", "")), status: 409, code: rimewatch.CodeConflict, contains: []string{"Late"}},
		{name: "others do not see it", req: as(r.stranger, get("/v1/routes", "")), status: 200, want: map[string]any{"data.routes": "[]"}},
		{name: "others do not get it", req: as(r.stranger, get("/v1/routes/1", "")), status: 404, code: rimewatch.CodeNotFound},
		{name: "others do not change it", req: as(r.stranger, patch("/v1/routes/1", "", `{"name":"x"}`)), status: 404, code: rimewatch.CodeNotFound},
		{name: "others do not delete it", req: as(r.stranger, remove("/v1/routes/1", "")), status: 404, code: rimewatch.CodeNotFound},
		{name: "others' devices are unknown", req: as(r.stranger, post("/v1/routes", "", `{"name":"x","match":{"device_serials":["WIF-1"]},"steps":[{"after_s":0,"channel_ids":[3]}]}`)), status: 422, code: rimewatch.CodeUnknownDevice},
		{name: "get", req: mine(get("/v1/routes/1", "")), status: 200, want: map[string]any{"data.route.name": "Late"}},
		{name: "delete", req: mine(remove("/v1/routes/1", "")), status: 200},
		{name: "gone", req: mine(get("/v1/routes/1", "")), status: 404, code: rimewatch.CodeNotFound},
		{name: "the channel is free", req: mine(remove("/v1/channels/2", "")), status: 200},
	})
	r.told(t, 2+2+2+2, 1)
}

func TestSilences(t *testing.T) {
	r := newNotifyRig(t)
	r.device("WIF-1", "walkin_freezer")
	r.events.take(t, 0)
	in := func(d time.Duration) string { return r.now().Add(d).String() }
	body := `{"match":{"device_serials":["WIF-1"]},"ends_at":"` + in(time.Hour) + `","comment":"ice"}`
	bad := func(name, body string, fields ...string) scenario {
		return scenario{name: name, req: post("/v1/silences", r.full, body), status: 422, code: rimewatch.CodeValidationFailed, fields: fields}
	}
	r.run(t, []scenario{
		{name: "by a technician", req: as(r.technician, post("/v1/silences", "", body)), status: 201, want: map[string]any{
			"data.silence.id": 1, "data.silence.active": true, "data.silence.starts_at": r.now(), "data.silence.match.device_serials": "[WIF-1]", "data.silence.comment": "ice",
			"data.silence.created_by": fmt.Sprintf("P <technician-%d@example.com>", r.workspace.ID)}},
		{name: "not by a viewer", req: as(r.viewer, post("/v1/silences", "", body)), status: 403, code: rimewatch.CodeForbidden},
		{name: "not by a reading token", req: post("/v1/silences", r.read, body), status: 403, code: rimewatch.CodeForbidden},
		{name: "by a token, later", req: post("/v1/silences", r.full, `{"match":{},"starts_at":"`+in(time.Hour)+`","ends_at":"`+in(2*time.Hour)+`"}`), status: 201, want: map[string]any{"data.silence.active": false, "data.silence.created_by": "token test"}},
		{name: "a person says so where it is about everything", req: as(r.technician, post("/v1/silences", "", `{"match":{},"ends_at":"`+in(time.Hour)+`"}`)), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"match"}},
		{name: "the past counts as now", req: post("/v1/silences", r.full, `{"match":{},"starts_at":"2020-01-01T00:00:00Z","ends_at":"`+in(time.Minute)+`"}`), status: 201, want: map[string]any{"data.silence.starts_at": r.now()}},
		bad("no end", `{"match":{}}`, "ends_at"),
		bad("no match", `{"ends_at":"`+in(time.Hour)+`"}`, "match"),
		bad("over already", `{"match":{},"ends_at":"`+in(-time.Second)+`"}`, "ends_at"),
		bad("backwards", `{"match":{},"starts_at":"`+in(2*time.Hour)+`","ends_at":"`+in(time.Hour)+`"}`, "ends_at"),
		bad("for ever", `{"match":{},"ends_at":"`+in(31*24*time.Hour)+`"}`, "ends_at"),
		bad("an unknown field", `{"match":{},"ends_at":"`+in(time.Hour)+`","created_by":"x"}`, "created_by"),
		bad("a misspelt type", `{"match":{"types":["x"]},"ends_at":"`+in(time.Hour)+`"}`, "match.types"),
		{name: "an unknown device", req: post("/v1/silences", r.full, `{"match":{"device_serials":["x"]},"ends_at":"`+in(time.Hour)+`"}`), status: 422, code: rimewatch.CodeUnknownDevice},
		{name: "list", req: get("/v1/silences", r.read), status: 200, want: map[string]any{"data.silences.0.id": 1, "data.silences.2.id": 3, "data.silences.3": nil}},
		{name: "get", req: as(r.viewer, get("/v1/silences/1", "")), status: 200, want: map[string]any{"data.silence.comment": "ice"}},
		{name: "others do not see it", req: get("/v1/silences?ended=true", r.otherFull), status: 200, want: map[string]any{"data.silences": "[]"}},
		{name: "others do not get it", req: get("/v1/silences/1", r.otherFull), status: 404, code: rimewatch.CodeNotFound},
		{name: "others do not end it", req: post("/v1/silences/1/end", r.otherFull, ""), status: 404, code: rimewatch.CodeNotFound},
		{name: "a viewer does not end it", req: as(r.viewer, post("/v1/silences/1/end", "", "")), status: 403, code: rimewatch.CodeForbidden},
		{name: "end", before: func(r *rig) { r.advance(time.Second) }, req: post("/v1/silences/1/end", r.full, ""), status: 200, want: map[string]any{"data.silence.active": false, "data.silence.ends_at": r.now() + 1000}},
		{name: "end again", req: post("/v1/silences/1/end", r.full, ""), status: 409, code: rimewatch.CodeConflict},
		{name: "end before it began", req: post("/v1/silences/2/end", r.full, ""), status: 200, want: map[string]any{"data.silence.active": false}},
		{name: "that, too, only once", req: post("/v1/silences/2/end", r.full, ""), status: 409, code: rimewatch.CodeConflict},
		{name: "one is left", req: get("/v1/silences?ended=false", r.read), status: 200, want: map[string]any{"data.silences.0.id": 2, "data.silences.1.id": 3, "data.silences.2": nil}},
		{name: "the ended ones", req: get("/v1/silences?ended=true", r.read), status: 200, want: map[string]any{"data.silences.0.id": 1, "data.silences.2.id": 3}},
		{name: "no boolean", req: get("/v1/silences?ended=x", r.read), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"ended"}},
		{name: "the trail", req: r.browser(get("/v1/audit?action=silence.ended", "")), status: 200, want: map[string]any{"data.entries.1.subject": "silence 1", "data.entries.1.actor": "token test"}},
	})
	r.told(t, 3+2, 0)
}

func TestDeliveries(t *testing.T) {
	r := newNotifyRig(t)
	ctx := t.Context()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	r.do(r.browser(post("/v1/channels", "", `{"name":"Kitchen","kind":"email","to":["kitchen@example.com"]}`)))
	r.do(r.browser(post("/v1/routes", "", `{"name":"Night","steps":[{"after_s":0,"channel_ids":[1]}]}`)))
	a := &rimewatch.Alert{ID: r.store.NewAlertID(), WorkspaceID: r.workspace.ID, DeviceID: 1, Status: rimewatch.AlertActive, Severity: rimewatch.Warning, Type: rimewatch.HighTemperature, TriggeredAt: r.now()}
	must(storetest.Commit(ctx, r.store, &store.Group{Now: r.now()}, &store.Effects{Alerts: []*rimewatch.Alert{a}}))
	path := fmt.Sprintf("/v1/alerts/%d/deliveries", a.ID)
	must(r.store.Outbox().PutDeliveries(ctx, []*rimewatch.Delivery{
		{WorkspaceID: r.workspace.ID, Key: "k1", AlertID: a.ID, ChannelID: 1, RouteID: 1, Kind: rimewatch.DeliveryOpened, Status: rimewatch.DeliveryPending, NextAttemptAt: r.now() + 5, CreatedAt: r.now(), Attempts: 2,
			LastError: rimewatch.Sentencef("The receiver cannot be reached: %s.", rimewatch.Sentencef("it refuses connections")).Stored()},
		{WorkspaceID: r.workspace.ID, Key: "k2", AlertID: a.ID, ChannelID: 1, Level: 1, Kind: rimewatch.DeliveryRepeat, Status: rimewatch.DeliverySent, SentAt: r.now(), CreatedAt: r.now(), NextAttemptAt: r.now()},
	}, 0))
	r.run(t, []scenario{
		{name: "a site", req: r.browser(post("/v1/sites", "", `{"name":"Harbour"}`)), status: 201, anyEvents: true},
		{name: "who would be called there", req: get("/v1/sites/1/called", r.read), status: 200, want: map[string]any{
			"data.calls.0.after_s": 0, "data.calls.0.to.0.kind": "channel", "data.calls.0.to.0.name": "Kitchen", "data.calls.0.to.1": nil, "data.calls.1": nil}},
		{name: "not of others' sites", req: get("/v1/sites/1/called", r.otherFull), status: 404, code: rimewatch.CodeNotFound},
		{name: "who was told and is next", req: get(fmt.Sprintf("/v1/alerts/%d", a.ID), r.read), status: 200, want: map[string]any{
			"data.alert.escalation.level": 2, "data.alert.escalation.told.0.kind": "channel", "data.alert.escalation.told.0.id": 1, "data.alert.escalation.told.0.name": "Kitchen", "data.alert.escalation.told.0.at": r.now(),
			"data.alert.escalation.told.1": nil, "data.alert.escalation.next_at": nil, "data.alert.escalation.next": "[]"}},
		{name: "not in lists", req: get("/v1/alerts", r.read), status: 200, want: map[string]any{"data.alerts.0.escalation": nil}},
		{name: "of an alert", req: get(path, r.read), status: 200, want: map[string]any{
			"data.deliveries.0.key": "k1", "data.deliveries.0.route.name": "Night", "data.deliveries.0.channel.name": "Kitchen", "data.deliveries.0.channel.kind": "email", "data.deliveries.0.next_attempt_at": r.now() + 5,
			"data.deliveries.0.last_error": "The receiver cannot be reached: it refuses connections.", "data.deliveries.0.attempts": 2, "data.deliveries.1.route": nil, "data.deliveries.1.next_attempt_at": nil, "data.deliveries.1.sent_at": r.now(), "data.deliveries.2": nil}},
		{name: "in Spanish", req: r.browser(get(path, "")).with("Accept-Language", "es"), status: 200, want: map[string]any{
			"data.deliveries.0.last_error": "El destinatario no está accesible: rechaza las conexiones."}},
		{name: "a viewer sees it", req: as(r.viewer, get(path, "")), status: 200},
		{name: "an ingest token does not", req: get(path, r.feed), status: 403, code: rimewatch.CodeForbidden},
		{name: "others do not", req: get(path, r.otherFull), status: 404, code: rimewatch.CodeAlertNotFound},
		{name: "no such alert", req: get("/v1/alerts/99/deliveries", r.read), status: 404, code: rimewatch.CodeAlertNotFound},
		{name: "send again", req: r.browser(post("/v1/deliveries/2/resend", "", "")), status: 200, want: map[string]any{"data.delivery.key": "k2", "data.delivery.status": "pending"}},
		{name: "never by a token", req: post("/v1/deliveries/2/resend", r.full, ""), status: 403, code: rimewatch.CodeForbidden},
		{name: "not others'", req: as(r.stranger, post("/v1/deliveries/2/resend", "", "")), status: 404, code: rimewatch.CodeNotFound},
		{name: "no such delivery", req: r.browser(post("/v1/deliveries/99/resend", "", "")), status: 404, code: rimewatch.CodeNotFound},
		{name: "the route goes", req: r.browser(remove("/v1/routes/1", "")), status: 200},
		{name: "the channel goes", req: r.browser(remove("/v1/channels/1", "")), status: 200},
		{name: "their names stay", req: get(path, r.read), status: 200, want: map[string]any{"data.deliveries.0.route.name": "Night", "data.deliveries.0.channel.name": "Kitchen", "data.deliveries.0.status": "dropped", "data.deliveries.0.next_attempt_at": nil}},
		{name: "not to a channel that is gone", req: r.browser(post("/v1/deliveries/2/resend", "", "")), status: 409, code: rimewatch.CodeConflict},
	})
}

// TestCoverage: from no channel to somebody everywhere, by whichever of the two answers, and back while
// a silence holds.
func TestCoverage(t *testing.T) {
	r := newNotifyRig(t)
	mine := func(q request) request { return r.browser(q) }
	coverage, summary := get("/v1/notifications/coverage", r.read), get("/v1/devices/health/summary", r.read)
	ends := (r.now() + rimewatch.Hour).String()
	r.run(t, []scenario{
		{name: "no device", req: coverage, status: 200, want: map[string]any{"data.coverage.reachable": true, "data.coverage.anywhere": true, "data.coverage.reason": nil}},
		{name: "a site", req: mine(post("/v1/sites", "", `{"name":"Harbour"}`)), status: 201, anyEvents: true},
		{name: "a device there", req: mine(post("/v1/devices", "", `{"serial":"H-1","site_id":1}`)), status: 201, anyEvents: true},
		{name: "a device without a site", req: mine(post("/v1/devices", "", `{"serial":"N-1"}`)), status: 201, anyEvents: true},
		{name: "no channel", req: coverage, status: 200, want: map[string]any{
			"data.coverage.reachable": false, "data.coverage.anywhere": false, "data.coverage.reason": "no_channel", "data.coverage.count": 2,
			"data.coverage.sites_without.0.id": nil, "data.coverage.sites_without.1.id": 1, "data.coverage.sites_without.1.name": "Harbour", "data.coverage.sites_without.1.reason": "no_channel",
		}},
		{name: "the summary says the same", req: summary, status: 200, want: map[string]any{"data.coverage.reason": "no_channel", "data.coverage.count": 2}},
		{name: "of one site", req: get("/v1/devices/health/summary?site_id=1", r.read), status: 200, want: map[string]any{"data.coverage.count": 1}},
		{name: "another workspace has no device", req: get("/v1/notifications/coverage", r.otherFull), status: 200, want: map[string]any{"data.coverage.reachable": true, "data.coverage.silences": "[]"}},
		{name: "a channel", req: mine(post("/v1/channels", "", `{"name":"Kitchen","kind":"email","to":["kitchen@example.com"]}`)), status: 201},
		{name: "untested", req: coverage, status: 200, want: map[string]any{"data.coverage.reason": "untested", "data.coverage.count": 2}},
		{name: "a test", req: mine(post("/v1/channels/1/test", "", "")), status: 200},
		{name: "reachable", req: as(r.viewer, coverage), status: 200, want: map[string]any{"data.coverage.reachable": true, "data.coverage.count": 0, "data.coverage.sites_without": "[]", "data.coverage.silences": "[]"}},
		{name: "a silence", req: as(r.technician, post("/v1/silences", "", `{"match":{"site_ids":[1]},"ends_at":"`+ends+`","comment":"delivery"}`)), status: 201},
		{name: "silenced there", req: coverage, status: 200, want: map[string]any{
			"data.coverage.reachable": false, "data.coverage.anywhere": true, "data.coverage.reason": "silenced", "data.coverage.count": 1, "data.coverage.sites_without.0.name": "Harbour",
			"data.coverage.silences.0.kind": "silence", "data.coverage.silences.0.ends_at": ends, "data.coverage.silences.0.comment": "delivery", "data.coverage.silences.0.site_ids": "[1]", "data.coverage.silences.1": nil,
		}, lacks: []string{"@example.com"}},
		{name: "others see none of it", req: get("/v1/notifications/coverage", r.otherFull), status: 200, want: map[string]any{"data.coverage.silences": "[]"}},
	})
}
