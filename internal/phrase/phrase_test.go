package phrase_test

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/phrase"
)

var update = flag.Bool("update", false, "write testdata/words.golden anew")

const epoch = rimewatch.Time(1_795_000_000_000)

// scene is an alert as a unit brings it.
type scene struct {
	typ                rimewatch.AlertType
	metric, unit       string
	warn, crit         float64 // limits
	open, worst, ended float64 // values at the opening, at the worst and at the end
	delay, lasted      int     // min
}

var scenes = []scene{
	{rimewatch.HighTemperature, "product_zone_temp", "°C", -15, -12, -13.4, -9.8, -15.8, 60, 184},
	{rimewatch.LowTemperature, "product_zone_temp", "°C", 2, 0, 1.6, -0.4, 2.7, 15, 47},
	{rimewatch.DeviceOffline, "silence", "s", 180, 0, 180, 5460, 5460, 0, 88},
	{rimewatch.SensorStale, "reading_age", "s", 900, 0, 900, 2700, 2700, 15, 45},
	{rimewatch.SensorFault, "compressor_discharge_temp", "", 0, 0, 0, 0, 0, 5, 190},
	{rimewatch.SensorFault, "product_zone_still", "", 0, 0, 0, 0, 0, 1450, 65},
	{rimewatch.SensorFault, "zone_jump", "K", 0, 0, 14.2, 14.2, 0, 5, 65},
	{rimewatch.PowerLoss, "voltage", "V", 0, 115, 0, 0, 229.6, 0, 95},
	{rimewatch.LowVoltage, "voltage", "V", 207, 195.5, 203.2, 191.4, 222, 1, 36},
	{rimewatch.HighVoltage, "voltage", "V", 253, 264.5, 254.8, 266, 238.1, 1, 36},
	{rimewatch.HighDischargeTemperature, "compressor_discharge_temp", "°C", 107, 121, 109.3, 123.4, 99.2, 5, 220},
	{rimewatch.HighDischargeTemperature, "compressor_discharge_temp_deviation", "K", 6, 15, 7.62, 16.1, 3.1, 720, 2880},
	{rimewatch.HighAmpDraw, "amp_draw", "A", 18.75, 21.3, 19.31, 22.4, 15.2, 10, 75},
	{rimewatch.HighAmpDraw, "amp_draw_deviation", "%", 12, 0, 13.4, 14.2, 3.4, 720, 2880},
	{rimewatch.HighVibration, "vibration_level", "mm/s", 1.8, 4.5, 2.31, 5.02, 1.1, 15, 4000},
	{rimewatch.ShortCycling, "starts_per_hour", "1/h", 8, 12, 9, 14, 4, 15, 300},
	{rimewatch.ShortCycling, "run_length", "min", 3, 2, 2.1, 1.5, 9, 0, 300},
	{rimewatch.CompressorStartFailure, "failed_starts_per_day", "1/d", 3, 0, 3, 5, 0, 0, 1500},
	{rimewatch.CompressorStartFailure, "failed_starts_per_hour", "1/h", 0, 3, 3, 4, 0, 0, 1500},
	{rimewatch.ExcessiveRunTime, "run_time_share", "%", 85, 97, 88.25, 98, 71, 0, 720},
	{rimewatch.ExcessiveRunTime, "run_time_share_deviation", "%", 20, 0, 24.4, 26, 5, 0, 720},
	{rimewatch.SlowRecovery, "recovery_time", "min", 100, 0, 101, 101, 0, 0, 480},
	{rimewatch.SlowWarming, "product_zone_temp", "°C", -24.4, 0, -19.8, -18.1, -21.7, 8640, 25920},
	{rimewatch.DoorOpenSuspected, "door_open_time", "min", 15, 0, 34, 61, 0, 0, 300},
	{rimewatch.HighSuctionTemperature, "compressor_suction_temp", "°C", 18, 27, 19.6, 28.2, 12.4, 15, 200},
	{rimewatch.HighSuctionTemperature, "compressor_suction_temp_deviation", "K", 3, 7, 3.9, 7.7, 1.2, 720, 2880},
	{rimewatch.LowSuctionTemperature, "suction_above_zone", "K", -5, 0, -6.8, -9.1, 1.4, 10, 200},
	{rimewatch.LowSuctionTemperature, "compressor_suction_temp_deviation", "K", -3, -7, -5.2, -7.6, -1.1, 720, 2880},
	{rimewatch.LowDischargeTemperature, "discharge_above_ambient", "K", 25, 15, 21.7, 13.2, 41, 10, 200},
	{rimewatch.LowAmpDraw, "amp_draw", "A", 3.75, 0, 0.9, 0.8, 15.1, 10, 60},
	{rimewatch.HighHumidity, "humidity", "%RH", 75, 90, 78, 93, 70, 120, 400},
	{rimewatch.LowHumidity, "humidity", "%RH", 55, 0, 51, 47, 60, 120, 400},
	{rimewatch.HighAmbientTemperature, "ambient_temp", "°C", 35, 43, 36.2, 44, 32.4, 30, 400},
	{rimewatch.LowAmbientTemperature, "ambient_temp", "°C", 10, 2, 8.1, 1.2, 12.4, 30, 400},
	{rimewatch.SiteOffline, "silent_devices", "", 0, 0, 4, 5, 1, 0, 240},
	{"from_the_future", "", "", 0, 0, 0, 0, 0, 5, 60},
	{rimewatch.SensorStale, "humidity", "", 0, 0, 0, 0, 0, 180, 1500},
	{rimewatch.SensorFault, "all_temperatures", "", 0, 0, 0, 0, 0, 5, 190},
	{rimewatch.SensorFault, "product_zone_and_ambient", "", 0, 0, 0, 0, 0, 5, 190},
	{rimewatch.SensorFault, "discharge_and_suction", "", 0, 0, 0, 0, 0, 5, 190},
	{rimewatch.NotCooling, "product_zone_temp", "°C", -19.2, -12, -16.8, -11.4, -21.5, 21, 300},
	{rimewatch.SensorStale, "product_zone_age", "s", 900, 0, 43_560, 43_560, 46_800, 726, 780},
	{rimewatch.BatteryLow, "battery_pct", "%", 20, 0, 17, 12, 96, 0, 9000},
	{rimewatch.BatteryLow, "battery_low", "", 0, 0, 0, 0, 0, 0, 9000},
}

