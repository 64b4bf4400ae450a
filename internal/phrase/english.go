package phrase

import (
	"cmp"
	"strings"
	"time"

	"github.com/rimewatch/rimewatch"
)

// conditions are the texts of the rules.
var conditions = map[key]entry{
	{typ: rimewatch.HighTemperature}: {
		title: "Too warm", ending: "Temperature back in range",
		what: "The product zone is at %v (limit %l) and has been too warm for %t.", over: "The product zone is back in range at %v. It was too warm for %t; the highest was %p.",
		begun:  "The product zone is at %v, above its limit of %l.",
		urgent: "Check food before it is used or sold; quarantine medicine and ask its manufacturer.", do: "Check that the door is shut, the evaporator fan is turning and the compressor is running.",
	},
	{typ: rimewatch.LowTemperature}: {
		title: "Too cold", ending: "Temperature back in range",
		what: "The product zone is at %v (limit %l) and has been too cold for %t.", over: "The product zone is back in range at %v. It was too cold for %t; the lowest was %p.",
		begun:  "The product zone is at %v, below its limit of %l.",
		urgent: "Check food for freezing before it is used or sold; quarantine medicine and ask its manufacturer.", do: "Check the thermostat setting, and whether the compressor ever stops.",
	},
	{typ: rimewatch.DeviceOffline}: {
		title: "Offline", ending: "Online again",
		what: "It has stopped reporting, so nobody can see its temperature.", over: "It is reporting again after %v of silence.",
		do: "Check its power, its gateway and the network.",
	},
	{typ: rimewatch.SiteOffline}: {
		title: "Site offline", ending: "Site online again",
		what: "%n of its %o devices stopped reporting at the same time, so nobody can see their temperatures.", over: "Its devices are reporting again after %t.",
		urgent: "It has been so long that the temperatures should be read by hand.", do: "Check the site's power first, then its gateway and its internet connection.",
	},
	{typ: rimewatch.SensorStale}: {
		title: "No measurements", ending: "Measurements are back",
		what: "It is online but has sent no measurements for %v.", over: "Measurements are arriving again after %v.",
		do: "Check the probe's plug and cable, then the logger.",
	},
	{rimewatch.SensorStale, rimewatch.ZoneAge}: {
		title: "No temperature", ending: "Temperature is back",
		what: "It has sent no product temperature for %v, while its other measurements arrive. Nobody can see whether the goods are too warm.", over: "Its product temperature is arriving again after %v.",
		do: "Check that probe's plug and cable. Until then, read the temperature by hand.",
	},
	{rimewatch.SensorStale, anyField}: {
		title: "%M no longer measured", ending: "%M is measured again",
		what: "Its %m has not been arriving for %t, while its other measurements are.", over: "Its %m is arriving again after %t.",
		do: "Check that sensor's plug and cable. If it was taken out on purpose, this ends by itself after a week without it.",
	},
	{typ: rimewatch.SensorFault}: {
		title: "%M sensor faulty", ending: "%M sensor working again",
		what: "The %m sensor has been reporting values that cannot be right for %t. They are being ignored.", over: "The %m sensor is reporting plausible values again. It was faulty for %t.",
		do: "Check that the probe sits where it belongs, then its plug and cable, and replace it if need be. Until then, read this value by hand.",
	},
	{rimewatch.SensorFault, rimewatch.AllTemperatures}: {
		title: "All temperatures look like °F", ending: "Temperatures look like °C again",
		what: "Its temperatures have been arriving as if they were in °F for %t. Only the limits of the product zone are still applied to them.", over: "Its temperatures arrive in °C again. They looked like °F for %t.",
		do: "Set the device or its gateway to °C, or to convert what it sends. Until then, read the product temperature by hand.",
	},
	{rimewatch.SensorFault, rimewatch.ZoneAndAmbient}: {
		title: "Product zone and ambient look swapped", ending: "Product zone and ambient are right again",
		what: "The product zone shows what the ambient did and the other way round, for %t now. Only the limits of the product zone are still applied to them.", over: "Product zone and ambient each show their own temperature again. They looked swapped for %t.",
		do: "Check which probe hangs where, or how they are named in the device or its gateway. Until then, read the product temperature by hand.",
	},
	{rimewatch.SensorFault, rimewatch.DischargeAndSuction}: {
		title: "Discharge and suction look swapped", ending: "Discharge and suction are right again",
		what: "With the compressor running, the suction line has been showing hotter gas than the discharge line for %t. Both are being ignored.", over: "The discharge line is hotter than the suction line again. They looked swapped for %t.",
		do: "Check which probe sits on which line, or how they are named in the device or its gateway.",
	},
	{rimewatch.SensorFault, rimewatch.ZoneStill}: {
		title: "Product temperature has stopped changing", ending: "Product temperature changing again",
		what: "The product zone has not changed for %t, far longer than it ever stands still. A value that cannot move proves nothing: its limits are not applied to it.", over: "The product zone is changing again after %t.",
		do: "Does the probe still measure? Warm it with your hand and watch the value; check its plug, and whether the device sends its setpoint instead. Until then, read the temperature by hand.",
	},
	{rimewatch.SensorFault, rimewatch.ZoneJump}: {
		title: "Product probe probably moved", ending: "Product probe steady again",
		what: "The product zone jumped by %v from one reading to the next, as hardly any room can.", over: "The product zone has been steady again for an hour after a jump of %p.",
		do: "Check that the probe hangs where it belongs. If nobody moved it, the zone really is that warm: look at once. Its limits are judged all the same.",
	},
	{typ: rimewatch.PowerLoss}: {
		title: "No power", ending: "Power is back",
		what: "The supply voltage is down to %v.", over: "The supply is back at %v after %t without power.",
		do: "Keep the doors shut. Check the breaker, then the supply.",
	},
	{typ: rimewatch.LowVoltage}: {
		title: "Voltage too low", ending: "Voltage back to normal",
		what: "The supply is at %v (limit %l) and has been too low for %t.", over: "The supply is back at %v. It was too low for %t; the lowest was %p.",
		do: "Find out whether other units are affected: if so, call the utility; otherwise check this unit's wiring. Motors overheat on low voltage.",
	},
	{typ: rimewatch.HighVoltage}: {
		title: "Voltage too high", ending: "Voltage back to normal",
		what: "The supply is at %v (limit %l) and has been too high for %t.", over: "The supply is back at %v. It was too high for %t; the highest was %p.",
		do: "Have the supply measured before electronics and motor windings are damaged.",
	},
	{typ: rimewatch.HighDischargeTemperature}: {
		title: "Compressor running hot", ending: "Discharge temperature back in range",
		what: "The discharge line is at %v (limit %l).", over: "The discharge line is back at %v. The highest was %p.",
		urgent: "Stop the compressor if it does not cool down: this heat ruins it within days.", do: "Clean the condenser and check that its fan is turning, then check the charge. Oil breaks down in this heat.",
	},
	{rimewatch.HighDischargeTemperature, "compressor_discharge_temp_deviation"}: {
		title: "Discharge line hotter than usual", ending: "Discharge line as usual again",
		what: "The discharge line is %v hotter than usual for this ambient temperature (alert at %l).", over: "The discharge line is back to its usual temperature. At worst it was %p hotter.",
		do: "Possible causes are a dirty condenser, a low charge or worn valves. Start with the condenser.",
	},
	{typ: rimewatch.LowDischargeTemperature}: {
		title: "Discharge line too cold", ending: "Discharge temperature back in range",
		what: "The discharge line is only %v above ambient while running; it should be at least %l.", over: "The discharge line is %v above ambient again.",
		do: "Liquid is reaching the compressor: check the expansion valve, its bulb and the evaporator fan.",
	},
	{typ: rimewatch.HighSuctionTemperature}: {
		title: "Suction line too warm", ending: "Suction temperature back in range",
		what: "The suction line is at %v while running (limit %l).", over: "The suction line is back at %v. The highest was %p.",
		do: "Check the charge, then the expansion valve and the insulation of the line.",
	},
	{rimewatch.HighSuctionTemperature, "compressor_suction_temp_deviation"}: {
		title: "Suction line warmer than usual", ending: "Suction line as usual again",
		what: "The suction line is %v warmer than usual for this ambient temperature (alert at %l).", over: "The suction line is back to its usual temperature. At worst it was %p warmer.",
	},
	{typ: rimewatch.LowSuctionTemperature}: {
		title: "Suction line too cold", ending: "Suction temperature back in range",
		what: "The suction line is %V colder than the product zone while running (limit %L), which leaves almost no superheat.", over: "The suction line has its superheat back.",
		do: "Liquid may reach the compressor: look for ice on the evaporator, then check its fan and the expansion valve.",
	},
	{rimewatch.LowSuctionTemperature, "compressor_suction_temp_deviation"}: {
		title: "Suction line colder than usual", ending: "Suction line as usual again",
		what: "The suction line is %V colder than usual for this ambient temperature (alert at %L).", over: "The suction line is back to its usual temperature. At worst it was %P colder.",
	},
	{typ: rimewatch.HighAmpDraw}: {
		title: "Current too high", ending: "Current back in range",
		what: "The compressor is drawing %v (limit %l).", over: "The compressor is drawing %v again. The highest was %p.",
		urgent: "Stop it before the overload protector does.", do: "Check the condenser and the voltage first, then the compressor bearings.",
	},
	{rimewatch.HighAmpDraw, "amp_draw_deviation"}: {
		title: "Current higher than usual", ending: "Current as usual again",
		what: "The compressor is drawing %v more than usual for this ambient temperature (alert at %l).", over: "The compressor is drawing its usual current again. At worst it was %p more.",
	},
	{typ: rimewatch.LowAmpDraw}: {
		title: "Current too low", ending: "Current back in range",
		what: "The unit is vibrating but drawing only %v; it should be at least %l.", over: "The current is back at %v.",
		do: "The fan may be running alone: check the contactor and the compressor windings.",
	},
	{typ: rimewatch.HighVibration}: {
		title: "Vibration too high", ending: "Vibration back in range",
		what: "The compressor is vibrating at %v (limit %l).", over: "The vibration is back at %v. The highest was %p.",
		urgent: "Have it looked at today.", do: "Check mounts and pipe clamps, then listen to the bearings before the compressor seizes.",
	},
	{typ: rimewatch.ShortCycling}: {
		title: "Short cycling", ending: "Cycling normally again",
		what: "The compressor has started %v times in the last hour (limit %l).", over: "The compressor is down to %v starts an hour.",
		do: "Check the condenser and its fan, the pressure switches and the thermostat differential. Every start costs it oil.",
	},
	{rimewatch.ShortCycling, "run_length"}: {
		what: "The compressor is running for only %v at a time; it should be at least %l.", over: "The compressor is running for %v at a time again.",
	},
	{typ: rimewatch.CompressorStartFailure}: {
		title: "Compressor failing to start", ending: "Compressor starting again",
		what: "The compressor has failed to start %v times in the last 24 hours.", over: "The compressor has started and run since.",
		do: "Measure the voltage while it tries to start, then check the start capacitor and relay.",
	},
	{rimewatch.CompressorStartFailure, "failed_starts_per_hour"}: {
		what: "The compressor has failed to start %v times in the last two hours.",
	},
	{typ: rimewatch.ExcessiveRunTime}: {
		title: "Compressor running almost non-stop", ending: "No longer running almost non-stop",
		what: "The compressor has been running %v of the time (limit %l).", over: "The compressor is running %v of the time now.",
		do: "Check door seals, ice on the evaporator, the condenser and the charge.",
	},
	{rimewatch.ExcessiveRunTime, rimewatch.DeviationOf(rimewatch.RunTimeShare)}: {
		title: "Compressor running more than usual", ending: "Run time as usual again",
		what: "The compressor is running %n percentage points more than usual for this ambient temperature.", over: "The compressor is running its usual share of the time again.",
	},
	{typ: rimewatch.SlowRecovery}: {
		title: "Slow to recover from defrost", ending: "Recovering from defrost normally again",
		what: "The product zone was still not cold again %p after a defrost began, which is longer than this unit usually needs.", over: "It is recovering from its defrosts as usual again.",
		do: "Check for ice left on the evaporator, an open door or too little cooling capacity.",
	},
	{typ: rimewatch.SlowWarming}: {
		title: "Warming up slowly", ending: "No longer warming up slowly",
		what: "The product zone has been warming up little by little for %t: from a daily average of %l to %v.", over: "The product zone has given back at least half of the warming and averages %v. It lasted %t; the warmest day averaged %p.",
		do: "Look for ice on the evaporator, a fan that stands still, a dirty condenser or a door that no longer seals. If the unit was set warmer on purpose, resolve this alert.",
	},
	{typ: rimewatch.BatteryLow}: {
		title: "Battery low", ending: "Battery no longer low",
		what: "The battery of its sensor is down to %v. When it is empty, nobody can see the temperature any more.", over: "The battery of its sensor is at %v again.",
		do: "Change or charge the battery. A cold sensor empties it sooner than its display shows.",
	},
	{rimewatch.BatteryLow, rimewatch.BatteryFlag}: {
		title: "Battery low", ending: "Battery no longer low",
		what: "Its sensor reports that its battery is low. When it is empty, nobody can see the temperature any more.", over: "Its sensor no longer reports a low battery.",
		do: "Change or charge the battery.",
	},
	{typ: rimewatch.NotCooling}: {
		title: "Not cooling", ending: "Cooling again",
		what: "The product zone is at %v; this unit usually cools before it reaches %l. It has not cooled as usual for %t, and the zone does not become colder.", over: "The unit cools as it usually does, and the product zone is at %v. It had not for %t; the highest was %p.",
		urgent: "Move the goods if it does not cool soon.", do: "Check that it is switched on, that its door is shut and its fans turn, then call a technician.",
		soon: "A defrost that takes far longer than its others, goods loaded warm, or a thermostat that was set warmer look the same at first.",
	},
	{rimewatch.NotCooling, string(rimewatch.UnmetNoCurrent)}: {
		title: "Not cooling: no current",
		what:  "The product zone is at %v; this unit usually cools before it reaches %l. It has not cooled as usual for %t: its compressor draws no current.",
		do:    "Check the switch, the breaker and the thermostat, then have the contactor and the overload protector checked.",
		soon:  "A defrost that takes far longer than its others, or a thermostat that was set warmer, looks the same at first.",
	},
	{rimewatch.NotCooling, string(rimewatch.UnmetLockedRotor)}: {
		title: "Not cooling: the compressor does not start",
		what:  "The product zone is at %v; this unit usually cools before it reaches %l. It has not cooled as usual for %t: its compressor tries to start and does not run.",
		do:    "Have the voltage measured while it tries to start, then the start capacitor and the relay checked. A compressor that has seized looks the same.",
	},
	{rimewatch.NotCooling, string(rimewatch.UnmetNoRun)}: {
		title: "Not cooling: the compressor does not run",
		what:  "The product zone is at %v; this unit usually cools before it reaches %l. It has not cooled as usual for %t: its compressor does not run.",
		do:    "Check the switch, the breaker and the thermostat, then have the contactor and the overload protector checked.",
		soon:  "A defrost that takes far longer than its others, or a thermostat that was set warmer, looks the same at first.",
	},
	{rimewatch.NotCooling, string(rimewatch.UnmetNoEffect)}: {
		title: "Not cooling although it runs",
		what:  "The product zone is at %v; this unit usually cools before it reaches %l. It has not cooled as usual for %t: its compressor runs, but the zone does not become colder.",
		do:    "Check the door, that the evaporator fan turns and that the coil is free of ice, then the condenser and the charge.",
		soon:  "Goods loaded warm look the same for a while.",
	},
	{rimewatch.NotCooling, string(rimewatch.UnmetBegun)}: {
		title: "Not cooling as usual",
		what:  "The product zone is at %v. Its compressor has run or the zone has become colder since, but it has not come down to where this unit usually stops. It has not cooled as usual for %t.",
		do:    "Check that its door is shut and its fans turn. Call a technician if the zone does not go on becoming colder.",
		soon:  "Goods loaded warm, or a thermostat that was set warmer, look the same for a while.",
	},
	{typ: rimewatch.DoorOpenSuspected}: {
		title: "Door probably open", ending: "Door probably closed again",
		what: "The compressor has not stopped for %v and the product zone is staying warmer than usual.", begun: "The compressor keeps running and the product zone is staying warmer than usual.", over: "The product zone is returning to its usual temperature.",
		do: "Shut the door and check that the gasket seals. Goods loaded warm look the same for a while.",
	},
	{rimewatch.DoorOpenSuspected, rimewatch.DoorReportedTime}: {
		title: "Door open", ending: "Door closed again",
		what: "The door has been open for %v.", begun: "The door is open.", over: "The door is closed again.",
		do: "Shut the door and check that the gasket seals.",
	},
	{typ: rimewatch.HighHumidity}: {
		title: "Humidity too high", ending: "Humidity back to normal",
		what: "The air is at %v (limit %l) and has been too humid for %t.", over: "The air is back at %v. The highest was %p.",
		do: "Expect frost and condensation: check door heaters, doors and ventilation.",
	},
	{typ: rimewatch.LowHumidity}: {
		title: "Humidity too low", ending: "Humidity back to normal",
		what: "The air in the product zone is at %v (limit %l) and has been too dry for %t.", over: "The air in the product zone is back at %v. The lowest was %p.",
		do: "Open goods dry out: cover them, and check the temperature difference across the evaporator.",
	},
	{typ: rimewatch.HighAmbientTemperature}: {
		title: "Surroundings too warm", ending: "Surroundings back to normal",
		what: "The air at the condenser is at %v (limit %l) and has been too warm for %t.", over: "The air at the condenser is back at %v. The highest was %p.",
		do: "Ventilate the machine room, and check that the condenser is not drawing in its own exhaust air.",
	},
	{typ: rimewatch.LowAmbientTemperature}: {
		title: "Surroundings too cold", ending: "Surroundings back to normal",
		what: "The air at the condenser is at %v (limit %l) and has been too cold for %t.", over: "The air at the condenser is back at %v. The lowest was %p.",
		do: "Check the head-pressure control and the crankcase heater.",
	},
}

