package contract

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"flag"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/app"
	"github.com/rimewatch/rimewatch/internal/httpapi/described"
	"github.com/rimewatch/rimewatch/internal/trial"
)

var drawnFor = flag.Duration("drawn", 0, "draw requests from the description for so long, each round with the next seed (default: one round)")

// TestDrawnRequests draws requests from the description that the service serves, good ones and
// bad ones, by people and tokens of all kinds. Whatever is asked, the service does not fail, the answer is as
// described, what the description allows is read, what it forbids is refused, and what
// was refused changed nothing.
func TestDrawnRequests(t *testing.T) {
	seed, size := trial.Seed(t), 400
	if trial.Long() || *drawnFor > 0 {
		size = 4000
	}
	end := time.Now().Add(*drawnFor)
	total := make(map[string]*tally)
	for n := 0; ; n++ {
		drawRound(t, seed+uint64(n), size, total)
		if !time.Now().Before(end) {
			break
		}
	}
	sent := 0
	var never []string
	for _, id := range slices.Sorted(maps.Keys(total)) {
		sent += total[id].sent
		if total[id].good == 0 {
			never = append(never, fmt.Sprintf("%s (%d) %s", id, total[id].sent, total[id].refusal))
		}
		t.Logf("%-28s %6d sent, %6d good, %5.0f ms at most", id, total[id].sent, total[id].good, total[id].slowest.Seconds()*1000)
	}
	t.Logf("%d requests; never good:\n%s", sent, strings.Join(never, "\n"))
}

// tally counts the requests of an operation.
type tally struct {
	sent, good int
	slowest    time.Duration
	refusal    string // the last one of a request that was as described
}

// caller is somebody who sends requests.
type caller struct {
	name   string
	header map[string]string
	renew  func() map[string]string // signs in again; nil = there is nothing to renew
}

// explorer draws the requests of a round.
type explorer struct {
	*drawer
	t       *testing.T
	seed    uint64
	service *service
	spec    *described.API
	ops     []operation
	callers []*caller
	owner   *caller // sees what a refused request should not have changed
	tenants int
	total   map[string]*tally
	found   map[string]bool // by operation and kind, so that one mistake is one message
}

// operation is one that is described.
type operation struct {
	id, method, path string
	params           []any
	bodies           map[string]any // schemas by content type
	public           bool
}

func drawRound(t *testing.T, seed uint64, size int, total map[string]*tally) {
	s := start(t, func(_ *service, c *app.Config) {
		c.SMTPHost, c.SMTPPort, c.SMTPFrom, c.SMTPTLS = "127.0.0.1", 1, "rimewatch@example.com", "none" // which takes no message
		c.Logger = slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelError}))
	})
	defer func() {
		s.client.CloseIdleConnections()
		if err := s.halt(); err != nil {
			t.Error(err)
		}
		s.halt = func() error { return nil }
	}()
	a := s.do(t, request{path: "/openapi.json"})
	spec, err := described.Read(a.body)
	if err != nil {
		t.Fatal(err)
	}
	x := &explorer{
		drawer: newDrawer(seed, a.json.(map[string]any), s.now), t: t, seed: seed, service: s, spec: spec,
		total: total, found: make(map[string]bool),
	}
	x.operations()
	x.newTenant()
	x.furnish()
	x.newTenant()
	for range size {
		if x.chance(100) {
			s.advance(time.Duration(x.IntN(3600)) * time.Second)
		}
		x.one()
		if len(x.found) > 20 {
			return
		}
	}
}

func (x *explorer) operations() {
	for _, path := range slices.Sorted(maps.Keys(x.root["paths"].(map[string]any))) {
		item := x.root["paths"].(map[string]any)[path].(map[string]any)
		for _, method := range slices.Sorted(maps.Keys(item)) {
			row := item[method].(map[string]any)
			op := operation{id: row["operationId"].(string), method: strings.ToUpper(method), path: path, bodies: make(map[string]any)}
			op.params, _ = row["parameters"].([]any)
			if body, ok := row["requestBody"].(map[string]any); ok {
				for kind, media := range body["content"].(map[string]any) {
					op.bodies[kind] = media.(map[string]any)["schema"]
				}
			}
			security, _ := row["security"].([]any)
			op.public = len(security) == 0
			x.ops = append(x.ops, op)
		}
	}
}

