package v1

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/account"
	"github.com/rimewatch/rimewatch/internal/httpapi"
)

// sitedRig has a device with an alert at each of two sites and one at none, and a
// token and a technician that are limited to the first site.
type sitedRig struct {
	*isolationRig
	here, there int64
	token       string
	member      string // session
}

func newSitedRig(t *testing.T) *sitedRig {
	r := &sitedRig{isolationRig: newIsolationRig(t)}
	r.there = r.theirs["sites"] // of device A
	made := r.do(r.browser(post("/v1/sites", "", `{"name":"Here"}`)))
	r.here = int64(made.get("data.site.id").(float64))
	for _, body := range []string{`{"serial":"MINE","equipment_type":"walkin_freezer","site_id":%d,"limits":{"delay_s":600}}`, `{"serial":"NOWHERE","equipment_type":"walkin_freezer"}`} {
		if strings.Contains(body, "%d") {
			body = fmt.Sprintf(body, r.here)
		}
		if a := r.do(r.browser(post("/v1/devices", "", body))); a.status != 201 {
			t.Fatal(a.body)
		}
	}
	r.do(r.browser(post(fmt.Sprintf("/v1/maintenance-windows/%d/end", r.theirs["maintenance-windows"]), "", ""))) // it hides excursions
	for i := range 24 {
		for _, serial := range []string{"MINE", "A", "NOWHERE"} {
			r.do(post("/v1/readings", r.full, at(serial, []float64{-20, 20}[min(i/4, 1)], r.now())))
		}
		r.advance(time.Minute)
	}
	limit := fmt.Sprintf(`"site_ids":[%d]`, r.here)
	a := r.do(r.browser(post("/v1/tokens", "", `{"name":"one site","scopes":["full","records"],`+limit+`}`)))
	r.token, _ = a.get("data.plain_token").(string)
	if r.token == "" || fmt.Sprint(a.get("data.token.site_ids")) != fmt.Sprintf("[%d]", r.here) {
		t.Fatal(a.body)
	}
	a = r.do(r.browser(post("/v1/members", "", `{"email":"here@example.com","role":"technician",`+limit+`}`)))
	secret, _ := a.get("data.secret").(string)
	in, err := r.accounts.AcceptAsNew(t.Context(), secret, account.NewPerson{Name: "H", Password: ownerPassword}, r.now())
	if err != nil {
		t.Fatal(err, a.body)
	}
	r.member = in.Secret
	return r
}

// by are requests of the limited token and of the limited member.
func (r *sitedRig) by(q request) []request {
	return []request{{method: q.method, path: q.path, body: q.body, header: q.header, token: r.token}, as(r.member, q)}
}

// TestSitesAreApart: for who is limited to a site, what is at others, or at none,
// exists as little as what there never was, in whatever route names it, and stays as
// it is. A route that does not heed the limit is closed.
func TestSitesAreApart(t *testing.T) {
	r := newSitedRig(t)
	before := r.trailOf(r.workspace.ID) - len(r.refused())
	open, closed := 0, 0
	for i := range r.api.Routes() {
		rt := &r.api.Routes()[i]
		if rt.Access.Public || rt.Access.Own || rt.Path == "/v1/me" || rt.ID == "get-workspace" || rt.ID == "remove-member" || strings.HasPrefix(rt.Path, "/v1/stream") {
			continue
		}
		kind, _, _ := strings.Cut(strings.TrimPrefix(rt.Path, "/v1/"), "/")
		for _, limited := range r.by(sample(rt)) {
			if rt.Access.Role != "" && rt.Access.Scopes == 0 && limited.token != "" {
				continue // it is of people
			}
			ask := func(serial, id string) (int, string) {
				q := limited
				q.path = httpapi.Prefix + strings.NewReplacer("{serial}", serial, "{id}", id).Replace(rt.Path)
				if body := bodyOf[rt.ID]; body != "" {
					q.body = body
				}
				a := r.do(q)
				return a.status, strings.ReplaceAll(a.body, a.header.Get(httpapi.RequestIDHeader), "")
			}
			status, body := ask("A", fmt.Sprint(r.theirs[kind]))
			switch {
			case !rt.Sited:
				closed++
				if status != http.StatusForbidden {
					t.Errorf("%s: %d %s", rt.ID, status, body)
				}
			case strings.Contains(rt.Path, "{"):
				open++
				if _, missing := ask("Zz", "987654"); status != http.StatusNotFound || body != missing {
					t.Errorf("%s: %d %s%s", rt.ID, status, body, missing)
				}
			default:
				open++
				for _, secret := range []string{`"A"`, "NOWHERE", `"S"`} { // the other devices and the other site
					if strings.Contains(body, secret) {
						t.Errorf("%s: %s is in %s", rt.ID, secret, body)
					}
				}
			}
		}
	}
	if open < 40 || closed < 40 {
		t.Errorf("%d open routes and %d closed ones were asked", open, closed)
	}
	if after := r.trailOf(r.workspace.ID) - len(r.refused()); after != before {
		t.Errorf("%d entries of the audit trail are new", after-before)
	}
}

