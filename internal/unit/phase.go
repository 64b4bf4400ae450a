package unit

import (
	"math"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/state"
)

// Phase is what a unit is doing.
type Phase uint8

// The phases of operation.
const (
	Unknown    Phase = iota // not enough seen
	Off                     // the thermostat is satisfied
	Running                 // in normal cooling
	Defrosting              // a defrost goes on: declared, or it stands still although it should cool
	Recovering              // cooling back after a defrost, a power loss, a gap or a standstill
	Stopped                 // stands still much longer than any defrost, with power
	NoPower                 // the supply is gone
)

var phaseNames = [...]string{"unknown", "off", "running", "defrosting", "recovering", "stopped", "no_power"}

// String names the phase as the API does.
func (p Phase) String() string { return phaseNames[p] }

// phases follow the unit through what its thermostat does, and learn what is
// usual of that.
type phases struct {
	since     state.Stamp    // the phase began
	started   state.Stamp    // the newest run began
	resettled state.Stamp    // the thermostat was last seen to have been set anew
	trips     [6]state.Stamp // newest runs without result, oldest overwritten
	zone      float32        // °C, smoothed over some readings
	cutIn     float32        // °C of zone at which a run usually begins
	cutOut    float32        // and ends
	newOut    float32        // °C of zone at which runs now end instead
	runMin    float32        // min that a run usually lasts
	offMin    float32        // min between two runs
	beganAt   float32        // °C of zone when the present or newest run began
	endAmps   float32        // A at its end
	stoodAt   float32        // °C of zone when the compressor stopped
	warmest   float32        // °C of zone since
	rises     [4]float32     // K that the zone rose in the newest defrosts
	usualSum  float32        // K, of the rises that are usual
	usualN    uint16
	runs      uint16 // learnt from
	shifted   uint8  // runs that ended at newOut
	tripN     uint8
	riseN     uint8
	phase     Phase
	from      Phase // before the present or newest run
}

// What a unit that stood still for so long does until it is cold all through is nothing to
// compare with.
const (
	stoodLong = 6 * hour
	coldAgain = uint8(WindowsADay) // windows
)

// lostAfter is the gap after which a unit's phase is not known any more, and lostGaps how
// many usual ones are where it measures more seldom: what an hourly log shows are the long
// runs of a large plant.
const (
	lostAfter = 20 * minute
	lostGaps  = 2.5
)

// lost reports whether what a unit did in a time without readings is not known.
func (t *timing) lost(gap rimewatch.Time) bool {
	return gap > lostAfter && gap > rimewatch.Time(lostGaps*1000*t.gap)
}

// hourly reports whether readings come so seldom that a run which shows in fewer than some of
// them says nothing of its course.
func (t *timing) hourly() bool { return t.Interval() > lostAfter }

// leastShows is in how many readings in a row a run of such a unit has to show.
const leastShows = 6

// followPhase takes a reading.
func (s *State) followPhase(c *Config, o *Observation) {
	p := &s.phases
	zone, haveZone := o.Value(rimewatch.ProductZoneTemp)
	if haveZone {
		p.zone += 0.3 * (float32(zone) - p.zone)
	}
	on, known := s.running.on && !s.defrost.declared, s.running.known
	if s.at == 0 || s.lost(o.Gap) || !known {
		p.enter(Unknown, o.At)
		if known && on {
			p.phase, p.from, p.started = Recovering, Unknown, state.StampOf(o.At)
		}
		return
	}
	if v, ok := o.Value(rimewatch.Voltage); ok && v < 0.5*float64(s.supply.mean) {
		if p.phase != NoPower {
			p.enter(NoPower, o.At)
		}
		return
	}
	if (p.phase == NoPower || p.phase == Stopped && on && !s.hourly()) && o.At-p.since.Time() > stoodLong { // a large plant stands every night
		s.doubts.sick = max(s.doubts.sick, coldAgain)
	}
	cooling := p.phase == Running || p.phase == Recovering
	switch {
	case on && !cooling:
		s.beginRun(o, float32(zone), haveZone)
	case !on && cooling:
		s.endRun(o, float32(zone), haveZone)
	case !on:
		s.rest(c, o, float32(zone), haveZone)
	case p.phase == Recovering:
		// Back where a run usually begins, or as cold as it gets.
		limit := minutes(max(90, 2*c.habit().RecoverMin))
		if p.runs > 0 && haveZone && float32(zone) <= p.cutIn || o.At-p.started.Time() > limit {
			p.phase = Running
		}
	}
	if a, ok := o.Value(rimewatch.AmpDraw); ok && on && s.running.spike == noSpike {
		p.endAmps = float32(a)
	}
}

func (p *phases) enter(phase Phase, at rimewatch.Time) { p.phase, p.since = phase, state.StampOf(at) }

