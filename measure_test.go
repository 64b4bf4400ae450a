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
