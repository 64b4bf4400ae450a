package records

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/wire"
)

// TestStandings: devices count where they stand now; of a deleted one, of a site out of sight and of what
// nobody has answered nothing is invented.
func TestStandings(t *testing.T) {
	const s = rimewatch.Second
	ptr := func(v float64) *float64 { return &v }
	id := func(v int64) *int64 { return &v }
	got := standingsOf(
		[]rimewatch.Site{{ID: 1, Name: "Mill"}, {ID: 2, Name: "Quay"}, {}},
		map[int64]wire.HealthSummary{
			1: {TotalDevices: 3, OnlineDevices: 2, HealthScore: 91, TemperatureCompliance: 99.5, DataCoverage: 80, ActiveAlerts: 2, CriticalAlerts: 1, Conditions: wire.Conditions{OK: 1}},
			0: {TotalDevices: 1, UnjudgedDevices: 1, HealthScore: 100, TemperatureCompliance: 100},
		},
		map[int64]int64{10: 1, 11: 1, 12: 1, 13: 0, 14: 9},
		map[int64]store.ExcursionTotal{10: {Count: 2, Sum: 90 * s}, 11: {Count: 1, Sum: 30 * s}, 14: {Count: 4, Sum: s}, 99: {Count: 5, Sum: s}},
		[]store.Response{
			{DeviceID: 10, TriggeredAt: 100 * s, AcknowledgedAt: 160 * s}, {DeviceID: 11, TriggeredAt: 100 * s, AcknowledgedAt: 220 * s}, {DeviceID: 11, TriggeredAt: 100 * s},
			{SiteID: 1, TriggeredAt: 100 * s, AcknowledgedAt: 103 * s}, {SiteID: 2, TriggeredAt: 0, AcknowledgedAt: 10 * s}, {DeviceID: 99, TriggeredAt: s, AcknowledgedAt: 2 * s}, {SiteID: 9},
		},
	)
	want := []Standing{
		{SiteID: id(1), Name: "Mill", Devices: 3, Online: 2, Attention: 2, Active: 2, Critical: 1, Health: ptr(91), Compliance: ptr(99.5), Coverage: 80, Excursions: 3, ExcursionMinutes: 2, CriticalRaised: 4, Answered: 3, ResponseS: ptr(60)},
		{SiteID: id(2), Name: "Quay", CriticalRaised: 1, Answered: 1, ResponseS: ptr(10)},
		{Devices: 1, Attention: 1},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
