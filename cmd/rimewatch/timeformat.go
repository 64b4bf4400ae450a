package main

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/rimewatch/rimewatch"
)

// timeLayouts are the forms of times in recordings, as people and machines
// write them. Fractions of a second may follow wherever there are seconds.
// Those that begin with the day stand before those that begin with the month:
// where a file does not tell, the day comes first.
var timeLayouts = []string{
	time.RFC3339,
	"2006-01-02 15:04:05Z07:00",
	"2006-01-02 15:04:05",
	"2006-01-02T15:04:05",
	"2006-01-02 15:04",
	"2006-01-02T15:04",
	"2006/1/2 15:04:05",
	"2006/1/2 15:04",
	"2006.01.02.15.04.05",
	"2.1.2006 15:04:05", "2.1.2006 15:04",
	"2.1.06 15:04:05", "2.1.06 15:04",
	"2/1/2006 15:04:05", "2/1/2006 15:04",
	"2/1/06 15:04:05", "2/1/06 15:04",
	"1/2/2006 15:04:05", "1/2/2006 15:04",
	"1/2/06 15:04:05", "1/2/06 15:04",
	"1/2/2006 3:04:05 PM", "1/2/2006 3:04 PM",
	"1/2/06 3:04:05 PM", "1/2/06 3:04 PM",
	"2006-01-02 3:04:05 PM", "2006-01-02 3:04 PM",
	"2006-01-02",
}

var errNoTime = errors.New("it contains no time")

// sniffTime finds the form of the times in a column: the one that all of the
// first rows have, or, where several fit (is 3/4 in March or in April?), the
// one by which time runs back least and most evenly forth. It returns nil when
// there is none.
func sniffTime(texts []string, zone *time.Location) (name string, parse func(string) (rimewatch.Time, error)) {
	leastBack, leastUneven := 0, 0.0
	for _, f := range timeForms(zone) {
		back, uneven, ok := flow(texts, f.parse)
		if ok && (parse == nil || back < leastBack || (back == leastBack && uneven < leastUneven)) {
			name, parse, leastBack, leastUneven = f.name, f.parse, back, uneven
		}
	}
	return name, parse
}

type timeForm struct {
	name  string
	parse func(string) (rimewatch.Time, error)
}

func timeForms(zone *time.Location) []timeForm {
	forms := make([]timeForm, 0, 2+len(timeLayouts))
	forms = append(forms, timeForm{"Unix seconds", unixTime(1000, 1e8, 1e11)}, timeForm{"Unix milliseconds", unixTime(1, 1e11, 1e14)})
	for _, layout := range timeLayouts {
		forms = append(forms, timeForm{layout, func(s string) (rimewatch.Time, error) {
			if s == "" {
				return 0, errNoTime
			}
			t, err := time.ParseInLocation(layout, s, zone)
			if err != nil {
				return 0, fmt.Errorf("%q is not a time in the form %s", s, layout)
			}
			return checkedTime(rimewatch.Time(t.UnixMilli()), s)
		}})
	}
	return forms
}

// unixTime reads numbers from low to high as times in units of ms milliseconds.
func unixTime(ms, low, high float64) func(string) (rimewatch.Time, error) {
	return func(s string) (rimewatch.Time, error) {
		if s == "" {
			return 0, errNoTime
		}
		v, err := strconv.ParseFloat(s, 64)
		if err != nil || !(v >= low && v < high) {
			return 0, fmt.Errorf("%q is not Unix time", s)
		}
		return checkedTime(rimewatch.Time(math.Round(v*ms)), s)
	}
}

func checkedTime(t rimewatch.Time, text string) (rimewatch.Time, error) {
	if t < rimewatch.MinTime || t > rimewatch.MaxTime {
		return 0, fmt.Errorf("%q is not between the years 1970 and 9999", text)
	}
	return t, nil
}

// sure is how many rows must have a form before it is believed.
const sure = 100

// flow reads a column in one form and returns how often time runs back and how
// unevenly it goes: the longest step as a multiple of the mean. Not ok when one
// of the first rows does not have the form.
func flow(texts []string, parse func(string) (rimewatch.Time, error)) (back int, uneven float64, ok bool) {
	var first, last, longest rimewatch.Time
	seen := 0
	for _, s := range texts {
		if s == "" {
			continue
		}
		t, err := parse(s)
		if err != nil && seen < sure {
			return 0, 0, false
		}
		if err != nil {
			// A row that is wrong, or a form that fits only the first days of
			// the month: either counts against it.
			back++
			continue
		}
		if seen++; seen == 1 {
			first = t
		} else if t < last {
			back++
		} else {
			longest = max(longest, t-last)
		}
		last = t
	}
	if last > first {
		uneven = float64(longest) * float64(seen-1) / float64(last-first)
	}
	return back, uneven, seen > 0
}

func firstText(texts []string) string {
	for _, s := range texts {
		if s != "" {
			return s
		}
	}
	return ""
}
