package e2e

import (
	"bufio"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/client"
	"github.com/rimewatch/rimewatch/internal/trial"
)

// TestSDKs: the clients in Go, Python and TypeScript pass the same scenarios against a real server. Each has a program that
// prints what the test wants to see.
func TestSDKs(t *testing.T) {
	trial.NeedsAll(t)
	t.Parallel()
	for _, sdk := range []struct {
		name    string
		command []string
		needs   string // a file; "" = none
	}{
		{"go", []string{"sdk"}, ""},
		{"python", []string{"python3", "../sdk/python/scenarios.py"}, "../sdk/python/rimewatch/operations.py"},
		{"typescript", []string{"node", "../sdk/typescript/scenarios.mjs"}, "../sdk/typescript/dist/index.js"},
	} {
		t.Run(sdk.name, func(t *testing.T) {
			t.Parallel()
			if _, err := os.Stat(sdk.needs); err != nil && sdk.needs != "" {
				t.Fatalf("%v: make sdk", err)
			}
			s := newSDKRig(t, sdk.command)
			t.Run("calls", s.calls)
			t.Run("faults", s.faults)
			t.Run("webhooks", s.webhooks)
			t.Run("hooks", s.hooks)
			t.Run("stream", s.stream)
			t.Run("events", s.events)
		})
	}
}

// sdkRig is a server behind two doors: one that carries bytes and can be shut, and one that spoils calls.
type sdkRig struct {
	command []string
	token   string
	serve   func(t *testing.T) *process // a new server over the same data
	process *process
	door    *door
	spoiler *spoiler
	spoiled string // URL
	c       *client.Client
}

func newSDKRig(t *testing.T, command []string) *sdkRig {
	bin, data := program(t), filepath.Join(t.TempDir(), "data")
	out, err := exec.Command(bin, "token", "create", "--data", data, "--workspace", "W", "--create", "--name", "test", "--scopes", "admin").Output()
	if err != nil {
		t.Fatal(err)
	}
	s := &sdkRig{command: command, token: strings.TrimSpace(string(out)), door: newDoor(t), spoiler: &spoiler{}}
	s.serve = func(t *testing.T) *process {
		t.Helper()
		p, at, _, err := launch("", bin, os.Environ(), []string{"serve", "--data", data, "--listen", "127.0.0.1:0"})
		if err != nil {
			t.Fatal(err)
		}
		s.door.lead(strings.TrimPrefix(at, "http://"))
		return p
	}
	s.process = s.serve(t)
	t.Cleanup(func() {
		if err := s.process.terminate(os.Interrupt); err != nil {
			t.Errorf("the server ended with %v\n%s", err, s.process.err.String())
		}
	})
	target, err := url.Parse(s.door.url())
	if err != nil {
		t.Fatal(err)
	}
	s.spoiler.proxy = httputil.NewSingleHostReverseProxy(target)
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: s.spoiler, ReadHeaderTimeout: patience}
	go func() { _ = server.Serve(l) }()
	t.Cleanup(func() { _ = server.Close() })
	s.spoiled = "http://" + l.Addr().String()
	if s.c, err = client.New(s.door.url(), s.token, nil); err != nil {
		t.Fatal(err)
	}
	return s
}

// start runs a scenario and returns its lines as they come, and what waits for its end.
func (s *sdkRig) start(t *testing.T, at string, args ...string) (line func() string, wait func()) {
	t.Helper()
	command := exec.CommandContext(t.Context(), s.command[0], append(s.command[1:len(s.command):len(s.command)], args...)...)
	command.Env = append(os.Environ(), "RIMEWATCH_URL="+at, "RIMEWATCH_TOKEN="+s.token, "NODE_OPTIONS="+websocketOption(t), "PYTHONDONTWRITEBYTECODE=1")
	stdout, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var stderr strings.Builder
	command.Stderr = &stderr
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(stdout)
	line = func() string {
		t.Helper()
		if !lines.Scan() {
			_ = command.Wait()
			t.Fatalf("%v ended: %s", args, stderr.String())
		}
		return lines.Text()
	}
	return line, func() {
		t.Helper()
		rest, err := io.ReadAll(stdout)
		if len(rest) > 0 || err != nil {
			t.Errorf("%v also said %q, %v", args, rest, err)
		}
		if err := command.Wait(); err != nil {
			t.Errorf("%v: %v %s", args, err, stderr.String())
		}
	}
}

