package bench

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"unicode/utf8"
)

// table is what a part measured, a column for each size, as Markdown.
type table struct {
	columns []string
	rows    []string // in the order in which they came
	cells   map[[2]string]string
	goals   map[string]string
}

func newTable(columns []string) *table {
	return &table{columns: columns, cells: make(map[[2]string]string), goals: make(map[string]string)}
}

// set fills a cell; goal is what must be reached, "" = nothing is promised.
func (t *table) set(row, column, goal, format string, args ...any) {
	if _, ok := t.goals[row]; !ok {
		t.rows = append(t.rows, row)
	}
	t.goals[row] = goal
	t.cells[[2]string{row, column}] = fmt.Sprintf(format, args...)
}

// write prints the table.
func (t *table) write(w io.Writer) error {
	lines := make([][]string, 0, 1+len(t.rows))
	lines = append(lines, slices.Concat([]string{""}, t.columns, []string{"to reach"}))
	for _, r := range t.rows {
		line := make([]string, 0, 2+len(t.columns))
		line = append(line, r)
		for _, c := range t.columns {
			line = append(line, t.cells[[2]string{r, c}])
		}
		lines = append(lines, append(line, t.goals[r]))
	}
	widths := make([]int, len(lines[0]))
	for _, line := range lines {
		for i, cell := range line {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell), 4)
		}
	}
	var b strings.Builder
	for k, line := range lines {
		for i, cell := range line {
			pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			if i == 0 {
				b.WriteString("| " + cell + pad)
			} else {
				b.WriteString(" | " + pad + cell)
			}
		}
		b.WriteString(" |\n")
		if k > 0 {
			continue
		}
		for i, n := range widths {
			if i == 0 {
				b.WriteString("|" + strings.Repeat("-", n+2))
			} else {
				b.WriteString("|" + strings.Repeat("-", n+1) + ":")
			}
		}
		b.WriteString("|\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// intoDocument puts a text between the marks <!-- growth --> and <!-- end
// growth --> of a Markdown file, so that no number of it is written by hand.
func intoDocument(path, text string) error {
	old, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	const begin, end = "<!-- growth -->", "<!-- end growth -->"
	before, rest, ok := strings.Cut(string(old), begin)
	_, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		return fmt.Errorf("%s has no marks %s and %s", path, begin, end)
	}
	return os.WriteFile(path, []byte(before+begin+"\n"+text+end+after), 0o644)
}
