package v1

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/rimewatch/rimewatch/internal/httpapi"
)

// unpack returns the content of an answer.
func unpack(t *testing.T, encoding string, body io.Reader) string {
	t.Helper()
	switch encoding {
	case "gzip":
		z, err := gzip.NewReader(body)
		if err != nil {
			t.Fatal(err)
		}
		body = z
	case "zstd":
		z, err := zstd.NewReader(body)
		if err != nil {
			t.Fatal(err)
		}
		defer z.Close()
		body = z
	}
	text, err := io.ReadAll(body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestCompressedAnswers(t *testing.T) {
	r := newRig(t)
	for i := range 40 {
		r.device(fmt.Sprintf("D-%02d", i), "other")
		r.do(post("/v1/readings", r.feed, fmt.Sprintf(`{"device_serial":"D-%02d","humidity":1}`, i)))
	}
	for i := range 100 {
		r.do(post("/v1/readings", r.feed, fmt.Sprintf(`{"device_serial":"D-00","humidity":%d}`, i)))
	}
	for _, tt := range []struct {
		name, method, path, accept, token string
		want                              string // encoding
		vary                              bool
	}{
		{"list", "GET", "/v1/devices?per_page=40", "gzip", r.read, "gzip", true},
		{"the better one", "GET", "/v1/devices?per_page=40", "gzip, deflate, br, zstd", r.read, "zstd", true},
		{"refused by q", "GET", "/v1/devices?per_page=40", "zstd;q=0, GZIP;q=0.5", r.read, "gzip", true},
		{"all refused", "GET", "/v1/devices?per_page=40", "zstd;q=0.0, gzip; q=0", r.read, "", true},
		{"nothing asked", "GET", "/v1/devices?per_page=40", "", r.read, "", true},
		{"small", "GET", "/v1/devices?per_page=1", "gzip", r.read, "", true},
		{"a failure", "GET", "/v1/devices/none", "gzip", r.read, "", true},
		{"streamed", "GET", "/v1/readings/latest", "zstd", r.read, "zstd", true},
		{"history", "GET", "/v1/devices/D-00/readings", "gzip", r.read, "gzip", true},
		{"public", "GET", "/v1/policies", "gzip", "", "gzip", true},
		{"the description", "GET", "/openapi.json", "zstd", "", "zstd", true},
		{"only the head", "HEAD", "/v1/devices?per_page=40", "gzip", r.read, "", false},
		{"a write", "POST", "/v1/devices/import?dry_run=true", "gzip", r.full, "", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ask := func(accept string) (*http.Response, string) {
				hr := httptest.NewRequest(tt.method, httpapi.Prefix+tt.path, strings.NewReader("serial\n"+strings.Repeat("x\n", 100)))
				hr.Header.Set("Content-Type", httpapi.TypeCSV)
				hr.Header.Set(httpapi.RequestIDHeader, "me")
				if accept != "" {
					hr.Header.Set("Accept-Encoding", accept)
				}
				if tt.token != "" {
					hr.Header.Set("Authorization", "Bearer "+tt.token)
				}
				rec := httptest.NewRecorder()
				r.api.ServeHTTP(rec, hr)
				got := rec.Result()
				return got, unpack(t, got.Header.Get("Content-Encoding"), rec.Body)
			}
			plain, want := ask("")
			got, text := ask(tt.accept)
			if got.Header.Get("Content-Encoding") != tt.want || got.StatusCode != plain.StatusCode || text != want {
				t.Errorf("%d %v\n%s\nwant %d\n%s", got.StatusCode, got.Header, clip(text), plain.StatusCode, clip(want))
			}
			if vary := strings.Contains(strings.Join(got.Header.Values("Vary"), ", "), "Accept-Encoding"); vary != tt.vary {
				t.Errorf("Vary %q", got.Header.Values("Vary"))
			}
			if etag := plain.Header.Get("ETag"); etag != "" && tt.want != "" && (got.Header.Get("ETag") != etag || etag[:2] != "W/") {
				t.Errorf("ETag %s, plain %s", got.Header.Get("ETag"), etag)
			}
		})
	}
	csv := httptest.NewRequest(http.MethodGet, httpapi.Prefix+"/v1/devices/D-00/readings", nil)
	csv.Header = http.Header{"Authorization": {"Bearer " + r.read}, "Accept": {httpapi.TypeCSV}, "Accept-Encoding": {"gzip"}}
	rec := httptest.NewRecorder()
	r.api.ServeHTTP(rec, csv)
	if got := rec.Result(); got.Header.Get("Content-Encoding") != "gzip" || strings.Count(unpack(t, "gzip", rec.Body), "\r\n") != 102 {
		t.Errorf("CSV: %v", got.Header)
	}
}

// TestBrokenStreamCompressed: an answer that breaks off does not end well when it
// is compressed either.
func TestBrokenStreamCompressed(t *testing.T) {
	r := newRig(t, func(c *whole) { c.Fleet = breakingFleet{wideFleet{c.Fleet}} })
	server := httptest.NewServer(r.api)
	defer server.Close()
	hr, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+"/api/v1/readings/latest", nil)
	if err != nil {
		t.Fatal(err)
	}
	hr.Header = http.Header{"Authorization": {"Bearer " + r.read}, "Accept-Encoding": {"gzip"}}
	resp, err := server.Client().Do(hr)
	if err != nil {
		return // nothing of it was out yet
	}
	defer func() { _ = resp.Body.Close() }()
	if b, err := io.ReadAll(resp.Body); err == nil {
		t.Errorf("%d, %d bytes that end well", resp.StatusCode, len(b))
	}
}
