package account

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
)

// Credentials are a person's credentials at sign-in.
type Credentials struct {
	Email, Password string
	Code            string // of the second factor, or a recovery code; "" = none was sent
	Client          Client
}

func errCredentials() error {
	return rimewatch.Errorf(rimewatch.CodeUnauthenticated, "The e-mail address or the password is wrong.")
}

// How often the passwords of one account may be guessed from addresses that it
// was not used from, however many addresses these are.
const (
	strangerTries  = 30
	strangerWindow = 5 * rimewatch.Minute
	// seenFor is for how long an address that signed in is no stranger.
	seenFor = 30 * rimewatch.Day
	// refusalWindow is the time in which refusals of one account are counted.
	refusalWindow = rimewatch.Hour
	// codeTries is how many wrong codes of a second factor are heard in codeWindow.
	// Only who has the password can use them up.
	codeTries  = 10
	codeWindow = 15 * rimewatch.Minute
	// signInKeys bounds the remembered failures of each kind.
	signInKeys = 16_384
)

// origin is an account at an address.
type origin struct{ email, address string }

// signIns remembers who signed in from where, and who could not.
type signIns struct {
	mu       sync.Mutex
	guesses  failureCount[string] // by strangers, by e-mail address
	seen     failureCount[origin] // successes
	refusals failureCount[int64]  // by user
	codes    failureCount[int64]  // wrong codes of a second factor, by user
}

func (g *signIns) init() {
	g.guesses = newFailureCount[string](strangerWindow, signInKeys)
	g.seen = newFailureCount[origin](seenFor, signInKeys)
	g.refusals = newFailureCount[int64](refusalWindow, signInKeys)
	g.codes = newFailureCount[int64](codeWindow, signInKeys)
}

// guess counts a stranger's guess before its outcome is known, and returns for
// how long strangers have to wait.
func (g *signIns) guess(email string, now rimewatch.Time) time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.guesses.try(email, strangerTries, now)
}

// forgive takes a guess back that did not fail.
func (g *signIns) forgive(email string, now rimewatch.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.guesses.add(email, -1, now)
}

func (g *signIns) remember(o origin, now rimewatch.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.seen.add(o, 1, now)
}

func (g *signIns) knows(o origin, now rimewatch.Time) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.seen.get(o, now).n > 0
}

// refused counts a refusal and returns the number of the account's refusals in
// this hour.
func (g *signIns) refused(userID int64, now rimewatch.Time) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.refusals.add(userID, 1, now).n
}

// tryCode counts a code before it is checked, and returns for how long no more
// are heard.
func (g *signIns) tryCode(userID int64, now rimewatch.Time) time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.codes.try(userID, codeTries, now)
}

func (g *signIns) forgiveCode(userID int64, now rimewatch.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.codes.add(userID, -1, now)
}

// SignIn checks a password and makes a session. CodeUnauthenticated when the
// address or the password is wrong, which takes the same work, and with the
// field code when the second factor is wrong or missing (NeedsCode); CodeUnavailable
// when too many people sign in at once; CodeRateLimited when the account was
// guessed at too often from addresses that it was not used from: those who are
// known go on. The caller limits failures per address (FailureLimiter).
func (s *Service) SignIn(ctx context.Context, c Credentials, now rimewatch.Time) (SignedIn, error) {
	u, err := s.checkCredentials(ctx, &c, now)
	if err != nil {
		return SignedIn{}, err
	}
	strong, err := s.checkCode(ctx, &u, &c, now)
	if err != nil {
		return SignedIn{}, err
	}
	in, err := s.startSession(ctx, &u, terms{strong: strong}, c.Client, now)
	if err != nil {
		return SignedIn{}, err
	}
	// The password may have been changed while it was being checked; then this
	// session must not outlive that.
	fresh, err := s.store.People().User(ctx, u.ID)
	if err == nil && fresh.PasswordHash != u.PasswordHash {
		err = errCredentials()
	}
	if err == nil {
		how := "password"
		if strong {
			how = "password and second factor"
		}
		err = s.signedIn(ctx, &u, how, c.Client, now)
	}
	if err == nil && u.BreakGlass && s.provider {
		err = s.brokeGlass(ctx, &u, c.Client, now)
	}
	if err != nil {
		return SignedIn{}, errors.Join(err, s.store.People().DeleteSession(ctx, u.ID, in.Principal.SessionID))
	}
	if s.hasher.outdated(u.PasswordHash) {
		s.rehash(ctx, &u, c.Password, now)
	}
	return in, nil
}

