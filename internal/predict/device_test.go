package predict

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/phrase"
	"github.com/rimewatch/rimewatch/internal/simulate"
	"github.com/rimewatch/rimewatch/internal/state"
	"github.com/rimewatch/rimewatch/internal/unit"
)

var testStart = rimewatch.TimeOf(time.Date(2026, 3, 2, 7, 0, 0, 0, time.UTC))

const testOnset = 10 * rimewatch.Day

func testConfig(equipment string) *unit.Config {
	e, _ := rimewatch.EquipmentBySlug(equipment)
	return &unit.Config{Equipment: e}
}

// A device is a unit and the predictor that judges it, as the engine drives them.
type device struct {
	State
	unit unit.State
}

func (d *device) Observe(c *unit.Config, r *rimewatch.Reading, now rimewatch.Time, out []Transition) []Transition {
	var o unit.Observation
	d.unit.Observe(c, r, now, d.Hold(), &o)
	return d.State.Observe(&d.unit, &o, now, out)
}

func (d *device) Relearn(at rimewatch.Time, out []Transition) []Transition {
	d.unit.Relearn(rimewatch.RelearnMaintenance, at)
	return d.State.Relearn(&d.unit, at, out)
}

func (d *device) Standing() (Standing, bool) { return d.State.Standing(&d.unit) }

func (d *device) Report() Report { return d.State.Report(&d.unit) }

func (d *device) AppendBinary(b []byte) []byte { return d.State.AppendBinary(d.unit.AppendBinary(b)) }

func (d *device) UnmarshalBinary(b []byte) error {
	var fresh device
	rest, err := fresh.unit.DecodeBinary(b)
	if err == nil {
		rest, err = fresh.State.DecodeBinary(rest)
	}
	if err != nil {
		return err
	}
	if len(rest) > 0 {
		return state.ErrDamaged
	}
	*d = fresh
	return nil
}

// play simulates a unit, with a fault from testOnset on, and returns every
// transition. The spec is one of simulate.ParseFault, "" = healthy.
func play(t testing.TB, equipment string, seed uint64, spec string, days int, s *device, change func(r *rimewatch.Reading) bool) []Transition {
	t.Helper()
	cfg := simulate.Config{Equipment: equipment, Seed: seed, Start: testStart, Step: 10 * time.Second}
	if spec != "" {
		f, err := simulate.ParseFault(spec)
		if err != nil {
			t.Fatal(err)
		}
		f.Onset = testStart + testOnset
		cfg.Faults = []simulate.Fault{f}
	}
	u, err := simulate.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	c := testConfig(equipment)
	var out []Transition
	for end := testStart + rimewatch.Time(days)*rimewatch.Day; u.NextAt() < end; {
		r := u.Next()
		if change == nil || change(&r) {
			out = s.Observe(c, &r, r.At, out)
		}
	}
	return out
}

func firstOpened(out []Transition) *Transition {
	for i := range out {
		if out[i].Kind == rimewatch.TransitionOpened {
			return &out[i]
		}
	}
	return nil
}

