package ingest

import (
	"context"
	"fmt"
	"slices"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/engine"
	"github.com/rimewatch/rimewatch/internal/presence"
	"github.com/rimewatch/rimewatch/internal/store"
)

// recovery is a writer before it runs.
type recovery struct{ w *writer }

// recover makes the units, and gathers what their states have to catch up with:
// checkpoints, and every logged input after them.
func (w *recovery) recover(ctx context.Context) error {
	var err error
	if w.w.s.settings, err = w.w.s.readSettings(ctx); err != nil {
		return fmt.Errorf("recover settings: %w", err)
	}
	w.w.s.store.PutLimits(w.w.s.settings.limits)
	plain := make(plainConfigs)
	err = w.w.s.store.AllDevices(ctx, func(d *rimewatch.Device) error {
		u := &unit{id: d.ID, workspaceID: d.WorkspaceID, createdAt: d.CreatedAt, behind: true}
		u.cfg = plain.get(w.w.s, d)
		w.w.s.units.Put(d.ID, u)
		w.w.shares.all = append(w.w.shares.all, u)
		w.w.sites.assign(u, d.SiteID)
		return nil
	})
	if err != nil {
		return fmt.Errorf("recover devices: %w", err)
	}
	// Downtimes must be known before the log is replayed; the newest follows
	// once the log has shown when this node last watched.
	if err := w.loadDowntimes(ctx); err != nil {
		return err
	}
	if err := w.replay(ctx); err != nil {
		return fmt.Errorf("recover units: %w", err)
	}
	if err := w.loadAlerts(ctx); err != nil {
		return err
	}
	if err := w.noteDowntime(ctx); err != nil {
		return err
	}
	w.w.evaluated = w.w.s.durable
	w.w.stragglers.n = w.w.s.units.Len()
	w.w.stragglers.slice = stragglerSlice(w.w.stragglers.n, w.w.dirty.inputs)
	if w.w.s.cfg.startsBehind(w.w.stragglers.n, w.w.dirty.inputs) {
		return nil
	}
	return w.w.stragglers.catchUpAll()
}

// plainConfigs are the configurations of devices about which nothing is said of
// their own: most of a large fleet have the same.
type plainConfigs map[plainConfig]*engine.Config

type plainConfig struct {
	workspaceID int64
	zone        string
	kind        string
	intervalS   int
	offlineS    int
	habit       rimewatch.Habit
}

func (p plainConfigs) get(s *Service, d *rimewatch.Device) *engine.Config {
	if !d.Limits.Empty() || len(d.Offsets) > 0 || len(d.CalibrationDue) > 0 || len(s.settings.windows[d.WorkspaceID]) > 0 {
		return s.configs.get(s.encodeConfig(d))
	}
	zone, _ := s.settings.zoneOf(d.WorkspaceID, d.SiteID)
	key := plainConfig{d.WorkspaceID, zone, d.EquipmentType, d.HeartbeatIntervalS, d.OfflineAfterS, d.Habit}
	cfg := p[key]
	if cfg == nil {
		cfg = s.configs.get(s.encodeConfig(d))
		p[key] = cfg
	}
	return cfg
}

// replay gathers what of the log no checkpoint covers.
func (w *recovery) replay(ctx context.Context) error {
	x := newUnreplayed()
	w.w.stragglers.unreplayed = x
	entry := func(worker int, e *store.Entry) error {
		if e.Input.Kind == store.InputClock {
			return w.replayClock(e)
		}
		g := &x.workers[worker]
		g.last = position{e.Seq, max(g.last.now, e.Now)}
		if u := w.w.s.units.Get(e.Input.DeviceID); u != nil && e.Seq > u.savedSeq {
			g.changed(u, e.Seq, e.Now)
			x.add(worker, u, e)
		}
		return nil
	}
	err := w.w.s.store.Recover(ctx, len(x.workers), func(_ int, c store.Checkpoint) error {
		if u := w.w.s.units.Get(c.DeviceID); u != nil {
			u.savedSeq = c.Seq
		}
		return nil
	}, entry)
	w.join()
	x.down = slices.Clone(w.w.s.downtimes) // one is added when it is known how long nobody watched
	if err == nil {
		err = w.w.s.store.Join(ctx, len(x.workers), w.readAhead, entry)
	}
	w.join()
	return err
}

