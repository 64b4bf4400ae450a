// Package app wires the service together: it alone knows all parts of it.
// The process is a library: New, Start, Stop, Addr.
package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/account"
	"github.com/rimewatch/rimewatch/internal/clock"
	"github.com/rimewatch/rimewatch/internal/config"
	"github.com/rimewatch/rimewatch/internal/event"
	"github.com/rimewatch/rimewatch/internal/httpapi"
	"github.com/rimewatch/rimewatch/internal/httpapi/accounts"
	"github.com/rimewatch/rimewatch/internal/httpapi/events"
	"github.com/rimewatch/rimewatch/internal/httpapi/export"
	"github.com/rimewatch/rimewatch/internal/httpapi/inlets"
	"github.com/rimewatch/rimewatch/internal/httpapi/manual"
	"github.com/rimewatch/rimewatch/internal/httpapi/mcp"
	"github.com/rimewatch/rimewatch/internal/httpapi/notifications"
	"github.com/rimewatch/rimewatch/internal/httpapi/records"
	sandboxes "github.com/rimewatch/rimewatch/internal/httpapi/sandbox"
	"github.com/rimewatch/rimewatch/internal/httpapi/submit"
	"github.com/rimewatch/rimewatch/internal/httpapi/v1"
	"github.com/rimewatch/rimewatch/internal/ingest"
	"github.com/rimewatch/rimewatch/internal/notify"
	"github.com/rimewatch/rimewatch/internal/notify/email"
	"github.com/rimewatch/rimewatch/internal/notify/outbound"
	"github.com/rimewatch/rimewatch/internal/realtime"
	"github.com/rimewatch/rimewatch/internal/report/gather"
	"github.com/rimewatch/rimewatch/internal/sandbox"
	"github.com/rimewatch/rimewatch/internal/source"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/webui"
	"github.com/rimewatch/rimewatch/internal/wire"
)

// Config of an App: the operator's settings and the dependencies that tests replace.
type Config struct {
	config.Serve
	Version string
	Logger  *slog.Logger     // nil = nothing is logged
	Now     func() time.Time // the service's time; nil = by Clock
	// Clock reads the machine's wall clock and its monotonic one; nil = those of
	// the machine we run on.
	Clock     func() clock.Machine
	Publisher ingest.Publisher // receives every commit; nil = none
	// GuardServices makes all HTTP clients of the process that name no transport
	// guarded ones: messaging services are refused without it.
	GuardServices bool
	Sandbox       sandbox.Units // makes the devices of sandboxes; nil = there are none
	Push          *http.Client  // reaches push services, with an error for answers other than 2xx; nil = guarded
	ACME          *http.Client  // reaches the authority of --tls-auto; nil = a client of its own
	// Reload yields when the operator wants certificates to be read again at once.
	Reload <-chan os.Signal

	part *part // the shard of a node; nil = the whole service
}

// App is one server.
type App struct {
	cfg      Config
	registry *prometheus.Registry
	log      *slog.Logger
	clock    *clock.Keeper // nil where the time is given
	Store    Store
	Accounts *account.Service
	Ingest   *ingest.Service
	Sources  *source.Service
	API      *httpapi.API
	Hub      *realtime.Hub
	Notify   *notify.Service
	feed     *event.Feed
	MQTT     mqttParts
	Sandbox  *sandbox.Service // nil = there are none

	reports  *gather.Gatherer
	mail     *email.Sender   // nil without a mail server
	guard    *outbound.Guard // of all connections to receivers
	readings *submit.Readings
	tls      *encryption                          // nil of a shard
	server   *publicServer                        // nil until Start
	release  func()                               // the lock of the data directory
	spawn    func(work func(ctx context.Context)) // runs work until Stop
	rounds   chan struct{}                        // wakes runRounds
	loaded   func()                               // ends the time in which the store is loaded
	cancel   context.CancelFunc
	workers  sync.WaitGroup
	failed   chan error
	stopOnce sync.Once
	stopErr  error
}

