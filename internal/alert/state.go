package alert

import (
	"github.com/rimewatch/rimewatch"
)

// State is the memory of the rules for one device. The zero value is a device
// of which nothing is known. It holds no pointers: copying it is copying its
// bytes, so that a caller evaluates on a copy and keeps it after the commit.
type State struct {
	newest     rimewatch.Time // newest recorded_at seen; what is not after it is late
	at         rimewatch.Time // its event time
	zoneAt     rimewatch.Time // event time of the newest product-zone temperature, 0 = none yet
	seenAt     rimewatch.Time // arrival of the newest reading
	aliveUntil rimewatch.Time // signs of life prove the device alive up to here
	holdUntil  rimewatch.Time // timers wait for a first reading after a silence
	last       [rimewatch.NumCore]fixed
	gap        float32 // s between readings, a slow mean
	active     uint32  // set of rules with an active alert
	live       uint32  // set of rules whose newest value was recent when it arrived
	gone       bool    // offline as far as the state was told
	broken     rimewatch.Fields
	sensor     sensorState
	run        runState
	melt       meltState
	door       doorState
	win        window
	base       baseline
	volts      nominal
	damp       usualHumidity
	pool       pool
}

func (s *State) isActive(i rule) bool { return s.active&(1<<i) != 0 }

// pass is one call's view of the world.
type pass struct {
	c       *Config
	p       Presence
	th      *Thresholds
	e       rimewatch.Time // event time to which the clocks run
	now     rimewatch.Time
	recent  bool // the reading was recent when it arrived
	mayOpen bool // it is the last one of a backlog and recent
	out     []Transition
}

func newPass(c *Config, p Presence, now rimewatch.Time, out []Transition) pass {
	th := c.Thresholds
	if th == nil {
		th = &defaultThresholds
	}
	return pass{c: c, p: p, th: th, e: now, now: now, recent: true, mayOpen: true, out: out}
}

// Observe takes one reading that was newly stored. now is its arrival. What
// fell due before it arrived happens first; then, unless the reading is late,
// it is judged at its event time. What is due by the wall clock alone is left
// to Tick, so that readings that arrive together may all be observed before.
func (s *State) Observe(c *Config, p Presence, r *rimewatch.Reading, now rimewatch.Time, out []Transition) []Transition {
	return s.ObserveNext(c, p, r, now, true, out)
}

// ObserveAll takes the readings of one device that arrived together, in order
// of recorded_at. Unlike with single calls, only the last of them can open or
// escalate an alert: a backlog alerts for what still holds at its end.
func (s *State) ObserveAll(c *Config, p Presence, rs []rimewatch.Reading, now rimewatch.Time, out []Transition) []Transition {
	for i := range rs {
		out = s.ObserveNext(c, p, &rs[i], now, i == len(rs)-1, out)
	}
	return out
}

// ObserveNext is ObserveAll for a caller whose readings of one device arrive
// one by one among those of others: last marks the device's last one of those
// that arrived together.
func (s *State) ObserveNext(c *Config, p Presence, r *rimewatch.Reading, now rimewatch.Time, last bool, out []Transition) []Transition {
	x := newPass(c, p, now, out)
	if now > s.seenAt {
		s.fire(&x)
		s.seen(&p, now)
		s.seenAt = now
		s.judgePresence(&x, true)
	}
	if r.At <= s.newest {
		return x.out
	}
	s.newest = r.At
	// A clock that runs ahead, by at most the five minutes that are accepted,
	// is judged by arrival: nothing can have begun in the future.
	x.e = min(r.At, now)
	x.recent = p.OfflineAfter == 0 || now.Sub(r.At) < p.OfflineAfter
	x.mayOpen = last && x.recent
	s.judgeReading(&x, r)
	return x.out
}

