package core

import (
	"context"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/store/tables"
)

// activeAlert is an active alert in memory, with values that are newer than its row.
type activeAlert struct {
	workspaceID, deviceID int64
	severity              rimewatch.Severity
	touch                 store.AlertTouch
}

// alertCounts counts the retained alerts of each workspace.
type alertCounts map[int64]*store.AlertCounts

func (c alertCounts) add(workspaceID int64, status rimewatch.AlertStatus, severity rimewatch.Severity, n int) {
	counts := c[workspaceID]
	if counts == nil {
		counts = &store.AlertCounts{}
		c[workspaceID] = counts
	}
	*counterOf(counts, status, severity) += n
}

func counterOf(c *store.AlertCounts, status rimewatch.AlertStatus, severity rimewatch.Severity) *int {
	switch {
	case status == rimewatch.AlertActive && severity == rimewatch.Critical:
		return &c.ActiveCritical
	case status == rimewatch.AlertActive:
		return &c.ActiveWarning
	case severity == rimewatch.Critical:
		return &c.ResolvedCritical
	default:
		return &c.ResolvedWarning
	}
}

// loadAlerts counts the retained alerts and remembers the active ones.
func (s *Core) loadAlerts(ctx context.Context) error {
	s.counts = make(alertCounts)
	if err := s.CountAlerts(ctx, 0, nil, 0, s.counts.add); err != nil {
		return err
	}
	return s.Everywhere().AllActiveAlerts(ctx, func(a *rimewatch.Alert) error {
		s.active[a.ID] = &activeAlert{workspaceID: a.WorkspaceID, deviceID: a.DeviceID, severity: a.Severity}
		if d := s.fleet.byID.Get(a.DeviceID); d != nil {
			d.live.alerts++
		}
		return nil
	})
}

// noteAlert keeps counts and active alerts in step with a committed alert, which
// is new or overwrites what was there. Under mu.
func (s *Core) noteAlert(a *rimewatch.Alert, fresh bool) {
	known := s.active[a.ID]
	if known == nil && !fresh {
		return // it was resolved before, and is counted
	}
	s.lastAlert = max(s.lastAlert, a.ID)
	if known != nil {
		s.counts.add(a.WorkspaceID, rimewatch.AlertActive, known.severity, -1)
	}
	s.counts.add(a.WorkspaceID, a.Status, a.Severity, 1)
	d := s.fleet.byID.Get(a.DeviceID)
	switch {
	case a.Status == rimewatch.AlertActive && known == nil:
		s.active[a.ID] = &activeAlert{workspaceID: a.WorkspaceID, deviceID: a.DeviceID, severity: a.Severity}
		if d != nil {
			d.live.alerts++
		}
	case a.Status == rimewatch.AlertActive:
		known.severity = a.Severity
		known.touch = store.AlertTouch{}
	case known != nil:
		delete(s.active, a.ID)
		if d != nil {
			d.live.alerts--
		}
	}
}

func (s *Core) touchAlerts(touched []store.AlertTouch) {
	for _, t := range touched {
		if a := s.active[t.AlertID]; a != nil {
			a.touch = t
		}
	}
}

// complete adds the newer values in memory and the members of the device.
func (s *Core) complete(list []rimewatch.AlertView) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for i := range list {
		v := &list[i]
		if a := s.active[v.ID]; a != nil && v.Status == rimewatch.AlertActive && a.touch.Evaluated != 0 {
			t := a.touch
			v.LastEvaluatedAt = max(v.LastEvaluatedAt, t.Evaluated)
			if t.HasValue {
				v.Value, v.PeakValue = &t.Value, &t.Peak
			}
		}
		if d := s.fleet.byID.Get(v.DeviceID); d != nil {
			v.DeviceSerial, v.DeviceName, v.EquipmentType = d.row.Serial, d.row.Name, d.row.EquipmentType
			v.Site = s.fleet.sites[d.row.SiteID]
		} else if v.SiteID != 0 {
			v.Site = s.fleet.sites[v.SiteID]
		}
	}
}

