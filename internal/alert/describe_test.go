package alert

import (
	"flag"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rimewatch/rimewatch"
)

var update = flag.Bool("update", false, "write testdata/words.golden anew")

// wordScene is an alert as a unit brings it.
type wordScene struct {
	i                  rule
	second             bool
	warn, crit         float64 // limits
	open, worst, ended float64 // values at the opening, at the worst and at the end
	delay, lasted      int     // min
}

var wordScenes = []wordScene{
	{ruleHigh, false, -15, -12, -13.4, -9.8, -15.8, 60, 184},
	{ruleLow, false, 2, 0, 1.6, -0.4, 2.7, 15, 47},
	{ruleOffline, false, 180, 0, 180, 5460, 5460, 0, 88},
	{ruleStale, false, 900, 0, 900, 2700, 2700, 15, 45},
	{ruleFault, false, 0, 0, 0, 0, 0, 5, 190},
	{rulePower, false, 0, 115, 0, 0, 229.6, 0, 95},
	{ruleLowVolts, false, 207, 195.5, 203.2, 191.4, 222, 1, 36},
	{ruleHighVolts, false, 253, 264.5, 254.8, 266, 238.1, 1, 36},
	{ruleDischarge, false, 107, 121, 109.3, 123.4, 99.2, 5, 220},
	{ruleDischarge, true, 6, 15, 7.62, 16.1, 3.1, 720, 2880},
	{ruleAmps, false, 18.75, 21.3, 19.31, 22.4, 15.2, 10, 75},
	{ruleAmps, true, 12, 0, 13.4, 14.2, 3.4, 720, 2880},
	{ruleVibration, false, 1.8, 4.5, 2.31, 5.02, 1.1, 15, 4000},
	{ruleCycling, false, 8, 12, 9, 14, 4, 15, 300},
	{ruleCycling, true, 3, 2, 2.1, 1.5, 9, 0, 300},
	{ruleStarts, false, 3, 0, 3, 5, 0, 0, 1500},
	{ruleStarts, true, 0, 3, 3, 4, 0, 0, 1500},
	{ruleRunTime, false, 85, 97, 88.25, 98, 71, 0, 720},
	{ruleRunTime, true, 20, 0, 24.4, 26, 5, 0, 720},
	{ruleRecovery, false, 100, 0, 101, 101, 0, 0, 480},
	{ruleDoor, false, 15, 0, 34, 61, 0, 0, 300},
	{ruleSuction, false, 18, 27, 19.6, 28.2, 12.4, 15, 200},
	{ruleSuction, true, 3, 7, 3.9, 7.7, 1.2, 720, 2880},
	{ruleLowSuction, false, -5, 0, -6.8, -9.1, 1.4, 10, 200},
	{ruleLowSuction, true, -3, -7, -5.2, -7.6, -1.1, 720, 2880},
	{ruleLowDischarge, false, 25, 15, 21.7, 13.2, 41, 10, 200},
	{ruleLowAmps, false, 3.75, 0, 0.9, 0.8, 15.1, 10, 60},
	{ruleHumid, false, 75, 90, 78, 93, 70, 120, 400},
	{ruleDry, false, 55, 0, 51, 47, 60, 120, 400},
	{ruleHot, false, 35, 43, 36.2, 44, 32.4, 30, 400},
	{ruleCold, false, 10, 2, 8.1, 1.2, 12.4, 30, 400},
}

