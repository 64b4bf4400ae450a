package storetest

import (
	"errors"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
)

// meaning commits effects as the meaning of a tick of a device.
func (f *fixture) meaning(device int64, e store.Effects) {
	f.Helper()
	f.group(&store.Group{Now: f.now, Parts: [][]store.Input{{{Kind: store.InputTick, DeviceID: device}}}}, e)
}

func (f *fixture) excursions() {
	d, other := f.addDevice("EX"), f.addDevice("EY")
	row := func(device int64, from, to rimewatch.Time) *rimewatch.Excursion {
		return &rimewatch.Excursion{
			WorkspaceID: f.workspace, DeviceID: device, From: from, To: to, Low: device == other, Limit: -15, Peak: -9.25,
			DegreeMinutes: 120.5, Cause: rimewatch.CauseDefrost,
		}
	}
	a, b, c := row(d, t0, t0+100), row(other, t0+50, t0+60), row(d, t0+200, t0+300)
	f.meaning(d, store.Effects{Excursions: []*rimewatch.Excursion{c, a, b}})
	if a.ID == 0 || b.ID == 0 || c.ID == 0 || a.ID == b.ID || b.ID == c.ID {
		f.Fatalf("ids %d, %d, %d", a.ID, b.ID, c.ID)
	}
	f.everywhere(func(where string) {
		for _, q := range []struct {
			name     string
			device   int64
			from, to rimewatch.Time
			want     []rimewatch.Excursion
		}{
			{"all", 0, t0, t0 + 1000, []rimewatch.Excursion{*a, *b, *c}},
			{"device", d, 0, t0 + 1000, []rimewatch.Excursion{*a, *c}},
			{"overlap at the end", 0, t0 + 99, t0 + 200, []rimewatch.Excursion{*a}},
			{"ended at from", 0, t0 + 100, t0 + 200, nil},
			{"begins before to", 0, t0 + 100, t0 + 201, []rimewatch.Excursion{*c}},
		} {
			got, err := f.s.Records().Excursions(f.ctx, f.workspace, q.device, q.from, q.to, 100)
			f.must(err)
			f.equal(where+" "+q.name, got, q.want)
		}
		first, err := f.s.Records().Excursions(f.ctx, f.workspace, 0, 0, t0+1000, 2)
		f.must(err)
		f.equal(where+" two of them", first, []rimewatch.Excursion{*a, *b})
		got, err := f.s.Records().Excursions(f.ctx, f.newWorkspace("other "+where), d, 0, rimewatch.MaxTime, 100)
		f.must(err)
		f.equal(where+" of another workspace", got, []rimewatch.Excursion(nil))
		totals, err := f.s.Records().ExcursionTotals(f.ctx, f.workspace, t0+55, t0+250)
		f.must(err)
		f.equal(where+" added up within a span", totals, map[int64]store.ExcursionTotal{d: {Count: 2, Sum: 45 + 50}, other: {Count: 1, Sum: 5}})
	})
	// Late readings show that a was longer, that c never was, and one more.
	a.To, a.Peak, a.FoundLateAt = t0+150, -3, t0+900
	late := row(d, t0+400, t0+500)
	late.Runs, late.Sum = 3, 42
	f.meaning(d, store.Effects{Excursions: []*rimewatch.Excursion{a, late}, Unfounded: []int64{c.ID}})
	f.everywhere(func(where string) {
		got, err := f.s.Records().Excursions(f.ctx, f.workspace, d, 0, t0+1000, 100)
		f.must(err)
		f.equal(where+" mended", got, []rimewatch.Excursion{*a, *late})
		totals, err := f.s.Records().ExcursionTotals(f.ctx, f.workspace, t0+350, t0+450)
		f.must(err)
		f.equal(where+" short times count as their sum", totals, map[int64]store.ExcursionTotal{d: {Count: 1, Sum: 42}})
	})
}

