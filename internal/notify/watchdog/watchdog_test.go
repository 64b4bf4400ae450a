package watchdog

import (
	"bytes"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"github.com/rimewatch/rimewatch/internal/notify/outbound"
)

// TestDog: it calls only while all is well, says so once when that changes, and
// never says where it calls.
func TestDog(t *testing.T) {
	calls, status := 0, http.StatusOK
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/ping/very-secret" || r.Method != http.MethodGet {
			t.Errorf("%s %s", r.Method, r.URL)
		}
		calls++
		w.WriteHeader(status)
	}))
	defer srv.Close()
	var text bytes.Buffer
	var ill error
	guard := outbound.New([]netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")})
	defer guard.Close()
	d := New(Config{URL: srv.URL + "/ping/very-secret", Guard: guard, Well: func() error { return ill }, Logger: slog.New(slog.NewTextHandler(&text, nil))})
	for _, c := range []struct {
		name   string
		ill    error
		status int
		calls  int
		log    string
	}{
		{"well", nil, http.StatusOK, 1, ""},
		{"the disk is full", errors.New("the disk is full"), http.StatusOK, 0, "the disk is full"},
		{"still", errors.New("the disk is full"), http.StatusOK, 0, ""},
		{"well again", nil, http.StatusOK, 1, "called again"},
		{"it does not like the call", nil, http.StatusNotFound, 1, "404"},
		{"still not", nil, http.StatusNotFound, 1, ""},
		{"now it does", nil, http.StatusNoContent, 1, "called again"},
	} {
		calls, status, ill = 0, c.status, c.ill
		text.Reset()
		d.turn(t.Context())
		if calls != c.calls || !strings.Contains(text.String(), c.log) || (c.log == "") != (text.Len() == 0) || strings.Contains(text.String(), "very-secret") {
			t.Errorf("%s: %d calls, log %q", c.name, calls, text.String())
		}
	}
}
