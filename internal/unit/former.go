package unit

import (
	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/state"
)

// The versions that are read as they were written by hand.
const (
	version12 = 12 // put no temperatures aside, and took each current far above running for a failed start
	version13 = 13
)

const cameBit = 8 // of the count of windows, which never comes as far

func (s *State) former(c *state.Former, version byte) {
	c.Times(&s.newest, &s.at, &s.zoneAt, &s.born)
	for i := range s.last {
		c.Fixeds(&s.last[i])
	}
	c.Floats(&s.gap)
	c.Words((*uint32)(&s.broken))
	c.Bytes(&s.why)
	c.Stamps(&s.stuck.same)
	c.Shorts(&s.stuck.still)
	s.coming.former(c)
	c.Floats(&s.stuck.step)
	s.calm.former(c)
	c.Bytes(&s.stuck.runs)
	s.running.former(c)
	s.cycles.former(c)
	s.phases.former(c)
	s.defrost.former(c)
	s.humps.former(c)
	c.Stamps(&s.door.since, &s.door.heard)
	c.Fixeds(&s.door.top)
	c.Floats(&s.supply.mean, &s.humid.mean, &s.humid.spread, &s.humid.hours,
		&s.air.mean, &s.air.spread)
	c.Bytes(&s.supply.n)
	s.doubts.former(c)
	s.doubts.creeps.former(c)
	s.doubts.stands.former(c)
	s.doubts.stills.former(c)
	var together bool // as where both come with every reading
	c.Bools(&s.stuck.stuck, &s.door.told, &s.resettling, &s.calm.off, &s.defrost.declared, &s.defrost.told, &s.doubts.airOff, &together)
	c.Bools(&s.running.bare, &s.lone)
	if together {
		s.air.hours = s.humid.hours
	} else {
		c.Floats(&s.air.hours)
	}
	c.Grid(hour, &s.hourEnd, &s.winEnd)
	s.doubts.probes.former(c, &s.last, examined(s))
	h := &s.hour
	for _, t := range [...]*tally{&h.discharge, &h.suction, &h.logAmps, &h.logVib, &h.runZone, &h.ambient, &h.volts, &h.zone, &h.burst} {
		t.former(c)
	}
	c.Floats(&h.runMin, &h.coolMin, &h.top)
	s.window.former(c)
	for i := range s.shares {
		c.Bytes(&s.shares[i])
	}
	s.model.former(c)
	var filled uint16 // two bits for each
	c.Shorts(&filled)
	for i := range s.drifts {
		d := &s.drifts[i]
		c.Floats(&d.last[0], &d.last[1], &d.slow, &d.spread, &d.lag)
		c.Shorts(&d.n)
		d.filled = uint8(filled >> (2 * i) & 3)
	}
	if version > version12 {
		s.unreached.former(c)
		var by state.Fixed
		c.Fixeds(&by)
		s.doubts.probes.before = s.last[rimewatch.ProductZoneTemp] + by
		c.Fixeds(&s.running.tried)
		c.Stamps(&s.running.triedAt)
		c.Bytes(&s.running.alike)
	}
}

func (m *calm) former(c *state.Former) {
	c.Fixeds(&m.amps[0], &m.amps[1], &m.amps[2], &m.vib[0], &m.vib[1], &m.vib[2])
}

func (w *running) former(c *state.Former) {
	c.Floats(&w.hi, &w.lo, &w.high, &w.low, &w.seen, &w.spikeAmps)
	c.Stamps(&w.since, &w.lastOn, &w.spikedAt, &w.strayed, &w.otherAt)
	c.Fixeds(&w.stopZone, &w.otherPipe, &w.otherAmps, &w.prev, &w.idle, &w.shakes, &w.rests, &w.grain)
	c.Shorts(&w.still, &w.mute)
	var how uint8
	c.Bytes(&how)
	w.source, w.spike, w.speeds = source(how&7), spike(how>>3&7), how>>6
	c.Bools(&w.known, &w.on, &w.modulated, &w.dated)
}

func (w *cycles) former(c *state.Former) {
	for i := range w.lens {
		c.Shorts(&w.lens[i])
	}
	for i := range w.starts {
		c.Bytes(&w.starts[i], &w.failed[i])
	}
	c.Floats(&w.usualStart, &w.usualRun)
	c.Words(&w.startCount, &w.runSeconds)
	c.Bools(&w.counted)
}

func (p *phases) former(c *state.Former) {
	c.Stamps(&p.since, &p.started, &p.resettled)
	for i := range p.trips {
		c.Stamps(&p.trips[i])
	}
	c.Floats(&p.zone, &p.cutIn, &p.cutOut, &p.newOut, &p.runMin, &p.offMin, &p.beganAt, &p.endAmps, &p.stoodAt, &p.warmest, &p.usualSum)
	for i := range p.rises {
		c.Floats(&p.rises[i])
	}
	c.Shorts(&p.runs, &p.usualN)
	c.Bytes(&p.shifted, &p.tripN, &p.riseN, (*uint8)(&p.phase), (*uint8)(&p.from))
}

func (m *defrost) former(c *state.Former) {
	c.Stamps(&m.ended)
}

func (h *humps) former(c *state.Former) {
	c.Floats(&h.mid, &h.dev, &h.prev, &h.steps)
	c.Stamps(&h.from, &h.movedAt, &h.leapt)
	c.Fixeds(&h.leap)
	h.hump.former(c)
	for i := range h.kinds {
		h.kinds[i].former(c)
	}
	c.Bytes(&h.looseN, &h.onsetN, &h.flags)
	if c.Check(int(h.looseN) <= len(h.loose) && int(h.onsetN) <= len(h.onsets)); int(h.looseN) > len(h.loose) || int(h.onsetN) > len(h.onsets) {
		return
	}
	for i := range h.loose[:h.looseN] {
		l := &h.loose[i]
		l.course.former(c)
		c.Stamps(&l.at)
		c.Floats(&l.ran)
		c.Shorts(&l.restart)
	}
	last := uint32(0) // each as the distance to the one after it
	for i := range h.onsets[:h.onsetN] {
		var ago uint32
		c.Words(&ago)
		h.onsets[i] = last - ago
		last = h.onsets[i]
	}
}

