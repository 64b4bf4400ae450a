package e2e

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/klauspost/compress/zstd"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/client"
	"github.com/rimewatch/rimewatch/internal/clock"
	"github.com/rimewatch/rimewatch/internal/trial"
)

// TestClient calls every endpoint that the client knows on a real server: what
// goes in comes out, and the two agree about the form of everything.
func TestClient(t *testing.T) {
	trial.NeedsAll(t)
	c, anonymous := clients(t)
	t.Run("sites", func(t *testing.T) { testSites(t, c) })
	t.Run("records", func(t *testing.T) { testRecords(t, c) })
	t.Run("devices", func(t *testing.T) { testDevices(t, c) })
	t.Run("import", func(t *testing.T) { testImport(t, c) })
	t.Run("readings", func(t *testing.T) { testReadings(t, c) })
	t.Run("batches", func(t *testing.T) { testBatches(t, c) })
	t.Run("history", func(t *testing.T) { testHistory(t, c) })
	t.Run("alerts", func(t *testing.T) { testAlerts(t, c) })
	t.Run("maintenance", func(t *testing.T) { testMaintenance(t, c) })
	t.Run("stream", func(t *testing.T) { testStream(t, c) })
	t.Run("public", func(t *testing.T) { testPublic(t, anonymous) })
}

// clients starts a server; one client has a token, the other has none.
func clients(t *testing.T) (c, anonymous *client.Client) {
	t.Helper()
	bin, data := program(t), filepath.Join(t.TempDir(), "data")
	out, err := exec.Command(bin, "token", "create", "--data", data, "--workspace", "W", "--create", "--name", "test").Output()
	if err != nil {
		t.Fatal(err)
	}
	p, url, _, err := launch("", bin, os.Environ(), []string{"serve", "--data", data, "--listen", "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.terminate(os.Interrupt); err != nil {
			t.Errorf("the server ended with %v\n%s", err, p.err.String())
		}
	})
	zstandard := &client.Encoding{Name: "zstd", Writer: func(w io.Writer) (io.WriteCloser, error) { return zstd.NewWriter(w) }}
	if c, err = client.New(url, strings.TrimSpace(string(out)), &client.Options{Encoding: zstandard}); err != nil {
		t.Fatal(err)
	}
	if anonymous, err = client.New(url, "", nil); err != nil {
		t.Fatal(err)
	}
	return c, anonymous
}

