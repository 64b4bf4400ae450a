package ingest

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/engine"
	"github.com/rimewatch/rimewatch/internal/presence"
	"github.com/rimewatch/rimewatch/internal/store"
)

// recover rebuilds the units: checkpoints, then every logged input after them.
// Transitions are dropped, their rows were committed with the inputs.
func (w *writer) recover(ctx context.Context) error {
	var err error
	if w.settings, err = w.readSettings(ctx); err != nil {
		return fmt.Errorf("recover settings: %w", err)
	}
	w.store.PutLimits(w.settings.limits)
	err = w.store.AllDevices(ctx, func(d *rimewatch.Device) error {
		u := &unit{id: d.ID, workspaceID: d.WorkspaceID, name: d.Name, createdAt: d.CreatedAt, cfg: w.configs.get(w.encodeConfig(d))}
		w.units[d.ID] = u
		w.sites.place(u, d.SiteID)
		return nil
	})
	if err != nil {
		return fmt.Errorf("recover devices: %w", err)
	}
	w.memory.devices = len(w.units)
	// Downtimes must be known before the log is replayed; the newest follows
	// once the log has told when this node last watched.
	if err := w.loadDowntimes(ctx); err != nil {
		return err
	}
	lost := 0
	re := replayer{w: w, after: make(map[int64]store.Seq)}
	err = w.store.Recover(ctx, func(c store.Checkpoint) error {
		if err := w.restore(&c); err != nil {
			// It is derived: what the log still holds builds the state again, and the
			// rest is learnt anew. No device may keep the service down.
			if lost++; lost == 1 {
				w.log.Warn("the state of a device was lost; it is built anew", "device", c.DeviceID, "err", err)
			}
			w.forget(c.DeviceID)
			return nil
		}
		re.after[c.DeviceID] = c.Seq
		return nil
	}, re.add)
	if err != nil {
		return fmt.Errorf("recover units: %w", err)
	}
	re.flush()
	if lost > 1 {
		w.log.Warn("states were lost", "devices", lost)
	}
	if err := w.restoreAlerts(ctx); err != nil {
		return err
	}
	if err := w.noteDowntime(ctx); err != nil {
		return err
	}
	w.putLive()
	return nil
}

// checkpointVersion is of what surrounds the engine's own, versioned state.
const checkpointVersion = 1

func (w *writer) restore(c *store.Checkpoint) error {
	u := w.units[c.DeviceID]
	if u == nil {
		return nil
	}
	if len(c.State) == 0 || c.State[0] != checkpointVersion {
		return errors.New("unknown version of checkpoint")
	}
	payload, rest, err := cutPayload(c.State[1:])
	if err != nil {
		return err
	}
	u.cfg = w.configs.get(payload)
	vitals, rest, err := cutPayload(rest)
	if err != nil {
		return err
	}
	hb := decodeHeartbeat(vitals)
	u.vitals.take(&hb)
	var checked engine.State
	if err := unpackState(rest, &checked); err != nil {
		return err
	}
	u.packed = bytes.Clone(rest)
	return nil
}

// forget makes a unit one that nothing is known of.
func (w *writer) forget(deviceID int64) {
	if u := w.units[deviceID]; u != nil {
		*u = unit{id: u.id, workspaceID: u.workspaceID, name: u.name, createdAt: u.createdAt, cfg: u.cfg, siteID: u.siteID, siteSlot: u.siteSlot}
	}
}

// replayer gathers the inputs of one commit: as in the commit itself, a unit's
// last reading is told apart from those before it.
type replayer struct {
	w       *writer
	after   map[int64]store.Seq // what each unit's checkpoint covers
	entries []store.Entry
}

func (re *replayer) add(e *store.Entry) error {
	if len(re.entries) > 0 && re.entries[0].Seq != e.Seq {
		re.flush()
	}
	re.w.seq, re.w.now = e.Seq, max(re.w.now, e.Now)
	if e.Input.Kind == store.InputClock {
		by, err := decodeClock(e.Input.Payload)
		if err != nil {
			return err
		}
		re.w.steps.setBack(by, e.Now, e.Seq, re.after)
		return nil
	}
	u := re.w.units[e.Input.DeviceID]
	if u == nil || e.Seq <= re.after[e.Input.DeviceID] {
		return nil
	}
	re.entries = append(re.entries, *e)
	re.entries[len(re.entries)-1].Input.Payload = bytes.Clone(e.Input.Payload)
	if e.Input.Kind == store.InputReading {
		u.pending++
	}
	return nil
}

