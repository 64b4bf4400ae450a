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
type recovery struct{ *writer }

// recover makes the units, and gathers what their states have to catch up with:
// checkpoints, and every logged input after them.
func (w *recovery) recover(ctx context.Context) error {
	var err error
	if w.settings, err = w.readSettings(ctx); err != nil {
		return fmt.Errorf("recover settings: %w", err)
	}
	w.store.PutLimits(w.settings.limits)
	plain := make(plainConfigs)
	err = w.store.AllDevices(ctx, func(d *rimewatch.Device) error {
		u := &unit{id: d.ID, workspaceID: d.WorkspaceID, createdAt: d.CreatedAt, behind: true}
		u.cfg = plain.get(w.Service, d)
		w.units.Put(d.ID, u)
		w.shares.all = append(w.shares.all, u)
		w.sites.assign(u, d.SiteID)
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
	w.evaluated = w.durable
	w.stragglers.n = w.units.Len()
	w.stragglers.slice = stragglerSlice(w.stragglers.n, w.dirty.inputs)
	if w.cfg.startsBehind(w.stragglers.n, w.dirty.inputs) {
		return nil
	}
	return w.stragglers.catchUpAll()
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
	w.stragglers.unreplayed = x
	entry := func(worker int, e *store.Entry) error {
		if e.Input.Kind == store.InputClock {
			return w.replayClock(e)
		}
		g := &x.workers[worker]
		g.last = position{e.Seq, max(g.last.now, e.Now)}
		if u := w.units.Get(e.Input.DeviceID); u != nil && e.Seq > u.savedSeq {
			g.changed(u, e.Seq, e.Now)
			x.add(worker, u, e)
		}
		return nil
	}
	err := w.store.Recover(ctx, len(x.workers), func(_ int, c store.Checkpoint) error {
		if u := w.units.Get(c.DeviceID); u != nil {
			u.savedSeq = c.Seq
		}
		return nil
	}, entry)
	w.join()
	x.down = slices.Clone(w.downtimes) // one is added when it is known how long nobody watched
	if err == nil {
		err = w.store.Join(ctx, len(x.workers), w.readAhead, entry)
	}
	w.join()
	return err
}

// readAhead reads the states while somebody else still serves the store, and has them
// catch up with what is logged so far: afterwards they are as good as here. Settings
// that change meanwhile are applied once the store is ours, as after any start.
func (w *recovery) readAhead() error {
	if w.stragglers.unreplayed.read || w.units.Len() > w.memory.most {
		return nil
	}
	return w.replayAll()
}

// replayAll has all states catch up.
func (w *recovery) replayAll() error {
	for u := range w.units.All() {
		if u.slot == 0 {
			w.memory.add(u)
		}
	}
	err := w.Service.replay(w.stragglers.unreplayed, w.shares.all)
	w.stragglers.unreplayed.read = err == nil
	return err
}

// join takes over what the workers have gathered. None of them may be under way.
func (w *recovery) join() {
	w.stragglers.unreplayed.takeDirty(&w.dirty)
	for i := range w.stragglers.unreplayed.workers {
		g := &w.stragglers.unreplayed.workers[i]
		w.durable = position{max(w.durable.seq, g.last.seq), max(w.durable.now, g.last.now)}
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
	w.stragglers.unreplayed.down = slices.Clone(w.downtimes)
	if err := w.replayAll(); err != nil {
		return err
	}
	w.durable = position{e.Seq, e.Now}
	w.steps.setBack(by, e.Now, e.Seq)
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
		w.total(x.workspaceID).add(alertCounts(x.alerts), 1)
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
	w.watched = alive
	if alive == 0 {
		w.watched = now
	}
	w.away = true // until the store is known to take writes; a full disk must not keep the service down
	if err := w.watch(now); err != nil {
		w.troubled("record the downtime", err)
	}
	return nil
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
