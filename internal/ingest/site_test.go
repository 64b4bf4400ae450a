package ingest_test

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
)

// place makes a site with devices.
func (r *rig) place(name string, devices int) (site int64, ids []int64) {
	r.t.Helper()
	x := &rimewatch.Site{WorkspaceID: r.ws, Name: name, TimeZone: "UTC"}
	if err := r.s.Sites().Create(r.t.Context(), x); err != nil {
		r.t.Fatal(err)
	}
	for i := range devices {
		serial := fmt.Sprintf("%s-%d", name, i)
		v, err := r.in.CreateDevice(r.t.Context(), &rimewatch.Device{WorkspaceID: r.ws, Serial: serial, Name: serial, EquipmentType: "walkin_freezer", SiteID: x.ID})
		if err != nil {
			r.t.Fatal(err)
		}
		ids = append(ids, v.ID)
	}
	return x.ID, ids
}

// hear lets devices report a minute apart for a span.
func (r *rig) hear(span time.Duration, ids ...int64) {
	r.t.Helper()
	for end := time.Now().Add(span); time.Now().Before(end); time.Sleep(time.Minute) {
		for _, id := range ids {
			r.send(id, r.now(), -20)
		}
	}
}

// stored returns the alerts of a kind, oldest first.
func (r *rig) stored(kind rimewatch.AlertType) []rimewatch.AlertView {
	r.t.Helper()
	list, _, err := r.s.Alerts(r.t.Context(), r.ws, store.AlertFilter{Type: kind}, store.AlertPage{Limit: 1000})
	if err != nil {
		r.t.Fatal(err)
	}
	slices.Reverse(list)
	return list
}

// shortAlert is what the tests look at.
func shortAlert(a rimewatch.AlertView) string {
	s := fmt.Sprintf("%s %s %s", a.Type, a.Severity, a.Status)
	if a.Resolution != "" {
		s += " " + string(a.Resolution)
	}
	if a.SuppressedBy != 0 {
		s += " suppressed"
	}
	return s
}

func shortAlerts(list []rimewatch.AlertView) (out []string) {
	for _, a := range list {
		out = append(out, shortAlert(a))
	}
	return out
}

func counted(list []string) map[string]int {
	n := make(map[string]int)
	for _, s := range list {
		n[s]++
	}
	return n
}

func TestSiteOffline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		defer func() { r.close() }()
		site, ids := r.place("Harbour", 5)
		r.hear(10*time.Minute, ids...)
		r.events()
		// Four fall silent, one goes on.
		r.hear(4*time.Minute, ids[4])
		same(t, "silence", counted(r.events()), map[string]int{
			"device.offline": 4, "alert.opened device_offline warning": 4, "alert.opened site_offline warning": 1, "alert.updated device_offline warning": 4,
		})
		a := r.stored(rimewatch.SiteOffline)[0]
		same(t, "the site's alert", []any{a.DeviceID, a.DeviceSerial, a.SiteID, a.Site.Name, *a.Value, a.OutOf}, []any{int64(0), "", site, "Harbour", 4.0, 5})
		for _, child := range r.stored(rimewatch.DeviceOffline) {
			same(t, "explained by", child.SuppressedBy, a.ID)
		}
		same(t, "counted", r.in.Summary(r.ws).WarningAlerts, 5)
		r.crash()
		r.hear(time.Minute, ids[4])
		same(t, "nothing new after a crash", r.events(), []string(nil))

		// Half of them are back: the others have two minutes.
		r.hear(time.Minute, ids[0], ids[1], ids[4])
		same(t, "half are back", counted(r.events()), map[string]int{"device.online": 2, "alert.resolved device_offline warning": 2})
		r.hear(2*time.Minute, ids[0], ids[1], ids[4])
		same(t, "over", counted(r.events()), map[string]int{"alert.resolved site_offline warning": 1, "alert.updated device_offline warning": 2})
		same(t, "alerts", counted(shortAlerts(r.stored(""))), map[string]int{
			"device_offline warning resolved auto suppressed": 2, "device_offline warning active": 2, "site_offline warning resolved auto": 1,
		})
		a = r.stored(rimewatch.SiteOffline)[0]
		same(t, "silent, of how many", []any{*a.Value, a.OutOf, a.ResolvedAt.Sub(a.ConditionStartedAt).Truncate(time.Minute)}, []any{2.0, 4, 5 * time.Minute})
		r.crash()
		r.hear(10*time.Minute, ids[0], ids[1], ids[4])
		same(t, "told once", r.events(), []string(nil))
		same(t, "counted", r.in.Summary(r.ws).WarningAlerts, 2)
	})
}

