package notifications

import (
	"context"
	"slices"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/account"
	"github.com/rimewatch/rimewatch/internal/httpapi"
	"github.com/rimewatch/rimewatch/internal/store"
)

// Store keeps channels, routes, silences, maintenance windows and the log of
// deliveries.
type Store interface {
	channelStore
	routeStore
	silenceStore
	deliveryStore
	windowStore
}

// Writer plans work on devices. Every call returns only after what it did is
// durable.
type Writer interface {
	CreateMaintenance(ctx context.Context, w *rimewatch.MaintenanceWindow) error
	EndMaintenance(ctx context.Context, workspaceID, id int64) (rimewatch.MaintenanceWindow, error)
}

// Fleet names devices.
type Fleet interface {
	Identify(workspaceID int64, serial []byte) *store.Identity
	Serials(ctx context.Context, workspaceID int64, ids []int64) (map[int64]string, error)
}

// Alerts finds alerts.
type Alerts interface {
	Alert(ctx context.Context, workspaceID, id int64) (rimewatch.AlertView, error)
}

// Audit takes what no change says.
type Audit interface {
	AuditWorkspace(ctx context.Context, workspaceID int64, action, subject string, detail store.Fields) error
}

// Sites lists the sites of a workspace.
type Sites interface {
	Sites(ctx context.Context, p account.Principal) ([]rimewatch.Site, error)
}

// Config of the resources: everything but Notifier is needed.
type Config struct {
	Store    Store
	Writer   Writer
	Fleet    Fleet
	Alerts   Alerts
	Audit    Audit
	Sites    Sites
	Notifier Notifier // sends; nil = nothing is sent

	CursorKey [32]byte // keeps cursors from being forged
}

// api is what the routes share.
type api struct {
	*httpapi.API
	Config
	cursors   httpapi.CursorCodec
	sendLimit *httpapi.Limiter // messages sent by hand per workspace
}

// Routes returns the routes of notifications.
func Routes(cfg Config) httpapi.Part {
	if cfg.Notifier == nil {
		cfg.Notifier = noNotifier{}
	}
	return func(frame *httpapi.API) []httpapi.Route {
		httpapi.Nullable[DeliveryRoute](frame)
		httpapi.Nullable[QuietHours](frame)
		a := &api{frame, cfg, httpapi.CursorCodec{Key: cfg.CursorKey}, httpapi.NewLimiter(sendPerMinute, sendBurst, "workspace")}
		return slices.Concat(a.maintenanceRoutes(), a.channelRoutes(), a.routingRoutes(), a.silenceRoutes(), a.deliveryRoutes())
	}
}
