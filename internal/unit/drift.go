package unit

import (
	"math"

	"github.com/rimewatch/rimewatch"
)

// window gathers what six hours say in addition to their hours.
type window struct {
	on, all   uint32             // ms running and known
	starts    uint16             // of the compressor
	residuals [NumChannels]tally // of the hours, departures from the baseline
}

// drift is how far a channel has departed from its baseline.
type drift struct {
	last   [2]float32 // residuals of the newest windows, newest first
	slow   float32    // exponential mean over about a day and a half
	spread float32    // variance of the residuals of healthy windows
	lag    float32    // their lagged covariance
	n      uint16     // healthy windows behind spread
	filled uint8      // how many of last are there
}

// Learning takes this many hours of steady running at least; a first model
// exists earlier, and what is typical of runs is settled between.
const (
	readyHours = 24
	gateHours  = 48
	LearnHours = 120
	loneDoubt  = 6  // % of such a current that an ambient may change that no sensor measures: some seven kelvins
	loneHours  = 72 // where nothing but the current is measured: it has no slopes to be learnt
)

// The time constants with which a healthy unit's baseline follows it once it is
// learnt, in hours and windows.
const (
	memoryHours   = 60 * 24
	memoryWindows = 120
)

const slowRate = 0.25

// floors are the departures below which nothing is a finding, in the units of
// the channels. A developed fault is several times as large.
var floors = [NumChannels]float64{3, 1.5, 5, 15, 12, 1, 80}

// Floor is the least departure of the channel that counts.
func (c Channel) Floor() float64 { return floors[c] }

// gatherShare adds a reading to the share of running time.
func (s *State) gatherShare(o *Observation) {
	if !s.running.known || s.defrost.declared {
		return
	}
	held := uint32(min(o.Gap, max(2*s.Interval(), minute), 15*minute))
	s.window.all += held
	if s.running.on {
		s.window.on += held
	}
}

// endHour learns from the hour that is over, and concludes the six hours when
// they are.
func (s *State) endHour(c *Config, hold Hold, o *Observation) {
	if s.broken != 0 || s.doubts.Mixup() != 0 {
		s.doubts.sick = sickFor
	}
	if s.hourEnd != 0 {
		s.doubts.stills.endHour(rimewatch.Fields(s.coming.now), s.coming.habits(), canBeStuck(s))
		s.coming.endHour(s.Interval())
	}
	reviewTremor(s)
	s.lone = s.running.bare && s.running.source == fromAmps && s.zoneAt == 0
	s.resettling = s.phases.resettled.Set() && s.at-s.phases.resettled.Time() < resettleFor
	if s.hourEnd != 0 {
		s.learnHour(hold)
		if zoneOnly(s) && s.zoneAt >= s.hourEnd-hour {
			s.doubts.creeps.followZone(float64(s.humps.mid))
		}
		if s.at >= s.winEnd || s.hourEnd >= s.winEnd {
			if s.winEnd != 0 {
				o.WindowEnded, o.Shown = true, s.endWindow(c, hold)
			}
			s.winEnd = s.hourEnd - s.hourEnd%WindowLength + WindowLength
		}
	}
	if s.hourEnd != 0 && o.At/rimewatch.Day != (s.hourEnd-1)/rimewatch.Day {
		reviewZone(s)
		o.DayEnded = true
	}
	s.hourEnd = o.At - o.At%hour + hour
	s.doubts.exam = examined(s)
}

func (s *State) learnHour(hold Hold) {
	m := &s.model
	x, y, have := s.hour.sample(m.standIn(s.AirMeasured()), &m.zoneRef, leastReadings(s))
	if s.hour.volts.n > 0 {
		m.volts += 0.1 * (float32(x[covVolts]) - m.volts)
	}
	if s.hour.ambient.n > 0 {
		m.ambient += 0.1 * (float32(x[covAmbient]) - m.ambient)
	}
	s.hour = hourly{top: s.hour.top}
	if have == 0 {
		return
	}
	if have.Has(Zone) {
		s.doubts.creeps.followZone(y[Zone])
	}
	if s.Ready() {
		for ch := range NumChannels {
			if have.Has(ch) {
				s.window.residuals[ch].add(shrink(y[ch]-m.expect(ch, x), m.airDoubted(ch, x[covAmbient])))
			}
		}
	}
	have &^= s.Aside()
	if !s.learns(hold) {
		return
	}
	if s.Resettling() || !s.odd(&x, &y, have) {
		m.add(x, y, have, memoryHours)
	}
	if have.Has(Discharge) || have.Has(Amps) {
		m.hours = min(m.hours+1, 60000)
	}
	if s.stands.now != [2]float32{} {
		s.stands.learn()
	}
}

