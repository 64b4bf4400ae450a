package unit

import (
	"math"
	"math/bits"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/state"
)

// probes are what speaks against a temperature from one reading to the next: that it
// trembles as nothing that has a mass can, that it jumped while the unit went on as
// before, that all of them turned into °F at once.
type probes struct {
	newest, older state.Fixed     // °C, of the probe that is examined in this hour
	tremor        uint16          // tremorUnit, sum of how much it trembles
	trembled      uint8           // readings behind it
	usual         uint8           // tremorUnit, how much the one that trembles most does usually
	again         uint8           // bits of fields: trembled too much when last examined
	trembling     uint8           // those that are known to
	exam          rimewatch.Field // the one that is examined, by the hour

	before   state.Fixed // °C, the zone before the newest reading of it, 0 = not known
	ordinary [3]uint8    // ordinaryUnit, greatest ordinary change from reading to reading of zone, discharge and suction
	zone     jump
	pipe     jump
	kept     uint8 // windows for which nothing is concluded since a pipe jumped
	zoneOff  bool  // the zone probe was moved

	fahrenheit bool  // all temperatures come in °F
	swapped    Mixup // probes that stand for each other
	airMoved   bool  // the ambient changed in the present window
	airStill   uint8 // windows for which it has not
	airStood   uint8 // the most of them before it changed again, + 1; 0 = it never did
}

// jump is a measurement that changed from one reading to the next by more than it
// ever does, and has not come back.
type jump struct {
	was, by state.Fixed // °C before, and K by which it did
	n       uint8       // readings since; 0 = none
	stops   uint8       // of the compressor since
	field   uint8
}

const (
	probePipes   = rimewatch.Fields(1<<rimewatch.CompressorDischargeTemp | 1<<rimewatch.CompressorSuctionTemp)
	ordinaryUnit = state.Fixed(5000) // 0.5 K
	ordinaryTop  = 15
	numProbes    = 4 // zone, discharge, suction and ambient are the first fields
	tremorLeast  = 1.0
	tremorTimes  = 4
	tremorUnit   = 0.05 // K
	tremorReads  = 12
	tremorFew    = 4
	tremorShare  = 0.4 // of an hour's readings
	tremorTop    = 12
	tremorFixed  = state.Fixed(500)     // tremorUnit
	tremorMost   = state.Fixed(10_0000) // K that count of a single reading
	meltJump     = state.Fixed(4_0000)  // K within quickGap, which no heater does
	pipeReads    = 5                    // in the same run or stop
	zoneReads    = 10
	zoneStops    = 2           // by the thermostat, far from where it ever does
	keptFor      = 4           // windows
	jumpHalves   = 3           // of what it ever does from one reading to the next
	steadySince  = 10 * minute // by then the pipes of a run have nearly warmed through
	quickGap     = 2 * minute  // no zone changes as far within it as where its probe is moved to
	jumpRelation = 3           // others change by a third of it at most
	airStillFor  = 4           // windows
	airStoodMost = 5           // windows + 1: one that has stood still for longer may do so for ever
)

// followProbes takes a reading before it becomes the last one.
func (s *State) followProbes(o *Observation) {
	p := &s.doubts.probes
	p.tremble(s, o)
	p.followJumps(s, o)
	if o.plain.Has(rimewatch.ProductZoneTemp) {
		p.before = s.last[rimewatch.ProductZoneTemp]
		if p.before == 0 && s.zoneAt != 0 {
			p.before = 1
		}
	}
}

// followJumps sees what changes from one reading to the next by more than it may.
func (p *probes) followJumps(s *State, o *Observation) {
	if o.Gap == 0 || s.Slow() {
		return
	}
	count := o.Valid&probePipes | o.plain&(1<<rimewatch.ProductZoneTemp|1<<rimewatch.AmbientTemp)
	if o.unreached { // it may be that it is another temperature from now on
		count |= 1 << rimewatch.ProductZoneTemp
	}
	var far uint8
	var d [numProbes]state.Fixed
	for f := range state.Fixed(numProbes) {
		if count&(1<<f) == 0 || !measured(s, rimewatch.Field(f)) {
			continue
		}
		least := jumpLeast
		if rimewatch.Field(f) == rimewatch.ProductZoneTemp && o.Gap <= quickGap && !s.Learning() {
			least = leapLeast
		}
		d[f] = o.fixed[f] - s.last[f]
		if d[f] > least || d[f] < -least {
			far |= 1 << f
		}
	}
	steady := steadies(s, o)
	if p.zone.n|p.pipe.n != 0 {
		p.follow(s, o, steady)
	}
	switch {
	case far == 0:
		if o.Gap <= jumpGap {
			p.takeOrdinary(&d, steady)
		}
	case far&surroundingBits == surroundingBits && p.crosses(s, o):
		p.swapped ^= AirSwapped
		beginAnew(s)
		s.unreached.explained(o)
	case p.turnsFahrenheit(s, o, steady):
		p.fahrenheit = !p.fahrenheit
		beginAnew(s)
		s.unreached.explained(o)
	case o.Gap > jumpGap || o.unreached || p.fahrenheit || far>>rimewatch.AmbientTemp != 0:
	case far&(1<<rimewatch.ProductZoneTemp) != 0 && o.Gap <= quickGap:
		p.jumps(s, o, rimewatch.ProductZoneTemp, &d, false)
	case bits.OnesCount8(far) == 1:
		p.jumps(s, o, rimewatch.Field(bits.TrailingZeros8(far)), &d, steady)
	}
}

