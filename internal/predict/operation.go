package predict

import (
	"math"

	"github.com/rimewatch/rimewatch"
)

// Phase is what a unit is doing.
type Phase uint8

// The phases of operation.
const (
	Unknown    Phase = iota // not enough seen
	Off                     // the thermostat is satisfied
	Running                 // in normal cooling
	Defrosting              // stopped although the zone is warmer than where cooling usually starts
	Recovering              // cooling back after a defrost, a power loss, a gap or a standstill
	Stopped                 // stands still much longer than any defrost, with power
	NoPower                 // the supply is gone
)

var phaseNames = [...]string{"unknown", "off", "running", "defrosting", "recovering", "stopped", "no_power"}

// String names the phase as the API does.
func (p Phase) String() string { return phaseNames[p] }

// operation follows the compressor through its cycles and learns what is usual
// for the unit.
type operation struct {
	at      rimewatch.Time // of the newest reading
	since   rimewatch.Time // the phase began
	started rimewatch.Time // the newest run began
	lastOn  rimewatch.Time
	trips   [6]rimewatch.Time // newest stops with the zone still warm, oldest overwritten
	failed  [4]rimewatch.Time // newest failed starts
	amps    level
	vib     level

	nominal   float32        // V, usual supply
	zone      float32        // °C, smoothed over some readings
	cutIn     float32        // °C of zone at which a run usually begins
	cutOut    float32        // and ends
	newOut    float32        // °C of zone at which runs now end instead
	shifted   uint8          // runs that did
	runMin    float32        // min that a run usually lasts
	offMin    float32        // min between two runs
	runs      uint16         // learnt from
	spikedAt  rimewatch.Time // the current rose far above that of running
	spiking   bool           // and is still there
	spikeAt   float32        // A of a start that has not yet been seen to succeed
	spikeSeen float32        // A of the newest one
	tripN     uint8
	failN     uint8
	phase     Phase

	// The run that goes on or has just ended, and the defrost before it.
	thawed   bool    // the run recovers from a defrost or a standstill
	beganAt  float32 // °C of zone when it began
	endAmps  float32 // A at its end
	meltFrom float32 // °C of zone when the compressor stopped before the defrost
	meltTop  float32 // °C, warmest zone in it
}

// The gap after which a unit's phase is not known any more.
const lostAfter = 20 * rimewatch.Minute

// cycle is what a reading brought about.
type cycle struct {
	dt       float64 // min that the reading stands for
	tripped  bool    // a run ended without reaching its goal
	failed   bool    // a start failed
	melted   bool    // a defrost ended
	meltRise float32 // K that the zone rose in it
}

// step takes a reading newer than all before.
func (o *operation) step(r *rimewatch.Reading, defrost *rimewatch.Defrost, learning bool) cycle {
	gap := o.at == 0 || r.At-o.at > lostAfter
	c := cycle{}
	if o.at != 0 && !gap {
		c.dt = float64(r.At-o.at) / float64(rimewatch.Minute)
	}
	o.at = r.At
	if z, ok := r.Value(rimewatch.ProductZoneTemp); ok {
		o.zone += 0.3 * (float32(z) - o.zone)
	}
	on, known, spike := o.compressor(r)
	if gap || !known {
		o.phase, o.since, o.spikeAt = Unknown, r.At, 0
		if known && on {
			o.phase, o.started = Recovering, r.At
		}
		return c
	}
	if o.lostPower(r, learning) {
		if o.phase != NoPower {
			o.phase, o.since, o.spikeAt = NoPower, r.At, 0
		}
		return c
	}
	c.failed = o.failedStart(r, on, spike)
	if on {
		o.lastOn = r.At
	}
	zone, haveZone := r.Value(rimewatch.ProductZoneTemp)
	was := o.phase
	cooling := was == Running || was == Recovering
	switch {
	case on && !cooling:
		o.begin(r.At, was, float32(zone), haveZone, &c)
	case !on && cooling:
		o.end(r.At, float32(zone), haveZone, &c)
	case !on:
		o.rest(r, defrost, float32(zone), haveZone)
	case was == Recovering:
		// Back where a run usually begins, or as cold as it gets.
		limit := rimewatch.Time(max(90, 2*defrost.RecoverMin)) * rimewatch.Minute
		if o.runs > 0 && haveZone && float32(zone) <= o.cutIn || r.At-o.started > limit {
			o.phase = Running
		}
	}
	if on && !spike {
		if a, ok := r.Value(rimewatch.AmpDraw); ok {
			o.endAmps = float32(a)
		}
	}
	return c
}

