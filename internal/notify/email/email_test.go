package email_test

import (
	"crypto/tls"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net"
	"net/http"
	"net/http/httptest"
	"net/mail"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"
	"github.com/google/go-cmp/cmp"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/notify/email"
	"github.com/rimewatch/rimewatch/internal/notify/message"
)

// server is a mail server that keeps what it takes.
type server struct {
	mu     sync.Mutex
	mails  []taken
	refuse map[string]error // by recipient
	users  map[string]string
}

type taken struct {
	from, to, user string
	secure         bool
	text           string
}

type session struct {
	s    *server
	conn *smtp.Conn
	mail taken
}

func (s *server) NewSession(c *smtp.Conn) (smtp.Session, error) {
	return &session{s: s, conn: c}, nil
}

func (c *session) AuthMechanisms() []string {
	if c.s.users == nil {
		return nil
	}
	return []string{sasl.Plain}
}

func (c *session) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, user, password string) error {
		if want, ok := c.s.users[user]; !ok || want != password {
			return smtp.ErrAuthFailed
		}
		c.mail.user = user
		return nil
	}), nil
}

func (c *session) Mail(from string, _ *smtp.MailOptions) error {
	_, c.mail.secure = c.conn.TLSConnectionState()
	if c.s.users != nil && c.mail.user == "" {
		return smtp.ErrAuthRequired
	}
	c.mail.from = from
	return nil
}

func (c *session) Rcpt(to string, _ *smtp.RcptOptions) error {
	c.mail.to = to
	return c.s.refuse[to]
}

func (c *session) Data(r io.Reader) error {
	b, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	c.mail.text = string(b)
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	c.s.mails = append(c.s.mails, c.mail)
	return nil
}

func (c *session) Reset()        { c.mail.from, c.mail.to = "", "" }
func (c *session) Logout() error { return nil }

// serve runs a mail server and returns the settings that reach it. implicit: TLS
// from the first byte.
func serve(t *testing.T, s *server, withTLS, implicit bool) email.Config {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	srv := smtp.NewServer(s)
	srv.Domain, srv.AllowInsecureAuth = "mail.test", true
	srv.ReadTimeout, srv.WriteTimeout = time.Minute, time.Minute
	cfg := email.Config{Host: "127.0.0.1", Port: l.Addr().(*net.TCPAddr).Port, Security: email.None, From: "Rimewatch <alerts@example.org>"}
	if withTLS {
		web := httptest.NewUnstartedServer(nil)
		web.StartTLS() // for its certificate
		defer web.Close()
		srv.TLSConfig = &tls.Config{Certificates: web.TLS.Certificates}
		cfg.TLSConfig = &tls.Config{RootCAs: web.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs, ServerName: "127.0.0.1"}
		cfg.Security = email.StartTLS
	}
	if implicit {
		l, cfg.Security = tls.NewListener(l, srv.TLSConfig), email.TLS
	}
	done := make(chan error, 1)
	go func() { done <- srv.Serve(l) }()
	t.Cleanup(func() {
		_ = srv.Close()
		_ = l.Close() // of which the server knows nothing if it has not begun to serve
		if err := <-done; err != nil && !errors.Is(err, smtp.ErrServerClosed) {
			t.Error(err)
		}
	})
	return cfg
}

func alertMessage() *message.Message {
	zone, at := time.FixedZone("CET", 3600), rimewatch.TimeOf(time.Date(2026, 11, 21, 2, 34, 0, 0, time.UTC))
	value, peak, limit := -8.2, -7.9, -15.0
	c := message.Context{Key: "alert/12/0/opened/1/0/0/3", Workspace: message.Ref{ID: 1, Name: "Corner shop"}, Zone: zone, PublicURL: "https://watch.example.org", Now: at}
	return c.Of(&rimewatch.AlertView{
		Alert: rimewatch.Alert{ID: 12, DeviceID: 5, Status: rimewatch.AlertActive, Severity: rimewatch.Critical, Type: rimewatch.HighTemperature,
			Metric: "product_zone_temp", Value: &value, PeakValue: &peak, Threshold: &limit, Unit: "°C", ConditionStartedAt: at - 34*rimewatch.Minute, TriggeredAt: at, LastEvaluatedAt: at},
		DeviceSerial: "WF-02", DeviceName: "Back walk-in", EquipmentType: "walkin_freezer",
		Site: &rimewatch.Site{ID: 1, Name: "Main Street <1>", Address: "12 Main Street", TimeZone: "Europe/Berlin"},
	}, message.Reason{Kind: rimewatch.DeliveryOpened})
}

