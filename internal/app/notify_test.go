package app_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/client"
	"github.com/rimewatch/rimewatch/internal/account"
	"github.com/rimewatch/rimewatch/internal/app"
	"github.com/rimewatch/rimewatch/internal/notify/message"
)

// receiver is somebody's webhook: it verifies signatures as the Standard Webhooks
// library does and keeps what it got.
type receiver struct {
	*httptest.Server
	got chan received
}

type received struct {
	id   string
	at   time.Time
	body message.Message
	raw  []byte
}

func newReceiver(t *testing.T, secret string) *receiver {
	t.Helper()
	verifier, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		t.Fatal(err)
	}
	r := &receiver{got: make(chan received, 1000)}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		at := time.Now()
		body, err := io.ReadAll(q.Body)
		if err == nil {
			err = verifier.VerifyIgnoringTimestamp(body, q.Header) // the clock is the test's
		}
		var m message.Message
		if err == nil {
			err = json.Unmarshal(body, &m)
		}
		if err != nil {
			t.Error(err)
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		r.got <- received{q.Header.Get("Webhook-Id"), at, m, body}
	}))
	t.Cleanup(r.Close)
	return r
}

// next waits for a message.
func (r *receiver) next(t *testing.T) received {
	t.Helper()
	select {
	case m := <-r.got:
		return m
	case <-time.After(patience):
		t.Fatal("no message came")
		return received{}
	}
}

// clock is a time that tests set.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// shop is a server with a workspace, and a cooler in which one warm reading is an
// alert.
type shop struct {
	*testing.T
	*app.App
	now       *clock
	workspace int64
	api       *client.Client
}

func newShop(t *testing.T) *shop {
	t.Helper()
	s := &shop{T: t, now: &clock{now: time.Now().Truncate(time.Second)}}
	s.App = serving(t, by(s.now.Now), func(c *app.Config) {
		c.OutboundAllow, c.PublicURL = []string{"127.0.0.0/8"}, "https://watch.example.org/"
	})
	w, err := s.Accounts.FindWorkspace(t.Context(), "Corner shop", true, rimewatch.TimeOf(s.now.Now()))
	s.must(err)
	s.workspace = w.ID
	_, token, err := s.Accounts.CreateToken(t.Context(), account.Operator(w.ID), account.TokenRequest{Name: "t", Scopes: rimewatch.ScopesFull}, rimewatch.TimeOf(s.now.Now()))
	s.must(err)
	limit, none := 5.0, 0
	// The clock is moved by minutes at once: a tick in between must not find the device silent.
	_, err = s.Ingest.CreateDevice(t.Context(), &rimewatch.Device{WorkspaceID: w.ID, Serial: "F-1", Name: "Back walk-in", EquipmentType: "walkin_cooler", OfflineAfterS: 7 * 86_400,
		Limits: &rimewatch.LimitOverrides{TempMax: &limit, DelayS: &none, ClearS: &none}})
	s.must(err)
	s.api, err = client.New(s.URL(), token, nil)
	s.must(err)
	return s
}

func (s *shop) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

// secret is that of the nth webhook.
func secret(n int) string {
	return "whsec_" + base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{byte(n)}, 32))
}

func (s *shop) webhook(n int, name, url string) rimewatch.Channel {
	s.Helper()
	c := rimewatch.Channel{WorkspaceID: s.workspace, Name: name, Kind: rimewatch.ChannelWebhook, Enabled: true, URL: url, Secret: secret(n)}
	s.must(s.Store.Routing().Channels().Create(s.Context(), &c))
	return c
}

// temperature sends a reading a second later.
func (s *shop) temperature(v float64) {
	s.Helper()
	s.now.pass(time.Second)
	_, _, err := s.api.PostReading(s.Context(), client.Reading{DeviceSerial: "F-1", Measurements: client.Measurements{ProductZoneTemp: &v}})
	s.must(err)
}

// planned waits until whatever happened to alerts is planned: time that passes amid that
// passes for a part of it alone.
func (s *shop) planned() {
	s.Helper()
	list, err := s.Store.Everywhere().AllTransitionsAfter(s.Context(), 0, 1000)
	s.must(err)
	await(s.T, "the planner is behind", func() bool {
		through, err := s.Store.Outbox().PlannedThrough(s.Context())
		s.must(err)
		return through >= list[len(list)-1].ID
	})
}

// alert is the one that is active.
func (s *shop) alert() (alert client.Alert) {
	s.Helper()
	for v, err := range s.api.Alerts(s.Context(), client.AlertFilter{}) {
		s.must(err)
		alert = v
	}
	return alert
}

