package account

import (
	"context"
	"slices"
	"strings"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
)

// How long a session lasts: SessionIdle after its last use, SessionLife after
// signing in whatever happens. One that a provider has begun ends after
// ProvidedLife, so that who is dismissed there is out here the next day.
const (
	SessionIdle  = 30 * rimewatch.Day
	SessionLife  = 90 * rimewatch.Day
	ProvidedLife = 12 * rimewatch.Hour
)

const (
	// sessionTouchEvery is how exact a session's last use is.
	sessionTouchEvery = 10 * rimewatch.Minute
	// maxSessions of one person; the one unused for longest makes room.
	maxSessions = 50
	// maxTouched bounds the uses that wait for Flush.
	maxTouched = 10_000
)

// Client are a session's facts of the browser that signed in.
type Client struct {
	UserAgent string
	Address   string // IP address
}

// SignedIn is a new session. Secret is the value of its cookie and is not
// stored; EndsAt is the latest moment at which it can still be valid.
type SignedIn struct {
	Secret    string
	EndsAt    rimewatch.Time
	Principal Principal
	User      rimewatch.User
}

func errUnauthenticated() error {
	return rimewatch.Errorf(rimewatch.CodeUnauthenticated, "The request is not authenticated.")
}

// rehash stores the password under today's parameters. A failure only means
// that the next sign-in tries again.
func (s *Service) rehash(ctx context.Context, u *rimewatch.User, password string, now rimewatch.Time) {
	hash, err := s.hasher.hash(ctx, s.rand, password)
	if err == nil {
		_, err = s.store.People().UpdateUser(ctx, u.ID, func(stored *rimewatch.User) error {
			if stored.PasswordHash == u.PasswordHash {
				stored.PasswordHash = hash
				stored.UpdatedAt = now
			}
			return nil
		})
	}
	if err != nil {
		s.log.Warn("renew a password hash", "user", u.ID, "error", err)
	}
}

// terms are the properties of a new session.
type terms struct {
	workspaceID int64          // that it looks at, 0 = the first that counts in it
	strong      bool           // begun with a second factor, or by a provider
	provided    bool           // begun by a provider
	ends        rimewatch.Time // 0 = after SessionLife
}

// termsOf are those of a session that takes the place of the principal's own. One
// that a provider has begun lasts no longer for it.
func termsOf(p *Principal) terms {
	return terms{workspaceID: p.lookedAt, strong: p.strong, provided: p.provided != 0, ends: p.provided}
}

// counts reports whether a membership counts in a session: one that a provider has
// given does in a session that the provider has begun, and nowhere else.
func counts(m *store.MembershipView, provided bool) bool { return provided || !m.Provided }

func (s *Service) startSession(ctx context.Context, u *rimewatch.User, t terms, client Client, now rimewatch.Time) (SignedIn, error) {
	all, err := s.store.People().Memberships(ctx, u.ID)
	if err != nil {
		return SignedIn{}, err
	}
	for i := range all {
		if t.workspaceID == 0 && counts(&all[i], t.provided) {
			t.workspaceID = all[i].WorkspaceID
		}
	}
	ends := t.ends
	if ends == 0 {
		ends = now + SessionLife
	}
	if err := s.makeRoom(ctx, u.ID, now); err != nil {
		return SignedIn{}, err
	}
	secret, hash, err := s.newSecret()
	if err != nil {
		return SignedIn{}, err
	}
	row := store.Session{
		Hash: hash, UserID: u.ID, WorkspaceID: t.workspaceID,
		UserAgent: clip(client.UserAgent, rimewatch.MaxUserAgentLen), Address: clip(client.Address, rimewatch.MaxAddressLen),
		Strong: t.strong, Provided: t.provided, CreatedAt: now, LastUsedAt: now, ExpiresAt: min(now+SessionIdle, ends), EndsAt: ends,
	}
	if err := s.store.People().CreateSession(ctx, &row); err != nil {
		return SignedIn{}, err
	}
	return SignedIn{Secret: secret, EndsAt: ends, Principal: sessionPrincipal(&row, u.Locale, all), User: *u}, nil
}

// clip makes any text storable: valid, without NUL, at most n bytes long.
func clip(text string, n int) string {
	text = strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "")
	if len(text) > n {
		text = strings.ToValidUTF8(text[:n], "")
	}
	return text
}

// sessionPrincipal is who a session stands for: a member of the workspace that
// it looks at, never of another one, or nobody's member.
func sessionPrincipal(row *store.Session, l rimewatch.Locale, all []store.MembershipView) Principal {
	p := Principal{Locale: l, UserID: row.UserID, SessionID: row.ID, Session: true, strong: row.Strong, lookedAt: row.WorkspaceID}
	if row.Provided {
		p.provided = row.EndsAt
	}
	for _, m := range all {
		switch {
		case m.WorkspaceID != row.WorkspaceID:
		case !counts(&m, row.Provided):
			p.NeedsProvider = true
		case m.RequireSecondFactor && !row.Strong:
			p.NeedsFactor = true
		default:
			p.WorkspaceID, p.Role, p.Scopes, p.Limit = m.WorkspaceID, m.Role, m.Role.Scopes(), limitOf(m.Sites)
		}
	}
	return p
}

func (s *Service) makeRoom(ctx context.Context, userID int64, now rimewatch.Time) error {
	all, err := s.store.People().Sessions(ctx, userID, now)
	if err != nil || len(all) < maxSessions {
		return err
	}
	oldest := all[0]
	for _, x := range all {
		if x.LastUsedAt < oldest.LastUsedAt {
			oldest = x
		}
	}
	err = s.store.People().DeleteSession(ctx, userID, oldest.ID)
	if rimewatch.CodeOf(err) == rimewatch.CodeNotFound {
		return nil // someone else made room
	}
	return err
}

