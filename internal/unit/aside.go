package unit

import (
	"math"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/state"
)

// doubts are what speaks against the sensors: a channel that departs alone, one
// that shows the same number all through, an ambient temperature that jumped. What
// they show is set aside: it is not learnt and nothing is concluded from it, until
// it comes back by itself or a person says that the unit is to be learnt anew.
// Nothing is converted or shifted by a guess.
type doubts struct {
	aside  Channels // sensors that do not count
	frozen Channels // those of them that show the same number
	lone   uint8    // channel that departs alone, + 1; 0 = none
	alone  uint8    // windows in a row for which it has
	came   bool     // within two windows, in which no other moved: it may stand next to an older departure
	loneAt uint8    // tenths of a floor by which it did at first
	still  Channels // that have not changed in the present six hours
	sick   uint8    // windows until the unit is judged again after a sensor was broken

	airStep uint8       // 0.1 K, greatest ordinary change of the ambient from reading to reading
	airN    uint8       // readings since it jumped, then windows
	airWas  state.Fixed // °C, before that
	airJump state.Fixed // K by which it did
	airOff  bool        // the ambient sensor is set aside

	probes
	creeps
	stands
	stills
}

const (
	loneFloors  = 1.3  // of a departure that is told apart from noise
	loneGoesOn  = 1.15 // of one that was so in the window before
	loneSeen    = 1.0  // of a pipe that was seen to jump alone
	farScatter  = 3.5  // standard deviations
	loneScatter = 2.0  // that the others keep within
	stepScatter = 2.5  // likewise, of what two windows differ by
	nearScatter = 1.0  // more that they keep within nearly
	loneQuiet   = 0.3  // floors that the others keep within
	loneNear    = 0.6  // floors that they keep within nearly
	stepQuiet   = 0.2  // of a step, that they keep within
	slipFloors  = 0.6  // of a discharge line that becomes cooler, on an average of a day and a half
	slipNow     = 0.45 // and in the newest window
	riseFloors  = 0.8  // of one that becomes hotter and nothing else does what would
	riseNow     = 0.5
	riseAmps    = 0.2 // % of current a K: half of what leaking valves take off it, the least of any fault
	riseSuction = 0.1 // K of suction line a K likewise, where refrigerant is lost
	slowScatter = 0.5 // of what windows scatter by, an average of a day and a half does
	loneWindows = 5
	loneSoon    = 3 // windows of a large one
	loneJumped  = 2
	loneLarge   = 2.5                 // floors from which it is large
	wornFloors  = 2.2                 // of a pipe or the current alone: from there what wears would show in others
	stepShare   = 0.2                 // of a departure that had come before its last two windows: more is no step
	stepGrows   = 1.25                // times what a step was at first: it goes on
	loneOthers  = 2                   // channels that must be known to be quiet
	backFloors  = 0.5                 // of a channel that has come back
	vibJump     = 92.0                // %, as a logarithm: a vibration two and a half times as high at once is no wear
	vibUnits    = 250.0               // %, as a logarithm: twelve times as much, which no speed and no bearing does within a day
	dutyShows   = 0.6                 // of a floor by which a unit runs longer
	stepLeast   = 0.35                // floors that a step starts from
	sickFor     = uint8(2 * 24 / 6)   // windows
	jumpLeast   = state.Fixed(3_0000) // K between two readings
	airLeap     = state.Fixed(2_2000) // likewise of the ambient, which says less than what the unit does then
	leapLeast   = state.Fixed(2_0000) // K of ambient between two readings that single readings are not compared by
	jumpGap     = 10 * minute
	airUnit     = state.Fixed(1000)
	jumpLasts   = 10  // readings
	jumpWindows = 2   // the first of them is none whole
	jumpOpen    = 6   // windows for which it is open whether it was the air
	jumpMissing = 0.5 // share of what a jump of the air would have changed
)

