package v1

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/jpeg"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/ticket"
	"github.com/rimewatch/rimewatch/internal/wire"
)

// plainCard writes an alert by its type alone.
func plainCard(_ context.Context, v *rimewatch.AlertView, _ rimewatch.Locale) (wire.Card, error) {
	return wire.Card{Title: string(v.Type), Facts: []wire.Fact{}, Severity: v.Severity}, nil
}

// TellOrder notes who was told of which order.
func (n *sentNotifier) TellOrder(_ context.Context, o *rimewatch.WorkOrder) error {
	n.ordered = append(n.ordered, fmt.Sprintf("%d %s", o.ID, o.Assignee.Name))
	return nil
}

// linkOf is the link of an order that ends at a moment.
func (r *rig) linkOf(order int64, until rimewatch.Time) string {
	l := ticket.Link{Purpose: ticket.Order, WorkspaceID: r.workspace.ID, Expires: until, ID: order}
	return "/v1/work-order-links/" + l.Encode(make([]byte, 32))
}

// issue has a new link made, and returns it.
func (r *rig) issue(order int64) string {
	r.t.Helper()
	a := r.do(r.browser(post(fmt.Sprintf("/v1/work-orders/%d/link", order), "", "{}")))
	link, ok := a.get("data.order_link.link").(string)
	if !ok {
		r.t.Fatal(a.status, a.body)
	}
	return "/v1/work-order-links/" + strings.TrimPrefix(link, "/o/")
}

