package app_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/client"
	"github.com/rimewatch/rimewatch/internal/store"
)

// scissors is a TCP proxy whose connections can be cut.
type scissors struct {
	l    net.Listener
	to   string
	wg   sync.WaitGroup
	mu   sync.Mutex
	come *sync.Cond // a connection, or the end of the test
	open map[net.Conn]struct{}
}

func newScissors(t *testing.T, to string) *scissors {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &scissors{l: l, to: to, open: make(map[net.Conn]struct{})}
	p.come = sync.NewCond(&p.mu)
	p.wg.Go(p.accept)
	t.Cleanup(func() {
		_ = l.Close()
		ended, end := context.WithCancel(context.Background())
		end()
		p.cut(ended)
		p.wg.Wait()
	})
	return p
}

func (p *scissors) accept() {
	for {
		c, err := p.l.Accept()
		if err != nil {
			return
		}
		up, err := net.Dial("tcp", p.to)
		if err != nil {
			_ = c.Close()
			continue
		}
		p.mu.Lock()
		p.open[c], p.open[up] = struct{}{}, struct{}{}
		p.come.Broadcast()
		p.mu.Unlock()
		for _, pair := range [][2]net.Conn{{c, up}, {up, c}} {
			p.wg.Go(func() {
				_, _ = io.Copy(pair[0], pair[1])
				_ = c.Close()
				_ = up.Close()
			})
		}
	}
}

// cut waits for a connection, until ctx ends, and breaks all off, wherever they are.
func (p *scissors) cut(ctx context.Context) {
	defer context.AfterFunc(ctx, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.come.Broadcast()
	})()
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.open) == 0 && ctx.Err() == nil {
		p.come.Wait()
	}
	for c := range p.open {
		if tcp, ok := c.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0) // what is under way is lost
		}
		_ = c.Close()
		delete(p.open, c)
	}
}

// incident makes a device whose alert opens and is resolved, and returns the
// alert's id.
func (h *house) incident(serial string) int64 {
	h.t.Helper()
	limit, at := -15.0, rimewatch.TimeOf(time.Now())
	delay := 0
	d, err := h.Ingest.CreateDevice(h.t.Context(), &rimewatch.Device{
		WorkspaceID: h.workspace(), Serial: serial, Name: serial, EquipmentType: "walkin_freezer", OfflineAfterS: 86_400,
		Limits: &rimewatch.LimitOverrides{TempMax: &limit, DelayS: &delay, CriticalMax: client.Value(20.0)},
	})
	h.must(err)
	var in []store.Input
	for _, ago := range []rimewatch.Time{60_000, 0} {
		in = append(in, store.Input{Kind: store.InputReading, DeviceID: d.ID, Reading: rimewatch.Reading{At: at - ago, Values: [rimewatch.NumCore]float64{2}, Present: 1}})
	}
	h.must(h.Ingest.Submit(h.t.Context(), in, nil))
	list, _, err := h.Store.Alerts(h.t.Context(), h.workspace(), store.AlertFilter{DeviceID: d.ID}, store.AlertPage{Limit: 9})
	h.must(err)
	if len(list) != 1 {
		h.t.Fatalf("%d alerts", len(list))
	}
	_, err = h.Ingest.ResolveAlert(h.t.Context(), h.workspace(), list[0].ID, "test", "")
	h.must(err)
	return list[0].ID
}

// A signal is set when something has come about since it was last waited for.
type signal chan struct{}

func (s signal) set() {
	select {
	case s <- struct{}{}:
	default:
	}
}

func (s signal) wait(ctx context.Context) {
	select {
	case <-s:
	case <-ctx.Done():
	}
}

// A listener takes down what a subscriber is sent.
type listener struct {
	listening signal
	heard     chan rimewatch.Time // every so many readings
	every     rimewatch.Time

	// To be read when listen has returned.
	got        []rimewatch.Time
	alerts     []string
	reconnects int
}

// listen returns when the reading of the moment last and so many events of alerts have come.
func (l *listener) listen(ctx context.Context, c *client.Client, last rimewatch.Time, alerts int) error {
	left := 2 // channels to be subscribed to
	for e, err := range c.Stream(ctx, client.Subscription{Channel: client.ChannelReadings, Serials: []string{"D-1"}}, client.Subscription{Channel: client.ChannelAlerts}) {
		switch {
		case err != nil:
			return err
		case e.Kind == client.Lost:
			l.reconnects++
			left = 2
		case e.Kind == client.Subscribed:
			if l.reconnects > 0 && !e.Recovered {
				return fmt.Errorf("%s was not recovered", e.Channel)
			}
			if left--; left == 0 {
				l.listening.set()
			}
		case e.Reading != nil:
			l.got = append(l.got, e.Reading.RecordedAt)
			if (last-e.Reading.RecordedAt)%l.every == 0 {
				l.heard <- e.Reading.RecordedAt
			}
		case e.Alert != nil:
			l.alerts = append(l.alerts, fmt.Sprint(e.Kind, e.Alert.ID))
		}
		if len(l.got) > 0 && l.got[len(l.got)-1] == last && len(l.alerts) == alerts {
			return nil
		}
	}
	return nil
}