// odd reports whether an hour is so far from what was learnt up to now that it
// is not to be learnt: a fault may set in while a unit is still being learnt.
func (b *baseline) odd(x *Conditions, y *[NumChannels]float64, have Channels) bool {
	if !b.Known() {
		return false
	}
	for ch := range NumChannels {
		if whileRunning.Has(ch) && have.Has(ch) && math.Abs(y[ch]-b.model.expect(ch, *x)) > oddFloors*floors[ch] {
			return true
		}
	}
	return false
}

const oddFloors = 2

// endWindow takes the departures of six hours, and learns from them if they are
// healthy. It returns the channels that they have shown.
func (s *State) endWindow(c *Config, hold Hold) (shown Channels) {
	w := &s.window
	share := uint8(0)
	if w.all > uint32(WindowLength)/2 {
		share = uint8(100*uint64(w.on)/uint64(w.all)) + 1
		if hold&HoldCycles == 0 && s.CountsStarts() {
			s.learnCycles(w.starts, float32(w.all)/float32(hour), 1/8.0)
		}
	}
	zone := 0.0
	if t := &w.residuals[Zone]; t.n >= least {
		zone = t.mean()
	}
	if a, v := &w.residuals[Amps], &w.residuals[Vibration]; s.Known() && a.n >= least && v.n >= least {
		s.running.followSpeed(a.mean(), v.mean(), hold&HoldBaseline != 0)
	}
	var y [NumChannels]float64
	var have Channels
	for ch := range NumChannels {
		if t := &w.residuals[ch]; t.n >= least && !s.airDoubted() {
			y[ch], have = t.mean(), have.With(ch)
		}
	}
	unseen := 0.0
	if s.zoneAt == 0 || s.doubts.zoneOff {
		unseen = s.model.unseen(&y, have)
	}
	for ch := range NumChannels {
		d := &s.drifts[ch]
		if !have.Has(ch) {
			continue // there is nothing to compare with
		}
		departs := s.model.withoutZone(ch, y[ch], unseen)
		if usual := s.usual(Amps); ch == Amps && usual > 0 && s.running.bare {
			departs = shrink(departs, 100*s.running.Grain()/usual) // nothing is judged finer than its meter
		}
		if ch == Amps && s.lone {
			departs = shrink(departs, loneDoubt)
		}
		d.last[1], d.last[0] = d.last[0], float32(shrink(departs, zoneDoubt[ch]*min(3, max(0, math.Abs(zone)-0.2))))
		d.filled = min(d.filled+1, 2)
		d.slow += slowRate * (d.last[0] - d.slow)
	}
	starts := w.starts
	for ch := range NumChannels {
		if w.residuals[ch].n >= least {
			shown = shown.With(ch)
		}
	}
	*w = window{}
	s.reviewSensors(starts, shown, s.running.shakes >= 2*s.running.rests+leastShaking, s.Modulated(), s.AirMeasured(), hold&HoldBaseline != 0)
	s.shares = [4]uint8{share, s.shares[0], s.shares[1], s.shares[2]}
	if s.learns(hold) {
		if s.Known() && !s.Resettling() {
			for ch := range NumChannels {
				s.drifts[ch].learn()
			}
		}
		s.model.solve(c.prior())
	}
	return shown
}

func (d *drift) learn() {
	if d.filled < 2 {
		return
	}
	d.n = min(d.n+1, memoryWindows)
	w := 1 / float32(d.n)
	d.spread += w * (d.last[0]*d.last[0] - d.spread)
	d.lag += w * (d.last[0]*d.last[1] - d.lag)
}

// learns reports whether the hour may be learnt: not while the unit is under
// suspicion.
func (b *baseline) learns(hold Hold) bool {
	settling := b.model.hours < LearnHours // of a lone current, too: how much it scatters shows within five days
	return !b.Doubtful() && (settling || hold&HoldBaseline == 0 && (b.resettling || !b.suspicious()))
}

func (b *baseline) suspicious() bool {
	off := b.Aside()
	for ch := range NumChannels {
		if ch == Zone || ch == Duty || off.Has(ch) {
			continue
		}
		if d := &b.drifts[ch]; math.Abs(float64(d.slow)) > 0.4*floors[ch] || math.Abs(float64(d.last[0])) > 0.8*floors[ch] {
			return true
		}
	}
	return false
}

// Ready reports whether the baseline can already be compared with.
func (b *baseline) Ready() bool { return b.model.hours >= readyHours }

// Known reports whether the unit was learnt for two days of running: its own
// usual may widen or make limits.
func (b *baseline) Known() bool { return b.model.hours >= gateHours }

// Learning reports whether the unit is not known well enough to be judged by
// its own history alone.
func (b *baseline) Learning() bool { return int(b.model.hours) < b.NeededHours() }

