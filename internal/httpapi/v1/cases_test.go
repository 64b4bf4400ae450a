package v1

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/jpeg"
	"strings"
	"testing"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/account"
	"github.com/rimewatch/rimewatch/internal/store"
)

// newCase has a walk-in cooler A get critically warm and cold again, and returns the rig.
func newCase(t *testing.T, change ...func(*whole)) *rig {
	t.Helper()
	r := newRig(t, change...)
	r.do(post("/v1/devices", r.full, `{"serial":"A","name":"Vaccines","equipment_type":"vaccine_refrigerator","limits":{"delay_s":0,"critical_delay_s":0,"clear_s":0}}`))
	r.do(post("/v1/devices", r.full, `{"serial":"B","name":"Other","equipment_type":"walkin_cooler"}`))
	for _, temp := range []float64{4, 30, 31, 4, 4} {
		r.do(post("/v1/readings", r.feed, fmt.Sprintf(`{"device_serial":"A","recorded_at":%q,"product_zone_temp":%v}`, r.now(), temp)))
		r.advance(10 * time.Minute)
	}
	r.events.take(t, 0)
	return r
}

// person makes a member with a session of its own and returns what puts it into a request.
func (r *rig) person(t *testing.T, name string, role rimewatch.Role) func(request) request {
	t.Helper()
	a := r.do(r.browser(post("/v1/members", "", fmt.Sprintf(`{"email":"%s@example.com","role":%q}`, strings.ToLower(name), role))))
	secret, _ := a.get("data.secret").(string)
	in, err := r.accounts.AcceptAsNew(t.Context(), secret, account.NewPerson{Name: name, Password: ownerPassword}, r.now())
	if err != nil {
		t.Fatal(err, a.body)
	}
	return func(q request) request { return as(in.Secret, q) }
}

// records is a token with the scope of records alone.
func (r *rig) records(t *testing.T) string {
	t.Helper()
	_, plain, err := r.accounts.CreateToken(t.Context(), account.Operator(r.workspace.ID), account.TokenRequest{Name: "records", Scopes: rimewatch.ScopeRecords}, r.now())
	if err != nil {
		t.Fatal(err)
	}
	return plain
}

const sign = "/v1/cases/1/sign"

