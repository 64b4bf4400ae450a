package account

import (
	"context"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/ccojocar/zxcvbn-go"
	"golang.org/x/crypto/argon2"

	"github.com/rimewatch/rimewatch"
)

// PasswordParams are the cost parameters of argon2id.
type PasswordParams struct {
	MemoryKiB uint32
	Passes    uint32
	Threads   uint8
}

// DefaultPasswordParams are those of the OWASP password storage cheat sheet:
// 19 MiB, 2 passes, 1 thread.
var DefaultPasswordParams = PasswordParams{MemoryKiB: 19 * 1024, Passes: 2, Threads: 1}

// The length of a password. The lower bound is a compromise between NIST SP
// 800-63B-4 (15 characters for a password alone) and what people put up with;
// the upper one bounds the work.
const (
	MinPasswordLen = 10  // characters
	MaxPasswordLen = 256 // bytes
)

const (
	saltLen = 16
	keyLen  = 32
	// hashSlots is how many hashes run at once. Strangers get all but one of them,
	// so that a flood of guesses does not keep out those who are known.
	hashSlots = 2
	// hashWaiting is how many wait in each class, and sameWaiting how many of them
	// may be about one account.
	hashWaiting = 32
	sameWaiting = 2
)

// The most that a stored hash may ask for, lest a bad row exhaust the machine.
const (
	maxMemoryKiB = 256 * 1024
	maxPasses    = 16
)

// class is the queue of a request for a hash.
type class uint8

const (
	known    class = iota // with a link or a session, or at an address that the account was used from
	stranger              // anybody else
)

// hasher hashes and verifies passwords within bounded memory.
type hasher struct {
	params    PasswordParams
	slots     chan struct{} // held while hashing
	strangers chan struct{} // held by strangers, too
	nobody    string        // a hash that no password has, for unknown people

	mu      sync.Mutex
	waiting [2]int         // by class, those who hash included
	about   map[string]int // of the strangers, by account
}

func newHasher(p PasswordParams) *hasher {
	if p == (PasswordParams{}) {
		p = DefaultPasswordParams
	}
	h := &hasher{params: p, slots: make(chan struct{}, hashSlots), strangers: make(chan struct{}, hashSlots-1), about: make(map[string]int)}
	h.nobody = encodeHash(p, make([]byte, saltLen), make([]byte, keyLen))
	return h
}

// enter takes a place in a class, about an account ("" = none): false when there
// is none.
func (h *hasher) enter(kind class, account string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.waiting[kind] >= hashSlots+hashWaiting || kind == stranger && h.about[account] >= sameWaiting {
		return false
	}
	h.waiting[kind]++
	if kind == stranger {
		h.about[account]++
	}
	return true
}

func (h *hasher) leave(kind class, account string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.waiting[kind]--
	if kind == stranger {
		if h.about[account]--; h.about[account] == 0 {
			delete(h.about, account)
		}
	}
}

// acquire waits for a slot, which release returns.
func (h *hasher) acquire(ctx context.Context, kind class, account string) (release func(), err error) {
	if !h.enter(kind, account) {
		return nil, &rimewatch.Error{Code: rimewatch.CodeUnavailable, Message: "Too many sign-ins at the moment; retry shortly.", RetryAfter: 2 * time.Second}
	}
	// A stranger first takes one of the strangers' slots, then one of all.
	var held []chan struct{}
	release = func() {
		for _, slot := range held {
			<-slot
		}
		h.leave(kind, account)
	}
	need := []chan struct{}{h.strangers, h.slots}
	if kind == known {
		need = need[1:]
	}
	for _, slot := range need {
		select {
		case slot <- struct{}{}:
			held = append(held, slot)
		case <-ctx.Done():
		}
		if ctx.Err() != nil { // a client that has gone does not use up a free slot
			release()
			return nil, rimewatch.Wrap(rimewatch.CodeUnavailable, ctx.Err(), "The request was cancelled.")
		}
	}
	return release, nil
}

