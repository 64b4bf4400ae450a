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
		c.ok(c.s.MaintenanceWindows().Create(c.ctx, w))
	}
	all, err := c.s.AllMaintenanceWindows(c.ctx, t0+10)
	c.ok(err)
	c.same(all, []rimewatch.MaintenanceWindow{y, foreign})
	_, err = c.s.MaintenanceWindows().Update(c.ctx, a.ID, y.ID, func(w *rimewatch.MaintenanceWindow) error { w.EndsAt = t0 + 7; return nil })
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
		c.field(c.s.MaintenanceWindows().Create(c.ctx, &bad), field)
	}
	long := window(a, 0, rimewatch.MaxMaintenance+1)
	c.field(c.s.MaintenanceWindows().Create(c.ctx, &long), "ends_at")
	orphan := window(rimewatch.Workspace{ID: b.ID + 1}, 0, 1)
	c.code(c.s.MaintenanceWindows().Create(c.ctx, &orphan), rimewatch.CodeNotFound)
}