// measured reports whether a temperature was before: 0 °C is one.
func measured(s *State, f rimewatch.Field) bool {
	return s.last[f] != 0 || f == rimewatch.ProductZoneTemp && s.zoneAt != 0 || f == rimewatch.AmbientTemp && s.AirMeasured()
}

// surroundingBits are zone and ambient.
const surroundingBits = uint8(1<<rimewatch.ProductZoneTemp | 1<<rimewatch.AmbientTemp)

// beginAnew forgets what was compared with temperatures that are mixed up from now on, or
// no longer: the hour may hold the first of them.
func beginAnew(s *State) {
	b := &s.doubts
	s.hour = hourly{top: s.hour.top}
	b.zone, b.pipe, b.airN, b.airJump, b.airWas = jump{}, jump{}, 0, 0, 0
}

// steadies reports whether the compressor has been doing for some minutes what it
// does, and no defrost goes on.
func steadies(s *State, o *Observation) bool {
	return s.running.known && o.At-s.running.since.Time() >= max(steadySince, 2*o.Gap) && (s.phases.phase == Running || s.phases.phase == Off)
}

// takeOrdinary notes how much the probes change from one reading to the next.
func (p *probes) takeOrdinary(d *[numProbes]state.Fixed, steady bool) {
	for f := range p.ordinary {
		if (f == int(rimewatch.ProductZoneTemp) || steady) && max(d[f], -d[f]) > state.Fixed(p.ordinary[f])*ordinaryUnit {
			p.ordinary[f] = inOrdinary(d[f])
		}
	}
}

// inOrdinary is the size of a change in ordinaryUnit, rounded up.
func inOrdinary(d state.Fixed) uint8 {
	return uint8(min(ordinaryTop, (max(d, -d)+ordinaryUnit-1)/ordinaryUnit))
}

// jumps takes a change of one probe that the others do not share. The pipes say nothing
// where it is not steady: they warm up and cool down with every run.
func (p *probes) jumps(s *State, o *Observation, f rimewatch.Field, d *[numProbes]state.Fixed, steady bool) {
	size := max(d[f], -d[f])
	for k, other := range d {
		other = max(other, -other)
		usual := k < len(p.ordinary) && f == rimewatch.ProductZoneTemp && other <= state.Fixed(p.ordinary[k])*ordinaryUnit // pipes cool down while it stands
		if k != int(f) && !usual && (steady || k == int(rimewatch.AmbientTemp)) && jumpRelation*other > size {
			return
		}
	}
	if 2*size <= jumpHalves*state.Fixed(p.ordinary[f])*ordinaryUnit {
		return
	}
	slot := &p.pipe
	if f == rimewatch.ProductZoneTemp {
		if off := max(o.fixed[f]-p.before, p.before-o.fixed[f]); p.before != 0 && (2*off < size || off <= 2*state.Fixed(p.ordinary[f])*ordinaryUnit) {
			return // the way back of a single reading that strayed, or two ordinary changes
		}
		slot = &p.zone
		switch {
		case p.zoneOff && d[f] > 0 != (slot.by > 0) && 2*size > max(slot.by, -slot.by):
			p.zoneOff, p.zone = false, jump{} // put back
			return
		case p.again&(1<<f) != 0 || !s.running.known || s.phases.phase == NoPower:
			return
		case s.phases.phase == Defrosting && (size < meltJump || o.Gap > quickGap):
			return // a jump by more may be all that there is of the defrost
		}
	} else if !steady || s.Learning() || s.Modulated() || loadMoved(s, o) {
		return // where it would have to come back to is not known
	}
	if slot.n == 0 {
		*slot = jump{was: s.last[f], by: d[f], n: 1, field: uint8(f)}
	}
}

