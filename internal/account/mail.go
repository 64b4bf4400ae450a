package account

import (
	"cmp"
	"context"
	"strings"
	"unicode"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/catalogue"
	"github.com/rimewatch/rimewatch/internal/store"
)

// Letter is an e-mail to one person, as plain text.
type Letter struct {
	To, Subject, Text string
}

// SendsMail reports whether links go out by e-mail: that takes an address for them to lead to. What a
// request names as its host, its sender could have made up.
func (s *Service) SendsMail(ctx context.Context) bool { return s.mail != nil && s.Address(ctx) != "" }

// mailInvitation sends the link of an invitation to its address: what it says does
// not depend on whether the address has an account.
func (s *Service) mailInvitation(ctx context.Context, v *store.InvitationView, secret, language string) error {
	t := catalogue.Of(language)
	by := mailedName(v.InvitedByName)
	if by == "" {
		by = t.Say("The operator of the service")
	}
	workspace := mailedName(v.WorkspaceName)
	err := s.mail(ctx, Letter{
		To: v.Email, Subject: t.Sayf("Invitation to %s on Rimewatch", workspace),
		Text: t.Sayf("%s invites you to join %s on Rimewatch as %s.", by, workspace, roleName(t, v.Role)) + "\n\n" +
			t.Sayf("Open this link to accept. It works once, for %d days:", InvitationLife/rimewatch.Day) + "\n\n" +
			s.Address(ctx) + "/invitation#" + secret + "\n\n" +
			t.Say("If you do not know who this is, ignore this message: nothing happens without you.") + "\n",
	})
	if err != nil {
		s.log.Warn("mail an invitation", "invitation", v.ID, "error", err)
		return rimewatch.Wrap(rimewatch.CodeUnavailable, err, "The mail server did not take the invitation; try again later.")
	}
	return nil
}

// MailOrder sends a contact the link of a work order. It contains no text that people have written freely:
// that stands on the page.
func (s *Service) MailOrder(ctx context.Context, to, language, workspace string, o *rimewatch.WorkOrder, path string) error {
	t := catalogue.Of(language)
	workspace = mailedName(workspace)
	about := t.Sayf("%s asks you for work.", workspace)
	if unit := mailedName(o.Unit); unit != "" {
		about = t.Sayf("%s asks you for work on %s.", workspace, unit)
	}
	return s.mail(ctx, Letter{
		To: to, Subject: t.Sayf("Work order %d of %s", o.ID, workspace),
		Text: about + "\n\n" +
			t.Sayf("Open this link to see the order and to report on it. It works for %d days, without signing in:", rimewatch.OrderLinkLife/rimewatch.Day) + "\n\n" +
			s.Address(ctx) + path + "\n\n" +
			t.Say("Whoever has this link can report on the order in your name.") + "\n",
	})
}

// mailedNameLen is the most characters of a name in a mail to a stranger.
const mailedNameLen = 60

// mailedName returns a name that a user has chosen, for a mail to a person
// who does not know us: short, on one line, and nothing in it that a mail program
// takes for a link or an address.
func mailedName(name string) string {
	rs := []rune(name)
	var b strings.Builder
	for i, r := range rs {
		letter := unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsDigit(r)
		last := i+1 == len(rs) || unicode.IsSpace(rs[i+1])
		if letter || r == '.' && last || strings.ContainsRune(" '’&()-,", r) {
			b.WriteRune(r)
		} else {
			b.WriteByte(' ')
		}
	}
	rs = []rune(strings.Join(strings.Fields(b.String()), " "))
	return strings.TrimSpace(string(rs[:min(len(rs), mailedNameLen)]))
}

// roleName is a role as it is called in a sentence.
func roleName(t *catalogue.Texts, r rimewatch.Role) string {
	switch r {
	case rimewatch.RoleOwner:
		return t.Say("owner")
	case rimewatch.RoleAdmin:
		return t.Say("admin")
	case rimewatch.RoleTechnician:
		return t.Say("technician")
	default:
		return t.Say("viewer")
	}
}

// mailReset sends the holder of an account, in the language that they have chosen or
// that of the browser, a link for a new password.
func (s *Service) mailReset(ctx context.Context, u *rimewatch.User, browser string, now rimewatch.Time) error {
	secret, err := s.newResetLink(ctx, u.ID, now)
	if err != nil {
		return err
	}
	t := catalogue.Of(cmp.Or(u.Language, browser))
	return s.mail(ctx, Letter{
		To: u.Email, Subject: t.Say("A new password for Rimewatch"),
		Text: t.Say("Somebody, probably you, has asked for a new password for this address.") + "\n\n" +
			t.Say("Open this link to choose one. It works once, for one hour:") + "\n\n" +
			s.Address(ctx) + "/reset#" + secret + "\n\n" +
			t.Say("If it was not you, ignore this message: the old password stays.") + "\n",
	})
}
