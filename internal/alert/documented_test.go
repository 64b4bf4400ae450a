package alert

import (
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rimewatch/rimewatch"
)

// sections returns the text of each rule in the documentation, by alert type.
func sections(t *testing.T) map[rimewatch.AlertType]string {
	t.Helper()
	text, err := os.ReadFile("../../docs/alerting.md")
	if err != nil {
		t.Fatal(err)
	}
	out := map[rimewatch.AlertType]string{}
	for _, part := range strings.Split(string(text), "\n### ")[1:] {
		name, rest, _ := strings.Cut(part, "\n")
		rest, _, _ = strings.Cut(rest, "\n## ")
		if m := regexp.MustCompile("^`([a-z_]+)`$").FindStringSubmatch(name); m != nil {
			out[rimewatch.AlertType(m[1])] = rest
		}
	}
	return out
}

// TestRulesAreDocumented: the documentation describes the rules that there are,
// and no other.
func TestRulesAreDocumented(t *testing.T) {
	var rules []rimewatch.AlertType
	for _, s := range ruleSpecs {
		rules = append(rules, s.typ)
	}
	slices.Sort(rules)
	rules = slices.Compact(rules)
	documented := sections(t)
	if d := cmp.Diff(rules, slices.Sorted(maps.Keys(documented))); d != "" {
		t.Errorf("sections of docs/alerting.md (-rules +documented):\n%s", d)
	}
	for typ, text := range documented {
		for _, part := range []string{"Limit", "Delay", "Closes", "Do", "Source"} {
			if !strings.Contains(text, "\n- **"+part+"** ") {
				t.Errorf("%s: the documentation does not say its %s", typ, part)
			}
		}
	}
	// What is not judged of one device's readings is told of elsewhere.
	var all strings.Builder
	for _, name := range []string{"alerting.md", "prediction.md"} {
		text, err := os.ReadFile("../../docs/" + name)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	for _, typ := range rimewatch.AlertTypes() {
		if _, ok := documented[typ]; !ok && !strings.Contains(all.String(), "`"+string(typ)+"`") {
			t.Errorf("%s is not documented", typ)
		}
	}
}

// TestPlainRowsAreOfCoreMeasurements: a unit remembers the newest value of those alone. A
// rule by another one would have no value to show: let internal/unit remember it first.
func TestPlainRowsAreOfCoreMeasurements(t *testing.T) {
	n := 0
	for i := range numRules {
		if f, ok := rimewatch.FieldByName(ruleSpecs[i].metric); ruleSpecs[i].plain {
			n++
			if !ok || !f.Core() {
				t.Errorf("%s is judged by %s, which is no core measurement", ruleSpecs[i].typ, ruleSpecs[i].metric)
			}
		}
	}
	if n == 0 || n != len(plainRules) {
		t.Errorf("%d rows are plain, %d of them are judged", n, len(plainRules))
	}
}

// TestDocumentedThresholds: the numbers of the documentation are the rules'.
func TestDocumentedThresholds(t *testing.T) {
	documented := sections(t)
	share := func(x float64) string { return number(100*x, "%") }
	say := func(typ rimewatch.AlertType, part string, numbers ...string) {
		text := documented[typ]
		_, text, ok := strings.Cut(text, "\n- **"+part+"** ")
		if text, _, _ = strings.Cut(text, "\n"); !ok {
			t.Errorf("%s: nothing is said of its %s", typ, part)
		}
		for _, n := range numbers {
			if !regexp.MustCompile(`(^|[^\d.−-])` + regexp.QuoteMeta(n) + `($|[^\w])`).MatchString(text) {
				t.Errorf("%s: the %s is %s, documented is: %s", typ, part, n, text)
			}
		}
	}
	say(rimewatch.SensorStale, "Limit", duration(staleAfter))
	say(rimewatch.SensorFault, "Delay", duration(faultAfter))
	say(rimewatch.PowerLoss, "Limit", share(ruleSpecs[rulePower].limit.Crit))
	say(rimewatch.PowerLoss, "Delay", duration(ruleSpecs[rulePower].limit.CritDelay))
	say(rimewatch.PowerLoss, "Closes", duration(ruleSpecs[rulePower].limit.ClearTime), share(ruleSpecs[rulePower].limit.Crit+ruleSpecs[rulePower].limit.Clear))
	for typ, l := range map[rimewatch.AlertType]Limit{rimewatch.LowVoltage: ruleSpecs[ruleLowVolts].limit, rimewatch.HighVoltage: ruleSpecs[ruleHighVolts].limit} {
		say(typ, "Limit", share(l.Warn), share(l.Crit))
		say(typ, "Delay", duration(l.WarnDelay), duration(l.CritDelay))
		inside := l.Warn + l.Clear
		if typ == rimewatch.HighVoltage {
			inside = l.Warn - l.Clear
		}
		say(typ, "Closes", duration(l.ClearTime), share(inside))
	}
	say(rimewatch.HighDischargeTemperature, "Limit", number(ruleSpecs[ruleDischarge].limit.Warn, "°C"), number(ruleSpecs[ruleDischarge].limit.Crit, "°C"), number(ruleSpecs[ruleDischarge].beyond.Warn, "K"), number(ruleSpecs[ruleDischarge].beyond.Crit, "K"))
	say(rimewatch.HighDischargeTemperature, "Delay", duration(ruleSpecs[ruleDischarge].limit.WarnDelay), duration(ruleSpecs[ruleDischarge].limit.CritDelay))
	say(rimewatch.HighDischargeTemperature, "Closes", duration(ruleSpecs[ruleDischarge].limit.ClearTime), number(ruleSpecs[ruleDischarge].limit.Warn-ruleSpecs[ruleDischarge].limit.Clear, "°C"))
	say(rimewatch.HighSuctionTemperature, "Limit", number(ruleSpecs[ruleSuction].limit.Warn, "°C"), number(ruleSpecs[ruleSuction].limit.Crit, "°C"), number(ruleSpecs[ruleSuction].beyond.Warn, "K"), number(ruleSpecs[ruleSuction].beyond.Crit, "K"))
	say(rimewatch.LowSuctionTemperature, "Limit", number(-ruleSpecs[ruleLowSuction].limit.Warn, "K"), number(-freezerSuction.Warn, "K"), number(ruleSpecs[ruleSuction].beyond.Warn, "K"), number(ruleSpecs[ruleSuction].beyond.Crit, "K"))
	say(rimewatch.HighAmpDraw, "Limit", share(ruleSpecs[ruleAmps].limit.Warn), share(ruleSpecs[ruleAmps].limit.Crit), number(ruleSpecs[ruleAmps].beyond.Warn, "%"))
	say(rimewatch.HighAmpDraw, "Delay", duration(ruleSpecs[ruleAmps].limit.WarnDelay), duration(ruleSpecs[ruleAmps].limit.CritDelay))
	say(rimewatch.LowAmpDraw, "Limit", share(ruleSpecs[ruleLowAmps].limit.Warn))
	say(rimewatch.ShortCycling, "Limit", number(ruleSpecs[ruleCycling].limit.Warn, "starts an hour"), fmt.Sprint("critical ", ruleSpecs[ruleCycling].limit.Crit), number(ruleSpecs[ruleCycling].beyond.Warn, "min"), number(ruleSpecs[ruleCycling].beyond.Crit, "min"))
	say(rimewatch.CompressorStartFailure, "Limit", number(failedStartsDay, "failed starts in 24 h"), fmt.Sprint("critical ", failedStartsHour))
	say(rimewatch.ExcessiveRunTime, "Limit", number(ruleSpecs[ruleRunTime].limit.Warn, "%"), number(ruleSpecs[ruleRunTime].limit.Crit, "%"), number(ruleSpecs[ruleRunTime].beyond.Warn, "points"), number(runTimeZoneK, "K"))
	say(rimewatch.DoorOpenSuspected, "Limit", number(ruleSpecs[ruleDoor].limit.Warn, "min"))
	say(rimewatch.DoorOpenSuspected, "Closes", duration(ruleSpecs[ruleDoor].limit.ClearTime))
	say(rimewatch.HighHumidity, "Limit", number(ruleSpecs[ruleHumid].limit.Warn, "%"), number(ruleSpecs[ruleHumid].limit.Crit, "%"), number(zoneHumid.Warn, "%"), number(freezerHumid.Warn, "%"))
	say(rimewatch.LowHumidity, "Limit", number(ruleSpecs[ruleDry].limit.Warn, "%"))
	// What a row says by itself, also that of a rule to come.
	byHand := map[rule]bool{rulePower: true, ruleLowVolts: true, ruleHighVolts: true, ruleAmps: true, ruleRunTime: true, ruleDoor: true}
	inWords := map[rule]bool{ruleCycling: true, ruleLowSuction: true, ruleLowAmps: true} // whose limit is written in another unit
	rows := 0
	for i := range numRules {
		spec := &ruleSpecs[i]
		l := spec.limit
		if l == (Limit{}) || byHand[i] {
			continue
		}
		rows++
		for _, v := range []float64{l.Warn, l.Crit} {
			if v != 0 && !inWords[i] {
				say(spec.typ, "Limit", number(v, strings.TrimSuffix(rimewatch.MeasureUnit(spec.metric), "RH")))
			}
		}
		say(spec.typ, "Delay", duration(l.WarnDelay))
		say(spec.typ, "Closes", duration(l.ClearTime))
	}
	if rows < 10 {
		t.Errorf("%d rows were read", rows)
	}
	say(rimewatch.HighAmpDraw, "Closes", duration(ruleSpecs[ruleAmps].limit.ClearTime))
}

func number(x float64, unit string) string { return fmt.Sprintf("%.6g %s", x, unit) }

// duration writes a span as the documentation does.
func duration(d rimewatch.Time) string {
	switch {
	case d < rimewatch.Minute:
		return fmt.Sprintf("%d s", d/rimewatch.Second)
	case d < rimewatch.Hour:
		return fmt.Sprintf("%d min", d/rimewatch.Minute)
	default:
		return fmt.Sprintf("%d h", d/rimewatch.Hour)
	}
}
