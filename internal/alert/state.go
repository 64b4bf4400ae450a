package alert

import (
	"iter"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/capability"
	"github.com/rimewatch/rimewatch/internal/state"
	"github.com/rimewatch/rimewatch/internal/unit"
)

// State is the memory of the rules for one device. The zero value is a device
// without alerts. It holds no pointers: a copy is a snapshot.
type State struct {
	seenAt     rimewatch.Time `state:"unmoved"` // arrival of the newest reading
	aliveUntil rimewatch.Time `state:"unmoved"` // signs of life prove the device alive up to here
	holdUntil  rimewatch.Time `state:"unmoved"` // timers wait for a first reading after a silence
	active     ruleSet        // with an active alert
	inhibited  ruleSet        // whose alert an open prediction inhibits
	spoke      ruleSet        // departing rules whose alert has been past its fixed limit: it is not inhibited again
	live       ruleSet        // whose newest value was recent when it arrived
	paused     state.Stamp    // since when running rules are not judged; 0 = they are
	stated     state.Stamp    // when the alert that is kept back is raised, whatever happens
	outside    float32        // share of about a week that the zone was above its limits, or below them as a negative one
	gone       bool           // offline as far as the state was informed
	graced     bool           // the warning of the present excursion waits for a declared defrost
	settled    bool           // that is known
	misfit     bool           // it is so much that the limit does not fit the unit
	runsLow    bool           // low_temperature opened within the unit's own band: it runs there
	fits       uint16         // a sum of the limits that these are about
	kept       bool           // high_temperature is active, but an ordinary defrost explains it: not announced
	warnBefore before         // before the product temperature passed its limit
	critBefore before         // likewise its critical one
	pool       pool
	exposures  [2]exposure      // of the sides that were beyond their limits lately
	cool       capability.State // whether the unit cools when it ought to
	why        capability.Cause // of not_cooling as it was last told
	elsewhere  bool             // it ended since the thermostat cycles at another level
	edited     ruleSet          // whose limits are others since a moment ago; the next Tick supersedes
	zoneGap    gap
	zoneSeen   state.Stamp // the product temperature that zoneGap was learnt from last
	odd        state.Stamp `state:"unmoved"` // by arrival: a product temperature that was put aside counts if no other has by then
}

func (s *State) isActive(i rule) bool { return s.active&(1<<i) != 0 }

// pass is one call's view of the world.
type pass struct {
	c       *Config
	p       *Presence
	u       *unit.State
	o       *unit.Observation // nil unless a reading is judged
	e       rimewatch.Time    // event time to which the clocks run
	now     rimewatch.Time
	recent  bool // the reading was recent when it arrived
	mayOpen bool // it is the last one of a backlog and recent
	out     *[]Transition
}

func newPass(c *Config, p *Presence, u *unit.State, now rimewatch.Time, out *[]Transition) pass {
	return pass{c: c, p: p, u: u, e: now, now: now, recent: true, mayOpen: true, out: out}
}

// value returns a measurement that counts.
func (x *pass) value(f rimewatch.Field) (float64, bool) {
	return x.o.Reading.Values[f], x.o.Valid.Has(f)
}

// calm is a measurement of the running compressor without single readings that
// stray.
func (x *pass) calm(f rimewatch.Field) (float64, bool) {
	v, ok := x.u.Calm(x.o, f)
	return v, ok && x.o.Valid.Has(f)
}

// Arrived notes that a reading arrives at now: what fell due before it happens
// first. It comes before the unit observes the reading.
func (s *State) Arrived(c *Config, p Presence, u *unit.State, now rimewatch.Time, out []Transition) []Transition {
	if now <= s.seenAt {
		return out
	}
	x := newPass(c, &p, u, now, &out)
	s.fire(&x)
	s.seen(&p, now)
	s.seenAt = now
	s.judgePresence(&x, true)
	return out
}

