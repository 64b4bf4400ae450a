package tables

import (
	"context"

	"github.com/rimewatch/rimewatch"
)

// logoSQL makes the table of the logos of workspaces.
const logoSQL = `CREATE TABLE workspace_logo (
	workspace_id INTEGER PRIMARY KEY REFERENCES workspace(id),
	type TEXT NOT NULL,
	width INTEGER NOT NULL, -- px
	height INTEGER NOT NULL,
	data BLOB NOT NULL
) STRICT`

// logoUpgradeSQL is the step by which workspaces may have one.
const logoUpgradeSQL = logoSQL + `;
ALTER TABLE workspace ADD COLUMN logo_at INTEGER NOT NULL DEFAULT 0`

// Logo implements store.Control.
func (t Places) Logo(ctx context.Context, workspaceID int64) (l rimewatch.Logo, err error) {
	err = t.read(ctx, func(conn Conn) error {
		return each(conn, "SELECT type, width, height, data FROM workspace_logo WHERE workspace_id = ?", func(row Row) {
			l = rimewatch.Logo{Type: row.ColumnText(0), Width: int(row.ColumnInt64(1)), Height: int(row.ColumnInt64(2)), Data: columnBlob(row, 3)}
		}, workspaceID)
	})
	return l, err
}

// SetLogo implements store.Control.
func (t Places) SetLogo(ctx context.Context, workspaceID int64, l rimewatch.Logo) (w rimewatch.Workspace, err error) {
	err = t.write(ctx, func(conn Conn) error {
		old, err := workspaceTable.find(conn, "id = ?", workspaceID)
		if err == nil {
			_, err = exec(conn, "DELETE FROM workspace_logo WHERE workspace_id = ?", workspaceID)
		}
		if err == nil && len(l.Data) > 0 {
			_, err = exec(conn, "INSERT INTO workspace_logo (workspace_id, type, width, height, data) VALUES (?, ?, ?, ?, ?)", workspaceID, l.Type, l.Width, l.Height, l.Data)
		}
		if err == nil {
			w, err = workspaceTable.changeIn(ctx, t.base, conn, old, func(w *rimewatch.Workspace) error {
				w.LogoAt = 0
				if len(l.Data) > 0 {
					w.LogoAt = t.now()
				}
				return nil
			})
		}
		return err
	})
	return w, err
}
