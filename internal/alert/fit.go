package alert

import (
	"math"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/state"
	"github.com/rimewatch/rimewatch/internal/unit"
)

// A limit beyond which a unit spends a fifth of its time does not fit the unit, or its
// setting not the goods; nor does a lower one that it passes within its own band. That is raised
// once and stays open, instead of with every cycle of the thermostat. Critical alerts are raised as ever.
const (
	misfitAfter = 3 * rimewatch.Day
	misfitOver  = 7 * rimewatch.Day
	misfitShare = 0.2
	misfitEnds  = 0.1
	misfitClear = rimewatch.Day // within the limits before it is over
)

// zoneBounds are the limits of the product-zone temperature on one side.
func (s *State) zoneBounds(c *Config, low bool) bounds {
	b := c.zoneBounds(low, s.graced)
	i := ruleHigh
	if low {
		i = ruleLow
	}
	if stands(s, i) {
		b.stay = misfitClear
	}
	return b
}

// followFit keeps the share of time beyond the limits of about a week: of the upper
// one above 0, of the lower one below.
func followFit(s *State, x *pass, v float64) {
	if x.c.Rules&RuleFit == 0 {
		return
	}
	renewFit(s, x.c)
	since, _ := x.u.LearningSince()
	age := max(x.e-since, hour)
	side := float32(0)
	switch {
	case !x.c.within(false, v):
		side = 1
	case !x.c.within(true, v):
		side = -1
	}
	s.outside += (side - s.outside) * float32(min(x.o.Gap, hour)) / float32(min(age, misfitOver))
	s.settled = age >= misfitAfter
	switch share := math.Abs(float64(s.outside)); {
	case share < misfitEnds:
		s.misfit = false
	case share > misfitShare && s.settled && !s.misfit && (s.outside < 0 || keepsThere(s, x)):
		s.misfit = true
		for _, i := range [...]rule{ruleHigh, ruleLow} {
			if s.isActive(i) && misfits(s, i) && !s.keeps(i) && x.mayOpen {
				b := s.zoneBounds(x.c, i == ruleLow)
				*x.out = append(*x.out, s.transition(x, i, &b, rimewatch.TransitionUpdated))
			}
		}
	}
}

// renewFit forgets the fit of limits that have been changed.
func renewFit(s *State, c *Config) {
	if now := c.fits(); now != s.fits {
		s.outside, s.misfit, s.runsLow, s.fits = 0, false, false, now
	}
}

// fits is a sum by which other limits are noticed, small so that it takes two bytes.
func (c *Config) fits() (sum uint16) {
	for i, limit := range [...]*float64{c.Limits.TempMin, c.Limits.TempMax} {
		if limit != nil {
			sum += uint16(state.FixedOf(*limit)/1000+4000) * uint16(31*i+1)
		}
	}
	return sum & (1<<14 - 1)
}

// keepsThere reports whether the unit is seen to keep the zone where it is, above its limit:
// it cools, and is no warmer than where it usually begins to. A limit is never questioned
// because a machine fails, nor where the goods would be lost.
func keepsThere(s *State, x *pass) bool {
	usual, known := x.u.UsualZone()
	crit := x.c.Limits.CriticalMax
	return known && s.cool.Cycles() && !s.cool.Unmet() && (crit == nil || usual <= *crit)
}

// misfits reports whether the zone is beyond the limit of rule i for much of the time.
func misfits(s *State, i rule) bool {
	return s.misfit && (i == ruleHigh && s.outside > 0 && !s.cool.Unmet() || i == ruleLow && s.outside < 0)
}

// stands reports whether the alert of rule i is one that stays open, since its limit does
// not fit the unit.
func stands(s *State, i rule) bool {
	return i == ruleLow && s.runsLow || misfits(s, i)
}

// noteRunsThere notes, when low_temperature opens, whether the zone has passed its limit
// within the unit's own band.
func noteRunsThere(s *State, x *pass) {
	s.runsLow = x.c.Rules&RuleFit != 0 && s.settled && s.pool.track(ruleLow).czone() != zoneBeyond && unit.InBand(x.u, x.u.Last(rimewatch.ProductZoneTemp))
}
