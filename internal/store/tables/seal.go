package tables

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"

	"github.com/rimewatch/rimewatch/internal/store"
)

// sealedTable is a table of records that people answer for. The audit trail has the hash of
// each of its rows, so that a changed one breaks the chain.
type sealedTable struct {
	table   string
	columns []string // all of them
	actions []string // of the entries that have hashes
}

var (
	sealedActions      = sealedTable{"corrective_action", []string{"id", "workspace_id", "alert_id", "device_id", "performed_at", "body", "case_id"}, []string{"corrective_action.recorded", "corrective_action.verified"}}
	sealedCalibrations = sealedTable{"calibration", []string{"id", "workspace_id", "device_id", "performed_at", "body"}, []string{"calibration.recorded"}}
	sealedSignatures   = sealedTable{"signature", []string{"id", "workspace_id", "case_id", "at", "user_id", "session_id", "name", "meaning", "proof", "content", "digest"}, []string{"case.signed"}}
	sealedAttachments  = sealedTable{"attachment", []string{"id", "workspace_id", "case_id", "name", "type", "size", "width", "height", "sha256", "original", "at", "doer", "order_id"}, []string{"case.attached", "work_order.attached"}}
	sealedChecks       = sealedTable{"site_check", []string{"id", "workspace_id", "template_id", "site_id", "name", "pack", "ask", "day", "minute", "from_at", "to_at", "status", "reason", "opened_at", "since_at", "completed_at", "entered_at", "doer", "items"}, []string{"check.completed", "check.missed"}}
	sealedCheckNotes   = sealedTable{"check_note", []string{"id", "workspace_id", "check_id", "at", "body"}, []string{"check.noted"}}

	sealedTables = []*sealedTable{&sealedActions, &sealedCalibrations, &sealedSignatures, &sealedAttachments, &sealedChecks, &sealedCheckNotes}
)

func (s *sealedTable) catalog() *Table {
	list := Catalog()
	return &list[slices.IndexFunc(list, func(t Table) bool { return t.Name == s.table })]
}

// each calls yield with the id and the hash of each row that a condition holds for: SHA-256
// over its columns, numbers as varints, everything else behind its length.
func (s *sealedTable) each(conn Conn, yield func(id int64, sum string), where string, args ...any) error {
	t := s.catalog()
	cols := make([]Column, len(s.columns))
	for i, name := range s.columns {
		cols[i] = t.Columns[t.column(name)]
	}
	query := "SELECT " + (&Table{Columns: cols}).Names() + " FROM " + s.table + " WHERE " + where
	return each(conn, query, func(row Row) {
		var b []byte
		for _, v := range Values(row, cols) {
			switch v := v.(type) {
			case int64:
				b = binary.AppendVarint(b, v)
			case string:
				b = append(binary.AppendUvarint(b, uint64(len(v))), v...)
			case []byte:
				b = append(binary.AppendUvarint(b, uint64(len(v))), v...)
			}
		}
		sum := sha256.Sum256(b)
		yield(row.ColumnInt64(0), hex.EncodeToString(sum[:]))
	}, args...)
}

// of returns the hash of one row.
func (s *sealedTable) of(conn Conn, id int64) (sum string, err error) {
	err = s.each(conn, func(_ int64, found string) { sum = found }, "id = ?", id)
	return sum, err
}

// sealed is audit of a record, with the hash of its row as it is now.
func (t *base) sealed(ctx context.Context, conn Conn, s sealedTable, workspaceID, id int64, action, subject string, detail store.Fields) error {
	sum, err := s.of(conn, id)
	if err != nil {
		return err
	}
	detail["id"], detail["sha256"] = id, sum
	return t.audit(ctx, conn, workspaceID, action, subject, detail)
}

// seals are the hashes of rows that an audit trail has.
type seals map[*sealedTable]map[int64]seal

// seal is the newest hash of a row, and the entry that has it.
type seal struct {
	entry int64
	sum   string
}

// note takes the hash that an entry has. Entries of before rows were sealed have none.
func (x seals) note(entry int64, action, detail string) {
	for _, s := range sealedTables {
		if !slices.Contains(s.actions, action) {
			continue
		}
		var d struct {
			ID     int64  `json:"id"`
			SHA256 string `json:"sha256"`
		}
		if json.Unmarshal([]byte(detail), &d) != nil || d.SHA256 == "" {
			return
		}
		if x[s] == nil {
			x[s] = make(map[int64]seal)
		}
		x[s][d.ID] = seal{entry, d.SHA256}
	}
}

// broken returns the entries whose rows are gone or changed, in order. whole
// also reads the bytes of attachments.
func (x seals) broken(conn Conn, whole bool, where string, args ...any) (entries []int64, err error) {
	for _, s := range sealedTables {
		left := maps.Clone(x[s])
		if len(left) == 0 {
			continue
		}
		err := s.each(conn, func(id int64, sum string) {
			if left[id].sum == sum {
				delete(left, id)
			}
		}, where, args...)
		if err != nil {
			return nil, err
		}
		if whole && s == &sealedAttachments {
			damaged, err := damagedAttachments(conn, where, args...)
			if err != nil {
				return nil, err
			}
			for _, id := range damaged {
				left[id] = x[s][id]
			}
		}
		for id := range left {
			entries = append(entries, left[id].entry)
		}
	}
	slices.Sort(entries)
	return entries, nil
}
