// Package email sends messages by SMTP through the operator's mail server, as
// text and as HTML. The Message-ID is made of the delivery's key and so the same
// for every attempt; the mails of one alert refer to each other and stand
// together in a mailbox.
package email

import (
	"bytes"
	"context"
	"crypto/tls"
	_ "embed"
	"errors"
	"fmt"
	"html/template"
	"net"
	"net/textproto"
	"strings"
	"time"

	"github.com/wneessen/go-mail"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/notify/message"
	"github.com/rimewatch/rimewatch/internal/phrase"
)

// Security is how the connection to the mail server is protected.
type Security string

// The ways to protect it.
const (
	StartTLS Security = "starttls" // required, not just when it is offered
	TLS      Security = "tls"      // from the first byte, usually port 465
	None     Security = "none"
)

// Config of a Sender. The server is the operator's and is trusted: it may be at
// any address.
type Config struct {
	Host      string
	Port      int
	Security  Security
	Username  string // "" = no authentication
	Password  string
	From      string        // "Rimewatch <alerts@example.org>"
	TLSConfig *tls.Config   // what tests trust; nil = the system's
	Timeout   time.Duration // of a whole conversation; 0 = 10 s
}

// Sender sends mail.
type Sender struct {
	cfg  Config
	page *template.Template
}

//go:embed mail.html
var page string

// New makes a sender: CodeValidationFailed when the configuration is not usable.
func New(cfg Config) (*Sender, error) {
	if cfg.Timeout == 0 {
		cfg.Timeout = 10 * time.Second
	}
	s := &Sender{cfg: cfg}
	if _, err := s.client(cfg.Timeout); err != nil {
		return nil, rimewatch.Wrap(rimewatch.CodeValidationFailed, err, "The mail server settings are not valid.")
	}
	if err := mail.NewMsg().From(cfg.From); err != nil {
		return nil, rimewatch.Wrap(rimewatch.CodeValidationFailed, err, "The sender's address %q is not valid.", cfg.From)
	}
	t, err := template.New("mail").Parse(page)
	if err != nil {
		return nil, err
	}
	s.page = t
	return s, nil
}

func (s *Sender) client(timeout time.Duration) (*mail.Client, error) {
	opts := []mail.Option{mail.WithTimeout(timeout), mail.WithoutNoop()}
	if s.cfg.Port != 0 {
		opts = append(opts, mail.WithPort(s.cfg.Port))
	}
	if s.cfg.TLSConfig != nil {
		opts = append(opts, mail.WithTLSConfig(s.cfg.TLSConfig))
	}
	switch s.cfg.Security {
	case TLS:
		opts = append(opts, mail.WithSSL())
	case None:
		opts = append(opts, mail.WithTLSPolicy(mail.NoTLS))
	default:
		opts = append(opts, mail.WithTLSPolicy(mail.TLSMandatory))
	}
	if s.cfg.Username != "" {
		opts = append(opts, mail.WithSMTPAuth(mail.SMTPAuthAutoDiscover), mail.WithUsername(s.cfg.Username), mail.WithPassword(s.cfg.Password))
	}
	return mail.NewClient(s.cfg.Host, opts...)
}

// Check returns an error that names the first address of a channel to which no mail
// can be sent.
func (s *Sender) Check(c *rimewatch.Channel) error {
	for i, to := range c.To {
		if err := mail.NewMsg().To(to); err != nil {
			return rimewatch.Invalid(fmt.Sprintf("to[%d]", i), "is not an e-mail address")
		}
	}
	if len(c.To) == 0 {
		return rimewatch.Invalid("to", "must contain an address")
	}
	return nil
}

// Bundles implements notify.Sender: a mail takes any number of alerts.
func (s *Sender) Bundles(*rimewatch.Channel) bool { return true }

// Send sends a message to all of a channel's addresses, a mail each: an address
// that the server refuses does not keep the others from theirs. What it says of
// such addresses is the remark. The error is CodeUnavailable when trying again
// makes sense.
func (s *Sender) Send(ctx context.Context, c *rimewatch.Channel, key string, m *message.Message) (remark string, err error) {
	timeout := s.cfg.Timeout + m.Patience(len(c.To))
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	mails := make([]*mail.Msg, len(c.To))
	for i, to := range c.To {
		if mails[i], err = s.compose(to, key, m); err != nil {
			return "", err
		}
	}
	client, err := s.client(timeout)
	if err != nil {
		return "", err
	}
	if err := client.DialWithContext(ctx); err != nil {
		return "", failure(err)
	}
	defer func() { _ = client.Close() }()
	var refused []any // sentences
	var worst *rimewatch.Error
	for i, one := range mails {
		if err := client.Send(one); err != nil {
			e := failure(err)
			if e.Code == rimewatch.CodeUnavailable && !answered(err) {
				e.Code = rimewatch.CodeOutcomeUnknown // the connection broke after the mail may have been taken
			}
			refused = append(refused, rimewatch.Sentencef("%s: %s", c.To[i], e.Sentence()))
			if worst == nil || passing(e) {
				worst = e
			}
		}
	}
	each := strings.TrimSpace(strings.Repeat("%s ", len(refused)))
	switch {
	case worst == nil:
		return "", nil
	case !passing(worst) && len(refused) < len(mails):
		return rimewatch.Sentencef(each, refused...).Stored(), nil
	default:
		if len(refused) < len(mails) {
			worst.Code = rimewatch.CodeOutcomeUnknown // some have it
		}
		all := rimewatch.Wrap(worst.Code, worst.Err, each, refused...)
		all.RetryAfter = worst.RetryAfter
		return "", all
	}
}

