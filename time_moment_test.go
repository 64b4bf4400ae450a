package rimewatch

import (
	"strings"
	"testing"
)

func TestEpochTime(t *testing.T) {
	const want Time = 1_795_202_410_123
	for _, v := range []float64{1795202410.123, 1795202410123, 1795202410123000, 1795202410123000000} {
		if got, err := EpochTime(v); err != nil || got != want {
			t.Errorf("EpochTime(%v) = %v, %v", v, got, err)
		}
	}
	for _, v := range []float64{0, -1, 1, 1_420_070_399, 1 << 32, 1_420_070_399_999, 4_294_967_296_000, 1e30} {
		if got, err := EpochTime(v); err == nil {
			t.Errorf("EpochTime(%v) = %v", v, got)
		}
	}
}

func TestParseMoment(t *testing.T) {
	for s, want := range map[string]string{
		"1795202410":                     "2026-11-20T19:20:10.000Z",
		"1795202410.5":                   "2026-11-20T19:20:10.500Z",
		"2026-11-20T20:20:10+01:00":      "2026-11-20T19:20:10.000Z",
		"2026-11-20T19:20:10.763284922Z": "2026-11-20T19:20:10.763Z",
	} {
		if got, err := ParseMoment(s); err != nil || got.String() != want {
			t.Errorf("ParseMoment(%q) = %v, %v", s, got, err)
		}
	}
	for _, s := range []string{"", "yesterday", "2026-11-20T19:20:10", "2026-11-20", "NaN", "12:00"} {
		if got, err := ParseMoment(s); err == nil {
			t.Errorf("ParseMoment(%q) = %v", s, got)
		}
	}
}

func TestParseEpochTime(t *testing.T) {
	if got, err := ParseEpochTime(1795202410, "seconds"); err != nil || got != 1_795_202_410_000 {
		t.Errorf("%v, %v", got, err)
	}
	for _, c := range []struct {
		v          float64
		unit, says string
	}{
		{1795202410, "nanoseconds", "looks like seconds"},
		{1795202410000, "seconds", "looks like milliseconds"},
		{0, "seconds", "is not a time in seconds from 2015 to 2106"},
	} {
		if _, err := ParseEpochTime(c.v, c.unit); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("ParseEpochTime(%v, %s): %v", c.v, c.unit, err)
		}
	}
}
