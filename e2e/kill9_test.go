package e2e

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/client"
)

var killRounds = flag.Int("rounds", 0, "how often TestKill9 kills the server (default 6, or RIMEWATCH_KILL9_ROUNDS)")

const defaultRounds = 6

func rounds(t *testing.T) int {
	if *killRounds > 0 {
		return *killRounds
	}
	text := os.Getenv("RIMEWATCH_KILL9_ROUNDS")
	if text == "" {
		return defaultRounds
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("RIMEWATCH_KILL9_ROUNDS=%s", text)
	}
	return n
}

// The load: devices that send one reading at a time, and devices that send
// batches. Every tenth device is too warm all the time, and every tenth again
// is so now and then.
const (
	singles   = 40
	batches   = 8
	batchSize = 50
	pauseMS   = 20  // longest pause after a single reading
	batchMS   = 200 // longest pause after a batch
	fullEvery = 10  // rounds between two looks at everything
)

// TestKill9 kills a server under load again and again, with sealing, checkpoints
// and compaction under way, and proves after every restart that each reading
// that was acknowledged is stored exactly once with its value, that nothing is
// stored that was not sent, and that no alert opened twice.
func TestKill9(t *testing.T) {
	newKiller(t).rounds(t, rounds(t), func(context.Context) {})
}

// rounds is n times load, a kill, and a look at what is left. beside runs beside
// the load.
func (k *killer) rounds(t *testing.T, n int, beside func(ctx context.Context)) {
	var starts []rimewatch.Time
	for round := 1; round <= n; round++ {
		p, c := k.start(t)
		switch {
		case round%fullEvery == 0:
			k.verify(t, c, 0)
		case round > 2:
			k.verify(t, c, starts[round-3]) // the last two rounds
		}
		starts = append(starts, rimewatch.TimeOf(time.Now()))
		ctx, cancel := context.WithCancel(context.Background())
		enough := k.drive(ctx, c)
		k.senders.Go(func() { beside(ctx) })
		wait := time.Duration(200+rand.IntN(1500)) * time.Millisecond
		select {
		case <-time.After(wait):
		case err := <-p.done:
			t.Fatalf("the server ended by itself: %v\n%s", err, p.err.String())
		}
		enough()
		p.kill()
		cancel()
		k.senders.Wait()
		if strings.Contains(p.err.String(), "DATA RACE") || strings.Contains(p.err.String(), "panic") {
			t.Fatal(p.err.String())
		}
		if t.Failed() {
			t.Fatalf("in round %d", round)
		}
	}
	p, c := k.start(t)
	k.verify(t, c, 0)
	k.settle(t, c)
	k.verify(t, c, 0)
	if err := p.terminate(os.Interrupt); err != nil {
		t.Errorf("the last server ended with %v", err)
	}
	t.Logf("%d rounds: %d readings acknowledged, %d sent again, %d alerts", n, k.acknowledged(), k.resent, k.alerts)
	if k.acknowledged() < n*singles {
		t.Errorf("only %d readings were acknowledged in %d rounds: the load is no load", k.acknowledged(), n)
	}
}

// killer is the test's memory over the rounds.
type killer struct {
	bin, data, token string
	flags            []string // of every command: where the store is
	devices          []*sender
	senders          sync.WaitGroup // those that drive
	resent, alerts   int
}

// drive lets all devices send until ctx ends. enough waits until as many readings
// were acknowledged as a load has at least, however busy the machine is, or the
// server has gone.
func (k *killer) drive(ctx context.Context, c *client.Client) (enough func()) {
	var first sync.WaitGroup
	for _, d := range k.devices {
		first.Add(1)
		k.senders.Go(func() { d.drive(ctx, c, sync.OnceFunc(first.Done)) })
	}
	return first.Wait
}

func newKiller(t *testing.T, flags ...string) *killer {
	return newKillerAt(t, filepath.Join(t.TempDir(), "data"), flags...)
}

// newKillerAt is newKiller with a data directory.
func newKillerAt(t *testing.T, data string, flags ...string) *killer {
	k := &killer{bin: program(t), data: data}
	k.flags = append([]string{"--data", k.data}, flags...)
	out, err := exec.Command(k.bin, append([]string{"token", "create", "--workspace", "W", "--create", "--name", "kill9"}, k.flags...)...).Output()
	if err != nil {
		t.Fatal(err)
	}
	k.token = strings.TrimSpace(string(out))
	for i := range singles + batches {
		d := &sender{serial: fmt.Sprintf("D-%03d", i), size: 1, number: i, sent: make(map[rimewatch.Time]*sample)}
		if i >= singles {
			d.size = batchSize
		}
		switch i % 10 {
		case 0:
			d.heat = always
		case 5:
			d.heat = sometimes
		}
		k.devices = append(k.devices, d)
	}
	p, c := k.start(t)
	defer p.kill()
	for _, d := range k.devices {
		_, err := c.CreateDevice(context.Background(), d.serial, alertAtOnce())
		if err != nil {
			t.Fatal(err)
		}
	}
	return k
}

