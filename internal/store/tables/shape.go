package tables

import (
	"context"
	"strings"

	"github.com/rimewatch/rimewatch"
)

// shape maps things of a kind to their table: the columns that are read, inserted and
// updated follows from one list of columns.
type shape[T any] struct {
	table   string
	missing func() error // none was found
	taken   func() error // a unique key is; nil = none can be
	columns func(*T) []column

	selects, inserts, updates string
}

func shapeOf[T any](table string, missing, taken func() error, columns func(*T) []column) shape[T] {
	s := shape[T]{table: table, missing: missing, taken: taken, columns: columns}
	var read, written, marks, set []string
	for _, c := range columns(new(T)) {
		if c.cell != nil {
			read = append(read, c.name)
		}
		if !c.given {
			written, marks = append(written, c.name), append(marks, "?")
		}
		if !c.given && !c.fixed {
			set = append(set, c.name+" = ?")
		}
	}
	s.selects = "SELECT " + strings.Join(read, ", ") + " FROM " + table + " WHERE "
	s.inserts = "INSERT INTO " + table + " (" + strings.Join(written, ", ") + ") VALUES (" + strings.Join(marks, ", ") + ")"
	s.updates = "UPDATE " + table + " SET " + strings.Join(set, ", ") + " WHERE id = ?"
	return s
}

// reader returns the function that reads a row of selects. It binds the columns once for all
// rows.
func (s *shape[T]) reader() func(Row) (T, error) {
	v := new(T)
	cells := s.cells(v)
	return func(row Row) (T, error) {
		*v = *new(T)
		for i, c := range cells {
			if err := c.scan(row, i); err != nil {
				return *v, err
			}
		}
		return *v, nil
	}
}

func (s *shape[T]) cells(x *T) (list []cell) {
	for _, c := range s.columns(x) {
		if c.cell != nil {
			list = append(list, c.cell)
		}
	}
	return list
}

// list returns all that a condition holds for.
func (s *shape[T]) list(conn Conn, where string, args ...any) (list []T, err error) {
	read := s.reader()
	err = conn.Query(func(row Row) error {
		x, err := read(row)
		list = append(list, x)
		return err
	}, s.selects+where, args...)
	if err != nil {
		return nil, err
	}
	return list, nil
}

// find returns the one that a condition holds for.
func (s *shape[T]) find(conn Conn, where string, args ...any) (x T, err error) {
	list, err := s.list(conn, where, args...)
	if err == nil && len(list) == 0 {
		err = s.missing()
	}
	if err != nil {
		return x, err
	}
	return list[0], nil
}

// first is find, and all is list, in a read of its own.
func (s *shape[T]) first(ctx context.Context, t *base, where string, args ...any) (x T, err error) {
	err = t.read(ctx, func(conn Conn) (err error) {
		x, err = s.find(conn, where, args...)
		return err
	})
	return x, err
}

func (s *shape[T]) all(ctx context.Context, t *base, where string, args ...any) (list []T, err error) {
	err = t.read(ctx, func(conn Conn) (err error) {
		list, err = s.list(conn, where, args...)
		return err
	})
	return list, err
}

// insert returns the id of the new row.
func (s *shape[T]) insert(conn Conn, x *T) (int64, error) {
	var taken error
	if s.taken != nil {
		taken = s.taken()
	}
	return insert(conn, taken, s.inserts, s.args(x, func(c column) bool { return !c.given })...)
}

func (s *shape[T]) insertLater(conn Conn, id *int64, x *T) error {
	return insertLater(conn, id, s.inserts, s.args(x, func(c column) bool { return !c.given })...)
}

func (s *shape[T]) updateLater(conn Conn, x *T, id int64) error {
	return conn.Later(nil, s.updates, s.updated(x, id)...)
}

func (s *shape[T]) updated(x *T, id int64) []any {
	return append(s.args(x, func(c column) bool { return !c.given && !c.fixed }), id)
}

func (s *shape[T]) update(conn Conn, x *T, id int64) error {
	_, err := exec(conn, s.updates, s.updated(x, id)...)
	if s.taken != nil {
		err = unique(err, s.taken())
	}
	return err
}

func (s *shape[T]) args(x *T, which func(column) bool) (list []any) {
	for _, c := range s.columns(x) {
		if which(c) {
			list = append(list, c.arg())
		}
	}
	return list
}

// keep makes some columns of x those of old.
func (s *shape[T]) keep(x, old *T, which func(column) bool) {
	were := s.columns(old)
	for i, c := range s.columns(x) {
		if which(c) && c.cell != nil {
			c.cell.keep(were[i].cell)
		}
	}
}