// newTenant adds a workspace with people and tokens of all kinds.
func (x *explorer) newTenant() {
	x.tenants++
	n := x.service.tenant(x.t, fmt.Sprintf("Drawn %d", x.tenants))
	bearer := func(token string) map[string]string { return map[string]string{"Authorization": "Bearer " + token} }
	token := func(name string, scopes rimewatch.Scopes) {
		renew := func() map[string]string { return bearer(n.token(x.t, scopes)) }
		x.callers = append(x.callers, &caller{name: name, header: renew(), renew: renew})
	}
	for name, scopes := range map[string]rimewatch.Scopes{
		"full": rimewatch.ScopesFull, "ingest": rimewatch.ScopesIngest, "read": rimewatch.ScopesRead, "admin": rimewatch.ScopesAdmin, "status": rimewatch.ScopeStatusRead,
	} {
		token(name, scopes)
	}
	slices.SortFunc(x.callers, func(a, b *caller) int { return strings.Compare(a.name, b.name) })
	for _, role := range []rimewatch.Role{rimewatch.RoleOwner, rimewatch.RoleAdmin, rimewatch.RoleTechnician, rimewatch.RoleViewer} {
		people := 0
		renew := func() map[string]string {
			people++
			return map[string]string{"Cookie": n.signIn(x.t, fmt.Sprintf("%s%d.%d@example.com", role, x.tenants, people), role)}
		}
		c := &caller{name: string(role), header: renew(), renew: renew}
		x.callers = append(x.callers, c)
		if role == rimewatch.RoleOwner && x.tenants == 1 {
			x.owner = c
		}
	}
	x.callers = append(x.callers, &caller{name: "nobody"}, &caller{name: "stranger", header: bearer("rw_nonsense")})
}

// furnish makes one of everything in the first workspace, so that there is something to draw.
func (x *explorer) furnish() {
	warm := func(ago time.Duration) string {
		return fmt.Sprintf(`{"readings":[{"device_serial":"F-1","product_zone_temp":-2,"amp_draw":8,"recorded_at":%q},{"device_serial":"F-2","product_zone_temp":4,"humidity":40,"recorded_at":%q}]}`, x.service.ago(ago), x.service.ago(ago))
	}
	in := func(d time.Duration) string { return x.service.ago(-d) }
	for _, row := range []struct{ id, body string }{
		{"create-site", `{"name":"Harbour","timezone":"Europe/Berlin"}`},
		{"create-device", `{"serial":"F-1","equipment_type":"walkin_freezer","site_id":ID}`},
		{"create-device", `{"serial":"F-2","equipment_type":"display_case"}`},
		{"store-readings", warm(20 * time.Minute)}, {"store-readings", warm(0)}, {"store-readings", warm(-20 * time.Minute)},
		{"store-readings", warm(-40 * time.Minute)}, {"store-readings", warm(-time.Hour)},
		{"create-channel", `{"name":"Kitchen","kind":"email","to":["kitchen@example.com"]}`},
		{"create-channel", `{"name":"ERP","kind":"webhook","url":"https://erp.example.com/x"}`},
		{"create-route", `{"name":"All","steps":[{"after_s":0,"channel_ids":[ID]}]}`},
		{"create-silence", `{"match":{"types":["high_humidity"]},"ends_at":"` + in(20*time.Hour) + `"}`},
		{"create-maintenance-window", `{"device_serials":["F-2"],"reason":"cleaning","ends_at":"` + in(20*time.Hour) + `"}`},
		{"create-webhook", `{"url":"https://erp.example.com/events"}`},
		{"create-source", `{"name":"Loggers","template":"auto"}`},
		{"create-source-key", `{"source_id":ID,"name":"Board"}`},
		{"store-reading", `{"device_serial":"unknown-1","humidity":40}`},
		{"create-contact", `{"site_id":1,"name":"Cold Ltd","role":"service","phone":"+49 30 123456"}`},
		{"document-case", `{"device_serial":"F-1","from":"` + x.service.ago(3*time.Hour) + `","to":"` + x.service.ago(2*time.Hour) + `"}`},
		{"create-token", `{"name":"line","scopes":["devices:read","events:read","webhooks"]}`},
		{"create-token", `{"name":"store","scopes":["read"],"site_ids":[1]}`},
		{"invite-member", `{"email":"new@example.com","role":"technician"}`},
	} {
		i := slices.IndexFunc(x.ops, func(op operation) bool { return op.id == row.id })
		op := &x.ops[i]
		q := &drawnRequest{method: op.method, path: op.path, header: maps.Clone(x.owner.header)}
		resource := "/sites"
		switch row.id {
		case "create-route":
			resource = "/channels"
		case "create-source-key":
			resource = "/sources"
		}
		q.body, q.header["Content-Type"] = []byte(strings.Replace(row.body, "ID", text(x.known(resource)), 1)), "application/json"
		if strings.Contains(row.body, "amp_draw") {
			x.service.advance(20 * time.Minute)
		}
		if a := x.send(op, q); a == nil || a.status >= 300 {
			x.t.Fatalf("%s: %d %s", row.id, a.status, a.body)
		}
	}
}

