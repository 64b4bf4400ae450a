package account

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store/sqlite"
)

func setupRequest(code string) SetupRequest {
	return SetupRequest{Code: code, Workspace: " bakery ", TimeZone: "Europe/Berlin", Email: "Ada@Example.com", Name: "Ada", Password: password}
}

func TestSetup(t *testing.T) {
	f := newFixture(t) // the command line has made the workspace Bakery
	code, needed, err := f.SetupCode(f.ctx)
	f.ok(err)
	same(t, needed, true)
	again, _, err := f.SetupCode(f.ctx)
	f.ok(err)
	same(t, again, code)
	if strings.Trim(code, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567-") != "" || len(code) != 19 {
		t.Fatalf("the code is %q", code)
	}
	for _, bad := range []string{"", "-", code[1:], code + "A", strings.Repeat("x", 1<<20), "\x00"} {
		_, err := f.Setup(f.ctx, setupRequest(bad), t0)
		f.field(err, rimewatch.CodeForbidden, "code")
	}
	in, err := f.Setup(f.ctx, setupRequest(" "+strings.ToLower(strings.ReplaceAll(code, "-", " "))), t0)
	f.ok(err)
	same(t, in.Principal.WorkspaceID, f.ws.ID) // taken over
	same(t, in.Principal.Role, rimewatch.RoleOwner)
	_, err = f.AuthenticateSession(f.ctx, in.Secret, "", t0)
	f.ok(err)
	f.signIn("ada@example.com", t0)
	_, err = f.Setup(f.ctx, setupRequest(code), t0)
	f.code(err, rimewatch.CodeConflict)
	code, needed, err = f.SetupCode(f.ctx)
	f.ok(err)
	same(t, code, "")
	same(t, needed, false)
	_, err = f.other().Setup(f.ctx, setupRequest(""), t0)
	f.code(err, rimewatch.CodeConflict)
}

func TestSetupInvalid(t *testing.T) {
	f := newFixture(t)
	code, _, err := f.SetupCode(f.ctx)
	f.ok(err)
	_, err = f.Setup(f.ctx, SetupRequest{Code: code, TimeZone: "Nowhere", Email: "x", Name: "\x00", Password: "short"}, t0)
	var e *rimewatch.Error
	if !errors.As(err, &e) || e.Code != rimewatch.CodeValidationFailed {
		t.Fatal(err)
	}
	var fields []string
	for name := range e.Fields {
		fields = append(fields, name)
	}
	slices.Sort(fields)
	if want := []string{"email", "name", "password", "timezone", "workspace"}; !slices.Equal(fields, want) {
		t.Fatalf("fields %v, want %v", fields, want)
	}
	n, err := f.store.People().UserCount(f.ctx)
	f.ok(err)
	same(t, n, 0)
	r := setupRequest(code)
	r.TimeZone = ""
	_, err = f.Setup(f.ctx, r, t0)
	f.ok(err)
}

// However often strangers are wrong, the owner gets in.
func TestWrongSetupCodesLockNobodyOut(t *testing.T) {
	f := newFixture(t)
	code, _, err := f.SetupCode(f.ctx)
	f.ok(err)
	for range 100 {
		_, err = f.Setup(f.ctx, setupRequest("AAAA"), t0)
		f.field(err, rimewatch.CodeForbidden, "code")
	}
	_, err = f.Setup(f.ctx, setupRequest(code), t0)
	f.ok(err)
}

func TestSetupTwiceAtOnce(t *testing.T) {
	f := newFixture(t)
	services := []*Service{f.Service, f.other()}
	requests := make([]SetupRequest, len(services))
	for i, s := range services {
		code, needed, err := s.SetupCode(f.ctx)
		f.ok(err)
		same(t, needed, true)
		requests[i] = setupRequest(code)
	}
	codes := make([]rimewatch.Code, 8)
	var wg sync.WaitGroup
	for i := range codes {
		wg.Go(func() {
			_, err := services[i%2].Setup(f.ctx, requests[i%2], t0)
			codes[i] = rimewatch.CodeOf(err)
		})
	}
	wg.Wait()
	slices.Sort(codes)
	if codes[0] != "" || codes[1] != rimewatch.CodeConflict || codes[7] != rimewatch.CodeConflict {
		t.Fatalf("set-ups at once give %q", codes)
	}
}

