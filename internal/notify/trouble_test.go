package notify_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/store/sqlite"
)

// trouble is what a store fails at: calls by their name, so many times.
type trouble struct {
	mu    sync.Mutex
	times map[string]int
	all   bool      // everything, until it is over
	last  time.Time // when a call failed
}

var errTrouble = errors.New("disk I/O error")

// fails has the next calls of a name fail.
func (t *trouble) fails(call string, times int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.times == nil {
		t.times = make(map[string]int)
	}
	t.times[call] = times
}

// failed is when a call failed last.
func (t *trouble) failed() time.Time {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.last
}

func (t *trouble) of(call string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.all {
		return errTrouble
	}
	if t.times[call] == 0 {
		return nil
	}
	t.times[call]--
	t.last = time.Now()
	return errTrouble
}

// troubled is a store that fails as it is told.
type troubled struct {
	*sqlite.Store
	trouble *trouble
}

func (s *troubled) Everywhere() store.Everywhere { return troubledAll{s.Store.Everywhere(), s.trouble} }
func (s *troubled) Outbox() store.Outbox         { return troubledOutbox{s.Store.Outbox(), s.trouble} }

func (s *troubled) Routing() store.Routing { return troubledRouting{s.Store.Routing(), s.trouble} }

type (
	troubledRouting struct {
		store.Routing
		trouble *trouble
	}
	troubledChannels struct {
		store.Resource[rimewatch.Channel]
		trouble *trouble
	}
	troubledAll struct {
		store.Everywhere
		trouble *trouble
	}
	troubledOutbox struct {
		store.Outbox
		trouble *trouble
	}
)

func (s *troubled) Alert(ctx context.Context, workspaceID, id int64) (rimewatch.AlertView, error) {
	if err := s.trouble.of("Alert"); err != nil {
		return rimewatch.AlertView{}, err
	}
	return s.Store.Alert(ctx, workspaceID, id)
}

func (s troubledRouting) Channels() store.Resource[rimewatch.Channel] {
	return troubledChannels{s.Routing.Channels(), s.trouble}
}

func (s troubledChannels) Get(ctx context.Context, workspaceID, id int64) (rimewatch.Channel, error) {
	if err := s.trouble.of("Channel"); err != nil {
		return rimewatch.Channel{}, err
	}
	return s.Resource.Get(ctx, workspaceID, id)
}

func (s troubledAll) AllTransitionsAfter(ctx context.Context, id int64, limit int) ([]rimewatch.AlertTransition, error) {
	if err := s.trouble.of("AllTransitionsAfter"); err != nil {
		return nil, err
	}
	return s.Everywhere.AllTransitionsAfter(ctx, id, limit)
}

func (s troubledOutbox) AlertDeliveries(ctx context.Context, workspaceID, alertID int64) ([]rimewatch.Delivery, error) {
	if err := s.trouble.of("AlertDeliveries"); err != nil {
		return nil, err
	}
	return s.Outbox.AlertDeliveries(ctx, workspaceID, alertID)
}

func (s troubledOutbox) PutDeliveries(ctx context.Context, list []*rimewatch.Delivery, through int64) error {
	if err := s.trouble.of("PutDeliveries"); err != nil {
		return err
	}
	return s.Outbox.PutDeliveries(ctx, list, through)
}

func (s troubledOutbox) UpdateDeliveries(ctx context.Context, list []*rimewatch.Delivery, health *rimewatch.ChannelHealth) error {
	call := "UpdateDeliveries"
	if health != nil {
		call = "outcome" // of an attempt
	}
	if err := s.trouble.of(call); err != nil {
		return err
	}
	return s.Outbox.UpdateDeliveries(ctx, list, health)
}

func (s troubledOutbox) Delivery(ctx context.Context, workspaceID, id int64) (rimewatch.Delivery, error) {
	if err := s.trouble.of("Delivery"); err != nil {
		return rimewatch.Delivery{}, err
	}
	return s.Outbox.Delivery(ctx, workspaceID, id)
}

