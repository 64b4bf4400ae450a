package account

import (
	"strings"
	"testing"

	"github.com/rimewatch/rimewatch"
)

func ptr[T any](v T) *T { return &v }

func TestRequire(t *testing.T) {
	f := newFixture(t)
	p := Principal{TokenID: 1, Scopes: rimewatch.ScopesIngest}
	f.ok(p.Require(rimewatch.ScopeReadingsWrite))
	f.ok(p.Require(0))
	f.field(p.Require(rimewatch.ScopeReadingsRead|rimewatch.ScopeReadingsWrite), rimewatch.CodeForbidden, "scope")
	f.code(p.RequireRole(rimewatch.RoleViewer), rimewatch.CodeForbidden)
	p = Principal{UserID: 1, Session: true, Role: rimewatch.RoleAdmin}
	f.ok(p.RequireRole(rimewatch.RoleTechnician))
	f.code(p.RequireRole(rimewatch.RoleOwner), rimewatch.CodeForbidden)
	p.Role = ""
	f.code(p.RequireRole(rimewatch.RoleViewer), rimewatch.CodeForbidden)
}

func TestCreateToken(t *testing.T) {
	f := newFixture(t)
	admin := f.as(rimewatch.RoleAdmin)
	tok, plain, err := f.CreateToken(f.ctx, admin, TokenRequest{Name: " Gateway ", ExpiresAt: t0 + 1}, t0)
	f.ok(err)
	same(t, rimewatch.ValidToken(plain), true)
	same(t, tok, rimewatch.Token{
		ID: tok.ID, WorkspaceID: f.ws.ID, Name: "Gateway", Prefix: plain[:9], Hash: rimewatch.HashToken(plain),
		Scopes: rimewatch.ScopesFull, CreatedBy: admin.UserID, CreatedAt: t0, ExpiresAt: t0 + 1,
	})
	for _, c := range []struct {
		field string
		r     TokenRequest
	}{
		{"name", TokenRequest{Name: " "}},
		{"name", TokenRequest{Name: "a\x00b"}},
		{"name", TokenRequest{Name: strings.Repeat("x", 1000)}},
		{"scopes", TokenRequest{Name: "x", Scopes: 1 << 30}},
		{"scopes", TokenRequest{Name: "x", Scopes: 1<<30 | rimewatch.ScopesRead}},
		{"expires_at", TokenRequest{Name: "x", ExpiresAt: t0}},
		{"expires_at", TokenRequest{Name: "x", ExpiresAt: -1}},
		{"expires_at", TokenRequest{Name: "x", ExpiresAt: rimewatch.MaxTime + 1}},
	} {
		_, plain, err := f.CreateToken(f.ctx, admin, c.r, t0)
		f.field(err, rimewatch.CodeValidationFailed, c.field)
		same(t, plain, "")
	}
	list, err := f.Tokens(f.ctx, admin)
	f.ok(err)
	same(t, len(list), 1)
	same(t, list[0].CreatedByName, "Ada")
	for _, p := range []Principal{f.as(rimewatch.RoleViewer), f.as(rimewatch.RoleTechnician), {WorkspaceID: f.ws.ID, TokenID: tok.ID, Scopes: rimewatch.ScopesFull}} {
		_, _, err = f.CreateToken(f.ctx, p, TokenRequest{Name: "x"}, t0)
		f.code(err, rimewatch.CodeForbidden)
		_, err = f.Tokens(f.ctx, p)
		f.code(err, rimewatch.CodeForbidden)
		f.code(f.RevokeToken(f.ctx, p, tok.ID, t0), rimewatch.CodeForbidden)
	}
	other, err := f.FindWorkspace(f.ctx, "Other", true, t0)
	f.ok(err)
	f.code(f.RevokeToken(f.ctx, Operator(other.ID), tok.ID, t0), rimewatch.CodeNotFound)
	f.ok(f.RevokeToken(f.ctx, admin, tok.ID, t0))
	list, err = f.Tokens(f.ctx, admin)
	f.ok(err)
	same(t, len(list), 0)
}

