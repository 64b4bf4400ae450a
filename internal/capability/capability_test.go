package capability

import (
	"math"
	"testing"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/state"
	"github.com/rimewatch/rimewatch/internal/unit"
)

const begins = rimewatch.Time(1_800_000_000_000)

// box is a freezer that cools from −18 to −20 °C in 9 min and warms up in 17, sampled once
// in every minutes.
type box struct {
	t        *testing.T
	unit     unit.State
	s        State
	at       rimewatch.Time
	every    rimewatch.Time
	zone     float64
	on       bool
	zoneOnly bool
	volts    float64
	most     float64 // the upper limit, °C
	overs    []Over
}

func newBox(t *testing.T) *box {
	return &box{t: t, at: begins, every: minute, zone: -18, on: true, volts: 230, most: -15}
}

// reading sends the zone as it is and the current of a compressor that runs or stands, or the
// given one.
func (b *box) reading(amps float64) {
	r := rimewatch.Reading{At: b.at, ReceivedAt: b.at}
	r.Set(rimewatch.ProductZoneTemp, math.Round(b.zone*10)/10)
	if !b.zoneOnly {
		r.Set(rimewatch.AmpDraw, amps)
		r.Set(rimewatch.Voltage, b.volts)
	}
	var o unit.Observation
	c := unit.Config{Equipment: freezer()}
	b.unit.Observe(&c, &r, b.at, 0, &o)
	was := b.s.Cause()
	if over := b.s.Observe(&b.unit, &o, false, false, b.most); over != Lasts {
		b.overs = append(b.overs, over)
	}
	if was == Met && b.s.Cause() != Met && (b.s.Zone() <= b.s.Limit() || b.at-b.s.Since() < 10*minute) {
		b.t.Errorf("%d is found at %.1f °C, where %.1f are its limit, and since %s at %s", b.s.Cause(), b.s.Zone(), b.s.Limit(), b.s.Since(), b.at)
	}
	b.at += b.every
}

func freezer() *rimewatch.Equipment {
	e, _ := rimewatch.EquipmentBySlug("walkin_freezer")
	return e
}

// cycle runs the thermostat between two temperatures for a time.
func (b *box) cycle(d rimewatch.Time, low, high float64) {
	for end := b.at + d; b.at < end; {
		step := float64(b.every) / float64(minute)
		if b.on {
			b.zone -= (high - low) / 9 * step
			b.on = b.zone > low
		} else {
			b.zone += (high - low) / 17 * step
			b.on = b.zone >= high
		}
		b.reading(b.amps())
	}
}

func (b *box) amps() float64 {
	if b.on {
		return 8
	}
	return 0.1
}

// warm lets the zone warm up by so many K an hour and returns after how many minutes a cause
// was found, −1 = it was not.
func (b *box) warm(d rimewatch.Time, slope float64, amps func(i int) float64) int {
	for i := range int(d / b.every) {
		b.zone += slope * float64(b.every) / float64(hour)
		b.reading(amps(i))
		if b.s.Cause() != Met {
			return int((rimewatch.Time(i) + 1) * b.every / minute)
		}
	}
	return -1
}

func steady(v float64) func(int) float64 { return func(int) float64 { return v } }

// TestCauses: demand without cooling is found some minutes after the start that did not
// come, and by its cause.
func TestCauses(t *testing.T) {
	tries := func(i int) float64 { // a locked rotor, seen every fourth minute
		if i%4 == 0 {
			return 45
		}
		return 0.1
	}
	for _, tc := range []struct {
		name     string
		zoneOnly bool
		amps     func(int) float64
		slope    float64
		cause    Cause
		from, to int // min after it was last as cold as it begins to cool
	}{
		{"no current", false, steady(0.1), 6, NoCurrent, 15, 20},
		{"locked rotor", false, tries, 6, LockedRotor, 15, 20},
		{"it runs", false, steady(8), 6, NoEffect, 55, 65},
		{"the zone alone", true, nil, 6, NotFalling, 45, 55},
		{"it is as warm as ever", false, steady(0.1), 0, Met, -1, -1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := newBox(t)
			b.zoneOnly = tc.zoneOnly
			b.cycle(8*rimewatch.Day, -20, -18)
			if b.s.Cause() != Met || b.s.Unmet() && b.zone < -18.3 {
				t.Fatalf("%v before anything failed", b.s.Cause())
			}
			for b.on || b.zone < -18.2 {
				b.cycle(minute, -20, -18)
			}
			amps := tc.amps
			if amps == nil {
				amps = steady(0)
			}
			got := b.warm(4*hour, tc.slope, amps)
			if got < tc.from || got > tc.to || b.s.Cause() != tc.cause {
				t.Errorf("%d after %d min, want %d after %d to %d (usual start %.2f, stop %.2f)", b.s.Cause(), got, tc.cause, tc.from, tc.to, b.s.cutIn, b.s.cutOut)
			}
		})
	}
}

