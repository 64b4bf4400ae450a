package v1

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/account"
	"github.com/rimewatch/rimewatch/internal/httpapi"
	"github.com/rimewatch/rimewatch/internal/httpapi/accounts"
	"github.com/rimewatch/rimewatch/internal/httpapi/described"
	programs "github.com/rimewatch/rimewatch/internal/httpapi/events"
	"github.com/rimewatch/rimewatch/internal/httpapi/export"
	"github.com/rimewatch/rimewatch/internal/httpapi/inlets"
	"github.com/rimewatch/rimewatch/internal/httpapi/notifications"
	"github.com/rimewatch/rimewatch/internal/httpapi/records"
	"github.com/rimewatch/rimewatch/internal/httpapi/submit"
	"github.com/rimewatch/rimewatch/internal/ingest"
	"github.com/rimewatch/rimewatch/internal/limit"
	"github.com/rimewatch/rimewatch/internal/notify"
	"github.com/rimewatch/rimewatch/internal/publish"
	"github.com/rimewatch/rimewatch/internal/report/gather"
	"github.com/rimewatch/rimewatch/internal/source"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/store/sqlite"
	"github.com/rimewatch/rimewatch/internal/wire"
)

// rig is the API over the real store, write path and accounts.
type rig struct {
	t        testing.TB
	api      *httpapi.API
	readings *submit.Readings
	cursors  httpapi.CursorCodec // as the api has it
	secure   bool                // the public URL is https
	store    *sqlite.Store
	ingest   *ingest.Service
	accounts *account.Service
	service  *replaceable
	events   *eventRecorder
	spec     *described.API
	log      *syncBuffer
	clock    atomic.Int64 // ms
	steps    stepping     // of sources
	notifier *sentNotifier

	peopled
}

// peopled is who is in a store with people.
type peopled struct {
	workspace        rimewatch.Workspace
	full, feed, read string // tokens
	owner            string // session secret
	other            rimewatch.Workspace
	otherFull        string
}

type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// rigQuotas are more than any test needs but the one of quotas.
var rigQuotas = store.Quotas{Devices: 600, Sites: 20, Tokens: 20, Members: 20}

const ownerPassword = "correct horse battery"

var rigStart = rimewatch.TimeOf(time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC))

func (r *rig) now() rimewatch.Time     { return rimewatch.Time(r.clock.Load()) }
func (r *rig) advance(d time.Duration) { r.clock.Add(d.Milliseconds()) }

// newRig is a rig with people and tokens.
func newRig(t testing.TB, change ...func(*whole)) *rig {
	t.Helper()
	template.once.Do(func() { template.make(t) })
	if template.store == nil {
		t.Fatal("the template could not be made")
	}
	r := openRig(t, template.store, change...)
	r.peopled = template.peopled
	return r
}

// template is a store with people. It is made once and copied for each test: making
// one takes longer than most tests do.
var template peopledStore

type peopledStore struct {
	once  sync.Once
	store []byte // the file
	peopled
}

func (p *peopledStore) make(t testing.TB) {
	t.Helper()
	r := emptyRig(t)
	r.people(t.Context())
	path := filepath.Join(t.TempDir(), "template.db")
	err := r.store.Backup(t.Context(), path)
	if err == nil {
		p.store, err = os.ReadFile(path)
	}
	if err != nil {
		t.Fatal(err)
	}
	p.peopled = r.peopled
}

type frame = httpapi.Config

// whole configures the frame and all that is in it.
type whole struct {
	frame
	Config
	readings submit.Config
	told     notifications.Config
	kept     records.Config
	people   accounts.Service
	sources  bool         // with the routes of sources
	hourly   *limit.Keyed // of registrations; nil = as usual
}

// withSources has a rig answer for sources as well, which the export asks for.
func withSources(w *whole) { w.sources = true }

// replaceable is a service that a test may replace.
type replaceable struct{ accounts.Service }

// emptyRig is a rig that nobody has set up.
func emptyRig(t testing.TB, change ...func(*whole)) *rig {
	t.Helper()
	return openRig(t, nil, change...)
}

