package wire

import (
	"bytes"

	"github.com/rimewatch/rimewatch"
)

// SentReading is a reading as a client sent it: not yet tied to a device, not
// yet checked against the time window.
type SentReading struct {
	rimewatch.Reading        // At is 0 when the client gave no time
	Serial            []byte // part of the body
	Extras
}

// fastReading decodes the reading that starts at data[i] when it has the shape
// that devices send: known keys once each, plain numbers of at most 15 digits,
// a serial and a time without escapes. It returns the position after it. On
// anything else it returns false without a judgement, and strictReading decides;
// whatever it accepts, strictReading accepts with the same result.
func fastReading(data []byte, i int, out *SentReading) (end int, ok bool) {
	if i >= len(data) || data[i] != '{' {
		return 0, false
	}
	out.Reading = rimewatch.Reading{}
	out.Serial = nil
	out.Extras = Extras{}
	i++
	var seen keySet
	next := 0
	for {
		i = skipSpace(data, i)
		key, at := fastKey(data, i, next)
		if key < 0 || seen&(1<<key) != 0 {
			return 0, false
		}
		seen |= 1 << key
		next = key + 1
		i, ok = fastValue(data, skipSpace(data, at), key, out)
		if !ok {
			return 0, false
		}
		i = skipSpace(data, i)
		if i >= len(data) {
			return 0, false
		}
		switch data[i] {
		case ',':
			i++
		case '}':
			if len(out.Serial) == 0 || out.Empty() {
				return 0, false
			}
			return i + 1, true
		default:
			return 0, false
		}
	}
}

func skipSpace(data []byte, i int) int {
	for i < len(data) && isSpace(data[i]) {
		i++
	}
	return i
}

// fastKey reads a key and its colon. Most devices send the keys in one order,
// so the successor of the last key is tried first.
func fastKey(data []byte, i, guess int) (key, end int) {
	if guess < numKeys {
		if want := readingKeys[guess]; len(data)-i >= len(want) && string(data[i:i+len(want)]) == want {
			return guess, i + len(want)
		}
	}
	if i >= len(data) || data[i] != '"' {
		return -1, 0
	}
	start := i + 1
	for i = start; i < len(data) && data[i] != '"'; i++ {
		if i-start > longestKey {
			return -1, 0
		}
	}
	if i >= len(data) {
		return -1, 0
	}
	key = keyByName(data[start:i])
	i = skipSpace(data, i+1)
	if i >= len(data) || data[i] != ':' {
		return -1, 0
	}
	return key, i + 1
}

func fastValue(data []byte, i, key int, out *SentReading) (end int, ok bool) {
	if i+4 <= len(data) && data[i] == 'n' && key != keySerial {
		return i + 4, string(data[i:i+4]) == "null"
	}
	// Nearly all values are core measurements within their range.
	if f := rimewatch.Field(key - keyFirstCore); f < rimewatch.NumCore {
		v, end, ok := fastNumber(data, i)
		if r := &fieldRanges[f]; ok && v >= r.min && v <= r.max {
			out.Values[f] = v
			out.Present |= 1 << f
			return end, true
		}
		return end, ok && fastFault(f, v, out)
	}
	switch {
	case key == keySerial:
		return fastSerial(data, i, out)
	case key == keyRecordedAt:
		return fastTime(data, i, out)
	case key >= keyFirstOptional:
		return fastOptional(data, i, rimewatch.Field(key-keyFirstOptional)+rimewatch.NumCore, out)
	default:
		return fastBool(data, i, rimewatch.Flag(key-keyFirstFlag), out)
	}
}

func fastOptional(data []byte, i int, f rimewatch.Field, out *SentReading) (end int, ok bool) {
	v, end, ok := fastNumber(data, i)
	r := &fieldRanges[f]
	switch {
	case !ok || r.whole && bytes.IndexByte(data[i:end], '.') >= 0:
		return 0, false
	case v >= r.min && v <= r.max:
		out.Set(f, v)
		return end, true
	}
	return end, !r.whole && fastFault(f, v, out)
}

// fastFault notes a sensor that reports that it is broken.
func fastFault(f rimewatch.Field, v float64, out *SentReading) bool {
	if !rimewatch.Sentinel(f, v) {
		return false
	}
	out.Faults |= 1 << f
	return true
}

// serialByte reports which bytes a serial may hold.
var serialByte = func() (t [256]bool) {
	for c := range t {
		t[c] = rimewatch.ValidSerial(string([]byte{'x', byte(c)}))
	}
	return t
}()

func fastSerial(data []byte, i int, out *SentReading) (end int, ok bool) {
	if i >= len(data) || data[i] != '"' {
		return 0, false
	}
	i++
	start := i
	for i < len(data) && serialByte[data[i]] {
		i++
	}
	if i >= len(data) || data[i] != '"' || i-start > rimewatch.MaxSerialLen {
		return 0, false
	}
	s := data[start:i]
	if len(s) == 0 || (s[0] == '.' && !rimewatch.ValidSerial(string(s))) {
		return 0, false
	}
	out.Serial = s
	return i + 1, true
}

