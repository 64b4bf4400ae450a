package httpapi

import (
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/account"
	"github.com/rimewatch/rimewatch/internal/store"
)

// Authenticator finds who makes a request.
type Authenticator interface {
	Authenticate(ctx context.Context, token string, now rimewatch.Time) (account.Principal, error)
	AuthenticateSession(ctx context.Context, secret, slug string, now rimewatch.Time) (account.Principal, error)
	Workspace(ctx context.Context, p account.Principal) (rimewatch.Workspace, error)
	// Valid reports whether a principal that was authenticated before still stands.
	Valid(ctx context.Context, p account.Principal, now rimewatch.Time) error
	// WorkspaceOfSlug returns the workspace that has or had a slug: CodeNotFound.
	WorkspaceOfSlug(ctx context.Context, slug string) (int64, error)
	// Answers are those to requests with an Idempotency-Key.
	store.Answers
	// Refused records a request that was refused.
	Refused(ctx context.Context, p account.Principal, x account.Refusal, now rimewatch.Time)
	// Counts counts a request of a token that was not refused, and reports whether Called wants to know of it.
	Counts(p *account.Principal) bool
	// Called keeps a request of a token.
	Called(x rimewatch.TokenCall)
	// Member returns a member with the rights that the person has now: CodeForbidden.
	Member(ctx context.Context, workspaceID, userID int64) (account.Principal, error)
	// Person returns the person that a session is of.
	Person(ctx context.Context, p account.Principal) (rimewatch.User, error)
}

// Config of the frame. Auth, Identify and Now are needed; everything else has a
// good zero value.
type Config struct {
	Auth Authenticator
	// Settings of workspaces, which others may ask, too; nil = a cache of its own.
	Settings *store.SettingsCache
	// Identify returns the device that a serial names in a workspace, nil when
	// there is none.
	Identify func(workspaceID int64, serial []byte) *store.Identity
	Streams  Streams // nil: there is no real-time stream

	Now func() rimewatch.Time
	Log *slog.Logger

	Version   string // of the service, shown in the descriptions
	PublicURL string // as the operator says that people reach the service; "" = the operator does not
	// Address returns the address of the service for people, "" = not set; nil likewise.
	Address func(context.Context) string
	Listen  string // address at which the service listens, as the operator gave it

	RateLimit     int // requests a minute per token, 0 = no limit
	AuthRateLimit int // failed authentications a minute per address, 0 = no limit

	TrustedProxies []netip.Prefix // whose X-Forwarded-For and X-Forwarded-Proto are believed

	Ready func(context.Context) error // reports why requests cannot be served; nil = always ready
	// Loading reports whether the service has started a moment ago and does not know
	// all of a large fleet yet: readings are taken, other requests that need an account
	// are put off. It may wait for that to be over. nil = never.
	Loading      func(context.Context) bool
	Metrics      http.Handler // serves /metrics to loopback and to holders of MetricsToken; nil = not served
	MetricsToken string
	Registerer   prometheus.Registerer // where request metrics are registered; nil = nowhere
	Fallback     http.Handler          // serves other paths, such as those of the web UI; nil = 404

	// Acts keeps what people have asked for and may still take back; nil = nothing waits. Who
	// has the frame calls CarryOut when an act is due.
	Acts func() store.Resource[rimewatch.Act]

	// Serves reports whether requests of a workspace are answered here; nil = all are.
	Serves func(workspaceID int64) bool
	// TicketPrefix returns the beginning of tickets; nil = "".
	TicketPrefix func() string
}

