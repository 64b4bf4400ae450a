package account

import (
	"context"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/ticker"
)

type workspaceStore interface {
	CreateWorkspace(ctx context.Context, w *rimewatch.Workspace) error
	UpdateWorkspace(ctx context.Context, id int64, change func(*rimewatch.Workspace) error) (rimewatch.Workspace, error)
	Workspace(ctx context.Context, id int64) (rimewatch.Workspace, error)
	WorkspaceByName(ctx context.Context, name string) (rimewatch.Workspace, error)
	Workspaces(ctx context.Context) ([]rimewatch.Workspace, error)
	CloseWorkspace(ctx context.Context, id int64) (tokens []int64, err error)
}

type siteStore interface {
	CreateSite(ctx context.Context, s *rimewatch.Site) error
	UpdateSite(ctx context.Context, workspaceID, id int64, change func(*rimewatch.Site) error) (rimewatch.Site, error)
	DeleteSite(ctx context.Context, workspaceID, id int64) error
	Site(ctx context.Context, workspaceID, id int64) (rimewatch.Site, error)
	Sites(ctx context.Context, workspaceID int64) ([]rimewatch.Site, error)
}

type userStore interface {
	CreateUser(ctx context.Context, u *rimewatch.User) error
	CreateFirstOwner(ctx context.Context, w *rimewatch.Workspace, u *rimewatch.User) error
	UpdateUser(ctx context.Context, id int64, change func(*rimewatch.User) error) (rimewatch.User, error)
	User(ctx context.Context, id int64) (rimewatch.User, error)
	UserByEmail(ctx context.Context, email string) (rimewatch.User, error)
	UserCount(ctx context.Context) (int, error)
	EraseUser(ctx context.Context, userID int64, now rimewatch.Time) (tokens []int64, err error)
	AdmitIdentity(ctx context.Context, id store.Identification, u rimewatch.User, grants map[int64]rimewatch.Role) (rimewatch.User, error)
	AuditUser(ctx context.Context, userID int64, action string, detail store.Fields) error
	AuditWorkspace(ctx context.Context, workspaceID int64, action, subject string, detail store.Fields) error
	SetPassword(ctx context.Context, userID int64, passwordHash string, now rimewatch.Time) error
	CreatePasswordLink(ctx context.Context, l *store.PasswordLink) error
	PasswordLink(ctx context.Context, hash [32]byte, now rimewatch.Time) (store.PasswordLink, error)
	UsePasswordLink(ctx context.Context, hash [32]byte, passwordHash string, now rimewatch.Time) error
}

type memberStore interface {
	PutMember(ctx context.Context, m *rimewatch.Member) error
	DeleteMember(ctx context.Context, workspaceID, userID int64, now rimewatch.Time) (tokens []int64, err error)
	Members(ctx context.Context, workspaceID int64) ([]store.MemberView, error)
	Memberships(ctx context.Context, userID int64) ([]store.MembershipView, error)
}

type invitationStore interface {
	CreateInvitation(ctx context.Context, v *store.Invitation) error
	RenewInvitation(ctx context.Context, workspaceID, id int64, hash [32]byte, expires rimewatch.Time) (store.Invitation, error)
	DeleteInvitation(ctx context.Context, workspaceID, id int64) error
	Invitations(ctx context.Context, workspaceID int64) ([]store.InvitationView, error)
	Invitation(ctx context.Context, hash [32]byte, now rimewatch.Time) (store.InvitationView, error)
	AcceptInvitation(ctx context.Context, hash [32]byte, u *rimewatch.User, now rimewatch.Time) (rimewatch.Member, error)
}

