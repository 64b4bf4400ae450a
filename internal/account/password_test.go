package account

import (
	"context"
	"crypto/rand"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"github.com/rimewatch/rimewatch"
)

func TestDefaultPasswordParams(t *testing.T) {
	h := newHasher(PasswordParams{})
	encoded, err := h.hash(t.Context(), rand.Reader, "correct horse battery")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(encoded, "$argon2id$v=19$m=19456,t=2,p=1$") {
		t.Fatalf("the hash %s has other parameters than OWASP's", encoded)
	}
	for password, want := range map[string]bool{"correct horse battery": true, "correct horse batterY": false, "": false} {
		if ok, err := h.verify(t.Context(), encoded, password); err != nil || ok != want {
			t.Errorf("%q: %v, %v", password, ok, err)
		}
	}
}

// The example of the reference implementation's README (phc-winner-argon2):
// echo -n password | argon2 somesalt -id -t 2 -m 16 -p 4 -l 24.
func TestForeignHash(t *testing.T) {
	h := newHasher(cheap)
	const encoded = "$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc"
	ok, err := h.verify(t.Context(), encoded, "password")
	if err != nil || !ok {
		t.Fatalf("a hash of the reference implementation: %v, %v", ok, err)
	}
	if !h.outdated(encoded) {
		t.Fatal("a hash with other parameters is not outdated")
	}
}

func TestPasswords(t *testing.T) {
	h := newHasher(cheap)
	rapid.Check(t, func(rt *rapid.T) {
		password, other := rapid.String().Draw(rt, "password"), rapid.String().Draw(rt, "other")
		encoded, err := h.hash(t.Context(), rand.Reader, password)
		if err != nil {
			rt.Fatal(err)
		}
		again, err := h.hash(t.Context(), rand.Reader, password)
		if err != nil || again == encoded {
			rt.Fatalf("two hashes of one password are the same: %v", err)
		}
		if ok, err := h.verify(t.Context(), encoded, password); err != nil || ok != (len(password) <= MaxPasswordLen) {
			rt.Fatalf("the password: %v, %v", ok, err)
		}
		if ok, err := h.verify(t.Context(), encoded, other); err != nil || ok && other != password {
			rt.Fatalf("another password: %v, %v", ok, err)
		}
		if h.outdated(encoded) {
			rt.Fatal("a new hash is outdated")
		}
	})
}

// No password opens the account of a person who has none.
func TestNoHash(t *testing.T) {
	h := newHasher(cheap)
	for _, password := range []string{"", "x", strings.Repeat("x", 1<<20)} {
		if ok, err := h.verify(t.Context(), "", password); err != nil || ok {
			t.Errorf("%.10q: %v, %v", password, ok, err)
		}
	}
	p, _, _, err := decodeHash(h.nobody)
	if err != nil || p != cheap {
		t.Fatalf("the work for nobody is %+v, %v", p, err)
	}
}

func TestBadHashes(t *testing.T) {
	h := newHasher(cheap)
	good, err := h.hash(t.Context(), rand.Reader, "x")
	if err != nil {
		t.Fatal(err)
	}
	for name, encoded := range map[string]string{
		"no hash":       "x",
		"bcrypt":        "$2a$10$N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhWy",
		"argon2i":       strings.Replace(good, "argon2id", "argon2i", 1),
		"version":       strings.Replace(good, "v=19", "v=16", 1),
		"no version":    strings.Replace(good, "v=19", "v=", 1),
		"no parameters": strings.Replace(good, "m=8,t=1,p=1", "m=8", 1),
		"memory bomb":   strings.Replace(good, "m=8,", "m=4294967295,", 1),
		"time bomb":     strings.Replace(good, "t=1,", "t=4294967295,", 1),
		"no passes":     strings.Replace(good, "t=1,", "t=0,", 1),
		"no threads":    strings.Replace(good, "p=1$", "p=0$", 1),
		"salt":          strings.Replace(good, "p=1$", "p=1$!", 1),
		"no salt":       "$argon2id$v=19$m=8,t=1,p=1$$AAAAAAAAAAAAAAAAAAAAAA",
		"no key":        "$argon2id$v=19$m=8,t=1,p=1$AAAAAAAAAAAAAAAAAAAAAA$",
		"short key":     "$argon2id$v=19$m=8,t=1,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAA",
	} {
		if ok, err := h.verify(t.Context(), encoded, "x"); ok || err == nil {
			t.Errorf("%s: %v, %v", name, ok, err)
		}
	}
}

// At most hashSlots hashes run, hashWaiting wait, and the rest is refused.
func TestHashingIsBounded(t *testing.T) {
	h := newHasher(cheap)
	ctx, giveUp := context.WithCancel(t.Context())
	for range hashSlots {
		if err := h.acquire(ctx); err != nil {
			t.Fatal(err)
		}
	}
	var wg sync.WaitGroup
	var gaveUp atomic.Int32
	for range hashWaiting {
		wg.Go(func() {
			if rimewatch.CodeOf(h.acquire(ctx)) == rimewatch.CodeUnavailable {
				gaveUp.Add(1)
			}
		})
	}
	for len(h.queue) < cap(h.queue) { // until all wait
		runtime.Gosched()
	}
	_, err := h.hash(t.Context(), rand.Reader, "x")
	if rimewatch.CodeOf(err) != rimewatch.CodeUnavailable {
		t.Fatalf("one too many: %v", err)
	}
	giveUp()
	wg.Wait()
	if gaveUp.Load() != hashWaiting {
		t.Fatalf("%d gave up, want %d", gaveUp.Load(), hashWaiting)
	}
	for range hashSlots {
		h.release()
	}
	if _, err := h.hash(t.Context(), rand.Reader, "x"); err != nil || len(h.queue)+len(h.slots) != 0 {
		t.Fatalf("afterwards: %v, %d in the queue", err, len(h.queue))
	}
}

func TestCheckPassword(t *testing.T) {
	for _, c := range []struct {
		password string
		ok       bool
	}{
		{"0123456789", true},
		{"012345678", false},
		{"ßßßßßßßßßß", true},
		{"ßßßßßßßßß", false}, // 18 bytes, but 9 characters
		{strings.Repeat("x", MaxPasswordLen), true},
		{strings.Repeat("x", MaxPasswordLen+1), false},
		{"0123456789\x00", false},
		{"0123456789\xff", false},
		{"          ", true},
	} {
		if err := checkPassword("password", c.password); (err == nil) != c.ok {
			t.Errorf("%q: %v", c.password, err)
		}
	}
}

func BenchmarkHash(b *testing.B) {
	h := newHasher(DefaultPasswordParams)
	for b.Loop() {
		if _, err := h.hash(b.Context(), rand.Reader, password); err != nil {
			b.Fatal(err)
		}
	}
}
