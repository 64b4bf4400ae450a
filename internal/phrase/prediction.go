package phrase

import (
	"fmt"
	"strings"

	"github.com/rimewatch/rimewatch"
)

// fault are the texts of a fault: the headline of its alert, its
// name inside a sentence, and what to do.
type fault struct {
	title, name, do string
}

// faults are the texts of the predictor's signatures.
var faults = map[string]fault{
	"refrigerant_undercharge": {"Probably losing refrigerant", "a low refrigerant charge",
		"Search for a leak and look at the sight glass. Do not simply add refrigerant."},
	"liquid_line_restriction": {"Liquid line probably restricted", "a restricted liquid line",
		"Compare the temperatures before and after the filter drier and the expansion valve. A leak looks the same."},
	"condenser_fouling": {"Dirty condenser", "a dirty condenser",
		"Clean the condenser and check its air flow."},
	"noncondensables_overcharge": {"Overcharged, or air in the system", "overcharge or non-condensable gas",
		"If it was serviced recently, check the charge and purge the condenser. Otherwise, first check that the condenser fan is turning and the condenser is clean."},
	"condenser_fan_failure": {"Condenser fan probably failed", "a failed condenser fan",
		"Check that the condenser fan is turning, then its capacitor and wiring."},
	"compressor_valve_leakage": {"Compressor valves probably leaking", "leaking compressor valves",
		"Measure suction and discharge pressure while the compressor is running and just after it stops. Worn rings look the same."},
	"bearing_wear": {"Compressor bearings wearing out", "worn compressor bearings",
		"Listen to the compressor and check its mounts and oil. Plan to replace it if the vibration keeps rising."},
	"liquid_floodback": {"Liquid reaching the compressor", "liquid floodback",
		"Check the superheat and the bulb of the expansion valve, and that the evaporator fans are running."},
	"evaporator_icing": {"Evaporator icing up", "an iced-up evaporator",
		"Defrost the evaporator by hand, then check the drain, the door and the fans."},
	"defrost_failure": {"Defrost not working", "a failed defrost",
		"Defrost by hand today, then check the heater, the termination thermostat and the defrost clock."},
	"evaporator_fan_failure": {"Evaporator fan probably failed", "a failed evaporator fan",
		"Check that the evaporator fans are turning and not blocked by ice."},
	"start_component_failure": {"Compressor failing to start", "a failing start capacitor or relay",
		"Check the start capacitor, the relay and the supply voltage during a start. A seized rotor looks the same."},
	"contactor_fault": {"Compressor cutting out at random", "a worn contactor",
		"Check the contactor's coil and contacts, and the control circuit."},
	"gasket_leak": {"Running more than it used to", "a leaking door gasket",
		"Check the door, its gaskets and its heaters. Ask whether it is opened more often or loaded warmer."},
	"voltage_sag":         {title: "Voltage too low", name: "a low supply voltage"},
	"thermostat_stuck_on": {title: "Cooling does not stop", name: "a thermostat that is stuck on"},
	"sensor_drift":        {title: "Sensor drifting", name: "a drifting sensor"},
}

// Fault names a fault inside a sentence: "a dirty condenser".
func (w Words) Fault(name string) string {
	if f, known := faults[name]; known {
		return w.Say(f.name)
	}
	return strings.ReplaceAll(name, "_", " ")
}

// ended is how a prediction that is over is told.
type ended struct{ title, because string }

// predictionEndings are those of each reason; predictionEnding of one that was not noted.
var predictionEndings = map[rimewatch.Ending]ended{
	rimewatch.EndedAsUsual:     {"As usual for two days", "While it ran, the readings of two days were what is usual for this unit."},
	rimewatch.EndedUnconfirmed: {"Not confirmed", "It rested on single events, and the readings of the two days after them did not confirm it."},
	rimewatch.EndedOtherFault:  {"Another fault fits better", "Another fault fits better by now: see the alert that has replaced this one."},
	rimewatch.EndedSensor:      {"It was a sensor", "What departed was what a sensor shows, and not the unit: see the alert about that sensor."},
	rimewatch.EndedAmbient:     {"Compared with a wrong ambient", "The ambient sensor is wrong, and all that departed was compared with it: see the alert about that sensor."},
	rimewatch.EndedVaries:      {"The compressor varies its load", "The compressor has turned out to vary its speed or load, so what was compared says nothing about a fault."},
	rimewatch.EndedRemoved:     {"Removed", "Its device was removed."},
	rimewatch.EndedByPerson:    {byHand, "A person resolved it; the readings may be as they were."},
}

func predictionEnding(why rimewatch.Ending) ended {
	if e, known := predictionEndings[why]; known {
		return e
	}
	return ended{"No longer seen", "What it rested on is no longer seen."}
}

func (w Words) predictionTitle(p *rimewatch.Prediction) string {
	f, known := faults[p.Fault]
	if !known {
		f = fault{title: "Failure expected"}
	}
	switch {
	case p.LeadTimeH == nil:
		return w.Say(f.title)
	case *p.LeadTimeH <= soonest:
		return w.Sayf("%s: act now", w.Say(f.title))
	}
	return w.Sayf("%s: about %s left to act", w.Say(f.title), w.hours(*p.LeadTimeH))
}

