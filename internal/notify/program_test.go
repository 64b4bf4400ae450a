package notify_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/store/storetest"
)

// program is a receiver of events that does what a test says.
type program struct {
	mu       sync.Mutex
	answer   func(subject string) error // nil = all is taken
	got      []string                   // what was taken: id and subject
	bodies   [][]byte                   // likewise
	attempts int
	under    map[string]bool // subjects under way
	clash    bool            // two of one subject were under way at once
	slow     time.Duration
}

// Post implements notify.Poster.
func (p *program) Post(ctx context.Context, _ *rimewatch.Webhook, id string, body []byte) error {
	var e struct{ ID, Type, Subject string }
	if err := json.Unmarshal(body, &e); err != nil || e.ID != id {
		return fmt.Errorf("the body of %s: %q (%w)", id, body, err)
	}
	p.mu.Lock()
	p.attempts++
	p.clash = p.clash || p.under[e.Subject]
	p.under[e.Subject] = true
	answer, slow := p.answer, p.slow
	p.mu.Unlock()
	var err error
	select {
	case <-time.After(slow):
	case <-ctx.Done():
		err = ctx.Err()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.under[e.Subject] = false
	if err == nil && answer != nil {
		err = answer(e.Subject)
	}
	if err == nil {
		p.got = append(p.got, id+" "+e.Subject)
		p.bodies = append(p.bodies, body)
	}
	return err
}

// taken returns what was taken since it was last asked.
func (p *program) taken() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	list := p.got
	p.got = nil
	return list
}

// messages are the bodies of what was taken since it was last asked for them.
func (p *program) messages() [][]byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	list := p.bodies
	p.bodies = nil
	return list
}

func (p *program) set(answer func(subject string) error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.answer = answer
}

// of are those of a list about a subject, as numbers.
func of(list []string, subject string) (ids []string) {
	for _, x := range list {
		if id, s, _ := strings.Cut(x, " "); s == subject {
			ids = append(ids, id[strings.LastIndexByte(id, '_')+1:])
		}
	}
	return ids
}

func (r *rig) hook(change func(*rimewatch.Webhook)) rimewatch.Webhook {
	r.Helper()
	w := rimewatch.Webhook{WorkspaceID: r.workspace, Description: "ERP", URL: "https://erp.example.org", Secret: "whsec_" + strings.Repeat("A", 44), Enabled: true, CreatedAt: r.now(), UpdatedAt: r.now()}
	if change != nil {
		change(&w)
	}
	r.must(r.store.Outbox().Webhooks().Create(r.Context(), &w))
	r.service.WebhooksChanged(r.workspace)
	return w
}

// happen commits an event about each subject, in one commit.
func (r *rig) happen(subjects ...string) {
	r.Helper()
	e := store.Effects{}
	for _, s := range subjects {
		e.Events = append(e.Events, rimewatch.Event{WorkspaceID: r.workspace, At: r.now(), Type: rimewatch.EventDeviceOnline, Subject: s, Data: []byte("{}")})
	}
	r.must(storetest.Commit(r.Context(), r.store, &store.Group{Now: r.now()}, &e))
	r.service.Happened([]store.EventRow{{WorkspaceID: r.workspace}})
}

// leap ends notifications and brings them up again so long after the test began, and lets
// them work for a while.
func (r *rig) leap(to time.Duration) {
	r.back = -to
	r.restart()
	r.pass(3 * time.Minute)
}

func (r *rig) hooked(id int64) rimewatch.Webhook {
	r.Helper()
	w, err := r.store.Outbox().Webhooks().Get(r.Context(), r.workspace, id)
	r.must(err)
	return w
}