// judgeReading runs the rules over a reading that is not late.
func (s *State) judgeReading(x *pass, r *rimewatch.Reading) {
	gap := rimewatch.Time(0)
	if s.at != 0 {
		gap = x.e - s.at
	}
	valid := s.inspect(x, r)
	if x.c.Rules != 0 {
		s.learnGap(gap)
		s.run.roll(s.at, x.e)
		s.followRun(x, r, valid, gap)
		s.followDefrost(x, r, valid, gap)
		s.followWindow(x, r, valid, gap)
	}
	s.at = x.e
	for f := range rimewatch.NumCore {
		if valid.Has(f) {
			s.last[f] = fix(r.Values[f])
		}
	}
	if valid.Has(rimewatch.ProductZoneTemp) {
		s.zoneAt = x.e
		s.judgeZone(x, r.Values[rimewatch.ProductZoneTemp])
	}
	if x.c.Rules != 0 {
		s.judgeSensors(x)
		s.judgeSupply(x, r, valid)
		s.tellHold(x, gap)
		s.judgeMachine(x, r, valid)
		s.judgeCycles(x)
		s.judgeDoor(x, r, valid)
		s.judgeSurroundings(x, r, valid, gap)
	}
}

// learnGap follows the usual time between readings. An outage counts as three
// usual gaps at most, a lasting change of rate is followed within some readings.
func (s *State) learnGap(gap rimewatch.Time) {
	g := float32(gap) / 1000
	switch {
	case g <= 0:
	case s.gap == 0:
		s.gap = g
	default:
		s.gap += 0.1 * (min(g, 3*s.gap) - s.gap)
	}
}

