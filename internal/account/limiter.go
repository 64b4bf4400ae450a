package account

import (
	"net/netip"
	"sync"
	"time"

	"github.com/rimewatch/rimewatch"
)

// FailureLimiter counts failed authentications per address, so many a minute.
// Only failures are counted: who succeeds is never refused by it, unless the
// caller asks Blocked first, as it must before it checks a password. An IPv6
// address stands for its /64, which is what one customer has. Memory is
// bounded: when too many addresses fail, those that failed longest ago are
// forgotten. It is safe for concurrent use.
type FailureLimiter struct {
	perMinute int
	max       int // addresses in each generation

	mu         sync.Mutex
	young, old map[netip.Addr]failures // the older generation is dropped whole
	turned     rimewatch.Time
}

type failures struct {
	since rimewatch.Time // start of the minute in which they are counted
	n     int
}

// limiterAddresses is how many addresses a generation holds: with two of them
// about 3 MB.
const limiterAddresses = 16_384

// NewFailureLimiter allows so many failures a minute per address; 0 = no limit.
func NewFailureLimiter(perMinute int) *FailureLimiter {
	return &FailureLimiter{perMinute: perMinute, max: limiterAddresses, young: make(map[netip.Addr]failures)}
}

func limiterKey(a netip.Addr) netip.Addr {
	a = a.Unmap().WithZone("")
	if a.Is6() {
		if p, err := a.Prefix(64); err == nil {
			return p.Addr()
		}
	}
	return a
}

// Blocked tells for how long the address has used up its failures; 0 when it
// has not.
func (l *FailureLimiter) Blocked(addr netip.Addr, now rimewatch.Time) time.Duration {
	if l.perMinute <= 0 {
		return 0
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.wait(l.get(limiterKey(addr), now), now)
}

// Fail counts a failure. When the address had used up its failures already, it
// gives the time after which it may fail again, and the caller answers
// CodeRateLimited in place of what was wrong.
func (l *FailureLimiter) Fail(addr netip.Addr, now rimewatch.Time) time.Duration {
	if l.perMinute <= 0 {
		return 0
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	key := limiterKey(addr)
	f := l.get(key, now)
	if wait := l.wait(f, now); wait > 0 {
		return wait
	}
	if f.n == 0 {
		f.since = now
	}
	f.n++
	l.put(key, f, now)
	return 0
}

// wait is the rest of the minute of an address that has used up its failures.
func (l *FailureLimiter) wait(f failures, now rimewatch.Time) time.Duration {
	if f.n < l.perMinute {
		return 0
	}
	return (f.since + rimewatch.Minute).Sub(now)
}

// get gives the failures of the current minute.
func (l *FailureLimiter) get(key netip.Addr, now rimewatch.Time) failures {
	f, ok := l.young[key]
	if !ok {
		f = l.old[key]
	}
	if now-f.since >= rimewatch.Minute || now < f.since {
		return failures{}
	}
	return f
}

// put keeps failures in the newer generation and turns the generations over
// when the newer one is a minute old or full.
func (l *FailureLimiter) put(key netip.Addr, f failures, now rimewatch.Time) {
	if _, ok := l.young[key]; !ok && len(l.young) >= l.max || now-l.turned >= rimewatch.Minute || now < l.turned {
		l.old, l.young, l.turned = l.young, make(map[netip.Addr]failures), now
	}
	l.young[key] = f
}
