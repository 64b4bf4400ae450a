package account

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"encoding/base32"
	"testing"

	"github.com/pquerna/otp/totp"

	"github.com/rimewatch/rimewatch"
)

// app is an authenticator app.
type app struct{ secret string }

func (a app) code(f *fixture, now rimewatch.Time) string {
	f.Helper()
	c, err := totp.GenerateCode(a.secret, now.Std())
	f.ok(err)
	return c
}

// protect sets a second factor up and returns the app, the recovery codes and
// the session that follows.
func (f *fixture) protect(in SignedIn, now rimewatch.Time) (app, []string, SignedIn) {
	f.Helper()
	key, err := f.BeginSecondFactor(f.ctx, in.Principal, password, t0)
	f.ok(err)
	a := app{key.Secret}
	fresh, codes, err := f.ConfirmSecondFactor(f.ctx, in.Principal, a.code(f, now), Client{}, now)
	f.ok(err)
	return a, codes, fresh
}

// The codes are those of RFC 6238, appendix B, SHA-1, of which an app shows the
// last six digits.
func TestTOTP(t *testing.T) {
	secret := []byte("12345678901234567890")
	for seconds, code := range map[int64]string{59: "287082", 1111111109: "081804", 1111111111: "050471", 1234567890: "005924", 2000000000: "279037", 20000000000: "353130"} {
		step, ok := stepOf(secret, code, rimewatch.Time(seconds*1000))
		if !ok || step != seconds/30 {
			t.Errorf("%s at %d s: step %d, %v", code, seconds, step, ok)
		}
	}
	now := rimewatch.Time(1234567890_000)
	for offset, want := range map[rimewatch.Time]bool{-2: false, -1: true, 0: true, 1: true, 2: false} { // of the phone's clock
		if _, ok := stepOf(secret, "005924", now-offset*factorPeriod); ok != want {
			t.Errorf("a phone that is %d steps ahead: %v", offset, ok)
		}
	}
	for _, bad := range []string{"", "5924", "0059240", "00592", "x05924"} {
		if _, ok := stepOf(secret, bad, now); ok {
			t.Errorf("%q is taken", bad)
		}
	}
	if base32.StdEncoding.EncodedLen(factorBytes) != 32 {
		t.Error("the secret does not fill its base32")
	}
}

