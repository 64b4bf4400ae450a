package account

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/trial"
)

func TestAuthenticate(t *testing.T) {
	f := newFixture(t)
	tok, plain := f.token(TokenRequest{Scopes: rimewatch.ScopesRead, ExpiresAt: t0 + rimewatch.Hour})
	last := byte('A')
	if plain[len(plain)-1] == 'A' {
		last = 'B'
	}
	rnd := rand.New(rand.NewPCG(trial.Seed(t), 1))
	unknown := rimewatch.NewToken(func() byte { return byte(rnd.Uint32()) })
	for _, c := range []struct {
		name    string
		plain   string
		now     rimewatch.Time
		want    rimewatch.Code
		lookups int64
	}{
		{"new", plain, t0, "", 1},
		{"again", plain, t0, "", 0},
		{"fresh", plain, t0 + 499, "", 0},
		{"due", plain, t0 + 500, "", 1},
		{"a little back", plain, t0 + 1, "", 0},
		{"far back", plain, t0 - rimewatch.Day, "", 1},
		{"just valid", plain, t0 + rimewatch.Hour - 1, "", 1},
		{"expired in the cache", plain, t0 + rimewatch.Hour, rimewatch.CodeUnauthenticated, 0},
		{"expired", plain, t0 + 2*rimewatch.Hour, rimewatch.CodeUnauthenticated, 1},
		{"unknown", unknown, t0, rimewatch.CodeUnauthenticated, 1},
		{"unknown is not remembered", unknown, t0, rimewatch.CodeUnauthenticated, 1},
		{"wrong checksum", plain[:len(plain)-1] + string(last), t0, rimewatch.CodeUnauthenticated, 0},
		{"wrong case", strings.ToUpper(plain), t0, rimewatch.CodeUnauthenticated, 0},
		{"empty", "", t0, rimewatch.CodeUnauthenticated, 0},
		{"short", plain[1:], t0, rimewatch.CodeUnauthenticated, 0},
		{"long", plain + "0", t0, rimewatch.CodeUnauthenticated, 0},
		{"spaces", " " + plain[:len(plain)-1], t0, rimewatch.CodeUnauthenticated, 0},
		{"garbage", strings.Repeat("\xff", rimewatch.TokenLen), t0, rimewatch.CodeUnauthenticated, 0},
		{"huge", strings.Repeat("x", 1<<20), t0, rimewatch.CodeUnauthenticated, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := f.store.lookups.Load()
			p, err := f.Authenticate(f.ctx, c.plain, c.now)
			same(t, rimewatch.CodeOf(err), c.want)
			want := Principal{WorkspaceID: f.ws.ID, TokenID: tok.ID, TokenName: "gateway", Scopes: rimewatch.ScopesRead}
			if c.want != "" {
				want = Principal{}
			}
			if strings.HasPrefix(c.name, "expired") { // whoever is to hear of it
				want = Principal{WorkspaceID: f.ws.ID, TokenID: tok.ID, TokenName: "gateway"}
			}
			same(t, p, want)
			same(t, f.store.lookups.Load()-before, c.lookups)
		})
	}
}

// A token made or revoked by another process counts here in time.
func TestAuthenticateAcrossProcesses(t *testing.T) {
	f := newFixture(t)
	cli := f.other()
	tok, plain, err := cli.CreateToken(f.ctx, f.op, TokenRequest{Name: "made elsewhere"}, t0)
	f.ok(err)
	_, err = f.Authenticate(f.ctx, plain, t0)
	f.ok(err)
	f.ok(cli.RevokeToken(f.ctx, f.op, tok.ID, t0+1))
	_, err = f.Authenticate(f.ctx, plain, t0+499)
	f.ok(err) // believed, and still within a second
	for _, now := range []rimewatch.Time{t0 + 500, t0 + 501, t0 + 2000} {
		_, err = f.Authenticate(f.ctx, plain, now)
		f.code(err, rimewatch.CodeUnauthenticated)
	}
	if !slices.Equal(f.revoked, []int64{tok.ID}) {
		t.Fatalf("OnRevoke heard of %v, want %d once", f.revoked, tok.ID)
	}
}

