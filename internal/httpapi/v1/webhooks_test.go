package v1

import (
	"fmt"
	"strings"
	"testing"

	"github.com/rimewatch/rimewatch"
)

// TestWebhooks: a program makes webhooks for what it may read itself, sees its secret once and
// no credential again, and has events sent again from a place that is kept.
func TestWebhooks(t *testing.T) {
	r := newRig(t)
	all := r.token(r.workspace.ID, rimewatch.ScopesAdmin)
	few := r.token(r.workspace.ID, rimewatch.ScopeWebhooks|rimewatch.ScopeAlertsRead)
	const hook = "data.webhook"
	a := r.do(post("/v1/webhooks", all, `{"url":"https://erp.example.com/in?key=hidden","description":"ERP","types":["alert.opened","alert.resolved"],"headers":{"Authorization":"Bearer hidden"}}`))
	secret, _ := a.get("data.secret").(string)
	if a.status != 201 || !strings.HasPrefix(secret, "whsec_") || strings.Contains(a.body, "hidden") || a.get(hook+".url") != "https://erp.example.com/•••" {
		t.Fatalf("%d %s", a.status, a.body)
	}
	_, newest, err := r.store.Outbox().EventRange(t.Context(), r.workspace.ID)
	if err != nil {
		t.Fatal(err)
	}
	refused := func(name, body, field string) scenario {
		return scenario{name: name, req: post("/v1/webhooks", all, body), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{field}}
	}
	r.events.take(t, 0)
	r.run(t, []scenario{
		refused("an unknown type", `{"url":"https://x.example","types":["alert.rang"]}`, "types"),
		refused("a type twice", `{"url":"https://x.example","types":["alert.opened","alert.opened"]}`, "types"),
		refused("a site of nobody", `{"url":"https://x.example","site_ids":[99]}`, "site_ids"),
		refused("no sites", `{"url":"https://x.example","site_ids":[]}`, "site_ids"),
		refused("a header of ours", `{"url":"https://x.example","headers":{"webhook-id":"x"}}`, "headers"),
		refused("a header that breaks the line", `{"url":"https://x.example","headers":{"X":"a\r\nb"}}`, "headers"),
		refused("no URL", `{"url":"ftp://x.example"}`, "url"),
		refused("a password in the URL", `{"url":"https://a:b@x.example"}`, "url"),
		refused("a short secret", `{"url":"https://x.example","secret":"whsec_AAAA"}`, "secret"),
		{name: "more than it may read", req: post("/v1/webhooks", few, `{"url":"https://x.example"}`), status: 403, code: rimewatch.CodeForbidden, fields: []string{"scope"}},
		{name: "what it may read", req: post("/v1/webhooks", few, `{"url":"https://x.example","types":["alert.opened"]}`), status: 201, want: map[string]any{hook + ".id": 2, hook + ".working": nil}},
		{name: "more later", req: patch("/v1/webhooks/2", few, `{"types":["token.created"]}`), status: 403, code: rimewatch.CodeForbidden, fields: []string{"scope"}},
		{name: "without the scope", req: get("/v1/webhooks", r.full), status: 403, code: rimewatch.CodeForbidden, fields: []string{"scope"}},
		{name: "list", req: get("/v1/webhooks", all), status: 200, lacks: []string{"hidden", "whsec_"}, want: map[string]any{"data.webhooks.0.headers.0": "Authorization", "data.webhooks.0.types.1": "alert.resolved", "data.webhooks.2": nil, "data.pagination.total": 2}},
		{name: "switch off", req: patch("/v1/webhooks/1", all, `{"enabled":false}`), status: 200, want: map[string]any{hook + ".enabled": false, hook + ".off_reason": nil, hook + ".description": "ERP"}},
		{name: "rotate", req: post("/v1/webhooks/1/rotate", all, `{"overlap_s":3600}`), status: 200, lacks: []string{secret}, want: map[string]any{hook + ".old_secret_until": "2026-11-20T13:00:00.000Z"}},
		{name: "ping", req: post("/v1/webhooks/1/ping", all, ""), status: 200, want: map[string]any{"data.delivery.status": "sent"}},
		{name: "deliveries", req: get("/v1/webhooks/1/deliveries", all), status: 200, want: map[string]any{"data.deliveries.0.status": "sent", "data.deliveries.1": nil, "data.pagination.total": 1}},
		{name: "replay", req: post("/v1/webhooks/1/replay", all, fmt.Sprintf(`{"from":%q}`, rimewatch.EventID(r.workspace.ID, 2))), status: 200, want: map[string]any{hook + ".waiting": float64(newest - 1)}},
		{name: "replay from a time", req: post("/v1/webhooks/1/replay", all, `{"from":"2026-11-20T12:00:01Z"}`), status: 200, want: map[string]any{hook + ".waiting": float64(0)}},
		{name: "replay of another's", req: post("/v1/webhooks/1/replay", all, fmt.Sprintf(`{"from":%q}`, rimewatch.EventID(r.other.ID, 1))), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"from"}},
		{name: "replay of what is not yet", req: post("/v1/webhooks/1/replay", all, fmt.Sprintf(`{"from":%q}`, rimewatch.EventID(r.workspace.ID, 900))), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"from"}},
	})
	if err := r.store.ExpireEvents(t.Context(), r.workspace.ID, 0, 1); err != nil {
		t.Fatal(err)
	}
	if a := r.do(post("/v1/webhooks/1/replay", all, fmt.Sprintf(`{"from":%q}`, rimewatch.EventID(r.workspace.ID, 1)))); a.status != 410 || a.get("error.code") != "cursor_expired" {
		t.Errorf("too late: %d %s", a.status, a.body)
	}
	w, err := r.store.Outbox().Webhooks().Get(t.Context(), r.workspace.ID, 1)
	if err != nil || len(w.Secrets(r.now())) != 2 || w.OldSecret != secret || len(w.Secrets(w.OldSecretUntil)) != 1 {
		t.Errorf("the secrets: %v %v", w.Secrets(r.now()), err)
	}
}
