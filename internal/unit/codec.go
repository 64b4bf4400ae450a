package unit

import (
	"errors"
	"math/bits"

	"github.com/rimewatch/rimewatch"
)

// stateVersion starts every encoded State. A State of a version before the oldest is
// refused: its device is then learnt anew.
const (
	stateVersion  = 13
	oldestVersion = 12 // put no temperatures aside, and took each current far above running for a failed start
)

var errState = errors.New("unit: not an encoded state of this version")

// AppendBinary appends the state for a checkpoint. Equal states give equal
// bytes.
func (s *State) AppendBinary(b []byte) []byte {
	c := Writer(append(b, stateVersion))
	own := *s // the codec writes what it reads
	own.code(&c, stateVersion)
	b, _ = c.Done()
	return b
}

// DecodeBinary reads what AppendBinary wrote and returns the rest of b. After an
// error s is as it was.
func (s *State) DecodeBinary(b []byte) (rest []byte, err error) {
	if len(b) == 0 || b[0] < oldestVersion || b[0] > stateVersion {
		return nil, errState
	}
	c := Reader(b[1:])
	var fresh State
	fresh.code(&c, b[0])
	rest, ok := c.Done()
	if !ok || int(fresh.why) >= len(reasons) || fresh.running.source > fromFlag || fresh.running.spike > inRun ||
		fresh.phases.phase > NoPower || fresh.phases.from > NoPower {
		return nil, errState
	}
	*s = fresh
	return rest, nil
}

// Move moves every moment that is remembered by so many milliseconds.
func (s *State) Move(by rimewatch.Time) {
	c := Writer(nil)
	own := *s // the codec writes what it reads
	own.code(&c, stateVersion)
	b, _ := c.Done()
	c = Mover(b, by)
	*s = State{}
	s.code(&c, stateVersion)
}

func (s *State) code(c *Codec, version byte) {
	c.Times(&s.newest, &s.at, &s.zoneAt, &s.born)
	for i := range s.last {
		c.Fixeds(&s.last[i])
	}
	c.Floats(&s.gap)
	broken := uint32(s.broken)
	c.Words(&broken)
	s.broken = rimewatch.Fields(broken)
	c.Check(uint32(s.broken) == broken && bits.Len32(broken) <= int(rimewatch.NumCore))
	c.Bytes(&s.why)
	c.Stamps(&s.stuck.same)
	c.Shorts(&s.stuck.still)
	s.coming.code(c)
	c.Floats(&s.stuck.step)
	s.calm.code(c)
	c.Bytes(&s.stuck.runs)
	s.running.code(c)
	s.cycles.code(c)
	s.phases.code(c)
	s.defrost.code(c)
	s.humps.code(c)
	c.Stamps(&s.door.since, &s.door.heard)
	c.Fixeds(&s.door.top)
	c.Floats(&s.supply.mean, &s.humid.mean, &s.humid.spread, &s.humid.hours,
		&s.air.mean, &s.air.spread)
	c.Bytes(&s.supply.n)
	s.doubts.code(c)
	s.doubts.creeps.code(c)
	s.doubts.stands.code(c)
	s.doubts.stills.code(c)
	c.Check(int(s.supply.n) <= voltageSamples+len(nominalVoltages))
	together := s.air.hours == s.humid.hours // as where both come with every reading
	c.Bools(&s.stuck.stuck, &s.door.told, &s.resettling, &s.calm.off, &s.defrost.declared, &s.defrost.told, &s.doubts.airOff, &together)
	c.Bools(&s.running.bare, &s.lone)
	if together {
		s.air.hours = s.humid.hours
	} else {
		c.Floats(&s.air.hours)
	}
	c.Grid(hour, &s.hourEnd, &s.winEnd)
	s.doubts.probes.code(c, &s.last, examined(s))
	h := &s.hour
	for _, t := range [...]*tally{&h.discharge, &h.suction, &h.logAmps, &h.logVib, &h.runZone, &h.ambient, &h.volts, &h.zone, &h.burst} {
		t.code(c)
	}
	c.Floats(&h.runMin, &h.coolMin, &h.top)
	s.window.code(c)
	for i := range s.shares {
		c.Bytes(&s.shares[i])
	}
	s.model.code(c)
	filled := uint16(0) // two bits for each
	for i := range s.drifts {
		filled |= uint16(s.drifts[i].filled) << (2 * i)
	}
	c.Shorts(&filled)
	for i := range s.drifts {
		d := &s.drifts[i]
		c.Floats(&d.last[0], &d.last[1], &d.slow, &d.spread, &d.lag)
		c.Shorts(&d.n)
		d.filled = uint8(filled >> (2 * i) & 3)
	}
	if version > oldestVersion {
		s.unreached.code(c)
		by := s.doubts.probes.before - s.last[rimewatch.ProductZoneTemp] // it is mostly near
		c.Fixeds(&by)
		s.doubts.probes.before = s.last[rimewatch.ProductZoneTemp] + by
		c.Fixeds(&s.running.tried)
		c.Stamps(&s.running.triedAt)
		c.Bytes(&s.running.alike)
		c.Check(s.running.alike <= 2)
	}
}

