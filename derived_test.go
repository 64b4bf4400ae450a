package rimewatch

import "testing"

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
