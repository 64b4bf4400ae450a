package rimewatch_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/rimewatch/rimewatch"
)

func TestReportPeriods(t *testing.T) {
	const day = "Mon 2006-01-02 15:04 -0700"
	for _, c := range []struct {
		says, zone, now string
		period          rimewatch.ReportPeriod
		from, to        string
	}{
		{"a week", "UTC", "2026-11-25 12:00", rimewatch.ReportWeekly, "Mon 2026-11-16 00:00 +0000", "Mon 2026-11-23 00:00 +0000"},
		{"on a Sunday the week is not over", "UTC", "2026-11-22 23:59", rimewatch.ReportWeekly, "Mon 2026-11-09 00:00 +0000", "Mon 2026-11-16 00:00 +0000"},
		{"nor is it told of at night", "UTC", "2026-11-23 05:59", rimewatch.ReportWeekly, "Mon 2026-11-09 00:00 +0000", "Mon 2026-11-16 00:00 +0000"},
		{"but in the morning", "UTC", "2026-11-23 06:00", rimewatch.ReportWeekly, "Mon 2026-11-16 00:00 +0000", "Mon 2026-11-23 00:00 +0000"},
		{"the morning is that of the site", "America/Los_Angeles", "2026-11-23 05:59", rimewatch.ReportWeekly, "Mon 2026-11-09 00:00 -0800", "Mon 2026-11-16 00:00 -0800"},
		{"the week in which clocks are set back", "Europe/Berlin", "2026-10-26 06:00", rimewatch.ReportWeekly, "Mon 2026-10-19 00:00 +0200", "Mon 2026-10-26 00:00 +0100"},
		{"the week in which they are set forward", "Europe/Berlin", "2026-03-30 06:00", rimewatch.ReportWeekly, "Mon 2026-03-23 00:00 +0100", "Mon 2026-03-30 00:00 +0200"},
		{"a week over New Year", "UTC", "2027-01-04 06:00", rimewatch.ReportWeekly, "Mon 2026-12-28 00:00 +0000", "Mon 2027-01-04 00:00 +0000"},
		{"a month", "UTC", "2026-11-25 12:00", rimewatch.ReportMonthly, "Thu 2026-10-01 00:00 +0000", "Sun 2026-11-01 00:00 +0000"},
		{"on the last of 31 days", "UTC", "2026-10-31 12:00", rimewatch.ReportMonthly, "Tue 2026-09-01 00:00 +0000", "Thu 2026-10-01 00:00 +0000"},
		{"February of a leap year", "UTC", "2028-03-01 06:00", rimewatch.ReportMonthly, "Tue 2028-02-01 00:00 +0000", "Wed 2028-03-01 00:00 +0000"},
		{"at night on the first", "UTC", "2028-03-01 05:59", rimewatch.ReportMonthly, "Sat 2028-01-01 00:00 +0000", "Tue 2028-02-01 00:00 +0000"},
		{"December", "Pacific/Kiritimati", "2027-01-01 06:00", rimewatch.ReportMonthly, "Tue 2026-12-01 00:00 +1400", "Fri 2027-01-01 00:00 +1400"},
		{"the month in which clocks are set forward", "America/New_York", "2026-04-01 06:00", rimewatch.ReportMonthly, "Sun 2026-03-01 00:00 -0500", "Wed 2026-04-01 00:00 -0400"},
	} {
		zone, err := time.LoadLocation(c.zone)
		if err != nil {
			t.Fatal(err)
		}
		now, err := time.ParseInLocation("2006-01-02 15:04", c.now, zone)
		if err != nil {
			t.Fatal(err)
		}
		from, to := c.period.Last(rimewatch.TimeOf(now), zone)
		if got := from.Std().In(zone).Format(day); got != c.from {
			t.Errorf("%s: from %s, want %s", c.says, got, c.from)
		}
		if got := to.Std().In(zone).Format(day); got != c.to {
			t.Errorf("%s: to %s, want %s", c.says, got, c.to)
		}
	}
}

