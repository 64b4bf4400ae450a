package alert

import (
	"math/bits"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/state"
	"github.com/rimewatch/rimewatch/internal/unit"
)

// judgeSensors opens sensor_fault and ends sensor_stale.
func (s *State) judgeSensors(x *pass) {
	const faults = 1<<ruleFault | (1<<ruleStaleOf - 1<<ruleFaultOf)
	if x.c.Rules&RuleSensors == 0 {
		return
	}
	if broken, jump := x.u.Broken(), unit.ZoneJump(x.u); broken != 0 || jump > 0 || s.pool.rules&faults != 0 {
		s.judgeBroken(x, broken, jump)
	}
	judgeMissing(s, x)
	dropDoubted(s, x)
}

// judgeBroken has an alert for each sensor that is broken, and one for those that are mixed up or
// a zone that jumped by so many K.
func (s *State) judgeBroken(x *pass, broken rimewatch.Fields, jump float64) {
	together := (mixed(x.u.Mixup()) | sharing(s, ruleFault)) & broken
	m := sample{}
	switch {
	case together != 0:
		m.z = zoneBeyond
	case jump > 0 && !broken.Has(rimewatch.ProductZoneTemp):
		m = sample{v: jump, second: true, z: zoneBeyond}
	}
	if t := s.pool.track(ruleFault); t != nil || m.z == zoneBeyond {
		s.judgeSensor(x, ruleFault, t, m, 0)
		if t = s.pool.track(ruleFault); t != nil && together != 0 { // remembered until it is resolved
			t.peak = state.Fixed(together) | state.Fixed(x.u.Mixup())<<rimewatch.NumCore | t.peak&stoodStill
		}
	}
	for set := broken | rimewatch.Fields(s.pool.rules>>ruleFaultOf)&rimewatch.CoreFields; set != 0; set &= set - 1 {
		f := rimewatch.Field(bits.TrailingZeros32(uint32(set)))
		i, m, since := ruleFaultOf+rule(f), sample{}, rimewatch.Time(0)
		t := s.pool.track(i)
		if broken.Has(f) && (!together.Has(f) || s.isActive(i)) {
			m.z = zoneBeyond
		} else if t == nil {
			continue
		}
		if f == rimewatch.ProductZoneTemp {
			since = x.u.ZoneStill()
		}
		s.judgeSensor(x, i, t, m, since)
		if t = s.pool.track(i); t != nil && m.z == zoneBeyond {
			t.peak = 0
			if since != 0 {
				t.peak = stoodStill
			}
		}
	}
}

// judgeSensor takes a sample of a rule of sensor_fault, whose track is t; it begins at since, 0 = now.
func (s *State) judgeSensor(x *pass, i rule, t *track, m sample, since rimewatch.Time) {
	if m.z == zoneBeyond && !m.second && t != nil && !t.is(bitSecond) && s.lasts(x, i, t) {
		s.note(x, i)
		return
	}
	at, b := *x, s.bounds(x, i)
	if since != 0 && (t == nil || t.zone() != zoneBeyond) {
		at.e = since
	}
	s.judge(&at, i, &b, m)
}

// mixed are the measurements that stand for each other or come in another unit: none of their
// sensors is broken, and one alert is about all of them.
func mixed(m unit.Mixup) (set rimewatch.Fields) {
	if m&unit.Fahrenheit != 0 {
		set |= temperatures
	}
	if m&unit.AirSwapped != 0 {
		set |= 1<<rimewatch.ProductZoneTemp | 1<<rimewatch.AmbientTemp
	}
	if m&unit.PipesSwapped != 0 {
		set |= 1<<rimewatch.CompressorDischargeTemp | 1<<rimewatch.CompressorSuctionTemp
	}
	return set
}

const temperatures = rimewatch.Fields(1<<rimewatch.ProductZoneTemp | 1<<rimewatch.AmbientTemp | 1<<rimewatch.CompressorDischargeTemp | 1<<rimewatch.CompressorSuctionTemp)

// sharing are the measurements that the alert of rule i without a part is about: those that are mixed up,
// and of an alert that is older than the parts all that it was about.
func sharing(s *State, i rule) rimewatch.Fields {
	t := s.pool.track(i)
	if t == nil || t.is(bitSecond) || t.idle() && !s.isActive(i) {
		return 0
	}
	return rimewatch.Fields(t.peak) & rimewatch.CoreFields
}

// restsOn are the sensors that a rule judges by, other than that of the product temperature.
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

// dropDoubted ends pending conditions of sensors that are set aside: their alert says it all.
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
	shared := sharing(s, ruleStale)
	switch {
	case t == nil:
	case shared&missing != 0:
		t.peak = state.Fixed(shared & missing)
	case shared != 0 || x.u.Fresh() == x.e:
		b := s.bounds(x, ruleStale)
		s.judge(x, ruleStale, &b, sample{})
	}
	missing &^= shared
	for set := missing | rimewatch.Fields(s.pool.rules>>ruleStaleOf); set != 0; set &= set - 1 {
		f := rimewatch.Field(bits.TrailingZeros32(uint32(set)))
		i := ruleStaleOf + rule(f)
		switch t := s.pool.track(i); {
		case !missing.Has(f):
			b := s.bounds(x, i)
			s.judge(x, i, &b, sample{})
		case x.mayOpen && (t == nil || t.idle()) && !s.isActive(i):
			s.openStale(x, i, unit.MissingSince(x.u, f))
		}
	}
}

// namesMissing reports whether the sensor_stale without a part is one that is older than the parts,
// about measurements that used to come.
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

// openStale opens sensor_stale of one measurement, or of what is awaited of every device, that has not
// come since a moment.
func (s *State) openStale(x *pass, i rule, since rimewatch.Time) {
	t := s.pool.track(i)
	if t == nil {
		if t = s.pool.claim(i, s.active); t == nil {
			return
		}
	}
	b := s.bounds(x, i)
	if i == ruleStale && namesMissing(s) {
		t.enter(zoneClear, zoneClear, x.now, true)
		s.apply(x, i, &b, x.now, true)
	}
	t.peak = 0
	t.enter(zoneBeyond, zoneClear, since, false)
	t.put(bitSecond, i == ruleStale && x.u.At() > x.u.Fresh()) // other measurements go on: the zone alone is missed
	s.live |= 1 << i
	s.apply(x, i, &b, x.now, true)
}

// stoodStill notes in the track of sensor_fault that the zone showed one number all
// the time.
const stoodStill = state.Fixed(1) << 30

// sensorName names the present fault of a measurement's sensor, or the one that has just ended.
func sensorName(u *unit.State, f rimewatch.Field, t *track) string {
	if t.peak&stoodStill != 0 || f == rimewatch.ProductZoneTemp && u.ZoneStill() != 0 {
		return rimewatch.ZoneStill
	}
	return f.String()
}

// brokenSensors names the faults of several, or of the first of them, or those that have just ended.
func brokenSensors(u *unit.State, t *track) string {
	mixup := u.Mixup()
	if mixup == 0 {
		mixup = unit.Mixup((t.peak &^ stoodStill) >> rimewatch.NumCore)
	}
	switch {
	case t.peak&stoodStill != 0:
		return rimewatch.ZoneStill
	case mixup&unit.Fahrenheit != 0:
		return rimewatch.AllTemperatures
	case mixup&unit.AirSwapped != 0:
		return rimewatch.ZoneAndAmbient
	case mixup&unit.PipesSwapped != 0:
		return rimewatch.DischargeAndSuction
	}
	return nameOf(rimewatch.Fields(t.peak))
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