// openRig is a rig over a copy of a store; nil = a new one.
func openRig(t testing.TB, file []byte, change ...func(*whole)) *rig {
	t.Helper()
	r := &rig{t: t, log: &syncBuffer{}, events: newEventRecorder()}
	r.clock.Store(int64(rigStart))
	ctx := t.Context()
	std := func() time.Time { return r.now().Std() }
	logger := slog.New(slog.NewTextHandler(r.log, nil))
	path := filepath.Join(t.TempDir(), sqlite.FileName)
	if file != nil {
		if err := os.WriteFile(path, file, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var err error
	if r.store, err = sqlite.Open(ctx, sqlite.Config{Path: path, Now: std, Logger: logger, Quotas: rigQuotas}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.store.Close() })
	r.ingest = ingest.New(ingest.Config{Store: r.store, Publisher: r.events, Now: std, ByHand: true, Logger: logger})
	if err := r.ingest.Start(ctx); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.ingest.Stop)
	r.accounts = account.New(account.Config{Store: r.store, Password: account.PasswordParams{MemoryKiB: 64, Passes: 1, Threads: 1}})
	r.service = &replaceable{r.accounts}
	r.steps.heard = make(map[uint64]rimewatch.Time)
	r.notifier = &sentNotifier{s: r.store, now: r.now, changed: make(map[int64]int)}
	key := [32]byte{1, 2, 3}
	covered := func(ctx context.Context, workspaceID, userID int64) (wire.Coverage, error) {
		return notify.Coverage(ctx, r.store, workspaceID, userID, r.now())
	}
	escalation := func(ctx context.Context, v *rimewatch.AlertView) (*wire.Escalation, error) {
		return notify.Escalation(ctx, r.store, v, r.now())
	}
	calls := func(ctx context.Context, workspaceID int64, site *rimewatch.Site) ([]wire.Call, error) {
		return notify.Called(ctx, r.store, workspaceID, site, r.now())
	}
	cfg := whole{
		frame: frame{Acts: func() store.Resource[rimewatch.Act] { return r.store.Acts() }, Auth: r.accounts, Now: r.now, Log: logger, Version: "test", Identify: r.store.Identify},
		Config: Config{
			Accounts: r.accounts, Writer: r.ingest, Health: r.ingest, Predictor: r.ingest,
			Fleet: r.store, History: r.store, Alerts: r.store, Store: r.store, Quotas: rigQuotas, Coverage: covered, Escalation: escalation, CursorKey: key,
		},
		readings: submit.Config{Writer: r.ingest, Fleet: r.store, History: r.store},
		told:     notifications.Config{Store: r.store, Writer: r.ingest, Sites: r.accounts, Notifier: r.notifier, Coverage: covered, Calls: calls, CursorKey: key},
		kept:     records.Config{Store: r.store, Logos: r.store, Signers: r.accounts, CursorKey: key, Writer: r.ingest, Reports: gather.New(gather.Config{Store: r.store, Health: r.ingest, Now: r.now}), Health: r.ingest, Sites: r.accounts, Notifier: r.notifier, Mail: r.accounts, Card: plainCard, Background: func(work func(context.Context)) { work(context.Background()) }},
		people:   r.service,
	}
	for _, f := range change {
		f(&cfg)
	}
	r.cursors, r.secure = httpapi.CursorCodec{Key: cfg.CursorKey}, strings.HasPrefix(cfg.PublicURL, "https:")
	sources, err := source.New(source.Config{Store: r.store, Writer: r.ingest, Now: r.now, Log: logger, Clock: &r.steps, Registrations: cfg.hourly})
	if err != nil {
		t.Fatal(err)
	}
	cfg.readings.Waiting = sources
	resources, err := New(cfg.Config)
	if err != nil {
		t.Fatal(err)
	}
	r.readings = submit.New(cfg.readings)
	routesOfSources := func(*httpapi.API) []httpapi.Route { return nil }
	if cfg.sources {
		routesOfSources = inlets.Routes(sources, inlets.Config{CursorKey: key})
	}
	if r.api, err = httpapi.New(cfg.frame, resources.Routes, notifications.Routes(cfg.told), records.Routes(cfg.kept), r.readings.Routes, accounts.Routes(cfg.people, accounts.SignOn{}), routesOfSources, export.Routes(r.store), programs.Routes(programs.Config{Store: r.store, Notifier: r.notifier, CursorKey: key})); err != nil {
		t.Fatal(err)
	}
	if r.spec, err = describedBy(r.api); err != nil {
		t.Fatal(err)
	}
	return r
}