// passing reports whether it makes sense to try again.
func passing(e *rimewatch.Error) bool {
	return e.Code == rimewatch.CodeUnavailable || e.Code == rimewatch.CodeOutcomeUnknown
}

// compose writes one mail.
func (s *Sender) compose(to, key string, m *message.Message) (*mail.Msg, error) {
	msg := mail.NewMsg()
	if err := errors.Join(msg.From(s.cfg.From), msg.To(to)); err != nil {
		return nil, rimewatch.Wrap(rimewatch.CodeValidationFailed, err, "The address %q is not valid.", to)
	}
	msg.Subject(m.Data.Headline())
	msg.SetDateWithValue(m.Timestamp.Std())
	domain := s.domain()
	msg.SetMessageIDWithValue(key + "@" + domain)
	if parts := strings.Split(key, "/"); len(parts) > 1 && parts[0] == "alert" {
		thread := fmt.Sprintf("<alert/%s@%s>", parts[1], domain)
		msg.SetGenHeader(mail.HeaderReferences, thread)
		msg.SetGenHeader(mail.HeaderInReplyTo, thread)
	}
	msg.SetGenHeader("Auto-Submitted", "auto-generated")
	if m.Data.Urgent {
		msg.SetImportance(mail.ImportanceHigh)
	}
	html, err := s.html(m)
	if err != nil {
		return nil, err
	}
	msg.SetBodyString(mail.TypeTextPlain, m.Plain(0))
	msg.AddAlternativeString(mail.TypeTextHTML, html)
	if f := m.File; f != nil {
		err = msg.AttachReader(f.Name, bytes.NewReader(f.Bytes), mail.WithFileContentType(mail.ContentType(f.Type)))
	}
	return msg, err
}

func (s *Sender) html(m *message.Message) (string, error) {
	var b strings.Builder
	words := phrase.In(m.Data.Locale)
	colour, dark := "#2f6f4f", "#7fcaa3" // all is well
	sent := words.Sayf("Sent by Rimewatch for %s. Change who is notified under Settings → Notifications.", m.Data.Workspace.Name)
	switch {
	case m.Data.Kind == rimewatch.DeliveryReport:
		colour, dark = "#1b2733", "#e4eaf0" // whatever it holds
		sent = words.Sayf("Sent by Rimewatch for %s. Change who receives it under Reports → Sent by mail.", m.Data.Workspace.Name)
	case m.Data.Kind == rimewatch.DeliveryHandOver, m.Data.Kind == rimewatch.DeliveryOrder && !m.Data.Urgent:
		colour, dark = "#1b2733", "#e4eaf0"
	case m.Data.Urgent:
		colour, dark = "#b3261e", "#ff9d94"
	case m.Data.Kind == rimewatch.DeliveryOpened, m.Data.Kind == rimewatch.DeliveryRepeat, m.Data.Kind == rimewatch.DeliveryDigest, m.Data.Kind == rimewatch.DeliveryCheck:
		colour, dark = "#a15c00", "#f2b866"
	}
	err := s.page.Execute(&b, struct {
		*message.Message
		Colour, Dark               template.CSS // on white, and where the reader has it dark
		Language, Open, Take, Sent string
	}{m, template.CSS(colour), template.CSS(dark), words.Language, words.Say("Open in Rimewatch"), words.Say("Acknowledge"), strings.ReplaceAll(sent, " → ", "\u00a0→\u00a0")})
	return b.String(), err
}

// domain is that of the sender's address.
func (s *Sender) domain() string {
	_, after, _ := strings.Cut(s.cfg.From, "@")
	after, _, _ = strings.Cut(after, ">")
	return strings.TrimSpace(after)
}

// answered reports whether an error holds the mail server's own reply.
func answered(err error) bool {
	var send *mail.SendError
	var reply *textproto.Error
	return errors.As(err, &reply) || errors.As(err, &send) && send.ErrorCode() >= 400
}

// failure returns what went wrong, and whether trying again makes sense: a 5xx of
// the server about a mail is final, all else may pass.
func failure(err error) *rimewatch.Error {
	var send *mail.SendError
	var reply *textproto.Error
	var timeout net.Error
	switch {
	case errors.As(err, &send) && send.ErrorCode() >= 500:
		return rimewatch.Wrap(rimewatch.CodeConflict, err, "The mail server refused: %s.", strings.TrimSuffix(replyText(err), "."))
	case errors.As(err, &send) && send.ErrorCode() >= 400:
		return rimewatch.Wrap(rimewatch.CodeUnavailable, err, "The mail server said: %s.", strings.TrimSuffix(replyText(err), "."))
	case errors.As(err, &reply):
		return rimewatch.Wrap(rimewatch.CodeUnavailable, err, "The mail server said: %d %s.", reply.Code, strings.TrimSuffix(reply.Msg, "."))
	case errors.As(err, &timeout) && timeout.Timeout():
		return rimewatch.Wrap(rimewatch.CodeUnavailable, err, "The mail server did not answer in time.")
	default:
		return rimewatch.Wrap(rimewatch.CodeUnavailable, err, "The mail server cannot be reached or closed the connection.")
	}
}

// replyText is the server's own words within an error.
func replyText(err error) string {
	var reply *textproto.Error
	if errors.As(err, &reply) {
		return fmt.Sprintf("%d %s", reply.Code, reply.Msg)
	}
	var send *mail.SendError
	if errors.As(err, &send) {
		return fmt.Sprintf("%d %s", send.ErrorCode(), send.EnhancedStatusCode())
	}
	return err.Error()
}
