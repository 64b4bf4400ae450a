package record_test

import (
	"testing"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/record"
)

const day = rimewatch.Time(20786) * rimewatch.Day // 2026-11-29, a Sunday

func morning() (*rimewatch.CheckTemplate, *record.Place) {
	return &rimewatch.CheckTemplate{ID: 3, WorkspaceID: 1, Name: "Morning", Enabled: true, Windows: []rimewatch.CheckWindow{{Days: 127, From: 360, To: 600}}},
		&record.Place{SiteID: 5, Zone: time.UTC, Devices: []rimewatch.CheckItem{{DeviceID: 7, Serial: "A", Name: "Fish"}}}
}

// TestOpenChecks: a check opens once when its window begins; what began and ended while the service was not running is missed
// for that reason; a template that changed, is switched off, or covers nothing there opens none.
func TestOpenChecks(t *testing.T) {
	at := func(hours rimewatch.Time) rimewatch.Time { return day + hours*rimewatch.Hour }
	for _, c := range []struct {
		name         string
		spoil        func(*rimewatch.CheckTemplate, *record.Place)
		through, now rimewatch.Time
		want         []rimewatch.CheckReason
	}{
		{"not yet", nil, at(5), at(6) - 1, nil},
		{"it begins", nil, at(5), at(6), []rimewatch.CheckReason{""}},
		{"it began before", nil, at(6), at(7), nil},
		{"after a stop within it", nil, at(5), at(10) - 1, []rimewatch.CheckReason{""}},
		{"a stop as long as it", nil, at(5), at(10), []rimewatch.CheckReason{rimewatch.CheckNotRunning}},
		{"a stop of days", nil, at(5), at(55), []rimewatch.CheckReason{rimewatch.CheckNotRunning, rimewatch.CheckNotRunning, ""}},
		{"a template that was made within it", func(x *rimewatch.CheckTemplate, _ *record.Place) { x.CreatedAt = at(10) - 1 }, 0, at(10) - 1, []rimewatch.CheckReason{""}},
		{"and after it", func(x *rimewatch.CheckTemplate, _ *record.Place) { x.CreatedAt = at(10) }, 0, at(11), nil},
		{"switched off", func(x *rimewatch.CheckTemplate, _ *record.Place) { x.Enabled = false }, at(5), at(7), nil},
		{"of another site", func(x *rimewatch.CheckTemplate, _ *record.Place) { x.SiteID = 6 }, at(5), at(7), nil},
		{"without devices", func(_ *rimewatch.CheckTemplate, p *record.Place) { p.Devices = nil }, at(5), at(7), nil},
	} {
		x, p := morning()
		if c.spoil != nil {
			c.spoil(x, p)
		}
		x.Through = c.through
		got := record.OpenChecks(x, p, c.now)
		if len(got) != len(c.want) {
			t.Errorf("%s: %d checks, not %d", c.name, len(got), len(c.want))
			continue
		}
		for i := range got {
			want := rimewatch.CheckDue
			if c.want[i] != "" {
				want = rimewatch.CheckMissed
			}
			if got[i].Reason != c.want[i] || got[i].Status != want || got[i].SiteID != 5 || len(got[i].Items) != 1 {
				t.Errorf("%s: %+v", c.name, got[i])
			}
		}
	}
	x, p := morning()
	if n := len(record.OpenChecks(x, p, day)); n != 31 {
		t.Errorf("after years %d checks are written down", n)
	}
}

// TestMiss: at the end of its window, once.
func TestMiss(t *testing.T) {
	x, p := morning()
	x.Through = day
	c := record.OpenChecks(x, p, day+7*rimewatch.Hour)[0]
	if record.Miss(&c, c.To-1) || !record.Miss(&c, c.To) || c.Reason != rimewatch.CheckNotDone || record.Miss(&c, c.To) {
		t.Errorf("%+v", c)
	}
}

