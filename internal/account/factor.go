package account

import (
	"bytes"
	"context"
	"crypto/cipher"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base32"
	"errors"
	"fmt"
	"image/png"
	"io"
	"log/slog"
	"strings"

	"github.com/pquerna/otp"
	"github.com/pquerna/otp/hotp"
	"github.com/pquerna/otp/totp"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
)

// A code of an authenticator app: RFC 6238 as all of them speak it, six digits
// that change every 30 s, SHA-1, and a secret of 160 bits (RFC 4226, section 4).
const (
	factorBytes  = 20
	factorPeriod = 30 * rimewatch.Second
	// factorSkew is by how many steps the clock of a phone may be wrong.
	factorSkew = 1
)

// Recovery codes replace the app once each. 80 bits cannot be guessed.
const (
	recoveryCodes = 10
	recoveryBytes = 10
)

// Factor is the state of a person's second factor.
type Factor struct {
	Since rimewatch.Time // 0 = there is none
	Codes int            // recovery codes that are left
}

// SecondFactor returns the state of the signed-in person's second factor.
func (s *Service) SecondFactor(ctx context.Context, p Principal) (Factor, error) {
	if err := p.RequirePerson(); err != nil {
		return Factor{}, err
	}
	f, err := s.store.People().SecondFactor(ctx, p.UserID)
	if err != nil {
		return Factor{}, notFoundIs(err, func() error { return nil })
	}
	return Factor{f.ConfirmedAt, f.Codes}, nil
}

// FactorKey is the key for an authenticator app.
type FactorKey struct {
	Secret string // base32
	URL    string // otpauth
	QR     []byte // the URL as a QR code, PNG
}

// qrSize is the width of a QR code in pixels.
const qrSize = 240

// BeginSecondFactor makes a secret for the signed-in person's authenticator
// app. It does not count before ConfirmSecondFactor. Needs the password:
// CodeValidationFailed with the field current_password. CodeConflict when there
// is a second factor already.
func (s *Service) BeginSecondFactor(ctx context.Context, p Principal, password string, now rimewatch.Time) (FactorKey, error) {
	u, err := s.confirmPassword(ctx, p, password, now)
	if err != nil {
		return FactorKey{}, err
	}
	secret := make([]byte, factorBytes)
	if _, err := io.ReadFull(s.rand, secret); err != nil {
		return FactorKey{}, fmt.Errorf("random bytes: %w", err)
	}
	key, err := totp.Generate(totp.GenerateOpts{Issuer: "Rimewatch", AccountName: u.Email, Secret: secret})
	if err != nil {
		return FactorKey{}, err
	}
	img, err := key.Image(qrSize, qrSize)
	if err != nil {
		return FactorKey{}, err
	}
	var qr bytes.Buffer
	if err := png.Encode(&qr, img); err != nil {
		return FactorKey{}, err
	}
	sealed, err := s.sealSecret(u.ID, secret)
	if err != nil {
		return FactorKey{}, err
	}
	return FactorKey{key.Secret(), key.URL(), qr.Bytes()}, s.store.People().BeginSecondFactor(ctx, u.ID, sealed)
}

// ConfirmSecondFactor makes the secret count once the app shows the right code
// for it, ends all sessions and starts a new one in place of this one. The
// recovery codes are returned here and never again. CodeValidationFailed with
// the field code; CodeNotFound before BeginSecondFactor; CodeConflict when there
// is a second factor already.
func (s *Service) ConfirmSecondFactor(ctx context.Context, p Principal, code string, client Client, now rimewatch.Time) (in SignedIn, recovery []string, err error) {
	u, err := s.Person(ctx, p)
	if err != nil {
		return in, nil, err
	}
	f, err := s.store.People().SecondFactor(ctx, u.ID)
	if err != nil {
		return in, nil, err
	}
	step, ok := s.stepOf(&f, code, now)
	if !ok {
		return in, nil, rimewatch.Invalid("code", "is not the one that the app should show now")
	}
	recovery, hashes, err := s.newRecoveryCodes()
	if err != nil {
		return in, nil, err
	}
	if err := s.store.People().ConfirmSecondFactor(ctx, u.ID, step, hashes, now); err != nil {
		return in, nil, err
	}
	t := termsOf(&p)
	t.strong = true
	in, err = s.restartSessions(ctx, &u, t, client, now)
	return in, recovery, err
}

