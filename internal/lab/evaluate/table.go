package evaluate

import (
	"bufio"
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"time"
)

// table is a recording: rows of channels in the order of time.
type table struct {
	channels []string
	times    []time.Time
	rows     [][]float64 // NaN where a value is missing
	labels   map[string][]bool
}

// labelColumns are for scoring and never reach the detector.
var labelColumns = map[string]bool{"anomaly": true, "changepoint": true}

var timeLayouts = []string{time.RFC3339Nano, "2006-01-02 15:04:05", "2006-01-02T15:04:05", "2006.01.02.15.04.05", "2006/01/02 15:04:05"}

func parseTime(s string) (time.Time, bool) {
	for _, l := range timeLayouts {
		if t, err := time.Parse(l, s); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}

// readTable reads a CSV file separated by commas or semicolons whose header
// names a column of time (the first that holds one), label columns and channels.
// A column without a name is a row number and left out.
func readTable(path string) (*table, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("evaluate: %w", err)
	}
	defer func() { _ = f.Close() }()
	buffered := bufio.NewReaderSize(f, 1<<16)
	r := csv.NewReader(buffered)
	if head, _ := buffered.Peek(1 << 12); strings.Contains(strings.SplitN(string(head), "\n", 2)[0], ";") {
		r.Comma = ';'
	}
	records, err := r.ReadAll()
	if err != nil {
		return nil, fmt.Errorf("evaluate: %s: %w", path, err)
	}
	if len(records) < 2 {
		return nil, fmt.Errorf("evaluate: %s: no rows", path)
	}
	return parseTable(path, records[0], records[1:])
}

func parseTable(path string, header []string, records [][]string) (*table, error) {
	t := &table{labels: map[string][]bool{}}
	timeColumn := -1
	var columns []int
	for c, name := range header {
		name = strings.TrimSpace(strings.TrimPrefix(name, "\ufeff"))
		_, isTime := parseTime(strings.TrimSpace(records[0][c]))
		switch {
		case isTime && timeColumn < 0:
			timeColumn = c
		case labelColumns[name]:
			for _, rec := range records {
				v, _ := strconv.ParseFloat(strings.TrimSpace(rec[c]), 64)
				t.labels[name] = append(t.labels[name], v == 1)
			}
		case name != "" && !isTime:
			columns = append(columns, c)
			t.channels = append(t.channels, name)
		}
	}
	if timeColumn < 0 || len(columns) == 0 {
		return nil, fmt.Errorf("evaluate: %s: needs a column with times and one with values", path)
	}
	for i, rec := range records {
		at, ok := parseTime(strings.TrimSpace(rec[timeColumn]))
		if !ok {
			return nil, fmt.Errorf("evaluate: %s: row %d: %q is not a time", path, i, rec[timeColumn])
		}
		row := make([]float64, len(columns))
		for k, c := range columns {
			v, err := strconv.ParseFloat(strings.TrimSpace(rec[c]), 64)
			if err != nil || math.IsInf(v, 0) {
				v = math.NaN()
			}
			row[k] = v
		}
		t.times = append(t.times, at)
		t.rows = append(t.rows, row)
	}
	return t, nil
}
