package rimewatch

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"
)

// The moments that a bare number may be: from 2015, when the first of the
// senders were built, to the end of the seconds that fit 32 bits without a sign
// (2106). Within them the four units of epoch time cannot be mistaken for one
// another.
const (
	minEpochSecond = 1_420_070_400 // 2015-01-01
	maxEpochSecond = 1<<32 - 1     // 2106-02-07
)

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
// for EpochTime. It refuses a time without a zone: nobody can know when that was.
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

// ParseMomentIn reads what ParseMoment reads, and times without a zone as those of
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
