package tables

import (
	"context"
	"slices"

	"github.com/rimewatch/rimewatch"
)

// CloseWorkspace implements store.Control.
func (t Places) CloseWorkspace(ctx context.Context, id int64) (tokens []int64, err error) {
	err = t.write(ctx, func(conn Conn) error {
		if err := t.mustBeDue(conn, id); err != nil {
			return err
		}
		err := each(conn, "SELECT id FROM token WHERE workspace_id = ?", func(row Row) { tokens = append(tokens, row.ColumnInt64(0)) }, id)
		for _, table := range []string{"token", "invitation", "member"} {
			if err == nil {
				_, err = exec(conn, "DELETE FROM "+table+" WHERE workspace_id = ?", id)
			}
		}
		if err == nil {
			_, err = exec(conn, "UPDATE source SET enabled = 0 WHERE workspace_id = ?", id)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return tokens, nil
}

// mustBeDue finds out whether a workspace is to be erased.
func (t Places) mustBeDue(conn Conn, id int64) error {
	w, err := workspaceTable.find(conn, "id = ?", id)
	if err == nil && (w.DeleteAt == 0 || t.now() < w.DeleteAt) {
		err = rimewatch.Errorf(rimewatch.CodeConflict, "This workspace is not to be erased now.")
	}
	return err
}

// eraseSlice is how many rows are deleted in one transaction: other writes wait
// for it.
const eraseSlice = 2000

// EraseTables deletes the rows of a workspace that is to be erased and has no
// devices left. Larger tables go slice by slice, the workspace itself last, so
// that an erasure which is interrupted goes on where it was.
func (t Places) EraseTables(ctx context.Context, id int64) error {
	for _, table := range []string{"alert_transition", "event", "delivery", "alert", "excursion", "corrective_action", "calibration", "case_line", "record_case", "signature", "attachment_piece", "attachment", "work_order", "check_note", "site_check", "held", "token_call", "audit"} {
		for {
			n, most := 0, eraseSlice
			if table == "attachment_piece" {
				most /= 64 // of a megabyte each
			}
			err := t.write(ctx, func(conn Conn) (err error) {
				if err := t.mustBeDue(conn, id); err != nil {
					return err
				}
				n, err = exec(conn, "DELETE FROM "+table+" WHERE id IN (SELECT id FROM "+table+" WHERE workspace_id = ? LIMIT ?)", id, most)
				return err
			})
			if err != nil {
				return err
			}
			if n < most {
				break
			}
		}
	}
	return t.write(ctx, func(conn Conn) error {
		if err := t.mustBeDue(conn, id); err != nil {
			return err
		}
		for _, q := range []string{
			"DELETE FROM checkpoint WHERE device_id IN (SELECT id FROM device WHERE workspace_id = ?)",
			"DELETE FROM held_sender WHERE source_id IN (SELECT id FROM source WHERE workspace_id = ?)",
			"DELETE FROM binding WHERE source_id IN (SELECT id FROM source WHERE workspace_id = ?)",
		} {
			if _, err := exec(conn, q, id); err != nil {
				return err
			}
		}
		for _, table := range ofWorkspace() {
			if _, err := exec(conn, "DELETE FROM "+table+" WHERE workspace_id = ?", id); err != nil {
				return err
			}
		}
		_, err := exec(conn, "DELETE FROM workspace WHERE id = ?", id)
		return err
	})
}

// ofWorkspace lists the tables whose rows belong to a workspace, those first that refer
// to others. A session belongs to a person, whichever workspace it looks at.
func ofWorkspace() (list []string) {
	for _, t := range slices.Backward(Catalog()) {
		if t.Name != "session" && slices.ContainsFunc(t.Columns, func(c Column) bool { return c.Name == "workspace_id" }) {
			list = append(list, t.Name)
		}
	}
	return list
}