func TestMe(t *testing.T) {
	f := newFixture(t)
	p := f.as(rimewatch.RoleViewer)
	me, err := f.Me(f.ctx, p)
	f.ok(err)
	same(t, me.User.Email, "viewer@example.com")
	same(t, me.User.PasswordHash, "")
	same(t, me.Workspace, f.ws)
	same(t, me.Role, rimewatch.RoleViewer)
	same(t, len(me.Memberships), 1)
	u, err := f.UpdateMe(f.ctx, p, ProfilePatch{Name: ptr(" Eve "), Units: ptr("f")}, t0+1)
	f.ok(err)
	want := me.User
	want.Name, want.Units, want.UpdatedAt = "Eve", "f", t0+1
	same(t, u, want)
	for field, patch := range map[string]ProfilePatch{"name": {Name: ptr("\xff")}, "units": {Units: ptr("k")}, "language": {Language: ptr("xx")}, "theme": {Theme: ptr("")}} {
		_, err = f.UpdateMe(f.ctx, p, patch, t0+2)
		f.field(err, rimewatch.CodeValidationFailed, field)
	}
	me, err = f.Me(f.ctx, p)
	f.ok(err)
	same(t, me.User, want)

	// Tokens and the operator have no account.
	for _, p := range []Principal{f.op, {WorkspaceID: f.ws.ID, TokenID: 1, Scopes: rimewatch.ScopesFull}} {
		_, err := f.Me(f.ctx, p)
		f.code(err, rimewatch.CodeForbidden)
		_, err = f.UpdateMe(f.ctx, p, ProfilePatch{}, t0)
		f.code(err, rimewatch.CodeForbidden)
		_, err = f.ChangePassword(f.ctx, p, password, password, Client{}, t0)
		f.code(err, rimewatch.CodeForbidden)
		_, err = f.Sessions(f.ctx, p, t0)
		f.code(err, rimewatch.CodeForbidden)
		f.code(f.SignOut(f.ctx, p), rimewatch.CodeForbidden)
		f.code(f.RevokeSession(f.ctx, p, 1), rimewatch.CodeForbidden)
		f.code(f.RevokeOtherSessions(f.ctx, p), rimewatch.CodeForbidden)
		f.code(f.SwitchWorkspace(f.ctx, p, f.ws.ID), rimewatch.CodeForbidden)
	}
}

func TestUpdateWorkspace(t *testing.T) {
	f := newFixture(t)
	_, err := f.FindWorkspace(f.ctx, "Other", true, t0)
	f.ok(err)
	got, err := f.UpdateWorkspace(f.ctx, f.op, WorkspacePatch{
		Name: ptr(" Café "), OnUnknown: ptr(rimewatch.RegisterUnknown), TimeZone: ptr("America/Argentina/Buenos_Aires"), RawDays: ptr(30), RollupDays: ptr(maxRetentionDays),
	}, t0+1)
	f.ok(err)
	want := rimewatch.Workspace{
		ID: f.ws.ID, Name: "Café", Slug: "bakery", OnUnknown: rimewatch.RegisterUnknown, TimeZone: "America/Argentina/Buenos_Aires", RawDays: 30, RollupDays: maxRetentionDays,
		RequireAction: rimewatch.RequireNone, Revision: 2, CreatedAt: t0, UpdatedAt: t0 + 1,
	}
	same(t, got, want)
	for _, c := range []struct {
		field string
		code  rimewatch.Code
		patch WorkspacePatch
	}{
		{"name", rimewatch.CodeConflict, WorkspacePatch{Name: ptr("OTHER")}},
		{"name", rimewatch.CodeValidationFailed, WorkspacePatch{Name: ptr("  ")}},
		{"timezone", rimewatch.CodeValidationFailed, WorkspacePatch{TimeZone: ptr("")}},
		{"timezone", rimewatch.CodeValidationFailed, WorkspacePatch{TimeZone: ptr("Local")}},
		{"timezone", rimewatch.CodeValidationFailed, WorkspacePatch{TimeZone: ptr("Europe/Nowhere")}},
		{"timezone", rimewatch.CodeValidationFailed, WorkspacePatch{TimeZone: ptr("../../etc/passwd")}},
		{"timezone", rimewatch.CodeValidationFailed, WorkspacePatch{TimeZone: ptr("Europe/Berlin\x00")}},
		{"raw_days", rimewatch.CodeValidationFailed, WorkspacePatch{RawDays: ptr(0)}},
		{"raw_days", rimewatch.CodeValidationFailed, WorkspacePatch{RawDays: ptr(maxRetentionDays + 1)}},
		{"rollup_days", rimewatch.CodeValidationFailed, WorkspacePatch{RollupDays: ptr(29)}},
		{"rollup_days", rimewatch.CodeValidationFailed, WorkspacePatch{RollupDays: ptr(maxRetentionDays + 1)}},
	} {
		_, err := f.UpdateWorkspace(f.ctx, f.op, c.patch, t0+2)
		f.field(err, c.code, c.field)
	}
	got, err = f.Workspace(f.ctx, f.op)
	f.ok(err)
	same(t, got, want)
	for _, p := range []Principal{f.as(rimewatch.RoleTechnician), {WorkspaceID: f.ws.ID, TokenID: 1, Scopes: rimewatch.ScopesFull}} {
		_, err = f.UpdateWorkspace(f.ctx, p, WorkspacePatch{}, t0)
		f.code(err, rimewatch.CodeForbidden)
	}
}

