package chunk

import "encoding/binary"

// bitWriter appends bits, least significant first.
type bitWriter struct {
	b   []byte
	acc uint64
	n   uint // bits in acc, < 8 after each write
}

// write appends the low n bits of v, n ≤ 56; the other bits of v must be 0.
func (w *bitWriter) write(v uint64, n uint) {
	w.acc |= v << w.n
	w.n += n
	whole := w.n &^ 7
	w.b = binary.LittleEndian.AppendUint64(w.b, w.acc)[:len(w.b)+int(whole>>3)]
	w.acc >>= whole
	w.n &= 7
}

// write64 appends the low n bits of v, n ≤ 64.
func (w *bitWriter) write64(v uint64, n uint) {
	if n > 32 {
		w.write(v&(1<<32-1), 32)
		v >>= 32
		n -= 32
	}
	w.write(v, n)
}

// finish pads to a whole byte and returns the bytes.
func (w *bitWriter) finish() []byte {
	if w.n > 0 {
		w.b = append(w.b, byte(w.acc))
	}
	return w.b
}

// bitReader reads bits, least significant first. Beyond the end it reads zeros;
// overrun reports it afterwards.
type bitReader struct {
	b   []byte
	pos uint // in bits
}

// peek returns at least 57 bits from the position on.
func (r *bitReader) peek() uint64 {
	i := r.pos >> 3
	if i+8 <= uint(len(r.b)) {
		return binary.LittleEndian.Uint64(r.b[i:]) >> (r.pos & 7)
	}
	return r.peekEnd(r.pos)
}

// peekEnd is peek at pos, near the end.
func (r *bitReader) peekEnd(pos uint) uint64 {
	var v uint64
	i := pos >> 3
	for k := uint(0); i+k < uint(len(r.b)) && k < 8; k++ {
		v |= uint64(r.b[i+k]) << (8 * k)
	}
	return v >> (pos & 7)
}

// read takes n bits, n ≤ 56.
func (r *bitReader) read(n uint) uint64 {
	v := r.peek() & (1<<n - 1)
	r.pos += n
	return v
}

// read64 takes n bits, n ≤ 64.
func (r *bitReader) read64(n uint) uint64 {
	if n <= 32 {
		return r.read(n)
	}
	low := r.read(32)
	return low | r.read(n-32)<<32
}

// used is the number of bytes begun, and whether they were there.
func (r *bitReader) used() (n int, ok bool) {
	n = int((r.pos + 7) >> 3)
	return n, n <= len(r.b)
}

func zigzag(v int64) uint64   { return uint64(v<<1) ^ uint64(v>>63) }
func unzigzag(u uint64) int64 { return int64(u>>1) ^ -int64(u&1) }