func (m *calm) code(c *Codec) {
	c.Fixeds(&m.amps[0], &m.amps[1], &m.amps[2], &m.vib[0], &m.vib[1], &m.vib[2])
}

func (w *running) code(c *Codec) {
	c.Floats(&w.hi, &w.lo, &w.high, &w.low, &w.seen, &w.spikeAmps)
	c.Stamps(&w.since, &w.lastOn, &w.spikedAt, &w.strayed, &w.otherAt)
	c.Fixeds(&w.stopZone, &w.otherPipe, &w.otherAmps, &w.prev, &w.idle, &w.shakes, &w.rests, &w.grain)
	c.Shorts(&w.still, &w.mute)
	how := uint8(w.source) | uint8(w.spike)<<3 | w.speeds<<6
	c.Bytes(&how)
	w.source, w.spike, w.speeds = source(how&7), spike(how>>3&7), how>>6
	c.Bools(&w.known, &w.on, &w.modulated, &w.dated)
}

func (w *cycles) code(c *Codec) {
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

func (p *phases) code(c *Codec) {
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
	c.Check(int(p.tripN) < len(p.trips))
}

func (m *defrost) code(c *Codec) {
	c.Stamps(&m.ended)
}

func (h *humps) code(c *Codec) {
	c.Floats(&h.mid, &h.dev, &h.prev, &h.steps)
	c.Stamps(&h.from, &h.movedAt, &h.leapt)
	c.Fixeds(&h.leap)
	h.hump.code(c)
	for i := range h.kinds {
		h.kinds[i].code(c)
	}
	c.Bytes(&h.looseN, &h.onsetN, &h.flags)
	c.Check(int(h.looseN) <= len(h.loose) && int(h.onsetN) <= len(h.onsets))
	if c.bad {
		return
	}
	for i := range h.loose[:h.looseN] {
		l := &h.loose[i]
		l.course.code(c)
		c.Stamps(&l.at)
		c.Floats(&l.ran)
		c.Shorts(&l.restart)
	}
	last := uint32(0) // each as the distance to the one after it
	for i := range h.onsets[:h.onsetN] {
		ago := last - h.onsets[i]
		c.Words(&ago)
		h.onsets[i] = last - ago
		last = h.onsets[i]
	}
}

func (h *hump) code(c *Codec) {
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
		c.Check(h.departed[i] <= noKind)
	}
}

func (p *packed) code(c *Codec) {
	for i := range p {
		c.Shorts(&p[i])
	}
}

func (k *humpKind) code(c *Codec) {
	c.Shorts(&k.n)
	if k.n == 0 {
		return // the zero value
	}
	k.mean.code(c)
	k.dev.code(c)
	c.Floats(&k.worstH, &k.worstD, &k.anchorH, &k.anchorD, &k.every, &k.everyDev, &k.shortest, &k.ran, &k.restart, &k.restarted,
		&k.unlike, &k.hit, &k.judged)
	c.Stamps(&k.last)
}

func (t *tally) code(c *Codec) {
	c.Reals(&t.sum)
	c.Shorts(&t.n)
}

func (w *window) code(c *Codec) {
	c.Words(&w.on, &w.all)
	c.Shorts(&w.starts)
	for i := range w.residuals {
		w.residuals[i].code(c)
	}
}

func (m *model) code(c *Codec) {
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
	if m.all.n > 0 { // a sample was taken
		m.keepOwn()
	}
	c.Floats(&m.bursts, &m.gate, &m.zoneRef, &m.volts, &m.ambient, &m.rest)
	c.Shorts(&m.hours)
}