// stepLeastOf is by how much a pipe steps alone at least, K.
var stepLeastOf = [...]float64{Discharge: 3.3, Suction: 2.4}

// sensorOf are the sensors of the channels that can be set aside.
var sensorOf = [...]rimewatch.Field{
	Discharge: rimewatch.CompressorDischargeTemp, Suction: rimewatch.CompressorSuctionTemp,
	Amps: rimewatch.AmpDraw, Vibration: rimewatch.VibrationLevel,
}

// Aside are the channels whose sensors are set aside.
func (b *doubts) Aside() Channels {
	if b.stuck&stuckAmps != 0 {
		return b.aside | b.pipes() | 1<<Amps
	}
	return b.aside | b.pipes()
}

// asideFields are the sensors that are set aside.
func (b *doubts) asideFields() rimewatch.Fields { return sensorsOf[b.Aside()&(1<<len(sensorOf)-1)] }

// sensorsOf are the sensors of each set of channels: every reading asks.
var sensorsOf = func() (sets [1 << len(sensorOf)]rimewatch.Fields) {
	for off := range sets {
		for ch, f := range sensorOf {
			if Channels(off).Has(Channel(ch)) {
				sets[off] = sets[off].With(f)
			}
		}
	}
	return sets
}()

// Doubtful reports whether nothing can be concluded at all: the ambient temperature,
// by which everything is compared, is set aside or has just jumped, or sensors
// contradicted each other in the last two days.
func (b *doubts) Doubtful() bool {
	return b.airDoubted() || b.again&(1<<rimewatch.AmbientTemp) != 0 || b.airN >= jumpLasts || b.sick > 0
}

// followSensors notes what changes, and sees the ambient temperature jump.
func (b *doubts) followSensors(o *Observation, last *[rimewatch.NumCore]state.Fixed) {
	for ch := Discharge; ch <= Vibration && b.still != 0; ch++ {
		if f := sensorOf[ch]; b.still.Has(ch) && o.plain.Has(f) && o.fixed[f] != last[f] {
			b.still &^= 1 << ch
		}
	}
	if !o.plain.Has(rimewatch.AmbientTemp) {
		return
	}
	now, was := o.fixed[rimewatch.AmbientTemp], last[rimewatch.AmbientTemp]
	o.AirLeapt = was != 0 && max(now-was, was-now) > leapLeast
	if b.airMoved = b.airMoved || now != was && was != 0; !b.airOff && b.airN < jumpLasts && b.Mixup()&^PipesSwapped == 0 {
		b.followAir(now, was, o.Gap)
	}
}

// followAir sees that the ambient temperature jumped and stayed there. What the unit
// does then must tell whether the air did.
func (b *doubts) followAir(v, was state.Fixed, gap rimewatch.Time) {
	step := v - was
	switch {
	case b.airN > 0:
		off := v - b.airWas - b.airJump/2
		if b.airN++; off > 0 != (b.airJump > 0) { // back again: an ordinary change
			b.noteStep(b.airJump)
			b.airN, b.airJump, b.airWas = 0, 0, 0
		}
	case was == 0 || gap == 0 || gap > jumpGap:
	case max(step, -step) > max(airLeap, 3*state.Fixed(b.airStep)*airUnit):
		b.airWas, b.airJump, b.airN = was, step, 1
	default:
		b.noteStep(step)
	}
}

// noteStep takes an ordinary change of the ambient temperature.
func (b *doubts) noteStep(step state.Fixed) {
	b.airStep = max(b.airStep, uint8(min(255, (max(step, -step)+airUnit-1)/airUnit)))
}

