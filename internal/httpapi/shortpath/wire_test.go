package shortpath

import (
	"reflect"
	"testing"
)

// TestWire: another server reads what was written, and refuses what breaks off or goes
// on.
func TestWire(t *testing.T) {
	for _, q := range []Request{
		{Token: "rw_x", ID: []byte("id"), ForwardedFor: []byte("192.0.2.7"), Body: []byte(`{"a":1}`), Remote: address("192.0.2.1:77")},
		{Token: "rw_x", Body: []byte("{}"), Remote: address("[2001:db8::1]:77")},
	} {
		b := q.Append(nil)
		var back Request
		if err := back.Decode(b); err != nil || !reflect.DeepEqual(back, q) {
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
	var back Answer
	if err := back.Decode(b); err != nil || !reflect.DeepEqual(back, a) {
		t.Errorf("%+v, %v, not %+v", back, err, a)
	}
	for n := range b {
		if back.Decode(b[:n]) == nil {
			t.Errorf("%d of %d bytes are an answer", n, len(b))
		}
	}
}