func TestFaultsAreFoundAndNamed(t *testing.T) {
	for _, tc := range []struct {
		equipment, spec string
		days            int
		within          rimewatch.Time // after onset
		alert           rimewatch.AlertType
		faults          string // acceptable names, inseparable ones together
		lead            bool   // a lead time is given at some time
	}{
		{"walkin_freezer", "leak:0.95:21d", 30, 12 * rimewatch.Day, rimewatch.RefrigerantLeakSuspected, "refrigerant_undercharge liquid_line_restriction", true},
		{"reach_in_cooler", "fouling:0.9:24d", 32, 14 * rimewatch.Day, rimewatch.CondenserFoulingSuspected, "condenser_fouling noncondensables_overcharge", true},
		{"walkin_cooler", "valve:1:21d", 28, 8 * rimewatch.Day, rimewatch.CompressorFailurePredicted, "compressor_valve_leakage", true},
		{"walkin_freezer", "defrost", 16, 4 * rimewatch.Day, rimewatch.EvaporatorIcingSuspected, "defrost_failure evaporator_icing", false},
		{"display_case_open", "bearing:1:21d", 24, 4 * rimewatch.Day, rimewatch.CompressorFailurePredicted, "bearing_wear", true},
		{"vaccine_refrigerator", "floodback:0.7", 12, 4 * rimewatch.Hour, rimewatch.CompressorFailurePredicted, "liquid_floodback", false},
		{"walkin_freezer", "condenser_fan", 11, 1 * rimewatch.Hour, rimewatch.CondenserFoulingSuspected, "condenser_fan_failure", false},
		{"reach_in_cooler", "evaporator_fan", 11, 1 * rimewatch.Hour, rimewatch.EvaporatorIcingSuspected, "evaporator_fan_failure", false},
		{"walkin_cooler", "capacitor:0.7", 11, 3 * rimewatch.Hour, rimewatch.CompressorFailurePredicted, "start_component_failure", false},
	} {
		t.Run(tc.equipment+" "+tc.spec, func(t *testing.T) {
			t.Parallel()
			var s device
			out := play(t, tc.equipment, 5, tc.spec, tc.days, &s, nil)
			got := firstOpened(out)
			if got == nil {
				t.Fatal("not found")
			}
			after := got.At - testStart - testOnset
			if after < 0 || after > tc.within {
				t.Errorf("opened %v h after onset, want within %v h", float64(after)/float64(rimewatch.Hour), float64(tc.within)/float64(rimewatch.Hour))
			}
			if got.Type != tc.alert || !strings.Contains(tc.faults, got.Prediction.Fault) {
				t.Errorf("%s %s", got.Type, got.Prediction.Fault)
			}
			if len(got.Prediction.Evidence) == 0 || got.Prediction.Risk <= 0 || got.Prediction.Risk > 1 || got.Prediction.HorizonH <= 0 {
				t.Errorf("prediction %+v", got.Prediction)
			}
			lead := false
			for _, tr := range out {
				lead = lead || tr.Prediction.LeadTimeH != nil
			}
			if tc.lead && !lead {
				t.Error("no transition gives a lead time")
			}
		})
	}
}

func TestHealthyUnitsAreSilent(t *testing.T) {
	for _, equipment := range []string{"walkin_freezer", "walkin_cooler", "reach_in_cooler", "display_case_open", "vaccine_refrigerator"} {
		t.Run(equipment, func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(3) {
				var s device
				for _, tr := range play(t, equipment, 70+seed, "", 60, &s, nil) {
					t.Errorf("seed %d: %v %s %s: %+v", seed, tr.Kind, tr.Type, tr.Prediction.Fault, tr.Prediction.Evidence)
				}
				if r := s.Report(); r.State != "watching" || len(r.Baselines) != int(unit.NumChannels) || r.Risk > 0.25 {
					t.Errorf("seed %d: %+v", seed, r)
				}
			}
		})
	}
}

// TestVaryingSpeed: a compressor whose speed varies is judged by its windows where its pipes
// are measured; by its current alone nothing is concluded, and the report says so.
func TestVaryingSpeed(t *testing.T) {
	watch := func(fault bool, keep rimewatch.Fields) (opened []string, state string) {
		p, err := simulate.RandomParams("walkin_cooler", 5)
		if err != nil {
			t.Fatal(err)
		}
		p.Build.Drive = simulate.VariableSpeed
		cfg := simulate.Config{Equipment: "walkin_cooler", Seed: 5, Start: testStart, Step: 10 * time.Second, Params: &p}
		if fault {
			f, err := simulate.ParseFault("leak:0.95:21d")
			if err != nil {
				t.Fatal(err)
			}
			f.Onset = testStart + 2*testOnset
			cfg.Faults = []simulate.Fault{f}
		}
		u, err := simulate.New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		var s device
		c := testConfig("walkin_cooler")
		for u.NextAt() < testStart+40*rimewatch.Day {
			r := u.Next()
			r.Present &= keep
			for _, tr := range s.Observe(c, &r, r.At, nil) {
				if tr.Kind == rimewatch.TransitionOpened {
					opened = append(opened, string(tr.Type))
				}
			}
		}
		if !s.unit.Modulated() {
			t.Fatal("a speed that varies is not recognised")
		}
		return opened, s.Report().State
	}
	if opened, _ := watch(true, rimewatch.CoreFields); len(opened) != 1 || opened[0] != string(rimewatch.RefrigerantLeakSuspected) {
		t.Errorf("a leak: %v", opened)
	}
	if opened, state := watch(false, rimewatch.CoreFields); len(opened) != 0 || state != "watching" {
		t.Errorf("nothing ails it: %s, %v", state, opened)
	}
	if opened, state := watch(true, 1<<rimewatch.ProductZoneTemp|1<<rimewatch.AmpDraw); len(opened) != 0 || state != "not_judged" {
		t.Errorf("current alone: %s, %v", state, opened)
	}
}

