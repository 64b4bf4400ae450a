package engine

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"

	"github.com/rimewatch/rimewatch"
)

// Verdicts counts what people said of a device's predictions, in the order of
// rimewatch.Verdicts.
type Verdicts [len(rimewatch.Verdicts)]uint16

// judged takes note of a person's verdict on the prediction of a type; was is
// the one that it replaces, "" when it is the first. A verdict that ends an open
// prediction makes the predictor learn the device anew.
func (s *State) judged(c *Config, t rimewatch.AlertType, verdict, was rimewatch.Verdict, now rimewatch.Time) {
	s.Verdicts.count(was, -1)
	s.Verdicts.count(verdict, 1)
	if p, ok := s.Predict.Standing(); ok && p.Type == t && Ends(verdict) {
		s.Predict.Rebaseline(&c.Predict, now, nil)
	}
}

// Ends reports whether a verdict ends the prediction that it is about.
func Ends(v rimewatch.Verdict) bool { return v == rimewatch.FalseAlarm || v == rimewatch.Fixed }

func (f *Verdicts) count(v rimewatch.Verdict, by int) {
	if i := slices.Index(rimewatch.Verdicts[:], v); i >= 0 {
		f[i] = uint16(max(0, min(math.MaxUint16, int(f[i])+by)))
	}
}

func (f *Verdicts) appendBinary(b []byte) []byte {
	for _, n := range f {
		b = binary.AppendUvarint(b, uint64(n))
	}
	return b
}

func (f *Verdicts) decodeBinary(b []byte) (rest []byte, err error) {
	for i := range f {
		v, n := binary.Uvarint(b)
		if n <= 0 || v > math.MaxUint16 {
			return nil, errors.New("engine: damaged feedback")
		}
		f[i], b = uint16(v), b[n:]
	}
	return b, nil
}
