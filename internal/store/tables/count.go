package tables

import "github.com/rimewatch/rimewatch"

// Census is how much there is, for those who look at a store without opening it.
type Census struct {
	Workspaces, Users, Devices int
	Tokens                     int // not revoked
	ActiveAlerts               int
	AliveAt                    rimewatch.Time // when a server last watched; 0 = never
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
	} {
		if err := each(conn, q.query, q.scan); err != nil {
			return c, err
		}
	}
	alive, err = meta(conn, aliveAt)
	c.AliveAt = rimewatch.Time(alive)
	return c, err
}