// TestWords keeps every sentence that people read: run with -update and read the
// difference aloud.
func TestWords(t *testing.T) {
	var b strings.Builder
	say := func(tr Transition) {
		title, message := Describe(tr, "Back walk-in", "Walk-in freezer")
		fmt.Fprintf(&b, "%s %s\n  %s\n  %s\n", tr.Kind, tr.Severity, title, message)
	}
	for _, sc := range wordScenes {
		spec := &ruleSpecs[sc.i]
		tr := Transition{
			Kind: Opened, Type: spec.typ, Severity: rimewatch.Warning, ConditionStartedAt: epoch, Metric: spec.metric, Unit: spec.unit,
			Value: sc.open, Peak: sc.open, Threshold: sc.warn, HasValue: true, HasThreshold: true, Occurrences: 1,
			At: epoch + minutes(sc.delay),
		}
		if sc.second {
			tr.Metric, tr.Unit = spec.second, spec.secondUnit
		}
		if sc.i == ruleFault {
			tr.Metric, tr.HasValue = "compressor_discharge_temp", false
		}
		fmt.Fprintf(&b, "## %s by %s\n", tr.Type, tr.Metric)
		if sc.warn != 0 || sc.i == ruleFault {
			say(tr)
		}
		tr.At = epoch + minutes((sc.delay+sc.lasted)/2)
		tr.Value, tr.Peak = sc.worst, sc.worst
		if sc.crit != 0 || sc.i == ruleOffline {
			tr.Kind, tr.Severity = Escalated, rimewatch.Critical
			if sc.crit != 0 {
				tr.Threshold = sc.crit
			}
			say(tr)
		}
		tr.Kind, tr.At, tr.Value = Resolved, epoch+minutes(sc.lasted), sc.ended
		say(tr)
	}
	fmt.Fprintf(&b, "## what else can be said\n")
	tr := Transition{
		Kind: Updated, Type: rimewatch.HighTemperature, Severity: rimewatch.Warning, At: epoch + 3*hour, ConditionStartedAt: epoch,
		Metric: "product_zone_temp", Unit: "°C", Value: -13, Peak: -12.2, Threshold: -15, HasValue: true, HasThreshold: true, Occurrences: 2, Flapping: true,
	}
	say(tr)
	tr.Kind = Deescalated
	tr.Flapping = false
	say(tr)
	tr.Kind, tr.Value = Resolved, -16
	say(tr)
	tr = Transition{
		Kind: Updated, Type: rimewatch.PowerLoss, Severity: rimewatch.Critical, At: epoch + 20*minute, ConditionStartedAt: epoch,
		Metric: "voltage", Unit: "V", HasValue: true, HasHold: true, HoldHours: 3.27, Occurrences: 1,
	}
	say(tr)
	tr.HoldHours = 0
	say(tr)
	const golden = "testdata/words.golden"
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(golden, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(b.String(), "\n")); diff != "" {
		t.Errorf("words (-golden +said):\n%s", diff)
	}
}

// TestNames: who it is, in a title.
func TestNames(t *testing.T) {
	tr := Transition{Kind: Opened, Type: rimewatch.HighTemperature, Severity: rimewatch.Warning, Unit: "°C"}
	for label, want := range map[string]string{
		"":                                  "Bar is too warm",
		"Unclassified":                      "Bar is too warm",
		"Bottle cooler / beer cave (small)": "Bar (bottle cooler / beer cave) is too warm",
	} {
		if got, _ := Describe(tr, "Bar", label); got != want {
			t.Errorf("%q: %q, want %q", label, got, want)
		}
	}
}

func TestQuantities(t *testing.T) {
	for _, tc := range []struct {
		v    float64
		unit string
		want string
	}{
		{-8.249, "°C", "−8.2 °C"}, {-0.04, "°C", "0 °C"}, {5, "°C", "5 °C"}, {2.346, "mm/s", "2.35 mm/s"},
		{40, "s", "40 s"}, {180, "s", "3 min"}, {7500, "s", "2 h 5 min"}, {2.5, "min", "2.5 min"}, {101, "min", "1 h 41 min"},
		{190000, "s", "2 d 4 h"}, {229.61, "V", "229.6 V"},
	} {
		if got := quantity(tc.v, tc.unit); got != tc.want {
			t.Errorf("%v %s: %q, want %q", tc.v, tc.unit, got, tc.want)
		}
	}
	if got := quantity(math.Copysign(0, -1), ""); got != "0" {
		t.Errorf("−0: %q", got)
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
		if spec.second != "" && secondWordings[spec.typ].what == "" {
			t.Errorf("%s has no words for %s", spec.typ, spec.second)
		}
		for _, second := range []bool{false, spec.second != ""} {
			if !slices.ContainsFunc(wordScenes, func(s wordScene) bool {
				return s.i == i && s.second == second
			}) {
				t.Errorf("nobody has read what %s says (second measure: %v)", spec.typ, second)
			}
		}
	}
}

// TestEveryRuleIsDocumented: docs/alerting.md explains each rule with a picture.
func TestEveryRuleIsDocumented(t *testing.T) {
	doc, err := os.ReadFile("../../docs/alerting.md")
	if err != nil {
		t.Fatal(err)
	}
	for i := range numRules {
		typ := ruleSpecs[i].typ
		_, section, found := strings.Cut(string(doc), "\n### `"+string(typ)+"`\n")
		section, _, _ = strings.Cut(section, "\n### ")
		for _, part := range []string{"(img/alert-" + string(typ) + ".svg)", "**Limit**", "**Delay**", "**Closes**", "**Do**", "**Source**"} {
			if !found || !strings.Contains(section, part) {
				t.Errorf("%s: no %s", typ, part)
			}
		}
		if _, err := os.Stat("../../docs/img/alert-" + string(typ) + ".svg"); err != nil {
			t.Error(err)
		}
	}
}
