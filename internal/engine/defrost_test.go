package engine_test

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/alert"
	"github.com/rimewatch/rimewatch/internal/engine"
)

// room is a freezer of which only the zone is measured, once a minute.
type room struct {
	cfg  engine.Config
	s    engine.State
	at   rimewatch.Time
	told []rimewatch.Time // high_temperature opened
	crit int
}

// newRoom is warned above −15 °C for half an hour and critical above −5 °C; hold
// says whether its defrosts keep alerts back.
func newRoom(hold bool) *room {
	high, critical := -15.0, -5.0
	r := &room{cfg: engine.ConfigOf(&rimewatch.Device{EquipmentType: "cold_storage", Limits: &rimewatch.LimitOverrides{TempMax: &high, CriticalMax: &critical}})}
	r.cfg.Alert.Limits.DelayS, r.cfg.Alert.Limits.CriticalDelayS, r.cfg.Alert.Limits.ClearS = 1800, 600, 300
	if !hold {
		r.cfg.Alert.Rules &^= alert.RuleDefrost
	}
	r.at = rimewatch.TimeOf(time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC))
	return r
}

func (r *room) step(in *engine.Input, at rimewatch.Time) {
	out, _ := r.s.Step(&r.cfg, nil, in, at, nil)
	for i := range out {
		if t := &out[i]; t.Type == rimewatch.HighTemperature {
			if t.Kind == rimewatch.TransitionOpened {
				r.told = append(r.told, t.At)
			}
			if t.Severity == rimewatch.Critical && t.Kind != rimewatch.TransitionResolved {
				r.crit++
			}
		}
	}
}

func (r *room) value(v float64) {
	r.at += rimewatch.Minute
	for due := r.s.Deadline(&r.cfg, nil); due != 0 && due < r.at; due = r.s.Deadline(&r.cfg, nil) {
		r.step(&engine.Input{Kind: engine.Tick}, due)
	}
	x := rimewatch.Reading{At: r.at, ReceivedAt: r.at}
	x.Set(rimewatch.ProductZoneTemp, math.Round(10*v)/10)
	r.step(&engine.Input{Kind: engine.Reading, Reading: &x, Last: true}, r.at)
}

func (r *room) cycle(minutes int) {
	for k := range minutes {
		r.value(-20 + 0.6*math.Sin(float64(k)/4))
	}
}

// defrost warms the zone to −3 °C: above −15 °C for 55 min, above −5 °C for 15.
func (r *room) defrost() {
	r.hump(25, 10, 40)
}

// hump warms the zone to −3 °C, keeps it there and cools it, for so many minutes each.
func (r *room) hump(rise, stay, fall int) {
	for k := range rise {
		r.value(-20 + 17*float64(k)/float64(rise))
	}
	for range stay {
		r.value(-3)
	}
	for k := range fall {
		r.value(-3 - 17*float64(k)/float64(fall))
	}
}

func (r *room) teach() {
	r.cycle(600)
	for range 4 {
		r.defrost()
		r.cycle(400) // so far apart that the plain rule does not latch
	}
	r.told, r.crit = nil, 0
}

// TestDefrostsAreKeptBack: a defrost like those before it is told neither as a
// warning nor as critical, and until when is known meanwhile.
func TestDefrostsAreKeptBack(t *testing.T) {
	r := newRoom(true)
	r.teach()
	for range 3 {
		r.defrost()
		r.cycle(300)
	}
	if len(r.told) != 0 || r.crit != 0 {
		t.Errorf("%d of three ordinary defrosts were told, %d changes critical", len(r.told), r.crit)
	}
	if _, kept := r.s.Alert.Kept(); kept {
		t.Error("an alert is kept back after the zone is cold again")
	}
	for a := range r.s.Alert.Active(&r.s.Unit) {
		t.Errorf("%s is active", a.Type)
	}
	plain := newRoom(false)
	plain.teach()
	plain.defrost()
	if len(plain.told) != 1 || plain.crit == 0 {
		t.Errorf("the plain rule told %d alerts, %d changes critical: the test shows nothing", len(plain.told), plain.crit)
	}
}

