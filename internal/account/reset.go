package account

import (
	"context"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
)

// ResetLife is how long a link for a forgotten password works.
const ResetLife = rimewatch.Hour

func errLink() error {
	return rimewatch.Errorf(rimewatch.CodeNotFound, "This link has already been used or has expired.")
}

// How often a link may be asked for: so many mails go to one address in the
// window, and so many requests wait at most.
const (
	resetMails   = 3
	resetWindow  = rimewatch.Hour
	resetWaiting = 64
)

// resetRequest is a request for a link that Run works on.
type resetRequest struct {
	email    string
	language string // of the browser
	now      rimewatch.Time
}

// RequestReset asks for a link for a forgotten password, which goes to the
// address when it has an account. The answer and the time that it takes are the
// same whether it has: the work is done by Run. CodeConflict where the service
// sends no mail. language is that of the browser, for who has chosen none. The caller
// limits requests per address of origin.
func (s *Service) RequestReset(ctx context.Context, email, language string, now rimewatch.Time) error {
	if !s.SendsMail(ctx) {
		return rimewatch.Errorf(rimewatch.CodeConflict, "This service sends no e-mail. Its operator sets a new password with rimewatch user reset-password.")
	}
	select {
	case s.resets <- resetRequest{clip(normalEmail(email), rimewatch.MaxEmailLen), language, now}:
	default:
		s.log.Warn("too many requests for new passwords wait: one was dropped")
	}
	return nil
}

// runResets works on requests for links until ctx ends.
func (s *Service) runResets(ctx context.Context) {
	sent := newFailureCount[string](resetWindow, signInKeys)
	for {
		select {
		case <-ctx.Done():
			return
		case r := <-s.resets:
			if sent.wait(r.email, resetMails, r.now) > 0 {
				continue
			}
			sent.add(r.email, 1, r.now)
			u, err := s.store.People().UserByEmail(ctx, r.email)
			if err == nil && u.PasswordHash != "" { // without one, a provider says who may sign in
				err = s.mailReset(ctx, &u, r.language, r.now)
			}
			if err != nil && rimewatch.CodeOf(err) != rimewatch.CodeNotFound {
				s.log.Warn("mail a link for a new password", "error", err)
			}
		}
	}
}

// newResetLink makes a link secret with which a person sets a new password; an
// earlier one stops working.
func (s *Service) newResetLink(ctx context.Context, userID int64, now rimewatch.Time) (string, error) {
	secret, hash, err := s.newSecret()
	if err != nil {
		return "", err
	}
	return secret, s.store.People().CreatePasswordLink(ctx, &store.PasswordLink{Hash: hash, UserID: userID, CreatedAt: now, ExpiresAt: now + ResetLife})
}

// ResetByLink sets a forgotten password by the secret of a link and ends all
// sessions of the person. A link works once: CodeNotFound; CodeValidationFailed
// with the field password.
func (s *Service) ResetByLink(ctx context.Context, secret, password string, now rimewatch.Time) error {
	hash, ok := hashSecret(secret)
	if !ok {
		return errLink()
	}
	l, err := s.store.People().PasswordLink(ctx, hash, now) // before the work of hashing
	if err != nil {
		return notFoundIs(err, errLink)
	}
	u, err := s.store.People().User(ctx, l.UserID)
	if err != nil {
		return err
	}
	if err := checkPassword(password, u.Email, u.Name); err != nil {
		return err
	}
	passwordHash, err := s.hasher.hash(ctx, s.rand, password)
	if err != nil {
		return err
	}
	return notFoundIs(s.store.People().UsePasswordLink(ctx, hash, passwordHash, now), errLink)
}
