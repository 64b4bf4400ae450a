package evaluate

import "testing"

// TestHealthyDirtyUnits plays units that nothing ails, or that have truly iced up, and
// that predictions were once wrong about: in the cold, where a held head pressure keeps
// the lines from following the ambient, and where icing took other names, by turns
// or for good.
func TestHealthyDirtyUnits(t *testing.T) {
	if testing.Short() {
		t.Skip("half a year of simulation each")
	}
	for _, tc := range []struct {
		why, equipment string
		seed           uint64
	}{
		{"a capillary tube in the cold", "vaccine_freezer", 8_000_022},
		{"icing keeps its name", "fish_cooler", 8_000_020},
		{"icing keeps its name while protectors end the runs", "vaccine_freezer", 270_896_000_051},
	} {
		t.Run(tc.why, func(t *testing.T) {
			t.Parallel()
			h, err := watchWild(tc.equipment, tc.seed, 0)
			if err != nil {
				t.Fatal(err)
			}
			if len(h.wrong) > 0 {
				t.Errorf("predicted %v", h.wrong)
			}
		})
	}
}

// TestAmbientSensorIsNoFault: an ambient sensor that trembles or sticks is reported, and
// what is compared by it is no fault of the machine meanwhile.
func TestAmbientSensorIsNoFault(t *testing.T) {
	if testing.Short() {
		t.Skip("fifty days of simulation each")
	}
	for _, tc := range []struct {
		why, equipment string
		seed           uint64
	}{
		{"trembles", "blast_freezer", 8_200_001},
		{"sticks", "floral_cooler", 8_200_029},
	} {
		t.Run(tc.why, func(t *testing.T) {
			t.Parallel()
			r, err := watchSensor(tc.equipment, tc.seed)
			if err != nil {
				t.Fatal(err)
			}
			if !r.named || r.fault {
				t.Errorf("reported with its name: %v, reported as a fault of the machine: %v", r.named, r.fault)
			}
		})
	}
}