// alarmed reports whether any alert is active, told or kept back.
func (r *room) alarmed() bool {
	for range r.s.Alert.Active(&r.s.Unit) {
		return true
	}
	return false
}

// TestNeverLaterThanStated: whatever the zone does after the begin of a defrost,
// it is told by the plain rule's moment or by the first that was stated, and never
// before the plain rule. What is critical low is not touched.
func TestNeverLaterThanStated(t *testing.T) {
	taught, plainTaught := newRoom(true), newRoom(false)
	taught.teach()
	plainTaught.teach()
	kept := 0
	rapid.Check(t, func(t *rapid.T) {
		r, plain := *taught, *plainTaught
		begin := r.at
		var stated rimewatch.Time
		v := -20.0
		for piece := range rapid.IntRange(1, 5).Draw(t, "pieces") {
			to, length := -3.0, 25
			if piece > 0 || rapid.IntRange(0, 3).Draw(t, "other") == 0 {
				to, length = rapid.Float64Range(-22, 8).Draw(t, "to"), rapid.IntRange(1, 90).Draw(t, "length")
			}
			for k := range length {
				x := v + (to-v)*float64(k+1)/float64(length)
				r.value(x)
				plain.value(x)
				if until, ok := r.s.Alert.Kept(); ok {
					kept++
					if stated == 0 {
						stated = until
					}
					if until > stated {
						t.Fatalf("stated %v after the begin, then %v", stated.Sub(begin), until.Sub(begin))
					}
				} else if !plain.alarmed() {
					stated = 0 // that one is over, by the plain rule too: the next is another
				}
			}
			v = to
		}
		if len(r.told) > 0 && (len(plain.told) == 0 || r.told[0] < plain.told[0]) {
			t.Fatalf("told %v after the begin, before the plain rule", r.told[0].Sub(begin))
		}
		if len(plain.told) == 0 || stated == 0 || r.at <= stated {
			return
		}
		if _, still := r.s.Alert.Kept(); still {
			t.Fatalf("still kept back after the stated moment")
		}
		if len(r.told) > 0 && r.told[0] > max(stated, plain.told[0])+rimewatch.Minute && len(plain.told) == 1 {
			t.Fatalf("told %v after the begin; stated was %v, the plain rule said it at %v", r.told[0].Sub(begin), stated.Sub(begin), plain.told[0].Sub(begin))
		}
	})
	if kept == 0 {
		t.Error("nothing was ever kept back")
	}
}

// TestHotterIsToldAtOnce: 2 K above the hottest of its defrosts is told without
// waiting for the stated moment.
func TestHotterIsToldAtOnce(t *testing.T) {
	r := newRoom(true)
	r.teach()
	for k := range 25 {
		r.value(-20 + 17*float64(k)/25)
	}
	for k := range 40 {
		v := -3 + 0.25*float64(k)
		r.value(v)
		if v > 0 {
			break
		}
	}
	if r.s.Alert.Graced() {
		t.Error("still kept back 3 K above the hottest defrost")
	}
	for range 30 {
		r.value(1)
	}
	if len(r.told) != 1 || r.crit == 0 {
		t.Errorf("told %d times, critical %d, within 30 min beyond anything known", len(r.told), r.crit)
	}
}

// TestSilenceEndsKeeping: a device that falls silent in a defrost is told of, not
// kept back for ever.
func TestSilenceEndsKeeping(t *testing.T) {
	r := newRoom(true)
	r.teach()
	for k := range 25 {
		r.value(-20 + 17*float64(k)/25)
	}
	for range 12 {
		r.value(-3)
	}
	if _, kept := r.s.Alert.Kept(); !kept {
		t.Fatal("nothing is kept back in the middle of a defrost")
	}
	for n := 0; n < 50; n++ {
		due := r.s.Deadline(&r.cfg, nil)
		if due == 0 || due > r.at+3*rimewatch.Hour {
			break
		}
		r.step(&engine.Input{Kind: engine.Tick}, due)
	}
	if _, kept := r.s.Alert.Kept(); kept || len(r.told) != 1 {
		t.Errorf("three hours of silence later: kept back %v, told %d times", kept, len(r.told))
	}
}

