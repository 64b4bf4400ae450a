package account

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
)

func TestSignIn(t *testing.T) {
	f := newFixture(t)
	u := f.person("Ada@Example.com", rimewatch.RoleTechnician)
	f.invite("pending@example.com", rimewatch.RoleViewer)
	for _, c := range []struct {
		name, email, password string
		want                  rimewatch.Code
	}{
		{"right", "ada@example.com", password, ""},
		{"another case, spaces", " ADA@example.COM ", password, ""},
		{"wrong password", "ada@example.com", password + "x", rimewatch.CodeUnauthenticated},
		{"password in another case", "ada@example.com", strings.ToUpper(password), rimewatch.CodeUnauthenticated},
		{"no password", "ada@example.com", "", rimewatch.CodeUnauthenticated},
		{"unknown", "none@example.com", password, rimewatch.CodeUnauthenticated},
		{"pending, no password", "pending@example.com", "", rimewatch.CodeUnauthenticated},
		{"pending", "pending@example.com", password, rimewatch.CodeUnauthenticated},
		{"nothing", "", "", rimewatch.CodeUnauthenticated},
		{"NUL", "ada@example.com\x00", password, rimewatch.CodeUnauthenticated},
		{"not UTF-8", "\xff@example.com", "\xff", rimewatch.CodeUnauthenticated},
		{"huge", strings.Repeat("x", 1<<20), strings.Repeat("x", 1<<20), rimewatch.CodeUnauthenticated},
		{"SQL", "' OR 1=1 --", password, rimewatch.CodeUnauthenticated},
	} {
		t.Run(c.name, func(t *testing.T) {
			in, err := f.SignIn(f.ctx, Credentials{Email: c.email, Password: c.password}, t0)
			same(t, rimewatch.CodeOf(err), c.want)
			if err != nil {
				same(t, err.Error(), errCredentials().Error()) // one answer for all
				return
			}
			p, err := f.AuthenticateSession(f.ctx, in.Secret, "", t0)
			if err != nil {
				t.Fatal(err)
			}
			same(t, p, in.Principal)
			same(t, p, Principal{WorkspaceID: f.ws.ID, UserID: u.ID, SessionID: p.SessionID, Role: rimewatch.RoleTechnician, Scopes: rimewatch.RoleTechnician.Scopes(), Session: true, Locale: u.Locale, lookedAt: f.ws.ID})
			same(t, in.EndsAt, t0+SessionLife)
		})
	}
}

// A session whose membership has ended may do nothing in any workspace.
func TestMembershipEnds(t *testing.T) {
	f := newFixture(t)
	f.person("owner@example.com", rimewatch.RoleOwner)
	u := f.person("ada@example.com", rimewatch.RoleViewer)
	second, err := f.FindWorkspace(f.ctx, "Second", true, t0)
	f.ok(err)
	f.ok(f.store.People().PutMember(f.ctx, &rimewatch.Member{WorkspaceID: second.ID, UserID: u.ID, Role: rimewatch.RoleOwner, CreatedAt: t0}))
	in := f.signIn("ada@example.com", t0)
	same(t, in.Principal.WorkspaceID, f.ws.ID)
	f.ok(f.RemoveMember(f.ctx, f.op, u.ID, t0))
	f.code(f.Valid(f.ctx, in.Principal, t0), rimewatch.CodeForbidden)
	p, err := f.AuthenticateSession(f.ctx, in.Secret, "", t0)
	f.ok(err)
	same(t, p, Principal{UserID: u.ID, SessionID: in.Principal.SessionID, Session: true, Locale: u.Locale, lookedAt: f.ws.ID}) // not Second
	f.code(p.RequireRole(rimewatch.RoleViewer), rimewatch.CodeForbidden)
	for _, scopes := range []rimewatch.Scopes{0, rimewatch.ScopesRead} {
		f.code(p.Require(scopes), rimewatch.CodeForbidden)
	}
	_, err = f.Me(f.ctx, p)
	f.code(err, rimewatch.CodeForbidden)
	all, err := f.Memberships(f.ctx, p)
	f.ok(err)
	same(t, len(all), 1)
	f.ok(f.SwitchWorkspace(f.ctx, p, second.ID)) // on purpose
	p, err = f.AuthenticateSession(f.ctx, in.Secret, "", t0)
	f.ok(err)
	same(t, p.WorkspaceID, second.ID)
}

