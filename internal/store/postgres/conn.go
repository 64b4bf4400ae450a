package postgres

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/rimewatch/rimewatch/internal/store/tables"
)

// session runs statements on a connection: in a transaction when it has a way to
// begin one, otherwise each by itself.
type session struct {
	ctx   context.Context
	conn  *pgx.Conn
	disk  *disk
	begin func(*pgx.Batch) // queues the first statements of a transaction; nil = none, or it has begun
	later pgx.Batch        // queued statements
	begun bool
	once  bool // one round trip is the transaction: nothing can be asked
	given bool // rows were handed out
}

// numbered are statements with PostgreSQL's placeholders, by those with marks.
var numbered sync.Map

// dollars numbers the placeholders of a statement. None of ours has a question
// mark in a text.
func dollars(statement string) string {
	if s, ok := numbered.Load(statement); ok {
		return s.(string)
	}
	var b strings.Builder
	for i, part := range strings.Split(statement, "?") {
		if i > 0 {
			b.WriteByte('$')
			b.WriteString(strconv.Itoa(i))
		}
		b.WriteString(part)
	}
	numbered.Store(statement, b.String())
	return b.String()
}

// bound are arguments as columns take them: truth is a number, as in SQLite.
func bound(args []any) []any {
	for i, a := range args {
		if v, ok := a.(bool); ok {
			args[i] = 0
			if v {
				args[i] = 1
			}
		}
	}
	return args
}

// Query implements tables.Conn.
func (s *session) Query(row func(tables.Row) error, statement string, args ...any) error {
	if s.once {
		return errors.New("a commit of one round trip cannot ask: " + statement)
	}
	s.queue(row, statement, args)
	return s.flush()
}

// Exec implements tables.Conn.
func (s *session) Exec(statement string, args ...any) (n int, err error) {
	if s.once {
		return 0, errors.New("a commit of one round trip cannot ask: " + statement)
	}
	s.start()
	s.later.Queue(dollars(statement), bound(args)...).Exec(func(tag pgconn.CommandTag) error {
		n = int(tag.RowsAffected())
		return nil
	})
	return n, s.flush()
}

// Later implements tables.Conn.
func (s *session) Later(row func(tables.Row) error, statement string, args ...any) error {
	s.queue(row, statement, args)
	return nil
}

func (s *session) queue(row func(tables.Row) error, statement string, args []any) {
	s.start()
	q := s.later.Queue(dollars(statement), bound(args)...)
	if row == nil {
		return
	}
	q.Query(func(rows pgx.Rows) error {
		r := result{rows: rows}
		for rows.Next() {
			r.values, s.given = rows.RawValues(), true
			if err := row(&r); err != nil {
				return err
			}
		}
		return rows.Err()
	})
}

// start queues the beginning of the transaction.
func (s *session) start() {
	if s.begin != nil && !s.begun {
		s.begun = true
		s.begin(&s.later)
	}
}

// flush sends the queued statements and hands out the results.
func (s *session) flush() error {
	if s.later.Len() == 0 {
		return nil
	}
	batch := s.later
	s.later = pgx.Batch{}
	return violation(s.conn.SendBatch(s.ctx, &batch).Close())
}

// violation returns the violated constraint in the terms of package tables.
func violation(err error) error {
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		switch pg.Code {
		case "23505":
			return fmt.Errorf("%w: %w", tables.ErrUnique, err)
		case "23503":
			return fmt.Errorf("%w: %w", tables.ErrForeignKey, err)
		}
	}
	return err
}

// result is the current row of a result.
type result struct {
	rows   pgx.Rows
	values [][]byte
}

// ColumnBool implements tables.Row.
func (r *result) ColumnBool(i int) bool { return r.ColumnInt64(i) != 0 }

// ColumnInt implements tables.Row.
func (r *result) ColumnInt(i int) int { return int(r.ColumnInt64(i)) }

// ColumnInt64 implements tables.Row. True is 1; sums are numeric.
func (r *result) ColumnInt64(i int) (v int64) {
	b, field := r.values[i], &r.rows.FieldDescriptions()[i]
	switch {
	case b == nil:
		return 0
	case field.Format == pgtype.BinaryFormatCode && field.DataTypeOID == pgtype.Int8OID:
		return int64(binary.BigEndian.Uint64(b))
	case field.Format == pgtype.BinaryFormatCode && field.DataTypeOID == pgtype.BoolOID:
		return int64(b[0])
	}
	if err := r.rows.Conn().TypeMap().Scan(field.DataTypeOID, field.Format, b, &v); err != nil {
		panic(fmt.Errorf("column %s is no number: %w", field.Name, err)) // a statement of ours is wrong
	}
	return v
}

// ColumnFloat implements tables.Row.
func (r *result) ColumnFloat(i int) float64 {
	if r.values[i] == nil {
		return 0
	}
	return math.Float64frombits(binary.BigEndian.Uint64(r.values[i]))
}

// ColumnText implements tables.Row.
func (r *result) ColumnText(i int) string { return string(r.values[i]) }

// ColumnLen implements tables.Row.
func (r *result) ColumnLen(i int) int { return len(r.values[i]) }

// ColumnBytes implements tables.Row.
func (r *result) ColumnBytes(i int, into []byte) int { return copy(into, r.values[i]) }

// ColumnName implements tables.Row.
func (r *result) ColumnName(i int) string { return r.rows.FieldDescriptions()[i].Name }
