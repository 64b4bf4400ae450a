// Package ticker is the one loop of goroutines that do one thing at intervals. The write
// path has its own, since its ticks stand between groups.
package ticker

import (
	"iter"
	"time"
)

// Every yields after each interval, and sooner when wake yields (nil = never),
// until done is closed. What takes longer than the interval is not made up for.
func Every(done <-chan struct{}, interval time.Duration, wake <-chan struct{}) iter.Seq[struct{}] {
	return func(yield func(struct{}) bool) {
		tick := time.NewTicker(interval)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
			case <-wake:
			}
			select {
			case <-done: // both were ready
				return
			default:
			}
			if !yield(struct{}{}) {
				return
			}
		}
	}
}