// Judge judges what the unit has observed in a reading that arrived at now, at
// its event time. last marks the device's last one of those that arrived
// together: only that can open or escalate an alert, so that a backlog alerts
// for what still holds at its end. Deadlines of the wall clock alone are left
// to Tick.
func (s *State) Judge(c *Config, p Presence, u *unit.State, o *unit.Observation, now rimewatch.Time, last bool, out []Transition) []Transition {
	x := newPass(c, &p, u, now, &out)
	x.o, x.e = o, o.At
	if o.Late {
		s.late(&x)
		return out
	}
	x.recent = p.OfflineAfter == 0 || now.Sub(o.Reading.At) < p.OfflineAfter
	x.mayOpen = last && x.recent
	if o.Relearnt {
		s.relearn(&x, rimewatch.RelearnSilence)
	}
	if v, ok := x.value(rimewatch.ProductZoneTemp); ok {
		s.odd = state.Stamp{}
		s.judgeZone(&x, v)
		judgeCooling(s, &x)
	} else if x.recent && !s.odd.Set() && unit.Unreached(u) {
		s.odd = state.StampOf(now + confirmWithin)
	}
	judgeWarming(s, &x)
	if c.Rules != 0 {
		s.pause(&x)
		s.judgeSensors(&x)
		s.judgeSupply(&x)
		tellHold(s, &x)
		s.judgeMachine(&x)
		s.judgeCycles(&x)
		s.judgeDoor(&x)
		s.judgeSurroundings(&x)
	}
	return out
}

// pause stops the clocks of the running rules while nothing they judge is
// measured: their delays count run time.
func (s *State) pause(x *pass) {
	judged := x.o.Warm || x.u.Slow() || !x.u.RunningKnown()
	switch {
	case !judged && !s.paused.Set():
		s.paused = state.StampOf(x.e)
	case judged && s.paused.Set():
		d := x.e - s.paused.Time()
		for set := s.pool.rules; set != 0; set &= set - 1 {
			if i := lowest(set); ruleSpecs[i].running {
				s.pool.track(i).shift(d)
			}
		}
		s.paused = state.Stamp{}
	}
}

// Hold returns what the unit must not learn while the alerts that are open are.
func (s *State) Hold() (h unit.Hold) {
	if s.isActive(ruleCycling) {
		h |= unit.HoldCycles
	}
	if s.isActive(ruleLowSuction) {
		h |= unit.HoldDoor // ice, not a door
	}
	if s.unwell() {
		h |= unit.HoldBaseline
	}
	return h
}

// Tick applies the deadlines that have passed at now: delays and clear times that have run down while
// the device is online, going offline and its escalation. It takes note of a
// changed presence or configuration. Calling it more often changes nothing; a
// call with every heartbeat keeps the signs of life exact.
func (s *State) Tick(c *Config, p Presence, u *unit.State, now rimewatch.Time, out []Transition) []Transition {
	x := newPass(c, &p, u, now, &out)
	if p.Online {
		s.seen(&p, now)
	} else {
		s.gone = true
		if since := p.OfflineSince; since != 0 {
			s.aliveUntil = min(s.aliveUntil, since)
		} else {
			s.aliveUntil = min(s.aliveUntil, now)
		}
	}
	if s.edited != 0 {
		s.supersede(&x)
	}
	s.fire(&x)
	reconsider(s, &x)
	s.judgePresence(&x, p.Online)
	s.fire(&x)
	s.review(&x)
	return out
}

// seen notes that the device is online at now.
func (s *State) seen(p *Presence, now rimewatch.Time) {
	until := never
	if p.LastSeen != 0 && p.OfflineAfter > 0 {
		until = p.LastSeen.Add(p.OfflineAfter)
	}
	// After a silence the newest value is old: before a timer completes on it,
	// the device gets about one interval to send a new one. The same holds
	// while a device counts as online only because the service was down.
	if s.gone || now >= until {
		grace := rimewatch.Time(p.OfflineAfter.Milliseconds()) / 3
		s.holdUntil = now + max(grace, second)
	}
	s.gone = false
	s.aliveUntil = until
}

// fire applies the deadlines of the wall clock.
func (s *State) fire(x *pass) {
	s.confirmOdd(x)
	if x.now-x.u.Fresh() >= staleAfter { // no device's readings are missed sooner
		if due := s.staleDue(x); due <= x.now && due < s.aliveUntil {
			s.openStale(x, ruleStale, x.u.Fresh())
		}
	}
	for set := s.pool.rules; set != 0; set &= set - 1 {
		i := lowest(set)
		t := s.pool.track(i)
		if !s.isActive(i) && t.idle() || s.lasts(x, i, t) {
			continue
		}
		b := s.bounds(x, i)
		due, ok := s.timer(x, i, t, &b)
		if ok && due <= x.now && (i == ruleOffline || due < s.aliveUntil) {
			s.apply(x, i, &b, x.now, true)
		}
	}
}

