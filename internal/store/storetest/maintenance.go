package storetest

import (
	"fmt"
	"strings"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
)

func (c *control) maintenance() {
	c.ctx = store.WithActor(c.ctx, "Olga")
	a, b := c.workspace("a"), c.workspace("b")
	seen := len(c.trail(a.ID))
	window := func(w rimewatch.Workspace, from, to rimewatch.Time) rimewatch.MaintenanceWindow {
		return rimewatch.MaintenanceWindow{
			WorkspaceID: w.ID, SiteIDs: []int64{3}, DeviceIDs: []int64{5, 6}, StartsAt: t0 + from, EndsAt: t0 + to, Reason: "defrost drain", CreatedBy: "Ada", CreatedAt: t0,
		}
	}
	x, y, foreign := window(a, 0, 10), window(a, 5, 20), window(b, 0, 20)
	x.SiteIDs, x.DeviceIDs = nil, nil
	for _, w := range []*rimewatch.MaintenanceWindow{&x, &y, &foreign} {
		c.ok(c.s.Routing().MaintenanceWindows().Create(c.ctx, w))
	}
	all, err := c.s.Everywhere().AllMaintenanceWindows(c.ctx, t0+10)
	c.ok(err)
	c.same(all, []rimewatch.MaintenanceWindow{y, foreign})
	_, err = c.s.Routing().MaintenanceWindows().Update(c.ctx, a.ID, y.ID, func(w *rimewatch.MaintenanceWindow) error { w.EndsAt = t0 + 7; return nil })
	c.ok(err)
	span := func(ids string, from, to rimewatch.Time) string {
		return fmt.Sprintf(`{%s,"ends_at":"%s","reason":"defrost drain"`, ids, t0+to) + fmt.Sprintf(`,%%s"starts_at":"%s"}`, t0+from)
	}
	c.audited(a, &seen,
		fmt.Sprintf("Olga maintenance.created maintenance %d "+fmt.Sprintf(span(`"device_ids":null`, 0, 10), `"site_ids":null,`), x.ID),
		fmt.Sprintf("Olga maintenance.created maintenance %d "+fmt.Sprintf(span(`"device_ids":[5,6]`, 5, 20), `"site_ids":[3],`), y.ID),
		fmt.Sprintf(`Olga maintenance.ended maintenance %d {"ends_at":{"from":"%s","to":"%s"}}`, y.ID, t0+20, t0+7))
	for field, change := range map[string]func(*rimewatch.MaintenanceWindow){
		"ends_at":        func(w *rimewatch.MaintenanceWindow) { w.EndsAt = w.StartsAt - 1 },
		"starts_at":      func(w *rimewatch.MaintenanceWindow) { w.StartsAt, w.EndsAt = 0, 1 },
		"reason":         func(w *rimewatch.MaintenanceWindow) { w.Reason = "a\xff" },
		"created_by":     func(w *rimewatch.MaintenanceWindow) { w.CreatedBy = strings.Repeat("x", 1000) },
		"site_ids":       func(w *rimewatch.MaintenanceWindow) { w.SiteIDs = []int64{1, 1} },
		"device_serials": func(w *rimewatch.MaintenanceWindow) { w.DeviceIDs = []int64{0} },
	} {
		bad := window(a, 0, 10)
		change(&bad)
		c.field(c.s.Routing().MaintenanceWindows().Create(c.ctx, &bad), field)
	}
	long := window(a, 0, rimewatch.MaxMaintenance+1)
	c.field(c.s.Routing().MaintenanceWindows().Create(c.ctx, &long), "ends_at")
	orphan := window(rimewatch.Workspace{ID: b.ID + 1}, 0, 1)
	c.code(c.s.Routing().MaintenanceWindows().Create(c.ctx, &orphan), rimewatch.CodeNotFound)
}

// plans: windows are made and withdrawn within a transaction that knows the plan as it is, and do not count against the most.
func (c *control) plans() {
	a := c.workspace("a")
	plan := rimewatch.MaintenancePlan{
		WorkspaceID: a.ID, Window: rimewatch.CheckWindow{Days: 127, From: 330, To: 420}, Reason: "Cleaning", Enabled: true, CreatedBy: "Ada", CreatedAt: t0, UpdatedAt: t0,
	}
	off := plan
	off.Enabled = false
	for _, p := range []*rimewatch.MaintenancePlan{&plan, &off} {
		c.ok(c.s.Routing().MaintenancePlans().Create(c.ctx, p))
	}
	all, err := c.s.Everywhere().AllMaintenancePlans(c.ctx)
	c.ok(err)
	c.same(all, []rimewatch.MaintenancePlan{plan})

	window := func(from rimewatch.Time) rimewatch.MaintenanceWindow {
		return rimewatch.MaintenanceWindow{
			WorkspaceID: a.ID, PlanID: plan.ID, StartsAt: t0 + from, EndsAt: t0 + from + 90, Reason: plan.Reason, CreatedBy: plan.Actor(), CreatedAt: t0,
		}
	}
	seen := len(c.trail(a.ID))
	settle := func(of int64, made []rimewatch.MaintenanceWindow, withdrawn ...int64) (is *rimewatch.MaintenancePlan, coming []rimewatch.MaintenanceWindow) {
		c.ok(c.s.Routing().SettleMaintenance(c.ctx, a.ID, of, t0+10, func(p *rimewatch.MaintenancePlan, list []rimewatch.MaintenanceWindow) ([]rimewatch.MaintenanceWindow, []int64) {
			is, coming = p, list
			return made, withdrawn
		}))
		return is, coming
	}
	made := []rimewatch.MaintenanceWindow{window(10), window(20), window(30)}
	is, coming := settle(plan.ID, made)
	c.same(is, &plan)
	c.same(len(coming), 0)
	_, coming = settle(plan.ID, nil, made[1].ID, made[0].ID) // the first has begun
	c.same(coming, made[1:])
	is, coming = settle(off.ID, nil, made[2].ID)
	c.same(is, &off)
	c.same(len(coming), 0)
	c.ok(c.s.Routing().MaintenancePlans().Delete(c.ctx, a.ID, plan.ID))
	is, coming = settle(plan.ID, nil, made[2].ID)
	c.same(is, (*rimewatch.MaintenancePlan)(nil))
	c.same(coming, made[2:])
	left, err := c.s.Routing().MaintenanceWindows().List(c.ctx, a.ID)
	c.ok(err)
	c.same(left, made[:1])
	var acts []string
	for _, line := range c.trail(a.ID)[seen:] {
		act, _, _ := strings.Cut(line, " {")
		acts = append(acts, act)
	}
	c.same(acts, []string{
		fmt.Sprintf("plan Cleaning maintenance.created maintenance %d", made[0].ID), fmt.Sprintf("plan Cleaning maintenance.created maintenance %d", made[1].ID),
		fmt.Sprintf("plan Cleaning maintenance.created maintenance %d", made[2].ID), fmt.Sprintf("plan Cleaning maintenance.withdrawn maintenance %d", made[1].ID),
		fmt.Sprintf("service maintenance_plan.deleted maintenance_plan %d", plan.ID), fmt.Sprintf("plan Cleaning maintenance.withdrawn maintenance %d", made[2].ID),
	})

	many := make([]rimewatch.MaintenanceWindow, rimewatch.MaxMaintenanceWindows)
	for i := range many {
		many[i] = window(1000 + rimewatch.Time(i))
		many[i].PlanID = off.ID
	}
	settle(off.ID, many)
	own := window(20)
	own.PlanID = 0
	c.ok(c.s.Routing().MaintenanceWindows().Create(c.ctx, &own))
}
