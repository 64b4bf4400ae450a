package provider_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/rimewatch/rimewatch/internal/provider"
)

// refusing is a guard that lets nothing through.
type refusing struct{}

func (refusing) RoundTrip(*http.Request) (*http.Response, error) { return nil, errors.New("refused") }

// TestOwnTransport: a provider with a private address is reached, though the transport
// of the process refuses such addresses.
func TestOwnTransport(t *testing.T) {
	var issuer string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"issuer":%[1]q,"authorization_endpoint":"%[1]s/authorize","token_endpoint":"%[1]s/token","jwks_uri":"%[1]s/keys"}`, issuer)
	}))
	defer s.Close()
	issuer = s.URL
	before := http.DefaultTransport
	http.DefaultTransport = refusing{}
	defer func() { http.DefaultTransport = before }()
	c, err := provider.New(provider.Config{Issuer: issuer, ClientID: "rimewatch", Redirect: "https://rimewatch.test/callback"})
	if err != nil {
		t.Fatal(err)
	}
	to, _, err := c.Begin(1)
	if err != nil || !strings.HasPrefix(to, issuer+"/authorize?") {
		t.Errorf("%q, %v", to, err)
	}
}