func TestSignInWithoutWorkspace(t *testing.T) {
	f := newFixture(t)
	f.person("owner@example.com", rimewatch.RoleOwner)
	u := f.person("ada@example.com", rimewatch.RoleViewer)
	f.ok(f.RemoveMember(f.ctx, f.op, u.ID, t0))
	in := f.signIn("ada@example.com", t0)
	same(t, in.Principal, Principal{UserID: u.ID, SessionID: in.Principal.SessionID, Session: true, Locale: u.Locale})
	who, err := f.Person(f.ctx, in.Principal)
	f.ok(err)
	same(t, who.Email, "ada@example.com")
	f.ok(f.SignOut(f.ctx, in.Principal))
}

func TestSessionSecrets(t *testing.T) {
	f := newFixture(t)
	f.person("ada@example.com", rimewatch.RoleViewer)
	in := f.signIn("ada@example.com", t0)
	same(t, len(in.Secret), 43)
	for _, bad := range []string{"", "x", in.Secret + "x", in.Secret[1:], strings.ToUpper(in.Secret), strings.Repeat("A", 43), strings.Repeat("\xff", 43), strings.Repeat("x", 1<<20)} {
		_, err := f.AuthenticateSession(f.ctx, bad, "", t0)
		f.code(err, rimewatch.CodeUnauthenticated)
	}
	list, err := f.Sessions(f.ctx, in.Principal, t0)
	f.ok(err)
	if strings.Contains(string(list[0].Hash[:]), in.Secret[:8]) {
		t.Fatal("the secret is stored")
	}
}

func TestSessionLife(t *testing.T) {
	f := newFixture(t)
	f.person("ada@example.com", rimewatch.RoleViewer)
	in, idle := f.signIn("ada@example.com", t0), f.signIn("ada@example.com", t0)
	_, err := f.AuthenticateSession(f.ctx, idle.Secret, "", t0+SessionIdle-1)
	f.ok(err) // a use that is not written: the process ends before the next flush
	f.touched = make(map[int64]sessionTouch)
	_, err = f.AuthenticateSession(f.ctx, idle.Secret, "", t0+SessionIdle)
	f.code(err, rimewatch.CodeUnauthenticated)

	// Used every 29 days, it ends 90 days after signing in.
	for now := t0; now < t0+SessionLife; now += 29 * rimewatch.Day {
		_, err := f.AuthenticateSession(f.ctx, in.Secret, "", now)
		f.ok(err)
		f.ok(f.Flush(f.ctx, now))
	}
	_, err = f.AuthenticateSession(f.ctx, in.Secret, "", in.EndsAt-1)
	f.ok(err)
	f.ok(f.Flush(f.ctx, in.EndsAt-1))
	_, err = f.AuthenticateSession(f.ctx, in.Secret, "", in.EndsAt)
	f.code(err, rimewatch.CodeUnauthenticated)
}

func TestSessionUse(t *testing.T) {
	f := newFixture(t)
	f.person("ada@example.com", rimewatch.RoleViewer)
	in := f.signIn("ada@example.com", t0)
	use := func(now rimewatch.Time) {
		_, err := f.AuthenticateSession(f.ctx, in.Secret, "", now)
		f.ok(err)
	}
	last := func() rimewatch.Time {
		list, err := f.Sessions(f.ctx, in.Principal, t0)
		f.ok(err)
		return list[0].LastUsedAt
	}
	use(t0 + sessionTouchEvery - 1)
	same(t, len(f.touched), 0)
	use(t0 + sessionTouchEvery)
	f.store.fail.Store(true)
	f.code(f.Flush(f.ctx, t0), rimewatch.CodeUnavailable)
	f.store.fail.Store(false)
	same(t, last(), t0)
	f.ok(f.Flush(f.ctx, t0))
	same(t, last(), t0+sessionTouchEvery)
	use(t0 + 2*sessionTouchEvery)
	f.ok(f.SignOut(f.ctx, in.Principal))
	f.ok(f.Flush(f.ctx, t0)) // the session is gone, and that is fine
	same(t, len(f.touched), 0)
}