// New opens the store and puts the parts together. Nothing runs or listens yet.
func New(ctx context.Context, cfg Config) (_ *App, err error) {
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	var keeper *clock.Keeper
	if cfg.Now == nil {
		if cfg.Clock == nil {
			cfg.Clock = machineClock(time.Now())
		}
		keeper = clock.NewKeeper(cfg.Clock)
		cfg.Now = func() time.Time { return keeper.Now().Std() }
	}
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	run, cancel := context.WithCancel(context.Background())
	a := &App{cfg: cfg, log: cfg.Logger, clock: keeper, failed: make(chan error, 3), cancel: cancel, rounds: make(chan struct{}, 1)}
	a.spawn = func(work func(context.Context)) { a.workers.Go(func() { work(run) }) }
	defer func() {
		if err != nil {
			_ = a.Stop()
		}
	}()
	registry := prometheus.NewRegistry()
	a.registry = registry
	if err := a.open(ctx, registry); err != nil {
		return nil, err
	}
	// What the hub asks for comes to life after it; it asks when it runs.
	a.Hub = realtime.New(realtime.Config{
		Store: a.Store, Now: a.now, Log: cfg.Logger, Sockets: cfg.StreamLimit, Registerer: registry,
		Summary: func(workspaceID int64) wire.HealthSummary { return a.Ingest.Summary(workspaceID) },
		Valid: func(ctx context.Context, p account.Principal, now rimewatch.Time) error {
			return a.Accounts.Valid(ctx, p, now)
		},
	})
	if err = a.setMail(); err != nil {
		return nil, err
	}
	if err = a.setAccounts(); err != nil {
		return nil, err
	}
	if err := a.notifications(ctx); err != nil {
		return nil, err
	}
	a.feed = event.NewFeed(a.Store, a.log, a.Hub.Happened, a.Notify.Happened)
	publisher := publishers(publishers(a.Hub, both{waker{a.Notify}, teller{a.feed}}), cfg.Publisher)
	in := ingest.Config{Store: a.Store, Publisher: publisher, Now: cfg.Now, Logger: cfg.Logger, StateMemory: stateBudget(&cfg), ByHand: keeper == nil}
	if cfg.part != nil {
		in.ReadFirst, in.CheckpointInputs = readFirst, successorInputs
	}
	if keeper != nil {
		in.Clock = keeper
	}
	a.Ingest = ingest.New(in)
	a.reports = gather.New(gather.Config{Store: a.Store, Health: a.Ingest, Now: a.now, Version: cfg.Version})
	if a.API, err = a.api(ctx, registry); err != nil {
		return nil, err
	}
	return a, nil
}

// open opens the store, of a shard that of its node.
func (a *App) open(ctx context.Context, registry *prometheus.Registry) (err error) {
	if a.cfg.part != nil {
		a.loaded = func() {}
		a.Store = a.cfg.part.store
		return nil
	}
	if err := os.MkdirAll(a.cfg.Data, 0o750); err != nil {
		return fmt.Errorf("data directory: %w", err)
	}
	if a.release, err = lock(a.cfg.Data); err != nil {
		return err
	}
	a.loaded = collectLess()
	if a.tls, err = newEncryption(&a.cfg, a.log, a.cfg.Now); err != nil {
		return err
	}
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), a.tls)
	a.Store, err = openStore(ctx, &a.cfg, a.clock)
	return err
}

