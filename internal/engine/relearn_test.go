package engine_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/alert"
	"github.com/rimewatch/rimewatch/internal/engine"
	"github.com/rimewatch/rimewatch/internal/health"
	"github.com/rimewatch/rimewatch/internal/simulate"
)

// worked is when the unit has become another one, in days of its life, and when
// the maintenance window around that ends.
const (
	worked    = t0 + 9*rimewatch.Day
	workEnded = worked + rimewatch.Hour
)

// changes are what people do to a unit, as its sensors show it.
var changes = map[string]func(r *rimewatch.Reading){
	"a compressor that draws 20 % more": func(r *rimewatch.Reading) {
		if v, ok := r.Value(rimewatch.AmpDraw); ok && v > 1 {
			r.Set(rimewatch.AmpDraw, 1.2*v)
		}
	},
	"an expansion valve opened by 3 K": func(r *rimewatch.Reading) {
		if v, ok := r.Value(rimewatch.CompressorSuctionTemp); ok {
			r.Set(rimewatch.CompressorSuctionTemp, v-3.5)
		}
	},
	"an expansion valve closed by 3 K": func(r *rimewatch.Reading) {
		if v, ok := r.Value(rimewatch.CompressorSuctionTemp); ok {
			r.Set(rimewatch.CompressorSuctionTemp, v+3.5)
		}
	},
}

