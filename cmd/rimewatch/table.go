package main

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/inlet"
)

// table is a delimited file.
type table struct {
	header  []string
	line    int // of the header, the first is 1
	records [][]string
	comma   rune

	times    []string // the text of each row's time
	timeName string   // the heading of the times
	columns  []column
}

// readTable reads a delimited file. Loggers write some lines of their own before the
// header: it is the first line in which the columns are found that are wanted.
func readTable(in io.Reader, o *recordingOptions) (*table, error) {
	b := bufio.NewReaderSize(in, 64<<10)
	if bom, _ := b.Peek(3); bytes.Equal(bom, []byte("\xEF\xBB\xBF")) {
		_, _ = b.Discard(3)
	}
	start, err := b.Peek(64 << 10)
	if len(start) == 0 {
		if errors.Is(err, io.EOF) {
			err = errors.New("the file is empty")
		}
		return nil, err
	}
	t := &table{comma: sniffComma(start)}
	r := csv.NewReader(b)
	r.Comma, r.LazyQuotes, r.FieldsPerRecord = t.comma, true, -1
	all, err := r.ReadAll()
	if err != nil {
		return nil, err
	}
	if len(all) < 2 {
		return nil, errors.New("there is no row after the header")
	}
	var first error // what is wrong with the first line
	for i := range all[:min(len(all)-1, mostPreamble)] {
		t.head(all, i)
		err := o.lookUp(t)
		if err == nil || errors.Is(err, errSeveral) {
			return t, err
		}
		if i == 0 {
			first = err
		}
	}
	return nil, first
}

// lookUp finds the columns that are wanted under a header.
func (o *recordingOptions) lookUp(t *table) (err error) {
	if t.times, t.timeName, err = o.timesOf(t); err == nil {
		t.columns, err = o.columnsOf(t)
	}
	return err
}

// mostPreamble is how many lines may stand before the header.
const mostPreamble = 40

// head makes line i, counted from 0, the header.
func (t *table) head(all [][]string, i int) {
	t.header, t.records, t.line = slices.Clone(all[i]), all[i+1:], i+1
	for k := range t.header {
		t.header[k] = strings.TrimSpace(t.header[k])
	}
}

// sniffComma returns the delimiter: a tab or semicolon when most lines have one, which
// may have decimal commas besides.
func sniffComma(start []byte) rune {
	lines := bytes.Split(bytes.TrimSpace(start), []byte("\n"))
	for _, c := range "\t;" {
		n := 0
		for _, line := range lines {
			if bytes.ContainsRune(line, c) {
				n++
			}
		}
		if 2*n > len(lines) {
			return c
		}
	}
	return ','
}

// dateNames and clockNames are headings of days and of times of day, where these are
// columns of their own.
var (
	dateNames  = []string{"date", "datum", "fecha", "data", "day"}
	clockNames = []string{"time", "zeit", "uhrzeit", "hora", "heure", "ora", "clock"}
	timeOfDay  = regexp.MustCompile(`^\d{1,2}:\d\d`)
)

// timesOf returns the text of each row's time and the heading that it has.
func (o *recordingOptions) timesOf(t *table) (texts []string, name string, err error) {
	i, err := o.timeColumn(t)
	if err != nil {
		return nil, "", err
	}
	texts, name = t.column(i), t.header[i]
	day := slices.IndexFunc(t.header, func(h string) bool { return slices.Contains(dateNames, strings.ToLower(h)) })
	clock := slices.IndexFunc(t.header, func(h string) bool { return slices.Contains(clockNames, strings.ToLower(h)) })
	if day < 0 || clock < 0 || i != day && i != clock || !timeOfDay.MatchString(firstText(t.column(clock))) {
		return texts, name, nil
	}
	for k, r := range t.records {
		texts[k] = strings.TrimSpace(cell(r, day) + " " + cell(r, clock))
	}
	return texts, name, nil
}

func (t *table) column(i int) []string {
	texts := make([]string, len(t.records))
	for k, r := range t.records {
		texts[k] = cell(r, i)
	}
	return texts
}

