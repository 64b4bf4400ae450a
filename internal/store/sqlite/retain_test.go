package sqlite

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/store/storetest"
)

// TestRetention: raw readings give way to hourly rollups, and those to nothing;
// a workspace that keeps longer is left alone.
func TestRetention(t *testing.T) {
	now := time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)
	s := ready(t, openAt(t, Config{Path: filepath.Join(t.TempDir(), FileName), quiet: true, Now: func() time.Time { return now }}))
	add := func(name string, raw, rollup int) int64 {
		w := &rimewatch.Workspace{Name: name, TimeZone: "UTC", RawDays: raw, RollupDays: rollup, CreatedAt: 1, UpdatedAt: 1}
		if err := s.CreateWorkspace(t.Context(), w); err != nil {
			t.Fatal(err)
		}
		id := s.NewDeviceID()
		op := &store.DeviceOp{WorkspaceID: w.ID, Serial: "D", Create: &rimewatch.Device{ID: id, WorkspaceID: w.ID, Serial: "D", Name: "D", EquipmentType: "other"}}
		if err := storetest.Commit(t.Context(), s, &store.Group{Now: 1, Devices: []*store.DeviceOp{op}}, &store.Effects{}); err != nil {
			t.Fatal(err)
		}
		return id
	}
	short, long := add("short", 10, 30), add("long", 400, 1000)
	start := rimewatch.TimeOf(now) - 60*rimewatch.Day
	rs := twoMonths(start)
	for _, id := range []int64{short, long} {
		inputs := make([]store.Input, len(rs))
		for i := range rs {
			inputs[i] = store.Input{Kind: store.InputReading, DeviceID: id, Reading: rs[i]}
		}
		if err := storetest.Commit(t.Context(), s, &store.Group{Now: rimewatch.TimeOf(now), Parts: [][]store.Input{inputs}}, &store.Effects{}); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Rest(t.Context()); err != nil {
		t.Fatal(err)
	}
	hours := func(id int64) []store.Bucket {
		t.Helper()
		b, err := s.Buckets(t.Context(), store.BucketQuery{DeviceID: id, From: start, To: rimewatch.TimeOf(now), Step: rimewatch.Hour, Fields: rimewatch.AllFields})
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	oldest := func(id int64) (at rimewatch.Time, n int) {
		t.Helper()
		err := s.Readings(t.Context(), store.HistoryQuery{DeviceID: id, To: rimewatch.MaxTime}, func(r *rimewatch.Reading) error {
			if n == 0 {
				at = r.At
			}
			n++
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return at, n
	}
	before := hours(short)
	excursionRetention(t, s, rimewatch.TimeOf(now))
	if err := s.Retain(t.Context(), rimewatch.TimeOf(now)); err != nil {
		t.Fatal(err)
	}
	if at, n := oldest(long); at != start || n != len(rs) {
		t.Errorf("the workspace that keeps longer has %d readings from %v", n, at)
	}
	raw := rimewatch.TimeOf(now) - 10*rimewatch.Day
	if at, _ := oldest(short); at > raw || at < raw-rimewatch.Day {
		t.Errorf("raw readings from %v, want from within the day before %v", at, raw)
	}
	after := hours(short)
	rollup := rimewatch.TimeOf(now) - 30*rimewatch.Day
	if first := after[0].At; first > rollup || first < rollup-rimewatch.Day {
		t.Errorf("rollups from %v, want from within the day before %v", first, rollup)
	}
	if d := cmp.Diff(before[len(before)-len(after):], after, cmpopts.EquateApprox(0, 1e-5)); d != "" {
		t.Errorf("the hours differ from those of the raw readings (-raw +rolled up):\n%s", d)
	}
	if err := s.Retain(t.Context(), rimewatch.TimeOf(now)); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(after, hours(short)); d != "" {
		t.Errorf("a second pass changed the hours:\n%s", d)
	}
}

// twoMonths are readings of sixty days, every half hour.
func twoMonths(start rimewatch.Time) (rs []rimewatch.Reading) {
	for i := range 60 * 24 * 2 {
		r := rimewatch.Reading{At: start + rimewatch.Time(i)*30*rimewatch.Minute}
		r.Set(rimewatch.ProductZoneTemp, float64(i%100)/10)
		if i%3 == 0 {
			r.Set(rimewatch.Humidity, 40)
		}
		r.Set(rimewatch.Energy, float64(100+i%7)) // begins again within an hour, or between two
		rs = append(rs, r)
	}
	return rs
}

// excursionRetention: they are kept for as long as rollups are.
func excursionRetention(t *testing.T, s *Store, now rimewatch.Time) {
	t.Helper()
	old, young := now-31*rimewatch.Day, now-29*rimewatch.Day
	for _, workspace := range []int64{1, 2} { // 30 and 1000 days
		rows := []*rimewatch.Excursion{{WorkspaceID: workspace, DeviceID: 1, From: old - 9, To: old}, {WorkspaceID: workspace, DeviceID: 1, From: old - 9, To: young}}
		err := storetest.Commit(t.Context(), s, &store.Group{Now: now}, &store.Effects{Excursions: rows})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Retain(t.Context(), now); err != nil {
		t.Fatal(err)
	}
	for workspace, want := range map[int64]int{1: 1, 2: 2} {
		list, err := s.Records().Excursions(t.Context(), workspace, 0, 0, now, 10)
		if err != nil {
			t.Fatal(err)
		}
		if len(list) != want || list[len(list)-1].To != young {
			t.Errorf("workspace %d keeps %v, want %d, the youngest included", workspace, list, want)
		}
	}
}