// API is the frame of the REST API: it takes requests to the routes that it was
// built with. It is an http.Handler.
type API struct {
	cfg        Config
	mux        *http.ServeMux
	routes     []Route
	beside     []Route
	direct     map[string]http.HandlerFunc // POST, by path: they go past the router
	outside    map[string]bool             // first parts of paths that are ours without Prefix
	doc        *huma.OpenAPI
	aliases    []alias
	checker    checker
	ids        *idSource
	meter      *meter
	Settings   *store.SettingsCache // of workspaces
	spec       func() document
	streamSpec func() document // AsyncAPI

	tokenLimit   *Limiter                // requests per token or person
	DeviceLimit  *Limiter                // heartbeats and single readings per device
	AuthFailures *account.FailureLimiter // of tokens and keys
	// SignInFailures are those of people, who share an address with their devices: a
	// token that was revoked is no guess at a password.
	SignInFailures *account.FailureLimiter
	crossOrigin    *http.CrossOriginProtection
	bulk           *Places // for bodies over MaxSingleBody
	bodies         *Places // for those over promptBody
	tickets        ticketBox
	acts           sync.Mutex // held while an act is added
	keys           keys
	secure         bool   // the public URL is https
	sealed         string // host of the public URL when that is https, "" = it is not
}

// How often a device may report: heartbeats and single readings together.
const (
	devicePerMinute = 120
	burst           = 1000
)

// Part is a part of the API: it returns its routes. New calls it once; it may
// keep the frame.
type Part func(*API) []Route

// RegisterAtOnce is how many devices a request creates side by side: they share
// the commits of the group writer.
const RegisterAtOnce = 64

// New builds a frame with the routes of parts. It fails when the public URL
// cannot be read.
func New(cfg Config, parts ...Part) (*API, error) {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	a := &API{
		cfg:          cfg,
		mux:          http.NewServeMux(),
		direct:       make(map[string]http.HandlerFunc),
		outside:      make(map[string]bool),
		ids:          newIDSource(),
		meter:        newMeter(cfg.Registerer),
		tokenLimit:   NewLimiter(cfg.RateLimit, min(burst, cfg.RateLimit), "token"),
		DeviceLimit:  NewLimiter(devicePerMinute, burst, "device"),
		AuthFailures: account.NewFailureLimiter(cfg.AuthRateLimit),

		SignInFailures: account.NewFailureLimiter(cfg.AuthRateLimit),
		crossOrigin:    http.NewCrossOriginProtection(),
		bulk:           NewPlaces(bulkAll, bulkWorkspace, errManyBodies()),
		bodies:         NewPlaces(bodiesAll, bodiesWorkspace, errManyBodies()),
		keys:           newKeys(),
		aliases:        []alias{{reflect.TypeFor[rimewatch.Time](), reflect.TypeFor[wireTime]()}},
	}
	if cfg.PublicURL != "" {
		u, err := url.Parse(cfg.PublicURL)
		if err != nil {
			return nil, err
		}
		if err := a.crossOrigin.AddTrustedOrigin(u.Scheme + "://" + u.Host); err != nil {
			return nil, err
		}
		if a.secure = u.Scheme == "https"; a.secure {
			a.sealed = u.Host
		}
	}
	if a.Settings = cfg.Settings; a.Settings == nil {
		a.Settings = &store.SettingsCache{Load: func(ctx context.Context, workspaceID int64) (rimewatch.Workspace, error) {
			return cfg.Auth.Workspace(ctx, account.Principal{WorkspaceID: workspaceID})
		}}
	}
	var routes []Route
	for _, part := range parts {
		routes = append(routes, part(a)...)
	}
	a.register(slices.Concat(routes, a.streamRoutes(), a.actRoutes()))
	return a, nil
}

// Auth finds who makes a request.
func (a *API) Auth() Authenticator { return a.cfg.Auth }

// Now returns the time.
func (a *API) Now() rimewatch.Time { return a.cfg.Now() }

// Version returns the version of the service.
func (a *API) Version() string { return a.cfg.Version }

// Log is where failures are logged that callers do not see.
func (a *API) Log() *slog.Logger { return a.cfg.Log }

// Routes returns the route table.
func (a *API) Routes() []Route { return a.routes }

// Beside returns the handlers on the router that are not in the route table, by method and path.
func (a *API) Beside() []Route { return a.beside }

// Prefix is where the API lives.
const Prefix = "/api"

// ServeHTTP answers one request. Direct routes take a short way past the router. No
// handler gets at a body but by Body and BulkBody.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	r = seal(r)
	if r.Method == http.MethodPost {
		if serve := a.direct[strings.TrimSuffix(r.URL.Path, "/")]; serve != nil {
			serve(w, r)
			return
		}
	}
	a.serve(w, r)
}
