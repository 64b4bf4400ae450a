package ingest_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rimewatch/rimewatch"
)

// TestMovedAlerts: a device that moves, changes its type or loses its site says so in the
// timelines of its active alerts, in an event that wakes notifications, and only then.
func TestMovedAlerts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		defer func() { r.close() }()
		shop := rimewatch.Site{WorkspaceID: r.ws, Name: "Shop", TimeZone: "UTC", CreatedAt: r.now(), UpdatedAt: r.now()}
		if err := r.s.Sites().Create(t.Context(), &shop); err != nil {
			t.Fatal(err)
		}
		id := r.device("M-1", "walkin_cooler")
		r.warm(id, 20, 2*time.Hour)
		a := r.stored(rimewatch.HighTemperature)[0]
		before := len(r.timeline(a.ID))
		change := func(change func(*rimewatch.Device)) {
			r.events()
			_, err := r.in.UpdateDevice(t.Context(), r.ws, "M-1", func(d *rimewatch.Device) error { change(d); return nil })
			if err != nil {
				t.Fatal(err)
			}
		}
		told := func(want ...rimewatch.Place) {
			t.Helper()
			var got []rimewatch.Place
			for _, l := range r.timeline(a.ID)[before:] {
				if l.Kind == rimewatch.TransitionMoved {
					got = append(got, *l.From)
				}
			}
			same(t, "places left", got, want)
		}
		change(func(d *rimewatch.Device) { d.Name = "Renamed" })
		told()
		change(func(d *rimewatch.Device) { d.SiteID = shop.ID })
		told(rimewatch.Place{EquipmentType: "walkin_cooler"})
		if !slices.Contains(r.events(), "alert.updated high_temperature critical") {
			t.Error("no event of the alert")
		}
		change(func(d *rimewatch.Device) { d.EquipmentType = "prep_table" })
		told(rimewatch.Place{EquipmentType: "walkin_cooler"}, rimewatch.Place{SiteID: shop.ID, EquipmentType: "walkin_cooler"})
		if err := r.s.Sites().Delete(t.Context(), r.ws, shop.ID); err != nil {
			t.Fatal(err)
		}
		if err := r.in.SiteDeleted(t.Context(), shop.ID); err != nil {
			t.Fatal(err)
		}
		told(rimewatch.Place{EquipmentType: "walkin_cooler"}, rimewatch.Place{SiteID: shop.ID, EquipmentType: "walkin_cooler"}, rimewatch.Place{SiteID: shop.ID})
	})
}
