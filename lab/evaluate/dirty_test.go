package evaluate

import (
	"testing"

	"github.com/rimewatch/rimewatch"
)

// TestHealthyDirtyUnits plays units that nothing ails, or that have truly iced up, and
// that predictions were once wrong about: in the cold, where a held head pressure keeps
// the lines from following the ambient, and where icing took other names, by turns
// or for good.
func TestHealthyDirtyUnits(t *testing.T) {
	for _, tc := range []struct {
		why, equipment string
		seed           uint64
		without        rimewatch.Fields
	}{
		{"a capillary tube in the cold", "vaccine_freezer", 8_000_022, 0},
		{"icing keeps its name", "fish_cooler", 8_000_020, 0},
		{"icing keeps its name while protectors end the runs", "vaccine_freezer", 270_896_000_051, 0},
		{"seasons that no sensor shows", "reach_in_cooler", 7_000_003, 1 << rimewatch.AmbientTemp},
		{"defrosts by hot gas that no probe shows", "blast_freezer", 7_000_014, 1 << rimewatch.ProductZoneTemp},
		{"a capillary tube in the heat", "reach_in_cooler", 515_151_000_032, 0},
		{"a digital scroll under more load", "fish_cooler", 515_151_000_020, 0},
		{"an inverter that is not known yet", "display_case_closed", 515_151_000_037, 0},
		{"ice between seldom defrosts", "lab_freezer", 762_552_000_023, 0},
		{"a capillary tube in the heat, to single readings", "reach_in_freezer", 1_795_481_780_000_060, 0},
		{"a first summer after a spring in which the head pressure was held", "milk_cooler", 1_795_481_780_000_160, 0},
		{"a defrost by hot gas that ended a run, to single readings", "blast_freezer", 1_795_650_446_000_043, 1 << rimewatch.CompressorSuctionTemp},
		{"an inverter under less load", "display_case_open", 1_795_650_446_000_036, 1 << rimewatch.CompressorSuctionTemp},
		{"a meter that counts in steps of an eighth of the current", "vaccine_freezer", 1_795_650_446_000_051, 1 << rimewatch.CompressorSuctionTemp},
		{"spikes where runs are seen by the vibration", "floral_cooler", 7_000_017, 1 << rimewatch.AmpDraw},
	} {
		t.Run(tc.why, func(t *testing.T) {
			t.Parallel()
			all, err := watchWild(tc.equipment, tc.seed, tc.without)
			if err != nil {
				t.Fatal(err)
			}
			h := &all[0]
			if len(h.wrong) > 0 {
				t.Errorf("predicted %v", h.wrong)
			}
			if pipes := h.types[string(rimewatch.HighSuctionTemperature)] + h.types[string(rimewatch.HighDischargeTemperature)]; pipes > 0 {
				t.Errorf("%d warnings of its pipes, which are as warm as they always were", pipes)
			}
		})
	}
}

// TestSensorsAreNoFault: a sensor that is wrong is reported, and what it shows, or what is
// compared by it, is no fault of the machine meanwhile.
func TestSensorsAreNoFault(t *testing.T) {
	for _, tc := range []struct {
		why, equipment string
		seed           uint64
	}{
		{"an ambient that trembles", "blast_freezer", 8_200_001},
		{"an ambient that sticks", "floral_cooler", 8_200_029},
		{"an ambient that drifts in the cold, where the lines do not follow it", "undercounter_freezer", 7_200_084},
		{"a vibration by another scale", "blood_refrigerator", 7_200_001},
		{"a vibration by another scale that is set aside before the load changes", "display_case_open", 1_795_722_819_100_119},
		{"a zone probe that was moved just before its door was opened", "undercounter_cooler", 535_401_200_125},
		{"a discharge line that drifts beside all else that keeps still", "milk_cooler", 391_176_200_205},
		{"a suction line beside a compressor of variable speed", "undercounter_freezer", 7_200_088},
		{"a discharge line that drifts, for which valves that leak would take more off the current", "lab_freezer", 1_795_731_626_200_248},
		{"an ambient that drifts, suspected when a single run shows it, too", "reefer_truck", 1_795_723_551_100_011},
		{"a zone that trembles, so that nothing shows what the unit recovers from", "cold_storage", 1_795_731_626_200_224},
		{"a zone that sticks, likewise", "blast_freezer", 1_795_731_626_200_245},
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
