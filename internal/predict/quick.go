package predict

import (
	"math"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/state"
	"github.com/rimewatch/rimewatch/internal/unit"
)

// quick watches for what cannot wait for the end of a window.
type quick struct {
	early   [earlySteps][earlyChannels]norm // residuals of readings soon after a start
	mean    [trendChannels]float32          // exponential means of the corrected residuals of single readings in runs
	tripAmp float32                         // %, current at the end of the newest runs without result against steady running
	from    state.Stamp                     // a sudden departure has lasted since
	muted   state.Stamp                     // no sudden departure counts before
	n       uint8                           // readings in a row that depart
	steady  uint8                           // of them in steady running
	cried   uint8                           // alerts from events that no window bore out
}

// norm is a mean and a variance in the making.
type norm struct {
	mean, vari state.Real
	n          uint16
}

func (m *norm) add(v float64) {
	m.n = min(m.n+1, 2000)
	mean, vari := m.mean.Float(), m.vari.Float()
	d := float32(v) - mean
	mean += d / float32(m.n)
	vari += (d*(float32(v)-mean) - vari) / float32(m.n)
	m.mean, m.vari = state.RealOf(mean), state.RealOf(vari)
}

// Until running is steady the readings are compared with the usual ones so many
// minutes after a start: 0, 1, 2, or more.
const (
	earlySteps    = 4
	earlyChannels = unit.Amps + 1
)

// A departure is sudden at this many floors, and the noise, in one channel and at half of one in
// another, in so many readings in a row and for so long.
const (
	suddenFloors   = 1
	suddenReadings = 5
	suddenFor      = 4 * rimewatch.Minute
	headReadings   = 10 // after which the discharge line has warmed through
	headFor        = 40 * rimewatch.Minute
	suddenFrost    = 2.2 // floors of suction or current that are more than a day's frost
)

// earlyTrust is the share of a departure soon after a start that counts: the
// pipes are still warm from the run before, more so when the rhythm has changed.
var earlyTrust = [earlyChannels]float64{unit.Discharge: 0.8, unit.Suction: 0.8, unit.Amps: 1}

// quickLook judges a reading by itself.
func (s *State) quickLook(u *unit.State, o *unit.Observation, out []Transition) []Transition {
	if o.FailedStart && u.FailedStarts(3) >= needFailed(u) {
		return s.openByEvent(u, o.At, fiStart, fiContactor, out)
	}
	if o.Tripped {
		return s.tripped(u, o, out)
	}
	if !u.Comparable() || !u.Ready() {
		return out
	}
	ran := float64(o.At-u.RunStarted()) / float64(rimewatch.Minute)
	if ran > u.Longest() {
		return out
	}
	y, have := u.Departures(o)
	if ran < 0.5 {
		have &^= 1 << unit.Vibration // the start itself shakes
	}
	if ran < u.Gate() {
		early := &s.quick.early[min(earlySteps-1, int(ran+0.5))]
		for ch := range earlyChannels {
			if !have.Has(ch) {
				continue
			}
			if e := &early[ch]; u.Learning() {
				e.add(y[ch])
			} else if e.n < 20 {
				have &^= 1 << ch
			} else {
				y[ch] -= float64(e.mean.Float())
				y[ch] *= earlyTrust[ch] * min(1, ch.Floor()/(2*math.Sqrt(float64(e.vari.Float()))+1e-9))
			}
		}
	}
	if u.Learning() {
		return out
	}
	if _, air := o.Value(rimewatch.AmbientTemp); o.AirLeapt || u.AirStands() || u.AirMeasured() && !air {
		s.quick.from, s.quick.n, s.quick.steady = state.Stamp{}, 0, 0
		return out
	}
	return s.sudden(u, o, y, have, out)
}

// needFailed is how many failed starts in three hours are no accident: more where
// single readings decide, since runs are short or the unit is new.
func needFailed(u *unit.State) int {
	if u.LearntHours() < sureHours || u.CycleMinutes() < sureCycle*float64(u.Interval())/float64(rimewatch.Minute) {
		return 4
	}
	return 2
}

const (
	sureHours = 24
	sureCycle = 10 // intervals between readings
)

