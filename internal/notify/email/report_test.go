package email_test

import (
	"encoding/base64"
	"io"
	"mime"
	"mime/multipart"
	"net/mail"
	"strings"
	"testing"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/notify/email"
	"github.com/rimewatch/rimewatch/internal/notify/message"
)

// TestReport: a report goes to every address as a mail whose text names it and whose
// attachment is the file.
func TestReport(t *testing.T) {
	srv := &server{}
	s, err := email.New(serve(t, srv, false, false))
	if err != nil {
		t.Fatal(err)
	}
	c := message.Context{Key: "report/3/weekly/x/1", Locale: rimewatch.Locale{Language: "es"}, Workspace: message.Ref{ID: 1, Name: "Tiendas"}, Now: rimewatch.Day}
	m := c.Report(&message.Report{SiteID: 2, Site: "Calle Mayor", Period: rimewatch.ReportWeekly, From: 3 * rimewatch.Day, To: 10 * rimewatch.Day, TimeZone: "UTC"})
	m.Attach(&message.File{Name: "temperature-log.pdf", Type: "application/pdf", Bytes: []byte("%PDF-1.4 the file")})
	if _, err := s.Send(t.Context(), &rimewatch.Channel{Kind: rimewatch.ChannelEmail, To: []string{"a@example.org", "b@example.org"}}, c.Key, m); err != nil {
		t.Fatal(err)
	}
	if len(srv.mails) != 2 {
		t.Fatalf("%d mails", len(srv.mails))
	}
	for _, one := range srv.mails {
		got, err := mail.ReadMessage(strings.NewReader(one.text))
		if err != nil {
			t.Fatal(err)
		}
		subject, err := new(mime.WordDecoder).DecodeHeader(got.Header.Get("Subject"))
		if want := "Registro de temperaturas: Calle Mayor, del 4 ene 1970 al 10 ene 1970"; err != nil || subject != want || got.Header.Get("Message-Id") != "<report/3/weekly/x/1@example.org>" { //nolint:misspell // Spanish
			t.Errorf("%q, %q: %v", subject, got.Header.Get("Message-Id"), err)
		}
		_, params, err := mime.ParseMediaType(got.Header.Get("Content-Type"))
		if err != nil {
			t.Fatal(err)
		}
		file := ""
		for r := multipart.NewReader(got.Body, params["boundary"]); ; {
			p, err := r.NextPart()
			if err != nil {
				break // the last was read
			}
			if p.FileName() == "temperature-log.pdf" && strings.HasPrefix(p.Header.Get("Content-Type"), "application/pdf") {
				b, err := io.ReadAll(base64.NewDecoder(base64.StdEncoding, p))
				if err != nil {
					t.Fatal(err)
				}
				file = string(b)
			}
		}
		if text := strings.NewReplacer("=\r\n", "", "=\n", "").Replace(one.text); !strings.Contains(text, "Informes=C2=A0=E2=86=92=C2=A0Env=C3=ADo por correo") {
			t.Errorf("it does not say where its receivers are chosen:\n%s", text)
		}
		if file != "%PDF-1.4 the file" {
			t.Errorf("to %s the file is %q:\n%s", one.to, file, one.text)
		}
	}
}
