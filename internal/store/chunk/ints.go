package chunk

import (
	"encoding/binary"
	"errors"
	"math/bits"
	"slices"
)

// The failures of decoding: the bytes are not what was written, or were written
// by a newer program.
var (
	errCorrupt   = errors.New("chunk: corrupt data")
	errTruncated = errors.New("chunk: truncated data")
	errChecksum  = errors.New("chunk: checksum does not match")
	errVersion   = errors.New("chunk: a format that this program does not know: was it written by a newer one?")
	errNewer     = errors.New("chunk: data that this program does not know: was it written by a newer one?")
)

// blockLen is the number of values in a block, fixed by the format's version.
const blockLen = 256

// A block starts with a byte: mode, flags, and the scale of its values (which
// only columns of measurements use). Then follow the first value (zigzag), the
// divisor and the step where flagged, and the mode's own data.
const (
	modePacked   = 0 // least value (zigzag), width in bits (a byte), offsets from the least value
	modeLast     = 1 // k (a byte), Rice codes against the last value
	modeMean     = 2 // k (a byte), Rice codes against the running mean
	modeConstant = 3 // all values are the first one, or on the line
	modeMask     = 3

	flagDivisor = 4
	flagStep    = 8
	scaleShift  = 4
)

// appendBlock appends 1 to blockLen values, which it overwrites. Values that
// rise steadily (times, counters) are searched for a constant step.
func appendBlock(dst []byte, x []int64, scale byte, rising bool) []byte {
	h := len(dst)
	head := scale << scaleShift
	first := x[0]
	dst = append(dst, 0)
	dst = binary.AppendUvarint(dst, zigzag(first))
	for i := range x {
		x[i] -= first
	}
	if g := divisor(x); g > 1 {
		head |= flagDivisor
		dst = binary.AppendUvarint(dst, uint64(g))
		for i := range x {
			x[i] /= g
		}
	}
	if rising {
		if step := bestStep(x); step != 0 {
			head |= flagStep
			dst = binary.AppendUvarint(dst, zigzag(step))
			removeStep(x, step)
		}
	}
	low, width := packedWidth(x)
	if width == 0 { // x[0] is 0, so all are
		dst[h] = head | modeConstant
		return dst
	}
	dst, mode := appendShortest(dst, x, low, width)
	dst[h] = head | mode
	return dst
}

// appendShortest appends the data of the mode that needs the fewest bytes.
func appendShortest(dst []byte, x []int64, low int64, width uint) ([]byte, byte) {
	start := len(dst)
	k := riceK(x)
	dst = append(dst, byte(k))
	dst = appendRice(dst, x, k, false)
	mode, size := byte(modeLast), len(dst)-start
	end := len(dst)
	dst = append(dst, byte(k))
	dst = appendRice(dst, x, k, true)
	if n := len(dst) - end; n < size {
		mode, size = modeMean, n
		copy(dst[start:], dst[end:])
	}
	dst = dst[:start+size]
	if (len(x)*int(width)+7)/8+2 < size {
		return appendPacked(dst[:start], x, low, width), modePacked
	}
	return dst, mode
}

func appendPacked(dst []byte, x []int64, low int64, width uint) []byte {
	dst = binary.AppendUvarint(dst, zigzag(low))
	dst = append(dst, byte(width))
	w := bitWriter{b: dst}
	for _, v := range x {
		w.write64(uint64(v-low), width)
	}
	return w.finish()
}

// divisor is the greatest common divisor of x, 1 where dividing could overflow.
func divisor(x []int64) int64 {
	g := uint64(0)
	for _, v := range x {
		a := uint64(v)
		if v < 0 {
			a = -a
		}
		if a >= 1<<62 {
			return 1
		}
		for a != 0 { // Euclid
			g, a = a, g%a
		}
		if g == 1 {
			return 1
		}
	}
	return int64(g)
}

// packedWidth returns the least value and the bits that the offsets from it need.
func packedWidth(x []int64) (low int64, width uint) {
	low, high := x[0], x[0]
	for _, v := range x {
		low, high = min(low, v), max(high, v)
	}
	return low, uint(bits.Len64(uint64(high - low)))
}