// A sensor that drifts is no failing machine.
func TestSensorDriftIsNoPrediction(t *testing.T) {
	for _, field := range []string{"compressor_discharge_temp", "product_zone_temp", "ambient_temp"} {
		var s device
		if out := play(t, "walkin_cooler", 3, "sensor_drift:10d:"+field, 22, &s, nil); len(out) > 0 {
			t.Errorf("%s: %s %s", field, out[0].Kind, out[0].Prediction.Fault)
		}
	}
}

func TestStillLearning(t *testing.T) {
	var s device
	play(t, "walkin_freezer", 1, "", 2, &s, nil)
	r := s.Report()
	if r.State != "learning" || r.LearnedHours < 24 || r.LearnedHours >= r.NeededHours || r.LeadTimeH != nil || len(r.Candidates) != 0 {
		t.Errorf("after two days: %+v", r)
	}
	if _, ok := s.Standing(); ok {
		t.Error("an alert while learning")
	}
}

func TestStateSurvivesBytes(t *testing.T) {
	var s device
	n := 0
	c := testConfig("walkin_freezer")
	var whole, restored device
	var a, b []Transition
	play(t, "walkin_freezer", 5, "leak:0.95:21d", 24, &s, func(r *rimewatch.Reading) bool {
		n++
		a = whole.Observe(c, r, r.At, a)
		if n%7001 == 0 {
			bytes := restored.AppendBinary(nil)
			if len(bytes) > 1632 {
				t.Fatalf("state of %d bytes", len(bytes))
			}
			restored = device{}
			if err := restored.UnmarshalBinary(bytes); err != nil {
				t.Fatal(err)
			}
			if string(restored.AppendBinary(nil)) != string(bytes) {
				t.Fatal("the state changed on the way")
			}
		}
		b = restored.Observe(c, r, r.At, b)
		return true
	})
	if len(a) == 0 {
		t.Fatal("nothing happened")
	}
	if diff := cmp.Diff(a, b); diff != "" {
		t.Errorf("a restored state behaves otherwise:\n%s", diff)
	}
	if whole != restored {
		t.Error("states differ at the end")
	}
}

func TestStateRefusesRubbish(t *testing.T) {
	var s device
	play(t, "walkin_cooler", 1, "", 1, &s, nil)
	good := s.AppendBinary(nil)
	for name, b := range map[string][]byte{
		"empty": nil, "version": append([]byte{99}, good[1:]...), "short": good[:len(good)-1], "long": append(append([]byte{}, good...), 0),
	} {
		kept := s
		if err := s.UnmarshalBinary(b); err == nil {
			t.Errorf("%s is taken", name)
		}
		if s != kept {
			t.Errorf("%s changed the state", name)
		}
	}
}

func TestOldReadingsTeachAndAnnounceNothing(t *testing.T) {
	c := testConfig("walkin_freezer")
	var fresh, imported device
	want := play(t, "walkin_freezer", 5, "leak:0.95:21d", 26, &fresh, nil)
	now := testStart + 26*rimewatch.Day
	var out []Transition
	var last rimewatch.Reading
	var warm device
	play(t, "walkin_freezer", 5, "leak:0.95:21d", 26, &warm, func(r *rimewatch.Reading) bool {
		out = imported.Observe(c, r, now, out)
		last = *r
		return true
	})
	if len(out) != 1 || out[0].Kind != rimewatch.TransitionOpened || out[0].At < now-2*rimewatch.Hour {
		t.Fatalf("an imported history brings %d transitions: %+v", len(out), out)
	}
	if firstOpened(want).Type != out[0].Type {
		t.Errorf("%s instead of %s", out[0].Type, firstOpened(want).Type)
	}
	before := imported
	if more := imported.Observe(c, &last, now, nil); len(more) != 0 || imported != before {
		t.Error("a reading that is not newer changes something")
	}
}

func TestRelearn(t *testing.T) {
	var s device
	play(t, "display_case_open", 5, "bearing:1:21d", 20, &s, nil)
	if _, ok := s.Standing(); !ok {
		t.Fatal("no alert to end")
	}
	out := s.Relearn(testStart+20*rimewatch.Day, nil)
	if len(out) != 1 || out[0].Kind != rimewatch.TransitionResolved || out[0].Type != rimewatch.CompressorFailurePredicted {
		t.Errorf("%+v", out)
	}
	if _, ok := s.Standing(); ok || s.Report().State != "learning" {
		t.Error("it goes on as before")
	}
}

