package outbound_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/notify/outbound"
)

func TestAllowed(t *testing.T) {
	g := outbound.New(nil)
	for _, c := range []struct {
		address string
		allowed bool
	}{
		{"93.184.216.34", true}, {"8.8.8.8", true}, {"2606:2800:220:1:248:1893:25c8:1946", true}, {"172.15.255.255", true}, {"172.32.0.1", true}, {"100.63.255.255", true}, {"100.128.0.1", true},
		{"127.0.0.1", false}, {"127.255.255.254", false}, {"0.0.0.0", false}, {"0.1.2.3", false},
		{"10.0.0.1", false}, {"172.16.0.1", false}, {"172.31.255.255", false}, {"192.168.1.1", false}, {"100.64.0.1", false},
		{"169.254.169.254", false}, {"100.100.100.200", false}, {"192.0.0.192", false}, {"168.63.129.16", false}, {"fd00:ec2::254", false},
		{"224.0.0.1", false}, {"255.255.255.255", false}, {"240.0.0.1", false}, {"198.18.0.1", false}, {"192.0.2.1", false},
		{"::", false}, {"::1", false}, {"fe80::1", false}, {"fe80::1%eth0", false}, {"fc00::1", false}, {"fdff::1", false}, {"ff02::1", false}, {"fec0::1", false}, {"2001:db8::1", false},
		// IPv4 in disguise.
		{"::ffff:127.0.0.1", false}, {"::ffff:10.0.0.1", false}, {"::ffff:8.8.8.8", true}, {"::127.0.0.1", false}, {"::8.8.8.8", false}, {"::ffff:0:10.0.0.1", false}, {"::ffff:0:8.8.8.8", false},
		{"64:ff9b::127.0.0.1", false}, {"64:ff9b::a9fe:a9fe", false}, {"64:ff9b::8.8.8.8", true}, {"64:ff9b:1::8.8.8.8", false},
		{"2002:7f00:1::", false}, {"2002:a00:1::1", false}, {"2002:a9fe:a9fe::", false}, {"2002:808:808::1", true},
		{"2001:0:4136:e378:8000:63bf:3fff:fdd2", false}, // Teredo
	} {
		if got := g.Allowed(netip.MustParseAddr(c.address)); got != c.allowed {
			t.Errorf("%s: allowed %v", c.address, got)
		}
	}
	if g.Allowed(netip.Addr{}) {
		t.Error("no address is allowed")
	}
	lan := outbound.New([]netip.Prefix{netip.MustParsePrefix("10.1.0.0/16")})
	for address, want := range map[string]bool{"10.1.2.3": true, "::ffff:10.1.2.3": true, "10.2.0.1": false, "127.0.0.1": false, "8.8.8.8": true} {
		if got := lan.Allowed(netip.MustParseAddr(address)); got != want {
			t.Errorf("10.1.0.0/16 allowed, %s: %v", address, got)
		}
	}
}

// loopback lets receivers of tests be reached.
var loopback = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}

// get asks a URL through a guard.
func get(t *testing.T, g *outbound.Guard, url string) (string, error) {
	t.Helper()
	t.Cleanup(g.Close)
	resp, err := g.Client().Get(url)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return string(b), err
}

// TestNobodyIsReached sends every way of writing the address of this machine to a
// guard: the server behind it must not see a connection.
func TestNobodyIsReached(t *testing.T) {
	reached := make(chan string, 100)
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { reached <- r.Host }))
	defer srv.Close()
	_, port, err := net.SplitHostPort(srv.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	for _, host := range []string{"127.0.0.1", "localhost", "127.1", "0", "0.0.0.0", "2130706433", "0x7f000001", "0177.0.0.1", "[::1]", "[::ffff:127.0.0.1]", "[::]", "[::ffff:7f00:1]", "LOCALHOST.", "127.0.0.1."} {
		_, err := get(t, outbound.New(nil), "http://"+host+":"+port+"/")
		if err == nil {
			t.Errorf("%s: no error", host)
		}
		if e := outbound.Failure(err); e.Code != rimewatch.CodeForbidden && !strings.Contains(e.Message, "does not resolve") {
			t.Errorf("%s: %v", host, e)
		}
	}
	select {
	case host := <-reached:
		t.Errorf("%s was reached", host)
	default:
	}
}

// TestResolvedElsewhere: what counts is the address that is connected to, not the
// one that a name resolved to before (DNS rebinding).
func TestResolvedElsewhere(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("reached") }))
	defer srv.Close()
	g := outbound.New(nil)
	c, err := g.DialContext(t.Context(), "tcp", srv.Listener.Addr().String())
	var refused *outbound.Refused
	if c != nil || !errors.As(err, &refused) || refused.Address != netip.MustParseAddr("127.0.0.1") {
		t.Errorf("connected: %v, %v", c != nil, err)
	}
	if _, err := g.DialContext(t.Context(), "unix", "/run/x.sock"); err == nil {
		t.Error("a unix socket can be dialled")
	}
}