// TestWorkOrder: an order from an alert to the record, by people and programs.
func TestWorkOrder(t *testing.T) {
	r := newCase(t)
	ben := r.person(t, "Ben", rimewatch.RoleTechnician)
	viewer := r.person(t, "Vera", rimewatch.RoleViewer)
	token := r.records(t)
	members, err := r.store.People().Members(t.Context(), r.workspace.ID)
	if err != nil {
		t.Fatal(err)
	}
	named := func(name string) int64 {
		i := slices.IndexFunc(members, func(m store.MemberView) bool { return m.Name == name })
		return members[i].UserID
	}
	order := func(fields string) string { return `{"problem":"Warm","urgency":"soon",` + fields + `}` }
	give := func(id int64) string { return fmt.Sprintf(`"assign":{"kind":"member","id":%d}`, id) }
	done := `{"outcome":"repaired","cause":"Fan","work":"Replaced","parts":"Fan","cost":"180 €"}`
	is := func(name string, v any) map[string]any { return map[string]any{"data." + name: v} }
	r.run(t, []scenario{
		{name: "without the scope", req: post("/v1/work-orders", r.full, order(`"alert_id":1`)), status: 403, code: rimewatch.CodeForbidden},
		{name: "by a viewer", req: viewer(post("/v1/work-orders", "", order(`"alert_id":1`))), status: 403, code: rimewatch.CodeForbidden},
		{name: "for nothing", req: ben(post("/v1/work-orders", "", `{"problem":"x","urgency":"soon"}`)), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"alert_id"}},
		{name: "for two things", req: ben(post("/v1/work-orders", "", order(`"alert_id":1,"device_serial":"A"`))), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"alert_id"}},
		{name: "for an unknown alert", req: ben(post("/v1/work-orders", "", order(`"alert_id":99`))), status: 404, code: rimewatch.CodeAlertNotFound},
		{name: "for an unknown case", req: ben(post("/v1/work-orders", "", order(`"case_id":99`))), status: 404, code: rimewatch.CodeNotFound},
		{name: "for an unknown device", req: ben(post("/v1/work-orders", "", order(`"device_serial":"XYZ"`))), status: 422, code: rimewatch.CodeUnknownDevice, fields: []string{"device_serial"}},
		{name: "to somebody who only looks", req: ben(post("/v1/work-orders", "", order(`"alert_id":1,`+give(named("Vera"))))), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"assign"}},
		{name: "to a contact that is not there", req: ben(post("/v1/work-orders", "", order(`"alert_id":1,"assign":{"kind":"contact","id":9}`))), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"assign"}},
		{name: "for an alert", req: ben(post("/v1/work-orders", "", order(`"alert_id":1`))), status: 201, header: map[string]string{"Location": "/api/v1/work-orders/1", "ETag": `"1"`}, want: map[string]any{
			"data.work_order.status": "open", "data.work_order.case_id": 1, "data.work_order.device_serial": "A", "data.work_order.unit": "Vaccines", "data.work_order.created_by": "Ben", "data.work_order.assignee": nil, "data.work_order.result": nil,
		}},
		{name: "for a case, to a member", req: post("/v1/work-orders", token, order(`"case_id":1,`+give(named("Ben")))), status: 201, want: map[string]any{
			"data.work_order.alert_id": 1, "data.work_order.status": "assigned", "data.work_order.assignee.name": "Ben", "data.work_order.assignee.kind": "person", "data.work_order.link_until": nil,
		}},
		{name: "for a device", req: ben(post("/v1/work-orders", "", order(`"device_serial":"b"`))), status: 201, want: map[string]any{"data.work_order.device_serial": "B", "data.work_order.case_id": nil}},
		{name: "newest first", req: viewer(get("/v1/work-orders", "")), status: 200, want: map[string]any{"data.work_orders.0.id": 3, "data.work_orders.2.id": 1, "data.pagination.total": 3}},
		{name: "of a device", req: get("/v1/work-orders?device=a&status=unfinished", token), status: 200, want: is("pagination.total", 2)},
		{name: "of an unknown device", req: get("/v1/work-orders?device=XYZ", token), status: 200, want: is("pagination.total", 0)},
		{name: "of a case that is assigned", req: get("/v1/work-orders?case_id=1&alert_id=1&status=assigned", token), status: 200, want: map[string]any{"data.pagination.total": 1, "data.work_orders.0.id": 2}},
		{name: "to a member, later", req: ben(patch("/v1/work-orders/1", "", `{"access":"Ring twice",`+give(named("Olga"))+`}`).with("If-Match", `"1"`)), status: 200, want: map[string]any{"data.work_order.assignee.name": "Olga", "data.work_order.access": "Ring twice"}},
		{name: "changed meanwhile", req: ben(patch("/v1/work-orders/1", "", `{"access":"x"}`).with("If-Match", `"1"`)), status: 412, code: rimewatch.CodePreconditionFailed},
		{name: "a link for a member", req: ben(post("/v1/work-orders/1/link", "", `{}`)), status: 409, code: rimewatch.CodeConflict},
		{name: "there", req: ben(post("/v1/work-orders/1/on-site", "", "")), status: 200, want: is("work_order.status", "on_site")},
		{name: "verified before it is done", req: ben(post("/v1/work-orders/1/verify", "", "")), status: 409, code: rimewatch.CodeConflict},
		{name: "done without a cause", req: ben(post("/v1/work-orders/1/done", "", `{"outcome":"repaired","cause":" ","work":"x"}`)), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"cause"}},
		{name: "done by a program that names nobody", req: post("/v1/work-orders/1/done", token, done), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"performed_by"}},
		{name: "done", req: ben(post("/v1/work-orders/1/done", "", done)), status: 200, anyEvents: true, want: map[string]any{
			"data.work_order.status": "done", "data.work_order.result.performed.name": "Ben", "data.work_order.result.cost": "180 €", "data.work_order.corrective_action_id": 1, "data.work_order.alert_active": false,
		}},
		{name: "done again", req: ben(post("/v1/work-orders/1/done", "", done)), status: 409, code: rimewatch.CodeConflict},
		{name: "changed afterwards", req: ben(patch("/v1/work-orders/1", "", `{"access":"x"}`)), status: 409, code: rimewatch.CodeConflict},
		{name: "cancelled afterwards", req: ben(post("/v1/work-orders/1/cancel", "", "")), status: 409, code: rimewatch.CodeConflict},
		{name: "it is an action of the case", req: get("/v1/cases/1", token), status: 200, want: map[string]any{"data.case.status": "documented", "data.actions.0.action": "Replaced", "data.actions.0.work_order_id": 1}},
		{name: "verified by a program", req: post("/v1/work-orders/1/verify", token, ""), status: 403, code: rimewatch.CodeForbidden},
		{name: "verified by whoever did it", req: ben(post("/v1/work-orders/1/verify", "", "")), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"verified_by"}},
		{name: "verified", req: r.browser(post("/v1/work-orders/1/verify", "", "")), status: 200, want: map[string]any{"data.work_order.status": "verified", "data.work_order.verified.name": "Olga"}},
		{name: "cancelled", req: ben(post("/v1/work-orders/2/cancel", "", "")), status: 200, want: is("work_order.status", "cancelled")},
		{name: "events", req: r.browser(get("/v1/events?types=work_order.done,work_order.verified", "")), status: 200, want: map[string]any{"data.events.0.subject": "work_order/1", "data.events.0.data.work_order.result.cause": "Fan", "data.events.1.type": "work_order.verified"}},
	})
	if got := strings.Join(r.notifier.ordered, "; "); got != "2 Ben; 1 Olga" {
		t.Errorf("told: %s", got)
	}
}

