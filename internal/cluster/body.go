package cluster

import (
	"bytes"
	"io"
	"net/http"
	"strconv"
)

// body is a request's body that may have to be sent again.
type body struct {
	from   io.ReadCloser // nil: there is none
	whole  []byte        // all of it, or all that came, once it is kept
	kept   bool
	used   bool  // some of it was read, and it is not kept
	broken error // why the rest of it does not come
}

// Read implements io.Reader.
func (b *body) Read(into []byte) (int, error) {
	b.used = true
	n, err := b.from.Read(into)
	if err != nil && err != io.EOF {
		b.broken = err
	}
	return n, err
}

// Close implements io.Closer.
func (b *body) Close() error { return b.from.Close() }

func bodyOf(r *http.Request) *body {
	b := &body{}
	if r.Body != nil && r.Body != http.NoBody && r.ContentLength != 0 {
		b.from, r.Body = r.Body, b
	}
	return b
}

// keep reads a small body before it is sent to another node, or waits. One that breaks
// off is kept as far as it came: what is wrong with the request, its owner says. It
// reports whether anything was to be read.
func (b *body) keep(r *http.Request) bool {
	if b.from == nil || b.used || b.kept || r.ContentLength > keptBody {
		return false
	}
	if r.ContentLength > 0 {
		b.whole = make([]byte, r.ContentLength)
		n, err := io.ReadFull(b.from, b.whole)
		b.whole, b.broken, b.kept = b.whole[:n], err, true
		return true
	}
	b.whole, b.broken = io.ReadAll(io.LimitReader(b.from, keptBody+1))
	if b.kept = len(b.whole) <= keptBody; b.kept {
		if b.broken == nil {
			r.ContentLength, r.TransferEncoding = int64(len(b.whole)), nil
		}
		return true
	}
	b.used, b.broken = true, nil
	r.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(b.whole), b), b}
	b.whole = nil
	return true
}

// rewind puts the body back to where it begins.
func (b *body) rewind(r *http.Request) {
	if !b.kept {
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(b.whole))
	if b.broken != nil {
		r.Body = breaking(b.whole)
	}
}

// breaking is a body that breaks off after a part of it.
func breaking(part []byte) io.ReadCloser {
	return io.NopCloser(io.MultiReader(bytes.NewReader(part), failing{}))
}

// failing fails where the received part of a body ends.
type failing struct{}

// Read implements io.Reader.
func (failing) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// send puts the received part of a body that breaks off into a request to another node.
func (b *body) send(out *http.Request) {
	if b.kept && b.broken != nil {
		out.Header.Set(headerBroken, strconv.FormatInt(out.ContentLength, 10))
		out.Body, out.ContentLength = io.NopCloser(bytes.NewReader(b.whole)), int64(len(b.whole))
	}
}

// receive is the opposite of send.
func receive(r *http.Request) {
	length, err := strconv.ParseInt(r.Header.Get(headerBroken), 10, 64)
	if err != nil {
		return
	}
	part, _ := io.ReadAll(io.LimitReader(r.Body, keptBody)) // it breaks off either way
	r.Body, r.ContentLength = breaking(part), length
}
