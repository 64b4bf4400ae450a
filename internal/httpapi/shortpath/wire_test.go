package shortpath

import (
	"reflect"
	"testing"
)

// TestWire: another server reads what was written, and refuses what breaks off or goes
// on.
func TestWire(t *testing.T) {
	var back Request // the memory of one after the other
	for _, q := range []Request{
		{Token: "rw_x", ID: []byte("id"), ForwardedFor: []byte("192.0.2.7"), Body: []byte(`{"a":1}`), sent: address("192.0.2.1:77")},
		{Token: "rw_y", Body: []byte("{}"), sent: address("[2001:db8::1]:77")},
		{Token: "rw_y", Body: []byte("{}"), sent: address("192.0.2.1:77")},
	} {
		q.Remote = &q.sent
		b := q.Append(nil)
		if err := back.Decode(b); err != nil || !reflect.DeepEqual(back, q) || back.Remote.String() != string(q.sent) {
			t.Errorf("%+v, %v, not %+v", back, err, q)
		}
		for n := range b {
			if back.Decode(b[:n]) == nil {
				t.Errorf("%d of %d bytes are a request", n, len(b))
			}
		}
		if back.Decode(append(b, 0)) == nil {
			t.Error("a byte too many is not noticed")
		}
	}
	a := Answer{Status: 429, Body: []byte("later")}
	a.Header("Retry-After", "7")
	b := a.Append(nil)
	var answer Answer
	if err := answer.Decode(b); err != nil || !reflect.DeepEqual(answer, a) {
		t.Errorf("%+v, %v, not %+v", answer, err, a)
	}
	for n := range b {
		if answer.Decode(b[:n]) == nil {
			t.Errorf("%d of %d bytes are an answer", n, len(b))
		}
	}
}
