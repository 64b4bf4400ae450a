package rimewatch

import (
	"strings"
	"testing"
	"time"
)

// TestOnOneLine: no line ends between a number and its unit, or within a span.
func TestOnOneLine(t *testing.T) {
	for want, got := range map[string]string{
		"−8.3 °C": Quantity(-8.26, "°C"), "0 °C": Quantity(-0.04, "°C"), "2.35 mm/s": Quantity(2.346, "mm/s"), "9": Quantity(9, ""),
		"40 s": Span(40 * time.Second), "34 min": Span(34*time.Minute + 59*time.Second), "2 h": Span(2 * time.Hour), "2 h 5 min": Span(125 * time.Minute),
		"3 d": Span(72 * time.Hour), "3 d 4 h": Span(76*time.Hour + time.Minute),
	} {
		if want = strings.ReplaceAll(want, " ", "\u00a0"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestCount(t *testing.T) {
	for _, tc := range []struct {
		name   string
		values []float64
		want   Count
	}{
		{"nothing", nil, Count{}},
		{"one value counts nothing", []float64{7}, Count{First: 7, Last: 7, Known: true}},
		{"on and on", []float64{1, 1, 4}, Count{First: 1, Last: 4, Increase: 3, Known: true}},
		{"a restart", []float64{1000, 1015, 0, 2}, Count{First: 1000, Last: 2, Increase: 17, Known: true, Restarted: true}},
		{"what was counted before the first value after a restart", []float64{10, 3, 4}, Count{First: 10, Last: 4, Increase: 4, Known: true, Restarted: true}},
		{"two restarts that end above", []float64{5, 9, 1, 6, 2, 20}, Count{First: 5, Last: 20, Increase: 4 + 1 + 5 + 2 + 18, Known: true, Restarted: true}},
		{"little by little", []float64{0.5, 0.625, 1}, Count{First: 0.5, Last: 1, Increase: 0.5, Known: true}},
		{"great numbers", []float64{maxWhole - 3, maxWhole, 1, 2}, Count{First: maxWhole - 3, Last: 2, Increase: 5, Known: true, Restarted: true}},
	} {
		var forward, backward Count
		for i, v := range tc.values {
			forward = forward.Then(CountOf(v))
			backward = CountOf(tc.values[len(tc.values)-1-i]).Then(backward)
		}
		if forward != tc.want || backward != tc.want {
			t.Errorf("%s: %+v, from its end %+v", tc.name, forward, backward)
		}
	}
}

// TestShare: a share is never rounded up to all, nor down to nothing.
func TestShare(t *testing.T) {
	for _, tt := range []struct {
		share    float64
		decimals int
		want     float64
	}{
		{0, 0, 0}, {1, 0, 100}, {1, 1, 100}, {0.999, 0, 99}, {0.9996, 1, 99.9}, {0.99999, 2, 99.99}, {0.001, 0, 1}, {0.0001, 1, 0.1}, {0.5, 0, 50}, {0.667, 1, 66.7},
	} {
		if got := Share(tt.share, tt.decimals); got != tt.want {
			t.Errorf("%v to %d: %v, want %v", tt.share, tt.decimals, got, tt.want)
		}
	}
}
