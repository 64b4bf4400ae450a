package ingest

import (
	"bytes"
	"testing"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/engine"
	"pgregory.net/rapid"
)

func TestPackZeros(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		prefix := rapid.SliceOfN(rapid.Byte(), 0, 5).Draw(t, "prefix")
		state := rapid.SliceOf(rapid.SampledFrom([]byte{0, 0, 0, 0, 1, 255})).Draw(t, "state")
		packed := packZeros(bytes.Clone(prefix), state)
		if !bytes.Equal(packed[:len(prefix)], prefix) {
			t.Fatal("the prefix changed")
		}
		got, err := unpackZeros(nil, packed[len(prefix):])
		if err != nil || !bytes.Equal(got, state) {
			t.Fatalf("%v became %v, %v", state, got, err)
		}
	})
	for _, damaged := range [][]byte{{0}, {0, 0}, {0, 0x80}, {0, 0xff, 0xff, 0xff, 0xff, 0x0f}} {
		if _, err := unpackZeros(nil, damaged); err == nil {
			t.Errorf("%v was unpacked", damaged)
		}
	}
}

// TestMemoryOfAGrowingFleet: a small fleet lies unpacked as a whole, a large one
// keeps to its share, and no state is lost on the way there.
func TestMemoryOfAGrowingFleet(t *testing.T) {
	m := memory{capacity: 2, whole: 4}
	var units []*unit
	unpacked := func() (n int) {
		for _, u := range units {
			if u.state != nil {
				n++
			}
		}
		return n
	}
	touch := func(u *unit) {
		st := m.take()
		*st = engine.State{}
		st.Presence.LastSeen = rimewatch.Time(u.id)
		m.put(u, st)
	}
	for id := range int64(9) {
		u := &unit{id: id + 1}
		units = append(units, u)
		m.devices = len(units)
		touch(u)
		if n := unpacked(); len(units) <= 4 && n != len(units) || n > 4 {
			t.Fatalf("%d of %d states are unpacked", n, len(units))
		}
	}
	for range 3 {
		for _, u := range units {
			touch(u)
		}
	}
	if n := unpacked(); n != 2 || len(m.ring) != 2 {
		t.Errorf("%d states are unpacked, %d places, want 2", n, len(m.ring))
	}
	for _, u := range units {
		var scratch engine.State
		if got := u.read(&scratch).Presence.LastSeen; got != rimewatch.Time(u.id) {
			t.Errorf("unit %d: the state of unit %d", u.id, got)
		}
	}
}
