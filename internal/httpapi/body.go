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
	TypeBinary    = "application/octet-stream"
	TypePDF       = "application/pdf"
	TypeZIP       = "application/zip"

	// TypeMergePatch is JSON of which maps are merged, and null members removed (RFC 7396). Every PATCH takes it.
	TypeMergePatch = "application/merge-patch+json"
)

// ErrEmptyBody refuses a request that needs a body and has none.
var ErrEmptyBody = wire.InvalidJSON("it is empty")

// ContentType checks the Content-Type of a request against those that the route
// takes and returns the plain type.
func ContentType(h http.Header, accepted ...string) (string, map[string]string, *rimewatch.Error) {
	return contentType(h, false, accepted)
}

func contentType(h http.Header, file bool, accepted []string) (string, map[string]string, *rimewatch.Error) {
	ct := h.Get("Content-Type")
	if file && ct == "" {
		return TypeBinary, nil, nil
	}
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
	if charset, ok := params["charset"]; ok && !file && !strings.EqualFold(charset, "utf-8") {
		return "", nil, rimewatch.Errorf(rimewatch.CodeUnsupportedMedia, "The charset must be utf-8.")
	}
	for _, a := range accepted {
		if plain == a {
			return plain, params, nil
		}
	}
	return "", nil, unsupported()
}

// vague reports whether the Content-Type leaves the kind of the body open: many
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

// sealed is the body of a request on its way to a handler: it cannot be read but by
// readBody, which every handler gets its bytes from.
type sealed struct{ sent io.ReadCloser }

var errSealed = errors.New("a body is read by the frame alone")

// Read implements io.Reader. It always fails.
func (*sealed) Read([]byte) (int, error) { return 0, errSealed }

// Close implements io.Closer.
func (s *sealed) Close() error { return s.sent.Close() }

// seal returns a request whose body nothing but readBody can read. It is another one:
// the server still has to know its own body by its type.
func seal(r *http.Request) *http.Request {
	if r.Body == nil || r.Body == http.NoBody {
		return r
	}
	closed := r.WithContext(r.Context())
	closed.Body = &sealed{r.Body}
	return closed
}

// sentBody returns the body of a request as it was sent, nil = there is none.
func sentBody(r *http.Request) io.Reader {
	if s, ok := r.Body.(*sealed); ok {
		return s.sent
	}
	if r.Body == http.NoBody {
		return nil
	}
	return r.Body
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
	sent := sentBody(r)
	if r.ContentLength == 0 || sent == nil {
		return buf[:0], nil
	}
	paced := pace(w, sent, r.ContentLength)
	defer paced.done()
	if encoding == "" {
		if n := int(r.ContentLength); n > cap(buf) {
			// One more byte, so that the end is seen without growing again. What is
			// only claimed takes no memory.
			buf = make([]byte, 0, min(n, promptBody)+1)
		}
		return readAll(paced, buf, int(r.ContentLength), limit, hold)
	}
	if hold != nil {
		hold = sync.OnceValue(hold)
	}
	packed, e := readAll(paced, make([]byte, 0, min(max(int(r.ContentLength), 0), promptBody)+1), int(r.ContentLength), limit, hold)
	if e != nil {
		return buf, e
	}
	paced.arrived() // little can be much to decompress: the time that takes is ours, not the sender's
	return unpack(encoding, packed, buf, limit, hold)
}

