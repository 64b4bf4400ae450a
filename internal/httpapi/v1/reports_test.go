package v1

import (
	"context"
	"encoding/csv"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/account"
	"github.com/rimewatch/rimewatch/internal/httpapi"
	"github.com/rimewatch/rimewatch/internal/report/gather"
	"github.com/rimewatch/rimewatch/internal/store"
)

// reportRig has a site whose clocks change, with a freezer that was warm for an
// hour, and a device elsewhere.
func reportRig(t *testing.T) *rig {
	t.Helper()
	r := newRig(t)
	site := rimewatch.Site{WorkspaceID: r.workspace.ID, Name: "Market", TimeZone: "Europe/Berlin"}
	err := r.accounts.Sites(account.Operator(r.workspace.ID)).Create(t.Context(), &site)
	if err != nil {
		t.Fatal(err)
	}
	r.clock.Store(int64(rimewatch.TimeOf(time.Date(2027, 3, 26, 23, 0, 0, 0, time.UTC)))) // midnight there
	r.do(post("/v1/devices", r.full, fmt.Sprintf(`{"serial":"F","name":"=Freezer","equipment_type":"walkin_freezer","site_id":%d,"limits":{"delay_s":600}}`, site.ID)))
	r.do(post("/v1/devices", r.full, `{"serial":"E","equipment_type":"other"}`))
	for minute := range 71 * 12 {
		temp := -20.0
		if minute >= 12*30 && minute < 12*31 {
			temp = -10
		}
		r.do(post("/v1/readings", r.feed, at("F", temp, r.now())))
		r.advance(5 * time.Minute)
	}
	return r
}

const reportPath = "/v1/reports/temperature-log"