func TestSessionList(t *testing.T) {
	f := newFixture(t)
	f.person("ada@example.com", rimewatch.RoleViewer)
	f.person("bob@example.com", rimewatch.RoleViewer)
	a, b, c, other := f.signIn("ada@example.com", t0), f.signIn("ada@example.com", t0), f.signIn("ada@example.com", t0), f.signIn("bob@example.com", t0)
	list, err := f.Sessions(f.ctx, a.Principal, t0)
	f.ok(err)
	same(t, len(list), 3)
	same(t, list[0].UserAgent, "Firefox")
	same(t, list[0].Address, "192.0.2.1")
	f.code(f.RevokeSession(f.ctx, a.Principal, other.Principal.SessionID), rimewatch.CodeNotFound)
	f.ok(f.RevokeSession(f.ctx, a.Principal, b.Principal.SessionID))
	_, err = f.AuthenticateSession(f.ctx, b.Secret, "", t0)
	f.code(err, rimewatch.CodeUnauthenticated)
	f.ok(f.RevokeOtherSessions(f.ctx, a.Principal))
	_, err = f.AuthenticateSession(f.ctx, c.Secret, "", t0)
	f.code(err, rimewatch.CodeUnauthenticated)
	for _, in := range []SignedIn{a, other} {
		_, err = f.AuthenticateSession(f.ctx, in.Secret, "", t0)
		f.ok(err)
	}
	f.ok(f.SignOut(f.ctx, a.Principal))
	f.ok(f.SignOut(f.ctx, a.Principal))
	_, err = f.AuthenticateSession(f.ctx, a.Secret, "", t0)
	f.code(err, rimewatch.CodeUnauthenticated)
}

func TestSessionsAreBounded(t *testing.T) {
	f := newFixture(t)
	f.person("ada@example.com", rimewatch.RoleViewer)
	var all []SignedIn
	for i := range maxSessions + 1 {
		all = append(all, f.signIn("ada@example.com", t0+rimewatch.Time(i)))
	}
	_, err := f.AuthenticateSession(f.ctx, all[0].Secret, "", t0+maxSessions)
	f.code(err, rimewatch.CodeUnauthenticated)
	list, err := f.Sessions(f.ctx, all[1].Principal, t0+maxSessions)
	f.ok(err)
	same(t, len(list), maxSessions)
}

func TestChangePassword(t *testing.T) {
	f := newFixture(t)
	f.person("ada@example.com", rimewatch.RoleViewer)
	in, stolen := f.signIn("ada@example.com", t0), f.signIn("ada@example.com", t0)
	const next = "another good password"
	_, err := f.ChangePassword(f.ctx, in.Principal, "wrong", next, Client{}, t0)
	f.field(err, rimewatch.CodeValidationFailed, "current_password")
	_, err = f.ChangePassword(f.ctx, in.Principal, password, "short", Client{}, t0)
	f.field(err, rimewatch.CodeValidationFailed, "password")
	_, err = f.AuthenticateSession(f.ctx, in.Secret, "", t0)
	f.ok(err)
	fresh, err := f.ChangePassword(f.ctx, in.Principal, password, next, Client{UserAgent: "Firefox\x00\xff" + strings.Repeat("ü", 300)}, t0+1)
	f.ok(err)
	for _, old := range []SignedIn{in, stolen} {
		_, err = f.AuthenticateSession(f.ctx, old.Secret, "", t0+1)
		f.code(err, rimewatch.CodeUnauthenticated)
	}
	p, err := f.AuthenticateSession(f.ctx, fresh.Secret, "", t0+1)
	f.ok(err)
	same(t, p.WorkspaceID, in.Principal.WorkspaceID)
	_, err = f.SignIn(f.ctx, Credentials{Email: "ada@example.com", Password: password}, t0+1)
	f.code(err, rimewatch.CodeUnauthenticated)
	_, err = f.SignIn(f.ctx, Credentials{Email: "ada@example.com", Password: next}, t0+1)
	f.ok(err)
}

// slowRead is a store in which the password changes while it is being checked.
type slowRead struct {
	Store
	then func()
}

func (s *slowRead) People() store.People { return slowPeople{s.Store.People(), s.then} }

type slowPeople struct {
	store.People
	then func()
}

func (s slowPeople) UserByEmail(ctx context.Context, email string) (rimewatch.User, error) {
	u, err := s.People.UserByEmail(ctx, email)
	s.then()
	return u, err
}

func TestSignInDuringPasswordChange(t *testing.T) {
	f := newFixture(t)
	u := f.person("ada@example.com", rimewatch.RoleViewer)
	slow := New(Config{Password: cheap, Store: &slowRead{f.store, func() {
		f.ok(f.setPassword(f.ctx, u.ID, "another good password", t0))
	}}})
	_, err := slow.SignIn(f.ctx, Credentials{Email: "ada@example.com", Password: password}, t0)
	f.code(err, rimewatch.CodeUnauthenticated)
	list, err := f.store.People().Sessions(f.ctx, u.ID, t0)
	f.ok(err)
	same(t, len(list), 0)
}

