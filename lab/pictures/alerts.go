package pictures

import (
	"fmt"
	"math"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/alert"
	"github.com/rimewatch/rimewatch/internal/engine"
	"github.com/rimewatch/rimewatch/internal/simulate"
	"github.com/rimewatch/rimewatch/lab/plot"
)

// happens is when what a picture shows begins: the unit is known by then.
var happens = start + 5*rimewatch.Day + 10*rimewatch.Hour

// scene is a unit in trouble, as the engine that the service runs sees it.
type scene struct {
	typ       rimewatch.AlertType
	name      string // of the picture, "" = of the type
	title     string
	equipment string
	faults    []simulate.Fault
	what      string        // of what happens, in the picture
	lasts     time.Duration // 0 = to the end of the picture
	before    time.Duration // drawn before it happens
	after     time.Duration // drawn from then on
	change    func(r *rimewatch.Reading)
	silent    bool // no readings while it lasts
	beats     bool // heartbeats once a minute
	inZone    bool // the humidity sensor hangs in the zone
	zoneOnly  bool // nothing else is measured
	panels    []field
}

// field is a panel with one measurement and limits.
type field struct {
	f      rimewatch.Field
	title  string
	limits []plot.Limit
}

func zoneOf(limits ...plot.Limit) field {
	return field{rimewatch.ProductZoneTemp, "Product zone, °C", limits}
}

func limitAt(v float64) plot.Limit { return plot.Limit{Name: "limit", Value: v} }

func critAt(v float64) plot.Limit { return plot.Limit{Name: "critical", Value: v} }

var (
	amps      = field{f: rimewatch.AmpDraw, title: "Current, A"}
	discharge = field{f: rimewatch.CompressorDischargeTemp, title: "Discharge line, °C"}
	suction   = field{f: rimewatch.CompressorSuctionTemp, title: "Suction line, °C"}
	ambient   = field{f: rimewatch.AmbientTemp, title: "Air at the condenser, °C"}
)

func fault(name string, severity float64) []simulate.Fault {
	return []simulate.Fault{{Name: name, Severity: severity}}
}

func plus(f rimewatch.Field, by float64) func(*rimewatch.Reading) {
	return func(r *rimewatch.Reading) { r.Set(f, r.Values[f]+by) }
}

const hours = time.Hour