// reviewSensors decides at the end of a window with so many starts, in which channels
// were shown in steady running, which sensors are set aside; shakes: the unit is known to
// shake more while it runs; air: the ambient is measured; suspected: the machine is.
func (s *baseline) reviewSensors(starts uint16, shown Channels, shakes, modulated, air, suspected bool) {
	b := &s.doubts
	b.sick -= min(b.sick, 1)
	for _, ch := range [...]Channel{Discharge, Suction, Vibration} {
		switch still := b.still.Has(ch); {
		case !still && b.frozen.Has(ch):
			b.frozen &^= 1 << ch
			b.aside &^= 1 << ch
		case still && starts >= stuckRuns && shown.Has(ch):
			b.frozen, b.aside = b.frozen.With(ch), b.aside.With(ch)
		}
	}
	b.still = 1<<Discharge | 1<<Suction
	if shakes {
		b.still |= 1 << Vibration
	}
	s.reviewAir()
	b.reviewStill(starts)
	b.kept -= min(b.kept, 1)
	for ch := range sensorOf {
		now, before, _ := s.Departure(Channel(ch))
		if back := backFloors * floors[ch]; b.aside&^b.frozen&(1<<ch) != 0 && math.Abs(now) < back && math.Abs(before) < back {
			b.aside &^= 1 << ch
		}
	}
	if vib, before, _ := s.Departure(Vibration); min(math.Abs(vib), math.Abs(before)) >= vibUnits && s.stepped(Vibration) {
		b.aside = b.aside.With(Vibration) // inches, or another scale
	}
	s.followLone(modulated, suspected)
	s.followAirError(air)
}

// reviewAir decides whether the air jumped or its sensor: the discharge line would
// have followed the air.
func (s *baseline) reviewAir() {
	b := &s.doubts
	if b.airN < jumpLasts {
		return
	}
	if b.airN++; b.airN < jumpLasts+jumpWindows {
		return
	}
	now, _, _ := s.Departure(Discharge)
	missing := -float64(s.model.coef[Discharge][1+covAmbient]) * b.airJump.Float()
	b.airOff = s.Scored(Discharge) && now*missing > 0 && math.Abs(now) >= max(jumpMissing*math.Abs(missing), floors[Discharge])
	if b.airOff || b.airN >= jumpLasts+jumpOpen {
		b.airJump, b.airN, b.airWas = 0, 0, 0
	}
}

// followLone counts the windows in which one channel departs while all others are
// as usual: no fault does that, but for wear that begins. A window in which the others
// are only nearly as usual neither counts nor ends it.
func (s *baseline) followLone(modulated, suspected bool) {
	b := &s.doubts
	ch, how := s.loneChannel()
	came := b.came && b.lone == uint8(ch)+1
	if how == notLone && !suspected {
		ch, how = s.stepChannel()
		came = how != notLone
	}
	now, _, _ := s.Departure(ch)
	size, wear := math.Abs(now)/floors[ch], s.wears(ch, now) || modulated
	if how == notLone {
		b.endLone()
		return
	}
	tenths := uint8(min(255, math.Ceil(10*size)))
	switch begins := b.lone != uint8(ch)+1; {
	case how == nearlyLone && begins, begins && wear && !s.stepped(ch): // what came bit by bit may be wear
		b.endLone()
		return
	case how == nearlyLone:
		return
	case begins:
		b.lone, b.alone, b.loneAt, b.came = uint8(ch)+1, 0, tenths, came
	case b.alone == 1:
		b.loneAt = max(b.loneAt, tenths) // the first window may not have been whole
	case wear && 10*size > stepGrows*float64(b.loneAt)+1:
		b.endLone()
		return // it grows
	}
	need := uint8(loneWindows)
	if size >= loneLarge && ch != Amps { // a current has alerts of its own, and other compressors draw more
		need = loneSoon
	}
	if ch <= Suction && b.kept > 0 && s.stepped(ch) { // it jumped alone from one reading to the next
		need = loneJumped
	}
	if b.alone++; b.alone >= need {
		b.aside = b.aside.With(ch)
		b.endLone()
	}
}

func (b *doubts) endLone() { b.lone, b.alone, b.loneAt, b.came = 0, 0, 0, false }

