package alert

import (
	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/unit"
)

// judgeRunTime opens excessive_run_time when six hours end: a warning for a day
// of it, or for much more than the unit usually needs; critical for six hours
// without a pause that do not keep the goods within their limits. A heat wave or a
// delivery that the unit copes with raises no alert.
func (s *State) judgeRunTime(x *pass) {
	if x.c.Rules&RuleRunTime == 0 {
		return
	}
	day, ok := x.u.RunShare(unit.WindowsADay)
	crit := ruleSpecs[ruleRunTime].limit.Crit
	if now, known := x.u.RunShare(1); known && now > crit && x.warmZone() && !keepsGoods(s, x) {
		b := s.bounds(x, ruleRunTime)
		s.judge(x, ruleRunTime, &b, sample{v: now, z: zoneBeyond, cz: zoneBeyond})
		return
	}
	if x.u.Modulated() && s.pool.track(ruleRunTime) == nil {
		return // it slows down instead of stopping
	}
	// Below the critical line whatever the share: that takes a warm zone too.
	s.either(x, ruleRunTime, min(day, crit), ok, x.u.Agreed(unit.Duty), x.relative())
}

// warmZone reports whether the zone has been well above its setpoint for hours.
func (x *pass) warmZone() bool {
	e := x.c.Equipment
	zone, ok := x.u.UsualZone()
	return ok && e != nil && e.Setpoint != nil && zone > *e.Setpoint+runTimeZoneK && !x.u.Broken().Has(rimewatch.ProductZoneTemp)
}

// keepsGoods reports whether the goods are seen to be kept: their temperature is measured
// against limits, and no alert of it is open. What only announces that they may not be
// is no reason to wake anybody then.
func keepsGoods(s *State, x *pass) bool {
	return x.u.ZoneAt() != 0 && x.c.Limits.TempMax != nil && !x.u.Broken().Has(rimewatch.ProductZoneTemp) &&
		(!s.isActive(ruleHigh) || s.kept) && !s.isActive(ruleLow)
}
