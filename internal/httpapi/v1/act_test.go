package v1

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
)

// carryOut carries out what is due.
func (r *rig) carryOut() {
	r.t.Helper()
	r.carryOutUntil(r.now())
}

func (r *rig) carryOutUntil(now rimewatch.Time) {
	r.t.Helper()
	due, err := r.store.Everywhere().AllDueActs(r.t.Context(), now, 100)
	for i := range due {
		if err == nil {
			err = r.api.CarryOut(r.t.Context(), &due[i])
		}
	}
	if err != nil {
		r.t.Fatal(err)
	}
}

// settled makes a request, and carries it out if it waits.
func (r *rig) settled(q request) answer {
	r.t.Helper()
	a := r.do(q)
	if a.status == 202 && a.get("data.act.id") != nil {
		r.carryOutUntil(r.now().Add(rimewatch.UndoTime))
	}
	return a
}

// idOf finds the person of a session.
func (r *rig) idOf(session string) int64 {
	r.t.Helper()
	p, err := r.accounts.AuthenticateSession(r.t.Context(), session, "", r.now())
	if err != nil {
		r.t.Fatal(err)
	}
	return p.UserID
}

// TestUndo: what ends, forgets or silences something is carried out ten seconds after a person
// has asked for it, unless it was taken back, and at once for a token.
func TestUndo(t *testing.T) {
	r := newRig(t, withSources)
	t.Cleanup(func() { checkUndoRoutes(t, r) })
	made := func(path, body, id string) string {
		t.Helper()
		a := r.do(r.browser(post(path, "", body)))
		if a.status != 201 {
			t.Fatalf("%s: %d %s", path, a.status, a.body)
		}
		return fmt.Sprint(a.get("data." + id))
	}
	north := made("/v1/sites", `{"name":"North","timezone":"UTC"}`, "site.id")
	south := made("/v1/sites", `{"name":"South","timezone":"UTC"}`, "site.id")
	mail := made("/v1/channels", `{"kind":"email","name":"Mail","to":["a@example.com"]}`, "channel.id")
	contact := made("/v1/contacts", `{"site_id":`+north+`,"name":"Polar","phone":"555 0142"}`, "contact.id")
	route := made("/v1/routes", `{"name":"All","steps":[{"after_s":0,"channel_ids":[`+mail+`]}]}`, "route.id")
	source := made("/v1/sources", `{"name":"Gateway"}`, "source.id")
	key := made("/v1/source-keys", `{"source_id":`+source+`,"name":"Board"}`, "source_key.id")
	r.device("A-1", "walkin_freezer")
	until := r.now().Add(time.Hour).String()
	gone := func(path string) func() bool {
		return func() bool { return r.do(r.browser(get(path, ""))).status == 404 }
	}
	silenced := func(n int) func() bool {
		return func() bool { return strings.Count(r.do(r.browser(get("/v1/silences", ""))).body, `"comment"`) >= n }
	}
	prefix := func() string {
		return fmt.Sprint(r.do(r.browser(get("/v1/source-keys/"+key, ""))).get("data.source_key.prefix"))
	}
	was := prefix()
	for _, tt := range []struct {
		name, about string
		req         request
		is          func() bool
	}{
		{"contact", "Polar", remove("/v1/contacts/"+contact, ""), gone("/v1/contacts/" + contact)},
		{"route", "All", remove("/v1/routes/"+route, ""), gone("/v1/routes/" + route)},
		{"channel", "Mail", remove("/v1/channels/"+mail, ""), gone("/v1/channels/" + mail)},
		{"device", "Unit A-1", remove("/v1/devices/A-1", ""), gone("/v1/devices/A-1")},
		{"key replaced", "Board", post("/v1/source-keys/"+key+"/replace", "", ""), func() bool { return prefix() != was }},
		{"key", "Board", remove("/v1/source-keys/"+key, ""), gone("/v1/source-keys/" + key)},
		{"source", "Gateway", remove("/v1/sources/"+source, ""), gone("/v1/sources/" + source)},
		{"site", "North", remove("/v1/sites/"+north, ""), gone("/v1/sites/" + north)},
		{"silence of everything", "holiday", post("/v1/silences", "", `{"match":{},"everything":true,"ends_at":"`+until+`","comment":"holiday"}`), silenced(1)},
		{"silence of severities", "", post("/v1/silences", "", `{"match":{"severities":["warning"]},"ends_at":"`+until+`"}`), silenced(2)},
	} {
		ask := func() string {
			t.Helper()
			a := r.do(r.browser(tt.req))
			if a.status != 202 || a.get("data.act.state") != "pending" || a.get("data.act.about") != tt.about || a.get("data.act.effective_at") != r.now().Add(rimewatch.UndoTime).String() {
				t.Fatalf("%s: %d %s", tt.name, a.status, a.body)
			}
			return fmt.Sprint(a.get("data.act.id"))
		}
		id := ask()
		if tt.name != "key replaced" && ask() != id {
			t.Errorf("%s: the same, twice, is two acts: who takes one back has the other", tt.name)
		}
		r.advance(rimewatch.UndoTime - time.Millisecond)
		r.carryOut()
		if tt.is() {
			t.Fatalf("%s: carried out before its time", tt.name)
		}
		if a := r.do(r.browser(get("/v1/acts", ""))); !strings.Contains(a.body, `"id":`+id+",") {
			t.Errorf("%s: is not listed: %s", tt.name, a.body)
		}
		if a := r.do(r.browser(post("/v1/acts/"+id+"/undo", "", ""))); a.status != 200 || a.get("data.act.state") != "undone" {
			t.Fatalf("%s: undo: %d %s", tt.name, a.status, a.body)
		}
		r.advance(time.Minute)
		r.carryOut()
		if tt.is() {
			t.Fatalf("%s: carried out although it was taken back", tt.name)
		}
		id = ask()
		r.advance(rimewatch.UndoTime)
		if a := r.do(r.browser(post("/v1/acts/"+id+"/undo", "", ""))); a.status != 409 {
			t.Errorf("%s: undo at its time: %d %s", tt.name, a.status, a.body)
		}
		r.carryOut()
		if !tt.is() {
			t.Fatalf("%s: was not carried out: %s", tt.name, r.do(r.browser(get("/v1/acts/"+id, ""))).body)
		}
	}
	r.events.take(t, 2)
	r.run(t, []scenario{
		{name: "a silence of one site does not wait", req: r.browser(post("/v1/silences", "", `{"match":{"site_ids":[`+south+`]},"ends_at":"`+until+`"}`)), status: 201},
		{name: "what there is not is refused at once", req: r.browser(remove("/v1/sites/"+north, "")), status: 404, code: rimewatch.CodeNotFound},
		{name: "so is what was changed meanwhile", req: r.browser(remove("/v1/sites/"+south, "")).with("If-Match", `"7"`), status: 412, code: rimewatch.CodePreconditionFailed},
		{name: "so is a silence that cannot be", req: r.browser(post("/v1/silences", "", `{"match":{},"everything":true,"ends_at":"2020-01-01T00:00:00Z"}`)), status: 422, code: rimewatch.CodeValidationFailed},
		{name: "they are in the trail", req: r.browser(get("/v1/audit?action=act.undone", "")), status: 200, want: map[string]any{"data.entries.0.actor": "Olga <olga@example.com>"}},
		{name: "no token has a part in it", req: get("/v1/acts", r.full), status: 403, code: rimewatch.CodeForbidden},
	})
	admin := r.token(r.workspace.ID, rimewatch.ScopesAdmin)
	if a := r.do(remove("/v1/sites/"+south, admin)); a.status != 200 {
		t.Errorf("a token waits: %d %s", a.status, a.body)
	}
}