// hash returns the PHC string of a password with a new salt.
func (h *hasher) hash(ctx context.Context, random io.Reader, password string) (string, error) {
	var salt [saltLen]byte
	if _, err := io.ReadFull(random, salt[:]); err != nil {
		return "", fmt.Errorf("random bytes: %w", err)
	}
	release, err := h.acquire(ctx, known, "")
	if err != nil {
		return "", err
	}
	defer release()
	p := h.params
	return encodeHash(p, salt[:], argon2.IDKey([]byte(password), salt[:], p.Passes, p.MemoryKiB, p.Threads, keyLen)), nil
}

// verify reports whether password has the hash. An empty hash (a person without
// a password, or none at all) costs the same work and never matches.
func (h *hasher) verify(ctx context.Context, kind class, account, encoded, password string) (bool, error) {
	exists := encoded != ""
	if !exists {
		encoded = h.nobody
	}
	p, salt, key, err := decodeHash(encoded)
	if err != nil {
		return false, err
	}
	if len(password) > MaxPasswordLen {
		exists, password = false, "" // as much work, for every input
	}
	release, err := h.acquire(ctx, kind, account)
	if err != nil {
		return false, err
	}
	defer release()
	got := argon2.IDKey([]byte(password), salt, p.Passes, p.MemoryKiB, p.Threads, uint32(len(key)))
	return subtle.ConstantTimeCompare(got, key) == 1 && exists, nil
}

// outdated reports whether a hash was made with other parameters than today's.
func (h *hasher) outdated(encoded string) bool {
	p, _, _, err := decodeHash(encoded)
	return err == nil && p != h.params
}

// encodeHash writes the PHC string format of argon2id.
func encodeHash(p PasswordParams, salt, key []byte) string {
	b64 := base64.RawStdEncoding
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, p.MemoryKiB, p.Passes, p.Threads, b64.EncodeToString(salt), b64.EncodeToString(key))
}

func decodeHash(encoded string) (p PasswordParams, salt, key []byte, err error) {
	bad := func(what string) (PasswordParams, []byte, []byte, error) {
		return PasswordParams{}, nil, nil, fmt.Errorf("stored password hash: %s", what)
	}
	parts := strings.Split(encoded, "$")
	if len(parts) != 6 || parts[0] != "" || parts[1] != "argon2id" {
		return bad("not an argon2id PHC string")
	}
	var version int
	if _, err := fmt.Sscanf(parts[2], "v=%d", &version); err != nil || version != argon2.Version {
		return bad("unknown version")
	}
	if _, err := fmt.Sscanf(parts[3], "m=%d,t=%d,p=%d", &p.MemoryKiB, &p.Passes, &p.Threads); err != nil {
		return bad("unreadable parameters")
	}
	if p.MemoryKiB > maxMemoryKiB || p.Passes < 1 || p.Passes > maxPasses || p.Threads < 1 {
		return bad("parameters out of range")
	}
	if salt, err = base64.RawStdEncoding.Strict().DecodeString(parts[4]); err != nil || len(salt) < 8 {
		return bad("unreadable salt")
	}
	if key, err = base64.RawStdEncoding.Strict().DecodeString(parts[5]); err != nil || len(key) < 16 || len(key) > 64 {
		return bad("unreadable key")
	}
	return p, salt, key, nil
}

// weakScore is the score of zxcvbn, 0 to 4, up to which a password is refused:
// those that are found within about two million guesses, among them the most
// common ones, their usual variants, and what follows from the person's own
// name and address.
const weakScore = 0

// judgedLen is how many bytes of a password are judged: judging costs time that
// grows fast with the length.
const judgedLen = 40

// checkPassword reports why a person may not choose this password:
// CodeValidationFailed on "password". about are the person's name, address and the like.
func checkPassword(password string, about ...string) error {
	if e := rimewatch.CheckText(nil, "password", password, MaxPasswordLen); e != nil {
		return e
	}
	if utf8.RuneCountInString(password) < MinPasswordLen {
		return rimewatch.Invalid("password", "must have at least %d characters", MinPasswordLen)
	}
	var hints []string
	for _, a := range append(about, "rimewatch") {
		hints = append(hints, strings.ToLower(a))
		hints = append(hints, strings.FieldsFunc(strings.ToLower(a), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })...)
	}
	if zxcvbn.PasswordStrength(clip(password, judgedLen), hints).Score <= weakScore {
		return rimewatch.Invalid("password", "is too easy to guess: it is common, or made of your name, a pattern or repetitions")
	}
	return nil
}
