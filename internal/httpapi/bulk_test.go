package httpapi

import (
	"bytes"
	"compress/gzip"
	"context"
	"net/http/httptest"
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
		body, e := ReadBody(httptest.NewRecorder(), r, nil, 64<<10)
		var got rimewatch.Code
		if e != nil {
			got = e.Code
		}
		if got != c.want || len(body) != 0 {
			t.Errorf("%d empty members: %d bytes, %v", c.members, len(body), e)
		}
	}
}

// TestBulkSlots: one workspace's uploads leave room for another's.
func TestBulkSlots(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBulkSlots()
		var held []func()
		for range bulkWorkspace {
			release, e := b.take(t.Context(), 1)
			if e != nil {
				t.Fatal(e)
			}
			held = append(held, release)
		}
		start := time.Now()
		if _, e := b.take(t.Context(), 1); e == nil || e.Code != rimewatch.CodeUnavailable || e.RetryAfter == 0 {
			t.Errorf("one more of the same workspace: %v", e)
		}
		if took := time.Since(start); took != bulkWait {
			t.Errorf("it waited %v", took)
		}
		release, e := b.take(t.Context(), 2)
		if e != nil {
			t.Fatalf("another workspace: %v", e)
		}
		release()
		time.AfterFunc(time.Second, held[0])
		if release, e = b.take(t.Context(), 1); e != nil {
			t.Fatalf("after a release: %v", e)
		}
		release()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		for _, r := range held[1:] {
			defer r()
		}
		for range 2 {
			if release, e := b.take(ctx, 1); e == nil {
				release() // both were ready: chance decides
			}
		}
		if len(b.all) != bulkWorkspace-1 {
			t.Errorf("%d slots are held, want %d", len(b.all), bulkWorkspace-1)
		}
	})
}
