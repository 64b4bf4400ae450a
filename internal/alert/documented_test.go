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

// TestDocumentedThresholds: the numbers of the documentation are the rules'.
func TestDocumentedThresholds(t *testing.T) {
	documented := sections(t)
	d := DefaultThresholds()
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
	say(rimewatch.SensorStale, "Limit", duration(d.Stale))
	say(rimewatch.SensorFault, "Delay", duration(d.Fault))
	say(rimewatch.PowerLoss, "Limit", share(d.PowerLoss.Crit))
	say(rimewatch.PowerLoss, "Delay", duration(d.PowerLoss.CritDelay))
	say(rimewatch.PowerLoss, "Closes", duration(d.PowerLoss.ClearTime), share(d.PowerLoss.Crit+d.PowerLoss.Clear))
	for typ, l := range map[rimewatch.AlertType]Limit{rimewatch.LowVoltage: d.LowVoltage, rimewatch.HighVoltage: d.HighVoltage} {
		say(typ, "Limit", share(l.Warn), share(l.Crit))
		say(typ, "Delay", duration(l.WarnDelay), duration(l.CritDelay))
		inside := l.Warn + l.Clear
		if typ == rimewatch.HighVoltage {
			inside = l.Warn - l.Clear
		}
		say(typ, "Closes", duration(l.ClearTime), share(inside))
	}
	say(rimewatch.HighDischargeTemperature, "Limit", number(d.Discharge.Warn, "°C"), number(d.Discharge.Crit, "°C"), number(d.DischargeDeviation.Warn, "K"), number(d.DischargeDeviation.Crit, "K"))
	say(rimewatch.HighDischargeTemperature, "Delay", duration(d.Discharge.WarnDelay), duration(d.Discharge.CritDelay))
	say(rimewatch.HighDischargeTemperature, "Closes", duration(d.Discharge.ClearTime), number(d.Discharge.Warn-d.Discharge.Clear, "°C"))
	say(rimewatch.LowDischargeTemperature, "Limit", number(d.LowDischarge.Warn, "K"), number(d.LowDischarge.Crit, "K"))
	say(rimewatch.HighSuctionTemperature, "Limit", number(d.Suction.Warn, "°C"), number(d.Suction.Crit, "°C"), number(d.SuctionDeviation.Warn, "K"), number(d.SuctionDeviation.Crit, "K"))
	say(rimewatch.LowSuctionTemperature, "Limit", number(-d.LowSuction.Warn, "K"), number(-d.FreezerSuction.Warn, "K"), number(d.SuctionDeviation.Warn, "K"), number(d.SuctionDeviation.Crit, "K"))
	say(rimewatch.HighAmpDraw, "Limit", share(d.Amps.Warn), share(d.Amps.Crit), number(d.AmpsDeviation.Warn, "%"))
	say(rimewatch.HighAmpDraw, "Delay", duration(d.Amps.WarnDelay), duration(d.Amps.CritDelay))
	say(rimewatch.LowAmpDraw, "Limit", share(d.LowAmps.Warn))
	say(rimewatch.HighVibration, "Limit", number(d.Vibration.Warn, "mm/s"), number(d.Vibration.Crit, "mm/s"))
	say(rimewatch.ShortCycling, "Limit", number(d.Starts.Warn, "starts an hour"), fmt.Sprint("critical ", d.Starts.Crit), number(d.RunLength.Warn, "min"), number(d.RunLength.Crit, "min"))
	say(rimewatch.CompressorStartFailure, "Limit", number(d.FailedStartsDay, "failed starts in 24 h"), fmt.Sprint("critical ", d.FailedStartsHour))
	say(rimewatch.ExcessiveRunTime, "Limit", number(d.RunTime.Warn, "%"), number(d.RunTime.Crit, "%"), number(d.RunTimeDeviation.Warn, "points"), number(d.RunTimeZoneK, "K"))
	say(rimewatch.DoorOpenSuspected, "Limit", number(d.Door.Warn, "min"))
	say(rimewatch.DoorOpenSuspected, "Closes", duration(d.Door.ClearTime))
	say(rimewatch.HighHumidity, "Limit", number(d.Humidity.Warn, "%"), number(d.Humidity.Crit, "%"), number(d.ZoneHumid.Warn, "%"), number(d.FreezerHumid.Warn, "%"))
	say(rimewatch.LowHumidity, "Limit", number(d.ZoneDry.Warn, "%"))
	say(rimewatch.HighAmbientTemperature, "Limit", number(d.Hot.Warn, "°C"), number(d.Hot.Crit, "°C"))
	say(rimewatch.LowAmbientTemperature, "Limit", number(d.Cold.Warn, "°C"), number(d.Cold.Crit, "°C"))
	for typ, l := range map[rimewatch.AlertType]Limit{
		rimewatch.LowDischargeTemperature: d.LowDischarge, rimewatch.HighSuctionTemperature: d.Suction, rimewatch.LowSuctionTemperature: d.LowSuction,
		rimewatch.LowAmpDraw: d.LowAmps, rimewatch.HighVibration: d.Vibration, rimewatch.ShortCycling: d.Starts,
		rimewatch.HighHumidity: d.Humidity, rimewatch.LowHumidity: d.ZoneDry, rimewatch.HighAmbientTemperature: d.Hot, rimewatch.LowAmbientTemperature: d.Cold,
	} {
		say(typ, "Delay", duration(l.WarnDelay))
		say(typ, "Closes", duration(l.ClearTime))
	}
	say(rimewatch.HighAmpDraw, "Closes", duration(d.Amps.ClearTime))
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
