package submit

import (
	"bufio"
	"bytes"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/rimewatch/rimewatch/internal/httpapi"
)

// FuzzLaneRequest: what the short loop takes for a request, net/http takes for
// the same one. A difference would let two servers in a row see two requests
// where one was sent.
func FuzzLaneRequest(f *testing.F) {
	head := string(laneLine) + "Host: x\r\nAuthorization: Bearer abc\r\nContent-Type: application/json\r\nContent-Length: 2\r\n"
	f.Add([]byte(head))
	f.Add([]byte(head + "Connection: keep-alive\r\nX-Request-Id: a.b\r\n"))
	f.Add([]byte(strings.ToLower(head)))
	f.Add([]byte(head + "Transfer-Encoding: chunked\r\n"))
	f.Fuzz(func(t *testing.T, head []byte) {
		if bytes.Contains(head, endOfHeaders) {
			return // next cuts the head there
		}
		var q laneRequest
		if !q.parse(head) {
			return
		}
		r, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(append(append([]byte(nil), head...), "\r\n"...))))
		if err != nil {
			t.Fatalf("net/http refuses it: %v", err)
		}
		if r.Method != http.MethodPost || r.URL.String() != httpapi.Prefix+singlePath || r.ProtoMinor != 1 || r.Close {
			t.Fatalf("%s %s %s", r.Method, r.URL, r.Proto)
		}
		if r.ContentLength != int64(q.length) || r.Header.Get("Content-Length") != "" && r.Header.Get("Content-Length") != strconv.Itoa(q.length) || len(r.TransferEncoding) > 0 {
			t.Fatalf("%d bytes of body, not %d", r.ContentLength, q.length)
		}
		token, ok := httpapi.BearerToken(r.Header["Authorization"])
		if !ok || token != string(q.token) {
			t.Fatalf("token %q, not %q", token, q.token)
		}
		if _, _, e := httpapi.ContentType(r.Header, httpapi.TypeJSON); e != nil {
			t.Fatal(e)
		}
		if e, err := httpapi.ContentEncoding(r.Header); e != "" || err != nil {
			t.Fatal("compressed")
		}
		if id := r.Header[httpapi.RequestIDHeader]; (q.id != nil) != (len(id) == 1 && httpapi.SaneID(id[0])) || q.id != nil && string(q.id) != id[0] {
			t.Fatalf("id %q, not %q", id, q.id)
		}
	})
}