func TestRevokeHere(t *testing.T) {
	f := newFixture(t)
	tok, plain := f.token(TokenRequest{})
	_, err := f.Authenticate(f.ctx, plain, t0)
	f.ok(err)
	f.ok(f.RevokeToken(f.ctx, f.op, tok.ID, t0))
	_, err = f.Authenticate(f.ctx, plain, t0)
	f.code(err, rimewatch.CodeUnauthenticated)
	f.ok(f.RevokeToken(f.ctx, f.op, tok.ID, t0+1)) // twice is no error
	f.code(f.RevokeToken(f.ctx, f.op, tok.ID+1, t0), rimewatch.CodeNotFound)
	if !slices.Contains(f.revoked, tok.ID) {
		t.Fatalf("OnRevoke heard of %v, want %d", f.revoked, tok.ID)
	}
}

func TestStoreDown(t *testing.T) {
	f := newFixture(t)
	_, plain := f.token(TokenRequest{})
	_, err := f.Authenticate(f.ctx, plain, t0)
	f.ok(err)
	f.store.fail.Store(true)
	_, err = f.Authenticate(f.ctx, plain, t0+100)
	f.ok(err)
	_, err = f.Authenticate(f.ctx, plain, t0+600)
	f.code(err, rimewatch.CodeUnavailable) // never "your token is wrong"
	f.code(f.Flush(f.ctx, t0+600), rimewatch.CodeUnavailable)
	f.store.fail.Store(false)
	_, err = f.Authenticate(f.ctx, plain, t0+600)
	f.ok(err)
}

// While one request asks the store, the others go on with the old answer, but
// not for long.
func TestOneAsks(t *testing.T) {
	f := newFixture(t)
	_, plain := f.token(TokenRequest{})
	_, err := f.Authenticate(f.ctx, plain, t0)
	f.ok(err)
	entered, leave := make(chan struct{}), make(chan struct{})
	var once sync.Once
	f.store.hook = func() {
		once.Do(func() { close(entered) })
		<-leave
	}
	before := f.store.lookups.Load()
	var wg sync.WaitGroup
	authenticate := func(now rimewatch.Time) {
		if _, err := f.Authenticate(f.ctx, plain, now); err != nil {
			t.Error(err)
		}
	}
	wg.Go(func() { authenticate(t0 + 600) })
	<-entered
	for range 10 {
		authenticate(t0 + 700) // does not wait
	}
	for range 10 {
		wg.Go(func() { authenticate(t0 + 760) }) // waits
	}
	close(leave)
	wg.Wait()
	same(t, f.store.lookups.Load()-before, int64(1))
}

func TestLastUse(t *testing.T) {
	f := newFixture(t)
	tok, plain := f.token(TokenRequest{})
	stored := func() rimewatch.Time {
		got, err := f.store.People().TokenByHash(f.ctx, rimewatch.HashToken(plain))
		f.ok(err)
		return got.LastUsedAt
	}
	use := func(now rimewatch.Time) {
		_, err := f.Authenticate(f.ctx, plain, now)
		f.ok(err)
	}
	use(t0 + 59_999)
	same(t, stored(), 0) // no request writes
	list, err := f.Tokens(f.ctx, f.op)
	f.ok(err)
	same(t, list[0].LastUsedAt, t0) // but it is shown
	f.ok(f.Flush(f.ctx, t0+59_999))
	same(t, stored(), t0)
	use(t0 + 3*rimewatch.Minute + 7)
	f.store.fail.Store(true)
	f.code(f.Flush(f.ctx, t0+3*rimewatch.Minute), rimewatch.CodeUnavailable)
	f.store.fail.Store(false)
	same(t, stored(), t0)
	f.ok(f.Flush(f.ctx, t0+3*rimewatch.Minute))
	same(t, stored(), t0+3*rimewatch.Minute)
	use(t0 + 5*rimewatch.Minute)
	f.ok(f.RevokeToken(f.ctx, f.op, tok.ID, t0+5*rimewatch.Minute)) // its last use is not lost
	f.store.fail.Store(true)
	f.code(f.Flush(f.ctx, t0+6*rimewatch.Minute), rimewatch.CodeUnavailable)
	f.store.fail.Store(false)
	f.ok(f.Flush(f.ctx, t0+6*rimewatch.Minute))
	same(t, stored(), t0+5*rimewatch.Minute)
}

