package sqlite

import (
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/store/storetest"
)

// TestStill: while somebody wants nothing to move, what could be sealed waits, unless
// memory is short; afterwards it is sealed.
func TestStill(t *testing.T) {
	for name, tt := range map[string]struct {
		readings int
		moves    bool // at once
	}{"there is room": {1, false}, "memory is short": {400, true}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { testStill(t, tt.readings, tt.moves) })
		})
	}
}

func testStill(t *testing.T, readings int, moves bool) {
	s := ready(t, openAt(t, Config{Path: filepath.Join(t.TempDir(), FileName), SealAfter: time.Minute, HeadBytes: 1 << 10}))
	w := &rimewatch.Workspace{Name: "W", TimeZone: "UTC", RawDays: 400, RollupDays: 1000, CreatedAt: 1, UpdatedAt: 1}
	if err := s.CreateWorkspace(t.Context(), w); err != nil {
		t.Fatal(err)
	}
	id, now := s.NewDeviceID(), rimewatch.TimeOf(time.Now())
	op := &store.DeviceOp{WorkspaceID: w.ID, Serial: "D", Create: &rimewatch.Device{ID: id, WorkspaceID: w.ID, Serial: "D", Name: "D", EquipmentType: "other"}}
	if err := storetest.Commit(t.Context(), s, &store.Group{Now: now, Devices: []*store.DeviceOp{op}}, &store.Effects{}); err != nil {
		t.Fatal(err)
	}
	s.Quiesce(time.Hour)
	before := s.Moved()
	inputs := make([]store.Input, readings)
	for i := range inputs {
		inputs[i] = store.Input{Kind: store.InputReading, DeviceID: id, AtArrival: true}
		inputs[i].Reading.Set(rimewatch.ProductZoneTemp, float64(i%40))
	}
	if err := storetest.Commit(t.Context(), s, &store.Group{Now: now, Parts: [][]store.Input{inputs}}, &store.Effects{}); err != nil {
		t.Fatal(err)
	}
	time.Sleep(59 * time.Minute)
	if moved := s.Moved() != before; moved != moves {
		t.Errorf("within the hour: moved %v, not %v", moved, moves)
	}
	time.Sleep(time.Minute + 2*time.Second)
	if s.Moved() == before {
		t.Error("nothing was sealed afterwards")
	}
}