var scenes = []scene{
	{typ: rimewatch.HighTemperature, title: "high_temperature: the thermostat of a reach-in cooler fails", equipment: "reach_in_cooler", faults: fault("thermostat_stuck_off", 1),
		what: "compressor stays off", lasts: 3 * hours, before: 2 * hours, after: 7 * hours, panels: []field{zoneOf(limitAt(5), critAt(7)), amps}},
	{typ: rimewatch.HighTemperature, name: "high_temperature-defrost", title: "high_temperature waits for defrosts: an open case on a healthy day", equipment: "display_case_open",
		before: 10 * hours, after: 14 * hours, panels: []field{zoneOf(limitAt(5), critAt(8)), amps}},
	{typ: rimewatch.LowTemperature, title: "low_temperature: the thermostat of a vaccine refrigerator sticks", equipment: "vaccine_refrigerator", faults: fault("thermostat_stuck_on", 1),
		what: "compressor never stops", lasts: 90 * time.Minute, before: 2 * hours, after: 5 * hours, panels: []field{zoneOf(plot.Limit{Name: "limit", Value: 2}, critAt(0)), amps}},
	{typ: rimewatch.DeviceOffline, title: "device_offline: a gateway loses its network", equipment: "walkin_cooler", silent: true,
		what: "nothing arrives", lasts: 80 * time.Minute, before: hours, after: 3 * hours, panels: []field{zoneOf(limitAt(5))}},
	{typ: rimewatch.SensorStale, title: "sensor_stale: a logger lives but no longer measures", equipment: "walkin_cooler", silent: true, beats: true,
		what: "only heartbeats", lasts: 60 * time.Minute, before: hours, after: 2 * hours, panels: []field{zoneOf(limitAt(5))}},
	{typ: rimewatch.SensorFault, title: "sensor_fault: a probe is unplugged and reports −127 °C", equipment: "walkin_freezer", faults: fault("sensor_disconnected", 1),
		what: "−127 °C is no temperature", lasts: 45 * time.Minute, before: hours, after: 2 * hours, panels: []field{zoneOf(limitAt(-15)), amps}},
	{typ: rimewatch.PowerLoss, title: "power_loss: a breaker trips", equipment: "reach_in_cooler", faults: fault("power_failure", 1),
		what: "no power", lasts: 40 * time.Minute, before: hours, after: 2 * hours,
		panels: []field{{rimewatch.Voltage, "Voltage, V", []plot.Limit{{Name: "half of nominal", Value: 60}}}, zoneOf(limitAt(5))}},
	{typ: rimewatch.LowVoltage, title: "low_voltage: the supply sags", equipment: "walkin_freezer", faults: fault("voltage_sag", 0.75),
		what: "sag", lasts: 30 * time.Minute, before: hours, after: 90 * time.Minute,
		panels: []field{{rimewatch.Voltage, "Voltage, V", []plot.Limit{limitAt(207), critAt(195.5)}}, amps}},
	{typ: rimewatch.HighVoltage, title: "high_voltage: the supply rises", equipment: "walkin_freezer", faults: fault("phase_or_supply_overvoltage", 0.9),
		what: "overvoltage", lasts: 30 * time.Minute, before: hours, after: 90 * time.Minute,
		panels: []field{{rimewatch.Voltage, "Voltage, V", []plot.Limit{limitAt(253), critAt(264.5)}}}},
	{typ: rimewatch.HighDischargeTemperature, title: "high_discharge_temperature: the charge of a walk-in freezer leaks out", equipment: "walkin_freezer", faults: fault("refrigerant_undercharge", 0.85),
		what: "low on refrigerant", lasts: 40 * hours, before: 18 * hours, after: 86 * hours, panels: []field{discharge, ambient}},
	{typ: rimewatch.LowDischargeTemperature, title: "low_discharge_temperature: liquid reaches the compressor", equipment: "walkin_cooler", faults: fault("liquid_floodback", 1),
		what: "floodback", lasts: 10 * hours, before: 4 * hours, after: 14 * hours, panels: []field{discharge, ambient, amps}},
	{typ: rimewatch.HighSuctionTemperature, title: "high_suction_temperature: a clogged liquid line starves the evaporator", equipment: "walkin_cooler", faults: fault("liquid_line_restriction", 0.8),
		what: "restriction", lasts: 40 * hours, before: 18 * hours, after: 86 * hours, panels: []field{suction, ambient}},
	{typ: rimewatch.LowSuctionTemperature, title: "low_suction_temperature: no superheat left", equipment: "reach_in_cooler", faults: fault("liquid_floodback", 0.7),
		what: "floodback", lasts: 12 * hours, before: 6 * hours, after: 66 * hours, panels: []field{suction, zoneOf()}},
	{typ: rimewatch.HighAmpDraw, title: "high_amp_draw: a compressor draws half as much again", equipment: "walkin_cooler", change: func(r *rimewatch.Reading) {
		if r.Values[rimewatch.AmpDraw] > 5 {
			r.Set(rimewatch.AmpDraw, 1.5*r.Values[rimewatch.AmpDraw])
		}
	}, what: "tight bearing", lasts: 4 * hours, before: 2 * hours, after: 6 * hours, panels: []field{amps}},
	{typ: rimewatch.LowAmpDraw, title: "low_amp_draw: a compressor turns and pumps nothing", equipment: "walkin_freezer", change: func(r *rimewatch.Reading) {
		r.Set(rimewatch.AmpDraw, 3) // a fifth of its usual: below 15 % its meter would be doubted
		r.Set(rimewatch.VibrationLevel, max(0.6, r.Values[rimewatch.VibrationLevel]))
	}, what: "broken valves", lasts: 40 * time.Minute, before: hours, after: 2 * hours, panels: []field{amps, {f: rimewatch.VibrationLevel, title: "Vibration, mm/s"}}},
	{typ: rimewatch.HighVibration, title: "high_vibration: a bearing wears", equipment: "walkin_freezer", faults: fault("bearing_wear", 0.8),
		what: "worn bearing", lasts: 5 * hours, before: 2 * hours, after: 8 * hours, panels: []field{{rimewatch.VibrationLevel, "Vibration, mm/s", []plot.Limit{limitAt(1.8), critAt(4.5)}}}},
	{typ: rimewatch.ShortCycling, title: "short_cycling: an evaporator fan stops and the pressure switch takes over", equipment: "reach_in_cooler", faults: fault("evaporator_fan_failure", 1),
		what: "fan stands still", lasts: 2 * hours, before: 2 * hours, after: 6 * hours, panels: []field{amps, zoneOf(limitAt(5))}},
	{typ: rimewatch.CompressorStartFailure, title: "compressor_start_failure: a start capacitor is dying", equipment: "reach_in_cooler", faults: fault("start_component_failure", 0.9),
		what: "starts fail", lasts: 5 * hours, before: 2 * hours, after: 34 * hours, panels: []field{amps, zoneOf(limitAt(5))}},
	{typ: rimewatch.ExcessiveRunTime, title: "excessive_run_time: a door stands ajar", equipment: "walkin_freezer", faults: fault("door_open", 0.6),
		what: "door ajar", lasts: 30 * hours, before: 12 * hours, after: 72 * hours, panels: []field{amps, zoneOf(limitAt(-15))}},
	{typ: rimewatch.SlowRecovery, title: "slow_recovery: a freezer that does not get cold after its defrost", equipment: "walkin_freezer", change: func(r *rimewatch.Reading) {
		r.Set(rimewatch.ProductZoneTemp, max(-15.9, r.Values[rimewatch.ProductZoneTemp]))
		r.Set(rimewatch.AmpDraw, 15)
	}, what: "half the capacity", lasts: 150 * time.Minute, before: 8 * hours, after: 14 * hours, panels: []field{zoneOf(limitAt(-15)), amps}},
	{typ: rimewatch.SlowWarming, title: "slow_warming: a freezer room of which only the temperature is measured", equipment: "cold_storage", zoneOnly: true, change: func(r *rimewatch.Reading) {
		days := float64(r.At-warms) / float64(rimewatch.Day)
		r.Set(rimewatch.ProductZoneTemp, r.Values[rimewatch.ProductZoneTemp]+0.5*min(days, 20-days))
	}, what: "half a kelvin a day, then back", lasts: 20 * 24 * hours, before: 72 * hours, after: 22 * 24 * hours, panels: []field{zoneOf(limitAt(-15))}},
	{typ: rimewatch.NotCooling, title: "not_cooling: the contactor of a freezer fails", equipment: "walkin_freezer", faults: fault("contactor_open", 1),
		what: "contactor open", lasts: 90 * time.Minute, before: 2 * hours, after: 5 * hours, panels: []field{zoneOf(limitAt(-15)), amps}},
	{typ: rimewatch.DoorOpenSuspected, title: "door_open_suspected: somebody forgot the door of a reach-in cooler", equipment: "reach_in_cooler", faults: fault("door_open", 0.8),
		what: "door open", lasts: 4 * hours, before: 2 * hours, after: 7 * hours, panels: []field{zoneOf(limitAt(5)), amps}},
	{typ: rimewatch.HighHumidity, title: "high_humidity: damp air in the machine room", equipment: "walkin_cooler", change: plus(rimewatch.Humidity, 34),
		what: "the ventilation fails", lasts: 5 * hours, before: 2 * hours, after: 7 * hours, panels: []field{{rimewatch.Humidity, "Humidity, %RH", []plot.Limit{limitAt(75), critAt(90)}}}},
	{typ: rimewatch.LowHumidity, title: "low_humidity: a cooler dries its goods out", equipment: "walkin_cooler", change: plus(rimewatch.Humidity, -22), inZone: true,
		what: "too large a temperature difference", lasts: 4 * hours, before: 2 * hours, after: 6 * hours, panels: []field{{rimewatch.Humidity, "Humidity of the zone, %RH", []plot.Limit{limitAt(55)}}}},
	{typ: rimewatch.HighAmbientTemperature, title: "high_ambient_temperature: the machine room is shut", equipment: "walkin_cooler", change: plus(rimewatch.AmbientTemp, 15),
		what: "doors shut, fan off", lasts: 3 * hours, before: 2 * hours, after: 5 * hours, panels: []field{{rimewatch.AmbientTemp, ambient.title, []plot.Limit{limitAt(35), critAt(43)}}}},
	{typ: rimewatch.LowAmbientTemperature, title: "low_ambient_temperature: frost gets into the machine room", equipment: "walkin_cooler", change: plus(rimewatch.AmbientTemp, -18),
		what: "a window is broken", lasts: 3 * hours, before: 2 * hours, after: 5 * hours, panels: []field{{rimewatch.AmbientTemp, ambient.title, []plot.Limit{limitAt(10)}}}},
}

