package logfile

import (
	"cmp"
	"errors"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/inlet"
)

// Column is a column that holds a measurement or a state.
type Column struct {
	Heading string
	Name    string // of the measurement or state, as in a reading
	// Unit is the one of the values, as a person writes it; "" where only one can be.
	Unit string
	// Stated reports whether the file says the unit.
	Stated bool
	// N is how many values were taken, and Low and High bound them, in the measurement's own
	// unit.
	N         int
	Low, High float64

	index int
	field rimewatch.Field
	flag  rimewatch.Flag
	state bool
	unit  string // as inlet.Cell takes it
}

// Choice is a sensor that a file has readings of, or a column that may be the product
// temperature.
type Choice struct {
	Value     string
	Rows      int
	Low, High float64 // of its numbers as the file has them; both 0 where there are none

	numbers int
}

// ChoiceError is that a file holds more than one sensor, and does not say which is the one
// of the unit.
type ChoiceError struct {
	Entity  bool // the Choices are values of Options.Entity, and not of Options.Product
	Choices []Choice
}

// Error implements error.
func (e *ChoiceError) Error() string { return e.Sentence().String() }

// Sentence is what the error says.
func (e *ChoiceError) Sentence() rimewatch.Sentence {
	names := make([]string, 0, len(e.Choices))
	for _, c := range e.Choices {
		names = append(names, strconv.Quote(c.Value))
	}
	if len(names) > 8 {
		names = append(names[:8], "…")
	}
	list := strings.Join(names, ", ")
	if e.Entity {
		return rimewatch.Sentencef("has readings of several sensors, and does not say which is the one of this unit: %s", list)
	}
	return rimewatch.Sentencef("has several columns that could be the product temperature: %s", list)
}

// plan is what stands where in a table.
type plan struct {
	table   *table
	time    int // the column of times or of days
	clock   int // of times of day, -1 = they stand with the days
	zone    string
	entity  int    // the column that tells sensors apart, -1 = none
	who     string // the only sensor that counts
	columns []Column
}

// timeNames are headings of times, and dateNames and clockNames those of days and times of
// day, which often stand in columns of their own.
var (
	timeNames  = []string{"recorded_at", "timestamp", "datetime", "date_time", "date/time", "date time", "last_changed", "last_updated"}
	clockNames = []string{"time", "zeit", "uhrzeit", "hora", "heure", "ora", "clock"}
	dateNames  = []string{"date", "datum", "fecha", "data", "day"}
	timeOfDay  = regexp.MustCompile(`^\d{1,2}:\d\d`)
	dayAlone   = regexp.MustCompile(`^(?:\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}|\d{1,2}[- ][A-Za-z]{3}[- ]\d{2,4})$`)
)

// sampled is how many rows are looked at to find out what stands where.
const sampled = 200

// planOf finds out what stands where under a heading.
func planOf(t *table, o *Options) (p *plan, err error) {
	p = &plan{table: t, clock: -1, entity: -1}
	rows := t.sample(sampled)
	if p.time, err = timeColumn(t, rows, o); err != nil {
		return nil, err
	}
	p.zone = t.header[p.time]
	first := firstText(column(rows, p.time))
	switch {
	case timeOfDay.MatchString(first):
		if other := columnLike(t, rows, p.time, dateNames, dayAlone); other >= 0 {
			p.clock, p.time = p.time, other
		}
	case dayAlone.MatchString(plainTime(first)):
		p.clock = columnLike(t, rows, p.time, clockNames, timeOfDay)
	}
	if p.clock >= 0 {
		p.zone += " " + t.header[p.clock] + " " + t.header[p.time]
	}
	return p, p.findColumns(rows, o)
}

// columnLike finds another column whose values have a form, the first of the names before any
// other; -1 = there is none.
func columnLike(t *table, rows [][]string, but int, names []string, form *regexp.Regexp) int {
	found := -1
	for i := range t.header {
		if i == but || !form.MatchString(firstText(column(rows, i))) {
			continue
		}
		if slices.Contains(names, strings.ToLower(t.header[i])) {
			return i
		}
		if found < 0 {
			found = i
		}
	}
	return found
}

func timeColumn(t *table, rows [][]string, o *Options) (int, error) {
	wanted := o.TimeColumn
	if wanted != "" {
		if i := find(t.header, wanted); i >= 0 {
			return i, nil
		}
		return 0, fail("has no column %s; there are %s", strconv.Quote(wanted), list(t.header))
	}
	for _, name := range slices.Concat(timeNames, clockNames, dateNames) {
		if i := find(t.header, name); i >= 0 {
			return i, nil
		}
	}
	for i := range t.header {
		texts := column(rows, i)
		// A column of plain numbers is more likely a measurement than Unix time.
		if _, err := strconv.ParseFloat(firstText(texts), 64); err == nil {
			continue
		}
		if o.sniffed++; o.sniffed > mostSniffed {
			break
		}
		for k := range texts {
			texts[k] = plainTime(texts[k])
		}
		if sniffTime(texts) != nil {
			return i, nil
		}
	}
	return 0, fail("has no column with times; the first line of a table has to name its columns, and a column has to hold times such as 2026-11-20 19:47")
}

