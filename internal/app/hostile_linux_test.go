package app_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"golang.org/x/sys/unix"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/app"
	"github.com/rimewatch/rimewatch/internal/httpapi"
)

// sentBody is a body that knows who reads it.
type sentBody struct {
	io.Reader
	t     *testing.T
	route string
	read  bool
}

// Read implements io.Reader. Only the frame's door may.
func (b *sentBody) Read(p []byte) (int, error) {
	b.read = true
	pcs := make([]uintptr, 32)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs)])
	for f, more := frames.Next(); more; f, more = frames.Next() {
		if strings.HasSuffix(f.Function, "httpapi.readBody") {
			return b.Reader.Read(p)
		}
	}
	b.t.Errorf("%s reads its body by itself", b.route)
	return 0, io.EOF
}

// Close implements io.Closer.
func (*sentBody) Close() error { return nil }

// hostile is a body that nobody sends in earnest.
type hostile struct {
	name, mediaType, encoding string
	body                      []byte
}

const aMillion = 1 << 20

// bomb is how many mebibytes little becomes: the largest body may have 16.
const bomb = 20

// hostileJSON returns such bodies, none of more than a mebibyte.
func hostileJSON(t *testing.T) []hostile {
	wide := []byte(`{"a":0`)
	for i := 0; len(wide) < aMillion-64; i++ {
		wide = fmt.Appendf(wide, `,"k%05x":1`, i)
	}
	wide = append(wide, `,"a":1}`...)
	list := []hostile{
		{name: "nested arrays", body: bytes.Repeat([]byte{'['}, aMillion-1)},
		{name: "nested objects", body: bytes.Repeat([]byte(`{"a":`), aMillion/5-1)},
		{name: "nested in a member", body: append([]byte(`{"name":"x","arguments":`), bytes.Repeat([]byte{'['}, aMillion-100)...)},
		{name: "a key twice", body: []byte(`{"jsonrpc":"2.0","jsonrpc":"2.0","id":1,"method":"tools/list","device_serial":"D-1","humidity":1,"humidity":2}`)},
		{name: "many keys, one twice", body: wide},
	}
	for i := range list {
		list[i].mediaType = httpapi.TypeJSON
	}
	return append(list, bombs(t, httpapi.TypeJSON)...)
}

// bombs return little that becomes much.
func bombs(t *testing.T, mediaType string) []hostile {
	var g bytes.Buffer
	z := gzip.NewWriter(&g)
	for range bomb {
		if _, err := z.Write(bytes.Repeat([]byte{'['}, aMillion)); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	e, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	return []hostile{
		{"gzip bomb", mediaType, "gzip", g.Bytes()},
		{"zstd bomb", mediaType, "zstd", e.EncodeAll(bytes.Repeat([]byte{'['}, bomb*aMillion), nil)},
	}
}

// TestHostileBodies: whatever is on the router, no handler reads a body by itself, and what
// nobody sends in earnest is refused for little: in less than 100 ms of work, and twice the
// memory that the body may have (a compressed one as much as its route would take).
func TestHostileBodies(t *testing.T) {
	h := newHouse(t, func(c *app.Config) { c.PublicURL = "http://rimewatch.example" })
	_, key := h.newSource(`{"name":"push","kind":"push"}`)
	json := hostileJSON(t)
	var routes []httpapi.Route
	for _, rt := range h.API.Routes() {
		if len(rt.Body.Types) > 0 { // the others do nothing but what they are for
			rt.Path = httpapi.Prefix + rt.Path
			routes = append(routes, rt)
		}
	}
	routes = append(routes, h.API.Beside()...)
	ways, tried := map[string]bool{}, map[string]bool{}
	for i := range routes {
		rt := &routes[i]
		path := strings.NewReplacer("{serial}", "D-1", "{id}", "1", "{slug}", "privacy", "{key}", key, "{ticket}", "x", "{file}", "docs.js").Replace(rt.Path)
		bodies := json
		if len(rt.Body.Types) > 0 && rt.Body.Types[0] == httpapi.TypeCSV {
			bodies = bombs(t, httpapi.TypeCSV)
		}
		// The frame reads and checks all bodies of a rule alike: the first route of each is sent everything.
		if rule := fmt.Sprintf("%+v", rt.Body); len(rt.Body.Types) > 0 && tried[rule] {
			bodies = bodies[:1]
		} else {
			tried[rule] = true
		}
		for _, b := range bodies {
			sent := &sentBody{Reader: bytes.NewReader(b.body), t: t, route: rt.Method + " " + rt.Path}
			r := httptest.NewRequest(rt.Method, path, sent)
			r.ContentLength = int64(len(b.body))
			r.Header.Set("Content-Type", b.mediaType)
			if b.encoding != "" {
				r.Header.Set("Content-Encoding", b.encoding)
			}
			h.mayCall(r, rt)
			limit := len(b.body)
			if b.encoding != "" {
				limit = httpapi.MaxSingleBody
				if rt.Body.Bulk || strings.Contains(path, "write") {
					limit *= 16
				}
			}
			status, work, memory := h.measured(r)
			if !sent.read {
				continue
			}
			ways[path] = true
			if strings.HasPrefix(path, "/in/") && b.name == "a key twice" { // the last is read, and the answer names the other
				status = max(status, 400)
			}
			if status < 400 || status >= 500 || work > mostWork || memory > 2*limit+1<<20 {
				t.Errorf("%s %s, %s: %d after %v with %d KiB, of %d KiB", rt.Method, rt.Path, b.name, status, work, memory>>10, limit>>10)
			}
		}
	}
	for _, path := range []string{"/mcp", "/in/" + key, "/write", "/api/v2/write", "/api/v1/readings", "/api/v1/readings/batch", "/api/v1/devices/import"} {
		if !ways[path] {
			t.Errorf("%s takes no body", path)
		}
	}
}

// mayCall grants a request the rights that a route asks for.
func (h *house) mayCall(r *http.Request, rt *httpapi.Route) {
	if rt.Access.Own || rt.Access.Role != "" {
		r.Header.Set("Cookie", "rimewatch_session="+h.owner.Secret)
		r.Header.Set("Sec-Fetch-Site", "same-origin")
		return
	}
	r.Header.Set("Authorization", "Bearer "+h.token)
}

// measured answers a request, and returns how much of the processor and memory that took.
func (h *house) measured(r *http.Request) (status int, work time.Duration, memory int) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	rec := httptest.NewRecorder()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := threadTime()
	h.API.ServeHTTP(rec, r)
	work = threadTime() - start
	runtime.ReadMemStats(&after)
	return rec.Code, work, int(after.TotalAlloc - before.TotalAlloc)
}

// threadTime is how much of a processor this thread has had.
func threadTime() time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_THREAD, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// TestAssistantsMayRead: assistants are for those who may read something; a link to the
// status page is not.
func TestAssistantsMayRead(t *testing.T) {
	h := newHouse(t)
	for scopes, want := range map[rimewatch.Scopes]int{rimewatch.ScopeStatusRead: 403, rimewatch.ScopesIngest: 403, rimewatch.ScopeAlertsRead: 200, rimewatch.ScopesRead: 200} {
		token, _ := h.newToken(h.workspace(), scopes)
		status, text := h.push("POST", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, "Authorization", "Bearer "+token, "Content-Type", "application/json", "Accept", "application/json, text/event-stream")
		if status != want {
			t.Errorf("%v: %d %.200s", scopes.Names(), status, text)
		}
	}
}
