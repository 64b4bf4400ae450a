package account

import (
	"testing"

	"github.com/rimewatch/rimewatch"
)

// TestSignByCode: a code of the second factor shows who signs as a password does, once, and the first
// signature of a session needs the address with it.
func TestSignByCode(t *testing.T) {
	f := newFixture(t)
	f.person("ada@example.com", rimewatch.RoleTechnician)
	a, codes, in := f.protect(f.signIn("ada@example.com", t0), t0)
	sign := func(x SignProof, first bool, now rimewatch.Time) (string, error) {
		_, proof, err := f.ConfirmSigner(f.ctx, in.Principal, x, first, now)
		return proof, err
	}
	later := t0 + 2*factorPeriod
	_, err := sign(SignProof{Code: a.code(f, later)}, true, later)
	f.field(err, rimewatch.CodeProofRequired, "email")
	proof, err := sign(SignProof{Email: "Ada@Example.com", Code: a.code(f, later)}, true, later)
	f.ok(err)
	same(t, proof, "email+code")
	_, err = sign(SignProof{Code: a.code(f, later)}, false, later)
	f.code(err, rimewatch.CodeValidationFailed) // it was used, and the session stands
	later += factorPeriod
	proof, err = sign(SignProof{Code: a.code(f, later)}, false, later)
	f.ok(err)
	same(t, proof, "code")
	proof, err = sign(SignProof{Code: codes[0]}, false, later)
	f.ok(err)
	same(t, proof, "code")
	_, err = sign(SignProof{Code: codes[0]}, false, later)
	f.code(err, rimewatch.CodeValidationFailed)
	_, err = sign(SignProof{}, false, later)
	f.field(err, rimewatch.CodeProofRequired, "password")
}

// TestSignByProvider: whoever has no password here signs within five minutes of having signed in at the provider.
func TestSignByProvider(t *testing.T) {
	f := newFixture(t)
	f.person("ada@example.com", rimewatch.RoleOwner)
	f.grants = []Grant{{"staff", "Bakery", rimewatch.RoleTechnician}}
	in, err := f.provided("pat@example.com", t0, "staff")
	f.ok(err)
	sign := func(p Principal, now rimewatch.Time) (string, error) {
		_, proof, err := f.ConfirmSigner(f.ctx, p, SignProof{}, true, now)
		return proof, err
	}
	proof, err := sign(in.Principal, t0+signFresh-1)
	f.ok(err)
	same(t, proof, "provider")
	_, err = sign(in.Principal, t0+signFresh+1)
	f.code(err, rimewatch.CodeProofRequired)
	again, err := f.provided("pat@example.com", t0+signFresh+1, "staff")
	f.ok(err)
	_, err = sign(again.Principal, t0+signFresh+2)
	f.ok(err)
	_, err = sign(in.Principal, t0+signFresh+2)
	f.code(err, rimewatch.CodeProofRequired) // another session signed in again
}