var pow10 = [...]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15}

// fastNumber reads a JSON number of at most 15 digits without an exponent. Both
// the digits and the power of ten are exact in a float64, so their quotient is
// the correctly rounded value (Clinger's fast path).
func fastNumber(data []byte, i int) (v float64, end int, ok bool) {
	neg := false
	if i < len(data) && data[i] == '-' {
		neg = true
		i++
	}
	start := i
	var mant uint64
	for i < len(data) && data[i]-'0' <= 9 {
		mant = mant*10 + uint64(data[i]-'0')
		i++
	}
	digits := i - start
	if digits == 0 || digits > 15 || (digits > 1 && data[start] == '0') {
		return 0, 0, false
	}
	frac := 0
	if i < len(data) && data[i] == '.' {
		i++
		first := i
		for i < len(data) && data[i]-'0' <= 9 {
			mant = mant*10 + uint64(data[i]-'0')
			i++
		}
		frac = i - first
		if frac == 0 || digits+frac > 15 {
			return 0, 0, false
		}
	}
	if i < len(data) && (data[i] == 'e' || data[i] == 'E') {
		return 0, 0, false
	}
	v = float64(mant)
	if frac > 0 {
		v /= pow10[frac]
	}
	if neg && mant != 0 { // no sensor means -0
		v = -v
	}
	return v, i, true
}

func fastBool(data []byte, i int, x rimewatch.Flag, out *SentReading) (end int, ok bool) {
	switch {
	case i+4 <= len(data) && string(data[i:i+4]) == "true":
		out.Flags = out.Flags.WithBool(x, true)
		return i + 4, true
	case i+5 <= len(data) && string(data[i:i+5]) == "false":
		out.Flags = out.Flags.WithBool(x, false)
		return i + 5, true
	default:
		return 0, false
	}
}

// fastTime reads "2006-01-02T15:04:05Z" with an optional fraction.
func fastTime(data []byte, i int, out *SentReading) (end int, ok bool) {
	const date = `"2006-01-02T15:04:05`
	if i+len(date)+2 > len(data) || data[i] != '"' || data[i+5] != '-' || data[i+8] != '-' || data[i+11] != 'T' || data[i+14] != ':' || data[i+17] != ':' {
		return 0, false
	}
	century, ok1 := two(data[i+1:])
	year, ok2 := two(data[i+3:])
	month, ok3 := two(data[i+6:])
	day, ok4 := two(data[i+9:])
	hour, ok5 := two(data[i+12:])
	minute, ok6 := two(data[i+15:])
	sec, ok7 := two(data[i+18:])
	if !ok1 || !ok2 || !ok3 || !ok4 || !ok5 || !ok6 || !ok7 || month < 1 || month > 12 || day < 1 || hour > 23 || minute > 59 || sec > 59 {
		return 0, false
	}
	year += 100 * century
	if day > daysIn(year, month) {
		return 0, false
	}
	i += len(date)
	ms := 0
	if data[i] == '.' {
		i++
		first := i
		scale := 100
		for i < len(data) && data[i]-'0' <= 9 {
			ms += int(data[i]-'0') * scale
			scale /= 10
			i++
		}
		if i == first || i-first > 9 {
			return 0, false
		}
	}
	if i+2 > len(data) || data[i] != 'Z' || data[i+1] != '"' {
		return 0, false
	}
	t := rimewatch.Time(daysFromCivil(year, month, day))*rimewatch.Day +
		rimewatch.Time(hour)*rimewatch.Hour + rimewatch.Time(minute)*rimewatch.Minute + rimewatch.Time(sec)*rimewatch.Second + rimewatch.Time(ms)
	if t < rimewatch.MinTime || t > rimewatch.MaxTime {
		return 0, false
	}
	out.At = t
	return i + 2, true
}

func two(b []byte) (int, bool) {
	hi, lo := b[0]-'0', b[1]-'0'
	return int(hi)*10 + int(lo), hi <= 9 && lo <= 9
}

func daysIn(year, month int) int {
	switch month {
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	case 4, 6, 9, 11:
		return 30
	default:
		return 31
	}
}

// daysFromCivil counts days since the epoch, after H. Hinnant, "chrono-
// compatible low-level date algorithms", days_from_civil, for years from 0 on.
func daysFromCivil(y, m, d int) int {
	if m <= 2 {
		y--
		m += 12
	}
	if y < 0 {
		return -719468 // the last days of the year before 0: out of range anyway
	}
	era := y / 400
	yoe := y - era*400
	doy := (153*(m-3)+2)/5 + d - 1
	doe := yoe*365 + yoe/4 - yoe/100 + doy
	return era*146097 + doe - 719468
}