// websocketOption is what Node before 22 needs to have WebSocket.
var websocketOption = func() func(testing.TB) string {
	option := sync.OnceValue(func() string {
		out, err := exec.Command("node", "-p", "typeof WebSocket").Output()
		if err == nil && strings.TrimSpace(string(out)) == "undefined" {
			return "--experimental-websocket"
		}
		return ""
	})
	return func(testing.TB) string { return option() }
}()

// said runs a scenario to its end and compares its lines.
func (s *sdkRig) said(t *testing.T, at, want string, args ...string) {
	t.Helper()
	line, wait := s.start(t, at, args...)
	for _, w := range strings.Split(want, "\n") {
		if got := line(); got != w {
			t.Errorf("%v: %s instead of %s", args, got, w)
		}
	}
	wait()
}

func (s *sdkRig) calls(t *testing.T) {
	site, err := s.c.Sites().Create(t.Context(), client.SiteFields{Name: client.Value("Main")})
	if err != nil {
		t.Fatal(err)
	}
	var serials []string
	for i := range 120 {
		serial, labels := fmt.Sprintf("S-%03d", i), map[string]string{"row": strconv.Itoa(i % 8 / 7)}
		if i%8 == 7 {
			serials = append(serials, serial)
		}
		if _, err := s.c.CreateDevice(t.Context(), serial, client.DeviceFields{EquipmentType: client.Value("walkin_freezer"), SiteID: &site.ID, Labels: labels}); err != nil {
			t.Fatal(err)
		}
	}
	list, err := json.Marshal([][]string{serials})
	if err != nil {
		t.Fatal(err)
	}
	id, at := strconv.FormatInt(site.ID, 10), s.door.url()
	s.said(t, at, string(list), "lists", id)
	s.said(t, at, `[422,"validation_failed",["humidity"],true]`, "refused")
	s.said(t, at, `[{"aisle":"7"}]`, "merged", "S-007")
	s.said(t, at, "[412,\"precondition_failed\"]\n[\"1 High Street\"]", "changed", id)
	var readings []client.Reading
	begin := rimewatch.TimeOf(time.Now().Add(-time.Hour))
	for i := range 1500 {
		at := begin + rimewatch.Time(i/3)*1000
		readings = append(readings, client.Reading{DeviceSerial: fmt.Sprintf("S-%03d", i%3), RecordedAt: at, Measurements: client.Measurements{ProductZoneTemp: client.Value(-18.5)}})
	}
	if r, err := s.c.PostBatch(t.Context(), readings); err != nil || r.Accepted != len(readings) {
		t.Fatalf("%+v %v", r, err)
	}
	s.said(t, at, `[1500,true]`, "history", "S-000,S-001,S-002")
}

// faults: what is spoiled on the way is done once, and what may not happen twice is not tried twice.
func (s *sdkRig) faults(t *testing.T) {
	keys := s.spoiler.next(unavailable, lost)
	s.said(t, s.spoiled, `["F-1"]`, "created", "F-1")
	if k := keys(); len(k) != 3 || k[0] == "" || k[0] != k[1] || k[1] != k[2] {
		t.Errorf("tried with the keys %q", k)
	}
	keys = s.spoiler.next(lost)
	s.said(t, s.spoiled, `["broken"]`, "untimed", "F-1")
	if k := keys(); len(k) != 1 {
		t.Errorf("a reading without a time was sent %d times", len(k))
	}
	keys = s.spoiler.next(lost, unavailable, lost)
	s.said(t, s.spoiled, `[-18]`, "timed", "F-1", time.Now().Add(-time.Minute).UTC().Format(time.RFC3339))
	if k := keys(); len(k) != 4 {
		t.Errorf("a reading with a time was sent %d times", len(k))
	}
	n := 0
	for _, err := range s.c.History(t.Context(), "F-1", client.HistoryQuery{}) {
		if n++; err != nil {
			t.Fatal(err)
		}
	}
	if n != 2 {
		t.Errorf("%d readings are stored", n)
	}
}

