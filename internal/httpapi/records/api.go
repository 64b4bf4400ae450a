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

// Store keeps excursions, corrective actions, calibrations, and the data that a log is
// made of.
type Store interface {
	store.Alerts
	store.Fleet
	store.History
	Workspace(ctx context.Context, id int64) (rimewatch.Workspace, error)
	Sites() store.Resource[rimewatch.Site]
	Contacts() store.Resource[rimewatch.Contact]
	People() store.People
	Records() store.Records
	Audit() store.Audit
}

// Writer stores calibrations and judges predictions. A call returns only after its change is durable.
type Writer interface {
	Feedback(ctx context.Context, workspaceID, id int64, by string, verdict rimewatch.Verdict, note string) (rimewatch.AlertView, error)
	Calibrate(ctx context.Context, workspaceID int64, serial string, c *rimewatch.Calibration, complete func(*rimewatch.Device) error) (rimewatch.DeviceView, error)
}

// Reports gathers the data of logs and dossiers.
type Reports interface {
	// Make fills a report and calls write with it. It waits for its turn.
	Make(ctx context.Context, q *report.Request, write func() error) error
	// Case gathers the data of a case, except for curves and images: CodeNotFound.
	Case(ctx context.Context, workspaceID, id int64) (*report.Dossier, error)
	// CasePDF writes all of it, as complete has its reader see it, and returns the name of the
	// file, too. It waits for its turn.
	CasePDF(ctx context.Context, workspaceID, id int64, complete func(*report.Dossier)) (name string, text []byte, err error)
	// Excursions lists those that ended and, after them, those that last.
	Excursions(ctx context.Context, workspaceID, deviceID int64, from, to rimewatch.Time) ([]rimewatch.Excursion, error)
	// ExcursionTotals adds them up by device, within a span.
	ExcursionTotals(ctx context.Context, workspaceID int64, from, to rimewatch.Time) (map[int64]store.ExcursionTotal, error)
	// Temperatures reads how warm the goods of a device were, in stretches.
	Temperatures(ctx context.Context, deviceID int64, from, to rimewatch.Time) ([]report.CurvePoint, error)
}

// Notifier brings members word of work.
type Notifier interface {
	// TellOrder lets the member who has an order know, over that member's own ways.
	TellOrder(ctx context.Context, o *rimewatch.WorkOrder) error
}

// Mail sends links to people without an account.
type Mail interface {
	SendsMail(ctx context.Context) bool
	// MailOrder sends the path of an order's page to an address, in a language.
	MailOrder(ctx context.Context, to, language, workspace string, o *rimewatch.WorkOrder, path string) error
}

// Health knows how the devices of sites are now.
type Health interface {
	SummariesOf(workspaceID int64, sites rimewatch.Sites) map[int64]wire.HealthSummary
}

// Logos keeps the logos of workspaces for their reports.
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

	Notifier Notifier
	Mail     Mail
	// Card writes a single alert for a page.
	Card func(ctx context.Context, v *rimewatch.AlertView, l rimewatch.Locale) (wire.Card, error)

	LinkKey   [32]byte // signs the links of orders
	CursorKey [32]byte // signs cursors

	// Rounds is called when a round was made, changed or deleted. It returns at once; nil = nothing.
	Rounds func()

	// Background runs work that outlives its request; its context ends with the
	// service.
	Background func(work func(ctx context.Context))
}

// Bounds of the mails with links of orders that a workspace sends, so that no address is flooded.
const (
	mailsPerMinute = 1
	mailBurst      = 20
)

// api are the dependencies of the routes.
type api struct {
	*httpapi.API
	Config
	cursors  httpapi.CursorCodec
	decoding chan struct{} // holds one while an image is decoded: that takes up to 200 MB
}

// orders are the routes of work orders and of their links.
type orders struct {
	*api
	resource *httpapi.Resource[rimewatch.WorkOrder]
	mails    *httpapi.Limiter // per workspace
}

// reports are the routes of temperature logs.
type reports struct {
	*api
	jobs reportJobs
}

// Routes returns the routes of records.
func Routes(cfg Config) httpapi.Part {
	return func(frame *httpapi.API) []httpapi.Route {
		httpapi.Nullable[Doer](frame)
		httpapi.Nullable[OrderResult](frame)
		httpapi.Nullable[wire.Card](frame)
		a := &api{API: frame, Config: cfg, cursors: httpapi.CursorCodec{Key: cfg.CursorKey}, decoding: make(chan struct{}, 1)}
		o := &orders{api: a, mails: httpapi.NewLimiter(mailsPerMinute, mailBurst, "workspace")}
		r := &reports{api: a}
		return slices.Concat(a.recordRoutes(), a.caseRoutes(), a.roundRoutes(), a.checkRoutes(), o.routes(), o.linkRoutes(), r.routes(), a.standingRoutes(), a.logoRoutes())
	}
}
