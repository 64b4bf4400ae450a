package ingest

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/engine"
	"github.com/rimewatch/rimewatch/internal/health"
	"github.com/rimewatch/rimewatch/internal/presence"
	"github.com/rimewatch/rimewatch/internal/store"
)

// recovery is a writer before it runs.
type recovery struct{ *writer }

// recover rebuilds the units: checkpoints, then every logged input after them.
func (w *recovery) recover(ctx context.Context) error {
	var err error
	if w.settings, err = w.readSettings(ctx); err != nil {
		return fmt.Errorf("recover settings: %w", err)
	}
	w.store.PutLimits(w.settings.limits)
	plain := make(plainConfigs)
	err = w.store.AllDevices(ctx, func(d *rimewatch.Device) error {
		u := &unit{id: d.ID, workspaceID: d.WorkspaceID, createdAt: d.CreatedAt}
		u.cfg = plain.get(w.Service, d)
		w.units.Put(d.ID, u)
		w.shares.all = append(w.shares.all, u)
		w.sites.place(u, d.SiteID)
		return nil
	})
	if err != nil {
		return fmt.Errorf("recover devices: %w", err)
	}
	// Downtimes must be known before the log is replayed; the newest follows
	// once the log has told when this node last watched.
	if err := w.loadDowntimes(ctx); err != nil {
		return err
	}
	if err := w.loadAlerts(ctx); err != nil {
		return err
	}
	if err := w.replay(ctx); err != nil {
		return fmt.Errorf("recover units: %w", err)
	}
	if err := w.noteDowntime(ctx); err != nil {
		return err
	}
	w.evaluated = w.durable
	w.putLive()
	return w.makeRoom(0)
}

// plainConfigs are the configurations of devices about which nothing is said of
// their own: most of a large fleet have the same.
type plainConfigs map[plainConfig]*engine.Config

type plainConfig struct {
	workspaceID int64
	kind        string
	intervalS   int
	offlineS    int
}

func (p plainConfigs) get(s *Service, d *rimewatch.Device) *engine.Config {
	if !d.Limits.Empty() || len(d.Offsets) > 0 || len(d.CalibrationDue) > 0 || len(s.settings.windows[d.WorkspaceID]) > 0 {
		return s.configs.get(s.encodeConfig(d))
	}
	key := plainConfig{d.WorkspaceID, d.EquipmentType, d.HeartbeatIntervalS, d.OfflineAfterS}
	cfg := p[key]
	if cfg == nil {
		cfg = s.configs.get(s.encodeConfig(d))
		p[key] = cfg
	}
	return cfg
}

// replay brings all states to where the log ends.
func (w *recovery) replay(ctx context.Context) error {
	lost := 0
	re := newReplayer(w.Service, w.downtimes)
	re.unread = func(u *unit, err error) {
		// It is derived: what the log still holds builds the state again, and the
		// rest is learnt anew. No device may keep the service down.
		if lost++; lost == 1 {
			w.log.Warn("the state of a device was lost; it is built anew", "device", u.id, "err", err)
		}
		u.savedSeq = 0
	}
	re.away = w.putLiveOne
	re.back = func(state *engine.State) { w.countVerdicts(state, -1) }
	err := w.store.Recover(ctx, len(re.workers), func(worker int, c store.Checkpoint) error {
		if u := w.units.Get(c.DeviceID); u != nil {
			re.workers[worker].checkpoint(u, re.stays(u), &c)
		}
		return nil
	}, func(worker int, e *store.Entry) error {
		x := re.workers[worker]
		if e.Input.Kind == store.InputClock {
			return w.replayClock(re, e)
		}
		x.last = position{e.Seq, max(x.last.now, e.Now)}
		u := w.units.Get(e.Input.DeviceID)
		if u == nil || e.Seq <= u.savedSeq {
			return nil
		}
		if u.slot == 0 && u.savedSeq != 0 {
			if err := x.fetch(u); err != nil {
				return err
			}
		}
		x.changed(u, e.Seq, e.Now)
		x.input(u, e)
		return nil
	})
	w.join(re)
	for u := range w.units.All() {
		if u.slot == 0 && u.savedSeq == 0 { // nothing is known of it
			w.memory.add(u)
		}
	}
	if lost > 1 {
		w.log.Warn("states were lost", "devices", lost)
	}
	return err
}

// join takes over what the workers have replayed. None of them may be under way.
func (w *recovery) join(re *replayer) {
	re.flush()
	re.takeDirty(&w.dirty)
	for _, x := range re.workers {
		w.durable = position{max(w.durable.seq, x.last.seq), max(w.durable.now, x.last.now)}
		x.last = position{}
	}
}

// stays makes room for a unit's state in memory while there is some.
func (re *replayer) stays(u *unit) bool {
	re.mu.Lock()
	defer re.mu.Unlock()
	if re.s.memory.used() >= re.s.memory.most {
		return false
	}
	re.s.memory.add(u)
	return true
}

