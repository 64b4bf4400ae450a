package e2e

import (
	"os"
	"testing"
	"time"

	"github.com/rimewatch/rimewatch/internal/store/postgres/pgtest"
	"github.com/rimewatch/rimewatch/internal/trial"
)

// TestClusterPatroni has the machine of the primary die where Patroni looks after the
// database, and come back.
func TestClusterPatroni(t *testing.T) {
	trial.NeedsAll(t)
	if os.Getenv("RIMEWATCH_PATRONI") == "" {
		t.Skip("make cluster-patroni")
	}
	p, err := pgtest.StartPatroni()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Stop)
	c := &cluster{t: t, bin: program(t), database: p.Servers[0], standby: p.Servers[1], hosts: p.Hosts(), role: "service", shape: replicated}
	c.assemble()
	primary := 0
	for range 2 { // there and back
		old := primary
		var promoted, took, back time.Duration
		c.load(func() {
			begun := time.Now()
			p.Crash(old)
			if primary, err = p.Failover(old); err != nil {
				t.Fatal(err)
			}
			promoted = time.Since(begun)
			c.database = p.Servers[primary]
			c.reowned(0)
			took = time.Since(begun)
			if err := p.Run(old); err != nil {
				t.Fatal(err)
			}
			if err := p.Attached(primary); err != nil {
				t.Fatal(err)
			}
			back = time.Since(begun)
		})
		c.awaitAll(clusterNodes)
		c.sound()
		c.verify()
		t.Logf("promoted after %v, all served again after %v, the old one a standby after %v; %d readings acknowledged, %d answers 5xx",
			promoted, took, back, c.acknowledged(), c.failed.Load())
	}
}
