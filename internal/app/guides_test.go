package app_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/mochi-mqtt/server/v2/packets"

	"github.com/rimewatch/rimewatch/internal/source"
)

// A payload in a guide stands in a block behind a comment that says how it is sent
// and what it becomes.
var guidePayload = regexp.MustCompile("(?s)<!-- payload: (\\w+) ?([^;]*); (.*?) -->\n```\\w+\n(.*?)\n```")

// TestGuides sends what each guide says that a gateway sends.
func TestGuides(t *testing.T) {
	h := newHouse(t, listening)
	_, key := h.newSource(`{"name":"guides","on_unknown":"register"}`)
	pages, err := filepath.Glob("../../docs/guides/*.md")
	h.must(err)
	if len(pages) < 8 {
		t.Fatalf("only %d guides found", len(pages))
	}
	now := time.Now().UTC().Add(-time.Minute)
	moments := strings.NewReplacer("NOW", now.Format(time.RFC3339Nano), "EPOCH", fmt.Sprint(now.Unix()), "NANOS", fmt.Sprint(now.UnixNano()))
	for _, page := range pages {
		text, err := os.ReadFile(page)
		h.must(err)
		found := guidePayload.FindAllStringSubmatch(string(text), -1)
		if len(found) == 0 {
			t.Errorf("%s: no payload", page)
		}
		for _, m := range found {
			how, where, body := m[1], m[2], moments.Replace(m[4])
			switch how {
			case "webhook":
				if n := h.outcome(h.push("POST", "/in/"+key+where, body)); n.Accepted != 1 {
					t.Errorf("%s: %+v", page, n)
				}
			case "get":
				if n := h.outcome(h.push("GET", "/in/"+key+"?"+where, "")); n.Accepted != 1 {
					t.Errorf("%s: %+v", page, n)
				}
			case "lines":
				if status, answer := h.push("POST", "/api/v2/write", body, "Authorization", "Token "+key); status != http.StatusNoContent {
					t.Errorf("%s: %d %s", page, status, answer)
				}
			case "mqtt":
				d := h.thing(4)
				d.connect("guide", key, true)
				d.sendAll(publication(1, 1, where, body))
				d.expect(packets.Puback, 1, 0)
			default:
				t.Errorf("%s: nobody knows how to send by %s", page, how)
			}
			h.guide(page, m[3])
		}
	}
}

// guide holds a device against what a guide says that it becomes.
func (h *house) guide(page, want string) {
	h.t.Helper()
	var device, reading map[string]any
	for pair := range strings.SplitSeq(want, "; ") {
		name, value, _ := strings.Cut(pair, "=")
		if name == "serial" {
			device = h.call("GET", "/devices/"+source.SerialOf(value), "")["device"].(map[string]any)
			reading = device["latest_reading"].(map[string]any)
			continue
		}
		got, ok := reading[name]
		if !ok || got == nil {
			got = device[name]
		}
		if fmt.Sprint(got) != value {
			h.t.Errorf("%s: %s is %v, want %s", page, name, got, value)
		}
	}
}
