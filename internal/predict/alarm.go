package predict

import (
	"math"

	"github.com/rimewatch/rimewatch"
)

// Kind is what a transition does to an alert.
type Kind uint8

// The kinds of transitions.
const (
	Opened    Kind = iota + 1
	Updated        // new evidence, diagnosis or lead time on the same alert
	Escalated      // to critical
	Resolved
)

var kindNames = [...]string{"", "opened", "updated", "escalated", "resolved"}

// String names the kind.
func (k Kind) String() string { return kindNames[k] }

// Transition is a change of a device's predictive alert.
type Transition struct {
	Kind               Kind
	Type               rimewatch.AlertType
	Severity           rimewatch.Severity
	Resolution         rimewatch.Resolution // of a Resolved one: auto, or superseded by another type
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
	since   rimewatch.Time // the departure began
	opened  rimewatch.Time
	renewed rimewatch.Time // newest event that supports one that rests on events
	lead    lead           // h, 0 without
	score   float32        // of the diagnosis
	risk    float32
	fault   uint8 // 0 = none active
	second  uint8 // runner-up, 0 = none
	calm    uint8 // windows without support in a row
	other   uint8 // windows in a row in which a fault of another type fitted better
	pending uint8 // windows in a row that would open it
	weak    uint8 // windows in a row with a small but lasting departure
	critical,
	sudden, // opened by single readings alone
	supported, // by windows since
	byEvent, // opened by trips, failed starts or a sudden departure
	hasLead bool
}

func (a *alarm) active() bool { return a.fault != fiNone }

// The decision.
const (
	needScore   = 2.5  // standard deviates by which a departure must be certain
	needFit     = 0.66 // of a diagnosis: more than one of its two main clues
	needMargin  = 0.15
	weakShare   = 0.6 // of a floor, for departures that last
	farShare    = 1.3 // floors at which one that lasts needs less certainty
	needWeak    = 6   // windows that such a one must last
	needPending = 2   // windows in a row that a full one must last
	calmWindows = 8   // windows without support that end an alert
	eventHold   = rimewatch.Day
	suddenMute  = 21 * rimewatch.Day
)

// judge decides at the end of a window.
func (s *State) judge(c *Config, at rimewatch.Time, out []Transition) []Transition {
	s.hist.add(&s.chans)
	strong, weak := s.departures()
	f := s.findings()
	d := diagnose(&f)
	a := &s.alarm
	if a.active() {
		return s.follow(c, at, strong || weak, &d, &f, out)
	}
	a.pending = count(a.pending, strong)
	a.weak = count(a.weak, weak)
	if !(a.pending >= needPending || a.weak >= needWeak) || d.score < needFit || faults[d.first].alert == "" {
		return out
	}
	return s.open(c, at, &d, &f, false, out)
}

func count(n uint8, yes bool) uint8 {
	if !yes {
		return 0
	}
	return min(n+1, 200)
}

// decisive are the channels whose departure alone may open an alert. Duty and
// zone follow people as well as faults.
var decisive = [...]int{chDischarge, chSuction, chAmps, chVibration}

// departures tells whether any decisive channel is certainly beyond its floor in
// the newest window, or lastingly beyond a share of it.
func (s *State) departures() (strong, weak bool) {
	for _, c := range decisive {
		d := &s.chans[c]
		now, slow := float64(d.last[0]), float64(d.slow)
		sure := math.Abs(d.score(now, 1))
		if math.Abs(now) >= floors[c] && sure >= needScore {
			strong = true
		}
		// What has been far beyond its floor for long needs less certainty: a unit
		// that was drifting while it was learnt is never known well.
		if far := min(math.Abs(now), math.Abs(slow)) / floors[c]; far >= farShare && now*slow > 0 && sure >= needScore/far {
			strong = true
		}
		// The exponential mean rests on about (2 − r)/r windows.
		if math.Abs(slow) >= weakShare*floors[c] && now*slow > 0 && math.Abs(d.score(slow, (2-slowRate)/slowRate)) >= needScore {
			weak = true
		}
	}
	return strong, weak
}

