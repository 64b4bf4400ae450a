package alert

import (
	"math"

	"github.com/rimewatch/rimewatch"
)

// rule numbers the tracks of a State; the numbers are part of checkpoints and
// never change their meaning.
type rule uint8

const (
	ruleHigh rule = iota
	ruleLow
	ruleOffline
	numRules
)

var ruleTypes = [numRules]rimewatch.AlertType{
	ruleHigh:    rimewatch.HighTemperature,
	ruleLow:     rimewatch.LowTemperature,
	ruleOffline: rimewatch.DeviceOffline,
}

// State is the memory of the rules for one device. The zero value is a device
// of which nothing is known. It holds no pointers: copying it is copying its
// bytes, so that a caller evaluates on a copy and keeps it after the commit.
type State struct {
	newest     rimewatch.Time // newest recorded_at seen; what is not after it is late
	zoneAt     rimewatch.Time // event time of zoneTemp, 0 = none yet
	seenAt     rimewatch.Time // arrival of the newest reading
	aliveUntil rimewatch.Time // signs of life prove the device alive up to here
	holdUntil  rimewatch.Time // timers wait for a first reading after a silence
	zoneTemp   fixed          // newest plausible product-zone temperature
	active     uint32         // set of rules with an active alert
	live       uint32         // set of rules whose newest value was recent when it arrived
	gone       bool           // offline as far as the state was told
	tracks     [numRules]track
}

const forever = rimewatch.Time(math.MaxInt64)

func (s *State) isActive(i rule) bool { return s.active&(1<<i) != 0 }

// Observe takes one reading that was newly stored. now is its arrival. What
// fell due before it arrived happens first; then, unless the reading is late,
// it is judged at its event time. What is due by the wall clock alone is left
// to Tick, so that readings that arrive together may all be observed before.
func (s *State) Observe(c *Config, p Presence, r *rimewatch.Reading, now rimewatch.Time, out []Transition) []Transition {
	return s.observe(c, &p, r, now, true, out)
}

// ObserveAll takes the readings of one device that arrived together, in order
// of recorded_at. Unlike with single calls, only the last of them can open or
// escalate an alert: a backlog alerts for what still holds at its end.
func (s *State) ObserveAll(c *Config, p Presence, rs []rimewatch.Reading, now rimewatch.Time, out []Transition) []Transition {
	for i := range rs {
		out = s.observe(c, &p, &rs[i], now, i == len(rs)-1, out)
	}
	return out
}

func (s *State) observe(c *Config, p *Presence, r *rimewatch.Reading, now rimewatch.Time, last bool, out []Transition) []Transition {
	if now > s.seenAt {
		out = s.fire(c, p, now, out)
		s.seen(p, now)
		s.seenAt = now
		out = s.judgePresence(p, true, now, out)
	}
	if r.At <= s.newest {
		return out
	}
	s.newest = r.At
	// A clock that runs ahead, by at most the five minutes that are accepted,
	// is judged by arrival: nothing can have begun in the future.
	e := min(r.At, now)
	recent := now.Sub(r.At) < p.OfflineAfter || p.OfflineAfter == 0
	if v, ok := r.Value(rimewatch.ProductZoneTemp); ok && plausibleZone(v) {
		s.zoneTemp, s.zoneAt = fix(v), e
		out = s.judgeZone(c, v, e, now, recent, last && recent, out)
	}
	return out
}

// Tick does what is due at now: delays and clear times that have run down while
// the device is online, going offline and its escalation. It takes note of a
// changed presence or configuration. Calling it more often changes nothing; a
// call with every heartbeat keeps the signs of life exact.
func (s *State) Tick(c *Config, p Presence, now rimewatch.Time, out []Transition) []Transition {
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
	out = s.fire(c, &p, now, out)
	s.reconsider(c, now)
	out = s.judgePresence(&p, p.Online, now, out)
	return s.fire(c, &p, now, out)
}

// seen notes that the device is online at now.
func (s *State) seen(p *Presence, now rimewatch.Time) {
	until := forever
	if p.LastSeen != 0 && p.OfflineAfter > 0 {
		until = p.LastSeen.Add(p.OfflineAfter)
	}
	// After a silence the newest value is old: before a timer completes on it,
	// the device gets about one interval to send a new one. The same holds
	// while a device counts as online only because the service was down.
	if s.gone || now >= until {
		grace := rimewatch.Time(p.OfflineAfter.Milliseconds()) / 3
		s.holdUntil = now + max(grace, rimewatch.Second)
	}
	s.gone = false
	s.aliveUntil = until
}

// fire applies what is due by the wall clock.
func (s *State) fire(c *Config, p *Presence, now rimewatch.Time, out []Transition) []Transition {
	for i := range numRules {
		if !s.busy(i) {
			continue
		}
		b := c.bounds(i, p)
		due, ok := s.timer(i, &b)
		if ok && due <= now && (i == ruleOffline || due < s.aliveUntil) {
			out = s.run(i, &b, now, now, true, out)
		}
	}
	return out
}

