package core

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/ticker"
)

// headSize counts the readings of all heads.
type headSize struct {
	bytes, readings atomic.Int64
	budget          atomic.Int64 // bytes; grows with the fleet
}

// headEach is the least budget, in bytes a device: a chunk costs as much
// as dozens of readings, so it should hold that many. A reading takes some 23.
const headEach = 7 << 7

func (h *headSize) add(bytes, readings int64) {
	h.bytes.Add(bytes)
	h.readings.Add(readings)
}

// fit lets the budget follow the size of the fleet.
func (h *headSize) fit(least int64, devices int) {
	h.budget.Store(max(least, headEach*int64(devices)))
}

// sealer moves readings from the log and the heads into chunks, in slices that
// hold the writer for a few milliseconds each. Its fields but the channels are
// guarded by Core.mu.
type sealer struct {
	sealQueue
	young  map[int64]int // young chunks by device
	wakeC  chan struct{}
	doneC  atomic.Pointer[chan struct{}] // closed at the next progress
	lastAt atomic.Int64                  // time of the last sealed slice, for metrics
	rows   []rimewatch.Reading           // of one device, kept for the next; under maintMu
	packed []byte                        // likewise
	still  atomic.Int32                  // how many want nothing to move
	slice  sync.Mutex                    // held while something is moved
}

// sealQueue are the devices whose readings wait to be sealed.
type sealQueue struct {
	queue  []sealItem // devices with unsealed readings, by the commit of the oldest
	full   []*device  // heads that are worth a chunk now
	logged int64      // readings, as far as the log reaches back and since
}

// sealItem is stale when the device's oldest unsealed reading is of another
// commit by now.
type sealItem struct {
	seq    int64
	device *device
	since  rimewatch.Time
	logged int64 // readings up to that commit, about
}

func (i *sealItem) stale() bool { return i.device.head.n == 0 || i.device.head.firstSeq != i.seq }

const (
	compactAt     = 24   // young chunks of one device
	chunkReadings = 1440 // a day at one a minute; no chunk crosses midnight UTC
	sliceDevices  = 64
	sliceBytes    = 512 << 10
	logEach       = 30 // readings in the log for each device, however few Config.LogReadings are: a chunk costs dozens
	sealTick      = time.Second
)

func (q *sealer) init() {
	q.wakeC = make(chan struct{}, 1)
	q.young = make(map[int64]int)
	c := make(chan struct{})
	q.doneC.Store(&c)
}

// push keeps the queue sorted. Nearly always the item belongs at the end.
func (q *sealQueue) push(it sealItem) {
	i := len(q.queue)
	for i > 0 && q.queue[i-1].seq > it.seq {
		i--
	}
	q.queue = slices.Insert(q.queue, i, it)
}

// publish shows the next n staged rows of a device, size bytes, the newest of at,
// and queues it for sealing. It reports whether the device has a chunk's worth to be
// sealed now: full readings of days that are over, or chunkReadings at all.
func (q *sealQueue) publish(d *device, size, n, full int32, seq int64, now, at rimewatch.Time) bool {
	h := &d.head
	q.logged += int64(n)
	before, day := h.n, h.day
	h.publish(size, n, seq, at)
	most := max(full, chunkReadings)
	if before == 0 {
		q.push(sealItem{seq: seq, device: d, since: now, logged: q.logged})
	}
	if day < h.day && h.dayN >= full || before < most && h.n >= most {
		q.full = append(q.full, d)
		return true
	}
	return false
}

func (q *sealer) wake() {
	select {
	case q.wakeC <- struct{}{}:
	default:
	}
}

// progress is closed when the sealer has freed memory.
func (q *sealer) progress() <-chan struct{} { return *q.doneC.Load() }

func (q *sealer) progressed() {
	c := make(chan struct{})
	close(*q.doneC.Swap(&c))
}

func (s *Core) startSealer() {
	if s.cfg.Quiet {
		return
	}
	s.workers.Go(func() {
		for range ticker.Every(s.ctx.Done(), sealTick, s.seal.wakeC) {
			if err := s.maintain(s.ctx); err != nil && s.ctx.Err() == nil {
				s.log.Error("sealing failed, will try again", "err", err)
				select { // not sooner, whoever wakes
				case <-s.ctx.Done():
				case <-time.After(sealTick):
				}
			}
		}
	})
}

// maintain does everything that is due: sealing, trimming the log, compaction,
// retention, checkpointing the write-ahead log.
func (s *Core) maintain(ctx context.Context) error {
	s.maintMu.Lock()
	defer s.maintMu.Unlock()
	for ctx.Err() == nil {
		n, err := s.moveSlice(ctx)
		if err != nil {
			return err
		}
		if n == 0 {
			break
		}
	}
	// A failure of one of them does not keep the others from being sealed.
	return errors.Join(s.setAside(ctx), s.compactDue(ctx), s.retainDue(ctx), s.setAside(ctx), s.disk.Tidy(ctx))
}

// tidyLog trims the log and keeps the write-ahead log short.
func (s *Core) tidyLog(ctx context.Context) error {
	if err := s.trim(ctx); err != nil {
		return err
	}
	return s.disk.Tidy(ctx)
}

