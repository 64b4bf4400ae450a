package inlet

import (
	"cmp"
	"math"
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"github.com/rimewatch/rimewatch"
)

// unit converts a value to the unit in which a kind of measurement is kept:
// value × factor + offset.
type unit struct {
	to             string // unit of rimewatch.FieldInfo
	factor, offset float64
}

// units are those that senders name, spelt as unitKey leaves them.
var units = map[string]unit{
	"c": {"°C", 1, 0}, "cel": {"°C", 1, 0}, "celsius": {"°C", 1, 0}, "degc": {"°C", 1, 0}, "degreecelsius": {"°C", 1, 0}, "degreescelsius": {"°C", 1, 0},
	"celcius": {"°C", 1, 0}, //nolint:misspell // as Helium's decoder spells it
	"f":       {"°C", 5.0 / 9, -160.0 / 9}, "fah": {"°C", 5.0 / 9, -160.0 / 9}, "fahrenheit": {"°C", 5.0 / 9, -160.0 / 9}, "degf": {"°C", 5.0 / 9, -160.0 / 9}, "degreesfahrenheit": {"°C", 5.0 / 9, -160.0 / 9},
	"decic": {"°C", 0.1, 0}, "centic": {"°C", 0.01, 0}, "millic": {"°C", 0.001, 0}, "deci%": {"%RH", 0.1, 0}, "centi%": {"%RH", 0.01, 0}, "milli%": {"%RH", 0.001, 0},
	"decif": {"°C", 0.5 / 9, -160.0 / 9}, "centif": {"°C", 0.05 / 9, -160.0 / 9}, "decik": {"°C", 0.1, -273.15}, "centik": {"°C", 0.01, -273.15},
	"k": {"°C", 1, -273.15}, "kelvin": {"°C", 1, -273.15},
	"%": {"%RH", 1, 0}, "%rh": {"%RH", 1, 0}, "percent": {"%RH", 1, 0},
	"v": {"V", 1, 0}, "mv": {"V", 1e-3, 0},
	"a": {"A", 1, 0}, "ma": {"A", 1e-3, 0},
	"mm/s": {"mm/s", 1, 0}, "m/s": {"mm/s", 1e3, 0}, "in/s": {"mm/s", 25.4, 0}, "ips": {"mm/s", 25.4, 0},
	"kpa": {"kPa", 1, 0}, "pa": {"kPa", 1e-3, 0}, "hpa": {"kPa", 0.1, 0}, "mbar": {"kPa", 0.1, 0}, "bar": {"kPa", 100, 0}, "psi": {"kPa", 6.894757293168, 0},
	"w": {"W", 1, 0}, "kw": {"W", 1e3, 0}, "mw": {"W", 1e-3, 0},
	"kwh": {"kWh", 1, 0}, "wh": {"kWh", 1e-3, 0}, "mwh": {"kWh", 1e3, 0},
	"ppm": {"ppm", 1, 0},
	"s":   {"s", 1, 0}, "min": {"s", 60, 0}, "h": {"s", 3600, 0},
}

// unitKey spells a unit as the table does: "℃", "°C", " c" and "deg C" are one.
func unitKey(name string) string {
	return strings.Map(func(c rune) rune {
		switch c {
		case '℃':
			return 'c'
		case '℉':
			return 'f'
		case '°', 'º', ' ':
			return -1
		default:
			return unicode.ToLower(c)
		}
	}, name)
}

// convert returns v, which is in the named unit, in the unit of f. Without a name
// it is in that unit already. The result is rounded to a billionth, so that
// sentinels are still recognised.
func convert(f rimewatch.Field, v float64, name string) (float64, error) {
	if strings.TrimSpace(name) == "" {
		return v, nil
	}
	u, ok := units[unitKey(name)]
	if to := f.Info().Unit; !ok || u.to != to {
		if !ok {
			return 0, fail("has the unit %q, which is not known", clip(name, 20))
		}
		return 0, fail("is in %s, but %s is in %s", clip(name, 20), f, unitOrNone(to))
	}
	return math.Round((v*u.factor+u.offset)*1e9) / 1e9, nil
}

func unitOrNone(unit string) any {
	if unit == "" {
		return rimewatch.Sentencef("no unit")
	}
	return unit
}

// number reads a value that an expression returned. Text may hold a unit behind
// the number ("17.34℃", "48 %"), which is returned. What senders write for "no
// value" is an error.
func number(v any) (n float64, unit string, err error) {
	switch v := v.(type) {
	case nil:
		return 0, "", fail("is not in the payload")
	case float64:
		return finite(v)
	case int:
		return float64(v), "", nil
	case int64:
		return float64(v), "", nil
	case string:
		return textNumber(v)
	default:
		return 0, "", fail("is not a number")
	}
}

func finite(v float64) (float64, string, error) {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, "", fail("is not a number")
	}
	return v, "", nil
}

func textNumber(text string) (n float64, unit string, err error) {
	const longest = 40 // digits and signs
	s := strings.TrimSpace(text)
	end := 0
	for end < min(len(s), longest) && strings.IndexByte("+-0123456789.eE", s[end]) >= 0 {
		end++
	}
	for end > 0 { // an e may begin the unit
		if n, err = strconv.ParseFloat(s[:end], 64); err == nil {
			unit = strings.TrimSpace(s[end:])
			if unit != "" && strings.IndexByte("-+:/.,0123456789", unit[0]) >= 0 {
				break // a date, a time of day, a version, or 4,5
			}
			n, _, err = finite(n)
			return n, unit, err
		}
		end--
	}
	return 0, "", fail("is %q, not a number", clip(text, 40))
}

// clip bounds a sender's text for messages.
func clip(s string, most int) string {
	s = strings.ToValidUTF8(s, "�")
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}

// headingUnit finds the unit in a heading, which loggers write behind the name: with its
// sign, or in brackets.
var headingUnit = regexp.MustCompile(`[°º] ?[CFK]\b|℃|℉|%|[(\[] ?(?:[CFK]|deg ?[CF]|[Cc]elsius|[Ff]ahrenheit) ?[)\]]`)

// Heading returns what a column of a logger's file holds, as its heading says: the
// measurement, when it names one that is the product's or has a field of its own, and the
// unit of its values as Cell takes it, "" when it says none. A heading that says a unit alone, such as
// "Channel 1 [°C]", has a unit and no name.
func Heading(heading string) (f rimewatch.Field, unit string, named bool) {
	name := heading
	if at := headingUnit.FindStringIndex(heading); at != nil {
		unit = strings.Trim(unitKey(heading[at[0]:at[1]]), "()[]")
		if name = strings.TrimRight(heading[:at[0]], " ([,"); name == "" {
			name = heading[at[1]:]
		}
	}
	name, _, _ = strings.Cut(name, "(")
	n := read(name)
	unit = cmp.Or(unit, strings.ToLower(n.unit))
	if own, ok := rimewatch.FieldByName(strings.ReplaceAll(strings.ToLower(strings.TrimSpace(withoutUnit(name))), " ", "_")); ok {
		return own, unit, true
	}
	switch {
	case n.not != noKind:
	case n.kind == temperature && n.known:
		return rimewatch.ProductZoneTemp, unit, true
	case n.kind == humidity && n.known:
		return rimewatch.Humidity, unit, true
	case wantCO2.has(squeeze(name)):
		return rimewatch.CO2, unit, true
	}
	return 0, unit, false
}
