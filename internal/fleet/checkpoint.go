package fleet

import (
	"context"
	"encoding/binary"
	"errors"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/engine"
	"github.com/rimewatch/rimewatch/internal/store"
)

const (
	checkpointSlice = 256 // states in one transaction

	// CheckpointTake is how many states are copied at a time, while the writer waits.
	CheckpointTake = 1024

	// checkpointEach is how many inputs may lie behind the oldest checkpoint for each
	// device that has none, however few Due.Inputs are: a checkpoint costs ten times a
	// reading.
	checkpointEach       = 30
	mostCheckpointInputs = 20_000_000

	// checkpointHaste is how much faster checkpoints are written than it takes to write
	// each changed device's once in the time that it may wait for it.
	checkpointHaste = 1.5
)

// dirtyDevice is a device that wants a checkpoint. It is stale when the device's dirtySeq
// is another.
type dirtyDevice[Own any] struct {
	device *Device[Own]
	seq    store.Seq
	since  rimewatch.Time
	inputs int64
}

func (d *dirtyDevice[Own]) stale() bool { return d.device.Deleted || d.device.dirtySeq != d.seq }

// dirtyDevices are those without a checkpoint, by their oldest commit that none covers.
type dirtyDevices[Own any] struct {
	list   []dirtyDevice[Own]
	inputs int64 // ever taken by this process, by device and group
}

// add notes that a commit has changed a device.
func (x *dirtyDevices[Own]) add(d *Device[Own], seq store.Seq, now rimewatch.Time) {
	if d.dirtySeq == 0 {
		d.dirtySeq = seq
		x.list = append(x.list, dirtyDevice[Own]{device: d, seq: seq, since: now, inputs: x.inputs})
	}
}

// first returns the first commit that some checkpoint does not cover; last is the
// last commit.
func (x *dirtyDevices[Own]) first(last store.Seq) store.Seq {
	for i := range x.list {
		if d := &x.list[i]; !d.stale() {
			x.list = x.list[i:]
			return d.seq
		}
	}
	x.list = nil
	return last + 1
}

// Pace is how many devices may be written within one tick because they are old, where each
// may wait for its checkpoint for a while. A large fleet that has reported within seconds
// becomes old within seconds: written at once it would take the processors from the
// senders.
func (f *Fleet[Own]) Pace(tick, after time.Duration) int {
	return max(CheckpointTake, int(checkpointHaste*float64(len(f.dirty.list))*tick.Seconds()/after.Seconds()))
}

// Copies are states on their way to their checkpoints. Zero, they are none.
type Copies[Own any] struct {
	list  []copied[Own]
	seq   store.Seq // the commit that they are of
	floor store.Seq // the first that a device that is not among them still needs, 0 = unknown
}

// copied is a state with its device's facts.
type copied[Own any] struct {
	dirtyDevice[Own]
	facts Facts
	state engine.State
}

// Len returns the number of states.
func (c *Copies[Own]) Len() int { return len(c.list) }

// Needless reports whether to save them would change nothing, not even from where on the log is
// needed.
func (c *Copies[Own]) Needless() bool { return len(c.list) == 0 && c.floor == 0 }

// Clear lets go of the states, and keeps their room.
func (c *Copies[Own]) Clear() {
	clear(c.list)
	c.list = c.list[:0]
}

// Due selects the devices whose checkpoint is written next.
type Due struct {
	Before rimewatch.Time // those that changed before it for the first time,
	Most   int            // at most so many,
	Inputs int64          // and those behind whose checkpoint so many inputs lie
}

// Copy copies the states of one slice of those that are due, as of commit seq: everything in
// them is durable, for no group is under way. The writing goroutine calls it.
func (f *Fleet[Own]) Copy(c *Copies[Own], due Due, seq store.Seq) {
	c.list, c.seq, c.floor = c.list[:0], 0, 0
	if len(f.lost) > 0 { // a state may be ahead of the durable log
		return
	}
	x := &f.dirty
	lag := min(max(due.Inputs, checkpointEach*int64(len(x.list))), mostCheckpointInputs)
	i := 0
	for ; i < len(x.list) && len(c.list) < CheckpointTake; i++ {
		d := x.list[i]
		if d.stale() {
			continue
		}
		if (d.since > due.Before || len(c.list) >= due.Most) && x.inputs-d.inputs < lag {
			break
		}
		c.list = append(c.list, copied[Own]{dirtyDevice: d, facts: d.device.Facts, state: *f.memory.state(d.device)})
		d.device.dirtySeq, d.device.saving = 0, true
	}
	x.list = x.list[i:]
	c.seq, c.floor = seq, x.first(seq)
}