// Proof is how a signed-in person shows again who they are. A session and a
// password, which may both be stolen at once, do not get past a second factor.
type Proof struct {
	Password string
	Code     string // of the second factor, or a recovery code
	Client   Client
}

// confirmFactor returns the signed-in person who enters the password and, where
// there is a second factor, its code: CodeValidationFailed with the field
// current_password or code; CodeRateLimited after too many wrong codes.
func (s *Service) confirmFactor(ctx context.Context, p Principal, x Proof, now rimewatch.Time) (rimewatch.User, error) {
	u, err := s.confirmPassword(ctx, p, x.Password, now)
	if err != nil {
		return u, err
	}
	_, err = s.checkCode(ctx, &u, &Credentials{Code: x.Code, Client: x.Client}, now)
	if e := (*rimewatch.Error)(nil); errors.As(err, &e) && e.Code == rimewatch.CodeUnauthenticated {
		wrong := *e
		wrong.Code = rimewatch.CodeValidationFailed // the session stands
		err = &wrong
	}
	return u, err
}

// RemoveSecondFactor removes the signed-in person's second factor, ends all
// sessions and starts a new one in place of this one. Errors as confirmFactor;
// CodeNotFound.
func (s *Service) RemoveSecondFactor(ctx context.Context, p Principal, x Proof, now rimewatch.Time) (SignedIn, error) {
	u, err := s.confirmFactor(ctx, p, x, now)
	if err != nil {
		return SignedIn{}, err
	}
	if err := s.store.People().DeleteSecondFactor(ctx, u.ID); err != nil {
		return SignedIn{}, err
	}
	t := termsOf(&p)
	t.strong = p.provided != 0
	return s.restartSessions(ctx, &u, t, x.Client, now)
}

// RenewRecoveryCodes replaces all recovery codes of the signed-in person by new
// ones, which are returned here and never again. Errors as confirmFactor;
// CodeNotFound without a second factor.
func (s *Service) RenewRecoveryCodes(ctx context.Context, p Principal, x Proof, now rimewatch.Time) ([]string, error) {
	u, err := s.confirmFactor(ctx, p, x, now)
	if err != nil {
		return nil, err
	}
	plain, hashes, err := s.newRecoveryCodes()
	if err != nil {
		return nil, err
	}
	return plain, s.store.People().ReplaceRecoveryCodes(ctx, u.ID, hashes)
}

// restartSessions ends all sessions of a person and starts one.
func (s *Service) restartSessions(ctx context.Context, u *rimewatch.User, t terms, client Client, now rimewatch.Time) (SignedIn, error) {
	if err := s.store.People().DeleteSessions(ctx, u.ID, 0); err != nil {
		return SignedIn{}, err
	}
	return s.startSession(ctx, u, t, client, now)
}

// vault is the part of a Service that encrypts what the store keeps of second
// factors.
type vault struct {
	seal func() (cipher.AEAD, error) // nil = it is kept as it is
	log  *slog.Logger
}

// sealSecret encrypts the secret of a person's second factor, for that person
// alone.
func (s *vault) sealSecret(userID int64, secret []byte) ([]byte, error) {
	if s.seal == nil {
		return secret, nil
	}
	aead, err := s.seal()
	if err != nil {
		return nil, rimewatch.Wrap(rimewatch.CodeUnavailable, err, "Second factors cannot be set up at the moment.")
	}
	return aead.Seal(nil, nil, secret, sealedFor(userID)), nil
}

func sealedFor(userID int64) []byte { return fmt.Appendf(nil, "second factor of user %d", userID) }

