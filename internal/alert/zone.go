package alert

import (
	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/state"
	"github.com/rimewatch/rimewatch/internal/unit"
	"github.com/rimewatch/rimewatch/internal/weeks"
)

const (
	// tcsCritical is half of the four hours that the FDA Food Code (3-501.19)
	// gives TCS food out of temperature control: time left to act.
	tcsCritical = 2 * hour
	// freezeCritical bounds the critical delay on the cold side: what freezes
	// (vaccines, produce) is lost within minutes.
	freezeCritical = 10 * minute
	// confirmWithin is for how long a temperature that was put aside waits at most for a second one, and
	// a warning of a unit that measures as often.
	confirmWithin = 10 * minute
	// offlineCritical is the shortest silence that is critical.
	offlineCritical = hour
)

func seconds(s int) rimewatch.Time { return rimewatch.Time(s) * second }

func minutes(m int) rimewatch.Time { return rimewatch.Time(m) * minute }

// confirmed lets what one reading alone shows wait for the next one: the warning of a temperature beyond a
// limit, its end or easing, and where a reading comes every half hour or more seldom, so that a defrost may be over by
// then, critical ones too. Without a delay or a clear time nothing waits but for a defrost. If the next one
// is overdue, or the device goes offline, nothing waits any longer.
func confirmed(s *State, x *pass, i rule, b bounds) bounds {
	next := min(x.u.Interval()*3/2, s.aliveUntil-1-x.u.ZoneAt())
	seldom := i == ruleHigh && unit.Seldom(x.u)
	if !seldom && next <= min(b.warnDelay, b.clear) {
		return b
	}
	warn, crit := true, true // one that is beyond a limit now is the first that is
	if t := s.pool.track(i); t != nil {
		newest := x.u.ZoneAt()
		warn = t.zone() != zoneBeyond || t.mark.Time() >= newest
		crit = t.czone() != zoneBeyond || t.cmark.Time() >= newest
		if b.clear > 0 && t.zone() == zoneClear && t.mark.Time() >= newest {
			b.stay = max(b.stay, next)
		}
		if b.clear > 0 && t.czone() == zoneClear && t.cmark.Time() >= newest {
			b.ease = max(b.ease, next)
		}
	}
	if seldom && crit {
		b.critDelay = max(b.critDelay, next)
	}
	if e := x.c.Equipment; warn && (b.warnDelay > 0 || seldom && e != nil && e.Defrost.MaxMin > 0) {
		if x.u.Interval() <= confirmWithin {
			next = min(next, b.warnDelay+confirmWithin)
		}
		b.warnDelay = max(b.warnDelay, next)
	}
	return b
}

// zoneBounds are those limits as they are configured. In the grace of a defrost the
// upper one waits for as long as that may take.
func (c *Config) zoneBounds(low, graced bool) bounds {
	l := &c.Limits
	warn, crit := l.TempMax, l.CriticalMax
	b := bounds{
		low: low, delta: l.ClearDelta, clear: seconds(l.ClearS),
		warnDelay: seconds(l.DelayS), critDelay: seconds(l.CriticalDelayS),
	}
	if low {
		warn, crit = l.TempMin, l.CriticalMin
		b.warnDelay = seconds(l.LowDelayS)
		b.critDelay = min(b.critDelay, b.warnDelay, freezeCritical)
	}
	b.window, b.critWindow, b.dayLimit = 2*b.warnDelay, 2*b.critDelay, c.dayLimit(low)
	if warn != nil {
		b.warn, b.hasWarn = *warn, true
	}
	if crit != nil {
		b.crit, b.hasCrit = *crit, true
	}
	if e := c.Equipment; e != nil {
		if e.TCS {
			b.longDelay = tcsCritical
		}
		if !low && graced {
			b.warnDelay = max(b.warnDelay, minutes(e.Defrost.MaxMin+e.Defrost.RecoverMin))
		}
	}
	return b
}

// judgeZone takes a product-zone temperature.
func (s *State) judgeZone(x *pass, v float64) {
	if s.zoneSeen.Set() && x.e > s.zoneSeen.Time() {
		s.zoneGap.learn(x.e - s.zoneSeen.Time())
	}
	s.zoneSeen = state.StampOf(x.e)
	// Also of idle rules: an edit of the limits may wake them.
	const both = 1<<ruleHigh | 1<<ruleLow
	s.live &^= both
	if x.recent {
		s.live |= both
	}
	followFit(s, x, v)
	for _, i := range [...]rule{ruleHigh, ruleLow} {
		if s.pool.track(i) == nil && x.c.within(i == ruleLow, v) {
			if i == ruleHigh {
				s.graced = false
			}
			continue
		}
		b := confirmed(s, x, i, s.zoneBounds(x.c, i == ruleLow))
		if !b.judged() {
			continue
		}
		z, cz := x.zonesOf(i, &b, v)
		if z == zoneBeyond && cz != zoneBeyond {
			s.unseen(x, i, &b)
		}
		if i == ruleHigh && s.graceWarning(x, z) {
			b = confirmed(s, x, i, s.zoneBounds(x.c, false))
		}
		s.judge(x, i, &b, sample{v: v, low: b.low, z: z, cz: cz})
		s.passed(x, i)
	}
	s.review(x)
}

