package httpapi

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/rimewatch/rimewatch"
)

// maxReportedFields bounds how many bad fields one answer names.
const maxReportedFields = 20

func invalidJSON(format string, args ...any) *rimewatch.Error {
	return rimewatch.Errorf(rimewatch.CodeInvalidJSON, "The body is not a valid JSON document: "+format+".", args...)
}

// decodeReading decodes a body that is one reading: CodeInvalidJSON or
// CodeValidationFailed with every bad field named.
func decodeReading(body []byte, out *sentReading) *rimewatch.Error {
	if end, ok := fastReading(body, skipSpace(body, 0), out); ok && skipSpace(body, end) == len(body) {
		return nil
	}
	if err := checkJSON(body); err != nil {
		return invalidJSON("%v", err)
	}
	start := skipSpace(body, 0)
	if body[start] != '{' {
		return invalidJSON("it must be an object")
	}
	return strictReading(body[start:], out)
}

// strictReading decodes an object that has passed checkJSON.
func strictReading(object []byte, out *sentReading) *rimewatch.Error {
	*out = sentReading{}
	e := &rimewatch.Error{Code: rimewatch.CodeValidationFailed, Message: "The request has invalid fields."}
	members(object, func(name, value []byte) bool {
		key := keyByName(name)
		if key < 0 {
			e.With(shown(name), "%s", unknownKey(name))
			return len(e.Fields) < maxReportedFields
		}
		if what := strictValue(key, value, out); what != "" {
			e.With(keyName(key), "%s", what)
		}
		return true
	})
	if len(out.Serial) == 0 && e.Fields["device_serial"] == nil {
		e.With("device_serial", "is required")
	}
	if len(e.Fields) > 0 {
		return e
	}
	if out.Present|out.Faults == 0 {
		e.Message = "A reading needs at least one measurement."
		for f := range rimewatch.NumFields {
			e.With(f.String(), "at least one measurement is required")
		}
		return e
	}
	return nil
}

// shown is a key of the client's in a form that may go back to it.
func shown(name []byte) string {
	const most = 64
	s := strings.ToValidUTF8(string(name), "")
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}

func unknownKey(name []byte) string {
	folded := strings.ReplaceAll(strings.ToLower(string(name)), "-", "_")
	squeezed := strings.ReplaceAll(folded, "_", "")
	for key := range numKeys {
		if known := keyName(key); known == folded || strings.ReplaceAll(known, "_", "") == squeezed {
			return fmt.Sprintf("is not a known field, did you mean %s?", known)
		}
	}
	return "is not a known field"
}

// strictValue stores one value and says what is wrong with it.
func strictValue(key int, value []byte, out *sentReading) (what string) {
	if value[0] == 'n' {
		if key == keySerial {
			return "is required"
		}
		return ""
	}
	switch key {
	case keySerial:
		return strictSerial(value, out)
	case keyRecordedAt:
		return strictTime(value, out)
	case keyCompressorOn:
		return strictBool(value, rimewatch.CompressorOnSent, out)
	case keyDefrostActive:
		return strictBool(value, rimewatch.DefrostActiveSent, out)
	case keyDoorOpen:
		return strictBool(value, rimewatch.DoorOpenSent, out)
	case keyStartCount, keyRunSeconds:
		return strictCount(key, value, out)
	default:
		return strictMeasurement(rimewatch.Field(key-keyFirstField), value, out)
	}
}

func strictSerial(value []byte, out *sentReading) string {
	if value[0] != '"' {
		return "must be a string"
	}
	s := textOf(value)
	if !rimewatch.ValidSerial(string(s)) {
		return "must be 1 to 64 of the characters A-Z a-z 0-9 . _ : -"
	}
	out.Serial = s
	return ""
}

func strictTime(value []byte, out *sentReading) string {
	if value[0] != '"' {
		return "must be a string with an RFC 3339 time"
	}
	t, err := rimewatch.ParseTime(string(textOf(value)))
	if err != nil {
		return err.Error()
	}
	out.At = t
	return ""
}

func strictBool(value []byte, sent rimewatch.Flags, out *sentReading) string {
	if value[0] != 't' && value[0] != 'f' {
		return "must be true or false"
	}
	out.Flags = out.Flags.WithBool(sent, value[0] == 't')
	return ""
}

func isNumber(value []byte) bool { return value[0] == '-' || (value[0] >= '0' && value[0] <= '9') }

func strictCount(key int, value []byte, out *sentReading) string {
	if !isNumber(value) {
		return "must be an integer"
	}
	n, err := strconv.ParseInt(string(value), 10, 64)
	if errors.Is(err, strconv.ErrSyntax) {
		return "must be an integer"
	}
	if err != nil || n < 0 || n > maxCount {
		return fmt.Sprintf("must be between 0 and %d", int64(maxCount))
	}
	setCount(out, key, n)
	return ""
}

func strictMeasurement(f rimewatch.Field, value []byte, out *sentReading) string {
	if !isNumber(value) {
		return "must be a number"
	}
	// A number too large for a float64 becomes ±Inf, which no range holds.
	v, _ := strconv.ParseFloat(string(value), 64)
	r := fieldRanges[f]
	if v >= r.min && v <= r.max {
		if v == 0 {
			v = math.Abs(v)
		}
		out.Set(f, v)
		return ""
	}
	if rimewatch.Sentinel(f, v) {
		out.Faults = out.Faults.With(f)
		return ""
	}
	return fmt.Sprintf("must be between %g and %g", r.min, r.max)
}