// findings are the features now: the mean of the two newest windows, or the
// slow mean where that is what departs.
func (s *State) findings() findings {
	var f findings
	step, sudden, most := 0.0, 0.0, 0.0
	for c := range numChannels {
		d := &s.chans[c]
		if d.n < 4 {
			continue
		}
		f[c] = float64(d.last[0]+d.last[1]) / 2
		if c == chDuty {
			f[c] = float64(d.slow)
		}
		if share := math.Abs(f[c]) / floors[c]; c < trendChannels && share > most {
			step, sudden, most = s.hist.step(c), ramp((f[c]-s.hist.back(c, 2))/f[c], 0.8, 1), share
		}
	}
	if o := &s.op; o.runs >= 20 && o.zone < o.cutOut {
		// Colder than the thermostat lets it become.
		f[chZone] = min(f[chZone], float64(o.zone-o.cutOut))
	}
	f[ftStep], f[ftSudden] = step, sudden
	f[ftVolts] = float64(s.volts)
	s.events(&f)
	return f
}

// events adds what is counted.
func (s *State) events(f *findings) {
	o := &s.op
	f[ftTrips] = float64(recent(o.at, 45*rimewatch.Minute, o.trips[:]))
	f[ftFailed] = float64(recent(o.at, rimewatch.Day, o.failed[:]))
	f[ftTripAmp] = float64(s.quick.tripAmp)
	if usual := s.melt.mean(); s.melt.n >= 4 && usual > 0.5 && s.meltN >= uint8(len(s.melts)) {
		rise := 0.0
		for _, m := range s.melts {
			rise += float64(m) / float64(len(s.melts))
		}
		f[ftMelt] = max(0, min(1, 1-rise/usual))
	}
}

// open opens an alert for a diagnosis.
func (s *State) open(c *Config, at rimewatch.Time, d *diagnosis, f *findings, byEvent bool, out []Transition) []Transition {
	s.alarm = alarm{opened: at, renewed: at, since: s.departedSince(at, byEvent), byEvent: byEvent}
	s.take(d, f, at)
	s.alarm.critical = s.grave()
	return append(out, s.transition(c, Opened, at, f))
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
			if math.Abs(v) < 0.4*floors[c] || v*s.hist.back(c, 0) < 0 {
				break
			}
			first = max(first, back+1)
		}
	}
	return at - rimewatch.Time(max(1, first))*windowLen
}

