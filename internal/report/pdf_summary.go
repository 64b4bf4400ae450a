package report

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"codeberg.org/go-pdf/fpdf"
)

// summary is the first page of a log of one site or device: how they did.
func (p *page) summary() {
	r := p.r
	where := r.Workspace
	if r.Site != nil && r.Site.Address != "" {
		where += " · " + strings.Join(strings.Fields(r.Site.Address), " ")
	}
	p.opening(r.title(), where)
	devices := pointers(r.Devices)
	p.factGrid(r.facts(devices))
	p.heading(r.say("Devices"), 20)
	if len(devices) == 0 {
		p.pen(9.5, false, muted)
		p.paragraph(left, width, 5, r.say("There are no devices in this report."))
	} else {
		p.tableOf(r.summaryColumns(), r.summaryRows(devices), 8.5, 6)
	}
	p.rounds(0)
	p.notes()
	p.signature()
	for _, d := range devices {
		p.device(d, 0)
	}
}

// opening is the head of the first page: the customer's logo, whose log it is, and below it
// where, "" = nowhere else.
func (p *page) opening(title, where string) {
	r := p.r
	p.header = r.say("Temperature log") + " · " + title
	p.AddPage()
	p.Bookmark(p.clean(title), 0, 0)
	p.fill(0, 0, pageWidth, 3, accent)
	p.y = 16
	free := width - p.logo()
	p.pen(9, true, accent)
	p.cell(left, p.y, free, 5, strings.ToUpper(r.say("Temperature log")), "L")
	p.y += 6
	p.pen(21, true, ink)
	p.title(title, free, 9, 3)
	p.pen(10, false, muted)
	if where != "" {
		p.paragraph(left, width, 5, where)
	}
	p.y += 4
}

// The room for a logo, in mm.
const (
	logoWidth  = 46.0
	logoHeight = 18.0
)

// logo draws the customer's into the upper right corner, and returns how much of the line it
// takes, in mm.
func (p *page) logo() float64 {
	l := &p.r.Logo
	if len(l.Data) == 0 {
		return 0
	}
	kind := fpdf.ImageOptions{ImageType: strings.TrimPrefix(l.Type, "image/")}
	p.RegisterImageOptionsReader("logo", kind, bytes.NewReader(l.Data))
	w, h := logoWidth, logoWidth*float64(l.Height)/float64(l.Width)
	if h > logoHeight {
		w, h = logoHeight*float64(l.Width)/float64(l.Height), logoHeight
	}
	p.ImageOptions("logo", right-w, p.y-5, w, h, false, kind, 0, "")
	return w + 6
}

// facts writes the common values of devices, in two columns.
func (r *Report) facts(devices []*Device) []fact {
	c := r.countOf(devices)
	calibrations := r.say("none recorded")
	switch {
	case c.overdue > 0:
		calibrations = r.sayf("%d overdue", c.overdue)
	case c.calibrated == len(devices):
		calibrations = r.say("none overdue")
	case c.calibrated > 0:
		calibrations = r.sayf("none overdue, %d of the devices without any", len(devices)-c.calibrated)
	}
	return []fact{
		{r.say("Period"), r.period(), false},
		{r.say("Time zone"), r.Zone.String(), false},
		{r.say("Devices"), fmt.Sprint(len(devices)), false},
		{r.say("Excursions"), r.withNote(c.excursions, c.open), c.open > 0},
		{r.say("Calibrations"), calibrations, c.overdue > 0},
		{r.say("Audit log"), r.integrityText(), !r.Integrity.ChainOK},
	}
}

type fact struct {
	name, text string
	red        bool
}

func (r *Report) withNote(excursions, open int) string {
	if open == 0 {
		return fmt.Sprint(excursions)
	}
	return r.sayf("%d, %d without a corrective action", excursions, open)
}

func (r *Report) integrityText() string {
	i := &r.Integrity
	switch {
	case !i.ChainOK:
		return r.say("BROKEN: entries were changed or removed")
	case i.LastHash == "":
		return r.say("empty")
	default:
		return r.sayf("intact, last hash %s", i.LastHash[:min(len(i.LastHash), 16)])
	}
}

