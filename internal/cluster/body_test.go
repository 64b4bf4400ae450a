package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// slowly reads for longer than a node waits for anything.
type slowly struct{ io.Reader }

// Read implements io.Reader.
func (s slowly) Read(b []byte) (int, error) {
	time.Sleep(2 * patience)
	return s.Reader.Read(b)
}

// ending ends the request, as net/http does, when the body breaks off.
type ending struct {
	io.ReadCloser
	end func()
}

// Read implements io.Reader.
func (e ending) Read(b []byte) (int, error) {
	n, err := e.ReadCloser.Read(b)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		e.end()
	}
	return n, err
}

// TestBodies: whoever serves a shard sees the bodies that came to another node as they
// came, in chunks and breaking off, too, and says himself what is wrong with them.
func TestBodies(t *testing.T) { synctest.Test(t, testBodies) }

func testBodies(t *testing.T) {
	t.Cleanup(func() { time.Sleep(time.Second) }) // net/http lingers half a second, in the bubble's time, on what broke off
	b := newBook()
	x, y := join(t, b, "x", 0), join(t, b, "y", 0)
	settle(t, map[*rig]int{x: 2, y: 2})
	large := strings.Repeat("x", keptBody+1)
	for _, c := range []struct {
		name   string
		body   io.Reader
		length int64
		want   string
	}{
		{"small", strings.NewReader("body"), 4, "192.0.2.1:77 body"},
		{"in chunks", strings.NewReader("body"), -1, "192.0.2.1:77 body"},
		{"empty, in chunks", strings.NewReader(""), -1, "192.0.2.1:77 "},
		{"large", strings.NewReader(large), int64(len(large)), large},
		{"large, in chunks", strings.NewReader(large), -1, large},
		{"half", breaking([]byte("bo")), 4, `unexpected EOF after "bo" of 4`},
		{"nothing", breaking(nil), 4, `unexpected EOF after "" of 4`},
		{"half a chunk", breaking([]byte("bo")), -1, `unexpected EOF after "bo" of -1`},
		{"half, after a while", slowly{breaking([]byte("bo"))}, 4, `unexpected EOF after "bo" of 4`},
		{"slow, in chunks", slowly{strings.NewReader("body")}, -1, "192.0.2.1:77 body"},
		{"half of a large one", breaking([]byte(large)), 2 * int64(len(large)), "invalid_json"},
	} {
		for _, shard := range []int{0, 1, 2, 3} {
			if b.owner(shard) == "x" {
				continue
			}
			r := httptest.NewRequest(http.MethodPost, fmt.Sprintf("/?workspace=%d", shard), c.body)
			r.ContentLength, r.RemoteAddr = c.length, "192.0.2.1:77"
			r.Header.Set(headerBroken, "7") // who is no node cannot say so
			ctx, cancel := context.WithCancel(t.Context())
			if r.Body = io.NopCloser(c.body); strings.HasPrefix(c.name, "half") && c.length < keptBody {
				r.Body = ending{r.Body, cancel}
			}
			w := httptest.NewRecorder()
			x.ServeHTTP(w, r.WithContext(ctx))
			cancel()
			if !strings.Contains(w.Body.String(), c.want) {
				t.Errorf("%s: %d %.200q, not %.200q", c.name, w.Code, w.Body, c.want)
			}
			break
		}
	}
	if n := y.waiting.Load() + x.waiting.Load(); n != 0 {
		t.Errorf("%d bytes seem to wait", n)
	}
}
