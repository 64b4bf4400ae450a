package v1

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/rimewatch/rimewatch/internal/account"
	"github.com/rimewatch/rimewatch/internal/httpapi"
	"github.com/rimewatch/rimewatch/internal/store"
)

// isolationRig has one of everything in the first workspace, and in the second
// one what a stranger needs to name it in a body.
type isolationRig struct {
	*notifyRig
	theirReport string           // the id of one that the first workspace makes
	theirs, own map[string]int64 // ids of the first workspace, and of the stranger's
}

func newIsolationRig(t *testing.T) *isolationRig {
	r := &isolationRig{notifyRig: newNotifyRig(t), theirs: make(map[string]int64), own: make(map[string]int64)}
	r.fill(func(q request) request { return r.browser(q) }, "A", r.theirs)
	r.fill(func(q request) request { return as(r.stranger, q) }, "B", r.own)
	for _, one := range []struct {
		mine func(request) request
		ids  map[string]int64
	}{{r.browser, r.theirs}, {func(q request) request { return as(r.stranger, q) }, r.own}} {
		a := r.do(one.mine(post("/v1/contacts", "", fmt.Sprintf(`{"site_id":%d,"name":"Gone","phone":"555 0142"}`, one.ids["sites"]))))
		a = r.do(one.mine(remove(fmt.Sprint("/v1/contacts/", a.get("data.contact.id")), "")))
		id, waits := a.get("data.act.id").(float64)
		if !waits {
			t.Fatal(a.body)
		}
		one.ids["acts"] = int64(id)
	}
	list, err := r.accounts.Tokens(t.Context(), account.Operator(r.workspace.ID))
	if err != nil {
		t.Fatal(err)
	}
	r.theirs["tokens"] = list[0].ID
	people, err := r.accounts.Members(t.Context(), account.Operator(r.workspace.ID))
	if err != nil {
		t.Fatal(err)
	}
	r.theirs["members"] = people[0].UserID
	r.theirs["reports"] = 0 // has an id of letters
	if r.theirReport, _ = r.do(post("/v1/reports/jobs?format=csv", r.read, "")).get("data.job.id").(string); r.theirReport == "" {
		t.Fatal("no report is made")
	}
	return r
}

// fill makes one of everything with the requests of one person.
func (r *isolationRig) fill(mine func(request) request, serial string, ids map[string]int64) {
	r.t.Helper()
	made := func(kind, path, body, at string) {
		r.t.Helper()
		a := r.settled(mine(post(path, "", body)))
		if made := a.get("data.act"); made != nil {
			a = r.do(mine(get(path, "")))
			at += "s.0"
		}
		id, ok := a.get("data." + at + ".id").(float64)
		if !ok {
			r.t.Fatalf("%s: %d %s", path, a.status, a.body)
		}
		ids[kind] = int64(id)
	}
	made("invitations", "/v1/members", fmt.Sprintf(`{"email":"invited-%s@example.com","role":"viewer"}`, serial), "invitation")
	end := r.now().Add(24 * time.Hour).String()
	made("sites", "/v1/sites", `{"name":"S"}`, "site")
	made("contacts", "/v1/contacts", fmt.Sprintf(`{"site_id":%d,"name":"Polar","phone":"555 0142"}`, ids["sites"]), "contact")
	made("sources", "/v1/sources", `{"name":"Gateway"}`, "source")
	made("source-keys", "/v1/source-keys", fmt.Sprintf(`{"source_id":%d,"name":"Board"}`, ids["sources"]), "source_key")
	made("devices", "/v1/devices", fmt.Sprintf(`{"serial":%q,"equipment_type":"walkin_freezer","site_id":%d,"limits":{"delay_s":600}}`, serial, ids["sites"]), "device")
	made("channels", "/v1/channels", `{"name":"C","kind":"webhook","url":"https://example.com/x"}`, "channel")
	made("rotas", "/v1/rotas", `{"name":"Nights"}`, "rota")
	made("webhooks", "/v1/webhooks", `{"url":"https://example.com/x"}`, "webhook")
	made("routes", "/v1/routes", fmt.Sprintf(`{"name":"R","steps":[{"after_s":0,"channel_ids":[%d]}]}`, ids["channels"]), "route")
	made("mails", "/v1/channels", `{"name":"M","kind":"email","to":["a@example.com"]}`, "channel")
	made("report-schedules", "/v1/report-schedules", fmt.Sprintf(`{"period":"weekly","channel_ids":[%d]}`, ids["mails"]), "report_schedule")
	delete(ids, "mails")
	made("deliveries", fmt.Sprintf("/v1/channels/%d/test", ids["channels"]), "", "delivery")
	for range 8 {
		r.do(mine(post("/v1/readings", "", at(serial, 20, r.now()))))
		r.advance(5 * time.Minute)
	}
	a := r.do(mine(get("/v1/alerts", "")))
	id, ok := a.get("data.alerts.0.id").(float64)
	if !ok {
		r.t.Fatal(a.body)
	}
	ids["alerts"] = int64(id)
	made("corrective-actions", "/v1/devices/"+serial+"/corrective-actions", `{"action":"x"}`, "corrective_action")
	made("cases", "/v1/cases", fmt.Sprintf(`{"alert_id":%d}`, ids["alerts"]), "case")
	made("check-templates", "/v1/check-templates", fmt.Sprintf(`{"name":"Morning","pack":"haccp-ampm","site_id":%d}`, ids["sites"]), "check_template")
	ids["checks"] = r.check(ids["check-templates"], ids["sites"], r.now()).ID
	made("work-orders", "/v1/work-orders", fmt.Sprintf(`{"alert_id":%d,"problem":"x","urgency":"soon"}`, ids["alerts"]), "work_order")
	made("silences", "/v1/silences", `{"match":{},"everything":true,"ends_at":"`+end+`"}`, "silence")
	made("maintenance-plans", "/v1/maintenance-plans", fmt.Sprintf(`{"reason":"x","site_ids":[%d],"days":["mon"],"from":"05:30","to":"07:00"}`, ids["sites"]), "maintenance_plan")
	made("maintenance-windows", "/v1/maintenance-windows", `{"reason":"x","everything":true,"ends_at":"`+end+`"}`, "maintenance_window")
}

