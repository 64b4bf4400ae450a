package migrate

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"math/bits"
	"slices"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/store/core"
	"github.com/rimewatch/rimewatch/internal/store/tables"
)

// Report is what a comparison found.
type Report struct {
	Tables   int
	Rows     int64
	Devices  int   // with readings in chunks
	Readings int64 // in chunks
	Entries  int64 // of audit trails, whose chains are whole
	// Damage names rows that are not what was once written, in both stores alike.
	Damage []string
	// Differences lists where the stores are not the same. Empty = they are.
	Differences []string
}

// mostNamed bounds the lists of a Report.
const mostNamed = 100

func note(list *[]string, format string, args ...any) {
	if len(*list) < mostNamed {
		*list = append(*list, fmt.Sprintf(format, args...))
	}
}

// DifferentError is the end of a comparison that found differences.
type DifferentError struct{ Report }

func (e *DifferentError) Error() string {
	return fmt.Sprintf("the stores differ: %s", e.Differences[0])
}

// Compare holds two stores against each other: every row of every table by
// number and digest; each device's chunks, readings, first and last moment; the
// counters of ids; and, of the second, the checksums that rows bear and the chains
// of the audit trail. A difference is a *DifferentError.
func Compare(ctx context.Context, a, b Side, progress Progress) (r Report, err error) {
	if err := r.compareCounters(ctx, a, b); err != nil {
		return r, err
	}
	return r, r.compareRows(ctx, a, b, progress)
}

func (r *Report) compareRows(ctx context.Context, a, b Side, progress Progress) error {
	for _, t := range tables.Catalog() {
		all, err := count(ctx, a, &t)
		if err != nil {
			return err
		}
		left, err := summarize(ctx, a, &t, nil, func(n int64) { progress("read", t.Name, n, 2*all) })
		if err != nil {
			return fmt.Errorf("read %s of %s: %w", t.Name, a.Place(), err)
		}
		right, err := summarize(ctx, b, &t, &r.Damage, func(n int64) { progress("read", t.Name, left.rows+n, 2*all) })
		if err != nil {
			return fmt.Errorf("read %s of %s: %w", t.Name, b.Place(), err)
		}
		r.Tables++
		r.Rows += right.rows
		r.compareTable(t.Name, left, right)
	}
	if err := r.verifyAudit(ctx, b); err != nil {
		return err
	}
	if len(r.Differences) > 0 {
		return &DifferentError{*r}
	}
	return nil
}

// summary is a table in short. The digest is the sum of those of its rows: the
// engines sort texts in different ways.
type summary struct {
	rows    int64
	digest  [4]uint64
	devices map[int64]extent
}

// extent is what of a device is in chunks.
type extent struct {
	chunks, readings int64
	first, last      rimewatch.Time
}

func (s *summary) add(row []any) {
	h := sha256.New()
	var buf [9]byte
	for _, v := range row {
		var n uint64
		var b []byte
		switch v := v.(type) {
		case int64:
			n, buf[8] = uint64(v), 'i' //nolint:gosec // its bits
		case float64:
			n, buf[8] = math.Float64bits(v), 'f'
		case string:
			n, buf[8], b = uint64(len(v)), 't', []byte(v)
		case []byte:
			n, buf[8], b = uint64(len(v)), 'b', v
		}
		binary.LittleEndian.PutUint64(buf[:], n)
		h.Write(buf[:])
		h.Write(b)
	}
	sum := h.Sum(nil)
	carry := uint64(0)
	for i := range s.digest {
		s.digest[i], carry = bits.Add64(s.digest[i], binary.LittleEndian.Uint64(sum[8*i:]), carry)
	}
	s.rows++
}

func (s *summary) extend(row []any) {
	if s.devices == nil {
		s.devices = make(map[int64]extent)
	}
	device, to, from, n := row[0].(int64), rimewatch.Time(row[1].(int64)), rimewatch.Time(row[2].(int64)), row[3].(int64)
	e, known := s.devices[device]
	if !known {
		e.first = from
	}
	e.chunks, e.readings, e.first, e.last = e.chunks+1, e.readings+n, min(e.first, from), max(e.last, to)
	s.devices[device] = e
}