// TestVerdictByOrder: what an order found judges the prediction that it was made for, unless somebody has.
func TestVerdictByOrder(t *testing.T) {
	for _, x := range []struct{ name, before, outcome, want string }{
		{"repaired", "", "repaired", "fixed"}, {"a false alarm", "", "nothing_wrong", "false_alarm"}, {"not repaired", "", "not_repaired", "useful"}, {"judged before", "useful", "nothing_wrong", "useful"},
	} {
		t.Run(x.name, func(t *testing.T) {
			r := newRig(t)
			r.worn(r.device("A", "walkin_cooler").ID)
			if x.before != "" {
				r.do(post("/v1/alerts/1/feedback", r.full, `{"verdict":"`+x.before+`"}`))
			}
			r.do(r.browser(post("/v1/work-orders", "", `{"alert_id":1,"problem":"x","urgency":"routine"}`)))
			a := r.do(r.browser(post("/v1/work-orders/1/done", "", `{"outcome":"`+x.outcome+`","cause":"Fan worn","work":"x"}`)))
			if a.status != 200 {
				t.Fatal(a.status, a.body)
			}
			if active := a.get("data.work_order.alert_active"); active != (x.want == "useful") {
				t.Errorf("the prediction stands: %v", active)
			}
			if got := r.do(get("/v1/alerts/1", r.full)).get("data.alert.feedback.verdict"); got != x.want {
				t.Errorf("verdict %v, want %s", got, x.want)
			}
		})
	}
}

