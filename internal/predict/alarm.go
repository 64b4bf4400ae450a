package predict

import (
	"math"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/state"
	"github.com/rimewatch/rimewatch/internal/unit"
)

// Transition is a change of a device's predictive alert: opened, updated (new evidence, diagnosis or
// lead time), escalated or resolved.
type Transition struct {
	Kind               rimewatch.TransitionKind
	Type               rimewatch.AlertType
	Severity           rimewatch.Severity
	Resolution         rimewatch.Resolution // of a Resolved one: auto, or superseded by another type
	Ending             rimewatch.Ending     // of a Resolved one: why
	At                 rimewatch.Time       // event time of what brought it
	ConditionStartedAt rimewatch.Time       // event time at which the departure began
	Metric             string               // that departed most
	Unit               string
	Value, Threshold   float64 // its departure and the least that counts
	Prediction         *rimewatch.Prediction
}

// alarm is the predictive alert of a device. There is one at a time: further
// faults go into its evidence.
type alarm struct {
	since   state.Stamp // the departure began
	opened  state.Stamp
	renewed state.Stamp // newest event that supports one that rests on events
	lead    lead        // h, 0 without
	score   float32     // of the diagnosis
	risk    float32
	fault   uint8         // 0 = none active
	departs unit.Channels // in its evidence as last reported
	second  uint8         // runner-up, 0 = none
	calm    uint8         // windows without support in a row
	other   uint8         // windows in a row in which another fault fitted clearly better
	pending uint8         // windows in a row that would open it
	weak    uint8         // windows in a row with a small but lasting departure
	critical,
	sudden, // opened by single readings alone
	supported, // by windows since
	byEvent, // opened by trips, failed starts or a sudden departure
	asks, // a person, since it has lasted for so long
	hasLead bool
}

func (a *alarm) active() bool { return a.fault != fiNone }

// The decision.
const (
	needScore   = 2.5  // standard deviates by which a departure must be certain
	needScatter = 3.5  // standard deviations of healthy windows by which it must be large
	needFit     = 0.66 // of a diagnosis: more than one of its two main clues
	needMargin  = 0.15
	weakShare   = 0.6 // of a floor, for departures that last
	farShare    = 1.3 // floors at which one that lasts needs less certainty
	needWeak    = 6   // windows that such a one must last
	needPending = 2   // windows in a row that a full one must last
	calmWindows = 8   // windows without support that end an alert
	eventHold   = rimewatch.Day
	suddenMute  = 21 * rimewatch.Day
	asksAfter   = 14 * rimewatch.Day // nothing is learnt of the unit while an alert is open
)

// judge decides at the end of a window. A window in which a unit hardly ran bears
// nothing out and refutes nothing: what it showed before is not counted twice.
func (s *State) judge(u *unit.State, o *unit.Observation, out []Transition) []Transition {
	at := o.At
	s.hist.add(u)
	if !s.alarm.active() && o.Shown&decisives == 0 {
		return out
	}
	strong, weak := s.departures(u)
	f := s.findings(u)
	d := diagnose(&f)
	a := &s.alarm
	if a.active() {
		return s.follow(u, o, strong || weak, &d, &f, out)
	}
	a.pending = count(a.pending, strong)
	a.weak = count(a.weak, weak)
	if !(a.pending >= needPending || a.weak >= needWeak) || d.score < needFit || faults[d.first].alert == "" || u.Suspect() {
		return out
	}
	return s.open(u, at, &d, &f, false, out)
}

func count(n uint8, yes bool) uint8 {
	if !yes {
		return 0
	}
	return min(n+1, 200)
}

// decisive are the channels whose departure alone may open an alert. Duty and
// zone follow people as well as faults.
var decisive = [...]unit.Channel{unit.Discharge, unit.Suction, unit.Amps, unit.Vibration}

// decisives are the same as a set.
const decisives = unit.Channels(1<<unit.Discharge | 1<<unit.Suction | 1<<unit.Amps | 1<<unit.Vibration)

