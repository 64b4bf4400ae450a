package report

import (
	"fmt"
	"slices"
	"strings"
)

// summary is the first page: whose devices, when, and how they did.
func (p *page) summary() {
	r := p.r
	p.header = "Temperature log · " + r.title()
	p.AddPage()
	p.Bookmark(p.clean(r.title()), 0, 0)
	p.fill(0, 0, pageWidth, 3, accent)
	p.y = 16
	p.pen(9, true, accent)
	p.cell(left, p.y, width, 5, "TEMPERATURE LOG", "L")
	p.y += 6
	p.pen(21, true, ink)
	lines := p.wrap(r.title(), width)
	for _, line := range lines[:min(len(lines), 3)] {
		p.cell(left, p.y, width, 9, line, "L")
		p.y += 9
	}
	p.pen(10, false, muted)
	where := r.Workspace
	if r.Site != nil && r.Site.Address != "" {
		where += " · " + strings.Join(strings.Fields(r.Site.Address), " ")
	}
	p.paragraph(left, width, 5, where)
	p.y += 4
	p.facts()
	p.heading("Devices", 20)
	if len(r.Devices) == 0 {
		p.pen(9.5, false, muted)
		p.paragraph(left, width, 5, "There are no devices in this report.")
	} else {
		p.tableOf(summaryColumns, r.summaryRows(), 8.5, 6)
	}
	p.notes()
	p.signature()
}

// facts are what holds for the whole report, in two columns.
func (p *page) facts() {
	r := p.r
	excursions, open, overdue := 0, 0, 0
	for i := range r.Devices {
		d := &r.Devices[i]
		for k := range d.Excursions {
			excursions++
			if len(d.Excursions[k].Actions) == 0 {
				open++
			}
		}
		if d.Overdue(r.GeneratedAt) {
			overdue++
		}
	}
	calibrations := "none overdue"
	if overdue > 0 {
		calibrations = fmt.Sprintf("%d overdue", overdue)
	}
	list := []fact{
		{"Period", r.period(), false},
		{"Time zone", r.Zone.String(), false},
		{"Devices", fmt.Sprint(len(r.Devices)), false},
		{"Excursions", withNote(excursions, open, "without a corrective action"), open > 0},
		{"Calibrations", calibrations, overdue > 0},
		{"Audit log", integrityText(&r.Integrity), !r.Integrity.ChainOK},
	}
	p.factGrid(list)
}

type fact struct {
	name, text string
	red        bool
}

func withNote(n, of int, note string) string {
	if of == 0 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%d, %d %s", n, of, note)
}

func integrityText(i *Integrity) string {
	switch {
	case !i.ChainOK:
		return "BROKEN: entries were changed or removed"
	case i.LastHash == "":
		return "empty"
	default:
		return "intact, last hash " + i.LastHash[:min(len(i.LastHash), 16)]
	}
}

// factGrid writes names and values in two columns; what is too long for one
// takes both.
func (p *page) factGrid(list []fact) {
	const name, height, half = 24.0, 5.6, width / 2
	column := 0
	for i, f := range list {
		p.pen(9, f.red, ink)
		long := p.GetStringWidth(p.clean(f.text)) > half-name-2
		if column == 1 && long {
			p.y += height
			column = 0
		}
		if column == 0 {
			p.room(height)
		}
		x, w := left+float64(column)*half, half-name
		if long {
			w = width - name
		}
		p.pen(8.5, false, muted)
		p.cell(x, p.y, name, height, f.name, "L")
		p.pen(9, f.red, ink)
		if f.red {
			p.pen(9, true, alarm)
		}
		p.cell(x+name, p.y, w, height, f.text, "L")
		column++
		if column == 2 || long || i == len(list)-1 {
			p.y += height
			column = 0
		}
	}
}

var summaryColumns = []column{
	{"Device", 43, "L"}, {"Limits", 24, "L"}, {"Min °C", 13, "R"}, {"Mean °C", 14, "R"}, {"Max °C", 13, "R"},
	{"Out of range", 20, "R"}, {"In defrosts", 19, "R"}, {"Coverage", 15, "R"}, {"Excursions", 17, "R"},
}