// TestWorkOrderLink: whoever has the link of an order sees it alone, and reports on it once, while the link is the one
// that works.
func TestWorkOrderLink(t *testing.T) {
	r := newCase(t)
	ben := r.person(t, "Ben", rimewatch.RoleTechnician)
	r.do(r.browser(post("/v1/sites", "", `{"name":"Harbour street","address":"Quay 1"}`)))
	r.do(patch("/v1/devices/A", r.full, `{"site_id":1}`))
	r.do(r.browser(post("/v1/contacts", "", `{"site_id":1,"name":"Kim","company":"Polar","phone":"555 0142"}`)))
	r.do(r.browser(post("/v1/contacts", "", `{"site_id":1,"name":"Janitor","phone":"555 0143"}`)))
	r.do(ben(post("/v1/work-orders", "", `{"alert_id":1,"problem":"Warm","access":"Ring twice","urgency":"emergency","assign":{"kind":"contact","id":1}}`)))
	old := r.issue(1)
	link := r.issue(1)
	r.events.take(t, 0)
	var b bytes.Buffer
	if err := jpeg.Encode(&b, image.NewGray(image.Rect(0, 0, 40, 30)), nil); err != nil {
		t.Fatal(err)
	}
	done := `{"outcome":"repaired","cause":"Fan","work":"Replaced"}`
	photo := func(to string) request {
		return post(to+"/attachments?name=fan.jpg", "", b.String()).with("Content-Type", "image/jpeg")
	}
	bare := func(status string) map[string]any { return map[string]any{"data.work_order.status": status} }
	r.run(t, []scenario{
		{name: "an older link", req: get(old, ""), status: 403, code: rimewatch.CodeForbidden, contains: []string{"newer one"}},
		{name: "a changed link", req: get(link[:len(link)-2]+"AA", ""), status: 404, code: rimewatch.CodeNotFound},
		{name: "looked at", req: get(link, ""), status: 200, header: map[string]string{"Referrer-Policy": "no-referrer", "Cache-Control": "no-store"}, want: map[string]any{
			"data.work_order.open": true, "data.work_order.state": "", "data.work_order.status": "assigned", "data.work_order.person": "Kim", "data.work_order.firm": "Polar", "data.work_order.site": "Harbour street", "data.work_order.address": "Quay 1",
			"data.work_order.contacts.0.name": "Janitor", "data.work_order.contacts.1": nil, "data.work_order.alert.title": "high_temperature", "data.work_order.temperatures.0.min": 4, "data.work_order.access": "Ring twice", "data.work_order.serial": "A",
		}},
		{name: "looked at by a scanner", req: get(link, ""), status: 200, want: bare("assigned")},
		{name: "it opens nothing else", req: get("/v1/work-orders/1", strings.TrimPrefix(link, "/v1/work-order-links/")), status: 401, code: rimewatch.CodeUnauthenticated},
		{name: "on the way", req: post(link+"/on-way", "", ""), status: 200, want: bare("assigned"), lacks: []string{`"on_way_at":null`}},
		{name: "there", req: post(link+"/on-site", "", ""), status: 200, want: bare("on_site")},
		{name: "a photo", req: photo(link), status: 201, want: map[string]any{"data.attachment.by.kind": "external", "data.attachment.by.name": "Kim"}},
		{name: "no photo", req: post(link+"/attachments", "", "<svg/>").with("Content-Type", "image/png"), status: 415, code: rimewatch.CodeUnsupportedMedia},
		{name: "its bytes", req: get(link+"/attachments/1", ""), status: 200, header: map[string]string{"Content-Type": "image/jpeg", "Referrer-Policy": "no-referrer"}},
		{name: "another's bytes", req: get(link+"/attachments/2", ""), status: 404, code: rimewatch.CodeNotFound},
		{name: "done without a cause", req: post(link+"/done", "", `{"outcome":"repaired","cause":"","work":"x"}`), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"cause"}},
		{name: "done", req: post(link+"/done", "", done), status: 200, anyEvents: true, want: map[string]any{"data.work_order.status": "done", "data.work_order.open": false, "data.work_order.result.performed.firm": "Polar", "data.work_order.photos.0.name": "fan.jpg"}, contains: []string{"Thank you"}},
		{name: "done again", req: post(link+"/done", "", done), status: 409, code: rimewatch.CodeConflict},
		{name: "a photo afterwards", req: photo(link), status: 409, code: rimewatch.CodeConflict},
		{name: "looked at afterwards", req: get(link, ""), status: 200, want: bare("done")},
		{name: "who it was", req: r.browser(get("/v1/audit?action=corrective_action.recorded", "")), status: 200, want: map[string]any{"data.entries.0.actor": "Kim (Polar), by the link of a work order"}},
		{name: "the case has the photo", req: ben(get("/v1/cases/1", "")), status: 200, want: map[string]any{"data.attachments.0.name": "fan.jpg", "data.actions.0.performed.kind": "external"}},
		{name: "verified by another", req: ben(post("/v1/work-orders/1/verify", "", "")), status: 200, want: bare("verified")},
	})
	r.do(ben(post("/v1/work-orders", "", `{"device_serial":"A","problem":"x","urgency":"soon","assign":{"kind":"contact","id":1}}`)))
	second := r.issue(2)
	r.events.take(t, 0)
	r.run(t, []scenario{
		{name: "made up for another order", req: get(r.linkOf(2, r.now()), ""), status: 403, code: rimewatch.CodeForbidden, contains: []string{"expired"}},
		{name: "given to somebody else", before: func(r *rig) {
			r.do(ben(patch("/v1/work-orders/2", "", `{"assign":{"kind":"contact","id":2}}`)))
		}, req: post(second+"/on-site", "", ""), status: 403, code: rimewatch.CodeForbidden, contains: []string{"somebody else"}},
		{name: "cancelled", before: func(r *rig) {
			second = r.issue(2)
			r.do(ben(post("/v1/work-orders/2/cancel", "", "")))
		}, req: get(r.linkOf(2, r.now()+rimewatch.OrderLinkLife), ""), status: 403, code: rimewatch.CodeForbidden, contains: []string{"cancelled"}},
	})
	r.do(ben(post("/v1/work-orders", "", `{"device_serial":"A","problem":"x","urgency":"soon","assign":{"kind":"contact","id":1}}`)))
	third := r.issue(3)
	r.do(r.browser(remove("/v1/contacts/1", "")))
	r.do(r.browser(remove("/v1/devices/A", "")))
	r.events.take(t, 0)
	r.run(t, []scenario{
		{name: "of a device and a contact that are gone", req: post(third+"/done", "", done), status: 200, anyEvents: true, want: map[string]any{"data.work_order.unit": "Vaccines", "data.work_order.result.performed.name": "Kim"}},
		{name: "after its time", before: func(r *rig) { r.advance(31 * 24 * time.Hour) }, req: get(third, ""), status: 403, code: rimewatch.CodeForbidden, contains: []string{"expired"}},
	})
}
