package app_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rimewatch/rimewatch/internal/app"
	"github.com/rimewatch/rimewatch/internal/store/postgres/pgtest"
	"github.com/rimewatch/rimewatch/internal/trial"
)

// signer is an authority for the certificates of nodes.
type signer struct {
	dir  string
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newSigner(t *testing.T) *signer {
	t.Helper()
	s := &signer{dir: t.TempDir()}
	s.cert = &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "nodes"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	s.key = s.write(t, "ca", s.cert, nil)
	return s
}

// write writes a certificate and its key, signed by the authority or, with parent nil,
// by itself.
func (s *signer) write(t *testing.T, name string, cert *x509.Certificate, parent *x509.Certificate) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	by, with := parent, s.key
	if by == nil {
		by, with = cert, key
	}
	der, err := x509.CreateCertificate(rand.Reader, cert, by, &key.PublicKey, with)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for file, block := range map[string]*pem.Block{"cert": {Type: "CERTIFICATE", Bytes: der}, "key": {Type: "PRIVATE KEY", Bytes: secret}} {
		if err := os.WriteFile(s.file(name, file), pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return key
}

func (s *signer) file(name, kind string) string { return filepath.Join(s.dir, name+"."+kind) }

// node makes a certificate for an address.
func (s *signer) node(t *testing.T, name, address string) {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	s.write(t, name, &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: name}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.ParseIP(u.Hostname())}, KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}, s.cert)
}

// TestNodesSpeakTLS has two nodes show each other certificates: requests get from one to
// the other, and who shows none, or one of another authority, gets nowhere, although he
// knows the secret.
func TestNodesSpeakTLS(t *testing.T) {
	trial.NeedsAll(t)
	database, err := pgtest.Start("fsync=off")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(database.Stop)
	authority := newSigner(t)
	speaking := func(name string) func(*app.Config) {
		return func(c *app.Config) {
			authority.node(t, name, c.ClusterURL)
			c.ClusterURL = strings.Replace(c.ClusterURL, "http:", "https:", 1)
			c.ClusterCert, c.ClusterKey, c.ClusterCA = authority.file(name, "cert"), authority.file(name, "key"), authority.file("ca", "cert")
		}
	}
	var inner string
	first, _ := startNode(t, database.URL("postgres"), 1, speaking("first"), func(c *app.Config) { inner = c.ClusterURL })
	await(t, "the first node does not serve the shard", func() bool { return first.Part(0) != nil })
	second, said := startNode(t, database.URL("postgres"), 1, speaking("second"))
	resp, err := http.Get("http://" + second.Addr() + "/api/v1/devices")
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("through the second node: %s\n%s", resp.Status, said)
	}
	await(t, "the second node forwarded nothing", func() bool { return figure(t, second, "rimewatch_cluster_forwarded_total") == "1" }) // it counts when the answer is out
	stranger := newSigner(t)
	stranger.node(t, "stranger", inner)
	roots := x509.NewCertPool()
	text, err := os.ReadFile(authority.file("ca", "cert"))
	if err != nil || !roots.AppendCertsFromPEM(text) {
		t.Fatal(err)
	}
	for who, s := range map[string]*signer{"nobody": nil, "of another authority": stranger, "second": authority} {
		cfg := &tls.Config{RootCAs: roots}
		if s != nil {
			name := map[bool]string{true: "second", false: "stranger"}[s == authority]
			pair, err := tls.LoadX509KeyPair(s.file(name, "cert"), s.file(name, "key"))
			if err != nil {
				t.Fatal(err)
			}
			cfg.Certificates = []tls.Certificate{pair}
		}
		c := http.Client{Transport: &http.Transport{TLSClientConfig: cfg}}
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, inner+"/cluster/ping", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("X-Rimewatch-Cluster-Secret", "a secret of the tests")
		resp, err := c.Do(r)
		if err == nil {
			_ = resp.Body.Close()
		}
		if (err == nil) != (s == authority) {
			t.Errorf("%s: %v", who, err)
		}
		c.CloseIdleConnections()
	}
}
