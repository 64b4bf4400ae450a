package report

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"codeberg.org/go-pdf/fpdf"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/phrase"
)

// PDF writes the dossier to print and to hand over.
func (d *Dossier) PDF(w io.Writer) error {
	d.inEnglish()
	p, err := d.Report.begin(d.say("Case record") + ", " + d.Subject())
	if err != nil {
		return err
	}
	p.header = d.sayf("Case %d", d.Case.ID) + " · " + d.Subject()
	c := &casePage{page: p, d: d}
	c.opening()
	for i := range d.Devices {
		c.curve(&d.Devices[i])
	}
	c.actions()
	c.timeline()
	c.instruments()
	c.files()
	c.signatures()
	c.integrity()
	if err := p.Error(); err != nil {
		return err
	}
	return p.Output(w)
}

// casePage is a dossier in the making.
type casePage struct {
	*page
	d *Dossier
}

// opening writes the facts that the reader needs first.
func (p *casePage) opening() {
	d := p.d
	p.AddPage()
	p.Bookmark(p.clean(d.Subject()), 0, 0)
	p.fill(0, 0, pageWidth, 3, accent)
	p.y = 16
	p.pen(9, true, accent)
	p.cell(left, p.y, width, 5, strings.ToUpper(d.say("Case record"))+" · "+d.sayf("Case %d", d.Case.ID), "L")
	taken := p.logo()
	p.badge(right - taken)
	p.y += 6
	free := width - taken
	p.pen(21, true, ink)
	p.title(d.Subject(), free, 9, 2)
	p.pen(10, false, muted)
	where := d.Workspace
	if d.Site != nil {
		where = joined(where, d.Site.Name, strings.Join(strings.Fields(d.Site.Address), " "))
	}
	p.paragraph(left, width, 5, where)
	p.y += 3
	p.verdict()
	p.y += 2
	p.factGrid(p.facts())
}

// badge is the state of the paperwork, at the end of the first line.
func (p *casePage) badge(end float64) {
	text, c := p.r.say("Not documented"), alarm
	switch {
	case p.d.Case.Withdrawn():
		text, c = p.r.say("Withdrawn"), muted
	case p.d.Case.Status == rimewatch.CaseSigned:
		text, c = p.r.say("Signed"), good
	case p.d.Case.Status == rimewatch.CaseDocumented:
		text, c = p.r.say("Documented, not signed"), accent
	}
	p.pen(8.5, true, color{255, 255, 255})
	w := p.GetStringWidth(p.clean(text)) + 6
	p.SetFillColor(c[0], c[1], c[2])
	p.RoundedRect(end-w, p.y, w, 5.4, 1.2, "1234", "F")
	p.cell(end-w, p.y, w, 5.4, text, "C")
}

// verdict returns the fault, in words.
func (p *casePage) verdict() {
	d := p.d
	until := p.r.say("ongoing")
	if d.Case.To != 0 {
		until = p.r.sayf("to %s", p.r.moment(d.Case.To))
	}
	text := d.whatWasWrong()
	p.pen(12, true, ink)
	lines := p.wrap(text, width-8)
	h := 6*float64(len(lines)) + 10
	p.room(h)
	p.fill(left, p.y, width, h, color{251, 240, 238})
	p.fill(left, p.y, 1.4, h, alarm)
	at := p.y + 2.4
	for _, line := range lines {
		p.cell(left+5, at, width-8, 6, line, "L")
		at += 6
	}
	p.pen(9, false, muted)
	p.cell(left+5, at, width-8, 5, p.r.moment(d.Case.From)+" "+until, "L")
	p.y += h + 2
}

