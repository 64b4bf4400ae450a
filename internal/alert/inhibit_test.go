package alert

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/unit"
)

// TestInhibit: a prediction inhibits the warnings about what stands in its
// evidence, and nothing else; when it is over they stand for themselves.
func TestInhibit(t *testing.T) {
	const amps, gas = unit.Channels(1 << unit.Amps), unit.Channels(1 << unit.Discharge)
	type step struct {
		evidence unit.Channels
		renewed  bool
		want     string
	}
	for _, tc := range []struct {
		name, script string
		steps        []step
	}{
		{"by its baseline", "72h..96h cycle=9/17 i=17.3", []step{
			{amps, false, "suppressed high_amp_draw warning"}, {amps, false, ""}, {amps | gas, true, "suppressed high_amp_draw warning"},
			{gas, false, "released high_amp_draw warning"}, {gas, false, ""}, {amps, false, "suppressed high_amp_draw warning"}, {0, false, "released high_amp_draw warning"},
		}},
		{"another measure", "72h..96h cycle=9/17 i=17.3", []step{{gas, false, ""}, {0, true, ""}}},
		{"past a fixed limit", "72h..72h30m on d=112", []step{{gas, false, ""}}},
		{"critical", "72h..96h cycle=9/17 d=105", []step{{gas, false, ""}}},
		{"became critical", "72h..88h cycle=9/17 d=105", []step{{gas, false, "suppressed high_discharge_temperature warning"}}},
	} {
		c := configOf("walkin_freezer")
		c.Rules = AllRules
		u := newDevice(t, c)
		u.run(known + "\n" + tc.script)
		if !u.s.Inhibits() {
			t.Errorf("%s: nothing departs: %v", tc.name, summary(u.log))
		}
		for k, st := range tc.steps {
			got := ""
			for _, x := range u.s.Inhibit(c, u.p, &u.s.unit, st.evidence, st.renewed, false, u.now, nil) {
				got += string(x.Kind) + " " + string(x.Type) + " " + string(x.Severity)
			}
			if diff := cmp.Diff(st.want, got); diff != "" {
				t.Errorf("%s, step %d: %s", tc.name, k, diff)
			}
		}
		if tc.name != "became critical" {
			continue
		}
		u.run("88h..96h cycle=9/17")
		if out := u.s.Inhibit(c, u.p, &u.s.unit, gas, false, false, u.now, nil); len(out) != 1 || out[0].Kind != rimewatch.TransitionReleased || out[0].Severity != rimewatch.Critical {
			t.Errorf("%s: %+v", tc.name, out)
		}
		u.s.Resolved(u.c, &u.s.unit, rimewatch.HighDischargeTemperature, "", u.now)
		if u.s.inhibited != 0 || u.s.Inhibits() {
			t.Error("what is over is inhibited")
		}
	}
}

// TestInhibitedOnce: a value that hovers about its fixed limit beside a departure that
// a prediction tells of releases the alert once, not at each crossing.
func TestInhibitedOnce(t *testing.T) {
	const gas = unit.Channels(1 << unit.Discharge)
	c := configOf("walkin_freezer")
	c.Rules = AllRules
	u := newDevice(t, c)
	u.run(known)
	var got []string
	for _, script := range []string{
		"72h..96h cycle=9/17 d=93", "96h..96h20m on d=112", "96h20m..96h40m on d=93", "96h40m..97h on d=112", "97h..97h20m on d=93",
	} {
		u.run(script)
		if !u.s.Inhibits() {
			t.Fatalf("nothing departs after %s: %v", script, summary(u.log))
		}
		for _, x := range u.s.Inhibit(c, u.p, &u.s.unit, gas, false, false, u.now, nil) {
			got = append(got, string(x.Kind))
		}
	}
	if diff := cmp.Diff([]string{"suppressed", "released"}, got); diff != "" {
		t.Error(diff)
	}
	u.s.Resolved(u.c, &u.s.unit, rimewatch.HighDischargeTemperature, "", u.now)
	if u.s.spoke != 0 {
		t.Error("what is over still speaks")
	}
}

// TestTooWarmJoinsNotCooling: the warning of a zone that is too warm is no second call about a unit that
// does not cool, until it is critical or that alert is over; one that was opened before it stands for itself.
func TestTooWarmJoinsNotCooling(t *testing.T) {
	c := freezerConfig()
	u := newDevice(t, c)
	u.run(known)
	step := func(script string, warm bool, want string) {
		t.Helper()
		u.run(script)
		got := ""
		for _, x := range u.s.Inhibit(c, u.p, &u.s.unit, 0, false, warm, u.now, nil) {
			got += string(x.Kind) + " " + string(x.Type) + " " + string(x.Severity)
		}
		if got != want {
			t.Errorf("after %s: %q, want %q: %v", script, got, want, summary(u.log))
		}
	}
	step("72h..72h40m off z=-15.5", false, "")
	step("72h40m..74h off z=-13", true, "suppressed high_temperature warning")
	step("74h..74h10m off z=-13", false, "")
	if u.s.Resolved(c, &u.s.unit, rimewatch.NotCooling, "", u.now); !u.s.Inhibits() {
		t.Error("it is not released")
	}
	step("74h10m..74h12m off z=-13", false, "released high_temperature warning")
	if u.s.Inhibits() {
		t.Error("it is inhibited again")
	}
}