// Missing fields must make it blind, never wrong.
func TestMissingFields(t *testing.T) {
	for name, fields := range map[string][]rimewatch.Field{
		"zone only":    {rimewatch.ProductZoneTemp},
		"no current":   {rimewatch.ProductZoneTemp, rimewatch.CompressorDischargeTemp, rimewatch.CompressorSuctionTemp, rimewatch.AmbientTemp, rimewatch.VibrationLevel},
		"zone, amps":   {rimewatch.ProductZoneTemp, rimewatch.AmpDraw},
		"no vibration": {rimewatch.ProductZoneTemp, rimewatch.CompressorDischargeTemp, rimewatch.CompressorSuctionTemp, rimewatch.AmbientTemp, rimewatch.AmpDraw, rimewatch.Voltage},
	} {
		var s device
		out := play(t, "walkin_cooler", 8, "", 40, &s, func(r *rimewatch.Reading) bool {
			kept := rimewatch.Reading{At: r.At}
			for _, f := range fields {
				if v, ok := r.Value(f); ok {
					kept.Set(f, v)
				}
			}
			*r = kept
			return true
		})
		for _, tr := range out {
			t.Errorf("%s: %s %s", name, tr.Type, tr.Prediction.Fault)
		}
	}
}

// What homes and shops really send: coarse sensors, few fields, one meter for
// compressor and defrost heater, irregular sampling, gaps. A healthy unit stays
// silent whatever is made of it.
func TestCrudeInstallationsAreSilent(t *testing.T) {
	heater := func(r *rimewatch.Reading) {
		if hour := (r.At - testStart) % (11 * rimewatch.Hour); hour < 14*rimewatch.Minute && r.Values[rimewatch.AmpDraw] < 1 {
			r.Set(rimewatch.AmpDraw, 14)
		}
	}
	coarse := func(r *rimewatch.Reading) {
		r.Set(rimewatch.ProductZoneTemp, math.Round(2*r.Values[rimewatch.ProductZoneTemp])/2)
		r.Set(rimewatch.AmpDraw, math.Round(5*r.Values[rimewatch.AmpDraw])/5)
	}
	only := func(r *rimewatch.Reading, fields ...rimewatch.Field) {
		kept := rimewatch.Reading{At: r.At}
		for _, f := range fields {
			kept.Set(f, r.Values[f])
		}
		*r = kept
	}
	n := 0
	for name, change := range map[string]func(r *rimewatch.Reading) bool{
		"heater on the meter": func(r *rimewatch.Reading) bool { heater(r); return true },
		"heater, every 5 min": func(r *rimewatch.Reading) bool { n++; heater(r); return n%5 == 0 },
		"coarse":              func(r *rimewatch.Reading) bool { coarse(r); return true },
		"coarse zone and amps": func(r *rimewatch.Reading) bool {
			coarse(r)
			only(r, rimewatch.ProductZoneTemp, rimewatch.AmpDraw)
			return true
		},
		"zone, amps, heater": func(r *rimewatch.Reading) bool {
			heater(r)
			only(r, rimewatch.ProductZoneTemp, rimewatch.AmpDraw, rimewatch.AmbientTemp)
			return true
		},
		"zone and suction": func(r *rimewatch.Reading) bool {
			only(r, rimewatch.ProductZoneTemp, rimewatch.CompressorSuctionTemp)
			return true
		},
		"every 15 min":   func(r *rimewatch.Reading) bool { n++; return n%15 == 0 },
		"irregular":      func(r *rimewatch.Reading) bool { n++; return n*n%7 < 3 },
		"nights missing": func(r *rimewatch.Reading) bool { return r.At/rimewatch.Hour%24 > 6 },
		"zone falls back to 85 C": func(r *rimewatch.Reading) bool {
			n++
			if n%997 == 0 {
				r.Set(rimewatch.ProductZoneTemp, 85)
			}
			return true
		},
	} {
		for _, equipment := range []string{"reach_in_cooler", "walkin_freezer"} {
			var s device
			for _, tr := range play(t, equipment, 21, "", 45, &s, change) {
				if tr.Kind == rimewatch.TransitionOpened {
					t.Errorf("%s, %s: %s %s at day %.1f", name, equipment, tr.Type, tr.Prediction.Fault, float64(tr.At-testStart)/float64(rimewatch.Day))
				}
			}
		}
	}
}

func TestSlowAndBrokenSampling(t *testing.T) {
	n := 0
	var s device
	out := play(t, "walkin_freezer", 5, "leak:0.95:21d", 26, &s, func(r *rimewatch.Reading) bool {
		n++
		return n%5 == 0 && n%1440 > 60 // one reading in five minutes, an hour's outage a day
	})
	if got := firstOpened(out); got == nil || got.Type != rimewatch.RefrigerantLeakSuspected || got.At < testStart+testOnset {
		t.Errorf("%+v", got)
	}
}

