package client

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rimewatch/rimewatch"
)

// Every answer that may be followed by another try, and how often it is.
func TestRetries(t *testing.T) {
	timed := Reading{DeviceSerial: "A", RecordedAt: moment}
	untimed := Reading{DeviceSerial: "A"}
	broken := func(w http.ResponseWriter) { panic(http.ErrAbortHandler) }
	answer := func(status int, body string, header ...string) func(http.ResponseWriter) {
		return func(w http.ResponseWriter) {
			for i := 0; i < len(header); i += 2 {
				w.Header().Set(header[i], header[i+1])
			}
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
		}
	}
	busy := failure("unavailable", "")
	for _, tt := range []struct {
		name    string
		reading Reading
		first   func(http.ResponseWriter)
		tries   int // 3: it worked at the third
		atLeast time.Duration
	}{
		{"503 of the service", untimed, answer(503, busy), 3, 0},
		{"503 with Retry-After", timed, answer(503, busy, "Retry-After", "7"), 3, 7 * time.Second},
		{"429 with a date", timed, answer(429, failure("rate_limited", ""), "Retry-After", "Fri, 20 Nov 2026 19:47:32 GMT", "Date", "Fri, 20 Nov 2026 19:47:12 GMT"), 3, 20 * time.Second},
		{"Retry-After too long", timed, answer(429, failure("rate_limited", ""), "Retry-After", "3600"), 1, 0},
		{"503 of a gateway", timed, answer(503, "<html>"), 3, 0},
		{"503 of a gateway, not idempotent", untimed, answer(503, "<html>"), 1, 0},
		{"502", timed, answer(502, "<html>"), 3, 0},
		{"504, not idempotent", untimed, answer(504, "<html>"), 1, 0},
		{"broken connection", timed, broken, 3, 0},
		{"broken connection, not idempotent", untimed, broken, 1, 0},
		{"500", timed, answer(500, failure("internal", "")), 1, 0},
		{"422", timed, answer(422, failure("validation_failed", "")), 1, 0},
		{"answer cut off", timed, answer(200, stored[:40], "Content-Length", "500"), 3, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var tries atomic.Int64
			c, waits := serve(t, Options{}, func(w http.ResponseWriter, r *http.Request) {
				if _, err := io.ReadAll(r.Body); err != nil {
					t.Error(err)
				}
				if tries.Add(1) <= 2 {
					tt.first(w)
					return
				}
				_, _ = io.WriteString(w, stored)
			})
			_, _, err := c.PostReading(context.Background(), tt.reading)
			if int(tries.Load()) != tt.tries || (err == nil) != (tt.tries == 3) {
				t.Errorf("%d tries, %v", tries.Load(), err)
			}
			if len(*waits) != tt.tries-1 {
				t.Errorf("waits: %v", *waits)
			}
			for _, d := range *waits {
				if d < tt.atLeast || d > tt.atLeast+10*time.Second {
					t.Errorf("waited %v, at least %v is due", d, tt.atLeast)
				}
			}
		})
	}
}

func TestRetriesEnd(t *testing.T) {
	tries := 0
	h := func(w http.ResponseWriter, _ *http.Request) {
		tries++
		w.WriteHeader(503)
		_, _ = io.WriteString(w, failure("unavailable", ""))
	}
	c, waits := serve(t, Options{Retries: 2}, h)
	_, err := c.Device(context.Background(), "A")
	if rimewatch.CodeOf(err) != rimewatch.CodeUnavailable || tries != 3 || len(*waits) != 2 {
		t.Errorf("%d tries, waits %v, %v", tries, *waits, err)
	}
	c, _ = serve(t, Options{Retries: -1}, h)
	tries = 0
	if _, err := c.Device(context.Background(), "A"); err == nil || tries != 1 {
		t.Errorf("%d tries, %v", tries, err)
	}
	// A wait beyond the deadline is not begun.
	c, waits = serve(t, Options{MinBackoff: time.Hour, MaxBackoff: time.Hour}, h)
	tries = 0
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	if _, err := c.Device(ctx, "A"); err == nil || tries != 1 || len(*waits) != 0 {
		t.Errorf("%d tries, waits %v, %v", tries, *waits, err)
	}
	ctx, cancel = context.WithCancel(context.Background())
	cancel()
	if _, err := c.Device(ctx, "A"); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func TestBackoff(t *testing.T) {
	var o Options
	o.defaults()
	for try := range 40 {
		most := min(o.MaxBackoff, o.MinBackoff<<min(try, 20))
		for range 20 {
			if d := o.backoff(try); d < most/2 || d > most {
				t.Errorf("try %d: %v is not within %v and %v", try, d, most/2, most)
			}
		}
	}
}

// A call that creates something bears one key through all its tries, so that a
// broken connection is no reason not to try again; one that the caller names bears
// that, readings too.
func TestIdempotencyKeys(t *testing.T) {
	var keys []string
	tries := 0
	c, _ := serve(t, Options{}, func(w http.ResponseWriter, r *http.Request) {
		keys = append(keys, r.Header.Get("Idempotency-Key"))
		if tries++; tries <= 2 {
			panic(http.ErrAbortHandler)
		}
		if r.URL.Path == "/api/v1/readings" {
			_, _ = io.WriteString(w, stored)
			return
		}
		_, _ = io.WriteString(w, `{"success":true,"data":{"device":{"serial":"A"}}}`)
	})
	for _, f := range []func(ctx context.Context) error{
		func(ctx context.Context) error { _, err := c.CreateDevice(ctx, "A", DeviceFields{}); return err },
		func(ctx context.Context) error {
			_, _, err := c.PostReading(WithIdempotencyKey(ctx, "mine"), Reading{DeviceSerial: "A"})
			return err
		},
	} {
		keys, tries = nil, 0
		if err := f(t.Context()); err != nil || len(keys) != 3 || keys[0] == "" || keys[1] != keys[0] || keys[2] != keys[0] {
			t.Errorf("keys %q, %v", keys, err)
		}
	}
	if keys[0] != "mine" {
		t.Errorf("key %q", keys[0])
	}
	first := keys[0]
	keys, tries = nil, 2
	if _, err := c.CreateDevice(t.Context(), "A", DeviceFields{}); err != nil || keys[0] == first {
		t.Errorf("keys %q, %v", keys, err)
	}
	keys, tries = nil, 2
	if _, _, err := c.PostReading(t.Context(), Reading{DeviceSerial: "A"}); err != nil || keys[0] != "" {
		t.Errorf("keys %q, %v", keys, err)
	}
}
