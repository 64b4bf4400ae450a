package logfile

import (
	"fmt"
	"regexp"
	"strings"
)

// table is the part of a text that is one.
type table struct {
	lines  []string // of the text
	comma  byte
	at     int      // of the heading in lines
	header []string // of its cells
	units  []string // of the row below it that has units alone; nil = there is none
	begin  int      // of the rows in lines
}

const (
	// looked is how many lines are looked at to find the separator and the heading.
	looked = 5000
	// tried is how many of the first lines may be the heading in any case.
	tried = 40
	// mostHeadings is how many of the others may be.
	mostHeadings = 100
	// mostCells is how many cells a line has; what follows belongs to the last.
	mostCells = 512
	// longHeading is more than any heading takes, in bytes; longTime is for a time.
	longHeading, longTime = 300, 50
)

// newTable finds out what separates the cells of a text.
func newTable(text string) *table {
	t := &table{lines: strings.Split(text, "\n"), comma: ','}
	most := 0
	var cells []string
	for _, comma := range "\t;,|" {
		n := 0
		for _, line := range t.lines[:min(len(t.lines), looked)] {
			if strings.IndexByte(line, byte(comma)) < 0 {
				continue
			}
			if cells = split(line, byte(comma), cells[:0]); isRow(cells) {
				n++
			}
		}
		if n > most {
			t.comma, most = byte(comma), n
		}
	}
	return t
}

// aTime is a cell that holds a date, a time of day or the seconds since 1970.
var aTime = regexp.MustCompile(`^(?:\d{4}[-/.年]\d{1,2}[-/.月]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}|\d{1,2}[- ][A-Za-z]{3}|[A-Za-z]{3} \d{1,2}, ?\d{4}|\d{1,2}:\d\d|1\d{9}(?:\d{3})?(?:\.\d+)?$)`)

// isRow reports whether cells may be a row: they have a time and something else.
func isRow(cells []string) bool {
	if len(cells) < 2 {
		return false
	}
	for _, c := range cells {
		if len(c) >= 4 && len(c) <= longTime && aTime.MatchString(c) {
			return true
		}
	}
	return false
}

// candidates yields the lines that may be the heading: those above a row, then any of the
// first.
func (t *table) candidates(yield func(i int) bool) {
	var cells []string
	above, n := -1, 0 // the last line with something in it that is no row, and how many there were
	for i, line := range t.lines[:min(len(t.lines), looked)] {
		if strings.TrimSpace(line) == "" {
			continue
		}
		cells = split(line, t.comma, cells[:0])
		switch {
		case isRow(cells):
			if above >= 0 {
				if n++; n > mostHeadings || !yield(above) {
					return
				}
			}
			above = -1
		case above < 0 || !areUnits(cells):
			above = i
		}
	}
	for i := range min(len(t.lines), tried) {
		if strings.TrimSpace(t.lines[i]) != "" && !yield(i) {
			return
		}
	}
}

// areUnits reports whether a line has units and nothing else.
func areUnits(cells []string) (found bool) {
	for _, c := range cells {
		if len(c) > 12 || strings.ContainsAny(c, "0123456789") {
			return false
		}
		found = found || degree(c) != ""
	}
	return found
}

// head makes a line the heading. Columns that are headed alike are numbered.
func (t *table) head(i int) {
	t.at, t.begin, t.units = i, i+1, nil
	t.header = split(t.lines[i], t.comma, nil)
	count := make(map[string]int)
	for k, h := range t.header {
		if len(h) > longHeading {
			h = strings.ToValidUTF8(h[:longHeading], "")
			t.header[k] = h
		}
		if count[h]++; count[h] > 1 && h != "" {
			t.header[k] = fmt.Sprintf("%s (%d)", h, count[h])
		}
	}
	for k := t.begin; k < len(t.lines); k++ {
		if strings.TrimSpace(t.lines[k]) == "" {
			continue
		}
		if cells := split(t.lines[k], t.comma, nil); areUnits(cells) {
			t.units, t.begin = cells, k+1
		}
		return
	}
}

// sample returns the cells of the first rows.
func (t *table) sample(n int) (rows [][]string) {
	for i := t.begin; i < len(t.lines) && len(rows) < n; i++ {
		if strings.TrimSpace(t.lines[i]) != "" {
			rows = append(rows, split(t.lines[i], t.comma, nil))
		}
	}
	return rows
}

// column returns a column of sampled rows.
func column(rows [][]string, i int) []string {
	texts := make([]string, len(rows))
	for k, r := range rows {
		texts[k] = cell(r, i)
	}
	return texts
}

func cell(cells []string, i int) string {
	if i < 0 || i >= len(cells) {
		return ""
	}
	return cells[i]
}

// split appends the cells of a line without the spaces around them. A cell in quotation
// marks may hold separators, and a doubled mark is one.
func split(line string, comma byte, into []string) []string {
	line = strings.TrimSuffix(line, "\r")
	for {
		end := strings.IndexByte(line, comma)
		if begin := strings.TrimLeft(line, " "); strings.HasPrefix(begin, `"`) && (end < 0 || len(line)-len(begin) < end) {
			text, rest := quoted(begin[1:])
			into = append(into, strings.TrimSpace(text))
			end = strings.IndexByte(rest, comma)
			line = rest
		} else if end < 0 || len(into) == mostCells-1 {
			return append(into, strings.TrimSpace(line))
		} else {
			into = append(into, strings.TrimSpace(line[:end]))
		}
		if end < 0 {
			return into
		}
		line = line[end+1:]
	}
}

// quoted returns the text up to the closing mark, and what is behind it.
func quoted(s string) (text, rest string) {
	for at := 0; ; {
		i := strings.IndexByte(s[at:], '"')
		if i < 0 {
			return s, ""
		}
		i += at
		if i+1 < len(s) && s[i+1] == '"' {
			at = i + 2
			continue
		}
		return strings.ReplaceAll(s[:i], `""`, `"`), s[i+1:]
	}
}