// wears reports whether a channel that departs alone may be that of a machine that
// wears, or of a fault whose other channel is not measured. A condenser short of air raises the current
// alone behind an expansion valve (measured: 5 %, and nothing of either pipe), an evaporator short of air
// cools the suction line alone behind a capillary tube (measured: 1.8 K).
func (s *baseline) wears(ch Channel, now float64) bool {
	return ch == Vibration && now > 0 && now < vibJump || (ch == Amps && now > 0 || ch == Suction && now < 0) && math.Abs(now) < wornFloors*floors[ch] || ch == Discharge && now > 0 && now < wornFloors*floors[ch] && !s.heatsAlone() || s.unwitnessed(ch)
}

// stepped reports whether what a channel departs by came within its newest two windows.
func (s *baseline) stepped(ch Channel) bool {
	now, _, _ := s.Departure(ch)
	return math.Abs(now-s.moved(ch)) <= max(stepLeast*floors[ch], stepShare*math.Abs(now))
}

// moved is by how much a channel departs otherwise in its newest window than on an average
// of those before the newest two.
func (s *baseline) moved(ch Channel) float64 {
	now, before, slow := s.Departure(ch)
	return now - (slow-slowRate*(now+(1-slowRate)*before))/((1-slowRate)*(1-slowRate))
}

// stepChannel is the pipe that stepped alone: of the newest two windows, and from then
// on from window to window, it alone differs from those before. Whatever else departs,
// by its load, by ice or by a fault that was there already, goes on as it was.
func (s *baseline) stepChannel() (lone Channel, how lonely) {
	if s.Learning() || s.Resettling() {
		return 0, notLone
	}
	if b := &s.doubts; b.came && b.alone >= 2 {
		lone = Channel(b.lone - 1)
		return lone, s.beside(lone, s.shareOfStep(lone), stepScatter, func(ch Channel) float64 {
			now, before, _ := s.Departure(ch)
			return now - before
		})
	}
	far := 0
	for ch := Discharge; ch <= Suction; ch++ {
		now, _, _ := s.Departure(ch)
		if least := max(stepLeastOf[ch], farScatter*s.Scatter(ch)); s.Scored(ch) && math.Abs(s.moved(ch)) >= least && math.Abs(now) >= least {
			lone = ch
			far++
		}
	}
	if far != 1 {
		return 0, notLone
	}
	return lone, s.beside(lone, s.shareOfStep(lone), stepScatter, s.moved)
}

// shareOfStep is within how many floors the others keep next to a sudden departure: with a
// fault they would stand out as much.
func (s *baseline) shareOfStep(lone Channel) float64 {
	now, _, _ := s.Departure(lone)
	return max(loneQuiet, stepQuiet*math.Abs(now)/floors[lone])
}

// beside reports how alone a channel is: by no more than a share of their floors, or by so
// many standard deviations, are the others off where it is alone, and by little more where
// it nearly is.
func (s *baseline) beside(lone Channel, share, scatter float64, off func(Channel) float64) lonely {
	quiet, near := 0, 0
	for i := range sensorOf {
		ch := Channel(i)
		if ch == lone || !s.Scored(ch) {
			continue
		}
		switch by := math.Abs(off(ch)); {
		case by <= max(share*floors[ch], scatter*s.Scatter(ch)):
			quiet++
		case by <= max(loneNear*floors[ch], (scatter+nearScatter)*s.Scatter(ch)):
			near++
		default:
			return notLone
		}
	}
	switch {
	case quiet+near < loneOthers:
		return notLone
	case near > 0:
		return nearlyLone
	default:
		return isLone
	}
}

// unwitnessed reports whether a channel may depart alone in a fault because the one that
// departs with it is not measured: lost refrigerant shows in both pipes, a hot condenser
// in the discharge line and the current, ice in the suction line and the current.
func (s *baseline) unwitnessed(ch Channel) bool {
	if ch == Vibration {
		return false
	}
	for _, other := range [...]Channel{Discharge, Suction, Amps} {
		if other != ch && (!s.Scored(other) || ch == Discharge && 2*s.Scatter(other) > floors[other]) {
			return true // or scatters too much to show it
		}
	}
	return false
}