// TestCase: the walk of somebody who answers for a cooler that was too warm.
func TestCase(t *testing.T) {
	r := newCase(t)
	ben := r.person(t, "Ben", rimewatch.RoleTechnician)
	viewer := r.person(t, "Vera", rimewatch.RoleViewer)
	token := r.records(t)
	action := `{"cause":"Door ajar","action":"Moved to unit 2","disposition":"hold","disposition_detail":"Quarantined","product":"Lot 7"}`
	is := func(name string, v any) map[string]any { return map[string]any{"data." + name: v} }
	r.run(t, []scenario{
		{name: "it was opened", req: get("/v1/cases", token), status: 200, want: map[string]any{
			"data.cases.0.id": 1, "data.cases.0.status": "open", "data.cases.0.device_serial": "A", "data.cases.0.critical": true, "data.cases.1": nil, "data.pagination.total": 1, "data.pagination.per_page": 15,
			"data.cases.0.lines.0.kind": "alert", "data.cases.0.lines.1.kind": "excursion",
		}},
		{name: "of a device", req: get("/v1/cases?device=b", token), status: 200, want: is("pagination.total", 0)},
		{name: "of an unknown device", req: get("/v1/cases?device=XYZ", token), status: 200, want: is("pagination.total", 0)},
		{name: "of an alert", req: get("/v1/cases?alert_id=1", token), status: 200, want: is("cases.0.id", 1)},
		{name: "of an excursion", req: get("/v1/cases?excursion_id=1", token), status: 200, want: is("cases.0.id", 1)},
		{name: "as the alert says", req: get("/v1/alerts/1", r.full), status: 200, want: is("alert.case_id", 1)},
		{name: "as the excursion says", req: get("/v1/excursions", r.full), status: 200, want: is("excursions.0.case_id", 1)},
		{name: "nothing waits by default", req: get("/v1/cases?waiting=true", token), status: 200, want: is("pagination.total", 0)},
		{name: "signed ones", req: get("/v1/cases?status=signed", token), status: 200, want: is("pagination.total", 0)},
		{name: "by a viewer", req: viewer(get("/v1/cases", "")), status: 200, want: is("pagination.total", 1)},
		{name: "without the scope", req: get("/v1/cases", r.full), status: 403, code: rimewatch.CodeForbidden},
		{name: "of another workspace", req: get("/v1/cases/1", r.otherFull), status: 403, code: rimewatch.CodeForbidden},
		{name: "medicine", req: get("/v1/cases/1", token), status: 200, want: map[string]any{
			"data.goods.kind": "medicine", "data.goods.outcomes.0.detail": "Quarantined", "data.goods.outcomes.0.disposition": "hold", "data.devices.0.serial": "A", "data.peak": 31,
			"data.first_signature": false, "data.devices.0.limits.temp_max": 8,
		}, contains: []string{"do not discard it", `"kind":"opened"`, `"kind":"resolved"`}},
		{name: "sign before anything is on record", req: r.browser(post(sign, "", `{"meaning":"approved","email":"olga@example.com","password":"`+ownerPassword+`"}`)), status: 409, code: rimewatch.CodeConflict},
		{name: "an action by a viewer", req: viewer(post("/v1/cases/1/actions", "", action)), status: 403, code: rimewatch.CodeForbidden},
		{name: "an action to come", req: ben(post("/v1/cases/1/actions", "", strings.Replace(action, "{", `{"performed_at":"2027-01-01T00:00:00Z",`, 1))), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"performed_at"}},
		{name: "of another device", req: ben(post("/v1/cases/1/actions", "", strings.Replace(action, "{", `{"device_serial":"B",`, 1))), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"device_serial"}},
		{name: "an action", req: ben(post("/v1/cases/1/actions", "", action)), status: 201, want: map[string]any{"data.corrective_action.case_id": 1, "data.corrective_action.performed.kind": "person", "data.corrective_action.disposition_detail": "Quarantined"}, anyEvents: true},
		{name: "of an unknown case", req: ben(post("/v1/cases/9/actions", "", action)), status: 404, code: rimewatch.CodeNotFound},
		{name: "by a token", req: post("/v1/cases/1/actions", token, `{"performed_by":"Cleo","cause":"c","action":"a"}`), status: 201, want: map[string]any{"data.corrective_action.performed.kind": "token", "data.corrective_action.disposition": nil}, anyEvents: true},
		{name: "documented", req: get("/v1/cases/1", token), status: 200, want: map[string]any{"data.case.status": "documented", "data.actions.0.action": "Moved to unit 2", "data.actions.1.performed.token": "records"}},
		{name: "through the alert it is the same record", req: ben(post("/v1/alerts/1/corrective-action", "", action)), status: 201, want: is("corrective_action.case_id", 1), anyEvents: true},
	})
}

