package client

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
)

// Encoding is a way to compress request bodies that the service understands:
// Gzip, or zstd with a library of the caller's choice:
//
//	&client.Encoding{Name: "zstd", Writer: func(w io.Writer) (io.WriteCloser, error) { return zstd.NewWriter(w) }}
type Encoding struct {
	Name   string // as in Content-Encoding
	Writer func(io.Writer) (io.WriteCloser, error)
}

// Gzip compresses with the standard library, at its fastest.
func Gzip() *Encoding {
	return &Encoding{Name: "gzip", Writer: func(w io.Writer) (io.WriteCloser, error) {
		return gzip.NewWriterLevel(w, gzip.BestSpeed)
	}}
}

// worthEncoding is the size below which compressing gains nothing.
const worthEncoding = 1024

// encode compresses the body of a call.
func (e *Encoding) encode(call *call) error {
	if e == nil || len(call.body) < worthEncoding {
		return nil
	}
	var b bytes.Buffer
	w, err := e.Writer(&b)
	if err != nil {
		return fmt.Errorf("compress with %s: %w", e.Name, err)
	}
	if _, err := w.Write(call.body); err != nil {
		return fmt.Errorf("compress with %s: %w", e.Name, err)
	}
	if err := w.Close(); err != nil {
		return fmt.Errorf("compress with %s: %w", e.Name, err)
	}
	call.body, call.encoding = b.Bytes(), e.Name
	return nil
}
