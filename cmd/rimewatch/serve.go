package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/rimewatch/rimewatch/internal/app"
	"github.com/rimewatch/rimewatch/internal/config"
)

type serveCmd struct {
	config.Serve
}

// Help is shown by serve --help.
func (serveCmd) Help() string {
	return `Keeps everything in one directory and needs nothing else. The first start creates the directory and logs a
code with which the web page sets the service up. SIGTERM and Ctrl-C finish what is running and exit with 0; a
second one ends at once. Whatever was acknowledged also survives a kill or a power cut. SIGHUP reloads
certificates, which also happens automatically, and logs whether they can be used.

  rimewatch serve --data /var/lib/rimewatch --listen 0.0.0.0:8080`
}

// Run serves until the context ends.
func (c *serveCmd) Run(ctx context.Context, s streams) error {
	if err := c.Validate(); err != nil {
		return usageError{err}
	}
	ignoreSIGPIPE()
	logger, err := newLogger(s.err, c.LogLevel, c.LogFormat)
	if err != nil {
		return err
	}
	reload := make(chan os.Signal, 1)
	signal.Notify(reload, syscall.SIGHUP)
	defer signal.Stop(reload)
	cfg := app.Config{Serve: c.Serve, Version: versionName(), Logger: logger, GuardServices: true, Reload: reload, Sandbox: simulated}
	if c.ClusterListen != "" {
		return app.RunNode(ctx, cfg)
	}
	return app.Run(ctx, cfg)
}

// ignoreSIGPIPE keeps a server alive when the reader of its output goes
// away.
func ignoreSIGPIPE() { signal.Ignore(syscall.SIGPIPE) }

func newLogger(w io.Writer, level, format string) (*slog.Logger, error) {
	var least slog.Level
	if err := least.UnmarshalText([]byte(level)); err != nil {
		return nil, usagef("--log-level %q: %w", level, err)
	}
	o := &slog.HandlerOptions{Level: least}
	switch format {
	case "text":
		return slog.New(slog.NewTextHandler(w, o)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(w, o)), nil
	default:
		return nil, usagef("--log-format %q: must be text or json", format)
	}
}

type versionCmd struct{}

// Run prints the version.
func (versionCmd) Run(s streams) error {
	_, err := fmt.Fprintln(s.out, versionText())
	return err
}
