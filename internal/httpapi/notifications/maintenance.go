package notifications

import (
	"context"
	"fmt"
	"net/http"

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
		out[i] = MaintenanceWindow{w.ID, listed(w.SiteIDs), make([]string, len(w.DeviceIDs)), w.StartsAt, w.EndsAt, w.Reason, w.CreatedBy, w.CreatedAt, w.StartsAt <= now && now < w.EndsAt}
		for k, id := range w.DeviceIDs {
			out[i].DeviceSerials[k] = serials[id]
		}
	}
	return out, nil
}

// MaintenanceListInput selects windows.
type MaintenanceListInput struct {
	Ended bool `query:"ended" default:"false" doc:"Include those that have ended."`
}

// MaintenanceList are the maintenance windows of a workspace.
type MaintenanceList struct {
	Windows []MaintenanceWindow `json:"maintenance_windows"`
}

func (a *api) listMaintenance(ctx context.Context, in *MaintenanceListInput) (MaintenanceList, error) {
	c := httpapi.CallOf(ctx)
	after := c.Now
	if in.Ended {
		after = 0
	}
	list, _, err := a.Store.MaintenanceWindows().Select(ctx, c.Workspace(), store.Selection{EndAfter: after})
	if err != nil {
		return MaintenanceList{}, err
	}
	windows, err := a.maintenanceJSON(ctx, list...)
	return MaintenanceList{windows}, err
}

// MaintenanceData is the data of answers about one maintenance window.
type MaintenanceData struct {
	Window MaintenanceWindow `json:"maintenance_window"`
}

func (a *api) maintenanceData(ctx context.Context, w rimewatch.MaintenanceWindow, err error) (MaintenanceData, error) {
	if err != nil {
		return MaintenanceData{}, err
	}
	list, err := a.maintenanceJSON(ctx, w)
	if err != nil {
		return MaintenanceData{}, err
	}
	return MaintenanceData{list[0]}, nil
}

func (a *api) getMaintenance(ctx context.Context, in *httpapi.IDInput) (MaintenanceData, error) {
	w, err := a.Store.MaintenanceWindows().Get(ctx, httpapi.CallOf(ctx).Workspace(), in.Number())
	return a.maintenanceData(ctx, w, err)
}

// MaintenanceCreate is the body that plans work.
type MaintenanceCreate struct {
	SiteIDs       []int64         `json:"site_ids,omitempty" maxItems:"1000" minimum:"1"`
	DeviceSerials []string        `json:"device_serials,omitempty" maxItems:"1000" maxLength:"64" doc:"With site_ids: any of them; both empty = all devices."`
	StartsAt      *rimewatch.Time `json:"starts_at,omitempty" nullable:"true" doc:"Default: now. The past counts as now."`
	EndsAt        rimewatch.Time  `json:"ends_at" nullable:"false" doc:"At most 30 days after starts_at."`
	Reason        string          `json:"reason" minLength:"1" maxLength:"500"`
}

func (a *api) createMaintenance(ctx context.Context, in *httpapi.BodyInput[MaintenanceCreate]) (MaintenanceData, error) {
	c := httpapi.CallOf(ctx)
	by, err := a.AuditActor(ctx, c.Principal)
	if err != nil {
		return MaintenanceData{}, err
	}
	b := &in.Body
	var f wire.FieldErrors
	if f.NotBlank("reason", b.Reason); f.Err != nil {
		return MaintenanceData{}, f.Err
	}
	w := rimewatch.MaintenanceWindow{WorkspaceID: c.Workspace(), SiteIDs: b.SiteIDs, StartsAt: c.Now, EndsAt: b.EndsAt, Reason: b.Reason, CreatedBy: by, CreatedAt: c.Now}
	if b.StartsAt != nil {
		w.StartsAt = max(*b.StartsAt, c.Now)
	}
	if w.EndsAt <= w.StartsAt {
		return MaintenanceData{}, rimewatch.Invalid("ends_at", "must be in the future and after starts_at")
	}
	if w.DeviceIDs, err = a.places(ctx, "", b.SiteIDs, b.DeviceSerials); err != nil {
		return MaintenanceData{}, err
	}
	if err := a.Writer.CreateMaintenance(ctx, &w); err != nil {
		return MaintenanceData{}, err
	}
	a.Notifier.Changed(c.Workspace())
	c.Header("Location", fmt.Sprintf("%s/v1/maintenance-windows/%d", httpapi.Prefix, w.ID))
	return a.maintenanceData(ctx, w, nil)
}

func (a *api) endMaintenance(ctx context.Context, in *httpapi.IDInput) (MaintenanceData, error) {
	workspace := httpapi.CallOf(ctx).Workspace()
	w, err := a.Writer.EndMaintenance(ctx, workspace, in.Number())
	if err == nil {
		a.Notifier.Changed(workspace)
	}
	return a.maintenanceData(ctx, w, err)
}

func (a *api) maintenanceRoutes() []httpapi.Route {
	const tag = "Alerts"
	read, write := httpapi.Scope(rimewatch.ScopeAlertsRead), httpapi.Scope(rimewatch.ScopeAlertsWrite)
	return []httpapi.Route{
		{
			Method: http.MethodGet, Path: "/v1/maintenance-windows", ID: "list-maintenance-windows", Tag: tag, Summary: "List maintenance windows", Access: read,
			Description: "Those that are not over, by id.", Bind: httpapi.Handle(a.listMaintenance),
		},
		{
			Method: http.MethodPost, Path: "/v1/maintenance-windows", ID: "create-maintenance-window", Tag: tag, Summary: "Plan work on devices", Access: write, Body: httpapi.JSONBody,
			Status: http.StatusCreated, Also: []rimewatch.Code{rimewatch.CodeUnknownDevice, rimewatch.CodeQuotaExceeded},
			Description: "During the window alerts are recorded but nobody is notified, and the time does not count towards compliance. " +
				"When it ends, alerts that are still active are sent, and predictions learn the devices again. At most 500 that are active, planned or ended within the last week; 409 beyond that.",
			Bind: httpapi.Handle(a.createMaintenance),
		},
		{Method: http.MethodGet, Path: "/v1/maintenance-windows/{id}", ID: "get-maintenance-window", Tag: tag, Summary: "Get a maintenance window", Access: read, Bind: httpapi.Handle(a.getMaintenance)},
		{
			Method: http.MethodPost, Path: "/v1/maintenance-windows/{id}/end", ID: "end-maintenance-window", Tag: tag, Summary: "End a maintenance window", Access: write,
			Also: []rimewatch.Code{rimewatch.CodeConflict}, Bind: httpapi.Handle(a.endMaintenance),
		},
	}
}
