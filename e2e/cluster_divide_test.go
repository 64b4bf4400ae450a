package e2e

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rimewatch/rimewatch/client"
	"github.com/rimewatch/rimewatch/internal/store/postgres/pgtest"
	"github.com/rimewatch/rimewatch/internal/trial"
)

// TestClusterDivide makes a database that one server has used one of nodes, and
// brings it back: nothing is lost on the way.
func TestClusterDivide(t *testing.T) {
	trial.NeedsLong(t)
	database, err := pgtest.Start("full_page_writes=off")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(database.Stop)
	store := database.URL("postgres")
	k := newKiller(t, "--store", store)
	send := func(cl *client.Client) {
		ctx, cancel := context.WithCancel(t.Context())
		enough := k.drive(ctx, cl)
		time.Sleep(300 * time.Millisecond) //nolint:forbidigo // a load for a while
		enough()
		cancel()
		k.senders.Wait()
	}
	divide := func(shards string) (string, error) {
		out, err := exec.Command(k.bin, "cluster", "divide", "--store", store, "--shards", shards).CombinedOutput()
		return string(out), err
	}
	end := func(p *process) {
		t.Helper()
		if err := p.terminate(os.Interrupt); err != nil {
			t.Fatalf("%v\n%s", err, p.err.String())
		}
	}
	p, cl := k.start(t)
	send(cl)
	if out, err := divide("8"); err == nil || !strings.Contains(out, "stop all servers") {
		t.Fatalf("while a server runs: %s", out)
	}
	end(p)
	if out, err := divide("8"); err != nil {
		t.Fatalf("%s: %v", out, err)
	}
	c := &cluster{t: t, bin: k.bin, database: database, role: "postgres"}
	m := &member{dir: filepath.Join(t.TempDir(), "node"), peer: freeAddress(t)}
	c.start(m)
	if cl, err = client.New(m.address(), k.token, &client.Options{Retries: -1}); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(patience); c.figures(m, figureShards)[figureShards] != 8; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("the node does not serve all shards\n%s", m.p.err.String())
		}
	}
	out, err := exec.Command(k.bin, "cluster", "status", "--store", store).CombinedOutput()
	if err != nil || strings.Count(string(out), "\nshard ") != 8 || !strings.Contains(string(out), m.peer) {
		t.Errorf("%s: %v", out, err)
	}
	k.verify(t, cl, 0)
	send(cl)
	end(m.p)
	if out, err := divide("1"); err != nil {
		t.Fatalf("%s: %v", out, err)
	}
	p, cl = k.start(t)
	send(cl)
	k.verify(t, cl, 0)
	end(p)
	if n := k.acknowledged(); n < 3*singles {
		t.Errorf("only %d readings were acknowledged", n)
	}
}