// whatWasWrong is one sentence about the worst of the case.
func (d *Dossier) whatWasWrong() string {
	if d.Case.Withdrawn() {
		return d.say("Late readings showed that nothing of this case ever was.")
	}
	if worst, _ := d.Peak(); worst != nil {
		long := int64((worst.To - worst.From) / rimewatch.Second)
		if worst.Facts.Runs > 0 {
			long = int64(worst.Facts.Sum / rimewatch.Second)
		}
		limit, peak := d.degrees(*worst.Facts.Limit, -1)+" "+d.unit(), d.degrees(*worst.Facts.Peak, 1)+" "+d.unit()
		if worst.Facts.Low {
			return d.sayf("%s below %s, down to %s", span(long), limit, peak)
		}
		return d.sayf("%s above %s, up to %s", span(long), limit, peak)
	}
	var names []string
	for i := range d.Case.Lines {
		l := &d.Case.Lines[i]
		if l.Kind != rimewatch.CaseAlert || !l.Carries {
			continue
		}
		if name := d.Words.TypeName(l.Facts.Type); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return d.say("Documented by a person")
	}
	return strings.Join(names[:min(len(names), 3)], ", ")
}

func (p *casePage) facts() []fact {
	d := p.d
	end := cmp.Or(d.Case.To, d.GeneratedAt)
	list := []fact{}
	if len(d.Devices) == 1 {
		x := &d.Devices[0]
		e, _ := rimewatch.EquipmentBySlug(x.EquipmentType)
		list = append(list, fact{p.r.say("Unit"), joined(x.Serial, p.r.say(e.Label), strings.TrimSpace(x.Manufacturer+" "+x.Model)), false})
		limits := p.r.limits(&x.Limits)
		if x.Limits.TempMin != nil || x.Limits.TempMax != nil {
			limits += ", " + p.r.sayf("alarm after %s", p.r.delays(&x.Limits))
		}
		list = append(list, fact{p.r.say("Limits then"), limits, false})
	} else {
		list = append(list, fact{p.r.say("Units"), fmt.Sprint(len(d.Devices)), false})
	}
	list = append(list, fact{p.r.say("Lasted"), span(int64((end - d.Case.From) / rimewatch.Second)), false})
	if worst, k := d.Peak(); worst != nil {
		list = append(list, fact{p.r.say("Beyond the limit"), p.r.degreeMinutes(k), false}, fact{p.r.say("Probable cause"), p.r.say(causes[worst.Facts.Cause]), false})
	}
	what, of := d.Disposition()
	if of == nil {
		list = append(list, fact{p.r.say("Product"), p.r.say("not said what became of it"), true})
	} else {
		list = append(list, fact{p.r.say("Product"), joined(what, of.Product), false})
	}
	list = append(list, fact{p.r.say("Answered"), p.answered(), false})
	return append(list, fact{p.r.say("Audit log"), p.r.integrityText(), !d.Integrity.ChainOK}, fact{p.r.say("Time zone"), d.Zone.String(), false})
}

// answered returns who was the first to answer, and how long that took from when the alert opened:
// nobody can answer before.
func (p *casePage) answered() string {
	opened := make(map[int64]rimewatch.Time)
	for i := range p.d.Told {
		t := &p.d.Told[i]
		if t.Kind == rimewatch.TransitionOpened {
			opened[t.AlertID] = t.At
		}
		if t.Kind == rimewatch.TransitionAcknowledged && t.Actor != "" {
			from := cmp.Or(opened[t.AlertID], p.d.Case.From)
			return p.r.sayf("by %s after %s", t.Actor, span(int64(max(t.At-from, 0)/rimewatch.Second)))
		}
	}
	return p.r.say("by nobody")
}