// alertOf returns the alert of a scene some minutes after its condition began.
func (sc *scene) alertOf(minutes int, value float64) *rimewatch.Alert {
	a := &rimewatch.Alert{
		Status: rimewatch.AlertActive, Type: sc.typ, Severity: rimewatch.Warning, Metric: sc.metric, Unit: sc.unit, Value: &value, PeakValue: &sc.worst,
		Threshold: &sc.warn, ConditionStartedAt: epoch, TriggeredAt: epoch, LastEvaluatedAt: epoch + rimewatch.Time(minutes)*rimewatch.Minute, Occurrences: 1, OutOf: 5,
	}
	if sc.typ == rimewatch.SensorFault && sc.unit == "" {
		a.Value, a.PeakValue, a.Threshold = nil, nil, nil
	}
	return a
}

func resolve(a *rimewatch.Alert, how rimewatch.Resolution) {
	a.Status, a.Resolution, a.ResolvedAt = rimewatch.AlertResolved, how, a.LastEvaluatedAt
}

// TestWords keeps every sentence that people read: run with -update and read the
// difference aloud.
func TestWords(t *testing.T) {
	var b strings.Builder
	say := func(a *rimewatch.Alert) {
		headline := phrase.In(rimewatch.Locale{}).Headline(a, a.LastEvaluatedAt)
		if a.Status == rimewatch.AlertResolved {
			headline = phrase.In(rimewatch.Locale{}).Ending(a)
		}
		fmt.Fprintf(&b, "%s\n  %s\n", headline, phrase.In(rimewatch.Locale{}).Message(a))
	}
	for i := range scenes {
		sc := &scenes[i]
		fmt.Fprintf(&b, "## %s by %s\n", sc.typ, sc.metric)
		a := sc.alertOf(sc.delay, sc.open)
		say(a)
		if sc.crit != 0 || sc.typ == rimewatch.SiteOffline {
			a = sc.alertOf((sc.delay+sc.lasted)/2, sc.worst)
			a.Severity, a.Threshold = rimewatch.Critical, &sc.crit
			say(a)
		}
		a = sc.alertOf(sc.lasted, sc.ended)
		resolve(a, rimewatch.ResolvedAuto)
		say(a)
	}
	fmt.Fprintf(&b, "## what else can be said\n")
	a := scenes[0].alertOf(180, -13)
	a.Flapping, a.Occurrences = true, 2
	say(a)
	a.Flapping = false
	b.WriteString("  " + phrase.In(rimewatch.Locale{}).Then(&rimewatch.AlertTransition{Kind: rimewatch.TransitionDeescalated, Facts: a}) + "\n")
	resolve(a, rimewatch.ResolvedAuto)
	say(a)
	resolve(a, rimewatch.ResolvedManual)
	say(a)
	hold, none := 3.27, 0.0
	a = scenes[6].alertOf(20, 0)
	a.HoldH = &hold
	say(a)
	a.HoldH = &none
	say(a)
	a = scenes[slices.IndexFunc(scenes, func(sc scene) bool { return sc.typ == rimewatch.SlowWarming })].alertOf(8640, -19.8)
	a.Alike = 3
	say(a)
	a, usual := scenes[1].alertOf(60, 1.6), 1.8
	a.Usual = &usual
	say(a)
	a = scenes[33].alertOf(240, 0)
	resolve(a, rimewatch.ResolvedAuto)
	say(a)
	b.WriteString("## predictions\n")
	for _, p := range predictions() {
		a := &rimewatch.Alert{Status: rimewatch.AlertActive, Type: rimewatch.CondenserFoulingSuspected, Severity: rimewatch.Warning, TriggeredAt: epoch, LastEvaluatedAt: epoch + rimewatch.Hour, Prediction: p}
		say(a)
		spelled := phrase.In(rimewatch.Locale{}).Prediction(p)
		for _, e := range spelled.Evidence {
			b.WriteString("  · " + e.Text + "\n")
		}
		b.WriteString("  " + spelled.RecommendedAction + " " + spelled.WhatWouldChangeIt + "\n")
	}
	a = &rimewatch.Alert{Status: rimewatch.AlertResolved, Resolution: rimewatch.ResolvedAuto, ResolvedAt: epoch, TriggeredAt: epoch, Prediction: predictions()[0]}
	say(a)
	a.Resolution = rimewatch.ResolvedSuperseded
	say(a)
	golden(t, typed(b.String()))
}

