package account

import (
	"context"
	"crypto/subtle"
	"encoding/base32"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/rimewatch/rimewatch"
)

// setupBytes is the size of the one-time code. 80 bits cannot be guessed, however
// often strangers try: a limit for everybody together would only let strangers
// lock the owner out. The caller limits failures per address.
const setupBytes = 10

// SetupCode returns the one-time code that the set-up page asks for, as long as
// no user exists; the app logs it at start. The code lives as long as the
// process.
func (s *Service) SetupCode(ctx context.Context) (code string, needed bool, err error) {
	if s.setupDone.Load() {
		return "", false, nil
	}
	n, err := s.store.People().UserCount(ctx)
	if err != nil {
		return "", false, err
	}
	if n > 0 {
		s.setupDone.Store(true)
		return "", false, nil
	}
	s.setupMu.Lock()
	defer s.setupMu.Unlock()
	if s.setup == "" {
		var b [setupBytes]byte
		if _, err := io.ReadFull(s.rand, b[:]); err != nil {
			return "", false, fmt.Errorf("random bytes: %w", err)
		}
		c := base32.StdEncoding.EncodeToString(b[:]) // 16 characters of A–Z and 2–7
		s.setup = c[:4] + "-" + c[4:8] + "-" + c[8:12] + "-" + c[12:]
	}
	return s.setup, true, nil
}

// SetupRequest is the form of the set-up page.
type SetupRequest struct {
	Code      string // case, spaces and dashes do not matter
	Workspace string // name; one that the command line made is taken over
	TimeZone  string // IANA name, "" = UTC
	Address   string // where people reach the installation, "" = not known yet
	Email     string
	Name      string
	Password  string
	Client    Client
}

// Setup makes the first user, owner of the workspace, and signs in.
// CodeConflict once any user exists; CodeForbidden with the field code when
// that is wrong; CodeValidationFailed with the fields of the request.
func (s *Service) Setup(ctx context.Context, r SetupRequest, now rimewatch.Time) (SignedIn, error) {
	code, needed, err := s.SetupCode(ctx)
	if err != nil {
		return SignedIn{}, err
	}
	if !needed {
		return SignedIn{}, errSetUp()
	}
	if subtle.ConstantTimeCompare([]byte(plainCode(code)), []byte(plainCode(r.Code))) != 1 {
		return SignedIn{}, rimewatch.Errorf(rimewatch.CodeForbidden, "The set-up code is wrong.").With("code", "is not the one in the server's log")
	}
	u, _, err := s.createOwner(ctx, &r, now)
	if err != nil {
		return SignedIn{}, err
	}
	s.setupDone.Store(true)
	if r.Address != "" && !s.AddressFixed() {
		if err := s.store.SetAddress(ctx, r.Address); err != nil { // it can be set later, the owner cannot
			s.log.Error("address of the installation", "err", err)
		}
	}
	return s.startSession(ctx, &u, terms{}, r.Client, now)
}

func errSetUp() error {
	return rimewatch.Errorf(rimewatch.CodeConflict, "The service is already set up.")
}

// plainCode returns a code without the characters that people add or change when they type it.
func plainCode(s string) string {
	if len(s) > 64 {
		return ""
	}
	return strings.ToUpper(strings.NewReplacer("-", "", " ", "").Replace(strings.TrimSpace(s)))
}

// workspaceField renames the field of a workspace's name: in a set-up name is
// the person's. What is wrong with the time zone is said by timeZone.
func workspaceField(err error) error {
	var e *rimewatch.Error
	if !errors.As(err, &e) || e.Fields["name"] == nil {
		return nil
	}
	return (&rimewatch.Error{Code: e.Code, Message: e.Message}).Take("workspace", e, "name")
}

// createOwner makes the first user, who is the break-glass owner, and the workspace.
func (s *Service) createOwner(ctx context.Context, r *SetupRequest, now rimewatch.Time) (rimewatch.User, rimewatch.Workspace, error) {
	w := newWorkspace(r.Workspace, now)
	u := newUser(r.Email, r.Name, now)
	if r.TimeZone != "" {
		w.TimeZone = r.TimeZone
	}
	var wrong error
	if r.Address != "" {
		r.Address, wrong = rimewatch.NormalAddress(r.Address)
	}
	if err := gather(wrong, workspaceField(w.Check()), rimewatch.CheckZone(w.TimeZone), u.Check(), checkPassword(r.Password, u.Email, u.Name, w.Name)); err != nil {
		return u, w, err
	}
	hash, err := s.hasher.hash(ctx, s.rand, r.Password)
	if err != nil {
		return u, w, err
	}
	u.PasswordHash, u.BreakGlass = hash, true
	err = s.store.People().CreateFirstOwner(ctx, &w, &u)
	if rimewatch.CodeOf(err) == rimewatch.CodeConflict {
		return u, w, errSetUp()
	}
	return u, w, err
}
