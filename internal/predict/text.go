package predict

import (
	"cmp"
	"fmt"
	"math"
	"slices"
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
		RunnerUp: faults[a.second].name, Evidence: s.evidence(at, f), RecommendedAction: spec.action,
		WhatWouldChangeIt: a.wouldChange(), Model: Model,
	}
	if a.hasLead {
		h := round(a.lead.h, 1)
		p.LeadTimeH = &h
		p.HorizonH = round(max(1, a.lead.hi), 0)
		p.FailureExpectedAt = at + rimewatch.Time(a.lead.h*float64(rimewatch.Hour))
	}
	return p
}

// evidence lists what departs, most first, then what was counted, what cannot be
// told apart, what fits next best and where the trend leads.
func (s *State) evidence(at rimewatch.Time, f *findings) []rimewatch.Evidence {
	list := s.departed(at, f)
	add := func(metric string, v, expected float64, unit, text string) {
		list = append(list, rimewatch.Evidence{Metric: metric, Observed: round(v, 1), Expected: expected, Unit: unit,
			Since: s.alarm.since, Cycles: s.cyclesSince(at), Text: text})
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
		add("runner_up", 0, 0, "", "Next best explanation: "+faults[s.alarm.second].called+".")
	}
	if s.alarm.hasLead {
		l := s.alarm.lead
		interval := fmt.Sprintf("%s to %s", number(l.lo/24), number(l.hi/24))
		if l.hi >= openEnd*l.h {
			interval = number(l.lo/24) + " or more"
		}
		add("trend", round(l.h/24, 1), 0, "d", fmt.Sprintf("At this slope the unit reaches its limit in about %s days (%s).", number(l.h/24), interval))
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
		list = append(list, rimewatch.Evidence{
			Metric: channelText[ch].metric, Observed: round(observed, 2), Expected: round(expected, 2), Unit: channelText[ch].unit,
			Since: s.alarm.since, Cycles: s.cyclesSince(at),
			Text: fmt.Sprintf("%s %s %s is %s %s %s what this unit shows at %.0f °C ambient (%s, learnt over %d hours of running); since %s, about %d cycles",
				capital(channelText[ch].name), number(observed), channelText[ch].unit, number(math.Abs(f[ch])), residualUnit(ch), side(f[ch]),
				refAmbient+s.ambient, number(expected), s.hours, s.alarm.since.Std().Format("2 Jan 15:04"), s.cyclesSince(at)),
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

// Describe writes the title and the message of a predictive alert, as a good
// technician would note it. device is the unit's name and label its type's.
func Describe(p *rimewatch.Prediction, device, label string) (title, message string) {
	spec := &faults[fiNone]
	for i := range faults {
		if faults[i].name == p.Fault {
			spec = &faults[i]
		}
	}
	title = device
	if label != "" {
		title += " (" + label + ")"
	}
	title += " " + spec.finding
	if p.LeadTimeH != nil {
		title += ", about " + span(*p.LeadTimeH) + " left"
	}
	var parts []string
	if said := observations(p.Evidence); said != "" {
		parts = append(parts, said)
	}
	pattern := fmt.Sprintf("This looks like %s, risk %.0f %% within %s", spec.called, 100*p.Risk, span(p.HorizonH))
	if p.RunnerUp != "" {
		pattern += "; next best: " + calledOf(p.RunnerUp)
	}
	parts = append(parts, pattern+".")
	for i := range p.Evidence {
		if e := &p.Evidence[i]; e.Metric == "trend" || e.Metric == "alternatives" {
			parts = append(parts, e.Text)
		}
	}
	return title, strings.Join(append(parts, p.RecommendedAction), " ")
}

// observations says in a sentence what departs most.
func observations(list []rimewatch.Evidence) string {
	var said []string
	counted := ""
	since := rimewatch.Time(0)
	for i := range list {
		e := &list[i]
		switch name := channelName(e.Metric); {
		case e.Metric == "failed_starts" || e.Metric == "runs_without_result":
			counted = e.Text + "."
		case name != "" && len(said) < 3:
			said = append(said, fmt.Sprintf("%s %s %s (usual here: %s)", name, number(e.Observed), e.Unit, number(e.Expected)))
			since = e.Since
		}
	}
	if len(said) == 0 {
		return counted
	}
	text := capital(strings.Join(said, ", ")) + ", since " + since.Std().Format("2 Jan 15:04") + " UTC."
	if counted != "" {
		text = counted + " " + text
	}
	return text
}

func channelName(metric string) string {
	for ch := range channelText {
		if channelText[ch].metric == metric {
			return channelText[ch].name
		}
	}
	return ""
}

func calledOf(fault string) string {
	for i := range faults {
		if faults[i].name == fault {
			return faults[i].called
		}
	}
	return fault
}

// span writes hours as people say them.
func span(h float64) string {
	if h < 48 {
		return fmt.Sprintf("%.0f h", h)
	}
	return fmt.Sprintf("%.0f days", h/24)
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
		if k == fiCondenserFan {
			continue // that one comes within minutes
		}
		if k != int(i) && faults[k].family == faults[i].family {
			names = append(names, faults[k].called)
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
