package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
)

const (
	testShards   = 4
	sharedSecret = "a secret of the tests"
	patience     = 30 * time.Second // of synthetic time
)

// book is what a database keeps of a cluster.
type book struct {
	mu       sync.Mutex
	members  map[string]store.Member
	holdings []store.Holding
	broken   map[int64]string // shards that cannot be opened, and by whom; "" = by nobody
	tries    map[int64]int    // how often that was tried
	aside    map[int64]bool   // shards that the database does not let be opened
	readOnly bool             // no stream is opened or closed
	deaf     bool             // no beat is taken
	stalled  chan struct{}    // nothing is answered until it is closed; nil = everything is
	closed   map[int64]int64  // how much had Moved in shards that were closed in order
	network  network
}

func newBook() *book {
	b := &book{members: make(map[string]store.Member), broken: make(map[int64]string), tries: make(map[int64]int), aside: make(map[int64]bool), closed: make(map[int64]int64), network: network{listeners: make(map[string]*listener), cuts: make(map[string]chan struct{})}}
	for i := range testShards {
		b.holdings = append(b.holdings, store.Holding{Shard: int64(i)})
	}
	return b
}

// stall has the database answer nobody until end is called.
func (b *book) stall() (end func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	stalled := make(chan struct{})
	b.stalled = stalled
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.stalled = nil
		close(stalled)
	}
}

// answers waits until the database answers.
func (b *book) answers(ctx context.Context) error {
	b.mu.Lock()
	stalled := b.stalled
	b.mu.Unlock()
	if stalled == nil {
		return nil
	}
	select {
	case <-stalled:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// streams are the numbers of the shards' streams.
func (b *book) streams() (list [testShards]int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i := range list {
		list[i] = b.holdings[i].Stream
	}
	return list
}

func (b *book) now() rimewatch.Time { return rimewatch.TimeOf(time.Now()) }

// view is the database as a node sees it.
type viewOf struct {
	*book
	name string
}

func (v viewOf) Name() string  { return v.name }
func (v viewOf) Shards() int64 { return testShards }

func (v viewOf) Look(ctx context.Context) (store.ClusterState, error) {
	if err := v.answers(ctx); err != nil {
		return store.ClusterState{}, err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	s := store.ClusterState{Now: v.now(), Holdings: slices.Clone(v.holdings)}
	for _, name := range slices.Sorted(maps.Keys(v.members)) {
		s.Members = append(s.Members, v.members[name])
	}
	return s, nil
}

func (v viewOf) Beat(ctx context.Context, self *store.Member) (store.ClusterState, error) {
	if err := v.answers(ctx); err != nil {
		return store.ClusterState{}, err
	}
	v.mu.Lock()
	if v.deaf {
		v.mu.Unlock()
		return store.ClusterState{}, errors.New("the database is read-only")
	}
	m := *self
	m.Name, m.Beat = v.name, int64(v.now())
	v.members[v.name] = m
	v.mu.Unlock()
	return v.Look(ctx)
}

func (v viewOf) RemoveMember(ctx context.Context, name string, beat int64) error {
	if err := v.answers(ctx); err != nil {
		return err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.members[name].Beat == beat {
		delete(v.members, name)
	}
	return nil
}

func (v viewOf) Leave(context.Context) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	delete(v.members, v.name)
	return nil
}

// take is what opening a store does.
func (v viewOf) take(shard, stream int64) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	h := &v.holdings[shard]
	if v.aside[shard] || v.readOnly {
		return rimewatch.Errorf(rimewatch.CodeUnavailable, "The database cannot be used at the moment.")
	}
	if h.Stream != stream {
		return store.ErrTaken
	}
	h.Stream, h.Node, h.Since = stream+1, v.name, v.now()
	if name, broken := v.broken[shard]; broken && (name == "" || name == v.name) { // it is found out when the stream is open
		v.tries[shard]++
		return errors.New("the shard cannot be read")
	}
	h.Open = true
	return nil
}

// owner is the node that has a shard.
func (b *book) owner(shard int) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.holdings[shard].Node
}

// service answers with the node and the shard that it is of.
type service struct {
	v             viewOf
	shard, stream int64
	failed        chan error
	asked         func(store.Arrival)
	moved, still  atomic.Int64
}

func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		fmt.Fprintf(w, "%v after %q of %d", err, body, r.ContentLength)
		return
	}
	came := store.ArrivalOf(r.Context())
	if s.asked != nil {
		s.asked(came)
	}
	if r.URL.Path != "/" {
		fmt.Fprint(w, r.Method, " ", r.RequestURI, " ")
	}
	fmt.Fprintf(w, "%s %d %s %s", s.v.name, s.shard, r.RemoteAddr, body)
	for name := range r.Header {
		if strings.HasPrefix(name, "X-Rimewatch") {
			fmt.Fprint(w, " leaks ", name)
		}
	}
}

