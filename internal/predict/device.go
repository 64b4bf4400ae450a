package predict

import (
	"math"

	"github.com/rimewatch/rimewatch"
)

// Config is what a device is judged by. It may be shared between devices and is
// never changed.
type Config struct {
	Equipment *rimewatch.Equipment
}

// State is all that the predictor remembers of one device. The zero State is a
// device that was never heard of. It holds no pointers: a copy is a snapshot.
type State struct {
	op      operation
	slot    slot
	slotEnd rimewatch.Time // of the hour that is being gathered
	winEnd  rimewatch.Time // of the window
	born    rimewatch.Time // learning began
	hours   uint16         // of learning with steady running, saturating
	zoneRef float32
	gate    float32 // min after a start at which running is steady
	volts   float32 // %, supply in running against nominal, mean of about a day
	ambient float32 // K above refAmbient, likewise

	model model
	win   [numChannels]tally // residuals of the hours of this window
	chans [numChannels]drift
	melt  tally      // rise of the zone in the defrosts that were learnt, K
	melts [4]float32 // rises of the newest defrosts, K, NaN-free
	meltN uint8
	quick quick
	hist  history
	alarm alarm
	told  uint8 // fault of the alert that the caller knows of, 0 = none
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
	learnHours = 120
)

// The time constants with which a healthy unit's baseline follows it once it is
// learnt, in hours and windows.
const (
	memoryHours   = 60 * 24
	memoryWindows = 120
)

// floors are the departures below which nothing is a finding, in the units of
// the channels. A developed fault is several times as large.
var floors = [numChannels]float64{3, 1.5, 5, 15, 12, 1, 80}

// Observe takes a reading that arrived at now. One that is not newer than the
// newest seen changes nothing. The transitions it brings are appended to out.
//
// A reading that is old on arrival is learnt from and judged like any other, but
// nothing is announced of it: history that is imported makes the unit known, and
// what still holds when readings are recent again is announced then.
func (s *State) Observe(c *Config, r *rimewatch.Reading, now rimewatch.Time, out []Transition) []Transition {
	if r.At <= s.op.at {
		return out
	}
	from := len(out)
	if s.op.at != 0 && r.At-s.op.at > relearnAfter {
		out = s.relearn(c, r.At, out)
	}
	if s.born == 0 {
		s.born = r.At
	}
	if r.At >= s.slotEnd {
		out = s.closeSlot(c, out)
		s.slotEnd = r.At - r.At%slotLen + slotLen
	}
	cy := s.op.step(r, &c.Equipment.Defrost, s.learning())
	if s.hours < gateHours {
		// Fixed afterwards, for longer runs would be measured later in them.
		s.gate = min(steadyAfter, steadyShare*s.op.runMin)
	}
	s.slot.take(r, &s.op, &cy, s.gate, s.longest())
	if cy.melted {
		s.noteMelt(cy.meltRise)
	}
	out = s.quickLook(c, r, &cy, out)
	if now-r.At > staleAfter {
		return out[:from]
	}
	return s.announce(c, r.At, from, out)
}

// staleAfter is the age at which a reading says nothing about now.
const staleAfter = rimewatch.Hour

// announce makes the transitions of a reading agree with what the caller was
// told before: what happened in readings that were too old to tell is made up
// for.
func (s *State) announce(c *Config, at rimewatch.Time, from int, out []Transition) []Transition {
	told, now := faults[s.told].alert, faults[s.alarm.fault].alert
	if told == now && len(out) == from || follows(out[from:], told, now) {
		s.told = s.alarm.fault
		return out
	}
	out = out[:from]
	f := s.findings()
	if told != "" && told != now {
		kept := s.alarm
		s.alarm = alarm{fault: s.told}
		t := s.transition(c, Resolved, at, &f)
		t.Resolution = rimewatch.ResolvedAuto
		s.alarm = kept
		out = append(out, t)
	}
	switch {
	case now == "":
	case now == told:
		out = append(out, s.transition(c, Updated, at, &f))
	default:
		out = append(out, s.transition(c, Opened, at, &f))
	}
	s.told = s.alarm.fault
	return out
}

// follows tells whether transitions lead from an open alert of one type to one
// of another; "" is none.
func follows(list []Transition, open, end rimewatch.AlertType) bool {
	for i := range list {
		switch t := &list[i]; {
		case t.Kind == Opened && open == "":
			open = t.Type
		case t.Kind == Resolved && open == t.Type:
			open = ""
		case t.Kind == Opened || t.Kind == Resolved || open != t.Type:
			return false
		}
	}
	return open == end
}

