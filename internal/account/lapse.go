package account

import (
	"context"
	"errors"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
)

// DefaultTokenLife is how long after somebody's last sign-in at the provider the
// tokens that they made do more than send readings. Nobody but the provider says
// who is still one of the organisation.
const DefaultTokenLife = 30 * rimewatch.Day

// The announcements of a lapse, each made once: so long before.
var lapseAnnounced = [...]rimewatch.Time{7 * rimewatch.Day, rimewatch.Day}

// lapseStep is the due part of a lapse.
type lapseStep struct {
	is  store.Lapse // its new state
	in  int         // days before the lapse that are announced, 0 = nothing is
	end bool        // the tokens lapse
}

// nextLapse decides what is due. Somebody whose last sign-in is not known is taken
// to have signed in now. Nothing lapses that was not announced a day before: what
// the service was not there to announce is announced late, and lapses later.
func nextLapse(was store.Lapse, life, now rimewatch.Time) lapseStep {
	step := lapseStep{is: was}
	if was.Since == 0 {
		step.is.Since = now
	}
	left := step.is.Since + life - now
	for told := len(lapseAnnounced); told > was.Told; told-- {
		before := lapseAnnounced[told-1]
		if left > before || life <= before {
			continue
		}
		if told == len(lapseAnnounced) && left < before {
			step.is.Since += before - left
			left = before
		}
		step.is.Told, step.in = told, max(1, int((left+rimewatch.Day-1)/rimewatch.Day))
		return step
	}
	step.end = left <= 0
	return step
}

// lapse announces and ends the due rights of tokens of people who sign in at a
// provider. Of several nodes that do so one is the first.
func (s *Service) lapse(ctx context.Context, now rimewatch.Time) error {
	all, err := s.store.People().Lapsing(ctx)
	for _, was := range all {
		err = errors.Join(err, s.lapseOf(ctx, was, now))
	}
	return err
}

func (s *Service) lapseOf(ctx context.Context, was store.Lapse, now rimewatch.Time) error {
	step := nextLapse(was, s.tokenLife, now)
	if !step.end && step.is == was {
		return nil
	}
	u, err := s.store.People().User(ctx, was.UserID)
	if err != nil {
		return err
	}
	if step.end {
		ended, err := s.store.People().EndLapsed(ctx, was, now)
		for _, w := range ended {
			s.forget(w)
			s.tellAdmins(w.WorkspaceID, lapsedNotice(&u, w))
		}
		return err
	}
	var detail store.Fields
	if step.in > 0 {
		detail = store.Fields{"email": u.Email, "in_days": step.in}
	}
	done, err := s.store.People().PutLapse(ctx, was, step.is, detail)
	if err != nil || !done || step.in == 0 {
		return err
	}
	return s.announceLapse(ctx, &u, step.in)
}

// announceLapse mails a person and the admins which of their tokens are about to lapse.
func (s *Service) announceLapse(ctx context.Context, u *rimewatch.User, days int) error {
	all, err := s.store.People().Memberships(ctx, u.ID)
	for _, m := range all {
		list, e := s.store.People().Tokens(ctx, m.WorkspaceID)
		err = errors.Join(err, e)
		var names []string
		for _, t := range list {
			if t.CreatedBy == u.ID && t.RevokedAt == 0 && t.Scopes != rimewatch.ScopesIngest {
				names = append(names, t.Name)
			}
		}
		if len(names) > 0 {
			n := lapseNotice(u, names, days)
			n.also = u.ID
			s.tellAdmins(m.WorkspaceID, n)
		}
	}
	return err
}
