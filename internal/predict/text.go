package predict

import (
	"cmp"
	"math"
	"slices"

	"github.com/rimewatch/rimewatch"
)

// Model names the method and its version in every prediction.
const Model = "rimewatch-drift-1"

// channelText is what a channel is called, and its unit.
var channelText = [numChannels]struct{ metric, unit string }{
	chDischarge: {"compressor_discharge_temp", "°C"},
	chSuction:   {"compressor_suction_temp", "°C"},
	chAmps:      {"amp_draw", "A"},
	chVibration: {"vibration_level", "mm/s"},
	chDuty:      {"compressor_duty", "%"},
	chZone:      {"product_zone_temp", "°C"},
	chBurst:     {"start_vibration", "mm/s"},
}

// transition describes the alert as it stands.
func (s *State) transition(c *Config, kind Kind, at rimewatch.Time, f *findings) Transition {
	a := &s.alarm
	spec := &faults[a.fault]
	t := Transition{Kind: kind, Type: spec.alert, Severity: rimewatch.Warning, At: at, ConditionStartedAt: a.since, Prediction: s.prediction(at, f)}
	if a.critical {
		t.Severity = rimewatch.Critical
	}
	most := 0.0
	for ch := range numChannels {
		if share := math.Abs(f[ch]) / floors[ch]; share > most {
			most = share
			t.Metric, t.Unit, t.Value, t.Threshold = channelText[ch].metric, residualUnit(ch), round(f[ch], 2), math.Copysign(floors[ch], f[ch])
		}
	}
	return t
}

func residualUnit(ch int) string {
	switch ch {
	case chDischarge, chSuction, chZone:
		return "K"
	case chDuty:
		return "points"
	default:
		return "%"
	}
}

// prediction is what the alert rests on.
func (s *State) prediction(at rimewatch.Time, f *findings) *rimewatch.Prediction {
	a := &s.alarm
	spec := &faults[a.fault]
	p := &rimewatch.Prediction{
		Fault: spec.name, Risk: round(float64(a.risk), 2), HorizonH: spec.within,
		RunnerUp: faults[a.second].name, Evidence: s.evidence(at, f), ByEvent: a.byEvent && !a.supported, Model: Model,
	}
	if a.hasLead {
		h := round(a.lead.h, 1)
		p.LeadTimeH = &h
		low := round(a.lead.lo, 1)
		p.LeadLowH = &low
		if a.lead.hi < openEnd*a.lead.h {
			high := round(a.lead.hi, 1)
			p.LeadHighH = &high
		}
		p.HorizonH = round(max(1, a.lead.hi), 0)
		p.FailureExpectedAt = at + rimewatch.Time(a.lead.h*float64(rimewatch.Hour))
	}
	return p
}

// evidence lists what departs, most first, then what was counted, what cannot be
// told apart, what fits next best and where the trend leads.
func (s *State) evidence(at rimewatch.Time, f *findings) []rimewatch.Evidence {
	list := s.departed(at, f)
	add := func(e rimewatch.Evidence) {
		e.Since, e.Cycles = s.alarm.since, s.cyclesSince(at)
		list = append(list, e)
	}
	if f[ftFailed] > 0 {
		amps := round(float64(s.op.spikeSeen), 1)
		add(rimewatch.Evidence{Metric: rimewatch.EvidenceFailedStarts, Observed: round(f[ftFailed], 1), Unit: "1/d", Current: &amps})
	}
	if f[ftTrips] >= 2 {
		change := round(f[ftTripAmp], 0)
		add(rimewatch.Evidence{Metric: rimewatch.EvidenceShortRuns, Observed: round(f[ftTrips], 1), Current: &change})
	}
	if f[ftMelt] > 0.3 {
		usual := s.melt.mean()
		add(rimewatch.Evidence{Metric: rimewatch.EvidenceDefrostRise, Observed: round(usual*(1-f[ftMelt]), 1), Expected: round(usual, 1), Unit: "K"})
	}
	spec := &faults[s.alarm.fault]
	if spec.family != 0 {
		add(rimewatch.Evidence{Metric: rimewatch.EvidenceAlternatives})
	}
	if s.alarm.second != fiNone && (spec.family == 0 || faults[s.alarm.second].family != spec.family) {
		add(rimewatch.Evidence{Metric: rimewatch.EvidenceRunnerUp})
	}
	if s.alarm.hasLead {
		add(rimewatch.Evidence{Metric: rimewatch.EvidenceTrend, Observed: round(s.alarm.lead.h/24, 1), Unit: "d"})
	}
	return list
}

// departed are the channels that are away from their baseline, most first.
func (s *State) departed(at rimewatch.Time, f *findings) []rimewatch.Evidence {
	var list []rimewatch.Evidence
	if s.model.n() < 24 {
		return list
	}
	share := func(ch int) float64 { return math.Abs(f[ch]) / floors[ch] }
	var order []int
	for ch := range numChannels {
		if share(ch) >= 0.3 {
			order = append(order, ch)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(share(b), share(a)) })
	for _, ch := range order {
		observed, expected := s.absolute(ch, f[ch], float64(s.ambient))
		ambient := round(refAmbient+float64(s.ambient), 0)
		list = append(list, rimewatch.Evidence{
			Metric: channelText[ch].metric, Observed: round(observed, 2), Expected: round(expected, 2), Unit: channelText[ch].unit,
			Since: s.alarm.since, Cycles: s.cyclesSince(at), Ambient: &ambient,
		})
	}
	return list
}

// cyclesSince is about how many cycles the compressor has made since the
// departure began.
func (s *State) cyclesSince(at rimewatch.Time) int {
	cycle := max(1, s.op.runMin+s.op.offMin)
	return int(float32(max(0, at-s.alarm.since)/rimewatch.Minute) / cycle)
}

// absolute turns a departure into observed and expected values at an ambient
// temperature, given in K above refAmbient, the usual zone and nominal supply.
func (s *State) absolute(ch int, departure, ambient float64) (observed, expected float64) {
	e := s.model.expect(ch, [numCov]float64{covAmbient: ambient})
	switch ch {
	case chAmps, chVibration, chBurst:
		return math.Exp((e + departure) / 100), math.Exp(e / 100)
	}
	return e + departure, e
}

func round(v float64, digits int) float64 {
	p := math.Pow(10, float64(digits))
	return math.Round(v*p) / p
}
