package rimewatch

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Time is a moment in milliseconds since the Unix epoch, UTC. Zero means
// absent. It is the only form of time in the store and on the wire, so that
// every engine and every language keeps the same moment.
type Time int64

// The spans of time in the unit of Time.
const (
	Millisecond Time = 1
	Second           = 1000 * Millisecond
	Minute           = 60 * Second
	Hour             = 60 * Minute
	Day              = 24 * Hour
)

// MinTime and MaxTime bound every moment that the service accepts: the years
// 1970 (after the epoch) to 9999, those that RFC 3339 can write.
const (
	MinTime Time = 1
	MaxTime Time = 253402300799999
)

// FutureTolerance is how far a device's clock may be ahead of the service's.
const FutureTolerance = 5 * Minute

// Settling returns the refusal, for the moment, of a reading that is from the future
// by the service's time now and not by the machine's clock, which is ahead of it by gap
// while a step of it is not believed yet; nil for any other.
func Settling(at, now, gap Time) *Error {
	if late := at - now - FutureTolerance; late <= 0 || late > gap {
		return nil
	}
	return &Error{Code: CodeUnavailable, Message: "The service's clock is being corrected; retry later.", RetryAfter: time.Minute}
}

const timeLayout = "2006-01-02T15:04:05.000Z"

// TimeOf converts a time.Time; the zero time.Time becomes 0.
func TimeOf(t time.Time) Time {
	if t.IsZero() {
		return 0
	}
	return Time(t.UnixMilli())
}

// ParseTime reads RFC 3339 with any offset and any number of fractional
// digits, of which three are kept. A leap second is the second after it.
func ParseTime(s string) (Time, error) {
	s = strings.ToUpper(s) // RFC 3339, 5.6: t and z may be lower case
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		t, err = parseLeapSecond(s)
	}
	if err != nil || !strictRFC3339(s) {
		return 0, fmt.Errorf("must be an RFC 3339 time such as 2026-11-20T19:47:12.000Z")
	}
	ms := Time(t.UnixMilli())
	if ms < MinTime || ms > MaxTime {
		return 0, fmt.Errorf("must be between the years 1970 and 9999")
	}
	return ms, nil
}

// parseLeapSecond reads a time with the second 60, which RFC 3339 (5.7) knows at the
// end of a month by UTC and nowhere else.
func parseLeapSecond(s string) (time.Time, error) {
	const seconds = len("2006-01-02T15:04:")
	before, ok := "", len(s) > seconds+2 && s[seconds:seconds+2] == "60"
	if ok {
		before = s[:seconds] + "59" + s[seconds+2:]
	}
	t, err := time.Parse(time.RFC3339Nano, before)
	if t = t.Add(time.Second).UTC(); err == nil && (t.Day() != 1 || t.Hour() != 0 || t.Minute() != 0 || t.Second() != 0) {
		err = errors.New("no leap second")
	}
	return t, err
}

// strictRFC3339 refuses forms that time.Parse lets through: an hour of one digit, a
// comma before the fraction, an offset of a day or more.
func strictRFC3339(s string) bool {
	const toHour, toSecond, offset = len("2006-01-02T15"), len("2006-01-02T15:04:05"), len("+07:00")
	if s[toHour] != ':' || s[toSecond] == ',' {
		return false
	}
	if s[len(s)-1] == 'Z' {
		return true
	}
	zone := s[len(s)-offset:]
	return zone[1:3] < "24" && zone[4:] < "60"
}

// ZoneOf finds a time zone by its IANA name; one that is not known is UTC.
func ZoneOf(name string) *time.Location {
	zone, err := time.LoadLocation(name)
	if err != nil {
		return time.UTC
	}
	return zone
}

// Std converts to a time.Time in UTC; 0 becomes the zero time.Time.
func (t Time) Std() time.Time {
	if t == 0 {
		return time.Time{}
	}
	return time.UnixMilli(int64(t)).UTC()
}

// Add moves t by d.
func (t Time) Add(d time.Duration) Time { return t + Time(d.Milliseconds()) }

// FloorSecond returns the whole second at or before t, also before 1970.
func (t Time) FloorSecond() Time {
	s := t / Second
	if t%Second < 0 {
		s--
	}
	return s * Second
}

// Sub is the span from u to t.
func (t Time) Sub(u Time) time.Duration { return time.Duration(t-u) * time.Millisecond }

