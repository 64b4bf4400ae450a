package app_test

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/account"
	"github.com/rimewatch/rimewatch/internal/app"
	"github.com/rimewatch/rimewatch/internal/store"
)

// issuer is a provider of OpenID Connect.
type issuer struct {
	*httptest.Server
	t       *testing.T
	key     *rsa.PrivateKey
	down    atomic.Bool
	claims  map[string]any // of the next ID token; override what it says by itself
	info    map[string]any // of the user info endpoint
	signer  *rsa.PrivateKey
	alg     jose.SignatureAlgorithm // "" = RS256; "none" = not signed
	asked   url.Values              // of the last sign-in
	subject any                     // likewise
}

func newIssuer(t *testing.T) *issuer {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	i := &issuer{t: t, key: key, signer: key, info: map[string]any{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		i.answer(w, map[string]any{
			"issuer": i.URL, "authorization_endpoint": i.URL + "/authorize", "token_endpoint": i.URL + "/token", "jwks_uri": i.URL + "/keys",
			"userinfo_endpoint": i.URL + "/userinfo", "id_token_signing_alg_values_supported": []string{"RS256"},
		})
	})
	mux.HandleFunc("GET /keys", func(w http.ResponseWriter, _ *http.Request) {
		i.answer(w, jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: key.Public(), KeyID: "k", Algorithm: "RS256", Use: "sig"}}})
	})
	mux.HandleFunc("GET /authorize", func(w http.ResponseWriter, r *http.Request) {
		i.asked = r.URL.Query()
		back, err := url.Parse(i.asked.Get("redirect_uri"))
		if err != nil {
			t.Error(err)
		}
		back.RawQuery = url.Values{"code": {"code-1"}, "state": {i.asked.Get("state")}}.Encode()
		http.Redirect(w, r, back.String(), http.StatusFound)
	})
	mux.HandleFunc("POST /token", func(w http.ResponseWriter, r *http.Request) { i.token(w, r) })
	mux.HandleFunc("GET /userinfo", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer access-1" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		info := map[string]any{"sub": i.subject}
		for k, v := range i.info {
			info[k] = v
		}
		i.answer(w, info)
	})
	i.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if i.down.Load() {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(i.Close)
	return i
}

func (i *issuer) answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(v); err != nil {
		i.t.Error(err)
	}
}

// token checks the code, the client and PKCE, and returns an ID token.
func (i *issuer) token(w http.ResponseWriter, r *http.Request) {
	id, secret, _ := r.BasicAuth()
	sum := sha256.Sum256([]byte(r.FormValue("code_verifier")))
	if id != "rime" || secret != "client-secret" || r.FormValue("code") != "code-1" ||
		i.asked.Get("code_challenge_method") != "S256" || base64.RawURLEncoding.EncodeToString(sum[:]) != i.asked.Get("code_challenge") {
		w.WriteHeader(http.StatusBadRequest)
		i.answer(w, map[string]any{"error": "invalid_grant"})
		return
	}
	claims := map[string]any{
		"iss": i.URL, "aud": "rime", "sub": "s-1", "exp": time.Now().Add(time.Hour).Unix(), "iat": time.Now().Unix(), "nonce": i.asked.Get("nonce"),
	}
	for k, v := range i.claims {
		claims[k] = v
	}
	i.subject = claims["sub"]
	plain, err := json.Marshal(claims)
	if err != nil {
		i.t.Error(err)
	}
	i.answer(w, map[string]any{"access_token": "access-1", "token_type": "Bearer", "expires_in": 3600, "id_token": i.sign(plain)})
}

func (i *issuer) sign(claims []byte) string {
	b64 := base64.RawURLEncoding.EncodeToString
	if i.alg == "none" {
		return b64([]byte(`{"alg":"none"}`)) + "." + b64(claims) + "."
	}
	key := jose.SigningKey{Algorithm: jose.RS256, Key: jose.JSONWebKey{Key: i.signer, KeyID: "k"}}
	if i.alg == jose.HS256 { // with the public key as the secret
		key = jose.SigningKey{Algorithm: jose.HS256, Key: i.key.N.Bytes()}
	}
	s, err := jose.NewSigner(key, nil)
	if err != nil {
		i.t.Fatal(err)
	}
	signed, err := s.Sign(claims)
	if err != nil {
		i.t.Fatal(err)
	}
	text, err := signed.CompactSerialize()
	if err != nil {
		i.t.Fatal(err)
	}
	return text
}

