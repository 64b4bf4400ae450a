package app

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/config"
	"github.com/rimewatch/rimewatch/internal/limit"
	"github.com/rimewatch/rimewatch/internal/ticker"
)

// keyPair is a certificate that the operator keeps in files, with its key. They are
// read again for each connection: to renew it, only put the new one in its
// place. While the files cannot be used, because only one of them has been replaced
// yet, the certificate before is shown.
type keyPair struct {
	flag      string
	cert, key string
	log       *slog.Logger
	now       func() time.Time

	mu     sync.Mutex
	texts  [2][]byte // of the files when they were last read
	pair   *tls.Certificate
	err    error // why it is not that of texts
	warned limit.Gate
}

// newKeyPair fails where the files cannot be used.
func newKeyPair(flag, cert, key string, log *slog.Logger, now func() time.Time) (*keyPair, error) {
	k := &keyPair{flag: flag, cert: cert, key: key, log: log, now: now}
	if _, err := k.read(); err != nil {
		return nil, err
	}
	return k, nil
}

// read returns the certificate that is to be shown, and an error where that is not
// the files.
func (k *keyPair) read() (*tls.Certificate, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	var texts [2][]byte
	for i, name := range []string{k.cert, k.key} {
		text, err := os.ReadFile(name)
		if err != nil {
			return k.pair, fmt.Errorf("--%s: %w", k.flag, err)
		}
		texts[i] = text
	}
	if bytes.Equal(texts[0], k.texts[0]) && bytes.Equal(texts[1], k.texts[1]) {
		return k.pair, k.err
	}
	k.texts = texts
	pair, err := tls.X509KeyPair(texts[0], texts[1])
	if err != nil {
		k.err = fmt.Errorf("--%s: %w", k.flag, err)
		return k.pair, k.err
	}
	if k.pair != nil {
		k.log.Info("a renewed certificate is in use", "certificate", k.flag, "until", pair.Leaf.NotAfter)
	}
	k.pair, k.err = &pair, nil
	return k.pair, nil
}

// get returns the certificate for a connection.
func (k *keyPair) get() (*tls.Certificate, error) {
	pair, err := k.read()
	if err != nil {
		k.warn(err)
	}
	return pair, nil
}

// warn does not fill the log, however many connections there are.
func (k *keyPair) warn(err error) {
	if _, ok := k.warned.Pass(rimewatch.TimeOf(k.now()), warnEvery); ok {
		k.log.Warn("the files of a certificate cannot be used: the one before stays", "error", err)
	}
}

// Certificate is one that a server shows.
type Certificate struct {
	Name        string // its flag, or the domain that it was got for
	From, Until time.Time
	Err         error // why it is not known until when
}

// soonest is how long before its end a certificate should have been renewed; one that
// lasts for weeks, by a sixth of its life before.
const soonest = 14 * 24 * time.Hour

// Soon reports whether a certificate should have been renewed by now.
func (c *Certificate) Soon(now time.Time) bool {
	return c.Until.Sub(now) < min(soonest, c.Until.Sub(c.From)/6)
}

func certificateOf(name string, leaf *x509.Certificate) Certificate {
	return Certificate{Name: name, From: leaf.NotBefore, Until: leaf.NotAfter}
}

// Certificates yields those that a server of these settings would show now.
func Certificates(ctx context.Context, c *config.Serve) iter.Seq[Certificate] {
	return func(yield func(Certificate) bool) {
		for _, f := range [][3]string{{"tls-cert", c.TLSCert, c.TLSKey}, {"cluster-cert", c.ClusterCert, c.ClusterKey}} {
			if f[1] == "" {
				continue
			}
			one := Certificate{Name: f[0]}
			if k, err := newKeyPair(f[0], f[1], f[2], nil, nil); err != nil {
				one.Err = err
			} else {
				one = certificateOf(f[0], k.pair.Leaf)
			}
			if !yield(one) {
				return
			}
		}
		for one := range gotten(ctx, c) {
			if !yield(one) {
				return
			}
		}
	}
}

// gotten yields the certificates that --tls-auto has got so far.
func gotten(ctx context.Context, c *config.Serve) iter.Seq[Certificate] {
	return func(yield func(Certificate) bool) {
		for _, domain := range c.TLSAuto {
			text, err := acmeCache(c).Get(ctx, domain)
			if err != nil {
				continue // none yet: who asks for it hears why
			}
			one := Certificate{Name: domain}
			if leaf, err := firstCertificate(text); err != nil {
				one.Err = err
			} else {
				one = certificateOf(domain, leaf)
			}
			if !yield(one) {
				return
			}
		}
	}
}

func firstCertificate(text []byte) (*x509.Certificate, error) {
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		if block.Type == "CERTIFICATE" {
			return x509.ParseCertificate(block.Bytes)
		}
	}
	return nil, errors.New("there is no certificate in the file")
}

// shown yields the certificates that are in use.
func (e *encryption) shown() iter.Seq[Certificate] {
	return func(yield func(Certificate) bool) {
		for _, k := range e.pairs() {
			pair, _ := k.get() // it never fails once it was read
			if !yield(certificateOf(k.flag, pair.Leaf)) {
				return
			}
		}
		for one := range gotten(context.Background(), e.cfg) {
			if one.Err == nil && !yield(one) {
				return
			}
		}
	}
}

// pairs returns the certificates that the operator keeps in files.
func (e *encryption) pairs() (list []*keyPair) {
	for _, k := range []*keyPair{e.own, e.peers} {
		if k != nil {
			list = append(list, k)
		}
	}
	return list
}

// lookEvery is often enough to be read, and seldom enough not to fill the log.
const lookEvery = 12 * time.Hour

// run logs when a certificate ends soon, until ctx ends.
func (e *encryption) run(ctx context.Context) {
	e.look()
	for range ticker.Every(ctx.Done(), lookEvery, nil) {
		e.look()
	}
}

func (e *encryption) look() {
	now := e.now()
	for one := range e.shown() {
		switch {
		case !now.Before(one.Until):
			e.log.Error("a certificate has ended, and clients refuse it: it has to be renewed", "certificate", one.Name, "until", one.Until)
		case one.Soon(now):
			e.log.Warn("a certificate ends soon and was not renewed", "certificate", one.Name, "until", one.Until)
		}
	}
}

// reload reads the files now, for an operator who wants to hear whether they can be used.
func (e *encryption) reload() {
	if len(e.pairs()) == 0 {
		e.log.Info("asked to read certificates again: there are no files of them, and all other settings are read at the start")
	}
	for _, k := range e.pairs() {
		if pair, err := k.read(); err != nil {
			e.log.Error("the files of a certificate cannot be used: the one before stays", "error", err)
		} else {
			e.log.Info("certificate read", "certificate", k.flag, "until", pair.Leaf.NotAfter)
		}
	}
}

var certificateEnd = prometheus.NewDesc("rimewatch_certificate_expires_timestamp_seconds",
	"When a certificate that this server shows ends, in seconds since 1970.", []string{"certificate"}, nil)

// Describe implements prometheus.Collector.
func (e *encryption) Describe(ch chan<- *prometheus.Desc) { ch <- certificateEnd }

// Collect implements prometheus.Collector.
func (e *encryption) Collect(ch chan<- prometheus.Metric) {
	for one := range e.shown() {
		ch <- prometheus.MustNewConstMetric(certificateEnd, prometheus.GaugeValue, float64(one.Until.Unix()), one.Name)
	}
}
