package account

import (
	"context"
	"fmt"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
)

// Letter is an e-mail to one person, as plain text.
type Letter struct {
	To, Subject, Text string
}

// SendsMail reports whether links go out by e-mail.
func (s *Service) SendsMail() bool { return s.mail != nil }

// mailInvitation sends the link of an invitation to its address. What it says
// does not depend on whether the address has an account.
func (s *Service) mailInvitation(ctx context.Context, v *store.InvitationView, secret string) error {
	by := v.InvitedByName
	if by == "" {
		by = "The operator of the service"
	}
	err := s.mail(ctx, Letter{
		To: v.Email, Subject: "Invitation to " + v.WorkspaceName + " on Rimewatch",
		Text: fmt.Sprintf("%s invites you to join %s on Rimewatch as %s.\n\nOpen this link to accept. It works once, for %d days:\n\n%s/invitation#%s\n\nIf you do not know who this is, ignore this message: nothing happens without you.\n",
			by, v.WorkspaceName, v.Role, InvitationLife/rimewatch.Day, s.publicURL, secret),
	})
	if err != nil {
		s.log.Warn("mail an invitation", "invitation", v.ID, "error", err)
		return rimewatch.Wrap(rimewatch.CodeUnavailable, err, "The mail server did not take the invitation; try again later.")
	}
	return nil
}

// mailReset sends the holder of an account a link for a new password.
func (s *Service) mailReset(ctx context.Context, u *rimewatch.User, now rimewatch.Time) error {
	secret, err := s.newResetLink(ctx, u.ID, now)
	if err != nil {
		return err
	}
	return s.mail(ctx, Letter{
		To: u.Email, Subject: "A new password for Rimewatch",
		Text: fmt.Sprintf("Somebody, probably you, has asked for a new password for this address.\n\nOpen this link to choose one. It works once, for one hour:\n\n%s/reset#%s\n\nIf it was not you, ignore this message: the old password stays.\n", s.publicURL, secret),
	})
}
