package account

import (
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/rimewatch/rimewatch"
)

func TestFailureLimiter(t *testing.T) {
	a, b := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.2")
	l := NewFailureLimiter(3)
	for i := range 3 {
		if w := l.Fail(a, t0+rimewatch.Time(i)*rimewatch.Second); w != 0 {
			t.Fatalf("failure %d is refused for %v", i, w)
		}
	}
	same(t, l.Fail(a, t0+20*rimewatch.Second), 40*time.Second)
	same(t, l.Blocked(a, t0+59_999), time.Millisecond)
	same(t, l.Blocked(b, t0+20*rimewatch.Second), 0)
	same(t, l.Blocked(a, t0+rimewatch.Minute), 0)
	same(t, l.Fail(a, t0+rimewatch.Minute), 0)
	same(t, l.Blocked(a, t0-rimewatch.Hour), 0) // a clock that went back blocks nobody for an hour
}

func TestFailureLimiterAddresses(t *testing.T) {
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"192.0.2.1", "192.0.2.2", false},
		{"192.0.2.1", "::ffff:192.0.2.1", true},
		{"2001:db8:0:1::1", "2001:db8:0:1:ffff::9", true},
		{"2001:db8:0:1::1", "2001:db8:0:2::1", false},
		{"fe80::1%eth0", "fe80::2%eth1", true},
	} {
		l := NewFailureLimiter(1)
		l.Fail(netip.MustParseAddr(c.a), t0)
		if got := l.Blocked(netip.MustParseAddr(c.b), t0) > 0; got != c.same {
			t.Errorf("%s and %s: one address is %v", c.a, c.b, got)
		}
	}
	l := NewFailureLimiter(1)
	l.Fail(netip.Addr{}, t0) // an address that is not known counts as one
	if l.Blocked(netip.Addr{}, t0) == 0 {
		t.Error("the unknown address is not limited")
	}
}

func TestFailureLimiterOff(t *testing.T) {
	l := NewFailureLimiter(0)
	for range 100 {
		same(t, l.Fail(netip.Addr{}, t0), 0)
	}
	same(t, l.Blocked(netip.Addr{}, t0), 0)
}

// Against a plain model: so many failures in the minute that began with the
// first one.
func TestFailureLimiterModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		limit := rapid.IntRange(1, 4).Draw(rt, "limit")
		l := NewFailureLimiter(limit)
		model := make(map[int][]rimewatch.Time)
		now := t0
		for range rapid.IntRange(1, 200).Draw(rt, "n") {
			now += rimewatch.Time(rapid.IntRange(0, 20_000).Draw(rt, "ms"))
			who := rapid.IntRange(1, 5).Draw(rt, "who")
			addr := netip.AddrFrom4([4]byte{10, 0, byte(who), 1})
			m := model[who]
			if len(m) > 0 && now >= m[0]+rimewatch.Minute {
				m = nil
			}
			want := time.Duration(0)
			if len(m) >= limit {
				want = (m[0] + rimewatch.Minute).Sub(now)
			}
			if got := l.Blocked(addr, now); got != want {
				rt.Fatalf("blocked for %v, want %v", got, want)
			}
			if got := l.Fail(addr, now); got != want {
				rt.Fatalf("refused for %v, want %v", got, want)
			}
			if want == 0 {
				m = append(m, now)
			}
			model[who] = m
		}
	})
}

func TestFailureLimiterMemory(t *testing.T) {
	l := NewFailureLimiter(2)
	l.count.max = 100
	victim := netip.MustParseAddr("192.0.2.1")
	l.Fail(victim, t0)
	l.Fail(victim, t0)
	for i := range 98 {
		l.Fail(netip.AddrFrom4([4]byte{10, byte(i), 0, 1}), t0)
	}
	if l.Blocked(victim, t0) == 0 {
		t.Fatal("a hundred others make the limiter forget")
	}
	for i := range 10_000 {
		l.Fail(netip.AddrFrom4([4]byte{10, 1, byte(i >> 8), byte(i)}), t0)
		if n := len(l.count.young) + len(l.count.old); n > 200 {
			t.Fatalf("%d addresses are kept", n)
		}
	}
}

// However many tries come at once, no more fail than are allowed, and successes
// cost nothing.
func TestFailureLimiterAtOnce(t *testing.T) {
	l := NewFailureLimiter(20)
	addr := netip.MustParseAddr("192.0.2.1")
	var wg sync.WaitGroup
	var began atomic.Int32
	for range 100 {
		wg.Go(func() {
			if l.Fail(addr, t0) == 0 {
				began.Add(1) // and the work has not ended before all others began
			}
		})
	}
	wg.Wait()
	same(t, began.Load(), 20)
	l.Forgive(addr, t0)
	same(t, l.Fail(addr, t0), 0)
	same(t, l.Fail(addr, t0), time.Minute)
	for range 100 {
		other := netip.MustParseAddr("192.0.2.2")
		same(t, l.Fail(other, t0), 0)
		l.Forgive(other, t0)
	}
}

// A network has a few times what one address has, not its addresses times.
func TestFailureLimiterNetworks(t *testing.T) {
	for _, c := range []struct {
		first    string
		step     byte // which byte of the address counts up
		failures int
	}{
		{"10.0.0.0", 3, 5},
		{"2001:db8:0:100::", 7, 3},  // the /64s of a /56
		{"2001:db8:0:100::", 6, 5},  // the /56s of a /48
		{"2001:db8:0:100::", 5, 50}, // other networks
		{"10.0.0.0", 2, 50},
	} {
		l := NewFailureLimiter(1)
		b := netip.MustParseAddr(c.first).AsSlice()
		failed := 0
		for range 50 {
			addr, _ := netip.AddrFromSlice(b)
			if l.Fail(addr, t0) == 0 {
				failed++
			}
			b[c.step]++
		}
		if failed != c.failures {
			t.Errorf("%s, byte %d: %d failures, want %d", c.first, c.step, failed, c.failures)
		}
	}
}