func formerLimits(f *fixture) {
	d, other := f.addDevice("FL"), f.addDevice("FM")
	most := -15.5
	row := func(device int64, until rimewatch.Time, delay int) *rimewatch.FormerLimits {
		return &rimewatch.FormerLimits{WorkspaceID: f.workspace, DeviceID: device, Until: until, Limits: rimewatch.Limits{TempMax: &most, DelayS: delay, Source: "device"}}
	}
	a, b, c := row(d, t0+100, 60), row(other, t0+150, 60), row(d, t0+200, 120)
	f.meaning(d, store.Effects{Former: []*rimewatch.FormerLimits{c, b, a}})
	f.everywhere(func(where string) {
		all, err := f.s.Records().FormerLimits(f.ctx, d, 0)
		f.must(err)
		f.equal(where, all, []rimewatch.FormerLimits{*a, *c})
		since, err := f.s.Records().FormerLimits(f.ctx, d, t0+100)
		f.must(err)
		f.equal(where+" since", since, []rimewatch.FormerLimits{*c})
	})
}

func (f *fixture) correctiveActions() {
	d := f.addDevice("CA")
	alert := f.alert(d, rimewatch.HighTemperature, rimewatch.Warning, t0)
	second := f.alert(d, rimewatch.DeviceOffline, rimewatch.Warning, t0)
	f.put(d, nil, alert, second)
	full := &rimewatch.CorrectiveAction{
		WorkspaceID: f.workspace, AlertID: alert.ID, At: t0 + 20, PerformedAt: t0 + 10, PerformedBy: "Ana", VerifiedBy: "Bo", Cause: "Door ajar",
		Action: "Moved 12 kg to unit 3", PreventiveAction: "New closer", Disposition: rimewatch.DispositionDiscard, Product: "Lot 7", RepairReference: "R-9", RecordedBy: "Ana",
	}
	plain := &rimewatch.CorrectiveAction{
		WorkspaceID: f.workspace, AlertID: second.ID, At: t0 + 6, PerformedAt: t0 + 5, PerformedBy: "Bo", Cause: "Router", Action: "Restarted it",
		Disposition: rimewatch.DispositionNone, RecordedBy: "token 1",
	}
	f.must(f.s.Records().CreateCorrectiveAction(f.ctx, full))
	f.must(f.s.Records().CreateCorrectiveAction(f.ctx, plain))
	f.equal("device", full.DeviceID, d)
	work := &rimewatch.CorrectiveAction{
		WorkspaceID: f.workspace, DeviceID: d, At: t0 + 30, PerformedAt: t0 + 25, PerformedBy: "Bo", Action: "Condenser cleaned", Disposition: rimewatch.DispositionNone, RecordedBy: "Bo",
	}
	f.must(f.s.Records().CreateCorrectiveAction(f.ctx, work))
	foreign := *full
	foreign.WorkspaceID = f.newWorkspace("Foreign")
	f.code(f.s.Records().CreateCorrectiveAction(f.ctx, &foreign), rimewatch.CodeAlertNotFound)
	foreign.AlertID = 0
	f.code(f.s.Records().CreateCorrectiveAction(f.ctx, &foreign), rimewatch.CodeDeviceNotFound)
	f.everywhere(func(where string) {
		for _, q := range []struct {
			name          string
			workspace     int64
			alert, device int64
			from, to      rimewatch.Time
			want          []rimewatch.CorrectiveAction
		}{
			{"alert", f.workspace, alert.ID, 0, 0, rimewatch.MaxTime, []rimewatch.CorrectiveAction{*full}},
			{"device", f.workspace, 0, d, 0, rimewatch.MaxTime, []rimewatch.CorrectiveAction{*plain, *full, *work}},
			{"span", f.workspace, 0, d, t0 + 5, t0 + 10, []rimewatch.CorrectiveAction{*plain}},
			{"another workspace", foreign.WorkspaceID, alert.ID, 0, 0, rimewatch.MaxTime, nil},
		} {
			got, err := f.s.Records().CorrectiveActions(f.ctx, q.workspace, q.alert, q.device, q.from, q.to)
			f.must(err)
			f.equal(where+" "+q.name, got, q.want)
		}
	})
}

