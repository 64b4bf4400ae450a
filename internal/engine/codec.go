package engine

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/rimewatch/rimewatch/internal/alert"
	"github.com/rimewatch/rimewatch/internal/health"
	"github.com/rimewatch/rimewatch/internal/predict"
	"github.com/rimewatch/rimewatch/internal/state"
	"github.com/rimewatch/rimewatch/internal/unit"
)

// stateVersion starts every encoded State, and is that of what surrounds its parts:
// each of these has a length before it and a version of its own.
const stateVersion = 8

var ownFormat = state.Of[own](1, 1)

var errDamaged = errors.New("engine: damaged state")

// ErrAnew means that a part of a State was of another version and is that of a new
// device, which is learnt anew. The others, and who is online among them, were read.
var ErrAnew = errors.New("engine: a part of the state is of another version")

// AppendBinary appends the state for a checkpoint.
func (s *State) AppendBinary(b []byte) []byte {
	b = append(b, stateVersion)
	for _, encode := range [...]func([]byte) []byte{
		s.Presence.AppendBinary, s.Health.AppendBinary, s.Unit.AppendBinary, s.Alert.AppendBinary, s.Predict.AppendBinary, s.own.appendBinary,
	} {
		start := len(b)
		b = encode(append(b, 0, 0))
		binary.LittleEndian.PutUint16(b[start:], uint16(len(b)-start-2)) //nolint:gosec // a part takes a few kilobytes at most
	}
	return b
}

func (o *own) appendBinary(b []byte) []byte { return ownFormat.Append(b, o) }

func (o *own) decodeBinary(b []byte) (rest []byte, err error) {
	rest, err = ownFormat.Decode(b, o)
	if err == nil && !o.sound() {
		err = state.ErrDamaged
	}
	return rest, err
}

// sound reports whether what was read could have been written.
func (o *own) sound() bool { return min(o.behind.by, o.behind.other.by, o.behind.floor) >= 0 }

// UnmarshalBinary reads what AppendBinary wrote. After ErrAnew s is whole; after
// another error it may have changed in part.
func (s *State) UnmarshalBinary(b []byte) error {
	version := state.Version(b)
	if version < oldestFormer || version > stateVersion {
		return errors.New("engine: unknown version of state")
	}
	rest := b[1:]
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
	var err error
	if version < stateVersion {
		err = part(s.Verdicts.decodeFormer)
		if err == nil {
			rest, err = s.own.decodeFormer(rest, version)
		}
	} else {
		err = part(s.own.decodeBinary)
	}
	if err == nil && len(rest) > 0 {
		err = errDamaged
	}
	if err != nil {
		return fmt.Errorf("engine: %w", err)
	}
	return anew
}
