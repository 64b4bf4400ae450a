package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/rimewatch/rimewatch/internal/config"
	"github.com/rimewatch/rimewatch/internal/demo"
)

type demoCmd struct {
	Listen string        `placeholder:"ADDR" help:"Address to listen on. Default: 127.0.0.1:8080, or a free port if that is in use."`
	Data   string        `placeholder:"DIR" env:"RIMEWATCH_DEMO_DATA" help:"Empty directory for the demo's data. Default: a temporary one that is removed on exit."`
	Every  time.Duration `default:"5s" placeholder:"D" help:"Interval between a device's readings, 1s to 60s."`
	Seed   uint64        `default:"1" placeholder:"N" help:"Random seed for the devices."`
}

// Help is shown by demo --help.
func (demoCmd) Help() string {
	return `Two sites and twelve refrigerators with two days of history, then live. Six of them are in trouble, and two people
are notified: what they receive and what they do is printed. It is an ordinary server, so you can try everything.`
}

const demoListen = "127.0.0.1:8080"

// Run shows the demo until the context ends.
func (c *demoCmd) Run(ctx context.Context, s streams) (err error) {
	if c.Every < time.Second || c.Every > time.Minute {
		return usagef("--every must be from 1s to 60s")
	}
	ignoreSIGPIPE()
	if !signal.Ignored(syscall.SIGHUP) { // as nohup has it
		var stop func()
		ctx, stop = signal.NotifyContext(ctx, syscall.SIGHUP) // its terminal was closed
		defer stop()
	}
	start := time.Now()
	logger, err := newLogger(s.err, "warn", "text")
	if err != nil {
		return err
	}
	serve, err := defaultSettings()
	if err != nil {
		return err
	}
	serve.Data, serve.Listen = c.Data, c.Listen
	if c.Listen == "" {
		serve.Listen = freeAddress(ctx, demoListen)
	}
	news := &newsPrinter{w: s.out}
	d, err := demo.Start(ctx, demo.Config{Serve: serve, Every: c.Every, Seed: c.Seed, Version: versionName(), Logger: logger, News: news.hear, GuardServices: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Stop()) }()
	if err := printBanner(s.out, d, c.Data, time.Since(start)); err != nil {
		return err
	}
	news.start()
	return d.Run(ctx)
}

// defaultSettings returns the settings of a server without any configuration.
func defaultSettings() (config.Serve, error) {
	var c struct{ config.Serve }
	k, err := newDefaults(&c)
	if err == nil {
		_, err = k.Parse(nil)
	}
	return c.Serve, err
}

// freeAddress is the address, or another port of its host when it is taken.
func freeAddress(ctx context.Context, address string) string {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err == nil {
		_ = l.Close()
		return address
	}
	if host, _, splitErr := net.SplitHostPort(address); splitErr == nil && errors.Is(err, syscall.EADDRINUSE) {
		return net.JoinHostPort(host, "0")
	}
	return address
}

const banner = `
  Rimewatch is running a demo: %s
  %d sites, %d refrigerators, %s past readings. Ready in %.1f s.

    Web         %s
    E-mail      %s
    Password    %s
    API token   %s

  Worth a look

%s
  Try

    curl -s -H "Authorization: Bearer %s" \
      %s/api/v1/alerts

  Connect something of your own: it waits beside the new probe %s,
  under Connect a device, until you accept it

    this shell  curl -d '{"id":"my-shell","temperature":4.2}' %s/in/%s
    your phone  %s/send#%s
%s
  Press Ctrl-C to stop.%s

`

func printBanner(w io.Writer, d *demo.Demo, data string, took time.Duration) error {
	troubles := ""
	for _, t := range d.Troubles {
		troubles += fmt.Sprintf("    %-9s   %s, %s: %s\n", t.Serial, t.Name, t.Site, t.Story)
	}
	end := " The demo's data will be removed."
	if data != "" {
		end = " To start it again: rimewatch serve --data " + data
	}
	_, err := fmt.Fprintf(w, banner, "Demo Market", d.Sites(), d.Devices(), grouped(d.Readings), took.Seconds(),
		d.URL, d.Email, d.Password, d.Token, troubles, d.Token, d.URL, demo.Newcomer, d.URL, d.Key, d.URL, d.Key, phoneHint(d.URL), end)
	return err
}

// phoneHint returns how a phone reaches a demo that only this computer reaches.
func phoneHint(address string) string {
	u, err := url.Parse(address)
	if err != nil || !net.ParseIP(u.Hostname()).IsLoopback() {
		return ""
	}
	return "                (a phone needs this computer's address in your network, and: rimewatch demo --listen :8080)\n"
}

// newsPrinter shows what the demo's people receive and what they do, once the
// banner stands.
type newsPrinter struct {
	w    io.Writer
	mu   sync.Mutex
	open bool
	held []string
}

func (p *newsPrinter) hear(n demo.News) {
	sign := "·"
	if n.Told {
		sign = "→"
	}
	line := fmt.Sprintf("  %s  %s %-18s %s\n", n.At.Format(time.TimeOnly), sign, n.Who, n.Text)
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.open {
		p.held = append(p.held, line)
		return
	}
	_, _ = io.WriteString(p.w, line)
}

// start prints what was held back, and from now on at once.
func (p *newsPrinter) start() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.open = true
	_, _ = io.WriteString(p.w, strings.Join(p.held, ""))
	p.held = nil
}

// grouped is a number with its thousands set apart.
func grouped(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