// people makes an owner, who is signed in, tokens, and a second workspace.
func (r *rig) people(ctx context.Context) {
	r.t.Helper()
	must := func(err error) {
		if err != nil {
			r.t.Helper()
			r.t.Fatal(err)
		}
	}
	code, _, err := r.accounts.SetupCode(ctx)
	must(err)
	in, err := r.accounts.Setup(ctx, account.SetupRequest{Code: code, Workspace: "Alpha", Email: "olga@example.com", Name: "Olga", Password: ownerPassword}, r.now())
	must(err)
	r.owner = in.Secret
	r.unknown(in.Principal.WorkspaceID, rimewatch.RefuseUnknown)
	r.workspace, err = r.store.Workspace(ctx, in.Principal.WorkspaceID)
	must(err)
	r.full = r.token(r.workspace.ID, rimewatch.ScopesFull)
	r.feed = r.token(r.workspace.ID, rimewatch.ScopesIngest)
	r.read = r.token(r.workspace.ID, rimewatch.ScopesRead)
	r.other, err = r.accounts.FindWorkspace(ctx, "Beta", true, r.now())
	must(err)
	r.unknown(r.other.ID, rimewatch.RefuseUnknown)
	r.otherFull = r.token(r.other.ID, rimewatch.ScopesFull)
}

func (r *rig) token(workspaceID int64, s rimewatch.Scopes) string {
	r.t.Helper()
	_, plain, err := r.accounts.CreateToken(r.t.Context(), account.Operator(workspaceID), account.TokenRequest{Name: "test", Scopes: s}, r.now())
	if err != nil {
		r.t.Fatal(err)
	}
	return plain
}

// unknown sets what becomes of readings of unknown serials.
func (r *rig) unknown(workspaceID int64, on rimewatch.OnUnknown) {
	r.t.Helper()
	if _, err := r.accounts.UpdateWorkspace(r.t.Context(), account.Operator(workspaceID), account.WorkspacePatch{OnUnknown: &on}, r.now()); err != nil {
		r.t.Fatal(err)
	}
}

// device registers a device in the first workspace.
func (r *rig) device(serial, equipmentType string) rimewatch.DeviceView {
	r.t.Helper()
	v, err := r.ingest.CreateDevice(r.t.Context(), &rimewatch.Device{WorkspaceID: r.workspace.ID, Serial: serial, Name: "Unit " + serial, EquipmentType: equipmentType})
	if err != nil {
		r.t.Fatal(err)
	}
	return v
}

// request is one request to the API.
type request struct {
	method, path string
	body         string
	token        string // "" = none
	header       map[string]string
}

type answer struct {
	status int
	header http.Header
	body   string
	json   map[string]any
}

func (r *rig) do(q request) answer {
	r.t.Helper()
	var body io.Reader
	if q.body != "" {
		body = strings.NewReader(q.body)
	}
	hr := httptest.NewRequest(q.method, q.path, body)
	if q.body != "" {
		hr.Header.Set("Content-Type", httpapi.TypeJSON)
	}
	if q.token != "" {
		hr.Header.Set("Authorization", "Bearer "+q.token)
	}
	for k, v := range q.header {
		if v == "" {
			hr.Header.Del(k)
		} else {
			hr.Header.Set(k, v)
		}
	}
	rec := httptest.NewRecorder()
	r.api.ServeHTTP(rec, hr)
	a := answer{status: rec.Code, header: rec.Header(), body: rec.Body.String()}
	if strings.HasPrefix(a.header.Get("Content-Type"), httpapi.TypeJSON) && q.method != http.MethodHead {
		if err := json.Unmarshal(rec.Body.Bytes(), &a.json); err != nil {
			r.t.Errorf("%s %s: answer is not JSON: %v\n%s", q.method, q.path, err, a.body)
		}
	}
	r.checkAnswer(q, hr, &a)
	return a
}

