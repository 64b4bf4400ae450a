package httpapi

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/wire"
)

// How large a body may be after decompression.
const (
	MaxSingleBody = 1 << 20
	maxBulkBody   = 16 << 20
)

// The content types that routes take.
const (
	TypeJSON      = "application/json"
	TypeNDJSON    = "application/x-ndjson"
	TypeCSV       = "text/csv"
	TypeMultipart = "multipart/form-data"
	TypePDF       = "application/pdf"
	TypeZIP       = "application/zip"
)

// ErrEmptyBody refuses a request that needs a body and has none.
var ErrEmptyBody = wire.InvalidJSON("it is empty")

// ContentType checks the Content-Type of a request against what the route
// takes and returns the plain type.
func ContentType(h http.Header, accepted ...string) (string, map[string]string, *rimewatch.Error) {
	ct := h.Get("Content-Type")
	if len(accepted) > 0 && ct == accepted[0] {
		return ct, nil, nil
	}
	unsupported := func() *rimewatch.Error {
		return rimewatch.Errorf(rimewatch.CodeUnsupportedMedia, "The Content-Type must be %s.", strings.Join(accepted, " or "))
	}
	if slices.Contains(accepted, TypeJSON) && vague(h) {
		return TypeJSON, nil, nil
	}
	if ct == "" {
		return "", nil, unsupported()
	}
	plain, params, err := mime.ParseMediaType(ct)
	if err != nil {
		return "", nil, unsupported()
	}
	if charset, ok := params["charset"]; ok && !strings.EqualFold(charset, "utf-8") {
		return "", nil, rimewatch.Errorf(rimewatch.CodeUnsupportedMedia, "The charset must be utf-8.")
	}
	for _, a := range accepted {
		if plain == a {
			return plain, params, nil
		}
	}
	return "", nil, unsupported()
}

// vague reports whether the Content-Type leaves open what the body is: many
// clients send JSON without one, or as a form. It is taken for JSON only where a
// token came with it: a browser that another site leads here has none.
func vague(h http.Header) bool {
	if _, ok := BearerToken(h["Authorization"]); !ok {
		return false
	}
	ct := h.Get("Content-Type")
	if ct == "" {
		return true
	}
	plain, params, err := mime.ParseMediaType(ct)
	charset, named := params["charset"]
	return err == nil && (!named || strings.EqualFold(charset, "utf-8")) &&
		(plain == "text/plain" || plain == "application/x-www-form-urlencoded" || strings.HasSuffix(plain, "+json"))
}

// MeantAsJSON refuses a body whose type ContentType took for JSON although it says
// nothing of the kind, unless it begins like an object or an array.
func MeantAsJSON(h http.Header, body []byte) *rimewatch.Error {
	body = bytes.TrimLeft(body, " \t\r\n")
	if !vague(h) || len(body) == 0 || body[0] == '{' || body[0] == '[' {
		return nil
	}
	return rimewatch.Errorf(rimewatch.CodeUnsupportedMedia, "The Content-Type must be %s.", TypeJSON)
}

// ContentEncoding checks the Content-Encoding: "", gzip or zstd.
func ContentEncoding(h http.Header) (string, *rimewatch.Error) {
	values := h["Content-Encoding"]
	if len(values) == 0 {
		return "", nil
	}
	if len(values) == 1 {
		switch enc := strings.ToLower(strings.TrimSpace(values[0])); enc {
		case "", "identity":
			return "", nil
		case "gzip", "x-gzip":
			return "gzip", nil
		case "zstd":
			return "zstd", nil
		}
	}
	return "", rimewatch.Errorf(rimewatch.CodeUnsupportedMedia, "The Content-Encoding must be gzip, zstd or none.")
}

func errTooLarge(limit int) *rimewatch.Error {
	return rimewatch.Errorf(rimewatch.CodePayloadTooLarge, "The body must not be larger than %d bytes, after decompression.", limit)
}

