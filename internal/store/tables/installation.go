package tables

import (
	"context"

	"github.com/rimewatch/rimewatch/internal/store"
)

// installationSQL makes the table of settings for all workspaces of an installation.
const installationSQL = `CREATE TABLE installation (
	name TEXT PRIMARY KEY,
	value TEXT NOT NULL
) STRICT, WITHOUT ROWID`

// addressName is the row of the installation's address.
const addressName = "address"

// Address implements store.Control.
func (t Places) Address(ctx context.Context) (address string, err error) {
	err = t.read(ctx, func(conn Conn) error {
		address, err = installed(conn, addressName)
		return err
	})
	return address, err
}

// installed returns a setting of the installation, "" = it was not set.
func installed(conn Conn, name string) (value string, err error) {
	err = each(conn, "SELECT value FROM installation WHERE name = ?", func(row Row) { value = row.ColumnText(0) }, name)
	return value, err
}

// SetAddress implements store.Control.
func (t Places) SetAddress(ctx context.Context, address string) error {
	return t.write(ctx, func(conn Conn) error {
		old, err := installed(conn, addressName)
		if err != nil || old == address {
			return err
		}
		if _, err := exec(conn, "INSERT INTO installation (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value", addressName, address); err != nil {
			return err
		}
		list, err := workspaceTable.list(conn, "id > 0 ORDER BY id")
		for i := range list {
			if err == nil {
				err = t.audit(ctx, conn, list[i].ID, "address.changed", "installation", store.Fields{"address": store.Change{From: old, To: address}})
			}
		}
		return err
	})
}
