package core

import (
	"context"
	"encoding/binary"
	"errors"
	"slices"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/prefetch"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/store/chunk"
)

// commit is one group on its way.
type commit struct {
	s       *Core
	g       *store.Group
	now     rimewatch.Time
	seq     int64
	log     []byte // the packed row of commit_log
	logged  bool   // there is something in it
	alone   bool   // the group changes devices: exclusive is held from Stage on
	failed  error  // of a group before it, which has taken it back
	touched []touch
	effects *store.Effects
	again   []rimewatch.Time // of the chunk that a duplicate was found in last
	againOf *device
	// held are the readings of devices to which one of a moment that they have came, by
	// their moments: those of the head, and of the chunks that were looked into.
	held map[*device]map[rimewatch.Time]rimewatch.Reading
}

// touch is a device that the group has readings of: how many, and what is
// newest among them.
type touch struct {
	device *device
	last   *store.Input       // the last of them
	latest *rimewatch.Reading // the newest; the group's own
	temp   float64
	tempAt rimewatch.Time
	n      int32
	size   int32 // of the encoded readings, in bytes
	heard  bool  // the device sent some of them itself
}

// Stage implements store.Log.
func (s *Core) Stage(ctx context.Context, g *store.Group) (store.Staged, error) {
	if err := s.waitForHead(ctx); err != nil {
		return nil, err
	}
	c, err := s.begin(g)
	if err != nil {
		return nil, err
	}
	c.settle()
	if err := c.stage(); err != nil {
		c.Discard()
		return nil, err
	}
	return c, nil
}

