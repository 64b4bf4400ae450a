package unit

import (
	"math"
	"testing"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/weeks"
)

// roomFeed plays the zone of a freezer room, one reading in 15 min and nothing else, with
// its usual ups and downs and a warm spell every day.
func roomFeed(days int, more func(day float64) float64, each func(day float64, s *State, o *Observation)) *State {
	s, c := new(State), &Config{}
	for at := rimewatch.Time(0); at < rimewatch.Time(days)*rimewatch.Day; at += 15 * minute {
		day := float64(at) / float64(rimewatch.Day)
		v := -24 + 0.3*math.Sin(5*day) + 0.2*math.Sin(1.7*day) + more(day)
		if into := math.Mod(day, 1); into > 0.4 && into < 0.43 {
			v += 2
		}
		r := rimewatch.Reading{At: at + 1000*rimewatch.Day, ReceivedAt: at + 1000*rimewatch.Day}
		r.Set(rimewatch.ProductZoneTemp, math.Round(10*v)/10)
		var o Observation
		s.Observe(c, &r, r.At, 0, &o)
		if o.DayEnded {
			ReviewWarming(s, o.At, weeks.Warms)
		}
		if each != nil {
			each(day, s, &o)
		}
	}
	return s
}

func ramp(day, from, to, by float64) float64 { return by * max(0, min(1, (day-from)/(to-from))) }

// TestSlowWarming: 5.5 K in 16 days are seen within a week, with their begin and both
// levels, once, until half is given back.
func TestSlowWarming(t *testing.T) {
	begun, ended, told := 0.0, 0.0, 0
	was := rimewatch.Time(0)
	roomFeed(90, func(day float64) float64 { return ramp(day, 30, 46, 5.5) - ramp(day, 52, 60, 5.5) }, func(day float64, s *State, _ *Observation) {
		since, from, now := Warmed(s)
		switch {
		case since != 0 && was == 0:
			begun, told = day, told+1
			if d := float64(since-1000*rimewatch.Day) / float64(rimewatch.Day); d < 28 || d > 32 || from < -24.5 || from > -23.5 || now-from < 1.5 || now-from > 3 {
				t.Errorf("since day %.1f, from %.1f to %.1f °C", d, from, now)
			}
		case since == 0 && was != 0:
			ended = day
		}
		was = since
	})
	if told != 1 || begun < 33 || begun > 37.1 || ended < 54 || ended > 58 {
		t.Errorf("told %d times, on day %.1f, over on day %.1f", told, begun, ended)
	}
}

// TestNoWarming: what is usual, a thermostat that is set anew, and
// a week like each week before it are no slow warming.
func TestNoWarming(t *testing.T) {
	for name, more := range map[string]func(day float64) float64{
		"as ever":             func(float64) float64 { return 0 },
		"set anew":            func(day float64) float64 { return ramp(day, 30.3, 30.3001, 3) },
		"set anew over hours": func(day float64) float64 { return ramp(day, 30.3, 30.7, 3) },
		"each week":           func(day float64) float64 { return math.Mod(day, 7) * 0.5 },
		"a kelvin a fortnight": func(day float64) float64 {
			return ramp(day, 20, 34, 1)
		},
	} {
		roomFeed(70, more, func(day float64, s *State, o *Observation) {
			if since, from, now := Warmed(s); o.DayEnded && since != 0 {
				t.Errorf("%s: day %.1f: from %.1f to %.1f °C", name, day, from, now)
			}
		})
	}
}

// TestWarmingIsKept: what a person says is usual is not told again, and a state comes back
// from a checkpoint as it was.
func TestWarmingIsKept(t *testing.T) {
	said := false
	s := roomFeed(60, func(day float64) float64 { return ramp(day, 30, 46, 4) }, func(day float64, s *State, _ *Observation) {
		if since, _, _ := Warmed(s); day > 45 && !said {
			if since == 0 {
				t.Error("a slow warming is not seen")
			}
			KeepWarm(s)
			said = true
		}
	})
	if since, _, _ := Warmed(s); since != 0 {
		t.Error("it is told again")
	}
	s = roomFeed(40, func(day float64) float64 { return ramp(day, 30, 46, 4) }, nil)
	var back State
	if _, err := back.DecodeBinary(s.AppendBinary(nil)); err != nil || back != *s {
		t.Errorf("a checkpoint changes the state: %v", err)
	}
	if since, _, _ := Warmed(&back); since == 0 || back.doubts.creeps.known != weeks.Days {
		t.Errorf("since %d, %d days known", since, back.doubts.creeps.known)
	}
}

// TestZoneJump: a probe that was pulled out is told by how much it jumped until it has been
// back for an hour, and while it stays away; one odd reading, a unit that is not known yet, and
// what warms up within several readings, jump no more than others.
func TestZoneJump(t *testing.T) {
	for name, tt := range map[string]struct {
		more     func(day float64) float64
		from, to float64 // day, 0 = never
	}{
		"one odd reading": {func(day float64) float64 { return 14 * float64(int(day*96)/1920*(1-min(1, int(day*96)/1921))) }, 0, 0},
		"pulled out for hours": {func(day float64) float64 {
			if day >= 20 && day < 20.125 {
				return 14
			}
			return 0
		}, 20, 20.14},
		"on its first day": {func(day float64) float64 {
			if day >= 1 && day < 1.1 {
				return 14
			}
			return 0
		}, 0, 0},
		"a door": {func(day float64) float64 { return ramp(day, 20, 20.04, 14) - ramp(day, 20.1, 20.2, 14) }, 0, 0},
		"colder": {func(day float64) float64 { return -ramp(day, 20, 20.0001, 14) }, 0, 0},
	} {
		first, last := 0.0, 0.0
		roomFeed(25, tt.more, func(day float64, s *State, _ *Observation) {
			if ZoneJump(s) == 0 {
				return
			}
			if last = day; first == 0 {
				first = day
			}
			if by := ZoneJump(s); by < 13 || by > 15 {
				t.Errorf("%s: jumped by %.1f K", name, by)
			}
		})
		if math.Abs(first-tt.from) > 0.02 || math.Abs(last-tt.to) > 0.06 {
			t.Errorf("%s: told from day %.2f to %.2f, want %.2f to %.2f", name, first, last, tt.from, tt.to)
		}
	}
}

// TestSeenCompressorWarms: where the compressor is seen a slow warming is the baseline's.
func TestSeenCompressorWarms(t *testing.T) {
	s, c := new(State), &Config{}
	for at := rimewatch.Time(0); at < 50*rimewatch.Day; at += 5 * minute {
		r := rimewatch.Reading{At: at + 1000*rimewatch.Day, ReceivedAt: at + 1000*rimewatch.Day}
		r.Set(rimewatch.ProductZoneTemp, -24+ramp(float64(at)/float64(rimewatch.Day), 30, 46, 4))
		r.Set(rimewatch.AmpDraw, 3*float64(at/(20*minute)%2))
		var o Observation
		s.Observe(c, &r, r.At, 0, &o)
		if since, _, _ := Warmed(s); since != 0 || s.doubts.creeps.known > creepDays {
			t.Fatalf("a slow warming is told, of %d days", s.doubts.creeps.known)
		}
	}
}