// NeededHours is how many hours with steady running must have been learnt from before
// the unit is judged by its own history.
func (b *baseline) NeededHours() int {
	if b.lone {
		return loneHours
	}
	return LearnHours
}

// LearntHours is how many hours with steady running were learnt from.
func (b *baseline) LearntHours() int { return int(b.model.hours) }

// Departure is how far a channel has been from the usual in six hours: in the
// newest of them, in those before, and on an average of about a day and a half.
func (b *baseline) Departure(ch Channel) (now, before, slow float64) {
	d := &b.drifts[ch]
	return float64(d.last[0]), float64(d.last[1]), float64(d.slow)
}

// Agreed is the part of a channel's departure that the two newest windows agree
// on, in K, % or points; 0 while there are none.
func (b *baseline) Agreed(ch Channel) float64 {
	d := &b.drifts[ch]
	now, before := float64(d.last[0]), float64(d.last[1])
	if d.filled < 2 || now*before <= 0 {
		return 0
	}
	v := math.Copysign(min(math.Abs(now), math.Abs(before)), now)
	if ch == Amps || ch == Vibration || ch == Burst {
		return 100 * math.Expm1(v/100)
	}
	return v
}

// Scored reports whether a channel's departures can be weighed.
func (b *baseline) Scored(ch Channel) bool {
	off := b.Aside()
	if off.Has(Vibration) {
		off = off.With(Burst) // the same sensor
	}
	return b.drifts[ch].n >= 4 && !off.Has(ch)
}

// Scatter is the standard deviation of a channel's departures in six healthy
// hours.
func (b *baseline) Scatter(ch Channel) float64 { return math.Sqrt(float64(b.drifts[ch].spread)) }

// SlowWindows is about how many windows the slow average of Departure rests on.
const SlowWindows = (2 - slowRate) / slowRate

// Certainty is how surely a mean of n windows departs from the baseline, in
// standard normal deviates discounted by how little is known.
func (b *baseline) Certainty(ch Channel, departure, n float64) float64 {
	d := &b.drifts[ch]
	if d.n < 4 || d.spread <= 0 {
		return 0
	}
	rho := math.Max(0, math.Min(0.9, float64(d.lag/d.spread)))
	tau := (1 + rho) / (1 - rho)
	known := float64(d.n) / tau
	if known <= 2 {
		return 0
	}
	scale := math.Sqrt(float64(d.spread) * (math.Min(1, tau/n) + 1/known))
	return NormalScore(departure/scale, known-1) * (known - 1) / (known - 1 + 5)
}

// NormalScore turns a t value with nu degrees of freedom into the standard
// normal deviate of about the same probability (D. L. Wallace, "Bounds on
// normal approximations to Student's and the chi-square distributions", 1959).
// It keeps growing where the probability itself underflows.
func NormalScore(t, nu float64) float64 {
	nu = max(nu, 1)
	z := (8*nu + 1) / (8*nu + 3) * math.Sqrt(nu*math.Log1p(t*t/nu))
	return math.Copysign(z, t)
}

// RunShare is the share of running time in %, over the last n windows, at most
// four, of which most are known.
func (b *baseline) RunShare(n int) (float64, bool) {
	sum, known := 0, 0
	for _, v := range b.shares[:n] {
		if v > 0 {
			sum += int(v) - 1
			known++
		}
	}
	if 2*known <= n {
		return 0, false
	}
	return float64(sum) / float64(known), true
}

// UsualAmps is the unit's own current while running, with what else is behind the
// meter, A, 0 until it is known.
func (s *State) UsualAmps() float64 {
	if v := s.usual(Amps); v > 0 {
		return v + s.running.idle.Float()
	}
	return 0
}

// UsualVibration is the unit's own vibration while running, mm/s, 0 until it is
// known.
func (b *baseline) UsualVibration() float64 { return b.usual(Vibration) }

// usual is of Amps or Vibration.
func (b *baseline) usual(ch Channel) float64 {
	if !b.Known() || b.model.coef[ch] == [numCoef]float32{} {
		return 0
	}
	return b.model.own[ch-Amps]
}

// UsualSuction is what the suction line usually shows at an ambient temperature,
// °C; ok is false until it is known.
func (b *baseline) UsualSuction(ambient float64) (v float64, ok bool) {
	return b.usualAt(Suction, ambient)
}

// UsualDischarge is what the discharge line usually shows likewise.
func (b *baseline) UsualDischarge(ambient float64) (v float64, ok bool) {
	return b.usualAt(Discharge, ambient)
}

func (b *baseline) usualAt(ch Channel, ambient float64) (v float64, ok bool) {
	if !b.Known() || b.model.coef[ch] == [numCoef]float32{} {
		return 0, false
	}
	return b.model.expect(ch, AtAmbient(ambient-RefAmbient)), true
}
