package account

import (
	"context"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

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
	// hashSlots is how many hashes run at once, hashWaiting how many more wait.
	hashSlots   = 2
	hashWaiting = 32
)

// The most that a stored hash may ask for, lest a bad row exhaust the machine.
const (
	maxMemoryKiB = 256 * 1024
	maxPasses    = 16
)

// hasher hashes and verifies passwords within bounded memory.
type hasher struct {
	params PasswordParams
	slots  chan struct{} // held while hashing
	queue  chan struct{} // held while hashing or waiting for it
	nobody string        // a hash that no password has, for unknown people
}

func newHasher(p PasswordParams) *hasher {
	if p == (PasswordParams{}) {
		p = DefaultPasswordParams
	}
	h := &hasher{params: p, slots: make(chan struct{}, hashSlots), queue: make(chan struct{}, hashSlots+hashWaiting)}
	h.nobody = encodeHash(p, make([]byte, saltLen), make([]byte, keyLen))
	return h
}

func (h *hasher) acquire(ctx context.Context) error {
	select {
	case h.queue <- struct{}{}:
	default:
		return &rimewatch.Error{Code: rimewatch.CodeUnavailable, Message: "Too many people sign in at this moment.", RetryAfter: 2 * time.Second}
	}
	select {
	case h.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		<-h.queue
		return rimewatch.Wrap(rimewatch.CodeUnavailable, ctx.Err(), "The request was given up.")
	}
}

func (h *hasher) release() { <-h.slots; <-h.queue }

// hash gives the PHC string of a password with a new salt.
func (h *hasher) hash(ctx context.Context, random io.Reader, password string) (string, error) {
	var salt [saltLen]byte
	if _, err := io.ReadFull(random, salt[:]); err != nil {
		return "", fmt.Errorf("random bytes: %w", err)
	}
	if err := h.acquire(ctx); err != nil {
		return "", err
	}
	defer h.release()
	p := h.params
	return encodeHash(p, salt[:], argon2.IDKey([]byte(password), salt[:], p.Passes, p.MemoryKiB, p.Threads, keyLen)), nil
}

// verify tells whether password has the hash. An empty hash (a person without
// a password, or none at all) costs the same work and never matches.
func (h *hasher) verify(ctx context.Context, encoded, password string) (bool, error) {
	known := encoded != ""
	if !known {
		encoded = h.nobody
	}
	p, salt, key, err := decodeHash(encoded)
	if err != nil {
		return false, err
	}
	if len(password) > MaxPasswordLen {
		known, password = false, "" // as much work, whatever was sent
	}
	if err := h.acquire(ctx); err != nil {
		return false, err
	}
	defer h.release()
	got := argon2.IDKey([]byte(password), salt, p.Passes, p.MemoryKiB, p.Threads, uint32(len(key)))
	return subtle.ConstantTimeCompare(got, key) == 1 && known, nil
}

// outdated tells whether a hash was made with other parameters than today's.
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

// checkPassword tells whether a person may choose this password:
// CodeValidationFailed on field.
func checkPassword(field, password string) error {
	if e := rimewatch.CheckText(nil, field, password, MaxPasswordLen); e != nil {
		return e
	}
	if utf8.RuneCountInString(password) < MinPasswordLen {
		return rimewatch.Invalid(field, "must have at least %d characters", MinPasswordLen)
	}
	return nil
}
