package alert

import (
	"math"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/state"
)

// The times that hold for every rule.
const (
	reopenWarning  = 30 * minute // a manual resolve is respected this long
	reopenCritical = 5 * minute
	flapWindow     = 6 * hour // an alert that opens again this soon after it resolved is counted as flapping
	flapQuiet      = hour     // a latched alert resolves after this long past its clear value
	flapLimit      = 3        // the opening after this many such returns is latched
	maxOccurrences = 31
)

// zone is where a value lies relative to one limit, worst last.
type zone uint16

const (
	zoneClear  zone = iota // past the clear value, or nothing known
	zoneBand               // between clear value and limit: neither
	zoneBeyond             // beyond the limit
	// zoneReturning is the band on the way back from clear, of an active alert.
	zoneReturning
)

// A track follows one condition of one device through pending, active and
// clearing. Everything in it is event time, but start after a resolve.
type track struct {
	peak  state.Fixed
	mark  state.Stamp // when the value entered its zone relative to the warning limit
	cmark state.Stamp // … relative to the critical limit
	start state.Stamp // active: start of the condition; else when the last alert resolved
	bits  uint16
}

const (
	bitCritical uint16 = 1 << iota
	bitByTime          // critical because it lasted, not by its value
	bitFlapping
	bitMuted  // resolved by a person while the condition held
	bitSecond // the condition shows in the rule's second measure

	zoneShift  = 5
	czoneShift = 7
	flapShift  = 9
	occShift   = 11

	zoneBits = 3<<zoneShift | 3<<czoneShift
)

func (t *track) is(bit uint16) bool { return t.bits&bit != 0 }

func (t *track) put(bit uint16, on bool) {
	if on {
		t.bits |= bit
	} else {
		t.bits &^= bit
	}
}

func (t *track) part(shift int, mask uint16) uint16 { return t.bits >> shift & mask }

func (t *track) setPart(shift int, mask, v uint16) {
	t.bits = t.bits&^(mask<<shift) | v<<shift
}

func (t *track) zone() zone       { return zone(t.part(zoneShift, 3)) }
func (t *track) czone() zone      { return zone(t.part(czoneShift, 3)) }
func (t *track) flaps() int       { return int(t.part(flapShift, 3)) }
func (t *track) occurrences() int { return int(t.part(occShift, maxOccurrences)) }

// bounds is what a track is judged by: two limits on one side of the metric
// with their delays. Without any limit the condition cannot hold.
type bounds struct {
	warn, crit       float64
	hasWarn, hasCrit bool
	low              bool           // beyond means below
	delta            float64        // how far inside the limit the clear value lies
	warnDelay        rimewatch.Time // beyond warn this long: warning
	critDelay        rimewatch.Time // beyond crit this long: critical
	longDelay        rimewatch.Time // beyond warn this long: critical; 0 = never
	clear            rimewatch.Time // past the clear value this long: resolved
	ease             rimewatch.Time // past the critical limit's clear value this long: a warning again; at least clear
	stay             rimewatch.Time // past the clear value at least this long: resolved
	clearSecond      rimewatch.Time // the same where the second measure opened it, when longer

	window, critWindow rimewatch.Time // in which the time beyond each limit adds up: twice its delay as it is set; 0 = it does not
	dayLimit           rimewatch.Time // beyond warn, of a low side beyond crit, this long a day: it is told; 0 = never

	// Moments that the exposure of the rule adds; 0 = it adds none.
	reached, critReached, longReached rimewatch.Time // the time beyond has added up to the delay
	began                             rimewatch.Time // … since then
	calm, critCalm                    rimewatch.Time // it keeps an alert from ending, or from easing, until then
}

func (b *bounds) judged() bool { return b.hasWarn || b.hasCrit }

// zones returns where v lies relative to the limit that decides between
// condition and none, and relative to the critical limit.
func (b *bounds) zones(v float64) (z, cz zone) {
	if b.hasCrit {
		cz = b.where(v, b.crit)
	}
	if !b.hasWarn {
		return cz, cz
	}
	return b.where(v, b.warn), cz
}

// where compares the clear value with a hair of tolerance: 0.3 − 0.1 is not
// 0.2 in binary.
func (b *bounds) where(v, limit float64) zone {
	if b.low {
		v, limit = -v, -limit
	}
	switch {
	case v > limit:
		return zoneBeyond
	case v <= limit-b.delta+1e-9:
		return zoneClear
	default:
		return zoneBand
	}
}

// sample is what a rule is judged by at one moment.
type sample struct {
	v      float64
	low    bool // the worst value of the measure is the lowest
	second bool // v is the rule's second measure
	z, cz  zone
}

// take notes a sample that holds from e on. anew says that nothing before it belongs to
// the condition that it may begin.
func (t *track) take(m sample, b *bounds, e rimewatch.Time, active, anew bool) {
	if active && t.is(bitCritical) && t.lastingDue(b) <= e {
		t.put(bitByTime, true)
	}
	t.enter(m.z, m.cz, e, active)
	f := state.FixedOf(m.v)
	switch {
	case m.second != t.is(bitSecond):
		// An active alert keeps the measure it opened with until only the
		// other one holds it.
		if active && m.z != zoneBeyond {
			return
		}
		t.put(bitSecond, m.second)
		t.peak = f
	case anew && !active && m.z == zoneBeyond && t.mark.Time() == e:
		t.peak = f
	case m.low:
		t.peak = min(t.peak, f)
	default:
		t.peak = max(t.peak, f)
	}
}

