package ingest_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/rimewatch/rimewatch"
)

// maintain plans work on a site from one moment to another.
func (r *rig) maintain(from, to time.Duration, sites ...int64) rimewatch.MaintenanceWindow {
	r.t.Helper()
	w := rimewatch.MaintenanceWindow{
		WorkspaceID: r.ws, SiteIDs: sites, StartsAt: r.now().Add(from), EndsAt: r.now().Add(to), Reason: "new gaskets", CreatedBy: "Eva", CreatedAt: r.now(),
	}
	if err := r.in.MaintenanceWindows().Create(r.t.Context(), &w); err != nil {
		r.t.Fatal(err)
	}
	return w
}

// TestMaintenance: what happens in a window counts neither for nor against
// compliance; alerts are recorded all the same. Windows are planned, ended
// early, and survive crashes.
func TestMaintenance(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		defer func() { r.close() }()
		site, inside := r.place("Harbour", 1)
		_, outside := r.place("Market", 1)
		a, b := inside[0], outside[0]
		warm := func(temp float64, span time.Duration) {
			for end := time.Now().Add(span); time.Now().Before(end); time.Sleep(time.Minute) {
				r.send(a, r.now(), temp)
				r.send(b, r.now(), temp)
			}
		}
		covered := func(id int64) time.Duration {
			return time.Duration(r.in.DeviceCompliance(id).Covered) * time.Millisecond
		}
		percent := func(id int64) float64 { v, _ := r.in.DeviceCompliance(id).Percent(); return v }
		warm(-20, time.Hour)
		w := r.maintain(time.Hour, 4*time.Hour, site)
		r.maintain(100*time.Hour, 101*time.Hour, site)
		warm(-20, time.Hour)
		r.crash()
		r.events()
		before := covered(a)
		warm(-5, 2*time.Hour)
		same(t, "inside it", covered(a).Round(10*time.Minute), before.Round(10*time.Minute))
		is, ok := r.in.Maintenance(a)
		same(t, "it is told", []any{is.ID, ok}, []any{w.ID, true})
		_, ok = r.in.Maintenance(b)
		same(t, "of the other not", ok, false)
		same(t, "the other goes on", covered(b) > 3*time.Hour+50*time.Minute, true)
		same(t, "alerts are recorded", counted(shortAlerts(r.stored(rimewatch.HighTemperature))), map[string]int{"high_temperature critical active": 2})
		same(t, "compliance inside", percent(a), 100.0)
		if got := percent(b); got > 90 {
			t.Errorf("compliance outside is %v", got)
		}
		_, err := r.in.MaintenanceWindows().Update(t.Context(), r.ws, w.ID, func(w *rimewatch.MaintenanceWindow) error { w.EndEarly(r.now()); return nil })
		if err != nil {
			t.Fatal(err)
		}
		r.crash()
		warm(-5, 2*time.Hour)
		if got := percent(a); got > 70 {
			t.Errorf("compliance after the window is %v", got)
		}
	})
}

// TestMaintenanceFollowsTheDevice: a device that moves to a site with a window
// is in it, one that leaves is not, and so with sites that are deleted.
func TestMaintenanceFollowsTheDevice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		defer func() { r.close() }()
		site, ids := r.place("Harbour", 0)
		same(t, "nobody", len(ids), 0)
		id := r.device("A", "walkin_freezer")
		r.maintain(0, 20*time.Hour, site)
		grows := func() bool {
			from := r.in.DeviceCompliance(id).Covered
			r.warm(id, -20, time.Hour)
			return r.in.DeviceCompliance(id).Covered > from+(30*time.Minute).Milliseconds()
		}
		move := func(to int64) {
			if _, err := r.in.UpdateDevice(t.Context(), r.ws, "A", func(d *rimewatch.Device) error { d.SiteID = to; return nil }); err != nil {
				t.Fatal(err)
			}
		}
		same(t, "elsewhere", grows(), true)
		move(site)
		same(t, "at the site", grows(), false)
		r.crash()
		same(t, "after a crash", grows(), false)
		if err := r.s.Sites().Delete(t.Context(), r.ws, site); err != nil {
			t.Fatal(err)
		}
		if err := r.in.SiteDeleted(t.Context(), site); err != nil {
			t.Fatal(err)
		}
		same(t, "the site is no more", grows(), true)
	})
}

