package e2e

import (
	"context"
	"encoding/json"
	"maps"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/client"
)

func testPublic(t *testing.T, c *client.Client) {
	ctx := t.Context()
	for _, probe := range []func(context.Context) error{c.Alive, c.Ready} {
		if err := probe(ctx); err != nil {
			t.Error(err)
		}
	}
	policies := must[[]client.Policy](t)(c.Policies(ctx))
	found := false
	for _, p := range policies {
		found = found || p.Slug == "privacy"
		if p.Title == "" || p.Content == "" || p.Version == "" || p.EffectiveAt == 0 {
			t.Errorf("%+v", p)
		}
	}
	p := must[client.Policy](t)(c.Policy(ctx, "privacy"))
	if !found || p.ContentHTML == "" || p.ContentType != "text/markdown" {
		t.Errorf("%q %q", p.ContentType, p.ContentHTML)
	}
	_, err := c.Policy(ctx, "nothing")
	wantCode(t, err, rimewatch.CodePolicyNotFound, 404)
	// The command prints what the server serves; the UI's types are made from it.
	printed, err := exec.CommandContext(ctx, program(t), "openapi").Output()
	if err != nil {
		t.Fatal(err)
	}
	if served, written := described(t, must[[]byte](t)(c.OpenAPI(ctx))), described(t, printed); !maps.Equal(served, written) {
		t.Errorf("the server describes %v, the command %v", served, written)
	}
	_, err = c.Summary(ctx)
	wantCode(t, err, rimewatch.CodeUnauthenticated, 401)
}

// described are the paths of a description, with their methods.
func described(t *testing.T, b []byte) map[string]string {
	t.Helper()
	var doc struct {
		OpenAPI string
		Paths   map[string]map[string]json.RawMessage
	}
	if err := json.Unmarshal(b, &doc); err != nil || !strings.HasPrefix(doc.OpenAPI, "3.1") || len(doc.Paths) < 80 {
		t.Fatalf("%d paths, %v: %.80s", len(doc.Paths), err, b)
	}
	paths := make(map[string]string)
	for path, methods := range doc.Paths {
		paths[path] = strings.Join(slices.Sorted(maps.Keys(methods)), " ")
	}
	return paths
}

// testStream listens to every channel of the real server while a device reports
// for the first time.
func testStream(t *testing.T, c *client.Client) {
	must[client.Device](t)(c.CreateDevice(t.Context(), "Live", steady()))
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	subscribed := 0
	seen := make(map[client.EventKind]bool)
	for e, err := range c.Stream(ctx, client.Subscription{Channel: client.ChannelDevices, Serials: []string{"live"}}, client.Subscription{Channel: client.ChannelReadings},
		client.Subscription{Channel: client.ChannelAlerts}, client.Subscription{Channel: client.ChannelSummary}) {
		if err != nil {
			t.Fatal(err)
		}
		switch seen[e.Kind] = true; {
		case e.Kind == client.Subscribed:
			if subscribed++; subscribed == 4 {
				_, duplicate, err := c.PostReading(t.Context(), client.Reading{DeviceSerial: "Live", Measurements: client.Measurements{ProductZoneTemp: client.Value(-18.25)}})
				if err != nil || duplicate {
					t.Errorf("%v, duplicate %v", err, duplicate)
				}
			}
		case e.Reading != nil && (e.Reading.DeviceSerial != "Live" || *e.Reading.ProductZoneTemp != -18.25):
			t.Errorf("reading %+v", e.Reading)
		case e.Device != nil && (e.Device.Serial != "Live" || e.Device.Status != rimewatch.Online):
			t.Errorf("device %+v", e.Device)
		case e.Summary != nil && e.Summary.TotalDevices == 0:
			t.Errorf("summary %+v", e.Summary)
		}
		if seen["reading.created"] && seen["device.online"] && seen["summary.updated"] {
			return
		}
	}
}
