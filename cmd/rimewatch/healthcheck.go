package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"time"
)

// healthPatience is how long a server may take to answer that it lives.
const healthPatience = 5 * time.Second

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
	host, port, err := net.SplitHostPort(c.Listen)
	if err != nil {
		return usagef("--listen %q: want HOST:PORT", c.Listen)
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "localhost"
	}
	scheme := "http"
	// The certificate is for the server's public name, and nothing secret is sent.
	secure := &tls.Config{InsecureSkipVerify: true} //nolint:gosec // see above
	if c.TLSCert != "" || len(c.TLSAuto) > 0 {
		scheme = "https"
		if len(c.TLSAuto) > 0 {
			secure.ServerName = c.TLSAuto[0] // it has a certificate for no other
		}
	}
	ctx, cancel := context.WithTimeout(ctx, healthPatience)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, scheme+"://"+net.JoinHostPort(host, port)+"/healthz", http.NoBody)
	if err != nil {
		return err
	}
	client := http.Client{Transport: &http.Transport{TLSClientConfig: secure, DisableKeepAlives: true}}
	answer, err := client.Do(r)
	if err != nil {
		return fmt.Errorf("the server does not answer: %w", err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("the server answers %s", answer.Status)
	}
	return nil
}
