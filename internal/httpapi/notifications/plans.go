package notifications

import (
	"context"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/httpapi"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/wire"
)

// MaintenancePlan is work that comes back every week.
type MaintenancePlan struct {
	ID            int64          `json:"id"`
	SiteIDs       []int64        `json:"site_ids" nullable:"false" doc:"Each goes by its own clock."`
	DeviceSerials []string       `json:"device_serials" nullable:"false" doc:"With site_ids: any of them, by the clocks of their sites; both empty = all devices, by the clock of the workspace."`
	Days          []string       `json:"days" nullable:"false" enum:"mon,tue,wed,thu,fri,sat,sun" doc:"On which it begins."`
	From          string         `json:"from" example:"05:30" doc:"By the clock on the wall, also in a night in which that is set."`
	To            string         `json:"to" example:"07:00" doc:"Up to from: on the next day."`
	Reason        string         `json:"reason" example:"Cleaning"`
	Enabled       bool           `json:"enabled"`
	CreatedBy     string         `json:"created_by"`
	CreatedAt     rimewatch.Time `json:"created_at" nullable:"false"`
	UpdatedAt     rimewatch.Time `json:"updated_at" nullable:"false"`
}

func (a *api) plansJSON(ctx context.Context, list ...rimewatch.MaintenancePlan) ([]MaintenancePlan, error) {
	var ids []int64
	for i := range list {
		ids = append(ids, list[i].DeviceIDs...)
	}
	serials, err := a.Store.Serials(ctx, httpapi.CallOf(ctx).Workspace(), ids)
	if err != nil {
		return nil, err
	}
	out := make([]MaintenancePlan, len(list))
	for i := range list {
		p := &list[i]
		out[i] = MaintenancePlan{
			p.ID, listed(p.SiteIDs), make([]string, len(p.DeviceIDs)), wire.DayNames(p.Window.Weekdays()), rimewatch.TimeOfDay(p.Window.From), rimewatch.TimeOfDay(p.Window.To),
			p.Reason, p.Enabled, p.CreatedBy, p.CreatedAt, p.UpdatedAt,
		}
		for k, id := range p.DeviceIDs {
			out[i].DeviceSerials[k] = serials[id]
		}
	}
	return out, nil
}

// MaintenancePlanList are the maintenance plans of a workspace.
type MaintenancePlanList struct {
	httpapi.Paged
	Plans []MaintenancePlan `json:"maintenance_plans"`
}

func (a *api) listPlans(ctx context.Context, list []rimewatch.MaintenancePlan) (MaintenancePlanList, error) {
	plans, err := a.plansJSON(ctx, list...)
	return MaintenancePlanList{Plans: plans}, err
}

// MaintenancePlanData is the data of answers about one maintenance plan.
type MaintenancePlanData struct {
	Plan MaintenancePlan `json:"maintenance_plan"`
}

func (a *api) showPlan(ctx context.Context, p *rimewatch.MaintenancePlan) (MaintenancePlanData, error) {
	list, err := a.plansJSON(ctx, *p)
	if err != nil {
		return MaintenancePlanData{}, err
	}
	return MaintenancePlanData{list[0]}, nil
}

// MaintenancePlanCreate is the body that makes a plan.
type MaintenancePlanCreate struct {
	SiteIDs       []int64  `json:"site_ids,omitempty" maxItems:"1000" minimum:"1" doc:"Each goes by its own clock."`
	DeviceSerials []string `json:"device_serials,omitempty" maxItems:"1000" maxLength:"64" doc:"With site_ids: any of them, by the clocks of their sites; both empty = all devices, by the clock of the workspace."`
	Everything    bool     `json:"everything,omitempty" doc:"Needed from a signed-in person where both are empty."`
	Days          []string `json:"days" minItems:"1" maxItems:"7" enum:"mon,tue,wed,thu,fri,sat,sun" doc:"On which it begins."`
	From          string   `json:"from" pattern:"^([01][0-9]|2[0-3]):[0-5][0-9]$" patternDescription:"a time such as 05:30" example:"05:30" doc:"By the clock on the wall, also in a night in which that is set."`
	To            string   `json:"to" pattern:"^([01][0-9]|2[0-3]):[0-5][0-9]$" patternDescription:"a time such as 07:00" example:"07:00" doc:"Up to from: on the next day. 15 minutes to 12 hours after it."`
	Reason        string   `json:"reason" minLength:"1" maxLength:"200" example:"Cleaning"`
	Enabled       *bool    `json:"enabled,omitempty" doc:"Default: true."`
}

func (a *api) newPlan(ctx context.Context, b *MaintenancePlanCreate) (p rimewatch.MaintenancePlan, err error) {
	c := httpapi.CallOf(ctx)
	by, err := a.AuditActor(ctx, c.Principal)
	if err != nil {
		return p, err
	}
	var f wire.FieldErrors
	if f.NotBlank("reason", b.Reason); f.Err != nil {
		return p, f.Err
	}
	if err := scoped(c, "site_ids", b.Everything, len(b.SiteIDs)+len(b.DeviceSerials)); err != nil {
		return p, err
	}
	p = rimewatch.MaintenancePlan{
		WorkspaceID: c.Workspace(), SiteIDs: b.SiteIDs, Window: rimewatch.CheckWindow{Days: wire.DaySet(b.Days), From: wire.MinuteOf(b.From), To: wire.MinuteOf(b.To)},
		Reason: b.Reason, Enabled: b.Enabled == nil || *b.Enabled, CreatedBy: by, CreatedAt: c.Now, UpdatedAt: c.Now,
	}
	p.DeviceIDs, err = a.places(ctx, "", b.SiteIDs, b.DeviceSerials)
	return p, err
}