// lasts reports whether the alert of rule i stays as it is however long its condition
// lasts: a fault of a sensor is a warning and no more, and often stays for weeks.
func (s *State) lasts(x *pass, i rule, t *track) bool {
	return i.kind() == ruleFault && s.isActive(i) && t.zone() == zoneBeyond && x.c.judges(i)
}

// timer is when rule i changes by the wall clock, while the device is alive.
// Except for the product temperature the next reading is awaited while it is not
// overdue: one odd sample must not become an alert before the next can tell.
func (s *State) timer(x *pass, i rule, t *track, b *bounds) (rimewatch.Time, bool) {
	s.bound(i, b)
	due, kind := t.next(b, s.isActive(i))
	if kind == "" && !s.keeps(i) || kind == rimewatch.TransitionResolved && b.judged() && s.held(x.u, i) {
		return 0, false
	}
	if i == ruleOffline || !b.judged() {
		return due, true
	}
	if s.live&(1<<i) == 0 || (ruleSpecs[i].running && s.paused.Set()) {
		return 0, false
	}
	if i > ruleOffline {
		due = max(due, x.u.At()+x.u.Interval()*3/2)
	}
	if s.keeps(i) {
		due = min(due, s.stated.Time())
	}
	return max(due, s.holdUntil), true
}

// Deadline is when Tick must be called next, 0 when no time is set. It may lie
// in the past: then Tick is due now. Call it after every other method.
func (s *State) Deadline(c *Config, p Presence, u *unit.State) rimewatch.Time {
	x := newPass(c, &p, u, 0, nil)
	first := never
	if p.Online {
		first = s.staleDue(&x)
	}
	if s.odd.Set() {
		first = min(first, s.odd.Time())
	}
	for set := s.pool.rules; set != 0; set &= set - 1 {
		i := lowest(set)
		t := s.pool.track(i)
		if !s.isActive(i) && t.idle() || !p.Online && i != ruleOffline || s.lasts(&x, i, t) {
			continue
		}
		b := s.bounds(&x, i)
		if due, ok := s.timer(&x, i, t, &b); ok {
			first = min(first, max(due, 1))
		}
	}
	if first == never {
		return 0
	}
	return first
}

// judge takes a sample of rule i at the event time of the pass.
func (s *State) judge(x *pass, i rule, b *bounds, m sample) {
	t := s.pool.track(i)
	if t == nil {
		if m.z != zoneBeyond && m.cz != zoneBeyond {
			return
		}
		if t = s.pool.claim(i, s.active); t == nil {
			return
		}
	}
	s.note(x, i)
	if (i == ruleHigh || i == ruleLow) && x.mayOpen {
		s.holdUntil = 0 // the value that timers waited for is here
	}
	before, was := len(*x.out), t.occurrences()
	y := s.exposure(i)
	t.take(m, b, x.e, s.isActive(i), y == nil || !y.holds(b, x.e))
	s.addUp(x, i, b, &m)
	s.apply(x, i, b, x.e, x.mayOpen)
	if t.occurrences() > was && len(*x.out) == before && s.isActive(i) && x.recent && !s.keeps(i) && !stands(s, i) {
		*x.out = append(*x.out, s.transition(x, i, b, rimewatch.TransitionUpdated))
	}
	s.tidy(i, b, x.e)
}

// tidy frees the exposure and the track of rule i where they are not worth keeping at e.
func (s *State) tidy(i rule, b *bounds, e rimewatch.Time) {
	if y := s.exposure(i); y != nil && !s.isActive(i) {
		if y.lasts(b, e) {
			return
		}
		*y = exposure{}
	}
	s.pool.tidy(i, s.isActive(i), e)
}

// note notes whether the newest value of rule i was recent when it arrived.
func (s *State) note(x *pass, i rule) {
	if x.recent {
		s.live |= 1 << i
	} else {
		s.live &^= 1 << i
	}
}

