package health_test

import (
	"math"
	"testing"
	"time"
	"unsafe"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/health"
)

const (
	noon   = rimewatch.Time(1_780_012_800_000) // a multiple of 30 min
	second = rimewatch.Second
	minute = rimewatch.Minute
	hour   = rimewatch.Hour
)

// cooler is judged from 0 to 5 °C: 45 min of grace above, 30 below.
func cooler() *health.Config {
	e, _ := rimewatch.EquipmentBySlug("walkin_cooler")
	return &health.Config{Limits: e.Limits}
}

func at(t rimewatch.Time, v float64) *rimewatch.Reading {
	r := &rimewatch.Reading{At: t, ReceivedAt: t}
	r.Set(rimewatch.ProductZoneTemp, v)
	return r
}

// feed observes a value every minute in [from, to) and returns what ended.
func feed(s *health.State, c *health.Config, from, to rimewatch.Time, v float64) (ended []health.Excursion) {
	for t := from; t < to; t += minute {
		ended = append(ended, s.Observe(c, at(t, v))...)
	}
	return ended
}

// minutes are the sums of a compliance in minutes.
func minutes(c health.Compliance) [4]float64 {
	const ms = 60000
	return [4]float64{float64(c.Window) / ms, float64(c.Covered) / ms, float64(c.In) / ms, float64(c.Strict) / ms}
}

