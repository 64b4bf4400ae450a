package account

import (
	"context"
	"errors"
	"path/filepath"
	"reflect"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/store/sqlite"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// t0 is the present of the tests, a full minute.
const t0 rimewatch.Time = 1_800_000_000_000 - 1_800_000_000_000%rimewatch.Minute

// cheap makes hashing take microseconds.
var cheap = PasswordParams{MemoryKiB: 8, Passes: 1, Threads: 1}

const password = "correct horse battery"

// counted is a store that counts look-ups of tokens and can fail them.
type counted struct {
	Store
	lookups atomic.Int64
	fail    atomic.Bool
	hook    func() // runs in every look-up
}

var errDown = rimewatch.Errorf(rimewatch.CodeUnavailable, "The store is down.")

func (c *counted) People() store.People { return countedPeople{c.Store.People(), c} }

// countedPeople are the people of a counted store.
type countedPeople struct {
	store.People
	c *counted
}

func (p countedPeople) TokenByHash(ctx context.Context, hash [32]byte) (rimewatch.Token, error) {
	p.c.lookups.Add(1)
	if p.c.hook != nil {
		p.c.hook()
	}
	if p.c.fail.Load() {
		return rimewatch.Token{}, errDown
	}
	return p.People.TokenByHash(ctx, hash)
}

func (p countedPeople) TouchTokens(ctx context.Context, used map[int64]rimewatch.Time) error {
	if p.c.fail.Load() {
		return errDown
	}
	return p.People.TouchTokens(ctx, used)
}

func (p countedPeople) TouchSession(ctx context.Context, id int64, lastUsed, expires rimewatch.Time) error {
	if p.c.fail.Load() {
		return errDown
	}
	return p.People.TouchSession(ctx, id, lastUsed, expires)
}

// fixture is a service over a real store with one workspace.
type fixture struct {
	testing.TB
	*Service
	ctx   context.Context
	store *counted
	audit store.Audit
	path  string
	ws    rimewatch.Workspace
	op    Principal // the operator in ws

	revoked []int64 // what OnRevoke heard
}

func openStore(t testing.TB, path string) store.Store {
	t.Helper()
	s, err := sqlite.Open(context.Background(), sqlite.Config{Path: path, ControlOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func newFixture(t testing.TB) *fixture {
	t.Helper()
	path := filepath.Join(t.TempDir(), sqlite.FileName)
	st := openStore(t, path)
	f := &fixture{TB: t, ctx: context.Background(), path: path, store: &counted{Store: st}, audit: st.Audit()}
	f.Service = New(Config{Store: f.store, Password: cheap, OnRevoke: func(id int64) { f.revoked = append(f.revoked, id) }})
	var err error
	f.ws, err = f.FindWorkspace(f.ctx, "Bakery", true, t0)
	f.ok(err)
	f.op = Operator(f.ws.ID)
	return f
}

// other is the service of another process on the same file.
func (f *fixture) other() *Service {
	f.Helper()
	return New(Config{Store: openStore(f, f.path), Password: cheap})
}

func (f *fixture) ok(err error) {
	f.Helper()
	if err != nil {
		f.Fatal(err)
	}
}

func (f *fixture) code(err error, want rimewatch.Code) {
	f.Helper()
	if got := rimewatch.CodeOf(err); got != want {
		f.Fatalf("error %v has code %q, want %q", err, got, want)
	}
}

// field checks the code of an error and that it is about a field.
func (f *fixture) field(err error, code rimewatch.Code, field string) {
	f.Helper()
	f.code(err, code)
	var e *rimewatch.Error
	if !errors.As(err, &e) || len(e.Fields[field]) == 0 {
		f.Fatalf("error %v with fields %v is not about %s", err, e.Fields, field)
	}
}

func same[T any](t testing.TB, got, want T) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("got %+v, want %+v", got, want)
	}
}

// person adds a person with the usual password.
func (f *fixture) person(email string, role rimewatch.Role) rimewatch.User {
	f.Helper()
	u, err := f.AddUser(f.ctx, f.ws.ID, UserRequest{Email: email, Name: "Ada", Password: password, Role: role}, t0)
	f.ok(err)
	return u
}

// invite invites an address in the name of the operator.
func (f *fixture) invite(email string, role rimewatch.Role) (store.Invitation, string) {
	f.Helper()
	v, link, err := f.Invite(f.ctx, f.op, InviteRequest{Email: email, Role: role}, t0)
	f.ok(err)
	return v, link
}

// signIn signs a person in with the usual password.
func (f *fixture) signIn(email string, now rimewatch.Time) SignedIn {
	f.Helper()
	in, err := f.SignIn(f.ctx, Credentials{Email: email, Password: password, Client: Client{UserAgent: "Firefox", Address: "192.0.2.1"}}, now)
	f.ok(err)
	return in
}

// as is a signed-in person of a role.
func (f *fixture) as(role rimewatch.Role) Principal {
	f.Helper()
	email := string(role) + "@example.com"
	f.person(email, role)
	return f.signIn(email, t0).Principal
}

func (f *fixture) token(r TokenRequest) (rimewatch.Token, string) {
	f.Helper()
	if r.Name == "" {
		r.Name = "gateway"
	}
	t, plain, err := f.CreateToken(f.ctx, f.op, r, t0)
	f.ok(err)
	return t, plain
}
