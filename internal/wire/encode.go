package wire

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/rimewatch/rimewatch"
)

// AppendString writes s as a JSON string. Bad UTF-8, which the API never takes
// in, becomes the replacement character.
func AppendString(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= 0x20 && c != '"' && c != '\\' && c < utf8.RuneSelf {
			i++
			continue
		}
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRuneInString(s[i:])
			if r != utf8.RuneError || n > 1 {
				i += n
				continue
			}
			b = append(b, s[start:i]...)
			b = append(b, `\ufffd`...)
			i += n
			start = i
			continue
		}
		b = append(b, s[start:i]...)
		switch c {
		case '"', '\\':
			b = append(b, '\\', c)
		case '\n':
			b = append(b, '\\', 'n')
		case '\r':
			b = append(b, '\\', 'r')
		case '\t':
			b = append(b, '\\', 't')
		default:
			b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&0xf])
		}
		i++
		start = i
	}
	b = append(b, s[start:]...)
	return append(b, '"')
}

// AppendFields writes what is wrong with which field, in a fixed order.
func AppendFields(b []byte, fields map[string][]string) []byte {
	names := make([]string, 0, len(fields))
	for name := range fields {
		names = append(names, name)
	}
	slices.Sort(names)
	b = append(b, '{')
	for i, name := range names {
		if i > 0 {
			b = append(b, ',')
		}
		b = AppendString(b, name)
		b = append(b, ":["...)
		for j, what := range fields[name] {
			if j > 0 {
				b = append(b, ',')
			}
			b = AppendString(b, what)
		}
		b = append(b, ']')
	}
	return append(b, '}')
}

// AppendTime writes a time as a JSON string, null when it is absent.
func AppendTime(b []byte, t rimewatch.Time) []byte {
	if t == 0 {
		return append(b, "null"...)
	}
	b = append(b, '"')
	b = t.Append(b)
	return append(b, '"')
}

// FieldKeys and flagKeys are the members of a reading as they follow others.
var (
	FieldKeys = func() (keys [rimewatch.MaxFields]string) {
		for f := range rimewatch.MaxFields {
			keys[f] = `,"` + f.String() + `":`
		}
		return keys
	}()
	flagKeys = func() (keys [rimewatch.NumFlags]string) {
		for x := range rimewatch.NumFlags {
			keys[x] = `,"` + x.String() + `":`
		}
		return keys
	}()
)

// AppendMeasurements writes what follows a reading's times: the core
// measurements (null where absent), the optional ones and the observations that
// were sent, and the sensors that reported a fault.
func AppendMeasurements(b []byte, r *rimewatch.Reading) []byte {
	for f := range rimewatch.NumCore {
		b = append(b, FieldKeys[f]...)
		if r.Present&(1<<f) != 0 {
			b = AppendNumber(b, r.Values[f])
		} else {
			b = append(b, "null"...)
		}
	}
	if r.Flags != 0 || len(r.Optional) > 0 {
		b = appendOptional(b, r)
	}
	b = append(b, `,"sensor_faults":[`...)
	if r.Faults != 0 {
		for i, name := range (r.Faults & rimewatch.AllFields).Names() {
			if i > 0 {
				b = append(b, ',')
			}
			b = AppendString(b, name)
		}
	}
	return append(b, ']')
}

// appendOptional leaves out measurements that this program has no name for: a
// newer one stored them.
func appendOptional(b []byte, r *rimewatch.Reading) []byte {
	for f := range (r.Present & rimewatch.AllFields &^ rimewatch.CoreFields).All() {
		v, _ := r.Value(f)
		b = AppendNumber(append(b, FieldKeys[f]...), v)
	}
	for x := range rimewatch.NumFlags {
		if v, ok := r.Flags.Bool(x); ok {
			b = strconv.AppendBool(append(b, flagKeys[x]...), v)
		}
	}
	if unset, _ := r.Flags.Bool(rimewatch.ClockUnset); unset {
		b = append(b, `,"clock_unset":true`...)
	}
	if imported, _ := r.Flags.Bool(rimewatch.Imported); imported {
		b = append(b, `,"imported":true`...)
	}
	return b
}

// AppendReading writes a reading as an object: whose it is, when, and what was
// measured.
func AppendReading(b []byte, deviceID int64, serial string, r *rimewatch.Reading) []byte {
	b = append(b, `{"device_id":`...)
	b = AppendInt(b, deviceID)
	b = append(b, `,"device_serial":"`...)
	b = append(b, serial...) // a serial needs no escapes
	b = append(b, `","recorded_at":`...)
	b = AppendTime(b, r.At)
	b = append(b, `,"received_at":`...)
	b = AppendTime(b, r.Received())
	b = AppendMeasurements(b, r)
	return append(b, '}')
}

// AppendJSON writes any value. Text goes out as it is: the content type keeps
// browsers from taking it for HTML.
func AppendJSON(b []byte, v any) ([]byte, error) {
	w := bytes.NewBuffer(b)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return b, err
	}
	return bytes.TrimSuffix(w.Bytes(), []byte("\n")), nil
}

// Blank reports whether a text holds nothing but white space.
func Blank(b []byte) bool { return len(bytes.TrimSpace(b)) == 0 }