func TestForgetsUnusedTokens(t *testing.T) {
	f := newFixture(t)
	_, plain := f.token(TokenRequest{})
	_, err := f.Authenticate(f.ctx, plain, t0)
	f.ok(err)
	f.ok(f.Flush(f.ctx, t0+tokenForget)) // writes the use first
	same(t, len(f.tokens.cache.byHash), 1)
	f.ok(f.Flush(f.ctx, t0+tokenForget))
	same(t, len(f.tokens.cache.byHash)+len(f.tokens.cache.byID)+len(f.tokens.cache.uses), 0)
	_, err = f.Authenticate(f.ctx, plain, t0+tokenForget)
	f.ok(err)
}

func TestValid(t *testing.T) {
	f := newFixture(t)
	cli := f.other()
	tok, plain := f.token(TokenRequest{})
	p, err := f.Authenticate(f.ctx, plain, t0)
	f.ok(err)
	f.ok(f.Valid(f.ctx, p, t0+600))
	f.ok(cli.RevokeToken(f.ctx, f.op, tok.ID, t0+700))
	f.code(f.Valid(f.ctx, p, t0+1200), rimewatch.CodeUnauthenticated)

	_, plain = f.token(TokenRequest{ExpiresAt: t0 + 100})
	p, err = f.Authenticate(f.ctx, plain, t0)
	f.ok(err)
	f.ok(f.Valid(f.ctx, p, t0+99))
	f.code(f.Valid(f.ctx, p, t0+100), rimewatch.CodeUnauthenticated)

	f.ok(f.Valid(f.ctx, f.op, t0))
	admin := f.as(rimewatch.RoleAdmin)
	owner := f.as(rimewatch.RoleOwner)
	f.ok(f.Valid(f.ctx, admin, t0))
	_, err = f.ChangeMember(f.ctx, owner, admin.UserID, MemberPatch{Role: rimewatch.RoleViewer})
	f.ok(err)
	f.code(f.Valid(f.ctx, admin, t0), rimewatch.CodeForbidden)
	admin.Role = rimewatch.RoleViewer
	f.ok(f.Valid(f.ctx, admin, t0))
	f.code(f.Valid(f.ctx, admin, t0+SessionIdle), rimewatch.CodeUnauthenticated)
	f.ok(f.RemoveMember(f.ctx, owner, admin.UserID, t0))
	f.code(f.Valid(f.ctx, admin, t0), rimewatch.CodeForbidden)
	f.ok(f.SignOut(f.ctx, owner))
	f.code(f.Valid(f.ctx, owner, t0), rimewatch.CodeUnauthenticated)
}

