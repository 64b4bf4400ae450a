package predict

import (
	"encoding/binary"
	"errors"
	"math"

	"github.com/rimewatch/rimewatch"
)

const stateVersion = 1

// codec reads or writes the fields of a State in one fixed order, little-endian.
type codec struct {
	b    []byte
	read bool
	bad  bool
}

// AppendBinary appends the state for a checkpoint. Equal states give equal
// bytes.
func (s *State) AppendBinary(b []byte) []byte {
	c := codec{b: append(b, stateVersion)}
	s.fields(&c)
	return c.b
}

// UnmarshalBinary reads what AppendBinary wrote and nothing else.
func (s *State) UnmarshalBinary(b []byte) error {
	if len(b) == 0 || b[0] != stateVersion {
		return errors.New("predict: unknown version of state")
	}
	c := codec{b: b[1:], read: true}
	var fresh State
	fresh.fields(&c)
	if c.bad || len(c.b) != 0 {
		return errors.New("predict: state of the wrong length")
	}
	if fresh.alarm.fault >= numFaults || fresh.alarm.second >= numFaults || fresh.told >= numFaults ||
		fresh.hist.n > historyLen || fresh.hist.next >= historyLen || fresh.op.phase > NoPower {
		return errors.New("predict: state out of range")
	}
	*s = fresh
	return nil
}

func (s *State) fields(c *codec) {
	s.op.fields(c)
	s.slot.fields(c)
	c.times(&s.slotEnd, &s.winEnd, &s.born)
	c.u16(&s.hours)
	c.floats(&s.zoneRef, &s.gate, &s.volts, &s.ambient)
	s.model.fields(c)
	for i := range s.win {
		s.win[i].fields(c)
	}
	for i := range s.chans {
		d := &s.chans[i]
		c.floats(&d.last[0], &d.last[1], &d.slow, &d.spread, &d.lag)
		c.u16(&d.n)
		c.bytes(&d.filled)
	}
	s.melt.fields(c)
	for i := range s.melts {
		c.floats(&s.melts[i])
	}
	c.bytes(&s.meltN)
	s.quick.fields(c)
	for i := range s.hist.values {
		for k := range s.hist.values[i] {
			v := uint16(s.hist.values[i][k])
			c.u16(&v)
			s.hist.values[i][k] = int16(v)
		}
	}
	c.bytes(&s.hist.next, &s.hist.n)
	s.alarm.fields(c)
	c.bytes(&s.told)
}

func (o *operation) fields(c *codec) {
	c.times(&o.at, &o.since, &o.started, &o.lastOn)
	for i := range o.trips {
		c.times(&o.trips[i])
	}
	for i := range o.failed {
		c.times(&o.failed[i])
	}
	for _, l := range []*level{&o.amps, &o.vib} {
		c.floats(&l.lo, &l.hi, &l.cand)
		c.bytes(&l.times)
		c.flags(&l.set, &l.on)
	}
	c.floats(&o.nominal, &o.zone, &o.cutIn, &o.cutOut, &o.newOut, &o.runMin, &o.offMin, &o.spikeAt, &o.spikeSeen,
		&o.beganAt, &o.endAmps, &o.meltFrom, &o.meltTop)
	c.u16(&o.runs)
	phase := uint8(o.phase)
	c.bytes(&o.shifted, &o.tripN, &o.failN, &phase)
	o.phase = Phase(phase)
	c.times(&o.spikedAt)
	c.flags(&o.thawed, &o.spiking)
}

func (s *slot) fields(c *codec) {
	for _, t := range []*tally{&s.discharge, &s.suction, &s.logAmps, &s.logVib, &s.runZone, &s.ambient, &s.volts, &s.zone, &s.burst} {
		t.fields(c)
	}
	c.floats(&s.runMin, &s.coolMin, &s.top)
}

func (t *tally) fields(c *codec) {
	c.floats(&t.sum)
	c.u16(&t.n)
}

func (m *model) fields(c *codec) {
	for _, set := range []*moments{&m.steady, &m.all} {
		c.floats(&set.n)
		for i := range set.xx {
			c.floats(&set.xx[i])
		}
	}
	for ch := range numChannels {
		for i := range numCoef {
			c.floats(&m.xy[ch][i], &m.coef[ch][i])
		}
	}
	c.floats(&m.bursts)
}

func (q *quick) fields(c *codec) {
	for i := range q.early {
		for k := range q.early[i] {
			c.floats(&q.early[i][k].mean, &q.early[i][k].vari)
			c.u16(&q.early[i][k].n)
		}
	}
	for i := range q.mean {
		c.floats(&q.mean[i])
	}
	c.times(&q.from, &q.muted)
	c.floats(&q.tripAmp)
	c.bytes(&q.n, &q.steady)
}

func (a *alarm) fields(c *codec) {
	c.times(&a.since, &a.opened, &a.renewed)
	for _, h := range []*float64{&a.lead.h, &a.lead.lo, &a.lead.hi} {
		bits := math.Float64bits(*h)
		c.u64(&bits)
		*h = math.Float64frombits(bits)
	}
	c.floats(&a.score, &a.risk)
	c.bytes(&a.fault, &a.second, &a.calm, &a.other, &a.pending, &a.weak)
	c.flags(&a.critical, &a.sudden, &a.supported, &a.byEvent, &a.hasLead)
}

func (c *codec) u64(v *uint64) {
	if !c.read {
		c.b = binary.LittleEndian.AppendUint64(c.b, *v)
	} else if b := c.take(8); b != nil {
		*v = binary.LittleEndian.Uint64(b)
	}
}

func (c *codec) u16(v *uint16) {
	if !c.read {
		c.b = binary.LittleEndian.AppendUint16(c.b, *v)
	} else if b := c.take(2); b != nil {
		*v = binary.LittleEndian.Uint16(b)
	}
}

func (c *codec) times(list ...*rimewatch.Time) {
	for _, t := range list {
		v := uint64(*t)
		c.u64(&v)
		*t = rimewatch.Time(v)
	}
}

func (c *codec) floats(list ...*float32) {
	for _, f := range list {
		if !c.read {
			c.b = binary.LittleEndian.AppendUint32(c.b, math.Float32bits(*f))
		} else if b := c.take(4); b != nil {
			*f = math.Float32frombits(binary.LittleEndian.Uint32(b))
		}
	}
}

func (c *codec) bytes(list ...*uint8) {
	for _, v := range list {
		if !c.read {
			c.b = append(c.b, *v)
		} else if b := c.take(1); b != nil {
			*v = b[0]
		}
	}
}

// flags packs up to eight booleans into a byte.
func (c *codec) flags(list ...*bool) {
	var v uint8
	for i, f := range list {
		if *f {
			v |= 1 << i
		}
	}
	c.bytes(&v)
	for i, f := range list {
		*f = v&(1<<i) != 0
	}
}

func (c *codec) take(n int) []byte {
	if len(c.b) < n {
		c.bad, c.b = true, nil
		return nil
	}
	b := c.b[:n]
	c.b = c.b[n:]
	return b
}
