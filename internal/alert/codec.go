package alert

import (
	"errors"
	"math/bits"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/unit"
)

// codecVersion starts every encoded State. One of a version before the oldest is
// refused: its device is then judged anew, and alerts that are active lose their peaks.
const (
	codecVersion  = 15
	oldestVersion = 11
	withFits      = 12 // knows of limits that do not fit
	withExposure  = 13 // and of the time beyond limits that adds up
	withOdd       = 14 // and of temperatures that were put aside
	withCooling   = 15 // and whether the unit cools when it ought to
)

var errState = errors.New("alert: not an encoded state of this version")

// AppendBinary appends the state for a checkpoint: equal states give equal
// bytes. Rules that hold nothing take no room.
func (s *State) AppendBinary(b []byte) []byte {
	c := unit.Writer(append(b, codecVersion))
	own := *s // the codec writes what it reads
	own.code(&c, codecVersion)
	b, _ = c.Done()
	return b
}

// DecodeBinary reads what AppendBinary wrote and returns the rest of b. After an
// error s is as it was.
func (s *State) DecodeBinary(b []byte) (rest []byte, err error) {
	if len(b) == 0 || b[0] < oldestVersion || b[0] > codecVersion {
		return nil, errState
	}
	c := unit.Reader(b[1:])
	var fresh State
	fresh.code(&c, b[0])
	rest, ok := c.Done()
	if !ok {
		return nil, errState
	}
	*s = fresh
	return rest, nil
}

// Move moves the moments that are remembered by so many milliseconds: those by
// arrival, those by event time, or both.
func (s *State) Move(by rimewatch.Time, arrivals, events bool) {
	if arrivals {
		for _, t := range []*rimewatch.Time{&s.seenAt, &s.aliveUntil, &s.holdUntil} {
			if *t != 0 && *t != never {
				*t += by
			}
		}
		moveStamp(&s.odd, by)
	}
	if events {
		moveStamp(&s.paused, by)
		moveStamp(&s.stated, by)
		moveStamp(&s.zoneSeen, by)
		s.cool.Move(by)
		for k := range s.exposures {
			for _, m := range s.exposures[k].moments() {
				moveStamp(m, by)
			}
		}
		for _, m := range append(s.warnBefore.stamps(), s.critBefore.stamps()...) {
			moveStamp(m, by)
		}
	}
	for set := s.pool.rules; set != 0; set &= set - 1 {
		if i := lowest(set); i == ruleOffline && arrivals || i != ruleOffline && events {
			t := s.pool.track(i)
			for _, m := range []*unit.Stamp{&t.mark, &t.cmark, &t.start} {
				moveStamp(m, by)
			}
		}
	}
}

func moveStamp(s *unit.Stamp, by rimewatch.Time) {
	if s.Set() {
		*s = unit.StampOf(s.Time() + by)
	}
}

func (s *State) code(c *unit.Codec, version byte) {
	c.Times(&s.seenAt, &s.aliveUntil, &s.holdUntil)
	c.Longs((*uint64)(&s.active), (*uint64)(&s.inhibited), (*uint64)(&s.spoke), (*uint64)(&s.live))
	c.Stamps(&s.paused, &s.stated)
	c.Stamps(s.warnBefore.stamps()...)
	c.Stamps(s.critBefore.stamps()...)
	c.Bools(&s.gone, &s.graced, &s.kept, &s.settled, &s.misfit, &s.runsLow)
	if version >= withFits {
		c.Shorts(&s.fits)
	}
	c.Floats(&s.outside)
	s.pool.code(c)
	if version >= withExposure {
		c.Words((*uint32)(&s.zoneGap))
		c.Stamps(&s.zoneSeen)
		for k := range s.exposures {
			s.exposures[k].code(c)
		}
	}
	if version >= withOdd {
		c.Stamps(&s.odd)
	}
	if version >= withCooling {
		s.cool.Code(c)
		c.Bytes((*uint8)(&s.why))
		c.Bools(&s.elsewhere)
		c.Check(int(s.why) < len(unmets))
	}
	// An active alert always has a track.
	c.Check(s.active>>numRules == 0 && s.live>>numRules == 0 && s.active&^s.pool.rules == 0 && (s.inhibited|s.spoke)&^s.active == 0 && s.inhibited&s.spoke == 0 &&
		(!s.kept || s.isActive(ruleHigh) && s.stated.Set()))
}

// code keeps the slots as they are, so that a restored state behaves alike to
// the last bit.
func (p *pool) code(c *unit.Codec) {
	c.Longs((*uint64)(&p.rules))
	if p.rules>>numRules != 0 || bits.OnesCount64(uint64(p.rules)) > poolSize {
		c.Check(false)
		return
	}
	for set := p.rules; set != 0; set &= set - 1 {
		i := lowest(set)
		c.Bytes(&p.index[i])
		k := p.index[i]
		if k >= poolSize || (c.Reading() && p.slots&(1<<k) != 0) {
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