// sudden follows single readings for a departure so large that minutes suffice.
func (s *State) sudden(u *unit.State, o *unit.Observation, y [trendChannels]float64, have unit.Channels, out []Transition) []Transition {
	q := &s.quick
	far, near := 0, 0
	off := u.OffZone()
	for ch := range trendChannels {
		if !have.Has(ch) {
			if u.Aside().Has(ch) {
				q.mean[ch] = 0 // what it showed before was wrong, too
			}
			continue
		}
		q.mean[ch] += 0.3 * (float32(max(-20*ch.Floor(), min(20*ch.Floor(), y[ch]))) - q.mean[ch])
		if ch == unit.Vibration {
			continue
		}
		size := math.Abs(float64(q.mean[ch]))
		noise := 4*u.Scatter(ch) + ch.ZoneDoubt()*off
		if size > 0.5*ch.Floor()+noise {
			noise += u.AirDoubted(ch, u.Conditions(o))
		}
		if size > suddenFloors*ch.Floor()+noise {
			far++
		}
		if size > 0.5*ch.Floor()+noise {
			near++
		}
	}
	if far < 1 || near < 2 {
		q.from, q.n, q.steady = state.Stamp{}, 0, 0
		return out
	}
	if !q.from.Set() {
		q.from = state.StampOf(o.At)
	}
	q.n = min(q.n+1, 200)
	if o.At-u.RunStarted() >= rimewatch.Time(u.Gate()*float64(rimewatch.Minute)) {
		q.steady = min(q.steady+1, 200)
	}
	if q.n < suddenReadings || o.At-q.from.Time() < suddenFor || s.melts(u, o.At) || s.speedMoved() || s.alarm.active() || o.At < q.muted.Time() {
		return out
	}
	if u.RunStarted() <= q.from.Time() && (u.Phase() == unit.Recovering || q.steady < 3) {
		return out // the start of one run, or one run back from warm, proves nothing; the next does
	}
	if !s.bears(y, have) {
		return out // the rest of the run before
	}
	if noZone := u.ZoneAt() == 0 || (u.Broken() | u.Missing()).Has(rimewatch.ProductZoneTemp); noZone && (u.RunStarted() <= q.from.Time() || o.At-q.from.Time() < unseenFor) {
		return out // defrosts, deliveries and power cuts are known by the zone alone
	}
	if u.AirSuspect() || u.AirExplains([earlyChannels]float64{float64(q.mean[unit.Discharge]), float64(q.mean[unit.Suction]), float64(q.mean[unit.Amps])}) {
		return out // the windows tell whether it is the sensor
	}
	f := s.instant(u)
	d := diagnose(&f)
	if d.score < needFit || faults[d.first].alert == "" || d.first == fiBearing { // what wears does not come within minutes
		return out
	}
	if faults[d.first].family == familyHead && o.At-q.from.Time() < headFor && q.n < headReadings && math.Abs(fit(fiCondenserFan, &f)-fit(fiOvercharge, &f)) < needMargin {
		return out // the discharge line still warms up, and only how hot it gets tells the two apart
	}
	if frosty := max(-f.of[unit.Suction]/unit.Suction.Floor(), -f.of[unit.Amps]/unit.Amps.Floor()); faults[d.first].alert == rimewatch.EvaporatorIcingSuspected && frosty < suddenFrost {
		return out // a delivery leaves that much frost until the next defrost
	}
	out = s.open(u, o.At, &d, &f, true, out)
	s.alarm.sudden = true
	return out
}

// bears reports whether a reading itself bears out what those before it have shown: soon
// after a start their means still hold the run before, which may have ended in a defrost.
func (s *State) bears(y [trendChannels]float64, have unit.Channels) bool {
	n := 0
	for ch := range unit.Vibration {
		if mean := float64(s.quick.mean[ch]); have.Has(ch) && math.Abs(mean) >= 0.5*ch.Floor() && y[ch]/mean >= 0.3 {
			n++
		}
	}
	return n >= 2
}

// melts reports whether a sudden departure may be a defrost that the compressor runs
// through, as one by hot gas. It need not show in the zone: one that fails to melt does
// not.
func (s *State) melts(u *unit.State, at rimewatch.Time) bool {
	longest := u.MeltsRunning()
	return longest > 0 && at-s.quick.from.Time() < max(meltShows, longest)
}

// unseenFor is how long a sudden departure must last where no zone shows what the unit
// recovers from: longer than a defrost and the way back from it.
const unseenFor = 2 * rimewatch.Hour

// meltShows is how long a defrost lasts at least.
const meltShows = 20 * rimewatch.Minute

// speedMoved reports whether current and vibration have moved together, as they do
// when a compressor turns faster or slower.
func (s *State) speedMoved() bool {
	amps, vib := s.quick.mean[unit.Amps], s.quick.mean[unit.Vibration]
	return max(amps, -amps) >= 6 && vib/amps > 0.3 && vib/amps < 1.3
}