// checkAnswer holds every answer against what all answers have in common, and
// against the served description.
func (r *rig) checkAnswer(q request, hr *http.Request, a *answer) {
	r.t.Helper()
	fail := func(format string, args ...any) {
		r.t.Helper()
		r.t.Errorf("%s %s: %s\n%d %s", q.method, q.path, fmt.Sprintf(format, args...), a.status, clip(a.body))
	}
	id := a.header.Get(httpapi.RequestIDHeader)
	if !httpapi.SaneID(id) {
		fail("X-Request-Id is %q", id)
	}
	if len(a.body) < 256<<10 { // the validator takes its time
		if err := r.spec.Check(hr, a.status, a.header, []byte(a.body)); err != nil {
			fail("not as described: %v", err)
		}
	}
	if !strings.HasPrefix(hr.URL.Path, "/api/v1") || a.json == nil {
		return
	}
	if _, ok := a.json["data"].(map[string]any); !ok || a.json["success"] != (a.status < 300) {
		fail("not the envelope")
	}
	if a.status < 300 {
		return
	}
	if a.get("error.request_id") != id || httpapi.StatusOf[rimewatch.Code(a.code())] != a.status || a.get("error.message") == "" || a.get("error.fields") == nil {
		fail("not the error envelope")
	}
	retry := a.header.Get("Retry-After")
	if (retry != "") != (a.status == http.StatusTooManyRequests || a.status == http.StatusServiceUnavailable) {
		fail("Retry-After is %q", retry)
	}
	if (a.header.Get("WWW-Authenticate") == "Bearer") != (a.status == http.StatusUnauthorized) {
		fail("WWW-Authenticate is %q", a.header.Get("WWW-Authenticate"))
	}
}

func clip(s string) string {
	if len(s) > 1200 {
		return s[:1200] + "…"
	}
	return s
}

// get walks the answer's JSON by a path such as "data.devices.0.serial".
func (a answer) get(path string) any {
	var v any = a.json
	for step := range strings.SplitSeq(path, ".") {
		switch x := v.(type) {
		case map[string]any:
			v = x[step]
		case []any:
			var i int
			if _, err := fmt.Sscan(step, &i); err != nil || i >= len(x) {
				return nil
			}
			v = x[i]
		default:
			return nil
		}
	}
	return v
}

func (a answer) code() string {
	s, _ := a.get("error.code").(string)
	return s
}

// eventRecorder remembers what was published.
type eventRecorder struct {
	mu   sync.Mutex
	more *sync.Cond
	all  []string
}

func newEventRecorder() *eventRecorder {
	e := &eventRecorder{}
	e.more = sync.NewCond(&e.mu)
	return e
}

// Publish implements ingest.Publisher.
func (e *eventRecorder) Publish(p *publish.Commit) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, part := range p.Parts {
		for i := range part {
			if part[i].Kind == store.InputReading && part[i].Outcome == store.Accepted {
				e.all = append(e.all, "reading.created")
			}
		}
	}
	// That a device fell silent is noticed when the service's next tick comes, which
	// may be while anything is asked.
	silent := make(map[int64]bool)
	for _, a := range p.Alerts {
		if a.Kind == publish.AlertOpened && a.Alert.Type == rimewatch.DeviceOffline {
			silent[a.Alert.DeviceID] = true
		}
	}
	for _, d := range p.Devices {
		if d.Kind != publish.DeviceOffline || !silent[d.DeviceID] {
			e.all = append(e.all, string(d.Kind))
		}
	}
	for _, a := range p.Alerts {
		if a.Kind == publish.AlertOpened && a.Alert.Type == rimewatch.DeviceOffline {
			continue
		}
		e.all = append(e.all, string(a.Kind))
	}
	e.more.Broadcast()
}

// patience is how long what the service does by itself may take on a busy machine.
const patience = 10 * time.Minute

// take waits for n events and returns all that have come.
func (e *eventRecorder) take(t testing.TB, n int) []string {
	t.Helper()
	e.mu.Lock()
	defer e.mu.Unlock()
	late := time.AfterFunc(patience, e.more.Broadcast)
	defer late.Stop()
	for start := time.Now(); len(e.all) < n && time.Since(start) < patience; {
		e.more.Wait()
	}
	all := e.all
	if len(all) < n {
		t.Errorf("%d events came, want %d: %v", len(all), n, all)
	}
	e.all = nil
	return all
}