// curve draws the product temperature around the case: the range of each stretch as a band, the
// mean as a line, limits dashed, the case shaded.
func (p *casePage) curve(x *CaseDevice) {
	if len(x.Curve) == 0 {
		return
	}
	const h, labels = 58.0, 12.0
	title := p.r.say("Temperature")
	if len(p.d.Devices) > 1 {
		title += ", " + x.Name
	}
	p.heading(title, h+8)
	x0, y0, w := left+labels, p.y, width-labels
	low, high, step := p.d.scaleOf(x)
	height := func(shown float64) float64 { return y0 + h - (shown-low)/(high-low)*h }
	y := func(celsius float64) float64 { return height(p.r.Words.Temperature(celsius)) }
	at := func(t rimewatch.Time) float64 {
		return x0 + float64(min(max(t, p.d.From), p.d.To)-p.d.From)/float64(p.d.To-p.d.From)*w
	}
	end := cmp.Or(p.d.Case.To, p.d.To)
	p.fill(at(p.d.Case.From), y0, max(at(end)-at(p.d.Case.From), 0.4), h, color{251, 236, 233})
	p.pen(7, false, muted)
	for v := low; v <= high+step/2; v += step {
		p.line(x0, height(v), x0+w, height(v), rule, 0.1)
		p.cell(left, height(v)-2, labels-1, 4, p.r.number(v, 0), "R")
	}
	every := rimewatch.Hour
	for i := 1; i < len(x.Curve); i++ {
		every = min(every, x.Curve[i].At-x.Curve[i-1].At)
	}
	for i := range x.Curve {
		c := &x.Curve[i]
		p.fill(at(c.At), y(c.Max), max(at(c.At+every)-at(c.At), 0.2), max(y(c.Min)-y(c.Max), 0.2), band)
	}
	for i := 1; i < len(x.Curve); i++ {
		a, b := &x.Curve[i-1], &x.Curve[i]
		if b.At-a.At <= 3*every+rimewatch.Minute*10 { // nothing was measured in between otherwise
			p.line(at(a.At+every/2), y(a.Mean), at(b.At+every/2), y(b.Mean), accent, 0.45)
		}
	}
	p.dashed(x0, w, y, &x.Limits)
	p.marks(at, y0, h)
	p.SetDrawColor(rule[0], rule[1], rule[2])
	p.SetLineWidth(0.2)
	p.Rect(x0, y0, w, h, "D")
	p.hours(at, y0+h)
	p.y = y0 + h + 4.6
	p.pen(7, false, muted)
	p.paragraph(x0, w, 3.6, p.r.unit()+". "+p.r.say("Line: mean; band: lowest to highest; dashed: limits; shaded: the case; triangles: somebody was told; circles: somebody answered."))
	p.y++
}

// dashed draws limits, each with its value.
func (p *casePage) dashed(x0, w float64, y func(float64) float64, l *rimewatch.Limits) {
	for _, limit := range []*float64{l.TempMin, l.TempMax} {
		if limit == nil {
			continue
		}
		p.SetDashPattern([]float64{1.4, 1}, 0)
		p.line(x0, y(*limit), x0+w, y(*limit), alarm, 0.3)
		p.SetDashPattern(nil, 0)
		p.pen(7, true, alarm)
		p.cell(x0+w-22, y(*limit)-3.9, 21, 3.6, p.r.degrees(*limit, -1)+" "+p.r.unit(), "R")
	}
}

// marks shows along the lower edge when somebody was told and when somebody answered.
func (p *casePage) marks(at func(rimewatch.Time) float64, y0, h float64) {
	for i := range p.d.Told {
		t := &p.d.Told[i]
		if t.At < p.d.From || t.At > p.d.To {
			continue
		}
		x := at(t.At)
		switch {
		case t.Channel != "" && t.Status == rimewatch.DeliverySent:
			p.SetFillColor(ink[0], ink[1], ink[2])
			p.Polygon([]fpdf.PointType{{X: x, Y: y0 + h - 3.4}, {X: x - 1.2, Y: y0 + h - 1.2}, {X: x + 1.2, Y: y0 + h - 1.2}}, "F")
		case t.Kind == rimewatch.TransitionAcknowledged:
			p.SetFillColor(good[0], good[1], good[2])
			p.Circle(x, y0+h-2.2, 1.1, "F")
		}
	}
}