// loadMoved reports whether the current changed with a temperature: the machine did
// something.
func loadMoved(s *State, o *Observation) bool {
	was, now := s.last[rimewatch.AmpDraw], o.fixed[rimewatch.AmpDraw]
	return was != 0 && now != 0 && 20*max(now-was, was-now) > max(was, now)
}

// follow sees what becomes of jumps. A pipe that stays away for some readings of one
// run may not be the machine's doing: nothing else moved. A zone may be warm at once by
// a door; but there the thermostat never stops the compressor.
func (p *probes) follow(s *State, o *Observation, steady bool) {
	if j := &p.pipe; j.n > 0 {
		switch {
		case !steady:
			*j = jump{}
		case !o.plain.Has(rimewatch.Field(j.field)):
		case j.back(o):
			p.note(j)
		case j.n >= pipeReads && p.kept > 0: // a probe does so once; this is what the unit does
			p.note(j)
		case j.n >= pipeReads:
			p.kept, *j = keptFor, jump{}
		}
	}
	j := &p.zone
	if j.n == 0 || p.zoneOff || !o.plain.Has(rimewatch.ProductZoneTemp) {
		return
	}
	if s.running.known && !s.running.on && s.running.since == state.StampOf(o.At) {
		j.stops++
	}
	switch {
	case s.door.since.Set() && (j.n <= 1 || !s.door.told): // one that is opened later has not done it
		*j = jump{}
	case j.n == 1 && j.strayed(o.fixed[rimewatch.ProductZoneTemp]-s.last[rimewatch.ProductZoneTemp]):
		*j = jump{}
	case j.back(o):
		p.note(j)
	case j.n >= zoneReads && j.stops >= zoneStops:
		p.zoneOff = true
	}
}

// back counts a reading since the jump, and reports whether it was undone.
func (j *jump) back(o *Observation) bool {
	j.n = min(j.n+1, 200)
	off := o.fixed[j.field] - j.was - j.by/4
	return off > 0 != (j.by > 0)
}

// strayed reports whether the change after a jump undoes most of it: a single reading that strays.
func (j *jump) strayed(d state.Fixed) bool {
	return d > 0 != (j.by > 0) && 2*max(d, -d) > max(j.by, -j.by)
}

// note takes a jump that was undone for an ordinary change; a single reading that
// strays is none.
func (p *probes) note(j *jump) {
	if j.n > 3 {
		p.ordinary[j.field] = max(p.ordinary[j.field], inOrdinary(j.by))
	}
	*j = jump{}
}

// turnsFahrenheit reports whether at least two temperatures changed as if they came
// in °F from now on, or in °C again. Those in °F may be too high to be plausible.
func (p *probes) turnsFahrenheit(s *State, o *Observation, steady bool) bool {
	alike, unlike := 0, 0
	sent, back := o.Reading.Present&^o.Reading.Faults, p.fahrenheit
	for f := range rimewatch.Field(numProbes) {
		pipe := probePipes.Has(f)
		if !sent.Has(f) || !measured(s, f) || pipe && (!steady || back) {
			continue
		}
		was, v := s.last[f].Float(), o.Reading.Values[f]
		to := 1.8*was + 32
		if back {
			to = (was - 32) / 1.8
		}
		switch {
		case math.Abs(to-was) < 8:
		case math.Abs(v-to) <= 3+0.1*math.Abs(to-was), back && f == rimewatch.AmbientTemp && math.Abs(v-was) < 8: // the last that was plausible was in °C
			alike++
		default:
			unlike++
		}
	}
	return alike >= 2 && unlike == 0
}

// tremble follows the probe whose turn it is in this hour: by how much single readings
// stand out of their neighbours while the compressor goes on as it was.
func (p *probes) tremble(s *State, o *Observation) {
	f := p.exam
	if !o.plain.Has(f) {
		return
	}
	v, still := o.fixed[f], s.running.known && o.At-s.running.since.Time() > 2*o.Gap+second
	if f == rimewatch.ProductZoneTemp || f == rimewatch.AmbientTemp {
		still = still || !s.running.known
	}
	if p.older != 0 && still && !s.blind(o.Gap) && p.trembled < math.MaxUint8 {
		a, b := v-p.newest, p.older-p.newest
		if a < 0 {
			a, b = -a, -b
		}
		p.tremor += uint16(max(0, min(a, b, tremorMost)) / tremorFixed)
		p.trembled++
	}
	p.older, p.newest = p.newest, v
}