// find is the place of a column, by its exact name or without regard to case.
func find(header []string, name string) int {
	if i := slices.Index(header, name); i >= 0 {
		return i
	}
	return slices.IndexFunc(header, func(h string) bool { return strings.EqualFold(h, name) })
}

func firstText(texts []string) string {
	for _, s := range texts {
		if !absent(s) {
			return s
		}
	}
	return ""
}

// list returns names as a sentence has them, the first of very many.
func list(names []string) string {
	out := make([]string, 0, len(names))
	for _, n := range names {
		if n != "" && len(out) < 20 {
			out = append(out, strconv.Quote(clip(n)))
		}
	}
	return strings.Join(out, ", ")
}

// clip bounds a text of the file in a message.
func clip(text string) string {
	const most = 60
	if r := []rune(text); len(r) > most {
		return string(r[:most]) + "…"
	}
	return text
}

// findColumns finds the columns that are mapped, or else those whose headings say what they
// hold.
func (p *plan) findColumns(rows [][]string, o *Options) error {
	t := p.table
	if err := p.findEntity(o); err != nil {
		return err
	}
	mapped := o.Map
	if len(mapped) == 0 {
		var err error
		if mapped, err = p.byHeading(rows, o); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(mapped)) {
		c := Column{Name: name, index: find(t.header, mapped[name])}
		if !c.named() {
			return fail("maps %s, which is not a measurement", strconv.Quote(name))
		}
		if c.index < 0 {
			return fail("has no column %s; there are %s", strconv.Quote(mapped[name]), list(t.header))
		}
		c.Heading = t.header[c.index]
		c.setUnit(p, o)
		p.columns = append(p.columns, c)
	}
	return nil
}

// named finds out which measurement or state a column holds, by its Name.
func (c *Column) named() (ok bool) {
	if c.field, ok = rimewatch.FieldByName(c.Name); !ok {
		c.flag, c.state = rimewatch.FlagByName(c.Name)
	}
	return ok || c.state
}

// setUnit finds out in which unit the values of a column are.
func (c *Column) setUnit(p *plan, o *Options) {
	if c.state {
		return
	}
	_, c.unit, _ = inlet.Heading(p.heading(c.index))
	if !c.field.IsTemperature() {
		if !inlet.Accepts(c.field, c.unit) {
			c.unit = "" // a sign that says something else: Δ%, a share
		}
		return
	}
	if c.unit == "" {
		c.unit = degree(cell(p.table.units, c.index))
	}
	if c.unit == "" {
		c.unit = o.above.unit
	}
	c.Stated = c.unit != ""
	c.unit = strings.ToLower(cmp.Or(c.unit, o.Unit, "C"))
	c.Unit = "°" + letter(c.unit)
	if c.Unit == "°K" {
		c.Unit = "K"
	}
}

// shortName is how some loggers head a temperature.
var shortName = regexp.MustCompile(`^T(?:emp\.?)?(?: ?\d{1,2})?$`)

// errNone means that no heading is that of a measurement.
var errNone = errors.New("no measurement")

// byHeading returns the columns that are called like measurements, or as loggers call them.
func (p *plan) byHeading(rows [][]string, o *Options) (map[string]string, error) {
	t := p.table
	mapped := make(map[string]string)
	headed := make(map[string][]int) // columns whose headings say a measurement
	var degrees, short []int         // columns whose headings say only that they are temperatures
	for i, h := range t.header {
		if i == p.time || i == p.clock || i == p.entity || h == "" {
			continue
		}
		own := Column{Name: strings.ToLower(h)}
		f, unit, named := inlet.Heading(p.heading(i))
		switch {
		case own.named():
			mapped[own.Name] = h
		case named:
			headed[f.String()] = append(headed[f.String()], i)
		case letter(unit) != "":
			degrees = append(degrees, i)
		case shortName.MatchString(h) || degree(cell(t.units, i)) != "":
			short = append(short, i)
		}
	}
	product := rimewatch.ProductZoneTemp.String()
	for _, other := range [][]int{degrees, short, p.alone(rows, o)} {
		if mapped[product] == "" && len(headed[product]) == 0 {
			headed[product] = other
		}
	}
	if o.Product != "" {
		if find(t.header, o.Product) < 0 {
			return nil, fail("has no column %s; there are %s", strconv.Quote(o.Product), list(t.header))
		}
		mapped[product] = o.Product
	}
	for name, columns := range headed {
		if columns = p.withoutTwins(columns); mapped[name] != "" || len(columns) == 0 {
			continue
		}
		if len(columns) == 1 {
			mapped[name] = t.header[columns[0]]
		} else if name == product {
			return nil, &ChoiceError{Choices: p.columnChoices(columns)}
		}
	}
	if len(mapped) == 0 {
		return nil, errNone
	}
	return mapped, nil
}