// alertAtOnce are fields of a device whose alerts open and resolve with its readings,
// and which never falls silent.
func alertAtOnce() client.DeviceFields {
	return client.DeviceFields{
		OfflineAfterS: client.Value(3600),
		Limits: &rimewatch.LimitOverrides{
			TempMin: client.Value(0.0), TempMax: client.Value(5.0), DelayS: client.Value(0), LowDelayS: client.Value(0),
			CriticalDelayS: client.Value(86400), ClearDelta: client.Value(0.5), ClearS: client.Value(0),
		},
	}
}

// start launches a server that seals all the time.
func (k *killer) start(t *testing.T) (*process, *client.Client) {
	t.Helper()
	args := append([]string{"serve", "--listen", "127.0.0.1:0", "--seal-after", "300ms", "--head-memory", "1"}, k.flags...)
	p, url, _, err := launch("", k.bin, os.Environ(), args)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.cmd.Process.Kill() })
	c, err := client.New(url, k.token, &client.Options{Retries: -1})
	if err != nil {
		t.Fatal(err)
	}
	return p, c
}

func (k *killer) acknowledged() (n int) {
	for _, d := range k.devices {
		for _, s := range d.sent {
			if s.acknowledged {
				n++
			}
		}
	}
	return n
}

// heat says how warm a device is.
type heat uint8

const (
	never heat = iota
	always
	sometimes
)

// sender is one device. It alone sends its readings, at growing times.
type sender struct {
	serial string
	number int
	size   int
	heat   heat
	last   rimewatch.Time
	count  int
	sent   map[rimewatch.Time]*sample
}

type sample struct {
	temperature  float64
	serial       float64 // number of the reading in its device, sent as run_seconds
	acknowledged bool
}

// next makes up a reading that nobody has sent.
func (d *sender) next() client.Reading {
	d.last = max(d.last+1, rimewatch.TimeOf(time.Now()))
	d.count++
	s := &sample{temperature: 2 + float64(d.count%10)/10, serial: float64(d.count)}
	if d.heat == always || (d.heat == sometimes && d.count/40%2 == 1) {
		s.temperature += 10
	}
	d.sent[d.last] = s
	return d.reading(d.last, s)
}

func (d *sender) reading(at rimewatch.Time, s *sample) client.Reading {
	return client.Reading{DeviceSerial: d.serial, RecordedAt: at, Measurements: client.Measurements{
		ProductZoneTemp: &s.temperature, RunSeconds: client.Value(int64(s.serial)),
	}}
}

// drive sends until ctx ends or the server does not answer any more, and
// remembers what was acknowledged. It calls answered after the first
// acknowledgement, and at its end.
func (d *sender) drive(ctx context.Context, c *client.Client, answered func()) {
	defer answered()
	for ctx.Err() == nil {
		readings := make([]client.Reading, d.size)
		for i := range readings {
			readings[i] = d.next()
		}
		err := d.post(ctx, c, readings)
		if err != nil && client.StatusOf(err) == 0 {
			return
		}
		if err == nil {
			answered()
		}
		pause := pauseMS
		if d.size > 1 {
			pause = batchMS
		}
		select {
		case <-ctx.Done():
		case <-time.After(rand.N(time.Duration(pause) * time.Millisecond)):
		}
	}
}

func (d *sender) post(ctx context.Context, c *client.Client, readings []client.Reading) error {
	if len(readings) == 1 {
		_, _, err := c.PostReading(ctx, readings[0])
		d.sent[readings[0].RecordedAt].acknowledged = err == nil
		return err
	}
	result, err := c.PostNDJSON(ctx, readings)
	if err != nil {
		return err
	}
	if result.Rejected > 0 {
		return &result.Results[0]
	}
	for i := range readings {
		d.sent[readings[i].RecordedAt].acknowledged = true
	}
	return nil
}

// verify asks the server for everything that was measured at a moment or later.
func (k *killer) verify(t *testing.T, c *client.Client, from rimewatch.Time) {
	t.Helper()
	var wg sync.WaitGroup
	for _, d := range k.devices {
		wg.Go(func() {
			if err := d.verify(c, from); err != nil {
				t.Errorf("%s: %v", d.serial, err)
			}
		})
	}
	wg.Wait()
	if err := k.verifyAlerts(c); err != nil {
		t.Error(err)
	}
}