// TestSignCase: who signs is shown each time, with two components for the first of a session.
func TestSignCase(t *testing.T) {
	r := newCase(t)
	ben := r.person(t, "Ben", rimewatch.RoleTechnician)
	token := r.records(t)
	r.do(ben(post("/v1/cases/1/actions", "", `{"cause":"c","action":"a"}`)))
	r.events.take(t, 0)
	body := func(meaning, rest string) string { return `{"meaning":"` + meaning + `"` + rest + `}` }
	mail, secret := `,"email":"olga@example.com"`, `,"password":"`+ownerPassword+`"`
	r.run(t, []scenario{
		{name: "a program", req: post(sign, token, body("approved", "")), status: 403, code: rimewatch.CodeForbidden},
		{name: "without proof", req: r.browser(post(sign, "", body("approved", ""))), status: 403, code: rimewatch.CodeProofRequired, fields: []string{"email", "password"}},
		{name: "the first with one component", req: r.browser(post(sign, "", body("approved", secret))), status: 403, code: rimewatch.CodeProofRequired, fields: []string{"email"}},
		{name: "another's address", req: r.browser(post(sign, "", body("approved", `,"email":"ben@example.com"`+secret))), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"email"}},
		{name: "a wrong password", req: r.browser(post(sign, "", body("approved", mail+`,"password":"no"`))), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"password"}},
		{name: "a code without a second factor", req: r.browser(post(sign, "", body("approved", mail+`,"code":"123456"`))), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"code"}},
		{name: "no meaning", req: r.browser(post(sign, "", `{"meaning":"seen"}`)), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"meaning"}},
		{name: "whoever did it cannot approve it", req: ben(post(sign, "", body("approved", ""))), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"meaning"}},
		{name: "nobody has signed", req: r.browser(get("/v1/cases/1", "")), status: 200, want: map[string]any{"data.case.status": "documented", "data.first_signature": true, "data.signatures.0": nil}},
		{name: "with both", req: r.browser(post(sign, "", body("reviewed", mail+secret))), status: 201, want: map[string]any{
			"data.case.status": "signed", "data.signatures.0.name": "Olga", "data.signatures.0.meaning": "reviewed", "data.signatures.0.covers": true, "data.signatures.0.whole": true, "data.first_signature": false,
		}},
		{name: "the next with nothing", req: r.browser(post(sign, "", body("approved", ""))), status: 403, code: rimewatch.CodeProofRequired, fields: []string{"password"}},
		{name: "the next with one", req: r.browser(post(sign, "", body("approved", secret))), status: 201, want: map[string]any{"data.signatures.1.meaning": "approved"}},
		{name: "what is added is not covered", req: ben(post("/v1/cases/1/actions", "", `{"cause":"c","action":"late"}`)), status: 201, anyEvents: true},
		{name: "as the case says", req: r.browser(get("/v1/cases/1", "")), status: 200, want: map[string]any{"data.case.status": "documented", "data.signatures.0.covers": false, "data.signatures.0.whole": true}},
		{name: "in the audit trail", req: r.browser(get("/v1/audit?action=case.signed", "")), status: 200, want: map[string]any{"data.pagination.total": 2, "data.entries.0.actor": "Olga <olga@example.com>", "data.entries.0.subject": "case 1", "data.chain_ok": true}},
		{name: "an ended session", req: r.browser(post(sign, "", body("approved", secret))), before: func(r *rig) { r.advance(400 * 24 * time.Hour) }, status: 401, code: rimewatch.CodeUnauthenticated},
	})
	list, err := r.store.Records().Signatures(t.Context(), r.workspace.ID, 1)
	if err != nil || len(list) != 2 {
		t.Fatal(list, err)
	}
	var content map[string]any
	if err := json.Unmarshal([]byte(list[0].Content), &content); err != nil || content["name"] != "Olga" || content["meaning"] != "reviewed" {
		t.Errorf("what was signed: %s, %v", list[0].Content, err)
	}
	if list[0].Proof != "email+password" || list[1].Proof != "password" {
		t.Errorf("proofs: %s, %s", list[0].Proof, list[1].Proof)
	}
}

