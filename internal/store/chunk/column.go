package chunk

import (
	"encoding/binary"
	"math"

	"github.com/rimewatch/rimewatch"
)

// A column starts with its kind. The number of values is known from outside.
const (
	columnConstant = 0 // one value: zigzag, or raw bits in a column of measurements
	columnBlocks   = 1 // blocks
	columnPatched  = 2 // blocks, then the values that do not fit their scale
)

const (
	scaleBits   = 15 // the integers of the block are the bits of the float64s
	blockScales = 15 // scales 0–14 are decimals
)

// appendInts appends a column of integers, of which there is at least one.
func appendInts(dst []byte, v []int64, rising bool) []byte {
	if allEqual(v) {
		return binary.AppendUvarint(append(dst, columnConstant), zigzag(v[0]))
	}
	dst = append(dst, columnBlocks)
	var x [blockLen]int64
	for len(v) > 0 {
		n := copy(x[:], v)
		dst = appendBlock(dst, x[:n], 0, rising)
		v = v[n:]
	}
	return dst
}

func allEqual[T int64 | uint64](v []T) bool {
	for _, e := range v {
		if e != v[0] {
			return false
		}
	}
	return true
}

// readInts returns the n values of a column to yield, block by block. yield may
// change the block, which is valid only in the call; at is the index of its
// first value.
func readInts(b []byte, n int, yield func(at int, x []int64)) error {
	if len(b) == 0 {
		return errTruncated
	}
	r := byteReader{b: b, pos: 1}
	var x [blockLen]int64
	switch b[0] {
	case columnConstant:
		v := r.zigzag()
		if r.err != nil || r.pos != len(b) {
			return errCorrupt
		}
		for at := 0; at < n; at += blockLen {
			block := x[:min(blockLen, n-at)]
			for i := range block {
				block[i] = v
			}
			yield(at, block)
		}
		return nil
	case columnBlocks:
		for at := 0; at < n; at += blockLen {
			block := x[:min(blockLen, n-at)]
			_, used, err := readBlock(b[r.pos:], block)
			if err != nil {
				return err
			}
			r.pos += used
			yield(at, block)
		}
		if r.pos != len(b) {
			return errCorrupt
		}
		return nil
	}
	return errCorrupt
}

// patch is a value that its block does not hold.
type patch struct {
	at   int
	bits uint64
}

// appendFloats appends a column of measurements, of which there is at least one;
// rising ones are searched for a constant step.
func appendFloats(dst []byte, v []float64, rising bool) []byte {
	if constant(v) {
		return binary.LittleEndian.AppendUint64(append(dst, columnConstant), math.Float64bits(v[0]))
	}
	kind := len(dst)
	dst = append(dst, columnBlocks)
	var (
		x       [blockLen]int64
		patches []patch
		scale   int
	)
	for at := 0; at < len(v); at += blockLen {
		block := v[at:min(at+blockLen, len(v))]
		scale = chooseScale(block, scale)
		q := x[:len(block)]
		if scale == scaleBits {
			for i, f := range block {
				q[i] = int64(math.Float64bits(f))
			}
			dst = appendBlock(dst, q, scaleBits, false)
			scale = 0
			continue
		}
		var last int64
		for i, f := range block {
			if m, ok := scaled(f, scale); ok {
				last = m
			} else {
				patches = append(patches, patch{at + i, math.Float64bits(f)})
			}
			q[i] = last
		}
		dst = appendBlock(dst, q, byte(scale), rising)
	}
	if len(patches) > 0 {
		dst[kind] = columnPatched
		dst = appendPatches(dst, patches)
	}
	return dst
}

func appendPatches(dst []byte, patches []patch) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(patches)))
	last := 0
	for _, p := range patches {
		dst = binary.AppendUvarint(dst, uint64(p.at-last))
		dst = binary.LittleEndian.AppendUint64(dst, p.bits)
		last = p.at
	}
	return dst
}