// zonesOf returns where the newest temperature lies on the side of rule i. The warmth of a defrost
// is no end of the cold.
func (x *pass) zonesOf(i rule, b *bounds, v float64) (z, cz zone) {
	z, cz = b.zones(v)
	if i == ruleLow && z == zoneClear && x.c.Rules&RuleDefrost != 0 && x.u.MaySeemDefrosting(x.u.ZoneAt()) {
		return zoneBand, zoneBand
	}
	return z, cz
}

// confirmOdd judges the product temperature that was put aside as of when it was measured, once no
// other has come for confirmWithin: a true alarm is told though the device sends no more.
func (s *State) confirmOdd(x *pass) {
	if !s.odd.Set() || s.odd.Time() > x.now {
		return
	}
	s.odd = state.Stamp{}
	if v, at, ok := unit.Confirm(x.u); ok {
		measured := *x
		measured.e, measured.o, measured.mayOpen = at, &unit.Observation{At: at}, false // what it opens is due by the clock
		s.judgeZone(&measured, v)
	}
}

// unseen takes a silence for what it is: a temperature that was beyond its limit before one
// and is so after it, as in two defrosts, need not have been so meanwhile. Where most of
// the time after which it is critical passed unseen, it has to last for half of that time
// once more, unless it is beyond the critical limit or had lasted for the delay of its
// warning before: that was no defrost. The warning does not wait, and late readings may
// tell.
func (s *State) unseen(x *pass, i rule, b *bounds) {
	t := s.pool.track(i)
	if t == nil || t.zone() != zoneBeyond || t.is(bitCritical) || b.longDelay == 0 || x.o.Gap <= max(b.longDelay/2, 3*x.u.Interval()) {
		return
	}
	from, seen := x.e-b.longDelay/2, x.e-x.o.Gap-t.mark.Time()
	if seen >= b.warnDelay || t.mark.Time() >= from || !s.isActive(i) && b.warnDelay > b.longDelay/2 {
		return
	}
	if s.warnBefore.mark == t.mark {
		s.warnBefore = before{first: state.StampOf(x.e), mark: state.StampOf(from), within: state.StampOf(x.e - x.o.Gap)}
	}
	t.mark = state.StampOf(from)
}

// passed notes which limits of rule i the temperature has passed in this pass.
func (s *State) passed(x *pass, i rule) {
	t := s.pool.track(i)
	if t == nil {
		return
	}
	if t.zone() == zoneBeyond && t.mark.Time() == x.e {
		s.warnBefore.passed(t.mark, x)
	}
	if t.czone() == zoneBeyond && t.cmark.Time() == x.e {
		s.critBefore.passed(t.cmark, x)
	}
}

// dayLimit is for how long within 24 h the goods may be beyond the limit of a side, 0 =
// any time.
func (c *Config) dayLimit(low bool) rimewatch.Time {
	m := c.Limits.ExposureMinPerDay.Warm
	if low {
		m = c.Limits.ExposureMinPerDay.Cold
	}
	if m == nil {
		return 0
	}
	return minutes(*m)
}

// within reports whether v is within the limits on one side: a cheap test for the
// usual case.
func (c *Config) within(low bool, v float64) bool {
	l := &c.Limits
	if low {
		return (l.TempMin == nil || v >= *l.TempMin) && (l.CriticalMin == nil || v >= *l.CriticalMin)
	}
	return (l.TempMax == nil || v <= *l.TempMax) && (l.CriticalMax == nil || v <= *l.CriticalMax)
}

// reconsider judges the newest temperature by limits that may have changed. A
// condition that the edit made begins with the edit.
func reconsider(s *State, x *pass) {
	if x.u.ZoneAt() == 0 {
		return
	}
	renewFit(s, x.c)
	v := x.u.Last(rimewatch.ProductZoneTemp)
	for _, i := range [...]rule{ruleHigh, ruleLow} {
		b := s.zoneBounds(x.c, i == ruleLow)
		m := sample{v: v, low: b.low}
		if b.judged() {
			m.z, m.cz = x.zonesOf(i, &b, v)
		}
		t := s.pool.track(i)
		if t == nil {
			if m.z != zoneBeyond && m.cz != zoneBeyond {
				continue
			}
			if t = s.pool.claim(i, s.active); t == nil {
				continue
			}
		}
		t.take(m, &b, x.now, s.isActive(i), true)
	}
}

