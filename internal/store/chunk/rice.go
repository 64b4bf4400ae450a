package chunk

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

const (
	riceLimit   = 10 // a quotient from here on is written as an escape
	riceMaxK    = 40 // so that a code fits into one peek of 57 bits
	riceMemory  = 3  // the mean magnitude is over about 2^riceMemory values
	riceFrac    = 3  // fractional bits of the running mean
	escapeAgain = 0  // back to the other level, by a code there
	escapeNew   = 1  // a new level, by its whole distance
)

// level is one state of a signal: where it is expected next and how much it
// departs from that.
type level struct {
	at  int64  // the prediction, scaled by 2^frac of the coder
	mag uint64 // mean zigzag magnitude × 2^riceMemory
}

// riceCoder holds what encoder and decoder compute alike. With mean set the
// prediction is the running mean with weight 1/2, else it is the last value.
// All arithmetic wraps: a prediction may be silly, but never differs between
// the two sides.
type riceCoder struct {
	cur, alt    level
	frac, shift uint
}

func newRice(first int64, k uint, mean bool) riceCoder {
	var c riceCoder
	if mean {
		c.frac, c.shift = riceFrac, 1
	}
	c.cur = level{at: first << c.frac, mag: 1<<(k+riceMemory) - 1}
	c.alt = c.cur
	return c
}

// k is the Rice parameter that suits the magnitude.
func (l *level) k() uint { return riceParameter(l.mag) }

func riceParameter(mag uint64) uint {
	return min(uint(bits.Len64(mag>>(riceMemory+1))), riceMaxK)
}

func (l *level) predict(frac uint) int64 { return (l.at + (1<<frac)>>1) >> frac }

func (c *riceCoder) learn(x int64, z uint64) {
	c.cur.at += ((x << c.frac) - c.cur.at) >> c.shift
	c.cur.mag += z - c.cur.mag>>riceMemory
}

// jump makes x the current level, as noisy as the one before.
func (c *riceCoder) jump(x int64) {
	c.alt = c.cur
	c.cur.at = x << c.frac
}

// riceK returns the parameter to start with.
func riceK(x []int64) uint {
	var sum uint64
	for i := 1; i < len(x); i++ {
		sum += min(zigzag(x[i]-x[i-1]), 1<<32)
	}
	// Jumps weigh too much in the mean; the code adapts from there.
	return min(uint(bits.Len64(sum/uint64(len(x))*3/4)), riceMaxK-1)
}

// riceMost is more than the bytes that the code of a value takes.
const riceMost = (riceLimit+1+6+64)/8 + 1

// appendRice appends x[1:], given x[0] and k.
func appendRice(dst []byte, x []int64, k uint, mean bool) []byte {
	c := newRice(x[0], k, mean)
	w := bitWriter{b: slices.Grow(dst, riceMost*len(x)+8)}
	for i := 1; i < len(x); {
		if i = c.append(&w, x, i); i < len(x) {
			c.escape(&w, x[i])
			i++
		}
	}
	return w.finish()
}

// append writes values from x[i] on up to the next that needs an escape and returns
// its index. The state is kept in registers, and w has room for all of them.
func (c *riceCoder) append(w *bitWriter, x []int64, i int) int {
	at, mag, acc, n := c.cur.at, c.cur.mag, w.acc, w.n
	frac, shift, half := c.frac&63, c.shift&63, int64(1)<<(c.frac&63)>>1
	b, pos := w.b[:cap(w.b)], len(w.b)
	for ; i < len(x); i++ {
		v := x[i]
		z := zigzag(v - (at+half)>>frac)
		k := riceParameter(mag) & 63
		q := z >> k
		if q >= riceLimit {
			break
		}
		acc |= (z&(1<<k-1)<<1 | 1) << (uint(q) & 63) << (n & 63)
		n += uint(q) + 1 + k
		binary.LittleEndian.PutUint64(b[pos:pos+8], acc)
		pos += int(n >> 3)
		acc >>= n & 56
		n &= 7
		at += (v<<frac - at) >> shift
		mag += z - mag>>riceMemory
	}
	c.cur = level{at, mag}
	w.b, w.acc, w.n = b[:pos], acc, n
	return i
}

