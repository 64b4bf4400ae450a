package v1

import (
	"fmt"
	"testing"
	"time"

	"github.com/rimewatch/rimewatch"
)

// check opens a check of a round at a site, of all its devices, that is due from a moment on for four hours.
func (r *rig) check(template, site int64, from rimewatch.Time) *rimewatch.Check {
	r.t.Helper()
	w := r.workspace.ID
	x, err := r.store.Records().CheckTemplates().Get(r.t.Context(), w, template)
	if err != nil {
		w = r.other.ID
		x, err = r.store.Records().CheckTemplates().Get(r.t.Context(), w, template)
	}
	if err != nil {
		r.t.Fatal(err)
	}
	c := &rimewatch.Check{
		WorkspaceID: w, TemplateID: template, SiteID: site, Name: x.Name, Ask: x.Ask, Status: rimewatch.CheckDue, OpenedAt: from,
		CheckSpan: rimewatch.CheckSpan{Day: from.Std().Format(time.DateOnly), Minute: int(from % rimewatch.Day / rimewatch.Minute), From: from, To: from + 4*rimewatch.Hour},
	}
	err = r.store.EachDevice(r.t.Context(), w, func(v *rimewatch.DeviceView) error {
		if v.SiteID == site {
			c.Items = append(c.Items, rimewatch.CheckItem{DeviceID: v.ID, Serial: v.Serial, Name: v.Name})
		}
		return nil
	})
	if err == nil {
		err = r.store.Records().OpenChecks(r.t.Context(), &x, from, []*rimewatch.Check{c})
	}
	if err != nil || c.ID == 0 {
		r.t.Fatal(err, c)
	}
	return c
}

// TestCheckTemplates: made from a pack or by hand, which opens its checks at once; what cannot be is refused.
func TestCheckTemplates(t *testing.T) {
	woken := 0
	r := newRig(t, func(w *whole) { w.kept.Rounds = func() { woken++ } })
	viewer, ben := r.person(t, "Vera", rimewatch.RoleViewer), r.person(t, "Ben", rimewatch.RoleTechnician)
	token := r.records(t)
	const path = "/v1/check-templates"
	invalid := func(name, body string, fields ...string) scenario {
		return scenario{name: name, req: post(path, token, body), status: 422, code: rimewatch.CodeValidationFailed, fields: fields}
	}
	r.run(t, []scenario{
		{name: "packs", req: viewer(get("/v1/check-packs", "")), status: 200, want: map[string]any{"data.check_packs.0.slug": "haccp-ampm", "data.check_packs.0.windows.0.from": "06:00", "data.check_packs.1.range": true, "data.check_packs.1.dated": "2024-03-29"}},
		{name: "from a pack", req: post(path, token, `{"name":"Vaccines","pack":"us-cdc-vfc"}`), status: 201, want: map[string]any{
			"data.check_template.range": true, "data.check_template.categories.0": "medical", "data.check_template.windows.0.days.0": "mon", "data.check_template.windows.0.days.5": nil, "data.check_template.windows.0.to": "10:00", "data.check_template.tell": "missed", "data.check_template.enabled": true, "data.check_template.site_id": nil,
		}},
		{name: "by hand", req: r.browser(post(path, "", `{"name":"Night","windows":[{"days":["sun"],"from":"22:00","to":"02:00"}],"typed":true,"tell":"both","categories":[]}`)), status: 201, want: map[string]any{"data.check_template.typed": true, "data.check_template.pack": nil}},
		{name: "by a technician", req: ben(post(path, "", `{"name":"X","pack":"haccp-ampm"}`)), status: 403, code: rimewatch.CodeForbidden},
		{name: "without the scope", req: post(path, r.full, `{"name":"X","pack":"haccp-ampm"}`), status: 403, code: rimewatch.CodeForbidden},
		{name: "a name twice", req: post(path, token, `{"name":"vaccines","pack":"us-ca"}`), status: 409, code: rimewatch.CodeConflict, fields: []string{"name"}},
		invalid("without windows", `{"name":"X"}`, "windows"),
		invalid("an unknown pack", `{"name":"X","pack":"us-tx"}`, "pack", "windows"),
		invalid("a short window", `{"name":"X","windows":[{"days":["mon"],"from":"06:00","to":"06:10"}]}`, "windows"),
		invalid("no such device", `{"name":"X","pack":"haccp-ampm","device_ids":[99]}`, "device_ids"),
		invalid("no such site", `{"name":"X","pack":"haccp-ampm","site_id":99}`, "site_id"),
		invalid("no such category", `{"name":"X","pack":"haccp-ampm","categories":["tent"]}`, "categories[0]"),
		{name: "changed", req: patch(path+"/2", token, `{"tell":"never","windows":[{"days":["mon"],"from":"06:00","to":"07:00"}]}`), status: 200, want: map[string]any{"data.check_template.tell": "never", "data.check_template.name": "Night", "data.check_template.windows.1": nil}},
		{name: "listed", req: viewer(get(path, "")), status: 200, want: map[string]any{"data.check_templates.0.name": "Vaccines", "data.pagination.total": 2}},
		{name: "deleted", req: remove(path+"/1", token), status: 200},
		{name: "gone", req: get(path+"/1", token), status: 404, code: rimewatch.CodeNotFound},
	})
	if woken != 4 { // two were made, one changed, one deleted
		t.Errorf("what opens checks was woken %d times, want 4", woken)
	}
}

