package app_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/rimewatch/rimewatch"
)

// tokenTransport sends a token with every request.
type tokenTransport struct {
	token string
	next  http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (b tokenTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.token)
	return b.next.RoundTrip(r)
}

// assistant connects to the tools with a token.
func (h *house) assistant(token string) (*sdk.ClientSession, error) {
	h.t.Helper()
	client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(h.t.Context(), &sdk.StreamableClientTransport{
		Endpoint: h.URL() + "/mcp", HTTPClient: &http.Client{Transport: tokenTransport{token, h.http.Transport}}, MaxRetries: -1, DisableStandaloneSSE: true,
	}, nil)
	if err == nil {
		h.t.Cleanup(func() { _ = session.Close() })
	}
	return session, err
}

// use calls a tool and returns what it said.
func (h *house) use(s *sdk.ClientSession, name string, args map[string]any) (data map[string]any, text string, failed bool) {
	h.t.Helper()
	result, err := s.CallTool(h.t.Context(), &sdk.CallToolParams{Name: name, Arguments: args})
	h.must(err)
	text = result.Content[0].(*sdk.TextContent).Text
	if !result.IsError {
		h.must(json.Unmarshal([]byte(text), &data))
	}
	return data, text, result.IsError
}

// TestAssistant: every tool answers what the API answers, and a token does not
// reach farther by a tool than by the API.
func TestAssistant(t *testing.T) {
	h := newHouse(t)
	h.reading("D-1", -19.5)
	ago := rimewatch.TimeOf(time.Now().Add(-time.Hour)).String()
	s, err := h.assistant(h.token)
	h.must(err)
	list, err := s.ListTools(t.Context(), nil)
	h.must(err)
	if len(list.Tools) != 8 {
		t.Errorf("%d tools, want 8", len(list.Tools))
	}
	for _, c := range []struct {
		tool string
		args map[string]any
		want string // in the answer
	}{
		{"fleet_status", nil, `"total_devices":2`},
		{"list_devices", map[string]any{"status": "online"}, `"serial":"D-1"`},
		{"list_devices", map[string]any{"query": "D-2", "attention": true}, `"serial":"D-2"`},
		{"get_device", map[string]any{"serial": "d-1"}, `"current_temp":-19.5`},
		{"device_history", map[string]any{"serial": "D-1", "from": ago}, `"product_zone_temp":-19.5`},
		{"list_alerts", map[string]any{"status": "all"}, `"alerts":[`},
		{"device_prediction", map[string]any{"serial": "D-1"}, `"prediction"`},
		{"list_excursions", map[string]any{"device_serial": "D-1"}, `"excursions":[`},
	} {
		if _, text, failed := h.use(s, c.tool, c.args); failed || !strings.Contains(text, c.want) {
			t.Errorf("%s: %.300s, want %s", c.tool, text, c.want)
		}
	}
	for _, c := range []struct {
		tool string
		args map[string]any
		want string
	}{
		{"get_device", map[string]any{"serial": "none"}, "no such device"},
		{"get_device", map[string]any{"serial": "../alerts"}, "no"},
		{"list_alerts", map[string]any{"status": "open"}, "status: must be"},
		{"acknowledge_alert", map[string]any{"id": 99}, "no such alert"},
	} {
		if _, text, failed := h.use(s, c.tool, c.args); !failed || !strings.Contains(text, c.want) {
			t.Errorf("%s %v: %s, want %q", c.tool, c.args, text, c.want)
		}
	}
	other, err := h.Accounts.FindWorkspace(t.Context(), "Beta", true, rimewatch.TimeOf(time.Now()))
	h.must(err)
	for name, scopes := range map[string]rimewatch.Scopes{"read": rimewatch.ScopesRead, "alerts": rimewatch.ScopeAlertsRead} {
		token, _ := h.newToken(h.workspace(), scopes)
		s, err := h.assistant(token)
		h.must(err)
		_, text, failed := h.use(s, "fleet_status", nil)
		if (name == "read") == failed || failed && !strings.Contains(text, "devices:read") {
			t.Errorf("%s: %v %s", name, failed, text)
		}
		if _, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: "acknowledge_alert", Arguments: map[string]any{"id": 1}}); err == nil {
			t.Errorf("%s: may acknowledge", name)
		}
	}
	token, _ := h.newToken(other.ID, rimewatch.ScopesFull)
	s, err = h.assistant(token)
	h.must(err)
	if data, _, _ := h.use(s, "fleet_status", nil); data["total_devices"] != 0.0 {
		t.Errorf("another workspace: %v", data)
	}
	if _, text, failed := h.use(s, "get_device", map[string]any{"serial": "D-1"}); !failed {
		t.Errorf("another workspace's device: %s", text)
	}
	if _, err := h.assistant("rw_wrong"); err == nil {
		t.Error("a wrong token gets in")
	}
	for _, header := range [][]string{nil, {"Cookie", "rimewatch_session=" + h.owner.Secret, "Sec-Fetch-Site", "same-origin"}} {
		if status, text := h.push("POST", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, header...); status != http.StatusUnauthorized {
			t.Errorf("without a token: %d %s", status, text)
		}
	}
	if status, text := h.push("POST", "/mcp", fmt.Sprintf("%01200000d", 1), "Authorization", "Bearer "+h.token); status != http.StatusRequestEntityTooLarge {
		t.Errorf("a large body: %d %.100s", status, text)
	}
}
