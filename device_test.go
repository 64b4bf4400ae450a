package rimewatch_test

import (
	"strings"
	"testing"

	"github.com/rimewatch/rimewatch"
)

func TestValidSerial(t *testing.T) {
	for s, want := range map[string]bool{
		"WIF-0001": true, "a": true, "A.b_c:d-9": true, "...": true, strings.Repeat("x", 64): true,
		"": false, ".": false, "..": false, strings.Repeat("x", 65): false, "a b": false, "a/b": false, "ü": false, "a\x00": false, "%2e": false,
	} {
		if got := rimewatch.ValidSerial(s); got != want {
			t.Errorf("ValidSerial(%q) = %v", s, got)
		}
	}
}

func TestJudged(t *testing.T) {
	const now = 100 * rimewatch.Day
	own := 5.0
	for name, c := range map[string]struct {
		kind   string
		newest rimewatch.Time
		limits *rimewatch.LimitOverrides
		want   bool
	}{
		"a known type that reports":               {"walkin_cooler", now - rimewatch.Hour, nil, true},
		"a misspelt type":                         {"walkin_coolr", now - rimewatch.Hour, nil, false},
		"a misspelt type with a limit of its own": {"walkin_coolr", now - rimewatch.Hour, &rimewatch.LimitOverrides{TempMax: &own}, true},
		"only a critical limit":                   {"ice_machine", now, nil, true},
		"never a value":                           {"walkin_cooler", 0, nil, false},
		"a value of yesterday":                    {"walkin_cooler", now - rimewatch.JudgedFor, nil, false},
		"almost a day old":                        {"walkin_cooler", now - rimewatch.JudgedFor + 1, nil, true},
		"no product zone to judge":                {"condensing_unit", 0, nil, true},
	} {
		v := rimewatch.DeviceView{Device: rimewatch.Device{EquipmentType: c.kind, Limits: c.limits}, Live: rimewatch.Live{CurrentTempAt: c.newest}}
		if got := v.Judged(now); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestNearestEquipment(t *testing.T) {
	for text, want := range map[string]string{
		"walkin_coolr": "walkin_cooler", "Walk-in Freezer": "walkin_freezer", "walk in cooler": "walkin_cooler", "icecream_cabinet": "ice_cream_cabinet",
		"vacine_fridge": "", "xyz": "", "": "", "fishcooler": "fish_cooler", "ult": "",
	} {
		got := ""
		if e := rimewatch.NearestEquipment(text); e != nil {
			got = e.Slug
		}
		if got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
