package inlet

import (
	"math"
	"slices"

	"github.com/rimewatch/rimewatch"
)

// Cell takes the text of a cell of a table into a reading as a measurement, or returns why it
// cannot be, as Sentence.Stored returns it. A unit in the text goes before that of the column,
// which is as Heading returns it; "" is the measurement's own. Converted values are rounded to
// 0.0001: loggers measure none finer.
func Cell(r *rimewatch.Reading, f rimewatch.Field, text, unit string) (problem string) {
	n, own, err := textNumber(text)
	if err != nil {
		return reason(err)
	}
	if own == "" {
		own = unit
	}
	v, err := convert(f, n, own)
	if err != nil {
		return reason(err)
	}
	if v != n {
		v = math.Round(v*1e4) / 1e4
	}
	return store(f, v, "", r)
}

// FlagCell is Cell for a state.
func FlagCell(r *rimewatch.Reading, x rimewatch.Flag, text string) (problem string) {
	yes, ok := truth(text)
	if !ok {
		return neither()
	}
	r.Flags = r.Flags.WithBool(x, yes)
	return ""
}

// TellsApart reports whether a column of that heading says which sensor its rows are of.
func TellsApart(heading string) bool {
	s := squeeze(heading)
	return s == "entityid" || s == "entity" || wantID.has(s) || isAddress(s, "") || slices.Contains(labels, s)
}

// IsSerial reports whether a column of that heading holds the serial of a device or logger.
func IsSerial(heading string) bool { return oneOf(wantID.tiers[0], squeeze(heading)) }

// Accepts reports whether the values of a measurement may be in a unit, as Heading returns it.
func Accepts(f rimewatch.Field, unit string) bool {
	_, err := convert(f, 0, unit)
	return err == nil
}
