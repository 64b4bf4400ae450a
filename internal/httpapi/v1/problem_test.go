package v1

import (
	"encoding/json"
	"net/http"
	"testing"
)

// Errors are problems of RFC 9457 for whoever names that type, on every path, and what they were
// for everybody else.
func TestProblems(t *testing.T) {
	r := newRig(t)
	for _, tc := range []struct {
		name   string
		req    request
		status int
		code   string
	}{
		{"a refused reading", post("/v1/readings", r.feed, `{"device_serial":"A","humidity":500}`), 422, "validation_failed"},
		{"nothing there", get("/v1/devices/none", r.full), 404, "device_not_found"},
		{"no path", get("/v1/nowhere", r.full), 404, "not_found"},
		{"no token", get("/v1/devices", ""), 401, "unauthenticated"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			a := r.do(tc.req.with("Accept", "application/json;q=0.5, application/problem+json"))
			var got struct {
				Type, Title, Detail, Code string
				Status                    int
				Success                   bool
				RequestID                 string `json:"request_id"`
				Fields                    map[string][]string
			}
			if err := json.Unmarshal([]byte(a.body), &got); err != nil {
				t.Fatalf("%v: %s", err, a.body)
			}
			if a.status != tc.status || a.header.Get("Content-Type") != "application/problem+json" || got.Status != tc.status || got.Code != tc.code ||
				got.Title != http.StatusText(tc.status) || got.Type != "about:blank" || got.Detail == "" || got.Success || got.RequestID == "" {
				t.Errorf("%d %v %+v", a.status, a.header, got)
			}
			plain := r.do(tc.req)
			if plain.status != tc.status || plain.header.Get("Content-Type") != "application/json" || plain.code() != tc.code {
				t.Errorf("without: %d %s", plain.status, plain.body)
			}
		})
	}
}
