package alert

import (
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rimewatch/rimewatch"
)

// courses never stay beyond a limit for its delay, and are beyond it nearly always.
var courses = []struct {
	name   string
	typ    string
	every  rimewatch.Time
	lasts  rimewatch.Time
	temp   func(at rimewatch.Time) float64 // °C
	alert  rimewatch.AlertType
	opens  rimewatch.Time // at the latest
	severe rimewatch.Time // critical at the latest
}{
	{
		"a vaccine refrigerator below 0 °C for 8 of 10 min", "vaccine_refrigerator", minute, 8 * hour,
		func(at rimewatch.Time) float64 { return pick(at%(10*minute) < 2*minute, 2.6, -1.5) },
		rimewatch.LowTemperature, 25 * minute, 25 * minute,
	},
	{
		"a walk-in cooler that touches its limit every half hour", "walkin_cooler", minute, 48 * hour,
		func(at rimewatch.Time) float64 { return cycle(at, 30*minute, 4.4, 10.4) },
		rimewatch.HighTemperature, 90 * minute, 3 * hour,
	},
	{
		"a walk-in freezer that touches its limit every 50 min", "walkin_freezer", minute, 48 * hour,
		func(at rimewatch.Time) float64 { return cycle(at, 50*minute, -15.6, -3.6) },
		rimewatch.HighTemperature, 90 * minute, 3 * hour,
	},
	{
		"a walk-in freezer at 0 °C with one cold reading an hour", "walkin_freezer", minute, 48 * hour,
		func(at rimewatch.Time) float64 { return pick(at%(55*minute) == 0, -15.2, 0) },
		rimewatch.HighTemperature, 90 * minute, 90 * minute,
	},
	{
		"a walk-in cooler at 7.5 °C for 35 of 50 min", "walkin_cooler", 5 * minute, 6 * rimewatch.Day,
		func(at rimewatch.Time) float64 { return pick(at%(50*minute) < 35*minute, 7.5, 4) },
		rimewatch.HighTemperature, 2 * hour, 4 * hour,
	},
}

func pick(first bool, a, b float64) float64 {
	if first {
		return a
	}
	return b
}

// cycle is low for a moment of each period and close to high for most of it.
func cycle(at, period rimewatch.Time, low, high float64) float64 {
	x := 2*float64(at%period)/float64(period) - 1
	return round(high - (high-low)*x*x*x*x)
}

// TestCoursesThatTouchTheirLimit: goods spoil all the same, and are alerted for once.
func TestCoursesThatTouchTheirLimit(t *testing.T) {
	for _, tc := range courses {
		t.Run(tc.name, func(t *testing.T) {
			c := configOf(tc.typ)
			c.Rules = DefaultRules
			u := newDevice(t, c)
			for at := epoch; at < epoch+tc.lasts; at += tc.every {
				u.advance(at)
				u.observe(zoneReading(at, tc.temp(at-epoch)))
			}
			opened, critical, n := rimewatch.Time(math.MaxInt64), rimewatch.Time(math.MaxInt64), 0
			for _, tr := range u.log {
				if tr.Type != tc.alert {
					continue
				}
				if tr.Kind == rimewatch.TransitionOpened {
					n, opened = n+1, min(opened, tr.At-epoch)
				}
				if tr.Severity == rimewatch.Critical {
					critical = min(critical, tr.At-epoch)
				}
			}
			if n != 1 || opened > tc.opens || critical > tc.severe {
				t.Errorf("opened %d times, first after %d min, critical after %d min; want once, within %d and %d min", n, opened/minute, critical/minute, tc.opens/minute, tc.severe/minute)
			}
			if testing.Verbose() {
				for _, l := range summary(u.log) {
					t.Log(l)
				}
			}
		})
	}
}

