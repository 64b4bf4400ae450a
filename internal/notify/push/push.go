// Package push notifies browsers and phones by Web Push: encrypted for the device
// (RFC 8291), signed with the server's own key (VAPID, RFC 8292), through the push
// service of the browser's maker.
package push

import (
	"context"
	"crypto/ecdh"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/SherClockHolmes/webpush-go"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/notify/message"
	"github.com/rimewatch/rimewatch/internal/notify/outbound"
	"github.com/rimewatch/rimewatch/internal/phrase"
)

// Keys are the server's VAPID keys, in base64url.
type Keys struct{ Public, private string }

// KeysOf makes the keys of a secret: the same for the same one.
func KeysOf(secret [32]byte) Keys {
	for {
		// One secret in 2^32 is no scalar of the curve.
		if k, err := ecdh.P256().NewPrivateKey(secret[:]); err == nil {
			enc := base64.RawURLEncoding
			return Keys{enc.EncodeToString(k.PublicKey().Bytes()), enc.EncodeToString(k.Bytes())}
		}
		secret = sha256.Sum256(secret[:])
	}
}

// Config of a Sender.
type Config struct {
	Client  *http.Client // guarded: it returns an error for every answer that is not 2xx
	Keys    Keys
	Contact string // https URL or e-mail address at which a push service finds who sends

	// Member finds the person of an address in a workspace: CodeNotFound without one.
	Member func(ctx context.Context, workspaceID int64, email string) (rimewatch.Member, error)
	// Expired is called with a channel whose device has ended its subscription.
	Expired func(ctx context.Context, c *rimewatch.Channel)
}

// Sender sends to devices.
type Sender struct{ cfg Config }

// New makes a sender.
func New(cfg Config) *Sender { return &Sender{cfg} }

// Check implements notify.Sender.
func (*Sender) Check(c *rimewatch.Channel) error { return c.Check() }

// Bundles implements notify.Sender: a phone that rings ten times at once is thrown
// into a corner.
func (*Sender) Bundles(*rimewatch.Channel) bool { return true }

// Payload is what the service worker shows.
type Payload struct {
	Title  string `json:"title"`
	Body   string `json:"body"`
	Tag    string `json:"tag"` // a later notification takes the place of one with the same
	Path   string `json:"path"`
	Urgent bool   `json:"urgent"`
	Lang   string `json:"lang"`
	// Of an alert that the person may acknowledge:
	AlertID     int64  `json:"alert_id,omitempty"`
	Acknowledge string `json:"acknowledge,omitempty"` // on the button
	Done        string `json:"done,omitempty"`
	Failed      string `json:"failed,omitempty"`
}

const (
	maxBody = 600 // bytes: phones show three lines
	record  = 2048
	life    = 24 * 3600 // s, as long as the service itself tries
)

// Send sends once. A device that has ended its subscription is CodeNotFound, and
// Expired is called.
func (s *Sender) Send(ctx context.Context, c *rimewatch.Channel, _ string, m *message.Message) (string, error) {
	who, err := s.cfg.Member(ctx, c.WorkspaceID, strings.Join(c.To, ""))
	switch rimewatch.CodeOf(err) {
	case "":
	case rimewatch.CodeNotFound:
		return "", err
	default:
		return "", rimewatch.Wrap(rimewatch.CodeUnavailable, err, "It could not be found out whether the person is still a member.")
	}
	m, left := within(m, who.Sites)
	if !left {
		return "", rimewatch.Errorf(rimewatch.CodeForbidden, "This person is limited to other sites.")
	}
	p := payload(m, who.Role)
	body, err := json.Marshal(p)
	if err != nil {
		return "", err
	}
	key, auth, _ := strings.Cut(c.Secret, ".")
	urgency := webpush.UrgencyNormal
	if m.Data.Urgent || m.Data.Kind == rimewatch.DeliveryTest {
		urgency = webpush.UrgencyHigh
	}
	resp, err := webpush.SendNotificationWithContext(ctx, body, &webpush.Subscription{Endpoint: c.URL, Keys: webpush.Keys{P256dh: key, Auth: auth}}, &webpush.Options{ //nolint:bodyclose // Drain closes it
		HTTPClient: s.cfg.Client, RecordSize: record, Subscriber: s.cfg.Contact, Topic: p.Tag, TTL: life, Urgency: urgency,
		VAPIDPublicKey: s.cfg.Keys.Public, VAPIDPrivateKey: s.cfg.Keys.private,
	})
	if outbound.Gone(err) {
		if c.ID != 0 {
			s.cfg.Expired(ctx, c)
		}
		return "", rimewatch.Errorf(rimewatch.CodeNotFound, "This device no longer accepts notifications. Switch them on again on the device.")
	}
	if err != nil {
		return "", outbound.Failure(err)
	}
	return "", outbound.Drain(resp)
}