// readAhead reads the states while somebody else still serves the store, and has them
// catch up with what is logged so far: afterwards they are as good as here. Settings
// that change meanwhile are applied once the store is ours, as after any start.
func (w *recovery) readAhead() error {
	if w.w.stragglers.unreplayed.read || w.w.s.units.Len() > w.w.s.memory.most {
		return nil
	}
	return w.replayAll()
}

// replayAll has all states catch up.
func (w *recovery) replayAll() error {
	for u := range w.w.s.units.All() {
		if u.slot == 0 {
			w.w.s.memory.add(u)
		}
	}
	err := w.w.s.replay(w.w.stragglers.unreplayed, w.w.shares.all)
	w.w.stragglers.unreplayed.read = err == nil
	return err
}

// join takes over what the workers have gathered. None of them may be under way.
func (w *recovery) join() {
	w.w.stragglers.unreplayed.takeDirty(&w.w.dirty)
	for i := range w.w.stragglers.unreplayed.workers {
		g := &w.w.stragglers.unreplayed.workers[i]
		w.w.s.durable = position{max(w.w.s.durable.seq, g.last.seq), max(w.w.s.durable.now, g.last.now)}
		g.last = position{}
	}
}

// replayClock sets the clock back once more, for which all states are needed.
func (w *recovery) replayClock(e *store.Entry) error {
	by, err := decodeClock(e.Input.Payload)
	if err != nil {
		return err
	}
	w.join()
	w.w.stragglers.unreplayed.down = slices.Clone(w.w.s.downtimes)
	if err := w.replayAll(); err != nil {
		return err
	}
	w.w.s.durable = position{e.Seq, e.Now}
	w.w.steps.setBack(by, e.Now, e.Seq)
	return nil
}

func (w *recovery) loadAlerts(ctx context.Context) error {
	err := w.w.s.store.AllActiveAlerts(ctx, func(a *rimewatch.Alert) error {
		row := *a
		if a.SiteID != 0 {
			x := w.w.sites.at(a.WorkspaceID, a.SiteID)
			x.alerts = append(x.alerts, &row)
			w.w.sites.touch(x.id)
			return nil
		}
		if u := w.w.s.units.Get(a.DeviceID); u != nil {
			u.alerts = append(u.alerts, &row)
			if row.Prediction != nil {
				w.w.sites.touch(u.siteID)
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("recover alerts: %w", err)
	}
	for _, x := range w.w.sites.byID {
		w.w.s.total(x.workspaceID).add(alertCounts(x.alerts), 1)
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
		if !state.Knows(row.Type, row.Part) {
			w.orphans = append(w.orphans, orphan{u, row.ID})
		}
	}
}

// endOrphans resolves them inside a group.
func (w *writer) endOrphans(now rimewatch.Time) {
	for _, o := range w.orphans {
		st := w.stage(o.unit)
		for i, row := range st.alerts {
			if row.ID == o.alertID && !st.state.Knows(row.Type, row.Part) {
				w.supersede(st, i, now)
				break
			}
		}
	}
}

// noteDowntime records how long nobody watched and moves every deadline.
func (w *recovery) noteDowntime(ctx context.Context) error {
	alive, err := w.w.s.store.AliveAt(ctx)
	if err != nil {
		return fmt.Errorf("recover downtime: %w", err)
	}
	if w.w.s.cfg.Clock != nil {
		w.w.s.cfg.Clock.Start(max(alive, w.w.s.durable.now))
	}
	w.w.s.durable.now = max(w.w.s.durable.now, alive)
	// Those of a time that the clock was set back from are none of this time.
	w.w.s.downtimes = slices.DeleteFunc(w.w.s.downtimes, func(d presence.Downtime) bool { return d.To > w.w.s.durable.now })
	now := max(w.w.s.clock(), w.w.s.durable.now)
	w.w.watched = alive
	if alive == 0 {
		w.w.watched = now
	}
	w.w.away = true // until the store is known to take writes; a full disk must not keep the service down
	if err := w.w.watch(now); err != nil {
		w.w.s.troubled("record the downtime", err)
	}
	return nil
}

func (w *recovery) loadDowntimes(ctx context.Context) error {
	all, err := w.w.s.store.Downtimes(ctx)
	if err != nil {
		return fmt.Errorf("recover downtime: %w", err)
	}
	w.w.s.downtimes = w.w.s.downtimes[:0]
	for _, d := range all {
		if d.To > w.w.s.clock()-downtimeKept {
			w.w.s.downtimes = append(w.w.s.downtimes, presence.Downtime{From: d.From, To: d.To})
		}
	}
	return nil
}