func (s *sdkRig) webhooks(t *testing.T) {
	secret := rimewatch.WebhookSecret([32]byte{1})
	body := `{"id":"evt_1_42","type":"alert.opened","data":{"alert":{"title":"Zu warm – −12 °C"}}}`
	sign := func(secret, id string, at int64, body string) string {
		key, _ := rimewatch.WebhookKey(secret)
		h := hmac.New(sha256.New, key)
		_, _ = fmt.Fprintf(h, "%s.%d.%s", id, at, body)
		return "v1," + base64.StdEncoding.EncodeToString(h.Sum(nil))
	}
	const at, id = 1795204032, "evt_1_42"
	good := sign(secret, id, at, body)
	args, want := []string{"webhook", secret}, ""
	for _, c := range []struct {
		id, signature, body string
		now                 int64
		ok                  bool
	}{
		{id, good, body, at + 3, true},
		{id, sign(rimewatch.WebhookSecret([32]byte{2}), id, at, body) + " " + good, body, at - 299, true}, // while a secret is replaced
		{id, good, strings.Replace(body, "42", "43", 1), at, false},
		{"evt_1_43", good, body, at, false},
		{id, good, body, at + 301, false},
		{id, good, body, at - 301, false},
		{id, "", body, at, false},
		{id, "v1,", body, at, false},
		{id, "v2" + good[2:], body, at, false},
		{id, "v1,not base64 " + good[:len(good)-2], body, at, false},
	} {
		b, err := json.Marshal(map[string]any{"headers": map[string]string{"Webhook-Id": c.id, "Webhook-Timestamp": strconv.Itoa(at), "Webhook-Signature": c.signature}, "body": c.body, "now": c.now})
		if err != nil {
			t.Fatal(err)
		}
		args, want = append(args, string(b)), want+fmt.Sprintf("[%v]\n", c.ok)
	}
	s.said(t, s.door.url(), strings.TrimSpace(want), args...)
}

// hooks: what is done about a webhook.
func (s *sdkRig) hooks(t *testing.T) {
	s.said(t, s.door.url(), strings.Join([]string{`[["alert.opened"],true]`, `[true]`, `[true]`, `[true]`, `[false]`, `[["ERP"]]`, `[404,"not_found"]`}, "\n"), "hooks", "https://erp.example.com/x", "2026-01-01T00:00:00Z")
}

// stream: a lost connection is made again, and nothing is missed or repeated.
func (s *sdkRig) stream(t *testing.T) {
	line, wait := s.start(t, s.door.url(), "stream", "4")
	expect := func(want string) {
		t.Helper()
		if got := line(); got != want {
			t.Errorf("%s instead of %s", got, want)
		}
	}
	create := func(serial string) {
		t.Helper()
		if _, err := s.c.CreateDevice(t.Context(), serial, client.DeviceFields{EquipmentType: client.Value("walkin_freezer")}); err != nil {
			t.Fatal(err)
		}
		expect(fmt.Sprintf(`["device.created",%q]`, serial))
	}
	expect(`["subscribed",false]`)
	create("ST-1")
	create("ST-2")
	s.door.shut()
	other, err := client.New("http://"+s.door.behind(), s.token, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := other.CreateDevice(t.Context(), "ST-3", client.DeviceFields{EquipmentType: client.Value("walkin_freezer")}); err != nil {
		t.Fatal(err)
	}
	s.door.open()
	expect(`["subscribed",true]`)
	expect(`["device.created","ST-3"]`)
	create("ST-4")
	wait()
}

// events: a program that stores where it was misses none over a restart of the server and of itself.
func (s *sdkRig) events(t *testing.T) {
	page, err := s.c.Call(t.Context(), client.Request{Method: http.MethodGet, Path: "/events", Query: url.Values{"types": {"device.created"}, "per_page": {"1000"}}})
	if err != nil {
		t.Fatal(err)
	}
	var last struct {
		Next string `json:"next_cursor"`
	}
	if err := json.Unmarshal(page.Data, &last); err != nil {
		t.Fatal(err)
	}
	create := func(serial string) string {
		t.Helper()
		d, err := s.c.CreateDevice(t.Context(), serial, client.DeviceFields{EquipmentType: client.Value("walkin_freezer")})
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf(`["device.created","device/%d",`, d.ID)
	}
	var cursor string
	read := func(line func() string, want string) {
		t.Helper()
		got := line()
		var said []string
		if err := json.Unmarshal([]byte(got), &said); err != nil || !strings.HasPrefix(got, want) {
			t.Fatalf("%s instead of %s…: %v", got, want, err)
		}
		cursor = said[2]
	}
	first := create("E-1")
	line, wait := s.start(t, s.door.url(), "events", last.Next, "device.created", "3")
	read(line, first)
	read(line, create("E-2"))
	s.door.shut()
	if err := s.process.terminate(os.Interrupt); err != nil {
		t.Errorf("the server ended with %v\n%s", err, s.process.err.String())
	}
	s.process = s.serve(t)
	s.door.open()
	read(line, create("E-3"))
	wait()
	missed := create("E-4")
	line, wait = s.start(t, s.door.url(), "events", cursor, "device.created", "1")
	read(line, missed)
	wait()
}

// door carries connections to a server that may change, and cuts them when it is shut.
type door struct {
	l      net.Listener
	mu     sync.Mutex
	target string
	closed bool
	all    map[net.Conn]bool
}

func newDoor(t *testing.T) *door {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	d := &door{l: l, all: make(map[net.Conn]bool)}
	t.Cleanup(func() { _ = l.Close(); d.shut() })
	go func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			go d.carry(in)
		}
	}()
	return d
}

