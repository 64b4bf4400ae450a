package alert

import (
	"slices"
	"testing"

	"github.com/rimewatch/rimewatch"
)

func freezerConfig() *Config {
	c := configOf("walkin_freezer")
	c.Rules = AllRules
	return c
}

// TestNothingEndsWhileNothingCools: an alert about the machine does not end because its
// compressor is dead, and no limit is questioned because of it; it ends once the unit has
// shown that it cools, and says why.
func TestNothingEndsWhileNothingCools(t *testing.T) {
	u := newDevice(t, freezerConfig())
	u.run(known + `
		72h..74h cycle=2/4
		74h..76h off z=-15
		76h..300h off z=15`)
	asks := func(tr Transition) bool { return tr.HasUsual }
	if slices.ContainsFunc(u.log, asks) {
		t.Error("it asks whether the limit is right")
	}
	ends := func(tr Transition) bool { return tr.Kind == rimewatch.TransitionResolved }
	if i := slices.IndexFunc(u.log, ends); i >= 0 {
		t.Errorf("ended: %s (%s)", summary(u.log[i : i+1])[0], u.log[i].Ending)
	}
	if !u.s.isActive(ruleCooling) || !u.s.isActive(ruleCycling) {
		t.Error("not both are active")
	}
	u.log = nil
	u.run(`
		300h..304h cycle=9/17 z=-20
		304h..310h cycle=9/17`)
	endings := map[rimewatch.AlertType]rimewatch.Ending{}
	for _, tr := range u.log {
		if tr.Kind == rimewatch.TransitionResolved {
			endings[tr.Type] = tr.Ending
		}
	}
	if endings[rimewatch.NotCooling] != rimewatch.EndedCools || endings[rimewatch.ShortCycling] != rimewatch.EndedInRange || endings[rimewatch.HighTemperature] != rimewatch.EndedInRange {
		t.Errorf("ended because %v:\n%v", endings, summary(u.log))
	}
}

// TestStartsAgain: that starts fail no more is no end of it as long as none has succeeded.
func TestStartsAgain(t *testing.T) {
	u := newDevice(t, freezerConfig())
	u.run(known)
	u.run(`
		72h..72h2m off i=0.2
		72h2m..72h3m i=95
		72h3m..72h5m i=0.2
		72h5m..72h6m i=95
		72h6m..72h10m i=0.2
		72h10m..72h11m i=95
		72h11m..72h30m i=0.2`)
	if !u.s.isActive(ruleStarts) {
		t.Fatalf("not told: %v", summary(u.log))
	}
	u.log = nil
	u.run(`
		72h30m..110h off z=-20.5`)
	if slices.ContainsFunc(u.log, func(tr Transition) bool {
		return tr.Type == rimewatch.CompressorStartFailure && tr.Kind == rimewatch.TransitionResolved
	}) {
		t.Error("ended without a start")
	}
	u.run(`
		110h..112h cycle=9/17`)
	if i := slices.IndexFunc(u.log, func(tr Transition) bool {
		return tr.Type == rimewatch.CompressorStartFailure && tr.Kind == rimewatch.TransitionResolved
	}); i < 0 || u.log[i].Ending != rimewatch.EndedRuns {
		t.Errorf("%v", summary(u.log))
	}
}