func TestSecondFactor(t *testing.T) {
	f := newFixture(t)
	u := f.person("ada@example.com", rimewatch.RoleViewer)
	in, elsewhere := f.signIn("ada@example.com", t0), f.signIn("ada@example.com", t0)
	_, err := f.BeginSecondFactor(f.ctx, in.Principal, "wrong", t0)
	f.field(err, rimewatch.CodeValidationFailed, "current_password")
	_, _, err = f.ConfirmSecondFactor(f.ctx, in.Principal, "000000", Client{}, t0)
	f.code(err, rimewatch.CodeNotFound)
	_, err = f.BeginSecondFactor(f.ctx, in.Principal, password, t0)
	f.ok(err)
	f.signIn("ada@example.com", t0) // nothing is asked for before the app is confirmed
	_, _, err = f.ConfirmSecondFactor(f.ctx, in.Principal, "x", Client{}, t0)
	f.field(err, rimewatch.CodeValidationFailed, "code")
	a, codes, fresh := f.protect(in, t0)
	same(t, len(codes), recoveryCodes)
	for _, old := range []SignedIn{in, elsewhere} {
		_, err = f.AuthenticateSession(f.ctx, old.Secret, "", t0)
		f.code(err, rimewatch.CodeUnauthenticated)
	}
	_, err = f.AuthenticateSession(f.ctx, fresh.Secret, "", t0)
	f.ok(err)
	_, err = f.BeginSecondFactor(f.ctx, fresh.Principal, password, t0)
	f.code(err, rimewatch.CodeConflict)

	now := t0 + rimewatch.Minute
	signIn := func(pw, code string) error {
		_, err := f.SignIn(f.ctx, Credentials{Email: "ada@example.com", Password: pw, Code: code}, now)
		return err
	}
	err = signIn(password, "")
	f.field(err, rimewatch.CodeUnauthenticated, "code")
	same(t, NeedsCode(err), true)
	err = signIn("wrong password", a.code(f, now)) // tells nothing of the code
	same(t, err.Error(), errCredentials().Error())
	err = signIn(password, "000000")
	f.field(err, rimewatch.CodeUnauthenticated, "code")
	same(t, NeedsCode(err), false)
	f.field(signIn(password, a.code(f, t0)), rimewatch.CodeUnauthenticated, "code") // the one that confirmed
	f.ok(signIn(password, a.code(f, now)))
	f.field(signIn(password, a.code(f, now)), rimewatch.CodeUnauthenticated, "code") // seen by somebody
	f.ok(signIn(password, " "+codes[3]+" "))
	f.field(signIn(password, codes[3]), rimewatch.CodeUnauthenticated, "code")
	state, err := f.SecondFactor(f.ctx, fresh.Principal)
	f.ok(err)
	same(t, state, Factor{t0, recoveryCodes - 1})

	_, err = f.RenewRecoveryCodes(f.ctx, fresh.Principal, Proof{Password: password}, t0) // new ones would open everything
	f.field(err, rimewatch.CodeValidationFailed, "code")
	renewed, err := f.RenewRecoveryCodes(f.ctx, fresh.Principal, Proof{Password: password, Code: codes[5]}, t0)
	f.ok(err)
	f.field(signIn(password, codes[4]), rimewatch.CodeUnauthenticated, "code")
	f.ok(signIn(password, renewed[0]))

	now += rimewatch.Minute
	_, err = f.RemoveSecondFactor(f.ctx, fresh.Principal, Proof{Password: "wrong", Code: a.code(f, now)}, now)
	f.field(err, rimewatch.CodeValidationFailed, "current_password")
	for _, code := range []string{"", "000000", a.code(f, now-rimewatch.Minute)} { // missing, wrong, used
		_, err = f.RemoveSecondFactor(f.ctx, fresh.Principal, Proof{Password: password, Code: code}, now)
		f.field(err, rimewatch.CodeValidationFailed, "code")
	}
	_, err = f.RemoveSecondFactor(f.ctx, fresh.Principal, Proof{Password: password, Code: a.code(f, now)}, now)
	f.ok(err)
	f.signIn("ada@example.com", now)
	list, err := f.store.People().Sessions(f.ctx, u.ID, now)
	f.ok(err)
	for _, x := range list {
		same(t, x.Strong, false)
	}
}

func TestWrongCodesAreLimited(t *testing.T) {
	f := newFixture(t)
	f.person("ada@example.com", rimewatch.RoleViewer)
	a, _, _ := f.protect(f.signIn("ada@example.com", t0), t0)
	now := t0 + rimewatch.Minute
	signIn := func(code string, now rimewatch.Time) rimewatch.Code {
		_, err := f.SignIn(f.ctx, Credentials{Email: "ada@example.com", Password: password, Code: code, Client: Client{Address: "192.0.2.1"}}, now)
		return rimewatch.CodeOf(err)
	}
	for range codeTries {
		same(t, signIn("000000", now), rimewatch.CodeUnauthenticated)
	}
	same(t, signIn(a.code(f, now), now), rimewatch.CodeRateLimited)
	same(t, signIn(a.code(f, now+codeWindow), now+codeWindow), "")
	trail := f.trail(f.ws.ID, "user.sign_in_refused")
	same(t, trail[0]["wrong"], any("second factor"))
}