// hours writes times below a curve.
func (p *casePage) hours(at func(rimewatch.Time) float64, y float64) {
	const room = 21.0
	step := rimewatch.Hour
	for _, s := range []rimewatch.Time{3 * rimewatch.Hour, 6 * rimewatch.Hour, 12 * rimewatch.Hour, rimewatch.Day, 2 * rimewatch.Day, 7 * rimewatch.Day, 28 * rimewatch.Day} {
		if at(p.d.From+step)-at(p.d.From) < room {
			step = s
		}
	}
	_, offset := p.d.From.Std().In(p.d.Zone).Zone()
	shift := rimewatch.Time(offset) * rimewatch.Second
	for t := (p.d.From+shift+step-1)/step*step - shift; t <= p.d.To; t += step {
		local := t.Std().In(p.d.Zone)
		text := p.r.Words.Clock(local)
		if step >= rimewatch.Day || local.Hour() == 0 {
			text = p.r.Words.Date(local, false)
		}
		p.pen(7, false, muted)
		p.line(at(t), y, at(t), y+1, rule, 0.2)
		p.cell(at(t)-10, y+0.7, 20, 4, text, "C")
	}
}

// scaleOf returns round bounds around a curve and its limits, in the reader's unit.
func (d *Dossier) scaleOf(x *CaseDevice) (low, high, step float64) {
	of := Device{Limits: x.Limits}
	low, high = math.Inf(1), math.Inf(-1)
	for i := range x.Curve {
		low, high = min(low, x.Curve[i].Min), max(high, x.Curve[i].Max)
	}
	of.Totals = Totals{Min: &low, Max: &high}
	return d.scale(&of)
}

// actions writes the corrective actions, in full.
func (p *casePage) actions() {
	d := p.d
	p.heading(p.r.say("What was done"), 14)
	if len(d.Actions) == 0 {
		p.pen(9.5, true, alarm)
		p.paragraph(left, width, 5, p.r.say("Nothing that was done is on record."))
	}
	for i := range d.Actions {
		p.action(&d.Actions[i])
	}
	for i := range d.Orders {
		o := &d.Orders[i]
		if !o.Status.Unfinished() {
			continue
		}
		p.room(12)
		p.pen(9.5, true, ink)
		p.paragraph(left, width, 5, p.r.sayf("Work order %d is not done yet", o.ID))
		p.definitions(left, width, [][2]string{{p.r.say("What is wrong"), o.Problem}, {p.r.say("Given to"), taker(o)}, {p.r.say("Ordered by"), joined(o.CreatedBy, p.r.moment(o.CreatedAt))}})
	}
}

// taker names who has an order.
func taker(o *rimewatch.WorkOrder) string {
	if o.Assignee == nil {
		return ""
	}
	return joined(o.Assignee.Name, o.Assignee.Firm)
}

// ordered returns an action's line about its work order.
func (p *casePage) ordered(a *rimewatch.CorrectiveAction) [][2]string {
	o := p.d.Order(a)
	if o == nil || o.Result == nil {
		return nil
	}
	there := ""
	if o.OnSiteAt != 0 {
		there = p.r.moment(o.OnSiteAt)
	}
	return [][2]string{
		{p.r.say("Work order"), joined(fmt.Sprint(o.ID), p.r.sayf("by %s", o.CreatedBy), p.r.moment(o.CreatedAt))}, {p.r.say("Given to"), taker(o)}, {p.r.say("On site"), there},
		{p.r.say("Parts"), o.Result.Parts}, {p.r.say("Cost"), o.Result.Cost}, {p.r.say("Remarks"), o.Result.Remarks},
	}
}

