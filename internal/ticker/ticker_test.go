package ticker

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestEvery: it yields after intervals and when it is woken, and never once done
// is closed, whatever else is ready by then.
func TestEvery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		done, wake := make(chan struct{}), make(chan struct{}, 1)
		began := time.Now()
		var at []time.Duration
		for range Every(done, time.Minute, wake) {
			at = append(at, time.Since(began))
			switch len(at) {
			case 1:
				time.AfterFunc(time.Second, func() { wake <- struct{}{} })
			case 3:
				time.Sleep(3 * time.Minute) // one interval is due, the others are not made up for
			case 4:
				close(done)
				wake <- struct{}{}
			}
		}
		want := []time.Duration{time.Minute, time.Minute + time.Second, 2 * time.Minute, 5 * time.Minute}
		if len(at) != len(want) {
			t.Fatalf("it yielded at %v", at)
		}
		for i := range want {
			if at[i] != want[i] {
				t.Errorf("it yielded at %v, want %v", at, want)
			}
		}
		for range Every(nil, time.Minute, nil) {
			break
		}
		if whole := time.Since(began); whole != 6*time.Minute {
			t.Errorf("a loop that is left has taken until %v", whole)
		}
	})
}
