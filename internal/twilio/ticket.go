package twilio

import (
	"crypto/hmac"
	"crypto/sha1" //nolint:gosec // HMAC-SHA1 is what Twilio signs with
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/rimewatch/rimewatch"
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
	macSize   = 16 // bytes
)

// Encode returns the ticket for use in a URL.
func (t *Ticket) Encode(key []byte) string {
	b := binary.AppendUvarint(nil, uint64(t.WorkspaceID))
	b = binary.AppendUvarint(b, uint64(t.ChannelID))
	b = binary.AppendUvarint(b, uint64(t.Expires))
	b = binary.AppendUvarint(b, t.Nonce)
	last := int64(0)
	for _, id := range t.Alerts {
		b = binary.AppendUvarint(b, uint64(id-last))
		last = id
	}
	return base64.RawURLEncoding.EncodeToString(append(b, mac(key, b)...))
}

func mac(key, b []byte) []byte {
	h := hmac.New(sha256.New, key)
	_, _ = h.Write(b)
	return h.Sum(nil)[:macSize]
}

// ParseTicket reads a ticket that this service has made. Whether it has expired is for
// the caller to judge.
func ParseTicket(key []byte, text string) (t Ticket, ok bool) {
	b, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(b) <= macSize {
		return t, false
	}
	b, sum := b[:len(b)-macSize], b[len(b)-macSize:]
	if subtle.ConstantTimeCompare(mac(key, b), sum) != 1 {
		return t, false
	}
	return decode(b)
}

// decode reads what Encode wrote before the signature.
func decode(b []byte) (t Ticket, ok bool) {
	var list []uint64
	for len(b) > 0 {
		v, n := binary.Uvarint(b)
		if n <= 0 || len(list) == 4+MaxAlerts {
			return t, false
		}
		list, b = append(list, v), b[n:]
	}
	if len(list) < 4 {
		return t, false
	}
	t = Ticket{WorkspaceID: int64(list[0]), ChannelID: int64(list[1]), Expires: rimewatch.Time(list[2]), Nonce: list[3]}
	last := int64(0)
	for _, v := range list[4:] {
		last += int64(v)
		t.Alerts = append(t.Alerts, last)
	}
	return t, true
}

// WorkspaceOf returns the workspace of a ticket in a path, 0 when there is none. It is
// not verified: it says who may.
func WorkspaceOf(path string) int64 {
	b, err := base64.RawURLEncoding.DecodeString(strings.TrimPrefix(path, Path))
	if err != nil || len(b) <= macSize {
		return 0
	}
	t, _ := decode(b[:len(b)-macSize])
	return max(t.WorkspaceID, 0)
}

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