func (a *App) api(ctx context.Context, registry *prometheus.Registry) (*httpapi.API, error) {
	key, err := a.secret(ctx, "cursor")
	if err != nil {
		return nil, err
	}
	proxies, err := a.cfg.Proxies()
	if err != nil {
		return nil, err
	}
	var policies fs.FS
	if a.cfg.Policies != "" {
		if _, err := os.ReadDir(a.cfg.Policies); err != nil {
			return nil, fmt.Errorf("--policies: cannot read %s: name a directory of Markdown files, or leave the flag out for the built-in policies (%w)", a.cfg.Policies, err)
		}
		policies = os.DirFS(a.cfg.Policies)
	}
	ui, err := webui.New()
	if err != nil {
		return nil, err
	}
	settings := &store.SettingsCache{Load: a.Store.Workspace}
	sources := source.Config{Store: a.Store, Settings: settings, Writer: a.Ingest, Now: a.now, Log: a.log, Changed: func() { a.MQTT.Brokers.Changed() }}
	if a.clock != nil {
		sources.Clock = a.clock
	}
	if a.Sources, err = source.New(sources); err != nil {
		return nil, err
	}
	a.setMQTT()
	a.registerMetrics(registry)
	resources, err := v1.New(v1.Config{
		Accounts: places{a.Accounts, a.Notify.Changed}, Writer: writer{a.Ingest, a.Sources}, Health: a.Ingest, Predictor: a.Ingest,
		Fleet: a.Store, History: a.Store, Alerts: a.Store, Store: a.Store, Quotas: a.cfg.quotas(), Missed: a.Notify.Missed, Coverage: a.coverage, Escalation: a.escalation, CursorKey: key, PolicyDir: policies,
	})
	if err != nil {
		return nil, err
	}
	devices, err := a.devices(ctx)
	if err != nil {
		return nil, err
	}
	calls, err := a.calls(ctx)
	if err != nil {
		return nil, err
	}
	signOn, err := a.signOn(ctx)
	if err != nil {
		return nil, err
	}
	readings := submit.Config{Writer: a.Ingest, Waiting: a.Sources, Fleet: a.Store, History: a.Store}
	if a.clock != nil {
		readings.Clock = a.clock
	}
	a.readings = submit.New(readings)
	frame := httpapi.Config{
		Acts: func() store.Resource[rimewatch.Act] { return a.Store.Acts() }, Auth: a.Accounts, Settings: settings, Identify: a.Store.Identify, Streams: a.Hub, Now: a.now, Log: a.log, Version: a.cfg.Version, PublicURL: a.cfg.PublicURL, Address: a.Accounts.Address, Listen: a.cfg.Listen,
		RateLimit: a.cfg.RateLimit, AuthRateLimit: a.cfg.AuthRateLimit, TrustedProxies: proxies, Ready: a.ready, Loading: a.loading, Fallback: ui,
		Metrics: promhttp.HandlerFor(registry, promhttp.HandlerOpts{}), MetricsToken: a.cfg.MetricsToken, Registerer: registry,
	}
	if a.cfg.part != nil {
		frame.Serves, frame.TicketPrefix = a.cfg.part.holds, a.cfg.part.ticketPrefix
	}
	var tried sandboxes.Devices
	if a.cfg.Sandbox != nil && !a.cfg.NoSandbox {
		a.Sandbox = sandbox.New(sandbox.Config{Store: a.Store, Writer: a.Ingest, Units: a.cfg.Sandbox, Holds: a.holds(), Now: a.now, Log: a.log})
		tried = a.Sandbox
	}
	links, err := a.secret(ctx, linkKey)
	if err != nil {
		return nil, err
	}
	told := notifications.Config{Store: a.Store, Writer: a.Ingest, Sites: a.Accounts, Notifier: a.Notify, Coverage: a.coverage, Calls: a.called, Card: a.card, CursorKey: key, LinkKey: links}
	kept := records.Config{Store: a.Store, Logos: a.Store, Signers: a.Accounts, CursorKey: key, Writer: a.Ingest, Reports: a.reports, Health: a.Ingest, Sites: a.Accounts, Background: a.spawn, Notifier: a.Notify, Mail: a.Accounts, Card: a.card, LinkKey: links, Rounds: a.wakeRounds}
	api, err := httpapi.New(frame, resources.Routes, notifications.Routes(told), records.Routes(kept), events.Routes(events.Config{Store: a.Store, Notifier: a.Notify, CursorKey: key}), a.readings.Routes, accounts.Routes(a.Accounts, signOn), inlets.Routes(a.Sources, a.inletAddresses(key)), calls, devices, export.Routes(a.Store), sandboxes.Routes(a.Accounts, tried), mcp.Routes, manual.Routes)
	if err == nil {
		ui.Others = api.Offered
	}
	return api, err
}

// holds is which workspaces are those of a shard; nil = all.
func (a *App) holds() func(workspaceID int64) bool {
	if a.cfg.part == nil {
		return nil
	}
	return a.cfg.part.shard.Holds
}

// machineClock reads the clocks of the machine we run on.
func machineClock(start time.Time) func() clock.Machine {
	return func() clock.Machine {
		now := time.Now()
		return clock.Machine{Wall: rimewatch.TimeOf(now), Mono: rimewatch.Time(now.Sub(start).Milliseconds())}
	}
}

func (a *App) now() rimewatch.Time { return rimewatch.TimeOf(a.cfg.Now()) }

// Start recovers the state, listens and serves until Stop. When it returns nil,
// requests are answered.
func (a *App) Start(ctx context.Context) (err error) {
	defer func() {
		if err != nil {
			_ = a.Stop()
		}
	}()
	if err := a.begin(ctx); err != nil {
		return err
	}
	return a.listen(ctx)
}

// begin recovers the state and starts the work that needs no request.
func (a *App) begin(ctx context.Context) error {
	if err := a.Ingest.Start(ctx); err != nil {
		return err
	}
	a.Hub.Start()
	if err := a.feed.Begin(ctx); err != nil {
		return err
	}
	a.spawn(a.feed.Run)
	if err := a.Notify.Start(ctx); err != nil {
		return err
	}
	a.spawn(func(ctx context.Context) { a.Accounts.Run(ctx, a.now) })
	a.spawn(a.runWatchdog)
	a.spawn(a.runErasures)
	a.spawn(a.runActs)
	a.spawn(a.runRounds)
	a.spawn(a.Sources.Run)
	if a.Sandbox != nil {
		a.spawn(a.Sandbox.Run)
	}
	a.spawn(a.watchStore)
	a.MQTT.Brokers.Start()
	if p := a.cfg.part; p != nil && p.number == 0 {
		return a.sayCode(ctx)
	}
	return nil
}

