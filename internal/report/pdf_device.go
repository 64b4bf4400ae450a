package report

import (
	"fmt"
	"math"
	"strings"
	"time"

	"codeberg.org/go-pdf/fpdf"

	"github.com/rimewatch/rimewatch"
)

// device is one device's part, from a new page on, at a level of the table of contents.
func (p *page) device(d *Device, level int) {
	p.header = d.Name + " · " + d.Serial
	p.next()
	p.Bookmark(p.clean(d.Name+" · "+d.Serial), level, 0)
	p.pen(15, true, ink)
	p.title(d.Name, width, 7.5, 3)
	p.pen(9, false, muted)
	p.paragraph(left, width, 4.8, joined(d.Serial, p.r.say(d.typeName()), strings.TrimSpace(d.Manufacturer+" "+d.Model), d.SiteName))
	p.y += 2
	p.factGrid(p.deviceFacts(d))
	if off := int64(d.ClockOffset / rimewatch.Second); off != 0 {
		p.y += 2
		p.pen(9, true, alarm)
		p.paragraph(left, width, 5, p.r.clock(off))
	}
	if d.Readings == 0 {
		p.y += 3
		p.pen(9.5, true, alarm)
		p.paragraph(left, width, 5, p.r.say("No product-zone temperatures in this period."))
	} else {
		p.chart(d)
	}
	p.days(d)
	p.excursions(d)
	p.calibrations(d)
}

func joined(parts ...string) string {
	var filled []string
	for _, s := range parts {
		if s != "" {
			filled = append(filled, s)
		}
	}
	return strings.Join(filled, " · ")
}

func (p *page) deviceFacts(d *Device) []fact {
	l, judged := &d.Limits, d.judged()
	list := []fact{{p.r.say("Limits"), p.r.limits(l), !judged}}
	if judged {
		list = append(list, fact{p.r.say("Basis"), p.r.say(d.source()), false})
	}
	if judged {
		list = append(list, fact{p.r.say("Alarm delay"), p.r.delays(l), false})
		if c := p.r.critical(l); c != "" {
			list = append(list, fact{p.r.say("Critical"), p.r.sayf("%s for %s or longer", c, span(int64(l.CriticalDelayS))), false})
		} else {
			list = append(list, fact{p.r.say("Critical"), dash, false})
		}
	}
	list = append(list,
		fact{p.r.say("Monitoring"), p.r.interval(d.IntervalS, d.Readings), false},
		fact{p.r.say("Coverage"), p.r.coverage(d), d.Coverage < poorCoverage})
	if judged && d.InRange != nil {
		list = append(list, fact{p.r.say("Time in range"), p.r.sayf("%s of the time covered", p.r.percent(*d.InRange)), false}, fact{p.r.say("Out of range"), p.r.outOfRange(&d.Totals), len(d.Excursions) > 0})
	}
	if text := p.r.lastDay(d); text != "" {
		list = append(list, fact{p.r.say("Last 24 h"), text, false})
	}
	due := fact{p.r.say("Calibration"), p.r.say("none recorded"), true}
	if at := d.CalibrationDueAt(); at != 0 {
		due = fact{p.r.say("Calibration"), p.r.sayf("due %s", p.r.day(at)), d.Overdue(p.r.GeneratedAt)}
		if due.red {
			due.text = p.r.sayf("overdue since %s", p.r.day(at))
		}
	}
	list = append(list, due)
	if d.Equipment.Category == rimewatch.CategoryMedical && d.Kinetic != nil {
		list = append(list, fact{p.r.say("Mean kinetic"), p.r.measured(d.Kinetic) + " " + p.r.unit(), false})
	}
	if d.Implausible > 0 {
		list = append(list, fact{p.r.say("Left out"), p.r.Words.Count(int(d.Implausible), "%d implausible value", "%d implausible values"), true})
	}
	if d.Coarse {
		list = append(list, fact{p.r.say("Older days"), p.r.say("from hourly aggregates"), false})
	}
	return list
}

