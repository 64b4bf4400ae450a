package report

import (
	"testing"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/phrase"
)

// TestTextOfReaders: times, days and how far it was beyond a limit are in the reader's
// forms and units, and the hour that clocks show twice is named.
func TestTextOfReaders(t *testing.T) {
	american := rimewatch.Locale{Units: "f", Clock: "12h", Dates: "mdy"}
	for _, c := range []struct {
		zone, at string
		locale   rimewatch.Locale
		want     string
	}{
		{"America/New_York", "2026-04-06T18:05:00Z", american, "Apr 6, 2026, 2:05 PM"},
		{"America/New_York", "2026-11-01T04:59:59Z", american, "Nov 1, 2026, 12:59 AM"},
		{"America/New_York", "2026-11-01T05:30:00Z", american, "Nov 1, 2026, 1:30 AM (EDT)"},
		{"America/New_York", "2026-11-01T06:30:00Z", american, "Nov 1, 2026, 1:30 AM (EST)"},
		{"America/New_York", "2026-11-01T07:00:00Z", american, "Nov 1, 2026, 2:00 AM"},
		{"America/New_York", "2026-03-08T07:00:00Z", american, "Mar 8, 2026, 3:00 AM"}, // set forward: no hour is shown twice
		{"America/New_York", "2026-03-08T06:59:00Z", american, "Mar 8, 2026, 1:59 AM"},
		{"Australia/Lord_Howe", "2026-04-04T14:45:00Z", rimewatch.Locale{Dates: "ymd"}, "2026-04-05, 01:45 (UTC+11)"},
		{"Australia/Lord_Howe", "2026-04-04T15:15:00Z", rimewatch.Locale{Dates: "ymd"}, "2026-04-05, 01:45 (UTC+1030)"},
		{"Australia/Lord_Howe", "2026-04-04T15:30:00Z", rimewatch.Locale{}, "5 Apr 2026, 02:00"},
	} {
		zone, err := time.LoadLocation(c.zone)
		if err != nil {
			t.Fatal(err)
		}
		at, err := time.Parse(time.RFC3339, c.at)
		if err != nil {
			t.Fatal(err)
		}
		r := &Report{Zone: zone, Words: phrase.In(c.locale)}
		if got := r.moment(rimewatch.TimeOf(at)); got != c.want {
			t.Errorf("%s in %s: %q, want %q", c.at, c.zone, got, c.want)
		}
	}
	for locale, want := range map[rimewatch.Locale]string{american: "567 °F·min Apr 6, 2026", {}: "315 K·min 6 Apr 2026"} {
		r := &Report{Zone: time.UTC, Words: phrase.In(locale)}
		if got := r.degreeMinutes(315) + " " + r.day(rimewatch.TimeOf(time.Date(2026, 4, 6, 12, 0, 0, 0, time.UTC))); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestTypeName: a type that is not in the catalogue has the words of its slug.
func TestTypeName(t *testing.T) {
	for slug, want := range map[string]string{"sandwich_unit": "Sandwich unit", "lab": "Lab", "": ""} {
		d := Device{Equipment: &rimewatch.Equipment{}}
		d.EquipmentType = slug
		d.Equipment.Slug = "other"
		if got := d.typeName(); got != want {
			t.Errorf("%q is %q, want %q", slug, got, want)
		}
	}
}
