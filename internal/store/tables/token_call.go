package tables

import (
	"context"
	"encoding/json"

	"github.com/rimewatch/rimewatch"
)

// tokenCallSQL makes the table of requests with API tokens.
const tokenCallSQL = `CREATE TABLE token_call (
	id INTEGER PRIMARY KEY AUTOINCREMENT,
	workspace_id INTEGER NOT NULL,
	token_id INTEGER NOT NULL,
	refused INTEGER NOT NULL,
	at INTEGER NOT NULL,
	body TEXT NOT NULL -- JSON
) STRICT;
CREATE INDEX token_call_by_token ON token_call(token_id, refused, id);
CREATE INDEX token_call_by_time ON token_call(at);
CREATE INDEX token_call_by_workspace ON token_call(workspace_id)`

// refused is 1 for a request that was.
func refused(c *rimewatch.TokenCall) int {
	if c.Refused() {
		return 1
	}
	return 0
}

// AddTokenCalls implements store.People.
func (a Access) AddTokenCalls(ctx context.Context, list []rimewatch.TokenCall) error {
	return a.write(ctx, func(conn Conn) error {
		type kind struct {
			token   int64
			refused int
		}
		touched := make(map[kind]bool)
		for i := range list {
			c := &list[i]
			body, err := json.Marshal(c)
			if err == nil {
				_, err = exec(conn, "INSERT INTO token_call (workspace_id, token_id, refused, at, body) VALUES (?, ?, ?, ?, ?)", c.WorkspaceID, c.TokenID, refused(c), int64(c.At), string(body))
			}
			if err != nil {
				return err
			}
			touched[kind{c.TokenID, refused(c)}] = true
		}
		for k := range touched {
			_, err := exec(conn, `DELETE FROM token_call WHERE token_id = ? AND refused = ? AND id <= (SELECT id FROM token_call WHERE token_id = ? AND refused = ? ORDER BY id DESC LIMIT 1 OFFSET ?)`,
				k.token, k.refused, k.token, k.refused, rimewatch.MaxTokenCalls)
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// TokenCalls implements store.People.
func (a Access) TokenCalls(ctx context.Context, workspaceID, tokenID int64, since rimewatch.Time) (list []rimewatch.TokenCall, err error) {
	err = a.read(ctx, func(conn Conn) error {
		return conn.Query(func(row Row) error {
			c := rimewatch.TokenCall{WorkspaceID: workspaceID, TokenID: tokenID, At: columnTime(row, 0)}
			if err := json.Unmarshal([]byte(row.ColumnText(1)), &c); err != nil {
				return wrap(err, "requests of token", tokenID)
			}
			list = append(list, c)
			return nil
		}, "SELECT at, body FROM token_call WHERE workspace_id = ? AND token_id = ? AND at >= ? ORDER BY id DESC", workspaceID, tokenID, int64(since))
	})
	return list, err
}
