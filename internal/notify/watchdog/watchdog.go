// Package watchdog is a dead man's switch: while all is well, an outside service
// is called again and again. When the calls stop, whatever the reason (this
// server, its power, its network), that service notifies people.
package watchdog

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/rimewatch/rimewatch/internal/notify/outbound"
	"github.com/rimewatch/rimewatch/internal/ticker"
)

// Config of a Dog.
type Config struct {
	URL      string
	Interval time.Duration
	Guard    *outbound.Guard
	// Well returns what is wrong, nil = nothing.
	Well   func() error
	Logger *slog.Logger
}

// Dog calls the outside service.
type Dog struct {
	cfg    Config
	client *http.Client
	quiet  bool // the last call was left out or failed
}

// New makes a dog; Run lets it loose.
func New(cfg Config) *Dog { return &Dog{cfg: cfg, client: cfg.Guard.Client()} }

// Run calls at once and then every interval until ctx ends.
func (d *Dog) Run(ctx context.Context) {
	d.turn(ctx)
	for range ticker.Every(ctx.Done(), d.cfg.Interval, nil) {
		d.turn(ctx)
	}
}

// turn calls if all is well, and logs where that changes.
func (d *Dog) turn(ctx context.Context) {
	why := "not well"
	err := d.cfg.Well()
	if err == nil {
		if err = d.call(ctx); err != nil {
			err = outbound.Failure(err) // the URL is a secret
		}
		why = "the call failed"
	}
	switch {
	case err != nil && ctx.Err() == nil && !d.quiet:
		d.cfg.Logger.Error("the watchdog is not called: "+why, "err", err)
	case err == nil && d.quiet:
		d.cfg.Logger.Info("the watchdog is called again")
	}
	d.quiet = err != nil
}

func (d *Dog) call(ctx context.Context) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, d.cfg.URL, nil)
	if err != nil {
		return err
	}
	resp, err := d.client.Do(r) //nolint:bodyclose // Drain closes it
	if err != nil {
		return err
	}
	return outbound.Drain(resp)
}
