package httpapi

import (
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// A body has to arrive at a rate of minBodyRate, after bodyGrace for the first
// bytes; whoever is slower is cut off.
const (
	bodyGrace   = 15 * time.Second
	minBodyRate = 32 << 10 // bytes/s
)

// pacedReader reads a body and cuts the sender off when it is too slow. It does
// so from a timer: deadlines on the connection, set and taken away for every
// request, would cost the hot path a microsecond.
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

// pace begins to read a request's body. The caller calls done.
func pace(w http.ResponseWriter, body io.Reader) *pacedReader {
	p := pacedReaders.Get().(*pacedReader)
	p.begin(w, body)
	return p
}

func (p *pacedReader) begin(w http.ResponseWriter, body io.Reader) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.body, p.w, p.start = body, w, time.Now()
	p.armed, p.expired = true, false
	p.read.Store(0)
	p.timer.Reset(bodyGrace)
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
		p.timer.Reset(left)
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

// end takes a deadline that was set away again: the server would take it for
// the death of the connection.
func (p *pacedReader) end() {
	p.timer.Stop()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.expired {
		_ = http.NewResponseController(p.w).SetReadDeadline(time.Time{})
	}
	p.armed, p.body, p.w = false, nil, nil
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
