package client

import (
	"context"
	"errors"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"time"
)

// again reports whether a call that failed may be tried once more, and after
// which wait. try counts from 0.
func (o *Options) again(call *call, err error, try int) (wait time.Duration, ok bool) {
	if try >= o.Retries || errors.Is(err, context.Canceled) {
		return 0, false
	}
	wait = o.backoff(try)
	var e *Error
	if !errors.As(err, &e) {
		return wait, call.idempotent
	}
	switch e.Status {
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		if e.gateway && !call.idempotent {
			return 0, false // a gateway's word says nothing about the service
		}
		after := e.Failure.RetryAfter
		return max(wait, after+wait/4), after <= o.MaxWait
	case http.StatusBadGateway, http.StatusGatewayTimeout:
		return wait, call.idempotent
	default:
		return 0, false
	}
}

// backoff is the wait before retry number try: it doubles, up to a maximum, and
// is a random half shorter, so that many clients do not come back at once.
func (o *Options) backoff(try int) time.Duration {
	d := o.MaxBackoff
	if try < 20 {
		d = min(d, o.MinBackoff<<try)
	}
	return d/2 + rand.N(d/2+1)
}

// retryAfter reads the header: whole seconds or an HTTP date, which counts from
// the answer's own date, so that clocks need not agree.
func retryAfter(value, date string) time.Duration {
	if value == "" {
		return 0
	}
	if s, err := strconv.Atoi(value); err == nil {
		return max(0, time.Duration(min(s, 1<<30))*time.Second)
	}
	at, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	now, err := http.ParseTime(date)
	if err != nil {
		return 0
	}
	return max(0, at.Sub(now))
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
