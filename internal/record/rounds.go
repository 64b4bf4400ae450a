package record

import (
	"slices"
	"strings"
	"time"

	"github.com/rimewatch/rimewatch"
)

// Place is where checks of a template are made: a site, or the devices that stand at none.
type Place struct {
	SiteID  int64
	Zone    *time.Location
	Devices []rimewatch.CheckItem // that stand there and that the template covers, by name
}

// OpenChecks returns the checks of a template that are to be written down at a place: those of the windows that
// began since it was last looked at, up to now, and of a new template those that are not over. One whose window is
// over was never due: the service was not running.
func OpenChecks(t *rimewatch.CheckTemplate, p *Place, now rimewatch.Time) (list []rimewatch.Check) {
	if !t.Enabled || len(p.Devices) == 0 || t.SiteID != 0 && t.SiteID != p.SiteID {
		return nil
	}
	for _, s := range t.Spans(max(t.Through, now-rimewatch.CheckLookBack), now, p.Zone) {
		if s.To <= t.CreatedAt {
			continue
		}
		c := rimewatch.Check{
			WorkspaceID: t.WorkspaceID, TemplateID: t.ID, SiteID: p.SiteID, Name: t.Name, Pack: t.Pack, Ask: t.Ask, CheckSpan: s,
			Status: rimewatch.CheckDue, OpenedAt: now, Items: slices.Clone(p.Devices),
		}
		if s.To <= now {
			c.Status, c.Reason = rimewatch.CheckMissed, rimewatch.CheckNotRunning
		}
		list = append(list, c)
	}
	return list
}

// Miss marks a check as missed whose window is over, and reports whether it did.
func Miss(c *rimewatch.Check, now rimewatch.Time) bool {
	if c.Status != rimewatch.CheckDue || now < c.To {
		return false
	}
	c.Status, c.Reason = rimewatch.CheckMissed, rimewatch.CheckNotDone
	return true
}

// Completion is a completed check, as it is entered.
type Completion struct {
	At    rimewatch.Time // when it was done
	By    rimewatch.Doer
	Items []rimewatch.CheckItem // of every device of the check, with the sensors' values at At
	Note  string
}

// Complete enters a completion into a check, or makes the note that it is instead (late): the first one that
// was done within the window and entered within a day of it counts. CodeValidationFailed where it was done in the
// future, or where a value is outside its limits, or unknown, and has no note.
func Complete(c *rimewatch.Check, x *Completion, now rimewatch.Time) (note rimewatch.CheckNote, late bool, err error) {
	if x.At > now+rimewatch.FutureTolerance {
		return note, false, rimewatch.Invalid("completed_at", "must not be in the future")
	}
	x.At = min(x.At, now)
	if c.Status == rimewatch.CheckCompleted || x.At < c.From || x.At >= c.To || now-x.At > rimewatch.CheckEntered {
		return rimewatch.CheckNote{WorkspaceID: c.WorkspaceID, CheckID: c.ID, At: now, About: x.At, By: x.By, Text: x.Note, Items: x.Items}, true, nil
	}
	var wrong *rimewatch.Error
	for i := range x.Items {
		it := &x.Items[i]
		field := "items." + it.Serial
		switch {
		case it.Gone != "" || strings.TrimSpace(it.Note) != "":
		case it.Out:
			wrong = rimewatch.Merge(wrong, rimewatch.Invalid(field, "%s is outside its limits: a note has to say what was done", it.Name))
		case c.Ask.Typed && it.Typed == nil:
			wrong = rimewatch.Merge(wrong, rimewatch.Invalid(field, "of %s a typed value is asked for, or a note that says why there is none", it.Name))
		case it.Value == nil && it.Typed == nil:
			wrong = rimewatch.Merge(wrong, rimewatch.Invalid(field, "there is no value of %s: type one, or note why there is none", it.Name))
		}
	}
	if wrong != nil {
		return note, false, wrong
	}
	c.Status, c.Reason = rimewatch.CheckCompleted, ""
	c.CompletedAt, c.EnteredAt, c.By, c.Items = x.At, now, &x.By, x.Items
	return note, false, nil
}

// Judge notes whether a value of an item is outside its limits.
func Judge(it *rimewatch.CheckItem) {
	l := rimewatch.Limits{TempMin: it.Low, TempMax: it.High}
	for _, v := range []*float64{it.Value, it.Min, it.Max, it.Typed} {
		it.Out = it.Out || v != nil && l.Outside(*v)
	}
}

// Extreme takes one value of a sensor into the lowest and the highest of an item, whose moments are the first
// at which they were reached.
func Extreme(it *rimewatch.CheckItem, v float64, at rimewatch.Time) {
	if it.Min == nil || v < *it.Min {
		it.Min, it.MinAt = &v, at
	}
	if it.Max == nil || v > *it.Max {
		it.Max, it.MaxAt = &v, at
	}
}
