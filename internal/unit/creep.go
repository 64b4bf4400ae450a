package unit

import (
	"math"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/state"
)

// creeps are what speaks against a sensor day by day: a zone that wanders away although
// the thermostat holds it, and lines that all follow another ambient than the one that
// is measured.
type creeps struct {
	newest int16              // creepUnit, mean zone outside defrosts of the newest day
	steps  [weekDays - 1]int8 // creepUnit, by how much each day differed from the one before it, newest first
	known  uint8              // days: creepDays at most where the compressor is seen
	sum    float32            // °C, of the hours of today
	hours  uint8              // of today
	warming
	airLike uint8 // windows in a row in which all that is measured of the compressor spoke of another ambient
}

const (
	creepDays  = 8
	creepUnit  = 0.05 // K
	dayHours   = 24
	creepLeast = 1.0 // K that a zone wanders at least
	creepSteps = 6   // days, of those between them, on which it does so the same way
	creepJump  = 0.4 // of it on one day: more was done by somebody
	creepQuiet = 0.6 // floors that all else keeps within meanwhile
	airLeast   = 2.5 // K by which the ambient is wrong
	airMay     = 1.2 // K by which it may be, so that nothing else is concluded
	airPart    = 0.5 // of what such an error would change, that each channel shows at least
	airExcess  = 1.6 // and at most
	airShows   = 0.3 // floors that it would change each channel by
	airWindows = 4
	leastShare = 3   // % of a day that a compressor runs that the thermostat switches
	mostShare  = 90  // and at most
	dayDuty    = 0.5 // floors by which a unit may run longer and still hold its zone
)

// followZone takes an hour's mean of the zone, °C.
func (d *creeps) followZone(zone float64) {
	if d.hours < dayHours {
		d.sum += float32(zone)
		d.hours++
	}
}

// endDay concludes a day of the zone, of which so many are kept. One that differs by more
// than a step can hold begins anew: something was done.
func (d *creeps) endDay(most uint8) {
	if d.hours >= dayHours/2 {
		mean := int16(math.Round(float64(d.sum) / float64(d.hours) / creepUnit))
		if step := mean - d.newest; d.known > 0 && step >= math.MinInt8 && step <= math.MaxInt8 {
			copy(d.steps[1:], d.steps[:])
			d.steps[0] = int8(step)
		} else {
			d.known = 0
		}
		d.newest = mean
		d.keep(min(d.known+1, most))
	}
	d.sum, d.hours = 0, 0
}

// keep forgets all but the newest days.
func (d *creeps) keep(days uint8) {
	d.known = days
	clear(d.steps[len(d.between()):])
}

// between are the steps between the days that are known, newest first.
func (d *creeps) between() []int8 { return d.steps[:max(1, d.known)-1] }

// wandered returns by how much the zone has wandered away bit by bit, K; 0 = it has not.
func (d *creeps) wandered() (by float64) {
	if d.known < creepDays {
		return 0
	}
	sum, up, down, most := 0, 0, 0, 0
	for _, v := range d.steps[:creepDays-1] {
		sum += int(v)
		most = max(most, int(v), -int(v))
		if v > 0 {
			up++
		} else if v < 0 {
			down++
		}
	}
	by = float64(sum) * creepUnit
	if math.Abs(by) < creepLeast || max(up, down) < creepSteps || float64(most)*creepUnit > creepJump*math.Abs(by) {
		return 0
	}
	return by
}