// Alerts implements store.Alerts.
func (s *Core) Alerts(ctx context.Context, workspaceID int64, f store.AlertFilter, p store.AlertPage) ([]rimewatch.AlertView, int, error) {
	if s := store.SitesOf(ctx); s != nil {
		f.Sites = s
	}
	if f.Labels != nil {
		s.mu.RLock()
		f.Devices = s.fleet.labelled(workspaceID, *f.Labels)
		s.mu.RUnlock()
		if len(f.Devices) > maxLabelled {
			return nil, 0, rimewatch.Invalid("label", "is that of more than %d devices: filter by the site or the type as well, or ask for the devices one by one", maxLabelled)
		}
	}
	known, counted := 0, true // a page by keyset costs what it shows
	if p.BeforeAt == 0 {
		s.mu.RLock()
		known, counted = countedTotal(s.counts[workspaceID], &f)
		s.mu.RUnlock()
	}
	list, total, err := s.AlertList(ctx, workspaceID, f, p, !counted)
	if err != nil {
		return nil, 0, err
	}
	return list, total + known, s.completeAll(ctx, list)
}

// maxLabelled is of how many devices alerts can be asked for at once by their label.
const maxLabelled = 50_000

// labelled returns the devices that have all of some labels, never nil.
func (f *fleet) labelled(workspaceID int64, all map[string]string) []int64 {
	ids := []int64{}
	if r := f.workspaces[workspaceID]; r != nil {
		for _, d := range r.list {
			if d.labelled(all) {
				ids = append(ids, d.row.ID)
			}
		}
	}
	return ids
}

// countedTotal answers from a workspace's counters where they suffice.
func countedTotal(c *store.AlertCounts, f *store.AlertFilter) (int, bool) {
	if f.Type != "" || f.Predictive != nil || f.DeviceID != 0 || f.Serial != "" || f.SiteID != 0 || f.Equipment != "" || f.Devices != nil || f.Acknowledged != nil || f.Since != 0 || f.Sites != nil {
		return 0, false
	}
	if c == nil {
		return 0, true
	}
	total := 0
	for _, status := range []rimewatch.AlertStatus{rimewatch.AlertActive, rimewatch.AlertResolved} {
		for _, severity := range []rimewatch.Severity{rimewatch.Warning, rimewatch.Critical} {
			if (f.Status == "" || f.Status == status) && (f.Severity == "" || f.Severity == severity) {
				total += *counterOf(c, status, severity)
			}
		}
	}
	return total, true
}

// completeAll is complete, and looks up the names of devices that were deleted.
func (s *Core) completeAll(ctx context.Context, list []rimewatch.AlertView) error {
	s.complete(list)
	for i := range list {
		if list[i].DeviceSerial != "" || list[i].DeviceID == 0 {
			continue
		}
		var err error
		if list[i].DeviceSerial, list[i].DeviceName, list[i].EquipmentType, err = s.DeviceName(ctx, list[i].DeviceID); err != nil {
			return err
		}
	}
	return nil
}

// Alert implements store.Alerts.
func (s *Core) Alert(ctx context.Context, workspaceID, id int64) (rimewatch.AlertView, error) {
	a, err := s.FindAlert(ctx, workspaceID, id)
	if err != nil {
		return rimewatch.AlertView{}, err
	}
	v, err := s.ViewAlert(ctx, &a)
	if err == nil && !store.SitesOf(ctx).Has(siteOf(&v)) {
		return rimewatch.AlertView{}, tables.ErrAlert()
	}
	return v, err
}

// siteOf returns the site that an alert or its device belongs to, 0 = none.
func siteOf(v *rimewatch.AlertView) int64 {
	if v.Site == nil {
		return 0
	}
	return v.Site.ID
}

// ViewAlert implements store.Alerts.
func (s *Core) ViewAlert(ctx context.Context, a *rimewatch.Alert) (rimewatch.AlertView, error) {
	list := []rimewatch.AlertView{{Alert: *a}}
	err := s.completeAll(ctx, list)
	return list[0], err
}

// AlertCounts implements store.Alerts.
func (s *Core) AlertCounts(ctx context.Context, workspaceID int64, since rimewatch.Time) (store.AlertCounts, error) {
	var c store.AlertCounts
	sites := store.SitesOf(ctx)
	if since == 0 && sites == nil {
		s.mu.RLock()
		defer s.mu.RUnlock()
		if known := s.counts[workspaceID]; known != nil {
			c = *known
		}
		return c, nil
	}
	err := s.CountAlerts(ctx, workspaceID, sites, since, func(_ int64, status rimewatch.AlertStatus, severity rimewatch.Severity, n int) {
		*counterOf(&c, status, severity) += n
	})
	return c, err
}