// TestDocumentCase: what has no case gets one when a person asks for it.
func TestDocumentCase(t *testing.T) {
	r := newCase(t)
	token := r.records(t)
	span := `{"device_serial":"B","from":"2026-11-19T10:00:00Z","to":"2026-11-19T11:00:00Z"}`
	r.run(t, []scenario{
		{name: "of what has one", req: post("/v1/cases", token, `{"alert_id":1}`), status: 201, want: map[string]any{"data.case.id": 1, "data.case.opened_by": nil}},
		{name: "of a span", req: post("/v1/cases", token, span), status: 201, want: map[string]any{"data.case.id": 2, "data.case.opened_by": "token records", "data.case.lines.0.kind": "span", "data.goods.kind": "food"}},
		{name: "of the same span", req: post("/v1/cases", token, span), status: 201, want: map[string]any{"data.case.id": 2}},
		{name: "of two things", req: post("/v1/cases", token, `{"alert_id":1,"excursion_id":1}`), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"alert_id"}},
		{name: "of nothing", req: post("/v1/cases", token, `{}`), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"alert_id"}},
		{name: "of a span to come", req: post("/v1/cases", token, `{"device_serial":"B","from":"2026-11-19T10:00:00Z","to":"2027-11-19T11:00:00Z"}`), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"to"}},
		{name: "of a span backwards", req: post("/v1/cases", token, `{"device_serial":"B","from":"2026-11-19T10:00:00Z","to":"2026-11-18T11:00:00Z"}`), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"to"}},
		{name: "of an unknown device", req: post("/v1/cases", token, strings.Replace(span, `"B"`, `"X"`, 1)), status: 422, code: rimewatch.CodeUnknownDevice, fields: []string{"device_serial"}},
		{name: "of an unknown alert", req: post("/v1/cases", token, `{"alert_id":99}`), status: 404, code: rimewatch.CodeAlertNotFound},
		{name: "of an unknown excursion", req: post("/v1/cases", token, `{"excursion_id":99}`), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"excursion_id"}},
	})
}

// TestPaperwork: what the workspace wants documented waits until it is.
func TestPaperwork(t *testing.T) {
	r := newCase(t)
	waiting := func(n int) map[string]any { return map[string]any{"data.pagination.total": n} }
	set := func(rule string) scenario {
		return scenario{name: rule, req: r.browser(patch("/v1/workspace", "", `{"require_action":"`+rule+`"}`)), status: 200, want: map[string]any{"data.workspace.require_action": rule}}
	}
	r.run(t, []scenario{
		set("critical"),
		{name: "the critical one", req: r.browser(get("/v1/cases?waiting=true", "")), status: 200, want: waiting(1)},
		{name: "in the summary", req: r.browser(get("/v1/devices/health/summary", "")), status: 200, want: map[string]any{"data.paperwork.cases": 1, "data.paperwork.oldest_at": "2026-11-20T12:10:00.000Z"}},
		set("none"),
		{name: "none", req: r.browser(get("/v1/devices/health/summary", "")), status: 200, want: map[string]any{"data.paperwork.cases": 0, "data.paperwork.oldest_at": nil}},
		set("all"),
		{name: "it is documented", req: r.browser(post("/v1/cases/1/actions", "", `{"cause":"c","action":"a"}`)), status: 201, anyEvents: true},
		{name: "nothing waits", req: r.browser(get("/v1/cases?waiting=true", "")), status: 200, want: waiting(0)},
		{name: "no rule", req: r.browser(patch("/v1/workspace", "", `{"require_action":"some"}`)), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"require_action"}},
	})
}

