package e2e

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/client"
	"github.com/rimewatch/rimewatch/internal/trial"
)

var killRounds = flag.Int("rounds", 0, "how often TestKill9 kills the server (default 2, 4 in a long run, or RIMEWATCH_KILL9_ROUNDS)")

func rounds(t *testing.T) int {
	if *killRounds > 0 {
		return *killRounds
	}
	text := os.Getenv("RIMEWATCH_KILL9_ROUNDS")
	if text == "" && trial.Long() {
		return 4
	} else if text == "" {
		return 2
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("RIMEWATCH_KILL9_ROUNDS=%s", text)
	}
	return n
}

// The load: devices that send one reading at a time, devices that send batches, and
// the machines. Every tenth device is too warm all the time, and every tenth again
// is so now and then.
const (
	singles   = 40
	batches   = 8
	batchSize = 50
	pauseMS   = 20  // longest pause after a single reading
	batchMS   = 200 // longest pause after a batch
	fullEvery = 10  // rounds, or loads, between two looks at everything
)

// TestKill9 kills a server under load again and again, with sealing, checkpoints
// and compaction under way, and proves after every restart that each reading
// that was acknowledged is stored exactly once with its value, that nothing is
// stored that was not sent, that no alert opened twice, and that a replay of the log
// gives the states that lived.
func TestKill9(t *testing.T) {
	trial.NeedsAll(t)
	newKiller(t).rounds(t, rounds(t), func(context.Context) {})
}

// rounds is n times load, a kill, and a look at what is left; where the store is
// files, then also load, and what is left against the states that lived. beside runs
// beside the load.
func (k *killer) rounds(t *testing.T, n int, beside func(ctx context.Context)) {
	k.addMachines(t)
	for round := 1; round <= n; round++ {
		p, c := k.start(t)
		stop := k.underLoad(t, p, c, beside)
		p.kill()
		stop()
		k.senders.Wait()
		k.verdict(t, p, round)
		if k.inFiles {
			k.replays(t, round)
		}
	}
	p, c := k.start(t)
	k.verify(t, c, 0)
	k.settle(t, c)
	k.verify(t, c, 0)
	if err := p.terminate(os.Interrupt); err != nil {
		t.Errorf("the last server ended with %v", err)
	}
	t.Logf("%d rounds: %d readings acknowledged, %d sent again, %d alerts; %d states were replayed, %d of devices with readings under way left out", n, k.acknowledged(), k.resent, k.alerts, k.replayed, k.underWay)
	if k.acknowledged() < n*singles {
		t.Errorf("only %d readings were acknowledged in %d rounds: the load is no load", k.acknowledged(), n)
	}
	if k.inFiles && k.replayed < n*len(k.devices)/4 {
		t.Errorf("only %d states were compared in %d rounds", k.replayed, n)
	}
}

// underLoad looks at what a server has of the last two loads, every few times at
// everything, and lets all devices send for a while. What sends ends after stop.
func (k *killer) underLoad(t *testing.T, p *process, c *client.Client, beside func(ctx context.Context)) (stop func()) {
	switch n := k.loads; {
	case n%fullEvery == fullEvery-1:
		k.verify(t, c, 0)
	case n > 1:
		k.verify(t, c, 2)
	}
	k.loads++
	for _, d := range k.devices {
		d.before = append(d.before, d.last)
	}
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
	return cancel
}

// verdict ends the test when a server that has ended said something bad, or a round has.
func (k *killer) verdict(t *testing.T, p *process, round int) {
	t.Helper()
	if strings.Contains(p.err.String(), "DATA RACE") || strings.Contains(p.err.String(), "panic") {
		t.Fatal(p.err.String())
	}
	if t.Failed() {
		t.Fatalf("in round %d", round)
	}
}

// killer is the test's memory over the rounds.
type killer struct {
	bin, data, token string
	url              string     // of the server that was started last, "" = of several
	events           []happened // as they were read last
	flags            []string   // of every command: where the store is
	devices          []*sender
	senders          sync.WaitGroup // those that drive
	resent, alerts   int
	inFiles          bool // whether the store is the data directory, which can be copied
	loads            int  // so far
	replayed         int  // states that were the same after a replay as they had been
	underWay         int  // and those left out
}

// drive lets all devices send until ctx ends. enough waits until as many readings
// were acknowledged as a load has at least, however busy the machine is, or the
// server has gone.
func (k *killer) drive(ctx context.Context, c *client.Client) (enough func()) {
	var first sync.WaitGroup
	for _, d := range k.devices {
		first.Add(1)
		sends, rest := context.WithCancel(ctx)
		rests := make(chan struct{})
		d.rest, d.rests = rest, rests
		k.senders.Go(func() {
			defer close(rests)
			d.drive(sends, c, sync.OnceFunc(first.Done))
		})
	}
	return first.Wait
}

func newKiller(t *testing.T, flags ...string) *killer {
	return newKillerAt(t, filepath.Join(t.TempDir(), "data"), flags...)
}

// newKillerAt is newKiller with a data directory.
func newKillerAt(t *testing.T, data string, flags ...string) *killer {
	k := &killer{bin: program(t), data: data, inFiles: !slices.Contains(flags, "--store")}
	k.flags = append([]string{"--data", k.data}, flags...)
	out, err := exec.Command(k.bin, append([]string{"token", "create", "--workspace", "W", "--create", "--name", "kill9", "--scopes", "full,events:read"}, k.flags...)...).Output()
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
	return k.launch(t, k.bin, "serve", "--listen", "127.0.0.1:0")
}

func (k *killer) launch(t *testing.T, bin string, args ...string) (*process, *client.Client) {
	t.Helper()
	args = append(append(args, "--seal-after", "300ms", "--head-memory", "1"), k.flags...)
	p, url, _, err := launch("", bin, os.Environ(), args)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.cmd.Process.Kill() })
	k.url = url
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

// verify asks the server for everything of the last so many loads, or ever where they are 0.
func (k *killer) verify(t *testing.T, c *client.Client, loads int) {
	t.Helper()
	var wg sync.WaitGroup
	for _, d := range k.devices {
		wg.Go(func() {
			if err := d.verify(c, loads); err != nil {
				t.Errorf("%s: %v", d.serial, err)
			}
		})
	}
	wg.Wait()
	if err := k.verifyAlerts(c); err != nil {
		t.Error(err)
	}
	if k.url == "" { // of a cluster
		return
	}
	if err := k.verifyEvents(c); err != nil {
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
	for r, err := range c.History(ctx, serial, client.HistoryQuery{From: cmp.Or(from, now-rimewatch.Day), To: now + rimewatch.Hour}) { // 0: of the last day
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

// verifyAlerts looks for alerts that opened twice for one condition.
func (k *killer) verifyAlerts(c *client.Client) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	heats := make(map[string]heat)
	for _, d := range k.devices {
		if d.unit == nil {
			heats[d.serial] = d.heat
		}
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
		h, made := heats[a.DeviceSerial]
		if !made {
			continue // a machine's
		}
		switch {
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

// settle sends again what was not acknowledged: whether it is new or was stored
// without an answer, it is there exactly once afterwards.
func (k *killer) settle(t *testing.T, c *client.Client) {
	t.Helper()
	for _, d := range k.devices {
		var open []client.Reading
		for at, s := range d.sent {
			if !s.acknowledged {
				open = append(open, d.reading(at, s.open))
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
				d.sent[open[i].RecordedAt].acknowledge()
			}
			open = open[n:]
		}
	}
}
