package app_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/client"
	"github.com/rimewatch/rimewatch/internal/apply"
)

// applied is the API as the command gives it to package apply, and counts requests.
type applied struct {
	c *client.Client
	n int
}

func (x *applied) Any(ctx context.Context, method, path string, query url.Values, body any) (json.RawMessage, error) {
	x.n++
	a, err := x.c.Call(ctx, client.Request{Method: method, Path: path, Query: query, Body: body})
	return a.Data, err
}

func (x *applied) Import(ctx context.Context, csv []byte, dryRun, loosen bool) (rows []apply.Row, err error) {
	x.n++
	got, err := x.c.ImportDevicesWith(ctx, csv, client.ImportOptions{DryRun: dryRun, ConfirmLoosening: loosen})
	for _, r := range got.Rows {
		rows = append(rows, apply.Row{Serial: r.Serial, Action: r.Action, Problems: r.Errors, Warnings: r.Warnings})
	}
	return rows, err
}

// chain is a file of a chain of stores.
func chain(sites, each int) string {
	b := &strings.Builder{}
	b.WriteString(`rimewatch: 1
workspace:
  limits:
    meat_cooler: {temp_max: 3.5}
channels:
  - {name: Standby, kind: webhook, url: "https://example.com/standby", enabled: false, secret: $HOOK_SECRET}
  - {name: Hook, kind: webhook, url: "https://example.com/hook", secret: $HOOK_SECRET, fallback_channel: Standby}
  - {name: Own, kind: service, url: $OWN_URL, owner: o@example.com, after_s: 120, quiet_from: "22:00", quiet_to: "06:00"}
routes:
  - name: Night
    match: {severities: [critical], sites: [Store 1, Store 2]}
    steps: [{after_s: 0, channels: [Hook]}, {after_s: 900, channels: [Standby, Hook]}]
    recovery: false
  - name: On duty
    match: {sites: [Store 1]}
    steps: [{after_s: 0, targets: [{rota: Nights}]}, {after_s: 900, channels: [Hook], targets: [{member: o@example.com}, {contact: Store 1 / Polar Service}]}]
rotas:
  - name: Nights
    site: Store 1
    tell_hand_over: always
    shifts: [{days: [mon, sun], from: "17:00", to: "08:00", member: o@example.com}]
    overrides: [{starts_at: 2030-12-24T17:00:00+01:00, ends_at: 2030-12-26T07:00:00Z, instead_of: o@example.com, note: holiday}]
sources:
  - {name: LoRa, template: chirpstack-v4, on_unknown: hold, site: Store 2}
contacts:
  - {site: Store 1, name: Polar Service, phone: "555-0142", role: service}
sites:
`)
	for i := range sites {
		fmt.Fprintf(b, "  - {name: Store %d, timezone: Europe/Dublin, address: \"%d Main Street\"}\n", i+1, i+1)
	}
	b.WriteString("devices:\n")
	for i := range sites * each {
		fmt.Fprintf(b, "  - {serial: U-%d, name: Unit %d, equipment_type: walkin_freezer, site: Store %d, labels: {row: \"%d\"}, limits: {delay_s: 1200}, manufacturer: Acme}\n", i, i, i%sites+1, i%7)
	}
	b.WriteString("  - {serial: M-1, equipment_type: meat_cooler, site: Store 1}\n  - {serial: C-1, equipment_type: cellar, site: Store 1}\n") // without limits of their own
	return b.String()
}

