// Package limit bounds how often something may happen: token buckets in the form
// of the generic cell rate algorithm (ITU-T I.371), one or many by key. It is the
// one mechanism for rates; what is counted to be taken back, such as failed
// authentications, is counted in package account.
package limit

import (
	"sync"
	"time"

	"github.com/rimewatch/rimewatch"
)

// Rate is how often something may happen. The zero Rate limits nothing.
type Rate struct {
	every int64 // µs for one more
	burst int64 // at once
}

// PerMinute returns a rate of n a minute with so many at once; n of 0 or less
// limits nothing.
func PerMinute(n, burst int) Rate {
	if n <= 0 {
		return Rate{}
	}
	return Rate{every: int64(time.Minute/time.Microsecond) / int64(n), burst: int64(burst)}
}

// PerHour returns a rate of n an hour, all of them at once if need be; n of 0 or
// less limits nothing.
func PerHour(n int) Rate {
	if n <= 0 {
		return Rate{}
	}
	return Rate{every: int64(time.Hour/time.Microsecond) / int64(n), burst: int64(n)}
}

// RegistrationsPerHour is how many devices senders of unknown serials may create in
// a workspace: one token could fill a server with them.
const RegistrationsPerHour = 1000

// Limits reports whether the rate limits anything.
func (r Rate) Limits() bool { return r.every != 0 }

// Bucket is the state of one bucket: the moment at which it will be full again,
// in µs. The zero Bucket is full.
type Bucket int64

// Take takes one out of a bucket. It returns how many are left, or how long it is
// until there is one.
func (r Rate) Take(b *Bucket, now rimewatch.Time) (left int, wait time.Duration) {
	if r.every == 0 {
		return 0, 0
	}
	t := int64(now) * 1000
	full := max(int64(*b), t)
	if full-t > r.burst*r.every {
		full = t // the clock was set back: what was taken before says nothing now
	}
	debt := full - t // of what has been taken already
	if most := (r.burst - 1) * r.every; debt > most {
		return 0, time.Duration(debt-most) * time.Microsecond
	}
	*b = Bucket(full + r.every)
	return int((r.burst*r.every - debt - r.every) / r.every), 0
}

// Gate lets something happen once in a while, such as a line of the log whose cause
// recurs. The zero Gate lets the first pass. It is safe for concurrent use.
type Gate struct {
	mu   sync.Mutex
	at   rimewatch.Time // when it last happened; 0 = never
	held int
}

// Pass reports whether it may happen again, so long after it last did, and if so how
// often it was held back since. After the clock was set back it may.
func (g *Gate) Pass(now rimewatch.Time, every time.Duration) (held int, ok bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.at != 0 && now >= g.at && now.Sub(g.at) < every {
		g.held++
		return 0, false
	}
	held, g.held, g.at = g.held, 0, now
	return held, true
}

// Keyed is a bucket for each key. A key whose bucket is full needs no entry, so
// memory follows the number of keys in use, not the number that exist. It is safe
// for concurrent use.
type Keyed struct {
	rate   Rate
	shards [16]shard
}

type shard struct {
	mu      sync.Mutex
	buckets map[int64]Bucket
	sweep   int // number of entries at which full buckets are dropped
}

// minSweep is the smallest number of entries that is worth a sweep.
const minSweep = 4096

// ByKey returns full buckets of a rate for all keys.
func ByKey(r Rate) *Keyed {
	k := &Keyed{rate: r}
	for i := range k.shards {
		k.shards[i] = shard{buckets: make(map[int64]Bucket), sweep: minSweep}
	}
	return k
}

// Take takes one out of a key's bucket, as Rate.Take does.
func (k *Keyed) Take(key int64, now rimewatch.Time) (left int, wait time.Duration) {
	if !k.rate.Limits() {
		return 0, 0
	}
	s := &k.shards[uint64(key)*0x9e3779b97f4a7c15>>60]
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.buckets[key]
	if left, wait = k.rate.Take(&b, now); wait > 0 {
		return left, wait
	}
	if len(s.buckets) >= s.sweep {
		s.drop(now)
	}
	s.buckets[key] = b
	return left, 0
}

// drop forgets full buckets. The next sweep waits until there are twice as many
// entries as are left, so that its cost stays constant per request.
func (s *shard) drop(now rimewatch.Time) {
	for key, b := range s.buckets {
		if int64(b) <= int64(now)*1000 {
			delete(s.buckets, key)
		}
	}
	s.sweep = max(minSweep, 2*len(s.buckets))
}