func TestAuthenticateAllocatesNothing(t *testing.T) {
	f := newFixture(t)
	_, plain := f.token(TokenRequest{})
	ctx := context.Background()
	if _, err := f.Authenticate(ctx, plain, t0); err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(100, func() {
		if _, err := f.Authenticate(ctx, plain, t0); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Fatalf("a cached token costs %v allocations", n)
	}
}

// Two processes on one file make, use and revoke tokens. Whatever they do: a
// valid token always works, and one that ended a second ago never does.
func TestTokensAgainstModel(t *testing.T) {
	f := newFixture(t)
	rapid.Check(t, func(rt *rapid.T) {
		services := []*Service{New(Config{Store: f.store}), New(Config{Store: f.store})}
		type known struct {
			plain            string
			id               int64
			expires, revoked rimewatch.Time
			endedHereBy      *Service
		}
		var all []*known
		now := t0
		rt.Repeat(map[string]func(*rapid.T){
			"": func(*rapid.T) { now += rimewatch.Time(rapid.IntRange(0, 700).Draw(rt, "ms")) },
			"create": func(rt *rapid.T) {
				k := &known{}
				if rapid.Bool().Draw(rt, "expires") {
					k.expires = now + rimewatch.Time(rapid.IntRange(1, 3000).Draw(rt, "life"))
				}
				tok, plain, err := rapid.SampledFrom(services).Draw(rt, "by").CreateToken(f.ctx, f.op, TokenRequest{Name: "x", ExpiresAt: k.expires}, now)
				if err != nil {
					rt.Fatal(err)
				}
				k.plain, k.id = plain, tok.ID
				all = append(all, k)
			},
			"revoke": func(rt *rapid.T) {
				if len(all) == 0 {
					rt.Skip()
				}
				k, by := rapid.SampledFrom(all).Draw(rt, "token"), rapid.SampledFrom(services).Draw(rt, "by")
				if err := by.RevokeToken(f.ctx, f.op, k.id, now); err != nil {
					rt.Fatal(err)
				}
				if k.revoked == 0 {
					k.revoked, k.endedHereBy = now, by
				}
			},
			"flush": func(rt *rapid.T) {
				if err := rapid.SampledFrom(services).Draw(rt, "by").Flush(f.ctx, now); err != nil {
					rt.Fatal(err)
				}
			},
			"use": func(rt *rapid.T) {
				if len(all) == 0 {
					rt.Skip()
				}
				k, by := rapid.SampledFrom(all).Draw(rt, "token"), rapid.SampledFrom(services).Draw(rt, "by")
				_, err := by.Authenticate(f.ctx, k.plain, now)
				code := rimewatch.CodeOf(err)
				expired := k.expires != 0 && now >= k.expires
				switch {
				case k.revoked == 0 && !expired:
					if err != nil {
						rt.Fatalf("a valid token is refused: %v", err)
					}
				case expired, by == k.endedHereBy, now-k.revoked >= rimewatch.Second:
					if code != rimewatch.CodeUnauthenticated {
						rt.Fatalf("an ended token gives %v", err)
					}
				case err != nil && code != rimewatch.CodeUnauthenticated:
					rt.Fatal(err)
				}
			},
		})
	})
}

func FuzzTokenAuthenticate(fz *testing.F) {
	f := newFixture(fz)
	_, plain := f.token(TokenRequest{})
	fz.Add(plain)
	fz.Add("")
	fz.Add("rw_")
	fz.Add(plain[:40] + "\x00")
	fz.Add("RW_" + plain[3:])
	fz.Add(rimewatch.NewToken(func() byte { return 0 }))
	fz.Fuzz(func(t *testing.T, s string) {
		before := f.store.lookups.Load()
		p, err := f.Authenticate(f.ctx, s, t0)
		if s == plain {
			if err != nil || p.WorkspaceID != f.ws.ID {
				t.Fatalf("the token gives %+v, %v", p, err)
			}
			return
		}
		if rimewatch.CodeOf(err) != rimewatch.CodeUnauthenticated || p != (Principal{}) {
			t.Fatalf("%q gives %+v, %v", s, p, err)
		}
		if !rimewatch.ValidToken(s) && f.store.lookups.Load() != before {
			t.Fatalf("%q was looked up", s)
		}
	})
}

func BenchmarkAuthenticate(b *testing.B) {
	f := newFixture(b)
	var plain []string
	for range 1000 {
		_, p := f.token(TokenRequest{})
		plain = append(plain, p)
		_, err := f.Authenticate(f.ctx, p, t0)
		f.ok(err)
	}
	b.Run("one token", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_, _ = f.Authenticate(f.ctx, plain[0], t0)
		}
	})
	b.Run("1000 tokens, parallel", func(b *testing.B) {
		b.ReportAllocs()
		b.RunParallel(func(pb *testing.PB) {
			for i := 0; pb.Next(); i++ {
				_, _ = f.Authenticate(f.ctx, plain[i%len(plain)], t0)
			}
		})
	})
	b.Run("one token, parallel", func(b *testing.B) {
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				_, _ = f.Authenticate(f.ctx, plain[0], t0)
			}
		})
	})
	b.Run("wrong checksum", func(b *testing.B) {
		for b.Loop() {
			_, _ = f.Authenticate(f.ctx, "rw_00000000000000000000000000000000000000", t0)
		}
	})
}

var _ Store = store.Store(nil)
