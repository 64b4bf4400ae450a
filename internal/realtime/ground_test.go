package realtime

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/account"
	"github.com/rimewatch/rimewatch/internal/publish"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/wire"
)

// fleet is a store of as many devices as are asked for: number n is D-n, at
// site n mod 3, a walk-in freezer when even; those from 1,000 on belong to
// workspace 2. Some have moved.
type fleet struct {
	moved *sync.Map // device → site
	past  *happenings
}

// happenings are the events of workspace 1.
type happenings struct {
	mu   sync.Mutex
	list []rimewatch.Event
}

// outbox has nothing but events.
type outbox struct {
	store.Outbox
	past *happenings
}

func (f fleet) Outbox() store.Outbox { return outbox{past: f.past} }

func (f outbox) Events(_ context.Context, workspaceID, after int64, _ int) (list []rimewatch.Event, err error) {
	f.past.mu.Lock()
	defer f.past.mu.Unlock()
	for _, e := range f.past.list {
		if e.WorkspaceID == workspaceID && e.Number > after && len(list) < 2 {
			list = append(list, e)
		}
	}
	return list, nil
}

func (f fleet) DeviceByID(id int64) (v rimewatch.DeviceView, ok bool) {
	v.ID, v.WorkspaceID, v.Serial, v.SiteID, v.EquipmentType = id, 1, fmt.Sprint("D-", id), id%3, []string{"walkin_freezer", "other"}[id%2]
	if id >= 1000 {
		v.WorkspaceID = 2
	}
	if site, moved := f.moved.Load(id); moved {
		v.SiteID = site.(int64)
	}
	return v, id > 0
}

func (f fleet) Identity(id int64) *store.Identity {
	v, ok := f.DeviceByID(id)
	if !ok {
		return nil
	}
	return store.IdentityOf(&v.Device)
}

func (f fleet) ViewAlert(_ context.Context, a *rimewatch.Alert) (rimewatch.AlertView, error) {
	view := rimewatch.AlertView{Alert: *a, DeviceSerial: fmt.Sprint("D-", a.DeviceID)}
	if v, ok := f.DeviceByID(a.DeviceID); ok {
		view.Site = &rimewatch.Site{ID: v.SiteID}
	}
	return view, nil
}

// ground is a hub with its doubles. Its tests run in bubbles.
type ground struct {
	*Hub
	t       *testing.T
	mu      sync.Mutex
	summary wire.HealthSummary
	invalid map[int64]error // by token
	fleet   fleet
	all     []*peer
}

func newGround(t *testing.T) *ground {
	g := &ground{t: t, invalid: make(map[int64]error), fleet: fleet{new(sync.Map), new(happenings)}}
	g.Hub = New(Config{
		Store: g.fleet,
		Summary: func(int64) wire.HealthSummary {
			g.mu.Lock()
			defer g.mu.Unlock()
			return g.summary
		},
		Valid: func(_ context.Context, p account.Principal, _ rimewatch.Time) error {
			g.mu.Lock()
			defer g.mu.Unlock()
			return g.invalid[p.TokenID]
		},
	})
	g.Start()
	return g
}

func (g *ground) stop() {
	for _, p := range g.all {
		p.free()
	}
	g.Stop(context.Background())
}

// peer is the other end of a socket: it remembers what it was sent. While it is
// held, writes to it block.
type peer struct {
	g    *ground
	s    *socket
	mu   sync.Mutex
	gate chan struct{} // nil = open
	raw  []byte
	why  closing
	end  chan struct{}
	once sync.Once
}

func (g *ground) join(token, workspace int64) *peer {
	g.t.Helper()
	return g.joinAs(account.Principal{WorkspaceID: workspace, TokenID: token, Scopes: rimewatch.ScopesFull})
}

func (g *ground) joinAs(who account.Principal) *peer {
	g.t.Helper()
	p := &peer{g: g, end: make(chan struct{})}
	s, ok := g.attach(p, who)
	if !ok {
		g.t.Fatal("the hub takes nobody")
	}
	p.s = s
	g.all = append(g.all, p)
	go func() {
		<-p.end
		g.detach(s)
	}()
	return p
}

