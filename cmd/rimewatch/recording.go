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
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/client"
)

// recording is a CSV file as readings of one device.
type recording struct {
	rows       []row // by time; at least one
	format     string
	skipped    int      // rows without a time or a measurement
	complaints []string // about the first of those
}

type row struct {
	at     rimewatch.Time
	values client.Measurements
}

// recordingOptions say how to read a file.
type recordingOptions struct {
	Map        map[string]string // field → column; nil = by name
	TimeColumn string            // "" = the first that holds times
	Zone       *time.Location
	Fahrenheit bool
}

// column is a mapped column of the file.
type column struct {
	index int
	name  string
	set   func(m *client.Measurements, text string) error
}

const maxComplaints = 3

// readRecording reads a CSV file with a header line.
func readRecording(in io.Reader, o recordingOptions) (*recording, error) {
	header, records, comma, err := readTable(in)
	if err != nil {
		return nil, err
	}
	timeColumn, err := o.timeColumn(header, records)
	if err != nil {
		return nil, err
	}
	columns, err := o.columns(header, comma != ',')
	if err != nil {
		return nil, err
	}
	texts := make([]string, len(records))
	for i, r := range records {
		texts[i] = cell(r, timeColumn)
	}
	format, parse := sniffTime(texts, o.Zone)
	if parse == nil {
		return nil, fmt.Errorf("column %q contains no times in a known format; the first value is %q", header[timeColumn], firstText(texts))
	}
	rec := &recording{format: format}
	for i, r := range records {
		x, err := readRow(r, texts[i], parse, columns)
		if err != nil {
			rec.complain(i+2, err)
			continue
		}
		rec.rows = append(rec.rows, x)
	}
	if len(rec.rows) == 0 {
		return nil, fmt.Errorf("no row contains a time and a measurement: %s", strings.Join(rec.complaints, "; "))
	}
	slices.SortStableFunc(rec.rows, func(a, b row) int { return cmp.Compare(a.at, b.at) })
	return rec, nil
}

func (rec *recording) complain(line int, err error) {
	rec.skipped++
	if len(rec.complaints) < maxComplaints {
		rec.complaints = append(rec.complaints, fmt.Sprintf("row %d: %v", line, err))
	}
}

var errNoMeasurement = errors.New("it contains no measurement")

func readRow(cells []string, at string, parse func(string) (rimewatch.Time, error), columns []column) (x row, err error) {
	if x.at, err = parse(at); err != nil {
		return x, err
	}
	found := false
	for _, c := range columns {
		text := cell(cells, c.index)
		if absent(text) {
			continue
		}
		if err := c.set(&x.values, text); err != nil {
			return x, fmt.Errorf("%s: %w", c.name, err)
		}
		found = true
	}
	if !found {
		return x, errNoMeasurement
	}
	return x, nil
}

func cell(cells []string, i int) string {
	if i >= len(cells) {
		return ""
	}
	return strings.TrimSpace(cells[i])
}

// absent reports whether a cell is one of the ways of writing nothing.
func absent(text string) bool {
	switch strings.ToLower(text) {
	case "", "-", "na", "n/a", "nan", "null", "none", "nil", "?":
		return true
	}
	return false
}

// readTable reads header and rows of a delimited file.
func readTable(in io.Reader) (header []string, records [][]string, comma rune, err error) {
	b := bufio.NewReaderSize(in, 64<<10)
	if bom, _ := b.Peek(3); bytes.Equal(bom, []byte("\xEF\xBB\xBF")) {
		_, _ = b.Discard(3)
	}
	start, err := b.Peek(64 << 10)
	if len(start) == 0 {
		if errors.Is(err, io.EOF) {
			err = errors.New("the file is empty")
		}
		return nil, nil, 0, err
	}
	comma = sniffComma(start)
	r := csv.NewReader(b)
	r.Comma, r.LazyQuotes, r.FieldsPerRecord = comma, true, -1
	all, err := r.ReadAll()
	if err != nil {
		return nil, nil, 0, err
	}
	if len(all) < 2 {
		return nil, nil, 0, errors.New("there is no row after the header")
	}
	for i := range all[0] {
		all[0][i] = strings.TrimSpace(all[0][i])
	}
	return all[0], all[1:], comma, nil
}

