package v1

import (
	"testing"

	"github.com/rimewatch/rimewatch"
)

// TestOwnWays: a member adds, orders, hushes, tries and removes their own ways, and sees nobody else's; a mail goes to
// the member's address whatever the body says, and a program is nobody's way.
func TestOwnWays(t *testing.T) {
	r := newNotifyRig(t)
	mine := func(q request) request { return r.browser(q) }
	text := `"kind":"service","url":"ntfy://ntfy.sh/ada"`
	r.run(t, []scenario{
		{name: "none yet", req: mine(get("/v1/me/channels", "")), status: 200, want: map[string]any{"data.channels": "[]", "data.warning": nil}},
		{name: "a mail", req: mine(post("/v1/me/channels", "", `{"name":"My mail","kind":"email","to":["boss@example.com"],"quiet_from":"22:00","quiet_to":"06:30"}`)), status: 201,
			want: map[string]any{"data.channel.owner_id": 1, "data.channel.to.0": "olga@example.com", "data.channel.after_s": 0, "data.channel.quiet_from": "22:00", "data.channel.quiet_to": "06:30"}},
		{name: "a text, later", req: mine(post("/v1/me/channels", "", `{"name":"My text","after_s":120,"owner_id":99,`+text+`}`)), status: 201, want: map[string]any{"data.channel.owner_id": 1, "data.channel.after_s": 120}},
		{name: "a program", req: mine(post("/v1/me/channels", "", `{"name":"x","kind":"webhook","url":"https://example.com"}`)), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"kind"}},
		{name: "hours that are none", req: mine(patch("/v1/me/channels/2", "", `{"quiet_from":"22:00","quiet_to":"22:00"}`)), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"quiet_from"}},
		{name: "too late", req: mine(patch("/v1/me/channels/2", "", `{"after_s":3601}`)), status: 422, code: rimewatch.CodeValidationFailed},
		{name: "another order", req: mine(patch("/v1/me/channels/2", "", `{"after_s":300}`)), status: 200, want: map[string]any{"data.channel.after_s": 300}},
		{name: "the hours go", req: mine(patch("/v1/me/channels/1", "", `{"quiet_from":null,"quiet_to":null}`)), status: 200, want: map[string]any{"data.channel.quiet_from": nil}},
		{name: "tried", req: mine(post("/v1/me/channels/test", "", `{"channel_id":1}`)), status: 200, want: map[string]any{"data.sent": true}},
		{name: "a shared one", req: mine(post("/v1/channels", "", `{"name":"Kitchen","kind":"email","to":["kitchen@example.com"]}`)), status: 201, want: map[string]any{"data.channel.owner_id": nil}},
		{name: "it is nobody's", req: mine(patch("/v1/me/channels/3", "", `{"name":"x"}`)), status: 404, code: rimewatch.CodeNotFound},
		{name: "nor removed", req: mine(remove("/v1/me/channels/3", "")), status: 404, code: rimewatch.CodeNotFound},
		{name: "nor tried", req: mine(post("/v1/me/channels/test", "", `{"channel_id":3}`)), status: 404, code: rimewatch.CodeNotFound},
		{name: "an order without an owner", req: mine(patch("/v1/channels/3", "", `{"after_s":60}`)), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"owner_id"}},
		{name: "somebody who is no member", req: mine(patch("/v1/channels/3", "", `{"owner_id":99}`)), status: 422, code: rimewatch.CodeValidationFailed, fields: []string{"owner_id"}},
		{name: "an administrator sees them", req: get("/v1/channels", r.full), status: 403, code: rimewatch.CodeForbidden},
		{name: "a token has none", req: get("/v1/me/channels", r.full), status: 403, code: rimewatch.CodeForbidden},
		{name: "both are listed", req: mine(get("/v1/me/channels", "")), status: 200, want: map[string]any{"data.channels.1.name": "My text", "data.channels.2": nil}},
		{name: "removed", req: mine(remove("/v1/me/channels/2", "")), status: 200},
		{name: "a viewer has none of them", req: as(r.viewer, get("/v1/me/channels", "")), status: 200, want: map[string]any{"data.channels": "[]"}},
	})
}