// Tick does what is due at now: delays and clear times that have run down while
// the device is online, going offline and its escalation. It takes note of a
// changed presence or configuration. Calling it more often changes nothing; a
// call with every heartbeat keeps the signs of life exact.
func (s *State) Tick(c *Config, p Presence, now rimewatch.Time, out []Transition) []Transition {
	x := newPass(c, p, now, out)
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
	s.fire(&x)
	s.reconsider(&x)
	s.judgePresence(&x, p.Online)
	s.fire(&x)
	return x.out
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

// fire applies what is due by the wall clock.
func (s *State) fire(x *pass) {
	if due := s.staleDue(x.c, &x.p, x.th); due <= x.now && due < s.aliveUntil {
		s.openStale(x)
	}
	for set := s.pool.rules; set != 0; set &= set - 1 {
		i := lowest(set)
		t := s.pool.track(i)
		if !s.isActive(i) && t.idle() {
			continue
		}
		b := s.bounds(x.c, &x.p, x.th, i)
		due, ok := s.timer(i, t, &b)
		if ok && due <= x.now && (i == ruleOffline || due < s.aliveUntil) {
			s.apply(x, i, &b, x.now, true)
		}
	}
}

// timer is when rule i changes by the wall clock, while the device is alive.
// Beside the product temperature the next reading is awaited while it is not
// overdue: one odd sample must not become an alert before the next can tell.
func (s *State) timer(i rule, t *track, b *bounds) (rimewatch.Time, bool) {
	due, kind := t.next(b, s.isActive(i))
	if kind == 0 {
		return 0, false
	}
	if i == ruleOffline || !b.judged() {
		return due, true
	}
	if s.live&(1<<i) == 0 || (ruleSpecs[i].running && s.run.paused != (stamp{})) {
		return 0, false
	}
	if i > ruleOffline {
		due = max(due, s.at+rimewatch.Time(1500*s.gap))
	}
	return max(due, s.holdUntil), true
}

// Deadline is when Tick must be called next, 0 when no time is set. It may lie
// in the past: then Tick is due now. Call it after every other method.
func (s *State) Deadline(c *Config, p Presence) rimewatch.Time {
	th := c.Thresholds
	if th == nil {
		th = &defaultThresholds
	}
	first := never
	if p.Online {
		first = s.staleDue(c, &p, th)
	}
	for set := s.pool.rules; set != 0; set &= set - 1 {
		i := lowest(set)
		t := s.pool.track(i)
		if (!s.isActive(i) && t.idle()) || (!p.Online && i != ruleOffline) {
			continue
		}
		b := s.bounds(c, &p, th, i)
		if due, ok := s.timer(i, t, &b); ok {
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
	if x.recent {
		s.live |= 1 << i
	} else {
		s.live &^= 1 << i
	}
	before, was := len(x.out), t.occurrences()
	t.take(m, b, x.e, s.isActive(i))
	s.apply(x, i, b, x.e, x.mayOpen)
	if t.occurrences() > was && len(x.out) == before && s.isActive(i) && x.recent {
		x.out = append(x.out, s.transition(x, i, b, Updated))
	}
	s.pool.tidy(i, s.isActive(i), x.e)
}

// level judges rule i by one value of its metric.
func (s *State) level(x *pass, i rule, v float64) {
	if s.pool.track(i) == nil && !s.passes(x, i, v) {
		return
	}
	b := s.bounds(x.c, &x.p, x.th, i)
	if !b.judged() {
		return
	}
	z, cz := b.zones(v)
	s.judge(x, i, &b, sample{v: v, low: b.low, z: z, cz: cz})
}

// apply does what the clocks of rule i have reached at to: event time for a
// reading, now for a timer.
func (s *State) apply(x *pass, i rule, b *bounds, to rimewatch.Time, mayOpen bool) {
	t := s.pool.track(i)
	due, kind := t.next(b, s.isActive(i))
	if kind == 0 || due > to || (!mayOpen && (kind == Opened || kind == Escalated)) {
		return
	}
	switch kind {
	case Opened:
		t.open(b, to)
		s.active |= 1 << i
	case Escalated:
		t.put(bitCritical, true)
		t.put(bitByTime, t.lastingDue(b) <= to)
	case Deescalated:
		t.put(bitCritical, false)
	}
	x.out = append(x.out, s.transition(x, i, b, kind))
	if kind == Resolved {
		s.active &^= 1 << i
		t.close(x.now)
	}
}

// Resolved notes that a person resolved the alert. If its condition still
// holds, a new alert opens after 30 min, after 5 min where it is critical.
func (s *State) Resolved(t rimewatch.AlertType, now rimewatch.Time) {
	i, ok := ruleOf(t)
	if !ok || !s.isActive(i) {
		return
	}
	tr := s.pool.track(i)
	s.active &^= 1 << i
	holds := tr.zone() == zoneBeyond
	tr.close(now)
	tr.put(bitMuted, holds)
}

// Active yields the active alerts in a fixed order.
func (s *State) Active(yield func(Active) bool) {
	for set := s.active; set != 0; set &= set - 1 {
		i := lowest(set)
		t := s.pool.track(i)
		a := Active{
			Type: ruleSpecs[i].typ, Severity: severity(t.is(bitCritical)), ConditionStartedAt: t.start.time(),
			Flapping: t.is(bitFlapping), Occurrences: t.occurrences(), EvaluatedAt: s.at,
		}
		switch i {
		case ruleHigh, ruleLow:
			a.EvaluatedAt = s.zoneAt
		case ruleOffline:
			a.EvaluatedAt = s.seenAt
		}
		a.Metric, a.Unit, a.Value, a.HasValue = s.measure(i, t)
		if a.HasValue {
			a.Peak = t.peak.float()
		}
		if !yield(a) {
			return
		}
	}
}

func severity(critical bool) rimewatch.Severity {
	if critical {
		return rimewatch.Critical
	}
	return rimewatch.Warning
}

// transition describes rule i as it is now.
func (s *State) transition(x *pass, i rule, b *bounds, kind Kind) Transition {
	t := s.pool.track(i)
	tr := Transition{
		Kind: kind, Type: ruleSpecs[i].typ, Severity: severity(t.is(bitCritical)), At: x.now,
		ConditionStartedAt: t.start.time(), Flapping: t.is(bitFlapping), Occurrences: t.occurrences(),
	}
	tr.Metric, tr.Unit, tr.Value, tr.HasValue = s.measure(i, t)
	tr.Peak = t.peak.float()
	if i == rulePower && kind != Resolved {
		tr.HoldHours, tr.HasHold = s.holdHours(x.c)
	}
	switch i {
	case ruleOffline:
		// The limit had already passed in silence when the device went offline.
		tr.Value, tr.HasValue = b.warn+x.now.Sub(t.start.time()).Seconds(), true
		tr.Peak = tr.Value
	case ruleStale:
		tr.Value, tr.HasValue = x.now.Sub(t.start.time()).Seconds(), true
		tr.Peak = tr.Value
	}
	if !tr.HasValue {
		tr.Peak = 0
		return tr
	}
	if t.is(bitSecond) {
		*b = s.secondBounds(x.th, i)
	}
	switch {
	case b.hasCrit && (!b.hasWarn || (t.is(bitCritical) && !t.is(bitByTime))):
		tr.Threshold, tr.HasThreshold = round(b.crit), true
	case b.hasWarn:
		tr.Threshold, tr.HasThreshold = round(b.warn), true
	}
	return tr
}
