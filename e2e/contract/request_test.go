package contract

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// request is what a row sends. A body without a type is JSON.
type request struct {
	method string // default GET
	path   string // after /api
	token  string
	cookie string
	body   string
	kind   string // Content-Type; "-" = none
	header map[string]string
}

// answer is what came back.
type answer struct {
	status int
	header http.Header
	body   []byte
	json   any // numbers as json.Number
}

func (s *service) do(t *testing.T, q request) answer {
	t.Helper()
	resp := s.send(t, q)
	defer func() { _ = resp.Body.Close() }()
	a := answer{status: resp.StatusCode, header: resp.Header}
	var err error
	if a.body, err = io.ReadAll(resp.Body); err != nil {
		t.Fatalf("%s %s: %v", q.method, q.path, err)
	}
	d := json.NewDecoder(bytes.NewReader(a.body))
	d.UseNumber()
	if d.Decode(&a.json) != nil {
		a.json = nil
	}
	if strings.HasPrefix(q.path, "/v1") && q.method != http.MethodHead && a.status != http.StatusNotModified && !strings.HasPrefix(a.header.Get("Content-Type"), "text/csv") {
		checkEnvelope(t, q, a)
	}
	return a
}

// send sends a request as it is described.
func (s *service) send(t *testing.T, q request) *http.Response {
	t.Helper()
	if q.method == "" {
		q.method = http.MethodGet
	}
	var body io.Reader
	if q.body != "" {
		body = strings.NewReader(q.body)
	}
	r, err := http.NewRequestWithContext(t.Context(), q.method, s.base+q.path, body)
	if err != nil {
		t.Fatal(err)
	}
	switch {
	case q.kind == "-":
	case q.kind != "":
		r.Header.Set("Content-Type", q.kind)
	case q.body != "":
		r.Header.Set("Content-Type", "application/json")
	}
	if q.token != "" {
		r.Header.Set("Authorization", "Bearer "+q.token)
	}
	if q.cookie != "" {
		r.Header.Set("Cookie", q.cookie)
	}
	for k, v := range q.header {
		r.Header.Set(k, v)
	}
	resp, err := s.client.Do(r)
	if err != nil {
		t.Fatalf("%s %s: %v", q.method, q.path, err)
	}
	return resp
}

// statuses sends a request k times and counts the answers.
func (s *service) statuses(t *testing.T, k int, q request) map[int]int {
	t.Helper()
	seen := make(map[int]int)
	for range k {
		resp := s.send(t, q)
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
		seen[resp.StatusCode]++
	}
	return seen
}