// departures reports whether any decisive channel is certainly beyond its floor in
// the newest window, or lastingly beyond a share of it.
func (s *State) departures(u *unit.State) (strong, weak bool) {
	if l := loadOf(u); l.other(u.Modulated()) {
		return false, false
	}
	for _, c := range decisive {
		if !u.Scored(c) {
			continue
		}
		now, _, slow := u.Departure(c)
		floor, sure := max(c.Floor(), needScatter*u.Scatter(c)), math.Abs(u.Certainty(c, now, 1))
		if math.Abs(now) >= floor && sure >= needScore {
			strong = true
		}
		// What has been far beyond its floor for long needs less certainty: a unit
		// that was drifting while it was learnt is never known well.
		if far := min(math.Abs(now), math.Abs(slow)) / floor; far >= farShare && now*slow > 0 && sure >= needScore/far {
			strong = true
		}
		if math.Abs(slow) >= weakShare*floor && now*slow > 0 && math.Abs(u.Certainty(c, slow, unit.SlowWindows)) >= needScore {
			weak = true
		}
	}
	return strong, weak
}

// load is what tells of how much a compressor has to do: how far current and vibration
// depart in the newest window and on an average of a day and a half, %, and how much
// warmer the discharge line is, K.
type load struct{ amps, vib, slowAmps, slowVib, warmer float64 }

func loadOf(u *unit.State) (l load) {
	l.amps, _, l.slowAmps = u.Departure(unit.Amps)
	l.vib, _, l.slowVib = u.Departure(unit.Vibration)
	l.warmer, _, _ = u.Departure(unit.Discharge)
	return l
}

// other reports whether a compressor turns at another speed, or one whose load varies
// carries another.
func (l *load) other(varies bool) bool {
	if !varies {
		return math.Abs(l.amps) >= otherSpeed && together(l.amps, l.vib)
	}
	return math.Abs(l.amps) >= variedSpeed && together(l.amps, l.vib) || math.Abs(l.slowAmps) >= variedSpeed && together(l.slowAmps, l.slowVib) ||
		l.amps >= variedSpeed && l.amps > loadRatio*max(0, l.warmer)
}

// together reports whether current and vibration move as they do at another speed.
func together(amps, vib float64) bool { return vib/amps > 0.3 && vib/amps < 1.3 }

// By how many % current and vibration move together when a compressor turns at another
// speed: one of a fixed speed does so rarely and by much, one of a varying speed whenever
// its load differs.
const (
	otherSpeed  = 8.0
	variedSpeed = 4.0
)

// loadRatio is how many % of current more a K of discharge line a compressor of
// varying load takes by its load: what raises the head takes less than one.
const loadRatio = 2.5

// findings are the features now: the mean of the two newest windows.
func (s *State) findings(u *unit.State) findings { return s.find(u, false) }

// lasting are the features of about a day and a half, which know no morning and no
// afternoon.
func (s *State) lasting(u *unit.State) findings { return s.find(u, true) }

func (s *State) find(u *unit.State, lasting bool) findings {
	var f findings
	step, sudden, most := 0.0, 0.0, 0.0
	varies := u.Modulated() && hides(u)
	for c := range unit.NumChannels {
		if !u.Scored(c) || c == unit.Amps && varies { // its load hides what it would show
			f.blind |= (decisives | noZone) & (1 << c)
			continue
		}
		now, before, slow := u.Departure(c)
		f.of[c] = (now + before) / 2
		if c == unit.Duty || lasting {
			f.of[c] = slow
		}
		if c == unit.Amps && !u.Scored(unit.Suction) {
			f.of[c] = unaided(u, f.of[c])
		}
		if c < trendChannels { // a departure within its own scatter is no evidence
			f.of[c] = math.Copysign(max(0, math.Abs(f.of[c])-max(0, 2*u.Scatter(c)-0.4*c.Floor())), f.of[c])
		}
		if share := math.Abs(f.of[c]) / c.Floor(); c < trendChannels && share > most {
			step, sudden, most = s.hist.step(c), ramp((f.of[c]-s.hist.back(c, 2))/f.of[c], 0.8, 1), share
		}
	}
	f.of[unit.Duty] = wanted(f.of[unit.Duty], u.Trips(unit.WindowLength))
	// Colder than the thermostat lets it become.
	f.of[unit.Zone] = min(f.of[unit.Zone], -u.BelowCutOut())
	f.of[ftStep], f.of[ftSudden] = step, sudden
	f.of[ftLeapt] = s.leapt(u, &f)
	if f.of[unit.Vibration] > 0 && s.alarm.fault != fiBearing { // one that was seen to grow is none that came at once
		f.of[ftOnce] = s.hist.once(unit.Vibration)
	}
	f.of[ftVolts] = u.Supply()
	if u.Scored(unit.Suction) {
		f.of[ftDry] = dry(f.of[unit.Discharge], f.of[unit.Suction])
	}
	f.of[ftUnborne] = unborne(u, f.blind)
	f.of[ftFloods] = floods(f.of[unit.Suction], f.of[unit.Amps])
	if f.of[unit.Amps] < 0 {
		f.of[ftThin], f.of[ftIced] = thin(f.of[unit.Discharge], -f.of[unit.Amps])
	}
	if !u.Modulated() { // one that varies its load need not run for longer
		f.of[ftFrost] = frosted(&f)
	}
	s.events(u, &f)
	return f
}