// AuthenticateSession finds who a session cookie stands for:
// CodeUnauthenticated when it is unknown or has ended. Changes of the role and
// the end of the membership count at once.
// slug names the workspace that is meant, "" = the one that the session last looked at: CodeNotFound
// where it is none of the person's.
func (s *Service) AuthenticateSession(ctx context.Context, secret, slug string, now rimewatch.Time) (Principal, error) {
	hash, ok := hashSecret(secret)
	if !ok {
		return Principal{}, errUnauthenticated()
	}
	row, err := s.store.People().Session(ctx, hash, now)
	if err != nil {
		return Principal{}, notFoundIs(err, errUnauthenticated)
	}
	all, err := s.store.People().Memberships(ctx, row.UserID)
	if err != nil {
		return Principal{}, err
	}
	u, err := s.store.People().User(ctx, row.UserID)
	if err != nil {
		return Principal{}, err
	}
	if slug != "" {
		if row.WorkspaceID, err = s.ownBySlug(ctx, slug, all); err != nil {
			return Principal{}, err
		}
	}
	s.touchSession(&row, now)
	return sessionPrincipal(&row, u.Locale, all), nil
}

// ownBySlug returns which of a person's workspaces has or had a slug: CodeNotFound.
func (s *Service) ownBySlug(ctx context.Context, slug string, all []store.MembershipView) (int64, error) {
	for i := range all {
		if all[i].WorkspaceSlug == slug {
			return all[i].WorkspaceID, nil
		}
	}
	id, err := s.WorkspaceOfSlug(ctx, slug)
	if err == nil && !slices.ContainsFunc(all, func(m store.MembershipView) bool { return m.WorkspaceID == id }) {
		err = rimewatch.Errorf(rimewatch.CodeNotFound, "There is no such workspace.")
	}
	return id, err
}

// WorkspaceOfSlug returns the workspace that has or had a slug: CodeNotFound.
func (s *Service) WorkspaceOfSlug(ctx context.Context, slug string) (int64, error) {
	w, err := s.store.WorkspaceBySlug(ctx, slug)
	return w.ID, err
}

// notFoundIs replaces a CodeNotFound.
func notFoundIs(err error, other func() error) error {
	if rimewatch.CodeOf(err) == rimewatch.CodeNotFound {
		return other()
	}
	return err
}

type sessionTouch struct{ lastUsed, expires rimewatch.Time }

// touchSession notes a use for Flush.
func (s *Service) touchSession(row *store.Session, now rimewatch.Time) {
	if now-row.LastUsedAt < sessionTouchEvery {
		return
	}
	s.touchMu.Lock()
	defer s.touchMu.Unlock()
	if _, ok := s.touched[row.ID]; ok || len(s.touched) < maxTouched {
		s.touched[row.ID] = sessionTouch{now, min(now+SessionIdle, row.EndsAt)}
	}
}

func (s *Service) flushSessions(ctx context.Context) error {
	s.touchMu.Lock()
	todo := s.touched
	s.touched = make(map[int64]sessionTouch)
	s.touchMu.Unlock()
	var failed error
	for id, t := range todo {
		err := s.store.People().TouchSession(ctx, id, t.lastUsed, t.expires)
		if err == nil || rimewatch.CodeOf(err) == rimewatch.CodeNotFound {
			continue // or signed out meanwhile
		}
		failed = err
		s.touchMu.Lock()
		if _, newer := s.touched[id]; !newer {
			s.touched[id] = t
		}
		s.touchMu.Unlock()
	}
	return failed
}

// ownSessions is the part of a Service by which people manage their sessions.
type ownSessions struct{ store Store }

// SignOut ends the principal's own session. Ending it twice is no error.
func (s *ownSessions) SignOut(ctx context.Context, p Principal) error {
	if err := p.RequirePerson(); err != nil {
		return err
	}
	return notFoundIs(s.store.People().DeleteSession(ctx, p.UserID, p.SessionID), func() error { return nil })
}

// Sessions lists the principal's own sessions.
func (s *ownSessions) Sessions(ctx context.Context, p Principal, now rimewatch.Time) ([]store.Session, error) {
	if err := p.RequirePerson(); err != nil {
		return nil, err
	}
	return s.store.People().Sessions(ctx, p.UserID, now)
}

// RevokeSession ends one of the principal's own sessions: CodeNotFound.
func (s *ownSessions) RevokeSession(ctx context.Context, p Principal, id int64) error {
	if err := p.RequirePerson(); err != nil {
		return err
	}
	return s.store.People().DeleteSession(ctx, p.UserID, id)
}

// RevokeOtherSessions ends all of the principal's sessions but this one.
func (s *ownSessions) RevokeOtherSessions(ctx context.Context, p Principal) error {
	if err := p.RequirePerson(); err != nil {
		return err
	}
	return s.store.People().DeleteSessions(ctx, p.UserID, p.SessionID)
}

// SwitchWorkspace makes the principal's session look at another workspace of
// its user: CodeNotFound when the user does not belong to it, or does by a provider
// and the session was begun by a password.
func (s *ownSessions) SwitchWorkspace(ctx context.Context, p Principal, workspaceID int64) error {
	if err := p.RequirePerson(); err != nil {
		return err
	}
	all, err := s.store.People().Memberships(ctx, p.UserID)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(all, func(m store.MembershipView) bool { return m.WorkspaceID == workspaceID && counts(&m, p.provided != 0) }) {
		return rimewatch.Errorf(rimewatch.CodeNotFound, "There is no such member.")
	}
	return s.store.People().SetSessionWorkspace(ctx, p.UserID, p.SessionID, workspaceID)
}