func constant(v []float64) bool {
	for _, f := range v {
		if math.Float64bits(f) != math.Float64bits(v[0]) {
			return false
		}
	}
	return true
}

// chooseScale finds the decimals of a block, given those of the block before.
// Up to one value in 32 may need more decimals, and up to one in four may have
// no decimal form: they become patches (9 bytes each), which is still cheaper
// than a finer scale or raw bits for the rest. A scale that is finer than need
// be costs nothing, as the divisor takes it out again.
func chooseScale(v []float64, scale int) int {
	var need [blockScales]int
	none := 0
	for _, f := range v {
		if _, ok := scaled(f, scale); ok {
			continue
		}
		if _, e, ok := decimal(f, scale+1, blockScales); ok {
			need[e]++
			if need[e] > len(v)/32 { // that many need it: try it first
				scale = e
			}
		} else {
			none++
		}
	}
	if none > len(v)/4 {
		return scaleBits
	}
	return finest(need, scale, len(v)/32)
}

// finest is the least scale beyond which at most spare values lie.
func finest(need [blockScales]int, scale, spare int) int {
	for e := blockScales - 1; e > scale; e-- {
		if spare -= need[e]; spare < 0 {
			return e
		}
	}
	return scale
}

// readFloats writes the values of a column to out[0], out[1], …
func readFloats(b []byte, out []float64) error {
	if len(b) == 0 {
		return errTruncated
	}
	switch b[0] {
	case columnConstant:
		if len(b) != 9 {
			return errCorrupt
		}
		f := math.Float64frombits(binary.LittleEndian.Uint64(b[1:]))
		for i := range out {
			out[i] = f
		}
		return nil
	case columnBlocks, columnPatched:
	default:
		return errCorrupt
	}
	pos := 1
	var x [blockLen]int64
	for at := 0; at < len(out); at += blockLen {
		block := out[at:min(at+blockLen, len(out))]
		q := x[:len(block)]
		scale, used, err := readBlock(b[pos:], q)
		if err != nil {
			return err
		}
		pos += used
		if scale == scaleBits {
			for i, m := range q {
				block[i] = math.Float64frombits(uint64(m))
			}
			continue
		}
		p := pow10[scale]
		for i, m := range q {
			block[i] = float64(m) / p
		}
	}
	if b[0] == columnPatched {
		return readPatches(b[pos:], out)
	}
	if pos != len(b) {
		return errCorrupt
	}
	return nil
}

func readPatches(b []byte, out []float64) error {
	r := byteReader{b: b}
	at := uint64(0)
	for range r.uvarint() {
		at += r.uvarint()
		raw := r.bytes(8)
		if r.err != nil {
			return r.err
		}
		if at >= uint64(len(out)) {
			return errCorrupt
		}
		out[at] = math.Float64frombits(binary.LittleEndian.Uint64(raw))
	}
	if r.err != nil || r.pos != len(b) {
		return errCorrupt
	}
	return nil
}

// promptly is rimewatch.Promptly in seconds.
const promptly = int64(rimewatch.Promptly / rimewatch.Second)

// delayOf is a rounded moment of arrival as an integer of columnReceived: the
// seconds after at, and one more for late ones, so that the two can be told
// apart.
func delayOf(at, rounded rimewatch.Time) int64 {
	if isLate(at, rounded) {
		return int64((rounded-at).FloorSecond()/rimewatch.Second) + 1
	}
	return int64((rounded - at) / rimewatch.Second)
}

// receivedAfter is the inverse of delayOf.
func receivedAfter(at rimewatch.Time, delay int64) rimewatch.Time {
	if delay <= promptly {
		return at + rimewatch.Time(delay)*rimewatch.Second
	}
	return (at + rimewatch.Time(delay-1)*rimewatch.Second + rimewatch.Second - 1).FloorSecond()
}

func isLate(at, rounded rimewatch.Time) bool {
	return rounded.FloorSecond() == rounded && rounded-at >= rimewatch.Promptly
}
