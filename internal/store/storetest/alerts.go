// Package storetest is the contract of a store, as a test that each engine passes. A
// behaviour that is not here is not promised.
package storetest

import (
	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
)

// put commits alerts as the meaning of a tick of their device.
func (f *fixture) put(device int64, touched []store.AlertTouch, alerts ...*rimewatch.Alert) {
	f.Helper()
	f.meaning(device, store.Effects{Alerts: alerts, Touched: touched})
}

func (f *fixture) alert(device int64, kind rimewatch.AlertType, severity rimewatch.Severity, at rimewatch.Time) *rimewatch.Alert {
	return &rimewatch.Alert{ID: f.s.NewAlertID(), WorkspaceID: f.workspace, DeviceID: device, Status: rimewatch.AlertActive, Severity: severity, Type: kind, TriggeredAt: at}
}

func (f *fixture) alerts() {
	d := f.addDevice("AL")
	value, limit := -8.2, -15.0
	a := f.alert(d, rimewatch.HighTemperature, rimewatch.Warning, t0)
	a.Metric, a.Unit, a.Value, a.PeakValue, a.Threshold, a.OutOf, a.HoldH = "product_zone_temp", "°C", &value, &value, &limit, 7, &value
	a.ConditionStartedAt, a.LastEvaluatedAt, a.Occurrences, a.SuppressedBy = t0-5, t0, 1, 9
	lead := 40.5
	a.Prediction = &rimewatch.Prediction{Fault: "condenser_fouling", Risk: 0.5, HorizonH: 72, LeadTimeH: &lead, Evidence: []rimewatch.Evidence{{Metric: "m", Observed: 1, Expected: 2, Unit: "K", Ambient: &limit}}}
	b := f.alert(d, rimewatch.DeviceOffline, rimewatch.Critical, t0+1)
	f.put(d, nil, a, b)
	if a.ID == 0 || b.ID <= a.ID {
		f.Fatalf("ids %d, %d", a.ID, b.ID)
	}
	f.everywhere(func(where string) {
		v, err := f.s.Alert(f.ctx, f.workspace, a.ID)
		f.must(err)
		f.equal(where, v.Alert, *a)
		f.equal(where+" device", []string{v.DeviceSerial, v.DeviceName, v.EquipmentType}, []string{"AL", "Unit AL", "walkin_freezer"})
		_, err = f.s.Alert(f.ctx, f.newWorkspace("other "+where), a.ID)
		f.code(err, rimewatch.CodeAlertNotFound)
		c, err := f.s.AlertCounts(f.ctx, f.workspace, 0)
		f.must(err)
		f.equal(where+" counts", c, store.AlertCounts{ActiveWarning: 1, ActiveCritical: 1})
		dev, err := f.s.Device(f.ctx, f.workspace, "AL")
		f.must(err)
		f.equal(where+" active alerts", dev.ActiveAlerts, 2)
		var active []int64
		f.must(f.s.Everywhere().AllActiveAlerts(f.ctx, func(x *rimewatch.Alert) error { active = append(active, x.ID); return nil }))
		f.equal(where+" active", active, []int64{a.ID, b.ID})
	})
	ack := func(at rimewatch.Time) rimewatch.AlertTransition {
		return rimewatch.AlertTransition{WorkspaceID: f.workspace, AlertID: b.ID, Kind: rimewatch.TransitionAcknowledged, At: at, Severity: rimewatch.Critical, Facts: b}
	}
	f.meaning(d, store.Effects{Transitions: []rimewatch.AlertTransition{ack(t0 + 4), ack(t0 + 7)}})
	f.everywhere(func(where string) {
		got, err := f.s.Records().Responses(f.ctx, f.workspace, t0+1, t0+2)
		f.must(err)
		f.equal(where+" responses", got, []store.Response{{DeviceID: d, TriggeredAt: t0 + 1, AcknowledgedAt: t0 + 4}})
		got, err = f.s.Records().Responses(f.ctx, f.workspace, t0+2, t0+9)
		f.must(err)
		f.equal(where+" responses later", len(got), 0)
	})
	f.put(d, []store.AlertTouch{{AlertID: a.ID, Value: -3, Peak: -2, HasValue: true, Evaluated: t0 + 60}})
	v, err := f.s.Alert(f.ctx, f.workspace, a.ID)
	f.must(err)
	f.equal("touched", []float64{*v.Value, *v.PeakValue, float64(v.LastEvaluatedAt - t0)}, []float64{-3, -2, 60})

	up := *a
	up.Severity = rimewatch.Critical
	done := *b
	done.Status, done.ResolvedAt, done.Resolution, done.ResolvedBy = rimewatch.AlertResolved, t0+9, rimewatch.ResolvedManual, "Eva"
	f.put(d, nil, &up, &done)
	f.everywhere(func(where string) {
		c, err := f.s.AlertCounts(f.ctx, f.workspace, 0)
		f.must(err)
		f.equal(where+" counts", c, store.AlertCounts{ActiveCritical: 1, ResolvedCritical: 1})
		c, err = f.s.AlertCounts(f.ctx, f.workspace, t0+1)
		f.must(err)
		f.equal(where+" counts since", c, store.AlertCounts{ResolvedCritical: 1})
		v, err := f.s.Alert(f.ctx, f.workspace, b.ID)
		f.must(err)
		f.equal(where+" resolved", v.Alert, done)
	})
	// Somebody judges it afterwards: nothing is counted twice.
	judged := done
	judged.Feedback = &rimewatch.Feedback{Verdict: rimewatch.Fixed, Note: "n", By: "Eva", At: t0 + 10}
	f.put(d, nil, &judged)
	f.everywhere(func(where string) {
		c, err := f.s.AlertCounts(f.ctx, f.workspace, 0)
		f.must(err)
		f.equal(where+" counts after a verdict", c, store.AlertCounts{ActiveCritical: 1, ResolvedCritical: 1})
		v, err := f.s.Alert(f.ctx, f.workspace, b.ID)
		f.must(err)
		f.equal(where+" judged", v.Alert, judged)
	})
	// The condition comes back: a new alert of the same type.
	again := f.alert(d, rimewatch.DeviceOffline, rimewatch.Warning, t0+20)
	f.put(d, nil, again)
	if again.ID == b.ID {
		f.Fatal("a new alert took an old id")
	}
	// Each measurement has a sensor alert of its own.
	first, second := f.alert(d, rimewatch.SensorFault, rimewatch.Warning, t0+21), f.alert(d, rimewatch.SensorFault, rimewatch.Warning, t0+22)
	first.Part, second.Part = "ambient_temp", "product_zone_temp"
	f.put(d, nil, first, second)
	f.everywhere(func(where string) {
		v, err := f.s.Alert(f.ctx, f.workspace, second.ID)
		f.must(err)
		f.equal(where+" part", v.Alert, *second)
	})
}

