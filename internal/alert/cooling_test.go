package alert

import (
	"fmt"
	"math/rand/v2"
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

// TestSeverityDoesNotFlap: on drawn courses of a zone that sways around its limits, mains that sag and starts that
// fail, demand without cooling becomes critical once and stays so, and what keeps coming and going is a warning
// again only after six hours.
func TestSeverityDoesNotFlap(t *testing.T) {
	flaps := 0
	for seed := range uint64(12) {
		u := newDevice(t, freezerConfig())
		u.run(known)
		draw := rand.New(rand.NewPCG(seed, 1))
		for k := range 144 {
			from := fmt.Sprintf("%dm..%dm ", 72*60+20*k, 72*60+20*k+20)
			state := []string{"off", "off", "on", "cycle=9/17", "off i=95"}[draw.IntN(5)]
			u.run(from + fmt.Sprintf("%s z=%.1f v=%d", state, -17+9*draw.Float64(), []int{230, 230, 201, 192}[draw.IntN(4)]))
		}
		var grave rimewatch.Time // when not_cooling became critical
		rose, calls := map[rimewatch.AlertType]rimewatch.Time{}, map[rimewatch.AlertType]int{}
		for _, tr := range u.log {
			if tr.Flapping && tr.Severity == rimewatch.Critical {
				flaps++
			}
			switch cooling := tr.Type == rimewatch.NotCooling; {
			case tr.Kind == rimewatch.TransitionResolved && cooling:
				grave = 0
			case tr.Kind == rimewatch.TransitionDeescalated && cooling:
				t.Errorf("seed %d: %s", seed, summary([]Transition{tr})[0])
			case tr.Kind == rimewatch.TransitionDeescalated && tr.Flapping:
				if after := tr.At - rose[tr.Type]; after < 6*hour {
					t.Errorf("seed %d: eases after %d min: %s", seed, after/minute, summary([]Transition{tr})[0])
				}
			case tr.Severity == rimewatch.Critical && (tr.Kind == rimewatch.TransitionOpened || tr.Kind == rimewatch.TransitionEscalated):
				rose[tr.Type] = tr.At
				if calls[tr.Type]++; cooling && grave != 0 {
					t.Errorf("seed %d: critical a second time: %s", seed, summary([]Transition{tr})[0])
				} else if cooling {
					grave = tr.At
				}
			}
		}
		for typ, n := range calls {
			if n > 12 { // in two days
				t.Errorf("seed %d: %s was critical %d times", seed, typ, n)
			}
		}
	}
	if flaps == 0 {
		t.Error("nothing kept coming and going")
	}
}
