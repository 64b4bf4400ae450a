package engine

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/rimewatch/rimewatch"
)

// stateVersion starts every encoded State. A State of another version is
// refused: its device is then learnt anew.
const stateVersion = 5

var errDamaged = errors.New("engine: damaged state")

// AppendBinary appends the state for a checkpoint.
func (s *State) AppendBinary(b []byte) []byte {
	b = append(b, stateVersion)
	b = s.Presence.AppendBinary(b)
	b = s.Health.AppendBinary(b)
	b = s.Unit.AppendBinary(b)
	b = s.Alert.AppendBinary(b)
	b = s.Predict.AppendBinary(b)
	b = s.Verdicts.appendBinary(b)
	for _, t := range [...]rimewatch.Time{s.behind.by, s.behind.lag, s.behind.since, s.Maintained} {
		b = binary.AppendVarint(b, int64(t))
	}
	return b
}

// UnmarshalBinary reads what AppendBinary wrote.
func (s *State) UnmarshalBinary(b []byte) error {
	if len(b) == 0 || b[0] != stateVersion {
		return errors.New("engine: unknown version of state")
	}
	rest := b[1:]
	for _, decode := range [...]func([]byte) ([]byte, error){
		s.Presence.DecodeBinary, s.Health.DecodeBinary, s.Unit.DecodeBinary, s.Alert.DecodeBinary, s.Predict.DecodeBinary, s.Verdicts.decodeBinary,
	} {
		var err error
		if rest, err = decode(rest); err != nil {
			return fmt.Errorf("engine: %w", err)
		}
	}
	for _, t := range [...]*rimewatch.Time{&s.behind.by, &s.behind.lag, &s.behind.since, &s.Maintained} {
		at, n := binary.Varint(rest)
		if n <= 0 {
			return errDamaged
		}
		*t, rest = rimewatch.Time(at), rest[n:]
	}
	if len(rest) != 0 || s.behind.by < 0 {
		return errDamaged
	}
	return nil
}
