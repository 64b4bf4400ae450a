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
	"time"

	"golang.org/x/crypto/acme"
	"golang.org/x/crypto/acme/autocert"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/config"
	"github.com/rimewatch/rimewatch/internal/limit"
)

// encryption is how the connections of a process are encrypted, and the certificates
// that it shows.
type encryption struct {
	cfg       *config.Serve
	log       *slog.Logger
	now       func() time.Time
	own       *keyPair       // --tls-cert, or nil
	auto      *certificates  // --tls-auto, or nil
	peers     *keyPair       // --cluster-cert, or nil
	authority *x509.CertPool // of the peers
}

// newEncryption fails where files cannot be used.
func newEncryption(cfg *Config, log *slog.Logger, now func() time.Time) (e *encryption, err error) {
	e = &encryption{cfg: &cfg.Serve, log: log, now: now}
	switch {
	case cfg.TLSCert != "":
		if e.own, err = newKeyPair("tls-cert", cfg.TLSCert, cfg.TLSKey, log, now); err != nil {
			return nil, err
		}
	case len(cfg.TLSAuto) > 0:
		e.auto = newCertificates(cfg, log, now)
	}
	if cfg.ClusterCert == "" {
		return e, nil
	}
	if e.peers, err = newKeyPair("cluster-cert", cfg.ClusterCert, cfg.ClusterKey, log, now); err != nil {
		return nil, err
	}
	text, err := os.ReadFile(cfg.ClusterCA)
	if err != nil {
		return nil, fmt.Errorf("--cluster-ca: %w", err)
	}
	e.authority = x509.NewCertPool()
	if !e.authority.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("--cluster-ca: %s holds no certificate", cfg.ClusterCA)
	}
	return e, nil
}

// public is how connections of clients are encrypted; nil where the operator does not
// ask for it. protocols are those that clients are offered.
func (e *encryption) public(protocols ...string) *tls.Config {
	c := &tls.Config{MinVersion: tls.VersionTLS12, NextProtos: protocols}
	switch {
	case e.own != nil:
		c.GetCertificate = func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return e.own.get() }
	case e.auto != nil:
		c.GetCertificate = e.auto.get
	default:
		return nil
	}
	return c
}

// between is how nodes speak to each other, of both ends; nil without certificates.
func (e *encryption) between() *tls.Config {
	if e.peers == nil {
		return nil
	}
	return &tls.Config{
		MinVersion: tls.VersionTLS13, RootCAs: e.authority, ClientCAs: e.authority, ClientAuth: tls.RequireAndVerifyClientCert,
		GetCertificate:       func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return e.peers.get() },
		GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return e.peers.get() },
	}
}

// certificates get themselves from an ACME authority (RFC 8555), which asks for
// proof on the port that serves HTTPS (TLS-ALPN-01, RFC 8737): nothing else has to
// be open. The account's key and the certificates are kept in the data directory.
type certificates struct {
	manager autocert.Manager
	log     *slog.Logger
	now     func() time.Time

	warned limit.Gate
}

// warnEvery keeps strangers from filling the log by asking for a certificate that
// cannot be had.
const warnEvery = time.Minute

func newCertificates(cfg *Config, log *slog.Logger, now func() time.Time) *certificates {
	client := cfg.ACME
	if client == nil { // the process's transport refuses authorities of the private network
		client = &http.Client{Transport: &http.Transport{Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true, IdleConnTimeout: time.Minute, TLSHandshakeTimeout: 10 * time.Second}}
	}
	return &certificates{
		manager: autocert.Manager{
			Prompt:     autocert.AcceptTOS,
			Cache:      acmeCache(&cfg.Serve),
			HostPolicy: autocert.HostWhitelist(cfg.TLSAuto...),
			Email:      cfg.TLSAutoEmail,
			Client:     &acme.Client{DirectoryURL: cmp.Or(cfg.TLSAutoDirectory, autocert.DefaultACMEDirectory), UserAgent: "rimewatch", HTTPClient: client},
		},
		log: log, now: now,
	}
}

func acmeCache(c *config.Serve) autocert.DirCache {
	return autocert.DirCache(filepath.Join(c.Data, "acme"))
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
	if _, ok := c.warned.Pass(rimewatch.TimeOf(c.now()), warnEvery); ok {
		c.log.Warn("get a certificate: the authority must reach this service at port 443 of the domain", "domain", domain, "error", err)
	}
}