// TestAttachments: photos and documents of a case, as they are kept and given out.
func TestAttachments(t *testing.T) {
	r := newCase(t)
	ben := r.person(t, "Ben", rimewatch.RoleTechnician)
	token := r.records(t)
	var b bytes.Buffer
	if err := jpeg.Encode(&b, image.NewGray(image.Rect(0, 0, 40, 30)), nil); err != nil {
		t.Fatal(err)
	}
	file := func(name, kind, body string) request {
		return post("/v1/cases/1/attachments?name="+name, "", body).with("Content-Type", kind)
	}
	by := func(q request) request { q.token = token; return q }
	r.run(t, []scenario{
		{name: "a photo", req: ben(file("probe.JPG", "image/jpeg", b.String())), status: 201, want: map[string]any{
			"data.attachment.id": 1, "data.attachment.name": "probe.JPG", "data.attachment.type": "image/jpeg", "data.attachment.width": 40, "data.attachment.by.kind": "person", "data.attachment.url": "/api/v1/cases/1/attachments/1",
		}},
		{name: "a document by a program", req: by(file("../../invoice", "application/pdf", "%PDF-1.7 invoice")), status: 201, want: map[string]any{"data.attachment.name": "invoice.pdf", "data.attachment.width": nil, "data.attachment.by.kind": "token"}},
		{name: "an SVG", req: ben(file("x.svg", "image/svg+xml", "<svg/>")), status: 415, code: rimewatch.CodeUnsupportedMedia},
		{name: "an SVG that says PNG", req: ben(file("x.png", "image/png", "<svg/>")), status: 415, code: rimewatch.CodeUnsupportedMedia},
		{name: "half a photo", req: ben(file("x.jpg", "image/jpeg", b.String()[:30])), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"file"}},
		{name: "too large", req: ben(file("x.pdf", "application/pdf", "%PDF-1.7"+strings.Repeat(" ", rimewatch.MaxAttachment))), status: 413, code: rimewatch.CodePayloadTooLarge},
		{name: "to no case", req: ben(post("/v1/cases/9/attachments", "", b.String()).with("Content-Type", "image/jpeg")), status: 404, code: rimewatch.CodeNotFound},
		{name: "with the case", req: get("/v1/cases/1", token), status: 200, want: map[string]any{"data.attachments.0.name": "probe.JPG", "data.attachments.1.name": "invoice.pdf", "data.attachments.2": nil, "data.case.status": "open"}},
		{name: "its bytes", req: get("/v1/cases/1/attachments/1", token), status: 200, header: map[string]string{"Content-Type": "image/jpeg", "X-Content-Type-Options": "nosniff", "Content-Disposition": `inline; filename="attachment-1.JPG"`}},
		{name: "a document is saved", req: get("/v1/cases/1/attachments/2", token), status: 200, contains: []string{"%PDF-1.7 invoice"}, header: map[string]string{
			"Content-Disposition": `attachment; filename="attachment-2.pdf"`, "Content-Security-Policy": "default-src 'none'; sandbox", "X-Content-Type-Options": "nosniff",
		}},
		{name: "none", req: get("/v1/cases/1/attachments/9", token), status: 404, code: rimewatch.CodeNotFound},
		{name: "the dossier", req: get("/v1/cases/1/report.pdf", token), status: 200, contains: []string{"%PDF-"}, header: map[string]string{"Content-Type": "application/pdf"}},
		{name: "of no case", req: get("/v1/cases/9/report.pdf", token), status: 404, code: rimewatch.CodeNotFound},
		{name: "in the audit trail", req: r.browser(get("/v1/audit?action=case.attached", "")), status: 200, want: map[string]any{"data.pagination.total": 2, "data.chain_ok": true}},
	})
}

// TestCaseOutlivesPeople: the name on a record stays when its account is erased.
func TestCaseOutlivesPeople(t *testing.T) {
	r := newCase(t)
	ben := r.person(t, "Ben", rimewatch.RoleTechnician)
	r.do(ben(post("/v1/cases/1/actions", "", `{"cause":"c","action":"a"}`)))
	a := r.do(ben(post(sign, "", `{"meaning":"performed","email":"ben@example.com","password":"`+ownerPassword+`"}`)))
	if a.status != 201 {
		t.Fatal(a.body)
	}
	u, err := r.store.People().UserByEmail(t.Context(), "ben@example.com")
	if err == nil {
		_, err = r.store.People().EraseUser(store.WithActor(t.Context(), "Ben"), u.ID, r.now())
	}
	if err != nil {
		t.Fatal(err)
	}
	a = r.do(r.browser(get("/v1/cases/1", "")))
	for path, want := range map[string]any{"data.signatures.0.name": "Ben", "data.signatures.0.whole": true, "data.signatures.0.covers": true, "data.actions.0.performed_by": "Ben"} {
		if got := a.get(path); got != want {
			t.Errorf("%s is %v, want %v", path, got, want)
		}
	}
	if broken, err := r.store.Audit().VerifyAudit(t.Context(), r.workspace.ID); broken != 0 || err != nil {
		t.Error(broken, err)
	}
}
