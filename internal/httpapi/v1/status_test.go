package v1

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/rimewatch/rimewatch"
)

// TestStatus: who has the link to a status page knows how the units of its sites
// are, and nothing else.
func TestStatus(t *testing.T) {
	r := newSitedRig(t)
	link := func(more string) (id int64, token string) {
		a := r.do(r.browser(post("/v1/tokens", "", `{"name":"Status page","scopes":["status:read"]`+more+`}`)))
		token, _ = a.get("data.plain_token").(string)
		number, _ := a.get("data.token.id").(float64)
		if token == "" || fmt.Sprint(a.get("data.token.scopes")) != "[status:read]" {
			t.Fatal(a.body)
		}
		return int64(number), token
	}
	id, here := link(fmt.Sprintf(`,"site_ids":[%d]`, r.here))
	_, all := link("")
	r.run(t, []scenario{
		{
			name: "one site", req: get("/v1/status", here), status: 200, anyEvents: true, lacks: []string{`"A"`, "NOWHERE", `"S"`, "serial", "@example.com"},
			want: map[string]any{
				"data.workspace": "Alpha", "data.sites.0.name": "Here", "data.sites.1": nil, "data.sites.0.counts.ok": 0, "data.sites.0.devices.0.name": "MINE",
				"data.sites.0.devices.0.equipment_type": "walkin_freezer", "data.sites.0.devices.0.temp": 20, "data.sites.0.devices.1": nil, "data.at": r.now().String(),
			},
		},
		{name: "the fleet", req: get("/v1/status", all), status: 200, contains: []string{`"A"`, "NOWHERE", "MINE"}, want: map[string]any{"data.sites.2.name": "", "data.sites.3": nil}},
		{name: "nothing else", req: get("/v1/devices", all), status: 403, code: rimewatch.CodeForbidden, fields: []string{"scope"}},
		{name: "not the readings", req: get("/v1/readings/latest", all), status: 403, code: rimewatch.CodeForbidden, fields: []string{"scope"}},
		{name: "no person", req: r.browser(get("/v1/status", "")), status: 403, code: rimewatch.CodeForbidden},
		{name: "no other token", req: get("/v1/status", r.read), status: 403, code: rimewatch.CodeForbidden, fields: []string{"scope"}},
		{name: "revoked", req: r.browser(remove(fmt.Sprintf("/v1/tokens/%d", id), "")), status: 200},
		{name: "gone", req: get("/v1/status", here), status: 401, code: rimewatch.CodeUnauthenticated},
		{name: "the other stays", req: get("/v1/status", all), status: 200},
	})
	var described struct {
		Paths map[string]map[string]struct{ Security []map[string]any }
	}
	if err := json.Unmarshal([]byte(r.do(get("/openapi.json", "")).body), &described); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{"/v1/status": "[map[token:[]]]", "/v1/devices": "[map[token:[]] map[session:[]]]", "/v1/members": "[map[token:[]] map[session:[]]]", "/v1/me": "[map[session:[]]]"} {
		if got := fmt.Sprint(described.Paths[path]["get"].Security); got != want {
			t.Errorf("%s is described with %s, want %s", path, got, want)
		}
	}
}