// Saved takes note of how Save ended. Devices whose checkpoint was not written are dirty
// again. The writing goroutine calls it.
func (f *Fleet[Own]) Saved(c *Copies[Own], err error) {
	var list []dirtyDevice[Own]
	for i := range c.list {
		d := c.list[i].dirtyDevice
		d.device.saving = false
		if err != nil {
			d.device.dirtySeq = d.seq
			list = append(list, d)
		}
	}
	if len(list) > 0 {
		f.dirty.list = append(list, f.dirty.list...)
	}
}

// roomForSum is behind each state, so that the store need not copy it to sign it.
var roomForSum [4]byte

// Save writes copies, and with the last of them from where on the log is needed. Any goroutine
// may call it.
func (f *Fleet[Own]) Save(c *Copies[Own]) error {
	kept := plains.Get().(*[]byte)
	buf := *kept
	defer func() { *kept = buf; plains.Put(kept) }()
	for list := c.list; ; {
		slice := list[:min(len(list), checkpointSlice)]
		list = list[len(slice):]
		from := store.Seq(0)
		if len(list) == 0 {
			from = c.floor
		}
		buf = buf[:0]
		states := make([]store.Checkpoint, len(slice))
		ends := make([]int, len(slice))
		for i := range slice {
			buf = f.appendCheckpoint(buf, &slice[i].facts, &slice[i].state)
			ends[i] = len(buf)
			buf = append(buf, roomForSum[:]...)
		}
		begin := 0
		for i, end := range ends {
			states[i] = store.Checkpoint{DeviceID: slice[i].device.ID, Seq: c.seq, State: buf[begin : end : end+len(roomForSum)]}
			begin = end + len(roomForSum)
		}
		if err := f.store.SaveCheckpoints(context.Background(), states, from); err != nil {
			return err
		}
		if len(list) == 0 {
			return nil
		}
	}
}

// checkpointVersion is the version of the frame around the engine's own, versioned state.
const checkpointVersion = 1

func (f *Fleet[Own]) appendCheckpoint(b []byte, x *Facts, state *engine.State) []byte {
	b = append(b, checkpointVersion)
	b = appendPayload(b, []byte(f.Configs.payload(x.Config)))
	hb := rimewatch.Heartbeat{BatteryPct: x.Vitals.Battery, RSSI: x.Vitals.RSSI, UptimeS: x.Vitals.Uptime}
	if x.Vitals.Low {
		hb.BatteryLow = &x.Vitals.Low
	}
	vitals := EncodeHeartbeat(&hb)
	b = appendPayload(b, vitals)
	return packState(b, state)
}

// readCheckpoint is the inverse of appendCheckpoint. After engine.ErrAnew x and
// state are whole; after another error they may have changed in part.
func (f *Fleet[Own]) readCheckpoint(b []byte, x *Facts, state *engine.State) error {
	if len(b) == 0 || b[0] != checkpointVersion {
		return errors.New("unknown version of checkpoint")
	}
	payload, rest, err := cutPayload(b[1:])
	if err != nil {
		return err
	}
	x.Config = f.Configs.Get(payload)
	vitals, rest, err := cutPayload(rest)
	if err != nil {
		return err
	}
	hb := decodeHeartbeat(vitals)
	x.Vitals.take(&hb)
	return unpackState(rest, state)
}

func appendPayload(b, payload []byte) []byte {
	b = binary.AppendUvarint(b, uint64(len(payload)))
	return append(b, payload...)
}

func cutPayload(b []byte) (payload, rest []byte, err error) {
	size, n := binary.Uvarint(b)
	if n <= 0 || size > uint64(len(b)-n) {
		return nil, nil, errors.New("damaged state")
	}
	return b[n : n+int(size)], b[n+int(size):], nil
}