// adopt lets a token that a request made send requests, too.
func (x *explorer) adopt(plain string) {
	c := &caller{name: "made", header: map[string]string{"Authorization": "Bearer " + plain}}
	for i, one := range x.callers {
		if one.name == c.name && x.chance(2) {
			x.callers[i] = c
			return
		}
	}
	if len(x.callers) < 30 {
		x.callers = append(x.callers, c)
	}
}

// deadly are operations that take a caller away; they are drawn seldom.
var deadly = []string{"delete-workspace", "erase-me", "remove-member", "change-password", "sign-out", "end-session", "end-other-sessions", "switch-workspace", "revoke-token", "update-member", "confirm-second-factor", "update-workspace"}

// costly are operations that hash passwords or make documents.
var costly = []string{"sign-in", "set-up", "reset-password", "begin-second-factor", "temperature-log", "case-report", "sign-case", "start-report", "export-workspace", "forgot-password", "try-channel", "test-channel"}

// lenient are operations that take more than they describe: numbers as texts, and lists of
// which single items are refused.
var lenient = []string{"store-reading", "store-readings", "heartbeat"}

// one draws a request, sends it and judges the answer.
func (x *explorer) one() {
	op := &x.ops[x.IntN(len(x.ops))]
	if slices.Contains(deadly, op.id) && !x.chance(10) || slices.Contains(costly, op.id) && !x.chance(4) {
		return
	}
	c := x.callers[x.IntN(len(x.callers))]
	if x.IntN(3) > 0 {
		c = x.owner // much is refused to others
	}
	q := x.request(op)
	for name, value := range c.header {
		q.header[name] = value
	}
	writes := op.method != http.MethodGet
	var before []byte
	watched := writes && x.chance(4)
	if watched {
		before = x.state(q.path)
	}
	a := x.send(op, q)
	if a == nil {
		return
	}
	if watched && a.status >= 400 && a.status != http.StatusUnauthorized {
		if after := x.state(q.path); !bytes.Equal(before, after) {
			x.fault(op, q, "a refused request changed something", fmt.Errorf("%d\nbefore %s\nafter  %s", a.status, before, after))
		}
	}
	if a.status == http.StatusUnauthorized && !op.public {
		x.revive(c)
	}
}

// revive signs somebody in again whom a request has signed out.
func (x *explorer) revive(c *caller) {
	if c.renew == nil {
		return
	}
	if a := x.send(nil, &drawnRequest{method: "GET", path: "/v1/me", header: maps.Clone(c.header)}); a == nil || a.status == http.StatusUnauthorized {
		c.header = c.renew()
	}
}

// state is what the owner sees at a path, and above it; nil = nothing. What was used last is left out.
func (x *explorer) state(path string) []byte {
	path, _, _ = strings.Cut(path, "?")
	for strings.Count(path, "/") > 3 {
		path = path[:strings.LastIndexByte(path, '/')]
	}
	ask := func() *answer {
		return x.send(nil, &drawnRequest{method: "GET", path: path, header: maps.Clone(x.owner.header)})
	}
	a := ask()
	if a != nil && a.status == http.StatusUnauthorized {
		x.revive(x.owner)
		a = ask()
	}
	if a == nil || a.status != http.StatusOK {
		return nil
	}
	return lastUsed.ReplaceAll(a.body, nil)
}