// TestMaintenanceRebaselines: whoever worked on a unit has left another one, so
// that a prediction does not outlive the window.
func TestMaintenanceRebaselines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		defer func() { r.close() }()
		id := r.device("A", "walkin_cooler")
		u := r.worn(4)
		r.live(u, id, time.Minute)
		same(t, "the prediction", r.prediction().Status, rimewatch.AlertActive)
		r.maintain(0, time.Hour)
		r.live(u, id, 30*time.Minute)
		same(t, "inside the window", r.prediction().Status, rimewatch.AlertActive)
		r.crash()
		r.live(u, id, 31*time.Minute)
		same(t, "after it", r.prediction().Status, rimewatch.AlertResolved)
		r.crash()
		r.live(u, id, 5*time.Minute)
		same(t, "it stays over", r.prediction().Status, rimewatch.AlertResolved)
	})
}

// TestMaintenancePlans: a plan has its windows once, through crashes; a site whose clock is set anew gets others, and of one
// that another process switches off those go that have not begun.
func TestMaintenancePlans(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		defer func() { r.close() }()
		site, inside := r.place("Harbour", 1)
		p := rimewatch.MaintenancePlan{
			WorkspaceID: r.ws, SiteIDs: []int64{site}, Window: rimewatch.CheckWindow{Days: 127, From: 330, To: 420}, Reason: "Cleaning", Enabled: true, CreatedBy: "Eva", CreatedAt: r.now(), UpdatedAt: r.now(),
		}
		if err := r.in.MaintenancePlans().Create(t.Context(), &p); err != nil {
			t.Fatal(err)
		}
		plan := func(changed int) {
			t.Helper()
			list, err := r.in.PlanMaintenance(t.Context())
			if err != nil || len(list) != changed {
				t.Fatalf("%v changed, want %d: %v", list, changed, err)
			}
		}
		windows := func() []rimewatch.MaintenanceWindow {
			t.Helper()
			list, err := r.s.Routing().MaintenanceWindows().List(t.Context(), r.ws)
			if err != nil {
				t.Fatal(err)
			}
			return list
		}
		same(t, "one was made with it", len(windows()), 1)
		plan(0)
		began := windows()[0].StartsAt
		time.Sleep(began.Sub(r.now()) + time.Minute)
		running := func() {
			t.Helper()
			is, ok := r.in.Maintenance(inside[0])
			same(t, "it is told", []any{is.Reason, is.EndsAt, ok}, []any{"Cleaning", began + 90*rimewatch.Minute, true})
		}
		running()
		plan(1)
		r.crash()
		plan(0)
		same(t, "the next", windows()[1].StartsAt, began+rimewatch.Day)
		if _, err := r.s.Sites().Update(t.Context(), r.ws, site, func(x *rimewatch.Site) error { x.TimeZone = "Asia/Tokyo"; return nil }); err != nil {
			t.Fatal(err)
		}
		plan(1)
		same(t, "there is another one", len(windows()), 2)
		same(t, "by the new clock", windows()[1].StartsAt.Std().In(rimewatch.ZoneOf("Asia/Tokyo")).Format("15:04"), "05:30")
		if _, err := r.s.Routing().MaintenancePlans().Update(t.Context(), r.ws, p.ID, func(x *rimewatch.MaintenancePlan) error { x.Enabled = false; return nil }); err != nil {
			t.Fatal(err)
		}
		plan(1)
		plan(0)
		same(t, "what runs stays", len(windows()), 1)
		running()
	})
}
