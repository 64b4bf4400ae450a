package app

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/rimewatch/rimewatch/internal/config"
)

// alivePatience is how long a server may take to answer that it lives.
const alivePatience = 5 * time.Second

// CheckAlive returns an error unless a server with these settings (Listen, TLSCert
// and TLSAuto) answers on this machine.
func CheckAlive(ctx context.Context, cfg *config.Serve) error {
	host, port, err := net.SplitHostPort(cfg.Listen)
	if err != nil {
		return err
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "localhost"
	}
	scheme := "http"
	// The certificate is for the server's public name, and nothing secret is sent.
	secure := &tls.Config{InsecureSkipVerify: true} //nolint:gosec // see above
	if cfg.TLSCert != "" || len(cfg.TLSAuto) > 0 {
		scheme = "https"
	}
	if len(cfg.TLSAuto) > 0 {
		secure.ServerName = cfg.TLSAuto[0] // it has a certificate for no other
	}
	ctx, cancel := context.WithTimeout(ctx, alivePatience)
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
	_ = answer.Body.Close()
	if answer.StatusCode >= 300 {
		return fmt.Errorf("the server answers %s", answer.Status)
	}
	return nil
}