type factorStore interface {
	SecondFactor(ctx context.Context, userID int64) (store.SecondFactor, error)
	BeginSecondFactor(ctx context.Context, userID int64, secret []byte) error
	ConfirmSecondFactor(ctx context.Context, userID int64, step int64, codes [][32]byte, now rimewatch.Time) error
	UseStep(ctx context.Context, userID, step int64) error
	UseRecoveryCode(ctx context.Context, userID int64, hash [32]byte) (left int, err error)
	ReplaceRecoveryCodes(ctx context.Context, userID int64, codes [][32]byte) error
	DeleteSecondFactor(ctx context.Context, userID int64) error
}

type sessionStore interface {
	CreateSession(ctx context.Context, s *store.Session) error
	Session(ctx context.Context, hash [32]byte, now rimewatch.Time) (store.Session, error)
	TouchSession(ctx context.Context, id int64, lastUsed, expires rimewatch.Time) error
	Sessions(ctx context.Context, userID int64, now rimewatch.Time) ([]store.Session, error)
	DeleteSession(ctx context.Context, userID, id int64) error
	DeleteSessions(ctx context.Context, userID, keep int64) error
	SetSessionWorkspace(ctx context.Context, userID, id, workspaceID int64) error
	DeleteExpired(ctx context.Context, now rimewatch.Time) error
}

type tokenStore interface {
	CreateToken(ctx context.Context, t *rimewatch.Token) error
	TokenByHash(ctx context.Context, hash [32]byte) (rimewatch.Token, error)
	Tokens(ctx context.Context, workspaceID int64) ([]store.TokenView, error)
	RevokeToken(ctx context.Context, workspaceID, id int64, now rimewatch.Time) error
	TouchTokens(ctx context.Context, lastUsed map[int64]rimewatch.Time) error
}

// Store is what the service asks of a store.
type Store interface {
	workspaceStore
	siteStore
	userStore
	memberStore
	invitationStore
	factorStore
	sessionStore
	tokenStore
	store.Answers
}

// Config of a Service. The zero value of everything but Store is good.
type Config struct {
	Store    Store
	Password PasswordParams // default: OWASP's
	// OnRevoke hears of every token that stopped working: revoked here, or found
	// revoked by another process. It runs on the caller's goroutine and must not
	// block. It may hear of a token more than once.
	OnRevoke func(tokenID int64)
	// Mail sends a letter; nil = the service sends no mail. PublicURL is where
	// the links in letters lead, without a slash at its end.
	Mail      func(ctx context.Context, l Letter) error
	PublicURL string

	// Grants are the roles that groups of the sign-in provider grant.
	Grants []Grant
	// Seal returns what encrypts secrets that must be read again, such as those of
	// second factors, or an error while there is none; nil = they are kept as they are.
	Seal func() (cipher.AEAD, error)

	Rand   io.Reader    // default crypto/rand
	Logger *slog.Logger // what the background work could not do
}

// Service is safe for concurrent use. It owns no goroutine but the one in which
// Run is called.
type Service struct {
	settings
	tokens
	ownSessions
	operatorDesk
	vault
	refusals
	store.Answers // to requests with an Idempotency-Key: the store keeps them
	store         Store
	hasher        *hasher
	rand          io.Reader
	log           *slog.Logger

	touchMu sync.Mutex
	touched map[int64]sessionTouch // uses of sessions that Flush writes

	mail      func(context.Context, Letter) error
	publicURL string
	resets    chan resetRequest
	grants    []Grant

	signIns signIns

	setupDone atomic.Bool // a user exists; there is no way back
	setupMu   sync.Mutex
	setup     string // the one-time code while no user exists
	flushMu   sync.Mutex
	prunedAt  rimewatch.Time // under flushMu
}