// TestSiteStaysQuiet: what is no outage of a site.
func TestSiteStaysQuiet(t *testing.T) {
	for _, c := range []struct {
		name string
		of   int
		run  func(r *rig, ids []int64)
		want map[string]int
	}{
		{"two of two", 2, func(r *rig, ids []int64) { time.Sleep(5 * time.Minute) }, map[string]int{"device_offline warning active": 2}},
		{"three of seven", 7, func(r *rig, ids []int64) { r.hear(5*time.Minute, ids[3:]...) }, map[string]int{"device_offline warning active": 3}},
		{"three of six", 6, func(r *rig, ids []int64) { r.hear(5*time.Minute, ids[3:]...) }, map[string]int{"device_offline warning active suppressed": 3, "site_offline warning active": 1}},
		{"one after the other", 5, func(r *rig, ids []int64) {
			for i := range ids {
				r.hear(3*time.Minute, ids[i+1:]...)
			}
			time.Sleep(5 * time.Minute)
		}, map[string]int{"device_offline warning active": 5}},
		{"announced", 5, func(r *rig, ids []int64) {
			for i := range ids {
				if _, err := r.in.Heartbeat(r.t.Context(), r.ws, fmt.Sprintf("S-%d", i), rimewatch.Heartbeat{Offline: true}); err != nil {
					r.t.Fatal(err)
				}
			}
			time.Sleep(5 * time.Minute)
		}, map[string]int{}},
		{"deleted", 5, func(r *rig, ids []int64) {
			time.Sleep(5 * time.Minute)
			for i := range ids {
				if _, err := r.in.DeleteDevice(r.t.Context(), r.ws, fmt.Sprintf("S-%d", i)); err != nil {
					r.t.Fatal(err)
				}
			}
			time.Sleep(time.Second)
		}, map[string]int{"device_offline warning resolved superseded suppressed": 5, "site_offline warning resolved superseded": 1}},
		{"the others were offline before", 8, func(r *rig, ids []int64) {
			r.hear(10*time.Minute, ids[:5]...) // three go alone: they are fewer than half
			r.hear(5*time.Minute, ids[:2]...)  // three of the five that were left
		}, map[string]int{"device_offline warning active": 3, "device_offline warning active suppressed": 3, "site_offline warning active": 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t)
				defer func() { r.close() }()
				_, ids := r.place("S", c.of)
				r.hear(10*time.Minute, ids...)
				c.run(r, ids)
				same(t, "alerts", counted(shortAlerts(r.stored(""))), c.want)
			})
		})
	}
}

// TestSiteLifecycle: people and the site's alert.
func TestSiteLifecycle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		defer func() { r.close() }()
		site, ids := r.place("Harbour", 4)
		r.hear(10*time.Minute, ids...)
		time.Sleep(4 * time.Minute)
		a := r.stored(rimewatch.SiteOffline)[0]
		acked, err := r.in.Acknowledge(t.Context(), r.ws, a.ID, "Eva", "on my way", 0)
		if err != nil || acked.AcknowledgedBy != "Eva" || acked.Note != "on my way" {
			t.Fatal(acked, err)
		}
		r.crash()
		time.Sleep(time.Hour)
		same(t, "critical with its devices", shortAlert(r.stored(rimewatch.SiteOffline)[0]), "site_offline critical active")
		time.Sleep(3*time.Hour + time.Minute)
		same(t, "the acknowledgement has ended", r.stored(rimewatch.SiteOffline)[0].AcknowledgedBy, "")
		for _, tr := range r.timeline(a.ID) {
			if tr.Kind == rimewatch.TransitionAckExpired && (tr.At < acked.AckExpiresAt || tr.At > acked.AckExpiresAt+rimewatch.Second) {
				t.Errorf("the acknowledgement ended at %d, want %d", tr.At, acked.AckExpiresAt)
			}
		}
		same(t, "the timeline", r.lines(a.ID), []string{"opened warning", "acknowledged warning Eva", "escalated critical", "acknowledgement_expired critical"})
		r.events()
		if _, err := r.in.ResolveAlert(t.Context(), r.ws, a.ID, "Eva", ""); err != nil {
			t.Fatal(err)
		}
		if _, err := r.in.ResolveAlert(t.Context(), r.ws, a.ID, "Eva", ""); rimewatch.CodeOf(err) != rimewatch.CodeAlertNotActive {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		want := map[string]int{"site_offline critical resolved manual": 1, "device_offline critical active": 4}
		same(t, "each is told of on its own", counted(shortAlerts(r.stored(""))), want)
		r.crash()
		time.Sleep(time.Hour)
		same(t, "the person's word counts", counted(shortAlerts(r.stored(""))), want)

		// It comes back and goes again: another outage. Then the site is given up.
		r.hear(10*time.Minute, ids...)
		time.Sleep(4 * time.Minute)
		same(t, "again", shortAlert(r.stored(rimewatch.SiteOffline)[1]), "site_offline warning active")
		if err := r.s.Sites().Delete(t.Context(), r.ws, site); err != nil {
			t.Fatal(err)
		}
		if err := r.in.SiteDeleted(t.Context(), site); err != nil {
			t.Fatal(err)
		}
		same(t, "given up", shortAlert(r.stored(rimewatch.SiteOffline)[1]), "site_offline warning resolved superseded")
		same(t, "its devices", counted(shortAlerts(r.stored(rimewatch.DeviceOffline))), map[string]int{"device_offline critical resolved auto": 4, "device_offline warning active": 4})
		r.events()
		r.crash()
		time.Sleep(time.Minute)
		same(t, "later", r.events(), []string(nil))
	})
}
