package httpapi

import (
	"context"
	"io/fs"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/account"
	"github.com/rimewatch/rimewatch/internal/health"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/wire"
)

// Authenticator finds who makes a request.
type Authenticator interface {
	Authenticate(ctx context.Context, token string, now rimewatch.Time) (account.Principal, error)
	AuthenticateSession(ctx context.Context, secret string, now rimewatch.Time) (account.Principal, error)
	Workspace(ctx context.Context, p account.Principal) (rimewatch.Workspace, error)
	// Valid tells whether a principal that was authenticated before still stands.
	Valid(ctx context.Context, p account.Principal, now rimewatch.Time) error
}

// Writer is the one write path of readings, heartbeats, devices and alerts.
// Every call returns only after what it did is durable, and its views already
// show it. CodeUnavailable means that nothing was stored and a retry is safe.
type Writer interface {
	// Submit stores readings. It sets each input's Outcome, the time of readings
	// without one, and the time of receipt. It keeps no reference to inputs after
	// it has returned nil.
	Submit(ctx context.Context, workspaceID int64, inputs []store.Input) error
	Heartbeat(ctx context.Context, workspaceID int64, serial string, hb rimewatch.Heartbeat) (rimewatch.DeviceView, error)
	CreateDevice(ctx context.Context, d *rimewatch.Device) (rimewatch.DeviceView, error)
	UpdateDevice(ctx context.Context, workspaceID int64, serial string, change func(*rimewatch.Device) error) (rimewatch.DeviceView, error)
	DeleteDevice(ctx context.Context, workspaceID int64, serial string) (rimewatch.DeviceView, error)
	Calibrate(ctx context.Context, workspaceID int64, serial string, c *rimewatch.Calibration, complete func(*rimewatch.Device) error) (rimewatch.DeviceView, error)
	// RefreshSettings makes the limits that workspaces have set those that their
	// devices are judged by.
	RefreshSettings(ctx context.Context) error
	Acknowledge(ctx context.Context, workspaceID, id int64, by, note string, expires time.Duration) (rimewatch.AlertView, error)
	ResolveAlert(ctx context.Context, workspaceID, id int64, by, note string) (rimewatch.AlertView, error)
	Feedback(ctx context.Context, workspaceID, id int64, by string, verdict rimewatch.Verdict, note string) (rimewatch.AlertView, error)
	NoteAlert(ctx context.Context, workspaceID, id int64, by, note string) (rimewatch.AlertView, error)
	// Maintenance is the window that a device is in, if it is in one.
	Maintenance(deviceID int64) (rimewatch.MaintenanceWindow, bool)
	CreateMaintenance(ctx context.Context, w *rimewatch.MaintenanceWindow) error
	EndMaintenance(ctx context.Context, workspaceID, id int64) (rimewatch.MaintenanceWindow, error)
	// SiteDeleted hears of a site after its deletion is stored.
	SiteDeleted(ctx context.Context, id int64) error
}

// Health answers questions about the health of a fleet and its devices.
type Health interface {
	Summary(workspaceID int64) wire.HealthSummary
	// DeviceHealth returns a score of 0–100 and what takes points from it.
	DeviceHealth(deviceID int64) (score float64, drivers []health.Driver)
	// DeviceCompliance returns the device's last 24 h.
	DeviceCompliance(deviceID int64) health.Compliance
	// OpenExcursions returns those that last: of one device, or of all (0).
	OpenExcursions(workspaceID, deviceID int64) []rimewatch.Excursion
}

// Fleet answers questions about devices.
type Fleet interface {
	Devices(ctx context.Context, workspaceID int64, f store.DeviceFilter, p store.Page) ([]rimewatch.DeviceView, int, error)
	Device(ctx context.Context, workspaceID int64, serial string) (rimewatch.DeviceView, error)
	Identify(workspaceID int64, serial []byte) *store.Identity
	Serials(ctx context.Context, workspaceID int64, ids []int64) (map[int64]string, error)
	DeviceByID(id int64) (rimewatch.DeviceView, bool)
	EachDevice(ctx context.Context, workspaceID int64, yield func(*rimewatch.DeviceView) error) error
}

// History answers questions about readings.
type History interface {
	Readings(ctx context.Context, q store.HistoryQuery, yield func(*rimewatch.Reading) error) error
	Buckets(ctx context.Context, q store.BucketQuery) ([]store.Bucket, error)
	ReadingAt(ctx context.Context, deviceID int64, at rimewatch.Time) (rimewatch.Reading, error)
}

// Alerts answers questions about alerts.
type Alerts interface {
	Alerts(ctx context.Context, workspaceID int64, f store.AlertFilter, p store.AlertPage) ([]rimewatch.AlertView, int, error)
	Alert(ctx context.Context, workspaceID, id int64) (rimewatch.AlertView, error)
	AlertCounts(ctx context.Context, workspaceID int64, since rimewatch.Time) (store.AlertCounts, error)
	AlertTransitions(ctx context.Context, workspaceID, alertID int64) ([]rimewatch.AlertTransition, error)
}

// Audit answers questions about the audit trail.
type Audit interface {
	AuditEntries(ctx context.Context, workspaceID int64, action, subject string, p store.Page) ([]rimewatch.AuditEntry, int, error)
	VerifyAudit(ctx context.Context, workspaceID int64) (int64, error)
}

