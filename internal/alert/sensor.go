package alert

import (
	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/unit"
)

// judgeSensors opens sensor_fault and ends sensor_stale.
func (s *State) judgeSensors(x *pass) {
	if x.c.Rules&RuleSensors == 0 {
		return
	}
	z := zoneClear
	broken := x.u.Broken()
	if broken != 0 {
		z = zoneBeyond
	}
	m := sample{z: z}
	if jump := unit.ZoneJump(x.u); broken == 0 && jump > 0 {
		m = sample{v: jump, second: true, z: zoneBeyond}
	}
	t := s.pool.track(ruleFault)
	switch {
	case z == zoneBeyond && t != nil && !t.is(bitSecond) && s.lasts(x, ruleFault, t):
		s.note(x, ruleFault)
	case m.z == zoneBeyond || t != nil:
		at, b := *x, s.bounds(x, ruleFault)
		if since := x.u.ZoneStill(); zoneStands(x.u, broken) && (t == nil || t.zone() != zoneBeyond) {
			at.e = since
		}
		s.judge(&at, ruleFault, &b, m)
		t = s.pool.track(ruleFault)
	}
	if t != nil && z == zoneBeyond {
		t.peak = unit.Fixed(broken) | unit.Fixed(x.u.Mixup())<<rimewatch.NumCore // remembered until it is resolved
		if zoneStands(x.u, broken) {
			t.peak |= stoodStill
		}
	}
	judgeMissing(s, x)
	dropDoubted(s, x)
}

// restsOn are the sensors that a rule beside those of the product temperature judges by.
var restsOn = func() (on [numRules]rimewatch.Fields) {
	for i := ruleFault + 1; i < numRules; i++ {
		if f, ok := rimewatch.FieldByName(ruleSpecs[i].metric); ok {
			on[i] = 1 << f
		}
	}
	on[ruleLowSuction] = 1<<rimewatch.CompressorSuctionTemp | 1<<rimewatch.ProductZoneTemp
	on[ruleLowDischarge] = 1<<rimewatch.CompressorDischargeTemp | 1<<rimewatch.AmbientTemp
	return on
}()

// dropDoubted ends what is pending on sensors that are set aside: their alert says it all.
func dropDoubted(s *State, x *pass) {
	off := x.u.SetAside()
	if off == 0 {
		return
	}
	for set := s.pool.rules &^ s.active; set != 0; set &= set - 1 {
		if i := lowest(set); restsOn[i]&off != 0 {
			s.pool.track(i).enter(zoneClear, zoneClear, x.e, false)
			if y := s.exposure(i); y != nil {
				*y = exposure{}
			}
			s.pool.tidy(i, false, x.e)
		}
	}
}

// judgeMissing opens sensor_stale for measurements that used to come, and ends it. What
// is awaited of every device is missed by timer.
func judgeMissing(s *State, x *pass) {
	missing, t := x.u.Missing(), s.pool.track(ruleStale)
	switch {
	case missing != 0 && (t == nil || t.idle()) && !s.isActive(ruleStale):
		if x.mayOpen {
			s.openStale(x, missing, unit.MissingSince(x.u))
		}
	case t == nil:
	case t.peak != 0 && missing != 0:
		t.peak = unit.Fixed(missing)
	case t.peak != 0 || x.u.Fresh() == x.e:
		b := s.bounds(x, ruleStale)
		s.judge(x, ruleStale, &b, sample{})
	}
}

// namesMissing reports whether sensor_stale is about measurements that used to come while
// what is awaited of every device does.
func namesMissing(s *State) bool {
	return s.isActive(ruleStale) && s.pool.track(ruleStale).peak != 0
}

// staleAfter is the age at which readings are missed while the device is
// online: slow loggers are given five of their intervals.
func (x *pass) staleAfter() rimewatch.Time {
	offline := rimewatch.Time(x.p.OfflineAfter.Milliseconds())
	return max(staleAfter, 5*x.u.Interval(), offline)
}

// staleDue is when sensor_stale opens if nothing more is measured.
func (s *State) staleDue(x *pass) rimewatch.Time {
	if x.c.Rules&RuleSensors == 0 || x.u.At() == 0 || s.isActive(ruleStale) && !namesMissing(s) || x.u.Interval() == 0 {
		return never
	}
	due := x.u.Fresh() + x.p.Lag + x.staleAfter()
	if t := s.pool.track(ruleStale); t != nil {
		if t.is(bitMuted) {
			due = max(due, t.start.Time()+reopenWarning)
		}
	} else if _, ok := s.pool.victim(ruleStale, s.active); !ok && !s.pool.room(ruleStale) {
		return never
	}
	return max(due, s.holdUntil)
}

// openStale opens sensor_stale for measurements that do not come any more since a moment;
// none are those that are awaited of every device, which take the place of others.
func (s *State) openStale(x *pass, missing rimewatch.Fields, since rimewatch.Time) {
	t := s.pool.track(ruleStale)
	if t == nil {
		if t = s.pool.claim(ruleStale, s.active); t == nil {
			return
		}
	}
	b := s.bounds(x, ruleStale)
	if namesMissing(s) {
		t.enter(zoneClear, zoneClear, x.now, true)
		s.apply(x, ruleStale, &b, x.now, true)
	}
	t.peak = unit.Fixed(missing)
	t.enter(zoneBeyond, zoneClear, since, false)
	s.live |= 1 << ruleStale
	s.apply(x, ruleStale, &b, x.now, true)
}

// stoodStill marks in what is remembered of sensor_fault that the zone showed one number all
// the time.
const stoodStill = unit.Fixed(1) << 30

// zoneStands reports whether of the broken sensors there is but the zone's, and that it is
// because it shows one number all the time.
func zoneStands(u *unit.State, broken rimewatch.Fields) bool {
	return broken == 1<<rimewatch.ProductZoneTemp && u.ZoneStill() != 0
}

// brokenSensor names the first sensor that is broken, or was until just now.
func brokenSensor(u *unit.State, t *track) string {
	set, mixup := u.Broken(), u.Mixup()
	still := zoneStands(u, set)
	if set == 0 {
		set, mixup, still = rimewatch.Fields(t.peak)&rimewatch.CoreFields, unit.Mixup(t.peak>>rimewatch.NumCore), t.peak&stoodStill != 0
	}
	switch {
	case still:
		return rimewatch.ZoneStill
	case mixup&unit.Fahrenheit != 0:
		return rimewatch.AllTemperatures
	case mixup&unit.AirSwapped != 0:
		return rimewatch.ZoneAndAmbient
	case mixup&unit.PipesSwapped != 0:
		return rimewatch.DischargeAndSuction
	}
	return nameOf(set)
}

// nameOf is the name of the first of some sensors, "" where there is none.
func nameOf(set rimewatch.Fields) string {
	for f := range rimewatch.NumCore {
		if set.Has(f) {
			return f.String()
		}
	}
	return ""
}