// send sends a request; op is nil where the answer is not judged.
func (x *explorer) send(op *operation, q *drawnRequest) *answer {
	hr, err := http.NewRequestWithContext(x.t.Context(), q.method, x.service.base+q.path, bytes.NewReader(q.body))
	if err != nil {
		return nil // no client could send it
	}
	for name, value := range q.header {
		hr.Header.Set(name, value)
	}
	begun := time.Now()
	resp, err := x.service.client.Transport.RoundTrip(hr)
	if err != nil {
		if op != nil {
			x.fault(op, q, "no answer", err)
		}
		return nil
	}
	a := &answer{status: resp.StatusCode, header: resp.Header}
	a.body, err = io.ReadAll(io.LimitReader(resp.Body, 64<<20))
	_ = resp.Body.Close()
	if err != nil && op != nil {
		x.fault(op, q, "half an answer", err)
		return nil
	}
	if op != nil {
		x.judge(op, q, hr, a, time.Since(begun))
	}
	return a
}

// judge holds an answer against what is described.
func (x *explorer) judge(op *operation, q *drawnRequest, hr *http.Request, a *answer, took time.Duration) {
	n := x.total[op.id]
	if n == nil {
		n = &tally{}
		x.total[op.id] = n
	}
	n.sent++
	n.slowest = max(n.slowest, took)
	good := a.status < 400
	if good {
		n.good++
	} else if a.status != http.StatusUnauthorized && a.status != http.StatusForbidden && (q.valid || op.bodies["application/json"] == nil) {
		n.refusal = clip(a.body)
	}
	if a.status >= 500 {
		x.fault(op, q, fmt.Sprint(a.status), fmt.Errorf("%s", clip(a.body)))
	}
	hr.Body = nil
	if err := x.spec.Check(hr, a.status, a.header, a.body); err != nil {
		x.fault(op, q, fmt.Sprintf("%d is not as described", a.status), fmt.Errorf("%w\n%s", err, clip(a.body)))
	}
	d := json.NewDecoder(bytes.NewReader(a.body))
	d.UseNumber()
	if d.Decode(&a.json) == nil {
		x.harvest(op, a.json)
		if plain := a.text("data.plain_token"); plain != "" {
			x.adopt(plain)
		}
		if tag := a.header.Get("ETag"); tag != "" {
			x.keep("ETag", tag)
		}
	}
	if q.valid && (a.status == 400 || a.status == 415 || a.status == 413) {
		x.fault(op, q, "what is described is not read", fmt.Errorf("%d %s", a.status, clip(a.body)))
	}
	if good && q.invalid != "" && !slices.Contains(lenient, op.id) {
		x.fault(op, q, "what is described as wrong is taken: "+q.invalid, fmt.Errorf("%d %s", a.status, clip(a.body)))
	}
}

// fault reports a mistake once a round.
func (x *explorer) fault(op *operation, q *drawnRequest, what string, err error) {
	key := op.id + ": " + what
	if x.found[key] {
		return
	}
	x.found[key] = true
	x.t.Errorf("%s (-run TestDrawnRequests -rapid.seed=%d)\n%s %s %v\n%s\n%v", key, x.seed, q.method, q.path, q.header, clip(q.body), err)
}

// drawnRequest is a request as it was drawn.
type drawnRequest struct {
	method, path string
	header       map[string]string
	body         []byte
	valid        bool   // the body is as described, and nothing else was spoilt
	invalid      string // the body is not as described: where and how
}

