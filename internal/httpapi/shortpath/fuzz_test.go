package shortpath

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
)

const postLine = "POST /in HTTP/1.1\r\n"

// FuzzHead: what the loop takes for a request, or lends as one, net/http takes
// for the same one of the same length. A difference would let two servers in a
// row see two requests where one was sent.
func FuzzHead(f *testing.F) {
	head := postLine + "Host: x\r\nAuthorization: Bearer abc\r\nContent-Type: application/json\r\nContent-Length: 2\r\n"
	f.Add([]byte(head))
	f.Add([]byte(head + "Connection: keep-alive\r\nX-Request-Id: a.b\r\n"))
	f.Add([]byte(strings.ToLower(head)))
	f.Add([]byte(head + "Transfer-Encoding: chunked\r\n"))
	f.Add([]byte("GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nX: \t1\r\n"))
	f.Fuzz(func(t *testing.T, head []byte) {
		if bytes.Contains(head, endOfHead) || !bytes.HasSuffix(head, crlf) {
			return // look cuts the head there
		}
		body := strings.Repeat("b", 5000)
		sent := append(append([]byte(nil), head...), "\r\n"+body...)
		c := &conn{s: &Server{line: []byte(postLine)}, raw: stillConn{}}
		what, size := c.look(sent[:min(len(sent), bufferSize)])
		if what != plain && what != odd || size > len(sent) {
			return
		}
		r, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(sent)))
		if err != nil {
			if what == plain {
				t.Fatalf("net/http refuses it: %v", err)
			}
			return // and closes the connection
		}
		if len(r.TransferEncoding) > 0 || r.ProtoMinor != 1 {
			t.Fatalf("%v %s", r.TransferEncoding, r.Proto)
		}
		if want := len(head) + len(crlf) + int(max(0, r.ContentLength)); size != want {
			t.Fatalf("%d bytes, net/http takes %d", size, want)
		}
		if what != plain {
			return
		}
		q := &c.req
		if r.Method != http.MethodPost || r.URL.String() != "/in" || r.Close || len(r.Host) == 0 {
			t.Fatalf("%s %s", r.Method, r.URL)
		}
		if got, err := io.ReadAll(r.Body); err != nil || !bytes.Equal(got, q.Body) {
			t.Fatalf("body %q (%v), not %q", got, err, q.Body)
		}
		if h := r.Header["Authorization"]; len(h) != 1 || !strings.EqualFold(h[0][:7], "bearer ") || strings.Trim(h[0][7:], " ") != q.Token {
			t.Fatalf("token %q, not %q", h, q.Token)
		}
		for name, got := range map[string][]byte{"X-Request-Id": q.ID, "X-Forwarded-For": q.ForwardedFor} {
			if h := r.Header[name]; got == nil && len(h) > 0 || got != nil && (len(h) != 1 || h[0] != string(got)) {
				t.Fatalf("%s %q, not %q", name, h, got)
			}
		}
		if !strings.EqualFold(r.Header.Get("Content-Type"), "application/json") || len(r.Header["Content-Encoding"]) > 0 || len(r.Header["Cookie"]) > 0 {
			t.Fatalf("%v", r.Header)
		}
		if n := r.Header.Get("Content-Length"); n != "" && n != strconv.Itoa(len(q.Body)) {
			t.Fatalf("length %s", n)
		}
	})
}