// MaintenancePlanUpdate is the body that changes a plan. Absent fields stay as they are.
type MaintenancePlanUpdate struct {
	SiteIDs       *[]int64  `json:"site_ids,omitempty" maxItems:"1000" minimum:"1"`
	DeviceSerials *[]string `json:"device_serials,omitempty" maxItems:"1000" maxLength:"64"`
	Everything    bool      `json:"everything,omitempty" doc:"Needed from a signed-in person where both become empty."`
	Days          *[]string `json:"days,omitempty" minItems:"1" maxItems:"7" enum:"mon,tue,wed,thu,fri,sat,sun"`
	From          *string   `json:"from,omitempty" pattern:"^([01][0-9]|2[0-3]):[0-5][0-9]$" patternDescription:"a time such as 05:30"`
	To            *string   `json:"to,omitempty" pattern:"^([01][0-9]|2[0-3]):[0-5][0-9]$" patternDescription:"a time such as 07:00"`
	Reason        *string   `json:"reason,omitempty" minLength:"1" maxLength:"200"`
	Enabled       *bool     `json:"enabled,omitempty"`
}

func (a *api) editPlan(ctx context.Context, b *MaintenancePlanUpdate) (func(*rimewatch.MaintenancePlan) error, error) {
	c := httpapi.CallOf(ctx)
	var f wire.FieldErrors
	if b.Reason != nil {
		f.NotBlank("reason", *b.Reason)
	}
	if f.Err != nil {
		return nil, f.Err
	}
	var sites []int64
	var serials []string
	httpapi.Sent(&sites, b.SiteIDs)
	httpapi.Sent(&serials, b.DeviceSerials)
	devices, err := a.places(ctx, "", sites, serials)
	if err != nil {
		return nil, err
	}
	return func(p *rimewatch.MaintenancePlan) error {
		httpapi.Sent(&p.SiteIDs, b.SiteIDs)
		if b.DeviceSerials != nil {
			p.DeviceIDs = devices
		}
		if b.SiteIDs != nil || b.DeviceSerials != nil {
			if err := scoped(c, "site_ids", b.Everything, len(p.SiteIDs)+len(p.DeviceIDs)); err != nil {
				return err
			}
		}
		if b.Days != nil {
			p.Window.Days = wire.DaySet(*b.Days)
		}
		if b.From != nil {
			p.Window.From = wire.MinuteOf(*b.From)
		}
		if b.To != nil {
			p.Window.To = wire.MinuteOf(*b.To)
		}
		httpapi.Sent(&p.Reason, b.Reason)
		httpapi.Sent(&p.Enabled, b.Enabled)
		p.UpdatedAt = c.Now
		return nil
	}, nil
}

func (a *api) planRoutes() []httpapi.Route {
	r := &httpapi.Resource[rimewatch.MaintenancePlan]{
		Path: "/v1/maintenance-plans", ID: "maintenance-plan", Tag: "Alerts", One: "a maintenance plan", Many: "maintenance plans",
		Read: httpapi.Either(rimewatch.RoleViewer, rimewatch.ScopeNotifications), Write: httpapi.Either(rimewatch.RoleTechnician, rimewatch.ScopeNotifications),
		Things: func(context.Context) store.Resource[rimewatch.MaintenancePlan] {
			return a.Writer.MaintenancePlans()
		},
		Key:     func(p *rimewatch.MaintenancePlan) (id, revision int64) { return p.ID, p.Revision },
		Named:   func(p *rimewatch.MaintenancePlan) string { return p.Reason },
		Changed: func(ctx context.Context, _ *rimewatch.MaintenancePlan) { a.changed(ctx) },
		Cursors: &a.cursors,

		ListText: "Work that comes back every week. Of each plan the ordinary maintenance windows of the next 24 h are made, by the clocks of its sites; they name it in plan_id, and it stands in the audit trail as who made them.",
		CreateText: "The first window is the next that begins. One that a person ends is not made again. Of a window in an hour that clocks skip, an hour is left after it, or as long as it is; in an hour that they show twice both are part of it. " +
			"At most 100; 409 beyond that.",
		UpdateText: "Windows that have not begun become what the plan says now; a plan that is switched off has none. What runs stays, and can be ended.",
		DeleteText: "Its windows that have not begun are withdrawn. What runs stays, and can be ended.",
		Also:       []rimewatch.Code{rimewatch.CodeUnknownDevice},
	}
	return []httpapi.Route{
		httpapi.List(r, httpapi.All, a.listPlans), httpapi.Create(r, a.newPlan, a.showPlan), httpapi.Get(r, a.showPlan), httpapi.Update(r, a.editPlan, a.showPlan), httpapi.Delete(r),
	}
}