func alertPictures() []drawn {
	out := make([]drawn, 0, len(scenes))
	for i := range scenes {
		sc := &scenes[i]
		name := sc.name
		if name == "" {
			name = string(sc.typ)
		}
		out = append(out, drawn{"alert-" + name, sc.draw})
	}
	return out
}

// warms is when a unit begins to warm up slowly: it is known by then.
var warms = start + 18*rimewatch.Day

// at is when it happens: of a slow recovery at the end of a defrost.
func (sc *scene) at() (rimewatch.Time, error) {
	switch sc.typ {
	case rimewatch.SlowWarming:
		return warms, nil
	case rimewatch.NotCooling: // in its first week a unit is given an hour, for deliveries are weekly
		return happens + 7*rimewatch.Day, nil
	}
	if sc.typ != rimewatch.SlowRecovery {
		return happens, nil
	}
	r, err := record(sc.equipment, start, happens+rimewatch.Day)
	if err != nil {
		return 0, err
	}
	for i := 1; i < len(r.truths); i++ {
		if r.times[i] > happens && !r.truths[i].Defrosting && r.truths[i-1].Defrosting {
			return r.times[i], nil
		}
	}
	return 0, fmt.Errorf("no defrost")
}

func (sc *scene) draw() (*plot.Trace, error) {
	begins, err := sc.at()
	if err != nil {
		return nil, err
	}
	end := begins.Add(sc.after)
	over := end
	if sc.lasts > 0 {
		over = begins.Add(sc.lasts)
	}
	faults := append([]simulate.Fault(nil), sc.faults...)
	for i := range faults {
		faults[i].Onset, faults[i].End = begins, over
	}
	r, err := record(sc.equipment, start, end, faults...)
	if err != nil {
		return nil, err
	}
	happening := func(at rimewatch.Time) bool { return sc.what != "" && at >= begins && at < over }
	missing := make([]bool, len(r.readings))
	for i := range r.readings {
		if sc.inZone {
			r.readings[i].Set(rimewatch.Humidity, r.readings[i].Values[rimewatch.Humidity]+15)
		}
		if sc.zoneOnly {
			r.readings[i].Present &= 1 << rimewatch.ProductZoneTemp
		}
		if !happening(r.times[i]) {
			continue
		}
		missing[i] = sc.silent
		if sc.change != nil {
			sc.change(&r.readings[i])
		}
	}
	log := sc.judge(r, missing)
	trace := &plot.Trace{Title: sc.title, Width: 760}
	if sc.what != "" {
		trace.Shades = []plot.Shade{{Name: sc.what, From: begins, To: over, Color: "#eef0f2"}}
	}
	trace.Marks = sc.marks(log)
	if (len(trace.Marks) == 0) != (sc.what == "") {
		return nil, fmt.Errorf("%d transitions of %s", len(trace.Marks), sc.typ)
	}
	sc.fill(trace, r, missing, begins.Add(-sc.before))
	return trace, nil
}

