package ingest

import (
	"bytes"
	"testing"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/engine"
	_ "github.com/rimewatch/rimewatch/internal/trial"
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

// TestColdest: what was in use since the last turn stays, what is needed stays in
// any case, and nothing is named twice.
func TestColdest(t *testing.T) {
	m := memory{most: 4}
	units := make([]unit, 3*slabStates)
	for i := range units {
		units[i].id = int64(i)
		m.add(&units[i]).Presence.LastSeen = rimewatch.Time(i)
		units[i].recent = i%2 == 0
	}
	units[1].needed, units[3].saving = true, true
	cold := m.coldest(10, nil)
	if len(cold) != 10 {
		t.Fatalf("%d units, want 10", len(cold))
	}
	for _, u := range cold {
		if u.id%2 == 0 || u.id == 1 || u.id == 3 {
			t.Errorf("unit %d is among the coldest", u.id)
		}
		m.remove(u)
	}
	if m.used() != len(units)-10 {
		t.Errorf("%d states are left", m.used())
	}
	back := &unit{id: 9999}
	if st := m.add(back); *st != (engine.State{}) || m.state(back) != st {
		t.Error("a place that was used before is not empty")
	}
	named := make(map[*unit]bool)
	for _, u := range m.coldest(len(units), nil) {
		if named[u] {
			t.Fatalf("unit %d is named twice", u.id)
		}
		named[u] = true
	}
	if len(named) != m.used()-2 {
		t.Errorf("%d units, want all %d but two", len(named), m.used())
	}
	for i := range units {
		u := &units[i]
		if st := m.state(u); st != nil && st.Presence.LastSeen != rimewatch.Time(i) {
			t.Errorf("unit %d: the state of unit %d", i, st.Presence.LastSeen)
		}
	}
}