// column is one of a table's.
type column struct {
	name string
	cell // nil: it follows from others, and is never read
	// given columns are set by the engine or another statement; fixed ones are set once.
	given, fixed bool
	value        any // where there is no cell
}

func (c *column) arg() any {
	if c.cell == nil {
		return c.value
	}
	return c.cell.arg()
}

func col(name string, c cell) column        { return column{name: name, cell: c} }
func given(name string, c cell) column      { return column{name: name, cell: c, given: true} }
func fixed(name string, c cell) column      { return column{name: name, cell: c, fixed: true} }
func derived(name string, value any) column { return column{name: name, value: value} }

// unused is a column that the present version fills once and never reads.
func unused(name string, value any) column { return column{name: name, value: value, fixed: true} }

// as is columns of a table that a query joins with others, by its name there.
func as(name string, list []column) []column {
	for i := range list {
		list[i].name, list[i].given = name+"."+list[i].name, true
	}
	return list
}

// cell is where the value of a column stands in a thing.
type cell interface {
	arg() any // as a statement takes it
	scan(row Row, i int) error
	keep(old cell) // takes the value of another of the same type
}

type textCell[S ~string] struct{ p *S }

func text[S ~string](p *S) cell                 { return textCell[S]{p} }
func (c textCell[S]) arg() any                  { return string(*c.p) }
func (c textCell[S]) scan(row Row, i int) error { *c.p = S(row.ColumnText(i)); return nil }
func (c textCell[S]) keep(old cell)             { *c.p = *old.(textCell[S]).p }
func nameKey(name string) column                { return derived("name_key", rimewatch.TextKey(name)) }

type integer interface{ ~int | ~int64 | ~uint32 }

type numberCell[N integer] struct{ p *N }

func number[N integer](p *N) cell                 { return numberCell[N]{p} }
func (c numberCell[N]) arg() any                  { return int64(*c.p) }
func (c numberCell[N]) scan(row Row, i int) error { *c.p = N(row.ColumnInt64(i)); return nil }
func (c numberCell[N]) keep(old cell)             { *c.p = *old.(numberCell[N]).p }

type floatCell struct{ p *float64 }

func float(p *float64) cell                   { return floatCell{p} }
func (c floatCell) arg() any                  { return *c.p }
func (c floatCell) scan(row Row, i int) error { *c.p = row.ColumnFloat(i); return nil }
func (c floatCell) keep(old cell)             { *c.p = *old.(floatCell).p }

type flagCell struct{ p *bool }

func flag(p *bool) cell                      { return flagCell{p} }
func (c flagCell) arg() any                  { return *c.p }
func (c flagCell) scan(row Row, i int) error { *c.p = row.ColumnBool(i); return nil }
func (c flagCell) keep(old cell)             { *c.p = *old.(flagCell).p }

type hashCell struct{ p *[32]byte }

func hash(p *[32]byte) cell                  { return hashCell{p} }
func (c hashCell) arg() any                  { return c.p[:] }
func (c hashCell) scan(row Row, i int) error { row.ColumnBytes(i, c.p[:]); return nil }
func (c hashCell) keep(old cell)             { *c.p = *old.(hashCell).p }

type bytesCell struct{ p *[]byte }

func bytes(p *[]byte) cell                    { return bytesCell{p} }
func (c bytesCell) arg() any                  { return blob(*c.p) }
func (c bytesCell) scan(row Row, i int) error { *c.p = columnBlob(row, i); return nil }
func (c bytesCell) keep(old cell)             { *c.p = *old.(bytesCell).p }

type sitesCell struct{ p *rimewatch.Sites }

func sites(p *rimewatch.Sites) cell { return sitesCell{p} }
func (c sitesCell) arg() any        { return c.p.Text() }
func (c sitesCell) scan(row Row, i int) error {
	*c.p = rimewatch.ParseSites(row.ColumnText(i))
	return nil
}
func (c sitesCell) keep(old cell) { *c.p = *old.(sitesCell).p }

// documentCell is kept as JSON.
type documentCell[T any] struct{ p *T }

func document[T any](p *T) cell                     { return documentCell[T]{p} }
func (c documentCell[T]) arg() any                  { return asJSON(*c.p) }
func (c documentCell[T]) scan(row Row, i int) error { return fromJSON(row, i, c.p) }
func (c documentCell[T]) keep(old cell)             { *c.p = *old.(documentCell[T]).p }
