package wire

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/rimewatch/rimewatch"
)

// Extras are the members of a reading besides its own fields.
type Extras struct {
	Ignored    []string // foreign fields that were left out, at most MaxIgnored
	BatteryPct *float64 // 0–100
	BatteryLow *bool    // by its own word
	RSSI       *float64 // dBm
	Firmware   string
	Age        rimewatch.Time // how long before its arrival it was measured, of those that say so
	HasAge     bool
}

// MaxIgnored is how many foreign fields an answer names.
const MaxIgnored = 32

// Vitals reports whether the reading says something of the device itself.
func (x *Extras) Vitals() bool {
	return x.BatteryPct != nil || x.BatteryLow != nil || x.RSSI != nil || x.Firmware != ""
}

// Arrived turns an age into a time, and a time that no clock shows that was ever set into
// none.
func (s *SentReading) Arrived(now rimewatch.Time) {
	switch {
	case s.HasAge:
		s.At = now - s.Age
	case s.At != 0 && s.At < rimewatch.ClockSet:
		s.At, s.Flags = 0, s.Flags.WithBool(rimewatch.ClockUnset, true)
	}
}

// ignore notes a foreign field.
func (x *Extras) ignore(name []byte) {
	if len(x.Ignored) < MaxIgnored {
		x.Ignored = append(x.Ignored, Shown(name))
	}
}

// timeNames are the names that a time has, in the order in which they count.
var timeNames = [...]string{"recorded_at", "timestamp", "ts", "time", "age_s"}

// times collects what a reading says of its time.
type times [len(timeNames)][]byte

// take keeps a value under one of the names; null is as absent.
func (t *times) take(name, value []byte) bool {
	i := slices.Index(timeNames[:], string(name))
	if i >= 0 && value[0] != 'n' {
		t[i] = value
	}
	return i >= 0
}

// read sets the time from the first name that is there.
func (t *times) read(out *SentReading, f *FieldErrors) {
	for i, value := range t {
		if value == nil {
			continue
		}
		read := strictTime
		if timeNames[i] == "age_s" {
			read = strictAge
		}
		what := read(value, out)
		if what != "" {
			f.Add(timeNames[i], "%s", what)
		}
		return
	}
}

// strictTime reads RFC 3339, or a number since 1970, which is told apart by its
// magnitude.
func strictTime(value []byte, out *SentReading) string {
	var t rimewatch.Time
	var err error
	switch {
	case value[0] == '"':
		value = Text(value)
		t, err = rimewatch.ParseMoment(string(value))
	case IsNumber(value):
		v, _ := strconv.ParseFloat(string(value), 64) // ±Inf, which is no time, for one too large
		t, err = rimewatch.EpochTime(v)
	default:
		return "must be an RFC 3339 time or a number of seconds or milliseconds since 1970"
	}
	if v, no := strconv.ParseFloat(string(value), 64); no == nil && 0 <= v && v < leastEpoch {
		t, err = rimewatch.MinTime, nil
	}
	if err != nil {
		return err.Error()
	}
	out.At = t
	return ""
}

// leastEpoch is the least number that may count seconds since 1970: below it, it counts
// those since the device was switched on.
const leastEpoch = 1e9

// strictAge reads for how many seconds a reading has waited.
func strictAge(value []byte, out *SentReading) string {
	const most = 100 * 365 * 86400
	v, ok := looseNumber(value)
	if !ok || v < 0 || v > most {
		return "must be a number of seconds, 0 or more"
	}
	out.Age, out.HasAge = rimewatch.Time(math.Round(v*1000)), true
	return ""
}

// looseNumber reads a number, or a text that is one without loss.
func looseNumber(value []byte) (v float64, ok bool) {
	if value[0] == '"' {
		value = Text(value)
	}
	if len(value) == 0 || !IsNumber(value) || !plainNumber(value) {
		return 0, false
	}
	// A number too large for a float64 becomes ±Inf, which no range holds.
	v, _ = strconv.ParseFloat(string(value), 64)
	return v, true
}

// plainNumber reports whether a text is a number as JSON writes it.
func plainNumber(b []byte) bool {
	s := Scanner{data: b}
	value, ok := s.Raw()
	return ok && len(value) == len(b) && IsNumber(value)
}

// vital reads a member about the device; known is false for another name.
func vital(name, value []byte, out *SentReading) (known bool, what string) {
	number := func(into **float64, low, high float64) string {
		v, ok := looseNumber(value)
		if !ok || v < low || v > high {
			return fmt.Sprintf("must be a number between %v and %v", low, high)
		}
		*into = &v
		return ""
	}
	switch {
	case string(name) == "battery_v" && value[0] != 'n':
		var v *float64
		if what = number(&v, 1, 20); what == "" && out.BatteryPct == nil {
			level, _ := rimewatch.BatteryLevel(*v)
			out.BatteryPct = &level
		}
		return true, what
	case string(name) == "battery_low" && value[0] != 'n':
		low := value[0] == 't'
		if !low && value[0] != 'f' {
			return true, "must be true or false"
		}
		out.BatteryLow = &low
		return true, ""
	case string(name) != "battery_v" && string(name) != "battery_low" && string(name) != "battery_pct" && string(name) != "rssi_dbm" && string(name) != "firmware_version":
		return false, ""
	case value[0] == 'n':
		return true, ""
	case string(name) == "battery_pct":
		return true, number(&out.BatteryPct, 0, 100)
	case string(name) == "rssi_dbm":
		return true, number(&out.RSSI, -200, 100)
	}
	if value[0] != '"' {
		return true, "must be a string"
	}
	text := string(Text(value))
	if e := rimewatch.CheckText(nil, "firmware_version", text, 64); e != nil {
		return true, e.Fields["firmware_version"][0]
	}
	out.Firmware = text
	return true, ""
}

// nearMiss returns the known field that a name is nearly: a misspelt measurement
// must not vanish. "" is a foreign name.
func nearMiss(name []byte) string {
	const longest = 2 * longestKey
	if len(name) > longest {
		return ""
	}
	folded := fold(string(name))
	apart := 2
	if len(folded) < 8 {
		apart = 1
	}
	for key, known := range foldedNames {
		if d := len(folded) - len(known); known == "" || d > apart || -d > apart {
			continue
		}
		if rimewatch.EditDistance(folded, known) <= apart {
			return keyNames[key]
		}
	}
	for i, known := range foldedBeside {
		// Among short names a letter makes another word: type is not time.
		d := len(folded) - len(known)
		if folded == known || len(known) >= 8 && -2 <= d && d <= 2 && rimewatch.EditDistance(folded, known) <= 2 {
			return besideNames[i]
		}
	}
	return ""
}

// besideNames are the names of a reading's members besides its own fields; foldedBeside as
// nearMiss compares them.
var (
	besideNames  = append(slices.Clone(timeNames[:]), "battery_pct", "rssi_dbm", "firmware_version")
	foldedBeside = func() (names []string) {
		for _, name := range besideNames {
			names = append(names, fold(name))
		}
		return names
	}()
)

// foldedNames are keyNames as nearMiss compares them.
var foldedNames = func() (names [numKeys]string) {
	for key, name := range keyNames {
		names[key] = fold(name)
	}
	return names
}()

// fold returns a name in lower case, without the signs that part its words.
func fold(name string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || r == '-' {
			return -1
		}
		return unicode.ToLower(r)
	}, name)
}
