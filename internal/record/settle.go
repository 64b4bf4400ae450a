package record

import (
	"cmp"
	"slices"

	"github.com/rimewatch/rimewatch"
)

// JoinWithin is the time after the end of a case within which a new alert or excursion still joins it.
const JoinWithin = 2 * rimewatch.Hour

// LateBy is how long before it was found an excursion may have ended to open a case by
// itself: of imported history, a person decides what has to be documented.
const LateBy = 7 * rimewatch.Day

// Event is an alert, an excursion or a span that is new or has changed.
type Event struct {
	Line        rimewatch.CaseLine
	WorkspaceID int64
	SiteID      int64  // where the device stands
	Opens       bool   // a case, where it joins none
	InhibitedBy int64  // id of the alert that explains this one
	By          string // who asked for it; "" = the service
}

// OfAlert is the event of an alert. Critical ones open cases.
func OfAlert(a *rimewatch.Alert, siteID int64) Event {
	if a.SiteID != 0 {
		siteID = a.SiteID
	}
	line := rimewatch.LineOfAlert(a)
	return Event{Line: line, WorkspaceID: a.WorkspaceID, SiteID: siteID, Opens: line.Carries, InhibitedBy: a.SuppressedBy}
}

// OfExcursion is the event of a recorded excursion, which opens a case unless it was found
// much later.
func OfExcursion(e *rimewatch.Excursion, siteID int64) Event {
	return Event{
		Line: rimewatch.LineOfExcursion(e), WorkspaceID: e.WorkspaceID, SiteID: siteID, Opens: e.FoundLateAt == 0 || e.FoundLateAt-e.To <= LateBy,
	}
}

// Settle puts events, in their order, into the known cases of their devices and sites, or
// into new ones (ID 0), and returns those that changed. A known case whose Lines are empty
// afterwards was taken into another one.
func Settle(known []*rimewatch.Case, events []Event, now rimewatch.Time) (changed []*rimewatch.Case) {
	touch := func(c *rimewatch.Case) {
		span(c)
		if !slices.Contains(changed, c) {
			changed = append(changed, c)
		}
	}
	// Those of sites come first: alerts of their devices join them.
	events = slices.Clone(events)
	slices.SortStableFunc(events, func(a, b Event) int {
		return cmp.Compare(min(a.Line.DeviceID, 1), min(b.Line.DeviceID, 1))
	})
	for i := range events {
		e := &events[i]
		c, k := lineOf(known, &e.Line)
		if c != nil {
			update(&c.Lines[k], &e.Line)
			if to := outageOf(known, e.InhibitedBy); to != nil && to != c && movable(c) {
				to.Lines = append(to.Lines, c.Lines[k])
				c.Lines = slices.Delete(c.Lines, k, k+1)
				touch(to)
			}
			touch(c)
			continue
		}
		if c = caseFor(known, e); c == nil {
			if !e.Opens {
				continue
			}
			c = &rimewatch.Case{
				WorkspaceID: e.WorkspaceID, DeviceID: e.Line.DeviceID, SiteID: e.SiteID, Status: rimewatch.CaseOpen, OpenedAt: now, OpenedBy: e.By,
			}
			known = append(known, c)
		}
		line := e.Line
		line.Carries = line.Carries || e.Opens
		c.Lines = append(c.Lines, line)
		touch(c)
	}
	return changed
}

// Withdraw marks the line of an excursion that never was, and returns its case, nil = it is
// in none of them.
func Withdraw(known []*rimewatch.Case, excursion int64) *rimewatch.Case {
	c, k := lineOf(known, &rimewatch.CaseLine{Kind: rimewatch.CaseExcursion, Ref: excursion})
	if c == nil || c.Lines[k].Withdrawn {
		return nil
	}
	c.Lines[k].Withdrawn = true
	return c
}

// Meets reports whether a span belongs to a case: it overlaps it, or begins soon after its
// end. A case may be lengthened at both ends.
func Meets(c *rimewatch.Case, from, to rimewatch.Time) bool {
	return (c.To == 0 || from <= c.To+JoinWithin) && (to == 0 || to+JoinWithin >= c.From)
}

func lineOf(known []*rimewatch.Case, l *rimewatch.CaseLine) (*rimewatch.Case, int) {
	if l.Ref == 0 {
		return nil, -1
	}
	for _, c := range known {
		for k := range c.Lines {
			if c.Lines[k].Kind == l.Kind && c.Lines[k].Ref == l.Ref {
				return c, k
			}
		}
	}
	return nil, -1
}

// caseFor returns the case that an event joins: that of an outage of its site before that of
// its device, the oldest first; nil = none.
func caseFor(known []*rimewatch.Case, e *Event) *rimewatch.Case {
	var found *rimewatch.Case
	for _, c := range known {
		ofSite := c.DeviceID == 0 && c.SiteID == e.SiteID && e.SiteID != 0
		ofDevice := c.DeviceID != 0 && c.DeviceID == e.Line.DeviceID
		if c.Status == rimewatch.CaseSigned || !ofSite && !ofDevice || !Meets(c, e.Line.From, e.Line.To) {
			continue
		}
		if found == nil || ofSite && found.DeviceID != 0 || (c.DeviceID == 0) == (found.DeviceID == 0) && c.From < found.From {
			found = c
		}
	}
	return found
}

// outageOf returns the case of a site that has an alert, nil = none has.
func outageOf(known []*rimewatch.Case, alert int64) *rimewatch.Case {
	c, _ := lineOf(known, &rimewatch.CaseLine{Kind: rimewatch.CaseAlert, Ref: alert})
	if c == nil || c.DeviceID != 0 || c.Status == rimewatch.CaseSigned {
		return nil
	}
	return c
}

// movable reports whether a case is a single alert without any action yet, which
// turned out to be a part of an outage.
func movable(c *rimewatch.Case) bool {
	return !c.Filed && c.DeviceID != 0 && c.Status == rimewatch.CaseOpen && c.OpenedBy == "" && len(c.Lines) == 1
}

// update takes the changes of a line. One that was critical once carries its case from then on.
func update(was, is *rimewatch.CaseLine) {
	was.From, was.To, was.Facts, was.Carries, was.Withdrawn = is.From, is.To, is.Facts, was.Carries || is.Carries, false
}

// span sets the members that follow from a case's lines.
func span(c *rimewatch.Case) {
	slices.SortStableFunc(c.Lines, func(a, b rimewatch.CaseLine) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Ref, b.Ref))
	})
	first := true
	for i := range c.Lines {
		l := &c.Lines[i]
		if !l.Carries {
			continue
		}
		c.Critical = c.Critical || l.Facts.Severity == rimewatch.Critical
		switch {
		case first:
			c.From, c.To, first = l.From, l.To, false
		case l.To == 0 || c.To == 0:
			c.To = 0
		default:
			c.To = max(c.To, l.To)
		}
	}
}
