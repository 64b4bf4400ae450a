package v1

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/httpapi"
	"github.com/rimewatch/rimewatch/internal/httpapi/shortpath"
	"github.com/rimewatch/rimewatch/internal/httpapi/submit"
)

// shortServer is the server as app makes it.
func shortServer(r *rig, headers time.Duration) *shortpath.Server {
	hs := &http.Server{Handler: r.api, ReadHeaderTimeout: headers, ConnContext: func(ctx context.Context, c net.Conn) context.Context {
		if shortpath.OverTLS(c) {
			return httpapi.OverTLS(ctx)
		}
		return ctx
	}}
	return shortpath.New(hs, submit.SinglePath, r.readings, 30*time.Second)
}

// serveShort serves the API as app does and returns the address.
func serveShort(t *testing.T, r *rig, wrap func(net.Listener) net.Listener) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	if wrap != nil {
		l = wrap(l)
	}
	s := shortServer(r, time.Minute)
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(l) }()
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	})
	return addr
}

type wireAnswer struct {
	Status int
	Header http.Header
	Body   string
}

// ended reports whether a server has closed a connection on which something was
// still under way to it: whether that comes before or after it closes, and with it
// whether there is a reset in place of an end, is a matter of scheduling.
func ended(err error) bool {
	return errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

// talk sends parts one after the other and reads so many answers. An answer
// that does not come is one without a status.
func talk(t *testing.T, addr string, parts []string, answers int) []wireAnswer {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(patience))
	for _, p := range parts {
		if _, err := io.WriteString(conn, p); err != nil && !ended(err) {
			t.Fatal(err)
		}
	}
	in := bufio.NewReader(conn)
	var all []wireAnswer
	for range answers {
		resp, err := http.ReadResponse(in, nil)
		if err != nil {
			all = append(all, wireAnswer{})
			break
		}
		body, err := io.ReadAll(resp.Body)
		if ended(err) && resp.ContentLength < 0 {
			err = nil // it ends where the connection does
		}
		if err := errors.Join(err, resp.Body.Close()); err != nil {
			t.Fatal(err)
		}
		resp.Header.Del("Date")
		resp.Header.Del("Ratelimit") // counts
		all = append(all, wireAnswer{resp.StatusCode, resp.Header, string(body)})
	}
	return all
}

