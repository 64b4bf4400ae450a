package app_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/letsencrypt/pebble/v2/ca"
	"github.com/letsencrypt/pebble/v2/db"
	"github.com/letsencrypt/pebble/v2/va"
	"github.com/letsencrypt/pebble/v2/wfe"
	"github.com/miekg/dns"

	"github.com/rimewatch/rimewatch/internal/app"
)

// authority is an ACME authority of our own: Let's Encrypt's Pebble, whose
// validation asks a name server of ours, which says loopback to everything.
type authority struct {
	url    string
	client *http.Client
	roots  *x509.CertPool
	serve  atomic.Pointer[http.Handler]
	asked  atomic.Int32 // orders
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{}
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/order-plz" {
			a.asked.Add(1)
		}
		(*a.serve.Load()).ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	a.url, a.client = s.URL+wfe.DirectoryPath, s.Client()
	return a
}

// open lets the authority validate names at a port of this machine.
func (a *authority) open(t *testing.T, port int) {
	t.Helper()
	t.Setenv("PEBBLE_VA_NOSLEEP", "1")
	t.Setenv("PEBBLE_WFE_NONCEREJECT", "0")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	names := &dns.Server{Listener: l, Handler: dns.HandlerFunc(func(w dns.ResponseWriter, q *dns.Msg) {
		m := new(dns.Msg).SetReply(q)
		if q.Question[0].Qtype == dns.TypeA {
			m.Answer = []dns.RR{&dns.A{Hdr: dns.RR_Header{Name: q.Question[0].Name, Rrtype: dns.TypeA, Class: dns.ClassINET}, A: net.IPv4(127, 0, 0, 1)}}
		}
		_ = w.WriteMsg(m)
	})}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = names.ActivateAndServe() // ends with Shutdown
	}()
	t.Cleanup(func() { _ = names.Shutdown(); <-done })

	quiet := log.New(io.Discard, "", 0)
	store := db.NewMemoryStore()
	issuer := ca.New(quiet, store, "", "ecdsa", 0, 1, map[string]ca.Profile{"default": {ValidityPeriod: 7776000}})
	front := wfe.New(quiet, store, va.New(quiet, 1, port, false, l.Addr().String(), store), issuer, []string{"pebble"}, false, false, 1, 1)
	handler := front.Handler()
	a.serve.Store(&handler)
	block, _ := pem.Decode(issuer.GetRootCert(0).PEM())
	root, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	a.roots = x509.NewCertPool()
	a.roots.AddCert(root)
}

// TestCertificateByItself: a server that is told its domain gets a certificate for
// it, for no other name, and keeps it through a restart.
func TestCertificateByItself(t *testing.T) {
	const domain = "fridge.example.test"
	a := newAuthority(t)
	dir := t.TempDir()
	run := func() *app.App {
		t.Helper()
		return serving(t, within(dir), func(c *app.Config) {
			c.TLSAuto, c.TLSAutoDirectory, c.ACME, c.Logger = []string{domain}, a.url, a.client, slog.New(slog.NewTextHandler(t.Output(), nil))
		})
	}
	s := run()
	a.open(t, port(t, s))
	get := func(name string) (*http.Response, error) {
		client := &http.Client{Transport: &http.Transport{
			DisableKeepAlives: true, TLSClientConfig: &tls.Config{RootCAs: a.roots},
			DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
				return new(net.Dialer).DialContext(ctx, network, s.Addr())
			},
		}, Timeout: patience}
		return client.Get("https://" + name + "/healthz")
	}
	for range 2 {
		resp, err := get(domain)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != 200 || resp.Header.Get("Strict-Transport-Security") == "" || resp.TLS.Version < tls.VersionTLS12 {
			t.Errorf("%d %v", resp.StatusCode, resp.Header)
		}
	}
	if resp, err := get("other.example.test"); err == nil {
		_ = resp.Body.Close()
		t.Error("a name that nobody asked for has a certificate")
	}
	if n := a.asked.Load(); n != 1 {
		t.Errorf("%d orders, want 1", n)
	}
	if info, err := os.Stat(filepath.Join(dir, "acme")); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the keys: %v, %v", info, err)
	}
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}
	s = run()
	resp, err := get(domain)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if n := a.asked.Load(); n != 1 {
		t.Errorf("%d orders after a restart, want 1", n)
	}
}

func port(t *testing.T, s *app.App) int {
	t.Helper()
	addr, err := net.ResolveTCPAddr("tcp", s.Addr())
	if err != nil {
		t.Fatal(err)
	}
	return addr.Port
}
