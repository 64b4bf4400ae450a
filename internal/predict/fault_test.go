package predict

import (
	"testing"

	"github.com/rimewatch/rimewatch/internal/unit"
)

// TestValvesAndCharge: leaking valves that do not shake are told from a lack of
// refrigerant by the suction line, which only the latter warms.
func TestValvesAndCharge(t *testing.T) {
	for _, tc := range []struct {
		name                     string
		discharge, suction, amps float64
		want                     uint8
	}{
		{"a quarter of the charge", 6, 3.2, -2, fiUndercharge},
		{"a third of the charge", 13, 5.6, -8, fiUndercharge},
		{"half of the charge", 24, 6.9, -19, fiUndercharge},
		{"valves, early", 5.7, 0.6, -6.4, fiValves},
		{"valves that leak by half", 16, 0.5, -5, fiValves},
		{"valves that leak", 36, 1.2, -15, fiValves},
	} {
		f := findings{feature(unit.Discharge): tc.discharge, feature(unit.Suction): tc.suction, feature(unit.Amps): tc.amps, ftDry: dry(tc.discharge, tc.suction)}
		if d := diagnose(&f); d.first != tc.want || d.score < needFit {
			t.Errorf("%s: %s at %.2f, want %s", tc.name, faults[d.first].name, d.score, faults[tc.want].name)
		}
	}
	if v := dry(-5, 0); v != 0 {
		t.Errorf("a cooler discharge line is dry by %v", v)
	}
}
