package main

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

// TestHealthcheck asks servers with and without TLS, as they are said in the
// environment of a container.
func TestHealthcheck(t *testing.T) {
	status := http.StatusOK
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/healthz" {
			t.Errorf("asked for %s", r.URL)
		}
		w.WriteHeader(status)
	})
	plain, secure := httptest.NewServer(h), httptest.NewTLSServer(h)
	defer secure.Close()
	port := func(s *httptest.Server) string { u, _ := url.Parse(s.URL); return u.Port() }
	check := func(listen, certificate, want string) {
		t.Helper()
		t.Setenv("RIMEWATCH_LISTEN", listen)
		t.Setenv("RIMEWATCH_TLS_CERT", certificate)
		var errOut bytes.Buffer
		code := run([]string{"healthcheck"}, streams{in: strings.NewReader(""), out: &bytes.Buffer{}, err: &errOut})
		if (code == 0) != (want == "") || !strings.Contains(errOut.String(), want) {
			t.Errorf("%s: %d, %q, want %q", listen, code, errOut.String(), want)
		}
	}
	check("127.0.0.1:"+port(plain), "", "")
	check("0.0.0.0:"+port(plain), "", "")
	check("127.0.0.1:"+port(secure), "cert.pem", "")
	check("nowhere", "", "want HOST:PORT")
	status = http.StatusServiceUnavailable
	check(":"+port(plain), "", "the server answers 503")
	plain.Close()
	check("127.0.0.1:"+port(plain), "", "the server does not answer")
}
