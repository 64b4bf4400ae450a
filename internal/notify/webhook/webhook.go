// Package webhook posts messages to people's own programs, signed as Standard
// Webhooks (https://www.standardwebhooks.com) asks for: webhook-id is the
// delivery's key and the same for every attempt, webhook-timestamp the moment of
// the attempt, webhook-signature an HMAC-SHA256 over both and the body.
package webhook

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/notify/message"
	"github.com/rimewatch/rimewatch/internal/notify/outbound"
)

// Sender posts messages.
type Sender struct {
	client *http.Client
	agent  string
	now    func() time.Time
}

// New makes a sender whose connections g guards. Receivers see version in the User-Agent.
func New(g *outbound.Guard, version string, now func() time.Time) *Sender {
	return &Sender{client: g.Client(), agent: "Rimewatch/" + version, now: now}
}

// Send posts a message once. Any 2xx is a success; for errors see
// outbound.Failure.
func (s *Sender) Send(ctx context.Context, c *rimewatch.Channel, key string, m *message.Message) (string, error) {
	body, err := m.Encode()
	if err != nil {
		return "", err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.URL, bytes.NewReader(body))
	if err != nil {
		return "", rimewatch.Errorf(rimewatch.CodeValidationFailed, "The URL of the channel is not valid.")
	}
	at := s.now()
	signature, err := Sign(c.Secret, key, at, body)
	if err != nil {
		return "", err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", s.agent)
	r.Header.Set("Webhook-Id", key)
	r.Header.Set("Webhook-Timestamp", strconv.FormatInt(at.Unix(), 10))
	r.Header.Set("Webhook-Signature", signature)
	resp, err := s.client.Do(r) //nolint:bodyclose // Drain closes it
	if err != nil {
		return "", outbound.Failure(err)
	}
	return "", outbound.Drain(resp)
}

// Post implements notify.Poster. The answer is not looked at beyond its status.
func (s *Sender) Post(ctx context.Context, w *rimewatch.Webhook, id string, body []byte) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, w.URL, bytes.NewReader(body))
	if err != nil {
		return rimewatch.Errorf(rimewatch.CodeValidationFailed, "The URL of the channel is not valid.")
	}
	at := s.now()
	var signatures []string
	for _, secret := range w.Secrets(rimewatch.TimeOf(at)) {
		signature, err := Sign(secret, id, at, body)
		if err != nil {
			return err
		}
		signatures = append(signatures, signature)
	}
	for name, value := range w.Headers {
		r.Header.Set(name, value)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", s.agent)
	r.Header.Set("Webhook-Id", id)
	r.Header.Set("Webhook-Timestamp", strconv.FormatInt(at.Unix(), 10))
	r.Header.Set("Webhook-Signature", strings.Join(signatures, " "))
	resp, err := s.client.Do(r) //nolint:bodyclose // Drain closes it
	if err != nil {
		return outbound.Failure(err)
	}
	return outbound.Drain(resp)
}

// secretKey returns the bytes that sign.
func secretKey(secret string) ([]byte, error) {
	key, ok := rimewatch.WebhookKey(secret)
	if !ok {
		return nil, rimewatch.Invalid("secret", "must be whsec_ followed by 24 to 64 bytes in base64")
	}
	return key, nil
}

// Sign returns the value of Webhook-Signature.
func Sign(secret, id string, at time.Time, body []byte) (string, error) {
	key, err := secretKey(secret)
	if err != nil {
		return "", err
	}
	h := hmac.New(sha256.New, key)
	fmt.Fprintf(h, "%s.%d.", id, at.Unix())
	_, _ = h.Write(body)
	return "v1," + base64.StdEncoding.EncodeToString(h.Sum(nil)), nil
}

// Bundles implements notify.Sender: a program gets each alert by itself, with the
// id of its delivery.
func (s *Sender) Bundles(*rimewatch.Channel) bool { return false }

// Check returns what is wrong with a channel's URL and secret, nil = nothing.
// Whether its address is allowed is seen when it is connected to.
func (s *Sender) Check(c *rimewatch.Channel) error {
	u, err := url.Parse(c.URL)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Hostname() == "" {
		return rimewatch.Invalid("url", "must be http://HOST/… or https://HOST/…")
	}
	_, err = secretKey(c.Secret)
	return err
}
