package v1

import (
	"fmt"
	"testing"
	"time"

	"github.com/rimewatch/rimewatch"
)

// TestReportSchedules: administrators have the temperature log of a site mailed.
func TestReportSchedules(t *testing.T) {
	n := newNotifyRig(t)
	mail := n.do(as(n.owner, post("/v1/channels", "", `{"name":"Mail","kind":"email","to":["a@example.com"]}`)))
	hook := n.do(as(n.owner, post("/v1/channels", "", `{"name":"Hook","kind":"webhook","url":"https://example.com/x"}`)))
	site := n.do(as(n.owner, post("/v1/sites", "", `{"name":"Main Street","timezone":"America/Los_Angeles"}`)))
	far := n.do(as(n.stranger, post("/v1/sites", "", `{"name":"Far"}`)))
	id := func(a answer, kind string) int64 { return int64(a.get("data." + kind + ".id").(float64)) }
	m, s := id(mail, "channel"), id(site, "site")

	body := func(site, period string, channels ...int64) string {
		list := fmt.Sprint(channels)
		return fmt.Sprintf(`{"period":%q,"site_id":%s,"channel_ids":%s}`, period, site, list)
	}
	for _, bad := range []struct{ body, field string }{
		{body("null", "daily", m), "period"},
		{body("null", "weekly"), "channel_ids"},
		{body("null", "weekly", id(hook, "channel")), "channel_ids"},
		{body("null", "weekly", 987), "channel_ids"},
		{body(fmt.Sprint(id(far, "site")), "weekly", m), "site_id"},
		{body("0", "weekly", m), "site_id"},
		{`{"channel_ids":[1]}`, "period"},
		{`{"period":"weekly"}`, "channel_ids"},
	} {
		a := n.do(as(n.owner, post("/v1/report-schedules", "", bad.body)))
		if fields, _ := a.get("error.fields").(map[string]any); a.status != 422 || fields[bad.field] == nil {
			t.Errorf("%s: %d %s", bad.body, a.status, a.body)
		}
	}
	for _, who := range []string{n.technician, n.viewer} {
		if a := n.do(as(who, get("/v1/report-schedules", ""))); a.status != 403 {
			t.Errorf("%d %s", a.status, a.body)
		}
	}
	made := n.do(as(n.owner, post("/v1/report-schedules", "", body(fmt.Sprint(s), "weekly", m))))
	zone, err := time.LoadLocation("America/Los_Angeles")
	if err != nil {
		t.Fatal(err)
	}
	_, over := rimewatch.ReportWeekly.Over(n.now(), zone)
	next := rimewatch.ReportWeekly.Next(n.now(), over, zone)
	if made.status != 201 || made.get("data.report_schedule.enabled") != true || made.get("data.report_schedule.next_at") != next.String() {
		t.Fatalf("%d %s, want next_at %s", made.status, made.body, next)
	}
	path := fmt.Sprint("/v1/report-schedules/", id(made, "report_schedule"))
	stored, err := n.store.Routing().ReportSchedules().Get(t.Context(), n.workspace.ID, id(made, "report_schedule"))
	if err != nil || stored.Through != over {
		t.Errorf("through %s, want %s (%v)", stored.Through, over, err)
	}
	if a := n.do(as(n.owner, post(path+"/send", "", ""))); a.status != 202 || a.get("data.deliveries.0.kind") != "report" || a.get("data.deliveries.0.channel.name") != "Mail" {
		t.Errorf("%d %s", a.status, a.body)
	}
	if a := n.do(as(n.owner, request{method: "PATCH", path: "/api" + path, body: `{"period":"monthly","site_id":null,"enabled":false}`})); a.status != 200 ||
		a.get("data.report_schedule.site_id") != nil || a.get("data.report_schedule.next_at") != nil || a.get("data.report_schedule.period") != "monthly" {
		t.Errorf("%d %s", a.status, a.body)
	}
	if a := n.do(as(n.owner, post(path+"/send", "", ""))); a.status != 409 {
		t.Errorf("%d %s", a.status, a.body)
	}
	if a := n.do(as(n.owner, request{method: "DELETE", path: "/api/v1/channels/" + fmt.Sprint(m)})); a.status != 409 {
		t.Errorf("%d %s", a.status, a.body)
	}
	if a := n.settled(as(n.owner, request{method: "DELETE", path: "/api" + path})); a.status != 202 {
		t.Errorf("%d %s", a.status, a.body)
	}
	if a := n.do(as(n.owner, get("/v1/report-schedules", ""))); a.status != 200 || len(a.get("data.report_schedules").([]any)) != 0 || a.get("data.unavailable") != nil {
		t.Errorf("%d %s", a.status, a.body)
	}
}
