package core

import (
	"maps"
	"reflect"
	"testing"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store/storetest"
)

// Every field of a device, set alone, is what memory gives back, also those that are
// added to Device later.
func TestRowKeepsEveryField(t *testing.T) {
	for name, d := range storetest.EachField() {
		r := rowOf(&d)
		if got := r.device(); !reflect.DeepEqual(got, d) {
			t.Errorf("%s: %+v, want %+v", name, got, d)
		}
	}
	plain := rimewatch.Device{ID: 7, WorkspaceID: 1, Serial: "A-1", Name: "A", EquipmentType: "other", SiteID: 2, HeartbeatIntervalS: 60, OfflineAfterS: 600, CreatedAt: 5, UpdatedAt: 6}
	if r := rowOf(&plain); r.whole != nil {
		t.Error("a device without details is kept whole")
	}
	if n := len(maps.Collect(storetest.EachField())); n != reflect.TypeFor[rimewatch.Device]().NumField() {
		t.Errorf("%d fields", n)
	}
}