// TestComplete: the first completion that was done in the window and is entered within a day counts; others are notes with both
// times; none is in the future, and what is out of limits or unknown wants a note.
func TestComplete(t *testing.T) {
	from, to := day+6*rimewatch.Hour, day+10*rimewatch.Hour
	v, low, high := 3.0, 0.0, 5.0
	good := rimewatch.CheckItem{DeviceID: 7, Serial: "A", Name: "Fish", Value: &v, Low: &low, High: &high}
	warm := good
	hot := 9.0
	warm.Value = &hot
	record.Judge(&warm)
	noted := warm
	noted.Note = "moved to walk-in 2"
	typed := good
	typed.Value, typed.Typed = nil, &v
	silent := good
	silent.Value = nil
	gone := rimewatch.CheckItem{DeviceID: 7, Serial: "A", Name: "Fish", Gone: rimewatch.GoneDeleted}
	ada := rimewatch.Doer{Kind: rimewatch.DoerPerson, ID: 9, Name: "Ada"}
	for _, c := range []struct {
		name    string
		status  rimewatch.CheckStatus
		at, now rimewatch.Time
		item    rimewatch.CheckItem
		ask     rimewatch.CheckAsk
		want    string
	}{
		{"in its window", rimewatch.CheckDue, from, from, good, rimewatch.CheckAsk{}, "counts"},
		{"by a clock that is a little ahead", rimewatch.CheckDue, from + rimewatch.Minute, from, good, rimewatch.CheckAsk{}, "counts"},
		{"in the future", rimewatch.CheckDue, from + rimewatch.Hour, from, good, rimewatch.CheckAsk{}, "refused"},
		{"before its window", rimewatch.CheckDue, from - 1, from, good, rimewatch.CheckAsk{}, "note"},
		{"after it", rimewatch.CheckMissed, to, to + 1, good, rimewatch.CheckAsk{}, "note"},
		{"from a phone that had no network", rimewatch.CheckMissed, to - 1, to + 20*rimewatch.Hour, good, rimewatch.CheckAsk{}, "counts"},
		{"for more than a day", rimewatch.CheckMissed, from, from + rimewatch.Day + 1, good, rimewatch.CheckAsk{}, "note"},
		{"by a second person", rimewatch.CheckCompleted, from, from, good, rimewatch.CheckAsk{}, "note"},
		{"out of limits", rimewatch.CheckDue, from, from, warm, rimewatch.CheckAsk{}, "refused"},
		{"out of limits, with a note", rimewatch.CheckDue, from, from, noted, rimewatch.CheckAsk{}, "counts"},
		{"without a sensor", rimewatch.CheckDue, from, from, silent, rimewatch.CheckAsk{}, "refused"},
		{"typed", rimewatch.CheckDue, from, from, typed, rimewatch.CheckAsk{Typed: true}, "counts"},
		{"not typed", rimewatch.CheckDue, from, from, good, rimewatch.CheckAsk{Typed: true}, "refused"},
		{"of a device that was deleted", rimewatch.CheckDue, from, from, gone, rimewatch.CheckAsk{Typed: true}, "counts"},
	} {
		k := rimewatch.Check{ID: 4, WorkspaceID: 1, CheckSpan: rimewatch.CheckSpan{From: from, To: to}, Status: c.status, Ask: c.ask}
		note, late, err := record.Complete(&k, &record.Completion{At: c.at, By: ada, Items: []rimewatch.CheckItem{c.item}}, c.now)
		got := "counts"
		switch {
		case err != nil:
			got = "refused"
		case late:
			got = "note"
		}
		if got != c.want {
			t.Errorf("%s: %s, not %s (%v)", c.name, got, c.want, err)
		}
		switch {
		case got != "counts" && k.Status != c.status:
			t.Errorf("%s: the check is %s", c.name, k.Status)
		case got == "counts" && (k.Status != rimewatch.CheckCompleted || k.CompletedAt > c.now || k.EnteredAt != c.now || !k.By.IsPerson(9)):
			t.Errorf("%s: %+v", c.name, k)
		case got == "note" && (note.About != c.at || note.At != c.now || len(note.Items) != 1):
			t.Errorf("%s: %+v", c.name, note)
		}
	}
}

// TestExtreme: the first moment at which each was reached.
func TestExtreme(t *testing.T) {
	var it rimewatch.CheckItem
	for i, v := range []float64{3, 1, 5, 1, 5} {
		record.Extreme(&it, v, rimewatch.Time(i))
	}
	if *it.Min != 1 || it.MinAt != 1 || *it.Max != 5 || it.MaxAt != 2 {
		t.Errorf("%+v", it)
	}
}