func (re *replayer) flush() {
	for i := range re.entries {
		e := &re.entries[i]
		re.w.replay(re.w.units[e.Input.DeviceID], e)
	}
	re.entries = re.entries[:0]
}

// replay lets a logged input happen again.
func (w *writer) replay(u *unit, e *store.Entry) {
	w.inputs++
	if u.dirtySeq == 0 {
		u.dirtySeq = e.Seq
		w.dirty = append(w.dirty, dirtyUnit{unit: u, seq: e.Seq, since: e.Now, inputs: w.inputs})
	}
	w.step(u, w.memory.open(u), &u.cfg, &u.vitals, &e.Input, e.Now, nil)
}

func (w *writer) restoreAlerts(ctx context.Context) error {
	err := w.store.AllActiveAlerts(ctx, func(a *rimewatch.Alert) error {
		if a.SiteID != 0 {
			row := *a
			x := w.sites.at(a.WorkspaceID, a.SiteID)
			x.alerts = append(x.alerts, &row)
			w.sites.touch(x.id)
			w.total(a.WorkspaceID).addAlerts(x.alerts, 1)
			return nil
		}
		if u := w.units[a.DeviceID]; u != nil {
			row := *a
			u.alerts = append(u.alerts, &row)
			if row.Prediction != nil {
				w.sites.touch(u.siteID)
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("recover alerts: %w", err)
	}
	var scratch engine.State
	for _, u := range w.units {
		for _, row := range u.alerts {
			if !u.read(&scratch).Knows(row.Type) {
				w.orphans = append(w.orphans, orphan{u, row.ID})
			}
		}
	}
	return nil
}

// orphan is an active alert that its device's state knows nothing of, because
// the state was lost. Nothing would ever resolve it.
type orphan struct {
	unit    *unit
	alertID int64
}

// endOrphans resolves them inside a group.
func (w *writer) endOrphans(now rimewatch.Time) {
	for _, o := range w.orphans {
		st := w.stage(o.unit)
		for i, row := range st.alerts {
			if row.ID == o.alertID && !st.state.Knows(row.Type) {
				w.supersede(st, i, now)
				break
			}
		}
	}
}

// noteDowntime records how long nobody watched and moves every deadline.
func (w *writer) noteDowntime(ctx context.Context) error {
	alive, err := w.store.AliveAt(ctx)
	if err != nil {
		return fmt.Errorf("recover downtime: %w", err)
	}
	if w.cfg.Clock != nil {
		w.cfg.Clock.Start(max(alive, w.now))
	}
	w.now = max(w.now, alive)
	// Those of a time that the clock was set back from are none of this time.
	w.downtimes = slices.DeleteFunc(w.downtimes, func(d presence.Downtime) bool { return d.To > w.now })
	now := max(w.clock(), w.now)
	if alive == 0 || now <= alive {
		if err := w.store.MarkAlive(ctx, now); err != nil {
			w.troubled("mark alive", err)
		}
		return nil
	}
	// A full disk must not keep the service down: the downtime is remembered until
	// it can be written.
	w.unrecorded = store.Downtime{From: alive, To: now}
	w.downtimes = append(w.downtimes, presence.Downtime(w.unrecorded))
	w.recordDowntime(ctx, now)
	return nil
}

// recordDowntime writes a downtime that is not recorded yet, and that the
// service watches again.
func (w *writer) recordDowntime(ctx context.Context, now rimewatch.Time) {
	if w.unrecorded == (store.Downtime{}) {
		return
	}
	_, err := w.store.AddDowntime(ctx, w.unrecorded)
	if err == nil {
		w.unrecorded = store.Downtime{}
		err = w.store.MarkAlive(ctx, now)
	}
	if err != nil {
		w.troubled("record the downtime", err)
	}
}

func (w *writer) loadDowntimes(ctx context.Context) error {
	all, err := w.store.AddDowntime(ctx, store.Downtime{})
	if err != nil {
		return fmt.Errorf("recover downtime: %w", err)
	}
	w.downtimes = w.downtimes[:0]
	for _, d := range all {
		if d.To > w.clock()-downtimeKept {
			w.downtimes = append(w.downtimes, presence.Downtime{From: d.From, To: d.To})
		}
	}
	return nil
}

// putLive tells the store what the units know and arms the deadlines.
func (w *writer) putLive() {
	live := make([]store.LiveWrite, 0, len(w.units))
	var touched []store.AlertTouch
	now := w.clock()
	var scratch engine.State
	for _, u := range w.units {
		state := u.read(&scratch)
		u.online, u.changedAt, u.announced = state.Presence.Online, state.Presence.ChangedAt, state.Presence.Announced
		for i, n := range state.Verdicts {
			w.verdicts[i] += int(n)
		}
		_, u.outside = state.Health.Excursion()
		live = append(live, store.LiveWrite{DeviceID: u.id, Presence: presenceOf(state, u.cfg, &u.vitals)})
		touched = appendTouched(touched, state, u.alerts)
		w.setDeadline(u, state, u.cfg)
		w.recountNew(u, now)
	}
	w.store.PutLive(live, touched)
}

// Checkpoints.

const (
	checkpointSlice  = 256
	checkpointInputs = 500_000 // inputs behind the oldest checkpoint, at most
	checkpointTick   = time.Second
)

// checkpoints is the goroutine that writes the states of changed units.
func (s *Service) checkpoints() {
	tick := time.NewTicker(checkpointTick)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			s.checkpoint(s.cfg.CheckpointAfter)
			s.watchSettings()
		case <-s.stopping:
			return
		}
	}
}

// checkpoint writes the units whose oldest change is older than age, or all
// that lag far behind. The log may then forget what no unit needs.
func (s *Service) checkpoint(age time.Duration) {
	s.checkpointing.Lock()
	defer s.checkpointing.Unlock()
	now := s.clock()
	var buf []byte
	wrote := false
	for {
		states, taken, floor := s.takeDirty(now.Add(-age), buf)
		if len(states) == 0 && (wrote || floor == 0) {
			return
		}
		if err := s.store.SaveCheckpoints(context.Background(), states, floor); err != nil {
			s.log.Warn("checkpoint", "err", err)
			s.giveBack(taken)
			return
		}
		wrote = true
		if len(states) < checkpointSlice {
			return
		}
	}
}

// takeDirty encodes the states of one slice and gives the first commit that a
// unit outside it still needs.
func (s *Service) takeDirty(before rimewatch.Time, buf []byte) (states []store.Checkpoint, taken []dirtyUnit, floor store.Seq) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := 0
	for ; i < len(s.dirty) && len(states) < checkpointSlice; i++ {
		d := s.dirty[i]
		if d.unit.deleted || d.unit.dirtySeq != d.seq {
			continue
		}
		if d.since > before && s.inputs-d.inputs < checkpointInputs {
			break
		}
		start := len(buf)
		buf = s.appendCheckpoint(buf, d.unit)
		states = append(states, store.Checkpoint{DeviceID: d.unit.id, Seq: s.seq, State: buf[start:len(buf):len(buf)]})
		taken = append(taken, d)
		d.unit.dirtySeq = 0
	}
	s.dirty = s.dirty[i:]
	floor = s.seq + 1
	for _, d := range s.dirty {
		if !d.unit.deleted && d.unit.dirtySeq == d.seq {
			floor = d.seq
			break
		}
	}
	return states, taken, floor
}

// giveBack makes units dirty again whose checkpoint was not written.
func (s *Service) giveBack(taken []dirtyUnit) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range taken {
		taken[i].unit.dirtySeq = taken[i].seq
	}
	s.dirty = append(taken, s.dirty...)
}

func (s *Service) appendCheckpoint(b []byte, u *unit) []byte {
	b = append(b, checkpointVersion)
	b = appendPayload(b, []byte(s.configs.payload(u.cfg)))
	vitals := encodeHeartbeat(&rimewatch.Heartbeat{BatteryPct: u.vitals.battery, RSSI: u.vitals.rssi, UptimeS: u.vitals.uptime})
	b = appendPayload(b, vitals)
	if u.state == nil {
		return append(b, u.packed...)
	}
	return packState(b, u.state)
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
func (s *Service) CheckpointAll() { s.checkpoint(0) }