func TestTemperatureLog(t *testing.T) {
	r := reportRig(t)
	list := r.do(get("/v1/alerts?status=all&type=high_temperature", r.read))
	alert, _ := list.get("data.alerts.0.id").(float64)
	r.do(post(fmt.Sprintf("/v1/alerts/%v/corrective-action", alert), r.full, `{"performed_by":"Ana","cause":"Door","action":"@Moved it","disposition":"hold"}`))
	r.do(post("/v1/devices/F/calibrations", r.full, `{"method":"ice_point","reference":0,"as_found":0.2,"performed_by":"Ana","performed_at":"2027-03-28T00:00:00Z"}`))
	// One window of the site lies in the period, one was over before it, one was called off, one is of another device.
	noon := rimewatch.TimeOf(time.Date(2027, 3, 27, 12, 0, 0, 0, time.UTC))
	for _, w := range []rimewatch.MaintenanceWindow{
		{SiteIDs: []int64{1}, StartsAt: noon, EndsAt: noon + rimewatch.Hour, Reason: "Condenser cleaned", CreatedBy: "Ana"},
		{StartsAt: noon - 3*rimewatch.Day, EndsAt: noon - 2*rimewatch.Day, Reason: "Before"},
		{StartsAt: noon + rimewatch.Hour, EndsAt: noon + rimewatch.Hour, Reason: "Called off"},
		{DeviceIDs: []int64{2}, StartsAt: noon, EndsAt: noon + rimewatch.Hour, Reason: "Of another"},
	} {
		w.WorkspaceID, w.CreatedAt = r.workspace.ID, noon
		if err := r.store.Routing().MaintenanceWindows().Create(t.Context(), &w); err != nil {
			t.Fatal(err)
		}
	}
	r.events.take(t, 0)
	days := reportPath + "?site_id=1&from=2027-03-27&to=2027-03-30"
	first := "data.report.devices.0."
	r.run(t, []scenario{
		{
			name: "as JSON", req: get(days, r.read), status: 200,
			want: map[string]any{
				"data.report.workspace": "Alpha", "data.report.site.name": "Market", "data.report.period.timezone": "Europe/Berlin", "data.report.period.from": "2027-03-26T23:00:00.000Z",
				"data.report.period.to": "2027-03-29T22:00:00.000Z", "data.report.version": "test", "data.report.integrity.audit_chain_ok": true, "data.report.devices.1": nil,
				first + "serial": "F", first + "limits.temp_max": -15, first + "interval_s": 300, first + "min": -20, first + "max": -10, first + "out_of_range_s": 3600, first + "mean_kinetic": nil,
				first + "days.0.date": "2027-03-27", first + "days.1.readings": 276, first + "days.1.out_of_range_s": 3600, first + "days.1.max": -10, first + "days.2.date": "2027-03-29", first + "days.2.readings": 288, first + "days.3": nil,
				first + "excursions.0.from": "2027-03-28T05:00:00.000Z", first + "excursions.0.duration_s": 3600, first + "excursions.0.alert_id": alert, first + "excursions.0.corrective_actions.0.disposition": "hold", first + "excursions.1": nil,
				first + "maintenance.0.reason": "Condenser cleaned", first + "maintenance.0.starts_at": noon, first + "maintenance.0.created_by": "Ana", first + "maintenance.1": nil,
				first + "corrective_actions.0": nil, first + "calibrations.0.passed": true, first + "calibration.overdue": false,
			},
		},
		{name: "of one device, with its site", req: get(reportPath+"?device_serial=f&from=2027-03-27&to=2027-03-28", r.read), status: 200, want: map[string]any{"data.report.site.name": "Market", first + "days.0.coverage": 100, first + "days.1": nil, first + "excursions.0": nil, first + "calibrations.0": nil}},
		{name: "of all sites, by the workspace's clock", req: get(reportPath+"?from=2027-03-27&to=2027-03-28", r.read), status: 200, want: map[string]any{"data.report.site": nil, "data.report.period.timezone": "UTC", "data.report.devices.1.serial": "E", "data.report.devices.1.in_range": nil, "data.report.devices.1.min": nil}},
		{name: "the last 30 days", req: get(reportPath+"?site_id=1", r.read), status: 200, want: map[string]any{first + "days.0.date": "2027-03-27", first + "coverage": 100, "data.report.period.from": "2027-02-27T23:00:00.000Z"}},
		{name: "nothing of others", req: get(reportPath, r.otherFull), status: 200, want: map[string]any{"data.report.devices.0": nil, "data.report.workspace": "Beta"}, lacks: []string{"Alpha", "Market"}},
		{name: "another's site", req: get(reportPath+"?site_id=1", r.otherFull), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"site_id"}},
		{name: "another's device", req: get(reportPath+"?device_serial=F", r.otherFull), status: 422, code: rimewatch.CodeUnknownDevice, fields: []string{"device_serial"}},
		{name: "no such device", req: get(reportPath+"?device_serial=Z", r.read), status: 422, code: rimewatch.CodeUnknownDevice, fields: []string{"device_serial"}},
		{name: "a device of another site", req: get(reportPath+"?device_serial=E&site_id=1", r.read), status: 422, code: rimewatch.CodeUnknownDevice, fields: []string{"device_serial"}},
		{name: "no such format", req: get(reportPath+"?format=docx", r.read), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"format"}},
		{name: "no such times", req: get(reportPath+"?from=2026-02-30&to=soon", r.read), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"from", "to"}},
		{name: "turned around", req: get(reportPath+"?from=2026-10-25&to=2026-10-24", r.read), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"from"}},
		{name: "from the year 1", req: get(reportPath+"?from=0001-01-01", r.read), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"from"}},
		{name: "from 1970", req: get(reportPath+"?from=1970-01-01", r.read), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"from"}},
		{name: "too long", req: get(reportPath+"?from=2024-10-25&to=2026-10-24", r.read), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"from"}},
		{name: "without readings:read", req: get(days, r.token(r.workspace.ID, rimewatch.ScopeDevicesRead)), status: 403, code: rimewatch.CodeForbidden, fields: []string{"scope"}},
		{name: "CSV by format", req: get(days+"&format=csv", r.read), status: 200, header: map[string]string{"Content-Type": httpapi.TypeCSV, "Content-Disposition": `attachment; filename="temperature-log-site-1-market-2027-03-27-to-2027-03-29.csv"`}, contains: []string{"'=Freezer", "'@Moved it"}},
		{name: "CSV by Accept", req: get(days, r.read).with("Accept", "text/csv"), status: 200, header: map[string]string{"Content-Type": httpapi.TypeCSV}, contains: []string{"\r\nday,,Market,F,'=Freezer,,2027-03-28,"}},
		{name: "PDF by Accept", req: get(days, r.read).with("Accept", "application/pdf, */*"), status: 200, header: map[string]string{"Content-Type": httpapi.TypePDF, "Content-Disposition": `inline; filename="temperature-log-site-1-market-2027-03-27-to-2027-03-29.pdf"`}, contains: []string{"%PDF-1."}},
		{name: "PDF by format", req: get(days+"&format=pdf", r.read), status: 200, contains: []string{"%PDF-1.", "%%EOF"}},
	})
	rows, err := csv.NewReader(strings.NewReader(r.do(get(days+"&format=csv", r.read)).body)).ReadAll()
	if err != nil || len(rows) != 1+1+1+3+1+1+1+1 {
		t.Errorf("%d rows, %v", len(rows), err)
	}
}