// String writes RFC 3339 UTC with milliseconds; "" for the absent time.
func (t Time) String() string {
	if t == 0 {
		return ""
	}
	return string(t.Append(nil))
}

// Append appends RFC 3339 UTC with milliseconds to b.
func (t Time) Append(b []byte) []byte {
	days := t.UTCDay()
	ms := int64(t - StartOfUTCDay(days))
	y, m, d := civil(days)
	if y < 0 || y > 9999 {
		return time.UnixMilli(int64(t)).UTC().AppendFormat(b, timeLayout)
	}
	sec := ms / 1000
	var w [24]byte
	put2(w[0:], y/100)
	put2(w[2:], y%100)
	w[4] = '-'
	put2(w[5:], m)
	w[7] = '-'
	put2(w[8:], d)
	w[10] = 'T'
	put2(w[11:], int(sec/3600))
	w[13] = ':'
	put2(w[14:], int(sec/60%60))
	w[16] = ':'
	put2(w[17:], int(sec%60))
	w[19] = '.'
	f := int(ms % 1000)
	w[20] = byte('0' + f/100)
	put2(w[21:], f%100)
	w[23] = 'Z'
	return append(b, w[:]...)
}

func put2(w []byte, v int) {
	w[0] = byte('0' + v/10)
	w[1] = byte('0' + v%10)
}

// UTCDay returns the day of UTC that t lies in, counted from the epoch.
func (t Time) UTCDay() int64 {
	day := int64(t / Day)
	if t%Day < 0 {
		day--
	}
	return day
}

// StartOfUTCDay returns the first moment of a day that UTCDay returned.
func StartOfUTCDay(day int64) Time { return Time(day) * Day }

// DayTime returns the moment at which clocks in zone show the minute of the day
// that is some days after the day of t there; minute 0 is the beginning of that
// day. Days are counted by the calendar: they have 23 or 25 hours where clocks
// change. A time of day that clocks skip or show twice is resolved as by DateTime.
func (t Time) DayTime(days, minute int, zone *time.Location) Time {
	y, m, d := t.Std().In(zone).Date()
	return DateTime(y, m, d+days, minute, zone)
}

// DateTime returns the moment at which clocks in zone show the minute of a day.
// Of a time that they show twice it is the first, and for a time that they skip
// the moment at which they do: in zones that set clocks forward at midnight a day
// begins at 01:00. (time.Date may return a moment of the day before.)
func DateTime(year int, month time.Month, day, minute int, zone *time.Location) Time {
	first, _ := showings(year, month, day, minute, zone)
	return first
}

// showings are the first and the last moment at which clocks in zone show the minute of a day,
// which are one unless they show it twice.
func showings(year int, month time.Month, day, minute int, zone *time.Location) (first, last Time) {
	shown := time.Date(year, month, day, 0, minute, 0, 0, time.UTC)
	_, before := shown.Add(-24 * time.Hour).In(zone).Zone()
	_, after := shown.Add(24 * time.Hour).In(zone).Zone()
	a, b := shown.Add(time.Duration(-before)*time.Second).In(zone), shown.Add(time.Duration(-after)*time.Second).In(zone)
	_, early := a.Zone()
	_, late := b.Zone()
	switch {
	case early == before && late == after:
		return TimeOf(a), TimeOf(b)
	case early == before:
		return TimeOf(a), TimeOf(a)
	case late == after:
		return TimeOf(b), TimeOf(b)
	}
	skipped, _ := a.ZoneBounds()
	return TimeOf(skipped), TimeOf(skipped)
}

// civil converts days since the epoch to a proleptic Gregorian date, after
// H. Hinnant, "chrono-compatible low-level date algorithms", civil_from_days.
func civil(z int64) (year, month, day int) {
	z += 719468
	era := z / 146097
	if z < 0 {
		era = (z - 146096) / 146097
	}
	doe := z - era*146097
	yoe := (doe - doe/1460 + doe/36524 - doe/146096) / 365
	y := yoe + era*400
	doy := doe - (365*yoe + yoe/4 - yoe/100)
	mp := (5*doy + 2) / 153
	d := doy - (153*mp+2)/5 + 1
	m := mp + 3
	if m > 12 {
		m -= 12
	}
	if m <= 2 {
		y++
	}
	return int(y), int(m), int(d)
}

