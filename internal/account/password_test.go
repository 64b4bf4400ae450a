package account

import (
	"context"
	"crypto/rand"
	"fmt"
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
		if ok, err := h.verify(t.Context(), stranger, "x", encoded, password); err != nil || ok != want {
			t.Errorf("%q: %v, %v", password, ok, err)
		}
	}
}

// The example of the reference implementation's README (phc-winner-argon2):
// echo -n password | argon2 somesalt -id -t 2 -m 16 -p 4 -l 24.
func TestForeignHash(t *testing.T) {
	h := newHasher(cheap)
	const encoded = "$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc"
	ok, err := h.verify(t.Context(), stranger, "x", encoded, "password")
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
		if ok, err := h.verify(t.Context(), stranger, "x", encoded, password); err != nil || ok != (len(password) <= MaxPasswordLen) {
			rt.Fatalf("the password: %v, %v", ok, err)
		}
		if ok, err := h.verify(t.Context(), stranger, "x", encoded, other); err != nil || ok && other != password {
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
		if ok, err := h.verify(t.Context(), stranger, "x", "", password); err != nil || ok {
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
		if ok, err := h.verify(t.Context(), stranger, "x", encoded, "x"); ok || err == nil {
			t.Errorf("%s: %v, %v", name, ok, err)
		}
	}
}

// In each class so many wait and the rest is refused; strangers leave a slot to
// those who are known, and crowd nobody out by one account.
func TestHashingIsBounded(t *testing.T) {
	h := newHasher(cheap)
	ctx, giveUp := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	var gaveUp, holding atomic.Int32
	wait := func(kind class, account string) {
		wg.Go(func() {
			release, err := h.acquire(ctx, kind, account)
			if err != nil {
				gaveUp.Add(1)
				return
			}
			holding.Add(1)
			<-ctx.Done()
			release()
		})
	}
	waiting := func(kind class) int {
		h.mu.Lock()
		defer h.mu.Unlock()
		return h.waiting[kind]
	}
	fill := func(kind class, n int) {
		for i := range n {
			wait(kind, fmt.Sprint(i/sameWaiting))
		}
		for waiting(kind) < n {
			runtime.Gosched()
		}
	}
	fill(stranger, 2*sameWaiting)
	if _, err := h.acquire(ctx, stranger, "0"); rimewatch.CodeOf(err) != rimewatch.CodeUnavailable {
		t.Errorf("one account has more than %d places: %v", sameWaiting, err)
	}
	for i := range hashSlots + hashWaiting - 2*sameWaiting {
		wait(stranger, fmt.Sprint("s", i))
	}
	for waiting(stranger) < hashSlots+hashWaiting {
		runtime.Gosched()
	}
	if _, err := h.verify(ctx, stranger, "other", "", "x"); rimewatch.CodeOf(err) != rimewatch.CodeUnavailable {
		t.Errorf("one stranger too many: %v", err)
	}
	if _, err := h.verify(ctx, known, "", "", "x"); err != nil {
		t.Errorf("strangers keep out who is known: %v", err)
	}
	fill(known, hashSlots+hashWaiting)
	if _, err := h.hash(ctx, rand.Reader, "x"); rimewatch.CodeOf(err) != rimewatch.CodeUnavailable {
		t.Errorf("one too many: %v", err)
	}
	for holding.Load() < hashSlots { // one that has just taken a slot may still give up
		runtime.Gosched()
	}
	giveUp()
	wg.Wait()
	if _, err := h.hash(t.Context(), rand.Reader, "x"); err != nil || len(h.slots)+len(h.strangers)+waiting(known)+waiting(stranger)+len(h.about) != 0 {
		t.Fatalf("afterwards: %v, %+v", err, h)
	}
	if n := gaveUp.Load(); n != 2*(hashSlots+hashWaiting)-hashSlots {
		t.Errorf("%d gave up", n)
	}
}

func TestCheckPassword(t *testing.T) {
	for _, c := range []struct {
		password string
		ok       bool
	}{
		{"correct horse battery", true},
		{"Xk9$mQ2vLp", true},
		{"Xk9$mQ2vL", false},
		{"ßüöäßéèçñø", true},
		{"ßüöäßéèçñ", false}, // 18 bytes, but 9 characters
		{"correct horse battery" + strings.Repeat("x", MaxPasswordLen-21), true},
		{"correct horse battery" + strings.Repeat("x", MaxPasswordLen-20), false},
		{"correct horse\x00", false},
		{"correct horse\xff", false},
		// Common ones, and what people make of them.
		{"1234567890", false},
		{"password123", false},
		{"P@ssw0rd123", false},
		{"qwertyuiop", false},
		{"iloveyou12", false},
		{"football123", false},
		{"princess123", false},
		{"1q2w3e4r5t", false},
		{"abcdefghij", false},
		{"aaaaaaaaaaaa", false},
		{"          ", false},
		{"Summer2026!", false},
		{"rimewatch2026", false},
		// What follows from the person.
		{"olga.petrova@example.com", false},
		{"petrova1985", false},
		{strings.Repeat("Xk9$", 64), true}, // judged in bounded time
	} {
		if err := checkPassword(c.password, "olga.petrova@example.com", "Olga Petrova"); (err == nil) != c.ok {
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
