package main

import (
	"math"
	"sync/atomic"
	"time"
)

// latencies counts spans of time in buckets that grow by 2 %, from 1 µs to more
// than an hour. It is safe for concurrent use.
type latencies struct {
	buckets [1200]atomic.Int64
	count   atomic.Int64
	longest atomic.Int64
}

var growth = math.Log(1.02)

func (l *latencies) add(d time.Duration) {
	i := 0
	if us := float64(d) / 1e3; us > 1 {
		i = min(int(math.Log(us)/growth), len(l.buckets)-1)
	}
	l.buckets[i].Add(1)
	l.count.Add(1)
	for {
		longest := l.longest.Load()
		if int64(d) <= longest || l.longest.CompareAndSwap(longest, int64(d)) {
			return
		}
	}
}

// quantile is the span that a share q of all do not exceed, at most 2 % too
// long; 0 when nothing was counted.
func (l *latencies) quantile(q float64) time.Duration {
	rank := int64(math.Ceil(q * float64(l.count.Load())))
	if rank == 0 {
		return 0
	}
	for i := range l.buckets {
		if rank -= l.buckets[i].Load(); rank <= 0 {
			upper := time.Duration(math.Exp(float64(i+1)*growth) * 1e3)
			return min(upper, l.max())
		}
	}
	return l.max()
}

func (l *latencies) max() time.Duration { return time.Duration(l.longest.Load()) }

// short is a span for people, in three digits.
func short(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return d.Round(time.Microsecond).String()
	case d < 10*time.Millisecond:
		return d.Round(10 * time.Microsecond).String()
	case d < time.Second:
		return d.Round(100 * time.Microsecond).String()
	default:
		return d.Round(10 * time.Millisecond).String()
	}
}
