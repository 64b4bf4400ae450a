package rimewatch

import (
	"errors"
	"strings"
	"testing"
	"time"
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

func TestParseMomentIn(t *testing.T) {
	madrid, err := time.LoadLocation("Europe/Madrid")
	if err != nil {
		t.Fatal(err)
	}
	const first, second = "2026-10-25T00:30:00.000Z", "2026-10-25T01:30:00.000Z" // both 02:30 there
	for _, tt := range []struct {
		text, near, want string
		zone             *time.Location
	}{
		{"2026-11-20 20:20:10", second, "2026-11-20T19:20:10.000Z", madrid},
		{"2026-07-20T20:20:10.5", second, "2026-07-20T18:20:10.500Z", madrid},
		{"2026/07/20 20:20:10", second, "2026-07-20T18:20:10.000Z", madrid},
		{"2026-07-20 20:20", second, "2026-07-20T18:20:00.000Z", madrid},
		{"2026-07-20T20:20:10Z", second, "2026-07-20T20:20:10.000Z", madrid}, // it says its zone
		{"1795202410", second, "2026-11-20T19:20:10.000Z", madrid},
		{"2026-10-25 02:30:00", first, first, madrid},
		{"2026-10-25 02:30:00", second, second, madrid},
		{"2026-10-25 02:30:00", "2026-10-26T00:00:00.000Z", second, madrid},
		{"2026-10-25 03:30:00", first, "2026-10-25T02:30:00.000Z", madrid},
		{"2026-03-29 02:30:00", first, "2026-03-29T01:30:00.000Z", madrid}, // which clocks skip
		{"2026-11-20 20:20:10", second, "2026-11-20T20:20:10.000Z", time.UTC},
	} {
		near, err := ParseTime(tt.near)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := ParseMomentIn(tt.text, tt.zone, near); err != nil || got.String() != tt.want {
			t.Errorf("%q in %s near %s: %v, %v; want %s", tt.text, tt.zone, tt.near, got, err, tt.want)
		}
		if _, err := ParseMomentIn(tt.text, nil, near); (err == nil) != (tt.text[len(tt.text)-1] == 'Z' || tt.text == "1795202410") || err != nil && !errors.Is(err, ErrNoZone) {
			t.Errorf("%q without a zone: %v", tt.text, err)
		}
	}
	for _, s := range []string{"", "yesterday", "2026-11-20", "03/04/2026 12:00:00", "12:00", "0000-01-01 00:00:00", "1901-01-01 00:00:00"} {
		if got, err := ParseMomentIn(s, madrid, 0); err == nil {
			t.Errorf("ParseMomentIn(%q) = %v", s, got)
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