// sayCode logs the code that the set-up page asks for, as long as nobody has set the
// service up.
func (a *App) sayCode(ctx context.Context) error {
	code, needed, err := a.Accounts.SetupCode(ctx)
	if err == nil && needed {
		a.log.Info("no user exists yet: open the web page and set the service up with this code", "code", code)
	}
	return err
}

// listen takes in requests.
func (a *App) listen(ctx context.Context) (err error) {
	if a.server, err = newPublicServer(ctx, &a.cfg, a.tls, a.mqttConnections(), a.API, a.readings); err != nil {
		return err
	}
	// After the port is ours, or the code would be that of an unreachable page. Before
	// anybody is served: a read that fails ends a start, and must not end a server.
	if err := a.sayCode(ctx); err != nil {
		return err
	}
	a.spawn(func(ctx context.Context) {
		select {
		case <-a.Ingest.Loaded():
		case <-ctx.Done():
			return
		}
		a.loaded()
		releaseAfterRecovery()
		if _, database := a.remote(); !database || a.cfg.Threads != 0 { // where a database commits, this process does not sync
			spareProcessor(a.cfg.Threads)
		}
		tuneMemory(ctx)
	})
	if err := a.startMQTT(ctx); err != nil {
		return err
	}
	a.spawn(a.tls.run)
	a.workers.Go(func() { a.server.serve(a.failed) })
	a.log.Info("serving", "url", a.URL(), "data", a.cfg.Data)
	return nil
}

// Addr is where the server listens, also when port 0 was asked for.
func (a *App) Addr() string { return a.server.Addr().String() }

// URL is the server's address for a browser on this machine.
func (a *App) URL() string {
	return a.server.url()
}

// Failed yields when the server stops by itself.
func (a *App) Failed() <-chan error { return a.failed }

// Stop drains: running requests end, waiting ones are committed, then everything
// closes, last in first out. It may be called more than once.
func (a *App) Stop() error {
	a.stopOnce.Do(func() { a.stopErr = a.stop() })
	return a.stopErr
}

func (a *App) stop() error {
	var errs []error
	if a.loaded != nil {
		a.loaded()
	}
	if a.server != nil {
		ctx, cancel := context.WithTimeout(context.Background(), a.cfg.DrainPeriod)
		a.Hub.Stop(ctx)
		errs = append(errs, a.server.stop(ctx))
		cancel()
	} else if a.cfg.part != nil && a.Hub != nil {
		a.DrainStreams()
	}
	a.stopMQTT()
	if a.Hub != nil {
		a.Hub.Stop(context.Background())
	}
	if a.Ingest != nil {
		done := a.limitWait()
		a.Ingest.Stop()
		done()
	}
	if a.Notify != nil {
		a.Notify.Stop()
		a.guard.Close()
	}
	a.cancel()
	a.workers.Wait()
	if a.Store != nil {
		errs = append(errs, a.Store.Close())
	}
	if a.release != nil {
		a.release()
	}
	return errors.Join(errs...)
}

// Run is New, Start, and Stop when ctx ends.
func Run(ctx context.Context, cfg Config) error {
	a, err := New(ctx, cfg)
	if err != nil {
		return unlessStopped(ctx, cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler)), err)
	}
	return serve(ctx, a, a.tls, cfg.Reload)
}

// unlessStopped returns why a start failed, nil where that is because it was to
// stop: then what was under way has been given up.
func unlessStopped(ctx context.Context, log *slog.Logger, err error) error {
	if ctx.Err() == nil {
		return err
	}
	log.Info("stopped before the start was complete", "at", err)
	return nil
}

// serve starts an App or a Node and stops it when ctx ends.
func serve(ctx context.Context, s interface {
	Start(ctx context.Context) error
	Stop() error
	Failed() <-chan error
}, e *encryption, reload <-chan os.Signal) error {
	if err := s.Start(ctx); err != nil {
		return unlessStopped(ctx, e.log, err)
	}
	for {
		select {
		case <-ctx.Done():
			e.log.Info("stopping")
			return s.Stop()
		case err := <-s.Failed():
			return errors.Join(err, s.Stop())
		case <-reload:
			e.reload()
		}
	}
}

// ready reports whether requests can be served.
func (a *App) ready(context.Context) error {
	if depth := a.Ingest.QueueDepth(); depth > readyQueue {
		return fmt.Errorf("%d inputs wait", depth)
	}
	return nil
}

const readyQueue = 150_000