// checkCredentials finds the person whose credentials these are.
func (s *Service) checkCredentials(ctx context.Context, c *Credentials, now rimewatch.Time) (rimewatch.User, error) {
	email := clip(normalEmail(c.Email), rimewatch.MaxEmailLen)
	u, err := s.personOf(ctx, c.Email)
	if err != nil && rimewatch.CodeOf(err) != rimewatch.CodeNotFound {
		return u, err
	}
	l, err := s.classOf(ctx, &u, origin{email, c.Client.Address}, now)
	if err != nil {
		return u, err
	}
	if l == stranger {
		if wait := s.signIns.guess(email, now); wait > 0 {
			return u, &rimewatch.Error{Code: rimewatch.CodeRateLimited, Message: "Too many failed sign-ins to this account.", RetryAfter: wait}
		}
	}
	ok, err := s.hasher.verify(ctx, l, email, u.PasswordHash, c.Password)
	if err == nil && !ok {
		s.refuse(ctx, u.ID, "password", c.Client, now)
		return u, errCredentials()
	}
	if l == stranger {
		s.signIns.forgive(email, now)
	}
	return u, err
}

// personOf finds the person who signs in with an address: CodeNotFound. Addresses
// that were stored before they were normalized are found as they were then; that is
// safe only where a password follows.
func (s *Service) personOf(ctx context.Context, email string) (rimewatch.User, error) {
	u, err := s.store.People().UserByEmail(ctx, normalEmail(email))
	if before := rimewatch.TextKey(normalText(email)); rimewatch.CodeOf(err) == rimewatch.CodeNotFound && before != normalEmail(email) {
		return s.store.People().UserByEmail(ctx, before)
	}
	return u, err
}

// classOf separates those who sign in from where the account was used before from
// strangers.
func (s *Service) classOf(ctx context.Context, u *rimewatch.User, o origin, now rimewatch.Time) (class, error) {
	if u.ID == 0 {
		return stranger, nil
	}
	if s.signIns.knows(o, now) {
		return known, nil
	}
	all, err := s.store.People().Sessions(ctx, u.ID, now)
	if err != nil {
		return stranger, err
	}
	if slices.ContainsFunc(all, func(x store.Session) bool { return x.Address == o.address }) {
		return known, nil
	}
	return stranger, nil
}

// signedIn records a sign-in in the workspaces of a person.
func (s *Service) signedIn(ctx context.Context, u *rimewatch.User, how string, client Client, now rimewatch.Time) error {
	s.signIns.remember(origin{u.Email, client.Address}, now)
	return s.store.Audit().AuditUser(store.WithActor(ctx, u.Label()), u.ID, "user.signed_in", store.Fields{"address": client.Address, "by": how})
}

// refuse records a refused sign-in in the workspaces of a person. Of many in an
// hour it records the first, the second, the fourth and so on, so that nobody
// fills the trail. A failure to do so refuses no less.
func (s *Service) refuse(ctx context.Context, userID int64, what string, client Client, now rimewatch.Time) {
	if userID == 0 {
		return
	}
	n := s.signIns.refused(userID, now)
	if !recorded(n) {
		return
	}
	err := s.store.Audit().AuditUser(ctx, userID, "user.sign_in_refused", store.Fields{"address": client.Address, "wrong": what, "in_this_hour": n})
	if err != nil {
		s.log.Warn("audit a refused sign-in", "user", userID, "error", err)
	}
}
