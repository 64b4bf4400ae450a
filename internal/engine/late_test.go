package engine_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/alert"
	"github.com/rimewatch/rimewatch/internal/engine"
)

// deliver has both devices of s take readings that arrive together at now.
func (s *slow) deliver(now rimewatch.Time, i int, list []rimewatch.Reading, openings *[]alert.Transition) {
	st := []*engine.State{&s.slow, &s.right}[i]
	for n := range list {
		out, _ := st.Step(&s.cfg, nil, &engine.Input{Kind: engine.Reading, Reading: &list[n], Last: n == len(list)-1}, now, nil)
		*openings = append(*openings, out...)
	}
	for due := st.Deadline(&s.cfg, nil); due != 0 && due <= now; due = st.Deadline(&s.cfg, nil) {
		*openings = append(*openings, tick(st, &s.cfg, now)...)
	}
}

// TestBacklogBehindALiveReading: a device that was cut off and sends what it measures
// now first, and after that what it measured meanwhile, the oldest or the newest
// first, is warned of like one that sends all of it in order. In any other order, and of
// what only adds up, of which late readings say nothing, it is not warned of sooner.
func TestBacklogBehindALiveReading(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := newSlow()
		critical, delay := 8.0, 1200
		s.cfg = engine.ConfigOf(&rimewatch.Device{EquipmentType: "other", HeartbeatIntervalS: 60, Limits: &rimewatch.LimitOverrides{
			TempMax: ptr(5.0), CriticalMax: &critical, DelayS: ptr(600), CriticalDelayS: &delay, ClearS: ptr(300),
		}})
		length := rapid.IntRange(2, 60).Draw(t, "minutes cut off")
		temps := make([]float64, 10+length+1+30)
		v := 3.0
		for i := range temps {
			if i >= 10 && rapid.IntRange(0, 14).Draw(t, "change") == 0 {
				v = rapid.SampledFrom([]float64{3, 4.9, 7, 7, 9}).Draw(t, "temperature")
			}
			temps[i] = v
		}
		reading := func(i int) rimewatch.Reading {
			r := rimewatch.Reading{At: t0 + rimewatch.Time(i)*rimewatch.Minute}
			r.Set(rimewatch.ProductZoneTemp, temps[i])
			return r
		}
		var told [2][]alert.Transition
		live := 10 + length
		temps[live-2] = temps[live-1] // one reading alone may be odd, and says nothing
		var backlog []rimewatch.Reading
		for i := 10; i < live; i++ {
			backlog = append(backlog, reading(i))
		}
		order := rapid.SampledFrom([]string{"oldest first", "newest first", "shuffled"}).Draw(t, "order")
		inOrder := slices.Clone(backlog)
		switch order {
		case "newest first":
			slices.Reverse(backlog)
		case "shuffled":
			rnd := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
			rnd.Shuffle(len(backlog), func(i, j int) { backlog[i], backlog[j] = backlog[j], backlog[i] })
		}
		for i := range temps {
			now := t0 + rimewatch.Time(i)*rimewatch.Minute
			switch {
			case i >= 10 && i < live:
				continue
			case i == live:
				s.deliver(now, 0, []rimewatch.Reading{reading(i)}, &told[0])
				s.deliver(now, 0, backlog, &told[0])
				s.deliver(now, 1, append(inOrder, reading(i)), &told[1])
			default:
				for k := range told {
					s.deliver(now, k, []rimewatch.Reading{reading(i)}, &told[k])
				}
			}
		}
		got, want := temperatureAlerts(told[0]), temperatureAlerts(told[1])
		if order == "shuffled" || runs(temps, 5) > 1 || runs(temps, critical) > 1 {
			if len(got) > 0 && (len(want) == 0 || got[0].At < want[0].At) {
				t.Fatalf("told %v, in order %v", got, want)
			}
			return
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%s: told %v, in order %v, temperatures %v", order, got, want, temps)
		}
	})
}

// runs is how often temperatures go beyond a limit.
func runs(temps []float64, limit float64) (n int) {
	for i, v := range temps {
		if v > limit && (i == 0 || temps[i-1] <= limit) {
			n++
		}
	}
	return n
}

// opening is what somebody hears of an alert.
type opening struct {
	Kind      rimewatch.TransitionKind
	Severity  rimewatch.Severity
	At, Since rimewatch.Time
}

func temperatureAlerts(list []alert.Transition) (out []opening) {
	for _, x := range list {
		if x.Type == rimewatch.HighTemperature && (x.Kind == rimewatch.TransitionOpened || x.Kind == rimewatch.TransitionEscalated) {
			out = append(out, opening{x.Kind, x.Severity, x.At, x.ConditionStartedAt})
		}
	}
	return out
}

func ptr[T any](v T) *T { return &v }