// escape writes a value whose code starts with riceLimit zeros.
func (c *riceCoder) escape(w *bitWriter, v int64) {
	w.write(0, riceLimit)
	za := zigzag(v - c.alt.predict(c.frac))
	ka := c.alt.k()
	if q := za >> ka; q < riceLimit {
		w.write(escapeAgain, 1)
		w.write((za&(1<<ka-1)<<1|1)<<q, uint(q)+1+ka)
		c.cur, c.alt = c.alt, c.cur
		c.learn(v, za)
		return
	}
	w.write(escapeNew, 1)
	z := zigzag(v - c.cur.predict(c.frac))
	n := uint(bits.Len64(z)) // ≥ 4, as z ≥ riceLimit
	w.write(uint64(n-1), 6)
	w.write64(z, n)
	c.jump(v)
}

// readRice fills x[1:], given x[0] and k, and returns the number of bytes used.
func readRice(b []byte, x []int64, k uint, mean bool) (int, error) {
	c := newRice(x[0], k, mean)
	r := bitReader{b: b}
	for i := 1; i < len(x); {
		if mean {
			i = c.run(&r, x, i)
		} else {
			i = c.runLast(&r, x, i)
		}
		if i < len(x) {
			p, err := c.escaped(&r)
			if err != nil {
				return 0, err
			}
			x[i] = p
			i++
		}
	}
	n, ok := r.used()
	if !ok {
		return 0, errTruncated
	}
	return n, nil
}

// run reads values from x[i] on up to the next escape and returns its index. The
// state is kept in registers: most of the time of a decode is spent here.
func (c *riceCoder) run(r *bitReader, x []int64, i int) int {
	at, mag, pos := c.cur.at, c.cur.mag, r.pos
	for ; i < len(x); i++ {
		var v uint64
		if j := pos >> 3; j+8 <= uint(len(r.b)) {
			v = binary.LittleEndian.Uint64(r.b[j:j+8:j+8]) >> (pos & 7)
		} else {
			v = r.peekEnd(pos)
		}
		q := uint(bits.TrailingZeros64(v))
		if q >= riceLimit {
			break
		}
		k := riceParameter(mag)
		z := uint64(q)<<(k&63) | v>>((q+1)&63)&(1<<(k&63)-1)
		pos += q + 1 + k
		p := (at+(1<<riceFrac)>>1)>>riceFrac + unzigzag(z)
		x[i] = p
		at += (p<<riceFrac - at) >> 1
		mag += z - mag>>riceMemory
	}
	c.cur = level{at, mag}
	r.pos = pos
	return i
}

// runLast is run for a prediction by the last value.
func (c *riceCoder) runLast(r *bitReader, x []int64, i int) int {
	at, mag, pos := c.cur.at, c.cur.mag, r.pos
	for ; i < len(x); i++ {
		var v uint64
		if j := pos >> 3; j+8 <= uint(len(r.b)) {
			v = binary.LittleEndian.Uint64(r.b[j:j+8:j+8]) >> (pos & 7)
		} else {
			v = r.peekEnd(pos)
		}
		q := uint(bits.TrailingZeros64(v))
		if q >= riceLimit {
			break
		}
		k := riceParameter(mag)
		z := uint64(q)<<(k&63) | v>>((q+1)&63)&(1<<(k&63)-1)
		pos += q + 1 + k
		at += unzigzag(z)
		x[i] = at
		mag += z - mag>>riceMemory
	}
	c.cur = level{at, mag}
	r.pos = pos
	return i
}

// escaped reads one value whose code starts with riceLimit zeros.
func (c *riceCoder) escaped(r *bitReader) (int64, error) {
	r.pos += riceLimit
	if r.read(1) == escapeAgain {
		c.cur, c.alt = c.alt, c.cur
		v := r.peek()
		k := c.cur.k()
		q := uint(bits.TrailingZeros64(v))
		if q >= riceLimit {
			return 0, errCorrupt
		}
		z := uint64(q)<<k | (v>>(q+1))&(1<<k-1)
		r.pos += q + 1 + k
		x := c.cur.predict(c.frac) + unzigzag(z)
		c.learn(x, z)
		return x, nil
	}
	n := uint(r.read(6)) + 1
	x := c.cur.predict(c.frac) + unzigzag(r.read64(n))
	c.jump(x)
	return x, nil
}