// level judges rule i by one value of its metric.
func (s *State) level(x *pass, i rule, v float64) {
	if s.pool.track(i) == nil && !x.passes(i, v) {
		return
	}
	b := s.bounds(x, i)
	if !b.judged() {
		return
	}
	z, cz := b.zones(v)
	s.judge(x, i, &b, sample{v: v, low: b.low, z: z, cz: cz})
}

// apply does what the clocks of rule i have reached at to: event time for a
// reading, now for a timer.
func (s *State) apply(x *pass, i rule, b *bounds, to rimewatch.Time, mayOpen bool) {
	if s.keeps(i) && mayOpen && s.stated.Time() <= to {
		s.tell(x)
	}
	t := s.pool.track(i)
	s.bound(i, b)
	if b.longReached != 0 && s.isActive(i) && t.is(bitCritical) {
		t.put(bitByTime, true)
	}
	due, kind := t.next(b, s.isActive(i))
	if kind == "" || due > to || (!mayOpen && (kind == rimewatch.TransitionOpened || kind == rimewatch.TransitionEscalated)) || kind == rimewatch.TransitionResolved && b.judged() && s.held(x.u, i) {
		return
	}
	switch kind {
	case rimewatch.TransitionOpened:
		t.open(b, to)
		s.active |= 1 << i
		if i == ruleLow {
			noteRunsThere(s, x)
		}
	case rimewatch.TransitionEscalated:
		t.put(bitCritical, true)
		t.put(bitByTime, t.lastingDue(b) <= to)
	case rimewatch.TransitionDeescalated:
		t.put(bitCritical, false)
	default: // closed below; an update changes no clock
	}
	if i == ruleHigh && s.keepBack(x, t, b, kind) {
		return
	}
	tr := s.transition(x, i, b, kind)
	if kind == rimewatch.TransitionResolved {
		tr.Ending = s.ending(i, t)
		if back := t.mark.Time(); (i == ruleHigh || i == ruleLow) && tr.Ending == rimewatch.EndedInRange && t.zone() == zoneClear && back > tr.ConditionStartedAt {
			tr.BackSince = back
		}
		if !b.judged() {
			tr.Resolution, tr.Superseded, tr.Ending, tr.BackSince = rimewatch.ResolvedSuperseded, rimewatch.SupersededUnjudged, "", 0
		}
	}
	*x.out = append(*x.out, tr)
	y := s.exposure(i)
	switch {
	case kind == rimewatch.TransitionResolved:
		s.end(i)
		t.close(x.now)
		if y != nil {
			y.begin(b, to, s.counts(x, i))
		}
	case y != nil && y.bits&fullDay != 0:
		y.told = y.at
	}
}

// Resolved notes that a person resolved the alert of a type, or of a part of it. If its condition still
// holds, a new alert opens after 30 min, after 5 min where it is critical.
func (s *State) Resolved(c *Config, u *unit.State, t rimewatch.AlertType, part string, now rimewatch.Time) {
	i, ok := ruleOf(t, part)
	if !ok || !s.isActive(i) || s.keeps(i) {
		return
	}
	tr := s.pool.track(i)
	s.end(i)
	holds := tr.zone() == zoneBeyond
	tr.close(now)
	tr.put(bitMuted, holds)
	if y := s.exposure(i); y != nil {
		x := newPass(c, nil, u, now, nil)
		b := s.bounds(&x, i)
		y.begin(&b, now, s.counts(&x, i))
	}
}

// end notes that the alert of rule i is over.
func (s *State) end(i rule) {
	s.active &^= 1 << i
	s.inhibited &^= 1 << i
	s.spoke &^= 1 << i
	switch i {
	case ruleHigh:
		s.kept, s.stated = false, state.Stamp{}
	case ruleLow:
		s.runsLow = false
	default: // nothing else is remembered of it
	}
}

// Active yields the active alerts that people know of, in a fixed order.
func (s *State) Active(u *unit.State) iter.Seq[Active] {
	return func(yield func(Active) bool) {
		for set := knownOf(s); set != 0; set &= set - 1 {
			if !yield(s.describe(u, lowest(set))) {
				return
			}
		}
	}
}