// typed is a text with the spaces that a keyboard has.
func typed(s string) string { return strings.ReplaceAll(s, "\u00a0", " ") }

func golden(t *testing.T, got string) {
	const name = "testdata/words.golden"
	if *update {
		if err := os.WriteFile(name, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("words (-golden +said):\n%s", diff)
	}
}

func predictions() []*rimewatch.Prediction {
	lead, low, high, ambient, amps, change := 136.0, 118.0, 210.0, 24.0, 61.3, -3.0
	since := epoch - 3*rimewatch.Day
	return []*rimewatch.Prediction{
		{Fault: "condenser_fouling", RunnerUp: "noncondensables_overcharge", Risk: 0.67, HorizonH: 190, LeadTimeH: &lead, LeadLowH: &low, LeadHighH: &high, Evidence: []rimewatch.Evidence{
			{Metric: "compressor_discharge_temp", Observed: 79.34, Expected: 71.2, Unit: "°C", Since: since, Cycles: 41, Ambient: &ambient},
			{Metric: "amp_draw", Observed: 7.42, Expected: 6.91, Unit: "A", Since: since, Cycles: 41, Ambient: &ambient},
			{Metric: rimewatch.RunTimeShare, Observed: 71, Expected: 60, Unit: "%", Since: since, Cycles: 1, Ambient: &ambient},
			{Metric: rimewatch.EvidenceAlternatives}, {Metric: rimewatch.EvidenceTrend, Observed: 5.7, Unit: "d"},
			{Metric: rimewatch.EvidenceCommonMode, Observed: 3, OutOf: 5},
		}},
		{Fault: "defrost_failure", Risk: 0.3, HorizonH: 300, LeadTimeH: &low, LeadLowH: &low, Evidence: []rimewatch.Evidence{
			{Metric: "compressor_suction_temp", Observed: -31.1, Expected: -28.4, Unit: "°C", Since: since, Cycles: 100, Ambient: &ambient},
			{Metric: rimewatch.DefrostRise, Observed: 1.3, Expected: 4.6, Unit: "K"}, {Metric: rimewatch.EvidenceTrend, Observed: 4.9, Unit: "d"},
		}},
		{Fault: "start_component_failure", Risk: 0.5, HorizonH: 36, ByEvent: true, Evidence: []rimewatch.Evidence{{Metric: rimewatch.FailedStartsPerDay, Observed: 4, Unit: "1/d", Current: &amps}}},
		{Fault: "contactor_fault", RunnerUp: "start_component_failure", Risk: 0.5, HorizonH: 1, ByEvent: true, Evidence: []rimewatch.Evidence{
			{Metric: rimewatch.RunsWithoutResult, Observed: 3, Current: &change}, {Metric: rimewatch.EvidenceRunnerUp},
			{Metric: "vibration_level", Observed: 3.21, Expected: 1.6, Unit: "mm/s", Since: since, Cycles: 9},
		}},
		{Fault: "of_the_future", Risk: 0.5, HorizonH: 1, Evidence: []rimewatch.Evidence{{Metric: "something_new", Observed: 2, Expected: 1, Unit: "m", Since: since}}},
	}
}

// TestEveryTypeHasWords: no alert is opened that the catalogue does not know, and
// each text has been read in TestWords.
func TestEveryTypeHasWords(t *testing.T) {
	for _, typ := range rimewatch.AlertTypes() {
		predicted := strings.HasSuffix(string(typ), "_predicted") || strings.HasSuffix(string(typ), "_suspected") && typ != rimewatch.DoorOpenSuspected
		read := slices.ContainsFunc(scenes, func(s scene) bool { return s.typ == typ })
		a := &rimewatch.Alert{Type: typ}
		if !predicted && (!read || phrase.In(rimewatch.Locale{}).Title(a) == phrase.In(rimewatch.Locale{}).Title(&rimewatch.Alert{Type: "unknown"}) || phrase.In(rimewatch.Locale{}).Ending(a) == "") {
			t.Errorf("%s has no words, or nobody has read them", typ)
		}
	}
}

// TestTitlesStandAlone: they are printed beside the name of the unit.
func TestTitlesStandAlone(t *testing.T) {
	for i := range scenes {
		for _, title := range []string{phrase.In(rimewatch.Locale{}).Title(scenes[i].alertOf(5, scenes[i].open)), phrase.In(rimewatch.Locale{}).Ending(scenes[i].alertOf(5, scenes[i].open))} {
			first, _, _ := strings.Cut(title, " ")
			if title == "" || strings.ToUpper(title[:1]) != title[:1] || strings.HasSuffix(title, ".") || slices.Contains([]string{"Is", "Has", "Gets", "Runs", "May", "Draws"}, first) {
				t.Errorf("%s: %q", scenes[i].typ, title)
			}
		}
	}
}

// TestFactsThatAreMissing: an alert may come without a value, a limit or times.
func TestFactsThatAreMissing(t *testing.T) {
	for _, typ := range rimewatch.AlertTypes() {
		for _, status := range []rimewatch.AlertStatus{rimewatch.AlertActive, rimewatch.AlertResolved} {
			a := &rimewatch.Alert{Type: typ, Status: status, Resolution: rimewatch.ResolvedAuto}
			for _, s := range []string{phrase.In(rimewatch.Locale{}).Title(a), phrase.In(rimewatch.Locale{}).Headline(a, epoch), phrase.In(rimewatch.Locale{}).Ending(a), phrase.In(rimewatch.Locale{}).Message(a)} {
				if s == "" || strings.Contains(s, "%v") || strings.Contains(s, "NaN") {
					t.Errorf("%s: %q", typ, s)
				}
			}
		}
	}
	if got := phrase.In(rimewatch.Locale{}).Then(&rimewatch.AlertTransition{Kind: rimewatch.TransitionOpened}); got != "" {
		t.Errorf("a line without facts says %q", got)
	}
	if phrase.In(rimewatch.Locale{}).Prediction(nil) != nil {
		t.Error("no prediction, but words for it")
	}
}

// TestPredictionIsCopied: the alert that others hold stays as it is.
func TestPredictionIsCopied(t *testing.T) {
	p := predictions()[0]
	if phrase.In(rimewatch.Locale{}).Prediction(p).Evidence[0].Text == "" || p.Evidence[0].Text != "" || p.RecommendedAction != "" {
		t.Errorf("%+v", p)
	}
	if phrase.In(rimewatch.Locale{}).Prediction(&rimewatch.Prediction{}).Evidence == nil {
		t.Error("no evidence must be an empty list")
	}
}

// TestQuantities: values are written as people say them.
func TestQuantities(t *testing.T) {
	for _, tc := range []struct {
		v          float64
		unit, want string
	}{
		{-8.249, "°C", "−8.2 °C"}, {-0.04, "°C", "0 °C"}, {5, "°C", "5 °C"}, {2.346, "mm/s", "2.35 mm/s"}, {40, "s", "40 s"}, {180, "s", "3 min"}, {7500, "s", "2 h 5 min"},
		{2.5, "min", "2.5 min"}, {101, "min", "1 h 41 min"}, {190000, "s", "2 d 4 h"}, {229.61, "V", "229.6 V"}, {8.04, "K", "8 °C"}, {9, "1/h", "9"}, {78, "%RH", "78 % RH"},
	} {
		a := &rimewatch.Alert{Type: rimewatch.LowVoltage, Value: &tc.v, Unit: tc.unit}
		if got := typed(phrase.In(rimewatch.Locale{}).Message(a)); !strings.HasPrefix(got, "The supply is at "+tc.want+" (limit –)") {
			t.Errorf("%v %s: %q, want %q", tc.v, tc.unit, got, tc.want)
		}
	}
	// A headline's value is written like that of the sentence after it.
	if got := typed(phrase.In(rimewatch.Locale{Language: "es"}).Quantity(78.5, "%RH")); got != "78,5 % HR" {
		t.Error(got)
	}
}

// TestPredictionOver: without observations the sentence about the time before begins with the cause.
func TestPredictionOver(t *testing.T) {
	a := &rimewatch.Alert{Type: "condenser_fouling_suspected", Status: rimewatch.AlertResolved, Prediction: &rimewatch.Prediction{Fault: "condenser_fouling"}}
	if got := phrase.In(rimewatch.Locale{}).Message(a); got != "What it rested on is no longer seen. Before: Most likely a dirty condenser." {
		t.Errorf("%q", got)
	}
}

// TestTypesOfTheUI holds the names of alert types that the UI has against these.
func TestTypesOfTheUI(t *testing.T) {
	const path = "../../web/src/words/types.ts"
	var b strings.Builder
	b.WriteString("// Code generated from internal/phrase by `go test ./internal/phrase -update`. DO NOT EDIT.\nimport { tr } from './tr';\n\n/** types names the types of alerts. */\nexport const types: Record<string, string> = {\n")
	for _, typ := range rimewatch.AlertTypes() {
		name := phrase.In(rimewatch.Locale{}).TypeName(typ)
		if name == "" || strings.Contains(name, "%") {
			t.Errorf("%s has the name %q", typ, name)
		}
		fmt.Fprintf(&b, "  %s: tr('%s'),\n", typ, name)
	}
	b.WriteString("};\n")
	if *update {
		if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != b.String() {
		t.Errorf("%s is not made from these words (%v): run go test ./internal/phrase -update", path, err)
	}
}

// TestNoChange: what rounds to nothing is said to be as it is, not to be 0 % higher.
func TestNoChange(t *testing.T) {
	change := 0.0
	for _, tc := range []struct {
		e    rimewatch.Evidence
		want string
	}{
		{rimewatch.Evidence{Metric: rimewatch.RunsWithoutResult, Observed: 4, Current: &change}, "4 runs in 45 minutes ended early while the product zone was still warm, with the current as in steady running."},
		{rimewatch.Evidence{Metric: rimewatch.RunTimeShare, Observed: 40.2, Expected: 40, Unit: "%"}, "Share of time running 40.2 %, 0.2 percentage points higher than usual (40 %)."},
		{rimewatch.Evidence{Metric: "vibration_level", Observed: 1.0001, Expected: 1, Unit: "mm/s"}, "Vibration 1 mm/s, as usual (1 mm/s)."},
	} {
		words := phrase.In(rimewatch.Locale{})
		if got := typed(words.Evidence(nil, &tc.e)); got != tc.want {
			t.Errorf("%q, want %q", got, tc.want)
		}
	}
}

// TestNoTimeLeft: what is less than can be told is minutes, not 0 s.
// TestBackInside: an alert that ends once the value has stayed in range says since when it was back, and
// counts as too warm only the time before.
func TestBackInside(t *testing.T) {
	value, peak, limit := -20.0, -8.0, -15.0
	at := func(clock string) rimewatch.Time {
		x, _ := rimewatch.ParseTime("2026-11-20T" + clock + ":00Z")
		return x
	}
	for _, c := range []struct {
		name, back, over, zone, want string
		l                            rimewatch.Locale
	}{
		{name: "by the clock of the site", back: "07:31", over: "07:41", zone: "Europe/Berlin", want: "It was too warm for 31\u00a0min; the highest was −8\u00a0°C. Back inside since 08:31, all clear at 08:41."},
		{name: "no place is known", back: "07:31", over: "07:41", want: "Back inside since 07:31, all clear at 07:41 UTC."},
		{name: "over midnight", back: "22:55", over: "23:05", zone: "Europe/Berlin", want: "Back inside since 20 Nov, 23:55, all clear at 00:05."},
		{name: "at once", back: "07:31", over: "07:31", zone: "Europe/Berlin", want: "the highest was −8\u00a0°C."},
		{name: "in Spanish", back: "07:31", over: "07:41", zone: "Europe/Berlin", l: rimewatch.Locale{Language: "es"}, want: "De nuevo dentro desde las 08:31, todo en orden a las 08:41."},
	} {
		v := rimewatch.AlertView{Site: &rimewatch.Site{TimeZone: c.zone}, Alert: rimewatch.Alert{
			Type: rimewatch.HighTemperature, Severity: rimewatch.Warning, Status: rimewatch.AlertResolved, Resolution: rimewatch.ResolvedAuto, Ending: rimewatch.EndedInRange,
			Metric: "product_zone_temp", Unit: "°C", Value: &value, PeakValue: &peak, Threshold: &limit, ConditionStartedAt: at("07:00"), BackSince: at(c.back), ResolvedAt: at(c.over),
		}}
		if got := phrase.In(c.l).For(&v).Message(&v.Alert); !strings.HasSuffix(got, c.want) {
			t.Errorf("%s: %s", c.name, got)
		}
	}
}

func TestNoTimeLeft(t *testing.T) {
	left := 0.02
	a := rimewatch.Alert{Type: rimewatch.PowerLoss, Metric: "voltage", Status: rimewatch.AlertActive, HoldH: &left}
	words := phrase.In(rimewatch.Locale{})
	if got := words.Message(&a); !strings.Contains(got, "too warm within minutes.") {
		t.Error(got)
	}
}
