package predict

import (
	"testing"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/state"
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
		{"valves that leak and shorten the runs", 22, 2.0, -15, fiValves},
	} {
		f := findings{of: [numFeatures]float64{feature(unit.Discharge): tc.discharge, feature(unit.Suction): tc.suction, feature(unit.Amps): tc.amps, ftDry: dry(tc.discharge, tc.suction)}}
		if d := diagnose(&f); d.first != tc.want || d.score < needFit {
			t.Errorf("%s: %s at %.2f, want %s", tc.name, faults[d.first].name, d.score, faults[tc.want].name)
		} else if tc.want == fiValves && d.second != fiUndercharge {
			t.Errorf("%s: or %s, want a lack of refrigerant behind a capillary tube", tc.name, faults[d.second].name)
		}
	}
	if v := dry(-5, 0); v != 0 {
		t.Errorf("a cooler discharge line is dry by %v", v)
	}
}

// TestMeasuredSignatures: departures that were measured on a refrigeration trainer (R-12, one compressor
// of 1 hp, at a low against a high flow of air through condenser or evaporator, behind either
// expansion device; steady states of a class of students, UCLA), as K, K and %.
func TestMeasuredSignatures(t *testing.T) {
	for _, tc := range []struct {
		name                     string
		discharge, suction, amps float64
		want                     uint8 // fiNone: too little to name anything
	}{
		{"condenser short of air, capillary tube", 6.6, -10, 17.7, fiFouling},
		{"a first half of that", 3, -5, 9, fiFouling},
		{"where the discharge line hardly shows it", 1, -9, 10, fiFouling},
		{"condenser short of air, expansion valve", -0.2, 0.4, 5.2, fiNone},
		{"evaporator short of air, capillary tube", -0.4, -1.8, 0.4, fiNone},
	} {
		f := findings{of: [numFeatures]float64{feature(unit.Discharge): tc.discharge, feature(unit.Suction): tc.suction, feature(unit.Amps): tc.amps, ftFloods: floods(tc.suction, tc.amps)}}
		d := diagnose(&f)
		if d.first == fiSensor && d.score >= needFit || tc.want != fiNone && (d.first != tc.want || d.score < needFit) || tc.want == fiNone && faults[d.first].alert != "" && d.score >= needFit {
			t.Errorf("%s: %s at %.2f, want %s", tc.name, faults[d.first].name, d.score, faults[tc.want].name)
		}
	}
}

// TestWarmerAndNothingElse: a discharge line that is warmer while the current does not fall
// as leaking valves let it fall, and nothing rattles, is no fault of the valves.
func TestWarmerAndNothingElse(t *testing.T) {
	for unborne, want := range map[float64]bool{0: true, 1: false} {
		f := findings{of: [numFeatures]float64{feature(unit.Discharge): 3.9, feature(unit.Amps): -1, ftDry: 1, ftUnborne: unborne}}
		if got := fit(fiValves, &f) >= needFit; got != want {
			t.Errorf("borne out by nothing: %v, valves at %.2f", unborne, fit(fiValves, &f))
		}
	}
	f := findings{of: [numFeatures]float64{feature(unit.Discharge): 3.9, feature(unit.Amps): -1, ftDry: 1, ftUnborne: 1}, blind: noVibration}
	if v := fit(fiValves, &f); v < needFit {
		t.Errorf("where no vibration is measured: valves at %.2f", v)
	}
}

// TestIcedCoilThatTrips: an iced coil whose protectors end its runs stays an iced coil.
// It runs less, since it is not let; and a contact that opens changes no temperature.
func TestIcedCoilThatTrips(t *testing.T) {
	f := findings{of: [numFeatures]float64{
		feature(unit.Discharge): 69, feature(unit.Suction): -45, feature(unit.Amps): -140, feature(unit.Zone): 30, ftTrips: 4,
		feature(unit.Duty): wanted(-25, 4),
	}}
	f.of[ftThin], f.of[ftIced] = thin(69, 140)
	if d := diagnose(&f); d.first != fiIcing || d.score < needFit {
		t.Errorf("%s at %.2f", faults[d.first].name, d.score)
	}
	if v := fit(fiContactor, &f); v >= needFit {
		t.Errorf("contactor at %.2f", v)
	}
	chatter := findings{of: [numFeatures]float64{ftTrips: 4}}
	if d := diagnose(&chatter); d.first != fiContactor {
		t.Errorf("trips alone: %s", faults[d.first].name)
	}
	if v := wanted(-25, 0); v != -25 {
		t.Errorf("without trips: %v", v)
	}
}

