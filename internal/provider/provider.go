// Package provider signs people in by OpenID Connect: at the provider that the
// operator names, by the authorization code flow with PKCE, state and nonce.
//
// What a sign-in needs on its way back travels in a cookie that only the service
// can read, so that strangers who begin a thousand take no memory, and so that a
// sign-in ends in the browser in which it began.
package provider

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/account"
	"github.com/rimewatch/rimewatch/internal/store"
)

// Config of a Client. Issuer, ClientID, Redirect and Key are needed.
type Config struct {
	Issuer       string
	ClientID     string
	ClientSecret string   // "" = a public client, which PKCE alone protects
	Redirect     string   // the URL of the service that the provider sends people back to
	Scopes       []string // beside openid, email and profile
	GroupsClaim  string   // default "groups"
	Key          [32]byte
	Transport    http.RoundTripper // default: one of its own; a provider may be in the private network
}

// Client is the service as the provider knows it. It is safe for concurrent use.
type Client struct {
	cfg  Config
	http *http.Client
	seal cipher.AEAD

	mu    sync.Mutex
	found *oidc.Provider
	at    rimewatch.Time // when it was found
}

const (
	// FlowLife is how long a person may take at the provider.
	FlowLife = 10 * rimewatch.Minute
	// patience with the provider, and the most that it may answer.
	patience  = 10 * time.Second
	maxAnswer = 1 << 20
	// foundFor is for how long the provider's description of itself is believed.
	foundFor = rimewatch.Hour
)

// New makes a client. It does not ask the provider, which may be down.
func New(cfg Config) (*Client, error) {
	if cfg.GroupsClaim == "" {
		cfg.GroupsClaim = "groups"
	}
	if cfg.Transport == nil {
		cfg.Transport = &http.Transport{Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true, MaxIdleConns: 4, IdleConnTimeout: time.Minute, TLSHandshakeTimeout: patience}
	}
	block, err := aes.NewCipher(cfg.Key[:])
	if err != nil {
		return nil, err
	}
	seal, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return nil, err
	}
	return &Client{cfg: cfg, seal: seal, http: &http.Client{Timeout: patience, Transport: bounded{cfg.Transport}}}, nil
}

// bounded bounds what a provider answers.
type bounded struct{ http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := b.RoundTripper.RoundTrip(r)
	if err == nil {
		resp.Body = struct {
			io.Reader
			io.Closer
		}{io.LimitReader(resp.Body, maxAnswer), resp.Body}
	}
	return resp, err
}

// provider returns the provider's description of itself; an old one when the
// provider does not answer: CodeUnavailable.
func (c *Client) provider(now rimewatch.Time) (*oidc.Provider, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if age := now - c.at; c.found != nil && age >= 0 && age < foundFor {
		return c.found, nil
	}
	// The provider keeps the context for the keys that it fetches later; the
	// client's own patience bounds the call.
	found, err := oidc.NewProvider(oidc.ClientContext(context.Background(), c.http), c.cfg.Issuer)
	switch {
	case err == nil:
		c.found, c.at = found, now
	case c.found == nil:
		return nil, rimewatch.Wrap(rimewatch.CodeUnavailable, err, "The sign-in provider does not answer.")
	}
	return c.found, nil
}

func (c *Client) oauth(p *oidc.Provider) *oauth2.Config {
	return &oauth2.Config{
		ClientID: c.cfg.ClientID, ClientSecret: c.cfg.ClientSecret, Endpoint: p.Endpoint(), RedirectURL: c.cfg.Redirect,
		Scopes: append([]string{oidc.ScopeOpenID, "email", "profile"}, c.cfg.Scopes...),
	}
}

// flow is a sign-in on its way.
type flow struct {
	State, Nonce, Verifier string
	Expires                rimewatch.Time
}

// Begin returns where the browser goes to sign in, and what it brings back in a
// cookie. CodeUnavailable when the provider does not answer.
func (c *Client) Begin(now rimewatch.Time) (to, cookie string, err error) {
	p, err := c.provider(now)
	if err != nil {
		return "", "", err
	}
	f := flow{State: rand.Text(), Nonce: rand.Text(), Verifier: oauth2.GenerateVerifier(), Expires: now + FlowLife}
	plain, err := json.Marshal(f)
	if err != nil {
		return "", "", err
	}
	cookie = base64.RawURLEncoding.EncodeToString(c.seal.Seal(nil, nil, plain, []byte(c.cfg.Issuer)))
	return c.oauth(p).AuthCodeURL(f.State, oidc.Nonce(f.Nonce), oauth2.S256ChallengeOption(f.Verifier)), cookie, nil
}

func errFlow(cause error) error {
	return rimewatch.Wrap(rimewatch.CodeUnauthenticated, cause, "This sign-in was not begun in this browser, or has taken too long. Start again.")
}

