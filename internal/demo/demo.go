package demo

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/client"
	"github.com/rimewatch/rimewatch/internal/account"
	"github.com/rimewatch/rimewatch/internal/app"
	"github.com/rimewatch/rimewatch/internal/config"
)

// Config of a demo. Serve's data directory may be empty: then it is a temporary
// one that is removed at the end.
type Config struct {
	config.Serve
	Every   time.Duration // between live readings of a device, 1–60 s; default 5 s
	Seed    uint64        // of the devices' fates
	Version string
	Logger  *slog.Logger
	News    func(News)       // hears of messages to people and of what they do, from several goroutines; nil = nobody
	Now     func() time.Time // of the service, and when the past ends; nil = the machine's
	// GuardServices is that of app.Config.
	GuardServices bool
}

// Demo is a running demo.
type Demo struct {
	URL      string
	Email    string
	Password string
	Token    string // full access
	Key      string // of the source for what whoever watches connects
	Readings int    // of the past
	Troubles []Trouble

	cfg         Config
	app         *app.App
	client      *client.Client
	board       http.Client
	deviceToken string
	residents   []*resident
	temporary   string // directory to remove at the end
	workspaceID int64
	shift       *shift
}

// Trouble is a device that people should look at.
type Trouble struct {
	Serial, Name, Site, Story string
}

// Sites and Devices are the size of the market.
func (*Demo) Sites() int { return len(places) }

// Devices returns the devices; see Sites.
func (*Demo) Devices() int { return len(fixtures) }