// TestEventsToAProgram: each event reaches the webhooks that ask for it, once, those of a
// subject in order and one at a time, and not before the webhook was made.
func TestEventsToAProgram(t *testing.T) {
	bubble(t, func(r *rig) {
		r.program.slow = 50 * time.Millisecond
		r.happen("device/0")
		w := r.hook(func(w *rimewatch.Webhook) { w.Through = 1 })
		r.hook(func(w *rimewatch.Webhook) { w.Types = []rimewatch.EventType{rimewatch.EventAlertOpened} })
		site := rimewatch.Site{WorkspaceID: r.workspace, Name: "Main Street", TimeZone: "UTC"}
		r.must(r.store.Sites().Create(r.Context(), &site))
		r.hook(func(w *rimewatch.Webhook) { w.SiteIDs = rimewatch.Sites{site.ID} })
		for range 5 {
			r.happen("device/1", "device/2", "device/3")
		}
		r.pass(10 * time.Second)
		got := r.program.taken()
		if len(got) != 15 || !slices.Equal(of(got, "device/1"), []string{"2", "5", "8", "11", "14"}) || !slices.Equal(of(got, "device/3"), []string{"4", "7", "10", "13", "16"}) || r.program.clash {
			r.Errorf("taken: %v, two at once: %v", got, r.program.clash)
		}
		if w := r.hooked(w.ID); w.Through != 16 || w.LastSuccessAt == 0 || w.Failures != 0 {
			r.Errorf("the webhook: %+v", w)
		}
		d, err := r.service.Ping(r.Context(), r.workspace, w.ID)
		if err != nil || d.Status != rimewatch.DeliverySent {
			r.Errorf("a ping: %+v %v", d, err)
		}
	})
}

// TestAProgramThatRefusesOne: an event that is refused is tried again for three days, and holds
// up those of its own subject alone; once it is given up they go on.
func TestAProgramThatRefusesOne(t *testing.T) {
	bubble(t, func(r *rig) {
		r.program.set(func(subject string) error {
			if subject == "device/1" {
				return rimewatch.Errorf(rimewatch.CodeConflict, "no")
			}
			return nil
		})
		r.hook(nil)
		r.happen("device/1", "device/2")
		r.happen("device/1", "device/2")
		r.pass(time.Minute)
		if got := r.program.taken(); !slices.Equal(of(got, "device/2"), []string{"2", "4"}) || len(got) != 2 {
			r.Errorf("after a minute: %v", got)
		}
		r.leap(60 * time.Hour)
		if f := r.service.Figures(); f.Pending != 2 {
			r.Errorf("after sixty hours %d wait", f.Pending)
		}
		r.leap(73 * time.Hour)
		r.program.set(nil)
		r.happen("device/1")
		r.pass(time.Minute)
		if got := r.program.taken(); !slices.Equal(of(got, "device/1"), []string{"5"}) {
			r.Errorf("after three days: %v", got)
		}
	})
}

// TestADeadProgram: what a dead webhook does not take waits as events, of which a bounded
// number are deliveries. After five days it is switched off and people are told; switched on
// again, it gets all, in order.
func TestADeadProgram(t *testing.T) {
	bubble(t, func(r *rig) {
		r.perLane = 20
		r.restart()
		r.channel("phone", nil)
		r.program.set(func(string) error { return errors.New("dead") })
		w := r.hook(nil)
		for i := range 100 {
			r.happen(fmt.Sprint("device/", i%3), "alert/7")
		}
		r.pass(time.Hour)
		if f := r.service.Figures(); f.Pending > 20 {
			r.Errorf("%d deliveries wait", f.Pending)
		}
		if w := r.hooked(w.ID); !w.Enabled || w.Through > 30 || w.FailingSince == 0 {
			r.Errorf("the webhook: %+v", w)
		}
		r.leap(4 * 24 * time.Hour)
		if w := r.hooked(w.ID); !w.Enabled {
			r.Errorf("after four days: %+v", w)
		}
		r.leap(6 * 24 * time.Hour)
		off := r.hooked(w.ID)
		if off.Enabled || off.OffReason == "" || !strings.Contains(r.posts.said(), "phone webhook.off") {
			r.Errorf("after six days: %+v", off)
		}
		if f := r.service.Figures(); f.Pending != 0 {
			r.Errorf("%d deliveries wait for one that is off", f.Pending)
		}
		n := r.program.attempts
		r.pass(time.Hour)
		if r.program.attempts != n {
			r.Error("it is tried although it is off")
		}
		r.program.set(nil)
		_, err := r.store.Outbox().Webhooks().Update(r.Context(), r.workspace, w.ID, func(w *rimewatch.Webhook) error { w.Enabled = true; return nil })
		r.must(err)
		r.service.WebhooksChanged(r.workspace)
		r.pass(time.Minute)
		got := r.program.taken()
		if alerts := of(got, "alert/7"); alerts[len(alerts)-1] != "200" || !slices.IsSortedFunc(alerts, byNumber) || r.program.clash {
			r.Errorf("switched on again: %v", alerts)
		}
	})
}

