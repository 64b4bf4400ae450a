package v1

import (
	"testing"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/httpapi"
)

func TestAudit(t *testing.T) {
	r := newRig(t)
	for _, q := range []request{
		post("/v1/sites", r.full, `{"name":"Hall"}`),
		r.browser(patch("/v1/sites/1", "", `{"name":"Market"}`)),
		post("/v1/sites", r.otherFull, `{"name":"Foreign"}`),
		r.browser(patch("/v1/sites/1", "", `{"name":"Market"}`)), // changes nothing
		r.browser(patch("/v1/sites/1", "", `{"timezone":"Mars/Olympus"}`)),
	} {
		r.do(q)
	}
	r.run(t, []scenario{
		{
			name: "newest first", req: r.browser(get("/v1/audit?per_page=2", "")), status: 200,
			want: map[string]any{
				"data.entries.0.actor": "Olga <olga@example.com>", "data.entries.0.action": "site.updated", "data.entries.0.subject": "site 1",
				"data.entries.0.at": "2026-11-20T12:00:00.000Z", "data.entries.0.detail.name.from": "Hall", "data.entries.0.detail.name.to": "Market",
				"data.entries.0.title": "Site updated", "data.entries.0.about": "site 1", "data.entries.0.text": "Name: Hall → Market",
				"data.entries.1.actor": "token test", "data.entries.1.action": "site.created", "data.entries.2": nil,
				"data.chain_ok": true, "data.pagination.per_page": 2, "data.pagination.last_page": 4,
			},
		},
		{
			name: "in Spanish", req: r.browser(get("/v1/audit?per_page=2", "")).with("Accept-Language", "es"), status: 200,
			want: map[string]any{"data.entries.0.title": "Local modificado", "data.entries.0.about": "local 1", "data.entries.0.text": "Nombre: Hall → Market", "data.entries.0.action": "site.updated"},
		},
		{name: "nothing of others", req: r.browser(get("/v1/audit?per_page=100", "")), status: 200, lacks: []string{"Foreign", "Beta"}},
		{name: "by action and subject", req: r.browser(get("/v1/audit?action=token.&subject=token%202", "")), status: 200, want: map[string]any{"data.entries.0.action": "token.created", "data.entries.1": nil, "data.pagination.total": 1}},
		{name: "who set it up", req: r.browser(get("/v1/audit?action=member.", "")), status: 200, want: map[string]any{"data.entries.0.actor": "Olga <olga@example.com>", "data.entries.0.detail.role": "owner"}},
		{name: "never by a token", req: get("/v1/audit", r.full), status: 403, code: rimewatch.CodeForbidden},
		{name: "bad page", req: r.browser(get("/v1/audit?page=0", "")), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"page"}},
		{name: "a foreign cursor", req: r.browser(get("/v1/audit?cursor="+r.cursors.Encode(httpapi.CursorAudit, r.other.ID, 3, 0), "")), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"cursor"}},
	})
	seen := 0
	for path := "/v1/audit?per_page=2"; ; {
		a := r.do(r.browser(get(path, "")))
		list, _ := a.get("data.entries").([]any)
		seen += len(list)
		cursor, _ := a.get("data.pagination.next_cursor").(string)
		if cursor == "" {
			break
		}
		path = "/v1/audit?per_page=2&cursor=" + cursor
	}
	if want := 9; seen != want { // with the token that was refused
		t.Errorf("the cursors lead to %d entries, want %d", seen, want)
	}
}