// Start brings a demo up with its past. When it returns, the service answers
// and knows everything until now. Call Stop in the end.
func Start(ctx context.Context, cfg Config) (_ *Demo, err error) {
	if cfg.Every == 0 {
		cfg.Every = 5 * time.Second
	}
	if cfg.Every < time.Second || cfg.Every > time.Minute {
		return nil, fmt.Errorf("the interval between readings, %v, must be from 1 s to 60 s", cfg.Every)
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	d := &Demo{cfg: cfg, Email: ownerEmail, board: http.Client{Transport: new(http.Transport)}}
	defer func() {
		if err != nil {
			_ = d.Stop()
		}
	}()
	if err := d.prepareData(); err != nil {
		return nil, err
	}
	if d.shift, err = newShift(ctx, cfg.News); err != nil {
		return nil, err
	}
	d.cfg.OutboundAllow = append(d.cfg.OutboundAllow, "127.0.0.0/8")
	if d.app, err = app.New(ctx, app.Config{Serve: d.cfg.Serve, Version: cfg.Version, Logger: cfg.Logger, Now: cfg.Now, GuardServices: cfg.GuardServices}); err != nil {
		return nil, err
	}
	sites, err := d.people(ctx)
	if err != nil {
		return nil, fmt.Errorf("set up the demo: %w", err)
	}
	if err := d.app.Start(ctx); err != nil {
		return nil, err
	}
	d.URL = d.app.URL()
	if d.client, err = client.New(d.URL, d.deviceToken, &client.Options{UserAgent: "rimewatch-demo"}); err != nil {
		return nil, err
	}
	if err := d.moveIn(ctx, sites); err != nil {
		return nil, fmt.Errorf("set up the demo: %w", err)
	}
	own := rimewatch.Source{WorkspaceID: d.workspaceID, Kind: rimewatch.SourcePush, Name: "Shell and phone", Enabled: true}
	if d.Key, err = d.app.Sources.Create(ctx, &own); err != nil {
		return nil, fmt.Errorf("set up the demo: %w", err)
	}
	if err := d.waiting(ctx, d.now()); err != nil {
		return nil, fmt.Errorf("set up the demo: %w", err)
	}
	if err := d.rounds(ctx); err != nil {
		return nil, fmt.Errorf("set up the demo: %w", err)
	}
	if err := d.paperwork(ctx); err != nil {
		return nil, fmt.Errorf("set up the demo: %w", err)
	}
	return d, nil
}

func (d *Demo) now() rimewatch.Time {
	if d.cfg.Now != nil {
		return rimewatch.TimeOf(d.cfg.Now())
	}
	return rimewatch.TimeOf(time.Now())
}

// prepareData finds or makes an empty directory.
func (d *Demo) prepareData() (err error) {
	if d.cfg.Data == "" {
		d.temporary, err = os.MkdirTemp("", "rimewatch-demo-")
		d.cfg.Data = d.temporary
		return err
	}
	entries, err := os.ReadDir(d.cfg.Data)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil && len(entries) > 0 {
		return fmt.Errorf("%s is not empty, but a demo needs an empty directory (rimewatch serve --data %s starts what is there)", d.cfg.Data, filepath.Clean(d.cfg.Data))
	}
	return err
}

// people makes workspace, owner, token and sites; it returns the sites' ids.
func (d *Demo) people(ctx context.Context) (sites []int64, err error) {
	accounts := d.app.Accounts
	now := d.now()
	w, err := accounts.FindWorkspace(ctx, workspaceName, true, now)
	if err != nil {
		return nil, err
	}
	d.workspaceID = w.ID
	operator := account.Operator(w.ID)
	zone, require := timeZone, rimewatch.RequireCritical
	if _, err := accounts.UpdateWorkspace(ctx, operator, account.WorkspacePatch{TimeZone: &zone, RequireAction: &require}, now); err != nil {
		return nil, err
	}
	d.Password = strings.ToLower(rand.Text()[:12])
	owner := account.UserRequest{Email: ownerEmail, Name: "Demo", Password: d.Password, Role: rimewatch.RoleOwner}
	if _, err := accounts.AddUser(ctx, w.ID, owner, now); err != nil {
		return nil, err
	}
	if _, d.Token, err = accounts.CreateToken(ctx, operator, account.TokenRequest{Name: "Demo"}, now); err != nil {
		return nil, err
	}
	devices := account.TokenRequest{Name: "Demo devices", Scopes: rimewatch.ScopeDevicesWrite | rimewatch.ScopeReadingsWrite}
	if _, d.deviceToken, err = accounts.CreateToken(ctx, operator, devices, now); err != nil {
		return nil, err
	}
	for _, p := range places {
		site := rimewatch.Site{WorkspaceID: operator.WorkspaceID, Name: p.name, TimeZone: timeZone, Address: p.address, CreatedAt: now, UpdatedAt: now}
		if err := accounts.Sites(operator).Create(ctx, &site); err != nil {
			return nil, err
		}
		sites = append(sites, site.ID)
		firm := rimewatch.Contact{
			WorkspaceID: operator.WorkspaceID, SiteID: site.ID, Name: "Rosa Marín", Company: "Polar Service", Role: "Refrigeration service", Phone: "+1 555 0142",
			Note: "Contract 4711, day and night", CreatedAt: now, UpdatedAt: now,
		}
		if err := d.app.Store.Contacts().Create(ctx, &firm); err != nil {
			return nil, err
		}
	}
	return sites, d.hire(ctx, w.ID, now)
}

// Run lets the devices report until ctx ends or the server fails.
func (d *Demo) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	var devices sync.WaitGroup
	devices.Go(func() { d.live(ctx) })
	devices.Go(func() { d.act(ctx) })
	devices.Go(func() { d.arrive(ctx) })
	defer devices.Wait()
	defer cancel()
	select {
	case err := <-d.app.Failed():
		return err
	case <-ctx.Done():
		return nil
	}
}

// Stop ends the server and removes what was temporary.
func (d *Demo) Stop() error {
	var err error
	if d.app != nil {
		err = d.app.Stop()
	}
	if d.shift != nil {
		d.shift.close()
	}
	if d.temporary != "" {
		err = errors.Join(err, os.RemoveAll(d.temporary))
	}
	return err
}
