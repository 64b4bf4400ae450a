package ingest

import (
	"context"
	"encoding/binary"
	"errors"
	"math"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/engine"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/ticker"
)

const (
	checkpointSlice = 256  // states in one transaction
	checkpointTake  = 1024 // states that are copied while the writer waits
	checkpointTick  = time.Second

	// checkpointEach is how many inputs may lie behind the oldest checkpoint for each
	// unit that has none, however few Config.CheckpointInputs are: a checkpoint costs ten
	// times a reading.
	checkpointEach       = 30
	mostCheckpointInputs = 20_000_000

	// checkpointHaste is how much faster checkpoints are written than it takes to write
	// each changed unit's once in Config.CheckpointAfter.
	checkpointHaste = 1.5
)

// checkpoints is the goroutine that writes the states of changed units.
func (s *Service) checkpoints() {
	for range ticker.Every(s.stopping, checkpointTick, nil) {
		s.checkpoint(s.cfg.CheckpointAfter, true)
		s.watchSettings()
	}
}

// call runs f on the writer goroutine, between two groups. It returns false when
// the service is stopping.
func (s *Service) call(f func(*writer)) bool {
	done := make(chan struct{})
	select {
	case s.calls <- func(w *writer) { f(w); close(done) }:
	case <-s.stopping:
		return false
	}
	<-done
	return true
}

// copied is a state on its way to its checkpoint, and what surrounds it.
type copied struct {
	dirtyUnit
	facts facts
	state engine.State
}

// checkpoint writes the units whose oldest change is older than age, paced as many
// as one tick may, and all that lag far behind. The log may then forget what no
// unit needs.
func (s *Service) checkpoint(age time.Duration, paced bool) {
	s.checkpointing.Lock()
	defer s.checkpointing.Unlock()
	before, left := s.clock().Add(-age), math.MaxInt
	if paced && !s.call(func(w *writer) { left = w.dirty.pace(age) }) {
		return
	}
	taken := s.copies
	defer func() { s.copies = taken }()
	for wrote := false; ; wrote = true {
		var seq, floor store.Seq
		taken = taken[:0]
		if !s.call(func(w *writer) { taken, seq, floor = w.takeDirty(before, left, taken) }) || len(taken) == 0 && (wrote || floor == 0) {
			return
		}
		left = max(0, left-len(taken))
		err := s.save(taken, seq, floor)
		s.call(func(w *writer) { w.dirty.saved(taken, err) })
		clear(taken)
		if err != nil {
			s.log.Warn("checkpoint", "err", err)
			return
		}
		if len(taken) < checkpointTake {
			return
		}
	}
}

// roomForSum is behind each state, so that the store need not copy it to sign it.
var roomForSum [4]byte

// save writes states as of commit seq, and with the last of them from where on
// the log is needed; floor 0 leaves that as it is.
func (s *Service) save(list []copied, seq, floor store.Seq) error {
	kept := plains.Get().(*[]byte)
	buf := *kept
	defer func() { *kept = buf; plains.Put(kept) }()
	for {
		slice := list[:min(len(list), checkpointSlice)]
		list = list[len(slice):]
		from := store.Seq(0)
		if len(list) == 0 {
			from = floor
		}
		buf = buf[:0]
		states := make([]store.Checkpoint, len(slice))
		ends := make([]int, len(slice))
		for i := range slice {
			buf = s.appendCheckpoint(buf, &slice[i].facts, &slice[i].state)
			ends[i] = len(buf)
			buf = append(buf, roomForSum[:]...)
		}
		begin := 0
		for i, end := range ends {
			states[i] = store.Checkpoint{DeviceID: slice[i].unit.id, Seq: seq, State: buf[begin : end : end+len(roomForSum)]}
			begin = end + len(roomForSum)
		}
		if err := s.store.SaveCheckpoints(context.Background(), states, from); err != nil {
			return err
		}
		if len(list) == 0 {
			return nil
		}
	}
}

// dirtyUnits are those without a checkpoint, by their oldest commit that none
// covers. Of the writer goroutine.
type dirtyUnits struct {
	list   []dirtyUnit
	inputs int64 // ever taken by this process, by device and group
}

