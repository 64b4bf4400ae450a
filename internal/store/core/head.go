package core

import (
	"slices"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store/chunk"
)

// head are a device's unsealed readings: the encoded rows of the log, one
// after the other, each with its time relative to the newest before it. Readers see
// the first size bytes; commits stage their rows behind them, one behind the other, and
// publish them by moving size, or take them back from the end.
type head struct {
	rows     tape
	size     int32 // committed bytes
	n        int32 // committed readings
	stagedN  int32
	day      int32 // of UTC, the newest among the committed readings
	firstSeq int64 // of the oldest committed reading; valid when n > 0
	// newest is the latest moment in rows, staged ones included. A reading after
	// it cannot be a duplicate within the head.
	newest rimewatch.Time
	base   rimewatch.Time // the newest that was in front of the rows and is sealed

	sealSize int32 // bytes that are being sealed; 0 = none
	sealN    int32
	sealSeq  int64 // of the oldest reading behind them, 0 = none

	// The day began with commit daySeq, behind dayN readings, dayBytes bytes.
	dayBytes, dayN int32
	daySeq         int64
}

// heads is shared by all heads: the memory of their rows, and its size.
type heads struct {
	headSize
	blocks
	scratch []byte // of whoever holds Core.mu
	// moments are all that is in the rows of those heads to which a reading has come that
	// was not after newest, sorted. Under Core.mu.
	moments map[*head][]rimewatch.Time
}

// all decodes the rows of a head, staged ones included. Under Core.mu.
func (m *heads) all(h *head, f func(*rimewatch.Reading)) {
	m.scratch = h.rows.read(&m.blocks, m.scratch[:0], h.rows.size)
	eachRow(m.scratch, h.base, f)
}

// has reports whether the head holds a reading of that moment.
func (h *head) has(m *heads, at rimewatch.Time) bool {
	if h.rows.size == 0 || at > h.newest {
		return false
	}
	times, known := m.moments[h]
	if !known {
		times = make([]rimewatch.Time, 0, h.stagedN+16)
		m.all(h, func(r *rimewatch.Reading) { times = append(times, r.At) })
		slices.Sort(times)
		if m.moments == nil {
			m.moments = make(map[*head][]rimewatch.Time)
		}
		m.moments[h] = times
	}
	_, ok := slices.BinarySearch(times, at)
	return ok
}

// stage appends an encoded row behind the committed ones and returns how many bytes
// it takes there.
func (h *head) stage(m *heads, row []byte, at rimewatch.Time) (size int) {
	var buf [96]byte // most rows take 30
	row = chunk.AppendRebased(buf[:0], row, at, max(h.base, h.newest))
	h.rows.append(&m.blocks, row)
	h.stagedN++
	if times, known := m.moments[h]; known {
		i, _ := slices.BinarySearch(times, at)
		m.moments[h] = slices.Insert(times, i, at)
	}
	if at > h.newest {
		h.newest = at
	}
	return len(row)
}

// publish makes the next n staged rows visible, size bytes of commit seq, of which
// the newest is of at.
func (h *head) publish(size, n int32, seq int64, at rimewatch.Time) {
	if h.n == 0 {
		h.firstSeq = seq
	}
	if day := int32(at.UTCDay()); day > h.day {
		h.day, h.dayBytes, h.dayN, h.daySeq = day, h.size, h.n, seq
	}
	if h.sealSize > 0 && h.sealSeq == 0 {
		h.sealSeq = seq
	}
	h.size += size
	h.n += n
}

// retract takes the last n staged rows back, size bytes.
func (h *head) retract(m *heads, size, n int32) {
	h.rows.cut(&m.blocks, h.rows.size-size)
	h.stagedN -= n
	h.lookAgain(m)
}

// lookAgain finds the newest values again after rows are gone.
func (h *head) lookAgain(m *heads) {
	delete(m.moments, h)
	h.newest = 0
	m.all(h, func(r *rimewatch.Reading) { h.newest = max(h.newest, r.At) })
}

// beginSeal marks committed rows as being sealed, and returns the commit up to
// which it goes; last is the last of all. It is the first sealSize bytes, which do not
// change any more. Where the days before the newest are worth a chunk, it is only these:
// what is of the newest would have to be merged with what follows.
func (h *head) beginSeal(worth int32, last int64) (mark int64) {
	h.sealSize, h.sealN, h.sealSeq, mark = h.size, h.n, 0, last
	if h.dayN >= worth {
		h.sealSize, h.sealN, h.sealSeq, mark = h.dayBytes, h.dayN, h.daySeq, h.daySeq-1
	}
	return mark
}

// endSeal takes out the rows that beginSeal marked, now that they are in a chunk; newest is the
// newest of it.
func (h *head) endSeal(m *heads, newest rimewatch.Time) {
	h.base = max(h.base, newest)
	h.rows.drop(&m.blocks, h.sealSize)
	h.size -= h.sealSize
	h.n -= h.sealN
	h.stagedN -= h.sealN
	h.firstSeq = h.sealSeq
	h.dayBytes, h.dayN = max(h.dayBytes-h.sealSize, 0), max(h.dayN-h.sealN, 0)
	h.sealSize, h.sealN, h.sealSeq = 0, 0, 0
	h.lookAgain(m)
}

// eachRow decodes the rows of a head with that base: they cannot be damaged.
func eachRow(buf []byte, base rimewatch.Time, f func(*rimewatch.Reading)) {
	var r rimewatch.Reading
	for len(buf) > 0 {
		n, err := chunk.DecodeReading(buf, &r, base)
		if err != nil {
			return
		}
		base = max(base, r.At)
		f(&r)
		buf = buf[n:]
	}
}

// snapshot appends the rows of a head with that base which are within [from, to) to an
// empty slice, sorted by time.
func snapshot(out []rimewatch.Reading, buf []byte, base, from, to rimewatch.Time) []rimewatch.Reading {
	sorted := true
	eachRow(buf, base, func(r *rimewatch.Reading) {
		if r.At < from || r.At >= to {
			return
		}
		if len(out) > 0 && r.At < out[len(out)-1].At {
			sorted = false
		}
		out = append(out, *r)
	})
	if !sorted {
		slices.SortFunc(out, func(a, b rimewatch.Reading) int { return int(a.At - b.At) })
	}
	return out
}