func TestCompliance(t *testing.T) {
	for _, tc := range []struct {
		name string
		feed func(s *health.State, c *health.Config)
		now  rimewatch.Time
		want [4]float64 // window, covered, in, strict, in minutes
	}{
		{"nothing", func(*health.State, *health.Config) {}, noon, [4]float64{1440, 0, 0, 0}},
		{"one reading is held for a quarter of an hour", func(s *health.State, c *health.Config) {
			s.Observe(c, at(noon, 3))
		}, noon + hour, [4]float64{1440, 15, 15, 15}},
		{"an hour within limits", func(s *health.State, c *health.Config) {
			feed(s, c, noon, noon+hour, 3)
		}, noon + hour, [4]float64{1440, 60, 60, 60}},
		{"silence counts after two intervals no more", func(s *health.State, c *health.Config) {
			feed(s, c, noon, noon+hour, 3)
		}, noon + 5*hour, [4]float64{1440, 61, 61, 61}},
		{"44 minutes above are forgiven", func(s *health.State, c *health.Config) {
			feed(s, c, noon, noon+hour, 3)
			feed(s, c, noon+hour, noon+hour+44*minute, 9)
			feed(s, c, noon+hour+44*minute, noon+3*hour, 3)
		}, noon + 3*hour, [4]float64{1440, 180, 180, 136}},
		{"45 minutes above are not", func(s *health.State, c *health.Config) {
			feed(s, c, noon, noon+hour, 3)
			feed(s, c, noon+hour, noon+hour+45*minute, 9)
			feed(s, c, noon+hour+45*minute, noon+3*hour, 3)
		}, noon + 3*hour, [4]float64{1440, 180, 135, 135}},
		{"30 minutes below are not", func(s *health.State, c *health.Config) {
			feed(s, c, noon, noon+hour, 3)
			feed(s, c, noon+hour, noon+hour+30*minute, -1)
			feed(s, c, noon+hour+30*minute, noon+3*hour, 3)
		}, noon + 3*hour, [4]float64{1440, 180, 150, 150}},
		{"twice 40 minutes are forgiven", func(s *health.State, c *health.Config) {
			feed(s, c, noon, noon+40*minute, 9)
			feed(s, c, noon+40*minute, noon+41*minute, 5)
			feed(s, c, noon+41*minute, noon+81*minute, 9)
			feed(s, c, noon+81*minute, noon+90*minute, 5)
		}, noon + 90*minute, [4]float64{1440, 90, 90, 10}},
		{"a pause within an excursion is within limits, what follows is not forgiven", func(s *health.State, c *health.Config) {
			feed(s, c, noon, noon+50*minute, 9)
			feed(s, c, noon+50*minute, noon+54*minute, 4)
			feed(s, c, noon+54*minute, noon+58*minute, 9)
			feed(s, c, noon+58*minute, noon+120*minute, 4)
		}, noon + 120*minute, [4]float64{1440, 120, 66, 66}},
		{"after its end the next is forgiven", func(s *health.State, c *health.Config) {
			feed(s, c, noon, noon+50*minute, 9)
			feed(s, c, noon+50*minute, noon+60*minute, 4)
			feed(s, c, noon+60*minute, noon+70*minute, 9)
			feed(s, c, noon+70*minute, noon+120*minute, 4)
		}, noon + 120*minute, [4]float64{1440, 120, 70, 60}},
		{"between the limit and the clear value it has not ended", func(s *health.State, c *health.Config) {
			feed(s, c, noon, noon+50*minute, 9)
			feed(s, c, noon+50*minute, noon+60*minute, 4.8)
			feed(s, c, noon+60*minute, noon+70*minute, 9)
		}, noon + 70*minute, [4]float64{1450, 70, 10, 10}},
		{"a day later it is forgotten", func(s *health.State, c *health.Config) {
			feed(s, c, noon, noon+4*hour, 9)
			feed(s, c, noon+4*hour, noon+29*hour, 3)
		}, noon + 28*hour + 59*minute, [4]float64{24*60 + 29, 24*60 + 29, 24*60 + 29, 24*60 + 29}},
		{"the oldest half hour survives a silence that long", func(s *health.State, c *health.Config) {
			feed(s, c, noon, noon+30*minute, 3)
			s.Observe(c, at(noon+24*hour, 3))
		}, noon + 24*hour, [4]float64{1440, 31, 31, 31}},
		{"and no longer", func(s *health.State, c *health.Config) {
			feed(s, c, noon, noon+30*minute, 3)
			s.Observe(c, at(noon+24*hour+30*minute, 3))
		}, noon + 24*hour + 30*minute, [4]float64{1440, 1, 1, 1}},
		{"a delay of a day condemns the whole window", func(s *health.State, c *health.Config) {
			c.Limits.DelayS = 86400
			feed(s, c, noon+10*minute, noon+24*hour+12*minute, 9)
		}, noon + 24*hour + 12*minute, [4]float64{1452, 1442, 0, 0}},
		{"and just not", func(s *health.State, c *health.Config) {
			c.Limits.DelayS = 86400
			feed(s, c, noon+10*minute, noon+24*hour+9*minute, 9)
		}, noon + 24*hour + 9*minute, [4]float64{1449, 1439, 1439, 0}},
		{"when its beginning has left the window", func(s *health.State, c *health.Config) {
			c.Limits.DelayS = 86400 // confirmed by a reading after a silence
			feed(s, c, noon+10*minute, noon+20*hour, 9)
			s.Observe(c, at(noon+25*hour, 9))
		}, noon + 25*hour, [4]float64{1440, 19*60 + 1, 0, 0}},
		{"maintenance is left out and ends what ran", func(s *health.State, c *health.Config) {
			c.Excluded = []health.Span{{noon + hour, noon + 2*hour}}
			feed(s, c, noon, noon+2*hour+40*minute, 9)
		}, noon + 2*hour + 40*minute, [4]float64{1390, 100, 40, 0}},
		{"slow logger: until its interval is known, a quarter of an hour is covered", func(s *health.State, c *health.Config) {
			for i := range rimewatch.Time(10) {
				s.Observe(c, at(noon+i*30*minute, 3))
			}
		}, noon + 5*hour, [4]float64{1440, 285, 285, 285}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var s health.State
			c := cooler()
			tc.feed(&s, c)
			if d := cmp.Diff(tc.want, minutes(s.Compliance(c, tc.now, 0))); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestExcursions(t *testing.T) {
	c := cooler()
	var s health.State
	var got []health.Excursion
	add := func(from, to rimewatch.Time, v float64) {
		got = append(got, feed(&s, c, noon+from*minute, noon+to*minute, v)...)
	}
	add(0, 10, 3)
	add(10, 30, 9) // forgiven
	add(30, 40, 3)
	add(40, 80, 6)
	if e, ok := s.Excursion(); ok {
		t.Errorf("an excursion after 40 min: %+v", e)
	}
	add(80, 100, 8.25)
	want := health.Excursion{Start: noon + 40*minute, High: true, Peak: 8.25, DegreeMinutes: 40*1 + 19*3.25}
	if e, ok := s.Excursion(); !ok || e != want {
		t.Errorf("open: %+v, want %+v", e, want)
	}
	add(100, 103, 4)
	add(103, 104, 6)
	add(104, 120, 4)
	add(120, 150, -2.5) // and below
	add(150, 160, 5.5)  // at once above: the other one ends, this one is forgiven
	add(160, 170, 3)
	wants := []health.Excursion{
		{Start: noon + 40*minute, End: noon + 104*minute, High: true, Peak: 8.25, DegreeMinutes: 40*1 + 20*3.25 + 1},
		{Start: noon + 120*minute, End: noon + 150*minute, Peak: -2.5, DegreeMinutes: 30 * 2.5},
	}
	if d := cmp.Diff(wants, got, cmpopts.EquateApprox(0, 1e-3)); d != "" {
		t.Error(d)
	}
	if got[0].Duration() != 64*time.Minute {
		t.Error(got[0].Duration())
	}
	if _, ok := s.Excursion(); ok {
		t.Error("still open")
	}
}

// TestMaintenanceEndsAnExcursion also where no reading lies in the window.
func TestMaintenanceEndsAnExcursion(t *testing.T) {
	c := cooler()
	var s health.State
	feed(&s, c, noon, noon+hour, 9)
	c.Excluded = []health.Span{{noon + 65*minute, noon + 70*minute}}
	list := s.Observe(c, at(noon+80*minute, 9))
	if len(list) != 1 || list[0].Start != noon || list[0].End != noon+65*minute {
		t.Errorf("%+v", list)
	}
	if _, ok := s.Excursion(); ok {
		t.Error("the run after maintenance is not forgiven")
	}
}

func TestWithoutLimits(t *testing.T) {
	var s health.State
	c := &health.Config{}
	feed(&s, c, noon, noon+hour, 40)
	if got := s.Compliance(c, noon+hour, 0); got != (health.Compliance{}) {
		t.Errorf("%+v", got)
	}
}

func TestCoverageOfANewDevice(t *testing.T) {
	var s health.State
	c := cooler()
	feed(&s, c, noon, noon+hour, 3)
	got := s.Compliance(c, noon+2*hour, noon)
	if v, ok := got.Coverage(); !ok || math.Abs(v-100*61.0/120) > 1e-9 {
		t.Error(v, ok)
	}
	if v, ok := got.Percent(); !ok || v != 100 {
		t.Error(v, ok)
	}
	if _, ok := (health.Compliance{}).Percent(); ok {
		t.Error("nothing covered has a percentage")
	}
}

// TestCoverageOfOldReadings: of a device that was created after its readings were taken, the time since the first of them could have been covered.
func TestCoverageOfOldReadings(t *testing.T) {
	var s health.State
	c := cooler()
	feed(&s, c, noon+10*minute, noon+2*hour, 3)
	feed(&s, c, noon+7*hour, noon+8*hour, 3)
	got := s.Compliance(c, noon+8*hour, noon+8*hour-minute)
	if d := got.Window - int64(7*hour+50*minute); d < -1000 || d > 1000 {
		t.Errorf("the window has %v, want 7 h 50 min", time.Duration(got.Window)*time.Millisecond)
	}
	if v, ok := got.Coverage(); !ok || v < 35 || v > 38 {
		t.Error(v, ok)
	}
}

func TestStateSize(t *testing.T) {
	if n := unsafe.Sizeof(health.State{}); n > 440 {
		t.Error("a state takes", n, "bytes")
	}
}
