package rimewatch

import (
	"encoding/json"
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
