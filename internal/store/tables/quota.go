package tables

import "github.com/rimewatch/rimewatch"

// room returns CodeQuotaExceeded, in the transaction that makes one more of a kind,
// when the workspace has as many as it may have (0 = no limit). The query counts them.
func room(conn Conn, kind rimewatch.Sentence, most int, query string, args ...any) error {
	if most == 0 {
		return nil
	}
	n, err := queryInt(conn, query, args...)
	if err == nil && n >= int64(most) {
		err = rimewatch.ErrQuota(most, kind)
	}
	return err
}