// replayClock sets the clock back once more.
func (w *recovery) replayClock(re *replayer, e *store.Entry) error {
	by, err := decodeClock(e.Input.Payload)
	if err != nil {
		return err
	}
	w.join(re)
	for u := range w.units.All() {
		if u.slot != 0 || u.savedSeq >= e.Seq {
			continue
		}
		if u.savedSeq == 0 {
			w.memory.add(u)
		} else if err := re.workers[0].fetch(u); err != nil {
			return err
		}
	}
	w.durable = position{e.Seq, e.Now}
	w.steps.setBack(by, e.Now, e.Seq)
	re.down = w.downtimes
	return nil
}

func (w *recovery) loadAlerts(ctx context.Context) error {
	err := w.store.AllActiveAlerts(ctx, func(a *rimewatch.Alert) error {
		row := *a
		if a.SiteID != 0 {
			x := w.sites.at(a.WorkspaceID, a.SiteID)
			x.alerts = append(x.alerts, &row)
			w.sites.touch(x.id)
			return nil
		}
		if u := w.units.Get(a.DeviceID); u != nil {
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
	for _, x := range w.sites.byID {
		w.total(x.workspaceID).addAlerts(x.alerts, 1)
	}
	return nil
}

// orphan is an active alert that its device's state knows nothing of, because
// the state was lost. Nothing would ever resolve it.
type orphan struct {
	unit    *unit
	alertID int64
}

// findOrphans looks for them among a unit's alerts.
func (w *writer) findOrphans(u *unit, state *engine.State) {
	for _, row := range u.alerts {
		if !state.Knows(row.Type) {
			w.orphans = append(w.orphans, orphan{u, row.ID})
		}
	}
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
func (w *recovery) noteDowntime(ctx context.Context) error {
	alive, err := w.store.AliveAt(ctx)
	if err != nil {
		return fmt.Errorf("recover downtime: %w", err)
	}
	if w.cfg.Clock != nil {
		w.cfg.Clock.Start(max(alive, w.durable.now))
	}
	w.durable.now = max(w.durable.now, alive)
	// Those of a time that the clock was set back from are none of this time.
	w.downtimes = slices.DeleteFunc(w.downtimes, func(d presence.Downtime) bool { return d.To > w.durable.now })
	now := max(w.clock(), w.durable.now)
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
	err := w.store.AddDowntime(ctx, w.unrecorded)
	if err == nil {
		w.unrecorded = store.Downtime{}
		err = w.store.MarkAlive(ctx, now)
	}
	if err != nil {
		w.troubled("record the downtime", err)
	}
}

func (w *recovery) loadDowntimes(ctx context.Context) error {
	all, err := w.store.Downtimes(ctx)
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

// liveSlice is how many units are told to the store at a time.
const liveSlice = 1024

// putLive tells the store what the units know, counts them and arms their
// deadlines. Those whose state is on the disk alone have been told already.
func (w *recovery) putLive() {
	owners := w.memory.owners
	due := make([]rimewatch.Time, len(owners))
	now := w.clock()
	var mu sync.Mutex // guards verdicts and orphans
	var wg sync.WaitGroup
	next := 0
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			live := make([]store.LiveWrite, 0, liveSlice)
			var touched []store.AlertTouch
			for {
				mu.Lock()
				from, to := next, min(next+liveSlice, len(owners))
				next = to
				mu.Unlock()
				if from == to {
					return
				}
				live, touched = live[:0], touched[:0]
				for i, u := range owners[from:to] {
					if u == nil {
						continue
					}
					state := w.memory.state(u)
					u.mirror(state)
					u.share = shareOf(u, state, u.cfg, now)
					live = append(live, store.LiveWrite{DeviceID: u.id, Presence: presenceOf(state, u.cfg, &u.vitals)})
					touched = appendTouched(touched, state, u.alerts)
					due[from+i] = earliest(state.Deadline(u.cfg, w.downtimes), ackEnds(u.alerts))
					if len(u.alerts) > 0 || state.Verdicts != (engine.Verdicts{}) {
						mu.Lock()
						w.findOrphans(u, state)
						w.countVerdicts(state, 1)
						mu.Unlock()
					}
				}
				w.store.PutLive(live, touched)
			}
		})
	}
	wg.Wait()
	for i, u := range owners {
		if u != nil {
			w.deadlines.Set(u, due[i])
		}
	}
	for u := range w.units.All() {
		t := w.total(u.workspaceID)
		t.add(u.online, u.alerts, 1)
		t.fleet.Replace(health.Share{}, u.share)
	}
}

// putLiveOne does so for a unit whose state does not stay in memory.
func (w *recovery) putLiveOne(u *unit, state *engine.State) {
	u.mirror(state)
	u.share = shareOf(u, state, u.cfg, w.clock())
	w.store.PutLive([]store.LiveWrite{{DeviceID: u.id, Presence: presenceOf(state, u.cfg, &u.vitals)}}, appendTouched(nil, state, u.alerts))
	w.setDeadline(u, state)
	w.findOrphans(u, state)
	w.countVerdicts(state, 1)
}

func (w *recovery) countVerdicts(state *engine.State, sign int) {
	for i, n := range state.Verdicts {
		w.verdicts[i] += sign * int(n)
	}
}
