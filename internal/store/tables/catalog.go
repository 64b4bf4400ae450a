package tables

import (
	"fmt"
	"strconv"
	"strings"
)

// Table is a table as both engines have it, for copying a store: every column
// holds a value, never NULL.
type Table struct {
	Name    string
	Columns []Column
	Key     []int // the columns of its primary key, by their place in Columns
	Counted bool  // its ids are counted by the engine, and never given out twice
}

// Column is a column of a Table.
type Column struct {
	Name string
	Kind string // INTEGER, REAL, TEXT or BLOB, as Schema has it
}

// readings are the tables of the log and of chunks, of which the engines keep
// everything but their own places: the ids of chunks, segments, streams.
var readings = []Table{
	{Name: "commit_log", Columns: columns("shard INTEGER", "seq INTEGER", "data BLOB"), Key: []int{1}},
	{Name: "reading_chunk", Columns: columns("device_id INTEGER", "to_at INTEGER", "from_at INTEGER", "n INTEGER", "young INTEGER", "summary BLOB", "data BLOB")},
	{Name: "damaged_chunk", Columns: columns("device_id INTEGER", "to_at INTEGER", "from_at INTEGER", "n INTEGER", "young INTEGER", "found_at INTEGER", "why TEXT", "data BLOB")},
	{Name: "damaged_commit", Columns: columns("seq INTEGER", "found_at INTEGER", "why TEXT", "data BLOB"), Key: []int{0}},
}

func columns(list ...string) (cols []Column) {
	for _, c := range list {
		name, kind, _ := strings.Cut(c, " ")
		cols = append(cols, Column{name, kind})
	}
	return cols
}

// Catalog lists every table of a store, in an order in which references lead to
// rows that are there already.
func Catalog() []Table {
	var list []Table
	var t *Table
	for line := range strings.Lines(Schema) {
		line, _, _ = strings.Cut(strings.TrimRight(line, ",\n"), " --")
		line = strings.TrimRight(line, ",")
		words := strings.Fields(line)
		switch {
		case strings.HasPrefix(line, "CREATE TABLE "):
			list = append(list, Table{Name: words[2]})
			t = &list[len(list)-1]
		case t == nil || !strings.HasPrefix(line, "\t"):
			t = nil
		case words[0] == "PRIMARY":
			for _, name := range strings.FieldsFunc(line[strings.Index(line, "(")+1:strings.Index(line, ")")], func(r rune) bool { return r == ',' || r == ' ' }) {
				t.Key = append(t.Key, t.column(name))
			}
		case words[0] != "UNIQUE":
			t.Columns = append(t.Columns, Column{words[0], words[1]})
			if strings.Contains(line, " PRIMARY KEY") {
				t.Key, t.Counted = []int{len(t.Columns) - 1}, strings.Contains(line, " AUTOINCREMENT")
			}
		}
	}
	return append(list, readings...)
}

func (t *Table) column(name string) int {
	for i := range t.Columns {
		if t.Columns[i].Name == name {
			return i
		}
	}
	panic(fmt.Sprintf("the schema's table %s has no column %s", t.Name, name))
}

// Names are the columns of a table as statements list them.
func (t *Table) Names() string {
	names := make([]string, len(t.Columns))
	for i := range t.Columns {
		names[i] = t.Columns[i].Name
	}
	return strings.Join(names, ", ")
}

// Sliced reports whether a table can be read in slices: its key is of numbers.
func (t *Table) Sliced() bool {
	for _, i := range t.Key {
		if t.Columns[i].Kind != "INTEGER" {
			return false
		}
	}
	return true
}

// Slice is the number of rows that Rows reads at once, of a table whose rows are small.
const Slice = 500

func (t *Table) slice() int {
	if t.Name == "attachment_piece" {
		return 16
	}
	return Slice
}

// Rows calls yield for the rows of a table whose keys follow after (nil = from the
// first), in the order of keys: for so many of them as memory allows, or for all when the
// table is not Sliced and the keys are empty. yield owns its arguments.
func (t *Table) Rows(conn Conn, after []int64, yield func(row []any, key []int64) error) error {
	query, args := "SELECT "+t.Names()+" FROM "+t.Name, []any{}
	if t.Sliced() {
		names := make([]string, len(t.Key))
		for i, c := range t.Key {
			names[i] = t.Columns[c].Name
		}
		by := strings.Join(names, ", ")
		if after != nil {
			query += " WHERE (" + by + ") > (" + Marks(len(names)) + ")"
			for _, v := range after {
				args = append(args, v)
			}
		}
		query += " ORDER BY " + by + " LIMIT " + strconv.Itoa(t.slice())
	}
	return conn.Query(func(row Row) error {
		values := Values(row, t.Columns)
		var key []int64
		if t.Sliced() {
			for _, c := range t.Key {
				key = append(key, values[c].(int64))
			}
		}
		return yield(values, key)
	}, query, args...)
}

// Values are the columns of a row: int64, float64, string or []byte.
func Values(row Row, columns []Column) []any {
	values := make([]any, len(columns))
	for i := range columns {
		switch columns[i].Kind {
		case "INTEGER":
			values[i] = row.ColumnInt64(i)
		case "REAL":
			values[i] = row.ColumnFloat(i)
		case "TEXT":
			values[i] = row.ColumnText(i)
		default:
			values[i] = blob(columnBlob(row, i))
		}
	}
	return values
}

// Marks are the placeholders of n values.
func Marks(n int) string { return "?" + strings.Repeat(", ?", n-1) }
