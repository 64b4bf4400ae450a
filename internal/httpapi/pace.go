package httpapi

import (
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// Time limits of clients. A server of the API over net/http sets both on
// the http.Server: they hold for every request, also for one that is answered
// before its body was read. Larger bodies and streamed answers move them on as
// long as they keep up.
const (
	ReadTimeout  = 15 * time.Second // from the beginning of a request to the end of its body
	WriteTimeout = 30 * time.Second // from then to the end of the answer
)

// A large body has to arrive at a rate of minBodyRate, after bodyGrace for the
// first bytes; slower ones are cut off. Bodies that are smaller than
// promptBody have ReadTimeout, which costs the hot path nothing.
const (
	bodyGrace   = 15 * time.Second
	minBodyRate = 32 << 10 // bytes/s
	promptBody  = 64 << 10
)

// pacedReader reads a large body and cuts the sender off when it is too slow.
type pacedReader struct {
	body  io.Reader
	w     http.ResponseWriter
	start time.Time
	timer *time.Timer
	read  atomic.Int64

	mu      sync.Mutex
	armed   bool
	expired bool
}

var pacedReaders = sync.Pool{New: func() any {
	p := &pacedReader{}
	p.timer = time.AfterFunc(time.Hour, p.check)
	p.timer.Stop()
	return p
}}

// pace begins to read a request's body of length bytes, -1 when that is not
// known. The caller calls done.
func pace(w http.ResponseWriter, body io.Reader, length int64) *pacedReader {
	p := pacedReaders.Get().(*pacedReader)
	p.begin(w, body, length < 0 || length > promptBody)
	return p
}

func (p *pacedReader) begin(w http.ResponseWriter, body io.Reader, large bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.body, p.w, p.start = body, w, time.Now()
	p.armed, p.expired = large, false
	p.read.Store(0)
	if large {
		p.allow(bodyGrace)
	}
}

// allow gives the sender that long from now. The connection's own deadline
// stands a little behind, for the case that the timer is late.
func (p *pacedReader) allow(left time.Duration) {
	_ = http.NewResponseController(p.w).SetReadDeadline(time.Now().Add(left + ReadTimeout))
	p.timer.Reset(left)
}

// check runs by the timer: it moves the timer on for a sender that keeps up,
// and makes the pending read fail for one that does not.
func (p *pacedReader) check() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.armed {
		return
	}
	allowed := bodyGrace + time.Duration(p.read.Load()/minBodyRate)*time.Second
	if left := allowed - time.Since(p.start); left > 0 {
		p.allow(left)
		return
	}
	p.expired = true
	_ = http.NewResponseController(p.w).SetReadDeadline(time.Unix(1, 0)) // in the past
}

// done ends the watch and gives the reader back.
func (p *pacedReader) done() {
	p.end()
	pacedReaders.Put(p)
}

// end takes the deadline of a body that has arrived away again: the server
// would take it for the death of the connection. That of one that was too slow
// stays: what is left of it must not be waited for.
func (p *pacedReader) end() {
	p.timer.Stop()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.armed && !p.expired {
		p.arrived()
	}
	p.armed, p.body, p.w = false, nil, nil
}

// arrived takes the deadline of a body that is here away, and gives the answer its whole time.
func (p *pacedReader) arrived() {
	control := http.NewResponseController(p.w)
	_ = control.SetReadDeadline(time.Time{})
	_ = control.SetWriteDeadline(time.Now().Add(WriteTimeout)) // its time began with the body
}

// pacedError marks failures of the connection, not of the content.
type pacedError struct{ err error }

func (e *pacedError) Error() string { return "read body: " + e.err.Error() }
func (e *pacedError) Unwrap() error { return e.err }

// Read implements io.Reader.
func (p *pacedReader) Read(b []byte) (int, error) {
	n, err := p.body.Read(b)
	p.read.Add(int64(n))
	if err != nil && err != io.EOF {
		return n, &pacedError{err}
	}
	return n, err
}