// dead lets a known box stand until that is found.
func dead(t *testing.T) *box {
	t.Helper()
	b := newBox(t)
	b.cycle(8*rimewatch.Day, -20, -18)
	if b.warm(2*hour, 6, steady(0.1)) < 0 {
		t.Fatal("not found")
	}
	return b
}

// TestCauseIsOfThePresent: that a compressor stands, or brings nothing down, is said no more once it runs, or the
// zone has fallen, and only after two hours without a run again; the cause does not flap.
func TestCauseIsOfThePresent(t *testing.T) {
	b := dead(t)
	causes := []Cause{b.s.Cause()}
	see := func(d rimewatch.Time, slope, amps float64) Cause {
		for range d / minute {
			b.zone += slope / 60
			b.reading(amps)
			if c := b.s.Cause(); c != causes[len(causes)-1] {
				causes = append(causes, c)
			}
		}
		return b.s.Cause()
	}
	for range 17 { // it tries to start, and is none that runs
		see(minute, 3, 45)
		see(minute, 3, 0.1)
	}
	if got := b.s.Cause(); got != LockedRotor {
		t.Errorf("%d while starts fail", got)
	}
	if got := see(4*minute, 0, 8); got != Begun {
		t.Errorf("%d once it runs", got)
	}
	for range 24 { // for a day, and never down to where it stopped
		see(20*minute, -3, 8)
		see(40*minute, 1.5, 0.1)
	}
	if len(causes) != 3 {
		t.Errorf("it was said to be %v", causes)
	}
	if see(70*minute, 1, 0.1) != Begun || see(30*minute, 1, 0.1) != NoCurrent {
		t.Errorf("%v after two hours without a run", causes)
	}
	if got := see(3*minute, 0, 8); got != Begun {
		t.Errorf("%d once it runs again", got)
	}
	if see(50*minute, 1, 8) != Begun || see(90*minute, 1, 8) != NoEffect {
		t.Errorf("%v after a run without effect", causes)
	}
	if got := see(20*minute, -9, 8); got != Begun {
		t.Errorf("%d once the zone falls", got)
	}
}

// TestDefrostAmidRuns: of a unit that runs and brings nothing down it is said that its compressor stands only
// once it has stood for longer than in its defrosts.
func TestDefrostAmidRuns(t *testing.T) {
	b := newBox(t)
	for range 16 {
		b.cycle(12*hour, -20, -18)
		b.on = false
		b.warm(24*minute, 10, steady(0.1))
		b.on = true
	}
	b.cycle(6*hour, -20, -18)
	if b.warm(4*hour, 3, steady(8)) < 0 || b.s.Cause() != NoEffect {
		t.Fatalf("%d after four hours of runs without effect", b.s.Cause())
	}
	for i, want := range []Cause{NoEffect, NoCurrent} {
		for range 26 + 20*i {
			b.zone += 0.05
			b.reading(0.1)
		}
		if got := b.s.Cause(); got != want {
			t.Errorf("%d after a stand of %d min, want %d", got, 26+20*i, want)
		}
		b.reading(8)
		b.reading(8)
	}
}

// TestSetALittleWarmer: each stop of a unit that was set a degree warmer begins where it used to start, and is none that lasts; a
// compressor that is dead by then is told all the same.
func TestSetALittleWarmer(t *testing.T) {
	b := newBox(t)
	swing := func(d rimewatch.Time, low float64) {
		for end := b.at + d; b.at < end; {
			for step := (b.zone - low) / 10; b.zone > low+0.01; {
				b.zone -= step
				b.reading(8)
			}
			for range 40 {
				b.zone += 0.05
				b.reading(0.1)
				if b.s.Cause() != Met {
					t.Fatalf("%d at %.1f °C on day %.1f", b.s.Cause(), b.zone, float64(b.at-begins)/float64(rimewatch.Day))
				}
			}
		}
	}
	swing(9*rimewatch.Day, -20)
	swing(rimewatch.Day, -19)
	if got := b.warm(2*hour, 3, steady(0.1)); got < 0 || got > 60 {
		t.Errorf("a dead compressor was told after %d min", got)
	}
}