// take notes a diagnosis and what follows from it.
func (s *State) take(d *diagnosis, f *findings, at rimewatch.Time) {
	a := &s.alarm
	a.fault, a.second, a.score = d.first, d.second, float32(d.score)
	spec := &faults[a.fault]
	ends := s.endsOf(spec)
	a.lead, a.hasLead = s.hist.leadTime(ends, int((at-a.since)/windowLen))
	progress := 0.3
	for _, e := range ends {
		progress = max(progress, f[e.channel]/e.at)
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
func (s *State) endsOf(spec *fault) []limit {
	if spec != &faults[fiBearing] {
		return spec.ends
	}
	usual := float64(s.model.coef[chVibration][0]) / 100
	return []limit{{chVibration, max(100*(math.Log(4.5)-usual), 100*math.Log(4))}}
}

// follow keeps an open alert up to date, or ends it.
func (s *State) follow(c *Config, at rimewatch.Time, supported bool, d *diagnosis, f *findings, out []Transition) []Transition {
	a := &s.alarm
	if a.byEvent && at-a.renewed < eventHold {
		a.supported = a.supported || supported
		return out
	}
	if !supported {
		if a.calm++; a.calm >= calmWindows {
			return s.resolve(c, at, rimewatch.ResolvedAuto, out)
		}
		return out
	}
	a.calm, a.supported = 0, true
	if d.score < needFit || faults[d.first].alert == "" {
		return out
	}
	before, severity := *a, a.critical
	if faults[d.first].alert != faults[a.fault].alert {
		// Another type must fit better, clearly and twice, to take its place.
		a.other = count(a.other, d.score-d.next >= needMargin)
		if a.other < 2 {
			return out
		}
		out = s.resolve(c, at, rimewatch.ResolvedSuperseded, out)
		s.alarm = alarm{opened: at, since: before.since, renewed: at}
		s.take(d, f, at)
		s.alarm.critical = s.grave()
		return append(out, s.transition(c, Opened, at, f))
	}
	a.other = 0
	s.take(d, f, at)
	a.critical = a.critical || s.grave()
	switch {
	case a.critical && !severity:
		return append(out, s.transition(c, Escalated, at, f))
	case a.fault != before.fault || changed(float64(a.risk), float64(before.risk), 0.1) || a.hasLead != before.hasLead:
		return append(out, s.transition(c, Updated, at, f))
	}
	a.risk = before.risk // so that small steps add up to a change
	return out
}

func changed(a, b, by float64) bool { return math.Abs(a-b) >= by }

// grave tells whether an alert is critical: the end is near by trend or by how
// far it has gone.
func (s *State) grave() bool {
	a := &s.alarm
	return a.risk >= 0.75 || a.hasLead && a.lead.h < 48 || a.byEvent && faults[a.fault].within <= 6
}

func (s *State) resolve(c *Config, at rimewatch.Time, how rimewatch.Resolution, out []Transition) []Transition {
	f := s.findings()
	t := s.transition(c, Resolved, at, &f)
	t.Resolution = how
	if s.alarm.sudden && !s.alarm.supported {
		// No window ever bore it out: whatever it was, it is not to cry again soon.
		s.quick.muted = at + suddenMute
	}
	s.alarm = alarm{}
	return append(out, t)
}

// Rebaseline makes the unit learn anew after maintenance or a wrong alert, and
// resolves what is open.
func (s *State) Rebaseline(c *Config, at rimewatch.Time, out []Transition) []Transition {
	out = s.relearn(c, at, out)
	s.told = fiNone
	return out
}

// Standing is the open alert as the caller was told of it.
type Standing struct {
	Type        rimewatch.AlertType
	Severity    rimewatch.Severity
	Confidence  float64        // 0–1, how well the diagnosis fits
	EvaluatedAt rimewatch.Time // event time of the newest reading
}

// Standing gives the open alert at little cost; ok is false when the caller knows
// of none.
func (s *State) Standing() (st Standing, ok bool) {
	if s.told == fiNone {
		return st, false
	}
	st = Standing{Type: faults[s.told].alert, Severity: rimewatch.Warning, Confidence: 0.5, EvaluatedAt: s.op.at}
	if a := &s.alarm; faults[a.fault].alert == st.Type {
		st.Confidence = float64(max(0, min(1, a.score)))
		if a.critical {
			st.Severity = rimewatch.Critical
		}
	}
	return st, true
}

// Dismiss takes note that a person has resolved the alert. Nothing is learnt of
// it: the next window or event that supports it opens it anew.
func (s *State) Dismiss(at rimewatch.Time) {
	s.alarm, s.told = alarm{pending: needPending - 1}, fiNone
	s.quick.muted = max(s.quick.muted, at+dismissMute)
}

// dismissMute is how long single readings do not raise again what a person has
// just resolved.
const dismissMute = rimewatch.Hour / 2

// relearn forgets what is usual but not what goes on.
func (s *State) relearn(c *Config, at rimewatch.Time, out []Transition) []Transition {
	if s.alarm.active() {
		out = s.resolve(c, at, rimewatch.ResolvedAuto, out)
	}
	op := s.op
	op.trips, op.failed, op.tripN, op.failN, op.runs = [6]rimewatch.Time{}, [4]rimewatch.Time{}, 0, 0, 0
	*s = State{op: op, told: s.told}
	return out
}
