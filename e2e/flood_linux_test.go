package e2e

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rimewatch/rimewatch/client"
	"github.com/rimewatch/rimewatch/internal/trial"
)

// silentFlood opens connections at address that send nothing, or the beginning of
// something, until ctx ends, and counts them.
func silentFlood(ctx context.Context, address string, n *atomic.Int64) {
	beginnings := []string{"", "G", "POST /api/v1/readings HTTP/1.1\r\nHost: x\r\nAuthoriz", "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n", "\x16\x03\x01", "POST /api/v1/readings HTTP/1.1\r\nHost: x\r\nContent-Length: 900\r\n\r\n{"}
	var held []net.Conn
	defer func() {
		for _, c := range held {
			_ = c.Close()
		}
	}()
	for ctx.Err() == nil {
		c, err := net.DialTimeout("tcp", address, time.Second)
		if err != nil {
			continue
		}
		if text := beginnings[rand.IntN(len(beginnings))]; text != "" {
			_, _ = io.WriteString(c, text)
		}
		time.Sleep(200 * time.Microsecond) // the machine is the server's, too
		n.Add(1)
		if held = append(held, c); len(held) > 2000 {
			_ = held[0].Close()
			held = held[1:]
		}
	}
}

// flood is something that a stranger, or another workspace, does all day.
type flood struct {
	name string
	// run sends once; number is that of its attempt.
	run func(ctx context.Context, url, token string, number int64) (*http.Request, error)
}

func post(ctx context.Context, url, token, path, body string) (*http.Request, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url+path, strings.NewReader(body))
	if err == nil {
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Authorization", "Bearer "+token)
	}
	return r, err
}

var floods = []flood{
	{"wrong tokens", func(ctx context.Context, url, _ string, n int64) (*http.Request, error) {
		return post(ctx, url, fmt.Sprintf("rw_%038d", n), "/api/v1/readings", `{"device_serial":"A","product_zone_temp":1}`)
	}},
	{"sign-ins", func(ctx context.Context, url, _ string, n int64) (*http.Request, error) {
		return post(ctx, url, "", "/api/v1/auth/sign-in", fmt.Sprintf(`{"email":"a%d@example.com","password":"wrong wrong wrong"}`, n))
	}},
	{"unknown serials", func(ctx context.Context, url, token string, n int64) (*http.Request, error) {
		return post(ctx, url, token, "/api/v1/readings", fmt.Sprintf(`{"device_serial":"U%d","product_zone_temp":1}`, n))
	}},
	{"batches", func(ctx context.Context, url, token string, n int64) (*http.Request, error) {
		var b bytes.Buffer
		b.WriteByte('[')
		for i := range 1000 {
			if i > 0 {
				b.WriteByte(',')
			}
			fmt.Fprintf(&b, `{"device_serial":"F%d","product_zone_temp":%d}`, i%50, (n+int64(i))%30)
		}
		b.WriteByte(']')
		return post(ctx, url, token, "/api/v1/readings/batch", b.String())
	}},
	{"tickets", func(ctx context.Context, url, token string, _ int64) (*http.Request, error) {
		return post(ctx, url, token, "/api/v1/stream/tickets", "{}")
	}},
	{"lists", func(ctx context.Context, url, token string, _ int64) (*http.Request, error) {
		r, err := post(ctx, url, token, "/api/v1/readings/latest?per_page=1000", "")
		if err == nil {
			r.Method, r.Body, r.ContentLength = http.MethodGet, nil, 0
		}
		return r, err
	}},
	{"large bodies", func(ctx context.Context, url, token string, _ int64) (*http.Request, error) {
		return post(ctx, url, token, "/api/v1/readings", `{"device_serial":"A","x":"`+strings.Repeat("x", 900<<10)+`"}`)
	}},
}