// request draws a request of an operation: its path, parameters, headers and body.
func (x *explorer) request(op *operation) *drawnRequest {
	q := &drawnRequest{method: op.method, header: make(map[string]string)}
	path, query := op.path, url.Values{}
	for _, p := range op.params {
		row := p.(map[string]any)
		name, schema := row["name"].(string), row["schema"].(map[string]any)
		switch row["in"] {
		case "path":
			v := text(x.pathValue(op, name, schema))
			if x.spoils(op, 20) {
				v = clipped(text(x.anything(2)))
			}
			path = strings.Replace(path, "{"+name+"}", url.PathEscape(v), 1)
		case "query":
			if x.IntN(4) > 0 && row["required"] != true {
				continue
			}
			v := x.value(schema, name, 0)
			if x.spoils(op, 8) {
				v = x.anything(1)
			}
			query.Add(strings.Replace(name, "KEY", "region", 1), text(v))
			if x.chance(30) {
				query.Add(name, text(x.value(schema, name, 0)))
			}
		case "header":
			if x.chance(8) {
				v := text(x.value(schema, name, 0))
				if name == "If-Match" {
					v = text(x.oneOf("*", `"1"`, `W/"2"`, "x", text(x.known("ETag")), text(x.known("ETag"))))
				}
				if name == "Prefer" {
					v = "respond-async"
				}
				q.header[name] = header(v)
			}
		}
	}
	if x.chance(30) {
		query.Set(text(x.oneOf("page", "serial", "dry_run", "fields", "x", "")), text(x.anything(1)))
	}
	q.path = path
	if len(query) > 0 {
		q.path += "?" + query.Encode()
	}
	if x.chance(10) {
		q.header["Accept"] = text(x.oneOf("text/csv", "application/x-ndjson", "application/problem+json", "application/pdf", "*/*", "text/html", "application/zip", "x", "application/json;q=0"))
	}
	if x.chance(40) {
		q.header["Rimewatch-Workspace"] = text(x.oneOf("drawn-1", "drawn-2", "x"))
	}
	if x.chance(20) {
		q.header["Accept-Language"] = text(x.oneOf("es", "de", "es-MX,es;q=0.9", "*", "x;q=2"))
	}
	x.body(op, q)
	return q
}

// spoils is true once in n times, and seldom for what was never answered well.
func (x *explorer) spoils(op *operation, n int) bool {
	if t := x.total[op.id]; t == nil || t.good == 0 {
		n *= 4
	}
	return x.chance(n)
}

// body draws the body of a request.
func (x *explorer) body(op *operation, q *drawnRequest) {
	kinds := slices.Sorted(maps.Keys(op.bodies))
	if len(kinds) == 0 {
		if x.chance(20) {
			q.body, q.header["Content-Type"] = []byte(`{"x":1}`), "application/json"
		}
		return
	}
	kind := kinds[x.IntN(len(kinds))]
	q.header["Content-Type"] = kind
	switch kind {
	case "application/json", "application/merge-patch+json":
		v := x.value(op.bodies[kind].(map[string]any), "", 0)
		q.valid = true
		if x.spoils(op, 3) {
			q.valid = false
			v = x.spoil(v)
		}
		q.body = encode(v)
		if kind == "application/json" && !q.valid {
			q.invalid = x.refused(op.bodies[kind], q.body)
		}
		if x.spoils(op, 40) {
			q.valid, q.body = false, x.garble(q.body)
			q.invalid = ""
		}
	case "application/x-ndjson":
		for range x.IntN(4) {
			v := x.value(x.deref(op.bodies["application/json"])["properties"].(map[string]any)["readings"].(map[string]any)["items"].(map[string]any), "", 0)
			if x.chance(4) {
				v = x.spoil(v)
			}
			q.body = append(append(q.body, encode(v)...), '\n')
		}
	case "image/jpeg", "image/png", "application/pdf":
		q.body = x.file(kind)
		if x.chance(4) {
			q.body = x.garble(q.body)
		}
	default:
		q.body = x.table(op)
		if kind == "multipart/form-data" {
			q.header["Content-Type"] = "multipart/form-data; boundary=b"
			q.body = fmt.Appendf(nil, "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.csv\"\r\n\r\n%s\r\n--b--\r\n", q.body)
		}
		if x.chance(10) {
			q.body = x.garble(q.body)
		}
	}
	if x.chance(20) {
		q.valid = false
		q.header["Content-Type"] = text(x.oneOf("text/plain", "application/xml", "application/json; charset=latin1", "", "multipart/form-data", "application/x-www-form-urlencoded"))
	}
	if x.chance(20) {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		_, _ = w.Write(q.body)
		_ = w.Close()
		q.body, q.header["Content-Encoding"] = b.Bytes(), "gzip"
		if x.chance(4) {
			q.valid, q.body = false, q.body[:len(q.body)/2]
			q.invalid = ""
		}
	}
}

