package v1

import (
	"fmt"
	"strings"
	"testing"

	"github.com/rimewatch/rimewatch"
)

// TestQuotas: what a workspace may have is reported, and one more is refused by a code
// of its own.
func TestQuotas(t *testing.T) {
	r := newRig(t)
	r.run(t, []scenario{{name: "reported", req: r.browser(get("/v1/workspace", "")), status: 200, want: map[string]any{
		"data.quotas.devices": rigQuotas.Devices, "data.quotas.sites": rigQuotas.Sites, "data.quotas.tokens": rigQuotas.Tokens,
		"data.quotas.members": rigQuotas.Members, "data.quotas.channels": rimewatch.MaxChannels, "data.quotas.sources": rimewatch.MaxSources,
	}}})
	for _, kind := range []struct {
		path, body string
		more       int // than there are
	}{
		{"/v1/sites", `{"name":"S%d"}`, rigQuotas.Sites},
		{"/v1/tokens", `{"name":"T%d"}`, rigQuotas.Tokens - 3},
		{"/v1/members", `{"email":"m%d@example.com","role":"viewer"}`, rigQuotas.Members - 1},
	} {
		for i := range kind.more {
			if a := r.do(r.browser(post(kind.path, "", fmt.Sprintf(kind.body, i)))); a.status != 201 {
				t.Fatalf("%s: %d %s", kind.path, a.status, a.body)
			}
		}
		r.run(t, []scenario{{name: "one too many of " + kind.path, req: r.browser(post(kind.path, "", fmt.Sprintf(kind.body, kind.more))), status: 409, code: rimewatch.CodeQuotaExceeded}})
	}
	r.unknown(r.workspace.ID, rimewatch.RegisterUnknown)
	var items []string
	for i := range rigQuotas.Devices + 2 {
		items = append(items, fmt.Sprintf(`{"device_serial":"D%d","humidity":50}`, i))
	}
	r.run(t, []scenario{
		{
			name: "a device too many waits", req: post("/v1/readings/batch", r.feed, `{"readings":[`+strings.Join(items, ",")+`]}`), status: 200, anyEvents: true,
			want: map[string]any{"data.accepted": rigQuotas.Devices, "data.held": 2, "data.rejected": 0},
		},
		{name: "of one reading, too", req: post("/v1/readings", r.feed, `{"device_serial":"X","humidity":50}`), status: 202, anyEvents: true},
		{name: "and is not created by hand", req: post("/v1/devices", r.full, `{"serial":"X"}`), status: 409, code: rimewatch.CodeQuotaExceeded},
	})
}