// TestFromReadingToRecovery is the whole way on the real parts: a reading that is
// too warm, the alert, the signed message; the next level when nobody cares;
// acknowledged, so no further one; at last the recovery, to those who were told.
func TestFromReadingToRecovery(t *testing.T) {
	s := newShop(t)
	ctx := t.Context()
	channels, receivers := make([]rimewatch.Channel, 3), make([]*receiver, 3)
	for i, name := range []string{"Technician", "Boss", "Board"} {
		receivers[i] = newReceiver(t, secret(i))
		channels[i] = s.webhook(i, name, receivers[i].URL+"/hook")
	}
	route := rimewatch.Route{WorkspaceID: s.workspace, Name: "All", Enabled: true, Recovery: true, Steps: []rimewatch.RouteStep{
		{ChannelIDs: []int64{channels[0].ID}}, {AfterS: 600, ChannelIDs: []int64{channels[1].ID}}, {AfterS: 1200, ChannelIDs: []int64{channels[2].ID}},
	}}
	s.must(s.Store.Routing().Routes().Create(ctx, &route))

	s.temperature(8.2)
	first := receivers[0].next(t)
	if first.body.Type != "alert.opened" || first.id != first.body.Data.DeliveryID || !strings.HasPrefix(first.body.Data.Subject, "[warning] Back walk-in: 8.2\u00a0°C, too warm") {
		t.Errorf("the first message is %s %q %q", first.body.Type, first.id, first.body.Data.Subject)
	}
	alert := s.alert()
	var told client.Alert
	s.must(json.Unmarshal(first.body.Data.Alert, &told))
	if diff := cmp.Diff(alert, told); diff != "" {
		t.Errorf("the alert of the message is not that of the API:\n%s", diff)
	}
	if first.body.Data.Link != "https://watch.example.org/w/corner-shop/alerts/1" || first.body.Data.Device.Serial != "F-1" {
		t.Errorf("the message links to %q, device %+v", first.body.Data.Link, first.body.Data.Device)
	}

	s.now.pass(10 * time.Minute)
	s.Notify.Wake()
	if m := receivers[1].next(t); m.body.Data.Level != 1 || !strings.Contains(m.body.Data.Subject, "Not acknowledged yet") {
		t.Errorf("the second level got %+v", m.body.Data)
	}
	if _, err := s.api.Acknowledge(ctx, alert.ID, "On my way", time.Hour); err != nil {
		t.Fatal(err)
	}
	s.planned()
	s.now.pass(15 * time.Minute)
	s.Notify.Wake()
	s.temperature(3)
	for i, r := range receivers[:2] {
		if m := r.next(t); m.body.Type != "alert.resolved" || !strings.HasPrefix(m.body.Data.Subject, "[resolved] Back walk-in: temperature back in range after 25\u00a0min") {
			t.Errorf("receiver %d got %s %q at the end", i, m.body.Type, m.body.Data.Subject)
		}
	}
	kinds := s.delivered(alert.ID)
	if diff := cmp.Diff([]string{"opened 0 Technician sent", "opened 1 Boss sent", "recovery 0 Technician sent", "recovery 1 Boss sent"}, kinds); diff != "" {
		t.Errorf("the alert's deliveries:\n%s", diff)
	}
	for i, r := range receivers {
		if len(r.got) > 0 {
			t.Errorf("receiver %d got %q too", i, (<-r.got).body.Data.Subject)
		}
	}
}

// TestDeadAndSlowReceivers: one listens to nobody, one takes the message and
// never answers; the third hears of the alert all the same and at once.
func TestDeadAndSlowReceivers(t *testing.T) {
	s := newShop(t)
	dead := httptest.NewServer(http.NotFoundHandler())
	dead.Close()
	stuck, release := make(chan struct{}), make(chan struct{})
	arrived := sync.OnceFunc(func() { close(stuck) }) // it is tried again where a busy machine lets it wait for too long
	slow := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		arrived()
		<-release
	}))
	defer slow.Close()
	defer close(release)
	good := newReceiver(t, secret(2))
	s.webhook(0, "Dead", dead.URL)
	s.webhook(1, "Slow", slow.URL)
	s.webhook(2, "Good", good.URL)
	s.temperature(6.8)
	await(t, "the slow one was never tried", func() bool {
		select {
		case <-stuck:
			return true
		default:
			return false
		}
	})
	if m := good.next(t); m.body.Type != "alert.opened" {
		t.Errorf("the good one got %s", m.body.Type)
	}
	s.temperature(3)
	if m := good.next(t); m.body.Type != "alert.resolved" {
		t.Errorf("the good one got %s", m.body.Type)
	}
	// The slow one's is under way still; nothing is wanted of the dead one any more.
	await(t, "more waits than the slow one's", func() bool { return s.Notify.Figures().Pending <= 1 })
	if diff := cmp.Diff([]string{"opened 0 Dead dropped", "opened 0 Slow pending", "opened 0 Good sent", "recovery 0 Good sent"}, s.deliveries(1)); diff != "" {
		t.Errorf("deliveries:\n%s", diff)
	}
}

