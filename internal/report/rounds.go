package report

import (
	"fmt"

	"github.com/rimewatch/rimewatch"
)

// MaxChecks bounds the checks of a report. More is refused, not cut off.
const MaxChecks = 10_000

// Check is a round of the period, with what was entered later.
type Check struct {
	rimewatch.Check
	Notes []rimewatch.CheckNote
}

// Extremes are the lowest and highest of what its sensors said, nil = nothing was written down.
func (c *Check) Extremes() (low, high *float64) {
	for i := range c.Items {
		it := &c.Items[i]
		for _, v := range []*float64{it.Value, it.Min, it.Max} {
			if v != nil && (low == nil || *v < *low) {
				low = v
			}
			if v != nil && (high == nil || *v > *high) {
				high = v
			}
		}
	}
	return low, high
}

// rounds lists the checks of a site, or of all (0): by date and window who made them, and when. What was missed
// stays blank.
func (p *page) rounds(site int64) {
	r := p.r
	var rows []tableRow
	for i := range r.Checks {
		c := &r.Checks[i]
		if site != 0 && c.SiteID != site || c.Status == rimewatch.CheckDue {
			continue
		}
		row := tableRow{cells: []string{r.moment(c.From), c.Name, "", "", "", "", ""}, red: make([]bool, 7)}
		if c.Status == rimewatch.CheckMissed {
			row.cells[6], row.red[6] = r.say("missed"), true
			if c.Reason == rimewatch.CheckNotRunning {
				row.small = r.say("Rimewatch was not running")
			}
		} else {
			low, high := c.Extremes()
			out := 0
			for k := range c.Items {
				if c.Items[k].Out {
					out++
				}
			}
			row.cells[2], row.cells[3], row.cells[4], row.cells[5] = r.doer(c.By, ""), r.moment(c.CompletedAt), r.measured(low), r.measured(high)
			row.cells[6], row.red[6] = fmt.Sprint(out), out > 0
			if c.EnteredAt-c.CompletedAt > rimewatch.Hour {
				row.small = r.sayf("entered %s", r.moment(c.EnteredAt))
			}
		}
		if n := len(c.Notes); n > 0 {
			row.small = joined(row.small, r.Words.Count(n, "%d later note", "%d later notes"))
		}
		rows = append(rows, row)
	}
	if len(rows) == 0 {
		return
	}
	p.heading(r.say("Rounds"), 20)
	p.tableOf([]column{
		{r.say("Due"), 34, "L"}, {r.say("Round"), 38, "L"}, {r.say("By"), 30, "L"}, {r.say("Completed"), 34, "L"}, {r.say("Min") + " " + r.unit(), 14, "R"}, {r.say("Max") + " " + r.unit(), 14, "R"}, {r.say("Out of limits"), 18, "R"},
	}, rows, 8, 5)
}

// check writes a row for each unit of a check, and one for each later note.
func (t *table) check(c *Check) {
	for i := range c.Items {
		it := &c.Items[i]
		t.row("check", nil)
		t.text("device_serial", it.Serial)
		t.text("device_name", it.Name)
		t.set("date", c.Day)
		t.set("from", c.From.String())
		t.set("to", c.To.String())
		t.text("action", c.Name)
		t.set("check_status", string(c.Status))
		t.set("cause", string(c.Reason))
		if c.By == nil {
			continue
		}
		t.set("performed_at", c.CompletedAt.String())
		t.set("recorded_at", c.EnteredAt.String())
		t.text("performed_by", c.By.Name)
		t.set("performed_kind", string(c.By.Kind))
		t.maybe("mean_c", it.Value)
		t.maybe("min_c", it.Min)
		t.maybe("max_c", it.Max)
		t.maybe("typed_c", it.Typed)
		t.maybe("limit_min_c", it.Low)
		t.maybe("limit_max_c", it.High)
		t.text("note", it.Note)
	}
	for i := range c.Notes {
		n := &c.Notes[i]
		t.row("check_note", nil)
		t.set("date", c.Day)
		t.set("from", c.From.String())
		t.text("action", c.Name)
		t.set("performed_at", n.About.String())
		t.set("recorded_at", n.At.String())
		t.text("performed_by", n.By.Name)
		t.set("performed_kind", string(n.By.Kind))
		t.text("note", n.Text)
	}
}
