package predict

import (
	"fmt"
	"math"
	"strings"

	"github.com/rimewatch/rimewatch"
)

// Model names the method and its version in every prediction.
const Model = "rimewatch-drift-1"

// channelText is how a channel is called to people and machines.
var channelText = [numChannels]struct{ metric, name, unit string }{
	chDischarge: {"compressor_discharge_temp", "discharge temperature", "°C"},
	chSuction:   {"compressor_suction_temp", "suction temperature", "°C"},
	chAmps:      {"amp_draw", "running current", "A"},
	chVibration: {"vibration_level", "vibration", "mm/s"},
	chDuty:      {"compressor_duty", "share of time running", "%"},
	chZone:      {"product_zone_temp", "zone temperature", "°C"},
	chBurst:     {"start_vibration", "vibration after starts", "mm/s"},
}

// transition describes the alert as it stands.
func (s *State) transition(c *Config, kind Kind, at rimewatch.Time, f *findings) Transition {
	a := &s.alarm
	spec := &faults[a.fault]
	t := Transition{Kind: kind, Type: spec.alert, Severity: rimewatch.Warning, At: at, ConditionStartedAt: a.since, Prediction: s.prediction(at, f)}
	if a.critical {
		t.Severity = rimewatch.Critical
	}
	if a.second != fiNone {
		t.RunnerUp = faults[a.second].name
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
		Evidence: s.evidence(at, f), RecommendedAction: spec.action, Model: Model,
	}
	if a.hasLead {
		h := round(a.lead.h, 1)
		p.LeadTimeH = &h
		p.HorizonH = round(max(1, a.lead.hi), 0)
		p.FailureExpectedAt = at + rimewatch.Time(a.lead.h*float64(rimewatch.Hour))
	}
	return p
}

// evidence lists what departs, most first by channel, then what was counted,
// what fits next best and what would change the verdict.
func (s *State) evidence(at rimewatch.Time, f *findings) []rimewatch.Evidence {
	var list []rimewatch.Evidence
	cycles := s.op.runs
	for ch := range numChannels {
		if math.Abs(f[ch]) < 0.3*floors[ch] || s.model.n() < 24 {
			continue
		}
		observed, expected := s.absolute(ch, f[ch], float64(s.ambient))
		list = append(list, rimewatch.Evidence{
			Metric: channelText[ch].metric, Observed: round(observed, 2), Expected: round(expected, 2), Unit: channelText[ch].unit,
			Text: fmt.Sprintf("%s %s %s: %s%s %s what this unit shows at the same ambient, zone and supply (%s, since %s, learnt over %d hours and %d cycles)",
				capital(channelText[ch].name), number(observed), channelText[ch].unit, number(math.Abs(f[ch])), " "+residualUnit(ch), side(f[ch]),
				"expected "+number(expected), s.alarm.since.Std().Format("2 Jan 15:04"), s.hours, cycles),
		})
	}
	add := func(metric string, v, expected float64, unit, text string) {
		list = append(list, rimewatch.Evidence{Metric: metric, Observed: round(v, 1), Expected: expected, Unit: unit, Text: text})
	}
	if f[ftFailed] > 0 {
		add("failed_starts", f[ftFailed], 0, "1/d", fmt.Sprintf("%.0f failed starts in 24 h: locked-rotor current of about %s A, then no run", f[ftFailed], number(float64(s.op.spikeSeen))))
	}
	if f[ftTrips] >= 2 {
		add("runs_without_result", f[ftTrips], 0, "", fmt.Sprintf("%.0f runs in 45 min ended early with the zone still warm; current at their end %+.0f %% against steady running", f[ftTrips], f[ftTripAmp]))
	}
	if f[ftMelt] > 0.3 {
		add("defrost_rise", s.melt.mean()*(1-f[ftMelt]), round(s.melt.mean(), 1), "K", fmt.Sprintf("The zone warms up by %.0f %% less in defrosts than it used to", 100*f[ftMelt]))
	}
	spec := &faults[s.alarm.fault]
	if spec.family != 0 {
		add("alternatives", 0, 0, "", "These eight measurements cannot tell it from "+strings.Join(relatives(s.alarm.fault), ", ")+".")
	}
	if s.alarm.second != fiNone && (spec.family == 0 || faults[s.alarm.second].family != spec.family) {
		add("runner_up", 0, 0, "", "Next best explanation: "+faults[s.alarm.second].name+".")
	}
	if s.alarm.hasLead {
		l := s.alarm.lead
		add("trend", round(l.h/24, 1), 0, "d", fmt.Sprintf("At this slope the unit reaches its limit in about %s days (%s to %s).", number(l.h/24), number(l.lo/24), number(l.hi/24)))
	}
	return list
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

// relatives are the other faults of a fault's family.
func relatives(i uint8) []string {
	var names []string
	for k := range faults {
		if k != int(i) && faults[k].family == faults[i].family {
			names = append(names, faults[k].name)
		}
	}
	if faults[i].family == familyStart {
		names = append(names, "a relay", "a seized rotor")
	}
	return names
}

func side(v float64) string {
	if v < 0 {
		return "below"
	}
	return "above"
}

func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

func number(v float64) string {
	switch a := math.Abs(v); {
	case a >= 100:
		return fmt.Sprintf("%.0f", v)
	case a >= 2:
		return fmt.Sprintf("%.1f", v)
	default:
		return fmt.Sprintf("%.2f", v)
	}
}

func round(v float64, digits int) float64 {
	p := math.Pow(10, float64(digits))
	return math.Round(v*p) / p
}
