package ingest_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/wire"
)

func (r *rig) excursions() []rimewatch.Excursion {
	r.t.Helper()
	list, err := r.s.Records().Excursions(r.t.Context(), r.ws, 0, 0, rimewatch.MaxTime, 100)
	if err != nil {
		r.t.Fatal(err)
	}
	return list
}

// TestExcursionRecords: one record of each excursion, with its cause, however
// often the log is replayed.
func TestExcursionRecords(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		defer func() { r.close() }()
		id := r.device("F", "walkin_freezer") // -15 °C, 60 min
		r.warm(id, -20, 10*time.Minute)
		r.warm(id, -13, 50*time.Minute) // forgiven
		r.warm(id, -20, 10*time.Minute)
		same(t, "forgiven", r.excursions(), []rimewatch.Excursion(nil))
		began := r.now()
		for i := range 90 { // the door stands open for the first quarter of an hour
			in := []store.Input{{Kind: store.InputReading, DeviceID: id}}
			in[0].Reading.At = r.now()
			in[0].Reading.Set(rimewatch.ProductZoneTemp, -13)
			in[0].Reading.Flags = in[0].Reading.Flags.WithBool(rimewatch.DoorOpen, i < 15)
			if err := r.in.Submit(t.Context(), in, nil); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Minute)
		}
		open := r.in.OpenExcursions(r.ws, 0)
		if len(open) != 1 || open[0].From != began || open[0].To != 0 || open[0].Cause != rimewatch.CauseDoor || len(r.in.OpenExcursions(r.ws+1, id)) != 0 {
			t.Fatalf("the one that lasts: %+v", open)
		}
		r.crash()
		ended := r.now()
		r.warm(id, -20, 10*time.Minute)
		want := []rimewatch.Excursion{{
			WorkspaceID: r.ws, DeviceID: id, From: began, To: ended, Limit: -15, Peak: -13, DegreeMinutes: 180, Cause: rimewatch.CauseDoor,
		}}
		for range 3 {
			got := r.excursions()
			if d := cmp.Diff(want, got, cmpopts.IgnoreFields(rimewatch.Excursion{}, "ID"), cmpopts.EquateApprox(0.02, 0)); d != "" {
				t.Fatalf("excursions (-want +got):\n%s", d)
			}
			r.crash()
		}
		if len(r.in.OpenExcursions(r.ws, id)) != 0 {
			t.Error("it lasts after its end")
		}
	})
}

// TestShortRuns: short times out of limits that are together more than is graced are one
// excursion of each local day, by the clock of the device's site, in order or not, also after
// a crash; the one of the present day lasts.
func TestShortRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		defer func() { r.close() }()
		site := &rimewatch.Site{WorkspaceID: r.ws, Name: "Sydney", TimeZone: "Australia/Sydney"}
		if err := r.s.Sites().Create(t.Context(), site); err != nil {
			t.Fatal(err)
		}
		var ids [2]int64
		for i := range ids {
			serial := fmt.Sprint("C", i)
			v, err := r.in.CreateDevice(t.Context(), &rimewatch.Device{WorkspaceID: r.ws, SiteID: site.ID, Serial: serial, Name: serial, EquipmentType: "walkin_cooler"})
			if err != nil {
				t.Fatal(err)
			}
			ids[i] = v.ID
		}
		zone := rimewatch.ZoneOf(site.TimeZone)
		begin := r.now().DayTime(-3, 0, zone)
		var past []sent
		for at := begin; at <= r.now(); at += 5 * rimewatch.Minute {
			temp := 4.0
			if (at-begin)/(5*rimewatch.Minute)%10 < 7 {
				temp = 7.5
			}
			past = append(past, sent{at, temp})
		}
		r.submit(ids[0], past)
		half := len(past) / 2
		r.submit(ids[1], past[half:])
		r.submit(ids[1], past[:half])
		time.Sleep(2 * time.Minute)
		for what, restart := range map[string]func(){"": func() {}, "after a crash": r.crash, "after a checkpoint and a crash": func() { r.in.CheckpointAll(); r.crash() }} {
			restart()
			list := r.recorded(ids[0])
			if len(list) != 4 {
				t.Fatalf("%s: %d excursions of three days and a part: %+v", what, len(list), list)
			}
			for i, e := range list {
				if e.From < begin.DayTime(i, 0, zone) || e.From >= begin.DayTime(i+1, 0, zone) || e.Runs == 0 || e.Low || e.Limit != 5 || e.Peak != 7.5 || (e.To == 0) != (i == 3) {
					t.Errorf("%s: day %d: %+v", what, i, e)
				}
				if i < 3 && (e.Sum < 16*rimewatch.Hour || e.Sum > 17*rimewatch.Hour) {
					t.Errorf("%s: day %d takes %v h", what, i, float64(e.Sum)/float64(rimewatch.Hour))
				}
			}
			sameExcursions(t, "half of them late "+what, r.recorded(ids[1]), list)
			sum := r.in.DeviceCompliance(ids[0])
			if v, _ := sum.Percent(); v > 35 {
				t.Errorf("%s: compliance is %v", what, v)
			}
			if score, _ := r.in.DeviceHealth(ids[0]); score >= 100 {
				t.Errorf("%s: the score is %v", what, score)
			}
		}
	})
}

