package v1

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rimewatch/rimewatch"
)

// scenario is one request and all that is expected of it. Scenarios of a table
// run in order against one service.
type scenario struct {
	name      string
	req       request
	before    func(r *rig)
	status    int
	code      rimewatch.Code
	fields    []string       // that error.fields must name, exactly
	want      map[string]any // path in the answer → value
	contains  []string       // in the body
	lacks     []string
	header    map[string]string // "" = must be absent
	events    []string          // published by this request, and no others
	anyEvents bool              // events are not looked at
}

func (r *rig) run(t *testing.T, table []scenario) {
	t.Helper()
	defer func(outer testing.TB) { r.t = outer }(r.t)
	for _, s := range table {
		t.Run(s.name, func(t *testing.T) {
			r.t = t
			if s.before != nil {
				s.before(r)
				r.events.take(t, 0)
			}
			a := r.settled(s.req)
			if a.status == http.StatusAccepted && a.get("data.act.id") != nil && s.status < a.status {
				a.status = s.status // it is carried out
			}
			if a.status != s.status || a.code() != string(s.code) {
				t.Errorf("%s %s: %d %q, want %d %q\n%s", s.req.method, s.req.path, a.status, a.code(), s.status, s.code, clip(a.body))
			}
			if s.fields != nil {
				var named []string
				if m, ok := a.get("error.fields").(map[string]any); ok {
					for f := range m {
						named = append(named, f)
					}
				}
				slices.Sort(named)
				slices.Sort(s.fields)
				if diff := cmp.Diff(s.fields, named); diff != "" {
					t.Errorf("fields: %s\n%s", diff, clip(a.body))
				}
			}
			for path, want := range s.want {
				if got := a.get(path); fmt.Sprint(got) != fmt.Sprint(want) {
					t.Errorf("%s is %v, want %v\n%s", path, got, want, clip(a.body))
				}
			}
			for _, text := range s.contains {
				if !strings.Contains(a.body, text) {
					t.Errorf("%q is not in\n%s", text, clip(a.body))
				}
			}
			for _, text := range s.lacks {
				if strings.Contains(a.body, text) {
					t.Errorf("%q is in\n%s", text, clip(a.body))
				}
			}
			for name, want := range s.header {
				if got := a.header.Get(name); got != want {
					t.Errorf("header %s is %q, want %q", name, got, want)
				}
			}
			events := r.events.take(t, len(s.events))
			if diff := cmp.Diff(s.events, events); diff != "" && !s.anyEvents {
				t.Errorf("events: %s", diff)
			}
		})
	}
}

func get(path, token string) request {
	return request{method: "GET", path: "/api" + path, token: token}
}
func post(path, token, body string) request {
	return request{method: "POST", path: "/api" + path, token: token, body: body}
}
func put(path, token, body string) request {
	return request{method: "PUT", path: "/api" + path, token: token, body: body}
}
func patch(path, token, body string) request {
	return request{method: "PATCH", path: "/api" + path, token: token, body: body}
}
func remove(path, token string) request {
	return request{method: "DELETE", path: "/api" + path, token: token}
}
func (q request) with(name, value string) request {
	h := map[string]string{name: value}
	for k, v := range q.header {
		if k != name {
			h[k] = v
		}
	}
	q.header = h
	return q
}

// browser is a request with the owner's session instead of a token.
func (r *rig) browser(q request) request {
	name := "rimewatch_session"
	if r.secure {
		name = "__Host-" + name
	}
	return q.with("Cookie", name+"="+r.owner).with("Prefer", "respond-async")
}
