package report

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/rimewatch/rimewatch"
)

// TestRounds: a check that was completed has its values and who made it, one that was missed stays blank, and what was
// entered later stands in a row of its own.
func TestRounds(t *testing.T) {
	at := rimewatch.TimeOf(time.Date(2026, 11, 23, 6, 0, 0, 0, time.UTC))
	low, high, typed := 1.5, 9.25, 4.0
	span := func(day string, from rimewatch.Time) rimewatch.CheckSpan {
		return rimewatch.CheckSpan{Day: day, Minute: 360, From: from, To: from + 4*rimewatch.Hour}
	}
	unit := rimewatch.CheckItem{Serial: "A", Name: "Fish"}
	looked := unit
	looked.Value, looked.Min, looked.Max, looked.Typed, looked.Out, looked.Note = &low, &low, &high, &typed, true, "door was ajar"
	done := rimewatch.Check{
		Name: "Morning", CheckSpan: span("2026-11-23", at), Status: rimewatch.CheckCompleted, CompletedAt: at + rimewatch.Hour, EnteredAt: at + 3*rimewatch.Hour,
		By: &rimewatch.Doer{Kind: rimewatch.DoerPerson, Name: "Ada"}, Items: []rimewatch.CheckItem{looked},
	}
	missed := rimewatch.Check{Name: "Morning", CheckSpan: span("2026-11-24", at+rimewatch.Day), Status: rimewatch.CheckMissed, Reason: rimewatch.CheckNotDone, Items: []rimewatch.CheckItem{unit}}
	r := &Report{Workspace: "Shop", Zone: time.UTC, From: at, To: at + 2*rimewatch.Day, GeneratedAt: at + 2*rimewatch.Day, Checks: []Check{
		{Check: done}, {Check: missed, Notes: []rimewatch.CheckNote{{At: at + 30*rimewatch.Hour, About: at + rimewatch.Day, By: rimewatch.Doer{Kind: rimewatch.DoerToken, Name: "Kim"}, Text: "=was cold"}}},
	}}
	var b bytes.Buffer
	if err := r.CSV(&b); err != nil {
		t.Fatal(err)
	}
	rows := strings.Split(strings.TrimSpace(b.String()), "\r\n")
	if len(rows) != 5 {
		t.Fatalf("%d rows:\n%s", len(rows), b.String())
	}
	for i, want := range [][]string{
		{"check,", "Ada", "1.5", "9.25", "door was ajar", "completed,4", "2026-11-23T07:00:00.000Z", "2026-11-23T09:00:00.000Z"}, {"check,", "2026-11-24", "not_done", "missed,"}, {"check_note,", "Kim", "'=was cold", "2026-11-24T06:00:00.000Z"},
	} {
		for _, s := range want {
			if !strings.Contains(rows[i+2], s) {
				t.Errorf("row %d lacks %q: %s", i, s, rows[i+2])
			}
		}
	}
	if strings.Contains(rows[3], "Ada") || strings.Contains(rows[3], "9.25") {
		t.Errorf("what was missed is not blank: %s", rows[3])
	}
	if l, h := r.Checks[0].Extremes(); *l != low || *h != high {
		t.Errorf("%v to %v", *l, *h)
	}
	if l, _ := r.Checks[1].Extremes(); l != nil {
		t.Errorf("of one that was missed: %v", *l)
	}
	if err := r.PDF(&b); err != nil {
		t.Error(err)
	}
}