// TestShortPathAnswersLikeTheServer sends the same bytes to the short loop and to
// net/http: whatever they are, the answers are the same.
func TestShortPathAnswersLikeTheServer(t *testing.T) {
	r := newRig(t, func(c *whole) { c.readings.Writer = instantWriter{c.readings.Writer} })
	r.device("WIF-0001", "other")
	short := serveShort(t, r, nil)
	plainServer := httptest.NewServer(r.api)
	defer plainServer.Close()
	head := "POST /api/v1/readings HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + r.feed + "\r\nContent-Type: application/json\r\nX-Request-Id: me\r\n"
	sized := func(head, body string) string {
		return fmt.Sprintf("%sContent-Length: %d\r\n\r\n%s", head, len(body), body)
	}
	good := sized(head, nominalBody)
	bytewise := strings.Split(good, "")
	list := "GET /api/v1/devices HTTP/1.1\r\nHost: x\r\nX-Request-Id: me\r\nAuthorization: Bearer " + r.read + "\r\n\r\n"
	for name, tt := range map[string]struct {
		parts   []string
		answers int
	}{
		"plain":                      {[]string{good}, 1},
		"three on a connection":      {[]string{good, good, good}, 3},
		"pipelined":                  {[]string{good + good + good}, 3},
		"byte by byte":               {bytewise, 1},
		"head and body":              {[]string{good[:len(good)-len(nominalBody)], nominalBody}, 1},
		"cut in the end of the head": {[]string{good[:len(good)-len(nominalBody)-2], good[len(good)-len(nominalBody)-2:] + good}, 2},
		"lower case":                 {[]string{strings.Replace(good, "Content-Type", "content-type", 1)}, 1},
		"usual headers":              {[]string{sized(head+"User-Agent: x\r\nAccept: */*\r\nConnection: keep-alive\r\n", nominalBody)}, 1},
		"an unusual header":          {[]string{sized(head+"X-Sensor: 1\r\n", nominalBody), good}, 2},
		"expect":                     {[]string{sized(head+"Expect: 100-continue\r\n", nominalBody)}, 2},
		"odd, then good, then odd":   {[]string{list + good + list + list + good}, 5},
		"refused in a row":           {[]string{sized(head, `{}`) + sized(head, `x`) + good}, 3},
		"good after a bad token":     {[]string{sized(strings.Replace(head, r.feed, "bad", 1), nominalBody), good}, 2},
		"another type":               {[]string{sized(strings.Replace(head, "application/json", "text/csv", 1), nominalBody), good}, 2},
		"too large":                  {[]string{head + "Content-Length: 2000000\r\n\r\n"}, 1},
		"a host of two words":        {[]string{sized(strings.Replace(head, "Host: x", "Host: a b", 1), nominalBody), good}, 2},
		"an upgrade to nothing":      {[]string{sized(head+"Connection: Upgrade\r\nUpgrade: x\r\n", nominalBody), good}, 2},
		"expect in vain":             {[]string{sized(head+"Expect: 100-continue\r\n", strings.Repeat(" ", 2_000_000))[:300]}, 1},
		"refused, then good":         {[]string{sized(head, `{"device_serial":"WIF-0001","humidity":101}`), good}, 2},
		"good, then refused":         {[]string{good, sized(head, `{}`)}, 2},
		"unknown device":             {[]string{sized(head, strings.Replace(nominalBody, "WIF-0001", "none", 1))}, 1},
		"another route between":      {[]string{good + list + good}, 3},
		"large":                      {[]string{sized(head, nominalBody+strings.Repeat(" ", 5000)), good}, 2},
		"a large head":               {[]string{sized(head+"User-Agent: "+strings.Repeat("x", 5000)+"\r\n", nominalBody)}, 1},
		"chunked":                    {[]string{fmt.Sprintf("%sTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n", head, len(nominalBody), nominalBody), good}, 2},
		"two lengths":                {[]string{sized(head+"Content-Length: 3\r\n", nominalBody)}, 1},
		"a signed length":            {[]string{head + "Content-Length: +5\r\n\r\nxxxxx"}, 1},
		"no length":                  {[]string{head + "\r\n"}, 1},
		"two tokens":                 {[]string{sized(head+"Authorization: Bearer x\r\n", nominalBody)}, 1},
		"no token":                   {[]string{sized(strings.Replace(head, "Authorization", "X-Auth", 1), nominalBody)}, 1},
		"bad token":                  {[]string{sized(strings.Replace(head, r.feed, "bad", 1), nominalBody)}, 1},
		"no scope":                   {[]string{sized(strings.Replace(head, r.feed, r.read, 1), nominalBody)}, 1},
		"no type":                    {[]string{sized(strings.Replace(head, "Content-Type", "X-Type", 1), nominalBody)}, 1},
		"two hosts":                  {[]string{sized(head+"Host: y\r\n", nominalBody)}, 1},
		"no host":                    {[]string{sized(strings.Replace(head, "Host: x\r\n", "", 1), nominalBody)}, 1},
		"folded header":              {[]string{sized(head+"User-Agent: a\r\n b\r\n", nominalBody)}, 1},
		"space before the colon":     {[]string{sized(head+"User-Agent : a\r\n", nominalBody)}, 1},
		"bare line feeds":            {[]string{strings.ReplaceAll(sized(head, nominalBody), "\r\n", "\n")}, 1},
		"NUL in a header":            {[]string{sized(head+"User-Agent: \x00\r\n", nominalBody)}, 1},
		"a query":                    {[]string{strings.Replace(good, "readings HTTP", "readings?x=1 HTTP", 1)}, 1},
		"HTTP/1.0":                   {[]string{strings.Replace(good, "HTTP/1.1", "HTTP/1.0", 1)}, 1},
		"not HTTP":                   {[]string{"hello\r\n\r\n"}, 1},
		"close":                      {[]string{sized(head+"Connection: close\r\n", nominalBody), good}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			want := talk(t, plainServer.Listener.Addr().String(), tt.parts, tt.answers)
			got := talk(t, short, tt.parts, tt.answers)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestShortOnTLS signs in over our own TLS: the browser must be told to keep the
// cookie for TLS, although net/http does not see the TLS connection itself.
func TestShortOnTLS(t *testing.T) {
	r := newRig(t)
	r.device("WIF-0001", "other")
	helper := httptest.NewUnstartedServer(nil)
	helper.StartTLS()
	defer helper.Close()
	addr := serveShort(t, r, func(l net.Listener) net.Listener {
		return tls.NewListener(l, &tls.Config{Certificates: helper.TLS.Certificates, MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}})
	})
	client := helper.Client()
	defer client.CloseIdleConnections()
	ask := func(path, token, body string) *http.Response {
		t.Helper()
		hr, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://"+addr+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		hr.Header.Set("Content-Type", httpapi.TypeJSON)
		if token != "" {
			hr.Header.Set("Authorization", "Bearer "+token)
		}
		resp, err := client.Do(hr)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
		return resp
	}
	if resp := ask("/api/v1/readings", r.feed, nominalBody); resp.StatusCode != http.StatusCreated {
		t.Errorf("reading: %d", resp.StatusCode)
	}
	resp := ask("/api/v1/auth/sign-in", "", `{"email":"olga@example.com","password":"`+ownerPassword+`"}`)
	if c := resp.Cookies(); resp.StatusCode != 200 || len(c) != 1 || !c[0].Secure {
		t.Errorf("%d, cookies %v", resp.StatusCode, c)
	}
}

// TestShortShutdown: a request that is being served ends well, idle connections
// are closed, and nothing is accepted any more.
func TestShortShutdown(t *testing.T) {
	block, entered := make(chan struct{}), make(chan struct{})
	r := newRig(t, func(c *whole) { c.readings.Writer = blockingWriter{instantWriter{c.readings.Writer}, entered, block} })
	r.device("WIF-0001", "other")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := shortServer(r, time.Second)
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(l) }()
	idle, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = idle.Close() }()
	answers := make(chan []wireAnswer, 1)
	good := fmt.Sprintf("POST /api/v1/readings HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", r.feed, len(nominalBody), nominalBody)
	go func() { answers <- talk(t, l.Addr().String(), []string{good}, 1) }()
	<-entered
	down := make(chan error, 1)
	go func() { down <- s.Shutdown(t.Context()) }()
	if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
		t.Error(err)
	}
	close(block)
	if a := <-answers; a[0].Status != http.StatusCreated {
		t.Errorf("the running request: %+v", a)
	}
	if err := <-down; err != nil {
		t.Error(err)
	}
	if _, err := idle.Read(make([]byte, 1)); err == nil {
		t.Error("the idle connection is open")
	}
	if c, err := net.Dial("tcp", l.Addr().String()); err == nil {
		_ = c.Close()
		t.Error("a new connection was accepted")
	}
}

