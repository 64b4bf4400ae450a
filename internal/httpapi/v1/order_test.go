package v1

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/httpapi"
)

// TestOrderOfChecks sends requests in which everything is wrong from one check
// on: the first that fails answers.
func TestOrderOfChecks(t *testing.T) {
	r := newRig(t)
	const badQuery = "?per_page=0&page=x&status=y&dry_run=z"
	large := strings.Repeat("x", httpapi.MaxSingleBody+1)
	type step struct {
		status            int
		path, token       string
		contentType, body string
		method            string
	}
	for _, path := range []string{"/v1/devices/none", "/v1/devices/none/heartbeat", "/v1/sites/77"} {
		for i, s := range []step{
			{404, path + "/nothing", "bad", "text/csv", large, "PATCH"},
			{405, path, "bad", "text/csv", large, "PUT"},
			{401, path, "bad", "text/csv", large, "PATCH"},
			{403, path, r.read, "text/csv", large, "PATCH"},
			{415, path, r.full, "text/csv", large, "PATCH"},
			{413, path, r.full, httpapi.TypeJSON, large, "PATCH"},
			{400, path, r.full, httpapi.TypeJSON, `{"status":1`, "PATCH"},
			{422, path, r.full, httpapi.TypeJSON, `{"status":1}`, "PATCH"},
			{404, path, r.full, httpapi.TypeJSON, `{}`, "PATCH"},
		} {
			q := request{method: s.method, path: httpapi.Prefix + s.path + badQuery, token: s.token, body: s.body}.with("Content-Type", s.contentType)
			if a := r.do(q); a.status != s.status {
				t.Errorf("%s, step %d: %d %s, want %d", path, i, a.status, clip(a.body), s.status)
			}
		}
	}
	for path, bodies := range map[string][3]string{
		"/v1/readings":       {`{"x":1`, `{"x":1}`, `{"device_serial":"none","humidity":1}`},
		"/v1/readings/batch": {`{"x":1`, `{"x":1}`, ``},
	} {
		limit := httpapi.MaxSingleBody
		if strings.HasSuffix(path, "batch") {
			limit = 16 << 20
		}
		for i, s := range []step{
			{401, path, "bad", "text/csv", large, "POST"},
			{403, path, r.read, "text/csv", large, "POST"},
			{415, path, r.full, "text/csv", large, "POST"},
			{413, path, r.full, httpapi.TypeJSON, strings.Repeat("x", limit+1), "POST"},
			{400, path, r.full, httpapi.TypeJSON, bodies[0], "POST"},
			{422, path, r.full, httpapi.TypeJSON, bodies[1], "POST"},
			{422, path, r.full, httpapi.TypeJSON, bodies[2], "POST"},
		} {
			if s.body == "" {
				continue
			}
			q := post(s.path, s.token, s.body).with("Content-Type", s.contentType)
			if a := r.do(q); a.status != s.status {
				t.Errorf("%s, step %d: %d %s, want %d", path, i, a.status, clip(a.body), s.status)
			}
		}
	}
	a := r.do(patch("/v1/devices/none?x=%zz", r.full, `{"name":7}`))
	if a.status != 422 || a.get("error.fields.name") == nil || a.get("error.fields.query") == nil {
		t.Errorf("not everything that is wrong is named: %s", a.body)
	}
}

// breakingFleet fails in the middle of a stream.
type breakingFleet struct{ wideFleet }

func (b breakingFleet) EachDevice(ctx context.Context, id int64, yield func(*rimewatch.DeviceView) error) error {
	n := 0
	return b.wideFleet.EachDevice(ctx, id, func(v *rimewatch.DeviceView) error {
		if n++; n > 1000 {
			return errors.New("the disk broke")
		}
		return yield(v)
	})
}

// TestOnTheWire asks a real server over a real connection.
func TestOnTheWire(t *testing.T) {
	r := newRig(t, func(c *whole) { c.Fleet = breakingFleet{wideFleet{c.Fleet}} })
	server := httptest.NewServer(r.api)
	defer server.Close()
	const cutOff = `{"dev`
	ask := func(text string) (*http.Response, string, error) {
		t.Helper()
		conn, err := net.Dial("tcp", server.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close() }()
		head, body, _ := strings.Cut(text, "\n\n")
		head = strings.ReplaceAll(head, "\n", "\r\n") + "\r\nHost: x\r\nAuthorization: Bearer " + r.full + "\r\nConnection: close\r\n\r\n"
		if _, err := io.WriteString(conn, head+body); err != nil {
			t.Fatal(err)
		}
		if tcp, ok := conn.(*net.TCPConn); ok && strings.HasSuffix(text, cutOff) {
			_ = tcp.CloseWrite()
		}
		method, _, _ := strings.Cut(text, " ")
		resp, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: method})
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(resp.Body)
		return resp, string(b), err
	}
	if resp, body, err := ask("HEAD /api/v1/policies HTTP/1.1"); resp.StatusCode != 200 || body != "" || err != nil {
		t.Errorf("HEAD: %d %q %v", resp.StatusCode, body, err)
	}
	etag := r.do(get("/v1/policies", "")).header.Get("ETag")
	if resp, body, err := ask("GET /api/v1/policies HTTP/1.1\nIf-None-Match: " + etag); resp.StatusCode != 304 || body != "" || err != nil || resp.Header.Get("Content-Type") != "" {
		t.Errorf("304: %d %q %v %v", resp.StatusCode, body, err, resp.Header)
	}
	if resp, body, _ := ask("POST /api/v1/readings HTTP/1.1\nContent-Type: application/json\nContent-Length: 100\n\n" + cutOff); resp.StatusCode != 400 || !strings.Contains(body, "did not arrive") {
		t.Errorf("cut off: %d %s", resp.StatusCode, body)
	}
	if resp, body, _ := ask(fmt.Sprintf("POST /api/v1/readings/batch HTTP/1.1\nContent-Type: application/json\nContent-Length: %d\n\nx", 1<<40)); resp.StatusCode != 413 || resp.Header.Get(httpapi.RequestIDHeader) == "" {
		t.Errorf("declared too large: %d %s", resp.StatusCode, body)
	}
	chunked := fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(nominalBody), nominalBody)
	if resp, body, _ := ask("POST /api/v1/readings HTTP/1.1\nContent-Type: application/json\nTransfer-Encoding: chunked\n\n" + chunked); resp.StatusCode != 422 || !strings.Contains(body, "unknown_device") {
		t.Errorf("chunked: %d %s", resp.StatusCode, body)
	}
	if resp, body, err := ask("GET /api/v1/readings/latest HTTP/1.1"); resp.StatusCode != 200 || err == nil {
		t.Errorf("a broken stream ends well: %d, %d bytes", resp.StatusCode, len(body))
	}
	if log := r.log.String(); strings.Count(log, "the disk broke") != 1 || strings.Contains(log, "panic") {
		t.Errorf("log: %s", log)
	}
}
