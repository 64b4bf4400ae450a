package httpapi

import (
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// minCompressed is the size in bytes from which an answer is worth compressing.
const minCompressed = 1 << 10

// compressor compresses an answer of JSON or CSV when it is large enough and the
// client takes it compressed. Answers to GET only: those to writes may hold new
// secrets next to the caller's input, whose size would then reveal them.
type compressor struct {
	http.ResponseWriter
	encoding string // gzip, zstd, or none
	status   int    // 0 until the answer begins
	begun    bool   // it is known whether the answer is compressed
	held     []byte // written before
	z        compressing
}

// compressing is a compressor of the library.
type compressing interface {
	io.WriteCloser
	Reset(io.Writer)
}

var zippers = map[string]*sync.Pool{
	"gzip": {New: func() any {
		z, err := gzip.NewWriterLevel(nil, gzip.BestSpeed)
		if err != nil {
			panic(err) // the level is wrong
		}
		return z
	}},
	"zstd": {New: func() any {
		z, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithWindowSize(128<<10), zstd.WithLowerEncoderMem(true))
		if err != nil {
			panic(err) // the options are wrong
		}
		return z
	}},
}

// acceptedEncoding returns the best encoding that a client takes: zstd, gzip, or
// "" for none.
func acceptedEncoding(h http.Header) (best string) {
	for _, line := range h["Accept-Encoding"] {
		for one := range strings.SplitSeq(line, ",") {
			name, params, _ := strings.Cut(one, ";")
			q, _ := strings.CutPrefix(strings.ReplaceAll(params, " ", ""), "q=")
			if q != "" && strings.Trim(q, "0.") == "" {
				continue // q=0: not acceptable
			}
			switch name = strings.ToLower(strings.TrimSpace(name)); {
			case name == "zstd", name == "gzip" && best == "":
				best = name
			}
		}
	}
	return best
}

// compressible reports whether answers of a type get smaller.
func compressible(contentType string) bool {
	return strings.HasPrefix(contentType, TypeJSON) || strings.HasPrefix(contentType, TypeCSV)
}

// WriteHeader implements http.ResponseWriter. The header is sent once it is known
// whether the answer is compressed.
func (w *compressor) WriteHeader(status int) {
	if w.status != 0 {
		return
	}
	w.status = status
	h := w.Header()
	if status < http.StatusOK || status == http.StatusNotModified || h.Get("Content-Encoding") != "" || !compressible(h.Get("Content-Type")) {
		w.begin(false)
		return
	}
	h.Add("Vary", "Accept-Encoding")
	if w.encoding == "" {
		w.begin(false)
	}
}

// begin sends the header.
func (w *compressor) begin(compressed bool) {
	w.begun = true
	if compressed {
		h := w.Header()
		h.Set("Content-Encoding", w.encoding)
		h.Del("Content-Length")
		if etag := h.Get("ETag"); strings.HasPrefix(etag, `"`) {
			h.Set("ETag", "W/"+etag) // the bytes are others
		}
		w.z = zippers[w.encoding].Get().(compressing)
		w.z.Reset(w.ResponseWriter)
	}
	w.ResponseWriter.WriteHeader(w.status)
}

// Write implements io.Writer.
func (w *compressor) Write(b []byte) (int, error) {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	if !w.begun {
		w.held = append(w.held, b...)
		if len(w.held) < minCompressed {
			return len(b), nil
		}
		w.begin(true)
		_, err := w.z.Write(w.held)
		w.held = nil
		return len(b), err
	}
	if w.z != nil {
		return w.z.Write(b)
	}
	return w.ResponseWriter.Write(b)
}

// Unwrap lets http.ResponseController reach the writer below.
func (w *compressor) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// finish ends the answer. An answer that broke off is not finished: its end must
// not look right.
func (w *compressor) finish() {
	if w.status != 0 && !w.begun {
		w.begin(false)
		_, _ = w.ResponseWriter.Write(w.held)
	}
	if w.z != nil {
		_ = w.z.Close() // a client that is gone is nobody's failure
		w.z.Reset(nil)
		zippers[w.encoding].Put(w.z)
		w.z = nil
	}
}