// readBody reads and decompresses a whole body of at most limit bytes into buf,
// which it returns, grown where needed. hold is called once, before more than
// promptBody bytes are held, and may refuse.
func readBody(w http.ResponseWriter, r *http.Request, buf []byte, limit int, hold func() *rimewatch.Error) ([]byte, *rimewatch.Error) {
	encoding, e := ContentEncoding(r.Header)
	if e != nil {
		return buf, e
	}
	if r.ContentLength > int64(limit) {
		return buf, errTooLarge(limit)
	}
	if r.ContentLength == 0 || r.Body == nil || r.Body == http.NoBody {
		return buf[:0], nil
	}
	paced := pace(w, r.Body, r.ContentLength)
	defer paced.done()
	// What is compressed counts, too: empty members decompress to nothing for ever.
	var src io.Reader = &boundedReader{r: paced, left: int64(limit)}
	if encoding != "" && r.ContentLength > 0 && r.ContentLength <= promptBody {
		// Little can be much to decompress: the time that takes is ours, not the sender's.
		packed, e := readAll(paced, make([]byte, 0, r.ContentLength+1), int(r.ContentLength), promptBody, nil, badCompression)
		if e != nil {
			return buf, e
		}
		paced.arrived()
		src = bytes.NewReader(packed)
	}
	switch encoding {
	case "":
		if n := int(r.ContentLength); n > cap(buf) {
			// One more byte, so that the end is seen without growing again. What is
			// only claimed takes no memory.
			buf = make([]byte, 0, min(n, promptBody)+1)
		}
		return readAll(paced, buf, int(r.ContentLength), limit, hold, nil)
	case "gzip":
		z := gzipReaders.Get().(*gzip.Reader)
		defer gzipReaders.Put(z)
		if err := z.Reset(src); err != nil {
			return buf, badCompression(err)
		}
		return readAll(z, buf, -1, limit, hold, badCompression)
	default:
		z := zstdReaders.Get().(*zstd.Decoder)
		defer func() {
			_ = z.Reset(nil) // lets go of the body
			zstdReaders.Put(z)
		}()
		if err := z.Reset(src); err != nil {
			return buf, badCompression(err)
		}
		return readAll(z, buf, -1, limit, hold, badCompression)
	}
}

var gzipReaders = sync.Pool{New: func() any { return new(gzip.Reader) }}

// A decoder works on the caller's goroutine, with a window no larger than the
// largest body.
var zstdReaders = sync.Pool{New: func() any {
	z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxBulkBody))
	if err != nil {
		panic(err) // the options are wrong
	}
	return z
}}

// boundedReader fails with errBound after left bytes.
type boundedReader struct {
	r    io.Reader
	left int64
}

var errBound = errors.New("compressed body is too large")

func (b *boundedReader) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errBound
	}
	n, err := b.r.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}

func badCompression(err error) *rimewatch.Error {
	if errors.Is(err, errBound) {
		return rimewatch.Wrap(rimewatch.CodePayloadTooLarge, err, "The compressed body is too large.")
	}
	if e := brokenBody(err); e != nil {
		return e
	}
	return rimewatch.Wrap(rimewatch.CodeInvalidJSON, err, "The body cannot be decompressed.")
}

// brokenBody reports whether reading failed because of the connection.
func brokenBody(err error) *rimewatch.Error {
	var broken *pacedError
	if !errors.As(err, &broken) {
		return nil
	}
	return rimewatch.Wrap(rimewatch.CodeInvalidJSON, err, "The body did not arrive completely or in time.")
}

// largeBodies are the buffers of single readings that are larger than anybody sends
// in earnest: whoever floods with them is not to keep the garbage collector busy.
var largeBodies sync.Pool

// roomFor returns an empty buffer with room for a body and one byte more, by which the
// end is seen.
func roomFor(size int) []byte {
	if b, ok := largeBodies.Get().(*[]byte); ok && cap(*b) > size {
		return (*b)[:0]
	}
	return make([]byte, 0, size+1)
}

// Reuse keeps the buffer of a large body that nobody refers to any more for another
// one.
func Reuse(body []byte) {
	if cap(body) > promptBody+1 && cap(body) <= MaxSingleBody+1 {
		largeBodies.Put(&body)
	}
}

// readAll reads src into buf. size is what a body claims to have, -1 when that is not
// known: once it has a place it gets room for all of it, instead of twice as much in
// ever larger pieces that are thrown away.
func readAll(src io.Reader, buf []byte, size, limit int, hold func() *rimewatch.Error, onError func(error) *rimewatch.Error) ([]byte, *rimewatch.Error) {
	buf = buf[:0]
	for {
		if len(buf) > promptBody && hold != nil {
			if e := hold(); e != nil {
				return buf, e
			}
			hold = nil
		}
		if len(buf) > promptBody && size >= cap(buf) {
			buf = append(roomFor(size), buf...)
		}
		if len(buf) == cap(buf) {
			buf = append(buf, 0)[:len(buf)]
		}
		room := buf[len(buf):cap(buf)]
		if most := limit + 1 - len(buf); len(room) > most {
			room = room[:most]
		}
		n, err := src.Read(room)
		buf = buf[:len(buf)+n]
		switch {
		case len(buf) > limit:
			return buf, errTooLarge(limit)
		case err == io.EOF:
			return buf, nil
		case err == nil:
		case onError != nil:
			return buf, onError(err)
		default:
			if e := brokenBody(err); e != nil {
				return buf, e
			}
			return buf, rimewatch.Wrap(rimewatch.CodeInvalidJSON, err, "The body cannot be read.")
		}
	}
}
