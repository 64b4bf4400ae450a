package health_test

import (
	"math"
	"slices"
	"testing"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/health"
	"pgregory.net/rapid"
)

func TestScore(t *testing.T) {
	for _, tc := range []struct {
		name  string
		notes map[health.Component]float64
		c     health.Circumstances
		age   rimewatch.Time
		want  float64
	}{
		{"healthy", nil, health.Circumstances{}, 0, 100},
		{"temperature critical", map[health.Component]float64{health.Temperature: 1}, health.Circumstances{}, 0, 40},
		{"temperature warning", map[health.Component]float64{health.Temperature: 0.5}, health.Circumstances{}, 0, 70},
		{"half a day later", map[health.Component]float64{health.Temperature: 1}, health.Circumstances{}, 12 * hour, 70},
		{"just not a day later", map[health.Component]float64{health.Temperature: 1}, health.Circumstances{}, 24*hour - second, 85},
		{"a day later", map[health.Component]float64{health.Temperature: 1}, health.Circumstances{}, 24 * hour, 100},
		{"two things", map[health.Component]float64{health.Vibration: 1, health.Cycling: 0.5}, health.Circumstances{}, 0, 56.9}, // 65 × 0.875
		{"what holds now does not decay", nil, health.Circumstances{Severity: [health.NumComponents]float64{health.DataFreshness: 1}}, 40 * hour, 50},
		{"more than critical", map[health.Component]float64{health.Electrical: 7}, health.Circumstances{}, 0, 70},
		{"open warning", nil, health.Circumstances{OpenWarning: true}, 0, 75},
		{"open critical", nil, health.Circumstances{OpenWarning: true, OpenCritical: true}, 0, 40},
		{"offline", nil, health.Circumstances{OpenWarning: true, Offline: true}, 0, 50},
		{"below its cap", map[health.Component]float64{health.Temperature: 1, health.DischargeSuction: 1}, health.Circumstances{OpenCritical: true}, 0, 24},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var s health.State
			for k, v := range tc.notes {
				s.Note(k, v, noon)
			}
			tc.c.Now = noon + tc.age
			if got := s.Score(&tc.c); got != tc.want {
				t.Errorf("%v, want %v", got, tc.want)
			}
		})
	}
}

func TestExcursionsLowerTheScore(t *testing.T) {
	for _, tc := range []struct {
		value float64
		min   rimewatch.Time
		want  float64
	}{
		{9, 40, 100}, // forgiven
		{5.5, 60, 62.5},
		{6, 60, 55}, // half way to the critical 7 °C
		{9, 60, 40},
		{-1, 60, 70}, // no critical bound below
	} {
		var s health.State
		c := cooler()
		feed(&s, c, noon, noon+tc.min*minute, tc.value)
		if got := s.Score(&health.Circumstances{Now: noon + (tc.min-1)*minute}); got != tc.want {
			t.Errorf("%v °C for %d min: %v, want %v", tc.value, tc.min, got, tc.want)
		}
	}
}

func drawCircumstances(t *rapid.T, now rimewatch.Time) health.Circumstances {
	c := health.Circumstances{
		Now: now, OpenWarning: rapid.Bool().Draw(t, "warning"), OpenCritical: rapid.Bool().Draw(t, "critical"),
		Offline: rapid.Bool().Draw(t, "offline"),
	}
	for k := range c.Severity {
		if rapid.IntRange(0, 3).Draw(t, "holds") == 0 {
			c.Severity[k] = rapid.Float64Range(-0.5, 1.5).Draw(t, "severity")
		}
	}
	return c
}

// TestScoreProperties: the score is the product of what decayed, within its
// caps; drivers add up to what it lost; closing an alert never lowers it.
func TestScoreProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s health.State
		type note struct {
			severity float64
			at       rimewatch.Time
		}
		notes := map[health.Component][]note{}
		now := noon
		for range rapid.IntRange(0, 20).Draw(t, "notes") {
			k := health.Component(rapid.IntRange(0, int(health.Calibration)-1).Draw(t, "component"))
			severity := rapid.Float64Range(0, 1).Draw(t, "severity")
			s.Note(k, severity, now)
			notes[k] = append(notes[k], note{severity, now})
			now += second * rimewatch.Time(rapid.IntRange(0, 4000).Draw(t, "gap")) // within the day
		}
		c := drawCircumstances(t, now)
		got := s.Score(&c)
		want := 100.0
		for k := range health.NumComponents {
			worst := max(c.Severity[k], 0)
			for _, n := range notes[k] {
				worst = max(worst, n.severity*math.Exp2(-float64(now-n.at)/float64(12*hour)))
			}
			want *= 1 - k.Weight()*min(worst, 1)
		}
		switch {
		case c.OpenCritical:
			want = min(want, 40)
		case c.Offline:
			want = min(want, 50)
		case c.OpenWarning:
			want = min(want, 75)
		}
		if math.Abs(got-want) > 0.06 {
			t.Fatalf("%v, want %v", got, want)
		}
		lost := 0.0
		drivers := s.Drivers(&c)
		for i, d := range drivers {
			lost += d.PointsLost
			if d.PointsLost < 0 || i > 0 && d.PointsLost > drivers[i-1].PointsLost {
				t.Fatalf("%+v", drivers)
			}
		}
		if math.Abs(100-lost-got) > 0.06+0.005*float64(len(drivers)) {
			t.Fatalf("drivers lose %v, the score %v", lost, 100-got)
		}
		closed := c
		if rapid.Bool().Draw(t, "close critical") {
			closed.OpenCritical = false
			if rapid.Bool().Draw(t, "close warning") {
				closed.OpenWarning = false
			}
		} else {
			closed.OpenWarning = false
		}
		if after := s.Score(&closed); after < got {
			t.Fatalf("closing an alert lowered the score from %v to %v", got, after)
		}
	})
}

