package email

import (
	"context"
	"errors"

	"github.com/wneessen/go-mail"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/notify/message"
)

// Write sends a plain text to one address. The error is as with Send.
func (s *Sender) Write(ctx context.Context, to, subject, text string) error {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.Timeout)
	defer cancel()
	msg := mail.NewMsg()
	if err := errors.Join(msg.From(s.cfg.From), msg.To(to)); err != nil {
		return rimewatch.Wrap(rimewatch.CodeValidationFailed, err, "The address %q is not valid.", to)
	}
	msg.Subject(message.Safe(subject, false, false))
	msg.SetDate()
	msg.SetMessageID()
	msg.SetGenHeader("Auto-Submitted", "auto-generated")
	msg.SetBodyString(mail.TypeTextPlain, message.Safe(text, true, false))
	client, err := s.client(s.cfg.Timeout)
	if err != nil {
		return err
	}
	if err := client.DialAndSendWithContext(ctx, msg); err != nil {
		return failure(err)
	}
	return nil
}