// TypesOf yields the types of the active alerts that people know of, in a fixed order and one for each alert:
// what most who ask for Active want to know, at a fraction of its cost.
func TypesOf(s *State) iter.Seq[rimewatch.AlertType] {
	return func(yield func(rimewatch.AlertType) bool) {
		for set := knownOf(s); set != 0; set &= set - 1 {
			if !yield(ruleSpecs[lowest(set)].typ) {
				return
			}
		}
	}
}

// Knows reports whether an alert of a type, or of a part of it, is active that people know of.
func Knows(s *State, t rimewatch.AlertType, part string) bool {
	i, ok := ruleOf(t, part)
	return ok && knownOf(s)&(1<<i) != 0
}

// knownOf is the set of rules with an active alert that people know of.
func knownOf(s *State) ruleSet {
	if s.kept {
		return s.active &^ (1 << ruleHigh)
	}
	return s.active
}

func (s *State) describe(u *unit.State, i rule) Active {
	t := s.pool.track(i)
	a := Active{
		Type: ruleSpecs[i].typ, Part: i.part(), Severity: severity(t.is(bitCritical)), ConditionStartedAt: t.start.Time(),
		Flapping: t.is(bitFlapping), Occurrences: t.occurrences(), EvaluatedAt: u.At(),
	}
	switch i {
	case ruleHigh, ruleLow:
		a.EvaluatedAt = u.ZoneAt()
	case ruleOffline:
		a.EvaluatedAt = s.seenAt
	default: // judged with every reading
	}
	a.Metric, a.Value, a.HasValue = s.measure(u, i, t)
	if a.HasValue {
		a.Peak = t.peak.Float()
	}
	return a
}

func severity(critical bool) rimewatch.Severity {
	if critical {
		return rimewatch.Critical
	}
	return rimewatch.Warning
}

// transition describes rule i as it is now.
func (s *State) transition(x *pass, i rule, b *bounds, kind rimewatch.TransitionKind) Transition {
	t := s.pool.track(i)
	tr := Transition{
		Kind: kind, Type: ruleSpecs[i].typ, Part: i.part(), Severity: severity(t.is(bitCritical)), At: x.now,
		ConditionStartedAt: t.start.Time(), Flapping: t.is(bitFlapping), Occurrences: t.occurrences(),
	}
	tr.Metric, tr.Value, tr.HasValue = s.measure(x.u, i, t)
	if _, one := i.field(); !one && (i != ruleFault || t.is(bitSecond)) && !(i == ruleStale && t.peak != 0) { // their metric is a sensor, without a value
		tr.Unit = rimewatch.MeasureUnit(tr.Metric)
	}
	tr.Peak = t.peak.Float()
	if kind != rimewatch.TransitionResolved && stands(s, i) {
		tr.Usual, tr.HasUsual = x.u.UsualZone()
		tr.Usual = round(tr.Usual)
	}
	if i == ruleCooling {
		tr.Unmet = unmets[s.why]
	}
	if i == rulePower && kind != rimewatch.TransitionResolved {
		tr.HoldHours, tr.HasHold = x.holdHours()
	}
	switch i {
	case ruleOffline:
		// The limit had already passed in silence when the device went offline.
		tr.Value, tr.HasValue = b.warn+x.now.Sub(t.start.Time()).Seconds(), true
		tr.Peak = tr.Value
	case ruleStale:
		if t.peak != 0 {
			break
		}
		tr.Value, tr.HasValue = x.now.Sub(t.start.Time()).Seconds(), true
		tr.Peak = tr.Value
	default: // their value is that of the newest reading
	}
	if !tr.HasValue {
		tr.Peak = 0
		return tr
	}
	if t.is(bitSecond) {
		*b = x.secondBounds(s, i)
	}
	switch {
	case i == ruleCooling:
		tr.Threshold, tr.HasThreshold = round(b.warn), true
	case b.hasCrit && (!b.hasWarn || (t.is(bitCritical) && !t.is(bitByTime))):
		tr.Threshold, tr.HasThreshold = round(b.crit), true
	case b.hasWarn:
		tr.Threshold, tr.HasThreshold = round(b.warn), true
	}
	return tr
}
