package rimewatch

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the UI's copy of the table of measurements anew")

// numbers is what is stored: a line here never changes, and a number is never
// given to another measurement. New ones come at the end.
var numbers = []string{
	"0 product_zone_temp °C", "1 compressor_discharge_temp °C", "2 compressor_suction_temp °C", "3 ambient_temp °C",
	"4 humidity %RH", "5 voltage V", "6 amp_draw A", "7 vibration_level mm/s",
	"8 setpoint_temp °C", "9 evaporator_temp °C", "10 liquid_line_temp °C", "11 suction_pressure kPa", "12 discharge_pressure kPa",
	"13 power W", "14 energy kWh", "15 co2 ppm", "16 start_count ", "17 run_seconds s",
}

func TestNumbersStay(t *testing.T) {
	var got []string
	for f := range AllFields.All() {
		got = append(got, fmt.Sprintf("%d %s %s", f, f, f.Info().Unit))
	}
	if !slices.Equal(got, numbers) {
		t.Errorf("the numbers, names or units of measurements have changed:\n%s", strings.Join(got, "\n"))
	}
	flags := []string{CompressorOn.String(), DefrostActive.String(), DoorOpen.String()}
	if want := []string{"compressor_on", "defrost_active", "door_open"}; !slices.Equal(flags, want) || CompressorOn != 0 || DefrostActive != 1 || DoorOpen != 2 || NumFlags != 3 {
		t.Error("the numbers or names of observations have changed:", flags)
	}
}

// problems lists what is wrong with a table of measurements.
func (t *fieldTable) problems() []string {
	var found []string
	names := map[string]bool{}
	for i := range t {
		f, info := Field(i), &t[i]
		if info.Name == "" {
			if *info != (FieldInfo{}) {
				found = append(found, fmt.Sprintf("%d has no name", f))
			}
			continue
		}
		wrong := func(what string, bad bool) {
			if bad {
				found = append(found, info.Name+": "+what)
			}
		}
		wrong("the name is taken", names[info.Name])
		names[info.Name] = true
		wrong("the name is not in snake_case, or too long", !regexp.MustCompile(`^[a-z][a-z0-9_]{1,29}[a-z0-9]$`).MatchString(info.Name))
		wrong("people are told nothing of it", info.Label == "" || info.Short == "" || info.Doc == "")
		wrong("nothing is accepted", !(info.Min < info.Max))
		wrong("nothing is plausible", !(info.Low < info.High))
		wrong("the example is not accepted", info.Example < info.Min || info.Example > info.Max)
		wrong("the example is not plausible", info.Example < info.Low || info.Example > info.High)
		wrong("a counter cannot be negative", info.Kind == Counter && info.Min != 0)
		wrong("a chart has no height", !(info.Span > 0))
	}
	return found
}

func TestFieldTable(t *testing.T) {
	if found := fields.problems(); len(found) > 0 {
		t.Error(strings.Join(found, "\n"))
	}
	for f := range fields {
		if named := fields[f].Name != ""; named != AllFields.Has(Field(f)) {
			t.Errorf("AllFields and the table differ about %d", f)
		}
	}
	for f := range AllFields.All() {
		if got, ok := FieldByName(f.String()); !ok || got != f {
			t.Errorf("%s is found as %d, %v", f, got, ok)
		}
	}
	if _, ok := FieldByName("unknown"); ok || MaxFields.String() != "unknown" || MaxFields.Info() != (FieldInfo{}) {
		t.Error("there is a measurement beyond the last number")
	}
	// The check itself finds what it is for.
	bad := fields
	bad[31] = FieldInfo{Name: "power", Min: 1, Max: 1}
	if len(bad.problems()) < 4 {
		t.Error("a bad row passes:", bad.problems())
	}
}

func TestPlausible(t *testing.T) {
	for _, tt := range []struct {
		f    Field
		v    float64
		want bool
	}{
		{ProductZoneTemp, -20, true}, {ProductZoneTemp, 61, false}, {ProductZoneTemp, -127, false}, {ProductZoneTemp, 85, false},
		{CompressorDischargeTemp, 85, true}, {LiquidLineTemp, 85, false}, {SuctionPressure, 85, true}, {SuctionPressure, -127, false},
		{DischargePressure, 999, true}, {DischargePressure, 15000, false}, {Power, 0, true}, {Energy, 1e9, true}, {AmpDraw, 999, false},
	} {
		if got := tt.f.Plausible(tt.v); got != tt.want {
			t.Errorf("%s %v: %v", tt.f, tt.v, got)
		}
	}
}

// TestFieldsOfTheUI holds the table that the UI has against this one.
func TestFieldsOfTheUI(t *testing.T) {
	const path = "web/src/words/fields.ts"
	var b strings.Builder
	b.WriteString("// Code generated from field.go by `go test . -run TestFieldsOfTheUI -update`. DO NOT EDIT.\nimport { tr } from './tr';\n\n/** fields are the measurements that a reading may hold, by their numbers. */\nexport const fields = [\n")
	for f := range AllFields.All() {
		x := f.Info()
		kind := "gauge"
		if x.Kind == Counter {
			kind = "counter"
		}
		fmt.Fprintf(&b, "  { field: '%s', label: tr('%s'), short: tr('%s'), unit: '%s', digits: %d, span: %s, kind: '%s', core: %v },\n",
			x.Name, x.Label, x.Short, x.Unit, x.Digits, strconv.FormatFloat(x.Span, 'f', -1, 64), kind, f.Core())
	}
	b.WriteString("] as const;\n\n/** derived are the measures that are made of measurements. */\nexport const derived = [\n")
	for _, d := range DerivedMeasures() {
		fmt.Fprintf(&b, "  { measure: '%s', label: tr('%s'), unit: '%s', digits: %d },\n", d.Name, d.Label, d.Unit, d.Digits)
	}
	b.WriteString("] as const;\n")
	if *update {
		if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != b.String() {
		t.Errorf("%s is not made from this table (%v): run go test . -run TestFieldsOfTheUI -update", path, err)
	}
}

func TestMeasures(t *testing.T) {
	for _, tt := range []struct{ metric, label, unit string }{
		{"product_zone_temp", "Product zone", "°C"},
		{"compressor_suction_temp_deviation", "Suction temperature", "K"},
		{"amp_draw_deviation", "Current", "%"},
		{"run_time_share", "Share of time running", "%"},
		{"run_time_share_deviation", "Share of time running", "%"},
		{"defrost_rise", "Warming during defrost", "K"},
		{"silent_devices", "Silent devices", ""},
		{"unheard_of", "", ""},
	} {
		label, ok := MeasureLabel(tt.metric)
		if unit := MeasureUnit(tt.metric); label != tt.label || unit != tt.unit || ok != (label != "") {
			t.Errorf("%s is %q (%v) in %q", tt.metric, label, ok, unit)
		}
	}
	seen := map[string]bool{}
	for _, d := range DerivedMeasures() {
		if _, ok := FieldByName(d.Name); ok || seen[d.Name] || d.Label == "" {
			t.Errorf("%s is there twice or without a label", d.Name)
		}
		seen[d.Name] = true
	}
}