func byNumber(a, b string) int {
	if len(a) != len(b) {
		return len(a) - len(b)
	}
	return strings.Compare(a, b)
}

// TestAProgramThatIsGone: 410 switches a webhook off at once.
func TestAProgramThatIsGone(t *testing.T) {
	bubble(t, func(r *rig) {
		r.program.set(func(string) error { return rimewatch.Errorf(rimewatch.CodeNotFound, "gone") })
		w := r.hook(nil)
		r.happen("device/1")
		r.happen("device/1")
		r.pass(time.Minute)
		if w := r.hooked(w.ID); w.Enabled || w.OffReason == "" || r.program.attempts != 1 || w.Through != 0 {
			r.Errorf("%d attempts: %+v", r.program.attempts, w)
		}
	})
}

// TestEventsOverCrashes: whatever a crash breaks off, no event is lost, those of a subject
// come in order, and repeats have the same id; a replay gives the same again.
func TestEventsOverCrashes(t *testing.T) {
	bubble(t, func(r *rig) {
		r.program.slow = 300 * time.Millisecond
		w := r.hook(nil)
		var got []string
		for i := range 12 {
			r.happen("device/1", "device/2", fmt.Sprint("device/", 3+i))
			if i%3 == 2 {
				r.pass(time.Duration(i) * 100 * time.Millisecond)
				r.restart()
			}
		}
		r.pass(2 * time.Minute)
		got = r.program.taken()
		for _, subject := range []string{"device/1", "device/2"} {
			ids := of(got, subject)
			if !slices.IsSortedFunc(ids, byNumber) || len(slices.Compact(slices.Clone(ids))) != 12 {
				r.Errorf("%s: %v", subject, ids)
			}
		}
		if all := slices.Compact(slices.Sorted(slices.Values(got))); len(all) != 36 {
			r.Errorf("%d events of 36: %v", len(all), all)
		}
		_, err := r.service.Replay(r.Context(), r.workspace, w.ID, 6)
		r.must(err)
		r.pass(2 * time.Minute)
		again := r.program.taken()
		if len(again) != 30 || !slices.Equal(of(again, "device/1"), []string{"7", "10", "13", "16", "19", "22", "25", "28", "31", "34"}) {
			r.Errorf("again: %v", again)
		}
	})
}

// TestReplayOfWhatWaits: a replay while events wait sends each once more, from there on in order.
func TestReplayOfWhatWaits(t *testing.T) {
	bubble(t, func(r *rig) {
		r.program.set(func(string) error { return errors.New("dead") })
		w := r.hook(nil)
		for range 10 {
			r.happen("device/1")
		}
		r.pass(time.Minute)
		r.program.set(nil)
		_, err := r.service.Replay(r.Context(), r.workspace, w.ID, 3)
		r.must(err)
		r.pass(time.Hour)
		if got := of(r.program.taken(), "device/1"); !slices.Equal(got, []string{"4", "5", "6", "7", "8", "9", "10"}) {
			r.Errorf("taken: %v", got)
		}
		synctest.Wait()
	})
}