func (f *fixture) alertPages() {
	d, e := f.addDevice("P1"), f.addDevice("P2")
	var ids []int64
	for i := range 12 {
		// Pairs share their moment: the id decides.
		a := f.alert(d, rimewatch.HighTemperature, rimewatch.Warning, t0+rimewatch.Time(i/2))
		if i%3 == 0 {
			a.DeviceID, a.Type, a.Severity, a.AcknowledgedAt = e, rimewatch.LowTemperature, rimewatch.Critical, t0
		}
		if i == 11 {
			a.Type = rimewatch.DeviceOffline
		}
		if i == 10 {
			a.Type = rimewatch.EvaporatorIcingSuspected
		}
		if i < 10 {
			a.Status, a.ResolvedAt = rimewatch.AlertResolved, t0+100
		}
		f.put(d, nil, a)
		ids = append(ids, a.ID)
	}
	list := func(flt store.AlertFilter, p store.AlertPage) (got []int64, total int) {
		f.Helper()
		views, total, err := f.s.Alerts(f.ctx, f.workspace, flt, p)
		f.must(err)
		for i := range views {
			got = append(got, views[i].ID)
		}
		return got, total
	}
	at := func(is ...int) (out []int64) {
		for _, i := range is {
			out = append(out, ids[i])
		}
		return out
	}
	yes, no := true, false
	f.everywhere(func(where string) {
		for _, c := range []struct {
			name  string
			f     store.AlertFilter
			p     store.AlertPage
			want  []int64
			total int
		}{
			{"all", store.AlertFilter{}, store.AlertPage{Limit: 3}, at(11, 10, 9), 12},
			{"offset", store.AlertFilter{}, store.AlertPage{Limit: 3, Offset: 10}, at(1, 0), 12},
			{"keyset", store.AlertFilter{}, store.AlertPage{Limit: 2, BeforeAt: t0 + 4, BeforeID: ids[9]}, at(8, 7), 0},
			{"active", store.AlertFilter{Status: rimewatch.AlertActive}, store.AlertPage{Limit: 9}, at(11, 10), 2},
			{"resolved", store.AlertFilter{Status: rimewatch.AlertResolved}, store.AlertPage{Limit: 1}, at(9), 10},
			{"critical", store.AlertFilter{Severity: rimewatch.Critical}, store.AlertPage{Limit: 9}, at(9, 6, 3, 0), 4},
			{"type", store.AlertFilter{Type: rimewatch.LowTemperature}, store.AlertPage{Limit: 2}, at(9, 6), 4},
			{"device", store.AlertFilter{DeviceID: e}, store.AlertPage{Limit: 2, Offset: 1}, at(6, 3), 4},
			{"acknowledged", store.AlertFilter{Acknowledged: &yes}, store.AlertPage{Limit: 9}, at(9, 6, 3, 0), 4},
			{"not acknowledged", store.AlertFilter{Acknowledged: &no, Status: rimewatch.AlertActive}, store.AlertPage{Limit: 9}, at(11, 10), 2},
			{"predictive", store.AlertFilter{Predictive: &yes}, store.AlertPage{Limit: 9}, at(10), 1},
			{"not predictive", store.AlertFilter{Predictive: &no, Status: rimewatch.AlertActive}, store.AlertPage{Limit: 9}, at(11), 1},
			{"since", store.AlertFilter{Since: t0 + 5}, store.AlertPage{Limit: 9}, at(11, 10), 2},
			{"of devices", store.AlertFilter{Devices: []int64{e}}, store.AlertPage{Limit: 2, Offset: 1}, at(6, 3), 4},
			{"of no devices", store.AlertFilter{Devices: []int64{}}, store.AlertPage{Limit: 9}, nil, 0},
			{"of another type", store.AlertFilter{Equipment: "no such type"}, store.AlertPage{Limit: 9}, nil, 0},
			{"of another site", store.AlertFilter{SiteID: 1 << 40}, store.AlertPage{Limit: 9}, nil, 0},
			{"nothing", store.AlertFilter{Type: "no such type"}, store.AlertPage{Limit: 9}, nil, 0},
		} {
			got, total := list(c.f, c.p)
			f.equal(where+" "+c.name, got, c.want)
			f.equal(where+" "+c.name+" total", total, c.total)
		}
	})
}