// begin makes the commit of a group and numbers it.
func (s *Core) begin(g *store.Group) (*commit, error) {
	alone := len(g.Devices) > 0
	if alone {
		s.exclusive.Lock()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var err error
	switch n := len(s.staged); {
	case s.closed.Load():
		err = ErrClosed()
	case n > 0 && (alone || s.staged[n-1].alone):
		err = rimewatch.Wrap(rimewatch.CodeInternal, errors.New("a group that changes devices is staged beside another"), "The store failed.")
	}
	if err != nil {
		if alone {
			s.exclusive.Unlock()
		}
		return nil, err
	}
	last, now := s.seq, s.lastNow
	if n := len(s.staged); n > 0 {
		last, now = s.staged[n-1].seq, s.staged[n-1].now
	}
	var c *commit
	if n := len(s.spare); n > 0 {
		c, s.spare = s.spare[n-1], s.spare[:n-1]
	} else {
		c = new(commit)
	}
	if !g.Back {
		g.Now = max(g.Now, now)
	}
	g.Seq = store.Seq(last + 1)
	*c = commit{s: s, g: g, now: g.Now, seq: last + 1, alone: alone, log: c.log[:0], touched: c.touched[:0]}
	c.log = binary.LittleEndian.AppendUint32(c.log, 0) // the checksum's place
	c.log = append(c.log, logVersion)
	c.log = binary.AppendVarint(c.log, int64(g.Now))
	s.staged = append(s.staged, c)
	return c, nil
}

// Commit implements store.Staged.
func (c *commit) Commit(ctx context.Context, e *store.Effects) error {
	s := c.s
	if c.alone {
		defer s.exclusive.Unlock()
	}
	if c.alone || e.Back != 0 {
		defer s.moved.Add(1)
	}
	s.commitMu.Lock()
	defer s.commitMu.Unlock()
	s.mu.RLock()
	err := c.failed
	if err == nil && s.staged[0] != c {
		err = rimewatch.Wrap(rimewatch.CodeInternal, errors.New("groups are committed out of order"), "The store failed.")
	}
	s.mu.RUnlock()
	if err != nil {
		return err
	}
	c.effects = e
	if err := s.disk.Append(ctx, store.Seq(c.seq), c.row(), c.g.Devices, e); err != nil {
		c.retract(err)
		return err
	}
	c.publish()
	return nil
}

// row is the row of the log, nil when nothing is to be logged.
func (c *commit) row() []byte {
	if !c.logged {
		return nil
	}
	binary.LittleEndian.PutUint32(c.log, sum(c.log[4:], c.seq))
	return c.log
}

// Discard implements store.Staged.
func (c *commit) Discard() {
	s, alone := c.s, c.alone
	c.retract(rimewatch.Errorf(rimewatch.CodeUnavailable, "A previous group was not stored."))
	if alone {
		s.exclusive.Unlock()
	}
}

// keep keeps a commit's memory for a later one unless a rare giant made it
// large. Under mu.
func (c *commit) keep() {
	s := c.s
	if cap(c.log) > 4<<20 {
		c.log = nil
	}
	clear(c.touched)
	*c = commit{log: c.log, touched: c.touched}
	s.spare = append(s.spare, c)
}

// stage settles the outcome of every input and packs the accepted ones.
func (c *commit) stage() error {
	for _, op := range c.g.Devices {
		switch {
		case op.Err != nil:
		case op.Delete:
			c.pack(store.InputDelete, op.Device.ID, nil)
		default:
			c.pack(store.InputDevice, op.Device.ID, op.Payload)
		}
	}
	for parts := c.g.Parts; len(parts) > 0; {
		n := store.Together(parts)
		if err := c.stageParts(parts[:n]); err != nil {
			return err
		}
		parts = parts[n:]
	}
	return nil
}

// stageParts stages the inputs of some callers.
func (c *commit) stageParts(parts [][]store.Input) error {
	s := c.s
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, part := range parts {
		s.fleet.aheadOfPart(&s.heads.blocks, parts, i)
		if err := c.stagePart(part); err != nil {
			return err
		}
	}
	return nil
}

func (c *commit) stagePart(part []store.Input) error {
	s := c.s
	for i := range part {
		in := &part[i]
		s.fleet.ahead(&s.heads.blocks, part, i)
		in.Outcome, in.Last = store.Accepted, false
		d := s.fleet.byID.Get(in.DeviceID)
		switch {
		case in.Kind == store.InputClock:
			c.pack(in.Kind, 0, in.Payload)
		case d == nil || d.row.deleted != 0:
			in.Outcome = store.UnknownDevice
		case in.Kind != store.InputReading:
			c.pack(in.Kind, in.DeviceID, in.Payload)
		default:
			err := c.stageReading(d, in)
			if errors.Is(err, ErrDamaged) {
				s.log.Error("a reading cannot be compared with what is stored", "device", in.DeviceID, "err", err)
				in.Outcome = store.Failed
			} else if err != nil {
				return err
			}
		}
	}
	return nil
}

// devicesAhead is how many inputs before its turn a device is asked for in memory:
// there they lie in no order.
const devicesAhead = 8

// ahead prefetches the memory that the inputs after the i-th of a part need: their devices, and where
// the rows of these end.
func (f *fleet) ahead(m *blocks, part []store.Input, i int) {
	if i+devicesAhead < len(part) {
		prefetch.Of(f.byID.Get(part[i+devicesAhead].DeviceID))
	}
	if i+devicesAhead/2 < len(part) {
		f.askEnd(m, &part[i+devicesAhead/2])
	}
}

// aheadOfPart prefetches the memory that the parts after the i-th need first: of single readings that
// is all.
func (f *fleet) aheadOfPart(m *blocks, parts [][]store.Input, i int) {
	if k := i + devicesAhead; k < len(parts) && len(parts[k]) > 0 {
		prefetch.Of(f.byID.Get(parts[k][0].DeviceID))
	}
	if k := i + devicesAhead/2; k < len(parts) && len(parts[k]) > 0 {
		f.askEnd(m, &parts[k][0])
	}
}

func (f *fleet) askEnd(m *blocks, in *store.Input) {
	if d := f.byID.Get(in.DeviceID); d != nil {
		d.head.rows.prefetchEnd(m)
	}
}

func (c *commit) pack(kind store.InputKind, deviceID int64, payload []byte) {
	c.log = append(c.log, byte(kind))
	c.log = binary.AppendUvarint(c.log, uint64(deviceID))
	c.log = binary.AppendUvarint(c.log, uint64(len(payload)))
	c.log = append(c.log, payload...)
	c.logged = true
}

func (c *commit) stageReading(d *device, in *store.Input) error {
	r := &in.Reading
	if r.ReceivedAt == 0 {
		r.ReceivedAt = c.g.Now
	}
	if in.AtArrival {
		r.At = r.ReceivedAt
	}
	for at := r.At; ; r.At++ {
		stored, err := c.stored(d, r.At)
		if err != nil {
			return err
		}
		if !stored {
			break
		}
		if in.AtArrival {
			continue
		}
		same, err := c.heldAt(d, r.At)
		if err != nil {
			return err
		}
		in.Conflicts |= r.Conflicts(&same)
		left := r.Without(&same)
		if left.Empty() || r.At-at >= mostAtOnce {
			in.Outcome, r.At = store.Duplicate, at
			return nil
		}
		*r = left
	}
	if i := int(d.touch); i >= len(c.touched) || c.touched[i].device != d {
		d.touch = int32(len(c.touched))
		c.touched = append(c.touched, touch{device: d})
	}
	c.log = append(c.log, byte(store.InputReading))
	c.log = binary.AppendUvarint(c.log, uint64(d.row.ID))
	start := len(c.log)
	c.log = chunk.AppendReading(c.log, r, 0)
	c.touched[d.touch].take(in, d.head.stage(&c.s.heads, c.log[start:], r.At))
	if of := c.held[d]; of != nil {
		of[r.At] = *r
	}
	c.logged = true
	return nil
}

// mostAtOnce bounds how many readings with different measurements may have one moment.
const mostAtOnce = 100 * rimewatch.Millisecond

// heldAt returns the reading of a device that has that moment.
func (c *commit) heldAt(d *device, at rimewatch.Time) (rimewatch.Reading, error) {
	of := c.held[d]
	if r, ok := of[at]; ok {
		return r, nil
	}
	if c.held == nil {
		c.held = make(map[*device]map[rimewatch.Time]rimewatch.Reading)
	}
	if of == nil {
		of = make(map[rimewatch.Time]rimewatch.Reading)
		c.held[d] = of
	}
	c.s.heads.all(&d.head, func(r *rimewatch.Reading) { of[r.At] = *r })
	if r, ok := of[at]; ok {
		return r, nil
	}
	err := c.s.sealedReadings(d, at, func(r *rimewatch.Reading) { of[r.At] = *r })
	return of[at], err
}

// take counts a reading of size bytes and keeps the newest values.
func (t *touch) take(in *store.Input, size int) {
	if t.last != nil {
		t.last.Last = false
	}
	t.last, in.Last = in, true
	t.n++
	t.size += int32(size)
	r := &in.Reading
	if imported, _ := r.Flags.Bool(rimewatch.Imported); !imported {
		t.heard = true
	}
	if t.latest == nil || r.At > t.latest.At {
		t.latest = r
	}
	if v, ok := r.Value(rimewatch.ProductZoneTemp); ok && r.At > t.tempAt {
		t.temp, t.tempAt = v, r.At
	}
}

// stored reports whether a reading of that moment exists, staged ones included.
func (c *commit) stored(d *device, at rimewatch.Time) (bool, error) {
	if at > max(d.latestFuture(), d.live.at) && at > d.head.newest {
		return false, nil
	}
	if d.head.has(&c.s.heads, at) {
		return true, nil
	}
	// A batch that is sent again holds a chunk's moments one after the other.
	if _, found := slices.BinarySearch(c.again, at); found && c.againOf == d {
		return true, nil
	}
	of, found, err := c.s.sealedAt(d, at)
	if found {
		c.again, c.againOf = of, d
	}
	return found, err
}

// publish shows the committed group to readers and ends it.
func (c *commit) publish() {
	s := c.s
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seq, s.lastNow = c.seq, c.now
	if c.g.Back {
		s.fleet.setBack(c.now)
	}
	for _, op := range c.g.Devices {
		if op.Err != nil {
			continue
		}
		row := op.Device
		if op.Delete {
			if d := s.fleet.byID.Get(row.ID); d != nil {
				s.fleet.remove(d)
				d.row = rowOf(&row)
			}
			continue
		}
		s.fleet.put(&row)
	}
	for i := range c.touched {
		if i+devicesAhead < len(c.touched) {
			prefetch.Of(c.touched[i+devicesAhead].device)
		}
		t := &c.touched[i]
		d := t.device
		s.heads.add(int64(t.size), int64(t.n))
		if s.seal.publish(d, t.size, t.n, int32(s.cfg.SealReadings), c.seq, c.now, t.latest.At) {
			s.seal.wake()
		}
		d.newest(t.latest, c.now)
		d.newestTemp(t.temp, t.tempAt, c.now)
		if t.heard {
			d.live.seenAt = max(d.live.seenAt, c.now)
		}
	}
	for i := range c.effects.Live {
		w := &c.effects.Live[i]
		if d := s.fleet.byID.Get(w.DeviceID); d != nil {
			d.show(&w.Presence)
		}
	}
	stored := s.lastAlert
	for _, a := range c.effects.Alerts {
		s.noteAlert(a, a.ID > stored)
	}
	s.touchAlerts(c.effects.Touched)
	s.staged = slices.Delete(s.staged, 0, 1)
	c.keep()
}

// newest keeps the device's newest measurements. A reading that lies in the future since the clock
// was set back gives way to any that does not.
func (d *device) newest(r *rimewatch.Reading, now rimewatch.Time) {
	if r.At > d.live.at || d.ahead(d.live.at, now) {
		d.setLatest(r)
	}
	if v, ok := r.Value(rimewatch.ProductZoneTemp); ok {
		d.newestTemp(v, r.At, now)
	}
}

func (d *device) newestTemp(v float64, at, now rimewatch.Time) {
	if at != 0 && (at > d.live.tempAt || d.ahead(d.live.tempAt, now)) {
		d.live.temp, d.live.tempAt = v, at
	}
}

// retract undoes a staged group and all groups that were staged after it; they fail with err.
func (c *commit) retract(err error) {
	s := c.s
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.failed != nil {
		return
	}
	for n := len(s.staged); n > 0; n-- {
		last := s.staged[n-1]
		s.staged[n-1] = nil
		s.staged = s.staged[:n-1]
		for i := range last.touched {
			t := &last.touched[i]
			t.device.head.retract(&s.heads, t.size, t.n)
		}
		if last == c {
			c.keep()
			return
		}
		last.failed = err
	}
}

// waitForHead holds a writer back while the sealer is behind.
func (s *Core) waitForHead(ctx context.Context) error {
	for s.heads.bytes.Load() > 2*s.heads.budget.Load() {
		s.seal.wake()
		select {
		case <-s.seal.progress():
		case <-time.After(5 * time.Second):
			return &rimewatch.Error{Code: rimewatch.CodeUnavailable, Message: "The store is overloaded; retry later.", RetryAfter: time.Second}
		case <-ctx.Done():
			return rimewatch.Wrap(rimewatch.CodeUnavailable, ctx.Err(), "The request was cancelled.")
		case <-s.ctx.Done():
			return ErrClosed()
		}
	}
	return nil
}