// TestLimitThatDoesNotFit: a zone that is beyond its limit most of the time is told
// once, not with every cycle; what is critical is told as ever.
func TestLimitThatDoesNotFit(t *testing.T) {
	r := newRoom(true)
	around := func(hours int, middle float64) {
		for k := range hours * 60 {
			r.value(middle + 2*math.Sin(float64(k)*2*math.Pi/150))
		}
	}
	around(7*24, -14.2)
	r.told = nil
	around(7*24, -14.2)
	if len(r.told) > 0 {
		t.Errorf("%d alerts in the second week of a limit that does not fit", len(r.told))
	}
	for range 60 {
		r.value(-2)
	}
	if r.crit == 0 {
		t.Error("what is critical was not told")
	}
	around(5*24, -19)
	if r.alarmed() {
		t.Error("still open after five days within the limits")
	}
	r.told = nil
	around(7*24, -19)
	for range 50 {
		r.value(-13)
	}
	if len(r.told) != 1 {
		t.Errorf("told %d times of a warm zone once the limit fits again", len(r.told))
	}
}

// TestBackButNotYetOver: a defrost that was kept back is not told while only its
// clear time runs, with the zone within its limit again.
func TestBackButNotYetOver(t *testing.T) {
	r := newRoom(true)
	r.cfg.Alert.Limits.ClearS = 900
	r.teach()
	r.defrost()
	r.cycle(120)
	if len(r.told) != 0 {
		t.Errorf("told %d times of a defrost that was over", len(r.told))
	}
}

// warm lets the zone rise to −3 °C within so many minutes and stay there, and returns how
// many minutes after its begin it was told of; 0 = never.
func (r *room) warm(rise int) int {
	begin := r.at
	r.hump(rise, 120, 0)
	if len(r.told) == 0 {
		return 0
	}
	return int((r.told[0] - begin) / rimewatch.Minute)
}

// TestTooSoonForADefrost: a unit whose defrosts are 41 h apart, by run time, is told of
// warmth that begins after 22 h when the plain rule tells it, and keeps back the one that
// is due.
func TestTooSoonForADefrost(t *testing.T) {
	taught, plain := newRoom(true), newRoom(false)
	for _, r := range []*room{taught, plain} {
		for _, pause := range []int{10 * 60, 41*60 - 75, 38*60 - 75} { // a defrost lasts 75 min
			r.cycle(pause)
			r.defrost()
		}
		r.told = nil
	}
	for hours, same := range map[int]bool{22: true, 39: false} {
		r, p := *taught, *plain
		rest := hours*60 - 75
		r.cycle(rest)
		p.cycle(rest)
		got, want := r.warm(25), p.warm(25)
		if want == 0 || (got == want) != same || got < want {
			t.Errorf("after %d h: told after %d min, by the plain rule after %d", hours, got, want)
		}
	}
}

// TestUnturnedIsTold: a hump that has not turned when its predecessors had is told as soon
// as an alert has waited for a quarter of an hour, before its room to turn has run out.
func TestUnturnedIsTold(t *testing.T) {
	r, plain := newRoom(true), newRoom(false)
	for _, r := range []*room{r, plain} {
		r.cycle(600)
		for range 4 {
			r.hump(60, 10, 40)
			r.cycle(400)
		}
		r.told = nil
	}
	got, want := r.warm(60), plain.warm(60)
	if want == 0 || got < want+15 || got > 85 {
		t.Errorf("told after %d min, by the plain rule after %d; the others turned after 76", got, want)
	}
}