// leapt returns whether what departs came at once, or how much of a discharge line that is
// far too hot did, as when the condenser's fan fails: dirt takes weeks. A probe that jumps
// takes no current with it.
func (s *State) leapt(u *unit.State, f *findings) float64 {
	hot := ramp(f.of[unit.Discharge], leaptHot, 2*leaptHot)
	if !f.blind.Has(unit.Amps) {
		hot *= ramp(f.of[unit.Amps], 0.5, 2)
	}
	if hot == 0 || !u.Scored(unit.Amps) {
		return f.of[ftSudden]
	}
	return max(f.of[ftSudden], hot*ramp(s.hist.leapt(unit.Discharge, f.of[unit.Discharge]), 0.6, 0.9))
}

// leaptHot is how much too hot a discharge line is from which a load does not make it so
// within a day, K; at twice as much it is more than air in the circuit does.
const leaptHot = 6.0

// hides reports whether the current shows nothing but how much a load varies, next to a
// discharge line so hot that no load makes it so.
func hides(u *unit.State) bool {
	_, _, slow := u.Departure(unit.Amps)
	_, _, warmer := u.Departure(unit.Discharge)
	return hidden(slow, u.Scatter(unit.Amps), warmer)
}

func hidden(amps, scatter, warmer float64) bool {
	return 2*scatter > unit.Amps.Floor() && math.Abs(amps) < 1.5*scatter && warmer >= 2*unit.Discharge.Floor()
}

// wanted is by how much longer a unit wants to run than usual, points: where protectors
// ended so many of the newest runs, that it runs less does not mean that it needs less.
func wanted(duty float64, trips int) float64 {
	if trips >= 2 {
		return max(0, duty)
	}
	return duty
}

// thin returns how a discharge line that warms up, K, and a current that falls, %, go
// together, each 0–1: gas that lacks or leaks back warms the line by 1.3 K or more a %,
// an iced coil by half a K (both as the model of internal/simulate has them).
func thin(warmer, less float64) (thin, iced float64) {
	sure, share := ramp(less, 1, 2), ramp(warmer/less, .6, 1.1)
	return sure * share, sure * (1 - share)
}

// floods returns by how much a suction line that cools, K, and a current that rises, %, are those of a
// condenser short of air before a capillary tube, 0–1: measured −9 to −10 K and +10 to +19 %. Ice and what
// stands before the coil relieve the motor.
func floods(suction, amps float64) float64 { return ramp(-suction, 1, 3) * ramp(amps, 2, 5) }

// dry returns by how much the suction line is too cool for a starved evaporator, 0–1.
// What lacks refrigerant warms it by a quarter to a half of what it warms the discharge
// line; valves that leak heat the gas behind it, and the suction line by a thirtieth (both
// as the model of internal/simulate has them).
func dry(discharge, suction float64) float64 {
	if discharge <= 0 {
		return 0
	}
	much := max(1, discharge/12) // what leaks much warms the suction line, too
	return ramp(discharge, 2.5, 4) * (1 - ramp(suction/discharge, 0.1, 0.22)) * (1 - ramp(suction, 1.2*much, 2.4*much))
}

// frosted returns by how much a unit runs longer than the gas explains, 0–1. Valves that
// leak by as much as warms the discharge line by a kelvin, and a lack of refrigerant,
// let it run longer by one or two points; ice that does, by three or more.
func frosted(f *findings) float64 {
	warmer, longer := f.of[unit.Discharge], f.of[unit.Duty]
	if warmer <= 0 || f.of[unit.Amps] >= 0 || f.of[unit.Suction] > 0 {
		return 0
	}
	return ramp(longer, 4, 8) * ramp(longer/warmer, 1.7, 2.7) * (1 - ramp(f.of[unit.Vibration], rattle, 2*rattle))
}

// events adds the counted events.
func (s *State) events(u *unit.State, f *findings) {
	f.of[ftTrips] = float64(u.Trips(tripSpan))
	f.of[ftFailed] = float64(u.FailedStarts(24))
	f.of[ftTripAmp] = float64(s.quick.tripAmp)
	if usual, now, ok := u.DefrostRise(); ok && usual > 0.5 {
		f.of[ftMelt] = max(0, min(1, 1-now/usual))
	}
}