// TestShortPathRefusesOnce: refused work is done once, so it counts once: against
// the address behind a trusted proxy, and against the device.
func TestShortPathRefusesOnce(t *testing.T) {
	var writer *brokenWriter
	r := newRig(t, func(c *whole) {
		c.AuthRateLimit, c.TrustedProxies = 2, []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
		writer = &brokenWriter{c.readings.Writer, rimewatch.Errorf(rimewatch.CodeUnavailable, "The disk is full.")}
		c.readings.Writer = writer
	})
	r.device("WIF-0001", "other")
	conn, err := net.Dial("tcp", serveShort(t, r, nil))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	in := bufio.NewReader(conn)
	ask := func(token, from string) *http.Response {
		t.Helper()
		if _, err := fmt.Fprintf(conn, "POST /api/v1/readings HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nX-Forwarded-For: %s\r\nContent-Length: %d\r\n\r\n%s", token, from, len(nominalBody), nominalBody); err != nil {
			t.Fatal(err)
		}
		resp, err := http.ReadResponse(in, nil)
		if err != nil {
			t.Fatal(err)
		}
		_, err = io.Copy(io.Discard, resp.Body)
		if err := errors.Join(err, resp.Body.Close()); err != nil {
			t.Fatal(err)
		}
		return resp
	}
	for i, want := range []struct {
		from   string
		status int
	}{{"203.0.113.9", 401}, {"203.0.113.9", 401}, {"203.0.113.9", 429}, {"198.51.100.1", 401}, {"198.51.100.1", 401}, {"198.51.100.1", 429}} {
		if got := ask("bad", want.from); got.StatusCode != want.status || (got.Header.Get("Retry-After") != "") != (want.status == 429) {
			t.Errorf("failure %d: %d %v", i, got.StatusCode, got.Header)
		}
	}
	for i := range 3 {
		want := fmt.Sprintf(`"device";r=%d;t=%d`, 999-i, (i+2)/2)
		if got := ask(r.feed, "203.0.113.9"); got.StatusCode != 503 || got.Header.Get("Retry-After") == "" || got.Header.Get("RateLimit") != want {
			t.Errorf("%d: %d %v, want %s", i, got.StatusCode, got.Header, want)
		}
	}
	writer.err = nil // it panics
	if got := ask(r.feed, "203.0.113.9"); got.StatusCode != 500 {
		t.Errorf("a panic: %d", got.StatusCode)
	}
	if n := strings.Count(r.log.String(), "secret panic"); n != 1 {
		t.Errorf("the panic is logged %d times", n)
	}
}
