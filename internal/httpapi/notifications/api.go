package notifications

import (
	"context"
	"slices"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/httpapi"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/wire"
)

// Store keeps the rules of notifications, their deliveries, and alerts.
type Store interface {
	store.Alerts
	store.Fleet
	People() store.People
	Routing() store.Routing
	Outbox() store.Outbox
	Audit() store.Audit
}

// Writer plans work on devices. Every call returns only after its change is
// durable, and known to the devices.
type Writer interface {
	MaintenanceWindows() store.Resource[rimewatch.MaintenanceWindow]
	MaintenancePlans() store.Resource[rimewatch.MaintenancePlan]
	// Acknowledge acknowledges an alert: CodeAlertNotFound, CodeAlertNotActive.
	Acknowledge(ctx context.Context, workspaceID, id int64, by, note string, expires time.Duration) (rimewatch.AlertView, error)
}

// Config of the resources: everything but Notifier is needed.
type Config struct {
	Store    Store
	Writer   Writer
	Sites    httpapi.SiteFinder
	Notifier Notifier
	// Coverage finds where nobody would be notified of a critical alert that begins now. It
	// heeds store.WithSites.
	Coverage func(ctx context.Context, workspaceID, userID int64) (wire.Coverage, error)

	// Calls finds who would be notified of a critical alert that begins now at a site.
	Calls func(ctx context.Context, workspaceID int64, site *rimewatch.Site) ([]wire.Call, error)

	// Card writes a single alert for a page.
	Card func(ctx context.Context, v *rimewatch.AlertView, l rimewatch.Locale) (wire.Card, error)

	LinkKey   [32]byte // signs the links in messages
	CursorKey [32]byte // keeps cursors from being forged
}

// api are the dependencies of the routes.
type api struct {
	*httpapi.API
	Config
	cursors   httpapi.CursorCodec
	sendLimit *httpapi.Limiter // messages sent by hand per workspace
	channels  *httpapi.Resource[rimewatch.Channel]
}

// Routes returns the routes of notifications.
func Routes(cfg Config) httpapi.Part {
	return func(frame *httpapi.API) []httpapi.Route {
		httpapi.Nullable[DeliveryRoute](frame)
		httpapi.Nullable[QuietHours](frame)
		a := &api{API: frame, Config: cfg, cursors: httpapi.CursorCodec{Key: cfg.CursorKey}, sendLimit: httpapi.NewLimiter(sendPerMinute, sendBurst, "workspace")}
		return slices.Concat(a.maintenanceRoutes(), a.planRoutes(), a.channelRoutes(), a.routingRoutes(), a.silenceRoutes(), a.deliveryRoutes(), a.scheduleRoutes(), a.rotaRoutes(), a.coverageRoutes(), a.acknowledgementRoutes(), a.wayRoutes())
	}
}

// changed has the workspace's alerts planned again.
func (a *api) changed(ctx context.Context) { a.Notifier.Changed(httpapi.CallOf(ctx).Workspace()) }