func TestSites(t *testing.T) {
	f := newFixture(t)
	writer := Principal{WorkspaceID: f.ws.ID, TokenID: 1, Scopes: rimewatch.ScopesFull}
	reader := Principal{WorkspaceID: f.ws.ID, TokenID: 2, Scopes: rimewatch.ScopesRead}
	ingest := Principal{WorkspaceID: f.ws.ID, TokenID: 3, Scopes: rimewatch.ScopesIngest}
	_, err := f.UpdateWorkspace(f.ctx, f.op, WorkspacePatch{TimeZone: ptr("Asia/Kathmandu")}, t0)
	f.ok(err)
	create := func(p Principal, x rimewatch.Site) (rimewatch.Site, error) {
		x.WorkspaceID, x.CreatedAt, x.UpdatedAt = p.WorkspaceID, t0, t0
		err := f.Sites(p).Create(f.ctx, &x)
		return x, err
	}
	update := func(p Principal, id int64, change func(*rimewatch.Site)) (rimewatch.Site, error) {
		return f.Sites(p).Update(f.ctx, p.WorkspaceID, id, func(x *rimewatch.Site) error { change(x); return nil })
	}
	site, err := create(writer, rimewatch.Site{Name: " Cellar ", Address: " 1 Street "})
	f.ok(err)
	same(t, site, rimewatch.Site{ID: site.ID, WorkspaceID: f.ws.ID, Name: "Cellar", TimeZone: "Asia/Kathmandu", Address: "1 Street", Revision: 1, CreatedAt: t0, UpdatedAt: t0})
	site, err = update(writer, site.ID, func(x *rimewatch.Site) { x.TimeZone = "Europe/Berlin" })
	f.ok(err)
	same(t, site.TimeZone, "Europe/Berlin")
	same(t, site.Name, "Cellar")
	got, err := f.Sites(reader).Get(f.ctx, reader.WorkspaceID, site.ID)
	f.ok(err)
	same(t, got, site)
	list, err := f.Sites(reader).List(f.ctx, reader.WorkspaceID)
	f.ok(err)
	same(t, len(list), 1)

	for _, zone := range []string{"Mars/Olympus", "Local", "Factory", "posixrules", "right/UTC", "posix/Europe/Berlin", "\x00"} {
		_, err = create(writer, rimewatch.Site{Name: "x", TimeZone: zone})
		f.field(err, rimewatch.CodeValidationFailed, "timezone")
		_, err = update(writer, site.ID, func(x *rimewatch.Site) { x.TimeZone = zone })
		f.field(err, rimewatch.CodeValidationFailed, "timezone")
	}
	_, err = create(writer, rimewatch.Site{})
	f.field(err, rimewatch.CodeValidationFailed, "name")
	_, err = create(writer, rimewatch.Site{Name: "x", Address: strings.Repeat("x", 1000)})
	f.field(err, rimewatch.CodeValidationFailed, "address")
	_, err = update(writer, site.ID, func(x *rimewatch.Site) { x.Name = "" })
	f.field(err, rimewatch.CodeValidationFailed, "name")

	_, err = create(reader, rimewatch.Site{Name: "x"})
	f.field(err, rimewatch.CodeForbidden, "scope")
	_, err = update(reader, site.ID, func(*rimewatch.Site) {})
	f.field(err, rimewatch.CodeForbidden, "scope")
	f.field(f.Sites(reader).Delete(f.ctx, reader.WorkspaceID, site.ID), rimewatch.CodeForbidden, "scope")
	_, err = f.Sites(ingest).List(f.ctx, ingest.WorkspaceID)
	f.field(err, rimewatch.CodeForbidden, "scope")
	_, err = f.Sites(ingest).Get(f.ctx, ingest.WorkspaceID, site.ID)
	f.field(err, rimewatch.CodeForbidden, "scope")

	other, err := f.FindWorkspace(f.ctx, "Other", true, t0)
	f.ok(err)
	_, err = f.Sites(Operator(other.ID)).Get(f.ctx, other.ID, site.ID)
	f.code(err, rimewatch.CodeNotFound)
	f.code(f.Sites(Operator(other.ID)).Delete(f.ctx, other.ID, site.ID), rimewatch.CodeNotFound)
	f.ok(f.Sites(writer).Delete(f.ctx, writer.WorkspaceID, site.ID))
	f.code(f.Sites(writer).Delete(f.ctx, writer.WorkspaceID, site.ID), rimewatch.CodeNotFound)
}
