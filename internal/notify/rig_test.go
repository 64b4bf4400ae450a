package notify_test

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/notify"
	"github.com/rimewatch/rimewatch/internal/notify/message"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/store/sqlite"
	"github.com/rimewatch/rimewatch/internal/store/storetest"
)

// linkKey signs the links in messages.
var linkKey = []byte("a key of the tests")

// rig is notifications on a real store, in a bubble where time is the test's.
type rig struct {
	*testing.T
	dir       string
	store     *sqlite.Store
	service   *notify.Service
	workspace int64
	device    int64
	posts     *posts
	program   *program
	began     time.Time
	note      string // of the alerts that follow
	reporter  notify.Reporter
	perLane   int           // deliveries that a lane holds, 0 = as many as the service's
	back      time.Duration // how far the service's clock was set back
	trouble   trouble       // of the store
	fleet     fleet
}

// posts is a sender that does what a test says, and keeps what it was given.
type posts struct {
	mu    sync.Mutex
	calls []string
	began time.Time
	// answer is asked by channel and attempt; nil = all is taken.
	answer func(ctx context.Context, channel string, n int) error
	count  map[string]int
	bundle bool                                                       // several alerts may go in one message
	heard  func(c *rimewatch.Channel, key string, m *message.Message) // of what is taken; nil = nobody
}

func (p *posts) Check(*rimewatch.Channel) error { return nil }

func (p *posts) Bundles(*rimewatch.Channel) bool { return p.bundle }

func (p *posts) Send(ctx context.Context, c *rimewatch.Channel, key string, m *message.Message) (string, error) {
	p.mu.Lock()
	p.count[c.Name]++
	n, answer := p.count[c.Name], p.answer
	said := m.Type
	if len(m.Data.Alerts) > 0 && m.Type == "alert.bundle" {
		said += fmt.Sprint(" of ", len(m.Data.Alerts))
	}
	if m.File != nil {
		said += " " + m.File.Name
	}
	p.calls = append(p.calls, fmt.Sprintf("%s %s %s", span(time.Since(p.began)), c.Name, said))
	p.mu.Unlock()
	var err error
	if answer != nil {
		err = answer(ctx, c.Name, n)
	}
	if err == nil && p.heard != nil {
		p.heard(c, key, m)
	}
	return "", err
}

// said returns what was sent since it was last asked, in the order of the lines.
func (p *posts) said() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	list := p.calls
	p.calls = nil
	slices.SortStableFunc(list, func(a, b string) int {
		at, _, _ := strings.Cut(a, " ")
		bt, _, _ := strings.Cut(b, " ")
		if at == bt {
			return cmp.Compare(a, b)
		}
		return 0
	})
	return strings.Join(list, "|")
}

// span is a time to the second.
func span(d time.Duration) string { return d.Round(time.Second).String() }

// bubble runs a test with a rig in it.
func bubble(t *testing.T, test func(r *rig)) {
	t.Helper()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		r := &rig{T: t, dir: dir, began: time.Now()}
		r.posts = &posts{began: r.began, count: make(map[string]int)}
		r.program = &program{under: make(map[string]bool)}
		r.open()
		defer func() {
			r.service.Stop()
			if err := r.store.Close(); err != nil {
				t.Error(err)
			}
		}()
		w := rimewatch.Workspace{Name: "Corner shop", TimeZone: "Europe/Berlin", RawDays: 30, RollupDays: 60, CreatedAt: r.now(), UpdatedAt: r.now()}
		r.must(r.store.CreateWorkspace(t.Context(), &w))
		r.workspace = w.ID
		id := r.store.NewDeviceID()
		r.device = id
		op := &store.DeviceOp{WorkspaceID: w.ID, Serial: "F-1", Create: &rimewatch.Device{ID: id, WorkspaceID: w.ID, Serial: "F-1", Name: "Back walk-in", EquipmentType: "walkin_cooler", CreatedAt: r.now(), UpdatedAt: r.now()}}
		r.must(storetest.Commit(t.Context(), r.store, &store.Group{Now: r.now(), Devices: []*store.DeviceOp{op}}, &store.Effects{}))
		r.must(op.Err)
		r.start()
		test(r)
	})
}