// TestWithoutAChannel: what a unit does not measure speaks neither for a fault nor
// against it, and faults that the rest cannot tell apart are named together.
func TestWithoutAChannel(t *testing.T) {
	for _, tc := range []struct {
		name                                string
		discharge, suction, amps, vibration float64
		blind                               unit.Channel
		want, or                            uint8
	}{
		{"a leak without the discharge line", 0, 3.2, -4, 0, unit.Discharge, fiUndercharge, fiNone},
		{"a fouled condenser without the discharge line", 0, 0, 6, 0, unit.Discharge, fiFouling, fiNone},
		{"an iced coil without the suction line", 8, 0, -16, 0, unit.Suction, fiIcing, fiNone},
		{"a leak or quiet valves without the suction line", 13, 0, -8, 0, unit.Suction, fiUndercharge, fiValves},
		{"rattling valves without the suction line", 16, 0, -5, 20, unit.Suction, fiValves, fiNone},
		{"a fouled condenser or quiet valves without the current", 8, 0, 0, 0, unit.Amps, fiFouling, fiValves},
		{"an iced coil without the current", 6, -4, 0, 0, unit.Amps, fiIcing, fiNone},
		{"friction without the vibration", 0, 0, 9, 0, unit.Vibration, fiBearing, fiNone},
		{"nothing without the vibration", 0, 0, 0, 0, unit.Vibration, fiNone, fiNone},
	} {
		f := findings{blind: 1 << tc.blind}
		f.of[unit.Discharge], f.of[unit.Suction], f.of[unit.Amps], f.of[unit.Vibration] = tc.discharge, tc.suction, tc.amps, tc.vibration
		if tc.want == fiIcing {
			f.of[unit.Duty] = 12 // what cools less has to run longer
		}
		if tc.amps < 0 && tc.blind != unit.Discharge {
			f.of[ftThin], f.of[ftIced] = thin(tc.discharge, -tc.amps)
		}
		if tc.blind == unit.Amps || tc.blind == unit.Vibration {
			f.of[ftDry] = dry(tc.discharge, tc.suction)
		}
		switch d := diagnose(&f); {
		case tc.want == fiNone && d.score >= needFit:
			t.Errorf("%s: %s at %.2f", tc.name, faults[d.first].name, d.score)
		case tc.want != fiNone && (d.first != tc.want || d.score < needFit):
			t.Errorf("%s: %s at %.2f, want %s", tc.name, faults[d.first].name, d.score, faults[tc.want].name)
		case tc.or != fiNone && d.second != tc.or:
			t.Errorf("%s: or %s, want %s", tc.name, faults[d.second].name, faults[tc.or].name)
		}
	}
}

// TestNameOfALeakKeeps: a lack of refrigerant that has gone so far that the suction line
// is no warmer looks like valves that leak quietly. It keeps its name, unless they rattle.
func TestNameOfALeakKeeps(t *testing.T) {
	for _, tc := range []struct {
		vibration float64
		open, by  uint8
		want      bool
	}{
		{0, fiUndercharge, fiValves, true},
		{0, fiValves, fiRestriction, true},
		{20, fiUndercharge, fiValves, false},
		{0, fiFouling, fiValves, false},
	} {
		f := findings{of: [numFeatures]float64{feature(unit.Discharge): 8, feature(unit.Amps): -15, feature(unit.Vibration): tc.vibration}}
		if got := alike(tc.open, tc.by, &f); got != tc.want {
			t.Errorf("%s by %s at %v %%: alike %v", faults[tc.open].name, faults[tc.by].name, tc.vibration, got)
		}
	}
}

