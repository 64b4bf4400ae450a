package simulate

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rimewatch/rimewatch"
)

func TestParseFault(t *testing.T) {
	for s, want := range map[string]Fault{
		"door":                     {Name: "door_open", Severity: 1},
		"power":                    {Name: "power_failure", Severity: 1},
		"fouling":                  {Name: "condenser_fouling", Severity: 0.7},
		"defrost_heater":           {Name: "defrost_failure", Severity: 1},
		"leak:0.6":                 {Name: "refrigerant_undercharge", Severity: 0.6},
		"condenser_fouling:21d":    {Name: "condenser_fouling", Severity: 0.7, Profile: Linear, Ramp: 21 * 24 * time.Hour},
		"leak:0.5:36h":             {Name: "refrigerant_undercharge", Severity: 0.5, Profile: Linear, Ramp: 36 * time.Hour},
		"drift:1:0.5d:humidity":    {Name: "sensor_drift", Severity: 1, Profile: Linear, Ramp: 12 * time.Hour, Field: rimewatch.Humidity},
		"sensor_stuck:amp_draw":    {Name: "sensor_stuck", Severity: 1, Field: rimewatch.AmpDraw},
		" disconnected : humidity": {Name: "sensor_disconnected", Severity: 1, Field: rimewatch.Humidity},
	} {
		got, err := ParseFault(s)
		if err != nil {
			t.Errorf("%q: %v", s, err)
		} else if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%q: %s", s, d)
		}
	}
	for _, s := range []string{"", "gremlins", "door:0", "door:1.1", "door:-1", "door:NaN", "door:soon", "door:-3h", "door:1e9d", "door:humidity", "leak::"} {
		if f, err := ParseFault(s); err == nil {
			t.Errorf("%q: accepted as %+v", s, f)
		}
	}
}

func TestFaultNamesAndAliases(t *testing.T) {
	seen := map[string]bool{}
	for _, name := range FaultNames() {
		for _, n := range append(FaultAliases(name), name) {
			if seen[n] {
				t.Errorf("%q names two faults", n)
			}
			seen[n] = true
			if f, err := ParseFault(n); err != nil || f.Name != name {
				t.Errorf("%q: %+v %v", n, f, err)
			}
		}
	}
	if FaultAliases("gremlins") != nil {
		t.Error("aliases of nothing")
	}
}

func TestProfiles(t *testing.T) {
	at := func(f Fault, hours float64) float64 {
		f.Severity, f.Onset, f.Ramp = 0.8, testStart, 10*time.Hour
		return f.at(testStart + rimewatch.Time(hours*float64(rimewatch.Hour)))
	}
	for _, c := range []struct {
		fault Fault
		hours float64
		want  float64
	}{
		{Fault{}, -0.001, 0}, {Fault{}, 0, 0.8}, {Fault{}, 99, 0.8},
		{Fault{Profile: Linear}, 0, 0}, {Fault{Profile: Linear}, 2.5, 0.2}, {Fault{Profile: Linear}, 50, 0.8},
		{Fault{Profile: Exponential}, 0, 0}, {Fault{Profile: Exponential}, 10, 0.8}, {Fault{Profile: Exponential}, 8.33, 0.4},
		{Fault{Profile: Linear, End: testStart + 5*rimewatch.Hour}, 4.99, 0.3992}, {Fault{Profile: Linear, End: testStart + 5*rimewatch.Hour}, 5, 0},
	} {
		if got := at(c.fault, c.hours); math.Abs(got-c.want) > 0.005 {
			t.Errorf("%+v after %v h: %v, want %v", c.fault, c.hours, got, c.want)
		}
	}
}

func TestSensorFaults(t *testing.T) {
	from, to := testStart+rimewatch.Hour, testStart+7*rimewatch.Hour
	play := func(f Fault) (healthy, faulty []rimewatch.Reading) {
		f.Onset, f.End = from, to
		healthy = typicalUnit(t, "walkin_cooler", Config{}).History(to)
		return healthy, typicalUnit(t, "walkin_cooler", Config{Faults: []Fault{f}}).History(to)
	}
	for field := range rimewatch.NumCore {
		healthy, stuck := play(Fault{Name: "sensor_stuck", Severity: 1, Field: field})
		first := slices.IndexFunc(stuck, func(r rimewatch.Reading) bool { return r.At >= from })
		for i := first; i < len(stuck)-1; i++ {
			if stuck[i].Values[field] != stuck[first].Values[field] {
				t.Fatalf("%s moves while stuck", field)
			}
			other := (field + 1) % rimewatch.NumCore
			if stuck[i].Values[other] != healthy[i].Values[other] {
				t.Fatalf("%s changes with %s", other, field)
			}
		}
		last := len(stuck) - 1
		if d := cmp.Diff(healthy[last], stuck[last]); d != "" {
			t.Errorf("%s after the repair: %s", field, d)
		}

		_, gone := play(Fault{Name: "sensor_disconnected", Severity: 1, Field: field})
		if r := gone[first]; r.Present.Has(field) || !r.Faults.Has(field) || r.Present.Len() != int(rimewatch.NumCore)-1 {
			t.Errorf("%s disconnected: present %v, faults %v", field, r.Present.Names(), r.Faults.Names())
		}
	}
	healthy, drifted := play(Fault{Name: "sensor_drift", Severity: 0.5, Profile: Linear, Ramp: 2 * time.Hour})
	if d := drifted[300].Values[0] - healthy[300].Values[0]; math.Abs(d-2) > 0.11 {
		t.Errorf("zone drifted by %.2f K, want 2", d)
	}
	if d := drifted[120].Values[0] - healthy[120].Values[0]; math.Abs(d-1) > 0.11 {
		t.Errorf("zone drifted by %.2f K half way, want 1", d)
	}
}