// open opens an alert for a diagnosis.
func (s *State) open(u *unit.State, at rimewatch.Time, d *diagnosis, f *findings, byEvent bool, out []Transition) []Transition {
	s.alarm = alarm{opened: state.StampOf(at), renewed: state.StampOf(at), since: state.StampOf(s.departedSince(at, byEvent)), byEvent: byEvent}
	s.take(u, d, f, at)
	s.alarm.critical = s.grave()
	return append(out, s.transition(u, rimewatch.TransitionOpened, at, f))
}

// departedSince goes back through the windows to where the departure began.
func (s *State) departedSince(at rimewatch.Time, byEvent bool) rimewatch.Time {
	if byEvent {
		return at
	}
	first := 0
	for _, c := range decisive {
		for back := range int(s.hist.n) {
			v := s.hist.back(c, back)
			if math.Abs(v) < 0.4*c.Floor() || v*s.hist.back(c, 0) < 0 {
				break
			}
			first = max(first, back+1)
		}
	}
	return at - rimewatch.Time(max(1, first))*unit.WindowLength
}

// take notes a diagnosis and what follows from it.
func (s *State) take(u *unit.State, d *diagnosis, f *findings, at rimewatch.Time) {
	a := &s.alarm
	a.fault, a.second, a.score = d.first, d.second, float32(d.score)
	spec := &faults[a.fault]
	ends := s.endsOf(u, spec)
	a.lead, a.hasLead = s.hist.leadTime(ends, int((at-a.since.Time())/unit.WindowLength))
	if spec.family == familyFrost {
		a.lead.h, a.lead.lo = a.lead.h/iceSpeedsUp, a.lead.lo/iceSpeedsUp
	}
	progress := 0.3
	for _, e := range ends {
		progress = max(progress, f.of[e.channel]/e.at)
	}
	if a.byEvent {
		progress = max(progress, 0.8)
	}
	trust := min(1, max(0, d.score))
	if d.score-d.next < needMargin {
		trust *= 0.85
	}
	a.risk = float32(min(0.98, (0.25+0.7*min(1, progress))*trust))
}

// endsOf are the limits of a fault for this unit. Bearings end at vibration zone
// D of ISO 10816-1 class I, 4.5 mm/s, or at four times the usual where a unit
// always shook harder.
func (s *State) endsOf(u *unit.State, spec *fault) []limit {
	if spec != &faults[fiBearing] {
		return spec.ends
	}
	usual := u.Expected(unit.Vibration, unit.AtAmbient(0)) / 100
	return []limit{{unit.Vibration, max(100*(math.Log(4.5)-usual), 100*math.Log(4))}}
}

// away reports whether any decisive channel is farther from the unit's baseline, which is that of
// the moment at which the alert was opened, than what may open one that lasts. That
// another load or other weather explains it is no sign that the unit is well.
func away(u *unit.State) bool {
	for _, c := range decisive {
		if !u.Scored(c) {
			continue
		}
		now, _, slow := u.Departure(c)
		if near := weakShare * max(c.Floor(), needScatter*u.Scatter(c)); math.Abs(now) >= near || math.Abs(slow) >= near {
			return true
		}
	}
	return false
}

// follow keeps an open alert up to date, or ends it. A window in which the unit showed
// nothing, in which it does not do what it is for, or in which it is not as it was before the
// alert, is no sign that it is well.
func (s *State) follow(u *unit.State, o *unit.Observation, supported bool, d *diagnosis, f *findings, out []Transition) []Transition {
	a, at := &s.alarm, o.At
	if !a.asks && at-a.opened.Time() >= asksAfter {
		a.asks = true
		out = append(out, s.transition(u, rimewatch.TransitionUpdated, at, f))
	}
	if a.byEvent && at-a.renewed.Time() < eventHold {
		a.supported = a.supported || supported
		return out
	}
	if !supported {
		if o.Shown&decisives == 0 || o.Unmet || away(u) {
			return out
		}
		if a.calm++; a.calm >= calmWindows {
			return s.resolve(u, at, s.calmed(), out)
		}
		return out
	}
	a.calm, a.supported = 0, true
	if d.score < needFit || faults[d.first].alert == "" {
		return out
	}
	before, severity := *a, a.critical
	s.keepName(u, at, d, f)
	if faults[d.first].alert != faults[a.fault].alert {
		out = s.resolve(u, at, rimewatch.EndedOtherFault, out)
		s.alarm = alarm{opened: state.StampOf(at), since: before.since, renewed: state.StampOf(at)}
		s.take(u, d, f, at)
		s.alarm.critical = s.grave()
		return append(out, s.transition(u, rimewatch.TransitionOpened, at, f))
	}
	s.take(u, d, f, at)
	a.critical = a.critical || s.grave()
	switch {
	case a.critical && !severity:
		return append(out, s.transition(u, rimewatch.TransitionEscalated, at, f))
	case a.fault != before.fault || changed(float64(a.risk), float64(before.risk), 0.1) || a.hasLead != before.hasLead:
		return append(out, s.transition(u, rimewatch.TransitionUpdated, at, f))
	}
	a.risk = before.risk // so that small steps add up to a change
	return out
}

