package phrase

import (
	"strings"
	"time"

	"github.com/rimewatch/rimewatch"
)

// fahrenheit reports whether the reader reads °F.
func (w Words) fahrenheit() bool { return w.locale.Units == "f" }

// Quantity is rimewatch.Quantity in the reader's units: temperatures, and
// differences between them, in °C or °F.
func (w Words) Quantity(v float64, unit string) string {
	switch {
	case unit == "°C" && w.fahrenheit():
		v, unit = w.Temperature(v), "°F"
	case unit == "K" && w.fahrenheit():
		v, unit = v*1.8, "°F"
	case unit == "K":
		unit = "°C"
	case unit == "%RH":
		unit = w.Say("% RH")
	}
	return w.Number(rimewatch.Quantity(v, unit))
}

// Temperature is a temperature of °C in the reader's unit, which is Degree.
func (w Words) Temperature(celsius float64) float64 {
	if w.fahrenheit() {
		return celsius*1.8 + 32
	}
	return celsius
}

// Degree is the unit in which the reader reads temperatures: "°C" or "°F".
func (w Words) Degree() string {
	if w.fahrenheit() {
		return "°F"
	}
	return "°C"
}

// Weekday is the short name of a day: "Fri".
func (w Words) Weekday(t time.Time) string { return w.Say(weekdays[t.Weekday()]) }

// Number puts the reader's decimal sign into a number with a point. Whoever reads
// °F reads numbers as in the United States, in Spanish too.
func (w Words) Number(s string) string {
	if w.Decimal == "." || w.fahrenheit() {
		return s
	}
	return strings.Replace(s, ".", w.Decimal, 1)
}

// Span writes a time as people say it: 40 s, 34 min, 2 h 5 min, 3 d 4 h.
func (w Words) Span(d time.Duration) string { return rimewatch.Span(d) }

// months are the short names of the months.
var months = [...]string{"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"}

// weekdays are the short names of the days, from Sunday.
var weekdays = [...]string{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"}

// Clock writes the time of day: "15:04", "3:04 PM".
func (w Words) Clock(t time.Time) string {
	if w.locale.Clock == "12h" {
		half := w.Say("AM")
		if t.Hour() >= 12 {
			half = w.Say("PM")
		}
		return t.Format("3:04") + " " + half
	}
	return t.Format("15:04")
}

// Date writes a day in the reader's order, with or without its year: "2 Jan 2006",
// "Jan 2, 2006", "2006-01-02".
func (w Words) Date(t time.Time, year bool) string {
	month := w.Say(months[t.Month()-1])
	switch w.locale.Dates {
	case "mdy":
		if year {
			return month + t.Format(" 2, 2006")
		}
		return month + t.Format(" 2")
	case "ymd":
		if year {
			return t.Format(time.DateOnly)
		}
		return t.Format("01-02")
	default:
		if year {
			return t.Format("2 ") + month + t.Format(" 2006")
		}
		return t.Format("2 ") + month
	}
}

// Moment writes a time on the clock of the place, with the day of the week and
// the name of the clock: "Mon 2 Jan 2006, 15:04 (CET)".
func (w Words) Moment(t rimewatch.Time) string {
	at := w.local(t)
	return w.Weekday(at) + " " + w.Date(at, true) + ", " + w.Clock(at) + " (" + ZoneName(at) + ")"
}

func (w Words) local(t rimewatch.Time) time.Time {
	if w.zone == nil {
		return t.Std()
	}
	return t.Std().In(w.zone)
}

// ZoneName returns the name of the clock that shows t: "CET", "UTC-03".
func ZoneName(t time.Time) string {
	name, _ := t.Zone()
	if strings.HasPrefix(name, "+") || strings.HasPrefix(name, "-") {
		return "UTC" + name
	}
	return name
}

// moment writes a time in a sentence: "2 Jan, 15:04"; the zone is named where no
// place is known.
func (w Words) moment(t rimewatch.Time) string {
	at := w.local(t)
	s := w.Date(at, false) + ", " + w.Clock(at)
	if w.zone == nil {
		s += " UTC"
	}
	return s
}

// Lower begins a headline in lower case, to follow the name of what it is about.
func (w Words) Lower(headline string) string {
	if headline == "" {
		return headline
	}
	first, rest := headline[:1], headline[1:]
	return strings.ToLower(first) + rest
}
