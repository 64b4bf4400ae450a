package service

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/notify/message"
)

const workflow = "teams://prod-31.westeurope.logic.azure.com:443/workflows/abc/triggers/manual/paths/invoke?api-version=2016-06-01&sp=%2Ftriggers%2Fmanual%2Frun&sv=1.0&sig=s3cret-s3cret"

func sendOwn(t *testing.T, rec *recorder, to string, m *message.Message) error {
	t.Helper()
	if err := Check(to); err != nil {
		t.Fatal(err)
	}
	through(t, rec)
	s := &Sender{transport: rec, running: make(chan struct{}, 1)}
	_, err := s.Send(t.Context(), &rimewatch.Channel{URL: to}, "k", m)
	return err
}

func TestTwilioSendsATextMessage(t *testing.T) {
	rec := &recorder{}
	long := *note
	long.Data.Device, long.Data.Site = &message.Device{ID: 5}, &message.Site{Name: "Main Street"}
	long.Data.Text = strings.Repeat("Look at the door. ", 100)
	if err := sendOwn(t, rec, urls("")["twilio"], &long); err != nil {
		t.Fatal(err)
	}
	if rec.hosts[0] != "api.twilio.com" {
		t.Errorf("sent to %s", rec.hosts[0])
	}
	form, err := url.ParseQuery(rec.bodies[0])
	if err != nil {
		t.Fatal(err)
	}
	text := form.Get("Body")
	if form.Get("To") != "+15558675310" || form.Get("From") != "+15017122661" {
		t.Errorf("from %s to %s", form.Get("From"), form.Get("To"))
	}
	if !strings.HasPrefix(text, "[critical] Back walk-in -8.2 C - Main Street\nLook at") || !strings.HasSuffix(text, note.Data.Link) || len(text) > 459 {
		t.Errorf("%d bytes: %s", len(text), text)
	}
	rec.status = http.StatusUnauthorized
	if err := sendOwn(t, rec, urls("")["twilio"], note); rimewatch.CodeOf(err) != rimewatch.CodeConflict {
		t.Errorf("a refusal is %v", err)
	}
}

func TestTeamsWorkflowGetsACard(t *testing.T) {
	rec := &recorder{}
	m := *note
	m.Data.Facts = []message.Fact{{Label: "Limit", Value: "−15 °C"}}
	for range 50 {
		m.Data.Alerts = append(m.Data.Alerts, message.Line{Text: "[walk-in](https://example.com) too warm"})
	}
	if err := sendOwn(t, rec, workflow, &m); err != nil {
		t.Fatal(err)
	}
	if rec.hosts[0] != "prod-31.westeurope.logic.azure.com:443" {
		t.Errorf("sent to %s", rec.hosts[0])
	}
	var got struct {
		Attachments []struct {
			Content struct {
				Body []struct {
					Type    string
					Inlines []struct{ Text string }
				}
				Actions []struct{ URL string }
			}
		}
	}
	if err := json.NewDecoder(strings.NewReader(rec.bodies[0])).Decode(&got); err != nil {
		t.Fatal(err)
	}
	content := got.Attachments[0].Content
	if n := len(content.Body); n != 3+maxCardLines {
		t.Errorf("%d lines", n)
	}
	for _, e := range content.Body {
		if e.Type != "RichTextBlock" {
			t.Errorf("%s would be read as Markdown", e.Type)
		}
	}
	if content.Body[0].Inlines[0].Text != m.Data.Subject || content.Actions[0].URL != m.Data.Link {
		t.Errorf("%+v", content)
	}
}

func TestCheckOwn(t *testing.T) {
	sid, token := "AC"+strings.Repeat("0", 32), strings.Repeat("1", 32)
	for _, bad := range []string{
		"twilio://", "twilio://x@sms", "twilio://" + sid + "@sms?from=+15017122661&to=+15558675310",
		"twilio://" + sid + ":" + token + "@fax?from=+15017122661&to=+15558675310",
		"twilio://" + sid + ":" + token + "@sms?from=+15017122661&to=0555",
		"twilio://" + sid + ":" + token + "@sms?from=shop&to=+15558675310",
		"twilio://" + sid + ":" + token + "@sms?from=+15017122661",
		"teams://", "teams://example.com/hook", strings.Replace(workflow, "sig=", "x=", 1),
	} {
		if err := Check(bad); rimewatch.CodeOf(err) != rimewatch.CodeValidationFailed || strings.Contains(err.Error(), token) {
			t.Errorf("%q: %v", bad, err)
		}
	}
	for _, good := range []string{workflow, urls("")["twilio"], "twilio://" + sid + ":" + token + "@sms?from=MG" + token + "&to=%2B4915112345678"} {
		if err := Check(good); err != nil {
			t.Errorf("%q: %v", good, err)
		}
	}
}