// An owner may require the second factor of all members.
func TestRequiredSecondFactor(t *testing.T) {
	f := newFixture(t)
	f.person("olga@example.com", rimewatch.RoleOwner)
	f.person("ada@example.com", rimewatch.RoleAdmin)
	owner, ada := f.signIn("olga@example.com", t0), f.signIn("ada@example.com", t0)
	yes, no := true, false
	_, err := f.UpdateWorkspace(f.ctx, ada.Principal, WorkspacePatch{RequireSecondFactor: &yes}, t0)
	f.code(err, rimewatch.CodeForbidden)
	_, err = f.UpdateWorkspace(f.ctx, owner.Principal, WorkspacePatch{RequireSecondFactor: &yes}, t0)
	f.field(err, rimewatch.CodeValidationFailed, "require_second_factor") // nobody shuts himself out
	_, _, owner = f.protect(owner, t0)
	_, plain := f.token(TokenRequest{})
	_, err = f.UpdateWorkspace(f.ctx, owner.Principal, WorkspacePatch{RequireSecondFactor: &yes}, t0)
	f.ok(err)
	_, err = f.AuthenticateSession(f.ctx, owner.Secret, "", t0)
	f.ok(err)
	f.ok(f.Valid(f.ctx, owner.Principal, t0))
	f.code(f.Valid(f.ctx, ada.Principal, t0), rimewatch.CodeForbidden)
	p, err := f.AuthenticateSession(f.ctx, ada.Secret, "", t0)
	f.ok(err)
	same(t, p.WorkspaceID, 0)
	f.field(p.RequireRole(rimewatch.RoleViewer), rimewatch.CodeForbidden, "second_factor")
	f.field(p.Require(0), rimewatch.CodeForbidden, "second_factor")
	_, err = f.Authenticate(f.ctx, plain, t0) // devices have no app
	f.ok(err)

	_, codes, strong := f.protect(SignedIn{Principal: p}, t0)
	same(t, strong.Principal.WorkspaceID, f.ws.ID)
	same(t, strong.Principal.Role, rimewatch.RoleAdmin)
	weak, err := f.RemoveSecondFactor(f.ctx, strong.Principal, Proof{Password: password, Code: codes[0]}, t0)
	f.ok(err)
	same(t, weak.Principal.NeedsFactor, true)
	_, err = f.UpdateWorkspace(f.ctx, owner.Principal, WorkspacePatch{RequireSecondFactor: &no}, t0)
	f.ok(err)
	p, err = f.AuthenticateSession(f.ctx, weak.Secret, "", t0)
	f.ok(err)
	same(t, p.Role, rimewatch.RoleAdmin)
}

// TestSealedSecrets: the secret of a second factor is not what the store keeps,
// is of nobody else's use, and is lost with its key, while recovery codes still
// count.
func TestSealedSecrets(t *testing.T) {
	f := newFixture(t)
	sealed := func(key byte) *Service {
		block, err := aes.NewCipher(bytes.Repeat([]byte{key}, 32))
		f.ok(err)
		seal, err := cipher.NewGCMWithRandomNonce(block)
		f.ok(err)
		return New(Config{Store: f.store, Password: cheap, Seal: func() (cipher.AEAD, error) { return seal, nil }})
	}
	f.Service = sealed(1)
	u, v := f.person("ada@example.com", rimewatch.RoleViewer), f.person("bob@example.com", rimewatch.RoleViewer)
	a, codes, _ := f.protect(f.signIn("ada@example.com", t0), t0)
	plain, err := base32.StdEncoding.DecodeString(a.secret)
	f.ok(err)
	kept, err := f.store.People().SecondFactor(f.ctx, u.ID)
	f.ok(err)
	if bytes.Contains(kept.Secret, plain) || len(kept.Secret) <= len(plain) {
		t.Error("the store keeps the secret as it is")
	}
	f.ok(f.store.People().BeginSecondFactor(f.ctx, v.ID, kept.Secret)) // copied to another row
	_, _, err = f.ConfirmSecondFactor(f.ctx, f.signIn("bob@example.com", t0).Principal, a.code(f, t0), Client{}, t0)
	f.field(err, rimewatch.CodeValidationFailed, "code")
	signIn := func(code string, now rimewatch.Time) error {
		_, err := f.SignIn(f.ctx, Credentials{Email: "ada@example.com", Password: password, Code: code}, now)
		return err
	}
	later := t0 + rimewatch.Minute
	f.ok(signIn(a.code(f, later), later))
	f.Service = sealed(2)
	later += rimewatch.Minute
	f.field(signIn(a.code(f, later), later), rimewatch.CodeUnauthenticated, "code")
	f.ok(signIn(codes[0], later))
}

func TestOperatorRemovesFactor(t *testing.T) {
	f := newFixture(t)
	f.person("ada@example.com", rimewatch.RoleViewer)
	has := func(want bool) {
		t.Helper()
		got, err := f.HasFactor(f.ctx, "Ada@example.com")
		f.ok(err)
		same(t, got, want)
	}
	removed := func(want bool) {
		t.Helper()
		got, err := f.RemoveFactorOf(f.ctx, "Ada@example.com")
		f.ok(err)
		same(t, got, want)
	}
	has(false)
	removed(false)
	f.protect(f.signIn("ada@example.com", t0), t0)
	has(true)
	removed(true)
	has(false)
	f.signIn("ada@example.com", t0+1)
	_, err := f.RemoveFactorOf(f.ctx, "nobody@example.com")
	f.code(err, rimewatch.CodeNotFound)
}