// compressor tells whether it runs: by the device's own word, else by current,
// else by vibration, else by how much warmer than its surroundings the
// discharge line is.
func (o *operation) compressor(r *rimewatch.Reading) (on, known, spike bool) {
	amps, haveAmps := r.Value(rimewatch.AmpDraw)
	if haveAmps {
		if o.lastOn != 0 && r.At-o.lastOn > 12*rimewatch.Hour {
			o.amps.forget()
			o.lastOn = r.At
		}
		on, known, spike = o.amps.observe(float32(amps), 0.15)
	}
	if sent, ok := r.Flags.Bool(rimewatch.CompressorOn); ok {
		return sent, true, spike
	}
	if haveAmps {
		return on, known, spike
	}
	if v, ok := r.Value(rimewatch.VibrationLevel); ok {
		on, known, _ = o.vib.observe(float32(v), 0.1)
		return on, known, false
	}
	d, ok1 := r.Value(rimewatch.CompressorDischargeTemp)
	a, ok2 := r.Value(rimewatch.AmbientTemp)
	return d-a > 25, ok1 && ok2, false
}

func (o *operation) lostPower(r *rimewatch.Reading, learning bool) bool {
	v, ok := r.Value(rimewatch.Voltage)
	if !ok {
		return false
	}
	if o.nominal == 0 {
		o.nominal = float32(v)
	}
	if v < 0.5*float64(o.nominal) {
		return true
	}
	if learning {
		o.nominal += 0.0005 * (float32(v) - o.nominal)
	}
	return false
}

// failedStart sees a locked rotor: a current far above that of running, and
// then no run.
func (o *operation) failedStart(r *rimewatch.Reading, on, spike bool) bool {
	amps, ok := r.Value(rimewatch.AmpDraw)
	if spike {
		// A protector opens within seconds. What is still there a minute later is
		// another load, such as a defrost heater.
		if o.spiking && r.At-o.spikedAt >= rimewatch.Minute {
			o.spikeAt = 0
			return false
		}
		if !o.spiking {
			o.spiking, o.spikedAt = true, r.At
		}
		o.spikeAt = float32(amps)
		return false
	}
	o.spiking = false
	if o.spikeAt == 0 || !ok {
		return false
	}
	failed := !on && o.phase != Running && o.phase != Recovering
	o.spikeSeen, o.spikeAt = o.spikeAt, 0
	if failed {
		o.failed[o.failN%uint8(len(o.failed))] = r.At
		o.failN = (o.failN + 1) % (2 * uint8(len(o.failed)))
	}
	return failed
}

func (o *operation) begin(at rimewatch.Time, was Phase, zone float32, haveZone bool, c *cycle) {
	rest := float32(at-o.since) / float32(rimewatch.Minute)
	warm := haveZone && o.runs > 0 && zone > o.cutIn+o.band()
	if was == Defrosting && recent(at, 2*rimewatch.Hour, o.failed[:])+recent(at, 2*rimewatch.Hour, o.trips[:]) == 0 {
		c.melted, c.meltRise = true, max(o.meltTop, zone)-o.meltFrom
	}
	o.phase = Running
	if was != Off || warm {
		o.phase, o.thawed = Recovering, was != Off
	}
	if was == Off && !warm && haveZone {
		learn := o.rate()
		o.cutIn += learn * (zone - o.cutIn)
		o.offMin += learn * (min(rest, 240) - o.offMin)
	}
	o.since, o.started = at, at
	o.beganAt = zone
}

