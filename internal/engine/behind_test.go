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
		case t.Kind == alert.Opened:
			s.opened[i] = append(s.opened[i], now)
		case t.Kind == alert.Resolved:
			s.resolved[i] = append(s.resolved[i], now)
		}
	}
}

// clock is one that runs behind, and what it is beside.
type clock struct {
	behind, every rimewatch.Time
	warm          rimewatch.Time // from when the unit is too warm
	right         rimewatch.Time // from when the clock is right, 0 = never
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
		if c.right != 0 && now >= c.right {
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
