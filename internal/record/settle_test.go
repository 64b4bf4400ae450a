package record

import (
	"fmt"
	"strings"
	"testing"

	"github.com/rimewatch/rimewatch"
)

const (
	t0   = 1_700_000_000_000 * rimewatch.Millisecond
	hour = rimewatch.Hour
)

// alertOf is the event of an alert of device 1 at site 9.
func alertOf(id int64, severity rimewatch.Severity, from, to rimewatch.Time) Event {
	return OfAlert(&rimewatch.Alert{ID: id, DeviceID: 1, Type: rimewatch.HighTemperature, Severity: severity, TriggeredAt: from, ResolvedAt: to}, 9)
}

func excursionOf(id, device int64, from, to rimewatch.Time) Event {
	return OfExcursion(&rimewatch.Excursion{ID: id, DeviceID: device, From: from, To: to}, 9)
}

// outage is the event of an alert of site 9.
func outage(id int64, from, to rimewatch.Time) Event {
	return OfAlert(&rimewatch.Alert{ID: id, SiteID: 9, Type: rimewatch.SiteOffline, Severity: rimewatch.Critical, TriggeredAt: from, ResolvedAt: to}, 0)
}

// written is cases as device[hours]:lines.
func written(list []*rimewatch.Case) string {
	var out []string
	for _, c := range list {
		s := fmt.Sprintf("%d[%v-", c.DeviceID, float64(c.From-t0)/float64(hour))
		if c.To != 0 {
			s += fmt.Sprint(float64(c.To-t0) / float64(hour))
		}
		s += "]"
		if c.Critical {
			s += "!"
		}
		for _, l := range c.Lines {
			s += " " + string(l.Kind[0]) + fmt.Sprint(l.Ref)
		}
		out = append(out, s)
	}
	return strings.Join(out, "; ")
}

func TestSettle(t *testing.T) {
	inhibited := alertOf(3, rimewatch.Critical, t0, 0)
	inhibited.InhibitedBy = 7
	late := OfExcursion(&rimewatch.Excursion{ID: 4, DeviceID: 1, From: t0, To: t0 + hour, FoundLateAt: t0 + 8*rimewatch.Day}, 9)
	soon := OfExcursion(&rimewatch.Excursion{ID: 4, DeviceID: 1, From: t0, To: t0 + hour, FoundLateAt: t0 + 6*rimewatch.Day}, 9)
	for _, c := range []struct {
		name  string
		steps [][]Event // of one commit each
		want  string
	}{
		{"a warning opens none", [][]Event{{alertOf(1, rimewatch.Warning, t0, 0)}}, ""},
		{"a critical alert opens one", [][]Event{{alertOf(1, rimewatch.Critical, t0, 0)}}, "1[0-]! a1"},
		{"one that becomes critical", [][]Event{{alertOf(1, rimewatch.Warning, t0, 0)}, {alertOf(1, rimewatch.Critical, t0, 0)}}, "1[0-]! a1"},
		{"and ends as a warning", [][]Event{{alertOf(1, rimewatch.Critical, t0, 0)}, {alertOf(1, rimewatch.Warning, t0, 0)}, {alertOf(1, rimewatch.Warning, t0, t0+hour)}}, "1[0-1]! a1"},
		{"an excursion opens one", [][]Event{{excursionOf(1, 1, t0, t0+hour)}}, "1[0-1] e1"},
		{"history of long ago opens none", [][]Event{{late}}, ""},
		{"what is found within a week opens one", [][]Event{{soon}}, "1[0-1] e4"},
		{"an excursion joins the alert about it", [][]Event{{alertOf(1, rimewatch.Critical, t0, 0)}, {excursionOf(1, 1, t0-hour, t0+hour)}, {alertOf(1, rimewatch.Critical, t0, t0+2*hour)}}, "1[-1-2]! e1 a1"},
		{"what begins 2 h after the end joins", [][]Event{{excursionOf(1, 1, t0, t0+hour)}, {excursionOf(2, 1, t0+3*hour, t0+4*hour)}}, "1[0-4] e1 e2"},
		{"what begins later does not", [][]Event{{excursionOf(1, 1, t0, t0+hour)}, {excursionOf(2, 1, t0+3*hour+1, t0+4*hour)}}, "1[0-1] e1; 1[3.0000002777777777-4] e2"},
		{"what ended 2 h before, found later, joins", [][]Event{{excursionOf(1, 1, t0+3*hour, t0+4*hour)}, {excursionOf(2, 1, t0, t0+hour)}}, "1[0-4] e2 e1"},
		{"another device has its own", [][]Event{{excursionOf(1, 1, t0, t0+hour), excursionOf(2, 2, t0, t0+hour)}}, "1[0-1] e1; 2[0-1] e2"},
		{"a warning joins, and does not lengthen it", [][]Event{{excursionOf(1, 1, t0, t0+hour)}, {alertOf(1, rimewatch.Warning, t0, t0+20*hour)}}, "1[0-1] a1 e1"},
		{"an outage is one case with its devices", [][]Event{{outage(7, t0, 0), inhibited}, {excursionOf(2, 2, t0+hour, t0+2*hour)}, {outage(7, t0, t0+3*hour), alertOf(3, rimewatch.Critical, t0, t0+3*hour)}}, "0[0-3]! a3 a7 e2"},
		{"a device that was silent before its site", [][]Event{{alertOf(3, rimewatch.Critical, t0, 0)}, {outage(7, t0, 0), inhibited}}, "0[0-]! a3 a7"},
		{"an excursion that late readings made longer", [][]Event{{excursionOf(1, 1, t0, t0+hour)}, {excursionOf(1, 1, t0, t0+5*hour)}}, "1[0-5] e1"},
	} {
		var known []*rimewatch.Case
		for _, events := range c.steps {
			for _, changed := range Settle(known, events, t0) {
				if changed.ID == 0 {
					changed.ID = int64(len(known) + 1)
					known = append(known, changed)
				}
			}
			for i := 0; i < len(known); i++ {
				if len(known[i].Lines) == 0 {
					known = append(known[:i], known[i+1:]...)
					i--
				}
			}
		}
		if got := written(known); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// TestSettleSigned: what is signed stays as it is, but for what is learned of its own lines.
func TestSettleSigned(t *testing.T) {
	known := Settle(nil, []Event{excursionOf(1, 1, t0, t0+hour)}, t0)
	known[0].ID, known[0].Status = 1, rimewatch.CaseSigned
	more := Settle(known, []Event{excursionOf(2, 1, t0+hour, t0+2*hour)}, t0)
	if got := written(append(known, more...)); got != "1[0-1] e1; 1[1-2] e2" {
		t.Error(got)
	}
	if c := Withdraw(known, 1); c != known[0] || !c.Lines[0].Withdrawn || !c.Withdrawn() {
		t.Errorf("withdrawn: %+v", c)
	}
	if c := Withdraw(known, 1); c != nil {
		t.Error("it is withdrawn a second time")
	}
}
