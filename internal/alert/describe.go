package alert

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/rimewatch/rimewatch"
)

// wording is how a rule speaks. finding follows the device's name in a title;
// what is a sentence about the unit with %d for the device, %v the value, %p the
// worst value, %l the limit that was passed, %V %P %L the same without a sign, %n
// the value without its unit, %m the sensor and %t how long the
// condition lasts; over is the same once it is over; do is what to look at first.
type wording struct {
	finding, what, over, do string
}

var wordings = map[rimewatch.AlertType]wording{
	rimewatch.HighTemperature: {
		"is too warm", "The zone is at %v, limit %l. It has been too warm for %t.", "The zone is back in range at %v. It was too warm for %t; the highest was %p.",
		"Check that the door is shut, the evaporator fan turns and the compressor runs.",
	},
	rimewatch.LowTemperature: {
		"is too cold", "The zone is at %v, limit %l. It has been too cold for %t.", "The zone is back in range at %v. It was too cold for %t; the lowest was %p.",
		"Check the thermostat's setting, and whether the compressor ever stops.",
	},
	rimewatch.DeviceOffline: {
		"is offline", "No sign of life for %v. Nobody sees its temperature now.", "It is sending again, after %v of silence.",
		"Check its power, its gateway and the network.",
	},
	rimewatch.SensorStale: {
		"sends no measurements", "It is online but has measured nothing for %v.", "Measurements arrive again, after %v.",
		"Check the probe's plug and cable, then the logger.",
	},
	rimewatch.SensorFault: {
		"has a broken sensor", "What the %m sensor reports cannot be true, for %t now. Its values are not used.", "The %m sensor is plausible again, after %t.",
		"Check its plug and cable, then replace it. Until then nobody watches this value: read it by hand.",
	},
	rimewatch.PowerLoss: {
		"has no power", "The supply is down to %v, for %t now.", "The supply is back at %v, after %t without.",
		"Keep the doors shut. Check the breaker, then the supply.",
	},
	rimewatch.LowVoltage: {
		"gets too little voltage", "The supply is at %v, limit %l, for %t now.", "The supply is back at %v. It was too low for %t; the lowest was %p.",
		"Find out whether other units sag too: if so call the utility, otherwise check this unit's wiring. Motors overheat on low voltage.",
	},
	rimewatch.HighVoltage: {
		"gets too much voltage", "The supply is at %v, limit %l, for %t now.", "The supply is back at %v. It was too high for %t; the highest was %p.",
		"Have the supply measured before electronics and motor windings suffer.",
	},
	rimewatch.HighDischargeTemperature: {
		"runs hot", "The discharge line is at %v, limit %l.", "The discharge line is back at %v. The highest was %p.",
		"Clean the condenser and see that its fan turns; then check the charge. Oil breaks down in this heat.",
	},
	rimewatch.LowDischargeTemperature: {
		"has a cold discharge line", "The discharge line is only %v above ambient while running; it should be %l at least.", "The discharge line is %v above ambient again.",
		"Liquid is reaching the compressor: check the expansion valve, its bulb and the evaporator fan.",
	},
	rimewatch.HighSuctionTemperature: {
		"has a warm suction line", "The suction line is at %v while running, limit %l.", "The suction line is back at %v. The highest was %p.",
		"Check the charge, then the expansion valve and the line's insulation.",
	},
	rimewatch.LowSuctionTemperature: {
		"has a cold suction line", "The suction line is %V colder than the zone while running, limit %L: next to no superheat is left.", "The suction line has its superheat again.",
		"Liquid may reach the compressor: look for ice on the evaporator, then at its fan and the expansion valve.",
	},
	rimewatch.HighAmpDraw: {
		"draws too much current", "The compressor draws %v, limit %l.", "The compressor draws %v again. The highest was %p.",
		"Check the condenser and the voltage first, then the compressor's bearings.",
	},
	rimewatch.LowAmpDraw: {
		"draws next to no current", "The machine vibrates but draws only %v; it should be %l at least.", "The current is back at %v.",
		"The fan may be running alone: check the contactor and the compressor's windings.",
	},
	rimewatch.HighVibration: {
		"vibrates", "The compressor vibrates at %v, limit %l.", "Vibration is back at %v. The highest was %p.",
		"Check mounts and pipe clamps, then listen to the bearings before it seizes.",
	},
	rimewatch.ShortCycling: {
		"starts too often", "The compressor has started %v times in an hour, limit %l.", "The compressor starts %v times an hour again.",
		"Check the condenser and its fan, the pressure switches and the thermostat's differential. Every start costs it oil.",
	},
	rimewatch.CompressorStartFailure: {
		"fails to start", "The compressor has failed to start %v times within a day.", "The compressor starts again.",
		"Measure the voltage at the moment of starting; then check start capacitor and relay.",
	},
	rimewatch.ExcessiveRunTime: {
		"runs nearly all the time", "The compressor has been running %v of the time, limit %l.", "The compressor runs %v of the time again.",
		"Look at door seals, ice on the evaporator, the condenser and the charge.",
	},
	rimewatch.SlowRecovery: {
		"recovers slowly", "It is not cold again %v after its defrost began; this unit needs less than %l.", "It recovers from its defrosts as usual again.",
		"Look for ice left on the evaporator, a door left open or a lack of capacity.",
	},
	rimewatch.DoorOpenSuspected: {
		"may have its door open", "The door seems to have been open for %v: the compressor does not stop, and the zone stays warmer than usual.", "The zone is on its way back to its usual temperature.",
		"Shut the door and see that the gasket seals. Goods that were loaded warm look alike for a while.",
	},
	rimewatch.HighHumidity: {
		"is humid", "The air is at %v, limit %l, for %t now.", "The air is back at %v. The highest was %p.",
		"Expect frost and sweating: check door heaters, doors and ventilation.",
	},
	rimewatch.LowHumidity: {
		"is dry", "The air in the zone is at %v, limit %l, for %t now.", "The air in the zone is back at %v. The lowest was %p.",
		"Open goods dry out: cover them, and check the evaporator's temperature difference.",
	},
	rimewatch.HighAmbientTemperature: {
		"stands too warm", "The air at the condenser is %v, limit %l, for %t now.", "The air at the condenser is back at %v. The highest was %p.",
		"Ventilate the machine room, and check that the condenser does not breathe its own air.",
	},
	rimewatch.LowAmbientTemperature: {
		"stands too cold", "The air at the condenser is %v, limit %l, for %t now.", "The air at the condenser is back at %v. The lowest was %p.",
		"Check head-pressure control and the crankcase heater.",
	},
}

