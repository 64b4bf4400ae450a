package sqlite

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store/chunk"
	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// The bytes of a chunk lie in segments of a size of which eight fill a page:
// as one blob of some kilobytes each, chunks left a third of their pages empty.
// The segments of a chunk have consecutive ids; the first one names the chunk.
//
// Chunks that will be merged soon are young and have their segments in a table
// of their own: what comes and goes leaves its holes there, and the table of
// those that stay is written from one end to the other.
const segmentSize = 498

// A chunk is young while it has fewer readings than this and its day is not
// over for it.
const grown = 1000

// span is a chunk's place: on the time line and in the file.
type span struct {
	id       int64 // of its first segment
	segments int
	young    bool
	from, to rimewatch.Time
	n        int // readings
}

func byBeginning(a, b span) int {
	return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to), cmp.Compare(a.id, b.id))
}

const spanColumns = "segment, segments, young, from_at, to_at, n"

func scanSpan(stmt *sqlite.Stmt) span {
	return span{
		id: stmt.ColumnInt64(0), segments: stmt.ColumnInt(1), young: stmt.ColumnBool(2),
		from: rimewatch.Time(stmt.ColumnInt64(3)), to: rimewatch.Time(stmt.ColumnInt64(4)), n: stmt.ColumnInt(5),
	}
}

// segmentTable is where the segments of young and of grown chunks lie.
func segmentTable(young bool) string {
	if young {
		return "young_segment"
	}
	return "chunk_segment"
}

// spans lists a device's chunks that touch [from, to), by their beginning.
func spans(conn *sqlite.Conn, deviceID int64, from, to rimewatch.Time) ([]span, error) {
	var out []span
	err := sqlitex.Execute(conn, "SELECT "+spanColumns+" FROM reading_chunk WHERE device_id = ? AND to_at >= ? AND from_at < ?", &sqlitex.ExecOptions{
		Args: []any{deviceID, int64(from), int64(to)},
		ResultFunc: func(stmt *sqlite.Stmt) error {
			out = append(out, scanSpan(stmt))
			return nil
		},
	})
	slices.SortFunc(out, byBeginning)
	return out, err
}

// clusters groups spans that overlap: between two clusters readings need no
// merging, so that one cluster at a time is in memory.
func clusters(list []span) [][]span {
	var out [][]span
	end := rimewatch.Time(-1)
	for i := range list {
		if list[i].from > end {
			out = append(out, list[i:i])
		}
		last := len(out) - 1
		out[last] = out[last][:len(out[last])+1]
		end = max(end, list[i].to)
	}
	return out
}

// newChunk is a chunk on its way into the file.
type newChunk struct {
	from, to rimewatch.Time
	n        int
	summary  []byte
	data     []byte
}

// encodeChunks packs sorted readings, at most a day of UTC to a chunk.
func encodeChunks(rs []rimewatch.Reading) []newChunk {
	var out []newChunk
	for len(rs) > 0 {
		day := rs[0].At / rimewatch.Day
		n := 1
		for n < len(rs) && n < chunkReadings && rs[n].At/rimewatch.Day == day {
			n++
		}
		summary := chunk.Summarize(rs[:n])
		out = append(out, newChunk{
			from: rs[0].At, to: rs[n-1].At, n: n,
			summary: summary.Append(nil),
			data:    chunk.Encode(nil, rs[:n]),
		})
		rs = rs[n:]
	}
	return out
}

// saveChunk writes a chunk inside a transaction of the writer.
func saveChunk(conn *sqlite.Conn, deviceID int64, c *newChunk, young bool) error {
	stmt, err := conn.Prepare("INSERT INTO " + segmentTable(young) + " (data) VALUES (?)")
	if err != nil {
		return err
	}
	first, n := int64(0), 0
	for part := range slices.Chunk(c.data, segmentSize) {
		stmt.BindBytes(1, part)
		_, err := stmt.Step()
		if err := errors.Join(err, stmt.Reset()); err != nil {
			return err
		}
		// One writer inserts them one after the other at the end of the table.
		if id := conn.LastInsertRowID(); n == 0 {
			first = id
		} else if id != first+int64(n) {
			return fmt.Errorf("segment %d does not follow %d", id, first+int64(n)-1)
		}
		n++
	}
	return sqlitex.Execute(conn, "INSERT INTO reading_chunk (device_id, to_at, young, segment, segments, from_at, n, summary) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
		&sqlitex.ExecOptions{Args: []any{deviceID, int64(c.to), young, first, n, int64(c.from), c.n, c.summary}})
}

// deleteChunk deletes a chunk that is there: what replaces it was made from it.
func deleteChunk(conn *sqlite.Conn, deviceID int64, sp span) error {
	if err := sqlitex.Execute(conn, "DELETE FROM reading_chunk WHERE device_id = ? AND to_at = ? AND young = ? AND segment = ?",
		&sqlitex.ExecOptions{Args: []any{deviceID, int64(sp.to), sp.young, sp.id}}); err != nil {
		return err
	}
	if conn.Changes() != 1 {
		return fmt.Errorf("chunk %d vanished", sp.id)
	}
	return sqlitex.Execute(conn, "DELETE FROM "+segmentTable(sp.young)+" WHERE id >= ? AND id < ?",
		&sqlitex.ExecOptions{Args: []any{sp.id, sp.id + int64(sp.segments)}})
}

// chunkData reads a chunk's bytes.
func chunkData(conn *sqlite.Conn, sp span, buf []byte) ([]byte, error) {
	buf = slices.Grow(buf[:0], sp.segments*segmentSize)
	n := 0
	err := sqlitex.Execute(conn, "SELECT data FROM "+segmentTable(sp.young)+" WHERE id >= ? AND id < ? ORDER BY id", &sqlitex.ExecOptions{
		Args: []any{sp.id, sp.id + int64(sp.segments)},
		ResultFunc: func(stmt *sqlite.Stmt) error {
			at, size := len(buf), stmt.ColumnLen(0)
			buf = slices.Grow(buf, size)[:at+size]
			stmt.ColumnBytes(0, buf[at:])
			n++
			return nil
		},
	})
	if err == nil && n != sp.segments {
		err = fmt.Errorf("chunk %d vanished", sp.id)
	}
	return buf, err
}

// openChunk reads a chunk without decoding it.
func openChunk(conn *sqlite.Conn, sp span, buf []byte) (*chunk.Chunk, error) {
	data, err := chunkData(conn, sp, buf)
	if err != nil {
		return nil, err
	}
	c, err := chunk.Open(data)
	if err != nil {
		return nil, fmt.Errorf("chunk %d: %w", sp.id, err)
	}
	return c, nil
}

// decodeCluster gives the readings of overlapping chunks, merged.
func decodeCluster(conn *sqlite.Conn, cluster []span) ([]rimewatch.Reading, error) {
	sets := make([][]rimewatch.Reading, 0, len(cluster))
	for _, sp := range cluster {
		c, err := openChunk(conn, sp, nil)
		if err != nil {
			return nil, err
		}
		rs, err := c.Readings(nil)
		if err != nil {
			return nil, fmt.Errorf("chunk %d: %w", sp.id, err)
		}
		sets = append(sets, rs)
	}
	if len(sets) == 1 {
		return sets[0], nil
	}
	return chunk.Merge(nil, sets...), nil
}
