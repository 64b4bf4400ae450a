package voice

import (
	"encoding/json"
	"encoding/xml"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/notify/message"
	"github.com/rimewatch/rimewatch/internal/notify/outbound"
	"github.com/rimewatch/rimewatch/internal/twilio"
)

var (
	sid, token = "AC" + strings.Repeat("0", 32), strings.Repeat("1", 32)
	secret     = [32]byte{1, 2, 3}
	calling    = rimewatch.Channel{ID: 7, WorkspaceID: 3, Kind: rimewatch.ChannelCall, URL: "twilio://" + sid + ":" + token + "@call?from=+15017122661&to=%2B1555%20867-5310"}
)

// twilioStub stands where the guarded transport stands, and answers as Twilio does.
type twilioStub struct {
	url, user string
	form      url.Values
	status    int
	body      string
}

func (x *twilioStub) RoundTrip(r *http.Request) (*http.Response, error) {
	b, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	x.url, x.form = r.URL.String(), nil
	x.user, _, _ = r.BasicAuth()
	if x.form, err = url.ParseQuery(string(b)); err != nil {
		return nil, err
	}
	if x.status != 0 {
		return nil, &outbound.StatusError{Status: x.status, Body: x.body}
	}
	return &http.Response{StatusCode: http.StatusCreated, Body: io.NopCloser(strings.NewReader(`{"sid":"CA1","status":"queued"}`))}, nil
}

func opened(language string) *message.Message {
	m := &message.Message{Data: message.Data{Kind: rimewatch.DeliveryOpened, Urgent: true, Tag: "critical", Subject: "[critical] Back walk-in: −8.2 °C, too warm for 1 h 5 min", Workspace: message.Ref{Name: "Corner shop"}, Locale: rimewatch.Locale{Language: language}}}
	m.Data.Alert = json.RawMessage(`{"id":41}`)
	return m
}

// script is TwiML as Twilio reads it.
type script struct {
	Gather *struct {
		Action    string `xml:"action,attr"`
		Method    string `xml:"method,attr"`
		NumDigits int    `xml:"numDigits,attr"`
		Say       struct {
			Language string `xml:"language,attr"`
			Loop     int    `xml:"loop,attr"`
			Text     string `xml:",chardata"`
		}
	}
	Say []struct {
		Text string `xml:",chardata"`
	}
}

func call(t *testing.T, m *message.Message) (x twilioStub, s script) {
	t.Helper()
	c := NewCaller(&x, "https://watch.example.org", secret, func() rimewatch.Time { return 1000 })
	if remark, err := c.Send(t.Context(), &calling, "k", m); err != nil || remark != "" {
		t.Fatal(remark, err)
	}
	if err := xml.Unmarshal([]byte(x.form.Get("Twiml")), &s); err != nil {
		t.Fatal(err)
	}
	return x, s
}

func TestACallAsksForTheKey(t *testing.T) {
	x, s := call(t, opened("en"))
	if x.url != "https://api.twilio.com/2010-04-01/Accounts/"+sid+"/Calls.json" || x.user != sid || x.form.Get("To") != "+15558675310" || x.form.Get("From") != "+15017122661" {
		t.Errorf("%+v", x)
	}
	if s.Gather == nil || s.Gather.Method != http.MethodPost || s.Gather.NumDigits != 1 || s.Gather.Say.Loop != 2 || s.Gather.Say.Language != "en-US" || len(s.Say) != 1 {
		t.Fatalf("%+v", s)
	}
	want := "This is Rimewatch for Corner shop. Critical alert. Back walk-in: minus 8.2 degrees Celsius, too warm for 1 hour 5 minutes. Press 1 to acknowledge the alert, so that nobody else is woken."
	if diff := cmp.Diff(want, s.Gather.Say.Text); diff != "" {
		t.Error(diff)
	}
	text, ours := strings.CutPrefix(s.Gather.Action, "https://watch.example.org/voice/")
	ticket, ok := twilio.ParseTicket(secret[:], text)
	if !ours || !ok || ticket.WorkspaceID != 3 || ticket.ChannelID != 7 || ticket.Expires != 1000+twilio.TicketLife || !slices.Equal(ticket.Alerts, []int64{41}) {
		t.Errorf("%s: %+v", s.Gather.Action, ticket)
	}
	if twilio.WorkspaceOf("/voice/"+text) != 3 || twilio.WorkspaceOf("/voice/x") != 0 {
		t.Error("the workspace of a ticket")
	}
	_, again := call(t, opened("en"))
	if again.Gather.Action == s.Gather.Action {
		t.Error("two calls have the same ticket")
	}
}