func (s *service) DrainStreams() {}

func (s *service) Moved() int64 { return s.moved.Load() }

func (s *service) Quiesce(d time.Duration) { s.still.Store(int64(d)) }

func (s *service) Failed() <-chan error { return s.failed }

func (s *service) Stop() error {
	s.v.mu.Lock()
	defer s.v.mu.Unlock()
	if s.v.readOnly {
		return errors.New("the database is read-only")
	}
	if h := &s.v.holdings[s.shard]; h.Stream == s.stream {
		h.Open = false
		s.v.closed[s.shard] = s.Moved()
	}
	return nil
}

// rig is a node and its internal listener.
type rig struct {
	*Node
	inner *server
	asked func(store.Arrival)
	ahead atomic.Int64 // ns that its machine's clock is ahead

	successors chan *testHeir // that were announced, where somebody wants to know
	mayFollow  chan struct{}  // something when one of them has read all; nil = at once
}

// join starts a node.
func join(t *testing.T, b *book, name string, ahead time.Duration) *rig {
	t.Helper()
	g := &rig{}
	g.ahead.Store(int64(ahead))
	g.inner = b.network.serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { g.Internal().ServeHTTP(w, r) }))
	v := viewOf{b, name}
	g.Node = New(Config{
		Database: v, URL: g.inner.url, Secret: sharedSecret, Now: func() time.Time { return time.Now().Add(time.Duration(g.ahead.Load())) }, Drain: patience, Hold: patience, Linger: lookEvery, Dial: b.network.dial,
		Open: func(_ context.Context, shard, stream int64) (Service, error) {
			if err := v.take(shard, stream); err != nil {
				return nil, err
			}
			return &service{v: v, shard: shard, stream: stream + 1, failed: make(chan error, 1), asked: g.asked}, nil
		},
		Follow: g.follow,
		OfPost: func(request []byte) (id int64, err error) {
			_, err = fmt.Sscan(string(request), &id)
			return id, err
		},
		Repeatable: func(r *http.Request, body []byte) bool { return string(body) == "timed" },
		Readings:   func(r *http.Request) bool { return r.URL.Query().Has("readings") },
		Workspace: func(r *http.Request) (id int64, err error) {
			_, err = fmt.Sscan(r.URL.Query().Get("workspace"), &id)
			return id, err
		},
	})
	if err := g.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.die(); g.Stop() })
	return g
}

// die ends the node as a kill does: nobody listens, and nothing is said any more.
func (g *rig) die() {
	g.end()
	g.inner.end()
}

// ask has a node answer for a workspace.
func (g *rig) ask(workspace int, method, body string) (status int, answer string) {
	r := httptest.NewRequest(method, fmt.Sprintf("/?workspace=%d", workspace), strings.NewReader(body))
	r.RemoteAddr = "192.0.2.1:77"
	w := httptest.NewRecorder()
	g.ServeHTTP(w, r)
	return w.Code, w.Body.String()
}