// checkUndoRoutes: every deletion of a thing waits, or is listed with the reason why it does not.
func checkUndoRoutes(t *testing.T, r *rig) {
	atOnce := map[string]string{
		"revoke-token": "it shuts somebody out", "end-session": "it shuts somebody out", "end-other-sessions": "it shuts somebody out", "remove-member": "it shuts somebody out",
		"withdraw-invitation": "it shuts somebody out", "delete-workspace": "has a grace of seven days", "drop-held": "deletes what was never taken in",
		"delete-webhook": "is about programs", "delete-binding": "what its sender sends then waits", "remove-push-device": "is about oneself", "remove-my-channel": "is about oneself",
		"withdraw-rota-calendar": "it shuts somebody out", "delete-logo": "whoever has the file sets it again",
	}
	for _, rt := range r.api.Routes() {
		if rt.Method == "DELETE" && rt.Undo == nil && atOnce[rt.ID] == "" {
			t.Errorf("%s cannot be taken back", rt.ID)
		}
	}
}

// TestUndoOfAlerts: ending an alert or a prediction by hand waits; acknowledging does not.
func TestUndoOfAlerts(t *testing.T) {
	r := newRig(t)
	r.device("B-1", "walkin_freezer")
	r.do(post("/v1/devices", r.full, `{"serial":"A-1","name":"Unit A-1","equipment_type":"walkin_freezer","limits":{"delay_s":0,"critical_delay_s":0}}`))
	r.do(post("/v1/readings", r.feed, warm("A-1")))
	const at = "/v1/alerts/1"
	acknowledged := r.do(r.browser(post(at+"/acknowledge", "", "")))
	if acknowledged.status != 200 {
		t.Errorf("acknowledge: %d %s", acknowledged.status, acknowledged.body)
	}
	a := r.do(r.browser(post(at+"/resolve", "", `{"note":"door closed"}`)))
	if a.status != 202 || a.get("data.act.about") != "Unit A-1" {
		t.Fatalf("resolve: %d %s", a.status, a.body)
	}
	r.advance(rimewatch.UndoTime)
	r.carryOut()
	r.carryOut()
	got := r.do(r.browser(get(at, "")))
	if got.get("data.alert.status") != "resolved" || got.get("data.alert.resolved_by") != "Olga" || got.get("data.alert.note") != "door closed" {
		t.Errorf("after its time: %s", got.body)
	}
	if a := r.do(r.browser(post(at+"/resolve", "", ""))); a.status != 409 || a.code() != string(rimewatch.CodeAlertNotActive) {
		t.Errorf("resolve again: %d %s", a.status, a.body)
	}
}

