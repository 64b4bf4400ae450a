package records

import (
	"context"
	"slices"
	"sync"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/httpapi"
	"github.com/rimewatch/rimewatch/internal/store"
)

// Store keeps excursions, what people did about alerts and probes, and what a log is
// made of.
type Store interface {
	store.Records
	store.Alerts
	store.Audit
	store.Fleet
	store.History
}

// Writer stores calibrations. A call returns only after what it did is durable.
type Writer interface {
	Calibrate(ctx context.Context, workspaceID int64, serial string, c *rimewatch.Calibration, complete func(*rimewatch.Device) error) (rimewatch.DeviceView, error)
}

// Health knows the excursions that last: of one device, or of all (0).
type Health interface {
	OpenExcursions(workspaceID, deviceID int64) []rimewatch.Excursion
}

// Config of the resources: everything is needed.
type Config struct {
	Store  Store
	Writer Writer
	Health Health
	Sites  httpapi.SiteFinder

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