// parts reads a mail as a mail program does.
func parts(t *testing.T, raw string) (header mail.Header, plain, html string) {
	t.Helper()
	m, err := mail.ReadMessage(strings.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	kind, params, err := mime.ParseMediaType(m.Header.Get("Content-Type"))
	if err != nil || kind != "multipart/alternative" {
		t.Fatalf("content type %s: %v", kind, err)
	}
	for r := multipart.NewReader(m.Body, params["boundary"]); ; {
		p, err := r.NextRawPart()
		if errors.Is(err, io.EOF) {
			return m.Header, plain, html
		}
		if err != nil {
			t.Fatal(err)
		}
		if p.Header.Get("Content-Transfer-Encoding") != "quoted-printable" {
			t.Errorf("encoding %s", p.Header.Get("Content-Transfer-Encoding"))
		}
		b, err := io.ReadAll(quotedprintable.NewReader(p))
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(p.Header.Get("Content-Type"), "text/html") {
			html = string(b)
		} else {
			plain = strings.ReplaceAll(string(b), "\r\n", "\n")
		}
	}
}

func send(t *testing.T, cfg email.Config, to ...string) (string, error) {
	t.Helper()
	s, err := email.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return s.Send(t.Context(), &rimewatch.Channel{Kind: rimewatch.ChannelEmail, To: to}, "alert/12/0/opened/1/0/0/3", alertMessage())
}

func TestMail(t *testing.T) {
	s := &server{}
	if remark, err := send(t, serve(t, s, false, false), "tech@example.org"); err != nil || remark != "" {
		t.Fatal(remark, err)
	}
	if len(s.mails) != 1 {
		t.Fatalf("%d mails", len(s.mails))
	}
	m := s.mails[0]
	if m.from != "alerts@example.org" || m.to != "tech@example.org" || m.secure {
		t.Errorf("from %s to %s, secure %v", m.from, m.to, m.secure)
	}
	header, plain, html := parts(t, m.text)
	subject, err := new(mime.WordDecoder).DecodeHeader(header.Get("Subject"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{
		"Subject": "[critical] Back walk-in: −8.2 °C, too warm for 34 min – Main Street <1>", "From": `"Rimewatch" <alerts@example.org>`, "To": "<tech@example.org>",
		"Message-Id": "<alert/12/0/opened/1/0/0/3@example.org>", "References": "<alert/12@example.org>", "Auto-Submitted": "auto-generated", "Importance": "high",
		"Date": "Sat, 21 Nov 2026 02:34:00 +0000",
	}, map[string]string{
		"Subject": typed(subject), "From": header.Get("From"), "To": header.Get("To"), "Message-Id": header.Get("Message-Id"), "References": header.Get("References"),
		"Auto-Submitted": header.Get("Auto-Submitted"), "Importance": header.Get("Importance"), "Date": header.Get("Date"),
	}); diff != "" {
		t.Error(diff)
	}
	want := `The product zone is at −8.2 °C (limit −15 °C) and has been too warm for 34 min. Check food before it is used or sold; quarantine medicine and ask its manufacturer. Check that the door is shut, the evaporator fan is turning and the compressor is running.

Unit: Back walk-in – Walk-in freezer (WF-02)
Site: Main Street <1>, 12 Main Street
Measured: −8.2 °C
Limit: −15 °C
Worst: −7.9 °C
Since: Sat 21 Nov 2026, 03:00 (CET), 34 min ago
Workspace: Corner shop
To do: Acknowledge it using the link, so that nobody else is woken.

https://watch.example.org/alerts/12
`
	if diff := cmp.Diff(want, typed(plain)); diff != "" {
		t.Errorf("the text (-want +got):\n%s", diff)
	}
	for _, piece := range []string{"Main Street &lt;1&gt;", `href="https://watch.example.org/alerts/12"`, "border-top:6px solid #b3261e", ".head{color:#ff9d94!important}", "−8.2\u00a0°C, too warm for 34\u00a0min"} {
		if !strings.Contains(html, piece) {
			t.Errorf("the page lacks %s:\n%s", piece, html)
		}
	}
}

// typed is a text with the spaces that a keyboard has.
func typed(s string) string { return strings.ReplaceAll(s, "\u00a0", " ") }

func TestSecurity(t *testing.T) {
	for name, implicit := range map[string]bool{"starttls": false, "tls": true} {
		s := &server{users: map[string]string{"rimewatch": "pass"}}
		cfg := serve(t, s, true, implicit)
		cfg.Username, cfg.Password = "rimewatch", "pass"
		if _, err := send(t, cfg, "a@example.org"); err != nil || len(s.mails) != 1 || !s.mails[0].secure || s.mails[0].user != "rimewatch" {
			t.Errorf("%s: %v, %+v", name, err, s.mails)
		}
		cfg.Password = "wrong"
		if _, err := send(t, cfg, "a@example.org"); rimewatch.CodeOf(err) != rimewatch.CodeUnavailable || !strings.Contains(err.Error(), "535") {
			t.Errorf("%s, wrong password: %v", name, err)
		}
		cfg.TLSConfig = nil
		if _, err := send(t, cfg, "a@example.org"); err == nil {
			t.Errorf("%s: a certificate of nobody is trusted", name)
		}
	}
	s := &server{}
	cfg := serve(t, s, false, false)
	cfg.Security = email.StartTLS
	if _, err := send(t, cfg, "a@example.org"); rimewatch.CodeOf(err) != rimewatch.CodeUnavailable || len(s.mails) != 0 {
		t.Errorf("a server without STARTTLS got %d mails in the open: %v", len(s.mails), err)
	}
}

func TestRefusals(t *testing.T) {
	gone := &smtp.SMTPError{Code: 550, EnhancedCode: smtp.EnhancedCode{5, 1, 1}, Message: "No such user"}
	full := &smtp.SMTPError{Code: 452, EnhancedCode: smtp.EnhancedCode{4, 2, 2}, Message: "Mailbox full"}
	for _, c := range []struct {
		name   string
		to     []string
		taken  []string
		remark string
		code   rimewatch.Code
	}{
		{"one of two is gone", []string{"gone@x.org", "here@x.org"}, []string{"here@x.org"}, "gone@x.org: The mail server refused: 550", ""},
		{"all are gone", []string{"gone@x.org"}, nil, "gone@x.org: The mail server refused: 550", rimewatch.CodeConflict},
		{"one may pass", []string{"here@x.org", "full@x.org"}, []string{"here@x.org"}, "full@x.org: The mail server said: 452", rimewatch.CodeOutcomeUnknown},
		{"one may pass, one is gone", []string{"full@x.org", "gone@x.org"}, nil, "The mail server said: 452", rimewatch.CodeUnavailable},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &server{refuse: map[string]error{"gone@x.org": gone, "full@x.org": full}}
			remark, err := send(t, serve(t, s, false, false), c.to...)
			var got []string
			for _, m := range s.mails {
				got = append(got, m.to)
			}
			if diff := cmp.Diff(c.taken, got); diff != "" {
				t.Error(diff)
			}
			if rimewatch.CodeOf(err) != c.code {
				t.Errorf("%v", err)
			}
			remark = rimewatch.SentenceOf(remark).String()
			var e *rimewatch.Error
			if errors.As(err, &e) {
				remark = e.Message
			}
			if !strings.Contains(remark, c.remark) {
				t.Errorf("it says %q", remark)
			}
		})
	}
}

func TestNobodyListens(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	cfg := email.Config{Host: "127.0.0.1", Port: l.Addr().(*net.TCPAddr).Port, Security: email.None, From: "a@x.org"}
	// It takes connections and says nothing.
	cfg.Timeout = 50 * time.Millisecond
	if _, err := send(t, cfg, "b@x.org"); rimewatch.CodeOf(err) != rimewatch.CodeUnavailable {
		t.Errorf("silent: %v", err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := send(t, cfg, "b@x.org"); rimewatch.CodeOf(err) != rimewatch.CodeUnavailable {
		t.Errorf("closed: %v", err)
	}
}

func TestSettings(t *testing.T) {
	for name, cfg := range map[string]email.Config{
		"no host":    {From: "a@x.org"},
		"no sender":  {Host: "m"},
		"bad sender": {Host: "m", From: "nobody"},
		"bad port":   {Host: "m", From: "a@x.org", Port: 70000},
	} {
		if _, err := email.New(cfg); rimewatch.CodeOf(err) != rimewatch.CodeValidationFailed {
			t.Errorf("%s: %v", name, err)
		}
	}
}
