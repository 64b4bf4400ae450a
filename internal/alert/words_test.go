package alert

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/phrase"
)

// TestEveryRuleHasWords: the catalogue has sentences for each rule, and others
// for its second measure.
func TestEveryRuleHasWords(t *testing.T) {
	var types []rimewatch.AlertType
	v, limit := 2.0, 1.0
	said := func(typ rimewatch.AlertType, metric, unit string) string {
		return phrase.In(rimewatch.Locale{}).Message(&rimewatch.Alert{Type: typ, Metric: metric, Unit: unit, Value: &v, PeakValue: &v, Threshold: &limit})
	}
	for i := range numRules {
		spec := &ruleSpecs[i]
		if i != i.kind() {
			continue
		}
		if slices.Contains(types, spec.typ) {
			t.Errorf("two rules open %s", spec.typ)
		}
		types = append(types, spec.typ)
		if f, ok := rimewatch.FieldByName(spec.metric); spec.plain && (!ok || f >= rimewatch.NumCore || spec.limit == Limit{} || spec.running) {
			t.Errorf("%s is not plain: a limit of a core measurement, judged at any time", spec.typ)
		}
		if said(spec.typ, spec.metric, rimewatch.MeasureUnit(spec.metric)) == said("unheard_of", "", "") {
			t.Errorf("%s has no words", spec.typ)
		}
		if spec.second != "" && said(spec.typ, spec.second, rimewatch.MeasureUnit(spec.metric)) == said(spec.typ, spec.metric, rimewatch.MeasureUnit(spec.metric)) {
			t.Errorf("%s has no words for %s", spec.typ, spec.second)
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