// New makes a service over a store.
func New(cfg Config) *Service {
	if cfg.Rand == nil {
		cfg.Rand = rand.Reader
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.OnRevoke == nil {
		cfg.OnRevoke = func(int64) {}
	}
	s := &Service{
		settings: settings{cfg.Store}, ownSessions: ownSessions{cfg.Store}, operatorDesk: operatorDesk{cfg.Store}, vault: vault{cfg.Seal, cfg.Logger}, Answers: cfg.Store,
		tokens: tokens{store: cfg.Store, rand: cfg.Rand, onRevoke: cfg.OnRevoke},
		store:  cfg.Store,
		hasher: newHasher(cfg.Password),
		rand:   cfg.Rand,
		log:    cfg.Logger,
		mail:   cfg.Mail, publicURL: cfg.PublicURL, resets: make(chan resetRequest, resetWaiting),
		grants:  cfg.Grants,
		touched: make(map[int64]sessionTouch),
	}
	s.tokens.cache.init()
	s.signIns.init()
	s.refusals.init(cfg.Store, cfg.Logger)
	return s
}

// How often Run writes last uses, and how often what has expired is dropped.
const (
	flushEvery = 15 * time.Second
	pruneEvery = rimewatch.Hour
)

// Run writes last uses, drops what has expired and sends links for forgotten
// passwords until ctx ends, then writes once more. clock returns the current time.
func (s *Service) Run(ctx context.Context, clock func() rimewatch.Time) {
	var resets sync.WaitGroup
	defer resets.Wait()
	resets.Go(func() { s.runResets(ctx) })
	flush := func() {
		// It must not fail because the context has ended.
		if err := s.Flush(context.WithoutCancel(ctx), clock()); err != nil {
			s.log.Error("write last uses", "error", err)
		}
	}
	for range ticker.Every(ctx.Done(), flushEvery, nil) {
		flush()
	}
	flush()
}

// Flush writes the last uses of tokens and sessions, and once an hour drops
// sessions and links that have expired. What could not be written is kept for
// the next time.
func (s *Service) Flush(ctx context.Context, now rimewatch.Time) error {
	s.flushMu.Lock()
	defer s.flushMu.Unlock()
	err := errors.Join(s.flushTokens(ctx, now), s.flushSessions(ctx))
	if now-s.prunedAt >= pruneEvery || now < s.prunedAt {
		if e := s.store.DeleteExpired(ctx, now); e != nil {
			return errors.Join(err, e)
		}
		s.prunedAt = now
	}
	return err
}

// secretBytes is the size of session secrets and password links.
const secretBytes = 32

// newSecret makes a 256-bit secret in 43 characters of base64url and its hash.
func (s *Service) newSecret() (plain string, hash [32]byte, err error) {
	var b [secretBytes]byte
	if _, err := io.ReadFull(s.rand, b[:]); err != nil {
		return "", hash, fmt.Errorf("random bytes: %w", err)
	}
	plain = base64.RawURLEncoding.EncodeToString(b[:])
	return plain, sha256.Sum256([]byte(plain)), nil
}

// SessionHash returns the stored form of the secret of a session; false when it
// cannot be one.
func SessionHash(secret string) (hash [32]byte, ok bool) { return hashSecret(secret) }

// hashSecret is the stored form of a secret; false when plain cannot be one.
func hashSecret(plain string) (hash [32]byte, ok bool) {
	if len(plain) != base64.RawURLEncoding.EncodedLen(secretBytes) {
		return hash, false
	}
	return sha256.Sum256([]byte(plain)), true
}

// normalText is text as people mean it: without the spaces around it.
func normalText(s string) string { return strings.TrimSpace(s) }

// normalEmail is the form of an e-mail address that is stored and looked up.
func normalEmail(s string) string { return rimewatch.TextKey(strings.TrimSpace(s)) }

// timeZone checks an IANA name: CodeValidationFailed on timezone. "Local" is
// the machine's zone and means nothing to anyone else.
func timeZone(name string) error {
	if name == "" || name == "Local" {
		return rimewatch.Invalid("timezone", "must be an IANA time zone such as Europe/Berlin")
	}
	if _, err := time.LoadLocation(name); err != nil {
		return rimewatch.Invalid("timezone", "%q is not an IANA time zone such as Europe/Berlin", name)
	}
	return nil
}
