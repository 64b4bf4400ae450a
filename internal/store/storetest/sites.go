package storetest

import (
	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
)

// withinSites: a context that is limited to sites finds, lists and counts what is
// there now, and nothing else.
func withinSites(f *fixture) {
	var sites [2]rimewatch.Site
	for i := range sites {
		sites[i] = rimewatch.Site{WorkspaceID: f.workspace, Name: []string{"Here", "There"}[i], TimeZone: "UTC"}
		f.must(f.s.Sites().Create(f.ctx, &sites[i]))
	}
	place := func(serial string, site int64) {
		changeDevice(f, serial, nil, func(d *rimewatch.Device) { d.SiteID = site })
	}
	var alerts []*rimewatch.Alert
	for i, serial := range []string{"HERE", "THERE", "NOWHERE"} {
		id := f.addDevice(serial)
		if i < 2 {
			place(serial, sites[i].ID)
		}
		f.commit(id, reading(t0))
		alerts = append(alerts, &rimewatch.Alert{ID: f.s.NewAlertID(), WorkspaceID: f.workspace, DeviceID: id, Type: "t", Status: rimewatch.AlertActive, Severity: rimewatch.Warning, TriggeredAt: t0})
	}
	for i := range sites {
		alerts = append(alerts, &rimewatch.Alert{ID: f.s.NewAlertID(), WorkspaceID: f.workspace, SiteID: sites[i].ID, Type: rimewatch.SiteOffline, Status: rimewatch.AlertActive, Severity: rimewatch.Critical, TriggeredAt: t0})
	}
	f.group(&store.Group{Now: f.now}, store.Effects{Alerts: alerts})
	check := func(where string, limit rimewatch.Sites, serials ...string) {
		f.Helper()
		ctx := store.WithSites(f.ctx, limit)
		list, total, err := f.s.Devices(ctx, f.workspace, store.DeviceFilter{}, store.Page{Limit: 10})
		f.must(err)
		var got, latest []string
		for i := range list {
			got = append(got, list[i].Serial)
		}
		f.must(f.s.EachDevice(ctx, f.workspace, func(v *rimewatch.DeviceView) error { latest = append(latest, v.Serial); return nil }))
		f.equal(where+": listed", got, serials)
		f.equal(where+": total", total, len(serials))
		f.equal(where+": latest", latest, serials)
		var who []string
		f.s.EachIdentity(ctx, f.workspace, func(d *store.Identity) bool { who = append(who, d.Serial); return true })
		f.equal(where+": identities", who, serials)
		_, n, err := f.s.Alerts(ctx, f.workspace, store.AlertFilter{Status: rimewatch.AlertActive}, store.AlertPage{Limit: 10})
		f.must(err)
		counts, err := f.s.AlertCounts(ctx, f.workspace, 0)
		f.must(err)
		found := 0
		for _, a := range alerts {
			if _, err := f.s.Alert(ctx, f.workspace, a.ID); err == nil {
				found++
			}
		}
		want := len(serials) + len(limit)
		f.equal(where+": alerts", []int{n, counts.ActiveWarning + counts.ActiveCritical, found}, []int{want, want, want})
		for _, serial := range []string{"HERE", "THERE", "NOWHERE"} {
			_, err := f.s.Device(ctx, f.workspace, serial)
			known := false
			for _, s := range serials {
				known = known || s == serial
			}
			f.equal(where+": "+serial, err == nil, known)
		}
	}
	f.everywhere(func(where string) {
		check(where, rimewatch.Sites{sites[0].ID}, "HERE")
		check(where+", both", rimewatch.Sites{sites[0].ID, sites[1].ID}, "HERE", "THERE")
		check(where+", none", rimewatch.Sites{})
	})
	place("THERE", sites[0].ID)
	check("moved", rimewatch.Sites{sites[0].ID}, "HERE", "THERE")
	deletedWithinSites(f, sites[:])
}

// deletedWithinSites deletes THERE, of the first site, and NOWHERE.
func deletedWithinSites(f *fixture, sites []rimewatch.Site) {
	f.Helper()
	f.group(&store.Group{Now: f.now, Devices: []*store.DeviceOp{{WorkspaceID: f.workspace, Serial: "there", Delete: true}, {WorkspaceID: f.workspace, Serial: "NOWHERE", Delete: true}}}, store.Effects{})
	f.everywhere(func(where string) {
		deleted := func(workspaceID int64, limit rimewatch.Sites, want ...string) {
			f.Helper()
			list, err := f.s.DeletedDevices(store.WithSites(f.ctx, limit), workspaceID, 0)
			f.must(err)
			var got []string
			for i := range list {
				got = append(got, list[i].Serial)
			}
			f.equal(where+": deleted", got, want)
		}
		deleted(f.workspace, nil, "THERE", "NOWHERE")
		deleted(f.workspace, rimewatch.Sites{sites[0].ID}, "THERE")
		deleted(f.workspace, rimewatch.Sites{sites[1].ID})
		deleted(f.workspace+1, nil)
		_, n, err := f.s.Alerts(f.ctx, f.workspace, store.AlertFilter{Serial: "There"}, store.AlertPage{Limit: 10})
		f.must(err)
		_, sited, err := f.s.Alerts(store.WithSites(f.ctx, rimewatch.Sites{sites[1].ID}), f.workspace, store.AlertFilter{Serial: "THERE"}, store.AlertPage{Limit: 10})
		f.must(err)
		f.equal(where+": alerts of a deleted device, to all and to another site", []int{n, sited}, []int{1, 0})
	})
}