// Suspect reports whether one channel departs alone at present, one pipe jumped alone
// within a day, all speak of another ambient, or the ambient stands still, so that it
// may be the sensor.
func (b *doubts) Suspect() bool {
	return b.lone != 0 || b.kept > 0 || b.AirSuspect() || b.AirStands()
}

// farOff reports whether a channel departs by more than noise in the newest window.
func (s *baseline) farOff(ch Channel) bool {
	now, _, _ := s.Departure(ch)
	least := loneFloors
	switch b := &s.doubts; {
	case ch <= Suction && b.kept > 0 && s.stepped(ch):
		least = loneSeen
	case b.lone == uint8(ch)+1:
		least = loneGoesOn
	}
	return math.Abs(now) >= max(least*floors[ch], farScatter*s.Scatter(ch))
}

// slips reports whether the discharge line has become a little cooler for good, which no
// fault does to it alone: liquid cools the suction line first. A probe off its pipe does.
func (s *baseline) slips() bool {
	now, _, slow := s.Departure(Discharge)
	return now <= -slipNow*floors[Discharge] && slow <= -max(slipFloors*floors[Discharge], 3*s.Scatter(Discharge))
}

// heatsAlone reports whether the discharge line has become hotter while current and suction
// line keep so still that no fault did it.
func (s *baseline) heatsAlone() bool {
	_, _, slow := s.Departure(Discharge)
	_, _, amps := s.Departure(Amps)
	_, _, suction := s.Departure(Suction)
	return slow >= max(riseFloors*floors[Discharge], 3*s.Scatter(Discharge)) && s.Scored(Amps) && s.Scored(Suction) &&
		math.Abs(amps)+slowScatter*s.Scatter(Amps) <= riseAmps*slow && suction+slowScatter*s.Scatter(Suction) <= riseSuction*slow
}

// lonely is how far a channel that departs does so alone.
type lonely uint8

const (
	notLone lonely = iota
	nearlyLone
	isLone
)

// loneChannel is the channel that departs in the newest window, if only one does, and
// whether all others are as usual.
func (s *baseline) loneChannel() (lone Channel, how lonely) {
	if s.Learning() || s.Resettling() {
		return 0, notLone
	}
	far := 0
	for i := range sensorOf {
		if ch := Channel(i); s.Scored(ch) && (s.farOff(ch) || ch == Discharge && (s.slips() || s.heatsAlone())) {
			lone = ch
			far++
		}
	}
	if _, _, longer := s.Departure(Duty); far == 1 && lone == Amps && longer >= dutyShows*floors[Duty] {
		return 0, notLone // a meter lets no unit run longer: it does less work in an hour
	}
	if zone, _, slow := s.Departure(Zone); far != 1 || lone == Suction && math.Abs(slow) >= floors[Zone] && zone*slow > 0 && s.lineAgainst(slow) {
		return 0, notLone // a zone that is shown wrong lets the suction line look so
	}
	if now, _, slow := s.Departure(lone); lone == Discharge && slow > 0 && !s.farOff(lone) && now < riseNow*floors[lone] {
		return lone, nearlyLone // it hardly shows in the cold
	}
	share := loneQuiet
	if s.doubts.lone == uint8(lone)+1 || s.stepped(lone) {
		share = s.shareOfStep(lone)
	}
	return lone, s.beside(lone, share, loneScatter, func(ch Channel) float64 {
		now, before, _ := s.Departure(ch)
		return max(math.Abs(now), math.Abs(before))
	})
}

// lineAgainst reports whether the suction line departs the other way than the zone does.
func (s *baseline) lineAgainst(zone float64) bool {
	now, _, _ := s.Departure(Suction)
	return now*zone < 0
}
