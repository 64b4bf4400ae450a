package engine_test

import (
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/alert"
	"github.com/rimewatch/rimewatch/internal/engine"
	_ "github.com/rimewatch/rimewatch/internal/trial"
)

// slow is a walk-in cooler whose clock runs behind, and the same one with a right
// clock: what is heard of both, and when.
type slow struct {
	cfg         engine.Config
	slow, right engine.State
	opened      [2][]rimewatch.Time // of high_temperature
	resolved    [2][]rimewatch.Time
	stale       int
}

func newSlow() *slow {
	interval, most, delay, clear := 60, 5.0, 600, 300
	return &slow{cfg: engine.ConfigOf(&rimewatch.Device{
		EquipmentType: "walkin_cooler", HeartbeatIntervalS: interval,
		Limits: &rimewatch.LimitOverrides{TempMax: &most, DelayS: &delay, ClearS: &clear},
	})}
}

// until ticks both whenever something is due before now.
func (s *slow) until(now rimewatch.Time) {
	for i, st := range []*engine.State{&s.slow, &s.right} {
		for due := st.Deadline(&s.cfg, nil); due != 0 && due < now; due = st.Deadline(&s.cfg, nil) {
			s.note(i, tick(st, &s.cfg, due), due)
		}
	}
}

// send has both send a temperature, the first one with a clock that is so far behind.
func (s *slow) send(now, behind rimewatch.Time, temp float64) {
	s.until(now)
	for i, st := range []*engine.State{&s.slow, &s.right} {
		r := rimewatch.Reading{At: now, ReceivedAt: now}
		if i == 0 {
			r.At -= behind
		}
		r.Set(rimewatch.ProductZoneTemp, temp)
		s.note(i, take(st, &s.cfg, &r, now), now)
	}
}

func (s *slow) note(i int, transitions []alert.Transition, now rimewatch.Time) {
	for _, t := range transitions {
		switch {
		case t.Type == rimewatch.SensorStale:
			s.stale++
		case t.Type != rimewatch.HighTemperature:
		case t.Kind == rimewatch.TransitionOpened:
			s.opened[i] = append(s.opened[i], now)
		case t.Kind == rimewatch.TransitionResolved:
			s.resolved[i] = append(s.resolved[i], now)
		}
	}
}

// clock is one that runs behind, and what it is beside.
type clock struct {
	behind, every rimewatch.Time
	warm          rimewatch.Time // from when the unit is too warm
	right         rimewatch.Time // from when the clock is right, 0 = never
	steps         rimewatch.Time // when it came to be behind
	jitter        uint64
}

// check has the device warn once, and be calm again, when one with a right clock does.
func (c clock) check(t interface {
	Errorf(string, ...any)
	Fatalf(string, ...any)
}) {
	s := newSlow()
	cold := max(c.warm, t0+8*rimewatch.Minute) + 30*rimewatch.Minute
	rnd := rand.New(rand.NewPCG(c.jitter, 0))
	for now := t0; now < cold+30*rimewatch.Minute; now += c.every {
		temp := 3.0
		if now >= c.warm && now < cold {
			temp = 8
		}
		lag := c.behind + rimewatch.Time(rnd.IntN(3000))
		if c.right != 0 && now >= c.right || now < c.steps {
			lag = 0
		}
		s.send(now, lag, temp)
	}
	slack := c.every + 25*rimewatch.Second // an eighth of the offline time of three minutes, and the jitter
	for _, got := range [][2][]rimewatch.Time{s.opened, s.resolved} {
		if len(got[0]) != 1 || len(got[1]) != 1 || got[0][0] < got[1][0]-slack || got[0][0] > got[1][0]+slack {
			t.Fatalf("%v with the clock behind, %v with a right one (from %d)", got[0], got[1], t0)
		}
	}
	if s.stale != 0 {
		t.Errorf("sensor_stale %d times", s.stale)
	}
}

// TestClockBehind: a device whose clock is minutes or hours behind is warned of like
// one with a right clock once that is known, also when the clock is set right, and is
// at no time said to measure nothing.
func TestClockBehind(t *testing.T) {
	// Readings overtake each other while it becomes known.
	clock{behind: 444 * rimewatch.Second, every: rimewatch.Second, warm: t0 + 5*rimewatch.Minute}.check(t)
	rapid.Check(t, func(t *rapid.T) {
		c := clock{
			behind: rimewatch.Time(rapid.IntRange(240, 12*3600).Draw(t, "behind")) * rimewatch.Second,
			every:  rimewatch.Time(rapid.IntRange(1, 60).Draw(t, "every")) * rimewatch.Second,
			warm:   t0 + rimewatch.Time(rapid.IntRange(0, 40).Draw(t, "warm from"))*rimewatch.Minute,
			jitter: rapid.Uint64().Draw(t, "jitter"),
		}
		if rapid.Bool().Draw(t, "clock is set right") {
			c.right = c.warm + rimewatch.Time(rapid.IntRange(20, 50).Draw(t, "clock set right after"))*rimewatch.Minute
		}
		c.check(t)
	})
}

