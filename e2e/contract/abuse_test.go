package contract

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rimewatch/rimewatch/internal/app"
	"github.com/rimewatch/rimewatch/internal/httpapi"
)

// TestSlowSenders: "slow senders … never a hang". Whoever sends nothing more
// gets an answer or a closed connection, with a token or without, whatever the
// route. The bounds are the service's own, so the test waits for them.
func TestSlowSenders(t *testing.T) {
	t.Parallel()
	s := start(t)
	n := s.tenant(t, "Alpha")
	good := "Host: x\r\nAuthorization: Bearer " + n.full + "\r\nContent-Type: application/json\r\n"
	bad := "Host: x\r\nAuthorization: Bearer rw_x\r\nContent-Type: application/json\r\n"
	var wg sync.WaitGroup // not parallel subtests: those wait for each other
	for name, c := range map[string]struct{ text, want string }{
		"half a request line":             {"POST /api/v1/rea", ""},
		"half a header":                   {"GET /api/v1/devices HTTP/1.1\r\nHo", ""},
		"half a header of a reading":      {"POST /api/v1/readings HTTP/1.1\r\nHo", ""},
		"no body, no route":               {"POST /api/v1/nothing HTTP/1.1\r\n" + bad + "Content-Length: 100\r\n\r\n", "404"},
		"no body, wrong method":           {"PUT /api/v1/devices HTTP/1.1\r\n" + bad + "Content-Length: 100\r\n\r\n", "405"},
		"no body, no token":               {"POST /api/v1/devices HTTP/1.1\r\n" + bad + "Content-Length: 100\r\n\r\n", "401"},
		"no body, a reading, no token":    {"POST /api/v1/readings HTTP/1.1\r\n" + bad + "Content-Length: 5000\r\n\r\n", "401"},
		"no body, a batch, no token":      {"POST /api/v1/readings/batch HTTP/1.1\r\n" + bad + "Content-Length: 5000\r\n\r\n", "401"},
		"no body where none is due":       {"GET /api/v1/policies HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n", "200"},
		"half a body, a reading":          {"POST /api/v1/readings HTTP/1.1\r\n" + good + "Content-Length: 5000\r\n\r\n{\"dev", "400"},
		"half a body, a small reading":    {"POST /api/v1/readings HTTP/1.1\r\n" + good + "Content-Length: 50\r\n\r\n{\"dev", ""},
		"half a body, a batch":            {"POST /api/v1/readings/batch HTTP/1.1\r\n" + good + "Content-Length: 5000\r\n\r\n{\"rea", "400"},
		"half a body, a device":           {"POST /api/v1/devices HTTP/1.1\r\n" + good + "Content-Length: 5000\r\n\r\n{\"ser", "400"},
		"half a chunk":                    {"POST /api/v1/devices HTTP/1.1\r\n" + good + "Transfer-Encoding: chunked\r\n\r\n40\r\n{\"ser", "400"},
		"a huge chunk":                    {"POST /api/v1/devices HTTP/1.1\r\n" + good + "Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n{", "400"},
		"a body that was promised, later": {"POST /api/v1/devices HTTP/1.1\r\n" + good + "Expect: 100-continue\r\nContent-Length: 50\r\n\r\n", "400"},
	} {
		wg.Go(func() {
			got, open := s.raw(t, c.text)
			got = strings.TrimPrefix(got, "HTTP/1.1 100 Continue\r\n\r\n")
			if open {
				t.Errorf("%s: still open after %v; so far %q", name, patience, got)
				return
			}
			if c.want == "" && (got == "" || strings.HasPrefix(got, "HTTP/1.1 400 ") || strings.HasPrefix(got, "HTTP/1.1 408 ")) {
				return
			}
			if !strings.HasPrefix(got, "HTTP/1.1 "+c.want+" ") || !strings.Contains(got, `"success":`) {
				t.Errorf("%s: %q, want %s in an envelope", name, got, c.want)
			}
		})
	}
	wg.Wait()
}

