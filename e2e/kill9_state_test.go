package e2e

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/client"
	"github.com/rimewatch/rimewatch/internal/simulate"
)

// The machines of the load: simulated units that send what they measured in the last
// weeks, two hours at a time, and break in the course of it. So there is something that
// was learnt, predicted and judged, and that a restart could get wrong.
const (
	machineBatch = 120
	machineMS    = 600 // longest pause after a batch
	machineWeeks = 9
)

var machineFaults = []string{"leak:0.9:6d", "fouling:0.9:6d", "door", "valve:0.9:6d", "sensor_drift:6d:compressor_suction_temp", ""}

// addMachines registers the machines.
func (k *killer) addMachines(t *testing.T) {
	t.Helper()
	p, c := k.start(t)
	defer p.kill()
	begun := rimewatch.TimeOf(time.Now()) - machineWeeks*7*rimewatch.Day
	types := simulate.FittedEquipment()
	for i, fault := range machineFaults {
		d := &sender{serial: fmt.Sprintf("M-%03d", i), size: machineBatch, number: len(k.devices), sent: make(map[rimewatch.Time]*sample)}
		config := simulate.Config{Equipment: types[i%len(types)], Seed: rand.Uint64(), Start: begun, Step: 10 * time.Second, Extras: i%2 == 0}
		if fault != "" {
			f, err := simulate.ParseFault(fault)
			if err != nil {
				t.Fatal(err)
			}
			f.Onset = begun + rimewatch.Time(6+i)*rimewatch.Day
			config.Faults = []simulate.Fault{f}
		}
		var err error
		if d.unit, err = simulate.New(config); err != nil {
			t.Fatal(err)
		}
		if _, err := c.CreateDevice(t.Context(), d.serial, client.DeviceFields{EquipmentType: client.Value(config.Equipment)}); err != nil {
			t.Fatal(err)
		}
		k.devices = append(k.devices, d)
	}
}

// replays compares what a server under load has in memory with what another one makes
// of the files as they are at one moment, which is what a kill at that moment leaves.
// The server is stopped where it stands and the files are copied; then it goes on with
// what it has taken, and writes all states down. A server on the copy replays its log and
// does the same. Each device of which nothing was stored after that moment has the same
// state in both, to the bit. The copy is what the next round goes on with.
func (k *killer) replays(t *testing.T, round int) {
	t.Helper()
	late := new(atomic.Bool)
	for _, d := range k.devices {
		d.late = late
	}
	start := func() (*process, *client.Client) {
		return k.launch(t, build(t, "./e2e/states"), "--devices", strconv.Itoa(len(k.devices)))
	}
	p, c := start()
	stop := k.underLoad(t, p, c, func(context.Context) {})
	k.half()
	if err := p.freeze(); err != nil {
		t.Fatal(err)
	}
	late.Store(true)
	stop()
	left := k.data + ".left"
	if err := os.CopyFS(left, os.DirFS(k.data)); err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	k.senders.Wait()
	for _, d := range k.devices {
		d.late = nil
	}
	lived := k.states(t, p, c)
	k.verdict(t, p, round)
	if err := os.RemoveAll(k.data); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(left, k.data); err != nil {
		t.Fatal(err)
	}
	p, c = start()
	replayed := k.states(t, p, c)
	for i, was := range lived {
		switch is := replayed[i]; {
		case is.last != was.last:
			k.underWay++
		case is.state != was.state:
			t.Errorf("%s: with readings until %s the state was\n%s\nand is after a replay\n%s", k.devices[i].serial, is.last, was.state, is.state)
		default:
			k.replayed++
		}
	}
	k.verdict(t, p, round)
}

// half lets one device of two, drawn anew, send no more: on a busy machine all of them may have a reading under way at any moment.
func (k *killer) half() {
	resting := rand.Perm(len(k.devices))[:len(k.devices)/2]
	for _, i := range resting {
		k.devices[i].rest()
	}
	for _, i := range resting {
		<-k.devices[i].rests
	}
}

// state is a device's, and when its last reading was measured.
type state struct {
	last  rimewatch.Time
	state string
}

// states ends a server that nobody uses any more, which prints all states, and returns
// them in the order of the devices.
func (k *killer) states(t *testing.T, p *process, c *client.Client) []state {
	t.Helper()
	all := make([]state, len(k.devices))
	place := make(map[string]int) // by a device's id
	for i, d := range k.devices {
		is, err := c.Device(t.Context(), d.serial)
		if err != nil {
			t.Fatal(err)
		}
		if is.LatestReading != nil {
			all[i].last = is.LatestReading.RecordedAt
		}
		place[strconv.FormatInt(is.ID, 10)] = i
	}
	if err := p.terminate(syscall.SIGUSR1); err != nil {
		t.Fatalf("the server ended with %v\n%s", err, p.err.String())
	}
	n := 0
	for line := range strings.Lines(p.out.String()) {
		if words := strings.Fields(line); len(words) == 3 && words[0] == "state" {
			all[place[words[1]]].state = words[2]
			n++
		}
	}
	if n != len(all) {
		t.Fatalf("%d states of %d devices\n%s", n, len(all), p.err.String())
	}
	return all
}