// unpack decompresses a body of at most limit bytes into buf, which it returns, grown
// where needed. It begins again with more room where there was too little, and never
// has more than limit: the claimed size of a body takes no memory.
func unpack(encoding string, packed, buf []byte, limit int, hold func() *rimewatch.Error) ([]byte, *rimewatch.Error) {
	const factor = 4 // of room, from one try to the next
	beyond := 1      // the end is seen by it
	if encoding == "zstd" {
		beyond = zstdBlock
	}
	for room := max(cap(buf)-beyond, min(factor*len(packed)+512, promptBody)); ; room *= factor {
		room = min(room, limit)
		if room > promptBody && hold != nil {
			if e := hold(); e != nil {
				return buf, e
			}
		}
		if cap(buf) < room+beyond {
			buf = roomFor(room + beyond - 1)
		}
		n, err := unpackInto(encoding, packed, buf[:room+beyond])
		switch {
		case err != nil && !errors.Is(err, errNoRoom):
			return buf, rimewatch.Wrap(rimewatch.CodeInvalidJSON, err, "The body cannot be decompressed.")
		case err == nil && n <= room:
			return buf[:n], nil
		case room == limit:
			return buf, errTooLarge(limit)
		}
	}
}

// zstdBlock is more than the largest block of Zstandard decodes to (RFC 8878, 3.1.1.2.4).
const zstdBlock = 128<<10 + 1

// errNoRoom means that a body becomes larger than there is room.
var errNoRoom = errors.New("the body is larger than its room")

// unpackInto decompresses into room and returns how much it became.
func unpackInto(encoding string, packed, room []byte) (n int, err error) {
	if encoding == "zstd" {
		out, err := zstdDecoder().DecodeAll(packed, room[:0:len(room)])
		// A block that does not fit fails as one that is broken does.
		if errors.Is(err, zstd.ErrDecoderSizeExceeded) || err != nil && len(room)-len(out) < zstdBlock {
			err = errNoRoom
		}
		return len(out), err
	}
	z := gzipReaders.Get().(*gzip.Reader)
	defer gzipReaders.Put(z)
	if err := z.Reset(bytes.NewReader(packed)); err != nil {
		return 0, err
	}
	for n < len(room) {
		k, err := z.Read(room[n:])
		n += k
		if err == io.EOF { //nolint:errorlint // one that is cut off wraps it
			return n, nil
		}
		if err != nil {
			return n, err
		}
	}
	return n, errNoRoom
}

var gzipReaders = sync.Pool{New: func() any { return new(gzip.Reader) }}

// zstdDecoder decodes whole bodies on the caller's goroutine, into the room that it is
// given: the window of a frame takes no memory of its own.
var zstdDecoder = sync.OnceValue(func() *zstd.Decoder {
	z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxBulkBody), zstd.WithDecodeAllCapLimit(true))
	if err != nil {
		panic(err) // the options are wrong
	}
	return z
})

// brokenBody reports whether reading failed because of the connection.
func brokenBody(err error) *rimewatch.Error {
	var broken *pacedError
	if !errors.As(err, &broken) {
		return nil
	}
	return rimewatch.Wrap(rimewatch.CodeInvalidJSON, err, "The body did not arrive completely or in time.")
}

// largeBodies are the buffers of single readings that are larger than anybody sends
// in earnest: a flood of them must not keep the garbage collector busy.
var largeBodies sync.Pool

// roomFor returns an empty buffer with room for a body and one byte more, by which the
// end is seen.
func roomFor(size int) []byte {
	if b, ok := largeBodies.Get().(*[]byte); ok && cap(*b) > size {
		return (*b)[:0]
	}
	return make([]byte, 0, size+1)
}

// Reuse keeps the buffer of a large body that is not referred to any more for another
// one.
func Reuse(body []byte) {
	if cap(body) > promptBody+1 && cap(body) <= MaxSingleBody+1 {
		largeBodies.Put(&body)
	}
}

// readAll reads src into buf. size is the claimed size of a body, -1 when that is not
// known: once it has a place it gets room for all of it, instead of twice as much in
// ever larger pieces that are thrown away.
func readAll(src io.Reader, buf []byte, size, limit int, hold func() *rimewatch.Error) ([]byte, *rimewatch.Error) {
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
		case err != nil:
			if e := brokenBody(err); e != nil {
				return buf, e
			}
			return buf, rimewatch.Wrap(rimewatch.CodeInvalidJSON, err, "The body cannot be read.")
		}
	}
}
