package httpapi

import (
	"crypto/rand"
	"encoding/binary"
	"net/http"
	"sync/atomic"
)

// RequestIDHeader carries the name of a request, from the client or made here, into answers and logs.
const RequestIDHeader = "X-Request-Id"

// idSource names requests: a random start of the process and a counter. Names
// are unique and cheap, not secret.
type idSource struct {
	prefix [8]byte
	next   atomic.Uint64
}

const idDigits = "0123456789abcdefghijklmnopqrstuv"

func newIDSource() *idSource {
	s := &idSource{}
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	v := binary.LittleEndian.Uint64(b[:])
	for i := range s.prefix {
		s.prefix[i] = idDigits[v&31]
		v >>= 5
	}
	return s
}

// Of returns the request's name: the client's, when that is sane, or
// a new one.
func (s *idSource) Of(h http.Header) string {
	if sent := h[RequestIDHeader]; len(sent) == 1 && SaneID(sent[0]) {
		return sent[0]
	}
	return s.New()
}

// RequestID returns the name of a request: the client's, when that
// is sane, or a new one.
func (a *API) RequestID(h http.Header) string { return a.ids.Of(h) }

// New names a request.
func (s *idSource) New() string {
	var b [16]byte
	copy(b[:], s.prefix[:])
	n := s.next.Add(1)
	for i := len(b) - 1; i >= 8; i-- {
		b[i] = idDigits[n&31]
		n >>= 5
	}
	return string(b[:])
}

// SaneID reports whether a client's request id is short and plain enough to be used as it is.
func SaneID(s string) bool {
	if len(s) == 0 || len(s) > 64 {
		return false
	}
	for i := range len(s) {
		c := s[i]
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_' || c == '.') {
			return false
		}
	}
	return true
}