// TestIceOfWhatWasTold: a lack of refrigerant that has been told for
// longer than ice takes lets the coil ice up; what is told of late may have been the ice,
// and so may what does not heat the gas.
func TestIceOfWhatWasTold(t *testing.T) {
	const opened = 100 * rimewatch.Day
	for _, tc := range []struct {
		name     string
		told, by uint8
		after    rimewatch.Time
		warmer   float64
		want     bool
	}{
		{"a leak for four days", fiUndercharge, fiIcing, 4 * rimewatch.Day, 7, true},
		{"valves for four days", fiValves, fiDefrost, 4 * rimewatch.Day, 7, true},
		{"a leak since yesterday", fiUndercharge, fiIcing, rimewatch.Day, 7, false},
		{"a leak of which the heat is gone", fiUndercharge, fiIcing, 4 * rimewatch.Day, 1, false},
		{"a fan", fiCondenserFan, fiIcing, 4 * rimewatch.Day, 7, false},
		{"another fault than ice", fiUndercharge, fiFouling, 4 * rimewatch.Day, 7, false},
	} {
		s := State{alarm: alarm{fault: tc.told, opened: state.StampOf(opened)}}
		var f findings
		f.of[unit.Discharge] = tc.warmer
		if got := s.iceOf(tc.by, opened+tc.after, &f); got != tc.want {
			t.Errorf("%s: %v, want %v", tc.name, got, tc.want)
		}
	}
}

// TestIceBeforeValves: a coil that ices up slowly warms the discharge line and relieves the
// motor as valves that leak do; but the unit runs for much longer. Valves that leak let a
// coil ice up, too: then they are named beside it.
func TestIceBeforeValves(t *testing.T) {
	for _, tc := range []struct {
		name                                      string
		discharge, suction, amps, vibration, duty float64
		want, or                                  uint8
	}{
		{"ice between seldom defrosts", 4.7, -1, -4.8, -.7, 14.6, fiIcing, fiNone},
		{"ice that hardly cools the suction line", 3.7, -.4, -5.6, 0, 9.5, fiIcing, fiNone},
		{"quiet valves", 3.5, .3, -2.4, -.3, 5, fiValves, fiUndercharge},
		{"quiet valves at a cooler suction line", 5, -.3, -4, 0, 6, fiValves, fiUndercharge},
		{"valves that rattle and have let the coil ice up", 0, -2, -4.6, 9, 7, fiIcing, fiValves},
		{"valves that leak quietly and have let the coil ice up", 6.7, -2.4, -3.4, -4, 4, fiIcing, fiValves},
		{"valves that rattle more than they let it ice up", 0, -1.9, -1.8, 18, 7, fiBearing, fiValves},
		{"bearings", 0, 0, 1, 18, 0, fiBearing, fiNone},
		{"ice alone", 1.6, -1.5, -4.1, 0, 8, fiIcing, fiDefrost},
	} {
		f := findings{}
		f.of[unit.Discharge], f.of[unit.Suction], f.of[unit.Amps], f.of[unit.Vibration], f.of[unit.Duty] = tc.discharge, tc.suction, tc.amps, tc.vibration, tc.duty
		if tc.amps < 0 {
			f.of[ftThin], f.of[ftIced] = thin(tc.discharge, -tc.amps)
		}
		f.of[ftDry], f.of[ftFrost] = dry(tc.discharge, tc.suction), frosted(&f)
		if d := diagnose(&f); d.first != tc.want || d.score < needFit {
			t.Errorf("%s: %s at %.2f, want %s", tc.name, faults[d.first].name, d.score, faults[tc.want].name)
		} else if tc.or != fiNone && d.second != tc.or {
			t.Errorf("%s: or %s, want %s", tc.name, faults[d.second].name, faults[tc.or].name)
		}
	}
}

