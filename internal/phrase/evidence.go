package phrase

import (
	"fmt"
	"math"
	"strings"

	"github.com/rimewatch/rimewatch"
)

// alike are the faults that the measurements cannot tell from another.
var alike = map[string]string{
	"refrigerant_undercharge":    "a restricted liquid line",
	"liquid_line_restriction":    "a low refrigerant charge",
	"condenser_fouling":          "overcharge or non-condensable gas",
	"noncondensables_overcharge": "a dirty condenser",
	"condenser_fan_failure":      "a dirty condenser, overcharge or non-condensable gas",
	"evaporator_icing":           "a failed defrost",
	"defrost_failure":            "an iced-up evaporator",
	"start_component_failure":    "a seized rotor",
}

// Prediction returns a copy of p with its sentences: the text of each piece of
// evidence, what to do and what would change the verdict. It returns nil for nil.
func Prediction(p *rimewatch.Prediction) *rimewatch.Prediction {
	if p == nil {
		return nil
	}
	own := *p
	own.RecommendedAction, own.WhatWouldChangeIt = RecommendedAction(p), WouldChange(p)
	own.Evidence = make([]rimewatch.Evidence, len(p.Evidence))
	for i := range p.Evidence {
		own.Evidence[i] = p.Evidence[i]
		own.Evidence[i].Text = Evidence(p, &p.Evidence[i])
	}
	return &own
}

// Evidence says what one piece of evidence of a prediction shows, as a sentence.
func Evidence(p *rimewatch.Prediction, e *rimewatch.Evidence) string {
	switch e.Metric {
	case rimewatch.EvidenceCommonMode:
		return fmt.Sprintf("%.0f of the %d devices at this site changed in the same way at the same time. First check what they share: the weather, the air in the machine room, the mains.", e.Observed, e.OutOf)
	case rimewatch.EvidenceAlternatives:
		return fmt.Sprintf("The readings alone cannot tell it from %s.", alike[p.Fault])
	case rimewatch.EvidenceRunnerUp:
		return fmt.Sprintf("It could also be %s.", Fault(p.RunnerUp))
	case rimewatch.EvidenceTrend:
		return trend(p, e)
	case rimewatch.FailedStartsPerDay:
		return fmt.Sprintf("%s in 24 hours: each time about %s, then nothing.", counted(e.Observed, "failed start"), rimewatch.Quantity(value(e.Current), "A"))
	case rimewatch.RunsWithoutResult:
		return fmt.Sprintf("%s in 45 minutes ended early while the product zone was still warm, with the current %s.", counted(e.Observed, "run"), against(value(e.Current), "%", "steady running"))
	case rimewatch.DefrostRise:
		return fmt.Sprintf("The product zone warms up by %s during a defrost instead of the usual %s.", difference(e.Observed, "K"), difference(e.Expected, "K"))
	}
	return departure(e)
}

// departure says how far a measure is from what this unit usually shows.
func departure(e *rimewatch.Evidence) string {
	ambient := ""
	if e.Ambient != nil {
		ambient = fmt.Sprintf(" at %.0f °C ambient", *e.Ambient)
	}
	change, unit := e.Observed-e.Expected, driftUnit(e)
	if unit == "%" && e.Unit != "%" && e.Expected != 0 {
		change = 100 * (e.Observed/e.Expected - 1)
	}
	since := ""
	if e.Since != 0 {
		since = "; since " + moment(e.Since)
	}
	if e.Cycles > 0 {
		since += ", about " + counted(float64(e.Cycles), "compressor cycle")
	}
	return fmt.Sprintf("%s %s, %s (%s)%s%s.", capital(Measure(e.Metric)), measured(e.Observed, e.Unit),
		against(change, unit, "usual"), measured(e.Expected, e.Unit), ambient, since)
}

// driftUnit is the unit in which people say how far a measure has moved.
func driftUnit(e *rimewatch.Evidence) string {
	switch {
	case e.Unit == "°C" || e.Unit == "K":
		return "K"
	case e.Metric == rimewatch.RunTimeShare:
		return "percentage points"
	default:
		return "%"
	}
}

func trend(p *rimewatch.Prediction, e *rimewatch.Evidence) string {
	between := ""
	switch {
	case p.LeadLowH == nil:
	case p.LeadHighH == nil:
		between = fmt.Sprintf(" (%s or more)", hours(*p.LeadLowH))
	default:
		between = fmt.Sprintf(" (%s to %s)", hours(*p.LeadLowH), hours(*p.LeadHighH))
		if *p.LeadLowH >= inDays {
			between = fmt.Sprintf(" (%.0f to %s)", *p.LeadLowH/24, hours(*p.LeadHighH))
		}
	}
	return fmt.Sprintf("At this rate it fails in about %s%s.", hours(24*e.Observed), between)
}

// observations are the measures that have moved most, in one sentence, and what
// was counted.
func observations(list []rimewatch.Evidence) string {
	var moved []string
	counts := ""
	since := rimewatch.Time(0)
	for i := range list {
		e := &list[i]
		switch {
		case e.Metric == rimewatch.FailedStartsPerDay || e.Metric == rimewatch.RunsWithoutResult:
			counts = Evidence(nil, e)
		case Known(e.Metric) && e.Metric != rimewatch.DefrostRise && len(moved) < 3:
			moved = append(moved, fmt.Sprintf("%s %s (usually %s)", Measure(e.Metric), measured(e.Observed, e.Unit), measured(e.Expected, e.Unit)))
			since = e.Since
		}
	}
	if len(moved) == 0 {
		return counts
	}
	return join(counts, capital(strings.Join(moved, ", "))+", since "+moment(since)+".")
}

func value(v *float64) float64 {
	if v == nil {
		return 0
	}
	return *v
}

// against says how a change compares: "8.1 °C higher than usual".
func against(change float64, unit, than string) string {
	side := "higher"
	if change < 0 {
		side = "lower"
	}
	return difference(math.Abs(change), unit) + " " + side + " than " + than
}

func difference(v float64, unit string) string {
	if unit == "K" {
		unit = "°C"
	}
	return rimewatch.Quantity(v, unit)
}

// measured writes a measurement: currents below 10 A with two decimals, since a
// tenth is a large part of them.
func measured(v float64, unit string) string {
	if unit == "A" && math.Abs(v) < 10 {
		return strings.TrimSuffix(fmt.Sprintf("%.2f", v), "0") + " A"
	}
	return rimewatch.Quantity(v, unit)
}

func counted(n float64, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%.0f %ss", n, thing)
}

// inDays is the span in hours from which on people count in days.
const inDays = 48

// hours writes a span as people say it: "6 hours", "3 days".
func hours(h float64) string {
	if h < inDays {
		return counted(max(1, math.Round(h)), "hour")
	}
	return counted(math.Round(h/24), "day")
}

// moment writes a time for readers whose time zone is not known.
func moment(t rimewatch.Time) string { return t.Std().Format("2 Jan, 15:04") + " UTC" }
