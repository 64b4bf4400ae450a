package app_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha1"
	"encoding/base64"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/notify/message"
	"github.com/rimewatch/rimewatch/internal/notify/voice"
	"github.com/rimewatch/rimewatch/internal/store"
)

// phone is Twilio with a phone: it takes the call that a channel makes, and presses
// keys.
type phone struct {
	*shop
	channel rimewatch.Channel
	twiml   string
}

var (
	twilioSID, twilioToken = "AC" + strings.Repeat("a", 32), strings.Repeat("b", 32)
	action                 = regexp.MustCompile(`action="([^"]+)"`)
)

// RoundTrip implements http.RoundTripper for the caller.
func (p *phone) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := r.ParseForm(); err != nil {
		return nil, err
	}
	p.twiml = r.PostForm.Get("Twiml")
	return &http.Response{StatusCode: http.StatusCreated, Body: io.NopCloser(strings.NewReader(`{"status":"queued"}`))}, nil
}

func newPhone(t *testing.T) *phone {
	t.Helper()
	p := &phone{shop: newShop(t)}
	p.channel = rimewatch.Channel{WorkspaceID: p.workspace, Name: "Night shift", Kind: rimewatch.ChannelCall, Enabled: true, URL: "twilio://" + twilioSID + ":" + twilioToken + "@call?from=%2B15017122661&to=%2B15558675310"}
	p.must(p.Store.Routing().Channels().Create(t.Context(), &p.channel))
	return p
}

// ring makes the call about the active alert, and returns the address that the key is
// told to, as the service knows it from outside.
func (p *phone) ring() (address string) {
	p.Helper()
	p.temperature(6.8)
	v, err := p.Store.Alert(p.Context(), p.workspace, p.alert().ID)
	p.must(err)
	key, err := p.Store.Secret(p.Context(), "voice")
	p.must(err)
	c := message.Context{Workspace: message.Ref{ID: p.workspace, Name: "Corner shop"}, PublicURL: "https://watch.example.org", Now: rimewatch.TimeOf(p.now.Now()), Alert: []byte(`{"id":` + strconv.FormatInt(v.ID, 10) + `}`)}
	_, err = voice.NewCaller(p, "https://watch.example.org", key, func() rimewatch.Time { return rimewatch.TimeOf(p.now.Now()) }).Send(p.Context(), &p.channel, "k", c.Of(&v, message.Reason{Kind: rimewatch.DeliveryOpened}))
	p.must(err)
	return p.asked()
}

// asked is the address of the last script that asks for a key, "" = none does.
func (p *phone) asked() string {
	if m := action.FindStringSubmatch(p.twiml); m != nil {
		return m[1]
	}
	return ""
}

// press posts a form as Twilio does, signed by a token.
func (p *phone) press(address, token string, form url.Values) (status int) {
	p.Helper()
	signed := address
	for _, name := range slices.Sorted(maps.Keys(form)) {
		signed += name + form.Get(name)
	}
	h := hmac.New(sha1.New, []byte(token))
	_, _ = io.WriteString(h, signed)
	return p.post(address, form.Encode(), base64.StdEncoding.EncodeToString(h.Sum(nil)))
}

func (p *phone) post(address, body, signature string) int {
	p.Helper()
	r, err := http.NewRequestWithContext(p.Context(), http.MethodPost, p.URL()+strings.TrimPrefix(address, "https://watch.example.org"), strings.NewReader(body))
	p.must(err)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("X-Twilio-Signature", signature)
	resp, err := http.DefaultClient.Do(r)
	p.must(err)
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	p.must(err)
	p.twiml = string(b)
	return resp.StatusCode
}

func keyPressed(digits string) url.Values {
	return url.Values{"AccountSid": {twilioSID}, "CallSid": {"CA" + strings.Repeat("c", 32)}, "CallStatus": {"in-progress"}, "Digits": {digits}, "From": {"+15017122661"}, "To": {"+15558675310"}, "msg": {"Gather End"}}
}

