package sqlite

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/store/storetest"
	"github.com/rimewatch/rimewatch/internal/store/tables"
)

// TestEveryByteOfARecord: what people answer for cannot be changed by a byte without the
// verifier of the audit trail saying so.
func TestEveryByteOfARecord(t *testing.T) {
	s := ready(t, openAt(t, Config{Path: t.TempDir() + "/" + FileName, quiet: true}))
	ctx := store.WithActor(t.Context(), "Olga")
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	w := &rimewatch.Workspace{Name: "Shop", TimeZone: "UTC", RawDays: 30, RollupDays: 60}
	must(s.CreateWorkspace(ctx, w))
	d := &rimewatch.Device{ID: s.NewDeviceID(), WorkspaceID: w.ID, Serial: "A", Name: "A", EquipmentType: "other"}
	must(storetest.Commit(ctx, s, &store.Group{Now: crashBase, Devices: []*store.DeviceOp{{WorkspaceID: w.ID, Serial: "A", Create: d}}}, &store.Effects{}))
	found, err := s.Device(ctx, w.ID, "A")
	must(err)
	was, calibrated := found.Device, found.Device
	c := &rimewatch.Calibration{Field: rimewatch.ProductZoneTemp, Method: "ice_point", PerformedAt: crashBase, PerformedBy: "Ana", RecordedBy: "Bo"}
	must(storetest.Commit(ctx, s, &store.Group{Now: crashBase, Devices: []*store.DeviceOp{{WorkspaceID: w.ID, Serial: "A", Was: &was, Change: &calibrated, Calibration: c}}}, &store.Effects{}))
	a := &rimewatch.Alert{ID: s.NewAlertID(), WorkspaceID: w.ID, DeviceID: d.ID, Type: "t", Status: rimewatch.AlertResolved, Severity: rimewatch.Critical, TriggeredAt: crashBase, ResolvedAt: crashBase + 1}
	must(storetest.Commit(ctx, s, &store.Group{Now: crashBase}, &store.Effects{Alerts: []*rimewatch.Alert{a}}))
	cases, _, err := s.Cases(ctx, w.ID, store.CaseFilter{}, store.Page{Limit: 1})
	must(err)
	must(s.CreateCorrectiveAction(ctx, &rimewatch.CorrectiveAction{WorkspaceID: w.ID, CaseID: cases[0].ID, DeviceID: d.ID, At: crashBase, PerformedAt: crashBase, PerformedBy: "Ana", Action: "a", RecordedBy: "Ana"}))
	must(s.Attach(ctx, &rimewatch.Attachment{WorkspaceID: w.ID, CaseID: cases[0].ID, Name: "a.pdf", Type: "application/pdf", At: crashBase}, []byte("%PDF-1.7")))
	must(s.SignCase(ctx, &rimewatch.Signature{WorkspaceID: w.ID, CaseID: cases[0].ID, At: crashBase, UserID: 1, SessionID: 2, Name: "Ana", Meaning: rimewatch.MeaningApproved, Proof: "password", Content: `{"a":1}`}, 2))

	broken := func() int64 {
		t.Helper()
		id, err := s.VerifyAudit(ctx, w.ID)
		must(err)
		return id
	}
	if id := broken(); id != 0 {
		t.Fatalf("entry %d is broken before anything was changed", id)
	}
	set := func(table, column string, value any) error {
		return s.disk.Write(ctx, func(conn tables.Conn) error {
			_, err := conn.Exec("UPDATE "+table+" SET "+column+" = ?", value)
			return err
		})
	}
	flips := 0
	for _, table := range tables.Catalog() {
		switch table.Name {
		case "corrective_action", "calibration", "attachment", "signature":
		default:
			continue
		}
		var row []any
		must(s.disk.ReadLong(ctx, func(conn tables.Conn) error {
			return table.Rows(conn, nil, func(values []any, _ []int64) error { row = values; return nil })
		}))
		if row == nil {
			t.Fatalf("%s is empty", table.Name)
		}
		for i, col := range table.Columns {
			for _, other := range flipped(row[i]) {
				if err := set(table.Name, col.Name, other); err != nil {
					continue // the table itself does not take it
				}
				flips++
				if broken() == 0 {
					t.Errorf("%s.%s: %v became %v and nobody noticed", table.Name, col.Name, row[i], other)
				}
				must(set(table.Name, col.Name, row[i]))
			}
		}
	}
	if flips < 500 || broken() != 0 {
		t.Fatalf("%d flips, entry %d is broken", flips, broken())
	}
	// The bytes of attachments are read by the verification of the whole store.
	whole := func() (n int) {
		must(s.disk.ReadLong(ctx, func(conn tables.Conn) error {
			_, list, err := tables.VerifyTrails(conn)
			n = len(list)
			return err
		}))
		return n
	}
	for _, other := range flipped([]byte("%PDF-1.7")) {
		must(set("attachment_piece", "data", other))
		if whole() != 1 {
			t.Errorf("bytes that became %q were not noticed", other)
		}
	}
	must(set("attachment_piece", "data", []byte("%PDF-1.7")))
	if n := whole(); n != 0 {
		t.Errorf("%d entries are broken in the end", n)
	}
}

// flipped are all values that differ from one by a bit of each byte.
func flipped(v any) (list []any) {
	switch v := v.(type) {
	case int64:
		for i := range 7 { // of the numbers that SQLite and JSON both have
			list = append(list, v^(1<<(8*i)))
		}
	case string:
		for i := range v {
			b := []byte(v)
			b[i] ^= 1
			list = append(list, string(b))
		}
	case []byte:
		for i := range v {
			b := bytes.Clone(v)
			b[i] ^= 1
			list = append(list, b)
		}
	default:
		panic(fmt.Sprintf("a column of %T", v))
	}
	return list
}
