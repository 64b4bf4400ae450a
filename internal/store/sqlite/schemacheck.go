package sqlite

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/rimewatch/rimewatch/internal/store/tables"
	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// object is a table, an index, a trigger or a view of a file.
type object struct{ kind, name, table, sql string }

// objectsOf returns the objects of a file's schema, in the order in which they were made.
func objectsOf(conn *sqlite.Conn) (list []object, err error) {
	const query = "SELECT type, name, tbl_name, sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY rowid"
	err = sqlitex.ExecuteTransient(conn, query, &sqlitex.ExecOptions{ResultFunc: func(s *sqlite.Stmt) error {
		list = append(list, object{s.ColumnText(0), s.ColumnText(1), s.ColumnText(2), s.ColumnText(3)})
		return nil
	}})
	return list, err
}

// strange returns in how far a file of a version of the schema is not made as this
// program, or those before it, would have made it; nil = it is. unread: tables are among
// what differs. A trigger that somebody
// has added would run with every write, and without a table nothing works. A file of an
// older version is compared as it will be once it is brought up to date, but for its
// triggers, which are made anew then.
func strange(conn *sqlite.Conn, version int) (problems []string, unread bool, err error) {
	found, err := objectsOf(conn)
	if err != nil {
		return nil, false, err
	}
	want, err := made(func(mem *sqlite.Conn) error { return sqlitex.ExecuteScript(mem, schema, nil) })
	if err != nil {
		return nil, false, err
	}
	if version != tables.Current.Version {
		if found, err = upgraded(found, version); err != nil {
			return []string{fmt.Sprintf("it cannot be brought up to date: %v", err)}, true, nil //nolint:nilerr // it is what was asked for
		}
	}
	problems, unread = difference(want, found)
	return problems, unread, nil
}

// made returns the objects of a database that build makes.
func made(build func(*sqlite.Conn) error) (list []object, err error) {
	mem, err := sqlite.OpenConn(":memory:", sqlite.OpenReadWrite|sqlite.OpenCreate)
	if err != nil {
		return nil, err
	}
	defer mem.Close()
	if err := build(mem); err != nil {
		return nil, err
	}
	return objectsOf(mem)
}

// upgraded returns the objects of a file of an older version once it is brought up to
// date.
func upgraded(found []object, version int) ([]object, error) {
	steps, err := tables.Current.Steps(version)
	if err != nil {
		return nil, err
	}
	return made(func(mem *sqlite.Conn) error {
		for _, o := range found {
			if o.kind == "trigger" {
				continue
			}
			if err := sqlitex.ExecuteTransient(mem, o.sql, nil); err != nil {
				return fmt.Errorf("%s %s: %w", o.kind, o.name, err)
			}
		}
		for i := range steps {
			if err := sqlitex.ExecuteScript(mem, steps[i].SQL, nil); err != nil {
				return err
			}
		}
		return sqlitex.ExecuteScript(mem, triggers, nil)
	})
}

func difference(want, found []object) (problems []string, unread bool) {
	byName := func(list []object) map[string]object {
		m := make(map[string]object, len(list))
		for _, o := range list {
			m[o.kind+" "+o.name] = o
		}
		return m
	}
	wanted, there := byName(want), byName(found)
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		o, ok := there[name]
		before := len(problems)
		switch {
		case !ok:
			problems = append(problems, fmt.Sprintf("the %s is missing", name))
		case o.table != wanted[name].table || plainSQL(o.sql) != plainSQL(wanted[name].sql):
			problems = append(problems, fmt.Sprintf("the %s is not as this program makes it", name))
		}
		unread = unread || len(problems) > before && wanted[name].kind == "table"
	}
	for _, name := range slices.Sorted(maps.Keys(there)) {
		if _, ok := wanted[name]; !ok {
			problems = append(problems, fmt.Sprintf("the %s is not of this program", name))
		}
	}
	return problems, unread
}

var (
	remarks = regexp.MustCompile(`--[^\n]*`)
	spaces  = regexp.MustCompile(`\s+`)
	around  = regexp.MustCompile(` ?([(),;]) ?`)
)

// plainSQL returns a statement in a form in which two are equal that make the same: without
// remarks, and the parts of a table in the order of their names, since a column that was
// added stands behind the constraints.
func plainSQL(sql string) string {
	sql = strings.TrimSpace(spaces.ReplaceAllString(remarks.ReplaceAllString(sql, ""), " "))
	sql = around.ReplaceAllString(sql, "$1")
	open, end := strings.IndexByte(sql, '('), strings.LastIndexByte(sql, ')')
	if !strings.HasPrefix(sql, "CREATE TABLE") || open < 0 || end < open {
		return sql
	}
	parts, depth, from := []string(nil), 0, open+1
	for i := open + 1; i <= end; i++ {
		switch {
		case depth == 0 && (sql[i] == ',' || i == end):
			parts = append(parts, sql[from:i])
			from = i + 1
		case sql[i] == '(':
			depth++
		case sql[i] == ')':
			depth--
		}
	}
	slices.Sort(parts)
	return strings.ReplaceAll(sql[:open], `"`, "") + "(" + strings.Join(parts, ",") + sql[end:]
}