func TestProxiesOfTheEnvironmentAreNotUsed(t *testing.T) {
	proxy := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { t.Errorf("the proxy was asked for %s", r.URL) }))
	defer proxy.Close()
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"} {
		t.Setenv(name, proxy.URL)
	}
	if _, err := get(t, outbound.New(loopback), "http://name.invalid/"); err == nil {
		t.Error("no error")
	}
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	target := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("followed") }))
	defer target.Close()
	for _, status := range []int{http.StatusMovedPermanently, http.StatusFound, http.StatusTemporaryRedirect, http.StatusPermanentRedirect} {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, target.URL, status) }))
		_, err := get(t, outbound.New(loopback), srv.URL)
		if e := outbound.Failure(err); e.Code != rimewatch.CodeConflict || !strings.Contains(e.Message, "Redirects are not followed") {
			t.Errorf("%d: %v", status, e)
		}
		srv.Close()
	}
}

func TestEndlessAnswer(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			if _, err := io.WriteString(w, strings.Repeat("x", 4096)); err != nil {
				return
			}
		}
	}))
	defer srv.Close()
	text, err := get(t, outbound.New(loopback), srv.URL)
	if err == nil || len(text) > outbound.MaxBody {
		t.Errorf("%d bytes were read, %v", len(text), err)
	}
	if e := outbound.Failure(err); e.Code != rimewatch.CodeConflict {
		t.Errorf("%v", e)
	}
}

// TestSlowAnswer: who never ends the answer is given up when the caller does so.
func TestSlowAnswer(t *testing.T) {
	begun := make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusOK)
		w.(http.Flusher).Flush()
		close(begun)
		<-r.Context().Done()
	}))
	defer srv.Close()
	g := outbound.New(loopback)
	defer g.Close()
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-begun; cancel() }()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, srv.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := g.Client().Do(r)
	if err == nil {
		_, err = io.ReadAll(resp.Body)
		resp.Body.Close()
	}
	if err == nil {
		t.Error("no error")
	}
}

func TestFailure(t *testing.T) {
	for _, c := range []struct {
		status  int
		after   string
		code    rimewatch.Code
		waiting time.Duration
	}{
		{http.StatusBadRequest, "", rimewatch.CodeConflict, 0},
		{http.StatusUnauthorized, "", rimewatch.CodeConflict, 0},
		{http.StatusNotFound, "60", rimewatch.CodeConflict, 0},
		{http.StatusGone, "", rimewatch.CodeNotFound, 0},
		{http.StatusRequestTimeout, "", rimewatch.CodeUnavailable, 0},
		{http.StatusTooEarly, "", rimewatch.CodeUnavailable, 0},
		{http.StatusTooManyRequests, "120", rimewatch.CodeUnavailable, 2 * time.Minute},
		{http.StatusTooManyRequests, "1000000000", rimewatch.CodeUnavailable, time.Hour},
		{http.StatusTooManyRequests, "-5", rimewatch.CodeUnavailable, 0},
		{http.StatusTooManyRequests, "soon", rimewatch.CodeUnavailable, 0},
		{http.StatusInternalServerError, "", rimewatch.CodeUnavailable, 0},
		{http.StatusServiceUnavailable, "Fri, 31 Dec 1999 23:59:59 GMT", rimewatch.CodeUnavailable, 0},
		{http.StatusServiceUnavailable, "Fri, 31 Dec 2100 23:59:59 GMT", rimewatch.CodeUnavailable, time.Hour},
	} {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", c.after)
			w.WriteHeader(c.status)
		}))
		_, err := get(t, outbound.New(loopback), srv.URL+"/hook/very-secret")
		e := outbound.Failure(err)
		want := fmt.Sprintf("The receiver answered %d %s.", c.status, http.StatusText(c.status))
		if e.Code != c.code || e.RetryAfter != c.waiting || e.Message != want {
			t.Errorf("%d %q: %s %s after %s", c.status, c.after, e.Code, e.Message, e.RetryAfter)
		}
		if strings.Contains(e.Error(), "very-secret") {
			t.Errorf("the error tells the URL: %v", e)
		}
		srv.Close()
	}
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	_, err := get(t, outbound.New(loopback), closed.URL+"/hook/very-secret")
	if e := outbound.Failure(err); e.Code != rimewatch.CodeUnavailable || !strings.Contains(e.Message, "cannot be reached") || strings.Contains(e.Error(), "very-secret") {
		t.Errorf("%v", e)
	}
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	_, err = get(t, outbound.New(loopback), strings.Replace(plain.URL, "http:", "https:", 1))
	if e := outbound.Failure(err); e.Code != rimewatch.CodeUnavailable || !strings.Contains(e.Message, "TLS") {
		t.Errorf("%v", e)
	}
	unknown := httptest.NewTLSServer(http.NotFoundHandler())
	defer unknown.Close()
	_, err = get(t, outbound.New(loopback), unknown.URL)
	if e := outbound.Failure(err); e.Code != rimewatch.CodeUnavailable || !strings.Contains(e.Message, "certificate") {
		t.Errorf("%v", e)
	}
}
