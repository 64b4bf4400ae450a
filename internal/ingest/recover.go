package ingest

import (
	"context"
	"fmt"
	"slices"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/presence"
)

// recovery is a writer before it runs.
type recovery struct{ w *writer }

// recover makes the units, and gathers the checkpoints and every logged input after them, which
// their states have to catch up with.
func (r *recovery) recover(ctx context.Context) error {
	var err error
	if r.w.known.settings, err = r.w.readSettings(ctx); err != nil {
		return fmt.Errorf("recover settings: %w", err)
	}
	r.w.store.PutLimits(r.w.known.settings.limits)
	plain := make(plainConfigs)
	err = r.w.store.Everywhere().AllDevices(ctx, func(d *rimewatch.Device) error {
		u := &unit{ID: d.ID, WorkspaceID: d.WorkspaceID, CreatedAt: d.CreatedAt}
		u.Config = plain.get(r.w.eval, d)
		r.w.fleet.Expect(u)
		r.w.eval.contributions.all = append(r.w.eval.contributions.all, u)
		r.w.eval.sites.assign(u, d.SiteID)
		return nil
	})
	if err != nil {
		return fmt.Errorf("recover devices: %w", err)
	}
	// Downtimes must be known before the log is replayed; the newest follows
	// once the log has shown when this node last watched.
	if err := r.loadDowntimes(ctx); err != nil {
		return err
	}
	if r.w.known.durable, err = r.w.fleet.Recover(ctx); err != nil {
		return fmt.Errorf("recover units: %w", err)
	}
	if err := r.loadAlerts(ctx); err != nil {
		return err
	}
	if err := r.noteDowntime(ctx); err != nil {
		return err
	}
	r.w.eval.evaluated = r.w.known.durable
	n, inputs := r.w.fleet.Behind(), r.w.fleet.Inputs()
	r.w.pending.slice = pendingSlice(n, inputs)
	if r.w.cfg.startsBehind(n, inputs) {
		return nil
	}
	return r.w.pending.catchUpAll()
}

func (r *recovery) loadAlerts(ctx context.Context) error {
	err := r.w.store.Everywhere().AllActiveAlerts(ctx, func(a *rimewatch.Alert) error {
		row := *a
		if a.SiteID != 0 {
			x := r.w.eval.sites.at(a.WorkspaceID, a.SiteID)
			x.alerts = append(x.alerts, &row)
			r.w.eval.sites.markDirty(x.id)
			return nil
		}
		if u := r.w.fleet.Get(a.DeviceID); u != nil {
			u.Alerts = append(u.Alerts, &row)
			if row.Prediction != nil {
				r.w.eval.sites.markDirty(u.Own.siteID)
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("recover alerts: %w", err)
	}
	for _, x := range r.w.eval.sites.byID {
		r.w.known.total(x.workspaceID).add(alertCounts(x.alerts), 1)
	}
	return nil
}

// noteDowntime records the time in which the service did not run, and moves every deadline.
func (r *recovery) noteDowntime(ctx context.Context) error {
	alive, err := r.w.store.AliveAt(ctx)
	if err != nil {
		return fmt.Errorf("recover downtime: %w", err)
	}
	if r.w.cfg.Clock != nil {
		r.w.cfg.Clock.Start(max(alive, r.w.known.durable.Now))
	}
	r.w.known.durable.Now = max(r.w.known.durable.Now, alive)
	// Those of a time that the clock was set back from are none of this time.
	r.w.fleet.SetDowntimes(slices.DeleteFunc(slices.Clone(r.w.fleet.Downtimes()), func(d presence.Downtime) bool { return d.To > r.w.known.durable.Now }))
	now := max(r.w.clock(), r.w.known.durable.Now)
	r.w.watched = alive
	if alive == 0 {
		r.w.watched = now
	}
	r.w.away = true // until the store is known to take writes; a full disk must not keep the service down
	if err := r.w.watch(now); err != nil {
		r.w.troubled("record the downtime", err)
	}
	return nil
}

func (r *recovery) loadDowntimes(ctx context.Context) error {
	all, err := r.w.store.Downtimes(ctx)
	if err != nil {
		return fmt.Errorf("recover downtime: %w", err)
	}
	var list []presence.Downtime
	for _, d := range all {
		if d.To > r.w.clock()-downtimeKept {
			list = append(list, presence.Downtime{From: d.From, To: d.To})
		}
	}
	r.w.fleet.SetDowntimes(list)
	return nil
}