// TestSeldomReadingsKeepTheRun: whether the compressor runs is known of a unit while it reports so seldom that its thermostat is not followed.
func TestSeldomReadingsKeepTheRun(t *testing.T) {
	b := newBox(t)
	b.cycle(hour, -20, -18)
	b.every = 6 * minute
	for b.unit.Interval() <= slowAfter {
		b.reading(0.1)
	}
	for _, amps := range []float64{8, 0.1, 8} {
		if b.reading(amps); b.s.runs != (amps > 1) {
			t.Errorf("at %g A: runs %v", amps, b.s.runs)
		}
	}
}

// TestNeverCold: a unit that was never near its limit is not said to have stopped cooling
// when it stands; one that cools as badly and has no limit is.
func TestNeverCold(t *testing.T) {
	for most, want := range map[float64]Cause{-15: Met, math.Inf(1): NoCurrent} {
		b := newBox(t)
		b.most, b.zone = most, 10
		b.cycle(4*24*hour, 8, 10)
		for range 180 {
			b.zone += 0.05
			b.reading(0.1)
		}
		if got := b.s.Cause(); got != want {
			t.Errorf("of a limit of %g °C: %d, want %d", most, got, want)
		}
	}
}

// TestNeverLearntAsUsual: a compressor that stands for 30 days, while the zone follows the
// room by day and night, has not cooled, whatever it looks like by then.
func TestNeverLearntAsUsual(t *testing.T) {
	b := dead(t)
	limit := b.s.Limit()
	for i := range 30 * 24 * 60 {
		b.zone = 18 + 3*math.Sin(float64(i)/229)
		b.reading(0.1)
	}
	if b.s.Cause() != NoCurrent || b.s.Limit() != limit || len(b.overs) > 0 || !b.s.Unmet() {
		t.Errorf("cause %d, limit %.2f was %.2f, ended %v", b.s.Cause(), b.s.Limit(), limit, b.overs)
	}
}

// TestCools: it ends when the unit has cooled down twice to where it stopped before, and not
// by a zone that is merely colder for a while.
func TestCools(t *testing.T) {
	b := dead(t)
	for range 180 {
		b.zone = -19
		b.reading(0.1)
	}
	if len(b.overs) > 0 || b.s.Cause() == Met {
		t.Fatal("ended by a cold zone alone")
	}
	b.on = true
	b.cycle(20*minute, -20, -18)
	if len(b.overs) > 0 {
		t.Fatal("ended by one run")
	}
	b.cycle(40*minute, -20, -18)
	if len(b.overs) != 1 || b.overs[0] != Cools || b.s.Unmet() && b.zone < -18.3 {
		t.Errorf("ended %v, cause %d", b.overs, b.s.Cause())
	}
}

// TestCoolsElsewhere: a thermostat that was set otherwise is seen after twenty full cycles.
func TestCoolsElsewhere(t *testing.T) {
	b := dead(t)
	b.on = true
	b.cycle(5*hour, -15, -13)
	if len(b.overs) > 0 {
		t.Fatal("ended too soon")
	}
	b.cycle(6*hour, -15, -13)
	if len(b.overs) != 1 || b.overs[0] != Elsewhere {
		t.Errorf("ended %v", b.overs)
	}
}

// TestExcused: what ended by itself twice before, such as a defrost, is waited for, and a third longer, when
// it is due; sooner after the newest it is none.
func TestExcused(t *testing.T) {
	for _, tc := range []struct {
		name     string
		after    rimewatch.Time // the newest
		from, to int            // min
	}{{"due", 12 * hour, 29, 36}, {"before it is due", 4 * hour, 17, 21}} {
		t.Run(tc.name, func(t *testing.T) {
			b := newBox(t)
			for range 16 {
				b.cycle(12*hour, -20, -18)
				b.on = false
				if found := b.warm(24*minute, 10, steady(0.1)); found >= 0 && b.at > begins+7*rimewatch.Day {
					t.Fatalf("a defrost like those before was told after %d min", found)
				}
				b.on = true
			}
			b.cycle(tc.after, -20, -18)
			for b.on || b.zone < -18.2 {
				b.cycle(minute, -20, -18)
			}
			if got := b.warm(2*hour, 6, steady(0.1)); got < tc.from || got > tc.to {
				t.Errorf("told after %d min, want %d to %d (%+v)", got, tc.from, tc.to, b.s.excuse)
			}
		})
	}
}

