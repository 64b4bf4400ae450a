package account

import (
	"cmp"
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

	"golang.org/x/text/unicode/norm"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/ticker"
)

// Store has the methods of a store that the service calls.
type Store interface {
	store.Control
	store.Answers
	Audit() store.Audit
}

// Config of a Service. The zero value of everything but Store is good.
type Config struct {
	Store    Store
	Password PasswordParams // default: OWASP's
	// OnRevoke hears of every token that stopped working: revoked here, or found
	// revoked by another process. It runs on the caller's goroutine and must not
	// block. It may hear of a token more than once.
	OnRevoke func(tokenID int64)
	// Mail sends a letter; nil = the service sends no mail. PublicURL is where the operator
	// says that people reach it, without a slash at its end; "" = the stored one counts.
	Mail      func(ctx context.Context, l Letter) error
	PublicURL string

	// Grants are the roles that groups of the sign-in provider grant.
	Grants []Grant
	// Provider is set where people may sign in at a provider. Tokens of those who
	// sign in there alone lapse TokenLife after they last did, default DefaultTokenLife.
	Provider  bool
	TokenLife rimewatch.Time
	// Serves reports whether the operator hears of a workspace by this service, and
	// not by that of another shard; nil = of all.
	Serves func(workspaceID int64) bool
	// Seal returns what encrypts secrets that must be read again, such as those of
	// second factors, or an error while there is none; nil = they are kept as they are.
	Seal func() (cipher.AEAD, error)

	Rand   io.Reader    // default crypto/rand
	Logger *slog.Logger // of failures of the background work
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
	calls
	store.Answers // to requests with an Idempotency-Key: the store keeps them
	store         Store
	hasher        *hasher
	rand          io.Reader
	log           *slog.Logger

	touchMu sync.Mutex
	touched map[int64]sessionTouch // uses of sessions that Flush writes

	mail      func(context.Context, Letter) error
	address   address
	resets    chan resetRequest
	grants    []Grant
	provider  bool
	tokenLife rimewatch.Time
	notices   chan notice
	serves    func(workspaceID int64) bool
	ownerless atomic.Int64

	signIns signIns
	invites inviteMails

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
	if cfg.Serves == nil {
		cfg.Serves = func(int64) bool { return true }
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
		mail:   cfg.Mail, address: address{fixed: cfg.PublicURL}, resets: make(chan resetRequest, resetWaiting),
		grants: cfg.Grants, serves: cfg.Serves, provider: cfg.Provider, tokenLife: cmp.Or(cfg.TokenLife, DefaultTokenLife), notices: make(chan notice, noticesWaiting),
		touched: make(map[int64]sessionTouch),
	}
	s.tokens.cache.init()
	s.signIns.init()
	s.invites.sent = newFailureCount[inviteKey](inviteWindow, signInKeys)
	s.refusals.init(cfg.Store, cfg.Logger)
	return s
}

// Intervals at which Run writes last uses, and drops expired rows.
const (
	flushEvery = 15 * time.Second
	pruneEvery = rimewatch.Hour
)

// Run writes last uses, drops expired rows and sends links for forgotten
// passwords until ctx ends, then writes once more. clock returns the current time.
func (s *Service) Run(ctx context.Context, clock func() rimewatch.Time) {
	var resets sync.WaitGroup
	defer resets.Wait()
	resets.Go(func() { s.runResets(ctx) })
	resets.Go(func() { s.runNotices(ctx) })
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

// Flush writes the last uses of tokens and sessions and the requests of tokens, and once an hour drops
// sessions and links that have expired and has tokens lapse. What could not be written is kept for
// the next time.
func (s *Service) Flush(ctx context.Context, now rimewatch.Time) error {
	s.flushMu.Lock()
	defer s.flushMu.Unlock()
	err := errors.Join(s.flushTokens(ctx, now), s.flushSessions(ctx), s.flushCalls(ctx))
	if now-s.prunedAt >= pruneEvery || now < s.prunedAt {
		if e := s.store.People().DeleteExpired(ctx, now); e != nil {
			return errors.Join(err, e)
		}
		s.prunedAt = now
		s.checkOwners(ctx)
		err = errors.Join(err, s.lapse(ctx, now))
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
func normalEmail(s string) string {
	return rimewatch.EmailKey(norm.NFKC.String(strings.TrimSpace(s)))
}
