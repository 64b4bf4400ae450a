package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/client"
	"github.com/rimewatch/rimewatch/internal/inlet"
)

// recording is a CSV file as readings of one device.
type recording struct {
	rows       []row // by time; at least one
	format     string
	read       []string // which column was taken for what
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
	taken string // for what
	set   func(m *client.Measurements, text string) error
}

const maxComplaints = 3

// readRecording reads a CSV file with a header line.
func readRecording(in io.Reader, o recordingOptions) (*recording, error) {
	t, err := readTable(in, &o)
	if err != nil {
		return nil, err
	}
	format, parse := sniffTime(t.times, zoneIn(t.timeName, o.Zone))
	if parse == nil {
		return nil, fmt.Errorf("column %q contains no times in a known format; the first value is %q", t.timeName, firstText(t.times))
	}
	rec := &recording{format: format}
	for _, c := range t.columns {
		rec.read = append(rec.read, c.taken)
	}
	for i, r := range t.records {
		x, err := readRow(r, t.times[i], parse, t.columns)
		if err != nil {
			rec.complain(t.line+i+1, err)
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
	case "", "-", "--", "na", "n/a", "nan", "null", "none", "nil", "?", "unavailable", "unknown":
		return true
	}
	return false
}

// find is the place of a column, by its exact name or without regard to case.
func find(header []string, name string) int {
	if i := slices.Index(header, name); i >= 0 {
		return i
	}
	return slices.IndexFunc(header, func(h string) bool { return strings.EqualFold(h, name) })
}

// setterOf returns what puts the text of a cell into a field of a reading; nil
// when there is no such field.
func setterOf(name, unit string, decimalComma bool) func(*client.Measurements, string) error {
	if f, ok := rimewatch.FieldByName(name); ok {
		if f.Info().Unit != "°C" {
			unit = ""
		}
		return func(m *client.Measurements, text string) error {
			v, err := parseNumber(text, decimalComma)
			if err == nil && unit != "" {
				v, err = inlet.Convert(f, v, unit)
				v = math.Round(v*1e4) / 1e4
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
