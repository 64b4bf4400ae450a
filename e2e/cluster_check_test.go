package e2e

import (
	"context"
	"fmt"

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
	for _, text := range c.wrong() {
		c.t.Error(text)
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
		"deliveries twice":          "SELECT count(*) FROM (SELECT 1 FROM delivery GROUP BY workspace_id, key HAVING count(*) > 1) x",
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
