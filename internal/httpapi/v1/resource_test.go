package v1

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/rimewatch/rimewatch/internal/httpapi"
)

// TestRevisions: whatever has a revision says which, and is changed and deleted only as
// the request knows it, where the request says how it knows it.
func TestRevisions(t *testing.T) {
	r := newIsolationRig(t)
	routes := make(map[string]bool)
	for i := range r.api.Routes() {
		if rt := &r.api.Routes()[i]; rt.Revised {
			routes[rt.Method+" "+rt.Path] = true
		}
	}
	n := 0
	for key := range routes {
		path, ok := strings.CutPrefix(key, "GET ")
		if !ok {
			continue
		}
		n++
		list, _ := strings.CutSuffix(path, "/{id}")
		kind := strings.TrimPrefix(list, "/v1/")
		t.Run(kind, func(t *testing.T) {
			one := fmt.Sprintf("%s/%d", list, r.theirs[kind])
			ask := func(method, match string) answer {
				q := request{method: method, path: httpapi.Prefix + one}
				if method == http.MethodPatch {
					q.body = bodyOf["update-"+strings.TrimSuffix(kind, "s")]
				}
				if match != "" {
					q = q.with("If-Match", match)
				}
				return r.do(r.browser(q))
			}
			expect := func(a answer, status int, tag string) {
				t.Helper()
				if a.status != status || a.header.Get("ETag") != tag {
					t.Fatalf("%d, ETag %s, want %d and %s: %s", a.status, a.header.Get("ETag"), status, tag, a.body)
				}
			}
			before := ask("GET", "")
			expect(before, 200, `"1"`)
			if routes["PATCH "+path] {
				for _, stale := range []string{`"2"`, `W/"0"`, `"2", "3"`, `"x"`, `""`} {
					expect(ask("PATCH", stale), 412, "")
				}
				if now := ask("GET", ""); now.get("data") == nil || fmt.Sprint(now.get("data")) != fmt.Sprint(before.get("data")) {
					t.Fatalf("changed: %s, was %s", now.body, before.body)
				}
				expect(ask("PATCH", `"9", W/"1"`), 200, `"2"`)
				expect(ask("PATCH", `*`), 200, `"3"`)
				expect(ask("PATCH", ""), 200, `"4"`)
			}
			if routes["DELETE "+path] {
				expect(ask("DELETE", `"1"`), 412, "")
				r.theirs[kind] += 1000
				missing := one
				one = fmt.Sprintf("%s/%d", list, r.theirs[kind])
				expect(ask("PATCH", `*`), 404, "")
				one = missing
			}
		})
	}
	if n == 0 {
		t.Error("nothing has a revision")
	}
}

// TestWholeListsPage: a list that is whole by itself comes in pages for those who ask.
func TestWholeListsPage(t *testing.T) {
	r := newIsolationRig(t)
	ask := func(query string) answer { return r.do(r.browser(get("/v1/channels"+query, ""))) }
	whole := ask("")
	if whole.status != 200 || len(whole.get("data.channels").([]any)) != 2 || whole.get("data.pagination.total") != 2.0 || whole.get("data.pagination.last_page") != 1.0 || whole.header.Get("Link") != "" {
		t.Fatalf("%d %s", whole.status, whole.body)
	}
	first := ask("?per_page=1")
	if first.get("data.channels.0.name") != "C" || first.get("data.channels.1") != nil || first.get("data.pagination.last_page") != 2.0 || !strings.Contains(first.header.Get("Link"), "page=2") {
		t.Fatalf("%s %s", first.body, first.header)
	}
	cursor, _ := first.get("data.pagination.next_cursor").(string)
	second := ask("?per_page=1&cursor=" + cursor)
	if second.get("data.channels.0.name") != "M" || second.get("data.pagination.next_cursor") != nil {
		t.Fatalf("%s", second.body)
	}
	if past := ask("?page=3"); past.status != 200 || past.get("data.channels.0") != nil || past.get("data.pagination.per_page") != 15.0 {
		t.Fatalf("%s", past.body)
	}
	for _, other := range []string{"/v1/routes?cursor=" + cursor, "/v1/channels?cursor=x"} {
		if a := r.do(r.browser(get(other, ""))); a.status != 422 {
			t.Errorf("%s: %d %s", other, a.status, a.body)
		}
	}
}
