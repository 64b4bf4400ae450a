package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/mattn/go-isatty"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/client"
)

// remoteFlags name a server and the token for it.
type remoteFlags struct {
	URL   string `name:"url" default:"http://127.0.0.1:8080" placeholder:"URL" help:"URL of the server."`
	Token string `required:"" placeholder:"TOKEN" help:"API token. Prefer RIMEWATCH_TOKEN, which ps does not show."`
}

func (f *remoteFlags) connect() (*client.Client, error) {
	if !rimewatch.ValidToken(f.Token) {
		return nil, usagef("--token is not a valid Rimewatch token: it is mistyped or incomplete")
	}
	c, err := client.New(f.URL, f.Token, &client.Options{UserAgent: "rimewatch-cli/" + versionName(), Encoding: client.Gzip()})
	if err != nil {
		return nil, usageError{err}
	}
	return c, nil
}

// finishWithin bounds calls that are on their way when a command is stopped.
const finishWithin = 20 * time.Second

// lingering outlives ctx for a while, so that requests under way arrive.
func lingering(ctx context.Context) (context.Context, context.CancelFunc) {
	out, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(finishWithin, cancel) })
	return out, func() {
		stop()
		cancel()
	}
}

// progress shows how far something is: one line that changes on a terminal,
// elsewhere a line now and then.
type progress struct {
	w     io.Writer
	tty   bool
	next  time.Time
	dirty bool
}

const (
	terminalEvery = 500 * time.Millisecond
	plainEvery    = 10 * time.Second
)

func newProgress(w io.Writer) *progress {
	f, ok := w.(*os.File)
	p := &progress{w: w, tty: ok && isatty.IsTerminal(f.Fd())}
	if !p.tty {
		p.next = time.Now().Add(plainEvery)
	}
	return p
}

// due reports whether it is time for the next line.
func (p *progress) due() bool { return !time.Now().Before(p.next) }

func (p *progress) show(format string, args ...any) {
	line := fmt.Sprintf(format, args...)
	if p.tty {
		fmt.Fprintf(p.w, "\r\x1b[K%s", line)
		p.dirty = true
		p.next = time.Now().Add(terminalEvery)
		return
	}
	fmt.Fprintln(p.w, line)
	p.next = time.Now().Add(plainEvery)
}

// clear takes the changing line away.
func (p *progress) clear() {
	if p.dirty {
		fmt.Fprint(p.w, "\r\x1b[K")
		p.dirty = false
	}
}

// kindOf names a failed call in a summary.
func kindOf(err error) string {
	var e *rimewatch.Error
	switch {
	case errors.As(err, &e):
		return string(e.Code)
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return "cancelled"
	default:
		return "network"
	}
}
