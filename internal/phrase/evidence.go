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
func (w Words) Prediction(p *rimewatch.Prediction) *rimewatch.Prediction {
	if p == nil {
		return nil
	}
	own := *p
	own.RecommendedAction, own.WhatWouldChangeIt = w.RecommendedAction(p), w.WouldChange(p)
	own.Evidence = make([]rimewatch.Evidence, len(p.Evidence))
	for i := range p.Evidence {
		own.Evidence[i] = p.Evidence[i]
		own.Evidence[i].Text = w.Evidence(p, &p.Evidence[i])
	}
	return &own
}

// Evidence says what one piece of evidence of a prediction shows, as a sentence.
func (w Words) Evidence(p *rimewatch.Prediction, e *rimewatch.Evidence) string {
	switch e.Metric {
	case rimewatch.EvidenceCommonMode:
		return w.Sayf("%.0f of the %d devices at this site changed in the same way at the same time. First check what they share: the weather, the air in the machine room, the mains.", e.Observed, e.OutOf)
	case rimewatch.EvidenceAlternatives:
		return w.Sayf("The readings alone cannot tell it from %s.", w.Say(alike[p.Fault]))
	case rimewatch.EvidenceLasts:
		return w.Say("Open for two weeks, in which nothing new was learned of this unit. Press “Repaired” if it was mended, “False alarm” if nothing is wrong, or “This is normal now” if it ought to run like this.")
	case rimewatch.EvidenceRunnerUp:
		return w.Sayf("It could also be %s.", w.Fault(p.RunnerUp))
	case rimewatch.EvidenceTrend:
		return w.trend(p, e)
	case rimewatch.FailedStartsPerDay:
		return w.Sayf("%s in 24 hours: each time about %s, then nothing.", w.Count(int(e.Observed), "%d failed start", "%d failed starts"), w.Quantity(value(e.Current), "A"))
	case rimewatch.RunsWithoutResult:
		return w.Sayf("%s in 45 minutes ended early while the product zone was still warm, with the current %s.", w.Count(int(e.Observed), "%d run", "%d runs"), w.against(value(e.Current), "%", "steady running"))
	case rimewatch.DefrostRise:
		return w.Sayf("The product zone warms up by %s during a defrost instead of the usual %s.", w.Quantity(e.Observed, "K"), w.Quantity(e.Expected, "K"))
	}
	return w.departure(e)
}

// departure says how far a measure is from what this unit usually shows.
func (w Words) departure(e *rimewatch.Evidence) string {
	ambient := ""
	if e.Ambient != nil {
		ambient = " " + w.Sayf("at %s ambient", w.Quantity(math.Round(*e.Ambient), "°C"))
	}
	change, unit := e.Observed-e.Expected, driftUnit(e)
	if unit == "%" && e.Unit != "%" && e.Expected != 0 {
		change = 100 * (e.Observed/e.Expected - 1)
	}
	since := ""
	if e.Since != 0 {
		since = "; " + w.Sayf("since %s", w.moment(e.Since))
	}
	if e.Cycles > 0 {
		since += ", " + w.Sayf("about %s", w.Count(e.Cycles, "%d compressor cycle", "%d compressor cycles"))
	}
	return fmt.Sprintf("%s %s, %s (%s)%s%s.", capital(w.Measure(e.Metric)), w.measured(e.Observed, e.Unit),
		w.against(change, unit, "usual"), w.measured(e.Expected, e.Unit), ambient, since)
}

// driftUnit is the unit in which people say how far a measure has moved.
func driftUnit(e *rimewatch.Evidence) string {
	switch {
	case e.Unit == "°C" || e.Unit == "K":
		return "K"
	case e.Metric == rimewatch.RunTimeShare:
		return points
	default:
		return "%"
	}
}

func (w Words) trend(p *rimewatch.Prediction, e *rimewatch.Evidence) string {
	between := ""
	switch {
	case p.LeadLowH == nil:
	case p.LeadHighH == nil:
		between = " " + w.Sayf("(%s or more)", w.hours(*p.LeadLowH))
	default:
		between = " " + w.Sayf("(%s to %s)", w.hours(*p.LeadLowH), w.hours(*p.LeadHighH))
		if *p.LeadLowH >= inDays {
			between = " " + w.Sayf("(%s to %s)", fmt.Sprintf("%.0f", *p.LeadLowH/24), w.hours(*p.LeadHighH))
		}
	}
	if 24*e.Observed <= soonest {
		return w.Say("It has come to where such units stop or can no longer hold their temperature.")
	}
	return w.Sayf("At this rate it stops, or can no longer hold its temperature, in about %s%s.", w.hours(24*e.Observed), between)
}

// observations are the measures that have moved most, in one sentence, and what
// was counted.
func (w Words) observations(list []rimewatch.Evidence) string {
	var moved []string
	counts := ""
	since := rimewatch.Time(0)
	for i := range list {
		e := &list[i]
		switch {
		case e.Metric == rimewatch.FailedStartsPerDay || e.Metric == rimewatch.RunsWithoutResult:
			counts = w.Evidence(nil, e)
		case Known(e.Metric) && e.Metric != rimewatch.DefrostRise && len(moved) < 3:
			moved = append(moved, w.Sayf("%s %s (usually %s)", w.Measure(e.Metric), w.measured(e.Observed, e.Unit), w.measured(e.Expected, e.Unit)))
			since = e.Since
		}
	}
	if len(moved) == 0 {
		return counts
	}
	return join(counts, w.Sayf("%s, since %s.", capital(strings.Join(moved, ", ")), w.moment(since)))
}

func value(v *float64) float64 {
	if v == nil {
		return 0
	}
	return *v
}

// against says how a change compares: "8.1 °C higher than usual".
func (w Words) against(change float64, unit, than string) string {
	text := higher[than]
	if change < 0 {
		text = lower[than]
	}
	if unit == points {
		unit = w.Say(points)
	}
	by := w.Quantity(math.Abs(change), unit)
	if by == w.Quantity(0, unit) {
		return w.Say(same[than])
	}
	return w.Sayf(text, by)
}

// higher, lower and same are what against says, by what a measure is compared with.
var (
	same   = map[string]string{"usual": "as usual", "steady running": "as in steady running"}
	higher = map[string]string{"usual": "%s higher than usual", "steady running": "%s higher than steady running"}
	lower  = map[string]string{"usual": "%s lower than usual", "steady running": "%s lower than steady running"}
)

// points is the unit of differences between shares.
const points = "percentage points"

// measured writes a measurement: currents below 10 A with two decimals, since a
// tenth is a large part of them.
func (w Words) measured(v float64, unit string) string {
	if unit == "A" && math.Abs(v) < 10 {
		return w.Number(strings.TrimSuffix(fmt.Sprintf("%.2f", v), "0") + " A")
	}
	return w.Quantity(v, unit)
}

// inDays is the span in hours from which on people count in days.
const inDays = 48

// hours writes a span as people say it: "6 hours", "3 days".
func (w Words) hours(h float64) string {
	if h < inDays {
		return w.Count(int(max(1, math.Round(h))), "%d hour", "%d hours")
	}
	return w.Count(int(math.Round(h/24)), "%d day", "%d days")
}