// await waits until something is so.
func await(t *testing.T, so func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !so(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it does not happen")
		}
	}
}

// settle waits until nodes serve so many shards each.
func settle(t *testing.T, want map[*rig]int) {
	t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
		right := true
		for g, n := range want {
			held, _ := g.Held()
			right = right && held == n && g.Ready() == nil
		}
		if right {
			return
		}
		if time.Now().After(deadline) {
			for g, n := range want {
				held, members := g.Held()
				t.Errorf("%s serves %d shards of %d members, not %d: %v", g.name, held, members, n, g.Ready())
			}
			t.FailNow()
		}
	}
}

func TestNodes(t *testing.T) { synctest.Test(t, testNodes) }

func testNodes(t *testing.T) {
	b := newBook()
	x := join(t, b, "x", 0)
	settle(t, map[*rig]int{x: 4})
	y := join(t, b, "y", 0)
	settle(t, map[*rig]int{x: 2, y: 2})
	for workspace := range 2 * testShards {
		for _, g := range []*rig{x, y} {
			status, answer := g.ask(workspace, http.MethodPost, "body")
			owner := b.owner(workspace % testShards)
			if want := fmt.Sprintf("%s %d 192.0.2.1:77 body", owner, workspace%testShards); status != http.StatusOK || answer != want {
				t.Errorf("workspace %d through %s: %d %q, not %q", workspace, g.name, status, answer, want)
			}
		}
	}
	if x.Counts.Forwarded.Load() == 0 || y.Counts.Forwarded.Load() == 0 {
		t.Error("nothing was forwarded")
	}
	y.die()
	for workspace := range testShards { // at once: requests wait for whoever takes over
		if status, answer := x.ask(workspace, http.MethodPost, "body"); status != http.StatusOK || !strings.HasPrefix(answer, "x ") {
			t.Errorf("workspace %d after the death of its node: %d %q", workspace, status, answer)
		}
	}
	settle(t, map[*rig]int{x: 4})
	if n := x.Counts.TakenOver.Load(); n != 2 {
		t.Errorf("%d shards were taken over, not 2", n)
	}
}

// TestOutcomeUnknown has a node die with requests under way. What writes the same twice is
// sent again, with the time at which it came; of other readings the sender is told that they
// may be stored, and to send them again; of everything else that nobody knows.
func TestOutcomeUnknown(t *testing.T) { synctest.Test(t, testOutcomeUnknown) }

func testOutcomeUnknown(t *testing.T) {
	b := newBook()
	x, y := join(t, b, "x", 0), join(t, b, "y", 0)
	settle(t, map[*rig]int{x: 2, y: 2})
	var came, again []rimewatch.Time
	var mu sync.Mutex
	died := make(chan struct{})
	note := func(list *[]rimewatch.Time) func(a store.Arrival) {
		return func(a store.Arrival) {
			mu.Lock()
			defer mu.Unlock()
			*list = append(*list, a.At)
		}
	}
	shard := 0
	y.Each(func(number int64, s Service) {
		shard = int(number)
		s.(*service).asked = func(a store.Arrival) { note(&came)(a); <-died }
	})
	x.asked = note(&again) // of those that it takes over
	var answers sync.WaitGroup
	for _, c := range []struct {
		query, body string
		status      int
		text        string
	}{
		{"", "timed", http.StatusOK, "x "},
		{"&readings", "timed", http.StatusOK, "x "},
		{"&readings", "untimed", http.StatusServiceUnavailable, "may have been stored"},
		{"", "other", http.StatusGatewayTimeout, "outcome_unknown"},
	} {
		answers.Go(func() {
			w := httptest.NewRecorder()
			x.ServeHTTP(w, httptest.NewRequest(http.MethodPost, fmt.Sprintf("/?workspace=%d%s", shard, c.query), strings.NewReader(c.body)))
			if w.Code != c.status || !strings.Contains(w.Body.String(), c.text) || (w.Header().Get("Retry-After") == "1") != (w.Code == http.StatusServiceUnavailable) {
				t.Errorf("%q %q: %d %v %s", c.query, c.body, w.Code, w.Header(), w.Body)
			}
		})
	}
	await(t, func() bool { mu.Lock(); defer mu.Unlock(); return len(came) == 4 })
	y.inner.refuse()
	y.end() // the connection that x holds breaks, and the next is refused
	answers.Wait()
	close(died)
	y.die()
	if len(again) != 2 || again[0] == 0 || again[0] != came[0] {
		t.Errorf("they came at %v, and again at %v", came, again)
	}
}

