package unit

import (
	"encoding/base64"
	"testing"
)

// courseOf12 is what the version before wrote of the course in TestVersion12: it put no
// temperatures aside and did not know what the zone was before the newest reading.
const courseOf12 = "DB/AnY/KmGgAAL/tiwWf3RWQAABwQgADAQEKAZqZmT4AAAAAAAAAEAAgYZORwQAA8GIlk8FjRb4+ZmaOwdSRmT8Bv+2LBQAAGAGPQJPBAAAPiAEBAwcIAwAAAAAAAAAAAAAAAAAAAAAAAAAAAA=="

// TestVersion12: what the version before learnt is kept, and goes on as if this one had learnt it.
func TestVersion12(t *testing.T) {
	old, err := base64.StdEncoding.DecodeString(courseOf12)
	if err != nil || old[0] != version12 {
		t.Fatal(old[0], err)
	}
	read, lived := newZones(t, "walkin_freezer"), newZones(t, "walkin_freezer")
	lived.at -= minute
	lived.cycle(minute, -19, 90)
	if rest, err := read.DecodeBinary(append(old, 7)); err != nil || len(rest) != 1 {
		t.Fatal(rest, err)
	}
	want := lived.State
	want.doubts.probes.before = read.doubts.probes.before
	if read.State != want {
		t.Errorf("%+v is not %+v", read.State, want)
	}
	read.at = lived.at
	for _, v := range []float64{-18.7, 20, -18.9, -18.4} {
		if a, b := read.send(minute, v), lived.send(minute, v); a != b {
			t.Errorf("%v counts: %v, and %v where this version learnt it", v, a, b)
		}
	}
	if read.State != lived.State {
		t.Errorf("%+v is not %+v", read.State, lived.State)
	}
	old[0]--
	if _, err := read.DecodeBinary(old); err == nil {
		t.Error("a version before that is read")
	}
}