// Finish returns whom the provider has named, by the code that it sent the
// browser back with. CodeUnauthenticated when the sign-in was not begun in this
// browser, or the provider does not stand by it; CodeUnavailable when it does not
// answer.
func (c *Client) Finish(ctx context.Context, cookie, state, code string, now rimewatch.Time) (account.Identity, error) {
	f, err := c.open(cookie, state, now)
	if err != nil {
		return account.Identity{}, err
	}
	p, err := c.provider(now)
	if err != nil {
		return account.Identity{}, err
	}
	ctx = oidc.ClientContext(ctx, c.http)
	token, err := c.oauth(p).Exchange(ctx, code, oauth2.VerifierOption(f.Verifier))
	if err != nil {
		if refused := (*oauth2.RetrieveError)(nil); errors.As(err, &refused) && refused.Response.StatusCode < http.StatusInternalServerError {
			return account.Identity{}, errFlow(err)
		}
		return account.Identity{}, rimewatch.Wrap(rimewatch.CodeUnavailable, err, "The sign-in provider does not answer.")
	}
	raw, ok := token.Extra("id_token").(string)
	if !ok {
		return account.Identity{}, errFlow(errors.New("the provider has sent no ID token"))
	}
	id, err := p.Verifier(&oidc.Config{ClientID: c.cfg.ClientID, Now: now.Std}).Verify(ctx, raw)
	if err != nil {
		return account.Identity{}, errFlow(err)
	}
	if subtle.ConstantTimeCompare([]byte(id.Nonce), []byte(f.Nonce)) != 1 {
		return account.Identity{}, errFlow(errors.New("the nonce is another one's"))
	}
	return c.identity(ctx, p, token, id)
}

// open reads the cookie of a sign-in that has come back with a state.
func (c *Client) open(cookie, state string, now rimewatch.Time) (f flow, err error) {
	sealed, err := base64.RawURLEncoding.DecodeString(cookie)
	if err != nil {
		return f, errFlow(err)
	}
	plain, err := c.seal.Open(nil, nil, sealed, []byte(c.cfg.Issuer))
	if err != nil {
		return f, errFlow(err)
	}
	if err := json.Unmarshal(plain, &f); err != nil {
		return f, errFlow(err)
	}
	if now >= f.Expires || now < f.Expires-FlowLife {
		return f, errFlow(errors.New("it has expired"))
	}
	if subtle.ConstantTimeCompare([]byte(f.State), []byte(state)) != 1 {
		return f, errFlow(errors.New("the state is another one's"))
	}
	return f, nil
}

// identity reads what the provider says of the person. What is not in the ID
// token is asked for.
func (c *Client) identity(ctx context.Context, p *oidc.Provider, token *oauth2.Token, id *oidc.IDToken) (out account.Identity, err error) {
	var got claims
	if err := id.Claims(&got); err != nil {
		return out, errFlow(err)
	}
	if (got["email"] == nil || got[c.cfg.GroupsClaim] == nil) && p.UserInfoEndpoint() != "" {
		more, err := p.UserInfo(ctx, oauth2.StaticTokenSource(token))
		if err != nil {
			return out, rimewatch.Wrap(rimewatch.CodeUnavailable, err, "The sign-in provider does not answer.")
		}
		if more.Subject != id.Subject {
			return out, errFlow(fmt.Errorf("the provider speaks of %q and of %q", id.Subject, more.Subject))
		}
		var also claims
		if err := more.Claims(&also); err != nil {
			return out, errFlow(err)
		}
		got.add(also)
	}
	return account.Identity{
		Identification: store.Identification{Issuer: id.Issuer, Subject: id.Subject},
		Email:          got.text("email"), Verified: got.yes("email_verified"), Name: got.text("name"), Groups: got.texts(c.cfg.GroupsClaim),
	}, nil
}

// claims are what a provider says of a person.
type claims map[string]any

// add takes over what is not there yet. An address and whether it is verified
// belong together.
func (c claims) add(more claims) {
	if c["email"] == nil {
		c["email"], c["email_verified"] = more["email"], more["email_verified"]
	}
	for name, v := range more {
		if _, there := c[name]; !there {
			c[name] = v
		}
	}
}

func (c claims) text(name string) string {
	s, _ := c[name].(string)
	return s
}

// yes reports whether a claim is true; some providers write "true".
func (c claims) yes(name string) bool { return c[name] == true || c[name] == "true" }

// texts returns a claim of many values, of which some providers send one alone.
func (c claims) texts(name string) (out []string) {
	switch v := c[name].(type) {
	case string:
		return []string{v}
	case []any:
		for _, one := range v {
			if s, ok := one.(string); ok {
				out = append(out, s)
			}
		}
	}
	return out
}
