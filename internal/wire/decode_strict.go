package wire

import (
	"bytes"
	"fmt"
	"math"
	"strings"

	"github.com/rimewatch/rimewatch"
)

// maxFields bounds how many bad fields one answer names.
const maxFields = 20

// InvalidJSON is why a body is not strict JSON of the expected form.
func InvalidJSON(format string, args ...any) *rimewatch.Error {
	return rimewatch.Errorf(rimewatch.CodeInvalidJSON, "The body is not a valid JSON document: %s.", rimewatch.Sentencef(format, args...))
}

// DecodeReading decodes a body that is one reading: CodeInvalidJSON or
// CodeValidationFailed with every bad field named.
func DecodeReading(body []byte, out *SentReading) *rimewatch.Error {
	if end, ok := fastReading(body, skipSpace(body, 0), out); ok && skipSpace(body, end) == len(body) {
		return nil
	}
	var e *rimewatch.Error
	err := Scan(body, func(s *Scanner) (ok bool) {
		e, ok = strictReading(s, out)
		return ok
	})
	if err != nil {
		return InvalidJSON("%v", err)
	}
	return e
}

// strictReading decodes the value that s comes to; ok is false when it is not
// strict JSON, which only s can say more about.
func strictReading(s *Scanner, out *SentReading) (e *rimewatch.Error, ok bool) {
	*out = SentReading{}
	if s.Next() != '{' {
		return InvalidJSON("it must be an object"), s.Value()
	}
	f, when := FieldErrors{}, times{}
	ok = s.Object(func(name []byte) bool {
		value, ok := s.Raw()
		if !ok {
			return false
		}
		if when.take(name, value) {
			return true
		}
		if key := keyByName(name); key >= 0 {
			if what := strictValue(key, value, out); what != "" {
				f.Add(keyNames[key], "%s", what)
			}
		} else if known, what := vital(name, value, out); known {
			if what != "" {
				f.Add(Shown(name), "%s", what)
			}
		} else if meant := nearMiss(name); meant != "" {
			f.Add(Shown(name), "is not a known field, did you mean %s?", meant)
		} else {
			out.ignore(name)
		}
		return true
	})
	if !ok {
		return nil, false
	}
	when.read(out, &f)
	switch {
	case len(out.Serial) == 0 && !f.Has(keyNames[keySerial]):
		f.Add(keyNames[keySerial], "is required")
	case f.Err == nil && out.Empty():
		return errNoMeasurement(), true
	}
	return f.Err, true
}

func errNoMeasurement() *rimewatch.Error {
	e := rimewatch.Errorf(rimewatch.CodeValidationFailed, "A reading needs at least one measurement, or the state of a door, a compressor or a defrost.")
	for f := range rimewatch.NumCore {
		e.With(f.String(), "at least one measurement is required")
	}
	return e
}

// FieldErrors collects what is wrong with which field of a body, within bounds.
type FieldErrors struct{ Err *rimewatch.Error }

// Add records what is wrong with a field.
func (f *FieldErrors) Add(path, format string, args ...any) {
	if f.Err == nil {
		f.Err = &rimewatch.Error{Code: rimewatch.CodeValidationFailed, Message: "The request has invalid fields."}
	}
	if !f.Full() {
		f.Err.With(path, format, args...)
	}
}

// Full reports whether as many fields are named as an answer names.
func (f *FieldErrors) Full() bool { return f.Err != nil && len(f.Err.Fields) >= maxFields }

// Has reports whether something is wrong with a field.
func (f *FieldErrors) Has(path string) bool { return f.Err != nil && f.Err.Fields[path] != nil }

// NotBlank refuses a text of nothing but white space.
func (f *FieldErrors) NotBlank(path, text string) {
	if strings.TrimSpace(text) == "" {
		f.Add(path, "must not be blank")
	}
}

// NotLater refuses a time that is yet to come, clocks that are a little ahead
// forgiven.
func (f *FieldErrors) NotLater(path string, at, now rimewatch.Time) {
	if at > now+rimewatch.FutureTolerance {
		f.Add(path, "must not be in the future")
	}
}

// Shown returns a key of the client's in a form that may go back to it.
func Shown(name []byte) string {
	const most = 64
	return rimewatch.Shorten(strings.ToValidUTF8(string(name), ""), most)
}

// strictValue stores one value and says what is wrong with it.
func strictValue(key int, value []byte, out *SentReading) (what string) {
	if value[0] == 'n' {
		if key == keySerial {
			return "is required"
		}
		return ""
	}
	switch {
	case key == keySerial:
		return strictSerial(value, out)
	case key < keyRecordedAt:
		return strictMeasurement(rimewatch.Field(key-keyFirstCore), value, out)
	case key >= keyFirstOptional:
		return strictMeasurement(rimewatch.Field(key-keyFirstOptional)+rimewatch.NumCore, value, out)
	default:
		return strictBool(value, rimewatch.Flag(key-keyFirstFlag), out)
	}
}

func strictSerial(value []byte, out *SentReading) string {
	if value[0] != '"' {
		return "must be a string"
	}
	s := Text(value)
	if !rimewatch.ValidSerial(string(s)) {
		return "must be 1 to 64 of the characters A-Z a-z 0-9 . _ : -"
	}
	out.Serial = s
	return ""
}

func strictBool(value []byte, x rimewatch.Flag, out *SentReading) string {
	if value[0] != 't' && value[0] != 'f' {
		return "must be true or false"
	}
	out.Flags = out.Flags.WithBool(x, value[0] == 't')
	return ""
}

// IsNumber reports whether a value that has passed the scanner is a number.
func IsNumber(value []byte) bool { return value[0] == '-' || (value[0] >= '0' && value[0] <= '9') }

func strictMeasurement(f rimewatch.Field, value []byte, out *SentReading) string {
	r := &fieldRanges[f]
	v, ok := looseNumber(value)
	switch {
	case r.whole && (!ok || bytes.ContainsAny(value, ".eE")):
		return "must be an integer"
	case !ok:
		return "must be a number"
	}
	if v >= r.min && v <= r.max {
		if v == 0 {
			v = math.Abs(v)
		}
		out.Set(f, v)
		return ""
	}
	if !r.whole && rimewatch.Sentinel(f, v) {
		out.Faults = out.Faults.With(f)
		return ""
	}
	return fmt.Sprintf("must be between %s and %s", AppendNumber(nil, r.min), AppendNumber(nil, r.max))
}
