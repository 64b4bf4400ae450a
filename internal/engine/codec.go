package engine

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/alert"
	"github.com/rimewatch/rimewatch/internal/health"
	"github.com/rimewatch/rimewatch/internal/predict"
	"github.com/rimewatch/rimewatch/internal/unit"
)

// stateVersion starts every encoded State, and is that of what surrounds its parts:
// each of these has a length before it and a version of its own.
const (
	stateVersion  = 7
	oldestVersion = 6 // knew one sender of a device
)

var errDamaged = errors.New("engine: damaged state")

// ErrAnew means that a part of a State was of another version and is that of a new
// device, which is learnt anew. The others, and who is online among them, were read.
var ErrAnew = errors.New("engine: a part of the state is of another version")

// AppendBinary appends the state for a checkpoint.
func (s *State) AppendBinary(b []byte) []byte {
	b = append(b, stateVersion)
	for _, encode := range [...]func([]byte) []byte{
		s.Presence.AppendBinary, s.Health.AppendBinary, s.Unit.AppendBinary, s.Alert.AppendBinary, s.Predict.AppendBinary, s.Verdicts.appendBinary,
	} {
		start := len(b)
		b = encode(append(b, 0, 0))
		binary.LittleEndian.PutUint16(b[start:], uint16(len(b)-start-2)) //nolint:gosec // a part takes a few kilobytes at most
	}
	for _, t := range s.times(stateVersion) {
		b = binary.AppendVarint(b, int64(*t))
	}
	return append(b, s.behind.flags())
}

// times are the moments and spans that follow the parts.
func (s *State) times(version byte) []*rimewatch.Time {
	b := &s.behind
	list := []*rimewatch.Time{&b.by, &b.lag, &b.since, &s.Maintained}
	if version > oldestVersion {
		list = append(list, &b.heard, &b.other.by, &b.other.lag, &b.other.since, &b.other.heard, &b.floor, &b.least, &b.before, &b.from, &s.battery.opened, &s.battery.lowest)
	}
	return list
}

// UnmarshalBinary reads what AppendBinary wrote. After ErrAnew s is whole; after
// another error it may have changed in part.
func (s *State) UnmarshalBinary(b []byte) error {
	if len(b) == 0 || b[0] < oldestVersion || b[0] > stateVersion {
		return errors.New("engine: unknown version of state")
	}
	version, rest := b[0], b[1:]
	var anew error
	part := func(decode func([]byte) ([]byte, error)) error {
		if len(rest) < 2 || len(rest)-2 < int(binary.LittleEndian.Uint16(rest)) {
			return errDamaged
		}
		end := 2 + int(binary.LittleEndian.Uint16(rest))
		left, err := decode(rest[2:end])
		if rest = rest[end:]; err == nil && len(left) > 0 {
			err = errDamaged
		}
		return err
	}
	if err := part(s.Presence.DecodeBinary); err != nil {
		return fmt.Errorf("engine: %w", err)
	}
	if err := part(s.Health.DecodeBinary); err != nil {
		s.Health, anew = health.State{}, ErrAnew
	}
	learnt := part(s.Unit.DecodeBinary)
	if err := part(s.Alert.DecodeBinary); err != nil {
		s.Alert, anew = alert.State{}, ErrAnew
	}
	// What is predicted rests on what was learnt.
	if err := errors.Join(learnt, part(s.Predict.DecodeBinary)); err != nil {
		s.Unit, s.Predict, anew = unit.State{}, predict.State{}, ErrAnew
	}
	if err := part(s.Verdicts.decodeBinary); err != nil {
		return fmt.Errorf("engine: %w", err)
	}
	for _, t := range s.times(version) {
		at, n := binary.Varint(rest)
		if n <= 0 {
			return errDamaged
		}
		*t, rest = rimewatch.Time(at), rest[n:]
	}
	switch {
	case version == oldestVersion:
		s.behind.heard = s.behind.since
	case len(rest) == 0 || !s.behind.setFlags(rest[0]):
		return errDamaged
	default:
		rest = rest[1:]
	}
	if len(rest) != 0 || min(s.behind.by, s.behind.other.by, s.behind.floor) < 0 {
		return errDamaged
	}
	return anew
}
