package twilio

import (
	"crypto/hmac"
	"crypto/sha1" //nolint:gosec // HMAC-SHA1 is what Twilio signs with
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/ticket"
)

// Path is where Twilio reports which keys were pressed: Path and a ticket.
const Path = "/voice/"

// A Ticket says what pressing 1 in a call acknowledges. It is signed, and names what
// one call is about; whoever has none cannot make one.
type Ticket struct {
	WorkspaceID, ChannelID int64
	Expires                rimewatch.Time
	Nonce                  uint64  // tells calls about the same apart
	Alerts                 []int64 // rising
}

const (
	// TicketLife is for how long after it was asked for a call may acknowledge. Twilio
	// rings within a minute, or up to some minutes later when an account calls much.
	TicketLife = 30 * rimewatch.Minute
	// MaxAlerts bounds the alerts that one key acknowledges, and so the length of the
	// ticket in the address.
	MaxAlerts = 100
)

// Encode returns the ticket for use in a URL.
func (t *Ticket) Encode(key []byte) string {
	numbers := append(make([]int64, 0, 4+len(t.Alerts)), t.WorkspaceID, t.ChannelID, int64(t.Expires), int64(t.Nonce))
	last := int64(0)
	for _, id := range t.Alerts {
		numbers = append(numbers, id-last)
		last = id
	}
	return ticket.Encode(key, numbers...)
}

// ParseTicket reads a ticket that this service has made. Whether it has expired is for
// the caller to judge.
func ParseTicket(key []byte, text string) (t Ticket, ok bool) {
	list, ok := ticket.Parse(key, text)
	if !ok || len(list) < 4 || len(list) > 4+MaxAlerts {
		return t, false
	}
	t = Ticket{WorkspaceID: list[0], ChannelID: list[1], Expires: rimewatch.Time(list[2]), Nonce: uint64(list[3])}
	last := int64(0)
	for _, v := range list[4:] {
		last += v
		t.Alerts = append(t.Alerts, last)
	}
	return t, true
}

// WorkspaceOf returns the workspace of a ticket in a path, 0 when there is none. It is
// not verified: it says who may.
func WorkspaceOf(path string) int64 { return ticket.Claimed(strings.TrimPrefix(path, Path), 0) }

// AlertsOf returns those of a list that a ticket may hold.
func AlertsOf(ids []int64) []int64 {
	ids = slices.DeleteFunc(slices.Clone(ids), func(id int64) bool { return id <= 0 })
	slices.Sort(ids)
	ids = slices.Compact(ids)
	return ids[:min(len(ids), MaxAlerts)]
}

// Signed reports whether Twilio has signed a request to address with an account's
// token: X-Twilio-Signature is the HMAC-SHA1 of the address followed by the names and
// values of the form, sorted by name
// (https://www.twilio.com/docs/usage/security#validating-requests).
func Signed(r *http.Request, address, token string) bool {
	want, err := base64.StdEncoding.DecodeString(r.Header.Get("X-Twilio-Signature"))
	return err == nil && hmac.Equal(want, signature(address, token, r.PostForm))
}

// signature is what Twilio sends for a form that it posts to address.
func signature(address, token string, form url.Values) []byte {
	h := hmac.New(sha1.New, []byte(token))
	_, _ = io.WriteString(h, address)
	names := make([]string, 0, len(form))
	for name := range form {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		for _, v := range slices.Compact(slices.Sorted(slices.Values(form[name]))) {
			_, _ = fmt.Fprint(h, name, v)
		}
	}
	return h.Sum(nil)
}