// TestStrangeRequests: what is no proper HTTP gets a 4xx or 501/505 and a closed
// connection, never a 5xx of ours and never a second meaning.
func TestStrangeRequests(t *testing.T) {
	t.Parallel()
	s := start(t)
	n := s.tenant(t, "Alpha")
	n.device(t, `{"serial":"D-1"}`)
	body := `{"device_serial":"D-1","humidity":1}`
	auth := "Authorization: Bearer " + n.full + "\r\n"
	post := "POST /api/v1/readings HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n" + auth
	get := "GET /api/v1/devices/D-1 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
	for name, c := range map[string]struct{ text, want string }{
		"no HTTP":                    {"hello\r\n\r\n", "400"},
		"HTTP/0.9":                   {"GET /api/v1/devices\r\n\r\n", "400"},
		"HTTP/3.7":                   {"GET /api/v1/devices HTTP/3.7\r\nHost: x\r\n\r\n", "505"},
		"no host":                    {"GET /api/v1/devices HTTP/1.1\r\n\r\n", "400"},
		"two hosts":                  {"GET /api/v1/devices HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", "400"},
		"a bad escape in the path":   {"GET /api/v1/devices/%zz HTTP/1.1\r\nHost: x\r\n\r\n", "400"},
		"a control byte in the path": {"GET /api/v1/\x01 HTTP/1.1\r\nHost: x\r\n\r\n", "400"},
		"a space before a colon":     {get + "X : a\r\n\r\n", "400"},
		"NUL in a header":            {get + "X: a\x00b\r\n\r\n", "400"},
		"large headers":              {get + "X: " + strings.Repeat("a", 60_000) + "\r\n\r\n", "431"},
		"a long URL":                 {"GET /api/v1/devices?q=" + strings.Repeat("a", 60_000) + " HTTP/1.1\r\nHost: x\r\n\r\n", "431"},
		"an absolute address":        {"GET http://other/api/v1/devices/D-1 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n" + auth + "\r\n", "200"},
		"CONNECT":                    {"CONNECT /api/v1/devices HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", "405"},
		"upgrade to HTTP/2":          {get + auth + "Upgrade: h2c\r\n\r\n", "200"},
		"a negative length":          {post + "Content-Length: -1\r\n\r\n" + body, "400"},
		"a length beyond a word":     {post + "Content-Length: 99999999999999999999\r\n\r\n" + body, "400"},
		"a length of 10^18":          {post + "Content-Length: 1000000000000000000\r\n\r\n" + body, "413"},
		"two lengths":                {post + "Content-Length: 36\r\nContent-Length: 37\r\n\r\n" + body, "400"},
		"a plus in the length":       {post + "Content-Length: +36\r\n\r\n" + body, "400"},
		"an unknown coding":          {post + "Transfer-Encoding: gzip\r\n\r\n" + body, "501"},
		"two codings":                {post + "Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n", "501"},
		"a bad chunk":                {post + "Connection: close\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n" + body + "\r\n0\r\n\r\n", "400"},
		"no length at all":           {post + "Connection: close\r\n\r\n", "400"},
		"an unknown expectation":     {post + "Expect: the-unexpected\r\nContent-Length: 36\r\n\r\n" + body, "417"},
		"a body in chunks":           {post + "Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n10\r\n" + body[:16] + "\r\n14\r\n" + body[16:] + "\r\n0\r\n\r\n", "201"},
	} {
		got, open := s.raw(t, c.text)
		if open || !strings.HasPrefix(got, "HTTP/1.1 "+c.want+" ") {
			t.Errorf("%s: %q, want %s", name, clip([]byte(got)), c.want)
		}
	}
	h := n.get(t, "/v1/devices/D-1/readings")
	if got := h.number(t, "data.readings.#"); got != 1 {
		t.Errorf("%v readings are stored, only the one in chunks should be", got)
	}
}

// TestPipelining: requests on one connection are answered in order, each for
// itself, good and bad, on the short path and off it.
func TestPipelining(t *testing.T) {
	t.Parallel()
	s := start(t)
	n := s.tenant(t, "Alpha")
	n.device(t, `{"serial":"D-1"}`)
	post := func(token, body string) string {
		return fmt.Sprintf("POST /api/v1/readings HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", token, len(body), body)
	}
	get := func(path string) string {
		return "GET /api" + path + " HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + n.full + "\r\n\r\n"
	}
	good := `{"device_serial":"D-1","humidity":1}`
	steps := []struct {
		text string
		want int
	}{
		{post(n.full, good), 201}, {post(n.full, good), 201}, {post("rw_x", good), 401}, {post(n.full, good), 201}, {post(n.full, `{"device_serial":"D-1"`), 400},
		{get("/v1/devices/none"), 404}, {post(n.full, `{"device_serial":"D-1","humidity":101}`), 422}, {get("/v1/devices/D-1"), 200}, {post(n.feed, good), 201}, {post(n.read, good), 403},
	}
	var all strings.Builder
	for _, step := range steps {
		all.WriteString(step.text)
	}
	c, err := (&net.Dialer{}).DialContext(context.Background(), "tcp", s.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	if err := c.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(c, all.String()); err != nil {
		t.Fatal(err)
	}
	r := bufio.NewReader(c)
	for i, step := range steps {
		resp, err := http.ReadResponse(r, nil)
		if err != nil {
			t.Fatalf("answer %d: %v", i, err)
		}
		b, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != step.want {
			t.Errorf("answer %d: %d, want %d: %s %v", i, resp.StatusCode, step.want, b, err)
		}
	}
}

// TestStop: a stop ends what runs, commits what waits and takes no longer than
// its drain period, whatever clients do.
func TestStop(t *testing.T) {
	t.Parallel()
	s := start(t, func(_ *service, c *app.Config) { c.DrainPeriod = time.Second })
	n := s.tenant(t, "Alpha")
	for _, text := range []string{
		"", "POST /api/v1/rea", "POST /api/v1/readings HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + n.full + "\r\nContent-Type: application/json\r\nContent-Length: 5000\r\n\r\n{\"dev",
		"POST /api/v1/devices HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + n.full + "\r\nContent-Type: application/json\r\nContent-Length: 5000\r\n\r\n{\"ser",
	} {
		c, err := (&net.Dialer{}).DialContext(context.Background(), "tcp", s.addr)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = c.Close() }()
		if _, err := io.WriteString(c, text); err != nil {
			t.Fatal(err)
		}
	}
	// One asks and asks and never reads.
	deaf, err := (&net.Dialer{}).DialContext(context.Background(), "tcp", s.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = deaf.Close() }()
	if err := deaf.(*net.TCPConn).SetReadBuffer(4096); err != nil {
		t.Fatal(err)
	}
	if err := deaf.SetWriteDeadline(time.Now().Add(time.Second)); err != nil {
		t.Fatal(err)
	}
	for err == nil {
		_, err = io.WriteString(deaf, strings.Repeat("GET /api/openapi.json HTTP/1.1\r\nHost: x\r\n\r\n", 1000))
	}
	n.device(t, `{"serial":"D-1"}`) // by now the others have arrived
	s.client.CloseIdleConnections()
	began := time.Now()
	if err := s.halt(); err != nil {
		t.Errorf("one slow client is no failure of the stop: %v", err)
	}
	// Whoever waited for the clients would wait until their answers are given up.
	if took := time.Since(began); took >= httpapi.WriteTimeout {
		t.Errorf("it took %v, the drain period is 1 s", took)
	}
}
