package client

import (
	"context"
	"net/http"
	"strconv"

	"github.com/rimewatch/rimewatch"
)

// MaintenanceWindow is planned work on devices.
type MaintenanceWindow struct {
	ID            int64          `json:"id"`
	SiteIDs       []int64        `json:"site_ids"`
	DeviceSerials []string       `json:"device_serials"` // with SiteIDs: any of them; both empty = all
	StartsAt      rimewatch.Time `json:"starts_at"`
	EndsAt        rimewatch.Time `json:"ends_at"`
	Reason        string         `json:"reason"`
	CreatedBy     string         `json:"created_by"`
	CreatedAt     rimewatch.Time `json:"created_at"`
	PlanID        *int64         `json:"plan_id"` // of the maintenance plan that it was made of, nil = of none
	Active        bool           `json:"active"`
}

// MaintenanceFields plan work on devices.
type MaintenanceFields struct {
	SiteIDs       []int64         `json:"site_ids,omitempty"`
	DeviceSerials []string        `json:"device_serials,omitempty"`
	StartsAt      *rimewatch.Time `json:"starts_at,omitempty"` // nil = now
	EndsAt        rimewatch.Time  `json:"ends_at"`
	Reason        string          `json:"reason"`
}

// MaintenanceWindows are the calls about maintenance windows.
type MaintenanceWindows struct{ c *Client }

// MaintenanceWindows returns the calls about maintenance windows.
func (c *Client) MaintenanceWindows() MaintenanceWindows { return MaintenanceWindows{c} }

// List returns the windows that are not over, or all.
func (x MaintenanceWindows) List(ctx context.Context, ended bool) ([]MaintenanceWindow, error) {
	return one[[]MaintenanceWindow](ctx, x.c, get("/maintenance-windows", orEnded(ended)), "maintenance_windows")
}

// Create plans work on devices.
func (x MaintenanceWindows) Create(ctx context.Context, f MaintenanceFields) (MaintenanceWindow, error) {
	return one[MaintenanceWindow](ctx, x.c, send(http.MethodPost, "/maintenance-windows", f, false), "maintenance_window")
}

func maintenancePath(id int64) string { return "/maintenance-windows/" + strconv.FormatInt(id, 10) }

// Get finds a window: rimewatch.CodeNotFound.
func (x MaintenanceWindows) Get(ctx context.Context, id int64) (MaintenanceWindow, error) {
	return one[MaintenanceWindow](ctx, x.c, get(maintenancePath(id), nil), "maintenance_window")
}

// End ends a window at once: rimewatch.CodeConflict when it is over already.
func (x MaintenanceWindows) End(ctx context.Context, id int64) (MaintenanceWindow, error) {
	return one[MaintenanceWindow](ctx, x.c, post(maintenancePath(id)+"/end"), "maintenance_window")
}