// stepOf is stepOf of a stored secret. One that cannot be read, since it was
// encrypted with a key that is gone, has no code; recovery codes still count.
func (s *vault) stepOf(f *store.SecondFactor, code string, now rimewatch.Time) (step int64, ok bool) {
	secret := f.Secret
	if s.seal != nil {
		aead, err := s.seal()
		if err == nil {
			secret, err = aead.Open(nil, nil, f.Secret, sealedFor(f.UserID))
		}
		if err != nil {
			s.log.Warn("the secret of a second factor cannot be read: its key is not the one of this data directory; recovery codes still work", "user", f.UserID, "err", err)
			return 0, false
		}
	}
	return stepOf(secret, code, now)
}

// stepOf finds the time step at whose turn an app with the secret shows code.
func stepOf(secret []byte, code string, now rimewatch.Time) (step int64, ok bool) {
	text := base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(secret)
	for d := int64(-factorSkew); d <= factorSkew; d++ {
		at := int64(now/factorPeriod) + d
		want, err := hotp.GenerateCodeCustom(text, uint64(at), hotp.ValidateOpts{Digits: otp.DigitsSix, Algorithm: otp.AlgorithmSHA1})
		if err == nil && subtle.ConstantTimeCompare([]byte(want), []byte(plainCode(code))) == 1 {
			step, ok = at, true
		}
	}
	return step, ok
}

// newRecoveryCodes makes codes such as ABCD-EFGH-IJKL-MNOP and their hashes.
func (s *Service) newRecoveryCodes() (plain []string, hashes [][32]byte, err error) {
	for range recoveryCodes {
		var b [recoveryBytes]byte
		if _, err := io.ReadFull(s.rand, b[:]); err != nil {
			return nil, nil, fmt.Errorf("random bytes: %w", err)
		}
		c := base32.StdEncoding.EncodeToString(b[:])
		plain = append(plain, strings.Join([]string{c[:4], c[4:8], c[8:12], c[12:]}, "-"))
		hashes = append(hashes, sha256.Sum256([]byte(c)))
	}
	return plain, hashes, nil
}

var errCodeNeeded = errors.New("a code is needed")

// NeedsCode reports whether an error of SignIn says that address and password
// are right and the code of the second factor is missing.
func NeedsCode(err error) bool { return errors.Is(err, errCodeNeeded) }

func errCode(cause error, what rimewatch.Sentence) error {
	return rimewatch.Wrap(rimewatch.CodeUnauthenticated, cause, "The code of the second factor %s.", what).With("code", "%s", what)
}

// checkCode checks the second factor of a person whose password is right, and
// reports whether there is one.
func (s *Service) checkCode(ctx context.Context, u *rimewatch.User, c *Credentials, now rimewatch.Time) (strong bool, err error) {
	f, err := s.store.People().SecondFactor(ctx, u.ID)
	if rimewatch.CodeOf(err) == rimewatch.CodeNotFound || err == nil && f.ConfirmedAt == 0 {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if c.Code == "" {
		return false, errCode(errCodeNeeded, rimewatch.Sentencef("is needed"))
	}
	if wait := s.signIns.tryCode(u.ID, now); wait > 0 {
		return false, &rimewatch.Error{Code: rimewatch.CodeRateLimited, Message: "Too many wrong codes.", RetryAfter: wait}
	}
	if step, ok := s.stepOf(&f, c.Code, now); ok {
		err = s.store.People().UseStep(ctx, u.ID, step)
	} else {
		_, err = s.store.People().UseRecoveryCode(store.WithActor(ctx, u.Label()), u.ID, sha256.Sum256([]byte(plainCode(c.Code))))
	}
	switch rimewatch.CodeOf(err) {
	case "":
		s.signIns.forgiveCode(u.ID, now)
		return true, nil
	case rimewatch.CodeConflict, rimewatch.CodeNotFound: // used before; wrong
		s.refuse(ctx, u.ID, "second factor", c.Client, now)
		return false, errCode(nil, rimewatch.Sentencef("is wrong or was used already"))
	default:
		return false, err
	}
}
