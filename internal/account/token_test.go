package account

import (
	"testing"

	"github.com/rimewatch/rimewatch"
)

// manager is the principal of a token that an admin made.
func (f *fixture) manager(admin Principal, s rimewatch.Scopes, ends rimewatch.Time) (p Principal, plain string) {
	f.Helper()
	_, plain, err := f.CreateToken(f.ctx, admin, TokenRequest{Name: "ci", Scopes: s, ExpiresAt: ends}, t0)
	f.ok(err)
	p, err = f.Authenticate(f.ctx, plain, t0)
	f.ok(err)
	return p, plain
}

// A token makes only such as may less than itself, for the person who made it, and ends and
// replaces none that may more.
func TestTokensOfTokens(t *testing.T) {
	f := newFixture(t)
	f.person("keeper@example.com", rimewatch.RoleOwner)
	admin := f.as(rimewatch.RoleAdmin)
	ends := t0 + 30*rimewatch.Day
	p, _ := f.manager(admin, rimewatch.ScopeTokens|rimewatch.ScopesIngest, ends)
	made := func(s rimewatch.Scopes, ends rimewatch.Time) (rimewatch.Token, error) {
		k, _, err := f.CreateToken(f.ctx, p, TokenRequest{Name: "gateway", Scopes: s, ExpiresAt: ends}, t0)
		return k, err
	}
	_, err := made(rimewatch.ScopesRead, ends)
	f.field(err, rimewatch.CodeForbidden, "scope")
	_, err = made(rimewatch.ScopesIngest|rimewatch.ScopeTokens, ends)
	f.field(err, rimewatch.CodeValidationFailed, "scopes")
	for _, late := range []rimewatch.Time{0, ends + 1} {
		_, err = made(rimewatch.ScopesIngest, late)
		f.field(err, rimewatch.CodeValidationFailed, "expires_at")
	}
	k, err := made(rimewatch.ScopesIngest, ends)
	f.ok(err)
	same(t, k.CreatedBy, admin.UserID)

	full, _ := f.token(TokenRequest{})
	f.code(f.RevokeToken(f.ctx, p, full.ID, t0), rimewatch.CodeForbidden)
	_, _, err = f.RotateToken(f.ctx, p, full.ID, 0, t0)
	f.code(err, rimewatch.CodeForbidden)
	forever, _ := f.token(TokenRequest{Scopes: rimewatch.ScopesIngest})
	_, _, err = f.RotateToken(f.ctx, p, forever.ID, 0, t0)
	f.field(err, rimewatch.CodeValidationFailed, "expires_at")
	twin, _ := f.token(TokenRequest{Scopes: rimewatch.ScopeTokens, ExpiresAt: ends})
	_, _, err = f.RotateToken(f.ctx, p, twin.ID, 0, t0)
	f.field(err, rimewatch.CodeValidationFailed, "scopes")
	f.ok(f.RevokeToken(f.ctx, p, k.ID, t0))
	_, _, err = f.RotateToken(f.ctx, p, k.ID, 0, t0)
	f.code(err, rimewatch.CodeNotFound)
}

// Of managing a token may no more than the person who made it does at present; devices go on.
func TestMakersPresentRole(t *testing.T) {
	f := newFixture(t)
	f.person("keeper@example.com", rimewatch.RoleOwner)
	owner := f.as(rimewatch.RoleOwner)
	_, plain := f.manager(owner, rimewatch.ScopesIngest|rimewatch.ScopeMembers|rimewatch.ScopeExportRead, 0)
	now := t0
	scopes := func() rimewatch.Scopes {
		now += 2 * rimewatch.Second
		p, err := f.Authenticate(f.ctx, plain, now)
		f.ok(err)
		return p.Scopes
	}
	for role, want := range map[rimewatch.Role]rimewatch.Scopes{
		rimewatch.RoleAdmin:      rimewatch.ScopesIngest | rimewatch.ScopeMembers,
		rimewatch.RoleTechnician: rimewatch.ScopesIngest,
		rimewatch.RoleOwner:      rimewatch.ScopesIngest | rimewatch.ScopeMembers | rimewatch.ScopeExportRead,
	} {
		_, err := f.ChangeMember(f.ctx, f.op, owner.UserID, MemberPatch{Role: role})
		f.ok(err)
		same(t, scopes(), want)
	}
}

// A token with the scope members manages all but owners.
func TestTokensManageNoOwners(t *testing.T) {
	f := newFixture(t)
	keeper := f.person("keeper@example.com", rimewatch.RoleOwner)
	f.person("second@example.com", rimewatch.RoleOwner)
	p, _ := f.manager(f.as(rimewatch.RoleOwner), rimewatch.ScopeMembers, 0)
	_, _, err := f.Invite(f.ctx, p, InviteRequest{Email: "o@example.com", Role: rimewatch.RoleOwner}, t0)
	f.code(err, rimewatch.CodeForbidden)
	f.code(f.RemoveMember(f.ctx, p, keeper.ID, t0), rimewatch.CodeForbidden)
	v, _, err := f.Invite(f.ctx, p, InviteRequest{Email: "a@example.com", Role: rimewatch.RoleAdmin}, t0)
	f.ok(err)
	same(t, v.InvitedBy, p.MadeBy)
}

// The token that another one replaces goes on for its grace, here and in other processes.
func TestRotatedToken(t *testing.T) {
	f := newFixture(t)
	k, old := f.token(TokenRequest{Name: "gateway", Scopes: rimewatch.ScopesIngest})
	elsewhere := f.other()
	for _, s := range []*Service{f.Service, elsewhere} {
		_, err := s.Authenticate(f.ctx, old, t0)
		f.ok(err)
	}
	_, _, err := f.RotateToken(f.ctx, f.op, k.ID, MaxTokenGrace+1, t0)
	f.field(err, rimewatch.CodeValidationFailed, "grace_s")
	next, plain, err := f.RotateToken(f.ctx, f.op, k.ID, rimewatch.Hour, t0)
	f.ok(err)
	same(t, [3]any{next.Name, next.Scopes, next.CreatedBy}, [3]any{k.Name, k.Scopes, k.CreatedBy})
	for _, s := range []*Service{f.Service, elsewhere} {
		_, err = s.Authenticate(f.ctx, old, t0+rimewatch.Hour-1)
		f.ok(err)
		_, err = s.Authenticate(f.ctx, old, t0+rimewatch.Hour)
		f.code(err, rimewatch.CodeUnauthenticated)
		_, err = s.Authenticate(f.ctx, plain, t0+rimewatch.Hour)
		f.ok(err)
	}
}