func must[T any](t *testing.T) func(v T, err error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// wantCode fails unless err is a failure of this kind and status.
func wantCode(t *testing.T, err error, code rimewatch.Code, status int) {
	t.Helper()
	if rimewatch.CodeOf(err) != code || client.StatusOf(err) != status {
		t.Errorf("%v, want %d %s", err, status, code)
	}
}

func testSites(t *testing.T, c *client.Client) {
	ctx := t.Context()
	site := must[client.Site](t)(c.Sites().Create(ctx, client.SiteFields{Name: client.Value("Harbour"), TimeZone: client.Value("Europe/Berlin")}))
	site = must[client.Site](t)(c.Sites().Update(ctx, site.ID, client.SiteFields{Address: client.Value("Harbour Street 12")}))
	want := []client.Site{{ID: site.ID, Name: "Harbour", TimeZone: "Europe/Berlin", Address: "Harbour Street 12", CreatedAt: site.CreatedAt, UpdatedAt: site.UpdatedAt}}
	if d := cmp.Diff(want, must[[]client.Site](t)(c.Sites().List(ctx))); d != "" || site.CreatedAt == 0 {
		t.Error(d)
	}
	if err := c.Sites().Delete(ctx, site.ID); err != nil {
		t.Error(err)
	}
	wantCode(t, c.Sites().Delete(ctx, site.ID), rimewatch.CodeNotFound, 404)
	_, err := c.Sites().Create(ctx, client.SiteFields{Name: client.Value("x"), TimeZone: client.Value("Moon/Sea")})
	wantCode(t, err, rimewatch.CodeValidationFailed, 422)
}

func testDevices(t *testing.T, c *client.Client) {
	ctx := t.Context()
	device := must[client.Device](t)
	site := must[client.Site](t)(c.Sites().Create(ctx, client.SiteFields{Name: client.Value("Market"), TimeZone: client.Value("UTC")}))
	d := device(c.CreateDevice(ctx, "Dev:1", client.DeviceFields{
		Name: client.Value("One"), EquipmentType: client.Value("walkin_cooler"), SiteID: &site.ID, Labels: map[string]string{"aisle": "3"},
		Manufacturer: client.Value("Norvik"), Model: client.Value("X"), Notes: client.Value("n"), InstalledAt: client.Value(rimewatch.Time(86400000)),
		HeartbeatIntervalS: client.Value(30), OfflineAfterS: client.Value(60), Limits: &rimewatch.LimitOverrides{TempMax: client.Value(4.5)},
	}))
	want := client.Device{
		DeviceItem: client.DeviceItem{ID: d.ID, Serial: "Dev:1", Name: "One", EquipmentType: "walkin_cooler", Status: rimewatch.Offline, Site: &client.SiteRef{ID: site.ID, Name: "Market", TimeZone: "UTC"}, Limits: (&rimewatch.Device{EquipmentType: "walkin_cooler", Limits: &rimewatch.LimitOverrides{TempMax: client.Value(4.5)}}).LimitsInForce(),
			Labels: map[string]string{"aisle": "3"}},
		Manufacturer: "Norvik", Model: "X", Notes: "n", InstalledAt: 86400000,
		OwnLimits:          rimewatch.LimitOverrides{TempMax: client.Value(4.5)},
		HeartbeatIntervalS: client.Value(30.0), OfflineAfterS: 60, Silence: client.DeviceSilence{By: "declared", AlarmDelayS: 2700}, Exposure: &client.Exposure{}, Offsets: []client.DeviceOffset{},
	}
	ignored := cmpopts.IgnoreFields(client.Device{}, "CreatedAt", "UpdatedAt", "Health")
	if diff := cmp.Diff(want, d, ignored); diff != "" || d.CreatedAt == 0 {
		t.Error(diff)
	}
	_, err := c.CreateDevice(ctx, "dev:1", client.DeviceFields{})
	wantCode(t, err, rimewatch.CodeSerialTaken, 409)

	d = device(c.UpdateDevice(ctx, "DEV:1", client.DeviceFields{Name: client.Value("Two"), Reset: []string{"limits", "site_id", "notes"}}))
	want.Name, want.Notes, want.Site, want.Limits, want.OwnLimits = "Two", "", nil, (&rimewatch.Device{EquipmentType: "walkin_cooler"}).LimitsInForce(), rimewatch.LimitOverrides{}
	if diff := cmp.Diff(want, d, ignored); diff != "" {
		t.Error(diff)
	}

	before := rimewatch.TimeOf(time.Now())
	d, now, err := c.Heartbeat(ctx, "Dev:1", client.Heartbeat{
		SentAt: before, FirmwareVersion: "7", BatteryPct: client.Value(55.5), RSSIdBm: client.Value(-60.0), UptimeS: client.Value(int64(99)), HeartbeatIntervalS: 20,
	})
	if err != nil || now < before-apart || d.Status != rimewatch.Online || d.FirmwareVersion != "7" || *d.BatteryPct != 55.5 || *d.RSSIdBm != -60 || *d.UptimeS != 99 || *d.HeartbeatIntervalS != 20 {
		t.Errorf("%v: %+v", err, d)
	}
	if _, _, err := c.Heartbeat(ctx, "Dev:1", client.Heartbeat{Status: rimewatch.Offline}); err != nil {
		t.Error(err)
	}
	d = device(c.Device(ctx, "Dev:1"))
	if d.Status != rimewatch.Offline || d.LastHeartbeatAt == 0 || d.StatusChangedAt == 0 {
		t.Errorf("%+v", d)
	}
	device(c.DeleteDevice(ctx, "Dev:1"))
	_, err = c.Device(ctx, "Dev:1")
	wantCode(t, err, rimewatch.CodeDeviceNotFound, 404)

	types := must[[]client.EquipmentType](t)(c.EquipmentTypes(ctx))
	all := rimewatch.EquipmentTypes()
	if len(types) != len(all) {
		t.Fatalf("%d equipment types", len(types))
	}
	for i := range all {
		e := &all[i]
		want := client.EquipmentType{Slug: e.Slug, Label: e.Label, Category: e.Category, Setpoint: e.Setpoint, Limits: e.Limits, Defrost: e.Defrost, TCS: e.TCS, Basis: e.Basis}
		if diff := cmp.Diff(want, types[i]); diff != "" {
			t.Error(diff)
		}
	}
}

func testImport(t *testing.T, c *client.Client) {
	ctx := t.Context()
	var csv bytes.Buffer
	csv.WriteString("serial,name,equipment_type\n")
	for i := range 230 {
		csv.WriteString("IMP-" + string(rune('A'+i/26)) + string(rune('A'+i%26)) + ",Imported,ice_machine\n")
	}
	csv.WriteString("?,x,y\n")
	result := must[client.ImportResult](t)
	r := result(c.ImportDevices(ctx, csv.Bytes(), true))
	if r.Created != 230 || r.Errors != 1 || len(r.Rows) != 231 || len(r.Rows[230].Errors) == 0 || r.Rows[0].Action != "create" {
		t.Errorf("%+v", r.Rows[230])
	}
	if n := len(list(t, c, client.DeviceFilter{EquipmentType: "ice_machine"})); n != 0 {
		t.Errorf("a dry run made %d devices", n)
	}
	r = result(c.ImportDevices(ctx, csv.Bytes(), false))
	again := result(c.ImportDevices(ctx, csv.Bytes(), false))
	if r.Created != 230 || again.Created != 0 || again.Skipped != 230 {
		t.Errorf("%d created, then %d created and %d skipped", r.Created, again.Created, again.Skipped)
	}

	// The list has all of them, by cursor and by page.
	found := list(t, c, client.DeviceFilter{EquipmentType: "ice_machine", Query: "imp-", Status: rimewatch.Offline})
	if len(found) != 230 {
		t.Errorf("%d listed", len(found))
	}
	page, at, err := c.DevicePage(ctx, client.DeviceFilter{EquipmentType: "ice_machine"}, client.Page{Number: 3, Size: 100})
	want := client.Pagination{CurrentPage: 3, PerPage: 100, Total: 230, LastPage: 3, From: 201, To: 230}
	if d := cmp.Diff(want, at); d != "" || err != nil || len(page) != 30 || page[0].Serial != found[200].Serial {
		t.Error(d, err, len(page))
	}
}

func list(t *testing.T, c *client.Client, f client.DeviceFilter) (devices []client.DeviceItem) {
	t.Helper()
	for d, err := range c.Devices(t.Context(), f) {
		if err != nil {
			t.Fatal(err)
		}
		devices = append(devices, d)
	}
	return devices
}

// everything is a reading with all fields.
func everything(serial string, at rimewatch.Time) client.Reading {
	v := client.Value[float64]
	return client.Reading{DeviceSerial: serial, RecordedAt: at, Measurements: client.Measurements{
		ProductZoneTemp: v(3.125), CompressorDischargeTemp: v(85.2), CompressorSuctionTemp: v(-5.1), AmbientTemp: v(24.8),
		Humidity: v(45), Voltage: v(230.4), AmpDraw: v(8.2), VibrationLevel: v(2.1),
		CompressorOn: client.Value(true), DefrostActive: client.Value(false), DoorOpen: client.Value(true),
		StartCount: client.Value(int64(7)), RunSeconds: client.Value(int64(3600)),
	}}
}

// apart is how far the wall clock may be from the service's time, which follows it slowly.
const apart = clock.Tolerance

// steady are fields of a device that is not found silent while the tests take their time.
func steady() client.DeviceFields { return client.DeviceFields{OfflineAfterS: client.Value(86_400)} }

func testReadings(t *testing.T, c *client.Client) {
	ctx := t.Context()
	must[client.Device](t)(c.CreateDevice(ctx, "R-1", steady()))
	r := everything("R-1", rimewatch.TimeOf(time.Now())-rimewatch.Minute)
	stored, duplicate, err := c.PostReading(ctx, r)
	if err != nil || duplicate {
		t.Fatal(duplicate, err)
	}
	want := client.StoredReading{DeviceID: stored.DeviceID, DeviceSerial: "R-1", RecordedAt: r.RecordedAt, ReceivedAt: stored.ReceivedAt, Measurements: r.Measurements, SensorFaults: []string{}}
	if d := cmp.Diff(want, stored); d != "" || stored.DeviceID == 0 || stored.ReceivedAt == 0 {
		t.Error(d)
	}
	other := r
	other.Humidity = client.Value(1.0)
	again, duplicate, err := c.PostReading(ctx, other)
	if d := cmp.Diff(want, again); d != "" || !duplicate || err != nil {
		t.Error(d, duplicate, err)
	}
	untimed, _, err := c.PostReading(ctx, client.Reading{DeviceSerial: "R-1", Measurements: client.Measurements{AmbientTemp: client.Value(-127.0), Voltage: client.Value(231.0)}})
	if err != nil || untimed.RecordedAt == 0 || untimed.AmbientTemp != nil || len(untimed.SensorFaults) != 1 || untimed.SensorFaults[0] != "ambient_temp" {
		t.Errorf("%v: %+v", err, untimed)
	}
	n := 0
	for l, err := range c.Latest(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		if l.DeviceSerial == "R-1" {
			n++
			want := client.LatestReading{StoredReading: untimed, DeviceName: "R-1", EquipmentType: "other", DeviceStatus: rimewatch.Online}
			if d := cmp.Diff(want, l); d != "" {
				t.Error(d)
			}
		}
	}
	if n != 1 {
		t.Errorf("R-1 is %d times among the latest", n)
	}
	d := must[client.Device](t)(c.Device(ctx, "R-1"))
	if diff := cmp.Diff(&untimed, d.LatestReading); diff != "" || *d.CurrentTemp != 3.125 {
		t.Error(diff)
	}
	waits, _, err := c.PostReading(ctx, client.Reading{DeviceSerial: "nobody", Measurements: r.Measurements})
	if d := cmp.Diff(client.StoredReading{DeviceSerial: "nobody", Held: true}, waits); d != "" || err != nil {
		t.Error(d, err)
	}
	_, _, err = c.PostReading(ctx, client.Reading{DeviceSerial: "R-1"})
	wantCode(t, err, rimewatch.CodeValidationFailed, 422)

	summary := must[client.Summary](t)(c.Summary(ctx))
	if summary.TotalDevices != 231 || summary.OnlineDevices != 1 || summary.OfflineDevices != 230 || summary.HealthScore <= 0 || summary.ComputedAt == 0 {
		t.Errorf("%+v", summary)
	}
}

func testBatches(t *testing.T, c *client.Client) {
	ctx := t.Context()
	must[client.Device](t)(c.CreateDevice(ctx, "B-1", steady()))
	now := rimewatch.TimeOf(time.Now()) - apart
	batch := make([]client.Reading, 500)
	for i := range batch {
		batch[i] = everything("B-1", now-rimewatch.Time(1000*(500-i)))
	}
	bad := append(batch[:400:400], client.Reading{DeviceSerial: "nobody", RecordedAt: now, Measurements: batch[0].Measurements}, everything("B-1", now+rimewatch.Hour))
	first := must[client.BatchResult](t)(c.PostBatch(ctx, bad))
	if first.Accepted != 400 || first.Duplicates != 0 || first.Held != 1 || first.Rejected != 1 || first.Results[0].Index != 401 || first.Results[0].Fields["recorded_at"] == nil {
		t.Errorf("%+v", first)
	}
	second := must[client.BatchResult](t)(c.PostNDJSON(ctx, batch))
	if second.Accepted != 100 || second.Duplicates != 400 || second.Rejected != 0 {
		t.Errorf("%+v", second)
	}
	_, err := c.PostBatch(ctx, []client.Reading{})
	wantCode(t, err, rimewatch.CodeValidationFailed, 422)
	_, err = c.PostNDJSON(ctx, make([]client.Reading, client.MaxBatch+1))
	wantCode(t, err, rimewatch.CodePayloadTooLarge, 413)
}

func testHistory(t *testing.T, c *client.Client) {
	ctx := t.Context()
	must[client.Device](t)(c.CreateDevice(ctx, "H-1", steady()))
	const n = 12_000 // more than a page
	start := rimewatch.TimeOf(time.Now()).Add(-time.Hour) / 1000 * 1000
	batch := make([]client.Reading, n)
	for i := range batch {
		batch[i] = client.Reading{DeviceSerial: "H-1", RecordedAt: start + rimewatch.Time(i)*100, Measurements: client.Measurements{Voltage: client.Value(float64(i % 500))}}
	}
	must[client.BatchResult](t)(c.PostNDJSON(ctx, batch[:client.MaxBatch]))
	must[client.BatchResult](t)(c.PostNDJSON(ctx, batch[client.MaxBatch:]))
	for _, down := range []bool{false, true} {
		i := 0
		for r, err := range c.History(ctx, "h-1", client.HistoryQuery{Descending: down}) {
			if err != nil {
				t.Fatal(err)
			}
			want := i
			if down {
				want = n - 1 - i
			}
			if r.RecordedAt != batch[want].RecordedAt || *r.Voltage != float64(want%500) || r.DeviceSerial != "H-1" {
				t.Fatalf("reading %d is %+v", i, r)
			}
			i++
		}
		if i != n {
			t.Errorf("%d readings", i)
		}
	}
	q := client.HistoryQuery{From: start + 1000, To: start + 2000, Fields: rimewatch.Fields(0).With(rimewatch.Voltage)}
	var csv bytes.Buffer
	if err := c.HistoryCSV(ctx, "H-1", q, &csv); err != nil {
		t.Fatal(err)
	}
	if lines := strings.Split(strings.TrimSpace(csv.String()), "\r\n"); len(lines) != 11 || !strings.HasPrefix(lines[0], "recorded_at,received_at,voltage") || !strings.Contains(lines[1], ",10,") {
		t.Errorf("%q", lines)
	}
	b := must[client.Buckets](t)(c.Buckets(ctx, "H-1", client.HistoryQuery{}, "1m", 0))
	total, previous := int64(0), rimewatch.Time(0)
	for i := range b.Buckets {
		k := &b.Buckets[i]
		total += k.Count
		if k.At%rimewatch.Minute != 0 || k.At <= previous || (k.Count > 0) != (k.Fields[rimewatch.Voltage] != nil) || k.Fields[rimewatch.Humidity] != nil {
			t.Errorf("%+v", k)
		}
		previous = k.At
	}
	if total != n || b.Step != "1m" {
		t.Errorf("%d readings in steps of %s", total, b.Step)
	}
	if auto := must[client.Buckets](t)(c.Buckets(ctx, "H-1", client.HistoryQuery{}, "auto", 50)); len(auto.Buckets) > 50 || len(auto.Buckets) == 0 {
		t.Errorf("%d points of at most 50", len(auto.Buckets))
	}
	if raw := must[client.Buckets](t)(c.Buckets(ctx, "H-1", q, "auto", 50)); raw.Step != "raw" || len(raw.Readings) != 10 {
		t.Errorf("%s: %d readings", raw.Step, len(raw.Readings))
	}
}

func testAlerts(t *testing.T, c *client.Client) {
	ctx := t.Context()
	since := rimewatch.MaxTime // when the first device was made, by the service's own clock
	for _, serial := range []string{"A-1", "A-2"} {
		d := must[client.Device](t)(c.CreateDevice(ctx, serial, client.DeviceFields{
			EquipmentType: client.Value("walkin_cooler"), Limits: &rimewatch.LimitOverrides{TempMax: client.Value(5.0), DelayS: client.Value(0)}, OfflineAfterS: client.Value(86_400),
		}))
		since = min(since, d.CreatedAt)
		if _, _, err := c.PostReading(ctx, client.Reading{DeviceSerial: serial, Measurements: client.Measurements{ProductZoneTemp: client.Value(6.0)}}); err != nil {
			t.Fatal(err)
		}
	}
	var alerts []client.Alert
	for a, err := range c.Alerts(ctx, client.AlertFilter{Type: rimewatch.HighTemperature, Since: since, Severity: rimewatch.Warning, Acknowledged: client.Value(false)}) {
		if err != nil {
			t.Fatal(err)
		}
		alerts = append(alerts, a)
	}
	if len(alerts) != 2 {
		t.Fatalf("%d alerts: %+v", len(alerts), alerts)
	}
	a := must[client.Alert](t)(c.Alert(ctx, alerts[0].ID))
	if a.Escalation == nil || len(a.Escalation.Told)+len(a.Escalation.Next) > 0 {
		t.Errorf("somebody hears of it: %+v", a.Escalation)
	}
	a.Escalation = nil // of one alert alone
	if d := cmp.Diff(alerts[0], a); d != "" || a.DeviceSerial != "A-2" || *a.Value != 6 || *a.Threshold != 5 || a.Unit != "°C" || a.Title == "" || a.Status != rimewatch.AlertActive {
		t.Error(d, a)
	}
	_, err := c.Feedback(ctx, a.ID, rimewatch.Useful, "it predicts nothing")
	wantCode(t, err, rimewatch.CodeValidationFailed, 422)
	p := must[client.DevicePrediction](t)(c.Prediction(ctx, "A-2"))
	if p.State != "learning" || p.LearningSince == 0 || p.NeededHours == 0 || p.Prediction != nil || p.WhatWouldChangeIt == "" {
		t.Errorf("%+v", p)
	}
	if q := must[client.PredictionQuality](t)(c.PredictionQuality(ctx, a.TriggeredAt)); q.Total.Predictions != 0 || q.Counts == nil || len(q.Counts) != 0 {
		t.Errorf("%+v", q)
	}
	a = must[client.Alert](t)(c.Acknowledge(ctx, a.ID, "on my way", time.Hour))
	if a.AcknowledgedAt == 0 || a.AcknowledgedBy == "" || a.Note != "on my way" || a.AckExpiresAt != a.AcknowledgedAt+rimewatch.Hour {
		t.Errorf("%+v", a)
	}
	a = must[client.Alert](t)(c.Resolve(ctx, a.ID, "door was open"))
	if a.Status != rimewatch.AlertResolved || a.Resolution != rimewatch.ResolvedManual || a.ResolvedAt == 0 || a.Note != "door was open" {
		t.Errorf("%+v", a)
	}
	_, err = c.Resolve(ctx, a.ID, "")
	wantCode(t, err, rimewatch.CodeAlertNotActive, 409)
	_, err = c.Alert(ctx, 1<<40)
	wantCode(t, err, rimewatch.CodeAlertNotFound, 404)

	must[client.Alert](t)(c.Note(ctx, a.ID, "goods checked"))
	var lines []string
	for _, x := range must[[]client.AlertTransition](t)(c.AlertTimeline(ctx, a.ID)) {
		if x.At < since || x.Severity != rimewatch.Warning || x.Message == "" || (x.Actor == "") != (x.Kind == rimewatch.TransitionOpened) {
			t.Errorf("%+v", x)
		}
		lines = append(lines, strings.TrimSpace(string(x.Kind)+" "+x.Note))
	}
	if d := cmp.Diff([]string{"opened", "acknowledged on my way", "resolved door was open", "noted goods checked"}, lines); d != "" {
		t.Error(d)
	}

	counts := must[client.AlertCounts](t)(c.AlertCounts(ctx, since))
	if counts.Total != 2 || counts.ByStatus.Active != 1 || counts.ByStatus.Resolved != 1 || counts.BySeverity.Warning != 2 || counts.ByStatusAndSeverity.Resolved.Warning != 1 {
		t.Errorf("%+v", counts)
	}
	page, at, err := c.AlertPage(ctx, client.AlertFilter{Status: client.AllAlerts, DeviceSerial: "A-1"}, client.Page{Size: 1})
	if err != nil || len(page) != 1 || at.Total != 1 || page[0].DeviceSerial != "A-1" {
		t.Error(page, at, err)
	}
}

func testMaintenance(t *testing.T, c *client.Client) {
	ctx := t.Context()
	must[client.Device](t)(c.CreateDevice(ctx, "M-1", steady()))
	end := rimewatch.TimeOf(time.Now().Add(time.Hour))
	w := must[client.MaintenanceWindow](t)(c.MaintenanceWindows().Create(ctx, client.MaintenanceFields{DeviceSerials: []string{"m-1"}, EndsAt: end, Reason: "new gaskets"}))
	if !w.Active || w.EndsAt != end || w.Reason != "new gaskets" || w.CreatedBy == "" || !slices.Equal(w.DeviceSerials, []string{"M-1"}) {
		t.Errorf("%+v", w)
	}
	if d := cmp.Diff([]client.MaintenanceWindow{w}, must[[]client.MaintenanceWindow](t)(c.MaintenanceWindows().List(ctx, false))); d != "" {
		t.Error(d)
	}
	ended := must[client.MaintenanceWindow](t)(c.MaintenanceWindows().End(ctx, w.ID))
	if ended.Active || ended.EndsAt >= end {
		t.Errorf("%+v", ended)
	}
	_, err := c.MaintenanceWindows().End(ctx, w.ID)
	wantCode(t, err, rimewatch.CodeConflict, 409)
	if list := must[[]client.MaintenanceWindow](t)(c.MaintenanceWindows().List(ctx, false)); len(list) != 0 {
		t.Errorf("%+v", list)
	}
	if d := cmp.Diff([]client.MaintenanceWindow{must[client.MaintenanceWindow](t)(c.MaintenanceWindows().Get(ctx, w.ID))}, must[[]client.MaintenanceWindow](t)(c.MaintenanceWindows().List(ctx, true))); d != "" {
		t.Error(d)
	}
	_, err = c.MaintenanceWindows().Get(ctx, 1<<40)
	wantCode(t, err, rimewatch.CodeNotFound, 404)
}