func changed(a, b, by float64) bool { return math.Abs(a-b) >= by }

// grave reports whether an alert is critical: the end is near by trend or by how
// far it has gone.
func (s *State) grave() bool {
	a := &s.alarm
	return a.risk >= 0.75 || a.hasLead && a.lead.h < 48 || a.byEvent && faults[a.fault].within <= 6
}

// calmed is why an alert ends that nothing has supported for calmWindows.
func (s *State) calmed() rimewatch.Ending {
	if s.alarm.byEvent && !s.alarm.supported {
		return rimewatch.EndedUnconfirmed
	}
	return rimewatch.EndedAsUsual
}

func (s *State) resolve(u *unit.State, at rimewatch.Time, why rimewatch.Ending, out []Transition) []Transition {
	f := s.findings(u)
	t := s.transition(u, rimewatch.TransitionResolved, at, &f)
	t.Resolution, t.Ending = rimewatch.ResolvedSuperseded, why
	if why == rimewatch.EndedAsUsual || why == rimewatch.EndedUnconfirmed {
		t.Resolution = rimewatch.ResolvedAuto
	}
	if q := &s.quick; why == rimewatch.EndedUnconfirmed {
		// No window ever bore it out: whatever it was, it is not to cry again soon,
		// and the less so the more often it has.
		q.muted = state.StampOf(at + suddenMute<<min(2*q.cried, 8))
		q.cried = min(q.cried+1, 100)
	}
	s.alarm = alarm{}
	return append(out, t)
}

// Relearn forgets what was found by a baseline that is learnt anew, and ends
// the open prediction as superseded.
func (s *State) Relearn(u *unit.State, at rimewatch.Time, out []Transition) []Transition {
	out = s.forget(u, at, rimewatch.EndedRelearning, out)
	s.raised = fiNone
	return out
}

// Standing is the open alert as the caller last heard of it.
type Standing struct {
	Type        rimewatch.AlertType
	Severity    rimewatch.Severity
	Confidence  float64        // 0–1, how well the diagnosis fits
	Departed    unit.Channels  // in its evidence as last reported
	EvaluatedAt rimewatch.Time // event time of the newest reading
}

// Standing returns the open alert at little cost; ok is false when the caller knows
// of none.
func (s *State) Standing(u *unit.State) (st Standing, ok bool) {
	if s.raised == fiNone {
		return st, false
	}
	st = Standing{Type: faults[s.raised].alert, Severity: rimewatch.Warning, Confidence: 0.5, EvaluatedAt: u.At()}
	if a := &s.alarm; faults[a.fault].alert == st.Type {
		st.Confidence = float64(max(0, min(1, a.score)))
		st.Departed = a.departs
		if a.critical {
			st.Severity = rimewatch.Critical
		}
	}
	return st, true
}

// Dismiss takes note that a person has resolved the alert. Nothing is learnt of
// it: the next window or event that supports it opens it anew.
func (s *State) Dismiss(at rimewatch.Time) {
	s.alarm, s.raised = alarm{pending: needPending - 1}, fiNone
	s.quick.muted = state.StampOf(max(s.quick.muted.Time(), at+dismissMute))
}

// dismissMute is how long single readings do not raise again what a person has
// just resolved.
const dismissMute = rimewatch.Hour / 2

// forget starts from scratch, and ends the open prediction as superseded.
func (s *State) forget(u *unit.State, at rimewatch.Time, why rimewatch.Ending, out []Transition) []Transition {
	if s.alarm.active() {
		out = s.resolve(u, at, why, out)
	}
	*s = State{raised: s.raised}
	return out
}