// bestStep finds the constant step that leaves the narrowest offsets: the mean
// step, or the mean or median step to the second, which is what devices are
// set to and is free of the jitter of the two ends.
func bestStep(x []int64) int64 {
	n := len(x)
	if n < 2 {
		return 0
	}
	var diffs [blockLen - 1]int64
	for i := 1; i < n; i++ {
		diffs[i-1] = x[i] - x[i-1]
	}
	slices.Sort(diffs[:n-1])
	mean := (x[n-1] - x[0]) / int64(n-1)
	best, bestSpan := int64(0), span(x, 0)
	for _, step := range [...]int64{mean, nearest(mean), nearest(diffs[(n-1)/2]), diffs[(n-1)/2]} {
		if s := span(x, step); s < bestSpan {
			best, bestSpan = step, s
		}
	}
	return best
}

func nearest(ms int64) int64 { return (ms + 500) / 1000 * 1000 }

// span is the distance between the extremes of x once the step is removed.
func span(x []int64, step int64) uint64 {
	low, high := x[0], x[0]
	for i, v := range x {
		v -= int64(i) * step
		low, high = min(low, v), max(high, v)
	}
	return uint64(high - low)
}

func removeStep(x []int64, step int64) {
	for i := range x {
		x[i] -= int64(i) * step
	}
}

// readBlock fills x with a block's values and returns its scale and its length
// in bytes.
func readBlock(b []byte, x []int64) (scale byte, n int, err error) {
	if len(b) == 0 {
		return 0, 0, errTruncated
	}
	head := b[0]
	r := byteReader{b: b, pos: 1}
	first := r.zigzag()
	g, step := int64(1), int64(0)
	if head&flagDivisor != 0 {
		g = int64(r.uvarint())
	}
	if head&flagStep != 0 {
		step = r.zigzag()
	}
	switch head & modeMask {
	case modeConstant:
		clear(x)
	case modePacked:
		r.packed(x)
	default:
		r.rice(x, head&modeMask == modeMean)
	}
	if r.err != nil {
		return 0, 0, r.err
	}
	if g != 1 || step != 0 {
		for i := range x {
			x[i] = first + (x[i]+int64(i)*step)*g
		}
	} else if first != 0 {
		for i := range x {
			x[i] += first
		}
	}
	return head >> scaleShift, r.pos, nil
}

// byteReader reads the parts of a block or row; the first error sticks.
type byteReader struct {
	b   []byte
	pos int
	err error
}

func (r *byteReader) fail(err error) {
	if r.err == nil {
		r.err = err
	}
	r.pos = len(r.b)
}

func (r *byteReader) uvarint() uint64 {
	v, n := binary.Uvarint(r.b[r.pos:])
	if n <= 0 {
		r.fail(errTruncated)
		return 0
	}
	r.pos += n
	return v
}

func (r *byteReader) zigzag() int64 { return unzigzag(r.uvarint()) }

func (r *byteReader) byte() byte {
	if r.pos >= len(r.b) {
		r.fail(errTruncated)
		return 0
	}
	v := r.b[r.pos]
	r.pos++
	return v
}

// bytes takes the next n bytes, nil when they are not there.
func (r *byteReader) bytes(n uint64) []byte {
	if n > uint64(len(r.b)-r.pos) {
		r.fail(errTruncated)
		return nil
	}
	v := r.b[r.pos : r.pos+int(n) : r.pos+int(n)]
	r.pos += int(n)
	return v
}

func (r *byteReader) packed(x []int64) {
	low := r.zigzag()
	width := uint(r.byte())
	if width > 64 {
		r.fail(errCorrupt)
		return
	}
	data := r.bytes((uint64(len(x))*uint64(width) + 7) / 8)
	if data == nil {
		return
	}
	br := bitReader{b: data}
	if width <= 56 {
		mask := uint64(1)<<width - 1
		for i := range x {
			x[i] = low + int64(br.peek()&mask)
			br.pos += width
		}
		return
	}
	for i := range x {
		x[i] = low + int64(br.read64(width))
	}
}

func (r *byteReader) rice(x []int64, mean bool) {
	k := uint(r.byte())
	if k >= riceMaxK {
		r.fail(errCorrupt)
		return
	}
	if r.err != nil {
		return
	}
	x[0] = 0
	n, err := readRice(r.b[r.pos:], x, k, mean)
	if err != nil {
		r.fail(err)
		return
	}
	r.pos += n
}