// file draws one of a type.
func (x *explorer) file(kind string) []byte {
	img := image.NewGray(image.Rect(0, 0, 1+x.IntN(40), 1+x.IntN(40)))
	var b bytes.Buffer
	switch kind {
	case "image/jpeg":
		_ = jpeg.Encode(&b, img, nil)
	case "image/png":
		_ = png.Encode(&b, img)
	default:
		fmt.Fprintf(&b, "%%PDF-1.7 %d", x.IntN(9))
	}
	return b.Bytes()
}

// table draws a file of a spreadsheet.
func (x *explorer) table(op *operation) []byte {
	columns := map[string][]string{
		"import-devices":  {"serial", "name", "equipment_type", "site", "site_id", "label.region", "temp_max", "temp_min", "notes", "x", ""},
		"import-bindings": {"external_id", "device_serial", "name", "equipment_type", "site_id"},
		"import-readings": {"Date/Time", "Temp (°C)", "humidity", "timestamp", "recorded_at", "product_zone_temp", "x", ""},
	}[op.id]
	separator := text(x.oneOf(",", ",", ";", "\t"))
	var b strings.Builder
	width := 1 + x.IntN(len(columns))
	var heads []string
	for i := range width {
		heads = append(heads, columns[i%len(columns)])
	}
	if x.chance(4) {
		x.Shuffle(width, func(i, j int) { heads[i], heads[j] = heads[j], heads[i] })
		heads[x.IntN(width)] = columns[x.IntN(len(columns))]
	}
	b.WriteString(strings.Join(heads, separator) + "\n")
	for range x.IntN(6) {
		for i, head := range heads {
			if i > 0 {
				b.WriteString(separator)
			}
			var v any
			switch {
			case strings.Contains(head, "ime") || head == "recorded_at":
				v = x.time()
			case strings.Contains(strings.ToLower(head), "temp") || head == "humidity":
				v = strconv.FormatFloat(float64(x.IntN(600)-300)/10, 'f', -1, 64)
			default:
				v = x.known(head)
			}
			if v == nil || x.chance(10) {
				v = x.anything(1)
			}
			b.WriteString(text(v))
		}
		b.WriteByte('\n')
	}
	return []byte(b.String())
}

// pathValue draws what a parameter of a path names: mostly something that there is.
func (x *explorer) pathValue(op *operation, name string, schema map[string]any) any {
	parts := strings.Split(strings.TrimPrefix(op.path, "/v1/"), "/")
	for i, p := range parts {
		if p == "{"+name+"}" && i > 0 {
			if v := x.known("/" + parts[i-1]); v != nil && x.IntN(10) > 0 {
				return v
			}
		}
	}
	return x.value(schema, name, 0)
}

// harvest keeps what an answer names, so that later requests name it.
func (x *explorer) harvest(op *operation, v any) {
	resource, _, _ := strings.Cut(strings.TrimPrefix(op.path, "/v1/"), "/")
	o, _ := v.(map[string]any)
	data, _ := o["data"].(map[string]any)
	for key, inner := range data {
		list, ok := inner.([]any)
		if !ok {
			list = []any{inner}
		}
		for _, one := range list {
			if row, ok := one.(map[string]any); ok {
				for _, id := range []string{"id", "serial", "slug"} {
					if row[id] != nil {
						x.keep("/"+resource, row[id])
						x.keep("/"+strings.ReplaceAll(key, "_", "-"), row[id])
						x.keep("/"+strings.ReplaceAll(key, "_", "-")+"s", row[id])
					}
				}
			}
		}
	}
	x.gather("", data)
}

// gather keeps the values of an answer by their names.
func (x *explorer) gather(name string, v any) {
	switch v := v.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if key == "id" && name != "" {
				x.keep(strings.TrimSuffix(name, "s")+"_id", v[key])
			}
			x.gather(key, v[key])
		}
	case []any:
		for _, one := range v {
			x.gather(strings.TrimSuffix(name, "s"), one)
		}
	case nil, bool:
	default:
		x.keep(name, v)
		switch name {
		case "serial":
			x.keep("device_serial", v)
			x.keep("serials", v)
		case "next_cursor":
			x.keep("cursor", v)
			x.keep("after", v)
			x.keep("from", v)
		case "id":
			x.keep("after", v)
		}
	}
}

// clipped is a text that fits into the line of a request.
func clipped(s string) string { return s[:min(len(s), 20_000)] }

// header makes a text one that a header may have.
func header(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, s)
}