// delivered describes an alert's deliveries, once none of them waits any more.
func (s *shop) delivered(alertID int64) []string {
	s.Helper()
	await(s.T, "deliveries still wait", func() bool { return s.Notify.Figures().Pending == 0 })
	return s.deliveries(alertID)
}

func (s *shop) deliveries(alertID int64) (list []string) {
	s.Helper()
	ds, err := s.Store.Outbox().AlertDeliveries(s.Context(), s.workspace, alertID)
	s.must(err)
	names, err := s.Store.Outbox().DeliveryNames(s.Context(), s.workspace)
	s.must(err)
	for _, d := range ds {
		list = append(list, strings.Join([]string{string(d.Kind), string(rune('0' + d.Level)), names.Channels[d.ChannelID].Name, string(d.Status)}, " "))
	}
	return list
}

// TestLeaving: who leaves a silence because the device moves, or quiet hours because the
// site's time zone changes, is notified at once.
func TestLeaving(t *testing.T) {
	s := newShop(t)
	r := newReceiver(t, secret(1))
	c := s.webhook(1, "a", r.URL)
	now := rimewatch.TimeOf(s.now.Now())
	site := rimewatch.Site{WorkspaceID: s.workspace, Name: "Shop", TimeZone: "UTC", CreatedAt: now, UpdatedAt: now}
	s.must(s.Store.Sites().Create(s.Context(), &site))
	move := func(site int64) {
		t.Helper()
		_, err := s.Ingest.UpdateDevice(s.Context(), s.workspace, "F-1", func(d *rimewatch.Device) error { d.SiteID = site; return nil })
		s.must(err)
	}
	move(site.ID)
	silence := rimewatch.Silence{WorkspaceID: s.workspace, StartsAt: now, EndsAt: now + 30*rimewatch.Day, Match: rimewatch.Matchers{SiteIDs: []int64{site.ID}}, CreatedAt: now}
	s.must(s.Store.Routing().Silences().Create(s.Context(), &silence))
	s.temperature(6.8)
	move(0)
	if m := r.next(t); m.body.Type != "alert.opened" || m.body.Data.Site != nil {
		t.Errorf("after the move: %s at %+v", m.body.Type, m.body.Data.Site)
	}
	s.temperature(3)
	r.next(t)

	_, err := s.Store.Routing().Silences().Update(s.Context(), s.workspace, silence.ID, func(x *rimewatch.Silence) error { x.EndsAt = now + 1; return nil })
	s.must(err)
	utc := s.now.Now().UTC()
	quiet := &rimewatch.QuietHours{From: (utc.Hour()*60 + utc.Minute() + 1380) % 1440, To: (utc.Hour()*60 + utc.Minute() + 60) % 1440} // an hour before and after now
	s.must(s.Store.Routing().Routes().Create(s.Context(), &rimewatch.Route{WorkspaceID: s.workspace, Name: "r", Enabled: true, Quiet: quiet, Steps: []rimewatch.RouteStep{{ChannelIDs: []int64{c.ID}}}}))
	move(site.ID)
	s.temperature(6.8)
	_, token, err := s.Accounts.CreateToken(t.Context(), account.Operator(s.workspace), account.TokenRequest{Name: "z", Scopes: rimewatch.ScopesFull}, now)
	s.must(err)
	q, err := http.NewRequestWithContext(s.Context(), http.MethodPatch, s.URL()+"/api/v1/sites/"+strconv.FormatInt(site.ID, 10), strings.NewReader(`{"timezone":"Asia/Tokyo"}`))
	s.must(err)
	q.Header.Set("Authorization", "Bearer "+token)
	q.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(q)
	s.must(err)
	s.must(answer.Body.Close())
	if m := r.next(t); m.body.Type != "alert.opened" {
		t.Errorf("after the change of the zone: %s, %s", m.body.Type, answer.Status)
	}
}