func TestRehash(t *testing.T) {
	f := newFixture(t)
	u := f.person("ada@example.com", rimewatch.RoleViewer)
	stronger := New(Config{Store: f.store, Password: PasswordParams{MemoryKiB: 16, Passes: 1, Threads: 1}})
	_, err := stronger.SignIn(f.ctx, Credentials{Email: "ada@example.com", Password: password}, t0)
	f.ok(err)
	got, err := f.store.People().User(f.ctx, u.ID)
	f.ok(err)
	if !strings.Contains(got.PasswordHash, "m=16,") {
		t.Fatalf("the hash is still %s", got.PasswordHash)
	}
	f.signIn("ada@example.com", t0)
}

func TestTwoWorkspaces(t *testing.T) {
	f := newFixture(t)
	u := f.person("ada@example.com", rimewatch.RoleViewer)
	second, err := f.FindWorkspace(f.ctx, "Second", true, t0)
	f.ok(err)
	foreign, err := f.FindWorkspace(f.ctx, "Foreign", true, t0)
	f.ok(err)
	in := f.signIn("ada@example.com", t0)
	same(t, in.Principal.WorkspaceID, f.ws.ID)
	f.code(f.SwitchWorkspace(f.ctx, in.Principal, second.ID), rimewatch.CodeNotFound)
	f.ok(f.store.People().PutMember(f.ctx, &rimewatch.Member{WorkspaceID: second.ID, UserID: u.ID, Role: rimewatch.RoleOwner, CreatedAt: t0}))
	f.code(f.SwitchWorkspace(f.ctx, in.Principal, foreign.ID), rimewatch.CodeNotFound)
	f.ok(f.SwitchWorkspace(f.ctx, in.Principal, second.ID))
	p, err := f.AuthenticateSession(f.ctx, in.Secret, "", t0)
	f.ok(err)
	same(t, p.WorkspaceID, second.ID)
	same(t, p.Role, rimewatch.RoleOwner)
}

// fakeStore records what the background work does.
type fakeStore struct {
	Store
	flushed, pruned atomic.Int32
}

func (f *fakeStore) People() store.People { return fakePeople{f: f} }

type fakePeople struct {
	store.People
	f *fakeStore
}

func (f fakePeople) TokenByHash(_ context.Context, hash [32]byte) (rimewatch.Token, error) {
	return rimewatch.Token{ID: 1, WorkspaceID: 1, Hash: hash, Scopes: rimewatch.ScopesFull}, nil
}

func (f fakePeople) TouchTokens(ctx context.Context, _ map[int64]rimewatch.Time) error {
	f.f.flushed.Add(1)
	return errors.Join(ctx.Err())
}

func (f fakePeople) DeleteExpired(context.Context, rimewatch.Time) error {
	f.f.pruned.Add(1)
	return nil
}

func (fakePeople) UserCount(context.Context) (int, error)                   { return 1, nil }
func (fakePeople) Lapsing(context.Context) ([]store.Lapse, error)           { return nil, nil }
func (fakePeople) Ownerless(context.Context) ([]rimewatch.Workspace, error) { return nil, nil }

func TestRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fake := &fakeStore{}
		var log strings.Builder
		s := New(Config{Store: fake, Logger: slog.New(slog.NewTextHandler(&log, nil))})
		clock := func() rimewatch.Time { return rimewatch.TimeOf(time.Now()) }
		plain := rimewatch.NewToken(func() byte { return 7 })
		use := func() {
			if _, err := s.Authenticate(t.Context(), plain, clock()); err != nil {
				t.Fatal(err)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); s.Run(ctx, clock) }()
		use()
		time.Sleep(flushEvery + time.Millisecond)
		synctest.Wait()
		same(t, fake.flushed.Load(), 1)
		time.Sleep(10 * time.Minute) // nothing is used
		synctest.Wait()
		same(t, fake.flushed.Load(), 1)
		same(t, fake.pruned.Load(), 1)
		use()
		cancel()
		<-done
		same(t, fake.flushed.Load(), 2) // the last use is not lost at the end
		same(t, log.String(), "")
	})
}

func TestDeletesExpired(t *testing.T) {
	f := newFixture(t)
	f.person("ada@example.com", rimewatch.RoleViewer)
	in := f.signIn("ada@example.com", t0)
	f.ok(f.Flush(f.ctx, t0))
	f.ok(f.Flush(f.ctx, t0+SessionIdle))
	_, err := f.store.People().Session(f.ctx, hashOf(in.Secret), t0)
	f.code(err, rimewatch.CodeNotFound)
}

func hashOf(secret string) [32]byte {
	hash, _ := hashSecret(secret)
	return hash
}