// TestPressOne: the key 1 acknowledges once, in the name of the channel; another key
// asks again, a few times; a call that is told again, is too old or of another account
// changes nothing.
func TestPressOne(t *testing.T) {
	p := newPhone(t)
	first := p.ring()
	if first == "" || p.press(first, twilioToken, keyPressed("7")) != http.StatusOK || !strings.Contains(p.twiml, "That was not the key 1") {
		t.Fatalf("%s: %s", first, p.twiml)
	}
	second := p.asked()
	if second == first || p.press(second, twilioToken, keyPressed("#")) != http.StatusOK || p.press(p.asked(), twilioToken, keyPressed("12")) != http.StatusOK || p.asked() != "" {
		t.Errorf("it asks for ever: %s", p.twiml)
	}
	if p.alert().AcknowledgedBy != "" {
		t.Fatal("acknowledged by another key")
	}
	if p.press(second, twilioToken, keyPressed("1")) != http.StatusOK || !strings.Contains(p.twiml, "Thank you. The alert is acknowledged.") {
		t.Errorf("%s", p.twiml)
	}
	a := p.alert()
	if a.AcknowledgedBy != "Night shift, by phone" {
		t.Errorf("%+v", a)
	}
	trail := func() int {
		list, _, err := p.Store.Audit().AuditEntries(t.Context(), p.workspace, "alert.acknowledged", "", store.Page{Limit: 10})
		p.must(err)
		for _, e := range list {
			if e.Actor != "channel 1" {
				t.Errorf("%+v", e)
			}
		}
		return len(list)
	}
	if n := trail(); n != 1 {
		t.Errorf("%d lines in the audit trail", n)
	}
	for _, address := range []string{first, second} { // told again
		if p.press(address, twilioToken, keyPressed("1")) != http.StatusOK || !strings.Contains(p.twiml, "has acknowledged its alert already") {
			t.Errorf("%s", p.twiml)
		}
	}
	if n := trail(); n != 1 {
		t.Errorf("%d lines in the audit trail after the same call was told again", n)
	}
	sooner := p.ring()
	if p.press(sooner, twilioToken, keyPressed("1")) != http.StatusOK || !strings.Contains(p.twiml, "Thank you. The alert is acknowledged.") {
		t.Errorf("%s", p.twiml)
	}
	if b := p.alert(); b.AcknowledgedAt != a.AcknowledgedAt || b.AckExpiresAt != a.AckExpiresAt || trail() != 1 {
		t.Errorf("the acknowledgement of somebody who was first was replaced: %+v", b)
	}
	third := p.ring()
	p.now.pass(31 * time.Minute)
	if p.press(third, twilioToken, keyPressed("1")) != http.StatusOK || !strings.Contains(p.twiml, "too old") {
		t.Errorf("%s", p.twiml)
	}
	fourth := p.ring()
	p.temperature(3)
	if p.press(fourth, twilioToken, keyPressed("1")) != http.StatusOK || !strings.Contains(p.twiml, "the alert is over") {
		t.Errorf("%s", p.twiml)
	}
}

// TestNobodyElseAcknowledges: what is not signed by the channel's account, and what is
// odd, is refused and changes nothing; so is the call of a channel that is switched
// off or gone.
func TestNobodyElseAcknowledges(t *testing.T) {
	p := newPhone(t)
	address := p.ring()
	other := keyPressed("1")
	other.Set("AccountSid", "AC"+strings.Repeat("d", 32))
	refused := func(what string, status int, want ...int) {
		t.Helper()
		if !slices.Contains(append(want, http.StatusForbidden, http.StatusTooManyRequests), status) || p.alert().AcknowledgedBy != "" {
			t.Errorf("%s: %d %s", what, status, p.twiml)
		}
	}
	refused("another token", p.press(address, strings.Repeat("c", 32), keyPressed("1")))
	refused("another account", p.press(address, twilioToken, other))
	refused("no signature", p.post(address, keyPressed("1").Encode(), ""))
	refused("a query more", p.post(address+"?tried=-5", keyPressed("1").Encode(), "x"))
	refused("a long form", p.post(address, strings.Repeat("Digits=1&", 10_000), "x"), http.StatusRequestEntityTooLarge)
	rnd := rand.New(rand.NewPCG(3, 4))
	for range 100 {
		odd := []byte(keyPressed("1").Encode())
		for range 1 + rnd.IntN(4) {
			odd[rnd.IntN(len(odd))] = byte(rnd.IntN(256))
		}
		path := []byte(address)
		path[len("https://watch.example.org/voice/")+rnd.IntN(40)] = "Ab9-_"[rnd.IntN(5)]
		refused("a form that is odd", p.post(address, string(odd), "AAAA"), http.StatusBadRequest, http.StatusUnprocessableEntity)
		if string(path) != address {
			refused("another ticket", p.press(string(path), twilioToken, keyPressed("1")))
		}
	}
	_, err := p.Store.Routing().Channels().Update(t.Context(), p.workspace, p.channel.ID, func(c *rimewatch.Channel) error { c.Enabled = false; return nil })
	p.must(err)
	refused("switched off", p.press(address, twilioToken, keyPressed("1")))
	p.must(p.Store.Routing().Channels().Delete(context.WithoutCancel(t.Context()), p.workspace, p.channel.ID))
	refused("gone", p.press(address, twilioToken, keyPressed("1")))
}