// instant are the findings of the last minutes; the step is measured against
// the windows before.
func (s *State) instant(u *unit.State) findings {
	f := s.findings(u)
	most := 0.0
	for ch := range trendChannels {
		now, then := float64(s.quick.mean[ch]), s.hist.back(ch, 1)
		if last := s.hist.back(ch, 0); math.Abs(last) > math.Abs(then) {
			then = last
		}
		f.of[ch] = now
		if share := math.Abs(now) / ch.Floor(); share > most && now != 0 {
			most = share
			f.of[ftStep] = max(0, min(1, (now-then)/now))
			f.of[ftSudden] = ramp(f.of[ftStep], 0.6, 0.9)
		}
	}
	f.of[ftLeapt] = s.leapt(u, &f)
	return f
}

// tripped is called when a run has ended without result. Three of them within
// 45 minutes are no accident: what the current was at their end tells high head
// from low suction from an open contact.
func (s *State) tripped(u *unit.State, o *unit.Observation, out []Transition) []Transition {
	q := &s.quick
	if amps := u.OwnAmps(u.EndAmps()); u.Ready() && amps > 0 {
		e := 100*math.Log(amps) - u.Expected(unit.Amps, u.Conditions(o))
		e -= math.Copysign(min(math.Abs(e), u.OffZone()), e)
		if u.Trips(2*rimewatch.Hour) <= 1 {
			q.tripAmp = float32(e) // the first of a series
		}
		q.tripAmp += 0.5 * (float32(e) - q.tripAmp)
	}
	// A meter that counts more than the compressor says little of its current.
	doubt := float32(3 * u.Scatter(unit.Amps))
	need, trips := 3, u.Trips(tripSpan)
	if q.tripAmp > 4 && doubt < 3 && u.AirMeasured() { // how much is usual follows the air
		need = 2
	}
	if trips < need || u.Sags(o) { // a low supply explains it, and has its own alert
		return out
	}
	// Before the last half day, lest the fault itself counts as its forerunner.
	drifted := func(ch unit.Channel, share float64) bool { return s.hist.back(ch, 2)/ch.Floor()*share > 0.5 }
	hot := s.hist.back(unit.Discharge, 0)
	leapt := hot > leaptHot && s.hist.leapt(unit.Discharge, hot) >= 0.75 // what came at once is no dirt
	switch head := q.tripAmp > 3+doubt || q.tripAmp > 0 && q.mean[unit.Amps] > 0 && q.mean[unit.Discharge] >= tripHot; {
	case head && !leapt && (drifted(unit.Discharge, 1) || drifted(unit.Amps, 1)):
		return s.openByEvent(u, o.At, fiFouling, fiCondenserFan, out)
	case head:
		return s.openByEvent(u, o.At, fiCondenserFan, fiFouling, out)
	case q.tripAmp < -6-doubt && drifted(unit.Suction, -1):
		return s.openByEvent(u, o.At, fiIcing, fiEvaporatorFan, out)
	case q.tripAmp < -6-doubt && drifted(unit.Suction, 1):
		return s.openByEvent(u, o.At, fiUndercharge, fiRestriction, out)
	case q.tripAmp < -6-doubt:
		return s.openByEvent(u, o.At, fiEvaporatorFan, fiIcing, out)
	}
	if trips < 5 || u.LearntHours() < sureHours || u.Scatter(unit.Amps) > modulates {
		return out
	}
	return s.openByEvent(u, o.At, fiContactor, fiStart, out)
}

// tripHot is how much hotter than usual the discharge line of runs without result is where
// their head is too high, K, whatever the current at their end shows: a contact that opens
// heats nothing.
const tripHot = 6

// modulates is the scatter of a current from which its compressor may vary its speed or
// its load, %: what looks like a stop need not be one.
const modulates = 15

// tripSpan is within how long runs without result are no accident.
const tripSpan = 45 * rimewatch.Minute

// openByEvent opens an alert that rests on counted events, or renews it.
func (s *State) openByEvent(u *unit.State, at rimewatch.Time, first, second uint8, out []Transition) []Transition {
	a := &s.alarm
	if !a.active() && at < s.quick.muted.Time() {
		return out
	}
	f := s.findings(u)
	d := diagnosis{first: first, second: second, score: 0.8, next: 0.5}
	if a.active() {
		a.renewed = state.StampOf(at)
		if a.byEvent || faults[a.fault].alert == faults[first].alert && a.critical {
			return out
		}
		if faults[a.fault].alert != faults[first].alert {
			// What was predicted has come about another way, or both are true:
			// the alert that is open stays, and gets worse.
			d = diagnosis{first: a.fault, second: first, score: float64(a.score)}
		}
		a.byEvent = true
		s.take(u, &d, &f, at)
		a.critical = true
		return append(out, s.transition(u, rimewatch.TransitionEscalated, at, &f))
	}
	return s.open(u, at, &d, &f, true, out)
}