// factGrid writes names and values in two columns; what is too long for one
// takes both.
func (p *page) factGrid(list []fact) {
	const height, half = 5.6, width / 2
	name, column := 24.0, 0
	p.pen(8.5, false, muted)
	for _, f := range list {
		name = min(max(name, p.GetStringWidth(p.clean(f.name))+beside), half/2)
	}
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

func (r *Report) summaryColumns() []column {
	return []column{
		{r.say("Device"), 43, "L"}, {r.say("Limits"), 24, "L"}, {r.say("Min") + " " + r.unit(), 13, "R"}, {r.say("Mean") + " " + r.unit(), 14, "R"}, {r.say("Max") + " " + r.unit(), 13, "R"},
		{r.say("Out of range"), 20, "R"}, {r.say("In defrosts"), 19, "R"}, {r.say("Coverage"), 15, "R"}, {r.say("Excursions"), 17, "R"},
	}
}

// poorCoverage is the share of the time, in percent, below which a log has
// holes that an inspector will ask about.
const poorCoverage = 95

func (r *Report) summaryRows(devices []*Device) []tableRow {
	rows := make([]tableRow, len(devices))
	for i, d := range devices {
		out, defrosts := dash, dash
		if d.judged() && d.Readings > 0 {
			out, defrosts = span(d.OutOfRangeS), span(d.InDefrostsS)
		}
		rows[i] = tableRow{
			cells: []string{
				d.Name, r.limits(&d.Limits), r.measured(d.Min), r.measured(d.Mean), r.measured(d.Max), out, defrosts, r.percent(d.Coverage), fmt.Sprint(len(d.Excursions)),
			},
			red:   []bool{false, false, d.below(), false, d.above(), false, false, d.Coverage < poorCoverage, len(d.Excursions) > 0},
			small: d.Serial + " · " + r.say(d.typeName()),
		}
	}
	return rows
}

// judged reports whether the device has limits.
func (d *Device) judged() bool { return d.Limits.TempMin != nil || d.Limits.TempMax != nil }

// below and above report whether there was an excursion on a side. A short rise,
// such as a defrost, is nothing to be alarmed by.
func (d *Device) below() bool {
	return slices.ContainsFunc(d.Excursions, func(e Excursion) bool { return e.Low })
}

func (d *Device) above() bool {
	return slices.ContainsFunc(d.Excursions, func(e Excursion) bool { return !e.Low })
}

// typeName is the type in words, or those of its slug where the catalogue does not know it.
func (d *Device) typeName() string {
	if d.Equipment.Slug != d.EquipmentType {
		words := strings.ReplaceAll(d.EquipmentType, "_", " ")
		return strings.ToUpper(words[:min(1, len(words))]) + words[min(1, len(words)):]
	}
	return d.Equipment.Label
}

const howToRead = "Temperatures are those of the product zone, with calibration offsets applied from the time stated in each calibration; what the probes sent is kept unchanged. " +
	"Minimum and maximum are single readings; the mean is weighted by time. A reading counts until the next one, for at most two intervals and two hours; the remaining time is not covered. " +
	"Out of range is all time beyond a limit, however short; in defrosts is the part of it for which the device reported a defrost as the reason, with the recovery from it. An excursion is a period beyond a limit for at least the alarm delay, so a short defrost is not one; its cause is what the readings suggest."

const addsUp = "The shorter periods of a day are together one excursion when those that are no recognised defrost exceed one alarm delay, or all of them exceed what the defrosts of this type of equipment may take and one alarm delay."

func (p *page) notes() {
	p.heading(p.r.say("How to read this log"), 16)
	p.pen(8, false, muted)
	text := p.r.say(howToRead) + " " + p.r.say(addsUp)
	if from := p.r.AddsUpFrom(); from != 0 {
		text += " " + p.r.sayf("That holds from %s on; earlier days are counted without it.", p.r.day(from))
	}
	p.paragraph(left, width, 4.1, text)
}

// signature is where a person takes responsibility.
func (p *page) signature() {
	p.y += 6
	p.room(52)
	p.pen(10.5, true, ink)
	p.cell(left, p.y, width, 6, p.r.say("Review"), "L")
	p.y += 7
	p.pen(8.5, false, ink)
	p.paragraph(left, width, 4.4, p.r.say("I have reviewed this log: the temperatures, every excursion with its cause and corrective action, the coverage and the calibrations."))
	p.y += 15
	third := (width - 12) / 3
	for i, label := range []string{p.r.say("Name and position"), p.r.say("Signature"), p.r.say("Date")} {
		x := left + float64(i)*(third+6)
		p.line(x, p.y, x+third, p.y, ink, 0.3)
		p.pen(7.5, false, muted)
		p.cell(x, p.y+1, third, 4, label, "L")
	}
	p.y += 9
	p.pen(7.5, false, muted)
	text := p.r.say("Integrity: changes of configuration, calibrations, corrective actions and actions on alerts are recorded in an audit log in which each entry is chained to the previous one by SHA-256.") + " "
	switch {
	case !p.r.Integrity.ChainOK:
		p.pen(7.5, true, alarm)
		text += p.r.say("WHEN THIS REPORT WAS CREATED THE CHAIN WAS BROKEN: entries were changed or removed.")
	case p.r.Integrity.LastHash == "":
		text += p.r.say("When this report was created it had no entries.")
	default:
		text += p.r.sayf("When this report was created the chain was intact and ended in %s.", p.r.Integrity.LastHash)
	}
	p.paragraph(left, width, 3.9, text)
}