// MarshalJSON writes RFC 3339 UTC with milliseconds, or null when absent.
func (t Time) MarshalJSON() ([]byte, error) {
	if t == 0 {
		return []byte("null"), nil
	}
	b := make([]byte, 0, 26)
	b = append(b, '"')
	b = t.Append(b)
	return append(b, '"'), nil
}

// UnmarshalJSON reads an RFC 3339 string; null leaves the time absent.
func (t *Time) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		*t = 0
		return nil
	}
	var s string // not the bytes between the quotes: there may be escapes
	if err := json.Unmarshal(b, &s); err != nil {
		return fmt.Errorf("must be an RFC 3339 time")
	}
	v, err := ParseTime(s)
	if err != nil {
		return err
	}
	*t = v
	return nil
}

// The moments that a bare number may be: from 2015, when the first of the
// senders were built, to the end of the seconds that fit 32 bits without a sign
// (2106). Within them the four units of epoch time cannot be mistaken for one
// another.
const (
	minEpochSecond = 1_420_070_400 // 2015-01-01
	maxEpochSecond = 1<<32 - 1     // 2106-02-07
)

// ClockSet is the first moment that a clock shows once it has been set: one that has
// lost its time begins in 1970 or 2000.
const ClockSet = minEpochSecond * Second

// epochUnits are the units in which senders count from the epoch, with how many
// of them are a second.
var epochUnits = [...]struct {
	name      string
	perSecond float64
}{{"seconds", 1}, {"milliseconds", 1e3}, {"microseconds", 1e6}, {"nanoseconds", 1e9}}

// EpochTime reads a number of seconds, milliseconds, microseconds or nanoseconds
// since the epoch, told apart by magnitude. It refuses moments before 2015 and
// after 2106: a number of seconds that was read as nanoseconds lies in 1970.
func EpochTime(v float64) (Time, error) {
	for _, u := range epochUnits {
		if s := v / u.perSecond; s >= minEpochSecond && s <= maxEpochSecond {
			return Time(math.Round(v * (1e3 / u.perSecond))), nil
		}
	}
	return 0, fmt.Errorf("is not a time from 2015 to 2106 in seconds, milliseconds, microseconds or nanoseconds since 1970")
}

// ParseMoment reads a time as senders write it: RFC 3339 with a zone, or digits
// for EpochTime. It refuses a time without a zone, which names no moment.
func ParseMoment(s string) (Time, error) {
	if v, err := strconv.ParseFloat(s, 64); err == nil {
		return EpochTime(v)
	}
	return ParseTime(s)
}

// localLayouts are the forms of times without a zone whose parts cannot be mistaken
// for one another. Fractions of a second may follow.
var localLayouts = [...]string{"2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006/01/02 15:04:05", "2006-01-02T15:04", "2006-01-02 15:04"}

// ErrNoZone means that a time says neither its zone nor its distance from UTC.
var ErrNoZone = errors.New("has no time zone")

// ParseMomentIn reads the forms of ParseMoment, and times without a zone as those of
// zone. Where the clock was put back and an hour comes twice, it takes the time that
// is nearer to near. With zone nil, a time without one is ErrNoZone.
func ParseMomentIn(s string, zone *time.Location, near Time) (Time, error) {
	at, err := ParseMoment(s)
	if err == nil {
		return at, nil
	}
	for _, layout := range localLayouts {
		t, wrong := time.ParseInLocation(layout, s, cmp.Or(zone, time.UTC))
		if wrong != nil {
			continue
		}
		if at = TimeOf(t); zone == nil || at < MinTime || at > MaxTime {
			return 0, ErrNoZone
		}
		for _, other := range [...]Time{at - Hour, at + Hour} {
			if other.Std().In(zone).Format(layout) == t.Format(layout) && abs(other-near) < abs(at-near) {
				at = other
			}
		}
		return at, nil
	}
	return 0, err
}

func abs(t Time) Time { return max(t, -t) }

// ParseEpochTime reads a time as ParseMoment does that was meant to be in one
// unit, and says of one that is not which unit it looks like.
func ParseEpochTime(v float64, unit string) (Time, error) {
	for _, u := range epochUnits {
		s := v / u.perSecond
		if s < minEpochSecond || s > maxEpochSecond {
			continue
		}
		if u.name != unit {
			return 0, fmt.Errorf("is not a time in %s from 2015 to 2106; it looks like %s", unit, u.name)
		}
		return Time(math.Round(v * (1e3 / u.perSecond))), nil
	}
	return 0, fmt.Errorf("is not a time in %s from 2015 to 2106", unit)
}
