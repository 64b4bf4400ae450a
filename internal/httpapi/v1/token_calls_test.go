package v1

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/account"
)

// TestTokenRequests: the owner of a token sees why its requests are refused, by whatever way they came, and nothing of what it sent.
func TestTokenRequests(t *testing.T) {
	r := newRig(t)
	r.device("A", "freezer")
	const secret = "Geheimnis-71"
	for range 3 {
		r.do(post("/v1/readings", r.feed, `{"device_serial":"A","humidity":"`+secret+`"}`))
	}
	r.do(post("/v1/readings/batch", r.feed, `{"readings":`))
	r.do(get("/v1/devices/"+secret, r.feed))
	r.do(get("/v1/"+secret, r.feed))
	for i := range 2 * rimewatch.TokenCallOf {
		if a := r.do(post("/v1/readings", r.feed, fmt.Sprintf(`{"device_serial":"A","humidity":%d}`, i%100))); a.status != http.StatusCreated {
			t.Fatal(a.status)
		}
	}
	tokens, err := r.accounts.Tokens(t.Context(), account.Operator(r.workspace.ID))
	if err != nil {
		t.Fatal(err)
	}
	id := tokens[1].ID // that of r.feed
	admin := r.token(r.workspace.ID, rimewatch.ScopeTokens)
	path := fmt.Sprintf("/v1/tokens/%d/requests", id)
	r.events.take(t, 0)
	r.run(t, []scenario{
		{name: "the newest", req: r.browser(get(path+"?per_page=2", "")), status: 200, want: map[string]any{
			"data.requests.0.status": 201.0, "data.requests.0.code": nil, "data.requests.0.path": "/v1/readings", "data.requests.0.method": "POST", "data.requests.0.times": 1.0, "data.requests.2": nil,
			"data.summary.2.code": "validation_failed", "data.summary.2.times": 3.0, "data.summary.2.path": "/v1/readings", "data.summary.2.fields": map[string]any{"humidity": "must be a number"},
			"data.summary.2.docs": "/docs/errors#validation_failed", "data.summary.1.code": "invalid_json", "data.summary.1.path": "/v1/readings/batch",
			"data.summary.0.code": "forbidden", "data.summary.0.path": "/v1/devices/{serial}", "data.summary.0.method": "GET", "data.summary.3": nil, "data.pagination.total": 7.0,
		}},
		{name: "in Spanish", req: request{method: "GET", path: "/api" + path, token: admin, header: map[string]string{"Accept-Language": "es"}}, status: 200, want: map[string]any{"data.summary.2.fields": map[string]any{"humidity": "debe ser un número"}}},
		{name: "a page behind the end", req: r.browser(get(path+"?page=9", "")), status: 200, want: map[string]any{"data.requests.0": nil}},
		{name: "unknown", req: r.browser(get("/v1/tokens/99/requests", "")), status: 404, code: rimewatch.CodeNotFound},
		{name: "of another workspace", req: get(path, r.token(r.other.ID, rimewatch.ScopesAdmin)), status: 404, code: rimewatch.CodeNotFound},
		{name: "without the scope", req: get(path, r.full), status: 403, code: rimewatch.CodeForbidden},
	})
	if a := r.do(r.browser(get(path+"?per_page=1000", ""))); strings.Contains(a.body, secret) || strings.Contains(a.body, r.feed) {
		t.Errorf("a value is kept: %s", a.body)
	}
}
