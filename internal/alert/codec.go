package alert

import (
	"encoding/binary"
	"errors"
	"math/bits"

	"github.com/rimewatch/rimewatch"
)

// codecVersion starts every encoded State. A State of another version is
// refused: its owner then rebuilds it from the readings.
const codecVersion = 1

const (
	headerLen = 1 + 5*8 + 4*4 + 1
	trackLen  = 4 + 6 + 6 + 6 + 2
)

var errState = errors.New("alert: not an encoded state of this version")

// AppendBinary appends the state in a fixed form: equal states give equal
// bytes. Tracks that hold nothing take no room.
func (s *State) AppendBinary(b []byte) []byte {
	var used uint32
	for i := range s.tracks {
		if s.tracks[i] != (track{}) {
			used |= 1 << i
		}
	}
	b = append(b, codecVersion)
	for _, t := range [...]rimewatch.Time{s.newest, s.zoneAt, s.seenAt, s.aliveUntil, s.holdUntil} {
		b = binary.LittleEndian.AppendUint64(b, uint64(t))
	}
	for _, v := range [...]uint32{uint32(s.zoneTemp), s.active, s.live, used} {
		b = binary.LittleEndian.AppendUint32(b, v)
	}
	b = append(b, boolByte(s.gone))
	for i := range s.tracks {
		if used&(1<<i) != 0 {
			b = s.tracks[i].append(b)
		}
	}
	return b
}

// UnmarshalBinary restores what AppendBinary wrote. On an error the state is
// left as it was.
func (s *State) UnmarshalBinary(b []byte) error {
	if len(b) < headerLen || b[0] != codecVersion {
		return errState
	}
	var n State
	var used uint32
	zone := uint32(0)
	b = b[1:]
	for _, t := range [...]*rimewatch.Time{&n.newest, &n.zoneAt, &n.seenAt, &n.aliveUntil, &n.holdUntil} {
		*t = rimewatch.Time(binary.LittleEndian.Uint64(b))
		b = b[8:]
	}
	for _, v := range [...]*uint32{&zone, &n.active, &n.live, &used} {
		*v = binary.LittleEndian.Uint32(b)
		b = b[4:]
	}
	n.zoneTemp, n.gone = fixed(zone), b[0] == 1
	if b[0] > 1 {
		return errState
	}
	b = b[1:]
	const all = 1<<numRules - 1
	if (used|n.active|n.live)&^all != 0 || len(b) != bits.OnesCount32(used)*trackLen {
		return errState
	}
	for i := range n.tracks {
		if used&(1<<i) != 0 {
			n.tracks[i].read(b)
			b = b[trackLen:]
		}
	}
	*s = n
	return nil
}

func (t *track) append(b []byte) []byte {
	b = binary.LittleEndian.AppendUint32(b, uint32(t.peak))
	for _, m := range [...]stamp{t.mark, t.cmark, t.start} {
		for _, v := range m {
			b = binary.LittleEndian.AppendUint16(b, v)
		}
	}
	return binary.LittleEndian.AppendUint16(b, t.bits)
}

func (t *track) read(b []byte) {
	t.peak = fixed(binary.LittleEndian.Uint32(b))
	b = b[4:]
	for _, m := range [...]*stamp{&t.mark, &t.cmark, &t.start} {
		for i := range m {
			m[i] = binary.LittleEndian.Uint16(b)
			b = b[2:]
		}
	}
	t.bits = binary.LittleEndian.Uint16(b)
}

func boolByte(v bool) byte {
	if v {
		return 1
	}
	return 0
}