func (f *fixture) calibrations() {
	id := f.addDevice("CAL")
	left, sure := 4.0, 0.1
	first := &rimewatch.Calibration{
		Field: rimewatch.ProductZoneTemp, Method: "ice_point", Reference: 0, AsFound: 0.4, AsLeft: &left, Offset: -0.4, Uncertainty: &sure, PassLimit: 0.5, Passed: true,
		ReferenceID: "NIST 1", ReferenceDueAt: t0 + 500, PerformedAt: t0, PerformedBy: "Ana", AppliedFrom: t0 + 1, DueAt: t0 + 1000, Note: "n", RecordedBy: "Bo", RecordedAt: t0 + 2,
	}
	later := &rimewatch.Calibration{Field: rimewatch.Humidity, Method: "other", Reference: 50, AsFound: 52, Offset: -2, PassLimit: 1, PerformedAt: t0 + 50, PerformedBy: "Ana", AppliedFrom: t0 + 50, DueAt: t0 + 400, RecordedBy: "Bo", RecordedAt: t0 + 51}
	for _, c := range []*rimewatch.Calibration{first, later} {
		changeDevice(f, "cal", c, c.Apply)
	}
	refused := f.deviceOp(&store.DeviceOp{WorkspaceID: f.workspace, Serial: "cal", Calibration: &rimewatch.Calibration{PerformedAt: t0}, Was: new(rimewatch.Device), Change: new(rimewatch.Device)})
	f.equal("refused", errors.Is(refused.Err, store.ErrOutdated), true)
	r := rimewatch.Reading{At: t0 + 10}
	r.Set(rimewatch.ProductZoneTemp, 5.1)
	r.Set(rimewatch.Humidity, 40)
	f.commit(id, r)
	f.everywhere(func(where string) {
		got, err := f.s.Records().Calibrations(f.ctx, f.workspace, id)
		f.must(err)
		f.equal(where, got, []rimewatch.Calibration{*later, *first})
		got, err = f.s.Records().Calibrations(f.ctx, f.newWorkspace("other "+where), id)
		f.must(err)
		f.equal(where+" of another workspace", got, []rimewatch.Calibration(nil))
		v, err := f.s.Device(f.ctx, f.workspace, "CAL")
		f.must(err)
		f.equal(where+" offsets", v.Offsets, []rimewatch.Offset{{Field: rimewatch.ProductZoneTemp, From: t0 + 1, Add: -0.4}, {Field: rimewatch.Humidity, From: t0 + 50, Add: -2}})
		f.equal(where+" due", v.CalibrationDueAt(), t0+400)
		// Humidity was measured before its offset applied.
		f.equal(where+" corrected", []float64{v.CurrentTemp, v.Latest.Values[rimewatch.ProductZoneTemp], v.Latest.Values[rimewatch.Humidity]}, []float64{4.7, 4.7, 40})
		stored, err := f.s.ReadingAt(f.ctx, id, t0+10)
		f.must(err)
		f.equal(where+" as stored", stored.Values[rimewatch.ProductZoneTemp], 5.1)
	})
}

func (f *fixture) correctedHistory() {
	id := f.addDevice("CH")
	var rs, want []rimewatch.Reading
	offsets := []rimewatch.Offset{
		{Field: rimewatch.ProductZoneTemp, From: t0 + 100*rimewatch.Minute, Add: 0.5},
		{Field: rimewatch.Humidity, From: t0 + 130*rimewatch.Minute, Add: -2},
		{Field: rimewatch.ProductZoneTemp, From: t0 + 200*rimewatch.Minute, Add: -1.25},
	}
	for i := range 300 {
		r := reading(t0 + rimewatch.Time(i)*rimewatch.Minute)
		rs = append(rs, r)
		r.Correct(offsets)
		want = append(want, r)
	}
	f.commit(id, rs...)
	f.everywhere(func(where string) {
		h := store.Corrected{History: f.s, Offsets: offsets}
		var got []rimewatch.Reading
		f.must(h.Readings(f.ctx, all(id), func(r *rimewatch.Reading) error { got = append(got, *r); return nil }))
		f.equal(where, answered(got), answered(want))
		for _, step := range []rimewatch.Time{15 * rimewatch.Minute, rimewatch.Hour, rimewatch.Day} {
			q := store.BucketQuery{DeviceID: id, From: t0 + 5*rimewatch.Minute, To: t0 + 290*rimewatch.Minute, Step: step, Fields: rimewatch.AllFields}
			buckets, err := h.Buckets(f.ctx, q)
			f.must(err)
			if d := cmp.Diff(plainBuckets(want, q), buckets, cmpopts.EquateApprox(0, 1e-4)); d != "" {
				f.Fatalf("%s, step %d (-want +got):\n%s", where, step, d)
			}
		}
	})
}