// coverage returns of which part of the period it is where the device came later.
func (r *Report) coverage(d *Device) string {
	if len(d.Days) == 0 || d.Days[0].From <= r.From {
		return r.percent(d.Coverage)
	}
	return r.percent(d.Coverage) + " " + r.sayf("since %s", r.day(d.Days[0].From))
}

func (r *Report) outOfRange(t *Totals) string {
	if t.InDefrostsS == 0 {
		return span(t.OutOfRangeS)
	}
	return r.sayf("%s, %s of it in defrosts", span(t.OutOfRangeS), span(t.InDefrostsS))
}

// lastDay writes how long it was out of range in the last 24 h of the period, "" when it is
// not known or it was not.
func (r *Report) lastDay(d *Device) string {
	if d.Warm == nil {
		return ""
	}
	var parts []string
	if s := *d.Warm / 1000; s > 0 {
		parts = append(parts, r.sayf("%s too warm", span(s)))
	}
	if s := d.Cold / 1000; s > 0 {
		parts = append(parts, r.sayf("%s too cold", span(s)))
	}
	return strings.Join(parts, ", ")
}

func (r *Report) delays(l *rimewatch.Limits) string {
	switch {
	case l.TempMin == nil:
		return span(int64(l.DelayS))
	case l.TempMax == nil:
		return span(int64(l.LowDelayS))
	case l.DelayS == l.LowDelayS:
		return span(int64(l.DelayS))
	default:
		return r.sayf("%s above, %s below", span(int64(l.DelayS)), span(int64(l.LowDelayS)))
	}
}

// chart draws each day's range as a band, the means as a line and the limits.
func (p *page) chart(d *Device) {
	const h, labels = 42.0, 12.0
	p.y += 3
	p.room(h + 8)
	x0, y0, w := left+labels, p.y, width-labels
	low, high, step := p.r.scale(d)
	height := func(shown float64) float64 { return y0 + h - (shown-low)/(high-low)*h }
	y := func(celsius float64) float64 { return height(p.r.Words.Temperature(celsius)) }
	x := func(t rimewatch.Time) float64 {
		return x0 + float64(t-p.r.From)/float64(p.r.To-p.r.From)*w
	}
	p.pen(7, false, muted)
	for v := low; v <= high+step/2; v += step {
		p.line(x0, height(v), x0+w, height(v), rule, 0.1)
		p.cell(left, height(v)-2, labels-1, 4, p.r.number(v, 0), "R")
	}
	p.bands(d, x, y)
	for _, limit := range []*float64{d.Limits.TempMin, d.Limits.TempMax} {
		if limit != nil {
			p.SetDashPattern([]float64{1.4, 1}, 0)
			p.line(x0, y(*limit), x0+w, y(*limit), alarm, 0.3)
			p.SetDashPattern(nil, 0)
		}
	}
	p.SetDrawColor(rule[0], rule[1], rule[2])
	p.SetLineWidth(0.2)
	p.Rect(x0, y0, w, h, "D")
	p.ticks(d, x, y0+h)
	p.y = y0 + h + 4.5
	p.pen(7, false, muted)
	p.cell(x0, p.y, w, 4, p.r.unit()+". "+p.r.say("Band: lowest to highest reading of each day; line: daily mean; dashed: limits; red: days with an excursion."), "L")
	p.y += 4
}

