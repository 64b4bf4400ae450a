package httpapi

import (
	"bytes"
	"compress/gzip"
	"context"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rimewatch/rimewatch"
)

// TestBodyOfNothing: members that decompress to nothing have an end, too.
func TestBodyOfNothing(t *testing.T) {
	var member bytes.Buffer
	if err := gzip.NewWriter(&member).Close(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		members int
		want    rimewatch.Code
	}{{10, ""}, {4096, rimewatch.CodePayloadTooLarge}} {
		r := httptest.NewRequest("POST", "/", bytes.NewReader(bytes.Repeat(member.Bytes(), c.members)))
		r.Header.Set("Content-Encoding", "gzip")
		r.ContentLength = -1
		body, e := readBody(httptest.NewRecorder(), r, nil, 64<<10, nil)
		var got rimewatch.Code
		if e != nil {
			got = e.Code
		}
		if got != c.want || len(body) != 0 {
			t.Errorf("%d empty members: %d bytes, %v", c.members, len(body), e)
		}
	}
}

// TestPlaces: one workspace's uploads leave room for another's, however many
// workspaces upload.
func TestPlaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewPlaces(6, 4, errManyBodies())
		var held []func()
		hold := func(workspace int64, n int) {
			t.Helper()
			for range n {
				release, e := b.Take(t.Context(), workspace)
				if e != nil {
					t.Fatalf("workspace %d: %v", workspace, e)
				}
				held = append(held, release)
			}
		}
		refused := func(workspace int64) {
			t.Helper()
			start := time.Now()
			if _, e := b.Take(t.Context(), workspace); e == nil || e.Code != rimewatch.CodeRateLimited || e.RetryAfter == 0 {
				t.Errorf("one more of workspace %d: %v", workspace, e)
			}
			if took := time.Since(start); took != placeWait {
				t.Errorf("it waited %v", took)
			}
		}
		hold(1, 4)
		refused(1)
		hold(2, 4)
		refused(2)
		hold(3, 1) // although 1 and 2 have all that is shared
		refused(3)
		time.AfterFunc(time.Second, held[0])
		hold(1, 1)
		held = held[1:]
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, e := b.Take(ctx, 1); e == nil || e.Code != rimewatch.CodeUnavailable {
			t.Errorf("a request that was cancelled: %v", e)
		}
		for _, release := range held {
			release()
		}
		if len(b.all) != 0 || len(b.of(1).own) != 0 || len(b.of(1).more) != 0 {
			t.Error("places are still taken")
		}
	})
}

// TestHeldBodies: an unfinished body takes the memory of what has come, and a
// place once it is large.
func TestHeldBodies(t *testing.T) {
	for largeBodies.Get() != nil { // what other tests have left there is larger
	}
	for _, c := range []struct {
		name        string
		sent        int
		claimed     int64
		held        int // calls of hold
		most, least int // capacity of the buffer
	}{
		{"claims much, sends little", 100, MaxSingleBody, 0, promptBody + 1, 0},
		{"small", 100, 100, 0, 101, 100},
		{"large", 200 << 10, 200 << 10, 1, 400 << 10, 200 << 10},
		{"large without a length", 200 << 10, -1, 1, 400 << 10, 200 << 10},
	} {
		r := httptest.NewRequest("POST", "/", bytes.NewReader(make([]byte, c.sent)))
		r.ContentLength = c.claimed
		held := 0
		body, e := readBody(httptest.NewRecorder(), r, nil, MaxSingleBody, func() *rimewatch.Error { held++; return nil })
		if e != nil || len(body) != c.sent || held != c.held || cap(body) > c.most || cap(body) < c.least {
			t.Errorf("%s: %d bytes in %d, held %d times, %v", c.name, len(body), cap(body), held, e)
		}
	}
	r := httptest.NewRequest("POST", "/", bytes.NewReader(make([]byte, 200<<10)))
	if _, e := readBody(httptest.NewRecorder(), r, nil, MaxSingleBody, func() *rimewatch.Error { return ErrRateLimited(1) }); e == nil || e.Code != rimewatch.CodeRateLimited {
		t.Errorf("without a place: %v", e)
	}
}

// TestLargeBodyIsHeldOnce: a body that says how large it is takes as much memory, once
// it has a place, and not twice as much in pieces.
func TestLargeBodyIsHeldOnce(t *testing.T) {
	const size = 900 << 10
	held := 0
	body, e := readAll(strings.NewReader(strings.Repeat("x", size)), nil, size, MaxSingleBody, func() *rimewatch.Error { held++; return nil })
	if e != nil || len(body) != size || held != 1 {
		t.Fatalf("%d bytes, held %d times, %v", len(body), held, e)
	}
	if cap(body) != size+1 {
		t.Errorf("room for %d", cap(body))
	}
	Reuse(body)
	again, e := readAll(strings.NewReader(strings.Repeat("y", size)), nil, size, MaxSingleBody, nil)
	if e != nil || len(again) != size || strings.Trim(string(again), "y") != "" {
		t.Errorf("another body in its place: %d bytes, %v", len(again), e)
	}
}