func (p *casePage) action(a *rimewatch.CorrectiveAction) {
	p.room(16)
	p.fill(left, p.y+0.4, 0.9, 4.6, accent)
	performed := a.PerformedDoer()
	p.pen(9.5, true, ink)
	p.paragraph(left+3, width-3, 5, p.r.moment(a.PerformedAt)+" · "+p.r.doer(&performed, a.RecordedBy))
	rows := [][2]string{{p.r.say("Done"), a.Action}, {p.r.say("Cause"), a.Cause}, {p.r.say("Prevention"), a.PreventiveAction}, {p.r.say("Product"), a.Product}}
	disposition := p.r.say(dispositions[a.Disposition])
	if a.DispositionDetail != "" {
		disposition = p.r.say(strings.TrimRight(a.DispositionDetail, ". "))
	}
	rows = append(rows, [2]string{p.r.say("Disposition"), disposition}, [2]string{p.r.say("Repair"), a.RepairReference})
	if x := p.d.Device(a.DeviceID); x != nil && p.d.Case.DeviceID == 0 {
		rows = append(rows, [2]string{p.r.say("Unit"), joined(x.Name, x.Serial)})
	}
	rows = append(rows, p.ordered(a)...)
	verified := p.r.say("not verified")
	if v := a.VerifiedDoer(); v != nil {
		verified = p.r.doer(v, a.RecordedBy)
		if a.VerifiedAt != 0 {
			verified = joined(verified, p.r.moment(a.VerifiedAt))
		}
	}
	rows = append(rows, [2]string{p.r.say("Verified by"), verified})
	entered := p.r.sayf("%s by %s", p.r.moment(a.At), a.RecordedBy)
	if a.At-a.PerformedAt > lateEntry {
		entered += ", " + p.r.sayf("%s later", span(int64((a.At-a.PerformedAt)/rimewatch.Second)))
	}
	rows = append(rows, [2]string{p.r.say("Entered"), entered})
	p.definitions(left+3, width-3, rows)
	p.y += 2.5
}

// definitions writes names with texts of as many lines as they need; empty ones are left out.
func (p *casePage) definitions(x, w float64, rows [][2]string) {
	const height = 4.5
	name := 20.0
	p.pen(8.5, false, muted)
	for _, row := range rows {
		name = min(max(name, p.GetStringWidth(p.clean(row[0]))+3), w/3)
	}
	for _, row := range rows {
		if strings.TrimSpace(row[1]) == "" {
			continue
		}
		p.room(height)
		p.pen(8.5, false, muted)
		p.cell(x, p.y, name, height, row[0], "L")
		p.pen(8.5, false, ink)
		p.paragraph(x+name, w-name, height, row[1])
	}
}

var timelineColumns = []column{{"Time", 40, "L"}, {"What", 78, "L"}, {"Who", 60, "L"}}

// shownTold bounds the timeline: an outage of a large site has thousands of lines.
const shownTold = 120

// timeline writes who was notified when, and who answered.
func (p *casePage) timeline() {
	p.heading(p.r.say("Who was told, and who answered"), 14)
	if len(p.d.Told) == 0 {
		p.pen(9.5, false, muted)
		p.paragraph(left, width, 5, p.r.say("No alert belongs to this case, so nobody was told."))
		return
	}
	var rows []tableRow
	for i := range p.d.Told[:min(len(p.d.Told), shownTold)] {
		t := &p.d.Told[i]
		what, who, red := p.toldText(t)
		rows = append(rows, tableRow{cells: []string{p.r.moment(t.At), what, who}, red: []bool{false, red, false}, small: t.Note})
	}
	p.tableOf(timelineColumns, rows, 8, 5)
	if n := len(p.d.Told) - shownTold; n > 0 {
		p.pen(8, false, muted)
		p.paragraph(left, width, 4.2, p.r.Words.Count(n, "%d more entry is not shown.", "%d more entries are not shown."))
	}
}

var happened = map[rimewatch.TransitionKind]string{
	rimewatch.TransitionOpened: "Alert opened", rimewatch.TransitionEscalated: "Alert became critical", rimewatch.TransitionDeescalated: "Alert became a warning",
	rimewatch.TransitionAcknowledged: "Acknowledged", rimewatch.TransitionAckExpired: "Acknowledgement expired", rimewatch.TransitionNoted: "Note",
	rimewatch.TransitionSuppressed: "Explained by another alert", rimewatch.TransitionReleased: "No longer explained by another alert", rimewatch.TransitionFeedback: "Judged",
	rimewatch.TransitionResolved: "Alert ended", rimewatch.TransitionMoved: "Unit moved",
}