// secondWordings are the sentences of a rule's second measure.
var secondWordings = map[rimewatch.AlertType]wording{
	rimewatch.HighDischargeTemperature: {
		what: "The discharge line runs %v hotter than this unit usually does at this ambient temperature, limit %l.",
		over: "The discharge line is as warm as usual again. At worst it was %p above.",
		do:   "Fouled condenser, low charge or worn valves: start with the condenser.",
	},
	rimewatch.HighSuctionTemperature: {
		what: "The suction line runs %v warmer than this unit usually does at this ambient temperature, limit %l.",
		over: "The suction line is as usual again. At worst it was %p warmer.",
	},
	rimewatch.LowSuctionTemperature: {
		what: "The suction line runs %V colder than this unit usually does at this ambient temperature, limit %L.",
		over: "The suction line is as usual again. At worst it was %P colder.",
	},
	rimewatch.HighAmpDraw: {
		what: "The compressor draws %v more than it usually does at this ambient temperature, limit %l.",
		over: "The compressor draws its usual current again. At worst it was %p more.",
	},
	rimewatch.ExcessiveRunTime: {
		what: "The compressor runs %n percentage points more of the time than it usually does at this ambient temperature.",
		over: "The compressor runs as much as usual again.",
	},
	rimewatch.ShortCycling: {
		what: "The compressor runs for only %v at a time; it should be %l at least.",
		over: "The compressor runs for %v at a time again.",
	},
	rimewatch.CompressorStartFailure: {
		what: "The compressor has failed to start %v times within two hours.",
	},
}

// criticalWords come before the advice while an alert is critical.
var criticalWords = map[rimewatch.AlertType]string{
	rimewatch.HighTemperature:          "Check the goods before they are used or sold.",
	rimewatch.LowTemperature:           "Check the goods for freezing before they are used or sold.",
	rimewatch.HighDischargeTemperature: "Stop it if it does not cool down: this ruins a compressor within days.",
	rimewatch.HighAmpDraw:              "Stop it before the overload protector does.",
	rimewatch.HighVibration:            "Have it seen to today.",
}

