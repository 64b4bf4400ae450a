package httpapi

import (
	"fmt"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/limit"
)

// Limiter limits requests by key and names the limit in answers.
type Limiter struct {
	*limit.Keyed
	policy []string // header values, shared
	left   [][]string
}

// NewLimiter returns a limiter of perMinute requests a key, with room for burst
// at once; a rate of 0 or less limits nothing. name appears in the headers, which speak of one
// policy (draft-ietf-httpapi-ratelimit-headers): burst requests in the seconds in which so many come back, how many
// are left of them, and the seconds until none is missing.
func NewLimiter(perMinute, burst int, name string) *Limiter {
	r := limit.PerMinute(perMinute, burst)
	l := &Limiter{Keyed: limit.ByKey(r)}
	if !r.Limits() {
		return l
	}
	until := func(n int) int { return (n*60 + perMinute - 1) / perMinute } // seconds until n are back
	l.policy = []string{fmt.Sprintf("%q;q=%d;w=%d", name, burst, until(burst))}
	l.left = make([][]string, burst+1)
	for n := range l.left {
		l.left[n] = []string{fmt.Sprintf("%q;r=%d;t=%d", name, n, until(burst-n))}
	}
	return l
}

// Header returns the limit and the rest of it: RateLimit-Policy and RateLimit.
func (l *Limiter) Header(h map[string][]string, left int) {
	if l.policy != nil {
		h["Ratelimit-Policy"], h["Ratelimit"] = l.policy, l.left[left]
	}
}

// EachHeader yields the headers of Header.
func (l *Limiter) EachHeader(left int, yield func(name, value string)) {
	if l.policy != nil {
		yield("Ratelimit-Policy", l.policy[0])
		yield("Ratelimit", l.left[left][0])
	}
}

// ErrRateLimited refuses a request above its rate; wait is the time until the next one is let in.
func ErrRateLimited(wait time.Duration) *rimewatch.Error {
	e := rimewatch.Errorf(rimewatch.CodeRateLimited, "Too many requests.")
	e.RetryAfter = wait
	return e
}