// add notes that a commit has changed a unit.
func (x *dirtyUnits) add(u *unit, seq store.Seq, now rimewatch.Time) {
	if u.dirtySeq == 0 {
		u.dirtySeq = seq
		x.list = append(x.list, dirtyUnit{unit: u, seq: seq, since: now, inputs: x.inputs})
	}
}

// pace is how many units may be written within one tick because they are old. A
// large fleet that has reported within seconds becomes old within seconds: written
// at once it would take the processors from everybody who sends.
func (x *dirtyUnits) pace(after time.Duration) int {
	return max(checkpointTake, int(checkpointHaste*float64(len(x.list))*checkpointTick.Seconds()/after.Seconds()))
}

// first returns the first commit that some checkpoint does not cover; last is the
// last commit.
func (x *dirtyUnits) first(last store.Seq) store.Seq {
	for i := range x.list {
		if d := &x.list[i]; !d.stale() {
			x.list = x.list[i:]
			return d.seq
		}
	}
	x.list = nil
	return last + 1
}

func (d *dirtyUnit) stale() bool { return d.unit.deleted || d.unit.dirtySeq != d.seq }

// takeDirty copies the states of one slice, which are durable: no group is under
// way. At most left of them are taken only because they are old. It returns the
// commit that they are of, and the first that a unit outside the slice still needs.
func (w *writer) takeDirty(before rimewatch.Time, left int, list []copied) (_ []copied, seq, floor store.Seq) {
	if len(w.lost) > 0 { // a state may be ahead of what is durable
		return list, 0, 0
	}
	x := &w.dirty
	lag := min(max(w.s.cfg.CheckpointInputs, checkpointEach*int64(len(x.list))), mostCheckpointInputs)
	i := 0
	for ; i < len(x.list) && len(list) < checkpointTake; i++ {
		d := x.list[i]
		if d.stale() {
			continue
		}
		if (d.since > before || len(list) >= left) && x.inputs-d.inputs < lag {
			break
		}
		list = append(list, copied{dirtyUnit: d, facts: d.unit.facts, state: *w.s.memory.state(d.unit)})
		d.unit.dirtySeq, d.unit.saving = 0, true
	}
	x.list = x.list[i:]
	return list, w.s.durable.seq, x.first(w.s.durable.seq)
}

// saved takes note of how saving a slice ended. Units whose checkpoint was not
// written are dirty again.
func (x *dirtyUnits) saved(taken []copied, err error) {
	var list []dirtyUnit
	for i := range taken {
		d := taken[i].dirtyUnit
		d.unit.saving = false
		if err != nil {
			d.unit.dirtySeq = d.seq
			list = append(list, d)
		}
	}
	if len(list) > 0 {
		x.list = append(list, x.list...)
	}
}

// checkpointVersion is of what surrounds the engine's own, versioned state.
const checkpointVersion = 1

func (s *Service) appendCheckpoint(b []byte, f *facts, state *engine.State) []byte {
	b = append(b, checkpointVersion)
	b = appendPayload(b, []byte(s.configs.payload(f.cfg)))
	hb := rimewatch.Heartbeat{BatteryPct: f.vitals.battery, RSSI: f.vitals.rssi, UptimeS: f.vitals.uptime}
	if f.vitals.low {
		hb.BatteryLow = &f.vitals.low
	}
	vitals := encodeHeartbeat(&hb)
	b = appendPayload(b, vitals)
	return packState(b, state)
}

// readCheckpoint is the inverse of appendCheckpoint. After engine.ErrAnew f and
// state are whole; after another error they may have changed in part.
func (s *Service) readCheckpoint(b []byte, f *facts, state *engine.State) error {
	if len(b) == 0 || b[0] != checkpointVersion {
		return errors.New("unknown version of checkpoint")
	}
	payload, rest, err := cutPayload(b[1:])
	if err != nil {
		return err
	}
	f.cfg = s.configs.get(payload)
	vitals, rest, err := cutPayload(rest)
	if err != nil {
		return err
	}
	hb := decodeHeartbeat(vitals)
	f.vitals.take(&hb)
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

// CheckpointAll writes the states of all changed units now: before the store
// is brought to rest.
func (s *Service) CheckpointAll() {
	select {
	case <-s.loaded:
		s.checkpoint(0, false)
	case <-s.stopping:
	}
}
