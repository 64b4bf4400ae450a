package predict

import (
	"cmp"
	"math"
	"slices"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/unit"
)

// Model names the method and its version in every prediction.
const Model = "rimewatch-drift-1"

// channelMetric is what a channel is called to the outside.
var channelMetric = [unit.NumChannels]string{
	unit.Discharge: rimewatch.CompressorDischargeTemp.String(),
	unit.Suction:   rimewatch.CompressorSuctionTemp.String(),
	unit.Amps:      rimewatch.AmpDraw.String(),
	unit.Vibration: rimewatch.VibrationLevel.String(),
	unit.Duty:      rimewatch.RunTimeShare,
	unit.Zone:      rimewatch.ProductZoneTemp.String(),
	unit.Burst:     rimewatch.StartVibration,
}

// transition describes the alert as it stands.
func (s *State) transition(u *unit.State, kind rimewatch.TransitionKind, at rimewatch.Time, f *findings) Transition {
	a := &s.alarm
	a.departs = inEvidence(u, f)
	spec := &faults[a.fault]
	t := Transition{Kind: kind, Type: spec.alert, Severity: rimewatch.Warning, At: at, ConditionStartedAt: a.since.Time(), Prediction: s.prediction(u, at, f)}
	if a.critical {
		t.Severity = rimewatch.Critical
	}
	most := 0.0
	for ch := range unit.NumChannels {
		if share := math.Abs(f.of[ch]) / ch.Floor(); share > most {
			most = share
			t.Metric, t.Unit, t.Value, t.Threshold = channelMetric[ch], residualUnit(ch), round(f.of[ch], 2), math.Copysign(ch.Floor(), f.of[ch])
		}
	}
	return t
}

func residualUnit(ch unit.Channel) string {
	switch ch {
	case unit.Discharge, unit.Suction, unit.Zone:
		return "K"
	case unit.Duty:
		return "points"
	default:
		return "%"
	}
}

// prediction is what the alert rests on.
func (s *State) prediction(u *unit.State, at rimewatch.Time, f *findings) *rimewatch.Prediction {
	a := &s.alarm
	spec := &faults[a.fault]
	p := &rimewatch.Prediction{
		Fault: spec.name, Risk: round(float64(a.risk), 2), HorizonH: spec.within,
		RunnerUp: faults[a.second].name, Evidence: s.evidence(u, at, f), ByEvent: a.byEvent && !a.supported, Model: Model,
	}
	if a.hasLead {
		h := round(float64(a.lead.h), 1)
		p.LeadTimeH = &h
		low := round(float64(a.lead.lo), 1)
		p.LeadLowH = &low
		if a.lead.hi < openEnd*a.lead.h {
			high := round(float64(a.lead.hi), 1)
			p.LeadHighH = &high
		}
		p.HorizonH = round(max(1, float64(a.lead.hi)), 0)
		p.FailureExpectedAt = at + rimewatch.Time(float64(a.lead.h)*float64(rimewatch.Hour))
	}
	return p
}

// evidence lists what departs, most first, then what was counted, what cannot be
// told apart, what fits next best and where the trend leads.
func (s *State) evidence(u *unit.State, at rimewatch.Time, f *findings) []rimewatch.Evidence {
	list := s.departed(u, at, f)
	add := func(e rimewatch.Evidence) {
		e.Since, e.Cycles = s.alarm.since.Time(), s.cyclesSince(u, at)
		list = append(list, e)
	}
	if f.of[ftFailed] > 0 {
		amps := round(u.FailedStartAmps(), 1)
		add(rimewatch.Evidence{Metric: rimewatch.FailedStartsPerDay, Observed: round(f.of[ftFailed], 1), Unit: "1/d", Current: &amps})
	}
	if f.of[ftTrips] >= 2 {
		change := round(f.of[ftTripAmp], 0)
		add(rimewatch.Evidence{Metric: rimewatch.RunsWithoutResult, Observed: round(f.of[ftTrips], 1), Current: &change})
	}
	if f.of[ftMelt] > 0.3 {
		usual, now, _ := u.DefrostRise()
		add(rimewatch.Evidence{Metric: rimewatch.DefrostRise, Observed: round(now, 1), Expected: round(usual, 1), Unit: "K"})
	}
	if s.alarm.asks {
		add(rimewatch.Evidence{Metric: rimewatch.EvidenceLasts, Observed: float64(asksAfter / rimewatch.Day), Unit: "d"})
	}
	spec := &faults[s.alarm.fault]
	if spec.family != 0 {
		add(rimewatch.Evidence{Metric: rimewatch.EvidenceAlternatives})
	}
	if s.alarm.second != fiNone && (spec.family == 0 || faults[s.alarm.second].family != spec.family) {
		add(rimewatch.Evidence{Metric: rimewatch.EvidenceRunnerUp})
	}
	if s.alarm.hasLead {
		add(rimewatch.Evidence{Metric: rimewatch.EvidenceTrend, Observed: round(float64(s.alarm.lead.h)/24, 1), Unit: "d"})
	}
	return list
}

// inEvidence are the channels that are far enough from their baseline to be reported.
func inEvidence(u *unit.State, f *findings) (set unit.Channels) {
	for ch := range unit.NumChannels {
		if u.Ready() && math.Abs(f.of[ch])/ch.Floor() >= 0.3 {
			set = set.With(ch)
		}
	}
	return set
}

// departed are the channels that are away from their baseline, most first.
func (s *State) departed(u *unit.State, at rimewatch.Time, f *findings) []rimewatch.Evidence {
	share := func(ch unit.Channel) float64 { return math.Abs(f.of[ch]) / ch.Floor() }
	var order []unit.Channel
	set := inEvidence(u, f)
	for ch := range unit.NumChannels {
		if set.Has(ch) {
			order = append(order, ch)
		}
	}
	slices.SortStableFunc(order, func(a, b unit.Channel) int { return cmp.Compare(share(b), share(a)) })
	list := make([]rimewatch.Evidence, 0, len(order))
	for _, ch := range order {
		observed, expected := u.Absolute(ch, f.of[ch], u.Ambient())
		ambient := round(unit.RefAmbient+u.Ambient(), 0)
		list = append(list, rimewatch.Evidence{
			Metric: channelMetric[ch], Observed: round(observed, 2), Expected: round(expected, 2), Unit: rimewatch.MeasureUnit(channelMetric[ch]),
			Since: s.alarm.since.Time(), Cycles: s.cyclesSince(u, at), Ambient: &ambient,
		})
	}
	return list
}

// cyclesSince is about how many cycles the compressor has made since the
// departure began.
func (s *State) cyclesSince(u *unit.State, at rimewatch.Time) int {
	return int(float64(max(0, at-s.alarm.since.Time())/rimewatch.Minute) / max(1, u.CycleMinutes()))
}

func round(v float64, digits int) float64 {
	p := math.Pow(10, float64(digits))
	return math.Round(v*p) / p
}