// sitePartly is for a site that is back while some of its devices are not.
const sitePartly = "Some of its %o devices are reporting again after %t. Still silent: %n. Each has its own alert."

// unknown is for a type that this version does not know.
var unknown = entry{title: "Needs attention", ending: "No longer so", what: "Something is not as usual.", over: "That is no longer so."}

// elsewhere is for a unit that cools, but at another level than when it was found not to.
const elsewhere = "It cools and stops by itself, at another temperature than before. It had not been cooling as usual for %t; the highest was %p."

const relearningEnding = "Learning what is normal again"

// supersededEnding and supersededBy are the headlines and the sentences of alerts that
// ended because they are judged otherwise.
var (
	supersededEnding = map[rimewatch.Superseded]string{
		rimewatch.SupersededLimits:   "Judged by other limits now",
		rimewatch.SupersededUnjudged: "Not judged any more",
	}
	supersededBy = map[rimewatch.Superseded]string{
		rimewatch.SupersededLimits:   "The limits were changed, and %v is within the new ones.",
		rimewatch.SupersededUnjudged: "The limits or the type were changed, and nothing judges this any more.",
	}
)

// typeNames are those of types whose headlines depend on the alert.
var typeNames = map[rimewatch.AlertType]string{
	rimewatch.SensorFault:                "Faulty sensor",
	rimewatch.ExcessiveRunTime:           "Compressor running too much",
	rimewatch.CompressorFailurePredicted: "Compressor failure expected",
	rimewatch.RefrigerantLeakSuspected:   "Possible refrigerant leak",
	rimewatch.CondenserFoulingSuspected:  "Possible condenser problem",
	rimewatch.EvaporatorIcingSuspected:   "Possible evaporator icing",
}