// reviewZone decides at the end of a day whether the zone's probe drifts: it shows that
// the zone wanders, while the thermostat goes on switching the compressor as it always
// did and nothing of the compressor has changed. A zone that is truly warm makes it run.
func reviewZone(s *State) {
	d, p := &s.doubts.creeps, &s.doubts.probes
	if zoneOnly(s) {
		d.endDay(weekDays)
		return
	}
	d.endDay(creepDays)
	by := d.wandered()
	share, known := s.RunShare(WindowsADay)
	switches := known && share > leastShare && share < mostShare
	if by == 0 || p.zoneOff || s.Learning() || s.Resettling() || s.Modulated() || s.Trips(rimewatch.Day) > 0 || s.RunningKnown() && !switches {
		return
	}
	for _, ch := range [...]Channel{Discharge, Suction, Amps, Duty} {
		now, _, slow := s.Departure(ch)
		far := math.Max(math.Abs(now), math.Abs(slow))
		if ch == Duty {
			far = slow / dayDuty * creepQuiet
		}
		if ch == Suction && slow*by < 0 {
			far -= math.Abs(by) * s.zoneSlope(ch) // a zone that is shown colder lets it look warmer
		}
		if s.Scored(ch) && far > creepQuiet*floors[ch] {
			return
		}
	}
	p.kept = keptFor // what was compared by it may have wandered with it
	p.zoneOff, p.zone = true, jump{was: state.FixedOf(float64(d.newest)*creepUnit - by), by: state.FixedOf(by), n: zoneReads, stops: zoneStops, field: uint8(rimewatch.ProductZoneTemp)}
}

// zoneSlope is by how much a channel usually follows the zone, a kelvin, or may.
func (s *baseline) zoneSlope(ch Channel) float64 {
	return max(math.Abs(float64(s.model.coef[ch][1+covZone])), zoneDoubt[ch])
}

// AirExplains reports whether an ambient that is measured wrong may alone explain how far
// discharge line, suction line and current depart.
func (b *baseline) AirExplains(y [Amps + 1]float64) bool { return math.Abs(b.airError(y)) >= airMay }

// airError is by how much the ambient is measured too low, K, if that alone explains how
// far discharge line, suction line and current depart, so that each shows its own share
// of it; otherwise 0. A condenser that fouls leaves the suction line as it is, a lack of
// refrigerant lowers the current, liquid in the suction line leaves it.
func (b *baseline) airError(y [Amps + 1]float64) float64 {
	var c [Amps + 1]float64
	num, den := 0.0, 0.0
	for ch := range Amps + 1 {
		c[ch] = float64(b.model.coef[ch][1+covAmbient])
		if c[ch] <= 0 || !b.Scored(ch) {
			return 0
		}
		w := 1 / (floors[ch] * floors[ch])
		num, den = num+w*c[ch]*y[ch], den+w*c[ch]*c[ch]
	}
	by := num / den
	for ch := range Amps + 1 {
		would := by * c[ch]
		if math.Abs(would) < max(airShows*floors[ch], 2*b.Scatter(ch)) || y[ch]/would < airPart || y[ch]/would > airExcess {
			return 0
		}
	}
	return by
}

// AirSuspect reports whether the newest window spoke of another ambient.
func (b *doubts) AirSuspect() bool { return b.airLike > 0 }

// AirOff reports whether the sensor of the ambient was found to be wrong by what the
// unit does.
func (b *doubts) AirOff() bool { return b.airOff }

// followAirError sees that the ambient is measured wrong although it never jumped. Where
// it is not measured the air itself may explain as much.
func (s *baseline) followAirError(measured bool) {
	b := &s.doubts
	vib, _, _ := s.Departure(Vibration)
	if s.Learning() || s.Resettling() || math.Abs(vib) > floors[Vibration] {
		b.airLike = 0
		return
	}
	var now, slow [Amps + 1]float64
	for ch := range Amps + 1 {
		now[ch], _, slow[ch] = s.Departure(ch)
	}
	switch {
	case math.Abs(s.airError(slow)) >= airLeast && now[Discharge]*slow[Discharge] > 0, s.restError(slow) != 0:
		b.airLike++
	case s.AirExplains(now) || s.AirExplains(slow):
		b.airLike = max(b.airLike, 1)
	default:
		b.airLike = 0
	}
	if !measured {
		b.airLike = min(b.airLike, 1) // it may be the air itself
	}
	if b.airLike > airWindows {
		b.airOff, b.airLike = true, 0
	}
}