// TestApply: a workspace becomes what a file says, once; what export writes is that again.
func TestApply(t *testing.T) {
	h := newHouse(t)
	token, _ := h.newToken(h.workspace(), rimewatch.ScopesAdmin)
	c, err := client.New(h.URL(), token, nil)
	h.must(err)
	api := &applied{c: c}
	environment := func(name string) (string, bool) {
		of := map[string]string{"HOOK_SECRET": "whsec_" + strings.Repeat("QUFB", 8), "HOOK_URL": "https://example.com/hook", "STANDBY_URL": "https://example.com/standby", "OWN_URL": "ntfy://ntfy.sh/o"}
		return of[name], of[name] != ""
	}
	make := func(document string, o apply.Options) *apply.Plan {
		t.Helper()
		f, err := apply.Read([]byte(document), environment)
		h.must(err)
		p, err := apply.Make(t.Context(), api, f, o)
		h.must(err)
		return p
	}
	lines := func(p *apply.Plan) (all []string) {
		for i := range p.Steps {
			all = append(all, p.Steps[i].String())
		}
		return all
	}
	document := chain(4, 5)
	p := make(document, apply.Options{})
	if len(p.Steps) != 4+1+1+3+2+1+1+22 {
		t.Fatalf("%d steps: %q", len(p.Steps), lines(p))
	}
	given := map[string]string{}
	h.must(p.Run(t.Context(), func(s *apply.Step, once map[string]string) {
		if once["key"] != "" {
			given[s.Name] = once["key"]
		}
	}))
	if !strings.HasPrefix(given["LoRa"], "in_") {
		t.Errorf("given out: %v", given)
	}
	if again := make(document, apply.Options{}); len(again.Steps) != 0 {
		t.Fatalf("a second run: %q", lines(again))
	}
	if d, err := c.Device(t.Context(), "U-6"); err != nil || d.Site == nil || d.Site.Name != "Store 3" || d.Limits.DelayS != 1200 || d.Labels["row"] != "6" {
		t.Errorf("%+v, %v", d, err)
	}

	exported, err := apply.Export(t.Context(), api)
	h.must(err)
	if again := make(string(exported), apply.Options{Prune: true}); len(again.Steps) != 0 {
		t.Fatalf("what export writes differs: %q\n%s", lines(again), exported)
	}
	if strings.Contains(string(exported), "QUFB") {
		t.Error("a secret is in what export writes")
	}
	f, err := apply.Read(exported, environment)
	h.must(err)
	for _, d := range f.Devices {
		if serial := d["serial"]; (serial == "M-1" || serial == "C-1") && d["limits"] != nil {
			t.Errorf("%s has limits of its own: %v", serial, d["limits"])
		}
	}
	for _, member := range []string{"name", "slug", "test", "require_second_factor"} {
		if v, is := f.Workspace[member]; is {
			t.Errorf("a file for several workspaces says %s: %v", member, v)
		}
	}

	changed := strings.NewReplacer("Store 4, timezone: Europe/Dublin", "Store 4, timezone: Europe/Paris", "after_s: 900", "after_s: 600", "name: Unit 7", "name: Seven").Replace(document)
	if got, want := fmt.Sprintf("%q", lines(make(changed, apply.Options{}))), `["~ site Store 4: timezone Europe/Dublin → Europe/Paris" "~ route Night: steps `; !strings.HasPrefix(got, want) || !strings.HasSuffix(got, `"~ device U-7"]`) {
		t.Errorf("changes: %s", got)
	}

	p = make("rimewatch: 1\ndevices: [{serial: Odd, equipment_type: walkin_coolr}]", apply.Options{})
	if len(p.Warnings) != 1 || !strings.HasPrefix(p.Warnings[0], "device Odd: equipment_type: walkin_coolr is not a known type") {
		t.Errorf("of a type that does not exist: %q", p.Warnings)
	}
	fewer := chain(3, 5)
	p = make(fewer, apply.Options{})
	if fmt.Sprint(p.Extra) != "[site Store 4]" {
		t.Errorf("left: %v", p.Extra)
	}
	p = make(fewer, apply.Options{Prune: true}) // the last site, its devices and the two of the house
	h.must(p.Run(t.Context(), func(*apply.Step, map[string]string) {}))
	if again := make(fewer, apply.Options{Prune: true}); len(again.Steps) != 0 || len(again.Extra) != 0 {
		t.Errorf("after pruning: %q", lines(again))
	}
	if _, err := c.Device(t.Context(), "D-1"); err == nil {
		t.Errorf("what the file does not have: %v", err)
	}
}

// TestApplyRefuses: a file with a mistake changes nothing.
func TestApplyRefuses(t *testing.T) {
	h := newHouse(t)
	token, _ := h.newToken(h.workspace(), rimewatch.ScopesAdmin)
	c, err := client.New(h.URL(), token, nil)
	h.must(err)
	for _, c2 := range []struct{ document, says string }{
		{"", "empty"},
		{"sites: []", "must begin with rimewatch: 1"},
		{"rimewatch: 1\nstores: []", "stores"},
		{"rimewatch: 1\nsites: [{timezone: UTC}]", "has no name"},
		{"rimewatch: 1\nsites: [{name: A}, {name: a}]", "there twice"},
		{"rimewatch: 1\ndevices: [{serial: X, site: Nowhere}]", `"Nowhere" is neither`},
		{"rimewatch: 1\nroutes: [{name: R, steps: [{delay_s: 0, channels: [Nobody]}]}]", `"Nobody" is neither`},
		{"rimewatch: 1\nrotas: [{name: R, shifts: [{days: [mon], from: '00:00', to: '00:00', member: nobody@example.com}]}]", `"nobody@example.com" is neither`},
		{"rimewatch: 1\nroutes: [{name: R, steps: [{after_s: 0, targets: [{rota: None}]}]}]", `rota: "None" is neither`},
		{"rimewatch: 1\nchannels: [{name: H, kind: webhook, url: 'https://x.example', secret: whsec_x}]", "stands in the file"},
		{"rimewatch: 1\nchannels: [{name: H, kind: service, url: 'slack://token@channel'}]", "stands in the file"},
		{"rimewatch: 1\nchannels: [{name: H, kind: webhook, url: 'https://x.example', secret: $MISSING}]", "MISSING is not set"},
		{"rimewatch: 1\ndevices: [{serial: 'X Y'}]", "device X Y"},
		{"rimewatch: 1\ndevices: [{serial: X, color: red}]", "color"},
		{"rimewatch: 1\nsites: [{name: A\n", "not understood"},
	} {
		f, err := apply.Read([]byte(c2.document), func(string) (string, bool) { return "", false })
		if err == nil {
			_, err = apply.Make(t.Context(), &applied{c: c}, f, apply.Options{})
		}
		if err == nil || !strings.Contains(err.Error(), c2.says) {
			t.Errorf("%q: %v, want %q", c2.document, err, c2.says)
		}
	}
}