// stored returns at which times a device's readings are stored from a moment on. It
// is an error when one was not sent, or is there twice, out of order or with another
// value.
func stored[S any](ctx context.Context, c *client.Client, serial string, from rimewatch.Time, sent map[rimewatch.Time]S, same func(S, *client.StoredReading) bool) (map[rimewatch.Time]bool, error) {
	found := make(map[rimewatch.Time]bool)
	var last rimewatch.Time
	now := rimewatch.TimeOf(time.Now())
	for r, err := range c.History(ctx, serial, client.HistoryQuery{From: max(from, now-rimewatch.Day), To: now + rimewatch.Hour}) {
		if err != nil {
			return nil, err
		}
		s, known := sent[r.RecordedAt]
		switch {
		case !known:
			return nil, fmt.Errorf("%s was never sent", r.RecordedAt)
		case found[r.RecordedAt]:
			return nil, fmt.Errorf("%s is stored twice", r.RecordedAt)
		case r.RecordedAt <= last:
			return nil, fmt.Errorf("%s comes after %s", r.RecordedAt, last)
		case !same(s, &r):
			return nil, fmt.Errorf("%s has another value than was sent", r.RecordedAt)
		}
		found[r.RecordedAt], last = true, r.RecordedAt
	}
	return found, nil
}

func (d *sender) verify(c *client.Client, from rimewatch.Time) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience+time.Duration(len(d.sent))*time.Millisecond)
	defer cancel()
	found, err := stored(ctx, c, d.serial, from, d.sent, func(s *sample, r *client.StoredReading) bool {
		return *r.ProductZoneTemp == s.temperature && *r.RunSeconds == int64(s.serial)
	})
	if err != nil {
		return err
	}
	for at, s := range d.sent {
		if at >= from && s.acknowledged && !found[at] {
			return fmt.Errorf("%s was acknowledged and is lost", at)
		}
	}
	return nil
}

// verifyAlerts looks for alerts that opened twice for one condition.
func (k *killer) verifyAlerts(c *client.Client) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	heats := make(map[string]heat)
	for _, d := range k.devices {
		heats[d.serial] = d.heat
	}
	type key struct {
		serial string
		kind   rimewatch.AlertType
	}
	since := make(map[key]rimewatch.Time) // when the next newer alert of the kind began
	count := make(map[string]int)
	k.alerts = 0
	for a, err := range c.Alerts(ctx, client.AlertFilter{Status: client.AllAlerts}) {
		if err != nil {
			return err
		}
		k.alerts++
		count[a.DeviceSerial]++
		id := key{a.DeviceSerial, a.Type}
		newer, more := since[id]
		since[id] = a.ConditionStartedAt
		switch h := heats[a.DeviceSerial]; {
		case a.Type != rimewatch.HighTemperature || h == never:
			return fmt.Errorf("%s: a %s alert that nothing has caused: %s", a.DeviceSerial, a.Type, a.Message)
		case more && a.Status == rimewatch.AlertActive:
			return fmt.Errorf("%s: alert %d is active beside a newer one", a.DeviceSerial, a.ID)
		case more && (newer <= a.ConditionStartedAt || newer < a.ResolvedAt-rimewatch.Minute):
			return fmt.Errorf("%s: alert %d (since %s, resolved %s) and a newer one since %s are of one condition", a.DeviceSerial, a.ID, a.ConditionStartedAt, a.ResolvedAt, newer)
		}
	}
	for _, d := range k.devices {
		if d.heat == always && d.any() && count[d.serial] != 1 {
			return fmt.Errorf("%s was too warm all the time and has %d alerts", d.serial, count[d.serial])
		}
	}
	return nil
}

// any reports whether any reading was acknowledged.
func (d *sender) any() bool {
	for _, s := range d.sent {
		if s.acknowledged {
			return true
		}
	}
	return false
}

// settle sends again what was not acknowledged: whether it is new or was stored
// without an answer, it is there exactly once afterwards.
func (k *killer) settle(t *testing.T, c *client.Client) {
	t.Helper()
	for _, d := range k.devices {
		var open []client.Reading
		for at, s := range d.sent {
			if !s.acknowledged {
				open = append(open, d.reading(at, s))
			}
		}
		k.resent += len(open)
		for len(open) > 0 {
			n := min(len(open), client.MaxBatch)
			ctx, cancel := context.WithTimeout(context.Background(), patience)
			result, err := c.PostBatch(ctx, open[:n])
			cancel()
			if err == nil && result.Accepted+result.Duplicates != n {
				err = errors.New("some were rejected")
			}
			if err != nil {
				t.Fatalf("%s: send again: %v", d.serial, err)
			}
			for i := range open[:n] {
				d.sent[open[i].RecordedAt].acknowledged = true
			}
			open = open[n:]
		}
	}
}
