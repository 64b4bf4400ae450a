package alert

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rimewatch/rimewatch"
)

func TestFacts(t *testing.T) {
	u := newUnit(t, configOf("walkin_freezer"))
	u.c.Rules = DefaultRules
	if diff := cmp.Diff(Facts{}, u.s.Facts(u.c)); diff != "" {
		t.Errorf("of a unit never seen: %s", diff)
	}
	u.run(known)
	got := u.s.Facts(u.c)
	got.BaselineDays = float64(int(got.BaselineDays))
	want := Facts{
		IntervalS: 60, Running: true, RunningKnown: true, RunningSince: epoch + 4318*minute,
		StartsPerHour: 4, StartsKnown: true, MedianRunMin: 9, MedianRunKnown: true, RunSharePct: 52.25, RunShareKnown: true,
		NominalVoltage: 230, UsualAmps: 15, BaselineDays: 3,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("of a known unit (-want +got):\n%s", diff)
	}
	u.s.Relearn()
	if got := u.s.Facts(u.c); got.RunningKnown || got.NominalVoltage != 0 || got.BaselineDays != 0 || got.RunShareKnown {
		t.Errorf("after Relearn: %+v", got)
	}
	u.run(`72h..96h cycle=9/17`)
	if got := u.s.Facts(u.c); got.NominalVoltage != 230 || !got.RunningKnown || !got.RunShareKnown {
		t.Errorf("a day after Relearn: %+v", got)
	}
	if len(u.log) != 0 {
		t.Errorf("learning opens alerts: %v", summary(u.log))
	}
}

// TestHoldTime: the power is gone, the zone warms by 2 K in the first half hour
// and has 4 K left.
func TestHoldTime(t *testing.T) {
	u := newUnit(t, configOf("walkin_freezer"))
	u.c.Rules = DefaultRules
	u.run(`
		0m..3h cycle=9/17 z=-21
		3h..3h10m on z=-21
		3h10m..3h11m off v=0 i=0 z=-21
		3h11m..3h41m z=-19`)
	f := u.s.Facts(u.c)
	if !f.HoldHoursKnown || f.HoldHours < 0.9 || f.HoldHours > 1.1 {
		t.Errorf("hold time is %.2f h (known: %v), want about 1 h", f.HoldHours, f.HoldHoursKnown)
	}
	u.run(`3h41m..3h42m z=-14`)
	if f := u.s.Facts(u.c); !f.HoldHoursKnown || f.HoldHours != 0 {
		t.Errorf("beyond the limit: %.2f h (known: %v), want 0", f.HoldHours, f.HoldHoursKnown)
	}
	u.run(`3h42m..3h50m on v=230`)
	if f := u.s.Facts(u.c); f.HoldHoursKnown {
		t.Error("a running unit holds")
	}
}

// TestSlowReporterIsNotJudged: at one reading in two minutes starts are missed,
// and the engine says so instead of counting what it sees.
func TestSlowReporterIsNotJudged(t *testing.T) {
	u := newUnit(t, configOf("walkin_freezer"))
	u.c.Rules = DefaultRules
	u.run(`0m..24h cycle=9/17 every=2m`)
	if f := u.s.Facts(u.c); f.StartsKnown || f.MedianRunKnown || f.IntervalS != 120 {
		t.Errorf("starts are judged at %.0f s between readings: %+v", f.IntervalS, f)
	}
	u.set("starts=0")
	u.run(`24h..25h every=2m`)
	if f := u.s.Facts(u.c); !f.StartsKnown {
		t.Error("the device counts its starts itself, which goes unheard")
	}
}

// TestRunningState: current decides, then what the device says decides, and
// vibration stands in for a device without a current sensor.
func TestRunningState(t *testing.T) {
	for _, tc := range []struct{ name, script string }{
		{"current", `0m..3h cycle=9/17`},
		{"vibration", `0m..3h cycle=9/17 i=`},
		{"heat", `0m..3h cycle=9/17 i= x=`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			u := newUnit(t, configOf("walkin_freezer"))
			u.c.Rules = DefaultRules
			u.run(tc.script)
			right := 0
			for range 170 {
				u.run(scriptMinute(u))
				f := u.s.Facts(u.c)
				if f.RunningKnown && f.Running == ((u.minute-1)%17 < 9) {
					right++
				}
			}
			if right < 168 {
				t.Errorf("the running state is right in %d of 170 minutes", right)
			}
		})
	}
}

func scriptMinute(u *unit) string {
	from := rimewatch.Time(u.minute) * rimewatch.Minute
	return from.Sub(0).String() + ".." + (from + rimewatch.Minute).Sub(0).String() + " cycle=9/17"
}
