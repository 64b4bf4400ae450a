package notifications

import (
	"context"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/httpapi"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/wire"
)

// MaintenanceWindow is planned work on devices.
type MaintenanceWindow struct {
	ID            int64          `json:"id"`
	SiteIDs       []int64        `json:"site_ids" nullable:"false"`
	DeviceSerials []string       `json:"device_serials" nullable:"false" doc:"With site_ids: any of them; both empty = all devices."`
	StartsAt      rimewatch.Time `json:"starts_at" nullable:"false"`
	EndsAt        rimewatch.Time `json:"ends_at" nullable:"false"`
	Reason        string         `json:"reason"`
	CreatedBy     string         `json:"created_by"`
	CreatedAt     rimewatch.Time `json:"created_at" nullable:"false"`
	PlanID        *int64         `json:"plan_id" doc:"The maintenance plan that it was made of; null = of none."`
	Active        bool           `json:"active" doc:"It has begun and is not over."`
}

func (a *api) maintenanceJSON(ctx context.Context, list ...rimewatch.MaintenanceWindow) ([]MaintenanceWindow, error) {
	var ids []int64
	for i := range list {
		ids = append(ids, list[i].DeviceIDs...)
	}
	serials, err := a.Store.Serials(ctx, httpapi.CallOf(ctx).Workspace(), ids)
	if err != nil {
		return nil, err
	}
	now := a.Now() // not that of the call: a window may have been ended since
	out := make([]MaintenanceWindow, len(list))
	for i := range list {
		w := &list[i]
		out[i] = MaintenanceWindow{w.ID, listed(w.SiteIDs), make([]string, len(w.DeviceIDs)), w.StartsAt, w.EndsAt, w.Reason, w.CreatedBy, w.CreatedAt, wire.OrNull(w.PlanID), w.StartsAt <= now && now < w.EndsAt}
		for k, id := range w.DeviceIDs {
			out[i].DeviceSerials[k] = serials[id]
		}
	}
	return out, nil
}

// MaintenanceListInput selects windows.
type MaintenanceListInput struct {
	httpapi.AllOrPage
	Ended bool `query:"ended" default:"false" doc:"Include those that have ended."`
}

// MaintenanceList are the maintenance windows of a workspace.
type MaintenanceList struct {
	httpapi.Paged
	Windows []MaintenanceWindow `json:"maintenance_windows"`
}

func selectMaintenance(c *httpapi.Call, in *MaintenanceListInput) store.Selection {
	return selectSpans(c, in.Ended)
}

func (a *api) listMaintenance(ctx context.Context, list []rimewatch.MaintenanceWindow) (MaintenanceList, error) {
	windows, err := a.maintenanceJSON(ctx, list...)
	return MaintenanceList{Windows: windows}, err
}

// MaintenanceData is the data of answers about one maintenance window.
type MaintenanceData struct {
	Window MaintenanceWindow `json:"maintenance_window"`
}

func (a *api) showMaintenance(ctx context.Context, w *rimewatch.MaintenanceWindow) (MaintenanceData, error) {
	list, err := a.maintenanceJSON(ctx, *w)
	if err != nil {
		return MaintenanceData{}, err
	}
	return MaintenanceData{list[0]}, nil
}

// MaintenanceCreate is the body that plans work.
type MaintenanceCreate struct {
	SiteIDs       []int64         `json:"site_ids,omitempty" maxItems:"1000" minimum:"1"`
	DeviceSerials []string        `json:"device_serials,omitempty" maxItems:"1000" maxLength:"64" doc:"With site_ids: any of them; both empty = all devices."`
	Everything    bool            `json:"everything,omitempty" doc:"Needed from a signed-in person where both are empty."`
	StartsAt      *rimewatch.Time `json:"starts_at,omitempty" nullable:"true" doc:"Default: now. The past counts as now."`
	EndsAt        rimewatch.Time  `json:"ends_at" nullable:"false" doc:"At most 30 days after starts_at."`
	Reason        string          `json:"reason" minLength:"1" maxLength:"500"`
}

func (a *api) newMaintenance(ctx context.Context, b *MaintenanceCreate) (w rimewatch.MaintenanceWindow, err error) {
	c := httpapi.CallOf(ctx)
	by, err := a.AuditActor(ctx, c.Principal)
	if err != nil {
		return w, err
	}
	var f wire.FieldErrors
	if f.NotBlank("reason", b.Reason); f.Err != nil {
		return w, f.Err
	}
	w = rimewatch.MaintenanceWindow{WorkspaceID: c.Workspace(), SiteIDs: b.SiteIDs, StartsAt: c.Now, EndsAt: b.EndsAt, Reason: b.Reason, CreatedBy: by, CreatedAt: c.Now}
	if b.StartsAt != nil {
		w.StartsAt = max(*b.StartsAt, c.Now)
	}
	if w.EndsAt <= w.StartsAt {
		return w, rimewatch.Invalid("ends_at", "must be in the future and after starts_at")
	}
	if err := scoped(c, "site_ids", b.Everything, len(b.SiteIDs)+len(b.DeviceSerials)); err != nil {
		return w, err
	}
	w.DeviceIDs, err = a.places(ctx, "", b.SiteIDs, b.DeviceSerials)
	return w, err
}

func (a *api) endMaintenance(_ context.Context, w *rimewatch.MaintenanceWindow) error {
	if !w.EndEarly(a.Now()) {
		return rimewatch.Errorf(rimewatch.CodeConflict, "This maintenance window has already ended.")
	}
	return nil
}

func (a *api) maintenanceRoutes() []httpapi.Route {
	r := &httpapi.Resource[rimewatch.MaintenanceWindow]{
		Path: "/v1/maintenance-windows", ID: "maintenance-window", Tag: "Alerts", One: "a maintenance window", Many: "maintenance windows",
		Read: httpapi.Scope(rimewatch.ScopeAlertsRead), Write: httpapi.Scope(rimewatch.ScopeAlertsWrite),
		Things: func(context.Context) store.Resource[rimewatch.MaintenanceWindow] {
			return a.Writer.MaintenanceWindows()
		},
		Key:     func(w *rimewatch.MaintenanceWindow) (id, revision int64) { return w.ID, w.Revision },
		Changed: func(ctx context.Context, _ *rimewatch.MaintenanceWindow) { a.changed(ctx) },
		Cursors: &a.cursors,

		ListText: "Those that are not over, by id.",
		CreateText: "During the window alerts are recorded but nobody is notified, and the time does not count towards compliance. " +
			"When it ends, alerts that are still active are sent, and predictions learn the devices again. At most 500 that are active, planned or ended within the last week; 409 beyond that.",
		Also: []rimewatch.Code{rimewatch.CodeUnknownDevice},
	}
	plan := httpapi.Create(r, a.newMaintenance, a.showMaintenance)
	plan.Summary = "Plan work on devices"
	return []httpapi.Route{
		httpapi.List(r, selectMaintenance, a.listMaintenance), plan, httpapi.Get(r, a.showMaintenance),
		httpapi.Act(r, "end", "End a maintenance window", a.endMaintenance, a.showMaintenance),
	}
}
