package outbound

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// What an exchange may take.
const (
	Timeout    = 10 * time.Second
	MaxBody    = 64 << 10 // bytes of an answer
	maxHeaders = 32 << 10 // bytes
)

// Guard makes guarded connections.
type Guard struct {
	allow     []netip.Prefix
	transport *http.Transport
}

// New makes a guard. allow are the networks that the operator lets receivers be
// in although they are refused otherwise.
func New(allow []netip.Prefix) *Guard {
	g := &Guard{allow: allow}
	g.transport = &http.Transport{
		DialContext:            g.DialContext,
		ForceAttemptHTTP2:      true,
		DisableCompression:     true, // nothing grows when it is read
		TLSHandshakeTimeout:    Timeout,
		MaxResponseHeaderBytes: maxHeaders,
		IdleConnTimeout:        30 * time.Second,
		MaxIdleConns:           100,
		MaxIdleConnsPerHost:    4,
	}
	return g
}

// Refused is the error of an address that receivers may not be at.
type Refused struct{ Address netip.Addr }

func (e *Refused) Error() string {
	return fmt.Sprintf("the address %s is not allowed for receivers", e.Address)
}

// DialContext connects like net.Dialer, but only to addresses that are allowed.
func (g *Guard) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	d := net.Dialer{Timeout: Timeout, Control: g.control}
	return d.DialContext(ctx, network, address)
}

// control is asked by the dialer before each connection, with the address that
// the name has resolved to.
func (g *Guard) control(network, address string, _ syscall.RawConn) error {
	if !strings.HasPrefix(network, "tcp") {
		return fmt.Errorf("%s is not allowed for receivers", network)
	}
	ap, err := netip.ParseAddrPort(address)
	if err != nil {
		return err
	}
	if !g.Allowed(ap.Addr()) {
		return &Refused{ap.Addr()}
	}
	return nil
}

// Close ends idle connections.
func (g *Guard) Close() { g.transport.CloseIdleConnections() }

// Client returns an HTTP client whose connections are guarded. Answers other than
// 2xx are errors (StatusError), redirects among them.
func (g *Guard) Client() *http.Client { return &http.Client{Transport: g.Transport()} }

// Transport is the guard as an http.RoundTripper for clients of others' making.
// Other than those, it returns an error for every answer that is not 2xx: so none
// can follow a redirect, and all say in the same way what went wrong.
func (g *Guard) Transport() *Transport { return &Transport{g} }

// Transport is an http.RoundTripper, see Guard.Transport.
type Transport struct{ guard *Guard }

// RoundTrip sends one request within Timeout, the reading of the answer included.
func (t *Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithTimeout(r.Context(), Timeout)
	resp, err := t.guard.transport.RoundTrip(r.WithContext(ctx))
	if err != nil {
		cancel()
		return nil, err
	}
	resp.Body = &body{Reader: &capped{r: resp.Body, left: MaxBody}, closer: resp.Body, cancel: cancel}
	if resp.StatusCode >= http.StatusOK && resp.StatusCode < http.StatusMultipleChoices {
		return resp, nil
	}
	defer resp.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(resp.Body, 512))
	return nil, &StatusError{Status: resp.StatusCode, RetryAfter: retryAfter(resp.Header.Get("Retry-After"), time.Now()), Body: string(text)}
}

// Drain ends an exchange whose answer means nothing beyond its status. It is read, so that
// the connection can be used again.
func Drain(resp *http.Response) error {
	_, _ = io.Copy(io.Discard, resp.Body)
	return resp.Body.Close()
}

// StatusError is an answer that is not 2xx.
type StatusError struct {
	Status     int
	RetryAfter time.Duration // what the receiver asks for, 0 = nothing
	Body       string        // its beginning
}

func (e *StatusError) Error() string {
	return strings.TrimSpace(fmt.Sprintf("the receiver answered %d %s", e.Status, http.StatusText(e.Status)))
}

// maxRetryAfter bounds what a receiver may ask for.
const maxRetryAfter = time.Hour

// retryAfter reads the header in its two forms: seconds, or a date.
func retryAfter(h string, now time.Time) time.Duration {
	d := time.Duration(0)
	if s, err := strconv.Atoi(h); err == nil {
		d = time.Duration(min(s, int(maxRetryAfter/time.Second))) * time.Second
	} else if at, err := http.ParseTime(h); err == nil {
		d = at.Sub(now)
	}
	return min(max(d, 0), maxRetryAfter)
}

// body ends the exchange's time when it is closed.
type body struct {
	io.Reader
	closer io.Closer
	cancel context.CancelFunc
}

func (b *body) Close() error {
	defer b.cancel()
	return b.closer.Close()
}

// capped fails, rather than ends, where an answer is too long: half of it must
// not be taken for the whole.
type capped struct {
	r    io.Reader
	left int
}

func (c *capped) Read(p []byte) (int, error) {
	if c.left <= 0 {
		return 0, errTooLong
	}
	n, err := c.r.Read(p[:min(len(p), c.left)])
	c.left -= n
	return n, err
}

var errTooLong = fmt.Errorf("the answer is longer than %d bytes", MaxBody)