// TestNothingIsMissed cuts a subscriber's connection again and again while
// readings come and alerts open and end. Every one of them arrives, once, in
// order.
func TestNothingIsMissed(t *testing.T) {
	const rounds, perRound = 60, 20
	h := newHouse(t)
	proxy := newScissors(t, strings.TrimPrefix(h.URL(), "http://"))
	c, err := client.New("http://"+proxy.l.Addr().String(), h.token, &client.Options{MinBackoff: time.Millisecond, MaxBackoff: 4 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*patience)
	defer cancel()
	gone, giveUp := context.WithCancel(ctx) // the subscriber
	l := &listener{listening: make(signal, 1), heard: make(chan rimewatch.Time, rounds*perRound), every: perRound}
	finished := make(chan error, 1)
	last := rimewatch.TimeOf(time.Now().Truncate(time.Second)) + rounds*perRound // in ms steps, all within the allowed five minutes
	go func() {
		defer giveUp()
		finished <- l.listen(ctx, c, last, 2*rounds)
	}()
	l.listening.wait(gone)
	var want []rimewatch.Time
	var wantAlerts []string
	random := rand.New(rand.NewPCG(1, 2))
	device := h.Store.Identify(h.workspace(), []byte("D-1")).ID
	at := last - rounds*perRound
	for round := range rounds {
		for range perRound {
			at++
			in := []store.Input{{Kind: store.InputReading, DeviceID: device, Reading: rimewatch.Reading{At: at, Values: [rimewatch.NumCore]float64{-18}, Present: 1}}}
			h.must(h.Ingest.Submit(t.Context(), in, nil))
			want = append(want, at)
			if random.IntN(10) == 0 {
				if random.IntN(4) == 0 { // the others meet it in the middle of coming back, too
					l.listening.wait(gone)
				}
				proxy.cut(gone)
			}
		}
		select { // of what the dispatcher is hundreds behind with, only the newest is sent
		case <-l.heard:
		case <-gone.Done():
		}
		id := h.incident(fmt.Sprint("X-", round))
		wantAlerts = append(wantAlerts, fmt.Sprint("alert.opened", id), fmt.Sprint("alert.resolved", id))
	}
	if err := <-finished; err != nil {
		t.Fatalf("%v after %d readings and %d alerts", err, len(l.got), len(l.alerts))
	}
	same(t, "readings", l.got, want)
	same(t, "alerts", l.alerts, wantAlerts)
	if l.reconnects < 10 {
		t.Errorf("the connection was lost only %d times", l.reconnects)
	}
	t.Logf("%d readings, %d alert events, %d lost connections", len(l.got), len(l.alerts), l.reconnects)
}

// same compares lists.
func same[T any](t *testing.T, what string, got, want []T) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("%s (-want +got):\n%s", what, d)
	}
}

// TestStreamGivesUp ends streams that would be refused again.
func TestStreamGivesUp(t *testing.T) {
	h := newHouse(t)
	feed, _ := h.newToken(h.workspace(), rimewatch.ScopesIngest)
	read, _ := h.newToken(h.workspace(), rimewatch.ScopeReadingsRead)
	for token, sub := range map[string]client.Subscription{
		"rw_unknown": {Channel: client.ChannelReadings},
		feed:         {Channel: client.ChannelReadings},
		read:         {Channel: client.ChannelAlerts},
		h.token:      {Channel: "weather"},
	} {
		c, err := client.New(h.URL(), token, &client.Options{MinBackoff: time.Millisecond, MaxBackoff: time.Millisecond})
		h.must(err)
		for e, err := range c.Stream(t.Context(), sub) {
			if err == nil {
				t.Errorf("%s: %+v", sub.Channel, e)
			}
		}
	}
	c, err := client.New(h.URL(), h.token, nil)
	h.must(err)
	ticket, err := c.CreateStreamTicket(t.Context())
	h.must(err)
	if s, _, err := h.dial(nil, "?ticket="+ticket.Ticket); err != nil || s.subscribe(1, "alerts", "")["op"] != "subscribed" {
		t.Errorf("a ticket of the client: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	n := 0
	for e, err := range c.Stream(ctx, client.Subscription{Channel: client.ChannelDevices}) {
		if n++; e.Kind == client.Subscribed {
			cancel()
		} else if !errors.Is(err, context.Canceled) {
			t.Errorf("%+v %v", e, err)
		}
	}
	if n != 2 {
		t.Errorf("%d events", n)
	}
}