func (p *casePage) toldText(t *Told) (what, who string, red bool) {
	if t.Channel == "" && t.Kind != "" {
		what = p.r.say(cmp.Or(happened[t.Kind], string(t.Kind)))
		if l := p.lineOf(t.AlertID); l != nil && (t.Kind == rimewatch.TransitionOpened || t.Kind == rimewatch.TransitionResolved) {
			what += ": " + p.r.Words.Lower(p.r.Words.TypeName(l.Facts.Type))
		}
		return what, t.Actor, false
	}
	switch t.Status {
	case rimewatch.DeliverySent:
		what = p.r.say("Told")
	case rimewatch.DeliveryFailed:
		what, red = p.r.say("Message failed"), true
	default:
		what = p.r.say("Message not sent")
	}
	if t.Level > 0 {
		what += ", " + p.r.sayf("step %d", t.Level+1)
	}
	return what, t.Channel, red
}

func (p *casePage) lineOf(alert int64) *rimewatch.CaseLine {
	for i := range p.d.Case.Lines {
		if l := &p.d.Case.Lines[i]; l.Kind == rimewatch.CaseAlert && l.Ref == alert {
			return l
		}
	}
	return nil
}

// instruments writes by which probe it was measured, and when that was checked.
func (p *casePage) instruments() {
	if len(p.d.Devices) == 0 {
		return
	}
	p.heading(p.r.say("Measured with"), 14)
	for i := range p.d.Devices[:min(len(p.d.Devices), 20)] {
		x := &p.d.Devices[i]
		p.room(10)
		p.pen(9, true, ink)
		p.paragraph(left, width, 5, joined(x.Name, x.Serial))
		k := x.Probe(p.d.Case.From)
		if k == nil {
			p.pen(8.5, true, alarm)
			p.paragraph(left, width, 4.5, p.r.say("No calibration of its product probe is on record."))
			continue
		}
		result := p.r.say("passed")
		if !k.Passed {
			result = p.r.say("failed")
		}
		performed := k.PerformedDoer()
		p.definitions(left, width, [][2]string{
			{p.r.say("Calibrated"), joined(p.r.day(k.PerformedAt), p.r.say(methods[k.Method]), p.r.sayf("by %s", p.r.doer(&performed, k.RecordedBy)))},
			{p.r.say("Result"), joined(result, p.r.sayf("showed %s at %s", p.r.probed(k.Field, k.AsFound), p.r.probed(k.Field, k.Reference)), p.r.sayf("allowed ± %s", p.r.offBy(k.Field, k.PassLimit)))},
			{p.r.say("Reference"), k.ReferenceID},
			{p.r.say("Next due"), p.r.day(k.DueAt)},
		})
		p.y++
	}
}

// files lists the attachments with their hashes, and prints images.
func (p *casePage) files() {
	if len(p.d.Attachments) == 0 {
		return
	}
	p.heading(p.r.say("Attachments"), 14)
	for i := range p.d.Attachments {
		f := &p.d.Attachments[i]
		p.room(10)
		p.pen(9, true, ink)
		p.paragraph(left, width, 4.8, joined(f.Name, bytesText(f.Size), p.r.moment(f.At), f.By.Name))
		p.pen(7, false, muted)
		p.paragraph(left, width, 3.8, fmt.Sprintf("SHA-256 %x", f.SHA256))
		if f.Damaged {
			p.pen(8.5, true, alarm)
			p.paragraph(left, width, 4.5, p.r.say("DAMAGED: what is kept is not what was attached."))
		}
		p.y++
	}
	p.images()
}

// bytesText writes a size.
func bytesText(n int64) string {
	if n < 1<<20 {
		return fmt.Sprintf("%d kB", (n+1023)>>10)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/(1<<20))
}

