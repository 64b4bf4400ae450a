package main

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/rimewatch/rimewatch"
)

// TestReplaySendsAFile: what is read of a file is what the server gets, a broken sensor and
// states too, and a file of several sensors is not sent before one is named.
func TestReplaySendsAFile(t *testing.T) {
	var sent []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/batch") {
			body, _ := io.ReadAll(r.Body)
			sent = append(sent, strings.Split(strings.TrimSpace(string(body)), "\n")...)
			_, _ = io.WriteString(w, `{"success":true,"data":{"accepted":2,"duplicates":0,"held":0,"rejected":0,"results":[]}}`)
			return
		}
		_, _ = io.WriteString(w, `{"success":true,"data":{"device":{"serial":"W-1"}}}`)
	}))
	defer server.Close()
	const file = "sensor,time,temperature,door_open\nA,2026-02-28 12:00:00,4.5,yes\nA,2026-02-28 12:05:00,-127,no\nB,2026-02-28 12:00:00,9,no\n"
	run := func(sensor string) (string, error) {
		var out strings.Builder
		c := replayCmd{File: "-", Serial: "W-1", Sensor: sensor, Zone: "UTC", Unit: "C", Speed: "max", KeepTimes: true, Type: "other"}
		c.URL, c.Token = server.URL, rimewatch.NewToken(func() byte { return 7 })
		err := c.Run(context.Background(), streams{in: strings.NewReader(file), out: &out, err: io.Discard})
		return out.String(), err
	}
	if _, err := run(""); err == nil || !strings.Contains(err.Error(), "--sensor") || len(sent) > 0 {
		t.Fatalf("%v, %q", err, sent)
	}
	out, err := run("A")
	if err != nil {
		t.Fatal(err)
	}
	if len(sent) != 2 || !strings.Contains(sent[0], `"recorded_at":"2026-02-28T12:00:00.000Z","product_zone_temp":4.5,"door_open":true`) || !strings.Contains(sent[1], `"product_zone_temp":-127,"door_open":false`) {
		t.Errorf("%q", sent)
	}
	if !strings.Contains(out, "1 row left out, such as line 4: it is of another sensor") {
		t.Error(out)
	}
}
