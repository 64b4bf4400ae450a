package alert

import (
	"fmt"
	"testing"

	"github.com/rimewatch/rimewatch"
)

// facts are what a unit has learnt, in one line.
func facts(u *device) string {
	s := &u.s.unit
	run, runOK := s.MedianRun()
	share, shareOK := s.RunShare(4)
	since, _ := s.LearningSince()
	return fmt.Sprintf("interval %d, running %v %v since %s, starts %d %v, run %v %v, share %.2f %v, %.0f V, %.1f A, learnt %d h, since %s",
		s.Interval(), s.Running(), s.RunningKnown(), short(s.RunningSince()), s.StartsPerHour(), s.CountsStarts(), run, runOK && s.CountsStarts(), share, shareOK,
		s.NominalVoltage(&u.c.Config), s.UsualAmps(), s.LearntHours(), short(since))
}

func TestFacts(t *testing.T) {
	u := newDevice(t, configOf("walkin_freezer"))
	u.c.Rules = DefaultRules
	u.run(known)
	want := "interval 60000, running true true since 71h58m, starts 4 true, run 9 true, share 52.25 true, 230 V, 15.0 A, learnt 71 h, since 0s"
	if got := facts(u); got != want {
		t.Errorf("of a known unit\n%s, want\n%s", got, want)
	}
	u.s.unit.Relearn(rimewatch.RelearnMaintenance, u.now)
	if s := &u.s.unit; s.RunningKnown() || s.NominalVoltage(&u.c.Config) != 0 || s.LearntHours() != 0 || s.UsualAmps() != 0 {
		t.Errorf("after Relearn: %s", facts(u))
	}
	u.run(`72h..96h cycle=9/17`)
	if s := &u.s.unit; s.NominalVoltage(&u.c.Config) != 230 || !s.RunningKnown() || s.LearntHours() < 20 {
		t.Errorf("a day after Relearn: %s", facts(u))
	}
	if since, why := u.s.unit.LearningSince(); since != epoch+72*hour-minute || why != rimewatch.RelearnMaintenance {
		t.Errorf("learning since %s, %s", short(since), why)
	}
	if len(u.log) != 0 {
		t.Errorf("learning opens alerts: %v", summary(u.log))
	}
}

// TestHoldTime: the power is gone, the zone warms by 2 K in the first half hour
// and has 4 K left.
func TestHoldTime(t *testing.T) {
	u := newDevice(t, configOf("walkin_freezer"))
	u.c.Rules = DefaultRules
	u.run(`
		0m..3h cycle=9/17 z=-21
		3h..3h10m on z=-21
		3h10m..3h11m off v=0 i=0 z=-21
		3h11m..3h41m z=-19`)
	holds := func() (float64, bool) {
		x := newPass(u.c, &u.p, &u.s.unit, u.now, nil)
		return x.holdHours()
	}
	if h, ok := holds(); !ok || h < 0.9 || h > 1.1 {
		t.Errorf("hold time is %.2f h (known: %v), want about 1 h", h, ok)
	}
	u.run(`3h41m..3h42m z=-14`)
	if h, ok := holds(); !ok || h != 0 {
		t.Errorf("beyond the limit: %.2f h (known: %v), want 0", h, ok)
	}
	u.run(`3h42m..3h50m on v=230`)
	if _, ok := holds(); ok {
		t.Error("a running unit holds")
	}
}

// TestSlowReporterIsNotJudged: at one reading in two minutes starts are missed,
// and the engine says so instead of counting what it sees.
func TestSlowReporterIsNotJudged(t *testing.T) {
	u := newDevice(t, configOf("walkin_freezer"))
	u.c.Rules = DefaultRules
	u.run(`0m..24h cycle=9/17 every=2m`)
	if s := &u.s.unit; s.CountsStarts() || s.Interval() != 2*minute {
		t.Errorf("starts are judged at two minutes between readings: %s", facts(u))
	}
	u.set("starts=0")
	u.run(`24h..25h every=2m`)
	if !u.s.unit.CountsStarts() {
		t.Error("the device counts its starts itself, which goes unheard")
	}
}

// TestRunningState: current decides, then what the device says decides, and
// vibration stands in for a device without a current sensor: from the second reading of a
// run on, since single ones stray.
func TestRunningState(t *testing.T) {
	for _, tc := range []struct {
		name, script string
		later        int // readings after a start
	}{
		{"current", `0m..3h cycle=9/17`, 0},
		{"vibration", `0m..3h cycle=9/17 i=`, 1},
		{"heat", `0m..3h cycle=9/17 i= x=`, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			u := newDevice(t, configOf("walkin_freezer"))
			u.c.Rules = DefaultRules
			u.run(tc.script)
			right := 0
			for range 170 {
				u.run(scriptMinute(u))
				k := (u.minute - 1) % 17
				if s := &u.s.unit; s.RunningKnown() && s.Running() == (k >= tc.later && k < 9) {
					right++
				}
			}
			if right < 168 {
				t.Errorf("the running state is right in %d of 170 minutes", right)
			}
		})
	}
}

func scriptMinute(u *device) string {
	from := rimewatch.Time(u.minute) * rimewatch.Minute
	return from.Sub(0).String() + ".." + (from + rimewatch.Minute).Sub(0).String() + " cycle=9/17"
}

// TestLastingFault: what is wrong with a sensor changes nothing while it lasts, and is
// over when nothing judges sensors any more.
func TestLastingFault(t *testing.T) {
	u := newDevice(t, configOf("walkin_freezer"))
	u.c.Rules = DefaultRules
	u.run(`
		0m..3h cycle=9/17 z=-21
		3h..9h z!`)
	if got := len(u.log); got != 1 || u.log[0].Type != rimewatch.SensorFault {
		t.Fatalf("a probe that broke: %v", summary(u.log))
	}
	if due := u.s.Deadline(u.c, u.p); due <= u.now+staleAfter/2 { // all that time alone can bring is that nothing is heard
		t.Errorf("due at %s", short(due))
	}
	c := *u.c
	c.Rules &^= RuleSensors
	u.c = &c
	u.run(`9h1m tick`)
	if len(u.log) != 2 || u.log[1].Kind != rimewatch.TransitionResolved {
		t.Errorf("nothing judges sensors: %v", summary(u.log))
	}
}
