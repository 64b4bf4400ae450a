package alert

import (
	"math/bits"

	"github.com/rimewatch/rimewatch/internal/state"
)

// The versions that are read as they were written by hand.
const (
	oldestFormer = 11
	withFits     = 12 // knows of limits that do not fit
	withExposure = 13 // and of the time beyond limits that adds up
	withOdd      = 14 // and of temperatures that were put aside
	withCooling  = 15 // and whether the unit cools when it ought to
)

func (s *State) former(c *state.Former, version byte) {
	c.Times(&s.seenAt, &s.aliveUntil, &s.holdUntil)
	c.Longs((*uint64)(&s.active), (*uint64)(&s.inhibited), (*uint64)(&s.spoke), (*uint64)(&s.live))
	c.Stamps(&s.paused, &s.stated)
	for _, f := range [...]*before{&s.warnBefore, &s.critBefore} {
		c.Stamps(&f.first, &f.mark, &f.within, &f.from, &f.to)
	}
	c.Bools(&s.gone, &s.graced, &s.kept, &s.settled, &s.misfit, &s.runsLow)
	if version >= withFits {
		c.Shorts(&s.fits)
	}
	c.Floats(&s.outside)
	s.pool.former(c)
	if version >= withExposure {
		c.Words((*uint32)(&s.zoneGap))
		c.Stamps(&s.zoneSeen)
		for k := range s.exposures {
			s.exposures[k].former(c)
		}
	}
	if version >= withOdd {
		c.Stamps(&s.odd)
	}
	if version >= withCooling {
		s.cool.Former(c)
		c.Bytes((*uint8)(&s.why))
		c.Bools(&s.elsewhere)
	}
}

func (p *pool) former(c *state.Former) {
	c.Longs((*uint64)(&p.rules))
	if p.rules>>numRules != 0 || bits.OnesCount64(uint64(p.rules)) > poolSize {
		c.Check(false)
		return
	}
	for set := p.rules; set != 0; set &= set - 1 {
		i := lowest(set)
		c.Bytes(&p.index[i])
		k := p.index[i]
		if k >= poolSize || p.slots&(1<<k) != 0 {
			c.Check(false)
			return
		}
		p.slots |= 1 << k
		t := &p.tracks[k]
		c.Fixeds(&t.peak)
		c.Stamps(&t.mark, &t.cmark, &t.start)
		c.Shorts(&t.bits)
	}
}

func (y *exposure) former(c *state.Former) {
	c.Bytes(&y.of)
	if y.of == 0 {
		return
	}
	c.Bytes(&y.bits)
	c.Stamps(&y.at, &y.told, &y.warn.began, &y.warn.from, &y.warn.to, &y.crit.began, &y.crit.from, &y.crit.to,
		&y.warned.head, &y.critical.head, &y.lasted.head, &y.day.head)
	c.Bytes(&y.warned.carry, &y.critical.carry, &y.lasted.carry, &y.day.carry)
	for _, slots := range [...][]uint8{y.warned.slots[:], y.critical.slots[:], y.lasted.slots[:], y.day.slots[:]} {
		for i := range slots {
			c.Bytes(&slots[i])
		}
	}
}