var timeForm = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$`)
var snakeCase = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)

// checkEnvelope holds every answer under /api/v1 to the ground rules.
func checkEnvelope(t *testing.T, q request, a answer) {
	t.Helper()
	bad := func(format string, args ...any) {
		t.Helper()
		t.Errorf("%s %s: %d: "+format+"\n%s", append([]any{q.method, q.path, a.status}, append(args, clip(a.body))...)...)
	}
	id := a.header.Get("X-Request-Id")
	if id == "" {
		bad("no X-Request-Id")
	}
	if ct := a.header.Get("Content-Type"); ct != "application/json" {
		bad("Content-Type is %q", ct)
	}
	o, _ := a.json.(map[string]any)
	success, ok := o["success"].(bool)
	if _, isObject := o["data"].(map[string]any); !ok || !isObject || success != (a.status < 400) {
		bad("no envelope")
		return
	}
	if success {
		if o["error"] != nil {
			bad("a success with an error")
		}
		checkNames(bad, "", o["data"])
		return
	}
	e, _ := o["error"].(map[string]any)
	_, isObject := e["fields"].(map[string]any)
	message, _ := e["message"].(string)
	if e["request_id"] != id || !isObject || message == "" {
		bad("the error lacks request_id, fields or message")
	}
	for name, has := range map[string]bool{
		"Retry-After":      a.status == http.StatusTooManyRequests || a.status == http.StatusServiceUnavailable,
		"Www-Authenticate": a.status == http.StatusUnauthorized,
		"Allow":            a.status == http.StatusMethodNotAllowed,
	} {
		if (a.header.Get(name) != "") != has {
			bad("header %s is %q", name, a.header.Get(name))
		}
	}
}

// checkNames holds keys to snake_case and times to their one form. Keys of
// labels, fields and values are the users' own.
func checkNames(bad func(string, ...any), path string, v any) {
	switch x := v.(type) {
	case map[string]any:
		for k, inner := range x {
			if !snakeCase.MatchString(k) {
				bad("key %s.%s", path, k)
			}
			if s, ok := inner.(string); ok && (strings.HasSuffix(k, "_at") || k == "at" || k == "server_time") && !timeForm.MatchString(s) {
				bad("time %s.%s is %q", path, k, s)
			}
			if k != "labels" && k != "fields" && k != "values" {
				checkNames(bad, path+"."+k, inner)
			}
		}
	case []any:
		for _, inner := range x {
			checkNames(bad, path+"[]", inner)
		}
	}
}

func clip(b []byte) string {
	const most = 1500
	if len(b) > most {
		return string(b[:most]) + "…"
	}
	return string(b)
}

// at walks a path such as data.devices.0.serial. Missing is the value missing.
func (a answer) at(path string) any {
	v := a.json
	for step := range strings.SplitSeq(path, ".") {
		switch x := v.(type) {
		case map[string]any:
			inner, ok := x[step]
			if !ok {
				return missing
			}
			v = inner
		case []any:
			if step == "#" {
				v = json.Number(fmt.Sprint(len(x)))
				continue
			}
			var i int
			if _, err := fmt.Sscan(step, &i); err != nil || i >= len(x) {
				return missing
			}
			v = x[i]
		default:
			return missing
		}
	}
	return v
}

func (a answer) text(path string) string { s, _ := a.at(path).(string); return s }

func (a answer) number(t *testing.T, path string) float64 {
	t.Helper()
	n, ok := a.at(path).(json.Number)
	if !ok {
		t.Fatalf("%s is %v\n%s", path, a.at(path), clip(a.body))
	}
	f, err := n.Float64()
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// Words for expected values.
type (
	absent  struct{}
	present struct{} // and not null
	keys    []string // exactly these
	numeral string   // a number in exactly these digits
	test    func(any) bool
)

var missing = absent{}

// holds reports whether a value is what a row expects.
func holds(want, got any) bool {
	switch w := want.(type) {
	case absent:
		return got == missing
	case present:
		return got != missing && got != nil
	case test:
		return w(got)
	case numeral:
		return got == json.Number(w)
	case keys:
		o, ok := got.(map[string]any)
		if !ok {
			return false
		}
		var names []string
		for k := range o {
			names = append(names, k)
		}
		slices.Sort(names)
		slices.Sort(w)
		return slices.Equal(names, w)
	}
	if got == missing {
		return false
	}
	return cmp.Equal(plain(want), plain(got))
}

// plain is a value as JSON has it, numbers as floats.
func plain(v any) any {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	var out any
	_ = json.Unmarshal(b, &out)
	return out
}

// row is a sentence of the contract and the request that shows it.
type row struct {
	says   string
	req    request
	status int
	code   string
	fields []string          // that error.fields names, exactly; nil = not looked at
	want   map[string]any    // path → value
	header map[string]string // "" = must be absent; "*" = must be there
	text   string            // a piece of the body
	then   func(t *testing.T, a answer)
}

// recite runs the rows in order against one service.
func (s *service) recite(t *testing.T, rows []row) {
	t.Helper()
	for _, r := range rows {
		t.Run(r.says, func(t *testing.T) {
			a := s.do(t, r.req)
			if a.status != r.status {
				t.Fatalf("%s %s %s: %d, want %d\n%s", r.req.method, r.req.path, clip([]byte(r.req.body)), a.status, r.status, clip(a.body))
			}
			if code, _ := a.at("error.code").(string); code != r.code {
				t.Errorf("code %q, want %q", code, r.code)
			}
			if r.fields != nil && !holds(keys(r.fields), a.at("error.fields")) {
				t.Errorf("fields %v, want %v", a.at("error.fields"), r.fields)
			}
			for path, want := range r.want {
				if got := a.at(path); !holds(want, got) {
					t.Errorf("%s is %v, want %v\n%s", path, got, want, clip(a.body))
				}
			}
			for name, want := range r.header {
				got := a.header.Get(name)
				if want == "*" && got == "" || want != "*" && got != want {
					t.Errorf("header %s is %q, want %q", name, got, want)
				}
			}
			if !strings.Contains(string(a.body), r.text) {
				t.Errorf("%q is not in\n%s", r.text, clip(a.body))
			}
			if r.then != nil {
				r.then(t, a)
			}
		})
	}
}
