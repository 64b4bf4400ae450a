package rimewatch

import (
	"math"
	"slices"
)

// Calibration is one check of a probe against a reference. Its offset holds for
// readings from AppliedFrom on; older ones are never rewritten.
type Calibration struct {
	ID             int64    `json:"-"`
	WorkspaceID    int64    `json:"-"`
	DeviceID       int64    `json:"-"`
	Field          Field    `json:"-"`
	Method         string   `json:"method"` // ice_point, reference_probe, certificate or other
	Reference      float64  `json:"reference"`
	AsFound        float64  `json:"as_found"`          // what the probe showed
	AsLeft         *float64 `json:"as_left,omitempty"` // after adjustment
	Offset         float64  `json:"offset"`            // added to readings
	Uncertainty    *float64 `json:"uncertainty,omitempty"`
	PassLimit      float64  `json:"pass_limit"` // the largest |as found − reference| that passes
	Passed         bool     `json:"passed"`
	ReferenceID    string   `json:"reference_id,omitempty"` // instrument or certificate number
	ReferenceDueAt Time     `json:"reference_due_at,omitempty"`
	PerformedAt    Time     `json:"-"`
	PerformedBy    string   `json:"performed_by"`
	AppliedFrom    Time     `json:"applied_from"`
	DueAt          Time     `json:"due_at"` // next calibration
	Note           string   `json:"note,omitempty"`
	RecordedBy     string   `json:"recorded_by"`
	RecordedAt     Time     `json:"recorded_at"`
	Performed      *Doer    `json:"performed,omitempty"` // nil in records of before
}

// PerformedDoer returns the doer, also of records from before kinds of doers were recorded.
func (c *Calibration) PerformedDoer() Doer { return doerOf(c.Performed, c.PerformedBy) }

// Apply makes a calibration's offset and due date those of the device. Of two
// offsets from the same moment the later record counts.
func (c *Calibration) Apply(d *Device) {
	if c.Offset != OffsetAt(d.Offsets, c.Field, c.AppliedFrom) {
		list := slices.DeleteFunc(slices.Clone(d.Offsets), func(o Offset) bool { return o.Field == c.Field && o.From == c.AppliedFrom })
		at, _ := slices.BinarySearchFunc(list, c.AppliedFrom, func(o Offset, t Time) int {
			if o.From <= t {
				return -1
			}
			return 1
		})
		d.Offsets = slices.Insert(list, at, Offset{Field: c.Field, From: c.AppliedFrom, Add: c.Offset})
	}
	due := slices.Clone(d.CalibrationDue)
	i := slices.IndexFunc(due, func(x CalibrationDue) bool { return x.Field == c.Field })
	if i < 0 {
		due = append(due, CalibrationDue{Field: c.Field, At: c.DueAt})
	} else {
		due[i].At = c.DueAt
	}
	d.CalibrationDue = due
}

// CalibrationDue is when a probe is to be calibrated next.
type CalibrationDue struct {
	Field Field `json:"field"`
	At    Time  `json:"at"`
}

// CalibrationDueAt is when the first of the device's calibrated probes is due, 0
// when none was ever calibrated.
func (d *Device) CalibrationDueAt() Time {
	first := Time(0)
	for _, x := range d.CalibrationDue {
		if first == 0 || x.At < first {
			first = x.At
		}
	}
	return first
}

// Offset corrects one measurement from a moment on, until the next Offset of
// the same field.
type Offset struct {
	Field Field   `json:"field"`
	From  Time    `json:"from"`
	Add   float64 `json:"add"`
}

// OffsetAt returns the offset for a measurement of that moment: the newest of the
// field's offsets that apply by then, 0 when none does.
func OffsetAt(offsets []Offset, f Field, at Time) float64 {
	for i := len(offsets) - 1; i >= 0; i-- {
		if offsets[i].Field == f && offsets[i].From <= at {
			return offsets[i].Add
		}
	}
	return 0
}

// Corrected is v with an offset added, to the four decimals that offsets have;
// without an offset it is v itself.
func Corrected(v, offset float64) float64 {
	if offset == 0 {
		return v
	}
	return math.Round((v+offset)*1e4) / 1e4
}

// Correct applies offsets, which are ordered by From, to the measurements of
// the reading. Stored values are never corrected, shown and judged ones are.
func (r *Reading) Correct(offsets []Offset) {
	if len(offsets) == 0 || r.At < offsets[0].From {
		return
	}
	for f := range r.Present.All() {
		if add := OffsetAt(offsets, f, r.At); add != 0 {
			v, _ := r.Value(f)
			r.Set(f, Corrected(v, add))
		}
	}
}

// CorrectedFrom is the first moment from which two lists of offsets, which are ordered by
// From, correct a measurement differently.
func CorrectedFrom(a, b []Offset, f Field) (from Time, differ bool) {
	for _, list := range [][]Offset{a, b} {
		for i := range list {
			at := list[i].From
			if list[i].Field == f && (!differ || at < from) && OffsetAt(a, f, at) != OffsetAt(b, f, at) {
				from, differ = at, true
			}
		}
	}
	return from, differ
}
