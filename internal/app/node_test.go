package app_test

import (
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/rimewatch/rimewatch/internal/app"
	"github.com/rimewatch/rimewatch/internal/config"
	"github.com/rimewatch/rimewatch/internal/store/postgres/pgtest"
)

// startNode starts a node on a database.
func startNode(t *testing.T, store string) *app.Node {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	peer := l.Addr().String()
	_ = l.Close()
	log := slog.New(slog.DiscardHandler)
	if testing.Verbose() {
		log = slog.New(slog.NewTextHandler(os.Stderr, nil)).With("peer", peer)
	}
	n, err := app.NewNode(t.Context(), app.Config{
		Logger: log,
		Serve: config.Serve{
			Data: t.TempDir(), Listen: "127.0.0.1:0", Store: store, HeadMemory: 8, SealAfter: time.Hour, DrainPeriod: 5 * time.Second,
			ClusterListen: peer, ClusterURL: "http://" + peer, ClusterSecret: "a secret of the tests", ClusterShards: 4,
		},
	})
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
	})
	return n
}

// figure reads a figure of a node.
func figure(t *testing.T, n *app.Node, name string) string {
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
	for line := range strings.Lines(string(text)) {
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
	first := startNode(t, database.URL("postgres"))
	await(t, "the first node does not serve all shards", func() bool { return figure(t, first, shards) == "4" })
	second := startNode(t, database.URL("postgres"))
	await(t, "the second node gets nothing", func() bool { return figure(t, first, shards) == "2" && figure(t, second, shards) == "2" })
	begun := time.Now()
	if err := first.Stop(); err != nil {
		t.Fatal(err)
	}
	t.Log("left after", time.Since(begun))
	await(t, "the second node does not get all", func() bool { return figure(t, second, shards) == "4" })
}