// enter notes the zones that hold from e on.
func (t *track) enter(z, cz zone, e rimewatch.Time, active bool) {
	was := t.zone()
	if active && z == zoneBand && (was == zoneClear || was == zoneReturning) {
		z = zoneReturning
	}
	if was != z {
		t.setPart(zoneShift, 3, uint16(z))
		t.mark = state.StampOf(e)
		if active && z == zoneBeyond && (was == zoneClear || was == zoneReturning) {
			t.setPart(occShift, maxOccurrences, uint16(min(t.occurrences()+1, maxOccurrences)))
		}
		if z == zoneClear {
			t.put(bitMuted, false)
		}
	}
	if t.czone() != cz {
		t.setPart(czoneShift, 3, uint16(cz))
		t.cmark = state.StampOf(e)
	}
}

const never = rimewatch.Time(math.MaxInt64)

// next is the moment at which the track changes if its zones stay as they are,
// and the change; never and "" when it does not.
func (t *track) next(b *bounds, active bool) (rimewatch.Time, rimewatch.TransitionKind) {
	crit := t.criticalDue(b)
	if !active {
		due := min(crit, t.warningDue(b))
		if due == never {
			return never, ""
		}
		return due, rimewatch.TransitionOpened
	}
	if !b.judged() {
		return 0, rimewatch.TransitionResolved
	}
	due, kind := never, rimewatch.TransitionKind("")
	switch {
	case t.zone() == zoneClear:
		due, kind = max(t.mark.Time()+t.clearTime(b), b.calm), rimewatch.TransitionResolved
	case !t.is(bitCritical) && crit != never:
		due, kind = crit, rimewatch.TransitionEscalated
	}
	if t.is(bitCritical) && !t.is(bitByTime) && t.czone() == zoneClear && b.hasWarn {
		if eased := max(t.cmark.Time()+t.easeTime(b), b.critCalm); eased < due && t.lastingDue(b) > eased {
			due, kind = eased, rimewatch.TransitionDeescalated
		}
	}
	return due, kind
}

// clearTime is how long the value must be past its clear value.
func (t *track) clearTime(b *bounds) rimewatch.Time {
	d := max(b.clear, b.stay)
	if t.is(bitSecond) {
		d = max(d, b.clearSecond)
	}
	if t.is(bitFlapping) {
		d = max(d, flapQuiet)
	}
	return d
}

// easeTime is how long the value must be past the critical limit's clear value for a warning. One that keeps
// coming and going would otherwise call people with every return.
func (t *track) easeTime(b *bounds) rimewatch.Time {
	if t.is(bitFlapping) {
		return max(b.clear, b.ease, flapWindow)
	}
	return max(b.clear, b.ease)
}

func (t *track) warningDue(b *bounds) rimewatch.Time {
	if !b.hasWarn || t.zone() != zoneBeyond {
		return never
	}
	due := earlier(t.mark.Time()+b.warnDelay, b.reached)
	if t.is(bitMuted) {
		due = max(due, t.start.Time()+reopenWarning)
	}
	return due
}

func (t *track) criticalDue(b *bounds) rimewatch.Time {
	due := never
	if b.hasCrit && t.czone() == zoneBeyond {
		due = earlier(t.cmark.Time()+b.critDelay, b.critReached)
	}
	due = min(due, t.lastingDue(b))
	if due != never && t.is(bitMuted) {
		due = max(due, t.start.Time()+reopenCritical)
	}
	return due
}

// lastingDue is when the condition becomes critical because it lasts.
func (t *track) lastingDue(b *bounds) rimewatch.Time {
	if !b.hasWarn || b.longDelay <= 0 || t.zone() != zoneBeyond {
		return never
	}
	return earlier(t.mark.Time()+b.longDelay, b.longReached)
}

// earlier returns the moment that comes first; a reached of 0 never comes.
func earlier(due, reached rimewatch.Time) rimewatch.Time {
	if reached != 0 {
		return min(due, reached)
	}
	return due
}

// open starts an alert at x, the moment to which the clocks have run.
func (t *track) open(b *bounds, x rimewatch.Time) {
	start := t.mark.Time()
	if b.began != 0 && b.began < start {
		start = b.began
	}
	flaps := 0
	if last := t.start.Time(); last != 0 && !t.is(bitMuted) && start-last < flapWindow {
		flaps = min(t.flaps()+1, flapLimit)
	}
	critical := t.criticalDue(b) <= x
	t.bits &= zoneBits | bitSecond
	t.put(bitCritical, critical)
	t.put(bitByTime, critical && t.lastingDue(b) <= x)
	t.put(bitFlapping, flaps >= flapLimit)
	t.setPart(flapShift, 3, uint16(flaps))
	t.setPart(occShift, maxOccurrences, 1)
	t.start = state.StampOf(start)
}

// close ends the alert and keeps what a next one needs to know.
func (t *track) close(now rimewatch.Time) {
	t.bits &= zoneBits | 3<<flapShift
	t.start = state.StampOf(now)
}

// shift moves running clocks by the time for which they stood still.
func (t *track) shift(d rimewatch.Time) {
	t.mark = state.StampOf(t.mark.Time() + d)
	t.cmark = state.StampOf(t.cmark.Time() + d)
}

// idle reports whether the track holds nothing but the memory of an alert.
func (t *track) idle() bool {
	return t.zone() != zoneBeyond && t.czone() != zoneBeyond && !t.is(bitMuted)
}
