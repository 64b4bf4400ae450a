package records

import (
	"context"
	"slices"
	"sync"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/httpapi"
	"github.com/rimewatch/rimewatch/internal/store"
)

// Store keeps excursions and what people did about alerts and probes.
type Store interface {
	Excursions(ctx context.Context, workspaceID, deviceID int64, from, to rimewatch.Time, limit int) ([]rimewatch.Excursion, error)
	CreateCorrectiveAction(ctx context.Context, a *rimewatch.CorrectiveAction) error
	CorrectiveActions(ctx context.Context, workspaceID, alertID, deviceID int64, from, to rimewatch.Time) ([]rimewatch.CorrectiveAction, error)
	Calibrations(ctx context.Context, workspaceID, deviceID int64) ([]rimewatch.Calibration, error)
	Alert(ctx context.Context, workspaceID, id int64) (rimewatch.AlertView, error)
	Alerts(ctx context.Context, workspaceID int64, f store.AlertFilter, p store.AlertPage) ([]rimewatch.AlertView, int, error)
	AuditEntries(ctx context.Context, workspaceID int64, action, subject string, p store.Page) ([]rimewatch.AuditEntry, int, error)
	VerifyAudit(ctx context.Context, workspaceID int64) (int64, error)
}

// Writer stores calibrations. A call returns only after what it did is durable.
type Writer interface {
	Calibrate(ctx context.Context, workspaceID int64, serial string, c *rimewatch.Calibration, complete func(*rimewatch.Device) error) (rimewatch.DeviceView, error)
}

// Health knows the excursions that last: of one device, or of all (0).
type Health interface {
	OpenExcursions(workspaceID, deviceID int64) []rimewatch.Excursion
}

// Fleet answers questions about devices.
type Fleet interface {
	Devices(ctx context.Context, workspaceID int64, f store.DeviceFilter, p store.Page) ([]rimewatch.DeviceView, int, error)
	Device(ctx context.Context, workspaceID int64, serial string) (rimewatch.DeviceView, error)
	DeviceByID(id int64) (rimewatch.DeviceView, bool)
	Identify(workspaceID int64, serial []byte) *store.Identity
}

// Config of the resources: everything is needed.
type Config struct {
	Store   Store
	Writer  Writer
	Health  Health
	Fleet   Fleet
	History store.History
	Sites   httpapi.SiteFinder

	// Background runs work that outlives its request; its context ends with the
	// service.
	Background func(work func(ctx context.Context))
}

// api is what the routes share.
type api struct {
	*httpapi.API
	Config
	reports  chan struct{} // holds a place for each report in the making
	reportOf sync.Map      // the same of each workspace, chan struct{} by id

	reportJobs reportJobs
}

// Routes returns the routes of records.
func Routes(cfg Config) httpapi.Part {
	return func(frame *httpapi.API) []httpapi.Route {
		a := &api{API: frame, Config: cfg, reports: make(chan struct{}, reportsAtOnce)}
		return slices.Concat(a.recordRoutes(), a.reportRoutes())
	}
}
