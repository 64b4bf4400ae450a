package tables

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/rimewatch/rimewatch"
)

// Census is how much there is, for those who look at a store without opening it.
type Census struct {
	Workspaces, Users, Devices int
	Tokens                     int // not revoked
	ActiveAlerts               int
	AliveAt                    rimewatch.Time // when a server last watched; 0 = never
	Clock                      []string       // the newest steps of the machine's clock, as the audit trail tells of them
	Ownerless                  []string       // names of workspaces without an owner
	Provided                   int            // people who sign in at a provider
	BreakGlass                 int            // people who keep a password beside it: one, or none was named
	HeldFull                   []string       // workspaces in which nothing more may wait for devices to be accepted, or hardly anything
}

// Count takes a census.
func Count(conn Conn) (c Census, err error) {
	var alive int64
	for _, q := range []struct {
		query string
		scan  func(Row)
	}{
		{"SELECT count(*) FROM workspace", func(row Row) { c.Workspaces = row.ColumnInt(0) }},
		{"SELECT count(*) FROM person", func(row Row) { c.Users = row.ColumnInt(0) }},
		{"SELECT count(*) FROM token WHERE revoked_at = 0", func(row Row) { c.Tokens = row.ColumnInt(0) }},
		{"SELECT count(*) FROM alert WHERE status = 'active'", func(row Row) { c.ActiveAlerts = row.ColumnInt(0) }},
		{"SELECT count(*) FROM device WHERE deleted_at = 0", func(row Row) { c.Devices = row.ColumnInt(0) }},
		{"SELECT count(DISTINCT user_id) FROM identity", func(row Row) { c.Provided = row.ColumnInt(0) }},
		{"SELECT count(*) FROM person WHERE break_glass <> 0", func(row Row) { c.BreakGlass = row.ColumnInt(0) }},
		{"SELECT name FROM workspace WHERE " + ownerless + " ORDER BY id", func(row Row) { c.Ownerless = append(c.Ownerless, row.ColumnText(0)) }},
		{"SELECT at, action, min(detail) FROM audit WHERE action IN ('clock.stepped', 'clock.adopted', 'clock.returned') GROUP BY at, action ORDER BY at DESC LIMIT 5", func(row Row) {
			var by struct{ Seconds float64 }
			_ = json.Unmarshal([]byte(row.ColumnText(2)), &by) // damage is found elsewhere
			text := fmt.Sprintf("%s %s", columnTime(row, 0), strings.TrimPrefix(row.ColumnText(1), "clock."))
			if by.Seconds != 0 {
				text += fmt.Sprintf(" by %g s", by.Seconds)
			}
			c.Clock = append(c.Clock, text)
		}},
	} {
		if err := each(conn, q.query, q.scan); err != nil {
			return c, err
		}
	}
	err = each(conn, "SELECT w.name, h.senders, h.bytes FROM held_total h JOIN workspace w ON w.id = h.workspace_id WHERE h.senders >= ? OR h.bytes >= ? ORDER BY w.id", func(row Row) {
		c.HeldFull = append(c.HeldFull, fmt.Sprintf("%d of %d senders and %d of %d MiB wait in workspace %q to be accepted", row.ColumnInt(1), rimewatch.MaxHeldSenders,
			row.ColumnInt64(2)>>20, rimewatch.MaxHeldBytes>>20, row.ColumnText(0)))
	}, rimewatch.MaxHeldSenders, rimewatch.MaxHeldBytes-rimewatch.MaxHeldBytes/64)
	if err != nil {
		return c, err
	}
	alive, err = meta(conn, aliveAt)
	c.AliveAt = rimewatch.Time(alive)
	return c, err
}