// bands draws what the days were like.
func (p *page) bands(d *Device, x func(rimewatch.Time) float64, y func(float64) float64) {
	var last *fpdf.PointType
	for i := range d.Days {
		day := &d.Days[i]
		if day.Min == nil {
			last = nil
			continue
		}
		c := band
		if d.excursionIn(day) {
			c = color{236, 178, 172}
		}
		x1, x2 := x(day.From), x(day.To)
		gap := min(0.3, (x2-x1)/6)
		p.fill(x1+gap, y(*day.Max), max(x2-x1-2*gap, 0.2), max(y(*day.Min)-y(*day.Max), 0.3), c)
	}
	for i := range d.Days {
		day := &d.Days[i]
		if day.Mean == nil {
			last = nil
			continue
		}
		at := fpdf.PointType{X: (x(day.From) + x(day.To)) / 2, Y: y(*day.Mean)}
		if last != nil {
			p.line(last.X, last.Y, at.X, at.Y, accent, 0.4)
		}
		p.SetFillColor(accent[0], accent[1], accent[2])
		if len(d.Days) <= 62 {
			p.Circle(at.X, at.Y, 0.5, "F")
		}
		last = &at
	}
}

func (d *Device) excursionIn(day *Day) bool {
	for i := range d.Excursions {
		if e := &d.Excursions[i]; e.From < day.To && (e.To == 0 || e.To > day.From) {
			return true
		}
	}
	return false
}

// ticks writes dates below the chart, as many as there is room for.
func (p *page) ticks(d *Device, x func(rimewatch.Time) float64, y float64) {
	if len(d.Days) == 0 {
		return
	}
	const room = 15.0
	every := int(math.Ceil(room / (x(d.Days[0].To) - x(d.Days[0].From))))
	for i := 0; i < len(d.Days); i += max(every, 1) {
		at := x(d.Days[i].From)
		t := d.Days[i].From.Std().In(p.r.Zone)
		p.line(at, y, at, y+1, rule, 0.2)
		p.cell(at-8, y+0.6, 16, 4, p.r.Words.Date(t, false), "C")
	}
}

// scale returns round bounds around what was measured and the limits, in the reader's unit.
func (r *Report) scale(d *Device) (low, high, step float64) {
	low, high = *d.Min, *d.Max
	for _, l := range []*float64{d.Limits.TempMin, d.Limits.TempMax} {
		if l != nil {
			low, high = min(low, *l), max(high, *l)
		}
	}
	low, high = r.Words.Temperature(low), r.Words.Temperature(high)
	for _, step = range []float64{1, 2, 5, 10, 20, 50} {
		if (high-low)/step <= 6 {
			break
		}
	}
	low, high = math.Floor(low/step)*step, math.Ceil(high/step)*step
	if low == high {
		high += step
	}
	return low, high, step
}

// days writes the table of days in two columns.
func (p *page) days(d *Device) {
	if len(d.Days) == 0 {
		return
	}
	p.heading(p.r.say("Days")+", "+p.r.unit(), 30)
	const rowHeight, between = 4.7, 6.0
	half := (width - between) / 2
	rows := make([]tableRow, len(d.Days))
	for i := range d.Days {
		rows[i] = p.r.dayRow(d, &d.Days[i])
	}
	cols := p.measured(dayColumns, rows, 8, half)
	for left := rows; len(left) > 0; {
		most := int((bottom - p.y - 9) / rowHeight) // below a head of two lines
		if most < 3 {
			p.next()
			continue
		}
		most = min(most, (len(left)+1)/2)
		y, lowest := p.y, p.y
		for c := range 2 {
			n := min(most, len(left))
			if n == 0 {
				break
			}
			p.y = y
			p.dayTable(cols, left[:n], p.columnX(c, half+between), rowHeight)
			lowest, left = max(lowest, p.y), left[n:]
		}
		p.y = lowest
		if len(left) > 0 {
			p.next()
		}
	}
	p.y += 1
}

func (p *page) columnX(c int, step float64) float64 { return left + float64(c)*step }

// dayTable writes some of the days from x on.
func (p *page) dayTable(cols []column, rows []tableRow, x, h float64) {
	p.y += p.head(cols, x)
	for i := range rows {
		at := x
		for k, c := range cols {
			p.pen(8, false, ink)
			if rows[i].isRed(k) {
				p.pen(8, true, alarm)
			}
			if i%2 == 1 {
				p.fill(at, p.y, c.w, h, stripe)
			}
			p.cell(at, p.y, c.w, h, rows[i].cells[k], c.align)
			at += c.w
		}
		p.y += h
	}
}

