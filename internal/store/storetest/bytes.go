package storetest

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
)

// Raw is what an engine has on its disk, for who changes it there.
type Raw struct {
	// Row returns the columns of a table, and the values of its last row, nil = it has none.
	Row func(table string) (columns []string, values []any)
	// Set writes a value into a column of all rows.
	Set func(table, column string, value any) error
	// Damaged counts the entries of audit trails that are broken, the bytes of attachments included.
	Damaged func() int
}

// EveryByte checks that what people answer for cannot be changed by a byte without the
// verifier of the audit trail saying so.
func EveryByte(t *testing.T, s store.Store, raw Raw) {
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
	must(Commit(ctx, s, &store.Group{Now: t0, Devices: []*store.DeviceOp{{WorkspaceID: w.ID, Serial: "A", Create: d}}}, &store.Effects{}))
	found, err := s.Device(ctx, w.ID, "A")
	must(err)
	was, calibrated := found.Device, found.Device
	c := &rimewatch.Calibration{Field: rimewatch.ProductZoneTemp, Method: "ice_point", PerformedAt: t0, PerformedBy: "Ana", RecordedBy: "Bo"}
	must(Commit(ctx, s, &store.Group{Now: t0, Devices: []*store.DeviceOp{{WorkspaceID: w.ID, Serial: "A", Was: &was, Change: &calibrated, Calibration: c}}}, &store.Effects{}))
	a := &rimewatch.Alert{ID: s.NewAlertID(), WorkspaceID: w.ID, DeviceID: d.ID, Type: "t", Status: rimewatch.AlertResolved, Severity: rimewatch.Critical, TriggeredAt: t0, ResolvedAt: t0 + 1}
	must(Commit(ctx, s, &store.Group{Now: t0}, &store.Effects{Alerts: []*rimewatch.Alert{a}}))
	cases, _, err := s.Records().Cases(ctx, w.ID, store.CaseFilter{}, store.Page{Limit: 1})
	must(err)
	must(s.Records().CreateCorrectiveAction(ctx, &rimewatch.CorrectiveAction{WorkspaceID: w.ID, CaseID: cases[0].ID, DeviceID: d.ID, At: t0, PerformedAt: t0, PerformedBy: "Ana", Action: "a", RecordedBy: "Ana"}))
	must(s.Records().Attach(ctx, &rimewatch.Attachment{WorkspaceID: w.ID, CaseID: cases[0].ID, Name: "a.pdf", Type: "application/pdf", At: t0}, []byte("%PDF-1.7")))
	must(s.Records().SignCase(ctx, &rimewatch.Signature{WorkspaceID: w.ID, CaseID: cases[0].ID, At: t0, UserID: 1, SessionID: 2, Name: "Ana", Meaning: rimewatch.MeaningApproved, Proof: "password", Content: `{"a":1}`}, 2))

	broken := func() int64 {
		t.Helper()
		id, err := s.Audit().VerifyAudit(ctx, w.ID)
		must(err)
		return id
	}
	if id := broken(); id != 0 {
		t.Fatalf("entry %d is broken before anything was changed", id)
	}
	flips := 0
	for _, table := range []string{"corrective_action", "calibration", "attachment", "signature"} {
		columns, row := raw.Row(table)
		if row == nil {
			t.Fatalf("%s is empty", table)
		}
		for i, column := range columns {
			for _, other := range flipped(row[i]) {
				if err := raw.Set(table, column, other); err != nil {
					continue // the table itself does not take it
				}
				flips++
				if broken() == 0 {
					t.Errorf("%s.%s: %v became %v and nobody noticed", table, column, row[i], other)
				}
				must(raw.Set(table, column, row[i]))
			}
		}
	}
	if flips < 500 || broken() != 0 {
		t.Fatalf("%d flips, entry %d is broken", flips, broken())
	}
	// The bytes of attachments are read by the verification of the whole store.
	for _, other := range flipped([]byte("%PDF-1.7")) {
		must(raw.Set("attachment_piece", "data", other))
		if raw.Damaged() != 1 {
			t.Errorf("bytes that became %q were not noticed", other)
		}
	}
	must(raw.Set("attachment_piece", "data", []byte("%PDF-1.7")))
	if n := raw.Damaged(); n != 0 {
		t.Errorf("%d entries are broken in the end", n)
	}
}

// flipped are all values that differ from one by a bit of each byte.
func flipped(v any) (list []any) {
	switch v := v.(type) {
	case int64:
		for i := range 7 { // of the numbers that engines and JSON have in common
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