func (o *recordingOptions) timeColumn(t *table) (int, error) {
	if o.TimeColumn != "" {
		if i := find(t.header, o.TimeColumn); i >= 0 {
			return i, nil
		}
		return 0, fmt.Errorf("there is no column %q; there are %s", o.TimeColumn, quoted(t.header))
	}
	for _, name := range append([]string{"recorded_at", "timestamp", "datetime", "date_time", "date/time", "date time", "last_changed", "last_updated"}, append(clockNames, dateNames...)...) {
		if i := find(t.header, name); i >= 0 {
			return i, nil
		}
	}
	for i := range t.header {
		texts := t.column(i)[:min(len(t.records), 100)]
		// A column of plain numbers is more likely a measurement than Unix time.
		if _, err := strconv.ParseFloat(firstText(texts), 64); err == nil {
			continue
		}
		if _, parse := sniffTime(texts, o.Zone); parse != nil {
			return i, nil
		}
	}
	return 0, fmt.Errorf("no column contains times; name one of %s with --time-column", quoted(t.header))
}

// offset finds how far a heading says that its times are ahead of UTC.
var offset = regexp.MustCompile(`(?:GMT|UTC) ?([+-]\d\d:?\d\d)`)

// zoneIn returns the time zone that the heading of times names, or else the other one.
func zoneIn(heading string, other *time.Location) *time.Location {
	m := offset.FindStringSubmatch(heading)
	if m == nil {
		return other
	}
	t, err := time.Parse("-0700", strings.ReplaceAll(m[1], ":", ""))
	if err != nil {
		return other
	}
	return t.Location()
}

func quoted(names []string) string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = strconv.Quote(n)
	}
	return strings.Join(out, ", ")
}

// columnsOf finds the columns that are mapped, or else those whose headings say what they
// hold.
func (o *recordingOptions) columnsOf(t *table) ([]column, error) {
	mapped := o.Map
	if len(mapped) == 0 {
		var err error
		if mapped, err = byHeading(t); err != nil {
			return nil, err
		}
	}
	var columns []column
	for _, name := range slices.Sorted(maps.Keys(mapped)) {
		if setterOf(name, "", false) == nil {
			return nil, usagef("--map: %q is not a field of a reading", name)
		}
		i := find(t.header, mapped[name])
		if i < 0 {
			return nil, usagef("--map: there is no column %q; there are %s", mapped[name], quoted(t.header))
		}
		_, unit, _ := inlet.Heading(t.header[i])
		if unit == "" && o.Fahrenheit {
			unit = "f"
		}
		taken := fmt.Sprintf("%q as %s", t.header[i], name)
		if f, ok := rimewatch.FieldByName(name); ok && f.IsTemperature() {
			taken += " in °" + strings.ToUpper(cmp.Or(unit, "c"))
		}
		columns = append(columns, column{i, t.header[i], taken, setterOf(name, unit, t.comma != ',')})
	}
	return columns, nil
}

// errSeveral is that a file does not say which of its columns is the product temperature.
var errSeveral = errors.New("several columns could be the product temperature")

// byHeading returns the columns that are called like measurements, or as loggers call
// them.
func byHeading(t *table) (map[string]string, error) {
	mapped := make(map[string]string)
	headed := make(map[string][]string) // headings that say a measurement
	var degrees []string                // headings that say only that it is a temperature
	for i, h := range t.header {
		if name := strings.ToLower(h); setterOf(name, "", false) != nil {
			mapped[name] = h
		} else if f, unit, named := inlet.Heading(t.entity(i)); named {
			headed[f.String()] = append(headed[f.String()], h)
		} else if unit == "c" || unit == "f" {
			degrees = append(degrees, h)
		}
	}
	product := rimewatch.ProductZoneTemp.String()
	if mapped[product] == "" && len(headed[product]) == 0 {
		headed[product] = degrees
	}
	for name, headings := range headed {
		switch {
		case mapped[name] != "" || len(headings) == 0:
		case len(headings) == 1:
			mapped[name] = headings[0]
		case name == product:
			return nil, fmt.Errorf("%w: %s; say which with --map %s=…", errSeveral, quoted(headings), product)
		}
	}
	if len(mapped) == 0 {
		return nil, fmt.Errorf("no column has the name of a measurement; map some of %s with --map", quoted(t.header))
	}
	return mapped, nil
}

// entity returns the heading of column i. A history of Home Assistant has its values
// under "state", and what they are beside them.
func (t *table) entity(i int) string {
	id := find(t.header, "entity_id")
	if id < 0 || !strings.EqualFold(t.header[i], "state") {
		return t.header[i]
	}
	names := t.column(id)
	slices.Sort(names)
	if names = slices.Compact(names); len(names) != 1 {
		return ""
	}
	_, name, _ := strings.Cut(names[0], ".")
	return name
}