// TestReportBounds: a log over more than it can bear is refused.
func TestReportBounds(t *testing.T) {
	r := newRig(t)
	var b strings.Builder
	b.WriteString("serial\n")
	for i := range 501 {
		fmt.Fprintf(&b, "D-%d\n", i)
	}
	q := post("/v1/devices/import", r.full, b.String())
	q.header = map[string]string{"Content-Type": httpapi.TypeCSV}
	if a := r.do(q); a.status != 200 {
		t.Fatal(a.status, clip(a.body))
	}
	r.events.take(t, 0)
	r.run(t, []scenario{
		{name: "too many devices", req: get(reportPath, r.read), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"site_id"}},
		{name: "too much in all", req: get(reportPath+"?from=2026-01-01&to=2026-11-01", r.read), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"from"}, before: func(r *rig) {
			r.do(request{method: "DELETE", path: "/api/v1/devices/D-7", token: r.full})
		}},
		{name: "40 days of 500", req: get(reportPath+"?from=2026-10-01&to=2026-11-10", r.read), status: 200, want: map[string]any{"data.report.devices.499.readings": 0, "data.report.devices.500": nil}},
	})
}

// TestReportInTheBackground: what is too large to wait for is made as a job, whose
// file its workspace alone can fetch, until it expires.
func TestReportInTheBackground(t *testing.T) {
	var waiting []func(context.Context)
	r := newRig(t, func(c *whole) {
		c.kept.Background = func(work func(context.Context)) { waiting = append(waiting, work) }
	})
	for i := range 3 {
		r.device(fmt.Sprint("D-", i), "walkin_cooler")
	}
	r.events.take(t, 0)
	const jobs = "/v1/reports/jobs"
	a := r.do(post(jobs+"?format=csv", r.read, ""))
	path := jobs + "/" + fmt.Sprint(a.get("data.job.id"))
	r.run(t, []scenario{
		{name: "is under way", req: get(path, r.read), status: 200, want: map[string]any{"data.job.state": "running", "data.job.devices_total": 3, "data.job.devices_done": 0}},
		{name: "has no file yet", req: get(path+"/file", r.read), status: 404, code: rimewatch.CodeNotFound},
	})
	waiting[0](t.Context())
	r.run(t, []scenario{
		{name: "is ready", req: get(path, r.read), status: 200, want: map[string]any{"data.job.state": "ready", "data.job.devices_done": 3, "data.job.error": ""}},
		{name: "its file", req: get(path+"/file", r.read), status: 200, header: map[string]string{"Content-Type": httpapi.TypeCSV}, contains: []string{"D-2"}},
		{name: "of another workspace", req: get(path, r.otherFull), status: 404, code: rimewatch.CodeNotFound},
		{name: "the file of another workspace", req: get(path+"/file", r.otherFull), status: 404, code: rimewatch.CodeNotFound},
		{name: "is refused like any other", req: post(jobs+"?from=2026-01-02&to=2026-01-01", r.read, ""), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"from"}},
	})
	for range 4 {
		if a := r.do(post(jobs, r.read, "")); a.status != 202 {
			t.Fatal(a.status, clip(a.body)) // the ready one makes room
		}
	}
	if a := r.do(post(jobs, r.read, "")); a.status != 429 {
		t.Errorf("one too many: %d", a.status)
	}
	if a := r.do(get(path, r.read)); a.status != 404 {
		t.Errorf("the oldest is still there: %d", a.status)
	}
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	for _, work := range waiting[1:] {
		work(canceled)
	}
	r.advance(2 * time.Hour)
	if a := r.do(post(jobs+"?format=json", r.read, "")); a.status != 202 {
		t.Errorf("after the others expired: %d", a.status)
	}
}