// TestChecks: the sensor's values are the service's, what is out of limits wants a note, the first completion in time
// counts and everything else is a note with both times.
func TestChecks(t *testing.T) {
	r := newRig(t)
	ben, vera := r.person(t, "Ben", rimewatch.RoleTechnician), r.person(t, "Vera", rimewatch.RoleViewer)
	token := r.records(t)
	r.do(post("/v1/devices", r.full, `{"serial":"A","name":"Fish","equipment_type":"walkin_cooler"}`))
	r.do(post("/v1/devices", r.full, `{"serial":"B","name":"Meat","equipment_type":"walkin_cooler"}`))
	r.do(r.browser(post("/v1/check-templates", "", `{"name":"Morning","range":true,"windows":[{"days":["mon","tue","wed","thu","fri","sat","sun"],"from":"12:00","to":"16:00"}]}`)))
	begin := r.now()
	for i, temp := range []float64{3, 1, 4, 2.5} {
		r.do(post("/v1/readings", r.feed, at("A", temp, begin+rimewatch.Time(i)*rimewatch.Minute)))
		r.do(post("/v1/readings", r.feed, at("B", temp+float64(i)*2, begin+rimewatch.Time(i)*rimewatch.Minute)))
		r.advance(time.Minute)
	}
	first := r.check(1, 0, begin)
	r.events.take(t, 0)
	const path = "/v1/checks/1"
	in := func(d time.Duration) string { return begin.Add(d).String() }
	complete := func(who func(request) request, body string) request { return who(post(path+"/complete", "", body)) }
	noted := `{"items":[{"device_id":2,"typed_value":4.5,"note":"door was ajar, moved to walk-in 2"}]}`
	r.run(t, []scenario{
		{name: "due", req: vera(get("/v1/checks?due=true", "")), status: 200, want: map[string]any{"data.checks.0.id": 1, "data.checks.0.status": "due", "data.checks.0.items.0.name": "Fish", "data.checks.0.items.0.value": nil, "data.pagination.total": 1}},
		{name: "on the overview", req: get("/v1/devices/health/summary", r.full), status: 200, want: map[string]any{"data.paperwork.checks_due": 1, "data.paperwork.checks_missed": 0}},
		{name: "with values", req: get(path, token), status: 200, want: map[string]any{
			"data.check.items.0.value": 2.5, "data.check.items.0.min": 1, "data.check.items.0.min_at": in(time.Minute), "data.check.items.0.max": 4, "data.check.items.0.max_at": in(2 * time.Minute), "data.check.items.0.out_of_limits": false,
			"data.check.items.1.value": 8.5, "data.check.items.1.out_of_limits": true, "data.check.items.1.temp_max": 5,
		}},
		{name: "by a viewer", req: complete(vera, `{}`), status: 403, code: rimewatch.CodeForbidden},
		{name: "as shown, with one out of limits", req: complete(ben, `{}`), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"items.B"}},
		{name: "in the future", req: complete(ben, `{"completed_at":"`+in(time.Hour)+`"}`), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"completed_at"}},
		{name: "a device of another check", req: complete(ben, `{"items":[{"device_id":99}]}`), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"items"}},
		{name: "a value of its own for the sensor", req: complete(ben, `{"items":[{"device_id":2,"value":3,"note":"x"}]}`), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"items[0].value"}},
		{name: "before it was due", req: complete(ben, `{"completed_at":"`+in(-time.Minute)+`","note":"early"}`), status: 200, want: map[string]any{"data.late": true, "data.check.status": "due", "data.check.notes.0.text": "early", "data.check.notes.0.about_at": in(-time.Minute)}},
		{name: "completed", req: complete(ben, noted), status: 200, want: map[string]any{
			"data.late": false, "data.check.status": "completed", "data.check.by.kind": "person", "data.check.by.name": "Ben", "data.check.items.1.typed_value": 4.5, "data.check.items.1.value": 8.5, "data.check.completed_at": r.now().String(),
		}},
		{name: "by a second person", req: r.browser(post(path+"/complete", "", noted)), status: 200, want: map[string]any{"data.late": true, "data.check.by.name": "Ben", "data.check.notes.1.by.name": "Olga", "data.check.notes.1.items.1.typed_value": 4.5}},
		{name: "a later note", req: post(path+"/notes", token, `{"text":"gasket replaced","performed_by":"Kim"}`), status: 201, want: map[string]any{"data.check.notes.2.by.kind": "token", "data.check.notes.2.by.token": "records"}},
		{name: "of nobody", req: post(path+"/notes", token, `{"text":"x"}`), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"performed_by"}},
		{name: "an unknown one", req: post("/v1/checks/99/complete", token, `{"performed_by":"x"}`), status: 404, code: rimewatch.CodeNotFound},
		{name: "of the day", req: get("/v1/checks?from="+in(0)+"&to="+in(time.Minute), token), status: 200, want: map[string]any{"data.pagination.total": 1}},
		{name: "missed ones", req: get("/v1/checks?status=missed", token), status: 200, want: map[string]any{"data.pagination.total": 0}},
		{name: "in the trail", req: r.browser(get("/v1/audit?action=check.completed", "")), status: 200, want: map[string]any{"data.entries.0.actor": "Ben <ben@example.com>", "data.chain_ok": true}},
	})
	// The next one begins where this one ended, and is done on a phone without network.
	r.advance(24 * time.Hour)
	r.do(post("/v1/readings", r.feed, at("A", 3.5, r.now())))
	r.do(post("/v1/devices", r.full, `{"serial":"C","name":"New","equipment_type":"walkin_cooler"}`))
	r.do(remove("/v1/devices/B", r.full))
	next := r.check(1, 0, r.now()-rimewatch.Minute)
	if n := len(next.Items); n != 1 {
		t.Fatalf("%d devices that report", n)
	}
	done := r.now()
	r.advance(20 * time.Hour)
	over, err := r.store.Records().ChangeCheck(t.Context(), r.workspace.ID, next.ID, func(c *rimewatch.Check) (rimewatch.CheckNote, bool, error) {
		c.Status, c.Reason = rimewatch.CheckMissed, rimewatch.CheckNotDone
		return rimewatch.CheckNote{}, false, nil
	})
	if err != nil || over.Status != rimewatch.CheckMissed {
		t.Fatal(err, over)
	}
	r.events.take(t, 0)
	r.run(t, []scenario{
		{name: "missed on the overview", req: get("/v1/devices/health/summary", r.full), status: 200, want: map[string]any{"data.paperwork.checks_due": 0, "data.paperwork.checks_missed": 1}},
		{name: "it was missed", req: get("/v1/checks/2", token), status: 200, want: map[string]any{"data.check.status": "missed", "data.check.reason": "not_done", "data.check.items.0.value": nil}},
		{name: "entered later", req: ben(post("/v1/checks/2/complete", "", fmt.Sprintf(`{"completed_at":%q}`, done))), status: 200, want: map[string]any{
			"data.late": false, "data.check.status": "completed", "data.check.reason": nil, "data.check.items.0.value": 3.5, "data.check.items.0.min": 3.5, "data.check.completed_at": done.String(), "data.check.entered_at": r.now().String(), "data.check.since": first.From.Add(4 * time.Minute).String(),
		}},
		{name: "sent again", req: ben(post("/v1/checks/2/complete", "", fmt.Sprintf(`{"completed_at":%q}`, done))), status: 200, want: map[string]any{"data.late": false, "data.check.notes": []any{}}},
	})
}
