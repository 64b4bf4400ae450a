package logfile

import (
	"cmp"
	"errors"
	"iter"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/inlet"
)

// Options say how to read a file, where it does not say so itself.
type Options struct {
	Map        map[string]string // measurement → heading; nil = by the headings
	Product    string            // heading of the product temperature; "" = by the headings
	TimeColumn string            // "" = the first that holds times
	Entity     string            // the sensor that counts, of several; "" = the only one
	Zone       *time.Location    // of times without one; nil = UTC
	Unit       string            // of temperatures without one, C, F or K; "" = C

	above   preamble
	passes  int // over all rows
	sniffed int // columns
}

// File is what a file holds.
type File struct {
	Encoding string
	Form     string         // of the times, as people write it
	Serial   string         // of the logger, as the file states it; "" = it does not
	Zone     *time.Location // of times without one
	ZoneSaid string         // how the file states the zone, "" = it does not
	Absolute bool           // each time says its moment itself
	Columns  []Column
	Unused   []string // headings of columns that nothing was taken from
	Entity   string   // the sensor that was read, where the file names it

	// Sent is how many rows the table has. Each is one of Rows or counted in one of LeftOut.
	Sent    int
	Rows    []Row    // by time
	LeftOut []Reason // why the other rows are no readings
	Cells   []Reason // why values of rows that are, are no measurements

	values []float64 // of each row as many as there are columns
}

// Row is a row that is a reading.
type Row struct {
	At   rimewatch.Time
	Line int32 // of the file, the first is 1

	from   int32 // of its values, in rows
	faults rimewatch.Fields
	flags  rimewatch.Flags
}

// Read reads a file. Its errors say in English what is wrong with it; SentenceOf returns them
// as sentences, and a ChoiceError asks which of several sensors is meant.
func Read(file []byte, o Options) (*File, error) {
	text, encoding, err := decode(file)
	if err != nil {
		return nil, err
	}
	t := newTable(text)
	p, err := t.plan(&o)
	if err != nil {
		return nil, err
	}
	f := &File{Encoding: encoding, Columns: p.columns, Entity: p.who, Serial: o.above.serial}
	if err := f.read(p, &o); err != nil {
		return nil, err
	}
	for i, h := range t.header {
		if h != "" && i != p.time && i != p.clock && i != p.entity && !slices.ContainsFunc(p.columns, func(c Column) bool { return c.index == i }) {
			f.Unused = append(f.Unused, h)
		}
		if m := inHeading.FindStringSubmatch(h); m != nil && f.Serial == "" {
			f.Serial = m[1]
		}
	}
	return f, nil
}

// plan finds the heading of the table: the first line under which the columns stand that are
// wanted.
func (t *table) plan(o *Options) (*plan, error) {
	var first error // what is wrong under the first line
	none := -1      // the first line under which there are times and no measurement
	read := 0       // lines of the preamble
	for i := range t.candidates {
		t.head(i)
		if i < read { // candidates begin anew
			o.above, read = preamble{}, 0
		}
		o.above.read(t.lines[read:i], t.comma)
		read = i
		p, err := planOf(t, o)
		var several *ChoiceError
		switch {
		case err == nil || errors.As(err, &several):
			return p, err
		case errors.Is(err, errNone) && none < 0:
			none = i
		case first == nil:
			first = err
		}
	}
	if none >= 0 {
		t.head(none)
		return nil, fail("has no column with the name of a measurement, such as Temperature (°C); there are %s", list(t.header))
	}
	if first == nil {
		first = fail("is no table: there is no row below its first line")
	}
	return nil, first
}

// rows yields the rows of a table by their lines, counted from 1. The cells are valid until
// the next.
func (t *table) rows() iter.Seq2[int, []string] {
	return func(yield func(int, []string) bool) {
		var cells []string
		for i := t.begin; i < len(t.lines); i++ {
			if strings.Trim(t.lines[i], " \t\r,;|\"\x1a\f") == "" {
				continue
			}
			cells = split(t.lines[i], t.comma, cells[:0])
			if !yield(i+1, cells) {
				return
			}
		}
	}
}

// timeOf returns the text of a row's time.
func (p *plan) timeOf(cells []string) string {
	text := cell(cells, p.time)
	if p.clock >= 0 {
		text += " " + cell(cells, p.clock)
	}
	return plainTime(text)
}

// read reads the rows of a table.
func (f *File) read(p *plan, o *Options) error {
	var texts []string
	for _, cells := range p.table.rows() {
		if p.entity < 0 || cell(cells, p.entity) == p.who {
			texts = append(texts, p.timeOf(cells))
		}
	}
	if len(texts) == 0 {
		return fail("is no table: there is no row below its first line")
	}
	form := sniffTime(texts)
	if form == nil {
		return fail("has no times in a known form in the column %s; the first is %s", quote(p.table.header[p.time]), quote(firstText(texts)))
	}
	f.Form, f.Absolute = form.name, form.absolute
	f.setZone(p, o)
	stamps := make([]stamp, len(texts))
	for i, s := range texts {
		if at, ok := form.parse(s); ok && form.absolute {
			stamps[i] = stamp{at, at}
		} else if ok {
			stamps[i].wall = at
		}
	}
	if !form.absolute {
		place(stamps, f.Zone)
	}
	f.take(p, texts, stamps)
	if len(f.Rows) == 0 {
		return fail("has no row with a time and a measurement: %s", f.LeftOut[0].Text)
	}
	slices.SortStableFunc(f.Rows, func(a, b Row) int { return cmp.Compare(a.At, b.At) })
	return nil
}

