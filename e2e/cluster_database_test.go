package e2e

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"
)

// Faults of the database under the nodes, which all of them see.

// crash kills the database and starts it again.
func (c *cluster) crash(round int) time.Duration {
	c.t.Helper()
	c.database.Kill()
	if err := c.database.Restart(c.settings...); err != nil {
		c.t.Fatal(err)
	}
	return c.reowned(round)
}

// replace kills the primary, and its standby becomes the primary; the old one comes back
// as the primary that it was, and then as a standby.
func (c *cluster) replace(round int) time.Duration {
	c.t.Helper()
	if c.standby == nil { // in a storm
		return c.crash(round)
	}
	old := c.database
	old.Kill()
	if err := c.standby.Promote(); err != nil {
		c.t.Fatal(err)
	}
	c.database = c.standby
	took := c.reowned(round)
	if err := old.Restart(append(slices.Clone(c.settings), "synchronous_standby_names=")...); err != nil { // it waits for nobody
		c.t.Fatal(err)
	}
	c.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'rimewatch%'")
	time.Sleep(time.Second) //nolint:forbidigo // everybody has connections again
	took = max(took, c.reowned(round))
	old.Stop()
	next, err := c.database.Standby(old.Address(), c.settings...)
	if err != nil {
		c.t.Fatal(err)
	}
	c.standby = next
	return took
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
	for _, setting := range settings {
		c.execute("ALTER SYSTEM SET " + setting)
	}
	c.execute("SELECT pg_reload_conf()", aWhile(), "ALTER SYSTEM RESET ALL", "SELECT pg_reload_conf()")
	return c.reowned(round)
}

// aWhile waits for up to four and a half seconds.
func aWhile() string { return fmt.Sprintf("SELECT pg_sleep(%.1f)", 0.5+4*rand.Float64()) }

// fill has the database refuse what it has no room for.
func (c *cluster) fill(round int) time.Duration {
	c.t.Helper()
	c.noRoom("commit_log")
	c.execute(aWhile(), "DROP FUNCTION full_disk CASCADE")
	return c.reowned(round)
}

// fillDuringTakeOver kills a node while the database has room for nothing: its shards
// cannot be taken over, and now and then nobody can say that he is there, until there is.
func (c *cluster) fillDuringTakeOver(round int) time.Duration {
	c.t.Helper()
	tables := []string{"commit_log", "checkpoint", "reading_chunk", "shard", "node"}
	c.noRoom(tables[:len(tables)-round%2]...)
	c.nodes[round%clusterNodes].p.kill()
	c.execute(aWhile(), "DROP FUNCTION full_disk CASCADE")
	return c.reowned(round + 1)
}

// fullDisk makes what fails as on a disk without room.
const fullDisk = "CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = '53100'; END $$;"

// noRoom has the database write nothing to tables, until full_disk is dropped.
func (c *cluster) noRoom(tables ...string) {
	c.t.Helper()
	c.execute(fullDisk)
	for _, table := range tables {
		c.execute("CREATE TRIGGER full_disk BEFORE INSERT OR UPDATE ON " + table + " FOR EACH ROW EXECUTE FUNCTION full_disk()")
	}
}

// disown takes privileges away from the nodes: to write readings, or to read and write
// anything.
func (c *cluster) disown(round int) time.Duration {
	c.t.Helper()
	if round%2 == 0 {
		c.execute("REVOKE INSERT ON commit_log FROM service", aWhile(), "GRANT INSERT ON commit_log TO service")
	} else {
		c.execute("REVOKE ALL ON ALL TABLES IN SCHEMA public FROM service", aWhile(), "GRANT ALL ON ALL TABLES IN SCHEMA public TO service")
	}
	return c.reowned(round)
}
