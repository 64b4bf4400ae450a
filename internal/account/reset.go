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

// newResetLink makes a link secret with which a person sets a new password; an
// earlier one stops working.
func (s *Service) newResetLink(ctx context.Context, userID int64, now rimewatch.Time) (string, error) {
	secret, hash, err := s.newSecret()
	if err != nil {
		return "", err
	}
	return secret, s.store.CreatePasswordLink(ctx, &store.PasswordLink{Hash: hash, UserID: userID, CreatedAt: now, ExpiresAt: now + ResetLife})
}

// ResetByLink sets a forgotten password by the secret of a link and ends all
// sessions of the person. A link works once: CodeNotFound; CodeValidationFailed
// with the field password.
func (s *Service) ResetByLink(ctx context.Context, secret, password string, now rimewatch.Time) error {
	hash, ok := hashSecret(secret)
	if !ok {
		return errLink()
	}
	l, err := s.store.PasswordLink(ctx, hash, now) // before the work of hashing
	if err != nil {
		return notFoundIs(err, errLink)
	}
	u, err := s.store.User(ctx, l.UserID)
	if err != nil {
		return err
	}
	if err := checkPassword("password", password, u.Email, u.Name); err != nil {
		return err
	}
	passwordHash, err := s.hasher.hash(ctx, s.rand, password)
	if err != nil {
		return err
	}
	return notFoundIs(s.store.UsePasswordLink(ctx, hash, passwordHash, now), errLink)
}