// TestAnotherSetPoint: a unit that was set ten kelvin colder runs longer with a hotter discharge line,
// which is no fault.
func TestAnotherSetPoint(t *testing.T) {
	f := findings{}
	f.of[unit.Discharge], f.of[unit.Amps], f.of[unit.Duty] = 6, 2.4, 19
	if d := diagnose(&f); d.score < needFit || faults[d.first].family != familyHead {
		t.Errorf("at its usual temperature: %s at %.2f", faults[d.first].name, d.score)
	}
	f.of[unit.Zone] = -9.4
	if d := diagnose(&f); d.score >= needFit && faults[d.first].alert != "" {
		t.Errorf("ten kelvin colder: %s at %.2f", faults[d.first].name, d.score)
	}
}

// TestNamedWithoutSuction: without a suction line nothing tells lost refrigerant from valves
// that leak quietly, so that both are named, whatever else may fit as well.
func TestNamedWithoutSuction(t *testing.T) {
	for _, amps := range []float64{-0.6, -1.2, -2, -4} {
		for _, warmer := range []float64{3, 5, 9} {
			f := findings{blind: noSuction}
			f.of[unit.Discharge], f.of[unit.Amps], f.of[unit.Duty] = warmer, amps, 2
			f.of[ftThin], f.of[ftIced] = thin(warmer, -amps)
			d := diagnose(&f)
			if faults[d.first].family == familyCharge && d.second != fiValves || d.first == fiValves && d.second != fiUndercharge {
				t.Errorf("discharge line %+.1f K, current %+.1f %%: %s or %s", warmer, amps, faults[d.first].name, faults[d.second].name)
			}
		}
	}
}

// TestOtherLoad: current and vibration that move together are another speed, which one of
// varying speed shows by less than one that is thought to be of a fixed speed.
func TestOtherLoad(t *testing.T) {
	for _, tc := range []struct {
		name          string
		of            load
		fixed, varies bool
	}{
		{"nothing", load{}, false, false},
		{"a little faster", load{amps: 6.5, vib: 2.6, warmer: 6.6}, false, true},
		{"a little slower", load{amps: -7, vib: -7.4, warmer: 1}, false, true},
		{"faster on average", load{amps: 4.2, vib: 1.2, slowAmps: 5, slowVib: 2.1, warmer: 6.4}, false, true},
		{"more to do", load{amps: 6.5, vib: .3, warmer: 1.2}, false, true},
		{"much faster", load{amps: 12, vib: 9}, true, true},
		{"a hot condenser", load{amps: 6, vib: .6, slowAmps: 6, slowVib: .6, warmer: 6}, false, false},
		{"valves that leak", load{amps: -6, vib: 8, slowAmps: -6, slowVib: 8, warmer: 9}, false, false},
	} {
		if fixed, varies := tc.of.other(false), tc.of.other(true); fixed != tc.fixed || varies != tc.varies {
			t.Errorf("%s: %v at a fixed speed, %v at a varying one", tc.name, fixed, varies)
		}
	}
}

// TestHidden: a current that scatters with the load is left out beside a discharge line
// that is hotter than a load makes it, and counts where it has moved by more than it scatters.
func TestHidden(t *testing.T) {
	for _, tc := range []struct {
		name                  string
		amps, scatter, warmer float64
		want                  bool
	}{
		{"a condenser that fouled", 10, 12, 11, true},
		{"another load", -5, 13, 3.6, false},
		{"valves that leak", -23, 12, 6, false},
		{"a steady current", 1, 2, 8, false},
	} {
		if got := hidden(tc.amps, tc.scatter, tc.warmer); got != tc.want {
			t.Errorf("%s: hidden %v", tc.name, got)
		}
	}
}

// Predictions are of the types that say so.
func TestPredictiveTypes(t *testing.T) {
	of := make(map[rimewatch.AlertType]bool)
	for i := range faults {
		of[faults[i].alert] = true
	}
	for _, typ := range rimewatch.AlertTypes() {
		if of[typ] != typ.Predictive() {
			t.Errorf("%s: predicted %v, predictive %v", typ, of[typ], typ.Predictive())
		}
	}
}
