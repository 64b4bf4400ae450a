package plan_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/notify/plan"
)

// TestHandOvers: who comes and who goes, at the moments at which the clock on the wall shows it, also in the nights in which
// it is set; a swap is one, and what changes nobody is none.
func TestHandOvers(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	at := func(month time.Month, day, hour, minute int) rimewatch.Time {
		return rimewatch.TimeOf(time.Date(2026, month, day, hour, minute, 0, 0, time.UTC))
	}
	shift := func(from, to int, user int64) rimewatch.Shift {
		return rimewatch.Shift{Days: 127, From: from, To: to, UserID: user}
	}
	nights := []rimewatch.Shift{shift(8*60, 2*60+30, ben), shift(2*60+30, 8*60, mara)}
	for _, c := range []struct {
		name      string
		shifts    []rimewatch.Shift
		overrides []rimewatch.Override
		from, to  rimewatch.Time
		want      string
	}{
		{"a day", nights, nil, at(11, 21, 0, 0), at(11, 22, 0, 0), "21 01:30 [5]→[6]|21 07:00 [6]→[5]"},
		{"the clock is set forward over the hand-over", nights, nil, at(3, 28, 12, 0), at(3, 29, 12, 0), "29 01:00 [5]→[6]|29 06:00 [6]→[5]"},
		{"the clock is set back over the hand-over: the hour comes twice, they hand over once", nights, nil, at(10, 24, 12, 0), at(10, 25, 12, 0), "25 00:30 [5]→[6]|25 07:00 [6]→[5]"},
		{"a swap", nights, []rimewatch.Override{{StartsAt: at(11, 21, 10, 0), EndsAt: at(11, 21, 11, 0), InsteadOf: ben, UserID: mara}}, at(11, 21, 9, 0), at(11, 21, 12, 0), "21 10:00 [5]→[6]|21 11:00 [6]→[5]"},
		{"nobody for a while", []rimewatch.Shift{shift(8*60, 9*60, ben), shift(10*60, 11*60, mara)}, nil, at(11, 21, 0, 0), at(11, 21, 23, 0), "21 07:00 []→[5]|21 08:00 [5]→[]|21 09:00 []→[6]|21 10:00 [6]→[]"},
		{"two at once, named the other way round", []rimewatch.Shift{shift(0, 12*60, ben), shift(0, 12*60, mara), shift(12*60, 0, mara), shift(12*60, 0, ben)}, nil, at(11, 21, 0, 0), at(11, 22, 0, 0), ""},
		{"the moment itself is of the span that it ends", nights, nil, at(11, 21, 1, 30), at(11, 21, 7, 0), "21 07:00 [6]→[5]"},
	} {
		r := plan.Rules{Members: []plan.Member{{UserID: ben}, {UserID: mara}}}
		x := plan.Rota{Rota: rimewatch.Rota{Shifts: c.shifts, Overrides: c.overrides}, Zone: berlin}
		var got []string
		for _, h := range r.HandOvers(&x, c.from, c.to) {
			got = append(got, fmt.Sprintf("%s %v→%v", h.At.Std().UTC().Format("2 15:04"), h.Before, h.After))
		}
		if diff := cmp.Diff(c.want, strings.Join(got, "|")); diff != "" {
			t.Errorf("%s:\n%s", c.name, diff)
		}
	}
}

// TestHandOver: while an alert is open that a route tells the rota of, both are told over their own channels, each of what they may
// see; on a quiet night nobody is, unless the rota says always.
func TestHandOver(t *testing.T) {
	for _, c := range []struct {
		name   string
		tell   rimewatch.TellHandOver
		change func(*world)
		want   string
	}{
		{"while an alert is open", rimewatch.TellOpen, nil, "2 comes until 12:00, before Ben, 1 alert|1 goes, now Mara, 1 alert"},
		{"never", rimewatch.TellNever, nil, ""},
		{"nothing is open", rimewatch.TellOpen, func(w *world) { w.view.Status = rimewatch.AlertResolved }, ""},
		{"nothing is open, and it is always told", rimewatch.TellAlways, func(w *world) { w.view.Status = rimewatch.AlertResolved }, "2 comes until 12:00, before Ben, 0 alert|1 goes, now Mara, 0 alert"},
		{"silenced", rimewatch.TellOpen, func(w *world) { silence(t0, t0+2*hour, rimewatch.Matchers{})(&w.rules) }, ""},
		{"explained by another", rimewatch.TellOpen, func(w *world) { w.view.SuppressedBy = 9 }, ""},
		{"opened since", rimewatch.TellOpen, func(w *world) { w.view.TriggeredAt = t0 + hour + minute }, ""},
		{"of another rota", rimewatch.TellOpen, func(w *world) { w.rules.Routes[0].Steps[0].Targets[0].ID = 2 }, ""},
		{"at a site that who comes may not see", rimewatch.TellOpen, func(w *world) { w.view.Site = &rimewatch.Site{ID: 4} }, "1 goes, now Mara, 1 alert"},
		{"acknowledged: it is handed over, too", rimewatch.TellOpen, func(w *world) { w.view.AcknowledgedAt = t0 }, "2 comes until 12:00, before Ben, 1 alert|1 goes, now Mara, 1 alert"},
		{"a channel switched off", rimewatch.TellOpen, func(w *world) { w.rules.Channels[1].Enabled = false }, "1 goes, now Mara, 1 alert"},
	} {
		w := newWorld(rimewatch.Warning, rimewatch.HighTemperature, route(1, people(0, to(rimewatch.TargetRota, 1))))
		w.staff()
		w.rules.Rotas[0].Shifts[1].To = 12 * 60
		w.rules.Rotas[0].TellHandOver = c.tell
		if c.change != nil {
			c.change(w)
		}
		x := &w.rules.Rotas[0]
		list := w.rules.HandOvers(x, t0+30*minute, t0+90*minute)
		if len(list) != 1 || list[0].At != t0+hour {
			t.Fatalf("%+v", list)
		}
		var got []string
		for _, d := range w.rules.HandOver(&list[0], []rimewatch.AlertView{w.view}, t0+hour+minute) {
			line := fmt.Sprintf("%d goes, now", d.ChannelID)
			if d.Comes {
				line = fmt.Sprintf("%d comes until %s, before", d.ChannelID, d.Until.Std().UTC().Format("15:04"))
			}
			got = append(got, fmt.Sprintf("%s %s, %d alert", line, strings.Join(d.Others, " "), len(d.Alerts)))
		}
		if diff := cmp.Diff(c.want, strings.Join(got, "|")); diff != "" {
			t.Errorf("%s:\n%s", c.name, diff)
		}
	}
}
