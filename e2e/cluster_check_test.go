package e2e

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rimewatch/rimewatch/client"
)

// verify compares what was acknowledged with what is stored, through any node.
func (c *cluster) verify() {
	c.t.Helper()
	for i, d := range c.devices {
		n := 0
		for a, err := range c.client(d, i, nil).Alerts(context.Background(), client.AlertFilter{DeviceSerial: d.serial, Status: client.AllAlerts}) {
			if err != nil {
				c.t.Error(err)
				return
			}
			if a.Type == "high_temperature" {
				n++
			}
		}
		if want := map[bool]int{true: 1}[d.heat == always]; n != want {
			c.t.Errorf("%s has %d alerts, not %d", d.serial, n, want)
		}
	}
	c.told()
	for _, text := range c.wrong() {
		c.t.Error(text)
	}
}

// told waits until people were told of every device that is too warm, and checks that it was
// of one alert, under one id.
func (c *cluster) told() {
	c.t.Helper()
	var warm []string
	for _, d := range c.devices {
		if d.heat == always {
			warm = append(warm, d.serial)
		}
	}
	for deadline := time.Now().Add(patience); len(c.box.missing(warm)) > 0; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			c.t.Fatalf("nobody was told of %v", c.box.missing(warm))
		}
	}
	if n, err := c.count("SELECT count(*) FROM delivery WHERE kind = 'opened' AND status = 'sent'"); err != nil || n < len(warm) {
		c.t.Errorf("%d deliveries of %d alerts are in the table, %v", n, len(warm), err)
	}
	c.box.mu.Lock()
	defer c.box.mu.Unlock()
	for serial, ids := range c.box.opened {
		if len(ids) > 1 {
			c.t.Errorf("of %s people were told under the ids %v", serial, ids)
		}
	}
	if len(c.box.wrong) > 0 {
		c.t.Errorf("%d messages were wrong: %s", len(c.box.wrong), c.box.wrong[0])
	}
}

// guard has the database itself note who writes readings, chunks or checkpoints of a
// shard that is another node's. While a node that is fenced writes, nobody can take its
// shard; so this sees every write that is not.
func (c *cluster) guard() {
	c.t.Helper()
	c.execute("CREATE TABLE trespass (what TEXT)", "GRANT ALL ON trespass TO service", `CREATE FUNCTION guard() RETURNS trigger LANGUAGE plpgsql AS $$
		DECLARE s BIGINT;
		BEGIN
			IF TG_TABLE_NAME = 'commit_log' THEN
				s := NEW.shard;
			ELSE
				SELECT workspace_id % 8 INTO s FROM device WHERE id = NEW.device_id;
			END IF;
			IF s IS NOT NULL AND NOT EXISTS (SELECT 1 FROM shard WHERE id = s AND right('rimewatch ' || node, 63) = current_setting('application_name')) THEN
				INSERT INTO trespass VALUES (TG_TABLE_NAME || ' of shard ' || s || ' by ' || current_setting('application_name'));
			END IF;
			RETURN NEW;
		END $$`)
	for _, table := range []string{"commit_log", "reading_chunk", "checkpoint"} {
		c.execute("CREATE TRIGGER guard BEFORE INSERT OR UPDATE ON " + table + " FOR EACH ROW EXECUTE FUNCTION guard()")
	}
}

// wrongTables looks for what must not be in the database.
func (c *cluster) wrongTables() (list []string) {
	c.t.Helper()
	conn, err := pgx.Connect(context.Background(), c.database.URL("postgres"))
	if err != nil {
		c.t.Fatal(err)
	}
	defer conn.Close(context.Background())
	for what, query := range map[string]string{
		"alerts opened twice":       "SELECT count(*) FROM (SELECT 1 FROM alert_transition WHERE kind = 'opened' GROUP BY alert_id HAVING count(*) > 1) x",
		"alerts without an opening": "SELECT count(*) FROM alert a WHERE NOT EXISTS (SELECT 1 FROM alert_transition t WHERE t.alert_id = a.id AND t.kind = 'opened')",
		"events missing between others": `SELECT count(*) FROM (SELECT number - n AS before, lag(number) OVER (PARTITION BY workspace_id ORDER BY number) AS last FROM event) x
			WHERE last IS NOT NULL AND before <> last`,
		"deliveries twice":                 "SELECT count(*) FROM (SELECT 1 FROM delivery GROUP BY workspace_id, key HAVING count(*) > 1) x",
		"writes for shards of other nodes": "SELECT count(*) FROM trespass",
		"ids that do not grow": `SELECT count(*) FROM (SELECT id, at, lag(at) OVER (PARTITION BY workspace_id ORDER BY id) AS before FROM alert_transition) x
			WHERE at < before`,
	} {
		n := -1
		if err := conn.QueryRow(context.Background(), query).Scan(&n); err != nil || n != 0 {
			list = append(list, fmt.Sprintf("%s: %d, %v", what, n, err))
		}
	}
	return list
}