func (p *peer) Write(frames []byte) error {
	p.mu.Lock()
	gate := p.gate
	p.mu.Unlock()
	if gate != nil {
		select {
		case <-gate:
		case <-p.end:
			return errors.New("closed")
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.raw = append(p.raw, frames...)
	return nil
}

func (p *peer) Close(why closing) {
	p.once.Do(func() {
		p.mu.Lock()
		p.why = why
		p.mu.Unlock()
		close(p.end)
	})
}

func (p *peer) Abort() { p.Close(closing{}) }

func (p *peer) hold() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.gate = make(chan struct{})
}

func (p *peer) free() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.gate != nil {
		close(p.gate)
		p.gate = nil
	}
}

// code is what the socket was closed with, -1 while it is open.
func (p *peer) code() int {
	synctest.Wait()
	select {
	case <-p.end:
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.why.code
	default:
		return -1
	}
}

// said is a message that came.
type said struct {
	Op, Channel, Event string
	ID                 any
	Last               string `json:"last_event_id"`
	Recovered          bool
	Data               struct {
		Reading struct {
			Serial string         `json:"device_serial"`
			At     rimewatch.Time `json:"recorded_at"`
		}
		Alert  struct{ ID int64 }
		Device struct{ Serial string }
		Event  struct{ ID, Type, Subject string }
	}
	Error struct {
		Code, Message string
		Fields        map[string][]string
	}
}

// take waits until nothing moves and returns what has come.
func (p *peer) take() (all []said) {
	p.g.t.Helper()
	synctest.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	b := p.raw
	p.raw = nil
	for len(b) > 0 {
		size, n := 2, int(b[1])
		switch n {
		case 126:
			size, n = 4, int(b[2])<<8|int(b[3])
		case 127:
			p.g.t.Fatal("a very large frame")
		}
		if b[0] == 0x81 {
			var m said
			if err := json.Unmarshal(b[size:size+n], &m); err != nil {
				p.g.t.Fatalf("%s: %v", b[size:size+n], err)
			}
			all = append(all, m)
		} else if b[0] != 0x89 {
			p.g.t.Fatalf("a frame begins with %x", b[0])
		}
		b = b[size+n:]
	}
	return all
}

func (p *peer) say(text string) []said {
	p.g.t.Helper()
	p.s.receive([]byte(text), time.Now())
	return p.take()
}

// subscribe returns the answer and what followed it.
func (p *peer) subscribe(text string) (said, []said) {
	p.g.t.Helper()
	all := p.say(`{"op":"subscribe",` + text + `}`)
	if len(all) == 0 || all[0].Op != "subscribed" {
		p.g.t.Fatalf("%s: %.300s", text, fmt.Sprintf("%+v", all))
	}
	return all[0], all[1:]
}

// readings publishes readings of devices, now.
func (g *ground) readings(devices ...int64) {
	now := rimewatch.TimeOf(time.Now())
	part := make([]store.Input, len(devices))
	for i, id := range devices {
		part[i] = store.Input{Kind: store.InputReading, DeviceID: id, Reading: rimewatch.Reading{At: now, ReceivedAt: now, Present: 1}}
	}
	g.Publish(&publish.Commit{Now: now, Parts: [][]store.Input{part}})
	clear(part) // it belongs to the writer
}

func (g *ground) alert(id, device int64, severity rimewatch.Severity) {
	g.Publish(&publish.Commit{Now: rimewatch.TimeOf(time.Now()), Alerts: []publish.Alert{{
		Kind: publish.AlertOpened, Alert: &rimewatch.Alert{ID: id, WorkspaceID: 1, DeviceID: device, Severity: severity, Type: rimewatch.HighTemperature},
	}}})
}

func serials(all []said) (out []string) {
	for _, m := range all {
		out = append(out, m.Data.Reading.Serial)
	}
	return out
}

func alertIDs(all []said) (out []int64) {
	for _, m := range all {
		if m.Channel == "alerts" {
			out = append(out, m.Data.Alert.ID)
		}
	}
	return out
}

func inBubble(t *testing.T, f func(g *ground)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		g := newGround(t)
		defer g.stop()
		f(g)
	})
}