// Maintenance answers questions about maintenance windows.
type Maintenance interface {
	MaintenanceWindow(ctx context.Context, workspaceID, id int64) (rimewatch.MaintenanceWindow, error)
	MaintenanceWindows(ctx context.Context, workspaceID int64, endAfter rimewatch.Time) ([]rimewatch.MaintenanceWindow, error)
}

// Config of an API. Auth, Accounts, Writer, Health, Predictor, Fleet, History, Alerts,
// Audit, Maintenance, Notifications, Records, Now and CursorKey are needed; everything else has a good zero value.
type Config struct {
	Auth          Authenticator
	Accounts      Accounts
	Writer        Writer
	Health        Health
	Fleet         Fleet
	History       History
	Alerts        Alerts
	Predictor     Predictor
	Audit         Audit
	Maintenance   Maintenance
	Notifications Notifications
	Notifier      Notifier // sends; nil = nothing is sent
	Records       Records
	Streams       Streams // nil: there is no real-time stream

	Now func() rimewatch.Time
	Log *slog.Logger

	// CursorKey keeps cursors from being forged. Nodes that share clients share
	// the key; a new one makes old cursors invalid.
	CursorKey [32]byte
	Version   string // of the service, shown in the descriptions
	PublicURL string // as people reach the service; "" = as the request says

	RateLimit     int // requests a minute per token, 0 = no limit
	AuthRateLimit int // failed authentications a minute per address, 0 = no limit

	TrustedProxies []netip.Prefix // whose X-Forwarded-For and X-Forwarded-Proto are believed

	PolicyDir    fs.FS                       // documents that replace the shipped ones; nil = none
	Ready        func(context.Context) error // tells whether requests can be served; nil = always
	Metrics      http.Handler                // serves /metrics to loopback and to holders of MetricsToken; nil = not served
	MetricsToken string
	Registerer   prometheus.Registerer // where request metrics are registered; nil = nowhere
	Fallback     http.Handler          // serves what is not the API's, such as the web UI; nil = 404
}

// API is the REST API. It is an http.Handler.
type API struct {
	cfg        Config
	mux        *http.ServeMux
	routes     []route
	doc        *huma.OpenAPI
	checker    checker
	ids        *idSource
	meter      *meter
	settings   settingsCache
	cursors    cursorCodec
	policies   *policySet
	ingest     *ingestRoutes
	spec       document
	streamSpec document // AsyncAPI

	tokenLimit   *limiter // requests per token or person
	deviceLimit  *limiter // heartbeats and single readings per device
	sendLimit    *limiter // messages sent by hand per workspace
	authFailures *account.FailureLimiter
	crossOrigin  *http.CrossOriginProtection
	bulk         *bulkSlots
	reports      chan struct{} // holds a place for each report in the making
	reportOf     sync.Map      // the same of each workspace, chan struct{} by id
	tickets      ticketBox
	secure       bool // the public URL is https
}

// How often a device may report: heartbeats and single readings together.
const (
	devicePerMinute = 120
	burst           = 1000
)

// New builds the API. It fails when a policy document or the public URL cannot
// be read.
func New(cfg Config) (*API, error) {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Notifier == nil {
		cfg.Notifier = noNotifier{}
	}
	policies, err := loadPolicies(cfg.PolicyDir)
	if err != nil {
		return nil, err
	}
	a := &API{
		cfg:          cfg,
		mux:          http.NewServeMux(),
		ids:          newIDSource(),
		meter:        newMeter(cfg.Registerer),
		cursors:      cursorCodec{key: cfg.CursorKey},
		policies:     policies,
		tokenLimit:   newLimiter(cfg.RateLimit, burst, "token"),
		deviceLimit:  newLimiter(devicePerMinute, burst, "device"),
		sendLimit:    newLimiter(sendPerMinute, sendBurst, "workspace"),
		authFailures: account.NewFailureLimiter(cfg.AuthRateLimit),
		crossOrigin:  http.NewCrossOriginProtection(),
		bulk:         newBulkSlots(),
		reports:      make(chan struct{}, reportsAtOnce),
	}
	a.settings.load = func(ctx context.Context, workspaceID int64) (rimewatch.Workspace, error) {
		return cfg.Auth.Workspace(ctx, account.Principal{WorkspaceID: workspaceID})
	}
	if cfg.PublicURL != "" {
		u, err := url.Parse(cfg.PublicURL)
		if err != nil {
			return nil, err
		}
		if err := a.crossOrigin.AddTrustedOrigin(u.Scheme + "://" + u.Host); err != nil {
			return nil, err
		}
		a.secure = u.Scheme == "https"
	}
	a.ingest = newIngestRoutes(a)
	a.register()
	return a, nil
}

// Prefix is where the API lives.
const Prefix = "/api"

// ServeHTTP answers one request. The two ingest routes take a short way past
// the router.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodPost && strings.HasPrefix(r.URL.Path, Prefix+"/v1/readings") {
		switch r.URL.Path {
		case Prefix + "/v1/readings":
			a.ingest.serveSingle(w, r)
			return
		case Prefix + "/v1/readings/batch":
			a.ingest.serveBatch(w, r)
			return
		}
	}
	a.serve(w, r)
}
