package inlet

import (
	"bytes"
	"math"
)

// lineValue is the value of a line's field: a number, yes or no, both (0 and 1),
// or neither.
type lineValue struct {
	text            string // shortened, where it was a text
	number          float64
	yes             bool
	isNumber, truth bool
}

// plain reads a line of a series that is known, when nothing in it has to be
// unescaped and every value is a short number or a truth value: nearly all lines
// are so. Everything else, and all that is wrong, is left to the decoder. It leaves
// the series' key in r.plainKey, "" when the line is not plain, and the values in
// r.values.
func (r *LineReader) plain(line []byte) (s *series, moment []byte) {
	r.plainKey, r.values = r.plainKey[:0], r.values[:0]
	line = bytes.TrimSuffix(line, []byte{'\n'})
	head := bytes.IndexByte(line, ' ')
	if head <= 0 || bytes.IndexByte(line, '\\') >= 0 {
		return nil, nil
	}
	fields := line[head+1:]
	if end := bytes.IndexByte(fields, ' '); end >= 0 {
		fields, moment = fields[:end], fields[end+1:]
	}
	if !isEpoch(moment) {
		return nil, nil
	}
	key := append(r.plainKey, line[:head]...)
	for more := true; more; {
		var field []byte
		field, fields, more = bytes.Cut(fields, []byte{','})
		is := bytes.IndexByte(field, '=')
		if is <= 0 || len(r.values) == maxLineFields {
			return nil, nil
		}
		v, ok := plainLineValue(field[is+1:])
		if !ok {
			return nil, nil
		}
		key = append(append(key, ' '), field[:is]...)
		r.values = append(r.values, v)
	}
	r.plainKey = key
	return r.known[string(key)], moment
}

// know remembers the recognised series of a plain line.
func (r *LineReader) know(s *series) {
	if len(r.plainKey) == 0 {
		return
	}
	if len(r.known) >= maxSeries || r.known == nil {
		r.known = make(map[string]*series)
	}
	r.known[string(r.plainKey)] = s
}

// isEpoch reports whether b is empty or the digits of an int64.
func isEpoch(b []byte) bool {
	const most = 18
	for _, c := range b {
		if c < '0' || c > '9' {
			return false
		}
	}
	return len(b) <= most+1 && (len(b) <= most || b[0] < '9')
}

// plainLineValue reads -?digits(.digits)? with up to fifteen digits, digits with the
// suffix i or u, and t, f, true and false.
func plainLineValue(b []byte) (v lineValue, ok bool) {
	switch string(b) {
	case "t", "true":
		return lineValue{yes: true, truth: true}, true
	case "f", "false":
		return lineValue{truth: true}, true
	case "":
		return v, false
	}
	last := b[len(b)-1]
	whole := last == 'i' || last == 'u'
	if whole {
		b = b[:len(b)-1]
	}
	negative := len(b) > 0 && b[0] == '-'
	if negative {
		b = b[1:]
	}
	const exact = 15 // digits that a float64 holds; powers of ten up to 1e22 are exact
	if len(b) == 0 || len(b) > exact+1 || b[0] == '.' || b[len(b)-1] == '.' || negative && last == 'u' {
		return v, false
	}
	n, point := int64(0), -1
	for i, c := range b {
		switch {
		case c >= '0' && c <= '9':
			n = 10*n + int64(c-'0')
		case c == '.' && point < 0 && !whole:
			point = i
		default:
			return v, false
		}
	}
	v.number = float64(n)
	if point >= 0 {
		v.number /= powersOfTen[len(b)-1-point]
	} else if len(b) > exact {
		return v, false
	}
	if negative && (n != 0 || !whole) {
		v.number = math.Copysign(v.number, -1)
	}
	return numberValue(v.number), true
}

var powersOfTen = [...]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15}

func numberValue(n float64) lineValue {
	yes, truth := truth(n)
	return lineValue{number: n, isNumber: true, yes: yes, truth: truth}
}