// busy tells whether rule i has anything that time alone could change.
func (s *State) busy(i rule) bool {
	const pending = 3<<zoneShift | 3<<czoneShift
	return s.isActive(i) || s.tracks[i].bits&pending != 0
}

// timer is when rule i changes by the wall clock, while the device is alive.
func (s *State) timer(i rule, b *bounds) (rimewatch.Time, bool) {
	due, kind := s.tracks[i].next(b, s.isActive(i))
	if kind == 0 {
		return 0, false
	}
	if i == ruleOffline || !b.judged() {
		return due, true
	}
	if s.live&(1<<i) == 0 {
		return 0, false
	}
	return max(due, s.holdUntil), true
}

// Deadline is when Tick must be called next, 0 when no time is set. It may lie
// in the past: then Tick is due now. Call it after every other method.
func (s *State) Deadline(c *Config, p Presence) rimewatch.Time {
	first := never
	for i := range numRules {
		if !s.busy(i) || (!p.Online && i != ruleOffline) {
			continue
		}
		b := c.bounds(i, &p)
		if due, ok := s.timer(i, &b); ok {
			first = min(first, max(due, 1))
		}
	}
	if first == never {
		return 0
	}
	return first
}

// run applies to rule i what its clocks have reached at x: event time for a
// reading, now for a timer.
func (s *State) run(i rule, b *bounds, x, now rimewatch.Time, mayOpen bool, out []Transition) []Transition {
	t := &s.tracks[i]
	due, kind := t.next(b, s.isActive(i))
	if kind == 0 || due > x {
		return out
	}
	switch kind {
	case Opened:
		if !mayOpen {
			return out
		}
		t.open(b, x)
		s.active |= 1 << i
	case Escalated:
		if !mayOpen {
			return out
		}
		t.put(bitCritical, true)
		t.put(bitByTime, t.lastingDue(b) <= x)
	case Deescalated:
		t.put(bitCritical, false)
	case Resolved:
		out = append(out, s.transition(i, b, kind, now))
		s.close(i, now)
		return out
	}
	return append(out, s.transition(i, b, kind, now))
}

// close ends the alert of rule i and keeps what a next one needs to know.
func (s *State) close(i rule, now rimewatch.Time) {
	t := &s.tracks[i]
	s.active &^= 1 << i
	t.bits &= 3<<zoneShift | 3<<czoneShift | 3<<flapShift
	t.start = stampOf(now)
}

// Resolved notes that a person resolved the alert. If its condition still
// holds, a new alert opens after 30 min, after 5 min where it is critical.
func (s *State) Resolved(t rimewatch.AlertType, now rimewatch.Time) {
	for i := range numRules {
		if ruleTypes[i] == t && s.isActive(i) {
			s.close(i, now)
			s.tracks[i].put(bitMuted, s.tracks[i].zone() == zoneBeyond)
		}
	}
}

// Active yields the active alerts in a fixed order.
func (s *State) Active(yield func(Active) bool) {
	for i := range numRules {
		if !s.isActive(i) {
			continue
		}
		t := &s.tracks[i]
		a := Active{
			Type: ruleTypes[i], Severity: severity(t.is(bitCritical)), ConditionStartedAt: t.start.time(),
			Flapping: t.is(bitFlapping), Occurrences: t.occurrences(), EvaluatedAt: s.seenAt,
		}
		if i != ruleOffline {
			a.Metric, a.Unit = metricOf(i)
			a.Value, a.Peak, a.HasValue = s.zoneTemp.float(), t.peak.float(), true
			a.EvaluatedAt = s.zoneAt
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
func (s *State) transition(i rule, b *bounds, kind Kind, now rimewatch.Time) Transition {
	t := &s.tracks[i]
	tr := Transition{
		Kind: kind, Type: ruleTypes[i], Severity: severity(t.is(bitCritical)), At: now,
		ConditionStartedAt: t.start.time(), Flapping: t.is(bitFlapping), Occurrences: t.occurrences(),
	}
	tr.Metric, tr.Unit = metricOf(i)
	if i == ruleOffline {
		// The limit had already passed in silence when the device went offline.
		tr.Value, tr.HasValue = b.warn+now.Sub(t.start.time()).Seconds(), true
		tr.Peak = tr.Value
		tr.Threshold, tr.HasThreshold = b.warn, true
		return tr
	}
	tr.Value, tr.Peak, tr.HasValue = s.zoneTemp.float(), t.peak.float(), true
	switch {
	case b.hasCrit && (!b.hasWarn || (t.is(bitCritical) && !t.is(bitByTime))):
		tr.Threshold, tr.HasThreshold = b.crit, true
	case b.hasWarn:
		tr.Threshold, tr.HasThreshold = b.warn, true
	}
	return tr
}

func metricOf(i rule) (metric, unit string) {
	if i == ruleOffline {
		return "silence", "s"
	}
	return rimewatch.ProductZoneTemp.String(), rimewatch.ProductZoneTemp.Info().Unit
}
