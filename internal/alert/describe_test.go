package alert

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rimewatch/rimewatch"
)

func TestDescribe(t *testing.T) {
	at := func(min int) rimewatch.Time { return epoch + rimewatch.Time(min)*rimewatch.Minute }
	for _, tc := range []struct {
		name           string
		t              Transition
		label          string
		title, message string
	}{
		{"too warm", Transition{Kind: Opened, Type: rimewatch.HighTemperature, Severity: rimewatch.Warning, At: at(34), ConditionStartedAt: at(0),
			Metric: "product_zone_temp", Unit: "°C", Value: -8.2, Peak: -8, Threshold: -15, HasValue: true, HasThreshold: true}, "Walk-in freezer",
			"Back walk-in (walk-in freezer) is too warm",
			"Back walk-in is −8.2 °C, too warm for 34 min. Limit −15 °C. Look at the door, the evaporator fan and whether the compressor runs."},
		{"critical and flapping", Transition{Kind: Escalated, Type: rimewatch.LowTemperature, Severity: rimewatch.Critical, At: at(125), ConditionStartedAt: at(0),
			Metric: "product_zone_temp", Unit: "°C", Value: -0.04, Threshold: 2, HasValue: true, Flapping: true}, "Bottle cooler / beer cave (small)",
			"Back walk-in (bottle cooler / beer cave) is too cold",
			"Back walk-in is 0 °C, too cold for 2 h 5 min. Limit 2 °C. It comes and goes. Check the goods before they are used. Look at the thermostat's setting and whether the compressor ever stops."},
		{"over", Transition{Kind: Resolved, Type: rimewatch.HighTemperature, Severity: rimewatch.Critical, At: at(3000), ConditionStartedAt: at(0),
			Unit: "°C", Value: -18, Peak: -2.56, HasValue: true}, "Unclassified",
			"Back walk-in is too warm",
			"Back walk-in is back in its range at −18 °C. It was too warm for 2 d 2 h, at worst −2.6 °C."},
		{"offline", Transition{Kind: Opened, Type: rimewatch.DeviceOffline, Severity: rimewatch.Warning, At: at(3), ConditionStartedAt: at(3), Metric: "silence", Unit: "s", Value: 180, HasValue: true}, "",
			"Back walk-in is offline", "Back walk-in has sent nothing for 3 min. Check its power and its network."},
		{"deviation", Transition{Kind: Opened, Type: rimewatch.HighDischargeTemperature, Severity: rimewatch.Warning, At: at(3), ConditionStartedAt: at(0),
			Metric: "compressor_discharge_temp_deviation", Unit: "K", Value: 7.59, Threshold: 6, HasValue: true}, "",
			"Back walk-in runs hot",
			"The discharge line of Back walk-in runs 7.6 K above what it usually is at this ambient temperature. Limit 6 K. Fouled condenser, low charge or worn valves: start with the condenser."},
		{"a broken sensor", Transition{Kind: Opened, Type: rimewatch.SensorFault, Severity: rimewatch.Warning, At: at(5), ConditionStartedAt: at(0), Metric: "compressor_discharge_temp"}, "",
			"Back walk-in has a broken sensor",
			"The compressor discharge sensor of Back walk-in cannot be believed, for 5 min. Check its plug and cable, then replace it; until then nobody watches this value."},
		{"short runs", Transition{Kind: Opened, Type: rimewatch.ShortCycling, Severity: rimewatch.Warning, Metric: "run_length", Unit: "min", Value: 2, Threshold: 2.5, HasValue: true}, "",
			"Back walk-in starts too often",
			"The compressor of Back walk-in runs for only 2 min at a time. Limit 2.5 min. Check the condenser and its fan, the pressure controls and the thermostat."},
	} {
		t.Run(tc.name, func(t *testing.T) {
			title, message := Describe(tc.t, "Back walk-in", tc.label)
			if diff := cmp.Diff([]string{tc.title, tc.message}, []string{title, message}); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestEveryRuleHasWords: a title, what, when over, and what to do.
func TestEveryRuleHasWords(t *testing.T) {
	var types []rimewatch.AlertType
	for i := range numRules {
		spec := &ruleSpecs[i]
		if slices.Contains(types, spec.typ) {
			t.Errorf("two rules open %s", spec.typ)
		}
		types = append(types, spec.typ)
		w := wordings[spec.typ]
		if w.finding == "" || w.what == "" || w.over == "" || w.do == "" {
			t.Errorf("%s has no words", spec.typ)
		}
		if spec.second != "" && secondWordings[spec.second].what == "" {
			t.Errorf("%s has no words for %s", spec.typ, spec.second)
		}
		for _, metric := range []string{spec.metric, spec.second} {
			for _, kind := range []Kind{Opened, Escalated, Deescalated, Resolved, Updated} {
				_, m := Describe(Transition{Kind: kind, Type: spec.typ, Metric: metric, Unit: spec.unit, HasValue: true}, "X", "Label (x)")
				if strings.Contains(m, "%!") || strings.Count(m, "%") > strings.Count(spec.unit, "%")*3 {
					t.Errorf("%s: %s", spec.typ, m)
				}
			}
		}
	}
}