func quote(text string) string { return `"` + clip(text) + `"` }

// setZone finds out of which zone the times are: a heading goes before the text above the
// table, and that before the caller.
func (f *File) setZone(p *plan, o *Options) {
	f.Zone = o.Zone
	if f.Zone == nil {
		f.Zone = time.UTC
	}
	if m := offset.FindStringSubmatch(p.zone); m != nil {
		if zone := fixed(m); zone != nil {
			f.Zone, f.ZoneSaid = zone, m[0]
			return
		}
	}
	if o.above.zone != nil {
		f.Zone, f.ZoneSaid = o.above.zone, o.above.said
	}
}

// take makes readings of the rows, and names those that are none.
func (f *File) take(p *plan, texts []string, stamps []stamp) {
	var rows, cellsOut reasons
	k := 0
	for line, cells := range p.table.rows() {
		f.Sent++
		if p.entity >= 0 && cell(cells, p.entity) != p.who {
			rows.add(line, rimewatch.Sentencef("is of another sensor"))
			continue
		}
		text, at := texts[k], stamps[k]
		k++
		switch {
		case slices.ContainsFunc(cells[min(len(cells), len(p.table.header)):], func(s string) bool { return s != "" }):
			rows.add(line, rimewatch.Sentencef("has more cells than the heading: a decimal comma needs another separator between the cells"))
			continue
		case absent(text):
			rows.add(line, rimewatch.Sentencef("has no time"))
			continue
		case at.wall == 0:
			rows.add(line, rimewatch.Sentencef("has a time in another form than the others, which are %s", f.Form))
			continue
		case at.at == 0:
			rows.add(line, rimewatch.Sentencef("has a time that the clocks skip in this time zone: another one may be right, or the logger does not change to summer time"))
			continue
		}
		f.row(line, cells, at.at, &rows, &cellsOut)
	}
	f.LeftOut, f.Cells = rows, cellsOut
}

// row takes the measurements of a row that has a time.
func (f *File) row(line int, cells []string, at rimewatch.Time, rows, cellsOut *reasons) {
	var r rimewatch.Reading
	type bad struct {
		c *Column
		s string
	}
	var wrong []bad
	for i := range f.Columns {
		c := &f.Columns[i]
		text := cell(cells, c.index)
		if absent(text) {
			continue
		}
		var problem string
		if c.state {
			problem = inlet.FlagCell(&r, c.flag, text)
		} else {
			problem = inlet.Cell(&r, c.field, decimal(text), c.unit)
		}
		if problem != "" {
			wrong = append(wrong, bad{c, problem})
		}
	}
	into := cellsOut
	if r.Empty() {
		into = rows
		if len(wrong) == 0 {
			rows.add(line, rimewatch.Sentencef("has no measurement"))
			return
		}
		wrong = wrong[:1] // a row is left out once
	}
	for _, w := range wrong {
		into.add(line, rimewatch.Sentencef("%s %s", clip(w.c.Heading), rimewatch.SentenceOf(w.s)))
	}
	if r.Empty() {
		return
	}
	f.Rows = append(f.Rows, Row{At: at, Line: int32(line), from: int32(len(f.values) / len(f.Columns)), faults: r.Faults, flags: r.Flags})
	for i := range f.Columns {
		c := &f.Columns[i]
		v, ok := r.Value(c.field)
		if c.state || !ok {
			v = math.NaN()
		} else {
			c.count(v)
		}
		f.values = append(f.values, v)
	}
}

func (c *Column) count(v float64) {
	if c.N == 0 || v < c.Low {
		c.Low = v
	}
	if c.N == 0 || v > c.High {
		c.High = v
	}
	c.N++
}

// Reading returns a row as a reading.
func (f *File) Reading(row *Row) (r rimewatch.Reading) {
	r.At, r.Faults, r.Flags = row.At, row.faults, row.flags
	for i := range f.Columns {
		if v := f.values[int(row.from)*len(f.Columns)+i]; !math.IsNaN(v) {
			r.Set(f.Columns[i].field, v)
		}
	}
	return r
}

// absent reports whether a cell is one of the ways of writing nothing.
func absent(text string) bool {
	if strings.Trim(text, "-.–—*_? ") == "" {
		return true
	}
	if len(text) > len("unavailable") {
		return false
	}
	switch strings.ToLower(text) {
	case "na", "n/a", "nan", "null", "none", "nil", "unavailable", "unknown":
		return true
	}
	return false
}

// decimal returns a number with a point and a plain minus.
func decimal(text string) string {
	if strings.Count(text, ",") == 1 && !strings.Contains(text, ".") {
		text = strings.Replace(text, ",", ".", 1)
	}
	if rest, ok := strings.CutPrefix(text, "−"); ok {
		return "-" + rest
	}
	return text
}

// Gap is a time in which a logger wrote nothing.
type Gap struct{ From, To rimewatch.Time }

// Gaps returns the steps between rows that are much longer than most are.
func (f *File) Gaps() (gaps []Gap) {
	steps := make([]rimewatch.Time, 0, len(f.Rows))
	for i := 1; i < len(f.Rows); i++ {
		if step := f.Rows[i].At - f.Rows[i-1].At; step > 0 {
			steps = append(steps, step)
		}
	}
	if len(steps) < 2 {
		return nil
	}
	sorted := slices.Sorted(slices.Values(steps))
	usual := sorted[len(sorted)/2]
	for i := 1; i < len(f.Rows); i++ {
		if from, to := f.Rows[i-1].At, f.Rows[i].At; 2*(to-from) > 5*usual {
			gaps = append(gaps, Gap{from, to})
		}
	}
	return gaps
}