// relearning says why an alert has ended that was based on what was normal for
// its unit.
func (w Words) relearning(why rimewatch.Relearning) string {
	because := map[rimewatch.Relearning]string{
		rimewatch.RelearnMaintenance: "The maintenance is over",
		rimewatch.RelearnFixed:       "A repair was reported",
		rimewatch.RelearnFalseAlarm:  "A prediction was reported as a false alarm",
		rimewatch.RelearnNormal:      "Somebody said that what this unit does is normal now",
		rimewatch.RelearnSilence:     "The unit had not reported for two weeks",
	}[why]
	return w.Sayf("%s, so what is normal for this unit is being learned again. This alert was based on what was normal before.", w.Say(cmp.Or(because, "Something has changed")))
}

const noLongerCritical = "It is no longer critical."

const flappingNote = "It keeps coming and going, so it stays open until it has been quiet for an hour."

func (w Words) cameBack(times int) string {
	if times <= 1 {
		return ""
	}
	return w.Sayf("It happened %d times.", times)
}

// hold says how long the cold will last without power.
func (w Words) hold(h *float64) string {
	switch {
	case h == nil:
		return ""
	case *h <= 0:
		return w.Say("The product zone is already above its limit.")
	}
	left := time.Duration(*h * float64(time.Hour)).Round(5 * time.Minute)
	if left == 0 {
		return w.Say("At this rate the product zone will be too warm within minutes.")
	}
	return w.Sayf("At this rate the product zone will be too warm in about %s.", w.Span(left))
}

