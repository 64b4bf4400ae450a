package alert

import "github.com/rimewatch/rimewatch"

const (
	// tcsCritical is half of the four hours that the FDA Food Code (3-501.19)
	// gives TCS food out of temperature control: time left to act.
	tcsCritical = 2 * rimewatch.Hour
	// freezeCritical bounds the critical delay on the cold side: what freezes
	// (vaccines, produce) is lost within minutes.
	freezeCritical = 10 * rimewatch.Minute
	// offlineCritical is the shortest silence that is critical.
	offlineCritical = rimewatch.Hour
)

func seconds(s int) rimewatch.Time { return rimewatch.Time(s) * rimewatch.Second }

// bounds gives what rule i judges by.
func (c *Config) bounds(i rule, p *Presence) bounds {
	switch i {
	case ruleHigh, ruleLow:
		return c.zoneBounds(i == ruleLow)
	default:
		return offlineBounds(p)
	}
}

// zoneBounds are the limits of the product-zone temperature on one side.
func (c *Config) zoneBounds(low bool) bounds {
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
	if warn != nil {
		b.warn, b.hasWarn = *warn, true
	}
	if crit != nil {
		b.crit, b.hasCrit = *crit, true
	}
	if c.Equipment != nil && c.Equipment.TCS {
		b.longDelay = tcsCritical
	}
	return b
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

// plausibleZone tells a temperature from what a broken sensor reports: outside
// −110…60 °C nothing refrigerates, and 85.0 °C is what a DS18B20 says after its
// power came back.
func plausibleZone(v float64) bool { return v >= -110 && v <= 60 && v != 85 }

// judgeZone takes a product-zone temperature that holds from e on.
func (s *State) judgeZone(c *Config, v float64, e, now rimewatch.Time, recent, mayOpen bool, out []Transition) []Transition {
	for i := ruleHigh; i <= ruleLow; i++ {
		if recent {
			s.live |= 1 << i
		} else {
			s.live &^= 1 << i
		}
		b := c.zoneBounds(i == ruleLow)
		if !b.judged() {
			continue
		}
		s.tracks[i].step(v, &b, e, s.isActive(i))
		out = s.run(i, &b, e, now, mayOpen, out)
	}
	return out
}

// reconsider judges the newest temperature by limits that may have changed. A
// condition that the edit made begins with the edit.
func (s *State) reconsider(c *Config, now rimewatch.Time) {
	if s.zoneAt == 0 {
		return
	}
	for i := ruleHigh; i <= ruleLow; i++ {
		b := c.zoneBounds(i == ruleLow)
		if b.judged() {
			s.tracks[i].step(s.zoneTemp.float(), &b, now, s.isActive(i))
		} else {
			s.tracks[i].enter(zoneClear, zoneClear, now, false)
		}
	}
}

// judgePresence opens and resolves device_offline.
func (s *State) judgePresence(p *Presence, online bool, now rimewatch.Time, out []Transition) []Transition {
	t := &s.tracks[ruleOffline]
	silent := !online && !p.Announced && !p.NeverSeen
	if !silent && !s.busy(ruleOffline) {
		return out
	}
	b := offlineBounds(p)
	switch {
	case !silent:
		t.enter(zoneClear, zoneClear, now, s.isActive(ruleOffline))
	case t.zone() != zoneBeyond:
		since := p.OfflineSince
		if since == 0 || since > now {
			since = now
		}
		t.enter(zoneBeyond, zoneClear, since, s.isActive(ruleOffline))
	}
	return s.run(ruleOffline, &b, now, now, true, out)
}
