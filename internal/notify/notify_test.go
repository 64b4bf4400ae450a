package notify_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/rimewatch/rimewatch"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func (r *rig) expect(what, want string) {
	r.Helper()
	if diff := cmp.Diff(want, r.posts.said()); diff != "" {
		r.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func (r *rig) expectDeliveries(want ...string) {
	r.Helper()
	if diff := cmp.Diff(want, r.deliveries()); diff != "" {
		r.Errorf("deliveries (-want +got):\n%s", diff)
	}
}

func TestOpenedAndOver(t *testing.T) {
	bubble(t, func(r *rig) {
		r.channel("a", nil)
		r.channel("off", func(c *rimewatch.Channel) { c.Enabled = false })
		a := r.alert(rimewatch.HighTemperature, rimewatch.Warning)
		r.pass(time.Second)
		r.expect("opened", "0s a alert.opened")
		r.resolve(a)
		r.pass(time.Second)
		r.expect("over", "1s a alert.resolved")
		r.expectDeliveries("opened a sent 1", "recovery a sent 1")
	})
}

// TestADeadAndASlowReceiver: others are told at once all the same.
func TestADeadAndASlowReceiver(t *testing.T) {
	bubble(t, func(r *rig) {
		r.posts.answer = func(ctx context.Context, channel string, _ int) error {
			switch channel {
			case "dead":
				<-time.After(time.Millisecond) // by then the good one has shown that it works, and is who hears of this one
				return rimewatch.Errorf(rimewatch.CodeUnavailable, "No.")
			case "slow":
				<-ctx.Done()
				return ctx.Err()
			}
			return nil
		}
		for _, name := range []string{"dead", "slow", "good"} {
			r.channel(name, nil)
		}
		for _, kind := range []rimewatch.AlertType{"a", "b", "c", "d", "e", "f", "g", "h"} {
			r.alert(kind, rimewatch.Critical)
		}
		r.pass(time.Second) // the message that the dead one fails may wait for a turn
		if n := strings.Count(r.posts.said(), " good alert.opened"); n != 8 {
			r.Errorf("the good one was told %d of 8 alerts", n)
		}
		f := r.service.Figures()
		if f.Pending != 16 || f.OldestPending != rimewatch.TimeOf(r.began) || f.Failing != 1 {
			r.Errorf("figures %+v", f)
		}
	})
}

// TestRetries: after 5 s at first, an hour at last, for a day; then it is given up.
func TestRetries(t *testing.T) {
	bubble(t, func(r *rig) {
		r.posts.answer = func(context.Context, string, int) error {
			return rimewatch.Errorf(rimewatch.CodeUnavailable, "The receiver answered 503 Service Unavailable.")
		}
		r.channel("a", nil)
		r.alert(rimewatch.HighTemperature, rimewatch.Warning)
		r.pass(30 * time.Hour)
		var last time.Duration
		pauses := []time.Duration{5 * time.Second, 15 * time.Second, 30 * time.Second, time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 20 * time.Minute, 30 * time.Minute}
		calls := strings.Split(r.posts.said(), "|")
		for i, call := range calls {
			at, err := time.ParseDuration(strings.Fields(call)[0])
			r.must(err)
			if i > 0 {
				want := time.Hour
				if i <= len(pauses) {
					want = pauses[i-1]
				}
				if got := at - last; got < want*79/100-time.Second || got > want*121/100+time.Second {
					r.Errorf("attempt %d came %s after the one before, want about %s", i+1, got, want)
				}
			}
			last = at
		}
		if len(calls) < 28 || len(calls) > 42 || last > 24*time.Hour {
			r.Errorf("%d attempts, the last after %s", len(calls), last)
		}
		ds, err := r.store.Outbox().AlertDeliveries(r.Context(), r.workspace, 1)
		r.must(err)
		if d := ds[0]; d.Status != rimewatch.DeliveryFailed || d.Attempts != len(calls) || d.LastError != "The receiver answered 503 Service Unavailable." {
			r.Errorf("the delivery is %+v", d)
		}
		c, err := r.store.Routing().Channels().Get(r.Context(), r.workspace, 1)
		r.must(err)
		if c.Failures != len(calls) || c.LastError == "" || c.LastSuccessAt != 0 || c.LastFailureAt == 0 {
			r.Errorf("the channel's health is %+v", c.ChannelHealth)
		}
	})
}

// TestClockSetBack: a message that waits for its next attempt does not wait for
// the time that is lived through twice.
func TestClockSetBack(t *testing.T) {
	bubble(t, func(r *rig) {
		r.posts.answer = func(_ context.Context, _ string, n int) error {
			if n < 6 {
				return rimewatch.Errorf(rimewatch.CodeUnavailable, "The receiver answered 503 Service Unavailable.")
			}
			return nil
		}
		r.channel("a", nil)
		r.alert(rimewatch.HighTemperature, rimewatch.Critical)
		r.pass(5 * time.Minute)
		r.posts.said()
		r.back = 24 * time.Hour
		r.service.SetBack(-rimewatch.Day)
		r.pass(10 * time.Minute)
		if got := r.deliveries(); len(got) != 1 || got[0] != "opened a sent 6" {
			r.Errorf("ten minutes after the clock was set back: %q", got)
		}
	})
}

// TestCriticalIsTriedAgain: a proxy that answers 404 during a deployment does not
// end the message of a critical alert; 410 ends it, and 404 that of a warning.
func TestCriticalIsTriedAgain(t *testing.T) {
	notFound := rimewatch.Errorf(rimewatch.CodeConflict, "The receiver answered 404 Not Found.")
	gone := rimewatch.Errorf(rimewatch.CodeNotFound, "The receiver answered 410 Gone.")
	for _, c := range []struct {
		severity rimewatch.Severity
		refusal  error
		status   rimewatch.DeliveryStatus
		attempts int
	}{
		{rimewatch.Critical, notFound, rimewatch.DeliverySent, 4},
		{rimewatch.Critical, gone, rimewatch.DeliveryFailed, 1},
		{rimewatch.Warning, notFound, rimewatch.DeliveryFailed, 1},
	} {
		bubble(t, func(r *rig) {
			r.posts.answer = func(_ context.Context, _ string, n int) error {
				if n <= 3 {
					return c.refusal
				}
				return nil
			}
			r.channel("deployed", nil)
			a := r.alert(rimewatch.HighTemperature, c.severity)
			r.pass(10 * time.Minute)
			ds, err := r.store.Outbox().AlertDeliveries(r.Context(), r.workspace, a.ID)
			r.must(err)
			if len(ds) != 1 || ds[0].Status != c.status || ds[0].Attempts != c.attempts {
				r.Errorf("%s, %v: %+v", c.severity, c.refusal, ds)
			}
		})
	}
}

// TestFinalErrors: what will never be taken is not tried again; what a receiver
// wants to have later comes later.
func TestFinalErrors(t *testing.T) {
	bubble(t, func(r *rig) {
		told := make(chan struct{}) // the other channel, before it hears that this one fails
		r.posts.answer = func(_ context.Context, channel string, n int) error {
			switch {
			case channel == "gone":
				<-told
				return rimewatch.Errorf(rimewatch.CodeConflict, "The receiver answered 410 Gone.")
			case n == 1:
				close(told)
				return &rimewatch.Error{Code: rimewatch.CodeUnavailable, Message: "Later.", RetryAfter: 10 * time.Minute}
			}
			return nil
		}
		r.channel("gone", nil)
		r.channel("later", nil)
		a := r.alert(rimewatch.HighTemperature, rimewatch.Warning)
		r.pass(time.Hour)
		got := r.posts.said()
		if got != "0s gone alert.opened|0s later alert.opened|0s later channel.failing|10m0s later alert.opened" {
			r.Errorf("calls: %s", got)
		}
		r.resolve(a)
		r.pass(time.Hour)
		if got := r.posts.said(); got != "1h0m0s later alert.resolved" {
			r.Errorf("of the end: %s", got)
		}
	})
}

// TestOutage: when a channel keeps failing another one is told, once; when it
// works again what waited goes out at once and the other is told that too.
func TestOutage(t *testing.T) {
	bubble(t, func(r *rig) {
		var broken atomic.Bool
		broken.Store(true)
		r.posts.answer = func(_ context.Context, channel string, _ int) error {
			if channel == "a" && broken.Load() {
				return rimewatch.Errorf(rimewatch.CodeUnavailable, "No route.")
			}
			return nil
		}
		last := r.channel("c", nil)
		spare := r.channel("b", nil)
		r.channel("a", func(c *rimewatch.Channel) { c.FallbackID = spare.ID })
		route := rimewatch.Route{WorkspaceID: r.workspace, Name: "r", Enabled: true, Recovery: true, Steps: []rimewatch.RouteStep{{ChannelIDs: []int64{3}}}}
		r.must(r.store.Routing().Routes().Create(r.Context(), &route))
		r.alert(rimewatch.HighTemperature, rimewatch.Critical)
		r.alert(rimewatch.LowVoltage, rimewatch.Warning)
		r.alert(rimewatch.HighHumidity, rimewatch.Warning)
		r.pass(4 * time.Hour)
		got := r.posts.said()
		if strings.Count(got, "b channel.failing") != 1 || strings.Count(got, "channel.failing") != 1 {
			r.Errorf("told of the outage: %s", got)
		}
		r.restart()
		r.pass(3 * time.Hour)
		if got := r.posts.said(); strings.Contains(got, "channel.") || !strings.Contains(got, "a alert.opened") {
			r.Errorf("after a restart: %s", got)
		}
		broken.Store(false)
		r.pass(90 * time.Minute)
		got = r.posts.said()
		if strings.Count(got, "a alert.opened") != 3 || strings.Count(got, "b channel.recovered") != 1 || strings.Count(got, "|") != 3 {
			r.Errorf("after the outage: %s", got)
		}
		at := strings.Fields(got)[0]
		for _, call := range strings.Split(got, "|") {
			if !strings.HasPrefix(call, at) {
				r.Errorf("what waited was not sent at once: %s", got)
			}
		}
		broken.Store(true)
		r.must(r.store.Routing().Channels().Delete(r.Context(), r.workspace, spare.ID))
		r.alert(rimewatch.ShortCycling, rimewatch.Warning)
		r.pass(time.Hour)
		if got := r.posts.said(); strings.Count(got, "c channel.failing") != 1 {
			r.Errorf("the next outage goes to channel %d: %s", last.ID, got)
		}
	})
}

// TestRestart: nothing is lost between a commit and its messages, and levels come
// when they are due although nobody remembers them but the store.
func TestRestart(t *testing.T) {
	bubble(t, func(r *rig) {
		r.channel("a", nil)
		r.channel("b", nil)
		route := rimewatch.Route{WorkspaceID: r.workspace, Name: "r", Enabled: true, Recovery: true, RepeatS: 7200, Steps: []rimewatch.RouteStep{{ChannelIDs: []int64{1}}, {AfterS: 1800, ChannelIDs: []int64{2}}}}
		r.must(r.store.Routing().Routes().Create(r.Context(), &route))
		r.service.Stop() // the commit is stored, nobody has heard of it
		a := r.alert(rimewatch.HighTemperature, rimewatch.Critical)
		r.restart()
		r.pass(time.Second)
		r.expect("after the restart", "0s a alert.opened")
		r.pass(20 * time.Minute)
		r.restart()
		r.pass(11 * time.Minute)
		r.expect("the second level", "30m0s b alert.opened")
		r.pass(100 * time.Minute)
		r.expect("the reminder", "2h0m0s a alert.repeated")
		r.restart()
		r.resolve(a)
		r.pass(time.Second)
		r.expect("the end", "2h11m1s a alert.resolved|2h11m1s b alert.resolved")
		r.restart()
		r.pass(5 * time.Hour)
		r.expect("later", "")
	})
}

// TestStopPlans: a stop in order leaves no change of an alert that is not planned.
func TestStopPlans(t *testing.T) {
	bubble(t, func(r *rig) {
		r.channel("a", nil)
		for i := range 10 {
			a := r.alert(rimewatch.HighTemperature, rimewatch.Critical)
			r.service.Stop()
			left, err := r.store.Everywhere().AllTransitionsAfter(r.Context(), 0, 1000)
			r.must(err)
			planned, err := r.store.Outbox().PlannedThrough(r.Context())
			r.must(err)
			if last := left[len(left)-1].ID; planned != last {
				r.Errorf("round %d: planned through %d of %d", i, planned, last)
			}
			r.restart()
			r.pass(time.Second)
			r.resolve(a)
			r.pass(time.Second)
		}
	})
}

// TestOverBeforeItWasTold: what could not be told is dropped at the end, and the
// end of what nobody knows is not told. A message that was under way counts.
func TestOverBeforeItWasTold(t *testing.T) {
	bubble(t, func(r *rig) {
		release := make(chan struct{})
		r.posts.answer = func(_ context.Context, channel string, n int) error {
			if n > 1 {
				return nil
			}
			if channel == "slow" {
				<-release
				return nil
			}
			return rimewatch.Errorf(rimewatch.CodeUnavailable, "No.")
		}
		r.channel("fails", nil)
		r.channel("slow", nil)
		a := r.alert(rimewatch.HighTemperature, rimewatch.Critical)
		r.pass(time.Second)
		r.resolve(a)
		r.pass(time.Second)
		close(release)
		r.pass(time.Hour)
		r.expect("calls", "0s fails alert.opened|0s slow alert.opened|2s slow alert.resolved")
		r.expectDeliveries("opened fails dropped 1", "opened slow sent 1", "recovery slow sent 1")
	})
}

// TestSilences: a silence that is made, and ended early, is heeded at once.
func TestSilences(t *testing.T) {
	bubble(t, func(r *rig) {
		r.channel("a", nil)
		sil := rimewatch.Silence{WorkspaceID: r.workspace, StartsAt: r.now(), EndsAt: r.now() + rimewatch.Hour, CreatedBy: "me", CreatedAt: r.now()}
		r.must(r.store.Routing().Silences().Create(r.Context(), &sil))
		r.alert(rimewatch.HighTemperature, rimewatch.Critical)
		r.pass(10 * time.Minute)
		r.expect("while silenced", "")
		_, err := r.store.Routing().Silences().Update(r.Context(), r.workspace, sil.ID, func(s *rimewatch.Silence) error {
			s.EndsAt = r.now()
			return nil
		})
		r.must(err)
		r.service.Changed(r.workspace)
		r.pass(time.Second)
		r.expect("ended early", "10m0s a alert.opened")
	})
}

func TestTest(t *testing.T) {
	bubble(t, func(r *rig) {
		r.posts.answer = func(_ context.Context, channel string, n int) error {
			if channel == "bad" {
				return rimewatch.Errorf(rimewatch.CodeUnavailable, "Nobody listens.")
			}
			return nil
		}
		good := r.channel("good", func(c *rimewatch.Channel) { c.Enabled = false })
		bad := r.channel("bad", nil)
		d, err := r.service.Test(r.Context(), r.workspace, good.ID)
		r.must(err)
		if d.Status != rimewatch.DeliverySent || d.Kind != rimewatch.DeliveryTest || d.SentAt == 0 || d.AlertID != 0 {
			r.Errorf("%+v", d)
		}
		d, err = r.service.Test(r.Context(), r.workspace, bad.ID)
		r.must(err)
		if d.Status != rimewatch.DeliveryFailed || d.LastError != "Nobody listens." || d.Attempts != 1 {
			r.Errorf("%+v", d)
		}
		c, err := r.store.Routing().Channels().Get(r.Context(), r.workspace, bad.ID)
		r.must(err)
		if c.Failures != 1 || c.LastError != "Nobody listens." {
			r.Errorf("%+v", c.ChannelHealth)
		}
		for _, id := range []int64{0, 99} {
			if _, err := r.service.Test(r.Context(), r.workspace, id); rimewatch.CodeOf(err) != rimewatch.CodeNotFound {
				r.Errorf("channel %d: %v", id, err)
			}
		}
		if _, err := r.service.Test(r.Context(), r.workspace+1, good.ID); rimewatch.CodeOf(err) != rimewatch.CodeNotFound {
			r.Errorf("another workspace's channel: %v", err)
		}
		r.pass(time.Hour)
		r.expect("calls", "0s bad channel.test|0s good channel.test")
	})
}

func TestResend(t *testing.T) {
	bubble(t, func(r *rig) {
		var works atomic.Bool
		r.posts.answer = func(context.Context, string, int) error {
			if works.Load() {
				return nil
			}
			return errors.New("x")
		}
		r.channel("a", nil)
		r.alert(rimewatch.HighTemperature, rimewatch.Critical)
		r.pass(time.Second)
		ds, err := r.store.Outbox().AlertDeliveries(r.Context(), r.workspace, 1)
		r.must(err)
		if ds[0].Status != rimewatch.DeliveryFailed {
			r.Fatalf("%+v", ds[0])
		}
		r.posts.said()
		works.Store(true)
		d, err := r.service.Resend(r.Context(), r.workspace, ds[0].ID)
		r.must(err)
		if d.Key != ds[0].Key || d.Status != rimewatch.DeliveryPending {
			r.Errorf("%+v", d)
		}
		r.pass(time.Second)
		r.expect("sent again", "1s a alert.opened")
		d, err = r.service.Resend(r.Context(), r.workspace, ds[0].ID)
		r.must(err)
		if d.Key == ds[0].Key {
			r.Error("what was sent is sent again under its old key")
		}
		r.pass(time.Second)
		r.expect("sent once more", "2s a alert.opened")
		r.expectDeliveries("opened a sent 1", "opened a sent 1")
		if _, err := r.service.Resend(r.Context(), r.workspace+1, ds[0].ID); rimewatch.CodeOf(err) != rimewatch.CodeNotFound {
			r.Errorf("another workspace's delivery: %v", err)
		}
	})
}

// TestDigest: warnings are told together, once a day by the workspace's clock,
// also when the service was down at that moment.
func TestDigest(t *testing.T) {
	bubble(t, func(r *rig) { // it is midnight UTC, one in the morning in Berlin
		r.channel("a", nil)
		at := 7*60 + 30
		route := rimewatch.Route{WorkspaceID: r.workspace, Name: "r", Enabled: true, Recovery: true, DigestAt: &at, Steps: []rimewatch.RouteStep{{ChannelIDs: []int64{1}}}, CreatedAt: r.now(), UpdatedAt: r.now()}
		r.must(r.store.Routing().Routes().Create(r.Context(), &route))
		w := r.alert(rimewatch.HighTemperature, rimewatch.Warning)
		r.alert(rimewatch.LowVoltage, rimewatch.Critical)
		r.pass(time.Hour)
		r.expect("at once", "0s a alert.opened")
		r.pass(6 * time.Hour)
		got := r.posts.said()
		if !strings.HasPrefix(got, "6h30m") || !strings.HasSuffix(got, "s a alert.digest") || strings.Contains(got, "|") {
			r.Errorf("in the morning: %s", got)
		}
		r.restart()
		r.pass(time.Hour)
		r.expect("after a restart", "")
		r.resolve(w)
		r.pass(20 * time.Hour)
		r.service.Stop()
		r.pass(3 * time.Hour) // down at half past six UTC
		r.restart()
		r.pass(time.Minute)
		r.expect("made up for", "31h0m0s a alert.digest")
		r.alert(rimewatch.HighVoltage, rimewatch.Warning)
		r.pass(10 * time.Second)
		r.restart() // which looks ten seconds after each half minute from now on
		r.pass(24*time.Hour - 31*time.Minute - 5*time.Second)
		r.expect("until it is due", "")
		route.Name, route.UpdatedAt = "renamed", r.now()
		_, err := r.store.Routing().Routes().Update(r.Context(), r.workspace, route.ID, func(x *rimewatch.Route) error { *x = route; return nil })
		r.must(err)
		r.pass(time.Minute)
		r.expect("its route was edited before it was looked at", "54h30m10s a alert.digest")
	})
}

// TestStuck: the watchdog hears of a planner that goes round no more.
func TestStuck(t *testing.T) {
	bubble(t, func(r *rig) {
		r.pass(time.Hour)
		r.must(r.service.Stuck())
		r.service.Stop()
		r.pass(2 * time.Minute)
		if err := r.service.Stuck(); rimewatch.CodeOf(err) != rimewatch.CodeUnavailable {
			r.Errorf("stopped for two minutes: %v", err)
		}
	})
}

// TestHugeAndOdd: an alert whose JSON is too long to be stored is told without
// it, and a receiver's odd words are stored as a line.
func TestHugeAndOdd(t *testing.T) {
	bubble(t, func(r *rig) {
		r.note = strings.Repeat("x", 70_000)
		r.posts.answer = func(context.Context, string, int) error {
			return rimewatch.Errorf(rimewatch.CodeConflict, "550 no\r\n550 such\x00 user\xff%s", strings.Repeat("ö", 1000))
		}
		r.channel("a", nil)
		r.alert(rimewatch.HighTemperature, rimewatch.Critical)
		r.pass(time.Second)
		r.expect("calls", "0s a alert.opened")
		ds, err := r.store.Outbox().AlertDeliveries(r.Context(), r.workspace, 1)
		r.must(err)
		if ds[0].Status != rimewatch.DeliveryPending || !strings.HasPrefix(ds[0].LastError, "550 no  550 such  user�ö") || len(ds[0].LastError) > 1000 {
			r.Errorf("%s %q", ds[0].Status, ds[0].LastError)
		}
	})
}
