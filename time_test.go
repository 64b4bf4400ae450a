package rimewatch

import (
	"encoding/json"
	"testing"
)

func TestParseTime(t *testing.T) {
	for _, c := range []struct {
		in   string
		want string // "" = refused
	}{
		{"2026-11-20T19:47:12Z", "2026-11-20T19:47:12.000Z"},
		{"2026-11-20T19:47:12.3456789Z", "2026-11-20T19:47:12.345Z"},
		{"2026-11-20T19:47:12.1234567891234Z", "2026-11-20T19:47:12.123Z"},
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
