package wire

import (
	"encoding/json"
	"reflect"
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
		var (
			b        Batch
			taken    = map[int]rimewatch.Reading{}
			rejected int
		)
		e := b.ReadDocument(body, func(e *rimewatch.Error) {
			if e != nil {
				rejected++
				return
			}
			taken[b.N-1] = b.Sent.Reading
		})
		syntax := CheckJSON(body)
		if syntax != nil && (e == nil || e.Code != rimewatch.CodeInvalidJSON) && b.N <= MaxBatch {
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
		if len(doc.Readings) != b.N || len(taken)+rejected != b.N {
			t.Fatalf("%d items: %d seen, %d taken, %d rejected", len(doc.Readings), b.N, len(taken), rejected)
		}
		for at, reading := range taken {
			var one SentReading
			if e := DecodeReading(doc.Readings[at], &one); e != nil || !reflect.DeepEqual(one.Reading, reading) {
				t.Fatalf("item %d alone: %v %+v, in the batch: %+v", at, e, one.Reading, reading)
			}
		}
	})
}
