package v1

import (
	"testing"

	"github.com/rimewatch/rimewatch"
)

// TestWorkspaceOfARequest: a page says which of the person's workspaces it is about, whatever another page
// of the same session does meanwhile.
func TestWorkspaceOfARequest(t *testing.T) {
	r := newRig(t)
	ctx := t.Context()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	u, err := r.store.People().UserByEmail(ctx, "olga@example.com")
	must(err)
	must(r.store.People().PutMember(ctx, &rimewatch.Member{WorkspaceID: r.other.ID, UserID: u.ID, Role: rimewatch.RoleViewer}))
	third, err := r.accounts.FindWorkspace(ctx, "Gamma", true, r.now())
	must(err)
	in := func(slug string, q request) request { return r.browser(q).with("Rimewatch-Workspace", slug) }
	token := func(slug string) request { return get("/v1/sites", r.full).with("Rimewatch-Workspace", slug) }
	r.run(t, []scenario{
		{name: "the last one", req: r.browser(get("/v1/me", "")), status: 200, want: map[string]any{"data.workspace.slug": "alpha", "data.memberships.1.workspace_slug": "beta"}},
		{name: "the one that is named", req: in("beta", get("/v1/me", "")), status: 200, want: map[string]any{"data.workspace.slug": "beta", "data.role": "viewer"}},
		{name: "the role there counts", req: in("beta", post("/v1/devices", "", `{"serial":"B-1"}`)), status: 403, code: rimewatch.CodeForbidden},
		{name: "the other page goes on", req: in("alpha", post("/v1/devices", "", `{"serial":"A-1"}`)), status: 201, events: []string{"device.created"}},
		{name: "which the first does not see", req: in("beta", get("/v1/devices/A-1", "")), status: 404, code: rimewatch.CodeDeviceNotFound},
		{name: "nor does it change the last one", req: r.browser(get("/v1/devices/A-1", "")), status: 200},
		{name: "somebody else's", req: in(third.Slug, get("/v1/me", "")), status: 404, code: rimewatch.CodeNotFound},
		{name: "nobody's", req: in("nobody", get("/v1/me", "")), status: 404, code: rimewatch.CodeNotFound},
		{name: "in Cyrillic", req: in("кухня", get("/v1/me", "")), status: 404, code: rimewatch.CodeNotFound},
		{name: "the page that asks who is there", req: in(third.Slug, get("/v1/setup", "")), status: 200, want: map[string]any{"data.signed_in": true, "data.role": nil}},
		{name: "a token's own", req: token("alpha"), status: 200},
		{name: "not a token's own", req: token("beta"), status: 409, code: rimewatch.CodeWrongWorkspace},
		{name: "nor one that is none", req: token("nobody"), status: 409, code: rimewatch.CodeWrongWorkspace},
		{name: "a reading for another", req: post("/v1/readings", r.full, `{"device_serial":"A-1","product_zone_temp":4}`).with("Rimewatch-Workspace", "beta"), status: 409, code: rimewatch.CodeWrongWorkspace},
		{name: "renamed", req: r.browser(patch("/v1/workspace", "", `{"slug":"ice-house"}`)), status: 200, want: map[string]any{"data.workspace.slug": "ice-house"}},
		{name: "an old link", req: in("alpha", get("/v1/me", "")), status: 200, want: map[string]any{"data.workspace.slug": "ice-house"}},
		{name: "an old setting of a program", req: token("alpha"), status: 200},
		{name: "taken", req: r.browser(patch("/v1/workspace", "", `{"slug":"beta"}`)), status: 409, code: rimewatch.CodeConflict},
		{name: "no slug", req: r.browser(patch("/v1/workspace", "", `{"slug":"Ice House"}`)), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"slug"}},
		{name: "too short", req: r.browser(patch("/v1/workspace", "", `{"slug":"i"}`)), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"slug"}},
		{name: "in Cyrillic, too", req: r.browser(patch("/v1/workspace", "", `{"slug":"кухня"}`)), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"slug"}},
	})
}
