package presence

import (
	"encoding/binary"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/state"
)

// The versions that are read as they were written by hand. The first knows the last gaps
// alone.
const (
	version1 = 1
	version2 = 2
)

// decodeFormer reads a State of one of these versions, after its version.
func (s *State) decodeFormer(b []byte, version byte) (rest []byte, err error) {
	if len(b) < 3 || b[1] > gapsKept {
		return nil, state.ErrDamaged
	}
	*s = State{Online: b[0]&1 != 0, Announced: b[0]&2 != 0, unasked: b[0]&4 != 0, numGaps: b[1], nextGap: b[2]}
	b = b[3:]
	for _, t := range []*rimewatch.Time{&s.LastSeen, &s.LastHeartbeat, &s.ChangedAt, &s.gapStart} {
		v, n := binary.Varint(b)
		if n <= 0 {
			return nil, state.ErrDamaged
		}
		*t, b = rimewatch.Time(v), b[n:]
	}
	for i := range s.numGaps {
		v, n := binary.Uvarint(b)
		if n <= 0 || v > uint64(maxGap) {
			return nil, state.ErrDamaged
		}
		s.gaps[i], b = uint32(v), b[n:]
	}
	if version == version1 {
		if s.numGaps > 0 {
			s.learn()
		}
		s.unasked = 3*s.Interval(Config{}) > DefaultOfflineAfter
		for _, g := range s.gaps[:s.numGaps] {
			s.usual.take(g)
		}
		return b, nil
	}
	if len(b) < numSteps {
		return nil, state.ErrDamaged
	}
	return b[copy(s.usual.counts[:], b):], nil
}
