package app

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/crypto/acme"
	"golang.org/x/crypto/acme/autocert"
)

// tlsConfig is how connections are encrypted; nil where the operator does not ask
// for it. protocols are those that clients are offered.
func tlsConfig(cfg *Config, log *slog.Logger, protocols ...string) (*tls.Config, error) {
	base := &tls.Config{MinVersion: tls.VersionTLS12, NextProtos: protocols}
	switch {
	case cfg.TLSCert != "":
		pair, err := tls.LoadX509KeyPair(cfg.TLSCert, cfg.TLSKey)
		if err != nil {
			return nil, fmt.Errorf("TLS: %w", err)
		}
		base.Certificates = []tls.Certificate{pair}
	case len(cfg.TLSAuto) > 0:
		base.GetCertificate = newCertificates(cfg, log).get
	default:
		return nil, nil //nolint:nilnil // no TLS is a setting
	}
	return base, nil
}

// certificates get themselves from an ACME authority (RFC 8555), which asks for
// proof on the port that serves HTTPS (TLS-ALPN-01, RFC 8737): nothing else has to
// be open. The account's key and the certificates are kept in the data directory.
type certificates struct {
	manager autocert.Manager
	log     *slog.Logger
	now     func() time.Time

	mu     sync.Mutex
	warned time.Time
}

// warnEvery keeps strangers from filling the log by asking for a certificate that
// cannot be had.
const warnEvery = time.Minute

func newCertificates(cfg *Config, log *slog.Logger) *certificates {
	client := cfg.ACME
	if client == nil { // the process's transport refuses authorities of the private network
		client = &http.Client{Transport: &http.Transport{Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true, IdleConnTimeout: time.Minute, TLSHandshakeTimeout: 10 * time.Second}}
	}
	return &certificates{
		manager: autocert.Manager{
			Prompt:     autocert.AcceptTOS,
			Cache:      autocert.DirCache(filepath.Join(cfg.Data, "acme")),
			HostPolicy: autocert.HostWhitelist(cfg.TLSAuto...),
			Email:      cfg.TLSAutoEmail,
			Client:     &acme.Client{DirectoryURL: cmp.Or(cfg.TLSAutoDirectory, autocert.DefaultACMEDirectory), UserAgent: "rimewatch", HTTPClient: client},
		},
		log: log, now: cfg.Now,
	}
}

// get returns the certificate of the host that a client asks for.
func (c *certificates) get(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	cert, err := c.manager.GetCertificate(hello)
	if err != nil && c.manager.HostPolicy(hello.Context(), hello.ServerName) == nil {
		c.warn(hello.ServerName, err)
	}
	return cert, err
}

func (c *certificates) warn(domain string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := c.now(); now.Sub(c.warned) >= warnEvery {
		c.warned = now
		c.log.Warn("get a certificate: the authority must reach this service at port 443 of the domain", "domain", domain, "error", err)
	}
}

// clusterTLS is how nodes speak to each other, of both ends; nil without certificates.
// Each shows its own, which is read again for every connection, so that it can be
// replaced.
func clusterTLS(cfg *Config) (*tls.Config, error) {
	if cfg.ClusterCert == "" {
		return nil, nil //nolint:nilnil // no TLS is a setting
	}
	own := func() (*tls.Certificate, error) {
		pair, err := tls.LoadX509KeyPair(cfg.ClusterCert, cfg.ClusterKey)
		if err != nil {
			return nil, fmt.Errorf("--cluster-cert: %w", err)
		}
		return &pair, nil
	}
	if _, err := own(); err != nil {
		return nil, err
	}
	text, err := os.ReadFile(cfg.ClusterCA)
	if err != nil {
		return nil, fmt.Errorf("--cluster-ca: %w", err)
	}
	authority := x509.NewCertPool()
	if !authority.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("--cluster-ca: %s holds no certificate", cfg.ClusterCA)
	}
	return &tls.Config{
		MinVersion: tls.VersionTLS13, RootCAs: authority, ClientCAs: authority, ClientAuth: tls.RequireAndVerifyClientCert,
		GetCertificate:       func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return own() },
		GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return own() },
	}, nil
}
