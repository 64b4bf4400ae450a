package account

import (
	"context"
	"errors"

	"github.com/rimewatch/rimewatch"
)

// SignProof is how a person shows who signs: one component of those that only that person has,
// and the address with it for the first signature of a session (21 CFR 11.200(a)(1)(i)).
type SignProof struct {
	Email    string
	Password string
	Code     string // of the second factor, or a recovery code
	Client   Client
}

// signFresh is for how long after signing in at a provider somebody who has no password may sign.
const signFresh = 5 * rimewatch.Minute

// ConfirmSigner returns the signed-in person who signs, and how that was shown; first says that
// the session has signed nothing yet. CodeProofRequired, with the fields that are wanted, where
// nothing was shown; CodeValidationFailed with the field that is wrong; CodeRateLimited after
// too many wrong ones.
func (s *Service) ConfirmSigner(ctx context.Context, p Principal, x SignProof, first bool, now rimewatch.Time) (u rimewatch.User, proof string, err error) {
	if err := p.RequirePerson(); err != nil {
		return u, "", err
	}
	if u, err = s.store.People().User(ctx, p.UserID); err != nil {
		return u, "", err
	}
	switch {
	case u.PasswordHash == "" && x.Code == "":
		proof, err = "provider", s.confirmProvided(ctx, p, now)
	case x.Password == "" && x.Code == "":
		wanted := rimewatch.Errorf(rimewatch.CodeProofRequired, "Show who signs: enter your password or a code of your second factor.").With("password", "is needed")
		if first {
			wanted.With("email", "is needed for the first signature of a session")
		}
		return u, "", wanted
	case first && x.Email == "":
		return u, "", rimewatch.Errorf(rimewatch.CodeProofRequired, "The first signature of a session also needs your e-mail address.").With("email", "is needed for the first signature of a session")
	case first && rimewatch.EmailKey(x.Email) != u.Email:
		return u, "", rimewatch.Invalid("email", "is not yours")
	case x.Password != "":
		proof, err = "password", s.confirmSigning(ctx, &u, x, now)
	default:
		proof, err = "code", s.confirmSigningCode(ctx, &u, x, now)
	}
	if first && proof != "provider" {
		proof = "email+" + proof
	}
	return u, proof, err
}

// confirmProvided wants somebody without a password to have come from the provider just now.
func (s *Service) confirmProvided(ctx context.Context, p Principal, now rimewatch.Time) error {
	if fresh, err := s.signedInWithin(ctx, p, signFresh, now); fresh || err != nil {
		return err
	}
	return rimewatch.Errorf(rimewatch.CodeProofRequired, "Sign out, sign in again at your provider, and sign within 5 minutes.")
}

func (s *Service) confirmSigning(ctx context.Context, u *rimewatch.User, x SignProof, now rimewatch.Time) error {
	if wait := s.signIns.tryCode(u.ID, now); wait > 0 {
		return &rimewatch.Error{Code: rimewatch.CodeRateLimited, Message: "Too many wrong codes.", RetryAfter: wait}
	}
	ok, err := s.hasher.verify(ctx, known, "", u.PasswordHash, x.Password)
	if err == nil && !ok {
		s.refuse(ctx, u.ID, "signature", x.Client, now)
		return rimewatch.Invalid("password", "is wrong")
	}
	if err == nil {
		s.signIns.forgiveCode(u.ID, now)
	}
	return err
}

func (s *Service) confirmSigningCode(ctx context.Context, u *rimewatch.User, x SignProof, now rimewatch.Time) error {
	has, err := s.checkCode(ctx, u, &Credentials{Code: x.Code, Client: x.Client}, now)
	if e := (*rimewatch.Error)(nil); errors.As(err, &e) && e.Code == rimewatch.CodeUnauthenticated {
		wrong := *e
		wrong.Code = rimewatch.CodeValidationFailed // the session stands
		return &wrong
	}
	if err == nil && !has {
		err = rimewatch.Invalid("code", "is of no use: you have no second factor")
	}
	return err
}