// TestPlannedInTrouble: a store that fails while an alert is planned delays it by a second
// or two, and neither a restart nor a crash right then forgets it.
func TestPlannedInTrouble(t *testing.T) {
	for _, call := range []string{"Alert", "AlertDeliveries", "AllTransitionsAfter", "PutDeliveries"} {
		for _, restart := range []bool{false, true} {
			t.Run(fmt.Sprint(call, restart), func(t *testing.T) {
				bubble(t, func(r *rig) {
					r.channel("a", nil)
					a := r.alert(rimewatch.HighTemperature, rimewatch.Warning)
					r.pass(time.Minute)
					r.expect("opened", "0s a alert.opened")
					r.trouble.fails(call, 1)
					r.resolve(a)
					if restart {
						time.Sleep(10 * time.Millisecond)
						r.restart()
					}
					r.pass(3 * time.Second)
					if got := r.posts.said(); !strings.HasPrefix(got, "1m") || strings.Count(got, "a alert.resolved") != 1 || strings.Contains(got, "|") {
						r.Errorf("the end: %q", got)
					}
					r.trouble.fails(call, 2)
					opened := r.alert(rimewatch.HighTemperature, rimewatch.Critical)
					r.pass(5 * time.Second)
					if list, err := r.store.Outbox().AlertDeliveries(r.Context(), r.workspace, opened.ID); err != nil || len(list) != 1 || list[0].SentAt > opened.TriggeredAt+4*rimewatch.Second {
						r.Errorf("the opening: %+v, %v", list, err)
					}
				})
			})
		}
	}
}

// TestUnplannedIsKept: an alert that cannot be planned for hours is planned after a
// restart, and holds up none of those that came after it.
func TestUnplannedIsKept(t *testing.T) {
	bubble(t, func(r *rig) {
		r.channel("a", nil)
		lost := r.alert(rimewatch.HighTemperature, rimewatch.Warning)
		r.pass(time.Minute)
		r.trouble.fails("Alert", 1000)
		r.resolve(lost)
		r.pass(time.Hour)
		r.trouble.fails("Alert", 0)
		r.posts.said()
		next := r.alert(rimewatch.LowVoltage, rimewatch.Warning)
		r.pass(10 * time.Millisecond)
		r.expect("the next", "1h1m0s a alert.opened")
		r.restart()
		r.resolve(next)
		r.pass(time.Second)
		if got := r.posts.said(); strings.Count(got, "alert.resolved") != 2 {
			r.Errorf("after a restart: %q", got)
		}
	})
}

// TestReceivedAndNotMarked: who has received an alert hears of its end, once, although the
// outcome could not be stored, or is not known, whether the process goes on or not.
func TestReceivedAndNotMarked(t *testing.T) {
	for _, restart := range []bool{false, true} {
		t.Run(fmt.Sprint("restart ", restart), func(t *testing.T) {
			bubble(t, func(r *rig) {
				r.channel("a", nil)
				r.trouble.fails("outcome", 1000)
				a := r.alert(rimewatch.HighTemperature, rimewatch.Warning)
				r.pass(10 * time.Second)
				r.expect("opened", "0s a alert.opened")
				r.resolve(a)
				r.pass(5 * time.Second)
				r.expect("before it is known", "")
				if restart {
					r.restart()
				}
				r.trouble.fails("outcome", 0)
				r.pass(2 * time.Second)
				if got := r.posts.said(); strings.Count(got, "a alert.resolved") != 1 || strings.Contains(got, "|") {
					r.Errorf("the end: %q", got)
				}
			})
		})
	}
	t.Run("no answer", func(t *testing.T) {
		bubble(t, func(r *rig) {
			r.posts.answer = func(context.Context, string, int) error {
				return rimewatch.Errorf(rimewatch.CodeOutcomeUnknown, "The receiver did not answer in time.")
			}
			r.channel("a", nil)
			a := r.alert(rimewatch.HighTemperature, rimewatch.Warning)
			r.pass(time.Second)
			r.posts.mu.Lock()
			r.posts.answer = nil
			r.posts.mu.Unlock()
			r.resolve(a)
			r.pass(time.Minute)
			r.expect("told", "0s a alert.opened|1s a alert.resolved")
		})
	})
}

// TestReadingInTrouble: what cannot be read this time is sent a second later, and is not
// given up.
func TestReadingInTrouble(t *testing.T) {
	for _, call := range []string{"Delivery", "Channel", "UpdateDeliveries"} {
		t.Run(call, func(t *testing.T) {
			bubble(t, func(r *rig) {
				r.posts.answer = func(_ context.Context, _ string, n int) error {
					if n == 1 {
						r.trouble.fails(call, 2)
						return rimewatch.Errorf(rimewatch.CodeUnavailable, "The receiver answered 503 Service Unavailable.")
					}
					return nil
				}
				r.channel("a", nil)
				r.alert(rimewatch.HighTemperature, rimewatch.Warning)
				r.pass(10 * time.Second)
				r.expectDeliveries("opened a sent 2")
			})
		})
	}
}
