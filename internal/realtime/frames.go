package realtime

import (
	"encoding/binary"
	"errors"
)

// errTooBig means that the peer announced a frame larger than any message may be.
var errTooBig = errors.New("a frame is larger than a message may be")

// frameWatch follows the heads of a client's frames (RFC 6455, 5.2) as its bytes
// go by. The library looks at the length of a frame only when that much has come:
// one that claims 2^62 bytes would hold its connection for ever.
type frameWatch struct {
	head [10]byte
	have int    // bytes of the head
	left uint64 // bytes of the frame after it, the mask included
}

// see follows b: errTooBig from the head of a frame of more than maxMessage bytes on.
func (w *frameWatch) see(b []byte) error {
	for len(b) > 0 && w.have < len(w.head) {
		if w.left > 0 {
			n := min(w.left, uint64(len(b)))
			b, w.left = b[n:], w.left-n
			continue
		}
		w.head[w.have] = b[0]
		w.have++
		b = b[1:]
		if w.have < 2 || w.have < w.size() {
			continue
		}
		length := w.length()
		if length > maxMessage {
			w.have = len(w.head)
			return errTooBig
		}
		w.have, w.left = 0, length
		if w.head[1]&0x80 != 0 {
			w.left += 4
		}
	}
	if w.have == len(w.head) {
		return errTooBig
	}
	return nil
}

// size returns the length of the head without the mask, once two bytes of it are
// there.
func (w *frameWatch) size() int {
	switch w.head[1] & 0x7f {
	case 126:
		return 4
	case 127:
		return 10
	default:
		return 2
	}
}

func (w *frameWatch) length() uint64 {
	switch w.size() {
	case 4:
		return uint64(binary.BigEndian.Uint16(w.head[2:]))
	case 10:
		return binary.BigEndian.Uint64(w.head[2:])
	default:
		return uint64(w.head[1] & 0x7f)
	}
}
