// Package voice makes phone calls about alerts through Twilio. Which key is pressed in
// them, httpapi/voice hears.
package voice

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/notify/message"
	"github.com/rimewatch/rimewatch/internal/notify/outbound"
	"github.com/rimewatch/rimewatch/internal/phrase"
	"github.com/rimewatch/rimewatch/internal/twilio"
)

// Caller makes phone calls that read a message aloud and take "1" for an
// acknowledgement.
type Caller struct {
	transport http.RoundTripper
	base      string // the service's public URL, without a slash at the end
	key       []byte // signs tickets
	now       func() rimewatch.Time
}

// NewCaller makes a caller. base is where Twilio reaches the service, without a slash
// at the end; key is the service's and secret.
func NewCaller(transport http.RoundTripper, base string, key [32]byte, now func() rimewatch.Time) *Caller {
	return &Caller{transport, base, key[:], now}
}

// Check implements notify.Sender.
func (*Caller) Check(c *rimewatch.Channel) error { return twilio.CheckCall(c.URL) }

// Bundles implements notify.Sender: nobody answers ten calls in a row.
func (*Caller) Bundles(*rimewatch.Channel) bool { return true }

// quiet is the remark about a message that is no reason to call.
const quiet = "Nobody was called: there is nothing to do about this message."

// Send calls once. What asks for nothing, such as that an alert is over, is not a
// reason to call.
func (s *Caller) Send(ctx context.Context, c *rimewatch.Channel, _ string, m *message.Message) (string, error) {
	switch k := m.Data.Kind; {
	case k == rimewatch.DeliveryRecovery, k == rimewatch.DeliveryDigest, k == rimewatch.DeliveryHandOver, k == rimewatch.DeliveryCheck, k == rimewatch.DeliveryOrder && !m.Data.Urgent:
		return quiet, nil
	}
	u, err := url.Parse(c.URL)
	if err != nil {
		return "", rimewatch.Errorf(rimewatch.CodeValidationFailed, "The URL of the channel is not valid.")
	}
	r, err := twilio.Call(ctx, u, s.script(c, m))
	if err != nil {
		return "", err
	}
	resp, err := s.transport.RoundTrip(r) //nolint:bodyclose // Drain closes it
	if err != nil {
		return "", outbound.Failure(outbound.Explain(err, twilio.Says))
	}
	return "", outbound.Drain(resp)
}

// script is what Twilio does in the call.
func (s *Caller) script(c *rimewatch.Channel, m *message.Message) string {
	w := phrase.In(m.Data.Locale)
	spoken := twilio.Spoken(w, aloud(&m.Data))
	ids := idsOf(&m.Data)
	if len(ids) == 0 {
		return twilio.Answer(w, spoken, w.Say("Goodbye."))
	}
	var nonce [8]byte
	_, _ = rand.Read(nonce[:]) // it never fails
	t := twilio.Ticket{WorkspaceID: c.WorkspaceID, ChannelID: c.ID, Expires: s.now() + twilio.TicketLife, Nonce: binary.LittleEndian.Uint64(nonce[:]), Alerts: ids}
	press := w.Say("Press 1 to acknowledge the alert, so that nobody else is woken.")
	if len(ids) > 1 {
		press = w.Sayf("Press 1 to acknowledge these %d alerts, so that nobody else is woken.", len(ids))
	}
	return twilio.Ask(w, s.base+twilio.Path+t.Encode(s.key), spoken+" "+press, w.Say("Nothing was pressed, so nothing is acknowledged. Goodbye."))
}

// idsOf returns the alerts that wait to be acknowledged.
func idsOf(d *message.Data) (ids []int64) {
	switch d.Kind {
	case rimewatch.DeliveryOpened, rimewatch.DeliveryEscalated, rimewatch.DeliveryRepeat, rimewatch.DeliveryUnrouted:
	default:
		return nil
	}
	var alert struct{ ID int64 }
	if json.Unmarshal(d.Alert, &alert) == nil {
		ids = append(ids, alert.ID)
	}
	for _, l := range d.Alerts {
		if !l.Over {
			ids = append(ids, l.ID)
		}
	}
	return twilio.AlertsOf(ids)
}

const (
	maxSaid  = 900 // bytes of a text that is read aloud, about a minute
	maxLines = 4   // alerts of several that are read aloud
)

// aloud is a message as it is read to somebody who has just been woken: who calls,
// what is wrong, where.
func aloud(d *message.Data) string {
	w := phrase.In(d.Locale)
	spoken := []string{w.Sayf("This is Rimewatch for %s", d.Workspace.Name)}
	switch {
	case d.Kind == rimewatch.DeliveryTest, d.Kind == rimewatch.DeliveryFallback:
		return strings.Join(append(spoken, d.Text), ". ")
	case d.Kind == rimewatch.DeliveryEscalated: // which the subject says
	case d.Urgent:
		spoken = append(spoken, w.Say("Critical alert"))
	default:
		spoken = append(spoken, w.Say("Warning"))
	}
	spoken = append(spoken, d.Title())
	if d.Site != nil && d.Device != nil && len(d.Alerts) == 0 {
		spoken = append(spoken, d.Site.Name)
	}
	for _, l := range d.Alerts[:min(len(d.Alerts), maxLines)] {
		spoken = append(spoken, l.Text)
	}
	return rimewatch.Shorten(strings.Join(spoken, ". "), maxSaid) + "."
}