// Nothing is handed out when there is no randomness.
func TestNoRandomness(t *testing.T) {
	f := newFixture(t)
	f.Service.rand = iotest.ErrReader(errors.New("no entropy"))
	f.tokens.rand = f.Service.rand
	if code, _, err := f.SetupCode(f.ctx); err == nil {
		t.Errorf("a code %q", code)
	}
	if _, plain, err := f.CreateToken(f.ctx, f.op, TokenRequest{Name: "x"}, t0); err == nil || plain != "" {
		t.Errorf("a token %q", plain)
	}
	if _, _, err := f.Invite(f.ctx, f.op, InviteRequest{Email: "a@example.com", Role: rimewatch.RoleViewer}, t0); err == nil {
		t.Error("a link")
	}
	if _, err := f.AddUser(f.ctx, f.ws.ID, UserRequest{Email: "b@example.com", Password: password, Role: rimewatch.RoleViewer}, t0); err == nil {
		t.Error("a password without salt")
	}
}

func TestFindWorkspace(t *testing.T) {
	f := newFixture(t)
	got, err := f.FindWorkspace(f.ctx, " BAKERY ", false, t0)
	f.ok(err)
	same(t, got, f.ws)
	_, err = f.FindWorkspace(f.ctx, "none", false, t0)
	f.code(err, rimewatch.CodeNotFound)
	_, err = f.FindWorkspace(f.ctx, " ", true, t0)
	f.field(err, rimewatch.CodeValidationFailed, "name")
	var wg sync.WaitGroup
	ids := make([]int64, 4)
	for i := range ids {
		wg.Go(func() {
			w, err := f.FindWorkspace(f.ctx, "new", true, t0)
			if err != nil {
				t.Error(err)
			}
			ids[i] = w.ID
		})
	}
	wg.Wait()
	for _, id := range ids {
		same(t, id, ids[0])
	}
}

func TestAddUser(t *testing.T) {
	f := newFixture(t)
	u := f.person("Ada@example.com", rimewatch.RoleAdmin)
	same(t, u.PasswordHash, "")
	_, err := f.AddUser(f.ctx, f.ws.ID, UserRequest{Email: "ADA@example.com", Password: password, Role: rimewatch.RoleViewer}, t0)
	f.field(err, rimewatch.CodeConflict, "email")
	_, err = f.AddUser(f.ctx, f.ws.ID, UserRequest{Email: "x", Password: "y", Role: "z"}, t0)
	for _, field := range []string{"email", "password", "role"} {
		f.field(err, rimewatch.CodeValidationFailed, field)
	}
}

func TestResetPassword(t *testing.T) {
	f := newFixture(t)
	f.person("ada@example.com", rimewatch.RoleViewer)
	in := f.signIn("ada@example.com", t0)
	generated, err := f.ResetPassword(f.ctx, " ADA@example.com", "", false, t0)
	f.ok(err)
	same(t, len(generated), 20)
	_, err = f.AuthenticateSession(f.ctx, in.Secret, "", t0)
	f.code(err, rimewatch.CodeUnauthenticated)
	_, err = f.SignIn(f.ctx, Credentials{Email: "ada@example.com", Password: generated}, t0)
	f.ok(err)
	got, err := f.ResetPassword(f.ctx, "ada@example.com", password, false, t0)
	f.ok(err)
	same(t, got, password)
	f.signIn("ada@example.com", t0)
	_, err = f.ResetPassword(f.ctx, "ada@example.com", "short", false, t0)
	f.field(err, rimewatch.CodeValidationFailed, "password")
	_, err = f.ResetPassword(f.ctx, "none@example.com", "", false, t0)
	f.code(err, rimewatch.CodeNotFound)
}

// What is acknowledged is there after a restart.
func TestRestart(t *testing.T) {
	path := filepath.Join(t.TempDir(), sqlite.FileName)
	open := func() (*Service, func()) {
		s, err := sqlite.Open(t.Context(), sqlite.Config{Path: path})
		if err != nil {
			t.Fatal(err)
		}
		return New(Config{Store: s, Password: cheap}), func() {
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
	s, end := open()
	code, _, err := s.SetupCode(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	in, err := s.Setup(t.Context(), setupRequest(code), t0)
	if err != nil {
		t.Fatal(err)
	}
	_, plain, err := s.CreateToken(t.Context(), in.Principal, TokenRequest{Name: "x"}, t0)
	if err != nil {
		t.Fatal(err)
	}
	end()
	s, end = open()
	defer end()
	if _, err := s.AuthenticateSession(t.Context(), in.Secret, "", t0); err != nil {
		t.Error(err)
	}
	if _, err := s.Authenticate(t.Context(), plain, t0); err != nil {
		t.Error(err)
	}
	if _, needed, err := s.SetupCode(t.Context()); needed || err != nil {
		t.Errorf("set-up is needed again: %v, %v", needed, err)
	}
}