// bodyOf is a body that a route with an id in its path takes.
var bodyOf = map[string]string{
	"update-device": `{"name":"x"}`, "update-site": `{"name":"x"}`, "update-my-channel": `{"name":"x"}`, "update-contact": `{"name":"x"}`, "update-source-key": `{"name":"x"}`, "update-source": `{"name":"x"}`, "preview-payload": `{"payload":1}`,
	"bind-senders": `{"bindings":[{"external_id":"x"}]}`, "import-bindings": "external_id\nx\n", "update-channel": `{"name":"x"}`, "update-webhook": `{"description":"x"}`, "replay-webhook": `{"from":"2026-11-20T12:00:00Z"}`, "rotate-webhook": `{}`, "update-route": `{"name":"x"}`, "update-rota": `{"name":"x"}`, "update-report-schedule": `{"enabled":false}`, "update-check-template": `{"name":"x"}`, "update-maintenance-plan": `{"reason":"x"}`, "complete-check": `{"performed_by":"x"}`, "note-check": `{"performed_by":"x","text":"x"}`, "update-member": `{"role":"viewer"}`,
	"note-alert": `{"note":"x"}`, "give-feedback": `{"verdict":"useful"}`, "record-corrective-action": `{"performed_by":"x","cause":"x","action":"x"}`,
	"record-case-action": `{"performed_by":"x","cause":"x","action":"x"}`, "sign-case": `{"meaning":"approved"}`, "update-work-order": `{"access":"x"}`, "finish-work-order": `{"outcome":"repaired","cause":"x","work":"x","performed_by":"x"}`, "link-work-order": `{}`,
	"record-work": `{"performed_by":"x","action":"x"}`, "record-calibration": `{"performed_by":"x","method":"ice_point","reference":0,"as_found":0}`,
}

// TestStrangersFindNothing: whatever a stranger with all rights in a workspace
// of their own names in a path, exists for them exactly as little as what there
// never was, and stays as it is.
func TestStrangersFindNothing(t *testing.T) {
	r := newIsolationRig(t)
	before := r.trailOf(r.workspace.ID)
	asked := make(map[string]bool)
	for i := range r.api.Routes() {
		rt := &r.api.Routes()[i]
		kind, _, _ := strings.Cut(strings.TrimPrefix(rt.Path, "/v1/"), "/")
		if rt.Access.Public || !strings.Contains(rt.Path, "{") || kind == "me" {
			continue
		}
		id, ok := r.theirs[kind]
		if !ok {
			t.Errorf("%s: the rig has none of %s", rt.ID, kind)
		}
		ask := func(serial, id string) (int, string) {
			q := sample(rt)
			q.path = httpapi.Prefix + strings.NewReplacer("{serial}", serial, "{id}", id).Replace(rt.Path)
			if body := bodyOf[rt.ID]; body != "" {
				q.body = body
			}
			a := r.do(as(r.stranger, q))
			return a.status, strings.ReplaceAll(a.body, a.header.Get(httpapi.RequestIDHeader), "")
		}
		named := fmt.Sprint(id)
		if kind == "reports" {
			named = r.theirReport
		}
		status, body := ask("A", named)
		_, missing := ask("Zz", "987654")
		if status != http.StatusNotFound || body != missing {
			t.Errorf("%s: %d %s%s", rt.ID, status, body, missing)
		}
		asked[kind] = true
	}
	for kind := range r.theirs {
		if !asked[kind] {
			t.Errorf("nobody asked for %s", kind)
		}
	}
	if after := r.trailOf(r.workspace.ID); after != before {
		t.Errorf("%d entries of the audit trail are new", after-before)
	}
}