// withProvider is a house whose people may sign in at the issuer. PublicURL is
// known only when the house listens, so that a proxy of the test stands for it.
func withProvider(t *testing.T) (*issuer, *house, string) {
	t.Helper()
	i := newIssuer(t)
	var h *house
	public := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { h.API.ServeHTTP(w, r) }))
	t.Cleanup(public.Close)
	h = newHouse(t, func(c *app.Config) {
		c.PublicURL, c.OIDCIssuer, c.OIDCClientID, c.OIDCClientSecret, c.OIDCName = public.URL, i.URL, "rime", "client-secret", "Acme"
		c.OIDCTokenDays, c.OIDCGroupsClaim, c.OIDCRole = 30, "groups", []string{"staff=W/viewer", "cn=chiefs,dc=x=W/admin", "elsewhere=Nowhere/admin"}
	})
	return i, h, public.URL
}

// browser is a fresh browser.
func browser(t *testing.T) *http.Client {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	c := &http.Client{Jar: jar, Timeout: patience}
	t.Cleanup(c.CloseIdleConnections)
	return c
}

// visit opens a page as a browser does and returns where it ended.
func visit(t *testing.T, c *http.Client, at string) (*url.URL, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, at, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept", "text/html,*/*")
	resp, err := c.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	return resp.Request.URL, readAll(t, resp)
}

// role signs in at the provider and returns the role that follows, or the path
// that the browser was led to instead.
func role(t *testing.T, c *http.Client, public string) string {
	t.Helper()
	at, _ := visit(t, c, public+"/api/v1/auth/provider")
	if at.RequestURI() != "/" {
		return at.RequestURI()
	}
	_, body := visit(t, c, public+"/api/v1/me")
	var me struct {
		Data struct {
			Role string `json:"role"`
			User struct {
				Email, Name string
			} `json:"user"`
		} `json:"data"`
	}
	if err := json.Unmarshal([]byte(body), &me); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	return me.Data.Role + " " + me.Data.User.Email
}

func TestProviderSignIn(t *testing.T) {
	i, h, public := withProvider(t)
	person := func(claims map[string]any) {
		i.claims = map[string]any{"email": "pat@example.com", "email_verified": true, "name": "Pat", "groups": []string{"staff"}}
		for k, v := range claims {
			i.claims[k] = v
		}
	}
	for _, tt := range []struct {
		name   string
		claims map[string]any
		want   string
	}{
		{"no group", map[string]any{"groups": []string{"guests"}}, "/sign-in?provider=refused"},
		{"a group of a workspace that does not exist", map[string]any{"groups": []string{"elsewhere"}}, "/sign-in?provider=refused"},
		{"an address that is not verified", map[string]any{"email_verified": false}, "/sign-in?provider=refused"},
		{"an address of which nothing is said", map[string]any{"email_verified": nil}, "/sign-in?provider=refused"},
		{"somebody new", nil, "viewer pat@example.com"},
		{"of several groups the highest", map[string]any{"groups": []string{"staff", "cn=chiefs,dc=x"}}, "admin pat@example.com"},
		{"who was demoted", nil, "viewer pat@example.com"},
		{"one group alone", map[string]any{"groups": "staff"}, "viewer pat@example.com"},
		{"who was dismissed", map[string]any{"groups": []string{}}, "/sign-in?provider=refused"},
		{"with another address, the same subject", map[string]any{"email": "other@example.com"}, "viewer pat@example.com"},
		{"with the same address, another subject", map[string]any{"sub": "s-2"}, "/sign-in?provider=refused"},
		{"the owner, who has a password, shows it first", map[string]any{"sub": "s-3", "email": "O@example.com"}, "/sign-in?provider=link"},
	} {
		person(tt.claims)
		if got := role(t, browser(t), public); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
	c := browser(t)
	resp, err := c.Post(public+"/api/v1/auth/sign-in", "application/json", strings.NewReader(`{"email":"o@example.com","password":"correct horse battery"}`))
	h.must(err)
	if body := readAll(t, resp); resp.StatusCode != http.StatusOK {
		t.Fatal(body)
	}
	h.must(resp.Body.Close())
	person(map[string]any{"sub": "s-3", "email": "O@example.com"})
	if got := role(t, c, public); got != "owner o@example.com" { // a role that a person has given
		t.Errorf("the owner after the password: %s", got)
	}
	person(map[string]any{"sub": "s-3", "email": "o@example.com", "groups": nil})
	if got := role(t, browser(t), public); got != "owner o@example.com" {
		t.Errorf("the owner without a group: %s", got)
	}
	if i.asked.Get("redirect_uri") != public+"/api/v1/auth/provider/callback" {
		t.Errorf("the provider was told %s", i.asked.Get("redirect_uri"))
	}
	entries, _, err := h.Store.Audit().AuditEntries(t.Context(), h.workspace(), "user.", "", pageOf(100))
	h.must(err)
	seen := map[string]int{}
	for _, e := range entries {
		seen[e.Action]++
	}
	if seen["user.signed_in"] != 8 || seen["user.identified"] != 2 {
		t.Errorf("the audit trail says %v", seen)
	}
}

// TestProviderLies: an ID token that is not this provider's, for this service and
// for this sign-in, opens nothing.
func TestProviderLies(t *testing.T) {
	i, _, public := withProvider(t)
	good := map[string]any{"email": "o@example.com", "email_verified": true, "groups": []string{"staff"}}
	stranger, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	for name, lie := range map[string]func(){
		"another nonce":    func() { i.claims["nonce"] = "x" },
		"no nonce":         func() { i.claims["nonce"] = nil },
		"another audience": func() { i.claims["aud"] = "other" },
		"another issuer":   func() { i.claims["iss"] = "https://evil.example" },
		"expired":          func() { i.claims["exp"] = time.Now().Add(-time.Hour).Unix() },
		"a stranger's key": func() { i.signer = stranger },
		"no signature":     func() { i.alg = "none" },
		"a symmetric key":  func() { i.alg = jose.HS256 },
		"of another person": func() {
			i.claims["email"], i.info = nil, map[string]any{"sub": "s-9", "email": "o@example.com", "email_verified": true}
		},
		"verified elsewhere": func() {
			i.claims["email_verified"], i.info = false, map[string]any{"sub": "s-1", "email_verified": true}
		},
		"no subject":          func() { i.claims["sub"] = "" },
		"a subject too long":  func() { i.claims["sub"] = strings.Repeat("s", 256) },
		"an address too long": func() { i.claims["email"] = strings.Repeat("a", 300) + "@example.com" },
	} {
		i.claims, i.info, i.signer, i.alg = map[string]any{}, map[string]any{}, i.key, ""
		for k, v := range good {
			i.claims[k] = v
		}
		lie()
		if got := role(t, browser(t), public); !strings.HasPrefix(got, "/sign-in?provider=") {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// TestProviderFlow: a sign-in ends in the browser in which it began, once, and
// with the state that it began with.
func TestProviderFlow(t *testing.T) {
	i, _, public := withProvider(t)
	i.claims = map[string]any{"email": "pat@example.com", "email_verified": true, "groups": []string{"staff"}}
	stopped := func() (c *http.Client, callback string) { // before the callback
		c = browser(t)
		c.CheckRedirect = func(r *http.Request, _ []*http.Request) error {
			if strings.HasSuffix(r.URL.Path, "/callback") {
				callback = r.URL.String()
				return http.ErrUseLastResponse
			}
			return nil
		}
		visit(t, c, public+"/api/v1/auth/provider")
		c.CheckRedirect = nil
		return c, callback
	}
	ends := func(name string, c *http.Client, at, want string) {
		t.Helper()
		if got, _ := visit(t, c, at); got.RequestURI() != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	victim, _ := stopped()
	_, attackers := stopped()
	ends("another browser", browser(t), attackers, "/sign-in?provider=expired")
	ends("a victim who follows an attacker's link", victim, attackers, "/sign-in?provider=expired")
	c, callback := stopped()
	ends("another state", c, strings.Replace(callback, "state=", "state=x", 1), "/sign-in?provider=expired")
	ends("its cookie counted once", c, callback, "/sign-in?provider=expired")
	c, callback = stopped()
	ends("another code", c, strings.Replace(callback, "code=code-1", "code=code-2", 1), "/sign-in?provider=expired")
	c, callback = stopped()
	ends("the provider refused", c, callback+"&error=access_denied", "/sign-in?provider=refused")
	c, callback = stopped()
	ends("as it should be", c, callback, "/")
	ends("again", c, callback, "/sign-in?provider=expired")
}

// TestProviderDown: who has a password gets in when the provider does not answer.
func TestProviderDown(t *testing.T) {
	i, h, public := withProvider(t)
	i.down.Store(true)
	if got := role(t, browser(t), public); got != "/sign-in?provider=unavailable" {
		t.Errorf("at the provider: %s", got)
	}
	now := rimewatch.TimeOf(time.Now())
	if _, err := h.Accounts.SignIn(t.Context(), account.Credentials{Email: "o@example.com", Password: "correct horse battery"}, now); err != nil {
		t.Errorf("with the password: %v", err)
	}
	i.down.Store(false)
	i.claims = map[string]any{"email": "pat@example.com", "email_verified": true, "groups": "staff"}
	if got := role(t, browser(t), public); got != "viewer pat@example.com" {
		t.Errorf("when it answers again: %s", got)
	}
}

func pageOf(n int) store.Page { return store.Page{Limit: n} }

func readAll(t *testing.T, resp *http.Response) string {
	t.Helper()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