// Periods follow each other without a gap, whatever clocks do.
func TestReportPeriodsFollow(t *testing.T) {
	for _, name := range []string{"UTC", "Europe/Berlin", "America/Sao_Paulo", "Australia/Lord_Howe", "Africa/Cairo", "Asia/Beirut", "Pacific/Apia"} {
		zone, err := time.LoadLocation(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range []rimewatch.ReportPeriod{rimewatch.ReportWeekly, rimewatch.ReportMonthly} {
			from, to := p.Span(rimewatch.TimeOf(time.Date(2010, 1, 1, 12, 0, 0, 0, zone)), zone)
			for to < rimewatch.TimeOf(time.Date(2027, 1, 1, 0, 0, 0, 0, zone)) {
				again, end := p.Span(to-1, zone)
				next, after := p.Span(to, zone)
				if again != from || end != to || next != to || after <= to {
					t.Fatalf("%s %s: [%s %s) is followed by [%s %s), its last moment is of [%s %s)", name, p, from, to, next, after, again, end)
				}
				if last, until := p.Last(to.DayTime(0, 6*60, zone), zone); last != from || until != to {
					t.Fatalf("%s %s: at six after [%s %s) the last is [%s %s)", name, p, from, to, last, until)
				}
				from, to = next, after
			}
		}
	}
}

// TestReportIsSentOnce: whatever the zone, its changes of clocks and the moments at
// which the server runs, every period's report becomes due once, at the time that
// Next names, and a restart in that minute neither skips nor repeats it.
func TestReportIsSentOnce(t *testing.T) {
	zones := []string{"UTC", "Europe/Berlin", "Europe/Madrid", "America/Sao_Paulo", "America/New_York", "Australia/Lord_Howe", "Africa/Cairo", "Asia/Beirut", "Asia/Kathmandu", "Pacific/Apia", "Pacific/Chatham"}
	rapid.Check(t, func(t *rapid.T) {
		zone, err := time.LoadLocation(rapid.SampledFrom(zones).Draw(t, "zone"))
		if err != nil {
			t.Fatal(err)
		}
		p := rapid.SampledFrom([]rimewatch.ReportPeriod{rimewatch.ReportWeekly, rimewatch.ReportMonthly}).Draw(t, "period")
		now := rimewatch.TimeOf(time.Date(2010, 1, 1, 0, 0, 0, 0, time.UTC)) + rimewatch.Time(rapid.Int64Range(0, 17*365*24*60).Draw(t, "minute"))*rimewatch.Minute
		_, through := p.Last(now, zone)
		for range 30 {
			due := p.Next(now, through, zone)
			if due <= now {
				t.Fatalf("at %s the next report was due at %s", now, due)
			}
			if local := due.Std().In(zone); local.Hour() != 6 || local.Minute() != 0 {
				t.Fatalf("due at %s", local)
			}
			if from, to := p.Last(due-1, zone); to != through {
				t.Fatalf("before %s the last report is of %s to %s, and that through %s was sent", due, from, to, through)
			}
			// The server stops and starts within the minute, or sleeps past it.
			now = due + rimewatch.Time(rapid.Int64Range(0, 2*60_000).Draw(t, "restart after ms"))
			from, to := p.Last(due, zone)
			if again, end := p.Last(now, zone); again != from || end != to {
				t.Fatalf("at %s %s to %s is sent, at %s %s to %s", due, from, to, now, again, end)
			}
			if from != through {
				t.Fatalf("the report from %s follows that through %s", from, through)
			}
			through = to
		}
	})
}

// TestReportAskedForAtNight: between midnight and six the period that has just ended is
// over, so it is what is sent by hand, and no new schedule begins with it.
func TestReportAskedForAtNight(t *testing.T) {
	zone, err := time.LoadLocation("America/Santiago")
	if err != nil {
		t.Fatal(err)
	}
	at := func(text string) rimewatch.Time {
		t.Helper()
		moment, err := time.ParseInLocation("2006-01-02 15:04", text, zone)
		if err != nil {
			t.Fatal(err)
		}
		return rimewatch.TimeOf(moment)
	}
	for _, c := range []struct {
		period         rimewatch.ReportPeriod
		now            string
		from, to       string // that is over
		asked, running string // when the first report is sent of a schedule that begins now, and the next of one that ran
	}{
		{rimewatch.ReportWeekly, "2026-11-23 01:38", "2026-11-16 00:00", "2026-11-23 00:00", "2026-11-30 06:00", "2026-11-23 06:00"},
		{rimewatch.ReportWeekly, "2026-11-23 06:00", "2026-11-16 00:00", "2026-11-23 00:00", "2026-11-30 06:00", "2026-11-30 06:00"},
		{rimewatch.ReportWeekly, "2026-11-22 23:59", "2026-11-09 00:00", "2026-11-16 00:00", "2026-11-23 06:00", "2026-11-23 06:00"},
		{rimewatch.ReportMonthly, "2026-12-01 00:00", "2026-11-01 00:00", "2026-12-01 00:00", "2027-01-01 06:00", "2026-12-01 06:00"},
	} {
		now := at(c.now)
		from, to := c.period.Over(now, zone)
		if from != at(c.from) || to != at(c.to) {
			t.Errorf("%s at %s: %s to %s is over", c.period, c.now, from, to)
		}
		if next := c.period.Next(now, to, zone); next != at(c.asked) {
			t.Errorf("%s at %s: the first is sent at %s", c.period, c.now, next)
		}
		if next := c.period.Next(now, from-1, zone); next != at(c.running) {
			t.Errorf("%s at %s: the next is sent at %s", c.period, c.now, next)
		}
	}
}
