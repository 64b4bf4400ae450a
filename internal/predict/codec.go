package predict

import (
	"encoding/binary"
	"errors"
	"math"

	"github.com/rimewatch/rimewatch"
)

const stateVersion = 1

// AppendBinary appends the state for a checkpoint. Equal states give equal
// bytes. What is zero takes an eighth of a byte: a unit that was heard of an
// hour ago needs about 150 bytes, one that is known for weeks about a thousand.
func (s *State) AppendBinary(b []byte) []byte {
	c := codec{b: append(b, stateVersion)}
	own := *s // the codec writes what it reads
	own.fields(&c)
	return c.b
}

// DecodeBinary reads what AppendBinary wrote and gives the rest of b. After an
// error s is as it was.
func (s *State) DecodeBinary(b []byte) (rest []byte, err error) {
	if len(b) == 0 || b[0] != stateVersion {
		return nil, errors.New("predict: unknown version of state")
	}
	c := codec{b: b[1:], read: true}
	var fresh State
	fresh.fields(&c)
	if c.bad {
		return nil, errors.New("predict: damaged state")
	}
	if fresh.alarm.fault >= numFaults || fresh.alarm.second >= numFaults || fresh.told >= numFaults ||
		fresh.hist.n > historyLen || fresh.hist.next >= historyLen || fresh.op.phase > NoPower {
		return nil, errors.New("predict: state out of range")
	}
	*s = fresh
	return c.b, nil
}

// UnmarshalBinary is DecodeBinary of a state and nothing else.
func (s *State) UnmarshalBinary(b []byte) error {
	var fresh State
	rest, err := fresh.DecodeBinary(b)
	if err != nil {
		return err
	}
	if len(rest) != 0 {
		return errors.New("predict: state of the wrong length")
	}
	*s = fresh
	return nil
}

// codec reads or writes the fields of a State in one fixed order. Every eight
// of them are preceded by a byte that says which are not zero; only those
// follow: numbers as varints, times as varints of the distance to the newest
// reading, the others little-endian.
type codec struct {
	b    []byte
	read bool
	bad  bool
	base int64 // ms, what times are relative to
	k    uint8 // fields since the newest mask, modulo 8
	bits uint8 // the newest mask, when reading
	mask int   // where it lies, when writing
}

// present tells whether the next field follows.
func (c *codec) present(nonzero bool) bool {
	bit := uint8(1) << c.k
	if c.k == 0 {
		if c.read {
			c.bits = 0
			if b := c.take(1); b != nil {
				c.bits = b[0]
			}
		} else {
			c.mask = len(c.b)
			c.b = append(c.b, 0)
		}
	}
	c.k = (c.k + 1) & 7
	if c.read {
		return c.bits&bit != 0
	}
	if nonzero {
		c.b[c.mask] |= bit
	}
	return nonzero
}

func (s *State) fields(c *codec) {
	s.op.fields(c)
	s.slot.fields(c)
	c.hours(&s.slotEnd, &s.winEnd)
	c.times(&s.born)
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
			c.i16(&s.hist.values[i][k])
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
		c.float64(h)
	}
	c.floats(&a.score, &a.risk)
	c.bytes(&a.fault, &a.second, &a.calm, &a.other, &a.pending, &a.weak)
	c.flags(&a.critical, &a.sudden, &a.supported, &a.byEvent, &a.hasLead)
}

func (c *codec) float64(f *float64) {
	v := math.Float64bits(*f)
	switch {
	case !c.present(v != 0):
		*f = 0
	case !c.read:
		c.b = binary.LittleEndian.AppendUint64(c.b, v)
	default:
		if b := c.take(8); b != nil {
			*f = math.Float64frombits(binary.LittleEndian.Uint64(b))
		}
	}
}

// uvarint codes v, at most most.
func (c *codec) uvarint(v, most uint64) uint64 {
	if !c.present(v != 0) {
		return 0
	}
	if !c.read {
		c.b = binary.AppendUvarint(c.b, v)
		return v
	}
	v, n := binary.Uvarint(c.b)
	if n <= 0 || v > most {
		c.bad, c.b = true, nil
		return 0
	}
	c.b = c.b[n:]
	return v
}

func (c *codec) u16(v *uint16) { *v = uint16(c.uvarint(uint64(*v), math.MaxUint16)) }

func (c *codec) i16(v *int16) {
	z := c.uvarint(uint64(uint16(*v<<1)^uint16(*v>>15)), math.MaxUint16)
	*v = int16(z>>1) ^ -int16(z&1)
}

// times codes moments; the first that is not 0 is what the others are relative
// to.
func (c *codec) times(list ...*rimewatch.Time) {
	for _, t := range list {
		d := int64(*t) - c.base
		z := uint64(d<<1) ^ uint64(d>>63)
		if c.present(*t != 0) {
			if !c.read {
				c.b = binary.AppendUvarint(c.b, z)
			} else {
				var n int
				if z, n = binary.Uvarint(c.b); n <= 0 {
					c.bad, c.b = true, nil
					return
				}
				c.b = c.b[n:]
				*t = rimewatch.Time(int64(z>>1) ^ -int64(z&1) + c.base)
			}
			if c.base == 0 {
				c.base = int64(*t)
			}
		}
	}
}

// hours codes moments on the grid of slots.
func (c *codec) hours(list ...*rimewatch.Time) {
	base := rimewatch.Time(c.base) / slotLen
	for _, t := range list {
		d := *t/slotLen - base
		if z := c.uvarint(uint64(d<<1)^uint64(d>>63)+1, 1<<40); z != 0 && c.read {
			*t = (rimewatch.Time((z-1)>>1) ^ -rimewatch.Time((z-1)&1) + base) * slotLen
		}
	}
}

func (c *codec) floats(list ...*float32) {
	for _, f := range list {
		v := math.Float32bits(*f)
		switch {
		case !c.present(v != 0):
			*f = 0
		case !c.read:
			c.b = binary.LittleEndian.AppendUint32(c.b, v)
		default:
			if b := c.take(4); b != nil {
				*f = math.Float32frombits(binary.LittleEndian.Uint32(b))
			}
		}
	}
}

func (c *codec) bytes(list ...*uint8) {
	for _, v := range list {
		*v = uint8(c.uvarint(uint64(*v), math.MaxUint8))
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