func (h *hump) former(c *state.Former) {
	c.Bools(&h.running, &h.flagged, &h.stood, &h.moved, &h.known, &h.expected)
	if !h.running {
		return // the zero value
	}
	c.Stamps(&h.begin)
	c.Floats(&h.base, &h.over, &h.peak, &h.before[0], &h.before[1])
	c.Shorts(&h.turned, &h.half, &h.quarter, &h.restart, &h.warmed, &h.ran, &h.rise[0], &h.rise[1])
	for i := range h.marks {
		c.Shorts(&h.marks[i])
	}
	for i := range h.departed {
		c.Bytes((*uint8)(&h.departed[i]))
	}
}

func (p *packed) former(c *state.Former) {
	for i := range p {
		c.Shorts(&p[i])
	}
}

func (k *humpKind) former(c *state.Former) {
	c.Shorts(&k.n)
	if k.n == 0 {
		return // the zero value
	}
	k.mean.former(c)
	k.dev.former(c)
	c.Floats(&k.worstH, &k.worstD, &k.anchorH, &k.anchorD, &k.every, &k.everyDev, &k.shortest, &k.ran, &k.restart, &k.restarted,
		&k.unlike, &k.hit, &k.judged)
	c.Stamps(&k.last)
}

func (t *tally) former(c *state.Former) {
	c.Reals(&t.sum)
	c.Shorts(&t.n)
}

func (w *window) former(c *state.Former) {
	c.Words(&w.on, &w.all)
	c.Shorts(&w.starts)
	for i := range w.residuals {
		w.residuals[i].former(c)
	}
}

func (m *model) former(c *state.Former) {
	for _, set := range [...]*moments{&m.steady, &m.all} {
		c.Floats(&set.n)
		for i := range set.xx {
			c.Floats(&set.xx[i])
		}
	}
	for ch := range NumChannels {
		for i := range numCoef {
			c.Floats(&m.xy[ch][i], &m.coef[ch][i])
		}
	}
	c.Floats(&m.bursts, &m.gate, &m.zoneRef, &m.volts, &m.ambient, &m.rest)
	c.Shorts(&m.hours)
}

func (b *doubts) former(c *state.Former) {
	var set, count, ill uint8
	c.Bytes(&set, &count, &ill, &b.airN, &b.airStep)
	b.aside, b.frozen, b.lone, b.alone = Channels(set&15), Channels(set>>4), count>>4, count&(cameBit-1)
	b.came = count&cameBit != 0
	b.sick, b.still = ill&15, Channels(ill>>4)
	if b.lone != 0 {
		c.Bytes(&b.loneAt)
	}
	if b.airN > 0 {
		c.Fixeds(&b.airWas, &b.airJump)
	}
}

func (d *creeps) former(c *state.Former) {
	var newest uint16
	c.Bytes(&d.known, &d.airLike, &d.hours)
	c.Floats(&d.sum)
	c.Shorts(&newest)
	d.newest = int16(newest)
	c.Stamps(&d.since)
	c.Signed(&d.from, &d.top)
	if c.Check(d.known <= weekDays); d.known > weekDays {
		return
	}
	for i := range d.between() {
		var step uint8
		c.Bytes(&step)
		d.steps[i] = int8(step)
	}
}

func (m *coming) former(c *state.Former) {
	for f := range m.hours {
		c.Bytes(&m.hours[f])
	}
	c.Bytes(&m.now, &m.gone)
}

func (p *probes) former(c *state.Former, last *[rimewatch.NumCore]state.Fixed, examined rimewatch.Field) {
	var near, gone state.Fixed // near what was measured last
	var sets, how, air uint8
	var ordinary uint16
	c.Bytes(&p.trembled, &p.usual, &sets, &how, &air, (*uint8)(&p.swapped))
	c.Shorts(&p.tremor, &ordinary)
	c.Fixeds(&near, &gone)
	if p.trembled > 0 {
		near += last[examined]
	}
	p.newest, p.older, p.exam = near, near-gone, examined
	p.ordinary = [...]uint8{uint8(ordinary & 15), uint8(ordinary >> 4 & 15), uint8(ordinary >> 8 & 15)}
	p.again, p.trembling = sets&(1<<numProbes-1), sets>>numProbes
	p.airStill, p.airStood = air&15, air>>4
	p.kept, p.zoneOff, p.fahrenheit, p.airMoved = how&7, how&8 != 0, how&16 != 0, how&32 != 0
	for i, j := range [...]*jump{&p.zone, &p.pipe} {
		if how&(64<<i) != 0 {
			c.Bytes(&j.n, &j.stops, &j.field)
			c.Fixeds(&j.was, &j.by)
			c.Check(j.n > 0)
		}
	}
}

func (d *stands) former(c *state.Former) {
	c.Floats(&d.usual[0], &d.usual[1], &d.now[0], &d.now[1])
	c.Shorts(&d.known)
}

func (d *stills) former(c *state.Former) {
	for i := range d.list {
		c.Bytes(&d.list[i].hours, &d.list[i].most)
	}
	c.Bytes(&d.moved, &d.stuck, &d.same, &d.pause)
}

func (d *unreached) former(c *state.Former) {
	c.Fixeds(&d.value)
	c.Stamps(&d.at)
	c.Bytes(&d.n)
}
