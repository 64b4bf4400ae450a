package unit

import (
	"math"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/state"
)

// Channel is a measure of a unit whose departure from the usual is judged.
type Channel int

// The channels.
const (
	Discharge Channel = iota // K, of the discharge line in steady running
	Suction                  // K, of the suction line likewise
	Amps                     // %, of the running current
	Vibration                // %, of the running vibration
	Duty                     // percentage points of time that the compressor runs, defrosts left out
	Zone                     // K, of the product zone, defrosts left out
	Burst                    // %, of the strongest vibration in the first minutes of a run
	NumChannels
)

// Channels is a set of channels.
type Channels uint8

// Has reports whether c is in the set.
func (s Channels) Has(c Channel) bool { return s&(1<<c) != 0 }

// With returns the set with c added.
func (s Channels) With(c Channel) Channels { return s | 1<<c }

// The grid of learning and judging. An hour is one sample of the baseline, a
// window one of the verdict.
const (
	WindowLength = 6 * hour
	WindowsADay  = int(rimewatch.Day / WindowLength)
)

// Steady running begins so many minutes after a start; in units whose runs are
// shorter, this share of a run after it.
const (
	steadyAfter = 5
	steadyShare = 0.45
	neverStops  = 120 // min of the first run
)

// hourly gathers an hour.
type hourly struct {
	discharge, suction, logAmps, logVib  tally
	runZone, ambient, volts, zone, burst tally
	runMin, coolMin                      float32 // min of running, and of time outside defrosts and their recovery
	top                                  float32 // mm/s, strongest vibration since the last start, not yet counted
}

// tally is a sum and a count.
type tally struct {
	sum state.Real
	n   uint16
}

func (t *tally) add(v float64) {
	if t.n < math.MaxUint16 {
		t.sum = state.RealOf(t.sum.Float() + float32(v))
		t.n++
	}
}

func (t *tally) mean() float64 { return float64(t.sum.Float()) / float64(t.n) }

// gather adds a reading to the hour and to the six hours. Running is steady once
// it has lasted Gate minutes, and comparable up to Longest.
func (s *State) gather(o *Observation) {
	h, p := &s.hour, &s.phases
	s.gatherShare(o)
	if v, ok := o.Value(rimewatch.AmbientTemp); ok {
		h.ambient.add(v - RefAmbient)
	}
	if p.phase != Running && p.phase != Off {
		return
	}
	zone, haveZone := o.Value(rimewatch.ProductZoneTemp)
	dt := float32(min(o.Gap, 20*minute)) / float32(minute)
	h.coolMin += dt
	if haveZone {
		h.zone.add(zone)
	}
	if p.phase == Off {
		return
	}
	h.runMin += dt
	ran := float64(o.At-p.started.Time()) / float64(minute)
	vib, haveVib := o.Value(rimewatch.VibrationLevel)
	if haveVib && vib > 0 && ran >= 0.5 && ran < steadyAfter {
		h.top = max(h.top, float32(vib))
	}
	if p.runs == 0 && ran > neverStops {
		s.model.gate = steadyAfter
	}
	if ran < s.Gate() || ran > s.Longest() || s.hourly() && ran < leastShows*float64(s.Interval())/float64(minute) {
		return
	}
	if h.top > 0 {
		h.burst.add(100 * math.Log(float64(h.top)))
		h.top = 0
	}
	if haveZone {
		h.runZone.add(zone)
	}
	if v, ok := o.Value(rimewatch.Voltage); ok {
		if off, ok := s.supply.off(v); ok {
			h.volts.add(off)
		}
	}
	if v, ok := o.Value(rimewatch.CompressorDischargeTemp); ok {
		h.discharge.add(v)
	}
	if v, ok := o.Value(rimewatch.CompressorSuctionTemp); ok {
		h.suction.add(v)
	}
	if v, ok := s.Calm(o, rimewatch.AmpDraw); ok && float32(v) < 1.8*s.running.hi {
		h.logAmps.add(100 * math.Log(s.OwnAmps(v)))
	}
	if v, ok := s.Calm(o, rimewatch.VibrationLevel); ok {
		h.logVib.add(100 * math.Log(v))
	}
}

// Gate is how many minutes of a run must have passed for it to be steady.
func (b *baseline) Gate() float64 { return float64(b.model.gate) }

// Longest is how long a run may have lasted to be compared, min. Units whose
// runs are short never get warm all through: the rare long run is no departure.
func (b *baseline) Longest() float64 {
	if b.model.gate >= steadyAfter {
		return math.Inf(1)
	}
	return 1.3 * float64(b.model.gate) / steadyShare
}

// least is how many samples a channel of an hour rests on at least, and how many hours one
// of a window does. An hour of a device that measures so seldom that few readings of it
// are of steady running rests on one: the scatter that is learnt of it is larger. So does
// one of a unit of which only the current is measured: the runs of small ones are short.
const (
	least     = 2
	seldomGap = 200 // s between readings
)

func leastReadings(s *State) uint16 {
	if s.gap > seldomGap || s.lone {
		return 1
	}
	return least
}

// sample makes the hour's covariates and channels. x is what stands in for covariates that
// it lacks, zoneRef is the zone of the first hours, to be set by the first hour that has
// one; fewest is how many readings a channel rests on at least.
func (h *hourly) sample(x Conditions, zoneRef *float32, fewest uint16) (_ Conditions, y [NumChannels]float64, have Channels) {
	if h.ambient.n > 0 {
		x[covAmbient] = h.ambient.mean()
	}
	if h.volts.n > 0 {
		x[covVolts] = h.volts.mean()
	}
	set := func(c Channel, t *tally) {
		if t.n >= fewest || c == Burst && t.n > 0 {
			y[c] = t.mean()
			have = have.With(c)
		}
	}
	set(Discharge, &h.discharge)
	set(Suction, &h.suction)
	set(Amps, &h.logAmps)
	set(Vibration, &h.logVib)
	set(Zone, &h.zone)
	set(Burst, &h.burst)
	if h.coolMin >= 20 {
		y[Duty] = 100 * float64(h.runMin/h.coolMin)
		have = have.With(Duty)
	}
	zone := &h.runZone
	if zone.n == 0 {
		zone = &h.zone
	}
	if zone.n > 0 {
		if *zoneRef == 0 {
			*zoneRef = float32(zone.mean())
		}
		x[covZone] = zone.mean() - float64(*zoneRef)
	}
	return x, y, have
}
