package message

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/rimewatch/rimewatch"
)

// Bundle returns one message that says what several about alerts say: what is
// critical first, then warnings, then what is over. There are at least two.
func Bundle(list []*Message) *Message {
	first := &list[0].Data
	w := first.words()
	m := &Message{Type: "alert.bundle", Data: Data{
		DeliveryID: "bundle/" + first.DeliveryID, Kind: rimewatch.DeliveryRecovery,
		Workspace: first.Workspace, Alert: json.RawMessage("null"), Facts: []Fact{}, Locale: first.Locale,
	}}
	var critical, warnings, over int
	nowhere := false // some alerts are of units without a site
	sites := make(map[string]bool)
	for _, one := range list {
		d := &one.Data
		m.Timestamp = max(m.Timestamp, one.Timestamp)
		if d.Site != nil {
			sites[d.Site.Name] = true
		} else {
			nowhere = true
		}
		switch {
		case d.Kind == rimewatch.DeliveryRecovery:
			over++
		case d.Urgent:
			critical++
		default:
			warnings++
		}
	}
	for _, one := range list {
		m.Data.Alerts = append(m.Data.Alerts, lineOf(&one.Data, len(sites) > 1 || nowhere))
		for _, f := range one.Data.Facts {
			if f.Label == w.Say("Call") && len(m.Data.Facts) < maxCalls && !slices.Contains(m.Data.Facts, f) {
				m.Data.Facts = append(m.Data.Facts, f)
			}
		}
	}
	slices.SortStableFunc(m.Data.Alerts, func(a, b Line) int { return cmp.Compare(rank(a), rank(b)) })
	if n := fitting(m.Data.Alerts); n < len(m.Data.Alerts) {
		m.Data.Alerts = append(m.Data.Alerts[:n], Line{Text: w.Sayf("and %d more", len(list)-n)})
	}
	tag := "resolved"
	if warnings > 0 {
		tag, m.Data.Kind = "warning", rimewatch.DeliveryOpened
	}
	if critical > 0 {
		tag, m.Data.Kind, m.Data.Urgent = "critical", rimewatch.DeliveryOpened, true
	}
	m.Data.entitle(w.Say(tag), where(first, len(sites), nowhere)+": "+w.parts(critical, warnings, over))
	m.Data.Text = w.Sayf("%d alerts in %s at the same time, in one message.", len(list), first.Workspace.Name)
	if base, _, ok := strings.Cut(first.Link, "/alerts/"); ok {
		m.Data.Link = base + "/alerts"
	}
	return m
}

// lineOf is a message as a line of a list. Its title stands alone; the tag is said
// by the order.
func lineOf(d *Data, site bool) Line {
	l := Line{Severity: rimewatch.Warning, Over: d.Kind == rimewatch.DeliveryRecovery, Text: d.Title(), Link: d.Link}
	if l.Over {
		l.Text = d.words().Say("Resolved:") + " " + l.Text
	}
	if d.Urgent {
		l.Severity, l.Text = rimewatch.Critical, d.words().Say("Critical:")+" "+l.Text
	}
	if d.Site != nil {
		l.SiteID = d.Site.ID
	}
	if site && d.Site != nil {
		l.Text += " – " + d.Site.Name
	}
	var alert struct{ ID int64 }
	if json.Unmarshal(d.Alert, &alert) == nil {
		l.ID = alert.ID
	}
	return l
}

func rank(l Line) int {
	switch {
	case l.Over:
		return 2
	case l.Severity == rimewatch.Critical:
		return 0
	default:
		return 1
	}
}

// where is where it happened: the site if it is one, the workspace otherwise.
func where(first *Data, sites int, nowhere bool) string {
	switch {
	case sites > 1:
		return first.Workspace.Name + ", " + first.words().Count(sites, "%d site", "%d sites")
	case sites == 1 && !nowhere:
		return first.Site.Name
	default:
		return first.Workspace.Name
	}
}

// parts counts in words, what matters most first.
func (w words) parts(critical, warnings, over int) string {
	var s []string
	if critical > 0 {
		s = append(s, w.Count(critical, "%d critical alert", "%d critical alerts"))
	}
	if warnings > 0 {
		s = append(s, w.Count(warnings, "%d warning", "%d warnings"))
	}
	if over > 0 {
		s = append(s, w.Count(over, "%d resolved", "%d resolved"))
	}
	return strings.Join(s, ", ")
}
