package alert

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/rimewatch/rimewatch"
)

// brokenValue is what a sensor may show that is no value, where a script's compressor does not say what it shows.
var brokenValue = map[string]string{"z": "-127", "a": "85", "h": "140", "v": "900"}

// TestEachSensorIsTold: of two sensors that break, one after the other or together, both are told
// within 10 min and for as long as they are broken, whichever they are and however they show it.
func TestEachSensorIsTold(t *testing.T) {
	c := configOf("walkin_freezer")
	c.Rules = AllRules
	known := newDevice(t, c)
	known.run("0m..50h cycle=9/17")
	keys := []string{"z", "d", "s", "a", "h", "v", "i", "x"}
	rapid.Check(t, func(t *rapid.T) {
		u := *known
		u.t, u.values, u.log = t, make(map[string]float64), nil
		for k, v := range known.values {
			u.values[k] = v
		}
		pair := rapid.Permutation(keys).Draw(t, "sensors")[:2]
		later := rimewatch.Time(rapid.IntRange(0, 300).Draw(t, "minutes")) * minute
		begun := u.now
		u.minutes(begun, begun+later, []string{breaks(t, pair[0])})
		u.minutes(begun+later, begun+later+20*minute, []string{breaks(t, pair[1])})
		since := begun
		for _, key := range pair {
			name := fieldKeys[key].String()
			opened := slices.IndexFunc(u.log, func(x Transition) bool {
				return x.Type == rimewatch.SensorFault && x.Part == name && x.Kind == rimewatch.TransitionOpened
			})
			if opened < 0 || u.log[opened].Metric != name || u.log[opened].At > since+10*minute {
				t.Fatalf("%s broke at %s: %q", name, short(since), summary(u.log))
			}
			if !Knows(&u.s.State, rimewatch.SensorFault, name) {
				t.Fatalf("%s is not open: %q", name, summary(u.log))
			}
			since = begun + later
		}
	})
}

// breaks is a step of a script by which a sensor breaks.
func breaks(t *rapid.T, key string) string {
	if v := brokenValue[key]; v != "" && rapid.Bool().Draw(t, key+" shows "+v) {
		return key + "=" + v
	}
	return key + "!"
}

// TestProductProbeDies: while the ambient's alert is open the product probe sends −127 for ten days.
func TestProductProbeDies(t *testing.T) {
	u := newDevice(t, configOf("walkin_freezer"))
	u.c.Rules = AllRules
	u.run(`
		0m..50h cycle=9/17
		50h..60h a!
		60h..300h z=-127
		300h..301h z=-20`)
	want := []string{
		"50h5m opened sensor_fault warning since 50h ambient_temp",
		"60h5m opened sensor_fault warning since 60h product_zone_temp",
		"300h5m resolved sensor_fault warning since 60h product_zone_temp",
	}
	got := slices.DeleteFunc(u.log, func(x Transition) bool { return x.Type != rimewatch.SensorFault })
	if lines := summary(got); !slices.Equal(lines, want) {
		t.Errorf("%q", lines)
	}
}

// TestSensorAlertOfBefore: an alert of a store from before each measurement had one goes on, about all
// that it was about, and ends by them; another sensor that breaks meanwhile is told.
func TestSensorAlertOfBefore(t *testing.T) {
	u := newDevice(t, configOf("walkin_freezer"))
	u.c.Rules = AllRules
	u.run(`
		0m..50h cycle=9/17
		50h..51h a!`)
	const one = ruleFaultOf + rule(rimewatch.AmbientTemp)
	s, was := &u.s.State, *u.s.pool.track(one)
	s.pool.release(one)
	s.active &^= 1 << one
	was.peak = 1 << rimewatch.AmbientTemp
	*s.pool.claim(ruleFault, s.active) = was
	s.active |= 1 << ruleFault
	s.live |= 1 << ruleFault
	u.log = nil
	u.run(`
		51h..53h h!
		53h..54h a=24`)
	want := []string{
		"51h5m opened sensor_fault warning since 51h humidity",
		"53h5m resolved sensor_fault warning since 50h ambient_temp",
	}
	if got := summary(u.log); !slices.Equal(got, want) || u.log[0].Part != "humidity" || u.log[1].Part != "" {
		t.Errorf("%q", got)
	}
}