// send floods with as many senders until ctx ends and returns how often.
func (f *flood) send(ctx context.Context, url, token string, senders int) int64 {
	var n atomic.Int64
	var wg sync.WaitGroup
	hc := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: senders}}
	for range senders {
		wg.Go(func() {
			for ctx.Err() == nil {
				r, err := f.run(ctx, url, token, n.Add(1))
				if err != nil {
					return
				}
				if answer, err := hc.Do(r); err == nil {
					_, _ = io.Copy(io.Discard, answer.Body)
					_ = answer.Body.Close()
				}
			}
		})
	}
	wg.Wait()
	hc.CloseIdleConnections()
	return n.Load()
}

// TestFloods: whatever a stranger or another workspace floods a server with, a
// workspace's readings are taken, and memory stays bounded. At full length the
// 99th percentile of its POST stays within twice what it is on the same machine
// while a server that answers 429 to everything is flooded as hard.
func TestFloods(t *testing.T) {
	trial.NeedsLong(t)
	k := newKiller(t)
	p, c := k.start(t)
	url := strings.TrimSuffix(c.BaseURL(), "/api")
	other := k.tokenOf(t, "floods")
	oc, err := client.New(url, other, &client.Options{Retries: -1})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 50 {
		if _, err := oc.CreateDevice(t.Context(), fmt.Sprintf("F%d", i), client.DeviceFields{}); err != nil {
			t.Fatal(err)
		}
	}
	refusing, stop := refuser(t)
	defer stop()
	// In turns, so that a disk that is slow for some seconds is so for both.
	last, rounds := 400*time.Millisecond, 1
	if trial.Faults() {
		last, rounds = time.Second, 6
	}
	measure := func(target string, f *flood) (took []time.Duration, sent int64) {
		ctx, cancel := context.WithTimeout(t.Context(), last)
		defer cancel()
		var wg sync.WaitGroup
		wg.Go(func() { sent = f.send(ctx, target, other, 8) })
		d := k.devices[0]
		for len(took) == 0 || ctx.Err() == nil {
			r := d.next()
			began := time.Now()
			_, _, err := c.PostReading(t.Context(), r)
			if err == nil {
				d.sent[r.RecordedAt].acknowledge()
			} else if client.StatusOf(err) != 429 { // its own limit
				t.Errorf("%s: a reading of another workspace: %v", f.name, err)
			}
			took = append(took, time.Since(began))
			time.Sleep(2 * time.Millisecond)
		}
		wg.Wait()
		return took, sent
	}
	p99 := func(took []time.Duration) time.Duration {
		slices.Sort(took)
		return took[len(took)*99/100]
	}
	for i := range floods {
		f := &floods[i]
		t.Run(f.name, func(t *testing.T) {
			var beside, flooded []time.Duration
			var sent int64
			var used time.Duration
			for range rounds {
				took, _ := measure(refusing, f)
				beside = append(beside, took...)
				before := busy(t, p)
				took, n := measure(url, f)
				flooded, sent, used = append(flooded, took...), sent+n, used+busy(t, p)-before
			}
			got, base := p99(flooded), p99(beside)
			t.Logf("%d requests, %v of processor each; p99 of a POST of another workspace %v, %v beside a server that refuses all", sent,
				(used / time.Duration(sent)).Round(time.Microsecond), got.Round(10*time.Microsecond), base.Round(10*time.Microsecond))
			if trial.Faults() && got > 2*base+2*time.Millisecond {
				t.Errorf("p99 %v is more than twice %v", got, base)
			}
		})
	}
	if rss := resident(t, p); rss > 1<<30 {
		t.Errorf("%d MiB resident", rss>>20)
	} else {
		t.Logf("%d MiB resident", rss>>20)
	}
	k.verify(t, c, 0)
}

// refuser answers 429 to everything.
func refuser(t *testing.T) (url string, stop func()) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{ReadHeaderTimeout: patience, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.WriteHeader(http.StatusTooManyRequests)
	})}
	var wg sync.WaitGroup
	wg.Go(func() { _ = s.Serve(l) })
	return "http://" + l.Addr().String(), func() {
		_ = s.Close()
		wg.Wait()
	}
}