// fill adds the panels from a moment on.
func (sc *scene) fill(trace *plot.Trace, r *recording, missing []bool, from rimewatch.Time) {
	first := 0
	for r.times[first] < from {
		first++
	}
	trace.Times = r.times[first:]
	for _, p := range sc.panels {
		values := make([]float64, len(trace.Times))
		for i := range values {
			reading := &r.readings[first+i]
			values[i] = reading.Values[p.f]
			if missing[first+i] || !reading.Present.Has(p.f) || !p.f.Plausible(values[i]) {
				values[i] = math.NaN()
			}
		}
		trace.Panels = append(trace.Panels, plot.Panel{Title: p.title, Series: []plot.Series{{Values: values}}, Limits: p.limits})
	}
}

// judge lets the engine live through a recording as the service would.
func (sc *scene) judge(r *recording, missing []bool) []alert.Transition {
	c := engine.ConfigOf(&rimewatch.Device{EquipmentType: sc.equipment})
	c.Alert.HumidityInZone = sc.inZone
	var (
		s    engine.State
		tick = engine.Input{Kind: engine.Tick}
		log  []alert.Transition
	)
	for i := range r.readings {
		at := r.times[i]
		for due := s.Deadline(&c, nil); due != 0 && due < at; due = s.Deadline(&c, nil) {
			before := s
			log, _ = s.Step(&c, nil, &tick, due, log)
			if s == before {
				break
			}
		}
		if !missing[i] {
			log, _ = s.Step(&c, nil, &engine.Input{Kind: engine.Reading, Reading: &r.readings[i], Last: true}, at, log)
		} else if sc.beats {
			log, _ = s.Step(&c, nil, &engine.Input{Kind: engine.Heartbeat}, at, log)
		}
		log, _ = s.Step(&c, nil, &tick, at, log)
	}
	return log
}

// marks are the moments of the alert that the picture is about.
func (sc *scene) marks(log []alert.Transition) []plot.Mark {
	const amber, red, green = "#a15c00", "#b00020", "#00663f"
	var out []plot.Mark
	for i := range log {
		t := &log[i]
		if t.Type != sc.typ {
			continue
		}
		switch {
		case t.Kind == rimewatch.TransitionOpened && t.Severity == rimewatch.Critical:
			out = append(out, plot.Mark{Name: "opens, critical", At: t.At, Color: red})
		case t.Kind == rimewatch.TransitionOpened:
			out = append(out, plot.Mark{Name: "opens", At: t.At, Color: amber})
		case t.Kind == rimewatch.TransitionEscalated:
			out = append(out, plot.Mark{Name: "critical", At: t.At, Color: red})
		case t.Kind == rimewatch.TransitionDeescalated:
			out = append(out, plot.Mark{Name: "a warning again", At: t.At, Color: amber})
		case t.Kind == rimewatch.TransitionResolved:
			out = append(out, plot.Mark{Name: "closes", At: t.At, Color: green})
		}
	}
	return out
}
