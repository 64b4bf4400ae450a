// Package contract reads the contract of the API to the running service: every
// test is a page of it, every row of its tables a sentence. It starts the whole
// application on a free port and speaks HTTP to it, so it knows nothing of how
// the sentences are kept.
package contract

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/account"
	"github.com/rimewatch/rimewatch/internal/app"
	"github.com/rimewatch/rimewatch/internal/config"
	"github.com/rimewatch/rimewatch/internal/publish"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/store/postgres/pgtest"
	"github.com/rimewatch/rimewatch/internal/trial"
)

// TestMain lets more tests run side by side than there are processors: they
// wait for disks and timers more than they compute.
func TestMain(m *testing.M) {
	if err := flag.Set("test.parallel", "5"); err != nil {
		panic(err)
	}
	// A connection that a client's patience ended with says goodbye by itself.
	goleak.VerifyTestMain(engines{m}, goleak.IgnoreAnyFunction("github.com/jackc/pgx/v5/pgconn.(*PgConn).asyncClose.func1"))
}

var (
	onlyStore = flag.String("store", "", "run on this alone: everything on sqlite or postgres, or the essence on cluster, through a node that owns nothing (default: everything on sqlite, the essence on cluster)")
	databases pgtest.Shared
	inUse     sync.Map // URLs of databases by data directory
	postgres  atomic.Bool
	nodes     atomic.Bool
)

// essence is what also runs on PostgreSQL through a node of a cluster, when no test was named.
const essence = "^(TestReading|TestDevices|TestAlertLife|TestHistory|TestRestart|TestTold|TestSessions|TestSideBySide|TestWorkspacesAreApart|TestDowntime)$"

// engines runs the tests on the stores that there are.
type engines struct{ m *testing.M }

// Run runs the tests of the package.
func (e engines) Run() int {
	flag.Parse()
	if *onlyStore == "" || *onlyStore == "sqlite" {
		if code := e.m.Run(); code != 0 || *onlyStore == "sqlite" || !trial.All() {
			return code
		}
	}
	if run := flag.Lookup("test.run"); *onlyStore != "postgres" && run.Value.String() == "" {
		if err := run.Value.Set(essence); err != nil {
			panic(err)
		}
	}
	postgres.Store(true)
	nodes.Store(*onlyStore != "postgres")
	return databases.Main(e.m)
}

// chooseStore sets a service up with a database of its own, or that of its directory.
func chooseStore(t *testing.T, cfg *app.Config) {
	if !postgres.Load() {
		return
	}
	known, ok := inUse.Load(cfg.Data)
	if !ok {
		known = databases.Database(t)
		inUse.Store(cfg.Data, known)
	}
	cfg.Store = known.(string)
}

// service is the application with a clock that stands still until a test moves it, so
// that nothing falls silent or ends because the machine is busy, and a record of what it
// published.
type service struct {
	app    *app.App
	halt   func() error // stops it
	addr   string       // host:port
	base   string       // http://host:port/api
	begun  time.Time
	ahead  atomic.Int64
	client *http.Client
	events *recorder
}

// option changes a service before it starts.
type option func(*service, *app.Config)

// limited turns the usual rate limits on.
func limited(_ *service, c *app.Config) { c.RateLimit, c.AuthRateLimit = 6000, 20 }

// inside lets a service use a directory that outlives it.
func inside(dir string) option { return func(_ *service, c *app.Config) { c.Data = dir } }

// later sets its clock ahead.
func later(d time.Duration) option { return func(s *service, _ *app.Config) { s.advance(d) } }

// noon is when a service begins: far from the ends of days, weeks and months, at which
// nothing is tested by chance.
var noon = time.Date(2026, 11, 18, 12, 0, 0, 0, time.UTC)

// beginning sets its clock.
func beginning(at time.Time) option { return func(s *service, _ *app.Config) { s.begun = at } }

// patience is how long anything may take that is not about time: the race
// detector is slow and the machine may be busy. What does not happen at all
// fails all the same.
const patience = 10 * time.Minute

