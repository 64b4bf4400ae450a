package alert

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/rimewatch/rimewatch"
)

// wording is how a rule speaks. finding follows the device's name in a title;
// what is a sentence about the unit with %d for the device, %v the value, %p the
// worst value, %l the limit and %t how long it lasted; over is the same once it
// is over; do is the advice.
type wording struct {
	finding, what, over, do string
}

var wordings = map[rimewatch.AlertType]wording{
	rimewatch.HighTemperature: {
		"is too warm", "%d is %v, too warm for %t. Limit %l.", "%d is back in its range at %v. It was too warm for %t, at worst %p.",
		"Look at the door, the evaporator fan and whether the compressor runs.",
	},
	rimewatch.LowTemperature: {
		"is too cold", "%d is %v, too cold for %t. Limit %l.", "%d is back in its range at %v. It was too cold for %t, at worst %p.",
		"Look at the thermostat's setting and whether the compressor ever stops.",
	},
	rimewatch.DeviceOffline: {
		"is offline", "%d has sent nothing for %v.", "%d is sending again after %v of silence.",
		"Check its power and its network.",
	},
	rimewatch.SensorStale: {
		"sends no measurements", "%d is online but has measured nothing for %v.", "%d measures again after %v.",
		"Check the sensor's plug and cable.",
	},
	rimewatch.SensorFault: {
		"has a broken sensor", "The %m sensor of %d cannot be believed, for %t.", "The %m sensor of %d is plausible again after %t.",
		"Check its plug and cable, then replace it; until then nobody watches this value.",
	},
	rimewatch.PowerLoss: {
		"has no power", "%d has no power: %v for %t.", "%d has power again, %v, after %t.",
		"Keep the doors shut and check breaker and supply.",
	},
	rimewatch.LowVoltage: {
		"gets too little voltage", "%d gets %v, too little for %t. Limit %l.", "%d gets %v again. The voltage was too low for %t, at worst %p.",
		"Have the supply checked: motors overheat on low voltage.",
	},
	rimewatch.HighVoltage: {
		"gets too much voltage", "%d gets %v, too much for %t. Limit %l.", "%d gets %v again. The voltage was too high for %t, at worst %p.",
		"Have the supply checked.",
	},
	rimewatch.HighDischargeTemperature: {
		"runs hot", "The discharge line of %d is at %v after %t. Limit %l.", "The discharge line of %d is back at %v. At worst it was %p.",
		"Clean the condenser, check its fan and the charge.",
	},
	rimewatch.LowDischargeTemperature: {
		"has a cold discharge line", "The discharge line of %d is only %v above ambient, for %t. Limit %l.", "The discharge line of %d is %v above ambient again.",
		"Liquid may be reaching the compressor: check the expansion valve and the evaporator fan.",
	},
	rimewatch.HighSuctionTemperature: {
		"has a warm suction line", "The suction line of %d is at %v, for %t. Limit %l.", "The suction line of %d is back at %v. At worst it was %p.",
		"Check the charge and the expansion valve.",
	},
	rimewatch.LowSuctionTemperature: {
		"has a cold suction line", "The suction line of %d is %v against its zone, for %t. Limit %l.", "The suction line of %d is %v against its zone again.",
		"Liquid may be reaching the compressor: look for ice on the evaporator, then at its fan and the expansion valve.",
	},
	rimewatch.HighAmpDraw: {
		"draws too much current", "%d draws %v, too much for %t. Limit %l.", "%d draws %v again. At worst it was %p.",
		"Check condenser, voltage and the compressor's bearings.",
	},
	rimewatch.LowAmpDraw: {
		"draws next to no current", "%d vibrates but draws only %v, for %t. Limit %l.", "%d draws %v again.",
		"The compressor may not be running: check contactor and windings.",
	},
	rimewatch.HighVibration: {
		"vibrates", "%d vibrates at %v, for %t of running. Limit %l.", "%d is back at %v of vibration. At worst it was %p.",
		"Check mounts and bearings before it seizes.",
	},
	rimewatch.ShortCycling: {
		"starts too often", "%d has started %v times in an hour. Limit %l.", "%d starts %v times an hour again.",
		"Check the condenser and its fan, the pressure controls and the thermostat.",
	},
	rimewatch.CompressorStartFailure: {
		"fails to start", "The compressor of %d has failed to start %v times within a day. Limit %l.", "The compressor of %d starts again.",
		"Check start capacitor, relay and voltage at the start.",
	},
	rimewatch.ExcessiveRunTime: {
		"runs nearly all the time", "%d has been running %v of the time. Limit %l.", "%d runs %v of the time again.",
		"Look at door seals, ice on the evaporator, the condenser and the charge.",
	},
	rimewatch.SlowRecovery: {
		"recovers slowly", "%d is not cold again %v after its defrost. Usual for this unit: less than %l.", "%d recovers from its defrosts as usual again.",
		"Look for ice on the evaporator, a door left open or a lack of capacity.",
	},
	rimewatch.HighHumidity: {
		"is humid", "The air at %d is at %v, for %t. Limit %l.", "The air at %d is back at %v. At worst it was %p.",
		"Expect frost and sweating; check door heaters and ventilation.",
	},
	rimewatch.LowHumidity: {
		"is dry", "The air in %d is at %v, for %t. Limit %l.", "The air in %d is back at %v. At worst it was %p.",
		"Open goods dry out; check the evaporator's temperature difference.",
	},
	rimewatch.HighAmbientTemperature: {
		"stands too warm", "The air at the condenser of %d is %v, for %t. Limit %l.", "The air at the condenser of %d is back at %v. At worst it was %p.",
		"Ventilate the plant room; the unit loses capacity.",
	},
	rimewatch.LowAmbientTemperature: {
		"stands too cold", "The air at the condenser of %d is %v, for %t. Limit %l.", "The air at the condenser of %d is back at %v. At worst it was %p.",
		"Check head-pressure control and crankcase heater.",
	},
}

