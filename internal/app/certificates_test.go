package app_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rimewatch/rimewatch/internal/app"
	"github.com/rimewatch/rimewatch/internal/config"
)

// lasting makes a certificate for loopback that ends in a while, of a life.
func (s *signer) lasting(t *testing.T, name string, number int64, life, left time.Duration) {
	t.Helper()
	until := time.Now().Add(left)
	s.write(t, name, &x509.Certificate{
		SerialNumber: big.NewInt(number), NotBefore: until.Add(-life), NotAfter: until, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}, s.cert)
}

const day = 24 * time.Hour

// numberAt returns the number of the certificate that a server shows.
func numberAt(t *testing.T, addr string) int64 {
	t.Helper()
	c, err := tls.Dial("tcp", addr, &tls.Config{InsecureSkipVerify: true})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	return c.ConnectionState().PeerCertificates[0].SerialNumber.Int64()
}

// TestRenewedCertificate: a certificate that was put in the place of another one is
// shown to the next client, of HTTPS and of MQTT; one whose key has not come yet is not.
func TestRenewedCertificate(t *testing.T) {
	files, next := newSigner(t), newSigner(t)
	files.lasting(t, "own", 11, 90*day, 60*day)
	said := &syncBuffer{}
	h := newHouse(t, func(c *app.Config) {
		c.TLSCert, c.TLSKey, c.MQTTSListen = files.file("own", "cert"), files.file("own", "key"), "127.0.0.1:0"
		c.Logger = slog.New(slog.NewTextHandler(said, nil))
	})
	shown := func(when string, want int64) {
		t.Helper()
		for _, addr := range []string{h.Addr(), h.MQTTSAddr()} {
			if n := numberAt(t, addr); n != want {
				t.Errorf("%s: %s shows certificate %d, want %d", when, addr, n, want)
			}
		}
	}
	shown("at first", 11)
	for i, rename := range []bool{false, true} { // copied over, and as certbot does it
		number := int64(12 + i)
		next.lasting(t, "own", number, 90*day, 80*day)
		for _, kind := range []string{"cert", "key"} {
			text, err := os.ReadFile(next.file("own", kind))
			h.must(err)
			to := files.file("own", kind)
			if rename {
				h.must(os.Rename(next.file("own", kind), to))
			} else {
				h.must(os.WriteFile(to, text, 0o600))
			}
			if kind == "cert" {
				shown("before the key has come", number-1)
			}
		}
		shown("renewed", number)
		leaf, err := tls.LoadX509KeyPair(files.file("own", "cert"), files.file("own", "key"))
		h.must(err)
		resp, err := h.http.Get(h.URL() + "/metrics")
		h.must(err)
		text, err := io.ReadAll(resp.Body)
		h.must(errors.Join(err, resp.Body.Close()))
		figure := regexp.MustCompile(`\nrimewatch_certificate_expires_timestamp_seconds\{certificate="tls-cert"\} (\S+)`).FindSubmatch(text)
		if figure == nil {
			t.Fatal("no metric")
		}
		if at, err := strconv.ParseFloat(string(figure[1]), 64); err != nil || int64(at) != leaf.Leaf.NotAfter.Unix() {
			t.Errorf("the metric says %s, not %d", figure[1], leaf.Leaf.NotAfter.Unix())
		}
	}
	for _, kind := range []string{"cert", "key"} {
		h.must(os.Remove(files.file("own", kind)))
	}
	shown("without files", 13)
	for _, text := range []string{"a renewed certificate is in use", "the files of a certificate cannot be used: the one before stays"} {
		if !strings.Contains(said.String(), text) {
			t.Errorf("the log does not say: %s\n%s", text, said)
		}
	}
}

// TestCertificateEnds: what ends soon, or has ended, is in the log when a server starts
// and in its metrics, and an operator hears what became of files that he replaced.
func TestCertificateEnds(t *testing.T) {
	for _, c := range []struct {
		name       string
		life, left time.Duration
		want       string // in the log; "" = nothing of it
	}{
		{"fresh", 90 * day, 20 * day, ""},
		{"soon", 90 * day, 13 * day, "ends soon"},
		{"ended", 90 * day, -time.Hour, "has ended"},
		{"fresh for a week", 6 * day, 2 * day, ""},
		{"soon for a week", 6 * day, 20 * time.Hour, "ends soon"},
	} {
		t.Run(c.name, func(t *testing.T) {
			files, said := newSigner(t), &syncBuffer{}
			files.lasting(t, "own", 1, c.life, c.left)
			reload := make(chan os.Signal, 1)
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() {
				ended <- app.Run(ctx, app.Config{Logger: slog.New(slog.NewTextHandler(said, nil)), Reload: reload, Serve: config.Serve{
					Data: t.TempDir(), Listen: "127.0.0.1:0", HeadMemory: 8, SealAfter: time.Hour, DrainPeriod: time.Second,
					TLSCert: files.file("own", "cert"), TLSKey: files.file("own", "key"),
				}})
			}()
			says := func(text string) {
				t.Helper()
				await(t, "the log does not say: "+text, func() bool { return strings.Contains(said.String(), text) })
			}
			says("msg=serving")
			if c.want != "" {
				says(c.want)
			}
			reload <- syscall.SIGHUP
			says("certificate read")
			if err := os.WriteFile(files.file("own", "cert"), []byte("nothing"), 0o600); err != nil {
				t.Fatal(err)
			}
			reload <- syscall.SIGHUP
			says("level=ERROR msg=\"the files of a certificate cannot be used: the one before stays\"")
			address := regexp.MustCompile(`url=https://(\S+)`).FindStringSubmatch(said.String())[1]
			if n := numberAt(t, address); n != 1 {
				t.Errorf("certificate %d", n)
			}
			cancel()
			if err := <-ended; err != nil {
				t.Error(err)
			}
			if c.want == "" && regexp.MustCompile("ends soon|has ended").MatchString(said.String()) {
				t.Errorf("said too much:\n%s", said)
			}
		})
	}
}

// TestHTTPToHTTPS: a device that was set up with http:// hears what is wrong, also when
// it sends more than is read.
func TestHTTPToHTTPS(t *testing.T) {
	cert, key := certificate(t)
	h := newHouse(t, func(c *app.Config) { c.TLSCert, c.TLSKey = cert, key })
	for _, request := range []string{
		"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
		"PUT /in/x HTTP/1.0\r\n\r\n",
		"POST /api/v1/readings HTTP/1.1\r\nHost: x\r\nContent-Length: 30000\r\n\r\n" + strings.Repeat("x", 30_000),
	} {
		c, err := net.Dial("tcp", h.Addr())
		h.must(err)
		h.must(c.SetDeadline(time.Now().Add(patience)))
		_, err = io.WriteString(c, request)
		h.must(err)
		resp, err := http.ReadResponse(bufio.NewReader(c), nil)
		h.must(err)
		text, err := io.ReadAll(resp.Body)
		h.must(errors.Join(err, c.Close()))
		if resp.StatusCode != http.StatusBadRequest || !strings.Contains(string(text), "has to begin with https://") {
			t.Errorf("%.20q: %s %s", request, resp.Status, text)
		}
	}
	c, err := net.Dial("tcp", h.Addr()) // what speaks neither is not answered
	h.must(err)
	h.must(c.SetDeadline(time.Now().Add(patience)))
	_, err = c.Write([]byte{0x10, 0x0c, 0, 4, 'M', 'Q', 'T', 'T'})
	h.must(err)
	if text, _ := io.ReadAll(c); strings.Contains(string(text), "HTTP") {
		t.Errorf("%q", text)
	}
	h.must(c.Close())
}
