package account

import (
	"context"
	"slices"
	"strings"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/catalogue"
	"github.com/rimewatch/rimewatch/internal/store"
)

// noticesWaiting bounds the notices that wait to be mailed; what does not fit stands
// in the audit trail and the log alone.
const noticesWaiting = 256

// notice is a letter to the admins of a workspace, written for each in their
// language.
type notice struct {
	workspaceID int64
	also        int64 // another recipient, 0 = none
	write       func(t *catalogue.Texts, workspace string) (subject, text string)
}

// tellAdmins has a notice mailed to the owners and admins of a workspace. Where the
// service sends no mail, the audit trail has it.
func (s *Service) tellAdmins(workspaceID int64, n notice) {
	if s.mail == nil {
		return
	}
	n.workspaceID = workspaceID
	select {
	case s.notices <- n:
	default:
		s.log.Warn("too many notices to admins wait: one was dropped", "workspace", workspaceID)
	}
}

// runNotices mails notices until ctx ends.
func (s *Service) runNotices(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case n := <-s.notices:
			if err := s.mailNotice(ctx, n); err != nil {
				s.log.Warn("mail a notice to admins", "workspace", n.workspaceID, "error", err)
			}
		}
	}
}

func (s *Service) mailNotice(ctx context.Context, n notice) error {
	w, err := s.store.Workspace(ctx, n.workspaceID)
	if err != nil {
		return err
	}
	members, err := s.store.People().Members(ctx, n.workspaceID)
	if err != nil {
		return err
	}
	var failed error
	for _, m := range members {
		if !m.Role.AtLeast(rimewatch.RoleAdmin) && m.UserID != n.also {
			continue
		}
		u, err := s.store.People().User(ctx, m.UserID)
		if err == nil {
			subject, text := n.write(catalogue.Of(u.Language), w.Name)
			err = s.mail(ctx, Letter{To: u.Email, Subject: subject, Text: text})
		}
		if err != nil {
			failed = err
		}
	}
	return failed
}

// named lists tokens by name, each on its line.
func named(list []rimewatch.Token) string {
	var b strings.Builder
	for _, t := range list {
		b.WriteString("- " + t.Name + "\n")
	}
	return b.String()
}

// fate describes the change of tokens.
func fate(t *catalogue.Texts, w store.Withdrawal) (text string) {
	if len(w.Kept) > 0 {
		text += "\n" + t.Say("These tokens go on sending readings, and do nothing else, so that no device goes silent:") + "\n\n" + named(w.Kept)
	}
	if len(w.Ended) > 0 {
		text += "\n" + t.Say("These tokens have ended:") + "\n\n" + named(w.Ended)
	}
	return text
}

// leftNotice is the mail that a person is in no group with access any more.
func leftNotice(u *rimewatch.User, w store.Withdrawal) notice {
	return notice{write: func(t *catalogue.Texts, workspace string) (string, string) {
		text := t.Sayf("%s is no longer in a group of your sign-in provider that gives access to %s. The membership has ended.", u.Label(), workspace) + "\n" + fate(t, w)
		if len(w.Kept) > 0 {
			text += "\n" + t.Say("They belong to the workspace now. Replace them, and the keys of sources, if nobody outside may know them.") + "\n"
		}
		return t.Sayf("%s has no access to %s any more", u.Label(), workspace), text
	}}
}

// lapseNotice announces that tokens lapse in so many days.
func lapseNotice(u *rimewatch.User, names []string, days int) notice {
	return notice{write: func(t *catalogue.Texts, workspace string) (string, string) {
		when := t.Sayf("in %d days", days)
		if days == 1 {
			when = t.Say("tomorrow")
		}
		return t.Sayf("Tokens of %s for %s lapse %s", u.Label(), workspace, when),
			t.Sayf("%s has not signed in at your provider for a while. Without a sign-in these tokens do nothing but send readings from then on, or end:", u.Label()) + "\n\n- " + strings.Join(names, "\n- ") + "\n"
	}}
}

// lapsedNotice is the mail that tokens have lapsed.
func lapsedNotice(u *rimewatch.User, w store.Withdrawal) notice {
	return notice{write: func(t *catalogue.Texts, workspace string) (string, string) {
		return t.Sayf("Tokens of %s for %s have lapsed", u.Label(), workspace),
			t.Sayf("%s has not signed in at your provider for too long.", u.Label()) + "\n" + fate(t, w)
	}}
}

// brokeGlass logs, audits and mails a sign-in with the password that works without the provider.
func (s *Service) brokeGlass(ctx context.Context, u *rimewatch.User, client Client, now rimewatch.Time) error {
	s.log.Warn("the break-glass owner has signed in by password", "user", u.ID, "address", client.Address)
	if err := s.store.Audit().AuditUser(store.WithActor(ctx, u.Label()), u.ID, "user.break_glass_used", store.Fields{"address": client.Address}); err != nil {
		return err
	}
	all, err := s.store.People().Memberships(ctx, u.ID)
	for _, m := range all {
		s.tellAdmins(m.WorkspaceID, notice{write: func(t *catalogue.Texts, workspace string) (string, string) {
			return t.Sayf("The emergency account of %s was used", workspace),
				t.Sayf("%s signed in with a password, past your sign-in provider, from %s at %s.", u.Label(), client.Address, now.String()) + "\n\n" +
					t.Say("If you do not know why, change its password and look at the audit log.") + "\n"
		}})
	}
	return err
}

// checkOwners logs the workspaces without an owner for the operator, which a sign-in
// provider can lead to: log and Ownerless. A service that is not set up has none.
func (s *Service) checkOwners(ctx context.Context) {
	list, err := s.store.People().Ownerless(ctx)
	if err == nil {
		var needed bool
		if _, needed, err = s.SetupCode(ctx); needed {
			list = nil
		}
	}
	if err != nil {
		s.log.Warn("look for workspaces without an owner", "error", err)
		return
	}
	list = slices.DeleteFunc(list, func(w rimewatch.Workspace) bool { return !s.serves(w.ID) })
	s.ownerless.Store(int64(len(list)))
	if len(list) == 0 {
		return
	}
	var names []string
	for _, w := range list {
		names = append(names, w.Name)
	}
	slices.Sort(names)
	s.log.Error("nobody owns these workspaces: add an owner with rimewatch user add --role owner", "workspaces", names)
}

// Ownerless returns how many workspaces had no owner when that was last looked at,
// which is at least once an hour.
func (s *Service) Ownerless() int { return int(s.ownerless.Load()) }
