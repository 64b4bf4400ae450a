package main

import (
	"context"
	"net"

	"github.com/rimewatch/rimewatch/internal/app"
	"github.com/rimewatch/rimewatch/internal/config"
)

type healthcheckCmd struct {
	Listen  string   `default:"127.0.0.1:8080" placeholder:"ADDR" help:"Address that the server listens on, as for serve."`
	TLSCert string   `name:"tls-cert" placeholder:"FILE" help:"Certificate of the server, if it has one: then it is asked over TLS."`
	TLSAuto []string `name:"tls-auto" placeholder:"DOMAIN" help:"Domain of a certificate that the server gets automatically, with the same effect."`
}

// Help is shown by healthcheck --help.
func (healthcheckCmd) Help() string {
	return `For containers, which have no other program to ask with: exits with 0 if the server on this machine answers, otherwise
with 1. It takes its settings from the environment of the server.`
}

// Run asks the server whether it lives.
func (c *healthcheckCmd) Run(ctx context.Context) error {
	if _, _, err := net.SplitHostPort(c.Listen); err != nil {
		return usagef("--listen %q: want HOST:PORT", c.Listen)
	}
	return app.CheckAlive(ctx, &config.Serve{Listen: c.Listen, TLSCert: c.TLSCert, TLSAuto: c.TLSAuto})
}
