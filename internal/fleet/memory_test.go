package fleet

import (
	"testing"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/engine"
)

// TestColdest: what was in use since the last turn stays, what is needed stays in
// any case, and nothing is named twice.
func TestColdest(t *testing.T) {
	m := memory[struct{}]{most: 4}
	devices := make([]Device[struct{}], 3*slabStates)
	for i := range devices {
		devices[i].ID = int64(i)
		m.add(&devices[i]).Presence.LastSeen = rimewatch.Time(i)
		devices[i].recent = i%2 == 0
	}
	devices[1].needed, devices[3].saving = true, true
	cold := m.coldest(10, nil)
	if len(cold) != 10 {
		t.Fatalf("%d devices, want 10", len(cold))
	}
	for _, d := range cold {
		if d.ID%2 == 0 || d.ID == 1 || d.ID == 3 {
			t.Errorf("device %d is among the coldest", d.ID)
		}
		m.remove(d)
	}
	if m.used() != len(devices)-10 {
		t.Errorf("%d states are left", m.used())
	}
	back := &Device[struct{}]{ID: 9999}
	if st := m.add(back); *st != (engine.State{}) || m.state(back) != st {
		t.Error("a place that was used before is not empty")
	}
	named := make(map[*Device[struct{}]]bool)
	for _, d := range m.coldest(len(devices), nil) {
		if named[d] {
			t.Fatalf("device %d is named twice", d.ID)
		}
		named[d] = true
	}
	if len(named) != m.used()-2 {
		t.Errorf("%d devices, want all %d but two", len(named), m.used())
	}
	for i := range devices {
		d := &devices[i]
		if st := m.state(d); st != nil && st.Presence.LastSeen != rimewatch.Time(i) {
			t.Errorf("device %d: the state of device %d", i, st.Presence.LastSeen)
		}
	}
}