// TestUndoRights: an act is carried out with the rights that the person has then, and is taken
// back by whoever may do the same, in the same workspace.
func TestUndoRights(t *testing.T) {
	r := newNotifyRig(t)
	admin := r.person(r.workspace.ID, rimewatch.RoleAdmin)
	r.device("A-1", "walkin_freezer")
	ask := func() string {
		t.Helper()
		a := r.do(as(r.technician, remove("/v1/devices/A-1", "")))
		if a.status != 202 {
			t.Fatalf("%d %s", a.status, a.body)
		}
		return fmt.Sprint(a.get("data.act.id"))
	}
	undo := func(id, who string) int {
		t.Helper()
		return r.do(as(who, post("/v1/acts/"+id+"/undo", "", ""))).status
	}
	id := ask()
	for who, session := range map[string]string{"a viewer": r.viewer, "a stranger": r.stranger} {
		if got := undo(id, session); got != 404 {
			t.Errorf("%s takes it back: %d", who, got)
		}
	}
	if got := undo(id, admin); got != 200 {
		t.Errorf("an admin does not take it back: %d", got)
	}
	id = ask()
	if _, err := r.store.People().DeleteMember(store.WithActor(t.Context(), "x"), r.workspace.ID, r.idOf(r.technician), r.now()); err != nil {
		t.Fatal(err)
	}
	r.advance(rimewatch.UndoTime)
	r.carryOut()
	got := r.do(r.browser(get("/v1/acts/"+id, "")))
	if got.get("data.act.state") != "failed" || got.get("data.act.failure") == "" || r.do(r.browser(get("/v1/devices/A-1", ""))).status != 200 {
		t.Errorf("one who is no member any more has deleted it: %s", got.body)
	}
	// A program with a session does not ask for time to think.
	if a := r.do(as(admin, remove("/v1/devices/A-1", "")).with("Prefer", "handling=lenient")); a.status != 200 || r.do(r.browser(get("/v1/devices/A-1", ""))).status != 404 {
		t.Errorf("without the preference: %d %s", a.status, a.body)
	}
}