// TestReset breaks the connections between two nodes that go on. What writes the same twice
// is sent again, the first time at once; whoever sends anything else is told at once, and the next
// requests are answered as if nothing had been.
func TestReset(t *testing.T) { synctest.Test(t, testReset) }

func testReset(t *testing.T) {
	b := newBook()
	x, y := join(t, b, "x", 0), join(t, b, "y", 0)
	settle(t, map[*rig]int{x: 2, y: 2})
	shard := 0
	var owner *service
	y.Each(func(number int64, s Service) { shard, owner = int(number), s.(*service) })
	address := strings.TrimPrefix(y.inner.url, "http://")
	for _, c := range []struct {
		body   string
		resets int
		status int
		asked  int
	}{
		{"timed", 0, http.StatusOK, 1},
		{"timed", 1, http.StatusOK, 2},
		{"timed", 2, http.StatusOK, 3},
		{"untimed", 1, http.StatusServiceUnavailable, 1},
		{"untimed", 0, http.StatusOK, 1},
	} {
		var idle sync.WaitGroup
		owner.asked = func(store.Arrival) { time.Sleep(time.Millisecond) }
		for range 3 { // connections that lie idle
			idle.Go(func() { x.ask(shard, http.MethodPost, "") })
		}
		idle.Wait()
		begun, asked, resets := time.Now(), 0, c.resets
		owner.asked = func(store.Arrival) {
			if asked++; resets > 0 {
				resets--
				b.network.reset(address)
			}
		}
		w := httptest.NewRecorder()
		x.ServeHTTP(w, httptest.NewRequest(http.MethodPost, fmt.Sprintf("/?readings&workspace=%d", shard), strings.NewReader(c.body)))
		if w.Code != c.status || asked != c.asked {
			t.Errorf("%q, %d resets: %d %s, asked %d times", c.body, c.resets, w.Code, w.Body, asked)
		}
		if took := time.Since(begun); took > 0 && c.resets < 2 || took > lookEvery {
			t.Errorf("%q, %d resets: answered after %v", c.body, c.resets, took)
		}
	}
}

// TestNamesOwner: every answer to a workspace's request names the node that serves it,
// through whatever node it came; that to a stranger's names none.
func TestNamesOwner(t *testing.T) { synctest.Test(t, testNamesOwner) }

func testNamesOwner(t *testing.T) {
	b := newBook()
	x, y := join(t, b, "x", 0), join(t, b, "y", 0)
	settle(t, map[*rig]int{x: 2, y: 2})
	hosts := map[string]string{"x": x.Host(), "y": y.Host()}
	for workspace := range 2 * testShards {
		for _, g := range []*rig{x, y} {
			w := httptest.NewRecorder()
			g.ServeHTTP(w, httptest.NewRequest(http.MethodGet, fmt.Sprintf("/?workspace=%d", workspace), nil))
			want := []string{hosts[b.owner(workspace%testShards)]}
			if workspace == 0 {
				want = nil
			}
			if got := w.Header().Values(NodeHeader); !slices.Equal(got, want) || "http://"+g.Host() != g.inner.url {
				t.Errorf("workspace %d through %s: %q, not %q", workspace, g.name, got, want)
			}
		}
	}
}

// TestSilence has a node say nothing any more, as a frozen one does: others take its
// shards, and it answers nothing that it cannot be sure of.
func TestSilence(t *testing.T) { synctest.Test(t, testSilence) }