// TestOtherLimitsAddUp: humidity and the voltage, beyond their limits but for single
// readings.
func TestOtherLimitsAddUp(t *testing.T) {
	for _, tc := range []struct {
		name  string
		every rimewatch.Time
		field rimewatch.Field
		value func(at rimewatch.Time) float64
		lasts rimewatch.Time
		want  string
	}{
		{
			"humidity", minute, rimewatch.Humidity, func(at rimewatch.Time) float64 { return pick(at%(90*minute) == 0, 70, 93) }, 4 * hour,
			"1h58m opened high_humidity warning since 1m value 93 peak 93 limit 90",
		},
		{
			"voltage", 10 * second, rimewatch.Voltage, func(at rimewatch.Time) float64 { return pick(at%(50*second) == 0, 230, 204) }, 5 * minute,
			"1m20s opened low_voltage warning since 10s value 204 peak 204 limit 207",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := configOf("walkin_cooler")
			c.Rules = DefaultRules
			c.NominalVoltage = 230
			u := newDevice(t, c)
			for at := epoch; at < epoch+tc.lasts; at += tc.every {
				u.advance(at)
				r := zoneReading(at, 3)
				r.Set(tc.field, tc.value(at-epoch))
				u.observe(r)
			}
			if len(u.log) == 0 {
				t.Fatal("nothing opened")
			}
			if diff := cmp.Diff([]string{tc.want}, summary(u.log[:1])); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestMinutesOfADay: medicine is alerted for what adds up within 24 h, once a day, however
// short each time; the alert ends by its clear time.
func TestMinutesOfADay(t *testing.T) {
	live := func(typ string, change func(*rimewatch.Limits), lasts rimewatch.Time, outside float64) []string {
		c := configOf(typ)
		change(&c.Limits)
		u := newDevice(t, c)
		for at := epoch; at < epoch+lasts; at += minute {
			u.advance(at)
			u.observe(zoneReading(at, pick((at-epoch)%(2*hour) < 4*minute, outside, 5)))
		}
		return summary(u.log)
	}
	warm, off := 30, func(l *rimewatch.Limits) { l.ExposureMinPerDay = rimewatch.ExposureLimits{} }
	for _, tc := range []struct {
		name    string
		typ     string
		change  func(*rimewatch.Limits)
		outside float64
		want    []string
	}{
		{"too cold", "vaccine_refrigerator", func(*rimewatch.Limits) {}, -0.5, []string{
			"6h3m opened low_temperature critical since 6h value -0.5 peak -0.5 limit 0",
			"6h9m resolved low_temperature critical since 6h value 5 peak -0.5 limit 0",
			"30h3m opened low_temperature critical since 30h value -0.5 peak -0.5 limit 0",
			"30h9m resolved low_temperature critical since 30h value 5 peak -0.5 limit 0",
		}},
		{"too warm", "vaccine_refrigerator", func(l *rimewatch.Limits) { l.ExposureMinPerDay.Warm = &warm }, 9, []string{
			"14h2m opened high_temperature warning since 14h value 9 peak 9 limit 8",
			"14h9m resolved high_temperature warning since 14h value 5 peak 9 limit 8",
			"38h2m opened high_temperature warning since 38h value 9 peak 9 limit 8",
			"38h9m resolved high_temperature warning since 38h value 5 peak 9 limit 8",
		}},
		{"less than an hour", "vaccine_refrigerator", func(*rimewatch.Limits) {}, 9, []string{}},
		{"too cold, switched off", "vaccine_refrigerator", off, -0.5, []string{}},
		{"food", "walkin_cooler", func(*rimewatch.Limits) {}, 9, []string{}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, live(tc.typ, tc.change, 46*hour, tc.outside)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestDefrostsDoNotAddUp: a freezer whose defrosts are known is beyond its limit in each
// for most of its delay, and defrosts so often that it would add up.
func TestDefrostsDoNotAddUp(t *testing.T) {
	c := configOf("walkin_freezer")
	c.Rules = DefaultRules
	warm := 60
	c.Limits.ExposureMinPerDay.Warm = &warm
	u := newDevice(t, c)
	defrost := func(at rimewatch.Time) float64 {
		switch m := at % (3 * hour) / minute; {
		case m < 20:
			return round(-20 + 0.5*float64(m))
		case m < 50:
			return round(-10 - float64(m-20)/3)
		default:
			return -20
		}
	}
	for at := epoch; at < epoch+6*rimewatch.Day; at += minute {
		u.advance(at)
		u.observe(zoneReading(at, defrost(at-epoch)))
	}
	if y := u.s.exposure(ruleHigh); y != nil && y.day.over().since(u.now-rimewatch.Day, false) != 0 {
		t.Errorf("%d min of the last day count", y.day.over().since(u.now-rimewatch.Day, false)/minute)
	}
	log := slices.DeleteFunc(u.log, func(t Transition) bool { return t.At < epoch+2*rimewatch.Day })
	if diff := cmp.Diff([]string{}, summary(log)); diff != "" {
		t.Error(diff)
	}
}

// TestMovedExposure: a clock that is set back takes what adds up with it.
func TestMovedExposure(t *testing.T) {
	u := newDevice(t, configOf("walkin_freezer"))
	u.run(`
		0m -14
		20m -14
		40m -15
		41m -14`)
	by := -5 * hour
	u.s.State.Move(by, true, true)
	u.s.unit.Move(by)
	u.now += by
	u.p.LastSeen += by
	u.run(`
		-240m tick
		-239m -14
		-238m -14`)
	want := []string{"-3h59m opened high_temperature warning since -5h value -14 peak -14 limit -15"}
	if diff := cmp.Diff(want, summary(u.log)); diff != "" {
		t.Error(diff)
	}
}
