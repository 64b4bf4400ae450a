package app_test

import (
	"bytes"
	"io"
	"log/slog"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rimewatch/rimewatch/internal/app"
	"github.com/rimewatch/rimewatch/internal/store/postgres/pgtest"
)

// freeAddress is an address for a server that has to be known by it before it runs.
func freeAddress(t *testing.T) string {
	t.Helper()
	address, err := pgtest.FreeAddress()
	if err != nil {
		t.Fatal(err)
	}
	return address
}

// startNode starts a node on a database, which says what it has to say.
func startNode(t *testing.T, store string, shards int64, options ...func(*app.Config)) (*app.Node, *syncBuffer) {
	t.Helper()
	cfg, said := nodeConfig(t, store, shards)
	for _, f := range options {
		f(&cfg)
	}
	n, err := app.NewNode(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := n.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := n.Stop(); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			t.Log(said.String())
		}
	})
	return n, said
}

// nodeConfig is what a node needs, and where it says what it has to say.
func nodeConfig(t *testing.T, store string, shards int64) (app.Config, *syncBuffer) {
	t.Helper()
	peer := freeAddress(t)
	said := &syncBuffer{}
	return settings(t, func(c *app.Config) {
		c.Logger = slog.New(slog.NewTextHandler(said, nil)).With("peer", peer)
		c.Store, c.ClusterListen, c.ClusterURL, c.ClusterSecret, c.ClusterShards = store, peer, "http://"+peer, "a secret of the tests", shards
	}), said
}

// syncBuffer takes what several goroutines write.
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

// metrics are the figures of a node.
func metrics(t *testing.T, n *app.Node) string {
	t.Helper()
	resp, err := http.Get("http://" + n.Addr() + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// figure reads a figure of a node.
func figure(t *testing.T, n *app.Node, name string) string {
	t.Helper()
	for line := range strings.Lines(metrics(t, n)) {
		if v, ok := strings.CutPrefix(line, name+" "); ok {
			return strings.TrimSpace(v)
		}
	}
	return ""
}

func await(t *testing.T, what string, f func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !f(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal(what)
		}
	}
}

// TestNodes has a second node join the first, and the first leave.
func TestNodes(t *testing.T) {
	database, err := pgtest.Start("fsync=off")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(database.Stop)
	const shards = "rimewatch_cluster_shards"
	first, _ := startNode(t, database.URL("postgres"), 4)
	await(t, "the first node does not serve all shards", func() bool { return figure(t, first, shards) == "4" })
	cfg, _ := nodeConfig(t, database.URL("postgres"), 5)
	if n, err := app.NewNode(t.Context(), cfg); err == nil || !strings.Contains(err.Error(), "divided into 4") {
		t.Errorf("another number of shards: %v", err)
		if err == nil {
			_ = n.Stop()
		}
	}
	explained(t, first)
	if text := metrics(t, first); !strings.Contains(text, `rimewatch_store_head_bytes{shard="3"} `) {
		t.Errorf("its metrics say nothing of a shard:\n%s", text)
	}
	second, _ := startNode(t, database.URL("postgres"), 0)
	await(t, "the second node gets nothing", func() bool { return figure(t, first, shards) == "2" && figure(t, second, shards) == "2" })
	begun := time.Now()
	if err := first.Stop(); err != nil {
		t.Fatal(err)
	}
	t.Log("left after", time.Since(begun))
	await(t, "the second node does not get all", func() bool { return figure(t, second, shards) == "4" })
}

// explained: the operators' page names all figures of a cluster that a node has, and no
// others.
func explained(t *testing.T, n *app.Node) {
	t.Helper()
	page, err := os.ReadFile("../../docs/operations-cluster.md")
	if err != nil {
		t.Fatal(err)
	}
	_, list, _ := strings.Cut(string(page), "`rimewatch_cluster")
	list, _, _ = strings.Cut("`"+list, ". Alert on")
	var want []string
	for _, m := range regexp.MustCompile("`(_[a-z_]+)`").FindAllStringSubmatch(list, -1) {
		want = append(want, "rimewatch_cluster"+m[1])
	}
	var got []string
	for _, m := range regexp.MustCompile(`(?m)^(rimewatch_cluster_\w+) `).FindAllStringSubmatch(metrics(t, n), -1) {
		got = append(got, m[1])
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("a node has the figures\n%q, the page names\n%q", got, want)
	}
}
