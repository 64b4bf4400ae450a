package fleet

import (
	"bytes"
	"encoding/binary"
	"errors"
	"sync"

	"github.com/rimewatch/rimewatch/internal/engine"
)

// plains are buffers for states on their way between State and its packed form.
var plains = sync.Pool{New: func() any { return new([]byte) }}

// packState appends a state with every run of zeros shortened to a zero and its
// length.
func packState(b []byte, st *engine.State) []byte {
	plain := plains.Get().(*[]byte)
	defer plains.Put(plain)
	*plain = st.AppendBinary((*plain)[:0])
	return packZeros(b, *plain)
}

// unpackState is the inverse of packState.
func unpackState(b []byte, st *engine.State) (err error) {
	plain := plains.Get().(*[]byte)
	defer plains.Put(plain)
	if *plain, err = unpackZeros((*plain)[:0], b); err != nil {
		return err
	}
	return st.UnmarshalBinary(*plain) // which keeps nothing of it
}

// packZeros appends plain with its zeros shortened.
func packZeros(b, plain []byte) []byte {
	for len(plain) > 0 {
		i := bytes.IndexByte(plain, 0)
		if i < 0 {
			return append(b, plain...)
		}
		b = append(b, plain[:i+1]...)
		plain = plain[i+1:]
		run := 1
		for len(plain) > 0 && plain[0] == 0 {
			run++
			plain = plain[1:]
		}
		b = binary.AppendUvarint(b, uint64(run))
	}
	return b
}

// maxState bounds what unpackZeros makes of damaged bytes.
const maxState = 64 << 10

// unpackZeros appends what packZeros made b of.
func unpackZeros(out, b []byte) ([]byte, error) {
	for len(b) > 0 {
		i := bytes.IndexByte(b, 0)
		if i < 0 {
			return append(out, b...), nil
		}
		out = append(out, b[:i]...)
		run, n := binary.Uvarint(b[i+1:])
		if n <= 0 || run == 0 || run > maxState || len(out) > maxState {
			return out, errors.New("damaged state")
		}
		for left := int(run); left > 0; left -= len(zeros) {
			out = append(out, zeros[:min(left, len(zeros))]...)
		}
		b = b[i+1+n:]
	}
	return out, nil
}

var zeros [512]byte