// Describe says what a transition means in the words of a technician: what,
// since when, which limit, what to do; of a resolved alert how it ended, how
// bad it was and how long it lasted. device is the name people gave it,
// equipmentLabel its type's label or "".
func Describe(t Transition, device, equipmentLabel string) (title, message string) {
	w, known := wordings[t.Type]
	if !known {
		w = wording{finding: "needs a look", what: "Something about it is not as usual.", over: "It is as usual again."}
	}
	if second, ok := secondWordings[t.Type]; ok && secondMeasure(&t) {
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
		parts := []string{fill(w.over, t, device)}
		if t.Occurrences > 1 {
			parts = append(parts, fmt.Sprintf("It came and went %d times.", t.Occurrences))
		}
		return title, strings.Join(parts, " ")
	}
	parts := []string{fill(w.what, t, device)}
	if t.Kind == Deescalated {
		parts = append(parts, "It is not critical any more.")
	}
	if t.Flapping {
		parts = append(parts, "It comes and goes: it counts as over only after a quiet hour.")
	}
	if t.HasHold {
		parts = append(parts, fill(holdWords(&t), t, device))
	}
	if words := criticalWords[t.Type]; words != "" && t.Severity == rimewatch.Critical {
		parts = append(parts, words)
	}
	if w.do != "" {
		parts = append(parts, w.do)
	}
	return title, strings.Join(parts, " ")
}

// secondMeasure tells whether a transition speaks of its rule's second measure.
func secondMeasure(t *Transition) bool {
	i, ok := ruleOf(t.Type)
	return ok && t.Metric != "" && t.Metric == ruleSpecs[i].second
}

// holdWords says how long the cold will last.
func holdWords(t *Transition) string {
	if t.HoldHours <= 0 {
		return "The zone is above its limit already."
	}
	return "At this rate the zone leaves its range in about " + rimewatch.Span(time.Duration(t.HoldHours*float64(time.Hour)).Round(5*time.Minute)) + "."
}

// fill puts a transition's facts into a sentence.
func fill(sentence string, t Transition, device string) string {
	var b strings.Builder
	b.Grow(len(sentence) + len(device) + 40)
	for {
		i := strings.IndexByte(sentence, '%')
		if i < 0 || i+1 == len(sentence) {
			b.WriteString(sentence)
			return b.String()
		}
		if fact, ok := t.fact(sentence[i+1], device); ok {
			b.WriteString(sentence[:i])
			b.WriteString(fact)
			sentence = sentence[i+2:]
		} else {
			b.WriteString(sentence[:i+1])
			sentence = sentence[i+1:]
		}
	}
}

// fact is what a letter stands for in the sentences.
func (t *Transition) fact(letter byte, device string) (string, bool) {
	unit := t.Unit
	if unit == "1/h" || unit == "1/d" {
		unit = "" // the sentence says it
	}
	switch letter {
	case 'd':
		return device, true
	case 'v':
		return quantity(t.Value, unit), true
	case 'p':
		return quantity(t.Peak, unit), true
	case 'l':
		return quantity(t.Threshold, unit), true
	case 'V':
		return quantity(math.Abs(t.Value), unit), true
	case 'P':
		return quantity(math.Abs(t.Peak), unit), true
	case 'L':
		return quantity(math.Abs(t.Threshold), unit), true
	case 'n':
		return quantity(t.Value, ""), true
	case 'm':
		return strings.TrimSuffix(strings.ReplaceAll(t.Metric, "_", " "), " temp"), true
	case 't':
		return rimewatch.Span(t.At.Sub(t.ConditionStartedAt)), true
	default:
		return "", false
	}
}

// quantity is rimewatch.Quantity, but seconds and minutes become spans.
func quantity(v float64, unit string) string {
	switch unit {
	case "s":
		return rimewatch.Span(time.Duration(v * float64(time.Second)))
	case "min":
		if v >= 10 {
			return rimewatch.Span(time.Duration(v * float64(time.Minute)))
		}
	}
	return rimewatch.Quantity(v, unit)
}