// TestShortRunsBefore: days that began before the store's workspace counted so are as they were.
func TestShortRunsBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		defer func() { r.close() }()
		today := r.now().DayTime(0, 0, time.UTC)
		w := &rimewatch.Workspace{Name: "older", TimeZone: "UTC", RawDays: 396, RollupDays: 1096, ExposureSince: today - rimewatch.Day - rimewatch.Hour}
		if err := r.s.CreateWorkspace(t.Context(), w); err != nil {
			t.Fatal(err)
		}
		r.ws = w.ID
		r.crash()
		id := r.device("C", "walkin_cooler")
		var past []sent
		for at := today - 3*rimewatch.Day; at <= today; at += 10 * rimewatch.Minute {
			past = append(past, sent{at, []float64{7.5, 7.5, 4}[len(past)%3]})
		}
		r.submit(id, past)
		if list := r.recorded(id); len(list) != 1 || list[0].From != today-rimewatch.Day || list[0].Runs != 48 {
			t.Errorf("recorded %+v", list)
		}
	})
}

// TestDeletedExcursion: an excursion ends with its device.
func TestDeletedExcursion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		defer func() { r.close() }()
		id := r.device("F", "walkin_freezer")
		r.warm(id, -13, 70*time.Minute)
		if _, err := r.in.DeleteDevice(t.Context(), r.ws, "F"); err != nil {
			t.Fatal(err)
		}
		if got := r.excursions(); len(got) != 1 || got[0].To != r.now() {
			t.Errorf("got %+v, want one that ended at %v", got, r.now())
		}
	})
}

// TestCalibratedReadings: an offset corrects what is judged and shown from its
// moment on, also after a crash; what is stored stays what was sent.
func TestCalibratedReadings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		defer func() { r.close() }()
		id := r.device("C", "vaccine_refrigerator") // 2–8 °C, 15 min
		r.warm(id, 7.5, 10*time.Minute)
		c := &rimewatch.Calibration{Field: rimewatch.ProductZoneTemp, Method: "reference_probe", Offset: 1, PerformedAt: r.now(), AppliedFrom: r.now(), DueAt: r.now() + rimewatch.Hour, PerformedBy: "Ana"}
		if _, err := r.in.Calibrate(t.Context(), r.ws, "c", c, func(*rimewatch.Device) error { return nil }); err != nil {
			t.Fatal(err)
		}
		at := r.now()
		r.warm(id, 7.5, 10*time.Minute)
		r.crash()
		r.warm(id, 7.5, 10*time.Minute)
		same(t, "alerts", r.alerts(), []string{"high_temperature warning active "})
		same(t, "shown", r.view("C").CurrentTemp, 8.5)
		stored, err := r.s.ReadingAt(t.Context(), id, at)
		if err != nil || stored.Values[rimewatch.ProductZoneTemp] != 7.5 {
			t.Errorf("stored %v, %v", stored.Values[rimewatch.ProductZoneTemp], err)
		}
		before, _ := r.in.DeviceHealth(id)
		time.Sleep(time.Hour)
		r.warm(id, 4, 30*time.Minute)
		_, drivers := r.in.DeviceHealth(id)
		overdue := false
		for _, d := range drivers {
			overdue = overdue || (d.Component == "calibration" && d.PointsLost > 3)
		}
		if !overdue {
			t.Errorf("an overdue calibration costs nothing: %v, before %v", drivers, before)
		}
		list, err := r.s.Records().Calibrations(t.Context(), r.ws, id)
		if err != nil || len(list) != 1 || list[0].ID == 0 {
			t.Errorf("calibrations %+v, %v", list, err)
		}
	})
}