// TestExcuseIsNoAccident: one long stand, such as a cut of the mains, is no habit, and one that comes
// between two that are regular does not make the next of them early.
func TestExcuseIsNoAccident(t *testing.T) {
	var x excuse
	at := begins
	stand := func(after, lasted rimewatch.Time) {
		at += after
		x.take(state.StampOf(at), lasted)
	}
	for range 8 {
		stand(6*hour, 20*minute)
	}
	stand(6*hour, 80*minute)
	if most := x.most(); most < 33*minute || most > 34*minute {
		t.Errorf("%d min are usual after one of 80, want 34", most/minute)
	}
	for _, after := range []rimewatch.Time{3 * hour, 5 * hour} {
		if due := x.due(state.StampOf(at + after)); due != (after > 4*hour) {
			t.Errorf("due after %d h: %v", after/hour, due)
		}
	}
	stand(3*hour, 10*minute)
	if at += 3 * hour; !x.due(state.StampOf(at)) {
		t.Error("the next one is no longer due after a short stand between")
	}
}

// TestSinceOfSlowOne: of a unit that reports seldom, and whose zone has stayed near its usual highest for
// days, it is not said that it has not become colder for days.
func TestSinceOfSlowOne(t *testing.T) {
	b := newBox(t)
	b.every, b.zoneOnly = 15*minute, true
	b.cycle(8*rimewatch.Day, -20, -18)
	began := b.at
	for !b.s.stalled.Set() {
		b.warm(15*minute, 2, steady(0))
	}
	b.s.stalled = state.StampOf(b.at - 3*rimewatch.Day)
	if b.warm(6*hour, 2, steady(0)) < 0 {
		t.Fatal("not found")
	}
	if since := b.s.Since(); since < began-30*minute {
		t.Errorf("since %d min before it began", (began-since)/minute)
	}
}

// TestClocksStand while the mains are out: no unit can cool then, and another alert says so.
func TestClocksStand(t *testing.T) {
	b := newBox(t)
	b.cycle(8*rimewatch.Day, -20, -18)
	b.volts = 0
	if got := b.warm(2*hour, 3, steady(0)); got >= 0 {
		t.Errorf("told after %d min without mains", got)
	}
}

// TestOneOddReading is none: 20 K up or down in one reading change nothing that is known.
func TestOneOddReading(t *testing.T) {
	for _, by := range []float64{-20, 20} {
		b := newBox(t)
		b.cycle(8*rimewatch.Day, -20, -18)
		zone := b.zone
		b.zone += by
		b.reading(b.amps())
		b.zone = zone
		b.cycle(2*hour, -20, -18)
		if b.s.Cause() != Met || len(b.overs) > 0 || math.Abs(float64(b.s.cutIn)+18) > 0.3 {
			t.Errorf("%+v K: cause %d, usual start %.2f", by, b.s.Cause(), b.s.cutIn)
		}
	}
}

// TestCodec: a state that is read behaves as the one that was written.
func TestCodec(t *testing.T) {
	b := dead(t)
	format := state.Of[State](1, 1)
	list := format.Append(nil, &b.s)
	var read State
	if rest, err := format.Decode(list, &read); err != nil || len(rest) > 0 || read != b.s || !read.Sound() {
		t.Errorf("%v, %d bytes left:\n%+v, was\n%+v", err, len(rest), read, b.s)
	}
	if len(list) > 160 {
		t.Errorf("%d bytes", len(list))
	}
}

// TestSlowerAmidAStop: a compressor that a unit was seen without once, before it reported so seldom
// that once is enough, stands.
func TestSlowerAmidAStop(t *testing.T) {
	b := newBox(t)
	b.cycle(hour, -20, -18)
	b.every = 3 * minute
	met := 0
	for range 60 {
		b.reading(8)
		if other := *b; other.s.runs {
			other.reading(0.1)
			before := other.unit.Interval() <= seldom
			other.reading(0.1)
			if before && other.unit.Interval() > seldom {
				met++
				if other.s.runs || other.s.offFor > 0 {
					t.Errorf("runs %v, seen without %d times", other.s.runs, other.s.offFor)
				}
			}
		}
	}
	if met == 0 {
		t.Fatal("it was never slower between the two readings")
	}
}
