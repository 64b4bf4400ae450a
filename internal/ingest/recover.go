package ingest

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/engine"
	"github.com/rimewatch/rimewatch/internal/presence"
	"github.com/rimewatch/rimewatch/internal/store"
)

// recover rebuilds the units: checkpoints, then every logged input after them.
// Transitions are dropped, their rows were committed with the inputs.
func (s *Service) recover(ctx context.Context) error {
	var err error
	if s.settings, err = s.readSettings(ctx); err != nil {
		return fmt.Errorf("recover settings: %w", err)
	}
	s.store.PutLimits(s.settings.limits)
	err = s.store.AllDevices(ctx, func(d *rimewatch.Device) error {
		u := &unit{id: d.ID, workspaceID: d.WorkspaceID, name: d.Name, createdAt: d.CreatedAt, cfg: s.configs.get(s.encodeConfig(d))}
		s.units[d.ID] = u
		s.sites.place(u, d.SiteID)
		return nil
	})
	if err != nil {
		return fmt.Errorf("recover devices: %w", err)
	}
	s.memory.devices = len(s.units)
	// Downtimes must be known before the log is replayed; the newest follows
	// once the log has told when this node last watched.
	if err := s.loadDowntimes(ctx, store.Downtime{}); err != nil {
		return err
	}
	lost := 0
	re := replayer{s: s, after: make(map[int64]store.Seq)}
	err = s.store.Recover(ctx, func(c store.Checkpoint) error {
		if err := s.restore(&c); err != nil {
			// It is derived: what the log still holds builds the state again, and the
			// rest is learnt anew. No device may keep the service down.
			if lost++; lost == 1 {
				s.log.Warn("the state of a device was lost; it is built anew", "device", c.DeviceID, "err", err)
			}
			s.forget(c.DeviceID)
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
		s.log.Warn("states were lost", "devices", lost)
	}
	if err := s.restoreAlerts(ctx); err != nil {
		return err
	}
	if err := s.noteDowntime(ctx); err != nil {
		return err
	}
	s.putLive()
	return nil
}

// checkpointVersion is of what surrounds the engine's own, versioned state.
const checkpointVersion = 1

func (s *Service) restore(c *store.Checkpoint) error {
	u := s.units[c.DeviceID]
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
	u.cfg = s.configs.get(payload)
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
func (s *Service) forget(deviceID int64) {
	if u := s.units[deviceID]; u != nil {
		*u = unit{id: u.id, workspaceID: u.workspaceID, name: u.name, createdAt: u.createdAt, cfg: u.cfg, siteID: u.siteID, siteSlot: u.siteSlot}
	}
}

// replayer gathers the inputs of one commit: as in the commit itself, a unit's
// last reading is told apart from those before it.
type replayer struct {
	s       *Service
	after   map[int64]store.Seq // what each unit's checkpoint covers
	entries []store.Entry
}

func (re *replayer) add(e *store.Entry) error {
	if len(re.entries) > 0 && re.entries[0].Seq != e.Seq {
		re.flush()
	}
	re.s.seq, re.s.now = e.Seq, max(re.s.now, e.Now)
	u := re.s.units[e.Input.DeviceID]
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
		re.s.replay(re.s.units[e.Input.DeviceID], e)
	}
	re.entries = re.entries[:0]
}

// replay lets a logged input happen again.
func (s *Service) replay(u *unit, e *store.Entry) {
	s.inputs++
	if u.dirtySeq == 0 {
		u.dirtySeq = e.Seq
		s.dirty = append(s.dirty, dirt{unit: u, seq: e.Seq, since: e.Now, inputs: s.inputs})
	}
	s.step(u, s.memory.open(u), &u.cfg, &u.vitals, &e.Input, e.Now, nil)
}

func (s *Service) restoreAlerts(ctx context.Context) error {
	err := s.store.AllActiveAlerts(ctx, func(a *rimewatch.Alert) error {
		if a.SiteID != 0 {
			row := *a
			x := s.sites.at(a.WorkspaceID, a.SiteID)
			x.alerts = append(x.alerts, &row)
			s.sites.touch(x.id)
			s.total(a.WorkspaceID).addAlerts(x.alerts, 1)
			return nil
		}
		if u := s.units[a.DeviceID]; u != nil {
			row := *a
			u.alerts = append(u.alerts, &row)
			if row.Prediction != nil {
				s.sites.touch(u.siteID)
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("recover alerts: %w", err)
	}
	var scratch engine.State
	for _, u := range s.units {
		for _, row := range u.alerts {
			if !u.read(&scratch).Knows(row.Type) {
				s.orphans = append(s.orphans, orphan{u, row.ID})
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
func (s *Service) endOrphans(now rimewatch.Time) {
	for _, o := range s.orphans {
		st := s.stage(o.unit)
		for i, row := range st.alerts {
			if row.ID == o.alertID && !st.state.Knows(row.Type) {
				s.supersede(st, i, now)
				break
			}
		}
	}
}

// noteDowntime records how long nobody watched and moves every deadline.
func (s *Service) noteDowntime(ctx context.Context) error {
	alive, err := s.store.AliveAt(ctx)
	if err != nil {
		return fmt.Errorf("recover downtime: %w", err)
	}
	now := max(s.clock(), s.now)
	s.now = max(s.now, alive)
	if alive == 0 || now <= alive {
		if err := s.store.MarkAlive(ctx, now); err != nil {
			s.troubled("mark alive", err)
		}
		return nil
	}
	s.unrecorded = store.Downtime{From: alive, To: now}
	s.recordDowntime(ctx, now)
	if s.unrecorded != (store.Downtime{}) {
		// A full disk must not keep the service down: it is remembered until it
		// can be written.
		s.downtimes = append(s.downtimes, presence.Downtime(s.unrecorded))
	}
	return nil
}

// recordDowntime writes a downtime that is not recorded yet, and that the
// service watches again.
func (s *Service) recordDowntime(ctx context.Context, now rimewatch.Time) {
	if s.unrecorded == (store.Downtime{}) {
		return
	}
	err := s.loadDowntimes(ctx, s.unrecorded)
	if err == nil {
		s.unrecorded = store.Downtime{}
		err = s.store.MarkAlive(ctx, now)
	}
	if err != nil {
		s.troubled("record the downtime", err)
	}
}

func (s *Service) loadDowntimes(ctx context.Context, d store.Downtime) error {
	all, err := s.store.AddDowntime(ctx, d)
	if err != nil {
		return fmt.Errorf("recover downtime: %w", err)
	}
	s.downtimes = s.downtimes[:0]
	for _, d := range all {
		if d.To > s.clock()-downtimeKept {
			s.downtimes = append(s.downtimes, presence.Downtime{From: d.From, To: d.To})
		}
	}
	return nil
}

// putLive tells the store what the units know and arms the deadlines.
func (s *Service) putLive() {
	live := make([]store.LiveWrite, 0, len(s.units))
	var touched []store.AlertTouch
	now := s.clock()
	var scratch engine.State
	for _, u := range s.units {
		state := u.read(&scratch)
		u.online, u.changedAt, u.announced = state.Presence.Online, state.Presence.ChangedAt, state.Presence.Announced
		for i, n := range state.Verdicts {
			s.verdicts[i] += int(n)
		}
		_, u.outside = state.Health.Excursion()
		live = append(live, store.LiveWrite{DeviceID: u.id, Presence: presenceOf(state, u.cfg, &u.vitals)})
		touched = appendTouched(touched, state, u.alerts)
		s.setDeadline(u, state, u.cfg)
		s.recountNew(u, now)
	}
	s.store.PutLive(live, touched)
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
func (s *Service) takeDirty(before rimewatch.Time, buf []byte) (states []store.Checkpoint, taken []dirt, floor store.Seq) {
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
func (s *Service) giveBack(taken []dirt) {
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
