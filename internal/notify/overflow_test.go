package notify_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
)

// TestOverflow: a lane that holds five sends what one that holds everything does: each
// once, whatever has ended, was asked for or was interrupted meanwhile.
func TestOverflow(t *testing.T) {
	for _, perLane := range []int{1000, 5} {
		t.Run(fmt.Sprint(perLane), func(t *testing.T) { bubble(t, func(r *rig) { r.overflow(perLane) }) })
	}
}

func (r *rig) overflow(perLane int) {
	r.perLane = perLane
	r.restart()
	works, sent := false, 0
	r.posts.answer = func(context.Context, string, int) error {
		r.posts.mu.Lock()
		defer r.posts.mu.Unlock()
		if !works {
			return rimewatch.Errorf(rimewatch.CodeUnavailable, "not now")
		}
		sent++
		return nil
	}
	work := func() {
		r.posts.mu.Lock()
		works = true
		r.posts.mu.Unlock()
	}
	r.channel("a", nil)
	list := r.flood(60)
	r.pass(20 * time.Minute)
	if f := r.service.Figures(); f.Pending != 60 || f.OldestPending != list[0].TriggeredAt {
		r.Errorf("%d wait, the oldest since %v", f.Pending, f.OldestPending)
	}
	for i := range 10 { // of those that were tried and of those that were not
		r.resolve(list[6*i])
	}
	r.pass(time.Second)
	if f := r.service.Figures(); f.Pending != 50 || f.Attempts != int64(len(r.posts.calls)) || f.Failures != f.Attempts {
		r.Errorf("%+v after %d calls; 50 wait", f, len(r.posts.calls))
	}
	r.restart()
	r.pass(3 * time.Minute)
	if sent != 0 {
		r.Fatalf("%d were sent", sent)
	}
	work()
	waiting, err := r.store.Outbox().PendingDeliveries(r.Context(), r.workspace, 1, false, 100)
	r.must(err)
	if len(waiting) != 50 {
		r.Fatalf("%d wait in the store", len(waiting))
	}
	last := &waiting[len(waiting)-1]
	if _, err := r.service.Resend(r.Context(), r.workspace, last.ID); err != nil {
		r.Fatal(err)
	}
	r.pass(2 * time.Minute) // a failing channel is tried once a minute
	if sent != 50 {
		r.Errorf("%d were sent of 50", sent)
	}
	r.pass(24 * time.Hour)
	all, _, err := r.store.Outbox().Deliveries(r.Context(), r.workspace, 0, store.Page{Limit: 100})
	r.must(err)
	count := make(map[rimewatch.DeliveryStatus]int)
	for i := range all {
		count[all[i].Status]++
	}
	if sent != 50 || count[rimewatch.DeliverySent] != 50 || count[rimewatch.DeliveryDropped] != 10 || len(all) != 60 {
		r.Errorf("%d calls came through; of %d deliveries: %v", sent, len(all), count)
	}
	if f := r.service.Figures(); f.Pending != 0 {
		r.Errorf("%d still wait", f.Pending)
	}
}

// TestOverflowOfBundles: many alerts for a person go in as few messages as before.
func TestOverflowOfBundles(t *testing.T) {
	bubble(t, func(r *rig) {
		r.perLane = 40
		r.restart()
		r.channel("mail", nil)
		r.posts.bundle = true
		r.flood(200)
		r.pass(time.Minute)
		if got := r.counts(); got != "map[sent after 1:200]" {
			t.Error(got)
		}
		if n := len(r.posts.calls); n > 200/20+2 || r.service.Figures().Attempts != int64(n) {
			t.Errorf("%d messages, %+v", n, r.service.Figures())
		}
	})
}

// TestOverflowAndClockSetBack: what waits in the store does not wait for a moment that has
// moved away.
func TestOverflowAndClockSetBack(t *testing.T) {
	bubble(t, func(r *rig) {
		r.perLane = 4
		r.restart()
		works := false
		r.posts.answer = func(context.Context, string, int) error {
			if !works {
				return rimewatch.Errorf(rimewatch.CodeUnavailable, "not now")
			}
			return nil
		}
		r.channel("a", nil)
		r.flood(20)
		r.pass(10 * time.Minute)
		works, r.back = true, 24*time.Hour
		r.service.SetBack(-rimewatch.Day)
		r.pass(2 * time.Minute)
		if got := r.service.Figures().Pending; got != 0 {
			t.Errorf("%d still wait", got)
		}
	})
}