func testSilence(t *testing.T) {
	b := newBook()
	x, y := join(t, b, "x", 0), join(t, b, "y", 0)
	settle(t, map[*rig]int{x: 2, y: 2})
	y.end() // its listener goes on
	settle(t, map[*rig]int{x: 4})
	for shard := range int64(testShards) {
		if _, _, here := y.Local(shard, http.MethodGet); here {
			t.Errorf("a node that is not heard of serves shard %d", shard)
		}
	}
}

// TestFenced: a shard that another node took, and that is this one's again, is served
// anew, although a request is stuck in what was served of it before.
func TestFenced(t *testing.T) { synctest.Test(t, testFenced) }

func testFenced(t *testing.T) {
	b := newBook()
	x := join(t, b, "x", 0)
	settle(t, map[*rig]int{x: 4})
	var stale Service
	x.Each(func(shard int64, s Service) {
		if shard == 1 {
			stale = s
		}
	})
	ends := make(chan struct{})
	stale.(*service).asked = func(store.Arrival) { <-ends }
	var stuck sync.WaitGroup
	stuck.Go(func() { x.ask(1, http.MethodPost, "") })
	synctest.Wait()
	defer stuck.Wait()
	defer close(ends)
	begun := time.Now()
	b.mu.Lock()
	b.holdings[1].Stream++ // somebody took it, and is gone again
	b.holdings[1].Node = "z"
	b.mu.Unlock()
	await(t, func() bool { return x.Counts.Fenced.Load() == 1 })
	settle(t, map[*rig]int{x: 4})
	if took := time.Since(begun); took > patience/10 {
		t.Errorf("it is served again after %v", took)
	}
	x.Each(func(shard int64, s Service) {
		if shard == 1 && s == stale {
			t.Error("a shard that was taken is still served as before")
		}
	})
}

func TestSecret(t *testing.T) { synctest.Test(t, testSecret) }

func testSecret(t *testing.T) {
	b := newBook()
	x := join(t, b, "x", 0)
	settle(t, map[*rig]int{x: 4})
	for _, secret := range []string{"", "another"} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, x.inner.url+pathForward, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set(headerSecret, secret)
		r.Header.Set(headerURI, "/?workspace=1")
		r.Header.Set(headerClient, "127.0.0.1:1")
		resp, err := x.client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusForbidden {
			t.Errorf("who says %q gets %s", secret, resp.Status)
		}
	}
	impostor := New(Config{Database: viewOf{b, "z"}, URL: x.inner.url, Secret: sharedSecret, Now: time.Now, Dial: b.network.dial})
	if err := impostor.Start(t.Context()); err == nil || !strings.Contains(err.Error(), "leads to the node x") {
		t.Errorf("a node with another's address: %v", err)
	}
	lonely := New(Config{Database: viewOf{b, "z"}, URL: "http://nowhere:80", Secret: sharedSecret, Now: time.Now, Dial: b.network.dial})
	if err := lonely.Start(t.Context()); err == nil || !strings.Contains(err.Error(), "nobody answers") {
		t.Errorf("a node that cannot be reached: %v", err)
	}
	settle(t, map[*rig]int{x: 4})
	stranger := New(Config{Database: viewOf{b, "y"}, URL: "http://y", Secret: "another secret", Now: time.Now})
	if err := stranger.Start(t.Context()); err == nil || !strings.Contains(err.Error(), "--cluster-secret") {
		t.Errorf("a node with another secret: %v", err)
	}
}

// TestInnerPaths: a client that asks for what nodes ask of each other gets what he would get
// of any path that there is not, from whatever node; and a node takes nothing from another
// that it does not own, whatever that one says.
func TestInnerPaths(t *testing.T) { synctest.Test(t, testInnerPaths) }