// Known reports whether there is a name for a measure.
func Known(metric string) bool {
	_, known := rimewatch.MeasureLabel(metric)
	return known
}

// Measure names a measure inside a sentence: "discharge temperature".
func (w Words) Measure(metric string) string {
	label, known := rimewatch.MeasureLabel(metric)
	if !known {
		return strings.ReplaceAll(metric, "_", " ")
	}
	label = w.Say(label)
	if label[1:] == strings.ToUpper(label[1:]) { // not CO₂
		return label
	}
	return strings.ToLower(label[:1]) + label[1:]
}

// ScoreDriver says what a component of a device's health score stands for.
func (w Words) ScoreDriver(component string) string {
	return w.Say(cmp.Or(scoreDrivers[component], component))
}

var scoreDrivers = map[string]string{
	"temperature":         "Product temperature out of its limits within the last day.",
	"discharge_suction":   "Discharge or suction temperature out of range.",
	"electrical":          "Voltage, current or power supply out of range.",
	"vibration":           "The compressor vibrates more than it should.",
	"cycling":             "The compressor starts too often or runs too long.",
	"predicted_fault":     "A fault is predicted.",
	"sensor_fault":        "A sensor reports implausible values.",
	"data_freshness":      "Readings are missing.",
	"calibration":         "The calibration of a probe is overdue.",
	"open_critical_alert": "A critical alert is active.",
	"open_warning_alert":  "A warning is active.",
	"offline":             "The device is offline.",
}