// examined is the probe whose turn it is: every other hour that of the ambient, by
// which everything is compared.
func examined(s *State) rimewatch.Field {
	h := s.hourEnd / hour
	if h%2 == 0 {
		return rimewatch.AmbientTemp
	}
	return rimewatch.Field(h / 2 % rimewatch.Time(rimewatch.AmbientTemp))
}

// enoughTremor is how many readings of a probe an hour must hold to tell: fewer where few
// come, but not of the pipes, which swing with every run.
func enoughTremor(f rimewatch.Field, gap float32) uint8 {
	if probePipes.Has(f) {
		return tremorReads
	}
	return uint8(max(tremorFew, min(tremorReads, int(float32(hour)/float32(second)/max(gap, 1)*tremorShare))))
}

// reviewTremor decides at the end of an hour about the probe that was examined.
func reviewTremor(s *State) {
	p, f := &s.doubts.probes, examined(s)
	bit := uint8(1) << f
	if p.trembled >= enoughTremor(f, s.gap) {
		mean, usual := float64(p.tremor)/float64(p.trembled), float64(p.usual)
		limit := max(tremorLeast, tremorTimes*usual*tremorUnit)
		if p.trembling&bit != 0 {
			limit /= 2
		}
		switch {
		case mean*tremorUnit <= limit:
			p.again, p.trembling = p.again&^bit, p.trembling&^bit
			if mean > usual {
				p.usual = uint8(min(tremorTop, math.Ceil(usual+0.25*(mean-usual))))
			}
		case p.again&bit != 0:
			p.trembling |= bit
		default:
			p.again |= bit
		}
		if f == rimewatch.ProductZoneTemp && p.again&bit != 0 {
			p.zone, p.zoneOff = jump{}, false // that is why it jumped
		}
	}
	p.tremor, p.trembled, p.older, p.newest = 0, 0, 0, 0
}

// reviewStill decides at the end of a window with so many starts whether the ambient
// shows one number for so long that its sensor is stuck. One that never changes is
// no sensor.
func (p *probes) reviewStill(starts uint16) {
	switch {
	case p.airMoved:
		p.airStood = min(15, max(p.airStood, p.airStill+1))
		p.airStill = 0
	case starts > 0 && p.airStood > 0:
		p.airStill = min(p.airStill+1, 15)
	}
	p.airMoved = false
}

// airStuck reports whether the ambient shows one number all the time.
func (p *probes) airStuck() bool {
	return p.airStill >= max(airStillFor, 3*p.airStood) && p.airStood <= airStoodMost
}

// AirStands reports whether the ambient has shown one number for longer than it ever
// did, though not yet for so long that its sensor is known to be stuck.
func (p *probes) AirStands() bool {
	return p.airStill > 0 && p.airStood > 0 && p.airStill >= p.airStood && p.airStood <= airStoodMost
}

// trembles reports whether a probe does.
func (p *probes) trembles(f rimewatch.Field) bool { return p.trembling&(1<<f) != 0 }

// pipes are the channels that these probes speak against.
func (p *probes) pipes() (set Channels) {
	if p.fahrenheit {
		return 1<<Discharge | 1<<Suction
	}
	if p.trembling == 0 {
		return 0
	}
	if p.trembles(rimewatch.CompressorDischargeTemp) {
		set = set.With(Discharge)
	}
	if p.trembles(rimewatch.CompressorSuctionTemp) {
		set = set.With(Suction)
	}
	return set
}

// surroundings are the zone and the ambient as far as they are doubted. Nothing is
// concluded from them, but their limits are judged: what the goods may be is never
// guessed.
func (b *doubts) surroundings() (set rimewatch.Fields) {
	p := &b.probes
	if p.fahrenheit {
		return 1<<numProbes - 1
	}
	if p.zoneOff || p.swapped&AirSwapped != 0 || p.trembles(rimewatch.ProductZoneTemp) {
		set = set.With(rimewatch.ProductZoneTemp)
	}
	if b.airDoubted() {
		set = set.With(rimewatch.AmbientTemp)
	}
	return set
}

// airDoubted reports whether the ambient temperature, by which everything is
// compared, does not count.
func (b *doubts) airDoubted() bool {
	return b.airOff || b.fahrenheit || b.swapped&AirSwapped != 0 || b.airStuck() || b.trembles(rimewatch.AmbientTemp)
}