// sniffComma is the delimiter that the first line has most of.
func sniffComma(start []byte) rune {
	line, _, _ := bytes.Cut(start, []byte("\n"))
	best, most := ',', 0
	for _, c := range ",;\t" {
		if n := bytes.Count(line, []byte(string(c))); n > most {
			best, most = c, n
		}
	}
	return best
}

// find is the place of a column, by its exact name or without regard to case.
func find(header []string, name string) int {
	if i := slices.Index(header, name); i >= 0 {
		return i
	}
	return slices.IndexFunc(header, func(h string) bool { return strings.EqualFold(h, name) })
}

func (o *recordingOptions) timeColumn(header []string, records [][]string) (int, error) {
	if o.TimeColumn != "" {
		if i := find(header, o.TimeColumn); i >= 0 {
			return i, nil
		}
		return 0, fmt.Errorf("there is no column %q; there are %s", o.TimeColumn, quoted(header))
	}
	for _, name := range []string{"recorded_at", "timestamp", "datetime", "date_time", "time", "date"} {
		if i := find(header, name); i >= 0 {
			return i, nil
		}
	}
	for i := range header {
		var texts []string
		for _, r := range records[:min(len(records), 100)] {
			texts = append(texts, cell(r, i))
		}
		// A column of plain numbers is more likely a measurement than Unix time.
		if _, err := strconv.ParseFloat(firstText(texts), 64); err == nil {
			continue
		}
		if _, parse := sniffTime(texts, o.Zone); parse != nil {
			return i, nil
		}
	}
	return 0, fmt.Errorf("no column contains times; name one of %s with --time-column", quoted(header))
}

func quoted(names []string) string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = strconv.Quote(n)
	}
	return strings.Join(out, ", ")
}

// columns finds the columns that are mapped.
func (o *recordingOptions) columns(header []string, decimalComma bool) ([]column, error) {
	mapped := o.Map
	if len(mapped) == 0 {
		mapped = make(map[string]string)
		for _, h := range header {
			if name := strings.ToLower(h); setterOf(name, false, false) != nil {
				mapped[name] = h
			}
		}
		if len(mapped) == 0 {
			return nil, fmt.Errorf("no column has the name of a measurement; map some of %s with --map", quoted(header))
		}
	}
	var columns []column
	for _, name := range slices.Sorted(maps.Keys(mapped)) {
		set := setterOf(name, o.Fahrenheit, decimalComma)
		if set == nil {
			return nil, usagef("--map: %q is not a field of a reading", name)
		}
		i := find(header, mapped[name])
		if i < 0 {
			return nil, usagef("--map: there is no column %q; there are %s", mapped[name], quoted(header))
		}
		columns = append(columns, column{i, header[i], set})
	}
	return columns, nil
}

// setterOf returns what puts the text of a cell into a field of a reading; nil
// when there is no such field.
func setterOf(name string, fahrenheit, decimalComma bool) func(*client.Measurements, string) error {
	if f, ok := rimewatch.FieldByName(name); ok {
		toCelsius := fahrenheit && f.Info().Unit == "°C"
		return func(m *client.Measurements, text string) error {
			v, err := parseNumber(text, decimalComma)
			if toCelsius {
				v = math.Round((v-32)/1.8*1e4) / 1e4
			}
			if err == nil && f.Info().Whole && v != math.Trunc(v) {
				err = fmt.Errorf("%q is not a whole number", text)
			}
			m.Set(f, v)
			return err
		}
	}
	switch name {
	case "compressor_on":
		return func(m *client.Measurements, text string) error { return setBool(&m.CompressorOn, text) }
	case "defrost_active":
		return func(m *client.Measurements, text string) error { return setBool(&m.DefrostActive, text) }
	case "door_open":
		return func(m *client.Measurements, text string) error { return setBool(&m.DoorOpen, text) }
	}
	return nil
}

func parseNumber(text string, decimalComma bool) (float64, error) {
	if decimalComma && !strings.Contains(text, ".") {
		text = strings.Replace(text, ",", ".", 1)
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsInf(v, 0) || math.IsNaN(v) {
		return 0, fmt.Errorf("%q is not a number", text)
	}
	return v, nil
}

func setBool(dst **bool, text string) error {
	var v bool
	switch strings.ToLower(text) {
	case "1", "1.0", "true", "t", "yes", "y", "on", "open":
		v = true
	case "0", "0.0", "false", "f", "no", "n", "off", "closed":
	default:
		return fmt.Errorf("%q is neither yes nor no", text)
	}
	*dst = &v
	return nil
}