// liveOn plays a unit that becomes another one, for some days after that, and
// returns the transitions.
func liveOn(t *testing.T, equipment string, change func(r *rimewatch.Reading), days int, windows ...health.Span) (*engine.State, []alert.Transition) {
	t.Helper()
	u, err := simulate.New(simulate.Config{Equipment: equipment, Seed: 4, Start: t0, Step: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	cfg := engine.ConfigOf(&rimewatch.Device{EquipmentType: equipment})
	cfg.Health.Excluded = windows
	var s engine.State
	var log []alert.Transition
	for end := worked + rimewatch.Time(days)*rimewatch.Day; u.NextAt() < end; {
		r := u.Next()
		for due := s.Deadline(&cfg, nil); due != 0 && due <= r.At; due = s.Deadline(&cfg, nil) {
			log = append(log, tick(&s, &cfg, due)...)
		}
		if r.At >= worked {
			change(&r)
		}
		log = append(log, take(&s, &cfg, &r, r.At)...)
	}
	return &s, log
}

// TestWorkedOn: a unit that was changed in a maintenance window is learnt anew,
// and raises nothing; without a window the change is noticed.
func TestWorkedOn(t *testing.T) {
	for name, change := range changes {
		for _, equipment := range []string{"reach_in_cooler", "walkin_freezer"} {
			t.Run(name+", "+equipment, func(t *testing.T) {
				s, log := liveOn(t, equipment, change, 12, health.Span{From: worked - rimewatch.Hour, To: workEnded})
				for i := range log {
					t.Errorf("with a window: %s %s %s", log[i].At.Std().Format(time.DateTime), log[i].Kind, log[i].Type)
				}
				if since, why := s.Unit.LearningSince(); since != workEnded || why != rimewatch.RelearnMaintenance {
					t.Errorf("learning since %v, %q", since, why)
				}
				if r := s.Predict.Report(&s.Unit); r.LearningSince != workEnded || r.Relearning != rimewatch.RelearnMaintenance || r.State == "alarmed" {
					t.Errorf("the report says learning since %v, %q, %s", r.LearningSince, r.Relearning, r.State)
				}
				if _, log = liveOn(t, equipment, change, 5); !slices.ContainsFunc(log, func(x alert.Transition) bool { return x.Kind == rimewatch.TransitionOpened && x.At > worked }) {
					t.Error("without a window nothing is noticed")
				}
			})
		}
	}
}

// TestWorkedOnLater: a window that comes when the change has been noticed ends
// what rests on the old baseline, says why, and nothing comes back.
func TestWorkedOnLater(t *testing.T) {
	later := worked + 3*rimewatch.Day
	_, log := liveOn(t, "walkin_freezer", changes["a compressor that draws 20 % more"], 15, health.Span{From: later - rimewatch.Hour, To: later})
	open := map[rimewatch.AlertType]bool{}
	ended := 0
	for i := range log {
		x := &log[i]
		switch {
		case x.Kind == rimewatch.TransitionOpened && x.At > later:
			t.Errorf("%s opened %s after the window", x.Type, x.At.Sub(later))
		case x.Kind == rimewatch.TransitionOpened:
			open[x.Type] = true
		case x.Kind == rimewatch.TransitionResolved:
			delete(open, x.Type)
			if x.At == later {
				ended++
				if x.Resolution != rimewatch.ResolvedSuperseded || x.Relearning != rimewatch.RelearnMaintenance {
					t.Errorf("%s ended as %q, %q", x.Type, x.Resolution, x.Relearning)
				}
			}
		}
	}
	if ended == 0 || len(open) > 0 {
		t.Errorf("%d alerts ended with the window, %v are open", ended, open)
	}
}

// TestVerdictRelearns: a repair that a person reports makes the rules learn anew with the
// predictor; the prediction itself is the person's. A false alarm ends the prediction, and
// never a warning about what is measured.
func TestVerdictRelearns(t *testing.T) {
	for verdict, why := range map[rimewatch.Verdict]rimewatch.Relearning{
		rimewatch.Fixed: rimewatch.RelearnFixed, rimewatch.FalseAlarm: "", rimewatch.Useful: "", rimewatch.NormalNow: rimewatch.RelearnNormal,
	} {
		s, log := liveOn(t, "reach_in_cooler", func(r *rimewatch.Reading) {
			if v := r.Values[rimewatch.AmpDraw]; v > 1 {
				r.Set(rimewatch.AmpDraw, 1.2*v)
				r.Set(rimewatch.CompressorDischargeTemp, r.Values[rimewatch.CompressorDischargeTemp]+9)
			}
		}, 5)
		p, ok := s.Predict.Standing(&s.Unit)
		if !ok || !slices.ContainsFunc(log, func(x alert.Transition) bool { return strings.HasSuffix(x.Metric, "_deviation") }) {
			t.Fatalf("a prediction: %v, alerts %+v", ok, log)
		}
		if !slices.ContainsFunc(log, func(x alert.Transition) bool {
			return x.Kind == rimewatch.TransitionSuppressed && x.Type == rimewatch.HighDischargeTemperature
		}) {
			t.Errorf("the prediction inhibits no warning: %+v", log)
		}
		cfg := engine.ConfigOf(&rimewatch.Device{EquipmentType: "reach_in_cooler"})
		now := s.Unit.At() + rimewatch.Minute
		out, _ := s.Step(&cfg, nil, &engine.Input{Kind: engine.Feedback, Alert: p.Type, Verdict: verdict}, now, nil)
		_, got := s.Unit.LearningSince()
		out = slices.DeleteFunc(out, func(x alert.Transition) bool { return x.Kind == rimewatch.TransitionReleased })
		if got != why || (len(out) > 0) != (why != "") {
			t.Errorf("%s: learning again for %q, want %q; %d alerts ended", verdict, got, why, len(out))
		}
		for i := range out {
			if out[i].Prediction != nil || out[i].Kind != rimewatch.TransitionResolved || out[i].Relearning != why {
				t.Errorf("%s brings %+v", verdict, out[i])
			}
		}
		if _, open := s.Predict.Standing(&s.Unit); open != (verdict == rimewatch.Useful) {
			t.Errorf("%s: the prediction is open: %v", verdict, open)
		}
	}
}

// TestNormalNow: once a person has said that a zone which stays warmer is normal now, that the unit does not cool is over, and what is usual is
// learnt anew. It is no verdict on a prediction, and is counted as none.
func TestNormalNow(t *testing.T) {
	s, _ := liveOn(t, "walkin_cooler", func(r *rimewatch.Reading) {
		r.Set(rimewatch.AmpDraw, 0.1)
		r.Set(rimewatch.ProductZoneTemp, 6)
	}, 1)
	if !alert.Knows(&s.Alert, rimewatch.NotCooling, "") {
		t.Fatal("it is not told")
	}
	cfg := engine.ConfigOf(&rimewatch.Device{EquipmentType: "walkin_cooler"})
	now := s.Unit.At() + rimewatch.Minute
	for _, verdict := range []rimewatch.Verdict{rimewatch.Fixed, rimewatch.NormalNow} {
		out, _ := s.Step(&cfg, nil, &engine.Input{Kind: engine.Feedback, Alert: rimewatch.NotCooling, Verdict: verdict}, now, nil)
		i := slices.IndexFunc(out, func(x alert.Transition) bool { return x.Type == rimewatch.NotCooling })
		if verdict != rimewatch.NormalNow {
			if len(out) > 0 {
				t.Errorf("%s brings %+v", verdict, out)
			}
			continue
		}
		if i < 0 || out[i].Kind != rimewatch.TransitionResolved || out[i].Relearning != rimewatch.RelearnNormal {
			t.Errorf("%s brings %+v", verdict, out)
		}
	}
	if since, why := s.Unit.LearningSince(); since != now || why != rimewatch.RelearnNormal {
		t.Errorf("learning since %v because of %q", since, why)
	}
	if s.Verdicts != (engine.Verdicts{}) {
		t.Errorf("counted as %v", s.Verdicts)
	}
}