// soonest is the lead time, h, of what has come to the size at which units fail: nobody has seen this one do so.
const soonest = 1

// RecommendedAction says what to do about a prediction.
func (w Words) RecommendedAction(p *rimewatch.Prediction) string { return w.Say(faults[p.Fault].do) }

// Risk says how likely the failure is: "67 % risk of failure within 8 days, most
// likely in about 6". The sign stays with its number in every language.
func (w Words) Risk(p *rimewatch.Prediction) string {
	return strings.Replace(w.risk(p), " %", "\u00a0%", 1)
}

func (w Words) risk(p *rimewatch.Prediction) string {
	percent, within := fmt.Sprintf("%.0f", rimewatch.Share(p.Risk, 0)), w.hours(p.HorizonH)
	switch {
	case p.LeadTimeH == nil, *p.LeadTimeH <= soonest && p.LeadHighH != nil:
		return w.Sayf("%s %% risk of failure within %s", percent, within)
	case *p.LeadTimeH <= soonest:
		return w.Sayf("%s %% risk of failure at any time", percent)
	case p.LeadHighH == nil: // no end of the interval is in sight
		return w.Sayf("%s %% risk of failure, most likely in about %s", percent, w.hours(*p.LeadTimeH))
	}
	lead := w.hours(*p.LeadTimeH)
	if p.HorizonH >= inDays && *p.LeadTimeH >= inDays {
		lead = fmt.Sprintf("%.0f", *p.LeadTimeH/24)
	}
	return w.Sayf("%s %% risk of failure within %s, most likely in about %s", percent, within, lead)
}

// Cause names the most likely fault and the next best explanation: "Most likely a
// dirty condenser; could also be a failed condenser fan".
func (w Words) Cause(p *rimewatch.Prediction) string {
	if p.RunnerUp != "" {
		return w.Sayf("Most likely %s; could also be %s", w.Fault(p.Fault), w.Fault(p.RunnerUp))
	}
	return w.Sayf("Most likely %s", w.Fault(p.Fault))
}

// WouldChange says what would end a prediction or turn it into another.
func (w Words) WouldChange(p *rimewatch.Prediction) string {
	if p.ByEvent {
		return w.Say("Ends by itself after a day without another such event if the readings of the next two days do not confirm it, or when you press “Repaired”, “False alarm” or “This is normal now”.")
	}
	return w.Say("Ends by itself after two normal days, or when you press “Repaired”, “False alarm” or “This is normal now”. If another fault clearly fits better, it takes over.")
}

// WouldChangeVerdict says what would change what the predictor says of a unit:
// state is learning, watching or alarmed, p the open prediction; judged reports
// whether its temperature has limits.
func (w Words) WouldChangeVerdict(state string, p *rimewatch.Prediction, judged bool) string {
	switch {
	case p != nil:
		return w.WouldChange(p)
	case state == "learning" && !judged:
		return w.Say("More running time. Until the unit is known, only trips and failed starts are checked.")
	case state == "learning":
		return w.Say("More running time. Until the unit is known, only trips, failed starts and its limits are checked.")
	case state == "not_judged" && !judged:
		return w.Say("Not judged: the compressor varies its speed or load, and neither its discharge line nor its suction line is measured or known well enough yet. Its sensors are checked as always.")
	case state == "not_judged":
		return w.Say("Not judged: the compressor varies its speed or load, and neither its discharge line nor its suction line is measured or known well enough yet. Its limits and sensors are checked as always.")
	default:
		return w.Say("Two six-hour windows in a row beyond a threshold, or a day and a half beyond six tenths of it, in a pattern that fits a fault.")
	}
}

func (w Words) predictionParts(a *rimewatch.Alert) (what, advice string) {
	p := a.Prediction
	lead, after := "", ""
	switch {
	case a.Status != rimewatch.AlertResolved:
		for i := range p.Evidence {
			switch e := &p.Evidence[i]; e.Metric {
			case rimewatch.EvidenceCommonMode:
				lead = join(lead, w.Evidence(p, e))
			case rimewatch.EvidenceLasts:
				lead = join(w.Evidence(p, e), lead)
			case rimewatch.EvidenceAlternatives:
				if !strings.Contains(alike[p.Fault], faults[p.RunnerUp].name) { // said already
					after = w.Evidence(p, e)
				}
			}
		}
		return join(lead, w.observations(p.Evidence), w.Cause(p)+".", w.Risk(p)+".", after), w.RecommendedAction(p)
	case a.Relearning != "":
		lead = w.relearning(a.Relearning)
	default:
		lead = w.Say(predictionEnding(a.EndedBecause()).because)
	}
	return join(lead, w.Sayf("Before: %s", join(w.observations(p.Evidence), w.Cause(p)+"."))), ""
}
