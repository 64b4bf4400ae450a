package rejudge_test

import (
	"context"
	"slices"
	"testing"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/health"
	"github.com/rimewatch/rimewatch/internal/rejudge"
	"github.com/rimewatch/rimewatch/internal/store"
)

// kept is a store of one device.
type kept struct {
	store.History
	readings   []rimewatch.Reading // oldest first
	excursions []rimewatch.Excursion
}

func (s *kept) Readings(_ context.Context, q store.HistoryQuery, yield func(*rimewatch.Reading) error) error {
	list := slices.Clone(s.readings)
	if q.Descending {
		slices.Reverse(list)
	}
	for i := range list {
		if at := list[i].At; at < q.From || at >= q.To {
			continue
		}
		if err := yield(&list[i]); err != nil {
			return err
		}
	}
	return nil
}

// records and routing are those of the device.
type (
	records struct {
		store.Records
		excursions []rimewatch.Excursion
	}
	routing struct{ store.Routing }
)

func (s *kept) Records() store.Records { return records{excursions: s.excursions} }
func (s *kept) Routing() store.Routing { return routing{} }

func (s records) Excursions(_ context.Context, _, _ int64, from, to rimewatch.Time, _ int) (list []rimewatch.Excursion, err error) {
	for _, e := range s.excursions {
		if e.To > from && e.From < to {
			list = append(list, e)
		}
	}
	return list, nil
}

func (records) FormerLimits(context.Context, int64, rimewatch.Time) ([]rimewatch.FormerLimits, error) {
	return nil, nil
}

func (routing) MaintenanceWindows() store.Resource[rimewatch.MaintenanceWindow] { return noWindows{} }

type noWindows struct {
	store.Resource[rimewatch.MaintenanceWindow]
}

func (noWindows) Select(context.Context, int64, store.Selection) ([]rimewatch.MaintenanceWindow, int, error) {
	return nil, 0, nil
}

func never(*rimewatch.Reading) bool { return false }

// TestExpired: an offset that goes back beyond the readings that are kept takes nothing off
// the record of which they say nothing.
func TestExpired(t *testing.T) {
	most := -15.0
	limits := rimewatch.Limits{TempMax: &most, DelayS: 600, ClearS: 300, ClearDelta: 0.5}
	oldest := 400 * rimewatch.Day
	s := &kept{}
	live := health.State{}
	cfg := health.Config{Limits: limits}
	for i := range rimewatch.Time(600) {
		r := rimewatch.Reading{At: oldest + i*rimewatch.Minute}
		r.Set(rimewatch.ProductZoneTemp, []float64{-20, -14, -20}[i/200])
		s.readings = append(s.readings, r)
		live.Observe(&cfg, &r)
	}
	now := live.Newest()
	s.excursions = []rimewatch.Excursion{
		{ID: 1, From: oldest - 50*rimewatch.Day, To: oldest - 49*rimewatch.Day, Peak: -10},
		{ID: 2, From: oldest - 2*rimewatch.Hour, To: oldest, Peak: -10},
		{ID: 3, From: oldest + 200*rimewatch.Minute, To: oldest + 400*rimewatch.Minute, Peak: -14},
	}
	live.Doubt(oldest - 100*rimewatch.Day)
	for offset, want := range map[float64][]int64{-2: {3}, 0.5: nil} {
		d := rejudge.Device{
			Limits: limits, Late: live.Late(), Excluded: func([]rimewatch.MaintenanceWindow) []health.Span { return nil }, Defrosts: never,
			Offsets: []rimewatch.Offset{{Field: rimewatch.ProductZoneTemp, From: oldest - 100*rimewatch.Day, Add: offset}},
		}
		x, err := rejudge.Read(t.Context(), s, &d, now)
		if err != nil {
			t.Fatal(err)
		}
		_, m, err := x.Finish(t.Context(), &live, now)
		if err != nil || !slices.Equal(m.Unfounded, want) {
			t.Errorf("%v K: %v taken back, want %v (%v)", offset, m.Unfounded, want, err)
		}
		for _, row := range m.Rows {
			if row.ID != 3 || row.Peak != -13.5 {
				t.Errorf("%v K: recorded %+v", offset, row)
			}
		}
	}
	s.readings = nil
	x, err := rejudge.Read(t.Context(), s, &rejudge.Device{Limits: limits, Late: live.Late(), Excluded: func([]rimewatch.MaintenanceWindow) []health.Span { return nil }, Defrosts: never}, now)
	if err != nil {
		t.Fatal(err)
	}
	if _, m, err := x.Finish(t.Context(), &live, now); err != nil || len(m.Unfounded) > 0 {
		t.Errorf("without readings: %v taken back (%v)", m.Unfounded, err)
	}
}