func TestACallSpeaksThePersonsLanguage(t *testing.T) {
	for language, want := range map[string][2]string{
		"es": {"es-ES", "Rimewatch llama de parte de Corner shop. Alerta crítica. Back walk-in: menos 8.2 grados Celsius, too warm for 1 hora 5 minutos. Pulse 1 para reconocer la alerta y que no se despierte a nadie más."},
	} {
		_, s := call(t, opened(language))
		if diff := cmp.Diff(want, [2]string{s.Gather.Say.Language, s.Gather.Say.Text}); diff != "" {
			t.Errorf("%s: %s", language, diff)
		}
	}
}

// TestACallSaysThingsOnce: not the site after a message about the site, nor that it is critical before "now critical".
func TestACallSaysThingsOnce(t *testing.T) {
	m := opened("en")
	m.Data.Kind, m.Data.Subject = rimewatch.DeliveryEscalated, "[critical] Now critical: Main Street: site offline for 2 h"
	m.Data.Device, m.Data.Site = nil, &message.Site{ID: 1, Name: "Main Street"}
	want := "This is Rimewatch for Corner shop. Now critical: Main Street: site offline for 2 hours. Press 1"
	if _, s := call(t, m); !strings.HasPrefix(s.Gather.Say.Text, want) {
		t.Error(s.Gather.Say.Text)
	}
	m.Data.Device, m.Data.Subject = &message.Device{ID: 5}, "[critical] Now critical: Back walk-in: too warm for 2 h"
	want = "This is Rimewatch for Corner shop. Now critical: Back walk-in: too warm for 2 hours. Main Street. Press 1"
	if _, s := call(t, m); !strings.HasPrefix(s.Gather.Say.Text, want) {
		t.Error(s.Gather.Say.Text)
	}
}

func TestACallAboutSeveral(t *testing.T) {
	m := opened("en")
	m.Data.Alert = json.RawMessage("null")
	m.Data.Subject = "[critical] Corner shop: 150 critical alerts"
	for id := int64(300); id > 150; id-- {
		m.Data.Alerts = append(m.Data.Alerts, message.Line{ID: id * 1000, Text: strings.Repeat("Ünit & co ", 40)})
	}
	m.Data.Alerts = append(m.Data.Alerts, message.Line{ID: 5, Over: true, Text: "over"})
	x, s := call(t, m)
	if n := len(x.form.Get("Twiml")); n > 4000 { // characters that Twilio takes
		t.Errorf("%d bytes of TwiML", n)
	}
	ticket, ok := twilio.ParseTicket(secret[:], strings.TrimPrefix(s.Gather.Action, "https://watch.example.org/voice/"))
	if !ok || len(ticket.Alerts) != twilio.MaxAlerts || slices.Contains(ticket.Alerts, 5) || !strings.Contains(s.Gather.Say.Text, "Press 1 to acknowledge these 100 alerts") {
		t.Errorf("%d alerts: %s", len(ticket.Alerts), s.Gather.Say.Text)
	}
}

// TestNobodyIsCalledForNothing: a test rings and asks for nothing; what is over does
// not ring.
func TestNobodyIsCalledForNothing(t *testing.T) {
	m := opened("en")
	m.Data.Kind, m.Data.Text = rimewatch.DeliveryTest, "This is a test."
	if _, s := call(t, m); s.Gather != nil || len(s.Say) != 2 || !strings.Contains(s.Say[0].Text, "This is a test.") {
		t.Errorf("%+v", s)
	}
	for _, kind := range []rimewatch.DeliveryKind{rimewatch.DeliveryRecovery, rimewatch.DeliveryDigest} {
		var x twilioStub
		m.Data.Kind = kind
		remark, err := NewCaller(&x, "https://x", secret, func() rimewatch.Time { return 0 }).Send(t.Context(), &calling, "k", m)
		if err != nil || remark == "" || x.url != "" {
			t.Errorf("%s: %q %v %s", kind, remark, err, x.url)
		}
	}
}

func TestARefusalSaysWhatIsWrong(t *testing.T) {
	x := twilioStub{status: http.StatusBadRequest, body: `{"code":21211,"message":"Invalid 'To' Phone Number: +1555","status":400}`}
	_, err := NewCaller(&x, "https://x", secret, func() rimewatch.Time { return 0 }).Send(t.Context(), &calling, "k", opened("en"))
	if rimewatch.CodeOf(err) != rimewatch.CodeConflict || !strings.Contains(err.Error(), "Twilio says: Invalid 'To' Phone Number: +1555 (21211)") {
		t.Errorf("%v", err)
	}
	x = twilioStub{status: http.StatusBadGateway, body: "<html>"}
	_, err = NewCaller(&x, "https://x", secret, func() rimewatch.Time { return 0 }).Send(t.Context(), &calling, "k", opened("en"))
	if rimewatch.CodeOf(err) != rimewatch.CodeUnavailable || !strings.Contains(err.Error(), "502") {
		t.Errorf("%v", err)
	}
}