// trailOf is the length of a workspace's audit trail.
func (r *isolationRig) trailOf(workspaceID int64) int {
	r.t.Helper()
	_, n, err := r.store.Audit().AuditEntries(r.t.Context(), workspaceID, "", "", store.Page{Limit: 1})
	if err != nil {
		r.t.Fatal(err)
	}
	return n
}

// TestStrangersNameNothing: what belongs to another workspace is as unknown in a
// body as what there never was, and nothing is stored.
func TestStrangersNameNothing(t *testing.T) {
	r := newIsolationRig(t)
	before := r.trailOf(r.other.ID)
	end := r.now().Add(24 * time.Hour).String()
	steps := fmt.Sprintf(`"steps":[{"after_s":0,"channel_ids":[%d]}]`, r.own["channels"])
	for _, c := range []struct{ method, path, body, kind string }{
		{http.MethodPost, "/v1/channels", `{"name":"q","kind":"webhook","url":"https://example.com","fallback_channel_id":%v}`, "channels"},
		{http.MethodPatch, fmt.Sprintf("/v1/channels/%d", r.own["channels"]), `{"fallback_channel_id":%v}`, "channels"},
		{http.MethodPost, "/v1/routes", `{"name":"q","steps":[{"after_s":0,"channel_ids":[%v]}]}`, "channels"},
		{http.MethodPatch, fmt.Sprintf("/v1/routes/%d", r.own["routes"]), `{"steps":[{"after_s":0,"channel_ids":[%v]}]}`, "channels"},
		{http.MethodPost, "/v1/routes", `{"name":"q","match":{"site_ids":[%v]},` + steps + `}`, "sites"},
		{http.MethodPost, "/v1/routes", `{"name":"q","match":{"device_serials":[%q]},` + steps + `}`, "devices"},
		{http.MethodPatch, fmt.Sprintf("/v1/routes/%d", r.own["routes"]), `{"match":{"site_ids":[%v]}}`, "sites"},
		{http.MethodPatch, fmt.Sprintf("/v1/routes/%d", r.own["routes"]), `{"match":{"device_serials":[%q]}}`, "devices"},
		{http.MethodPost, "/v1/silences", `{"match":{"site_ids":[%v]},"ends_at":"` + end + `"}`, "sites"},
		{http.MethodPost, "/v1/silences", `{"match":{"device_serials":[%q]},"ends_at":"` + end + `"}`, "devices"},
		{http.MethodPost, "/v1/maintenance-plans", `{"site_ids":[%v],"reason":"x","days":["mon"],"from":"05:30","to":"07:00"}`, "sites"},
		{http.MethodPost, "/v1/maintenance-windows", `{"site_ids":[%v],"reason":"x","ends_at":"` + end + `"}`, "sites"},
		{http.MethodPost, "/v1/maintenance-windows", `{"device_serials":[%q],"reason":"x","ends_at":"` + end + `"}`, "devices"},
		{http.MethodPost, "/v1/devices", `{"serial":"N","site_id":%v}`, "sites"},
		{http.MethodPatch, "/v1/devices/B", `{"site_id":%v}`, "sites"},
		{http.MethodPost, "/v1/contacts", `{"site_id":%v,"name":"q","phone":"555 0142"}`, "sites"},
		{http.MethodPatch, fmt.Sprintf("/v1/contacts/%d", r.own["contacts"]), `{"site_id":%v}`, "sites"},
		{http.MethodPost, "/v1/source-keys", `{"source_id":%v}`, "sources"},
		{http.MethodGet, "/v1/reports/temperature-log?site_id=%v", "", "sites"},
		{http.MethodGet, "/v1/reports/temperature-log?device_serial=%v", "", "devices"},
	} {
		ask := func(name any) (int, string) {
			q := request{method: c.method, path: httpapi.Prefix + c.path, body: c.body}
			if c.body == "" {
				q.path = fmt.Sprintf(q.path, name)
			} else {
				q.body = fmt.Sprintf(c.body, name)
			}
			a := r.do(as(r.stranger, q))
			// The name itself comes back.
			return a.status, strings.NewReplacer(a.header.Get(httpapi.RequestIDHeader), "", fmt.Sprintf(`"%v is not`, name), "", fmt.Sprintf(`\"%v\" is not`, name), "", fmt.Sprintf(`no channel %v"`, name), "").Replace(a.body)
		}
		var theirs, missing any = r.theirs[c.kind], int64(987654)
		if c.kind == "devices" {
			theirs, missing = "A", "Zz"
		}
		status, body := ask(theirs)
		_, none := ask(missing)
		if status != http.StatusUnprocessableEntity || body != none {
			t.Errorf("%s %s %s: %d\n%s%s", c.method, c.path, c.body, status, body, none)
		}
	}
	if after := r.trailOf(r.other.ID); after != before {
		t.Errorf("%d changes were made", after-before)
	}
}