// device is what the fleet model knows.
type device struct {
	score float64
	sum   health.Compliance
	seen  bool
}

func (d device) share() health.Share {
	if !d.seen {
		return health.Share{}
	}
	return health.NewShare(d.score, d.sum)
}

func drawDevice(t *rapid.T) device {
	covered := rapid.Int64Range(0, 88_200_000).Draw(t, "covered")
	in := rapid.Int64Range(0, covered).Draw(t, "in")
	return device{
		score: float64(rapid.IntRange(0, 1000).Draw(t, "score")) / 10, seen: rapid.IntRange(0, 5).Draw(t, "seen") > 0,
		sum: health.Compliance{Window: 88_200_000, Covered: covered, In: in, Strict: rapid.Int64Range(0, in).Draw(t, "strict")},
	}
}

func checkFleet(t *rapid.T, f *health.Fleet, devices []device) {
	var scores []float64
	var sum health.Compliance
	for _, d := range devices {
		if d.seen {
			scores = append(scores, d.score)
			sum.Window += d.sum.Window
			sum.Covered += d.sum.Covered
			sum.In += d.sum.In
			sum.Strict += d.sum.Strict
		}
	}
	slices.Sort(scores)
	want := 100.0
	if n := len(scores); n > 0 {
		mean, worst := 0.0, 0.0
		for _, v := range scores {
			mean += v / float64(n)
		}
		k := max(n/10, 1)
		for _, v := range scores[:k] {
			worst += v / float64(k)
		}
		want = 0.7*mean + 0.3*worst
	}
	if got := f.Score(); math.Abs(got-want) > 0.0501 || f.Devices() != len(scores) {
		t.Fatalf("score %v of %d devices, want %v of %d", got, f.Devices(), want, len(scores))
	}
	percent := func(part, whole int64, without float64) float64 {
		if whole == 0 {
			return without
		}
		return rimewatch.Share(float64(part)/float64(whole), 1)
	}
	for name, v := range map[string][2]float64{
		"compliance": {f.Compliance(), percent(sum.In, sum.Covered, 100)},
		"strict":     {f.StrictCompliance(), percent(sum.Strict, sum.Covered, 100)},
		"coverage":   {f.Coverage(), percent(sum.Covered, sum.Window, 0)},
	} {
		if math.Abs(v[0]-v[1]) > 1e-9 {
			t.Fatalf("%s: %v, want %v", name, v[0], v[1])
		}
	}
}

func TestFleetProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var f health.Fleet
		devices := make([]device, rapid.IntRange(0, 60).Draw(t, "devices"))
		checkFleet(t, &f, devices)
		for range rapid.IntRange(0, 150).Draw(t, "changes") {
			if len(devices) == 0 {
				break
			}
			i := rapid.IntRange(0, len(devices)-1).Draw(t, "device")
			former := devices[i]
			devices[i] = drawDevice(t)
			f.Replace(former.share(), devices[i].share())
		}
		checkFleet(t, &f, devices)
		// A device that does better never makes the fleet do worse.
		before := f.Score()
		for i := range devices {
			if devices[i].seen {
				better := devices[i]
				better.score = min(100, better.score+float64(rapid.IntRange(0, 300).Draw(t, "better"))/10)
				f.Replace(devices[i].share(), better.share())
				break
			}
		}
		if after := f.Score(); after < before {
			t.Fatalf("from %v to %v", before, after)
		}
	})
}

// TestClosingAnAlertNeverLowersTheFleet goes all the way from alerts to the score.
func TestClosingAnAlertNeverLowersTheFleet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var f health.Fleet
		var s health.State
		now := noon
		for range 5 {
			s.Note(health.Component(rapid.IntRange(0, 7).Draw(t, "component")), rapid.Float64Range(0, 1).Draw(t, "severity"), now)
		}
		for range rapid.IntRange(0, 30).Draw(t, "others") {
			f.Replace(health.Share{}, drawDevice(t).share())
		}
		c := drawCircumstances(t, now)
		former := health.NewShare(s.Score(&c), health.Compliance{})
		f.Replace(health.Share{}, former)
		before := f.Score()
		c.OpenWarning, c.OpenCritical = c.OpenWarning && rapid.Bool().Draw(t, "keep"), false
		f.Replace(former, health.NewShare(s.Score(&c), health.Compliance{}))
		if after := f.Score(); after < before {
			t.Fatalf("from %v to %v", before, after)
		}
	})
}

func TestEmptyFleet(t *testing.T) {
	var f health.Fleet
	if f.Score() != 100 || f.Compliance() != 100 || f.StrictCompliance() != 100 || f.Coverage() != 0 || f.Devices() != 0 {
		t.Error(f.Score(), f.Compliance(), f.StrictCompliance(), f.Coverage())
	}
	seen := health.NewShare(80, health.Compliance{})
	f.Replace(health.Share{}, seen)
	f.Replace(seen, health.Share{})
	if f != (health.Fleet{}) {
		t.Error("what goes leaves something behind")
	}
}