var dayColumns = []column{
	{"Date", 20, "L"}, {"Min", 11, "R"}, {"Mean", 11, "R"}, {"Max", 11, "R"}, {"Out h", 11, "R"}, {"Defr. h", 11, "R"}, {"Cov. %", 11, "R"},
}

func (r *Report) dayRow(d *Device, day *Day) tableRow {
	out, defrosts := dash, dash
	if day.OutOfRangeS != nil {
		out, defrosts = brief(*day.OutOfRangeS), brief(day.InDefrostsS)
	}
	l, excursion := &d.Limits, d.excursionIn(day)
	return tableRow{
		cells: []string{r.weekday(day.Date), r.measured(day.Min), r.measured(day.Mean), r.measured(day.Max), out, defrosts, r.number(day.Coverage, 1)},
		red: []bool{
			false, excursion && day.Min != nil && l.TempMin != nil && *day.Min < *l.TempMin, false, excursion && day.Max != nil && l.TempMax != nil && *day.Max > *l.TempMax,
			excursion, false, day.Coverage < poorCoverage,
		},
	}
}

// brief writes s in a narrow column: h:mm.
func brief(s int64) string {
	if s == 0 {
		return "0:00"
	}
	m := max((s+30)/60, 1)
	return fmt.Sprintf("%d:%02d", m/60, m%60)
}

// weekday writes a date with its day of the week.
func (r *Report) weekday(date string) string {
	t, err := time.Parse(time.DateOnly, date)
	if err != nil {
		return date
	}
	return r.Words.Weekday(t) + " " + r.Words.Date(t, false)
}

func (p *page) excursions(d *Device) {
	p.heading(p.r.say("Excursions"), 12)
	if len(d.Excursions) == 0 {
		p.pen(9, false, good)
		text := p.r.say("None in this period.")
		if d.Limits.TempMin == nil && d.Limits.TempMax == nil {
			p.pen(9, false, muted)
			text = p.r.say("The device has no limits, so excursions cannot be determined.")
		} else if d.Readings == 0 {
			p.pen(9, false, muted)
			text = p.r.say("Without readings, excursions cannot be determined.")
		}
		p.paragraph(left, width, 5, text)
	}
	for i := range d.Excursions {
		p.excursion(&d.Excursions[i])
	}
	if len(d.Actions) > 0 {
		p.heading(p.r.say("Other corrective actions"), 8)
		for i := range d.Actions {
			p.pen(8.5, false, ink)
			text := p.r.action(&d.Actions[i])
			if id := d.Actions[i].AlertID; id != 0 {
				text = p.r.sayf("Alert %d. %s", id, text)
			}
			p.paragraph(left, width, 4.3, text)
			p.y++
		}
	}
	p.maintenance(d)
}

// maintenance lists the windows in which nobody was notified and compliance was
// not counted: why time out of range may have no excursion.
func (p *page) maintenance(d *Device) {
	if len(d.Maintenance) == 0 {
		return
	}
	p.heading(p.r.say("Maintenance windows"), 8)
	for i := range d.Maintenance {
		w := &d.Maintenance[i]
		p.pen(8.5, false, ink)
		p.paragraph(left, width, 4.3, p.r.moment(w.StartsAt)+" "+p.r.sayf("to %s", p.r.moment(w.EndsAt))+" · "+joined(w.Reason, w.CreatedBy))
		p.y++
	}
	p.pen(8, false, muted)
	p.paragraph(left, width, 4.2, p.r.say("Time in a maintenance window is measured and stands above; it makes no excursions and does not count towards compliance."))
}