// TestNotJudged: a unit whose type is misspelt has no limits, so it is counted and
// has no part in the score; a sensor that is silent for a day ends the same way.
func TestNotJudged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		defer r.close()
		cooler, misspelt := r.device("C", "walkin_cooler"), r.device("M", "walkin_coolr")
		r.device("never seen", "walkin_cooler")
		r.device("compressor", "condensing_unit")
		r.send(cooler, r.now(), 3)
		r.send(misspelt, r.now(), 25)
		time.Sleep(2 * time.Second)
		sum := r.in.Summary(r.ws)
		same(t, "not judged", sum.UnjudgedDevices, 2)
		same(t, "the score is of the judged", sum.HealthScore, 100.0)
		same(t, "alerts", sum.ActiveAlerts, 0)
		if v := r.view("M"); v.Judged(r.now()) {
			t.Error("a device without limits is judged")
		}
		same(t, "conditions", sum.Conditions, wire.Conditions{Unjudged: 1, OK: 1, Offline: 2})
		time.Sleep(25 * time.Hour)
		same(t, "conditions after a day of silence", r.in.Summary(r.ws).Conditions, wire.Conditions{Critical: 2, Offline: 2}) // silent for a day
		same(t, "after a day of silence", r.in.Summary(r.ws).UnjudgedDevices, 3)
		if v := r.view("C"); v.Judged(r.now()) {
			t.Error("a device without temperatures is judged")
		}
	})
}

// TestSummaryAfterRestart: the health of the fleet is the same before and after
// a restart, with and without checkpoints.
func TestSummaryAfterRestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		defer func() { r.close() }()
		freezer, cooler, slow := r.device("F", "walkin_freezer"), r.device("C", "walkin_cooler"), r.device("S", "vaccine_refrigerator")
		r.device("never seen", "walkin_cooler")
		for i := range 600 {
			r.send(freezer, r.now(), []float64{-20, -13}[i/90%2])
			if i < 300 {
				r.send(cooler, r.now(), []float64{3, 6.5, 3}[min(i/20, 2)])
			}
			if i%60 == 0 {
				r.send(slow, r.now(), 5)
			}
			time.Sleep(time.Minute)
		}
		time.Sleep(2 * time.Second)
		before := r.in.Summary(r.ws)
		if before.TemperatureCompliance >= 100 || before.StrictCompliance >= before.TemperatureCompliance || before.DataCoverage == 0 || before.HealthScore >= 100 {
			t.Fatalf("the fleet proves nothing: %+v", before)
		}
		r.crash()
		after := r.in.Summary(r.ws)
		after.ComputedAt = before.ComputedAt
		same(t, "after a crash", after, before)
		r.in.CheckpointAll()
		r.crash()
		after = r.in.Summary(r.ws)
		after.ComputedAt = before.ComputedAt
		same(t, "after a checkpoint and a crash", after, before)
	})
}

// TestSummaryAfterImport: the health of the fleet follows a past that comes at once,
// whether the states still lie in memory or have made room for others.
func TestSummaryAfterImport(t *testing.T) {
	after := func(memory int64) (sum wire.HealthSummary) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t)
			defer r.close()
			ids := make([]int64, 60)
			for i := range ids {
				ids[i] = r.device(fmt.Sprint("C", i), "walkin_cooler")
			}
			r.close()
			r.memory = memory
			r.open()
			time.Sleep(time.Minute)
			for _, id := range ids {
				for ago := 60; ago >= 0; ago -= 10 {
					r.send(id, r.now()-rimewatch.Time(ago)*rimewatch.Minute, 3+float64(id%5*(60-int64(ago))/20))
				}
			}
			time.Sleep(2 * time.Second)
			sum = r.in.Summary(r.ws)
		})
		sum.ComputedAt = 0
		return sum
	}
	near := after(0)
	if near.StrictCompliance >= 100 || near.DataCoverage == 0 {
		t.Fatalf("the fleet proves nothing: %+v", near)
	}
	same(t, "with room for one state", after(1), near)
}
