package app_test

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/mochi-mqtt/server/v2/packets"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/account"
)

// TestTokenRequestsByOtherWays: the requests of a token are also those that came as lines, over MQTT and from an assistant.
func TestTokenRequestsByOtherWays(t *testing.T) {
	h := newHouse(t, listening)
	reads, readsID := h.newToken(h.workspace(), rimewatch.ScopeDevicesRead)
	writes, writesID := h.newToken(h.workspace(), rimewatch.ScopeReadingsWrite)
	site := int64(h.asOwner("POST", "/sites", `{"name":"Here"}`, http.StatusCreated)["site"].(map[string]any)["id"].(float64))
	limited, sited, err := h.Accounts.CreateToken(t.Context(), account.Operator(h.workspace()),
		account.TokenRequest{Name: "sited", Scopes: rimewatch.ScopeReadingsWrite, Sites: rimewatch.Sites{site}}, rimewatch.TimeOf(time.Now()))
	h.must(err)

	if status, text := h.push("POST", "/api/v2/write", "a temperature=1", "Authorization", "Token "+reads); status != http.StatusForbidden {
		t.Fatalf("lines: %d %s", status, text)
	}
	if status, text := h.push("POST", "/write", "no line", "Authorization", "Token "+writes); status != http.StatusBadRequest {
		t.Fatalf("lines: %d %s", status, text)
	}
	if a := h.thing(5).connect("x", reads, true); a == nil || a.ReasonCode != packets.ErrNotAuthorized.Code {
		t.Fatalf("MQTT: %+v", a)
	}
	d := h.thing(5)
	d.connect("y", sited, true)
	d.sendAll(publication(1, 1, "unknown", `{"temperature":1}`)) // which it may not have wait
	d.expect(packets.Puback, 1, packets.ErrImplementationSpecificError.Code)
	if status, text := h.push("POST", "/mcp", "{}", "Authorization", "Bearer "+writes, "Content-Type", "application/json"); status != http.StatusForbidden {
		t.Fatalf("an assistant: %d %s", status, text)
	}

	of := func(id int64) (list []string) {
		for _, x := range h.asOwner("GET", fmt.Sprintf("/tokens/%d/requests", id), "", http.StatusOK)["requests"].([]any) {
			c := x.(map[string]any)
			list = append(list, fmt.Sprint(c["method"], " ", c["path"], " ", c["status"], " ", c["code"]))
		}
		slices.Sort(list)
		return list
	}
	for id, want := range map[int64][]string{
		readsID:    {"CONNECT mqtt 403 forbidden", "POST /api/v2/write 403 forbidden"},
		writesID:   {"POST /mcp 403 forbidden", "POST /write 400 validation_failed"},
		limited.ID: {"PUBLISH mqtt 422 validation_failed"},
	} {
		if got := of(id); !slices.Equal(got, want) {
			t.Errorf("token %d: %q, want %q", id, got, want)
		}
	}
}