// poorCoverage is the share of the time, in percent, below which a log has
// holes that an inspector will ask about.
const poorCoverage = 95

func (r *Report) summaryRows() []tableRow {
	rows := make([]tableRow, len(r.Devices))
	for i := range r.Devices {
		d := &r.Devices[i]
		out, defrosts := dash, dash
		judged := d.Limits.TempMin != nil || d.Limits.TempMax != nil
		if judged && d.Readings > 0 {
			out, defrosts = span(d.OutOfRangeS), span(d.InDefrostsS)
		}
		rows[i] = tableRow{
			cells: []string{
				d.Name, limits(&d.Limits), celsius(d.Min), celsius(d.Mean), celsius(d.Max), out, defrosts, percent(d.Coverage), fmt.Sprint(len(d.Excursions)),
			},
			red:   []bool{false, false, d.below(), false, d.above(), false, false, d.Coverage < poorCoverage, len(d.Excursions) > 0},
			small: d.Serial + " · " + d.typeName(),
		}
	}
	return rows
}

// below and above report whether there was an excursion on a side. A short rise,
// such as a defrost, is nothing to be alarmed by.
func (d *Device) below() bool {
	return slices.ContainsFunc(d.Excursions, func(e Excursion) bool { return e.Low })
}

func (d *Device) above() bool {
	return slices.ContainsFunc(d.Excursions, func(e Excursion) bool { return !e.Low })
}

// typeName is the type in words, or its slug where the catalogue does not know it.
func (d *Device) typeName() string {
	if d.Equipment.Slug != d.EquipmentType {
		return d.EquipmentType
	}
	return d.Equipment.Label
}

const howToRead = "Temperatures are those of the product zone in °C, with calibration offsets applied from the time stated in each calibration; what the probes sent is kept unchanged. " +
	"Minimum and maximum are single readings; the mean is weighted by time. A reading counts until the next one, for at most two intervals and two hours; the remaining time is not covered. " +
	"Out of range is all time beyond a limit, however short; in defrosts is the part of it for which the device reported a defrost as the reason, with the recovery from it. An excursion is a period beyond a limit for at least the alarm delay, so a short defrost is not one; its cause is what the readings suggest."

func (p *page) notes() {
	p.heading("How to read this log", 16)
	p.pen(8, false, muted)
	p.paragraph(left, width, 4.1, howToRead)
}

// signature is where a person takes responsibility.
func (p *page) signature() {
	p.y += 6
	p.room(52)
	p.pen(10.5, true, ink)
	p.cell(left, p.y, width, 6, "Review", "L")
	p.y += 7
	p.pen(8.5, false, ink)
	p.paragraph(left, width, 4.4, "I have reviewed this log: the temperatures, every excursion with its cause and corrective action, the coverage and the calibrations.")
	p.y += 15
	third := (width - 12) / 3
	for i, label := range []string{"Name and position", "Signature", "Date"} {
		x := left + float64(i)*(third+6)
		p.line(x, p.y, x+third, p.y, ink, 0.3)
		p.pen(7.5, false, muted)
		p.cell(x, p.y+1, third, 4, label, "L")
	}
	p.y += 9
	p.pen(7.5, false, muted)
	text := "Integrity: changes of configuration, calibrations, corrective actions and actions on alerts are recorded in an audit log in which each entry is chained to the previous one by SHA-256. "
	switch {
	case !p.r.Integrity.ChainOK:
		p.pen(7.5, true, alarm)
		text += "WHEN THIS REPORT WAS CREATED THE CHAIN WAS BROKEN: entries were changed or removed."
	case p.r.Integrity.LastHash == "":
		text += "When this report was created it had no entries."
	default:
		text += "When this report was created the chain was intact and ended in " + p.r.Integrity.LastHash + "."
	}
	p.paragraph(left, width, 3.9, text)
}
