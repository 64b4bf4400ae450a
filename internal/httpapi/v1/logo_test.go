package v1

import (
	"bytes"
	"image"
	"image/png"
	"strings"
	"testing"

	"github.com/rimewatch/rimewatch"
)

// tinyPNG is an image of two pixels.
var tinyPNG = func() string {
	var b bytes.Buffer
	_ = png.Encode(&b, image.NewNRGBA(image.Rect(0, 0, 2, 1)))
	return b.String()
}()

// TestLogo: admins set it, every member sees it, other workspaces do not.
func TestLogo(t *testing.T) {
	r := newRig(t)
	viewer, admin := r.person(t, "Vic", rimewatch.RoleViewer), r.person(t, "Ada", rimewatch.RoleAdmin)
	set := func(kind, body string) request { return put("/v1/workspace/logo", "", body).with("Content-Type", kind) }
	r.run(t, []scenario{
		{name: "none yet", req: viewer(get("/v1/workspace/logo", "")), status: 404, code: rimewatch.CodeNotFound},
		{name: "a viewer sets none", req: viewer(set("image/png", tinyPNG)), status: 403, code: rimewatch.CodeForbidden},
		{name: "a drawing", req: admin(set("image/svg+xml", "<svg/>")), status: 415, code: rimewatch.CodeUnsupportedMedia},
		{name: "a document that says PNG", req: admin(set("image/png", "%PDF-1.7")), status: 415, code: rimewatch.CodeUnsupportedMedia},
		{name: "half of one", req: admin(set("image/png", tinyPNG[:20])), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"file"}},
		{name: "too large", req: admin(set("image/png", tinyPNG+strings.Repeat(" ", rimewatch.MaxLogo))), status: 413, code: rimewatch.CodePayloadTooLarge},
		{name: "still none", req: r.browser(get("/v1/workspace", "")), status: 200, want: map[string]any{"data.workspace.logo_at": nil}},
		{name: "set", req: admin(set("image/png", tinyPNG)), status: 200, want: map[string]any{"data.workspace.logo_at": "2026-11-20T12:00:00.000Z"}},
		{name: "seen", req: viewer(get("/v1/workspace/logo", "")), status: 200, contains: []string{"\x89PNG"}, header: map[string]string{"Content-Type": "image/png", "X-Content-Type-Options": "nosniff"}},
		{name: "not by others", req: get("/v1/workspace/logo", r.otherFull), status: 403, code: rimewatch.CodeForbidden},
		{name: "on a log", req: r.browser(get("/v1/reports/temperature-log?format=pdf", "")), status: 200, contains: []string{"/Subtype /Image"}},
		{name: "removed", req: admin(remove("/v1/workspace/logo", "")), status: 200, want: map[string]any{"data.workspace.logo_at": nil}},
		{name: "gone", req: viewer(get("/v1/workspace/logo", "")), status: 404, code: rimewatch.CodeNotFound},
		{name: "in the trail", req: r.browser(get("/v1/audit?action=workspace.updated", "")), status: 200, want: map[string]any{"data.entries.0.actor": "Ada <ada@example.com>", "data.entries.0.text": "Logo: Fri 20 Nov 2026, 12:00 (UTC) → nothing"}},
	})
}
