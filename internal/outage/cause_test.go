package outage

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rimewatch/rimewatch"
)

// TestWarmingTogether: units of a site that begin to warm up within a week are one
// statement; what was told with another is not told again when that is over.
func TestWarmingTogether(t *testing.T) {
	level := -19.8
	at := func(id int64, day, suppressedBy int64, alike int) *rimewatch.Alert {
		return &rimewatch.Alert{
			ID: id, DeviceID: id, Type: rimewatch.SlowWarming, Status: rimewatch.AlertActive, Metric: "product_zone_temp", Value: &level,
			ConditionStartedAt: rimewatch.Time(day) * rimewatch.Day, SuppressedBy: suppressedBy, Alike: alike,
		}
	}
	for name, tt := range map[string]struct {
		heard  int
		alerts []*rimewatch.Alert
		want   []string
	}{
		"alone":                    {4, []*rimewatch.Alert{at(1, 10, 0, 0)}, nil},
		"two of four":              {4, []*rimewatch.Alert{at(1, 10, 0, 0), at(2, 12, 0, 0)}, []string{"1: 2 alike", "2 by 1"}},
		"two of nine":              {9, []*rimewatch.Alert{at(1, 10, 0, 0), at(2, 12, 0, 0)}, nil},
		"three of nine":            {9, []*rimewatch.Alert{at(1, 10, 0, 0), at(2, 12, 0, 0), at(3, 9, 0, 0)}, []string{"1: 3 alike", "2 by 1", "3 by 1"}},
		"one comes later":          {4, []*rimewatch.Alert{at(1, 10, 0, 2), at(2, 12, 1, 0), at(3, 14, 0, 0)}, []string{"1: 3 alike", "3 by 1"}},
		"as it is":                 {4, []*rimewatch.Alert{at(1, 10, 0, 2), at(2, 12, 1, 0)}, nil},
		"a month apart":            {4, []*rimewatch.Alert{at(1, 10, 0, 0), at(2, 40, 0, 0)}, nil},
		"the first is over":        {4, []*rimewatch.Alert{at(2, 12, 1, 0), at(3, 12, 1, 0)}, nil},
		"another a month after":    {4, []*rimewatch.Alert{at(1, 10, 0, 2), at(2, 12, 1, 0), at(3, 40, 0, 0)}, nil},
		"no prediction is its own": {2, []*rimewatch.Alert{at(1, 10, 0, 0), {ID: 2, DeviceID: 2, Type: rimewatch.CompressorFailurePredicted, Status: rimewatch.AlertActive, Metric: "product_zone_temp", Value: &level, Prediction: &rimewatch.Prediction{}}}, nil},
	} {
		var got []string
		for _, c := range causes(tt.heard, tt.alerts) {
			if c.Members > 0 {
				got = append(got, fmt.Sprintf("%d: %d alike", c.Alert.ID, c.Members))
			} else {
				got = append(got, fmt.Sprintf("%d by %d", c.Alert.ID, c.InhibitedBy))
			}
		}
		if d := cmp.Diff(tt.want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
}