// summarize reads a table. damage = nil leaves checksums alone.
func summarize(ctx context.Context, s Side, t *tables.Table, damage *[]string, progress func(rows int64)) (summary, error) {
	var sum summary
	var after []int64
	for {
		before, last := sum.rows, []int64(nil)
		err := s.Rows(ctx, t, after, func(row []any, key []int64) error {
			sum.add(row)
			last = key
			if t.Name == "reading_chunk" {
				sum.extend(row)
			}
			if damage != nil {
				if err := verify(t.Name, row); err != nil {
					note(damage, "%s: %v", t.Name, err)
				}
			}
			return nil
		})
		if err != nil || sum.rows == before {
			return sum, err
		}
		progress(sum.rows)
		if after = last; last == nil {
			return sum, nil
		}
	}
}

// verify holds a row against the checksum that it bears.
func verify(table string, row []any) error {
	number := func(i int) int64 { return row[i].(int64) }
	switch table {
	case "commit_log":
		return core.VerifyLog(store.Seq(number(1)), row[2].([]byte))
	case "reading_chunk":
		sp := core.Span{To: rimewatch.Time(number(1)), From: rimewatch.Time(number(2)), N: int(number(3))}
		if err := core.VerifyChunk(number(0), sp, row[6].([]byte), row[5].([]byte)); err != nil {
			return fmt.Errorf("device %d, %s to %s: %w", number(0), sp.From, sp.To, err)
		}
	case "reading_rollup":
		from, to := rimewatch.Time(number(2)), rimewatch.Time(number(3))
		if err := core.VerifyRollup(number(1), from, to, row[4].([]byte)); err != nil {
			return fmt.Errorf("device %d, %s to %s: %w", number(1), from, to, err)
		}
	case "checkpoint":
		c := core.Checkpoint{Latest: row[2].([]byte), CurrentTemp: row[3].(float64), CurrentTempAt: rimewatch.Time(number(4))}
		c.DeviceID, c.Seq, c.State = number(0), store.Seq(number(1)), row[5].([]byte)
		if err := core.VerifyCheckpoint(&c); err != nil {
			return fmt.Errorf("device %d: %w", number(0), err)
		}
	}
	return nil
}

func (r *Report) compareTable(name string, a, b summary) {
	switch {
	case a.rows != b.rows:
		note(&r.Differences, "%s has %d rows in one and %d in the other", name, a.rows, b.rows)
	case a.digest != b.digest:
		note(&r.Differences, "%s has %d rows in both, but not the same ones", name, a.rows)
	}
	for _, id := range slices.Sorted(maps.Keys(a.devices)) {
		if x, y := a.devices[id], b.devices[id]; x != y {
			note(&r.Differences, "device %d has %d readings from %s to %s in %d chunks in one, %d from %s to %s in %d in the other",
				id, x.readings, x.first, x.last, x.chunks, y.readings, y.first, y.last, y.chunks)
		}
	}
	for id, e := range b.devices {
		if _, there := a.devices[id]; !there {
			note(&r.Differences, "device %d has %d readings in the second alone", id, e.readings)
		}
		r.Devices++
		r.Readings += e.readings
	}
}

// compareCounters compares the numbers that ids are counted from.
func (r *Report) compareCounters(ctx context.Context, a, b Side) error {
	left, err := a.Counters(ctx)
	if err != nil {
		return err
	}
	right, err := b.Counters(ctx)
	if err != nil {
		return err
	}
	for _, t := range tables.Catalog() {
		if left[t.Name] != right[t.Name] {
			note(&r.Differences, "the ids of %s have come to %d in one and %d in the other", t.Name, left[t.Name], right[t.Name])
		}
	}
	return nil
}

// verifyAudit checks the chain of every audit trail.
func (r *Report) verifyAudit(ctx context.Context, s Side) error {
	return s.ReadTables(ctx, func(conn tables.Conn) error {
		entries, broken, err := tables.VerifyTrails(conn)
		r.Entries = entries
		for _, id := range broken {
			note(&r.Damage, "audit: the chain is broken at entry %d", id)
		}
		return err
	})
}
