package engine_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/engine"
)

// TestBattery: battery_low opens at its level or by the device's own word, never twice in seven days, ends
// above 40 % or after a jump, is always a warning and no part of the health score.
func TestBattery(t *testing.T) {
	level := func(v float64) *float64 { return &v }
	yes, no := true, false
	const h = rimewatch.Hour
	for _, tc := range []struct {
		name  string
		heard []engine.Charge
		every rimewatch.Time
		want  string
	}{
		{"runs down and is changed", []engine.Charge{{Pct: level(21)}, {Pct: level(20)}, {Pct: level(3)}, {Pct: level(22)}, {Pct: level(23)}, {Pct: level(90)}}, h, "1h opened battery_pct 20 of 20, 4h resolved battery_pct 23 of 20"},
		{"comes back a little", []engine.Charge{{Pct: level(19)}, {Pct: level(25)}, {Pct: level(38)}, {Pct: level(41)}}, h, "0h opened battery_pct 19 of 20, 3h resolved battery_pct 41 of 20"},
		{"comes and goes", []engine.Charge{{Pct: level(10)}, {Pct: level(60)}, {Pct: level(10)}, {Pct: level(60)}, {Pct: level(10)}}, 50 * h, "0h opened battery_pct 10 of 20, 50h resolved battery_pct 60 of 20, 200h opened battery_pct 10 of 20"},
		{"the source knows better", []engine.Charge{{Pct: level(9), LowPct: 5}, {Pct: level(5), LowPct: 5}}, h, "1h opened battery_pct 5 of 5"},
		{"by its own word", []engine.Charge{{Low: &no}, {Low: &yes}, {}, {Low: &no}}, h, "1h opened battery_low, 3h resolved battery_low"},
		{"by its own word, with a level", []engine.Charge{{Pct: level(55), Low: &yes}, {Pct: level(55), Low: &yes}, {Pct: level(55), Low: &no}}, h, "0h opened battery_pct 55 of 20, 2h resolved battery_pct 55 of 20"},
		{"says nothing", []engine.Charge{{}, {}}, h, ""},
	} {
		var s engine.State
		cfg := engine.ConfigOf(&rimewatch.Device{EquipmentType: "walkin_freezer"})
		var got []string
		for i, c := range tc.heard {
			now := t0 + rimewatch.Time(i)*tc.every
			before := score(&s, &cfg, now)
			out, _ := s.Step(&cfg, nil, &engine.Input{Kind: engine.Heartbeat, Charge: c}, now, nil)
			for _, x := range out {
				if x.Type != rimewatch.BatteryLow {
					continue
				}
				text := fmt.Sprintf("%dh %s %s", (now-t0)/h, x.Kind, x.Metric)
				if x.HasValue {
					text += fmt.Sprintf(" %v of %v", x.Value, x.Threshold)
				}
				if got = append(got, text); x.Severity != rimewatch.Warning {
					t.Errorf("%s: %s", tc.name, x.Severity)
				}
				if after := score(&s, &cfg, now); x.Kind == rimewatch.TransitionOpened && i > 0 && after < before {
					t.Errorf("%s: the score fell from %v to %v", tc.name, before, after)
				}
			}
			twin := engine.State{}
			if err := twin.UnmarshalBinary(s.AppendBinary(nil)); err != nil || !bytes.Equal(twin.AppendBinary(nil), s.AppendBinary(nil)) {
				t.Fatalf("%s: read back as another state: %v", tc.name, err)
			}
		}
		if strings.Join(got, ", ") != tc.want {
			t.Errorf("%s: %s\nwant %s", tc.name, strings.Join(got, ", "), tc.want)
		}
	}
}

// TestBatteryResolvedByPerson: what a person resolved does not come again within seven days.
func TestBatteryResolvedByPerson(t *testing.T) {
	var s engine.State
	cfg := engine.ConfigOf(&rimewatch.Device{})
	pct, opened := 5.0, 0
	for day := range rimewatch.Time(9) {
		now := t0 + day*rimewatch.Day
		out, _ := s.Step(&cfg, nil, &engine.Input{Kind: engine.Heartbeat, Charge: engine.Charge{Pct: &pct}}, now, nil)
		for _, x := range out {
			if x.Kind == rimewatch.TransitionOpened {
				opened++
			}
		}
		if day == 0 {
			if !s.Knows(rimewatch.BatteryLow, "") {
				t.Fatal("it is not known to be active")
			}
			_, _ = s.Step(&cfg, nil, &engine.Input{Kind: engine.Resolve, Alert: rimewatch.BatteryLow}, now+1, nil)
			if s.Knows(rimewatch.BatteryLow, "") {
				t.Fatal("it is still active")
			}
		}
	}
	if opened != 2 {
		t.Errorf("opened %d times in nine days, want 2", opened)
	}
}

func score(s *engine.State, cfg *engine.Config, now rimewatch.Time) float64 {
	c := s.Circumstances(cfg, now)
	return s.Health.Score(&c)
}
