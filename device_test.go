package rimewatch_test

import (
	"math"
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

func TestConditionOf(t *testing.T) {
	alert := func(kind rimewatch.AlertType, s rimewatch.Severity, suppressedBy int64) *rimewatch.Alert {
		return &rimewatch.Alert{Type: kind, Severity: s, SuppressedBy: suppressedBy}
	}
	warm, leak := rimewatch.HighTemperature, rimewatch.RefrigerantLeakSuspected
	for name, c := range map[string]struct {
		online, judged bool
		alerts         []*rimewatch.Alert
		want           rimewatch.Condition
	}{
		"fine":                      {true, true, nil, rimewatch.ConditionOK},
		"nobody judges it":          {true, false, nil, rimewatch.ConditionUnjudged},
		"silent and never judged":   {false, false, nil, rimewatch.ConditionOffline},
		"the worst counts":          {true, true, []*rimewatch.Alert{alert(leak, rimewatch.Critical, 0), alert(warm, rimewatch.Warning, 0)}, rimewatch.ConditionWarning},
		"a forecast is no fire":     {true, true, []*rimewatch.Alert{alert(leak, rimewatch.Critical, 0)}, rimewatch.ConditionPredicted},
		"critical":                  {false, true, []*rimewatch.Alert{alert(warm, rimewatch.Critical, 0)}, rimewatch.ConditionCritical},
		"its silence as an alert":   {false, true, []*rimewatch.Alert{alert(rimewatch.DeviceOffline, rimewatch.Warning, 0)}, rimewatch.ConditionOffline},
		"explained by another one":  {true, true, []*rimewatch.Alert{alert(warm, rimewatch.Critical, 7)}, rimewatch.ConditionOK},
		"offline for a long time":   {false, true, []*rimewatch.Alert{alert(rimewatch.DeviceOffline, rimewatch.Critical, 0)}, rimewatch.ConditionCritical},
		"not judged with a warning": {true, false, []*rimewatch.Alert{alert(warm, rimewatch.Warning, 0)}, rimewatch.ConditionWarning},
	} {
		if got := rimewatch.ConditionOf(c.online, c.judged, c.alerts); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}

func TestDeletedSerial(t *testing.T) {
	if serial, id := rimewatch.CutDeletedSerial(rimewatch.DeletedSerial("F-1", 42)); serial != "F-1" || id != 42 {
		t.Errorf("%q, %d", serial, id)
	}
	for given, want := range map[string]int64{"F-1": 0, "F-1~": -1, "F-1~x": -1, "F-1~0": -1, "F-1~-3": -1, "F-1~1~2": -1} {
		if serial, id := rimewatch.CutDeletedSerial(given); serial != "F-1" || id != want {
			t.Errorf("%q is %q, %d; want id %d", given, serial, id, want)
		}
	}
}

func TestBatteryLevel(t *testing.T) {
	for volts, want := range map[float64]float64{3.6: 100, 3: 100, 2.7: 60, 2.4: 20, 2.2: 10, 1.5: 0, 3000: 100, 2400: 20, 12: 100} {
		if got, ok := rimewatch.BatteryLevel(volts); !ok || math.Abs(got-want) > 1e-9 {
			t.Errorf("%v V: %v %v, want %v", volts, got, ok, want)
		}
	}
	for _, volts := range []float64{0, 0.9, -3, 21, 999, 20_001, math.NaN(), math.Inf(1)} {
		if got, ok := rimewatch.BatteryLevel(volts); ok {
			t.Errorf("%v V: %v", volts, got)
		}
	}
}
