package httpapi

import (
	"bufio"
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/rimewatch/rimewatch"
)

// FuzzBatch: a document is taken only when it is strict JSON with one member,
// and then every item is either taken or rejected.
func FuzzBatch(f *testing.F) {
	f.Add([]byte(`{"readings":[` + nominalBody + `,` + nominalBody + `]}`))
	f.Add([]byte(` { "readings" : [ {"device_serial":"A","humidity":1e1} , 5 , null ] } `))
	f.Add([]byte(`{"readings":[],"readings":[{}]}`))
	f.Add([]byte(`{"\u0072eadings":[{"device_serial":"A"}]}x`))
	f.Fuzz(func(t *testing.T, body []byte) {
		bc := batchContext{workspaceID: 1, now: rigStart, settings: rimewatch.Workspace{RawDays: 100_000}, fleet: wideFleet{}}
		var b Batch
		b.reset()
		e := b.decodeDocument(&bc, body)
		syntax := checkJSON(body)
		if syntax != nil && (e == nil || e.Code != rimewatch.CodeInvalidJSON) && b.n <= maxBatch {
			t.Fatalf("taken (%v), but %v", e, syntax)
		}
		if e != nil {
			return
		}
		var doc struct {
			Readings []json.RawMessage `json:"readings"`
		}
		if err := json.Unmarshal(body, &doc); err != nil {
			t.Fatal(err)
		}
		if len(doc.Readings) != b.n || len(b.inputs)+len(b.rejected) != b.n || len(b.index) != len(b.inputs) {
			t.Fatalf("%d items: %d seen, %d taken, %d rejected", len(doc.Readings), b.n, len(b.inputs), len(b.rejected))
		}
		for i, at := range b.index {
			var one sentReading
			if e := decodeReading(doc.Readings[at], &one); e != nil || one.Reading != b.inputs[i].Reading {
				t.Fatalf("item %d alone: %v %+v, in the batch: %+v", at, e, one.Reading, b.inputs[i].Reading)
			}
		}
	})
}

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
		if r.Method != http.MethodPost || r.URL.String() != Prefix+singlePath || r.ProtoMinor != 1 || r.Close {
			t.Fatalf("%s %s %s", r.Method, r.URL, r.Proto)
		}
		if r.ContentLength != int64(q.length) || r.Header.Get("Content-Length") != "" && r.Header.Get("Content-Length") != strconv.Itoa(q.length) || len(r.TransferEncoding) > 0 {
			t.Fatalf("%d bytes of body, not %d", r.ContentLength, q.length)
		}
		token, ok := bearerToken(r.Header["Authorization"])
		if !ok || token != string(q.token) {
			t.Fatalf("token %q, not %q", token, q.token)
		}
		if _, _, e := contentType(r.Header, typeJSON); e != nil {
			t.Fatal(e)
		}
		if e, err := contentEncoding(r.Header); e != "" || err != nil {
			t.Fatal("compressed")
		}
		if id := r.Header[requestIDHeader]; (q.id != nil) != (len(id) == 1 && saneID(id[0])) || q.id != nil && string(q.id) != id[0] {
			t.Fatalf("id %q, not %q", id, q.id)
		}
	})
}