// relearnAfter is a silence after which a unit may have been serviced, moved or
// replaced.
const relearnAfter = 14 * rimewatch.Day

// closeSlot learns from the hour that is over or judges it.
func (s *State) closeSlot(c *Config, out []Transition) []Transition {
	if s.slotEnd == 0 {
		s.winEnd = 0
		return out
	}
	x, y, have := s.slot.sample(&s.zoneRef)
	if s.slot.volts.n > 0 {
		s.volts += 0.1 * (float32(x[covVolts]) - s.volts)
	}
	if s.slot.ambient.n > 0 {
		s.ambient += 0.1 * (float32(x[covAmbient]) - s.ambient)
	}
	s.slot = slot{top: s.slot.top}
	if have != 0 {
		if s.ready() {
			for ch := range numChannels {
				if have.has(ch) {
					s.win[ch].add(y[ch] - s.model.expect(ch, x))
				}
			}
		}
		if s.learns() {
			s.model.add(x, y, have, memoryHours)
			if have.has(chDischarge) || have.has(chAmps) {
				s.hours = min(s.hours+1, 60000)
			}
		}
	}
	if s.op.at >= s.winEnd || s.slotEnd >= s.winEnd {
		if s.winEnd != 0 {
			out = s.closeWindow(c, s.slotEnd, out)
		}
		s.winEnd = s.slotEnd - s.slotEnd%windowLen + windowLen
	}
	return out
}

// ready tells whether the model can already be compared with.
func (s *State) ready() bool { return s.hours >= readyHours }

// learning tells whether the unit is not known well enough to be judged by its
// own history.
func (s *State) learning() bool { return s.hours < learnHours }

// closeWindow judges six hours.
func (s *State) closeWindow(c *Config, at rimewatch.Time, out []Transition) []Transition {
	prior := priorOf(c.Equipment)
	for ch := range numChannels {
		d := &s.chans[ch]
		t := s.win[ch]
		s.win[ch] = tally{}
		if t.n < least {
			continue
		}
		d.last[1], d.last[0] = d.last[0], float32(t.mean())
		d.filled = min(d.filled+1, 2)
		d.slow += slowRate * (d.last[0] - d.slow)
	}
	if s.learning() {
		s.refit(prior)
		return out
	}
	out = s.judge(c, at, out)
	if s.learns() {
		s.refit(prior)
	}
	return out
}

const slowRate = 0.25

// longest is how long a run may have lasted to be compared, in min. Units whose
// runs are short never get warm all through: the rare long run is no departure.
func (s *State) longest() float32 {
	if s.gate >= steadyAfter {
		return math.MaxFloat32
	}
	return 1.3 * s.gate / steadyShare
}

// refit takes the window into what is known of healthy windows and fits the
// model anew.
func (s *State) refit(prior *slopes) {
	if s.hours >= gateHours {
		for ch := range numChannels {
			s.chans[ch].learn()
		}
	}
	s.model.solve(prior)
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

// score is how surely a mean of n windows departs from the baseline, in
// standard normal deviates discounted by how little is known.
func (d *drift) score(value float64, n float64) float64 {
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
	return normalScore(value/scale, known-1) * (known - 1) / (known - 1 + 5)
}

// learns tells whether what is seen may be learnt: not while the unit is under
// suspicion.
func (s *State) learns() bool {
	if s.learning() {
		return true
	}
	return !s.alarm.active() && !s.suspicious()
}

func (s *State) suspicious() bool {
	for ch := range numChannels {
		if ch == chZone || ch == chDuty {
			continue
		}
		if d := &s.chans[ch]; math.Abs(float64(d.slow)) > 0.4*floors[ch] || math.Abs(float64(d.last[0])) > 0.8*floors[ch] {
			return true
		}
	}
	return false
}

// noteMelt remembers how far the zone warmed up in a defrost.
func (s *State) noteMelt(rise float32) {
	const n = uint8(len(s.melts))
	s.melts[s.meltN%n] = rise
	if s.meltN++; s.meltN == 2*n {
		s.meltN = n
	}
	if s.learning() {
		s.melt.add(float64(rise))
	}
}
