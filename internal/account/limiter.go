package account

import (
	"net/netip"
	"sync"
	"time"

	"github.com/rimewatch/rimewatch"
)

// FailureLimiter counts failed authentications per address, so many a minute,
// and a few times as many per network, so that whoever has a network does not
// have its addresses times the tries. Where the outcome of a try costs work,
// Fail counts it before the work and Forgive takes it back after a success:
// however many tries come at once, no more fail than are allowed. Memory is
// bounded: when too many addresses fail, those that failed longest ago are
// forgotten. It is safe for concurrent use.
type FailureLimiter struct {
	perMinute int

	mu    sync.Mutex
	count failureCount[netip.Prefix]
}

// limiterKeys is how many addresses and networks a generation holds: with two
// of them about 4 MB.
const limiterKeys = 32_768

// NewFailureLimiter allows so many failures a minute per address; 0 = no limit.
func NewFailureLimiter(perMinute int) *FailureLimiter {
	return &FailureLimiter{perMinute: perMinute, count: newFailureCount[netip.Prefix](rimewatch.Minute, limiterKeys)}
}

// share is a network and how many times the failures of one address it may have.
type share struct {
	net   netip.Prefix
	times int
}

// shares are the networks that an address stands for. An IPv6 address stands
// for its /64, which is what one customer has; /56 and /48 are what providers
// give to a household and to a company.
func shares(a netip.Addr) []share {
	a = a.Unmap().WithZone("")
	of := func(bits int) netip.Prefix {
		p, _ := a.Prefix(bits) // the zero prefix for an address that is not known
		return p
	}
	if a.Is6() {
		return []share{{of(64), 1}, {of(56), 3}, {of(48), 5}}
	}
	return []share{{of(32), 1}, {of(24), 5}}
}

// Household is the address range of one customer of a provider: an IPv4 address, or the /64
// of an IPv6 address. What is counted per address is counted by it.
func Household(addr netip.Addr) netip.Prefix { return shares(addr)[0].net }

// Blocked returns for how long the address has used up its failures; 0 when it
// has not.
func (l *FailureLimiter) Blocked(addr netip.Addr, now rimewatch.Time) time.Duration {
	if l.perMinute <= 0 {
		return 0
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.blocked(shares(addr), now)
}

func (l *FailureLimiter) blocked(all []share, now rimewatch.Time) (wait time.Duration) {
	for _, s := range all {
		wait = max(wait, l.count.wait(s.net, s.times*l.perMinute, now))
	}
	return wait
}

// Fail counts a failure, or a try that may be one. When the address has used up
// its failures already, Fail returns the time after which it may fail again, and
// the caller answers CodeRateLimited in place of trying or of what was wrong.
func (l *FailureLimiter) Fail(addr netip.Addr, now rimewatch.Time) time.Duration {
	if l.perMinute <= 0 {
		return 0
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	all := shares(addr)
	if wait := l.blocked(all, now); wait > 0 {
		return wait
	}
	for _, s := range all {
		l.count.add(s.net, 1, now)
	}
	return 0
}

// Forgive takes a try back that did not fail.
func (l *FailureLimiter) Forgive(addr netip.Addr, now rimewatch.Time) {
	if l.perMinute <= 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range shares(addr) {
		l.count.add(s.net, -1, now)
	}
}

// failureCount counts failures by key in windows of time that begin with a
// key's first failure.
type failureCount[K comparable] struct {
	window     rimewatch.Time
	max        int            // keys in each generation
	young, old map[K]failures // the older generation is dropped whole
	turned     rimewatch.Time
}

type failures struct {
	since rimewatch.Time // start of the window in which they are counted
	n     int
}

func newFailureCount[K comparable](window rimewatch.Time, keys int) failureCount[K] {
	return failureCount[K]{window: window, max: keys, young: make(map[K]failures)}
}

// wait is the rest of the window of a key that has failed so often, 0 for
// others.
func (c *failureCount[K]) wait(key K, limit int, now rimewatch.Time) time.Duration {
	f := c.get(key, now)
	if f.n < limit {
		return 0
	}
	return (f.since + c.window).Sub(now)
}

// try counts an attempt before its outcome is known, or returns for how long
// the key has to wait and counts nothing.
func (c *failureCount[K]) try(key K, limit int, now rimewatch.Time) time.Duration {
	if wait := c.wait(key, limit, now); wait > 0 {
		return wait
	}
	c.add(key, 1, now)
	return 0
}

// get returns the failures of the key's present window.
func (c *failureCount[K]) get(key K, now rimewatch.Time) failures {
	f, ok := c.young[key]
	if !ok {
		f = c.old[key]
	}
	if now-f.since >= c.window || now < f.since {
		return failures{}
	}
	return f
}

// add counts n more failures, or fewer. It keeps them in the younger generation
// and turns the generations over when that is a window old or full.
func (c *failureCount[K]) add(key K, n int, now rimewatch.Time) failures {
	f := c.get(key, now)
	if f.n == 0 {
		f.since = now
	}
	f.n = max(0, f.n+n)
	if _, ok := c.young[key]; !ok && len(c.young) >= c.max || now-c.turned >= c.window || now < c.turned {
		c.old, c.young, c.turned = c.young, make(map[K]failures), now
	}
	c.young[key] = f
	return f
}
