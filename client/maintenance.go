package client

import (
	"context"
	"net/http"
	"net/url"
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

type maintenanceData struct {
	Window MaintenanceWindow `json:"maintenance_window"`
}

// MaintenanceWindows lists the windows that are not over, or all.
func (c *Client) MaintenanceWindows(ctx context.Context, ended bool) ([]MaintenanceWindow, error) {
	q := url.Values{}
	if ended {
		q.Set("ended", "true")
	}
	data, err := fetch[struct {
		Windows []MaintenanceWindow `json:"maintenance_windows"`
	}](ctx, c, get("/maintenance-windows", q))
	return data.Windows, err
}

// CreateMaintenanceWindow plans work on devices.
func (c *Client) CreateMaintenanceWindow(ctx context.Context, f MaintenanceFields) (MaintenanceWindow, error) {
	call, err := send(http.MethodPost, "/maintenance-windows", f, false)
	if err != nil {
		return MaintenanceWindow{}, err
	}
	data, err := fetch[maintenanceData](ctx, c, call)
	return data.Window, err
}

func maintenancePath(id int64) string { return "/maintenance-windows/" + strconv.FormatInt(id, 10) }

// MaintenanceWindow finds a window: rimewatch.CodeNotFound.
func (c *Client) MaintenanceWindow(ctx context.Context, id int64) (MaintenanceWindow, error) {
	data, err := fetch[maintenanceData](ctx, c, get(maintenancePath(id), nil))
	return data.Window, err
}

// EndMaintenanceWindow ends a window at once: rimewatch.CodeConflict when it is
// over already.
func (c *Client) EndMaintenanceWindow(ctx context.Context, id int64) (MaintenanceWindow, error) {
	call := get(maintenancePath(id)+"/end", nil)
	call.method, call.idempotent = http.MethodPost, false
	data, err := fetch[maintenanceData](ctx, c, call)
	return data.Window, err
}