func (p *page) excursion(e *Excursion) {
	p.room(11)
	p.fill(left, p.y+0.4, 0.9, 4.6, alarm)
	span, limit, peak := span(e.DurationS(p.r.GeneratedAt)), p.r.degrees(e.Limit, -1)+" "+p.r.unit(), p.r.degrees(e.Peak, 1)+" "+p.r.unit()
	until, course := p.r.say("ongoing"), p.r.sayf("%s above %s, peak %s", span, limit, peak)
	if e.To != 0 {
		until = p.r.sayf("to %s", p.r.moment(e.To))
	}
	if e.Low {
		course = p.r.sayf("%s below %s, peak %s", span, limit, peak)
	}
	if e.Runs > 0 {
		course = p.r.Words.Count(e.Runs, "%d short time, together", "%d short times, together") + " " + course
	}
	p.pen(9, true, ink)
	p.paragraph(left+3, width-3, 5, p.r.moment(e.From)+" "+until+" · "+course)
	facts := p.r.sayf("Probable cause: %s · %s beyond the limit", p.r.say(causes[e.Cause]), p.r.degreeMinutes(e.DegreeMinutes))
	if e.AlertID != 0 {
		facts += " · " + p.r.sayf("alert %d", e.AlertID)
	}
	if e.FoundLateAt != 0 {
		facts += " · " + p.r.sayf("found late, %s", p.r.moment(e.FoundLateAt))
	}
	p.pen(8, false, muted)
	p.paragraph(left+3, width-3, 4.2, facts)
	p.pen(8.5, false, ink)
	for i := range e.Actions {
		p.paragraph(left+3, width-3, 4.3, p.r.action(&e.Actions[i]))
	}
	if len(e.Actions) == 0 {
		p.pen(8.5, true, alarm)
		p.paragraph(left+3, width-3, 4.3, p.r.say("No corrective action recorded."))
	}
	p.y += 2
}

var calibrationColumns = []column{
	{"Performed", 22, "L"}, {"Probe", 30, "L"}, {"Method", 25, "L"}, {"Reference", 16, "R"}, {"As found", 16, "R"}, {"Limit", 13, "R"},
	{"Result", 14, "L"}, {"Offset", 16, "R"}, {"Due", 26, "R"},
}

// shownCalibrations bounds the table: the newest ones matter.
const shownCalibrations = 8

func (p *page) calibrations(d *Device) {
	p.heading(p.r.say("Calibrations"), 12)
	if len(d.Calibrations) == 0 {
		p.pen(9, true, alarm)
		p.paragraph(left, width, 5, p.r.say("None recorded for this device."))
		return
	}
	var rows []tableRow
	for i := range d.Calibrations[:min(len(d.Calibrations), shownCalibrations)] {
		c := &d.Calibrations[i]
		performed := c.PerformedDoer()
		result := p.r.say("passed")
		if !c.Passed {
			result = p.r.say("failed")
		}
		rows = append(rows, tableRow{
			cells: []string{
				p.r.day(c.PerformedAt), p.r.Words.Measure(c.Field.String()), p.r.say(methods[c.Method]), p.r.probed(c.Field, c.Reference), p.r.probed(c.Field, c.AsFound),
				"± " + p.r.offBy(c.Field, c.PassLimit), result, p.r.offBy(c.Field, c.Offset), p.r.day(c.DueAt),
			},
			red:   []bool{false, false, false, false, !c.Passed, false, !c.Passed, false, i == 0 && c.DueAt < p.r.GeneratedAt},
			small: joined(p.r.sayf("by %s", p.r.doer(&performed, c.RecordedBy)), c.ReferenceID),
		})
	}
	p.tableOf(calibrationColumns, rows, 8, 5)
	if n := len(d.Calibrations) - shownCalibrations; n > 0 {
		p.pen(8, false, muted)
		p.paragraph(left, width, 4.2, p.r.Words.Count(n, "%d older entry is not shown.", "%d older entries are not shown."))
	}
}