func (s *State) beginRun(o *Observation, zone float32, haveZone bool) {
	p := &s.phases
	rest := float32(o.At-p.since.Time()) / float32(minute)
	warm := haveZone && p.runs > 0 && zone > p.cutIn+p.band()
	if p.phase == Defrosting && haveZone && s.FailedStarts(2) == 0 && s.Trips(2*hour) == 0 {
		p.noteRise(max(p.warmest, zone)-p.stoodAt, s.Learning())
	}
	if p.phase == Off && !warm {
		noteRest(s, o)
	}
	switch {
	case p.phase == Off && !warm && haveZone:
		learn := p.rate()
		if p.runs < 3 || zone >= p.cutOut { // no thermostat starts below where it stops; this one was set anew
			p.cutIn += learn * (zone - p.cutIn)
		}
		p.offMin += learn * (min(rest, 240) - p.offMin)
	case haveZone && p.runs > 0 && (p.phase == Off || p.phase == Defrosting):
		// By little, for defrosts end so, too; but what was learnt wrongly does not stay for ever.
		p.cutIn += 0.02*max(0, min(zone-p.cutIn, 1)) + 0.3*max(0, min(p.cutOut-p.cutIn, 1))
	}
	was := p.phase
	p.enter(Running, o.At)
	if s.zoneAt == 0 && !haveZone {
		p.offMin += p.rate() * (min(rest, 240) - p.offMin)
		if was != NoPower {
			was = Off // nothing shows what it recovers from
		}
	}
	if was != Off || warm {
		p.phase, p.from = Recovering, was
	}
	p.started, p.beganAt = p.since, zone
}

// satisfied reports whether a run that ends at that temperature of the zone, whose sensor resolves step, has
// brought it to where the thermostat stops.
func (p *phases) satisfied(zone, step float32) bool {
	return zone <= p.cutOut+0.4*(p.cutIn-p.cutOut)+0.2+0.5*step
}

func (s *State) endRun(o *Observation, zone float32, haveZone bool) {
	p := &s.phases
	ran := float32(o.At-p.started.Time()) / float32(minute)
	blind := s.zoneAt == 0 && !haveZone // no probe: every run ends as it should
	satisfied := blind || haveZone && (p.runs < 3 || p.satisfied(zone, s.stuck.step))
	switch {
	case s.defrost.declared: // its end says nothing of the thermostat
	case s.strayRun(p.started, o.At):
	case p.phase == Running && haveZone && p.runs >= 20 && p.setAnew(zone, s.stuck.step) && p.beganAt-zone >= 0.6*(p.cutIn-p.cutOut):
		if p.resettle(zone, s.stuck.step, o.At) {
			s.model.yield()
		}
	case p.phase == Running && satisfied:
		learn := p.rate()
		if haveZone {
			p.cutOut += learn * (zone - p.cutOut)
		}
		p.runMin += learn * (min(ran, 480) - p.runMin)
		p.runs = min(p.runs+1, 60000)
		p.shifted = 0
		if !s.Known() {
			// Fixed afterwards, for longer runs would be measured later in them.
			s.model.gate = min(steadyAfter, steadyShare*p.runMin)
		}
	case haveZone && !s.hourly() && p.runs >= 20 && p.fruitless(ran, zone, s.stuck.step):
		if !p.nearNew(zone, s.stuck.step) {
			p.newOut, p.shifted = zone, 0
		}
		o.Tripped = true
		p.trips[p.tripN%uint8(len(p.trips))] = state.StampOf(o.At)
		p.tripN = (p.tripN + 1) % uint8(len(p.trips))
	case haveZone && !satisfied:
		if p.resettle(zone, s.stuck.step, o.At) {
			s.model.yield()
		}
	}
	p.enter(Off, o.At)
	p.stoodAt, p.warmest = zone, zone
	if s.defrost.declared {
		p.phase = Defrosting
	}
}

// resettle sees that the thermostat was set anew: run after run cools as it
// should and ends at the same zone temperature, but not at the usual one.
func (p *phases) resettle(zone, step float32, at rimewatch.Time) (moved bool) {
	usual := max(0, p.cutIn-p.cutOut)
	if !p.nearNew(zone, step) || p.beganAt-zone+step/2 < 0.6*usual {
		p.newOut, p.shifted = zone, 0
		return false
	}
	p.newOut += 0.3 * (zone - p.newOut)
	if p.shifted++; p.shifted >= 6 {
		if math.Abs(float64(p.newOut-p.cutOut)) >= resettleLeast {
			p.resettled, moved = state.StampOf(at), true
		}
		p.cutOut, p.cutIn, p.shifted = p.newOut, p.newOut+usual, 0
	}
	return moved
}

// nearNew reports whether a run ended where the one before it did that did not end at
// the usual temperature.
func (p *phases) nearNew(zone, step float32) bool {
	return max(zone-p.newOut, p.newOut-zone) <= max(0.3, 0.5*(p.cutIn-p.cutOut), step)
}

// What a thermostat set anew by more than this changes is learnt before it is
// judged.
const (
	resettleLeast = 0.5 // K
	hardlyShown   = 0.4 // K that a run brings
	resettleFor   = 2 * rimewatch.Day
)