// judgeWarming opens slow_warming at the end of a day, as of when the warming began, and
// ends it when half of it is given back. The limits of the zone have alerts of their own.
func judgeWarming(s *State, x *pass) {
	if !x.o.DayEnded || x.c.Rules&RuleWarming == 0 {
		return
	}
	unit.ReviewWarming(x.u, x.e-x.e%rimewatch.Day, weeks.Warms)
	since, _, now := unit.Warmed(x.u)
	if since == 0 && s.pool.track(ruleWarming) == nil {
		return
	}
	at, m := *x, sample{v: now, z: zoneClear}
	if since != 0 {
		at.e, m.z = since, zoneBeyond
	}
	b := s.bounds(x, ruleWarming)
	s.judge(&at, ruleWarming, &b, m)
}

// offlineBounds make silence a warning at once and critical after max(1 h, 4 ×
// the offline time). The limit is the offline time itself, in s.
func offlineBounds(p *Presence) bounds {
	after := rimewatch.Time(p.OfflineAfter.Milliseconds())
	return bounds{
		hasWarn: true, warn: p.OfflineAfter.Seconds(),
		longDelay: max(offlineCritical, 4*after),
	}
}

// judgePresence opens and resolves device_offline.
func (s *State) judgePresence(x *pass, online bool) {
	p := x.p
	t := s.pool.track(ruleOffline)
	silent := !online && !p.Announced && !p.NeverSeen
	if t == nil {
		if !silent {
			return
		}
		if t = s.pool.claim(ruleOffline, s.active); t == nil {
			return
		}
	}
	active := s.isActive(ruleOffline)
	switch {
	case !silent:
		t.enter(zoneClear, zoneClear, x.now, active)
	case t.zone() != zoneBeyond:
		since := p.OfflineSince
		if since == 0 || since > x.now {
			since = x.now
		}
		t.enter(zoneBeyond, zoneClear, since, active)
	}
	b := offlineBounds(p)
	s.apply(x, ruleOffline, &b, x.now, true)
	s.pool.tidy(ruleOffline, s.isActive(ruleOffline), x.now)
}

// graceWarning decides, when the zone leaves its range, whether a defrost that the
// device declares is the reason while none of its defrosts is known; then the
// warning, never the critical alert, waits until defrost and recovery must be over.
// It reports a change.
func (s *State) graceWarning(x *pass, z zone) bool {
	was := s.graced
	switch e := x.c.Equipment; {
	case z != zoneBeyond || e == nil || x.c.Rules&RuleDefrost == 0 || x.u.KnowsDefrosts():
		s.graced = false
	case x.u.Declared():
		s.graced = true
	case !s.tooWarm(): // it has just left
		s.graced = x.u.DeclaredAt(&x.c.Config, x.e)
	}
	return s.graced != was
}

// Graced reports whether the alert of an excursion waits for a defrost.
func (s *State) Graced() bool { return s.graced || s.kept }

// OutOfLimits returns since when the zone is beyond a limit, 0 = it is not, and
// when an alert is raised if it stays so, 0 = none is to come: one is active, or
// nothing judges the limit.
func (s *State) OutOfLimits(c *Config) (since, due rimewatch.Time) {
	for _, i := range [...]rule{ruleHigh, ruleLow} {
		t := s.pool.track(i)
		if t == nil || t.zone() != zoneBeyond {
			continue
		}
		b := s.zoneBounds(c, i == ruleLow)
		if y := s.exposure(i); y != nil {
			b.reached, b.critReached = y.fills(&b)
		}
		switch at, _ := t.next(&b, false); {
		case s.keeps(i):
			due = s.stated.Time()
		case !s.isActive(i) && at != never:
			due = at
		}
		return t.mark.Time(), due
	}
	return 0, 0
}

// BackInside returns since when the zone is back within its limits, past the clear value, while an
// alert about them is active, and when that ends if the zone stays there; 0 = that is not so.
func (s *State) BackInside(c *Config) (since, clear rimewatch.Time) {
	for _, i := range [...]rule{ruleHigh, ruleLow} {
		t := s.pool.track(i)
		if t == nil || !s.isActive(i) || t.zone() != zoneClear {
			continue
		}
		b := s.zoneBounds(c, i == ruleLow)
		s.bound(i, &b)
		if at, kind := t.next(&b, true); kind == rimewatch.TransitionResolved {
			clear = at
		}
		return t.mark.Time(), clear
	}
	return 0, 0
}

// tooWarm reports whether the zone is above its limit at present.
func (s *State) tooWarm() bool {
	t := s.pool.track(ruleHigh)
	return t != nil && t.zone() == zoneBeyond
}
