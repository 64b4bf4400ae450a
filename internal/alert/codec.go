package alert

import (
	"encoding/binary"
	"errors"
	"math"
	"math/bits"

	"github.com/rimewatch/rimewatch"
)

// codecVersion starts every encoded State. A State of another version is
// refused: its owner then rebuilds it from the readings.
const codecVersion = 6

var errState = errors.New("alert: not an encoded state of this version")

// AppendBinary appends the state in a fixed form: equal states give equal
// bytes. Rules that hold nothing take no room.
func (s *State) AppendBinary(b []byte) []byte {
	k := coder{b: append(b, codecVersion)}
	c := *s
	c.code(&k)
	return k.b
}

// UnmarshalBinary restores what AppendBinary wrote. On an error the state is
// left as it was.
func (s *State) UnmarshalBinary(b []byte) error {
	if len(b) == 0 || b[0] != codecVersion {
		return errState
	}
	k := coder{b: b[1:], reading: true}
	var n State
	n.code(&k)
	if k.bad || len(k.b) != 0 {
		return errState
	}
	*s = n
	return nil
}

// coder writes to or reads from b, so that both directions share one
// description of the form.
type coder struct {
	b       []byte
	reading bool
	bad     bool
}

func integer[T ~int8 | ~uint8 | ~uint16 | ~int32 | ~uint32 | ~int64](k *coder, size int, p *T) {
	if !k.reading {
		switch size {
		case 1:
			k.b = append(k.b, byte(*p))
		case 2:
			k.b = binary.LittleEndian.AppendUint16(k.b, uint16(*p))
		case 4:
			k.b = binary.LittleEndian.AppendUint32(k.b, uint32(*p))
		default:
			k.b = binary.LittleEndian.AppendUint64(k.b, uint64(*p))
		}
		return
	}
	if len(k.b) < size {
		k.bad = true
		return
	}
	switch size {
	case 1:
		*p = T(k.b[0])
	case 2:
		*p = T(binary.LittleEndian.Uint16(k.b))
	case 4:
		*p = T(binary.LittleEndian.Uint32(k.b))
	default:
		*p = T(binary.LittleEndian.Uint64(k.b))
	}
	k.b = k.b[size:]
}

func (k *coder) float(p *float32) {
	v := math.Float32bits(*p)
	integer(k, 4, &v)
	*p = math.Float32frombits(v)
	k.bad = k.bad || *p != *p
}

func (k *coder) bools(ps ...*bool) {
	var set uint8
	for i, p := range ps {
		if *p {
			set |= 1 << i
		}
	}
	integer(k, 1, &set)
	k.bad = k.bad || set>>len(ps) != 0
	for i, p := range ps {
		*p = set&(1<<i) != 0
	}
}

func (k *coder) stamps(ps ...*stamp) {
	for _, p := range ps {
		for i := range p {
			integer(k, 2, &p[i])
		}
	}
}

func (s *State) code(k *coder) {
	for _, t := range [...]*rimewatch.Time{&s.newest, &s.at, &s.zoneAt, &s.seenAt, &s.aliveUntil, &s.holdUntil} {
		integer(k, 8, t)
	}
	for i := range s.last {
		integer(k, 4, &s.last[i])
	}
	k.float(&s.gap)
	integer(k, 4, &s.active)
	integer(k, 4, &s.live)
	integer(k, 1, &s.broken)
	integer(k, 1, &s.sensor.runs)
	integer(k, 2, &s.sensor.still)
	k.bools(&s.gone, &s.sensor.stuck)
	k.stamps(&s.sensor.same)
	s.run.code(k)
	s.melt.code(k)
	s.door.code(k)
	s.win.code(k)
	s.base.code(k)
	k.float(&s.volts.mean)
	integer(k, 1, &s.volts.n)
	k.float(&s.volts.value)
	k.float(&s.damp.mean)
	k.float(&s.damp.spread)
	k.float(&s.damp.hours)
	s.pool.code(k)
	const all = 1<<numRules - 1
	k.bad = k.bad || (s.active|s.live)&^all != 0 || s.active&^s.pool.rules != 0
}

func (r *runState) code(k *coder) {
	k.float(&r.hi)
	k.float(&r.lo)
	k.float(&r.prev)
	k.stamps(&r.since, &r.paused)
	for i := range r.lens {
		integer(k, 2, &r.lens[i])
	}
	for i := range r.starts {
		integer(k, 1, &r.starts[i])
	}
	for i := range r.failed {
		integer(k, 1, &r.failed[i])
	}
	k.float(&r.usualStart)
	k.float(&r.usualRun)
	integer(k, 4, &r.startCount)
	integer(k, 4, &r.runSeconds)
	integer(k, 4, &r.stopZone)
	integer(k, 1, &r.source)
	k.bad = k.bad || r.source > fromFlag
	k.bools(&r.known, &r.on, &r.dated, &r.counted, &r.spike)
}

func (m *meltState) code(k *coder) {
	for i := range m.habit {
		integer(k, 1, &m.habit[i])
	}
	k.float(&m.mean)
	k.float(&m.usual)
	k.stamps(&m.since, &m.ended)
	integer(k, 1, &m.learnt)
	k.bools(&m.hump, &m.known, &m.hit, &m.declared, &m.graced)
}

func (w *window) code(k *coder) {
	integer(k, 4, &w.index)
	integer(k, 4, &w.on)
	integer(k, 4, &w.all)
	integer(k, 2, &w.n)
	integer(k, 2, &w.starts)
	k.float(&w.x)
	for ch := range measured {
		integer(k, 2, &w.counts[ch])
		k.float(&w.y[ch])
	}
	for ch := range channels {
		k.float(&w.prev[ch])
		k.float(&w.dev[ch])
	}
	for i := range w.shares {
		integer(k, 1, &w.shares[i])
	}
	k.bools(&w.started)
}

func (b *baseline) code(k *coder) {
	k.float(&b.w)
	k.float(&b.x)
	k.float(&b.xx)
	for ch := range channels {
		k.float(&b.y[ch])
		k.float(&b.xy[ch])
	}
}

// code keeps the slots as they are, so that a restored state behaves alike to
// the last bit.
func (p *pool) code(k *coder) {
	integer(k, 4, &p.rules)
	if p.rules>>numRules != 0 || bits.OnesCount32(p.rules) > poolSize {
		k.bad = true
		return
	}
	for set := p.rules; set != 0; set &= set - 1 {
		i := lowest(set)
		integer(k, 1, &p.index[i])
		if p.index[i] >= poolSize || (k.reading && p.slots&(1<<p.index[i]) != 0) {
			k.bad = true
			return
		}
		p.slots |= 1 << p.index[i]
		t := &p.tracks[p.index[i]]
		integer(k, 4, &t.peak)
		k.stamps(&t.mark, &t.cmark, &t.start)
		integer(k, 2, &t.bits)
	}
}
