package rimewatch

import (
	"encoding/base64"
	"maps"
	"net/textproto"
	"slices"
	"strings"
)

// Webhook sends events to a program, each at least once and those of one subject in order.
// URL, Secret and the values of Headers are credentials: they are written, never shown
// again in full.
type Webhook struct {
	ID          int64
	WorkspaceID int64
	Description string
	URL         string
	Types       []EventType // empty = all
	SiteIDs     Sites       // events of these sites alone; nil = all, those without a site too
	Headers     map[string]string
	Secret      string // whsec_…
	// OldSecret signs beside Secret until OldSecretUntil: a receiver has that long to learn the new one.
	OldSecret      string
	OldSecretUntil Time
	Enabled        bool
	OffReason      string // why the service switched it off, as Sentence.Stored returns it; "" = it did not
	Revision       int64  // of what people set: 1 at first, grows with every change
	CreatedAt      Time
	UpdatedAt      Time

	Through      int64 // number of the last event that was planned
	Run          int64 // grows when events are sent again, or the webhook is switched off: what was planned before is void
	FailingSince Time  // first failure since the last success, 0 = it works or was never used
	ChannelHealth
}

// Bounds of webhooks.
const (
	MaxWebhooks      = 20 // of a workspace
	MaxHeaders       = 20
	MaxHeaderLen     = 2000     // bytes of a value
	WebhookOffAfter  = 5 * Day  // of failures alone
	WebhookTriesFor  = 3 * Day  // an event is given up after it
	WebhookLog       = 10_000   // deliveries that are kept of a webhook, for EventsKept at most
	MaxSecretOverlap = 30 * Day // while two secrets sign
	maxHeaderNameLen = 100      // bytes
)

// connectionHeaders belong to the connection, and not to its user.
var connectionHeaders = []string{"Content-Length", "Content-Type", "Content-Encoding", "Host", "Connection", "Keep-Alive", "Transfer-Encoding", "Te", "Trailer", "Upgrade", "User-Agent", "Expect", "Accept-Encoding"}

// Wants reports whether an event goes to the webhook.
func (w *Webhook) Wants(e *Event) bool {
	return (len(w.Types) == 0 || slices.Contains(w.Types, e.Type)) && w.SiteIDs.Has(e.SiteID)
}

// WantsReadings reports whether the newest readings go to the webhook: it names their type.
func (w *Webhook) WantsReadings() bool { return slices.Contains(w.Types, EventReadingBatch) }

// Needs are the scopes of what the webhook sends.
func (w *Webhook) Needs() (s Scopes) {
	if w.WantsReadings() {
		s |= ScopeReadingsRead
	}
	for _, k := range EventKinds() {
		if len(w.Types) == 0 || slices.Contains(w.Types, k.Type) {
			s |= k.Needs
		}
	}
	return s
}

// HeaderNames are those of the headers, whose values may be credentials.
func (w *Webhook) HeaderNames() []string {
	names := slices.AppendSeq(make([]string, 0, len(w.Headers)), maps.Keys(w.Headers))
	slices.Sort(names)
	return names
}

// MaskedURL is what of the URL may be shown: scheme and host.
func (w *Webhook) MaskedURL() string {
	c := Channel{Kind: ChannelWebhook, URL: w.URL}
	return c.MaskedURL()
}

// Secrets are those that sign at a moment, the new one first.
func (w *Webhook) Secrets(now Time) []string {
	if w.OldSecret != "" && now < w.OldSecretUntil {
		return []string{w.Secret, w.OldSecret}
	}
	return []string{w.Secret}
}

// Check reports why w cannot be stored: CodeValidationFailed with the fields description,
// url, types, site_ids, headers, secret.
func (w *Webhook) Check() error {
	e := checkLine(nil, "description", w.Description)
	e = CheckText(e, "url", w.URL, MaxURLLen)
	e = checkWebhookURL(e, w.URL)
	for i, t := range w.Types {
		if _, ok := EventKindOf(t); !ok && t != EventReadingBatch {
			e = complain(e, "types", "%q is not a type of events", Shorten(string(t), MaxTypeLen))
		} else if slices.Contains(w.Types[:i], t) {
			e = complain(e, "types", "must not name %s twice", t)
		}
	}
	if bad := w.SiteIDs.Check(); bad != nil {
		e = Merge(e, bad)
	}
	e = checkHeaders(e, w.Headers)
	e = checkSecret(e, w.Secret)
	if w.OldSecret != "" {
		e = checkSecret(e, w.OldSecret)
	}
	return result(e)
}

func checkHeaders(e *Error, headers map[string]string) *Error {
	if len(headers) > MaxHeaders {
		return complain(e, "headers", "must not be more than %d", MaxHeaders)
	}
	for name, value := range headers {
		switch canonical := textproto.CanonicalMIMEHeaderKey(name); {
		case len(name) > maxHeaderNameLen || !validHeaderName(name):
			e = complain(e, "headers", "must have names of letters, digits and hyphens")
		case strings.HasPrefix(canonical, "Webhook-") || slices.Contains(connectionHeaders, canonical):
			e = complain(e, "headers", "must not set %s", canonical)
		case len(value) > MaxHeaderLen || strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || r > '~' }):
			e = complain(e, "headers", "must have values of at most %d printable ASCII characters", MaxHeaderLen)
		}
	}
	return e
}

func validHeaderName(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return r != '-' && r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	})
}

// WebhookSecretPrefix starts the secrets of webhooks, as Standard Webhooks asks.
const WebhookSecretPrefix = "whsec_"

// WebhookSecret returns a key, drawn at random, in the form of Standard Webhooks.
func WebhookSecret(key [32]byte) string {
	return WebhookSecretPrefix + base64.StdEncoding.EncodeToString(key[:])
}

// WebhookKey returns the bytes that sign, 24 to 64 of them, the range of Standard
// Webhooks; false for a text that is no such secret.
func WebhookKey(secret string) ([]byte, bool) {
	encoded, ok := strings.CutPrefix(secret, WebhookSecretPrefix)
	key, err := base64.StdEncoding.DecodeString(encoded)
	return key, ok && err == nil && len(key) >= 24 && len(key) <= 64 && !strings.ContainsAny(secret, "\r\n")
}
