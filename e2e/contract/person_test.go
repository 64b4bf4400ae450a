package contract

import (
	"fmt"
	"io"
	"mime/quotedprintable"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/emersion/go-smtp"
	"github.com/pquerna/otp/totp"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/app"
)

// mailbox is a mail server that takes letters for anybody.
type mailbox chan string

func (m mailbox) NewSession(*smtp.Conn) (smtp.Session, error) { return mailing{m}, nil }
func (mailing) Mail(string, *smtp.MailOptions) error          { return nil }
func (mailing) Rcpt(string, *smtp.RcptOptions) error          { return nil }
func (mailing) Reset()                                        {}
func (mailing) Logout() error                                 { return nil }

type mailing struct{ to mailbox }

func (m mailing) Data(r io.Reader) error {
	text, err := io.ReadAll(quotedprintable.NewReader(r))
	m.to <- string(text)
	return err
}

// option is that of a mail server of the test's own.
func (m mailbox) option(t *testing.T) option {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	srv := smtp.NewServer(m)
	done := make(chan struct{})
	go func() { defer close(done); _ = srv.Serve(l) }()
	t.Cleanup(func() { _, _, _ = srv.Close(), l.Close(), <-done }) // the listener too: the server may not have begun
	return func(_ *service, c *app.Config) {
		c.SMTPHost, c.SMTPPort, c.SMTPTLS, c.SMTPFrom = "127.0.0.1", l.Addr().(*net.TCPAddr).Port, "none", "rimewatch@example.com"
		c.PublicURL = "http://rime.example"
	}
}

// link returns the secret of the next letter's link.
func (m mailbox) link(t *testing.T) string {
	t.Helper()
	select {
	case text := <-m:
		_, rest, _ := strings.Cut(text, "/reset#")
		return strings.Fields(rest + " ")[0]
	case <-time.After(patience):
		t.Fatal("no letter came")
		return ""
	}
}

// TestOneAccount follows a person: a second factor, which a restart keeps; a
// forgotten password, which it still guards; and the end of the account.
func TestOneAccount(t *testing.T) {
	t.Parallel()
	dir, letters := t.TempDir(), make(mailbox, 4)
	mails := letters.option(t)
	s := start(t, inside(dir), mails)
	n := s.tenant(t, "Alpha")
	n.signIn(t, "olga@example.com", rimewatch.RoleOwner)
	ada := n.signIn(t, "ada@example.com", rimewatch.RoleOwner)
	as := func(path, body string) request { return request{method: "POST", path: path, cookie: ada, body: body} }
	key := s.do(t, as("/v1/me/second-factor", fmt.Sprintf(`{"current_password":%q}`, password)))
	code := func() string {
		t.Helper()
		c, err := totp.GenerateCode(key.text("data.secret"), s.now())
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	confirmed := s.do(t, as("/v1/me/second-factor/confirm", fmt.Sprintf(`{"code":%q}`, code())))
	if confirmed.status != 200 || confirmed.number(t, "data.recovery_codes.#") != 10 {
		t.Fatalf("%d %s", confirmed.status, confirmed.body)
	}
	recovery := confirmed.text("data.recovery_codes.0")

	s.client.CloseIdleConnections()
	if err := s.halt(); err != nil {
		t.Fatal(err)
	}
	s = start(t, inside(dir), mails, beginning(s.now().Add(time.Minute)))
	signIn := func(password, code string) request {
		return request{method: "POST", path: "/v1/auth/sign-in", body: fmt.Sprintf(`{"email":"ada@example.com","password":%q,"code":%q}`, password, code)}
	}
	codeAsked := func(says string, req request) row {
		return row{says: says, req: req, status: 401, code: "unauthenticated", fields: []string{"code"}}
	}
	s.recite(t, []row{
		codeAsked("a code is asked for after a restart", signIn(password, "")),
		{says: "of the app", req: signIn(password, code()), status: 200},
		codeAsked("which counts once", signIn(password, code())),
		{says: "nobody has this address, which nobody learns", req: request{method: "POST", path: "/v1/auth/forgot", body: `{"email":"eve@example.com"}`}, status: 200},
		{says: "a forgotten password", req: request{method: "POST", path: "/v1/auth/forgot", body: `{"email":"ada@example.com"}`}, status: 200},
	})
	link := letters.link(t)
	const fresh = "another good staple"
	reset := request{method: "POST", path: "/v1/auth/reset", body: fmt.Sprintf(`{"secret":%q,"password":%q}`, link, fresh)}
	var cookie string
	s.recite(t, []row{
		{says: "a new password by the link", req: reset, status: 200},
		{says: "once", req: reset, status: 404, code: "not_found"},
		{says: "the old one is over", req: signIn(password, recovery), status: 401, code: "unauthenticated"},
		codeAsked("the second factor guards the new one, too", signIn(fresh, "")),
		{says: "a recovery code instead of the app", req: signIn(fresh, recovery), status: 200, then: func(_ *testing.T, a answer) {
			cookie, _, _ = strings.Cut(a.header.Get("Set-Cookie"), ";")
		}},
		codeAsked("which counts once, too", signIn(fresh, recovery)),
	})
	ada = cookie
	s.recite(t, []row{
		{says: "the account is not erased without its password", req: as("/v1/me/erase", `{"current_password":"wrong wrong wrong"}`), status: 422, code: "validation_failed", fields: []string{"current_password"}},
		{says: "it is erased", req: as("/v1/me/erase", fmt.Sprintf(`{"current_password":%q}`, fresh)), status: 200},
		{says: "its session is over", req: request{path: "/v1/me", cookie: ada}, status: 401, code: "unauthenticated"},
		{says: "nobody signs in with it", req: signIn(fresh, ""), status: 401, code: "unauthenticated"},
	})
	olga := s.do(t, request{method: "POST", path: "/v1/auth/sign-in", body: fmt.Sprintf(`{"email":"olga@example.com","password":%q}`, password)})
	session, _, _ := strings.Cut(olga.header.Get("Set-Cookie"), ";")
	for _, path := range []string{"/v1/members", "/v1/audit"} {
		if a := s.do(t, request{path: path, cookie: session}); a.status != 200 || path == "/v1/members" && strings.Contains(string(a.body), "ada@example.com") {
			t.Errorf("%s: %d %s", path, a.status, a.body)
		}
	}
	if len(letters) != 0 {
		t.Errorf("%d letters more, such as %q", len(letters), <-letters)
	}
}