// images prints photos two in a row, each in its own proportion.
func (p *casePage) images() {
	const gap, most = 6.0, 88.0
	half := (width - gap) / 2
	var row []*CaseFile
	flush := func() {
		if len(row) == 0 {
			return
		}
		tallest := 0.0
		size := func(f *CaseFile) (w, h float64) {
			w, h = half, half*float64(f.Height)/float64(f.Width)
			if h > most {
				w, h = w*most/h, most
			}
			return w, h
		}
		for _, f := range row {
			_, h := size(f)
			tallest = max(tallest, h)
		}
		p.y += 1
		p.room(tallest + 6)
		for i, f := range row {
			w, h := size(f)
			x := left + float64(i)*(half+gap)
			name := fmt.Sprintf("attachment %d", f.ID)
			options := fpdf.ImageOptions{ImageType: strings.TrimPrefix(f.Type, "image/")}
			p.RegisterImageOptionsReader(name, options, bytes.NewReader(f.Data))
			p.ImageOptions(name, x, p.y, w, h, false, options, 0, "")
			p.pen(7.5, false, muted)
			p.cell(x, p.y+h+0.4, half, 4, f.Name, "L")
		}
		p.y += tallest + 6
		row = row[:0]
	}
	for i := range p.d.Attachments {
		if f := &p.d.Attachments[i]; len(f.Data) > 0 && f.Width > 0 {
			if row = append(row, f); len(row) == 2 {
				flush()
			}
		}
	}
	flush()
}

var meanings = map[rimewatch.SignatureMeaning]string{
	rimewatch.MeaningPerformed: "Performed", rimewatch.MeaningReviewed: "Reviewed", rimewatch.MeaningApproved: "Approved",
}

// signatures prints each with name, time and meaning (21 CFR 11.50(b)).
func (p *casePage) signatures() {
	p.heading(p.r.say("Signatures"), 20)
	if len(p.d.Signatures) == 0 {
		p.pen(9.5, false, muted)
		p.paragraph(left, width, 5, p.r.say("Nobody has signed this record."))
		return
	}
	const h, gap = 21.0, 6.0
	half := (width - gap) / 2
	for i := range p.d.Signatures {
		s := &p.d.Signatures[i]
		column := i % 2
		if column == 0 {
			p.room(h + 2)
		}
		x := left + float64(column)*(half+gap)
		p.SetDrawColor(rule[0], rule[1], rule[2])
		p.SetLineWidth(0.3)
		p.Rect(x, p.y, half, h, "D")
		p.pen(8, true, accent)
		p.cell(x+3, p.y+1.6, half-6, 4, strings.ToUpper(p.r.say(meanings[s.Meaning])), "L")
		p.pen(11, true, ink)
		p.cell(x+3, p.y+5.8, half-6, 5.4, s.Name, "L")
		p.pen(8.5, false, muted)
		p.cell(x+3, p.y+11.2, half-6, 4.4, p.r.signedAt(s.At), "L")
		p.pen(6.2, false, muted)
		text := fmt.Sprintf("%x", s.Digest)
		if !s.Whole() {
			p.pen(7, true, alarm)
			text = p.r.say("BROKEN: what was signed has been changed")
		}
		p.cell(x+3, p.y+15.8, half-6, 3.6, text, "L")
		if column == 1 || i == len(p.d.Signatures)-1 {
			p.y += h + 3
		}
	}
}

// signedAt is a moment with the name of the clock: it stands for itself on paper.
func (r *Report) signedAt(t rimewatch.Time) string {
	at := t.Std().In(r.Zone)
	return r.Words.Date(at, true) + ", " + r.Words.Clock(at) + " (" + phrase.ZoneName(at) + ")"
}

// integrity is how anybody can check that the record is what it was.
func (p *casePage) integrity() {
	p.heading(p.r.say("Integrity"), 16)
	p.pen(8.5, false, ink)
	if p.d.Integrity.ChainOK {
		p.paragraph(left, width, 4.4, p.r.say("Every action, verification, attachment and signature above stands in the audit log with its SHA-256, and each entry of the log with that of the entry before it. The chain was verified when this document was made."))
	} else {
		p.pen(9, true, alarm)
		p.paragraph(left, width, 4.6, p.r.say("BROKEN: entries of the audit log, or records that they are about, were changed or removed."))
	}
	p.y++
	p.pen(7, false, muted)
	p.paragraph(left, width, 3.8, p.r.sayf("Newest entry of the log: %s", p.d.Integrity.LastHash))
}
