package v1

import (
	"context"
	"io/fs"
	"slices"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/account"
	"github.com/rimewatch/rimewatch/internal/health"
	"github.com/rimewatch/rimewatch/internal/httpapi"
	"github.com/rimewatch/rimewatch/internal/limit"
	"github.com/rimewatch/rimewatch/internal/presence"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/wire"
)

// Writer is the one write path of heartbeats, devices and alerts.
// Every call returns only after what it did is durable, and its views already
// show it. CodeUnavailable means that nothing was stored and a retry is safe.
type Writer interface {
	Heartbeat(ctx context.Context, workspaceID int64, serial string, hb rimewatch.Heartbeat) (rimewatch.DeviceView, error)
	CreateDevice(ctx context.Context, d *rimewatch.Device) (rimewatch.DeviceView, error)
	UpdateDevice(ctx context.Context, workspaceID int64, serial string, change func(*rimewatch.Device) error) (rimewatch.DeviceView, error)
	DeleteDevice(ctx context.Context, workspaceID int64, serial string) (rimewatch.DeviceView, error)
	// RefreshSettings makes the limits that workspaces have set those that their
	// devices are judged by.
	RefreshSettings(ctx context.Context) error
	Acknowledge(ctx context.Context, workspaceID, id int64, by, note string, expires time.Duration) (rimewatch.AlertView, error)
	ResolveAlert(ctx context.Context, workspaceID, id int64, by, note string) (rimewatch.AlertView, error)
	Feedback(ctx context.Context, workspaceID, id int64, by string, verdict rimewatch.Verdict, note string) (rimewatch.AlertView, error)
	NoteAlert(ctx context.Context, workspaceID, id int64, by, note string) (rimewatch.AlertView, error)
	// Submit stores readings and sets their outcomes, as submit.Writer has it.
	Submit(ctx context.Context, inputs []store.Input, vitals []store.Vitals) error
	// Rehearse returns the changes of a device's recorded excursions that readings would cause.
	Rehearse(ctx context.Context, deviceID int64, brought store.Brought) ([]rimewatch.ExcursionChange, error)
	// Maintenance is the window that a device is in, if it is in one.
	Maintenance(deviceID int64) (rimewatch.MaintenanceWindow, bool)
	// SiteDeleted hears of a site after its deletion is stored.
	SiteDeleted(ctx context.Context, id int64) error
}

// Health answers questions about the health of a fleet and its devices.
type Health interface {
	Summary(workspaceID int64) wire.HealthSummary
	// SummaryOf is Summary of the devices of some sites.
	SummaryOf(workspaceID int64, sites rimewatch.Sites) wire.HealthSummary
	// DeviceHealth returns a score of 0–100 and what takes points from it.
	DeviceHealth(deviceID int64) (score float64, drivers []health.Driver)
	// DeviceCompliance returns the device's last 24 h.
	DeviceCompliance(deviceID int64) health.Compliance
	// DeviceExposure returns how long the device was out of limits in the last 24 h.
	DeviceExposure(deviceID int64) health.Exposure
	// DeviceZone returns the state of the product zone while no alert is raised.
	DeviceZone(deviceID int64) wire.ZoneState
	// DeviceSilence returns how long the device may keep silent, and why.
	DeviceSilence(deviceID int64) presence.Silence
	// DeviceClock returns how far the device's clock runs behind, 0 = nothing is known of that,
	// and whether its readings come from senders whose clocks differ.
	DeviceClock(deviceID int64) (behind rimewatch.Time, several bool)
}

// Alerts answers questions about alerts.
type Alerts interface {
	store.Alerts
	Outbox() store.Outbox
}

// Accounts keeps sites and the settings of the workspace.
type Accounts interface {
	httpapi.SiteFinder
	DeleteWorkspace(ctx context.Context, p account.Principal, name string, now rimewatch.Time) (rimewatch.Workspace, error)
	KeepWorkspace(ctx context.Context, p account.Principal, now rimewatch.Time) (rimewatch.Workspace, error)
	UpdateWorkspace(ctx context.Context, p account.Principal, patch account.WorkspacePatch, now rimewatch.Time) (rimewatch.Workspace, error)
}

// Store has the resources of a workspace.
type Store interface {
	Routing() store.Routing
	Records() store.Records
	Audit() store.Audit
	Contacts() store.Resource[rimewatch.Contact]
}

// Config of the resources: everything but PolicyDir and Missed is needed.
type Config struct {
	Accounts  Accounts
	Writer    Writer
	Health    Health
	Fleet     store.Fleet
	History   store.History
	Alerts    Alerts
	Predictor Predictor
	Store     Store
	Quotas    store.Quotas // which the store keeps
	// Missed counts the active critical alerts of a workspace that no route brings to
	// anybody, and those that nobody was notified of; nil = that is not known.
	Missed func(workspaceID int64) (unrouted, untold int)

	// Coverage finds where nobody would be notified of a critical alert that begins now. It
	// heeds store.WithSites.
	Coverage func(ctx context.Context, workspaceID, userID int64) (wire.Coverage, error)

	// Escalation finds who has been told of an alert and who is told next, nil once it is over.
	Escalation func(ctx context.Context, v *rimewatch.AlertView) (*wire.Escalation, error)

	// CursorKey keeps cursors from being forged. Nodes that share clients share
	// the key; a new one makes old cursors invalid.
	CursorKey [32]byte
	PolicyDir fs.FS // documents that replace the shipped ones; nil = none
}

// Resources are those of version 1, but for what other packages add: accounts,
// notifications, records and the reception of readings.
type Resources struct{ core }

// core are the common dependencies of the resources.
type core struct {
	*httpapi.API
	cfg       Config
	cursors   httpapi.CursorCodec
	policies  policySets
	importing *httpapi.Places // files of readings
}

// New prepares the resources. It fails when a policy document cannot be read.
func New(cfg Config) (*Resources, error) {
	policies, err := loadPolicies(cfg.PolicyDir)
	if err != nil {
		return nil, err
	}
	cfg.Writer = sitedWriter{cfg.Writer, cfg.Fleet, limit.ByKey(limit.PerHour(registrationsPerHour))}
	return &Resources{core{
		cfg:       cfg,
		cursors:   httpapi.CursorCodec{Key: cfg.CursorKey},
		policies:  policies,
		importing: httpapi.NewPlaces(importsAtOnce, importsOfWorkspace, rimewatch.Errorf(rimewatch.CodeRateLimited, "Too many large uploads at once.")),
	}}, nil
}

// Routes is the route table: everything about a route is said in its row. The
// resources keep the frame.
func (r *Resources) Routes(frame *httpapi.API) []httpapi.Route {
	a := &r.core
	a.API = frame
	describe(frame)
	return slices.Concat(
		devices{a}.deviceRoutes(), devices{a}.importRoutes(), readings{a}.readingRoutes(), alerts{a}.alertRoutes(), devices{a}.predictionRoutes(), alerts{a}.auditRoutes(),
		workspaces{a}.workspaceRoutes(), workspaces{a}.siteRoutes(), workspaces{a}.contactRoutes(), workspaces{a}.policyRoutes(), []httpapi.Route{workspaces{a}.statusRoute()},
	)
}

// The resources. Each has its routes and what answers them; what several need
// belongs to core.
type (
	devices    struct{ *core }
	readings   struct{ *core }
	alerts     struct{ *core }
	workspaces struct{ *core }
)