// stalled is a client that takes nothing until it is let go.
type stalled struct {
	http.ResponseWriter
	once   sync.Once
	writes chan struct{} // closed at the first write
	free   chan struct{}
}

func (s *stalled) Write(b []byte) (int, error) {
	s.once.Do(func() { close(s.writes) })
	<-s.free
	return s.ResponseWriter.Write(b)
}

// TestSlowReadersOfReports: who takes a report slowly keeps nobody from theirs.
func TestSlowReadersOfReports(t *testing.T) {
	r := newRig(t)
	r.device("F", "other")
	free := make(chan struct{})
	var readers sync.WaitGroup
	for range 3 { // one more than are made at once
		s := &stalled{ResponseWriter: httptest.NewRecorder(), writes: make(chan struct{}), free: free}
		q := httptest.NewRequest(http.MethodGet, httpapi.Prefix+reportPath, nil)
		q.Header.Set("Authorization", "Bearer "+r.read)
		readers.Go(func() { r.api.ServeHTTP(s, q) })
		select {
		case <-s.writes:
		case <-time.After(patience):
			t.Error("a report waits for those that are being sent")
		}
	}
	close(free)
	readers.Wait()
}

// TestReportsOfOthers: a workspace that asks for many reports at once leaves a
// place to the others.
func TestReportsOfOthers(t *testing.T) {
	held, free := make(chan int64, 10), make(chan struct{})
	asked := make(chan int64, 10)
	r := newRig(t, func(c *whole) {
		kept := &heldAudit{Store: c.kept.Store.(gather.Store), held: held, free: free}
		c.kept.Reports = gather.New(gather.Config{Store: kept, Health: c.Health.(gather.Health), Now: c.Now})
		c.Auth = &askedAuth{c.Auth, asked}
	})
	var askers sync.WaitGroup
	for range 5 {
		askers.Go(func() { r.do(get(reportPath, r.read)) })
	}
	late := time.After(patience)
	for range 5 {
		select {
		case <-asked: // the next step is to wait for a place
		case <-late:
			t.Fatal("not all have asked")
		}
	}
	select {
	case <-held:
	case <-late:
		t.Fatal("nobody gets a place")
	}
	done := make(chan int, 1)
	askers.Go(func() { done <- r.do(get(reportPath, r.otherFull)).status })
	select {
	case who := <-held:
		if who != r.other.ID {
			t.Errorf("workspace %d makes two at once", who)
		}
	case <-time.After(patience):
		t.Error("the other workspace gets no place")
	}
	close(free)
	askers.Wait()
	if status := <-done; status != http.StatusOK {
		t.Errorf("the other one: %d", status)
	}
}

// heldAudit holds reports up where they look at the audit trail.
type heldAudit struct {
	gather.Store
	held chan int64 // workspaces
	free chan struct{}
}

func (h *heldAudit) Audit() store.Audit { return heldTrail{h.Store.Audit(), h} }