// setAnew reports whether a run ended so much colder than usual that the
// thermostat must have been set anew.
func (p *phases) setAnew(zone, step float32) bool {
	return zone < p.cutOut-max(0.6, 0.5*(p.cutIn-p.cutOut)+step)
}

// Resettling reports whether the unit is learnt at another setting of its
// thermostat, so that nothing is compared with what was usual.
func (b *baseline) Resettling() bool { return b.resettling }

// fruitless distinguishes a run that a protector ended from one that the thermostat
// did: it was short, or left the zone warm, and in any case brought little. A probe that
// hardly shows what a run brings, since it lags or is coarse, shows only that it is warm.
// One that brought most of it and ended where the one before did, which left the zone
// warm, too, is the thermostat's, set anew: of runs that a protector ends the zone warms.
func (p *phases) fruitless(ran, zone, step float32) bool {
	usual := p.cutIn - p.cutOut
	if usual < max(hardlyShown, 2*step) && zone <= p.cutIn+p.band() {
		return false
	}
	brought := p.beganAt - zone + step
	short := ran < 0.6*p.runMin && brought < 0.35*usual
	warm := ran <= 1.2*p.runMin && zone-step > p.cutIn+2*p.band() && brought < 0.15*usual
	early := ran < 0.75*p.runMin && zone-step > p.cutIn+p.band() && brought < 0.75*usual && (brought < 0.6*usual || !p.nearNew(zone, step))
	return short || warm || early
}

// rest watches a unit that stands still.
func (s *State) rest(c *Config, o *Observation, zone float32, haveZone bool) {
	p, m := &s.phases, &s.defrost
	if p.phase == NoPower || p.phase == Unknown {
		p.enter(Off, o.At)
		p.stoodAt, p.warmest = zone, zone
	}
	p.warmest = max(p.warmest, zone)
	stood := o.At - p.since.Time()
	late := haveZone && p.runs >= 3 && zone > p.cutIn+p.band() && stood > 8*minute
	switch {
	case p.phase == Off && (m.declared || !m.told && late):
		p.phase = Defrosting
	case p.phase == Defrosting && stood > minutes(max(60, 2*c.habit().MaxMin)):
		p.phase = Stopped
	}
}

// band is how far beyond the usual start of a run the zone must be to be called
// warm, K.
func (p *phases) band() float32 { return max(0.5, 0.35*(p.cutIn-p.cutOut)) }

// rate lets an average settle fast and then follow slowly.
func (p *phases) rate() float32 {
	if p.runs < 20 {
		return 1 / float32(p.runs+1)
	}
	return 0.05
}

// noteRise remembers how far the zone warmed up in a defrost, K.
func (p *phases) noteRise(rise float32, learning bool) {
	const n = uint8(len(p.rises))
	p.rises[p.riseN%n] = rise
	if p.riseN++; p.riseN == 2*n {
		p.riseN = n
	}
	if learning && p.usualN < math.MaxUint16 {
		p.usualSum += rise
		p.usualN++
	}
}

// DefrostRise is how far the zone usually warms up in a defrost and how far it
// did in the newest four, K; ok is false before there are as many.
func (p *phases) DefrostRise() (usual, now float64, ok bool) {
	if p.usualN < 4 || int(p.riseN) < len(p.rises) {
		return 0, 0, false
	}
	for _, r := range p.rises {
		now += float64(r) / float64(len(p.rises))
	}
	return float64(p.usualSum) / float64(p.usualN), now, true
}

// Phase is what the unit does at the newest reading.
func (p *phases) Phase() Phase { return p.phase }

// RunStarted is when the newest run began, as far as it is known.
func (p *phases) RunStarted() rimewatch.Time { return p.started.Time() }

// Comparable reports whether the present run can be compared with others: it
// cools normally, or cools back from warmth that nothing but the zone shows.
func (s *State) Comparable() bool {
	p := &s.phases
	return p.phase == Running || p.phase == Recovering && p.from == Off && !s.Learning()
}

// Trips counts the runs without result of the last span.
func (s *State) Trips(span rimewatch.Time) int {
	n := 0
	for _, t := range s.phases.trips {
		if t.Set() && s.at-t.Time() <= span {
			n++
		}
	}
	return n
}

// EndAmps is the current at the end of the newest run, A, 0 = not known.
func (p *phases) EndAmps() float64 { return float64(p.endAmps) }

// Runs counts the runs whose usual course was learnt.
func (p *phases) Runs() int { return int(p.runs) }

// CycleMinutes is how long a run and the pause after it usually last, min.
func (p *phases) CycleMinutes() float64 { return float64(p.runMin + p.offMin) }

// OffZone is how far the zone is from the middle of where it usually is, K.
func (p *phases) OffZone() float64 {
	return math.Abs(float64(p.zone - (p.cutIn+p.cutOut)/2))
}

// BelowCutOut is how much colder the zone is than where the thermostat usually
// stops, K, at least 0.
func (p *phases) BelowCutOut() float64 {
	if p.runs < 20 {
		return 0
	}
	return max(0, float64(p.cutOut-p.zone))
}