// heading returns what column i is headed, with what stands beside it: a history of Home
// Assistant has its values under "state", and what they are in another column.
func (p *plan) heading(i int) string {
	h := p.table.header[i]
	if p.who == "" || !strings.EqualFold(h, "state") && !strings.EqualFold(h, "value") {
		return h
	}
	if _, name, ok := strings.Cut(p.who, "."); ok {
		return name
	}
	return p.who
}

// withoutTwins leaves out of one temperature in two units the one that is not in °C.
func (p *plan) withoutTwins(columns []int) []int {
	if len(columns) != 2 {
		return columns
	}
	for k, i := range columns {
		_, unit, _ := inlet.Heading(p.heading(i))
		_, other, _ := inlet.Heading(p.heading(columns[1-k]))
		if letter(unit) == "C" && letter(other) == "F" {
			return columns[k : k+1]
		}
	}
	return columns
}

// alone returns the only column of numbers, where the text above the table states a unit of
// temperature: the unit decides what it is.
func (p *plan) alone(rows [][]string, o *Options) (found []int) {
	if o.above.unit == "" {
		return nil
	}
	for i := range p.table.header {
		if i == p.time || i == p.clock || i == p.entity {
			continue
		}
		numbers, counts, last := 0, true, 0.0
		for k, text := range column(rows, i) {
			v, err := strconv.ParseFloat(decimal(text), 64)
			if err == nil {
				counts = counts && (k == 0 || v == last+1)
				numbers, last = numbers+1, v
			}
		}
		if 2*numbers > len(rows) && (!counts || len(rows) == 1) {
			found = append(found, i)
		}
	}
	if len(found) != 1 {
		return nil
	}
	return found
}

const (
	// mostEntities is how many sensors a file may have.
	mostEntities = 200
	// mostPasses is how often all rows are looked at to find them, under whatever heading.
	mostPasses = 5
	// mostSniffed is how many columns are looked at to find times, under whatever heading.
	mostSniffed = 2000
)

// findEntity finds the column that says which sensor a row is of, where there are several.
func (p *plan) findEntity(o *Options) error {
	for i, h := range p.table.header {
		if i == p.time || i == p.clock || !inlet.TellsApart(h) {
			continue
		}
		if o.passes++; o.passes > mostPasses {
			return errNone
		}
		names, ok := p.entities(i)
		if !ok {
			continue
		}
		if len(names) == 1 {
			p.who = names[0].Value
			if inlet.IsSerial(h) && aName.MatchString(p.who) && o.above.serial == "" {
				o.above.serial = p.who
			}
			continue
		}
		if p.entity, p.who = i, o.Entity; o.Entity == "" {
			return &ChoiceError{Entity: true, Choices: names}
		}
		if !slices.ContainsFunc(names, func(c Choice) bool { return c.Value == o.Entity }) {
			return fail("has no readings of a sensor %s", strconv.Quote(clip(o.Entity)))
		}
		return nil
	}
	if o.Entity != "" && o.Entity != p.who {
		return fail("has no readings of a sensor %s", strconv.Quote(clip(o.Entity)))
	}
	return nil
}

// entities returns the values of a column, with how many rows are theirs, if they may name
// sensors: texts, or few numbers.
func (p *plan) entities(column int) (names []Choice, ok bool) {
	at := make(map[string]int)
	value := slices.IndexFunc(p.table.header, func(h string) bool {
		f, _, named := inlet.Heading(h)
		return named && f == rimewatch.ProductZoneTemp || strings.EqualFold(h, "state") || strings.EqualFold(h, "value")
	})
	rows, numbers := 0, true
	for _, cells := range p.table.rows() {
		name := cell(cells, column)
		if name == "" {
			continue
		}
		rows++
		_, err := strconv.ParseFloat(name, 64)
		numbers = numbers && err == nil
		i, known := at[name]
		if !known {
			if i = len(names); i == mostEntities || len(name) > longHeading {
				return nil, false
			}
			name = strings.Clone(name)
			at[name] = i
			names = append(names, Choice{Value: name})
		}
		names[i].take(cell(cells, value))
	}
	return names, rows > 0 && (!numbers || 2*len(names) <= rows)
}

// columnChoices are columns with what stands in them.
func (p *plan) columnChoices(columns []int) []Choice {
	out := make([]Choice, len(columns))
	for k, i := range columns {
		out[k].Value = p.table.header[i]
	}
	for _, cells := range p.table.rows() {
		for k, i := range columns {
			if text := cell(cells, i); !absent(text) {
				out[k].take(text)
			}
		}
	}
	return out
}

// take counts a value.
func (c *Choice) take(text string) {
	c.Rows++
	v, err := strconv.ParseFloat(decimal(text), 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return
	}
	if c.numbers++; c.numbers == 1 {
		c.Low, c.High = v, v
	}
	c.Low, c.High = min(c.Low, v), max(c.High, v)
}
