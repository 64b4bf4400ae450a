package twilio

import (
	"encoding/base64"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/phrase"
)

var secret = [32]byte{1, 2, 3}

// TestSigned has the request of Twilio's own documentation and libraries.
func TestSigned(t *testing.T) {
	const address = "https://mycompany.com/myapp.php?foo=1&bar=2"
	form := url.Values{"CallSid": {"CA1234567890ABCDE"}, "Caller": {"+14158675309"}, "Digits": {"1234"}, "From": {"+14158675309"}, "To": {"+18005551212"}}
	if got := base64.StdEncoding.EncodeToString(signature(address, "12345", form)); got != "RSOYDt4T1cUTdK1PDd93/VVr8B8=" {
		t.Errorf("%s", got)
	}
	r := &http.Request{Header: http.Header{"X-Twilio-Signature": {"RSOYDt4T1cUTdK1PDd93/VVr8B8="}}, PostForm: form}
	if !Signed(r, address, "12345") || Signed(r, address, "12346") || Signed(r, address+"3", "12345") {
		t.Error("Signed is wrong")
	}
	form.Set("Digits", "1")
	if Signed(r, address, "12345") || Signed(&http.Request{PostForm: form}, address, "12345") {
		t.Error("another form, or none, is taken for signed")
	}
}

// TestTicketsCannotBeMade: no letter of a ticket can be another one, none can be
// missing, and the key of another service does not sign.
func TestTicketsCannotBeMade(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_=. "
	for range 200 {
		want := Ticket{WorkspaceID: rnd.Int64N(1 << 40), ChannelID: rnd.Int64N(1 << 40), Expires: rimewatch.Time(rnd.Int64N(1 << 42)), Nonce: rnd.Uint64()}
		for range rnd.IntN(4) {
			want.Alerts = append(want.Alerts, 1+rnd.Int64N(1<<40))
		}
		want.Alerts = AlertsOf(want.Alerts)
		text := want.Encode(secret[:])
		got, ok := ParseTicket(secret[:], text)
		if !ok || !slices.Equal(want.Alerts, got.Alerts) || got.Nonce != want.Nonce {
			t.Fatalf("%+v became %+v, %t", want, got, ok)
		}
		other := secret
		other[rnd.IntN(32)] ^= 1 << rnd.IntN(8)
		if _, ok := ParseTicket(other[:], text); ok {
			t.Fatal("signed by another key")
		}
		at := rnd.IntN(len(text))
		changed := text[:at] + string(letters[rnd.IntN(len(letters))]) + text[at+1:]
		if _, ok := ParseTicket(secret[:], changed); ok && changed != text {
			t.Fatalf("%s was taken for %s", changed, text)
		}
		_ = WorkspaceOf(Path + changed)
		if _, ok := ParseTicket(secret[:], text[:at]); ok {
			t.Fatalf("%s was cut", text)
		}
	}
}

func TestCheck(t *testing.T) {
	sid, token := "AC"+strings.Repeat("0", 32), strings.Repeat("1", 32)
	for _, bad := range []string{"", "%zz", "https://example.org", "twilio://", "twilio://" + sid + ":" + token + "@sms?from=+15017122661&to=+15558675310",
		"twilio://" + sid + ":" + token + "@call?from=MG" + token + "&to=+15558675310", "twilio://" + sid + ":" + token + "@call?from=+15017122661&to=0555"} {
		if err := CheckCall(bad); rimewatch.CodeOf(err) != rimewatch.CodeValidationFailed || strings.Contains(err.Error(), token) {
			t.Errorf("%q: %v", bad, err)
		}
	}
	good := "twilio://" + sid + ":" + token + "@call?from=+15017122661&to=%2B1555%20867-5310"
	if err := CheckCall(good); err != nil {
		t.Error(err)
	}
	if account, secret := Credentials(good); account != sid || secret != token {
		t.Errorf("%s %s", account, secret)
	}
}

func TestSpoken(t *testing.T) {
	w := phrase.In(rimewatch.Locale{})
	if got := Spoken(w, "F-1 “Ice”: −18 °F, too cold for 2\u00a0d\u00a01\u00a0h – door 40 s"); got != "F-1 Ice: minus 18 degrees Fahrenheit, too cold for 2 days 1 hour, door 40 seconds" {
		t.Error(got)
	}
	if got := Spoken(w, "3\u202f°C for 12\u202fmin,\u00a0see\nAda"); got != "3 degrees Celsius for 12 minutes, see Ada" {
		t.Error(got)
	}
}

// TestGSM: a text that fits the alphabet of text messages but for its typography is
// sent in it; one with other letters stays as it is.
func TestGSM(t *testing.T) {
	for text, want := range map[string]string{
		"[warning] “Ice”: −8.3 °C, too warm…": `[warning] "Ice": -8.3 C, too warm...`,
		"17.2 °F – main street’s":             "17.2 F - main street's",
		"Local: está a −8,3 °C, ¿cámara? ÍÓÚ": "Local: esta a -8,3 C, ¿camara? IOU",
		"Łódź: está a −8,3 °C":                "Łódź: está a −8,3 °C",
		"Kühlraum: −8 °C é ñ":                 "Kühlraum: -8 C é ñ",
		"冷凍庫 −8 °C":                           "冷凍庫 −8 °C",
		"a_b@c (1/2) {x} ~ | ^ \\ [y]":        "a_b@c (1/2) {x} ~ | ^ \\ [y]",
	} {
		if got := gsm(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