// start runs a service of its own for a test. Rate limits are off unless the
// test sets them.
func start(t *testing.T, options ...option) *service {
	t.Helper()
	s := &service{begun: noon, events: newRecorder(), client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}, Timeout: patience}}
	cfg := app.Config{
		Serve: config.Serve{Data: t.TempDir(), Listen: "127.0.0.1:0", HeadMemory: 16, SealAfter: time.Hour, DrainPeriod: 5 * time.Second},
		Now:   s.now, Publisher: s.events, Version: "contract",
	}
	for _, f := range options {
		f(s, &cfg)
	}
	chooseStore(t, &cfg)
	if nodes.Load() {
		s.startNodes(t, cfg)
	} else {
		a, err := app.New(t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		if err := a.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		s.app, s.addr, s.halt = a, a.Addr(), a.Stop
	}
	s.base = "http://" + s.addr + "/api"
	t.Cleanup(func() {
		s.client.CloseIdleConnections()
		if err := s.halt(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// startNodes starts a node that owns everything, and another one that is asked.
func (s *service) startNodes(t *testing.T, cfg app.Config) {
	t.Helper()
	node := func() *app.Node {
		address, err := pgtest.FreeAddress()
		if err != nil {
			t.Fatal(err)
		}
		cfg.ClusterListen, cfg.ClusterURL, cfg.ClusterSecret, cfg.ClusterShards = address, "http://"+address, "a secret of the tests", 1
		n, err := app.NewNode(t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		if err := n.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		return n
	}
	owner := node()
	for deadline := time.Now().Add(patience); s.app == nil; time.Sleep(5 * time.Millisecond) {
		if s.app = owner.Part(0); s.app == nil && time.Now().After(deadline) {
			t.Fatal("the only shard is not served")
		}
	}
	cfg.Data = t.TempDir()
	asked := node()
	s.addr = asked.Addr()
	s.halt = func() error {
		err := asked.Stop() // first: it owns nothing
		if asked.Part(0) != nil {
			err = errors.Join(err, errors.New("the node that was asked had a shard"))
		}
		return errors.Join(err, owner.Stop())
	}
}

func (s *service) now() time.Time             { return s.begun.Add(time.Duration(s.ahead.Load())) }
func (s *service) moment() rimewatch.Time     { return rimewatch.TimeOf(s.now()) }
func (s *service) advance(d time.Duration)    { s.ahead.Add(int64(d)) }
func (s *service) ago(d time.Duration) string { return s.moment().Add(-d).String() }

// tenant is a workspace with its tokens.
type tenant struct {
	*service
	id               int64
	full, feed, read string
}

// tenant makes a workspace. Tests share services, never workspaces.
func (s *service) tenant(t *testing.T, name string) *tenant {
	t.Helper()
	w, err := s.app.Accounts.FindWorkspace(t.Context(), name, true, s.moment())
	if err != nil {
		t.Fatal(err)
	}
	n := &tenant{service: s, id: w.ID}
	n.full = n.token(t, rimewatch.ScopesFull)
	n.feed = n.token(t, rimewatch.ScopesIngest)
	n.read = n.token(t, rimewatch.ScopesRead)
	return n
}

func (n *tenant) token(t *testing.T, scopes rimewatch.Scopes) string {
	t.Helper()
	_, plain, err := n.app.Accounts.CreateToken(t.Context(), account.Operator(n.id), account.TokenRequest{Name: "test", Scopes: scopes}, n.moment())
	if err != nil {
		t.Fatal(err)
	}
	return plain
}

const password = "correct horse battery"

// signIn adds a person with a role and returns their session cookie.
func (n *tenant) signIn(t *testing.T, email string, role rimewatch.Role) string {
	t.Helper()
	if _, err := n.app.Accounts.AddUser(t.Context(), n.id, account.UserRequest{Email: email, Name: string(role), Password: password, Role: role}, n.moment()); err != nil {
		t.Fatal(err)
	}
	a := n.do(t, request{method: "POST", path: "/v1/auth/sign-in", body: fmt.Sprintf(`{"email":%q,"password":%q}`, email, password)})
	cookie, _, _ := strings.Cut(a.header.Get("Set-Cookie"), ";")
	if a.status != http.StatusOK || cookie == "" {
		t.Fatalf("sign in: %d %s", a.status, a.body)
	}
	return cookie
}

// device registers a device.
func (n *tenant) device(t *testing.T, body string) {
	t.Helper()
	if a := n.do(t, request{method: "POST", path: "/v1/devices", body: body, token: n.full}); a.status != http.StatusCreated {
		t.Fatalf("create %s: %d %s", body, a.status, a.body)
	}
}

// reading stores a reading.
func (n *tenant) reading(t *testing.T, body string) answer {
	t.Helper()
	a := n.do(t, request{method: "POST", path: "/v1/readings", body: body, token: n.full})
	if a.status != http.StatusCreated {
		t.Fatalf("reading %s: %d %s", body, a.status, a.body)
	}
	return a
}

// get reads a path that must be there.
func (n *tenant) get(t *testing.T, path string) answer {
	t.Helper()
	a := n.do(t, request{path: path, token: n.full})
	if a.status != http.StatusOK {
		t.Fatalf("GET %s: %d %s", path, a.status, a.body)
	}
	return a
}

// recorder remembers what was published.
type recorder struct {
	mu   sync.Mutex
	more *sync.Cond
	all  []event
}

type event struct {
	kind   string
	device int64
	alert  rimewatch.AlertType
}

func newRecorder() *recorder {
	r := &recorder{}
	r.more = sync.NewCond(&r.mu)
	return r
}

// Publish implements ingest.Publisher.
func (r *recorder) Publish(p *publish.Commit) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, part := range p.Parts {
		for i := range part {
			if part[i].Kind == store.InputReading && part[i].Outcome == store.Accepted {
				r.all = append(r.all, event{kind: "reading.created", device: part[i].DeviceID})
			}
		}
	}
	for _, d := range p.Devices {
		r.all = append(r.all, event{kind: string(d.Kind), device: d.DeviceID})
	}
	for _, a := range p.Alerts {
		r.all = append(r.all, event{kind: string(a.Kind), device: a.Alert.DeviceID, alert: a.Alert.Type})
	}
	r.more.Broadcast()
}

// await waits until an event has been published. That timers fire in time is
// shown where the time is simulated, in internal/ingest: here it would depend on
// how busy the machine is.
func (r *recorder) await(t *testing.T, want event) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	end := time.Now().Add(patience)
	late := time.AfterFunc(time.Until(end), r.more.Broadcast)
	defer late.Stop()
	for {
		for _, e := range r.all {
			if e == want {
				return
			}
		}
		if !time.Now().Before(end) {
			t.Fatalf("no %v, only %v", want, r.all)
		}
		r.more.Wait()
	}
}

// forget drops what was published so far.
func (r *recorder) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = nil
}

// count returns how many events of a kind a device has had.
func (r *recorder) count(kind string, device int64) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := 0
	for _, e := range r.all {
		if e.kind == kind && e.device == device {
			n++
		}
	}
	return n
}

// raw sends bytes on a connection of its own and reads what comes until the
// service closes it, or until patience ends: then it is still open.
func (s *service) raw(t *testing.T, text string) (got string, open bool) {
	t.Helper()
	c, err := (&net.Dialer{}).DialContext(context.Background(), "tcp", s.addr)
	if err != nil {
		t.Error(err)
		return "", false
	}
	defer func() { _ = c.Close() }()
	if err := c.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Error(err)
	}
	if _, err := io.WriteString(c, text); err != nil {
		return "", false
	}
	b, err := io.ReadAll(c)
	var ne net.Error
	return string(b), errors.As(err, &ne) && ne.Timeout()
}
