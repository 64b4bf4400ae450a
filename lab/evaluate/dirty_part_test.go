package evaluate

import (
	"bytes"
	"strings"
	"testing"
)

// TestOnePart: each part of the dirty units can be played alone.
func TestOnePart(t *testing.T) {
	heads := map[string]string{"healthy": "| healthy units |", "faults": "| fault |", "sensors": "| what happens to a sensor |"}
	for _, part := range []string{"", "healthy", "faults", "sensors"} {
		var out bytes.Buffer
		if err := Run(t.Context(), Options{Format: "dirty", SeedSet: "known", Part: part}, &out); err != nil {
			t.Fatal(err)
		}
		for name, head := range heads {
			if got, want := strings.Contains(out.String(), head), part == "" || part == name; got != want {
				t.Errorf("part %q: has %q: %v, want %v", part, head, got, want)
			}
		}
	}
}
