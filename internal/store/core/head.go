package core

import (
	"slices"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store/chunk"
)

// head is what of a device is not sealed yet: the encoded rows of the log, one
// after the other. Readers see the first size bytes; commits stage their rows
// behind them, one behind the other, and publish them by moving size, or take them
// back from the end.
type head struct {
	buf      []byte
	size     int32 // committed bytes
	n        int32 // committed readings
	stagedN  int32
	firstSeq int64 // of the oldest committed reading; valid when n > 0
	// newest is the latest moment in buf, staged rows included. A reading after
	// it cannot be a duplicate within the head.
	newest rimewatch.Time
	// times is built when a reading comes that is not after newest: every moment
	// in buf, sorted.
	times []rimewatch.Time

	sealSize int32 // bytes that are being sealed; 0 = none
	sealN    int32
	sealSeq  int64 // of the oldest reading behind them, 0 = none

	// The newest day of UTC among the committed readings began with commit daySeq,
	// behind dayN readings, dayBytes bytes.
	day            int32
	dayBytes, dayN int32
	daySeq         int64
}

// keptHead is the largest buffer, in bytes, that a device keeps while it has
// nothing unsealed.
const keptHead = 1 << 10

// has reports whether the head holds a reading of that moment.
func (h *head) has(at rimewatch.Time) bool {
	if len(h.buf) == 0 || at > h.newest {
		return false
	}
	if h.times == nil {
		h.times = make([]rimewatch.Time, 0, h.stagedN+16)
		eachRow(h.buf, func(r *rimewatch.Reading) { h.times = append(h.times, r.At) })
		slices.Sort(h.times)
	}
	_, ok := slices.BinarySearch(h.times, at)
	return ok
}

// stage appends an encoded row behind the committed ones.
func (h *head) stage(row []byte, at rimewatch.Time) {
	if need := len(h.buf) + len(row); need > cap(h.buf) {
		// Growing by half wastes less than append's doubling: there is one buffer a
		// device. Those of the few who fill large ones are copied less often.
		size := need + max(64, need/2)
		if need > keptHead {
			size = 2 * need
		}
		bigger := make([]byte, size) // all of it, so that what is copied into is not cleared before
		copy(bigger, h.buf)
		h.buf = bigger[:len(h.buf)]
	}
	h.buf = append(h.buf, row...)
	h.stagedN++
	if h.times != nil {
		i, _ := slices.BinarySearch(h.times, at)
		h.times = slices.Insert(h.times, i, at)
	}
	if at > h.newest {
		h.newest = at
	}
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
func (h *head) retract(size, n int32) {
	h.buf = h.buf[:len(h.buf)-int(size)]
	h.stagedN -= n
	h.times = nil
	h.newest = 0
	eachRow(h.buf, func(r *rimewatch.Reading) { h.newest = max(h.newest, r.At) })
}

// beginSeal marks what is committed as being sealed, and returns it and the commit
// up to which it goes; last is the last of all. The bytes do not change any more.
// Where the days before the newest are worth a chunk, it is only these: what is of
// the newest would have to be merged with what follows.
func (h *head) beginSeal(worth int32, last int64) (rows []byte, mark int64) {
	h.sealSize, h.sealN, h.sealSeq, mark = h.size, h.n, 0, last
	if h.dayN >= worth {
		h.sealSize, h.sealN, h.sealSeq, mark = h.dayBytes, h.dayN, h.daySeq, h.daySeq-1
	}
	return h.buf[:h.sealSize:h.sealSize], mark
}

// endSeal takes out what beginSeal gave, now that it is in a chunk.
func (h *head) endSeal() {
	// What follows moves to the front of the same buffer, which is filled again:
	// readers copy it under the lock. A large one is given back.
	if rest := h.buf[h.sealSize:]; cap(h.buf) > keptHead {
		h.buf = slices.Clone(rest)
	} else {
		h.buf = h.buf[:copy(h.buf, rest)]
	}
	h.size -= h.sealSize
	h.n -= h.sealN
	h.stagedN -= h.sealN
	h.firstSeq = h.sealSeq
	h.dayBytes, h.dayN = max(h.dayBytes-h.sealSize, 0), max(h.dayN-h.sealN, 0)
	h.sealSize, h.sealN, h.sealSeq = 0, 0, 0
	h.times = nil
	h.newest = 0
	eachRow(h.buf, func(r *rimewatch.Reading) { h.newest = max(h.newest, r.At) })
}

// eachRow decodes rows that this process encoded or whose checksum was right:
// they cannot be damaged.
func eachRow(buf []byte, f func(*rimewatch.Reading)) {
	var r rimewatch.Reading
	for len(buf) > 0 {
		n, err := chunk.DecodeReading(buf, &r, 0)
		if err != nil {
			return
		}
		f(&r)
		buf = buf[n:]
	}
}

// snapshot appends the committed rows within [from, to) to an empty slice, sorted
// by time.
func snapshot(out []rimewatch.Reading, buf []byte, from, to rimewatch.Time) []rimewatch.Reading {
	sorted := true
	eachRow(buf, func(r *rimewatch.Reading) {
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