func (r *rig) must(err error) {
	r.Helper()
	if err != nil {
		r.Fatal(err)
	}
}

func (r *rig) now() rimewatch.Time { return rimewatch.TimeOf(time.Now()) }

func (r *rig) open() {
	s, err := sqlite.Open(r.Context(), sqlite.Config{Path: filepath.Join(r.dir, sqlite.FileName), Now: time.Now, HeadBytes: 8 << 20, SealAfter: time.Hour})
	r.must(err)
	r.store = s
	r.service = notify.New(notify.Config{
		Store: &troubled{s, &r.trouble}, Senders: map[rimewatch.ChannelKind]notify.Sender{rimewatch.ChannelWebhook: r.posts, rimewatch.ChannelEmail: r.posts}, Post: r.program, Newest: r.fleet.each, Report: r.reporter, LinkKey: linkKey, Address: func(context.Context) string { return "https://watch.example.org" }, PerLane: r.perLane, Now: func() time.Time { return time.Now().Add(-r.back) },
	})
}

func (r *rig) start() { r.must(r.service.Start(r.Context())) }

// restart ends notifications as a crash would (nothing is written at the end) and
// brings them up again.
func (r *rig) restart() {
	r.must(r.store.Close())
	r.service.Stop()
	r.open()
	r.start()
}

// pass lets time pass.
func (r *rig) pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func (r *rig) channel(name string, change func(*rimewatch.Channel)) rimewatch.Channel {
	r.Helper()
	c := rimewatch.Channel{WorkspaceID: r.workspace, Name: name, Kind: rimewatch.ChannelWebhook, Enabled: true, URL: "https://example.org/" + name, Secret: "whsec_" + strings.Repeat("A", 44), CreatedAt: r.now(), UpdatedAt: r.now()}
	if change != nil {
		change(&c)
	}
	r.must(r.store.Routing().Channels().Create(r.Context(), &c))
	return c
}

// alert opens an alert and wakes the notifications.
func (r *rig) alert(kind rimewatch.AlertType, severity rimewatch.Severity) *rimewatch.Alert {
	r.Helper()
	value := 8.2
	a := &rimewatch.Alert{WorkspaceID: r.workspace, DeviceID: r.device, Status: rimewatch.AlertActive, Severity: severity, Type: kind,
		Metric: "product_zone_temp", Value: &value, Unit: "°C", ConditionStartedAt: r.now(), TriggeredAt: r.now(), LastEvaluatedAt: r.now(), Occurrences: 1, Note: r.note}
	r.change(a, rimewatch.TransitionOpened)
	return a
}

// change commits an alert as it is with a line of its timeline.
func (r *rig) change(a *rimewatch.Alert, kinds ...rimewatch.TransitionKind) {
	r.Helper()
	if a.ID == 0 {
		a.ID = r.store.NewAlertID()
	}
	e := store.Effects{Alerts: []*rimewatch.Alert{a}}
	for _, kind := range kinds {
		e.Transitions = append(e.Transitions, rimewatch.AlertTransition{WorkspaceID: r.workspace, AlertID: a.ID, Kind: kind, At: r.now(), Severity: a.Severity})
	}
	r.must(storetest.Commit(r.Context(), r.store, &store.Group{Now: r.now()}, &e))
	r.service.Wake()
}

func (r *rig) resolve(a *rimewatch.Alert) {
	r.Helper()
	copied := *a
	copied.Status, copied.ResolvedAt, copied.Resolution = rimewatch.AlertResolved, r.now(), rimewatch.ResolvedAuto
	r.change(&copied, rimewatch.TransitionResolved)
}

// deliveries describes all deliveries, oldest first.
func (r *rig) deliveries() (list []string) {
	r.Helper()
	all, _, err := r.store.Outbox().Deliveries(r.Context(), r.workspace, 0, store.Page{Limit: 100})
	r.must(err)
	names, err := r.store.Outbox().DeliveryNames(r.Context(), r.workspace)
	r.must(err)
	for _, d := range slices.Backward(all) {
		list = append(list, fmt.Sprintf("%s %s %s %d", d.Kind, names.Channels[d.ChannelID].Name, d.Status, d.Attempts))
	}
	return list
}
