package webhook_test

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/notify/message"
	"github.com/rimewatch/rimewatch/internal/notify/outbound"
	"github.com/rimewatch/rimewatch/internal/notify/webhook"
)

var hello = &message.Message{Type: "channel.test", Data: message.Data{Subject: "Grüße −8.2 °C"}}

// TestSigned: the Standard Webhooks library takes what is sent, and nothing else.
func TestSigned(t *testing.T) {
	secret := newSecret()
	verifier, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		t.Fatal(err)
	}
	stranger, err := standardwebhooks.NewWebhook(newSecret())
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		if err := verifier.Verify(body, r.Header); err != nil {
			t.Error(err)
		}
		if stranger.Verify(body, r.Header) == nil {
			t.Error("another secret's signature is taken")
		}
		if verifier.Verify(append(body, ' '), r.Header) == nil {
			t.Error("another body's signature is taken")
		}
		if id := r.Header.Get("Webhook-Id"); id != "alert/1/0/opened/0/0/0/1" || r.Header.Get("Content-Type") != "application/json" || r.Header.Get("User-Agent") != "Rimewatch/1.2" {
			t.Errorf("headers: %v", r.Header)
		}
		m, err := message.Decode(body)
		if err != nil || m.Data.Subject != hello.Data.Subject {
			t.Errorf("%s: %v", body, err)
		}
	}))
	defer srv.Close()
	g := outbound.New([]netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")})
	defer g.Close()
	s := webhook.New(g, "1.2", time.Now)
	c := &rimewatch.Channel{URL: srv.URL + "/hook", Secret: secret}
	for range 2 {
		if _, err := s.Send(t.Context(), c, "alert/1/0/opened/0/0/0/1", hello); err != nil {
			t.Error(err)
		}
	}
	inside := outbound.New(nil)
	defer inside.Close()
	if _, err := webhook.New(inside, "1.2", time.Now).Send(t.Context(), c, "k", hello); rimewatch.CodeOf(err) != rimewatch.CodeForbidden {
		t.Errorf("to this machine: %v", err)
	}
}

// TestSign is the example of the Standard Webhooks specification.
func TestSign(t *testing.T) {
	got, err := webhook.Sign("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "msg_p5jXN8AQM9LWM0D4loKWxJek", time.Unix(1614265330, 0), []byte(`{"test": 2432232314}`))
	if want := "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="; err != nil || got != want {
		t.Errorf("signature %s, %v; want %s", got, err, want)
	}
}

func TestCheck(t *testing.T) {
	good, sender := newSecret(), webhook.New(outbound.New(nil), "", time.Now)
	for _, c := range []struct{ url, secret, field string }{
		{"https://example.org/hook", good, ""},
		{"http://example.org:8080/hook?a=b", good, ""},
		{"http://127.0.0.1/", good, ""},
		{"https://", good, "url"}, {"https:///hook", good, "url"}, {"example.org", good, "url"}, {"ftp://example.org", good, "url"}, {"file:///etc/passwd", good, "url"}, {"https://exa mple.org", good, "url"},
		{"https://example.org", "", "secret"}, {"https://example.org", "whsec_", "secret"}, {"https://example.org", "whsec_c2hvcnQ=", "secret"},
		{"https://example.org", strings.TrimPrefix(good, "whsec_"), "secret"}, {"https://example.org", "whsec_***", "secret"},
		{"https://example.org", "whsec_" + strings.Repeat("A", 88), "secret"},
	} {
		err := sender.Check(&rimewatch.Channel{URL: c.url, Secret: c.secret})
		if (err == nil) != (c.field == "") || (err != nil && !strings.Contains(fields(err), c.field)) {
			t.Errorf("%s %s: %v", c.url, c.secret, err)
		}
	}
}

func fields(err error) (names string) {
	var e *rimewatch.Error
	if !errors.As(err, &e) {
		return ""
	}
	for name := range e.Fields {
		names += name
	}
	return names
}

func newSecret() string {
	var b [32]byte
	_, _ = rand.Read(b[:]) // never fails
	return "whsec_" + base64.StdEncoding.EncodeToString(b[:])
}

// TestEvent: an event is signed by both secrets while one replaces the other, has the headers
// that its receiver asks for, and is taken by any 2xx, however long the answer; a redirect is no answer.
func TestEvent(t *testing.T) {
	now := time.Now()
	w := &rimewatch.Webhook{Secret: newSecret(), OldSecret: newSecret(), OldSecretUntil: rimewatch.TimeOf(now) + rimewatch.Minute, Headers: map[string]string{"Authorization": "Bearer x"}}
	status := http.StatusOK
	srv := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		for _, secret := range w.Secrets(rimewatch.TimeOf(now)) {
			verifier, err := standardwebhooks.NewWebhook(secret)
			if err != nil || verifier.Verify(body, r.Header) != nil {
				t.Errorf("the signature %q is not by %s", r.Header.Get("Webhook-Signature"), secret)
			}
		}
		if r.Header.Get("Webhook-Id") != "evt_1_42" || r.Header.Get("Authorization") != "Bearer x" || string(body) != `{"id":"evt_1_42"}` {
			t.Errorf("%v %s", r.Header, body)
		}
		rw.Header().Set("Location", "/elsewhere")
		rw.WriteHeader(status)
		_, _ = rw.Write(make([]byte, 10<<20))
	}))
	defer srv.Close()
	w.URL = srv.URL
	s := webhook.New(outbound.New([]netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}), "1.2", func() time.Time { return now })
	for _, c := range []struct {
		status int
		code   rimewatch.Code
	}{{200, ""}, {204, ""}, {302, rimewatch.CodeConflict}, {410, rimewatch.CodeNotFound}, {503, rimewatch.CodeUnavailable}} {
		status = c.status
		if err := s.Post(t.Context(), w, "evt_1_42", []byte(`{"id":"evt_1_42"}`)); rimewatch.CodeOf(err) != c.code {
			t.Errorf("%d: %v", c.status, err)
		}
	}
	private := webhook.New(outbound.New(nil), "1.2", time.Now)
	if err := private.Post(t.Context(), w, "evt_1_42", nil); rimewatch.CodeOf(err) != rimewatch.CodeForbidden {
		t.Errorf("a private address: %v", err)
	}
}
