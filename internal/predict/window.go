package predict

import (
	"math"

	"github.com/rimewatch/rimewatch"
)

// The channels whose departure from the baseline is judged.
const (
	chDischarge = iota // K, of the discharge line in steady running
	chSuction          // K, of the suction line likewise
	chAmps             // %, of the running current
	chVibration        // %, of the running vibration
	chDuty             // percentage points of time that the compressor runs, defrosts left out
	chZone             // K, of the product zone, defrosts left out
	chBurst            // %, of the strongest vibration in the first minutes of a run
	numChannels
)

type channelSet uint8

func (s channelSet) has(c int) bool        { return s&(1<<c) != 0 }
func (s channelSet) with(c int) channelSet { return s | 1<<c }

// The grid of learning and judging. A slot is one sample of the baseline, a
// window one of the verdict.
const (
	slotLen   = rimewatch.Hour
	windowLen = 6 * rimewatch.Hour
	dayWindow = int(rimewatch.Day / windowLen)
)

// Steady running begins so many minutes after a start; in units whose runs are
// shorter, this share of a run after it.
const (
	steadyAfter = 5
	steadyShare = 0.45
)

// slot gathers an hour.
type slot struct {
	discharge, suction, logAmps, logVib  tally
	runZone, ambient, volts, zone, burst tally
	runMin, coolMin                      float32 // min of running, and of time outside defrosts and their recovery
	top                                  float32 // strongest vibration since the run began
}

// tally is a mean in the making.
type tally struct {
	sum float32
	n   uint16
}

func (t *tally) add(v float64) {
	if t.n < math.MaxUint16 {
		t.sum += float32(v)
		t.n++
	}
}

func (t *tally) mean() float64 { return float64(t.sum) / float64(t.n) }

// take adds a reading to the hour. Running is steady once it has lasted gate
// minutes, and comparable up to longest.
func (s *slot) take(r *rimewatch.Reading, o *operation, c *cycle, gate, longest float32) {
	if v, ok := r.Value(rimewatch.AmbientTemp); ok {
		s.ambient.add(v - refAmbient)
	}
	if o.phase == NoPower || o.phase == Unknown {
		return
	}
	zone, haveZone := r.Value(rimewatch.ProductZoneTemp)
	if o.phase == Running || o.phase == Off {
		dt := float32(min(c.dt, 20))
		s.coolMin += dt
		if o.phase == Running {
			s.runMin += dt
		}
		if haveZone {
			s.zone.add(zone)
		}
	}
	if o.phase != Running {
		return
	}
	ran := float64(o.at-o.started) / float64(rimewatch.Minute)
	vib, haveVib := r.Value(rimewatch.VibrationLevel)
	if haveVib && vib > 0 && ran >= 0.5 && ran < steadyAfter {
		s.top = max(s.top, float32(vib))
	}
	if ran < float64(gate) || ran > float64(longest) {
		return
	}
	if s.top > 0 {
		s.burst.add(100 * math.Log(float64(s.top)))
		s.top = 0
	}
	if haveZone {
		s.runZone.add(zone)
	}
	if v, ok := r.Value(rimewatch.Voltage); ok && o.nominal > 0 {
		s.volts.add(100 * (v/float64(o.nominal) - 1))
	}
	if v, ok := r.Value(rimewatch.CompressorDischargeTemp); ok {
		s.discharge.add(v)
	}
	if v, ok := r.Value(rimewatch.CompressorSuctionTemp); ok {
		s.suction.add(v)
	}
	if v, ok := r.Value(rimewatch.AmpDraw); ok && v > 0 && float32(v) < 1.8*o.amps.hi {
		s.logAmps.add(100 * math.Log(v))
	}
	if haveVib && vib > 0 {
		s.logVib.add(100 * math.Log(vib))
	}
}

// least is how many samples a channel of an hour rests on at least.
const least = 2

// sample makes the hour's covariates and channels. zoneRef is the zone of the
// first hours, to be set by the first hour that has one.
func (s *slot) sample(zoneRef *float32) (x [numCov]float64, y [numChannels]float64, have channelSet) {
	if s.ambient.n > 0 {
		x[covAmbient] = s.ambient.mean()
	}
	if s.volts.n > 0 {
		x[covVolts] = max(-20, min(20, s.volts.mean()))
	}
	set := func(c int, t *tally) {
		if t.n >= least || c == chBurst && t.n > 0 {
			y[c] = t.mean()
			have = have.with(c)
		}
	}
	set(chDischarge, &s.discharge)
	set(chSuction, &s.suction)
	set(chAmps, &s.logAmps)
	set(chVibration, &s.logVib)
	set(chZone, &s.zone)
	set(chBurst, &s.burst)
	if s.coolMin >= 20 {
		y[chDuty] = 100 * float64(s.runMin/s.coolMin)
		have = have.with(chDuty)
	}
	zone := &s.runZone
	if zone.n == 0 {
		zone = &s.zone
	}
	if zone.n > 0 {
		if *zoneRef == 0 {
			*zoneRef = float32(zone.mean())
		}
		x[covZone] = zone.mean() - float64(*zoneRef)
	}
	return x, y, have
}
