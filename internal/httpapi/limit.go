package httpapi

import (
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/rimewatch/rimewatch"
)

// Limiter is a token bucket per key, in the form of the generic cell rate
// algorithm: for each key the moment at which its bucket will be full again.
// A key whose bucket is full needs no entry, so memory follows the number of
// keys in use, not the number that exist.
type Limiter struct {
	Every  int64 // µs for one request; 0 = no limit
	burst  int64
	Policy []string // header value, shared
	Left   [][]string
	shards [16]limiterShard
}

type limiterShard struct {
	mu    sync.Mutex
	full  map[int64]int64 // key → µs at which the bucket is full
	sweep int             // number of entries at which full buckets are dropped
}

// minSweep is the smallest number of entries that is worth a sweep.
const minSweep = 4096

// NewLimiter returns a limiter of perMinute requests a key, with room for burst at once. A rate of 0 or less
// limits nothing. The name appears in RateLimit-Policy.
func NewLimiter(perMinute, burst int, name string) *Limiter {
	l := &Limiter{burst: int64(burst)}
	if perMinute <= 0 {
		return l
	}
	l.Every = int64(time.Minute/time.Microsecond) / int64(perMinute)
	l.burst = int64(burst)
	l.Policy = []string{fmt.Sprintf("%q;q=%d;w=60", name, perMinute)}
	l.Left = make([][]string, burst+1)
	for n := range l.Left {
		l.Left[n] = []string{strconv.Quote(name) + ";r=" + strconv.Itoa(n)}
	}
	for i := range l.shards {
		l.shards[i].full = make(map[int64]int64)
		l.shards[i].sweep = minSweep
	}
	return l
}

// Take takes one request out of a key's bucket. It gives how many are left, or
// how long until there is one.
func (l *Limiter) Take(key int64, now rimewatch.Time) (left int, wait time.Duration) {
	if l.Every == 0 {
		return 0, 0
	}
	t := int64(now) * 1000
	s := &l.shards[uint64(key)*0x9e3779b97f4a7c15>>60]
	s.mu.Lock()
	defer s.mu.Unlock()
	full := max(s.full[key], t)
	if full-t > l.burst*l.Every {
		full = t // the clock was set back: what was taken before says nothing now
	}
	debt := full - t // µs of requests already taken
	if limit := (l.burst - 1) * l.Every; debt > limit {
		return 0, time.Duration(debt-limit) * time.Microsecond
	}
	full += l.Every
	if len(s.full) >= s.sweep {
		s.drop(t)
	}
	s.full[key] = full
	return int((l.burst*l.Every - (full - t)) / l.Every), 0
}

// drop forgets full buckets. The next sweep waits until there are twice as many
// entries as are left, so that its cost stays constant per request.
func (s *limiterShard) drop(t int64) {
	for key, full := range s.full {
		if full <= t {
			delete(s.full, key)
		}
	}
	s.sweep = max(minSweep, 2*len(s.full))
}

// Header names the limit and what is left of it.
func (l *Limiter) Header(h map[string][]string, left int) {
	if l.Every != 0 {
		h["Ratelimit-Policy"] = l.Policy
		h["Ratelimit"] = l.Left[left]
	}
}

// ErrRateLimited refuses a request above its rate; wait is the time until the next one is let in.
func ErrRateLimited(wait time.Duration) *rimewatch.Error {
	e := rimewatch.Errorf(rimewatch.CodeRateLimited, "Too many requests.")
	e.RetryAfter = wait
	return e
}
