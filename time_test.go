package rimewatch

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"
)

func TestParseTime(t *testing.T) {
	for _, c := range []struct {
		in   string
		want string // "" = refused
	}{
		{"2026-11-20T19:47:12Z", "2026-11-20T19:47:12.000Z"},
		{"2026-11-20T19:47:12.3456789Z", "2026-11-20T19:47:12.345Z"},
		{"2026-11-20T19:47:12.1234567891234Z", "2026-11-20T19:47:12.123Z"},
		{"2026-11-20t19:47:12z", "2026-11-20T19:47:12.000Z"},
		{"2026-11-20T00:30:00+01:00", "2026-11-19T23:30:00.000Z"},
		{"2026-11-20T00:30:00.5-23:59", "2026-11-21T00:29:00.500Z"},
		{"9999-12-31T23:59:59.999Z", "9999-12-31T23:59:59.999Z"},
		{"1970-01-01T00:00:00.001Z", "1970-01-01T00:00:00.001Z"},
		{"1970-01-01T00:00:00Z", ""},
		{"9999-12-31T23:59:59.999-00:01", ""},
		{"0001-01-01T00:00:00Z", ""},
		{"2026-11-20T9:47:12Z", ""},
		{"2026-11-20T19:47:12,5Z", ""},
		{"2026-11-20T19:47:12+24:00", ""},
		{"2026-11-20T19:47:12+23:60", ""},
		{"2026-11-20T19:47:12.5+24:00", ""},
		{"2026-11-20 19:47:12Z", ""},
		{"2026-11-20T19:47:12", ""},
		{"2016-12-31T23:59:60Z", "2017-01-01T00:00:00.000Z"},
		{"2015-06-30T23:59:60.500Z", "2015-07-01T00:00:00.500Z"},
		{"1990-12-31T15:59:60-08:00", "1991-01-01T00:00:00.000Z"},
		{"2016-12-31T23:59:60-08:00", ""},
		{"2016-12-31T22:59:60Z", ""},
		{"2016-12-31T23:59:60,5Z", ""},
		{"2016-12-31T23:59:61Z", ""},
		{"9999-12-31T23:59:60Z", ""},
		{"2026-11-20T23:59:60Z", ""},
		{"2026-02-30T00:00:00Z", ""},
		{"2026-11-20", ""},
		{"", ""},
	} {
		got, err := ParseTime(c.in)
		if (err == nil) != (c.want != "") || got.String() != c.want {
			t.Errorf("ParseTime(%q) = %q, %v; want %q", c.in, got, err, c.want)
		}
	}
}

func TestTimeJSON(t *testing.T) {
	for _, c := range []struct {
		in   string
		want Time
		ok   bool
	}{
		{`"2026-11-20T19:47:12Z"`, 1795204032000, true},
		{`"2026\u002d11-20T19:47:12Z"`, 1795204032000, true},
		{`null`, 0, true},
		{`""`, 0, false},
		{`"2026\\u002d11-20T19:47:12Z"`, 0, false},
		{`1795204032000`, 0, false},
		{`{}`, 0, false},
	} {
		var got Time
		if err := json.Unmarshal([]byte(c.in), &got); (err == nil) != c.ok || got != c.want {
			t.Errorf("%s is %d, %v; want %d", c.in, got, err, c.want)
		}
	}
	b, err := json.Marshal([]Time{0, 1795204032005})
	if want := `[null,"2026-11-20T19:47:12.005Z"]`; err != nil || string(b) != want {
		t.Errorf("written as %s, %v; want %s", b, err, want)
	}
}

func TestUTCDay(t *testing.T) {
	for at, want := range map[Time]int64{0: 0, Day - 1: 0, Day: 1, -1: -1, -Day: -1, -Day - 1: -2} {
		if got := at.UTCDay(); got != want {
			t.Errorf("%d lies in day %d, want %d", int64(at), got, want)
		}
	}
	if got := StartOfUTCDay(-2); got != -2*Day {
		t.Errorf("day −2 begins at %d", int64(got))
	}
}

func TestDayTime(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	at := func(s string) Time {
		x, err := ParseTime(s)
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	for _, c := range []struct {
		from         string
		days, minute int
		want         string
	}{
		{"2026-03-28T12:00:00Z", 0, 0, "2026-03-27T23:00:00Z"},
		{"2026-03-28T23:30:00Z", 0, 0, "2026-03-28T23:00:00Z"},  // it is the 29th there
		{"2026-03-28T23:30:00Z", 1, 0, "2026-03-29T22:00:00Z"},  // 23 hours later
		{"2026-10-24T22:00:00Z", 1, 0, "2026-10-25T23:00:00Z"},  // 25 hours later
		{"2026-12-31T12:00:00Z", 1, 90, "2027-01-01T00:30:00Z"}, // 01:30 there
	} {
		if got := at(c.from).DayTime(c.days, c.minute, berlin); got != at(c.want) {
			t.Errorf("%d days and %d min after the day of %s: %s, want %s", c.days, c.minute, c.from, got, c.want)
		}
	}
}

// Every day begins after the one before it, with clocks that show its own date for
// the first time: in zones that set clocks at midnight, too.
func TestDaysFollow(t *testing.T) {
	for _, name := range []string{
		"UTC", "Europe/Berlin", "America/Havana", "America/Santiago", "America/Asuncion", "America/Sao_Paulo", "Africa/Cairo",
		"Asia/Beirut", "Asia/Tehran", "Australia/Lord_Howe", "Pacific/Chatham", "Pacific/Apia", "America/St_Johns", "Africa/Casablanca",
	} {
		zone, err := time.LoadLocation(name)
		if err != nil {
			t.Fatal(err)
		}
		day := DateTime(2005, 1, 1, 0, zone)
		for day < DateTime(2027, 12, 31, 0, zone) {
			next := day.DayTime(1, 0, zone)
			date, before, last := next.Std().In(zone), (next - 1).Std().In(zone).Format(time.DateOnly), day.Std().In(zone).Format(time.DateOnly)
			if next <= day || before != last || date.Format(time.DateOnly) <= last {
				t.Fatalf("%s: after %s comes %s; a millisecond before it is %s", name, last, date, before)
			}
			if date.Hour() > 1 || (next+12*Hour).DayTime(0, 0, zone) != next {
				t.Fatalf("%s: the day of %s begins at %s", name, next+12*Hour, (next+12*Hour).DayTime(0, 0, zone))
			}
			day = next
		}
	}
	havana, err := time.LoadLocation("America/Havana")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		month       time.Month
		day, minute int
		want        string
	}{
		{3, 8, 0, "2026-03-08T05:00:00.000Z"},   // skipped: clocks go from 23:59 to 01:00
		{3, 8, 30, "2026-03-08T05:00:00.000Z"},  // skipped
		{3, 8, 90, "2026-03-08T05:30:00.000Z"},  // 01:30
		{11, 1, 0, "2026-11-01T04:00:00.000Z"},  // the first of two
		{11, 1, 30, "2026-11-01T04:30:00.000Z"}, // the first of two
		{11, 1, 90, "2026-11-01T06:30:00.000Z"},
	} {
		if got := DateTime(2026, c.month, c.day, c.minute, havana).String(); got != c.want {
			t.Errorf("minute %d of %d/%d is %s, want %s", c.minute, c.month, c.day, got, c.want)
		}
	}
}

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