// TestLimitedToASite: what is at the site is seen, counted and changed.
func TestLimitedToASite(t *testing.T) {
	r := newSitedRig(t)
	span := "?from=2026-11-20T00:00:00Z&to=2026-11-30T00:00:00Z"
	for _, q := range []struct {
		path string
		want map[string]any
		text string // that the answer holds
	}{
		{"/v1/devices", map[string]any{"data.pagination.total": 1, "data.devices.0.serial": "MINE", "data.devices.1": nil}, ""},
		{"/v1/devices?q=A", map[string]any{"data.pagination.total": 0}, ""},
		{"/v1/devices?attention=true", map[string]any{"data.pagination.total": 1}, ""},
		{"/v1/devices/MINE", map[string]any{"data.device.serial": "MINE"}, ""},
		{"/v1/devices/MINE/readings" + span, map[string]any{"data.readings.0.device_serial": nil}, `"product_zone_temp":20`},
		{"/v1/readings/latest", map[string]any{"data.readings.0.device_serial": "MINE", "data.readings.1": nil}, ""},
		{"/v1/readings/latest?per_page=10", map[string]any{"data.pagination.total": 1}, ""},
		{"/v1/alerts", map[string]any{"data.pagination.total": 1, "data.alerts.0.device_serial": "MINE", "data.alerts.1": nil}, ""},
		{"/v1/alerts?device_serial=A", map[string]any{"data.pagination.total": 0}, ""},
		{"/v1/alerts/counts", map[string]any{"data.total": 1, "data.by_status.active": 1}, ""},
		{"/v1/alerts/counts?since=2026-01-01T00:00:00Z", map[string]any{"data.total": 1}, ""},
		{"/v1/devices/health/summary", map[string]any{"data.total_devices": 1, "data.online_devices": 1, "data.active_alerts": 1}, ""},
		{fmt.Sprintf("/v1/devices/health/summary?site_id=%d", r.here), map[string]any{"data.total_devices": 1, "data.active_alerts": 1}, ""},
		{fmt.Sprintf("/v1/devices/health/summary?site_id=%d", r.there), map[string]any{"data.total_devices": 0, "data.active_alerts": 0}, ""},
		{"/v1/notifications/coverage", map[string]any{"data.coverage.count": 1, "data.coverage.sites_without.0.name": "Here", "data.coverage.sites_without.1": nil, "data.coverage.anywhere": false}, ""},
		{fmt.Sprintf("/v1/devices/health/summary?site_id=%d", r.there), map[string]any{"data.coverage.count": 0, "data.coverage.silences": "[]"}, ""},
		{"/v1/reports/sites", map[string]any{"data.sites.0.site_id": r.here, "data.sites.0.devices": 1, "data.sites.0.excursions": 1, "data.sites.1": nil}, ""},
		{"/v1/sites", map[string]any{"data.sites.0.id": r.here, "data.sites.1": nil}, ""},
		{"/v1/excursions", map[string]any{"data.excursions.0.device_serial": "MINE", "data.excursions.1": nil}, ""},
		{"/v1/reports/temperature-log?format=json", map[string]any{"data.report.devices.0.serial": "MINE", "data.report.devices.1": nil}, ""},
	} {
		for _, limited := range r.by(get(q.path, "")) {
			a := r.do(limited)
			if a.status != 200 || !strings.Contains(a.body, q.text) {
				t.Errorf("%s: %d %s", q.path, a.status, clip(a.body))
			}
			for path, want := range q.want {
				if got := a.get(path); fmt.Sprint(got) != fmt.Sprint(want) {
					t.Errorf("%s: %s is %v, want %v\n%s", q.path, path, got, want, clip(a.body))
				}
			}
		}
	}
	mine := int64(r.do(get("/v1/alerts", r.token)).get("data.alerts.0.id").(float64))
	for _, q := range []struct {
		req    request
		status int
	}{
		{post(fmt.Sprintf("/v1/alerts/%d/acknowledge", mine), r.token, ""), 200},
		{post("/v1/readings", r.token, `{"device_serial":"MINE","humidity":1}`), 201},
		{post("/v1/readings", r.token, `{"device_serial":"A","humidity":1}`), 422},
		{post("/v1/readings", r.token, `{"device_serial":"NOWHERE","humidity":1}`), 422},
		{patch("/v1/devices/MINE", r.token, `{"name":"x"}`), 200},
		{patch("/v1/devices/MINE", r.token, fmt.Sprintf(`{"site_id":%d}`, r.there)), 422},
		{patch("/v1/devices/MINE", r.token, `{"site_id":null}`), 422},
		{post("/v1/devices", r.token, `{"serial":"NEW"}`), 422},
		{post("/v1/devices", r.token, fmt.Sprintf(`{"serial":"NEW","site_id":%d}`, r.there)), 422},
		{post("/v1/devices", r.token, fmt.Sprintf(`{"serial":"NEW","site_id":%d}`, r.here)), 201},
	} {
		if a := r.do(q.req); a.status != q.status {
			t.Errorf("%s %s %s: %d %s", q.req.method, q.req.path, q.req.body, a.status, a.body)
		}
	}
	batch := r.do(post("/v1/readings/batch", r.token, `{"readings":[{"device_serial":"MINE","humidity":2},{"device_serial":"A","humidity":2},{"device_serial":"FRESH","humidity":2}]}`))
	if batch.get("data.accepted") != 1.0 || batch.get("data.rejected") != 2.0 {
		t.Error(batch.body)
	}
}