func (d *door) carry(in net.Conn) {
	defer func() { _ = in.Close() }()
	target := d.behind()
	out, err := net.Dial("tcp", target) //nolint:noctx // it ends with the test
	if err != nil {
		return
	}
	defer func() { _ = out.Close() }()
	d.mu.Lock()
	closed := d.closed
	d.all[in], d.all[out] = true, true
	d.mu.Unlock()
	if closed {
		return
	}
	go func() {
		_, _ = io.Copy(out, in)
		_ = out.Close()
	}()
	_, _ = io.Copy(in, out)
}

func (d *door) url() string { return "http://" + d.l.Addr().String() }

func (d *door) behind() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.target
}

func (d *door) lead(target string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.target = target
}

// shut cuts all connections; new ones end at once, until open.
func (d *door) shut() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
	for c := range d.all {
		_ = c.Close()
	}
	clear(d.all)
}

func (d *door) open() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = false
}

// spoiler is a proxy that spoils the next calls.
type spoiler struct {
	proxy http.Handler
	mu    sync.Mutex
	plan  []func(w http.ResponseWriter, r *http.Request, proxy http.Handler)
	keys  []string
}

// next spoils the next calls, and returns the keys that came until it is called.
func (s *spoiler) next(plan ...func(http.ResponseWriter, *http.Request, http.Handler)) (keys func() []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.plan, s.keys = plan, nil
	return func() []string {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.keys
	}
}

func (s *spoiler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	serve := func(w http.ResponseWriter, r *http.Request, proxy http.Handler) { proxy.ServeHTTP(w, r) }
	if len(s.plan) > 0 {
		serve, s.plan = s.plan[0], s.plan[1:]
	}
	s.keys = append(s.keys, r.Header.Get("Idempotency-Key"))
	s.mu.Unlock()
	serve(w, r, s.proxy)
}

// unavailable answers as the service does when it has done nothing.
func unavailable(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Retry-After", "0")
	w.WriteHeader(http.StatusServiceUnavailable)
	_, _ = io.WriteString(w, `{"success":false,"data":{},"error":{"code":"unavailable","message":"…","fields":{},"request_id":"1"}}`)
}

// lost carries a call out and breaks the connection before the answer.
func lost(_ http.ResponseWriter, r *http.Request, proxy http.Handler) {
	proxy.ServeHTTP(&nowhere{}, r)
	panic(http.ErrAbortHandler)
}

// nowhere is an answer that nobody reads.
type nowhere struct{ h http.Header }

func (n *nowhere) Header() http.Header {
	if n.h == nil {
		n.h = make(http.Header)
	}
	return n.h
}
func (*nowhere) Write(b []byte) (int, error) { return len(b), nil }
func (*nowhere) WriteHeader(int)             {}
