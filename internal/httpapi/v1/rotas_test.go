package v1

import (
	"testing"

	"github.com/rimewatch/rimewatch"
)

// TestRotas: who is on duty is asked, swapped and named by routes; what cannot be is refused and stores nothing.
func TestRotas(t *testing.T) {
	r := newNotifyRig(t)
	mine := func(q request) request { return r.browser(q) }
	at := func(clock string) string { return "/v1/rotas/1/on-duty?at=2026-11-20T" + clock + ":00Z" }
	rota := `{"name":"Nights","site_id":1,"shifts":[{"days":["fri"],"from":"22:00","to":"06:00","member_id":1}]`
	override := func(more string) string {
		return `{"overrides":[{"starts_at":"2026-11-20T13:00:00Z","ends_at":"2026-11-20T14:00:00Z"` + more + `}]}`
	}
	r.run(t, []scenario{
		{name: "a site in Tokyo", req: mine(post("/v1/sites", "", `{"name":"Harbour","timezone":"Asia/Tokyo"}`)), status: 201, anyEvents: true},
		{name: "somebody who is no member", req: mine(post("/v1/rotas", "", `{"name":"x","shifts":[{"days":["mon"],"from":"00:00","to":"00:00","member_id":99}]}`)), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"shifts"}},
		{name: "a day that is none", req: mine(post("/v1/rotas", "", `{"name":"x","shifts":[{"days":["monday"],"from":"00:00","to":"00:00","member_id":1}]}`)), status: 422, code: rimewatch.CodeValidationFailed},
		{name: "a minute that is none", req: mine(post("/v1/rotas", "", `{"name":"x","shifts":[{"days":["mon"],"from":"24:00","to":"00:00","member_id":1}]}`)), status: 422, code: rimewatch.CodeValidationFailed},
		{name: "no such site", req: mine(post("/v1/rotas", "", `{"name":"x","site_id":9}`)), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"site_id"}},
		{name: "nothing was stored", req: mine(get("/v1/rotas", "")), status: 200, want: map[string]any{"data.rotas": "[]"}},
		{name: "a rota", req: mine(post("/v1/rotas", "", rota+"}")), status: 201, want: map[string]any{
			"data.rota.shifts.0.days": "[fri]", "data.rota.shifts.0.from": "22:00", "data.rota.shifts.0.member_id": 1, "data.rota.on_duty": "[]", "data.rota.gaps.0.from": r.now(), "data.rota.gaps.0.to": "2026-11-20T13:00:00.000Z"}},
		{name: "the name is taken", req: mine(post("/v1/rotas", "", `{"name":"nights"}`)), status: 409, code: rimewatch.CodeConflict},
		{name: "before the shift in Tokyo", req: mine(get(at("12:59"), "")), status: 200, want: map[string]any{"data.on_duty": "[]", "data.until": "2026-11-20T13:00:00.000Z"}},
		{name: "in it", req: mine(get(at("13:00"), "")), status: 200, want: map[string]any{"data.on_duty.0.id": 1, "data.until": "2026-11-20T21:00:00.000Z"}},
		{name: "its end", req: mine(get(at("21:00"), "")), status: 200, want: map[string]any{"data.on_duty": "[]"}},
		{name: "a swap with oneself", req: mine(patch("/v1/rotas/1", "", override(`,"instead_of":1,"member_id":1`))), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"overrides"}},
		{name: "an override that ends before it begins", req: mine(patch("/v1/rotas/1", "", `{"overrides":[{"starts_at":"2026-11-20T13:00:00Z","ends_at":"2026-11-20T13:00:00Z"}]}`)), status: 422, code: rimewatch.CodeValidationFailed},
		{name: "a holiday", req: mine(patch("/v1/rotas/1", "", override(`,"instead_of":1`))), status: 200, want: map[string]any{"data.rota.overrides.0.instead_of": 1, "data.rota.overrides.0.member_id": nil}},
		{name: "nobody stands in", req: mine(get(at("13:00"), "")), status: 200, want: map[string]any{"data.on_duty": "[]"}},
		{name: "a viewer reads none", req: as(r.viewer, get("/v1/rotas", "")), status: 403, code: rimewatch.CodeForbidden},
		{name: "a step without anybody", req: mine(post("/v1/routes", "", `{"name":"R","steps":[{"after_s":0}]}`)), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"steps"}},
		{name: "a rota that is not there", req: mine(post("/v1/routes", "", `{"name":"R","steps":[{"after_s":0,"targets":[{"kind":"rota","id":9}]}]}`)), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"steps"}},
		{name: "a kind that is none", req: mine(post("/v1/routes", "", `{"name":"R","steps":[{"after_s":0,"targets":[{"kind":"dog","id":1}]}]}`)), status: 422, code: rimewatch.CodeValidationFailed},
		{name: "a channel", req: mine(post("/v1/channels", "", `{"name":"Kitchen","kind":"email","to":["kitchen@example.com"]}`)), status: 201},
		{name: "a route of all kinds", req: mine(post("/v1/routes", "", `{"name":"R","steps":[{"after_s":0,"targets":[{"kind":"channel","id":1},{"kind":"rota","id":1},{"kind":"member","id":1}]}]}`)), status: 201, want: map[string]any{
			"data.route.steps.0.channel_ids": "[1]", "data.route.steps.0.targets.0.kind": "rota", "data.route.steps.0.targets.1.kind": "member", "data.route.steps.0.targets.2": nil}},
		{name: "the gap is seen ahead", req: get("/v1/notifications/coverage", r.read), status: 200, want: map[string]any{"data.coverage.rota_gaps.0.name": "Nights", "data.coverage.rota_gaps.0.gaps.0.from": r.now(), "data.coverage.rota_gaps.0.site_ids": "[]", "data.coverage.rota_gaps.0.timezone": "Asia/Tokyo"}},
		{name: "a route of one site", req: mine(patch("/v1/routes/1", "", `{"match":{"site_ids":[1]}}`)), status: 200},
		{name: "it names that site", req: get("/v1/notifications/coverage", r.read), status: 200, want: map[string]any{"data.coverage.rota_gaps.0.site_ids": "[1]"}},
		{name: "when a hand-over is told", req: mine(patch("/v1/rotas/1", "", `{"tell_hand_over":"never"}`)), status: 200, want: map[string]any{"data.rota.tell_hand_over": "never"}},
		{name: "a choice that is none", req: mine(patch("/v1/rotas/1", "", `{"tell_hand_over":"sometimes"}`)), status: 422, code: rimewatch.CodeValidationFailed},
		{name: "not by others", req: get("/v1/notifications/coverage", r.otherFull), status: 200, want: map[string]any{"data.coverage.rota_gaps": "[]"}},
		{name: "a rota that a route names stays", req: mine(remove("/v1/rotas/1", "")), status: 409, code: rimewatch.CodeConflict},
		{name: "the route goes", req: mine(remove("/v1/routes/1", "")), status: 200},
		{name: "then the rota may", req: mine(remove("/v1/rotas/1", "")), status: 200},
		{name: "gone", req: mine(get(at("13:00"), "")), status: 404, code: rimewatch.CodeNotFound},
	})
}