// TestClockStepsBack: a device whose clock steps back is judged again after its second
// reading, however far it stepped.
func TestClockStepsBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := clock{
			behind: rimewatch.Time(rapid.IntRange(190, 12*3600).Draw(t, "behind")) * rimewatch.Second,
			every:  rimewatch.Time(rapid.IntRange(10, 60).Draw(t, "every")) * rimewatch.Second,
			warm:   t0 + 20*rimewatch.Minute,
			steps:  t0 + 20*rimewatch.Minute + rimewatch.Time(rapid.IntRange(-300, 1500).Draw(t, "steps"))*rimewatch.Second,
			jitter: rapid.Uint64().Draw(t, "jitter"),
		}
		c.check(t)
	})
}

// shared is a device of which two senders send, each by its own clock: a warm one that is
// so far ahead, below 0 behind, and a cold one.
func shared(warmAhead, coldAhead, span rimewatch.Time) *slow {
	s := newSlow()
	for now := t0; now < t0+span; now += rimewatch.Minute {
		for i, ahead := range [...]rimewatch.Time{coldAhead, warmAhead} {
			at := now + rimewatch.Time(i)*5*rimewatch.Second
			s.send(at, -ahead, []float64{3, 8}[i])
		}
	}
	return s
}

// TestTwoSenders: of two senders that share a serial both are judged by arrival, as far as
// their clocks are apart, and it is known.
func TestTwoSenders(t *testing.T) {
	for _, c := range []struct {
		name       string
		warm, cold rimewatch.Time // that its clock is ahead
	}{
		{"the cold one is ahead", 0, 4 * rimewatch.Minute},
		{"the warm one is ahead", 4 * rimewatch.Minute, 0},
		{"both are ahead", 2 * rimewatch.Minute, 5 * rimewatch.Minute},
		{"the warm one is behind", -20 * rimewatch.Minute, 0},
		{"the cold one is behind", 0, -20 * rimewatch.Minute},
		{"both are behind", -10 * rimewatch.Minute, -40 * rimewatch.Minute},
	} {
		s := shared(c.warm, c.cold, 2*rimewatch.Hour)
		if !s.slow.SeveralClocks() || s.right.SeveralClocks() {
			t.Errorf("%s: known: %v; by one clock: %v", c.name, s.slow.SeveralClocks(), s.right.SeveralClocks())
		}
		got := 0 // readings of the last minutes that count
		for i := range 20 {
			now := t0 + 2*rimewatch.Hour + rimewatch.Time(i)*30*rimewatch.Second
			ahead, temp := c.cold, 3.0
			if i%2 == 1 {
				ahead, temp = c.warm, 8
			}
			s.send(now, -ahead, temp)
			if s.slow.Unit.Last(rimewatch.ProductZoneTemp) == temp && s.slow.Unit.At() == now {
				got++
			}
		}
		if got != 20 {
			t.Errorf("%s: %d of 20 readings count", c.name, got)
		}
	}
}

// TestBufferBesideLiveReadings: what a device sends of its buffer bit by bit, beside what it
// measures now, is no second sender: what was warm while it was cut off opens nothing.
func TestBufferBesideLiveReadings(t *testing.T) {
	s := newSlow()
	now := t0
	for range 30 {
		s.send(now, 0, 3)
		now += rimewatch.Minute
	}
	lag := 3 * rimewatch.Hour
	now += lag
	for range 180 { // one of the buffer with each new one
		s.send(now, 0, 3)
		s.send(now+5*rimewatch.Second, lag, 8)
		now += rimewatch.Minute
	}
	if len(s.opened[0]) != 0 || s.slow.SeveralClocks() {
		t.Errorf("opened %v, two senders: %v", s.opened[0], s.slow.SeveralClocks())
	}
}

// TestLateForEver: a device whose readings all come later than its offline time, each by
// another time, is judged by the least of them once that is known.
func TestLateForEver(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := newSlow()
		least := rimewatch.Time(rapid.IntRange(4, 300).Draw(t, "least lag")) * rimewatch.Minute
		more := rapid.IntRange(30, 150).Draw(t, "stray") * 1000
		rnd := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		warm := t0 + 4*rimewatch.Hour
		for now := t0; now < warm+rimewatch.Hour; now += rimewatch.Minute {
			temp := 3.0
			if now >= warm {
				temp = 8
			}
			s.send(now, least+rimewatch.Time(rnd.IntN(more)), temp)
		}
		if len(s.opened[0]) != 1 || s.opened[0][0] < s.opened[1][0]-3*rimewatch.Minute || s.opened[0][0] > s.opened[1][0]+3*rimewatch.Minute {
			t.Errorf("late for ever %v, in time %v (from %d)", s.opened[0], s.opened[1], t0)
		}
		if by := s.slow.Behind(); by < least-rimewatch.Second || by > least+rimewatch.Time(more) {
			t.Errorf("behind by %v, its least lag is %v", by, least)
		}
	})
}

// TestBacklogIsNoClock: what catches up is no clock that is behind, however slowly:
// what was warm long ago and is cold again opens nothing.
func TestBacklogIsNoClock(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := newSlow()
		span := rimewatch.Time(rapid.IntRange(60, 600).Draw(t, "minutes")) * rimewatch.Minute
		pace := rapid.Float64Range(1.3, 200).Draw(t, "event time by arrival time")
		now := t0
		for at := t0 - span; at < now; at += rimewatch.Minute {
			now += rimewatch.Time(float64(rimewatch.Minute) / pace)
			temp := 8.0
			if now-at < 20*rimewatch.Minute {
				temp = 3
			}
			s.send(now, now-at, temp)
		}
		if len(s.opened[0]) != 0 {
			t.Errorf("opened %v", s.opened[0])
		}
	})
}
