package logfile

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/rimewatch/rimewatch"
)

func TestSniffTime(t *testing.T) {
	for _, tt := range []struct {
		name  string
		texts []string
		form  string
		last  string
	}{
		{"RFC 3339", []string{"2026-11-20T19:47:12Z", "2026-11-20T20:47:12.5+01:00"}, "yyyy-mm-ddTHH:MM:SS+HH:MM", "2026-11-20T19:47:12.500Z"},
		{"with a space and an offset", []string{"2026-11-20 19:47:12+02:00"}, "yyyy-mm-dd HH:MM:SS+HH:MM", "2026-11-20T17:47:12.000Z"},
		{"an offset without a colon", []string{"2026-11-20 19:47:12 -0500"}, "yyyy-mm-dd HH:MM:SS +HHMM", "2026-11-21T00:47:12.000Z"},
		{"said to be UTC", []string{"2026-11-20 19:47:12 UTC"}, "yyyy-mm-dd HH:MM:SS+HH:MM", "2026-11-20T19:47:12.000Z"},
		{"SQL", []string{"2013-07-04 00:00:00", "2013-07-04 01:00:00"}, "yyyy-mm-dd HH:MM:SS", "2013-07-04T01:00:00.000Z"},
		{"fraction", []string{"2013-07-04 00:00:00.123456"}, "yyyy-mm-dd HH:MM:SS", "2013-07-04T00:00:00.123Z"},
		{"bearings", []string{"2004.02.12.10.32.39"}, "yyyy.mm.dd.HH.MM.SS", "2004-02-12T10:32:39.000Z"},
		{"day first, by the day", []string{"3/4/26 10:00", "28/4/26 10:00"}, "d/m/yy HH:MM", "2026-04-28T10:00:00.000Z"},
		{"month first, by the day", []string{"3/4/26 10:00", "4/28/26 10:00"}, "m/d/yy HH:MM", "2026-04-28T10:00:00.000Z"},
		{"month first, by the order", []string{"9/3/2026 10:00", "9/4/2026 10:00", "10/1/2026 10:00"}, "m/d/yyyy HH:MM", "2026-10-01T10:00:00.000Z"},
		{"day first where nobody can tell", []string{"3/4/26 10:00", "4/4/26 10:00"}, "d/m/yy HH:MM", "2026-04-04T10:00:00.000Z"},
		{"twelve hours", []string{"2/28/2026 1:05 PM"}, "m/d/yyyy H:MM AM/PM", "2026-02-28T13:05:00.000Z"},
		{"twelve hours, day first", []string{"28/2/2026 1:05 pm"}, "d/m/yyyy H:MM AM/PM", "2026-02-28T13:05:00.000Z"},
		{"dots", []string{"28.2.2026 13:05:07"}, "d.m.yyyy HH:MM:SS", "2026-02-28T13:05:07.000Z"},
		{"a month by its name", []string{"28-FEB-2026 13:05"}, "d-mmm-yyyy HH:MM", "2026-02-28T13:05:00.000Z"},
		{"Japan", []string{"2026年2月28日 13時05分"}, "yyyy/m/d HH:MM", "2026-02-28T13:05:00.000Z"},
		{"Unix seconds", []string{"1000000000", "1000000000.25"}, "Unix seconds", "2001-09-09T01:46:40.250Z"},
		{"Unix milliseconds", []string{"1000000000250"}, "Unix milliseconds", "2001-09-09T01:46:40.250Z"},
		{"holes", []string{"", "2026-11-20", ""}, "yyyy-mm-dd", "2026-11-20T00:00:00.000Z"},
		{"none", []string{"yesterday"}, "", ""},
		{"nothing", []string{"", ""}, "", ""},
		{"small numbers", []string{"1", "2"}, "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			last := ""
			for i, text := range tt.texts {
				if tt.texts[i] = plainTime(text); text != "" {
					last = tt.texts[i]
				}
			}
			f := sniffTime(tt.texts)
			if f == nil {
				if tt.form != "" {
					t.Fatal("no form is found")
				}
				return
			}
			if at, ok := f.parse(last); f.name != tt.form || !ok || at.String() != tt.last {
				t.Errorf("%s: %s", f.name, at)
			}
		})
	}
}

// A column of growing times is read back as it was written, whatever its form.
func TestSniffTimeReadsBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		layout := rapid.SampledFrom(timeLayouts).Draw(t, "layout")
		start := rapid.Int64Range(946684800, 4102444800).Draw(t, "start")
		step := rapid.Int64Range(40*86400, 80*86400).Draw(t, "step")
		var texts []string
		var want []rimewatch.Time
		for i := range int64(8) {
			at := time.Unix(start+i*step, 0).UTC()
			if at.Year() > 2060 {
				break // two digits of a year mean the last century then
			}
			text := at.Format(layout)
			again, err := time.ParseInLocation(layout, text, time.UTC)
			if err != nil {
				t.Fatal(err)
			}
			texts, want = append(texts, text), append(want, rimewatch.TimeOf(again))
		}
		if len(texts) < 8 {
			return
		}
		f := sniffTime(texts)
		if f == nil {
			t.Fatalf("%q is not understood", texts)
		}
		for i, text := range texts {
			if got, ok := f.parse(text); !ok || got != want[i] {
				t.Fatalf("%q of %q is read as %s", text, texts, got)
			}
		}
	})
}