func testInnerPaths(t *testing.T) {
	b := newBook()
	x, y := join(t, b, "x", 0), join(t, b, "y", 0)
	settle(t, map[*rig]int{x: 2, y: 2})
	for _, path := range []string{pathHold, pathPoke, pathPing, pathFollow, pathForward, "/cluster/hold", "/trunk", "//odd/%2e%2e/path;a=b"} {
		for workspace := range testShards {
			uri := fmt.Sprintf("%s?workspace=%d&shard=0&a;b=c", path, workspace)
			w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "/", nil)
			r.URL, r.RemoteAddr = must(url.ParseRequestURI(uri)), "192.0.2.1:77"
			for _, name := range []string{headerSecret, headerURI, headerClient, headerTLS, headerCame, headerBroken} {
				r.Header.Set(name, "1")
			}
			x.ServeHTTP(w, r)
			if want := fmt.Sprintf("%s %d 192.0.2.1:77 ", b.owner(workspace), workspace); w.Code != http.StatusOK || !strings.HasSuffix(strings.TrimPrefix(w.Body.String(), "POST "+uri+" "), want) {
				t.Errorf("%s: %d %q, not %q", uri, w.Code, w.Body, want)
			}
		}
	}
	for workspace := range testShards {
		if b.owner(workspace) == "y" {
			continue
		}
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, y.inner.url+pathForward, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set(headerSecret, sharedSecret)
		r.Header.Set(headerURI, fmt.Sprintf("/?workspace=%d", workspace))
		resp, err := x.client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusServiceUnavailable || resp.Header.Get(headerMoved) == "" {
			t.Errorf("a node takes what is another's: %s", resp.Status)
		}
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// TestHolds: connections that are held to a node are bounded.
func TestHolds(t *testing.T) { synctest.Test(t, testHolds) }

func testHolds(t *testing.T) {
	b := newBook()
	x := join(t, b, "x", 0)
	settle(t, map[*rig]int{x: 4})
	x.holds.Store(mostHolds)
	r := httptest.NewRequest(http.MethodGet, pathHold, nil)
	r.Header.Set(headerSecret, sharedSecret)
	w := httptest.NewRecorder()
	if x.Internal().ServeHTTP(w, r); w.Code != http.StatusServiceUnavailable {
		t.Errorf("one more is answered %d", w.Code)
	}
}

// TestNobody has a request wait for somebody who serves its shard, and not for ever.
func TestNobody(t *testing.T) { synctest.Test(t, testNobody) }

func testNobody(t *testing.T) {
	b := newBook()
	x := join(t, b, "x", 0)
	settle(t, map[*rig]int{x: 4})
	b.mu.Lock()
	b.holdings[2] = store.Holding{Shard: 2, Stream: 9, Node: "z", Open: true} // who is there, and does not answer
	b.members["z"] = store.Member{Name: "z", URL: "http://z:80", Beat: int64(b.now()) + 3_600_000}
	b.aside[2] = true
	b.mu.Unlock()
	await(t, func() bool { return x.Counts.Fenced.Load() == 1 })
	begun := time.Now()
	if status, answer := x.ask(2, http.MethodPost, "body"); status != http.StatusServiceUnavailable {
		t.Errorf("%d %q", status, answer)
	}
	if took := time.Since(begun); took < patience || took > patience+lookEvery {
		t.Errorf("it waited %v", took)
	}
	w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/?workspace=2", nil)
	r.Header.Set("Accept-Language", "es-MX")
	if x.ServeHTTP(w, r); w.Code != http.StatusServiceUnavailable || !strings.Contains(w.Body.String(), "Nadie atiende") {
		t.Errorf("in Spanish: %d %s", w.Code, w.Body)
	}
	b.mu.Lock()
	b.aside[2] = false
	b.mu.Unlock()
	if status, answer := x.ask(2, http.MethodPost, "body"); status != http.StatusOK || !strings.HasPrefix(answer, "x 2 ") {
		t.Errorf("once it can be opened: %d %q", status, answer)
	}
}