func TestAmountsInText(t *testing.T) {
	var s device
	out := play(t, "walkin_freezer", 5, "leak:0.95:21d", 26, &s, nil)
	p := phrase.In(rimewatch.Locale{}).Prediction(firstOpened(out).Prediction)
	all := ""
	for _, e := range p.Evidence {
		if math.IsNaN(e.Observed) || math.IsInf(e.Observed, 0) || e.Text == "" {
			t.Errorf("%+v", e)
		}
		all += e.Text + "\n"
	}
	for _, want := range []string{"Discharge temperature", "°C higher than usual (", "cannot tell it from a restricted liquid line", "At this rate it stops, or can no longer hold its temperature, in about"} {
		if !strings.Contains(all, want) {
			t.Errorf("no %q in\n%s", want, all)
		}
	}
}

// TestEveryFaultHasWords: what is predicted has a headline, a name and advice.
func TestEveryFaultHasWords(t *testing.T) {
	unknown := phrase.In(rimewatch.Locale{}).Title(&rimewatch.Alert{Prediction: &rimewatch.Prediction{Fault: "unheard of"}})
	for i := 1; i < numFaults; i++ {
		p := &rimewatch.Prediction{Fault: faults[i].name}
		if phrase.In(rimewatch.Locale{}).Title(&rimewatch.Alert{Prediction: p}) == unknown || faults[i].alert != "" && phrase.In(rimewatch.Locale{}).RecommendedAction(p) == "" {
			t.Errorf("%s has no words", faults[i].name)
		}
	}
	for ch := range unit.NumChannels {
		if !phrase.Known(channelMetric[ch]) {
			t.Errorf("%s has no name", channelMetric[ch])
		}
	}
}

func BenchmarkObserve(b *testing.B) {
	u, err := simulate.New(simulate.Config{Equipment: "walkin_freezer", Seed: 1, Start: testStart})
	if err != nil {
		b.Fatal(err)
	}
	readings := u.History(testStart + 20*rimewatch.Day)
	c := testConfig("walkin_freezer")
	var s device
	i := 0
	for b.Loop() {
		if i == len(readings) {
			i, s = 0, device{}
		}
		s.Observe(c, &readings[i], readings[i].At, nil)
		i++
	}
}

// TestReplacedUnheard: a prediction in whose place another one stands by the time that its reading is
// recent is superseded, not over.
func TestReplacedUnheard(t *testing.T) {
	var u unit.State
	for _, tc := range []struct {
		name string
		now  uint8
		want []Transition
	}{
		{"another fault", fiUndercharge, []Transition{
			{Kind: rimewatch.TransitionResolved, Type: rimewatch.CondenserFoulingSuspected, Resolution: rimewatch.ResolvedSuperseded, Ending: rimewatch.EndedOtherFault},
			{Kind: rimewatch.TransitionOpened, Type: rimewatch.RefrigerantLeakSuspected}}},
		{"none", fiNone, []Transition{
			{Kind: rimewatch.TransitionResolved, Type: rimewatch.CondenserFoulingSuspected, Resolution: rimewatch.ResolvedAuto, Ending: rimewatch.EndedAsUsual}}},
	} {
		s := State{raised: fiFouling, alarm: alarm{fault: tc.now}}
		var got []Transition
		for _, x := range s.announce(&u, testStart, 0, nil) {
			got = append(got, Transition{Kind: x.Kind, Type: x.Type, Resolution: x.Resolution, Ending: x.Ending})
		}
		if d := cmp.Diff(tc.want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, d)
		}
	}
}

// TestAsksAfterTwoWeeks: what is open for two weeks, in which nothing is learnt of its unit, asks a person, once.
func TestAsksAfterTwoWeeks(t *testing.T) {
	var u unit.State
	var f findings
	s := State{raised: fiFouling, alarm: alarm{fault: fiFouling, opened: state.StampOf(testStart)}}
	asked := []int{}
	for day := range 20 {
		o := unit.Observation{At: testStart + rimewatch.Time(day)*rimewatch.Day}
		for _, x := range s.follow(&u, &o, false, &diagnosis{}, &f, nil) {
			for _, e := range x.Prediction.Evidence {
				if x.Kind == rimewatch.TransitionUpdated && e.Metric == rimewatch.EvidenceLasts {
					asked = append(asked, day)
				}
			}
		}
	}
	if d := cmp.Diff([]int{14}, asked); d != "" {
		t.Errorf("on days (-want +got):\n%s", d)
	}
}
