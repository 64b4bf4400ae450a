package e2e

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// Faults of the database under the nodes, which all of them see.

// crash kills the database and starts it again.
func (c *cluster) crash(round int) time.Duration {
	c.t.Helper()
	c.database.Kill()
	if err := c.database.Restart(c.syncing); err != nil {
		c.t.Fatal(err)
	}
	return c.reowned(round)
}

// demote has the database take no writes for a while: shorter and longer than it takes
// nodes to be taken for dead, which then cannot be written down either.
func (c *cluster) demote(round int) time.Duration {
	c.t.Helper()
	return c.alter(round, "default_transaction_read_only = on")
}

// slow has each commit take a tenth of a second longer, as a disk does that is dying.
func (c *cluster) slow(round int) time.Duration {
	c.t.Helper()
	return c.alter(round, "commit_delay = 100000", "commit_siblings = 0")
}

// alter has settings of the database hold for a while.
func (c *cluster) alter(round int, settings ...string) time.Duration {
	c.t.Helper()
	execute := func(statement string) {
		if err := c.database.Exec("postgres", statement); err != nil {
			c.t.Fatal(err)
		}
	}
	for _, setting := range settings {
		execute("ALTER SYSTEM SET " + setting)
	}
	execute("SELECT pg_reload_conf()")
	execute(fmt.Sprintf("SELECT pg_sleep(%.1f)", 0.5+4*rand.Float64()))
	execute("ALTER SYSTEM RESET ALL")
	execute("SELECT pg_reload_conf()")
	return c.reowned(round)
}
