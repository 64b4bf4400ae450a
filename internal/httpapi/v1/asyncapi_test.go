package v1

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestStreamDescription: every reference of the AsyncAPI description leads
// somewhere, every message belongs to an operation, and every channel that a
// client can name is described with its scope's events.
func TestStreamDescription(t *testing.T) {
	r := newRig(t)
	a := r.do(request{method: http.MethodGet, path: "/api/asyncapi.json"})
	if a.status != http.StatusOK || a.get("asyncapi") != "3.0.0" {
		t.Fatalf("%d %v", a.status, a.get("asyncapi"))
	}
	used := make(map[string]bool)
	var visit func(at string, v any)
	visit = func(at string, v any) {
		switch x := v.(type) {
		case map[string]any:
			if target, ok := x["$ref"].(string); ok {
				used[target] = true
				if a.get(strings.ReplaceAll(strings.TrimPrefix(target, "#/"), "/", ".")) == nil {
					t.Errorf("%s refers to %s", at, target)
				}
			}
			for name, inner := range x {
				visit(at+"/"+name, inner)
			}
		case []any:
			for _, inner := range x {
				visit(at, inner)
			}
		}
	}
	visit("", a.json)
	messages := a.get("components.messages").(map[string]any)
	if len(messages) != 10 {
		t.Errorf("%d messages", len(messages))
	}
	for name := range messages {
		if !used["#/channels/stream/messages/"+name] {
			t.Errorf("no operation has %s", name)
		}
	}
	for name := range a.get("components.schemas").(map[string]any) {
		if !used["#/components/schemas/"+name] {
			t.Errorf("nothing has the schema %s", name)
		}
	}
	if a.get("servers.this.host") != "{host}" || a.get("servers.this.protocol") != "ws" {
		t.Errorf("servers %v", a.get("servers"))
	}
}

// TestEnumerationsWithNull: a value that may be null is described so, not by
// the word.
func TestEnumerationsWithNull(t *testing.T) {
	r := newRig(t)
	var doc struct {
		Components struct {
			Schemas map[string]struct {
				Properties map[string]struct {
					Type any
					Enum []any
					Open []any `json:"x-extensible-enum"`
				} `json:"properties"`
			} `json:"schemas"`
		} `json:"components"`
	}
	if err := json.Unmarshal(r.api.OpenAPI(), &doc); err != nil {
		t.Fatal(err)
	}
	for name, s := range doc.Components.Schemas {
		for field, p := range s.Properties {
			if slices.Contains(p.Enum, any("null")) || slices.Contains(p.Open, any("null")) {
				t.Errorf("%s.%s may be the word null", name, field)
			}
		}
	}
	got := doc.Components.Schemas["Alert"].Properties["resolution"]
	if kinds, _ := got.Type.([]any); !slices.Contains(kinds, any("null")) || len(got.Open) == 0 {
		t.Errorf("resolution %+v", got)
	}
}

// TestStreamRefusals: what is no WebSocket is told so, in the envelope.
func TestStreamRefusals(t *testing.T) {
	r := newRig(t)
	upgrade := func(q request) request {
		return q.with("Connection", "keep-alive, Upgrade").with("Upgrade", "websocket").with("Sec-WebSocket-Version", "13").with("Sec-WebSocket-Key", "AAAAAAAAAAAAAAAAAAAAAA==")
	}
	r.run(t, []scenario{
		{name: "no upgrade", req: get("/v1/stream", r.read), status: 426, code: "upgrade_required", header: map[string]string{"Upgrade": "websocket", "Sec-WebSocket-Version": "13"}},
		{name: "another version", req: upgrade(get("/v1/stream", r.read)).with("Sec-WebSocket-Version", "8"), status: 426, code: "upgrade_required"},
		{name: "a bad key", req: upgrade(get("/v1/stream", r.read)).with("Sec-WebSocket-Key", "AAAA"), status: 422, code: "validation_failed", fields: []string{"Sec-WebSocket-Key"}},
		{name: "no stream", req: upgrade(get("/v1/stream", r.read)), status: 503, code: "unavailable"},
		{name: "cookie from elsewhere", req: upgrade(r.browser(get("/v1/stream", ""))).with("Origin", "https://evil.example"), status: 403, code: "forbidden"},
		{name: "ticket for a token", req: post("/v1/stream/tickets", r.feed, ""), status: 201},
		{name: "ticket for a person", req: r.browser(post("/v1/stream/tickets", "", "")), status: 201},
		{name: "ticket from another page", req: r.browser(post("/v1/stream/tickets", "", "")).with("Sec-Fetch-Site", "cross-site"), status: 403, code: "forbidden"},
	})
	ticket := func() string {
		return r.do(post("/v1/stream/tickets", r.read, "")).get("data.ticket").(string)
	}
	late, early := ticket(), ticket()
	r.advance(30*time.Second - time.Millisecond)
	if a := r.do(get("/v1/stream?ticket="+early, "")); a.status != 426 {
		t.Errorf("before the end of its life: %d", a.status)
	}
	r.advance(time.Millisecond)
	if a := r.do(get("/v1/stream?ticket="+late, "")); a.status != 401 {
		t.Errorf("after its life: %d", a.status)
	}
}