// within leaves of a message only what somebody who is limited to sites may know: the limit may
// have come, or the unit moved, after the message was written. It returns false when that is nothing.
func within(m *message.Message, sites rimewatch.Sites) (*message.Message, bool) {
	d := m.Data
	switch {
	case sites == nil, d.Kind == rimewatch.DeliveryTest, d.Kind == rimewatch.DeliveryHandOver && len(d.Alerts) == 0:
		return m, true
	case len(d.Alerts) == 0:
		return m, d.Site != nil && sites.Has(d.Site.ID)
	}
	elsewhere := func(l message.Line) bool { return l.ID != 0 && !sites.Has(l.SiteID) }
	if !slices.ContainsFunc(d.Alerts, elsewhere) {
		return m, true
	}
	d.Alerts = slices.DeleteFunc(slices.Clone(d.Alerts), func(l message.Line) bool { return l.ID == 0 || elsewhere(l) })
	d.Tag, d.Subject, d.Text = "", d.Workspace.Name, ""
	return &message.Message{Type: m.Type, Timestamp: m.Timestamp, Data: d}, len(d.Alerts) > 0
}

// payload is a message for a lock screen: what is wrong, then what to do.
func payload(m *message.Message, role rimewatch.Role) Payload {
	d := &m.Data
	w := phrase.In(d.Locale)
	p := Payload{Title: d.Title(), Body: d.Text, Path: "/", Urgent: d.Urgent, Lang: w.Language, Tag: "rimewatch"}
	switch {
	case d.Urgent && d.Kind != rimewatch.DeliveryEscalated: // whose title says so
		p.Title = w.Say("Critical:") + " " + p.Title
	case d.Kind == rimewatch.DeliveryRecovery:
		p.Title = w.Say("Resolved:") + " " + p.Title
	}
	if d.Site != nil && len(d.Alerts) == 0 {
		p.Body = d.Site.Name + " – " + p.Body
	}
	for _, l := range d.Alerts[:min(len(d.Alerts), 4)] {
		p.Body += "\n" + l.Text
	}
	p.Body, p.Title = rimewatch.Shorten(p.Body, maxBody), rimewatch.Shorten(p.Title, maxBody)
	var alert struct{ ID int64 }
	switch {
	case json.Unmarshal(d.Alert, &alert) == nil && alert.ID != 0:
		p.Tag, p.Path = fmt.Sprintf("alert-%d", alert.ID), d.Workspace.Page(fmt.Sprintf("/alerts/%d", alert.ID))
	case len(d.Alerts) > 0:
		p.Tag, p.Path = "alerts", d.Workspace.Page("/alerts")
	case d.WorkOrder != 0:
		p.Tag, p.Path = fmt.Sprintf("work-%d", d.WorkOrder), d.Workspace.Page(fmt.Sprintf("/work/%d", d.WorkOrder))
	case d.Kind == rimewatch.DeliveryTest:
		p.Tag = "test"
	}
	if alert.ID != 0 && d.Kind != rimewatch.DeliveryRecovery && role.Scopes().Has(rimewatch.ScopeAlertsWrite) {
		p.AlertID, p.Acknowledge = alert.ID, w.Say("Acknowledge")
		p.Done, p.Failed = w.Say("Acknowledged"), w.Say("It could not be acknowledged: open Rimewatch.")
	}
	return p
}