// secondWordings are the sentences of a rule's second measure, by metric.
var secondWordings = map[string]wording{
	ruleSpecs[ruleDischarge].second: {
		what: "The discharge line of %d runs %v above what it usually is at this ambient temperature. Limit %l.",
		over: "The discharge line of %d is as warm as usual again.",
		do:   "Fouled condenser, low charge or worn valves: start with the condenser.",
	},
	ruleSpecs[ruleSuction].second: {
		what: "The suction line of %d is %v away from what it usually is at this ambient temperature. Limit %l.",
		over: "The suction line of %d is as usual again.",
	},
	ruleSpecs[ruleAmps].second: {
		what: "%d draws %v more current than it usually does at this ambient temperature. Limit %l.",
		over: "%d draws its usual current again.",
	},
	ruleSpecs[ruleRunTime].second: {
		what: "%d runs %v more of the time than it usually does at this ambient temperature. Limit %l.",
		over: "%d runs as much as usual again.",
	},
	ruleSpecs[ruleCycling].second: {
		what: "The compressor of %d runs for only %v at a time. Limit %l.",
		over: "The compressor of %d runs for %v at a time again.",
	},
	ruleSpecs[ruleStarts].second: {
		what: "The compressor of %d has failed to start %v times within the last hours. Limit %l.",
	},
}

// Describe says what a transition means in the words of a technician: what,
// since when, which limit, what to do. device is the name people gave it,
// equipmentLabel its type's label or "".
func Describe(t Transition, device, equipmentLabel string) (title, message string) {
	w, known := wordings[t.Type]
	if !known {
		w = wording{finding: "needs a look", what: "%d needs a look.", over: "%d is as usual again."}
	}
	if second, ok := secondWordings[t.Metric]; ok {
		w.what = second.what
		if second.over != "" {
			w.over = second.over
		}
		if second.do != "" {
			w.do = second.do
		}
	}
	who := device
	if label, _, _ := strings.Cut(equipmentLabel, " ("); label != "" && label != "Unclassified" {
		who = fmt.Sprintf("%s (%s)", device, strings.ToLower(label[:1])+label[1:])
	}
	title = who + " " + w.finding
	if t.Kind == Resolved {
		return title, fill(w.over, t, device)
	}
	parts := []string{fill(w.what, t, device)}
	if t.Flapping {
		parts = append(parts, "It comes and goes.")
	}
	if t.Severity == rimewatch.Critical && (t.Type == rimewatch.HighTemperature || t.Type == rimewatch.LowTemperature) {
		parts = append(parts, "Check the goods before they are used.")
	}
	if w.do != "" {
		parts = append(parts, w.do)
	}
	return title, strings.Join(parts, " ")
}

// fill puts a transition's facts into a sentence.
func fill(sentence string, t Transition, device string) string {
	unit := t.Unit
	if unit == "1/h" || unit == "1/d" {
		unit = "" // the sentence says it
	}
	return strings.NewReplacer(
		"%d", device,
		"%v", quantity(t.Value, unit),
		"%p", quantity(t.Peak, unit),
		"%l", quantity(t.Threshold, unit),
		"%m", strings.TrimSuffix(strings.ReplaceAll(t.Metric, "_", " "), " temp"),
		"%t", duration(t.At.Sub(t.ConditionStartedAt)),
	).Replace(sentence)
}

// quantity writes a value with at most one decimal, or two below ten where the
// unit is fine, and a true minus sign. Seconds and minutes become spans.
func quantity(v float64, unit string) string {
	switch unit {
	case "s":
		return duration(time.Duration(v * float64(time.Second)))
	case "min":
		if v >= 10 {
			return duration(time.Duration(v * float64(time.Minute)))
		}
	}
	scale := 10.0
	if unit == "mm/s" {
		scale = 100
	}
	s := strconv.FormatFloat(math.Round(v*scale)/scale, 'f', -1, 64)
	if s == "-0" {
		s = "0"
	}
	s = strings.Replace(s, "-", "−", 1)
	if unit == "" {
		return s
	}
	return s + " " + unit
}

// duration writes a span as people say it: 40 s, 34 min, 2 h 5 min, 3 d 4 h.
func duration(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 48*time.Hour:
		return units(int(d.Hours()), "h", int(d.Minutes())%60, "min")
	default:
		return units(int(d.Hours())/24, "d", int(d.Hours())%24, "h")
	}
}

func units(a int, unitA string, b int, unitB string) string {
	if b == 0 {
		return fmt.Sprintf("%d %s", a, unitA)
	}
	return fmt.Sprintf("%d %s %d %s", a, unitA, b, unitB)
}
