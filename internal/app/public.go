package app

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"syscall"
	"time"

	"golang.org/x/crypto/acme"

	"github.com/rimewatch/rimewatch/internal/httpapi"
	"github.com/rimewatch/rimewatch/internal/httpapi/shortpath"
	"github.com/rimewatch/rimewatch/internal/httpapi/submit"
)

// Time limits of slow clients, besides those of httpapi.
const (
	readHeaderTimeout = 10 * time.Second
	idleTimeout       = 2 * time.Minute
	maxHeaderBytes    = 32 << 10
)

// publicServer takes in the requests of clients.
type publicServer struct {
	*shortpath.Server
	net.Listener
	scheme string
	drain  time.Duration
	log    *slog.Logger
}

// newPublicServer listens where the operator asks for it. reserved connections are
// left to others.
func newPublicServer(ctx context.Context, cfg *Config, e *encryption, reserved int, h http.Handler, single shortpath.Handler) (*publicServer, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", cfg.Listen)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("--listen %s: another program listens there, perhaps a second rimewatch; stop it, or choose another port: %w", cfg.Listen, err)
	case err != nil:
		return nil, err
	}
	l = shortpath.Bound(l, connectionLimit(descriptorLimit())-reserved)
	hs := &http.Server{
		Handler: h, ReadHeaderTimeout: readHeaderTimeout, ReadTimeout: httpapi.ReadTimeout, WriteTimeout: httpapi.WriteTimeout,
		IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeaderBytes,
		ErrorLog: slog.NewLogLogger(e.log.Handler(), slog.LevelDebug),
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			if shortpath.OverTLS(c) {
				return httpapi.OverTLS(ctx)
			}
			return ctx
		},
	}
	s := &publicServer{Server: shortpath.New(hs, submit.SinglePath, single, idleTimeout), Listener: l, scheme: "http", drain: cfg.DrainPeriod, log: e.log}
	c := e.public("http/1.1")
	if c == nil {
		return s, nil
	}
	if e.auto != nil {
		c.NextProtos = append(c.NextProtos, acme.ALPNProto)
	}
	s.Listener, s.scheme = tls.NewListener(l, c), "https"
	return s, nil
}

// serve takes requests in until stop.
func (s *publicServer) serve(failed chan<- error) {
	if err := s.Serve(s.Listener); !errors.Is(err, http.ErrServerClosed) {
		failed <- err
	}
}

// stop lets running requests end until ctx does.
func (s *publicServer) stop(ctx context.Context) error {
	err := s.Shutdown(ctx)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		// Requests slower than the drain period are cut off: nothing of theirs
		// was acknowledged, and one slow client is no reason to report a failure.
		s.log.Warn("requests were cut off at the end of the drain period", "period", s.drain)
		err = s.Server.Close()
	case err != nil:
		err = errors.Join(fmt.Errorf("drain: %w", err), s.Server.Close())
	}
	_ = s.Listener.Close() // where it never served
	return err
}

// url is the server's address for a browser on this machine.
func (s *publicServer) url() string {
	host, port, err := net.SplitHostPort(s.Addr().String())
	if err != nil {
		return s.scheme + "://" + s.Addr().String()
	}
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		host = "localhost"
	}
	return s.scheme + "://" + net.JoinHostPort(host, port)
}