func (o *operation) end(at rimewatch.Time, zone float32, haveZone bool, c *cycle) {
	ran := float32(at-o.started) / float32(rimewatch.Minute)
	satisfied := haveZone && (o.runs < 3 || zone <= o.cutOut+0.4*(o.cutIn-o.cutOut)+0.2)
	switch {
	case o.phase == Running && satisfied:
		learn := o.rate()
		o.cutOut += learn * (zone - o.cutOut)
		o.runMin += learn * (min(ran, 480) - o.runMin)
		o.runs = min(o.runs+1, 60000)
		o.shifted = 0
	case haveZone && o.runs >= 20 && o.fruitless(ran, zone):
		c.tripped = true
		o.trips[o.tripN%uint8(len(o.trips))] = at
		o.tripN = (o.tripN + 1) % (2 * uint8(len(o.trips)))
	case haveZone && !satisfied:
		o.resettle(zone)
	}
	o.phase, o.since = Off, at
	o.meltFrom, o.meltTop = zone, zone
}

// resettle sees that the thermostat was set anew: run after run cools as it
// should and ends at the same zone temperature, but not at the usual one.
func (o *operation) resettle(zone float32) {
	usual := o.cutIn - o.cutOut
	if math.Abs(float64(zone-o.newOut)) > max(0.3, 0.5*float64(usual)) || o.beganAt-zone < 0.6*usual {
		o.newOut, o.shifted = zone, 0
		return
	}
	o.newOut += 0.3 * (zone - o.newOut)
	if o.shifted++; o.shifted >= 6 {
		o.cutOut, o.cutIn, o.shifted = o.newOut, o.newOut+usual, 0
	}
}

// fruitless tells a run that a protector ended from one that the thermostat
// did: it was short, or left the zone warm, and in any case brought little. A
// thermostat that was set anew ends runs elsewhere, but not without effect.
func (o *operation) fruitless(ran, zone float32) bool {
	usual := o.cutIn - o.cutOut
	brought := o.beganAt - zone
	short := ran < 0.6*o.runMin && brought < 0.35*usual
	warm := ran <= 1.2*o.runMin && zone > o.cutIn+2*o.band() && brought < 0.15*usual
	early := ran < 0.75*o.runMin && zone > o.cutIn+o.band() && brought < 0.75*usual
	return short || warm || early
}

// rest watches a unit that stands still.
func (o *operation) rest(r *rimewatch.Reading, defrost *rimewatch.Defrost, zone float32, haveZone bool) {
	if o.phase == NoPower || o.phase == Unknown {
		o.phase, o.since = Off, r.At
		o.meltFrom, o.meltTop = zone, zone
	}
	o.meltTop = max(o.meltTop, zone)
	stood := r.At - o.since
	sent, told := r.Flags.Bool(rimewatch.DefrostActive)
	late := haveZone && o.runs >= 3 && zone > o.cutIn+o.band() && stood > 8*rimewatch.Minute
	switch {
	case o.phase == Off && (told && sent || !told && late):
		o.phase = Defrosting
	case o.phase == Defrosting && stood > rimewatch.Time(max(60, 2*defrost.MaxMin))*rimewatch.Minute:
		o.phase = Stopped
	}
}

// band is how far beyond the usual start of a run the zone must be to be called
// warm, K.
func (o *operation) band() float32 { return max(0.5, 0.35*(o.cutIn-o.cutOut)) }

// rate lets what is usual settle fast and then follow slowly.
func (o *operation) rate() float32 {
	if o.runs < 20 {
		return 1 / float32(o.runs+1)
	}
	return 0.05
}

// recent counts the moments that are at most span old.
func recent(at rimewatch.Time, span rimewatch.Time, moments []rimewatch.Time) int {
	n := 0
	for _, m := range moments {
		if m != 0 && at-m <= span {
			n++
		}
	}
	return n
}