// due picks the devices of the next slice: full heads first, then the oldest
// while they are old enough, memory is short or the log is long.
func (s *Core) due() []*device {
	now := rimewatch.TimeOf(s.cfg.Now())
	old := now.Add(-s.cfg.SealAfter)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.heads.fit(s.cfg.HeadBytes, s.fleet.byID.Len())
	q := &s.seal
	var pick []*device
	bytes := 0
	take := func(d *device) bool {
		if len(pick) == sliceDevices || bytes > sliceBytes {
			return false
		}
		if d.head.sealSize == 0 && d.head.n > 0 && !slices.Contains(pick, d) {
			pick = append(pick, d)
			bytes += int(d.head.size)
		}
		return true
	}
	for len(q.full) > 0 && take(q.full[0]) {
		q.full = q.full[1:]
	}
	q.dropStale()
	excess := s.heads.bytes.Load() - s.heads.budget.Load()
	long := max(s.cfg.LogReadings, logEach*int64(len(q.queue)))
	for i := range q.queue {
		it := &q.queue[i]
		if it.stale() {
			continue
		}
		if it.since >= old && excess <= int64(bytes) && q.logged-it.logged <= long {
			break
		}
		if !take(it.device) {
			break
		}
	}
	return pick
}

// some lists a slice of the devices that are not being sealed.
func (q *sealQueue) some() (out []*device) {
	q.dropStale()
	for i := range q.queue {
		if it := &q.queue[i]; !it.stale() && it.device.head.sealSize == 0 {
			out = append(out, it.device)
			if len(out) == sliceDevices {
				break
			}
		}
	}
	return out
}

// dropStale frees the front of the queue.
func (q *sealQueue) dropStale() {
	i := 0
	for i < len(q.queue) && q.queue[i].stale() {
		i++
	}
	q.queue = q.queue[i:]
}

// sealSlice moves the committed readings of some devices into chunks: encoded
// outside every lock, written in one short transaction.
func (s *Core) sealSlice(ctx context.Context, devices []*device) (int, error) {
	if len(devices) == 0 {
		return 0, nil
	}
	list := make([]Sealed, len(devices))
	s.mu.Lock()
	for i, d := range devices {
		list[i] = Sealed{DeviceID: d.row.ID, Mark: store.Seq(d.head.beginSeal(int32(s.cfg.SealReadings), s.seq))}
	}
	s.mu.Unlock()
	for i, d := range devices {
		s.mu.RLock()
		s.seal.packed = d.head.rows.read(&s.heads.blocks, s.seal.packed[:0], d.head.sealSize)
		base := d.head.base
		s.mu.RUnlock()
		s.seal.rows = snapshot(s.seal.rows[:0], s.seal.packed, base, 0, rimewatch.MaxTime+1)
		list[i].Chunks = encodeChunks(list[i].DeviceID, s.seal.rows, false)
	}
	err := s.disk.Seal(ctx, list)
	s.moved.Add(1)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		for _, d := range devices {
			h := &d.head
			h.sealSize, h.sealN, h.sealSeq = 0, 0, 0
		}
		return 0, err
	}
	for i, d := range devices {
		s.finishSeal(d, list[i].Chunks)
	}
	s.seal.progressed()
	s.seal.lastAt.Store(s.cfg.Now().UnixMilli())
	return len(devices), nil
}

// finishSeal takes the sealed rows out of the head. Under mu.
func (s *Core) finishSeal(d *device, chunks []Chunk) {
	s.heads.add(-int64(d.head.sealSize), -int64(d.head.sealN))
	newest := rimewatch.Time(0)
	for i := range chunks {
		newest = max(newest, chunks[i].To)
	}
	d.head.endSeal(&s.heads, newest)
	for i := range chunks {
		if d.sealedTo != 0 {
			d.sealedTo = max(d.sealedTo, chunks[i].To)
		}
		if chunks[i].Young {
			s.seal.young[d.row.ID]++
		}
	}
	if d.head.n > 0 {
		s.seal.push(sealItem{seq: d.head.firstSeq, device: d, since: s.lastNow, logged: s.seal.logged})
	} else if d.row.deleted != 0 {
		s.fleet.byID.Put(d.row.ID, nil)
	}
}

// floor is the first commit that is still needed, and the end of the log.
func (s *Core) floor() (floor, last store.Seq, now rimewatch.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seal.dropStale()
	first := s.seq + 1
	if len(s.seal.queue) > 0 {
		first = s.seal.queue[0].seq
	}
	return store.Seq(min(first, s.ckptFloor.Load())), store.Seq(s.seq), s.lastNow
}

// trim deletes log rows that are sealed and checkpointed.
func (s *Core) trim(ctx context.Context) error {
	floor, last, now := s.floor()
	for floor > s.trimmed {
		more, err := s.disk.TrimLog(ctx, floor, last, now)
		if more || err != nil {
			s.moved.Add(1)
		}
		if err != nil {
			return err
		}
		if !more {
			s.trimmed = floor
		}
	}
	return nil
}