type heldTrail struct {
	store.Audit
	*heldAudit
}

func (t heldTrail) VerifyAudit(ctx context.Context, workspaceID int64) (int64, error) {
	t.held <- workspaceID
	<-t.free
	return t.Audit.VerifyAudit(ctx, workspaceID)
}

// askedAuth records which workspaces are asked for.
type askedAuth struct {
	httpapi.Authenticator
	asked chan int64
}

func (x *askedAuth) Workspace(ctx context.Context, p account.Principal) (rimewatch.Workspace, error) {
	x.asked <- p.WorkspaceID
	return x.Authenticator.Workspace(ctx, p)
}

// TestWarmMostOfTheDay: a cooler that is too warm for 35 of 50 minutes has an excursion a day in
// the log, and its page, the log and a scrape say for how long it was out of range.
func TestWarmMostOfTheDay(t *testing.T) {
	r := newRig(t)
	r.do(post("/v1/devices", r.full, `{"serial":"W","equipment_type":"walkin_cooler"}`))
	begin := r.now().DayTime(-2, 0, time.UTC)
	var items []string
	for i := rimewatch.Time(0); begin+i*5*rimewatch.Minute <= r.now(); i++ {
		temp := 4.0
		if i%10 < 7 {
			temp = 7.5
		}
		items = append(items, at("W", temp, begin+i*5*rimewatch.Minute))
	}
	r.do(post("/v1/readings/batch", r.feed, `{"readings":[`+strings.Join(items, ",")+`]}`))
	detail := r.do(get("/v1/devices/W", r.read))
	warm, _ := detail.get("data.device.exposure.warm_min_24h").(float64)
	if warm < 960 || warm > 1030 || detail.get("data.device.exposure.worst.minutes") != warm || detail.get("data.device.exposure.worst.limit") != 5.0 ||
		detail.get("data.device.exposure.worst.side") != "warm" || detail.get("data.device.exposure.cold_min_24h") != 0.0 {
		t.Errorf("exposure %v", detail.get("data.device.exposure"))
	}
	if score, _ := detail.get("data.device.health.score").(float64); score > 75 {
		t.Errorf("its score is %v", score)
	}
	text := r.do(get("/v1/metrics", r.read)).body
	for _, line := range []string{`rimewatch_device_warm_minutes_24h{serial="W"`, `equipment_type="walkin_cooler"} ` + rimewatch.Decimal(warm) + "\n", `rimewatch_device_cold_minutes_24h{serial="W"`} {
		if !strings.Contains(text, line) {
			t.Errorf("%q is not in the scrape:\n%s", line, text)
		}
	}
	log := r.do(get(reportPath+"?from="+begin.Std().Format(time.DateOnly), r.read))
	first := "data.report.devices.0."
	for day := range 3 {
		e := fmt.Sprintf("%sexcursions.%d.", first, day)
		runs, _ := log.get(e + "short_times").(float64)
		s, _ := log.get(e + "duration_s").(float64)
		out, _ := log.get(fmt.Sprintf("%sdays.%d.out_of_range_s", first, day)).(float64)
		if runs == 0 || s == 0 || math.Abs(out-s) > 3600 { // one may go on over midnight
			t.Errorf("day %d: %v short times, %v s of %v s out of range", day, runs, s, out)
		}
	}
	if got, _ := log.get(first + "exposure.warm_min_24h").(float64); got < warm-40 || got > warm+40 || log.get("data.report.short_times_since") != nil {
		t.Errorf("the log has %v min, since %v", got, log.get("data.report.short_times_since"))
	}
	rows, err := csv.NewReader(strings.NewReader(r.do(get(reportPath+"?format=csv", r.read)).body)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	column := func(name string) int { return slices.Index(rows[0], name) }
	for _, row := range rows {
		if row[0] == "device" && (row[column("warm_min_24h")] == "" || row[column("cold_min_24h")] != "0") || row[0] == "excursion" && row[column("short_times")] == "" {
			t.Errorf("%v", row)
		}
	}
}
