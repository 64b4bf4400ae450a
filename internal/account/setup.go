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

// setupTries is how many wrong codes are heard per minute. The code has 80
// bits: this is for the log's sake as much as for safety.
const setupTries = 10

// setupGuard holds the one-time code while no user exists.
type setupGuard struct {
	code   string
	window rimewatch.Time // start of the minute in which failures are counted
	failed int
}

// SetupCode gives the one-time code that the set-up page asks for, as long as
// no user exists; the app logs it at start. The code lives as long as the
// process.
func (s *Service) SetupCode(ctx context.Context) (code string, needed bool, err error) {
	if s.setupDone.Load() {
		return "", false, nil
	}
	n, err := s.store.UserCount(ctx)
	if err != nil {
		return "", false, err
	}
	if n > 0 {
		s.setupDone.Store(true)
		return "", false, nil
	}
	s.setupMu.Lock()
	defer s.setupMu.Unlock()
	if s.setup.code == "" {
		var b [10]byte
		if _, err := io.ReadFull(s.rand, b[:]); err != nil {
			return "", false, fmt.Errorf("random bytes: %w", err)
		}
		c := base32.StdEncoding.EncodeToString(b[:]) // 16 characters of A–Z and 2–7
		s.setup.code = c[:4] + "-" + c[4:8] + "-" + c[8:12] + "-" + c[12:]
	}
	return s.setup.code, true, nil
}

// SetupRequest is what the set-up page asks for.
type SetupRequest struct {
	Code      string // case, spaces and dashes do not matter
	Workspace string // name; one that the command line made is taken over
	TimeZone  string // IANA name, "" = UTC
	Email     string
	Name      string
	Password  string
	Client    Client
}

// Setup makes the first user, owner of the workspace, and signs in.
// CodeConflict once any user exists; CodeForbidden with the field code when
// that is wrong and CodeRateLimited after 10 wrong ones in a minute;
// CodeValidationFailed with the fields of the request.
func (s *Service) Setup(ctx context.Context, r SetupRequest, now rimewatch.Time) (SignedIn, error) {
	code, needed, err := s.SetupCode(ctx)
	if err != nil {
		return SignedIn{}, err
	}
	if !needed {
		return SignedIn{}, errSetUp()
	}
	if err := s.checkCode(code, r.Code, now); err != nil {
		return SignedIn{}, err
	}
	u, _, err := s.createOwner(ctx, r, now)
	if err != nil {
		return SignedIn{}, err
	}
	s.setupDone.Store(true)
	return s.startSession(ctx, &u, 0, r.Client, now)
}

func errSetUp() error {
	return rimewatch.Errorf(rimewatch.CodeConflict, "The service is set up already.")
}

func (s *Service) checkCode(want, got string, now rimewatch.Time) error {
	s.setupMu.Lock()
	defer s.setupMu.Unlock()
	g := &s.setup
	if now-g.window >= rimewatch.Minute || now < g.window {
		g.window, g.failed = now, 0
	}
	if g.failed >= setupTries {
		e := rimewatch.Errorf(rimewatch.CodeRateLimited, "Too many wrong codes.")
		e.RetryAfter = (g.window + rimewatch.Minute).Sub(now)
		return e
	}
	if subtle.ConstantTimeCompare([]byte(plainCode(want)), []byte(plainCode(got))) == 1 {
		return nil
	}
	g.failed++
	return rimewatch.Errorf(rimewatch.CodeForbidden, "The set-up code is wrong.").With("code", "is not the one in the server's log")
}

// plainCode is a code without what people add or change when they type it.
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
	return rimewatch.Invalid("workspace", "%s", e.Fields["name"][0])
}

// createOwner makes the first user and the workspace.
func (s *Service) createOwner(ctx context.Context, r SetupRequest, now rimewatch.Time) (rimewatch.User, rimewatch.Workspace, error) {
	w := newWorkspace(r.Workspace, now)
	u := newUser(r.Email, r.Name, now)
	if r.TimeZone != "" {
		w.TimeZone = r.TimeZone
	}
	if err := gather(workspaceField(w.Check()), timeZone(w.TimeZone), u.Check(), checkPassword("password", r.Password)); err != nil {
		return u, w, err
	}
	hash, err := s.hasher.hash(ctx, s.rand, r.Password)
	if err != nil {
		return u, w, err
	}
	u.PasswordHash = hash
	err = s.store.CreateFirstOwner(ctx, &w, &u)
	if rimewatch.CodeOf(err) == rimewatch.CodeConflict {
		return u, w, errSetUp()
	}
	return u, w, err
}
