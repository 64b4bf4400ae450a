package app_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
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
	"github.com/rimewatch/rimewatch/internal/config"
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
		r.got <- received{q.Header.Get("Webhook-Id"), at, m}
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
	case <-time.After(20 * time.Second):
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

// TestFromReadingToRecovery is the whole way on the real parts: a reading that is
// too warm, the alert, the signed message; the next level when nobody cares;
// acknowledged, so no further one; at last the recovery, to those who were told.
func TestFromReadingToRecovery(t *testing.T) {
	now := &clock{now: time.Now().Truncate(time.Second)}
	a, err := app.New(t.Context(), app.Config{
		Serve: config.Serve{Data: t.TempDir(), Listen: "127.0.0.1:0", HeadMemory: 8, SealAfter: time.Hour, DrainPeriod: 5 * time.Second,
			OutboundAllow: []string{"127.0.0.0/8"}, PublicURL: "https://watch.example.org/"},
		Now: now.Now,
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Stop(); err != nil {
			t.Error(err)
		}
	})
	ctx := t.Context()
	w, err := a.Accounts.FindWorkspace(ctx, "Corner shop", true, rimewatch.TimeOf(now.Now()))
	if err != nil {
		t.Fatal(err)
	}
	_, token, err := a.Accounts.CreateToken(ctx, account.Operator(w.ID), account.TokenRequest{Name: "t", Scopes: rimewatch.ScopesFull}, rimewatch.TimeOf(now.Now()))
	if err != nil {
		t.Fatal(err)
	}
	var channels, receivers = make([]rimewatch.Channel, 3), make([]*receiver, 3)
	for i, name := range []string{"Technician", "Boss", "Board"} {
		secret := "whsec_" + base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{byte(i)}, 32))
		receivers[i] = newReceiver(t, secret)
		channels[i] = rimewatch.Channel{WorkspaceID: w.ID, Name: name, Kind: rimewatch.ChannelWebhook, Enabled: true, URL: receivers[i].URL + "/hook", Secret: secret}
		if err := a.Store.CreateChannel(ctx, &channels[i]); err != nil {
			t.Fatal(err)
		}
	}
	route := rimewatch.Route{WorkspaceID: w.ID, Name: "All", Enabled: true, Recovery: true, Steps: []rimewatch.RouteStep{
		{ChannelIDs: []int64{channels[0].ID}}, {AfterS: 600, ChannelIDs: []int64{channels[1].ID}}, {AfterS: 1200, ChannelIDs: []int64{channels[2].ID}},
	}}
	if err := a.Store.CreateRoute(ctx, &route); err != nil {
		t.Fatal(err)
	}
	limit, none := 5.0, 0
	device := &rimewatch.Device{WorkspaceID: w.ID, Serial: "F-1", Name: "Back walk-in", EquipmentType: "walkin_cooler",
		Limits: &rimewatch.LimitOverrides{TempMax: &limit, DelayS: &none, ClearS: &none}}
	if _, err := a.Ingest.CreateDevice(ctx, device); err != nil {
		t.Fatal(err)
	}
	api, err := client.New(a.URL(), token, nil)
	if err != nil {
		t.Fatal(err)
	}
	temperature := func(v float64) {
		t.Helper()
		now.pass(time.Second)
		if _, _, err := api.PostReading(ctx, client.Reading{DeviceSerial: "F-1", Measurements: client.Measurements{ProductZoneTemp: &v}}); err != nil {
			t.Fatal(err)
		}
	}

	temperature(8.2)
	first := receivers[0].next(t)
	if first.body.Type != "alert.opened" || first.id != first.body.Data.DeliveryID || !strings.HasPrefix(first.body.Data.Subject, "[warning] Back walk-in 8.2 °C, too warm") {
		t.Errorf("the first message is %s %q %q", first.body.Type, first.id, first.body.Data.Subject)
	}
	var alert client.Alert
	for v, err := range api.Alerts(ctx, client.AlertFilter{}) {
		if err != nil {
			t.Fatal(err)
		}
		alert = v
	}
	var told map[string]any
	if err := json.Unmarshal(first.body.Data.Alert, &told); err != nil || told["id"] != float64(alert.ID) || told["type"] != "high_temperature" {
		t.Errorf("the message carries the alert %s", first.body.Data.Alert)
	}
	if first.body.Data.Link != "https://watch.example.org/alerts/1" || first.body.Data.Device.Serial != "F-1" {
		t.Errorf("the message links to %q, device %+v", first.body.Data.Link, first.body.Data.Device)
	}

	now.pass(10 * time.Minute)
	a.Notify.Wake()
	if m := receivers[1].next(t); m.body.Data.Level != 1 || !strings.Contains(m.body.Data.Subject, "Nobody has taken care of it") {
		t.Errorf("the second level got %+v", m.body.Data)
	}
	if _, err := api.Acknowledge(ctx, alert.ID, "On my way", time.Hour); err != nil {
		t.Fatal(err)
	}
	now.pass(15 * time.Minute)
	a.Notify.Wake()
	temperature(3)
	for i, r := range receivers[:2] {
		if m := r.next(t); m.body.Type != "alert.resolved" || !strings.HasPrefix(m.body.Data.Subject, "[resolved] Back walk-in: no longer too warm, after 25 min") {
			t.Errorf("receiver %d got %s %q at the end", i, m.body.Type, m.body.Data.Subject)
		}
	}
	for i, r := range receivers {
		if len(r.got) > 0 {
			t.Errorf("receiver %d got %+v too", i, (<-r.got).body.Data.Subject)
		}
	}
	kinds := delivered(t, ctx, a, w.ID, alert.ID)
	if diff := cmp.Diff([]string{"opened 0 Technician sent", "opened 1 Boss sent", "recovery 0 Technician sent", "recovery 1 Boss sent"}, kinds); diff != "" {
		t.Errorf("the alert's deliveries:\n%s", diff)
	}
}

// delivered describes an alert's deliveries, once none of them waits any more.
func delivered(t *testing.T, ctx context.Context, a *app.App, workspaceID, alertID int64) (list []string) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); a.Notify.Figures().Pending > 0; {
		if time.Now().After(deadline) {
			t.Fatal("deliveries still wait")
		}
	}
	ds, err := a.Store.AlertDeliveries(ctx, workspaceID, alertID)
	if err != nil {
		t.Fatal(err)
	}
	names, err := a.Store.DeliveryNames(ctx, workspaceID)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range ds {
		list = append(list, strings.Join([]string{string(d.Kind), string(rune('0' + d.Level)), names.Channels[d.ChannelID].Name, string(d.Status)}, " "))
	}
	return list
}
