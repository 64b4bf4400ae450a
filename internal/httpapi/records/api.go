package records

import (
	"context"
	"slices"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/account"
	"github.com/rimewatch/rimewatch/internal/httpapi"
	"github.com/rimewatch/rimewatch/internal/report"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/wire"
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

// Reports gathers what logs are made of.
type Reports interface {
	// Make fills a report and calls write with it. It waits for its turn.
	Make(ctx context.Context, q *report.Request, write func() error) error
	// Case gathers what is known of a case, but for curves and images: CodeNotFound.
	Case(ctx context.Context, workspaceID, id int64) (*report.Dossier, error)
	// CasePDF writes all of it, as complete has its reader see it, and returns the name of the
	// file, too. It waits for its turn.
	CasePDF(ctx context.Context, workspaceID, id int64, complete func(*report.Dossier)) (name string, text []byte, err error)
	// Excursions lists those that ended and, after them, those that last.
	Excursions(ctx context.Context, workspaceID, deviceID int64, from, to rimewatch.Time) ([]rimewatch.Excursion, error)
	// ExcursionTotals adds them up by device, within a span.
	ExcursionTotals(ctx context.Context, workspaceID int64, from, to rimewatch.Time) (map[int64]store.ExcursionTotal, error)
}

// Health knows how the devices of sites are now.
type Health interface {
	SummariesOf(workspaceID int64, sites rimewatch.Sites) map[int64]wire.HealthSummary
}

// Logos keeps what workspaces print on their reports.
type Logos interface {
	Logo(ctx context.Context, workspaceID int64) (rimewatch.Logo, error)
	SetLogo(ctx context.Context, workspaceID int64, l rimewatch.Logo) (rimewatch.Workspace, error)
}

// Signers find out who signs.
type Signers interface {
	ConfirmSigner(ctx context.Context, p account.Principal, x account.SignProof, first bool, now rimewatch.Time) (u rimewatch.User, proof string, err error)
}

// Config of the resources: everything is needed.
type Config struct {
	Store   Store
	Logos   Logos
	Signers Signers
	Writer  Writer
	Reports Reports
	Health  Health
	Sites   httpapi.SiteFinder
	// CursorKey signs cursors.
	CursorKey [32]byte

	// Background runs work that outlives its request; its context ends with the
	// service.
	Background func(work func(ctx context.Context))
}

// api is what the routes share.
type api struct {
	*httpapi.API
	Config
	reportJobs reportJobs
	cursors    httpapi.CursorCodec
	decoding   chan struct{} // holds one while an image is decoded: that takes up to 200 MB
}

// Routes returns the routes of records.
func Routes(cfg Config) httpapi.Part {
	return func(frame *httpapi.API) []httpapi.Route {
		httpapi.Nullable[Doer](frame)
		a := &api{API: frame, Config: cfg, cursors: httpapi.CursorCodec{Key: cfg.CursorKey}, decoding: make(chan struct{}, 1)}
		return slices.Concat(a.recordRoutes(), a.caseRoutes(), a.roundRoutes(), a.checkRoutes(), a.reportRoutes(), a.standingRoutes(), a.logoRoutes())
	}
}