// TestSerialsElsewhere: who is limited to a site is not told that a device elsewhere has a
// serial, and cannot try many.
func TestSerialsElsewhere(t *testing.T) {
	r := newSitedRig(t)
	create := func(serial string) answer {
		return r.do(post("/v1/devices", r.token, fmt.Sprintf(`{"serial":%q,"site_id":%d}`, serial, r.here)))
	}
	if a := create("MINE"); a.status != 409 {
		t.Errorf("of the site: %d %s", a.status, a.body)
	}
	for _, serial := range []string{"A", "NOWHERE"} {
		if a := create(serial); a.status != 422 || a.code() != "validation_failed" || strings.Contains(a.body, "taken") || strings.Contains(a.body, "use") || strings.Contains(a.body, serial) {
			t.Errorf("elsewhere: %d %s", a.status, a.body)
		}
	}
	for range registrationsPerHour - 3 {
		create("A")
	}
	if a := create("B-1"); a.status != 429 {
		t.Errorf("after many: %d %s", a.status, a.body)
	}
	if a := r.do(r.browser(post("/v1/devices", "", `{"serial":"B-1"}`))); a.status != 201 {
		t.Errorf("somebody who is not limited: %d %s", a.status, a.body)
	}
}

// TestHeartbeatsElsewhere: who is limited to a site uses up no other device's rate, by which
// it would fall silent, and learns of none.
func TestHeartbeatsElsewhere(t *testing.T) {
	r := newSitedRig(t)
	var headers []string
	for range 1100 { // more than a device may send
		for _, serial := range []string{"A", "Zz"} {
			a := r.do(patch("/v1/devices/"+serial+"/heartbeat", r.token, "{}"))
			if a.status != 404 {
				t.Fatalf("%s: %d %s", serial, a.status, a.body)
			}
			headers = append(headers, a.header.Get("RateLimit-Policy"))
		}
	}
	if n := len(headers); headers[n-1] != headers[n-2] {
		t.Errorf("the answers differ: %q", headers[n-2:])
	}
	if a := r.do(patch("/v1/devices/A/heartbeat", r.full, "{}")); a.status != 200 {
		t.Errorf("the device itself: %d %s", a.status, a.body)
	}
}

// TestWhoIsLimited: only technicians, viewers and tokens are limited to sites, by
// sites that there are; who is promoted is not.
func TestWhoIsLimited(t *testing.T) {
	r := newSitedRig(t)
	var id any
	members := r.do(r.browser(get("/v1/members", ""))).get("data.members").([]any)
	for _, m := range members {
		if m.(map[string]any)["email"] == "here@example.com" {
			id = m.(map[string]any)["user_id"]
		}
	}
	member := fmt.Sprintf("/v1/members/%v", id)
	change := func(body string) request { return r.browser(patch(member, "", body)) }
	both := fmt.Sprintf(`{"site_ids":[%d,%d]}`, r.there, r.here)
	scenarios := []scenario{
		{name: "another workspace's site", req: change(fmt.Sprintf(`{"site_ids":[%d]}`, r.own["sites"])), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"site_ids"}},
		{name: "no site", req: change(`{"site_ids":[]}`), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"site_ids"}},
		{name: "an admin", req: change(`{"role":"admin","site_ids":[` + fmt.Sprint(r.here) + `]}`), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"site_ids"}},
		{name: "both", req: change(both), status: 200, want: map[string]any{"data.member.role": "technician", "data.member.site_ids": fmt.Sprintf("[%d %d]", min(r.here, r.there), max(r.here, r.there))}},
		{name: "sees both", req: as(r.member, get("/v1/devices", "")), status: 200, want: map[string]any{"data.pagination.total": 2}},
		{name: "a viewer", req: change(`{"role":"viewer"}`), status: 200, want: map[string]any{"data.member.role": "viewer", "data.member.site_ids.0": min(r.here, r.there)}},
		{name: "all", req: change(`{"all_sites":true}`), status: 200, want: map[string]any{"data.member.site_ids": nil}},
		{name: "sees all", req: as(r.member, get("/v1/devices", "")), status: 200, want: map[string]any{"data.pagination.total": 3}},
		{name: "promoted", req: change(both), status: 200},
		{name: "to admin", req: change(`{"role":"admin"}`), status: 200, want: map[string]any{"data.member.site_ids": nil}},
		{name: "in the trail", req: r.browser(get("/v1/audit?action=member.updated", "")), status: 200, contains: []string{"site_ids"}},
	}
	for i := range scenarios {
		scenarios[i].anyEvents = true // devices fall silent when it is noticed how late it has become
	}
	r.run(t, scenarios)
}
