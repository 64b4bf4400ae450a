package message

import (
	"strings"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/phrase"
)

// span is rimewatch.Span, but nobody counts the seconds of an alert.
func span(d time.Duration) string {
	if d < time.Minute {
		return "less than a minute"
	}
	return rimewatch.Span(d)
}

// lower begins a headline in lower case, to follow the name of what it is about.
func lower(headline string) string { return strings.ToLower(headline[:1]) + headline[1:] }

// moment writes a time on the clock of a place.
func moment(t rimewatch.Time, zone *time.Location) string {
	return t.Std().In(zone).Format("Mon 2 Jan 2006, 15:04") + " (" + zoneName(t, zone) + ")"
}

func zoneName(t rimewatch.Time, zone *time.Location) string {
	name, _ := t.Std().In(zone).Zone()
	if strings.HasPrefix(name, "+") || strings.HasPrefix(name, "-") {
		return "UTC" + name
	}
	return name
}

// who names what an alert is about.
func who(v *rimewatch.AlertView) string {
	switch {
	case v.DeviceName != "":
		return v.DeviceName
	case v.DeviceSerial != "":
		return v.DeviceSerial
	case v.Site != nil:
		return v.Site.Name
	default:
		return "The workspace"
	}
}

// measured reports whether the value says something at a glance: a measurement
// does; a difference, a count, or the zero volts of a power loss do not.
func measured(v *rimewatch.AlertView) bool {
	f, ok := rimewatch.FieldByName(v.Metric)
	return ok && v.Unit == f.Info().Unit && v.Value != nil && v.Prediction == nil && v.Type != rimewatch.PowerLoss
}

// Headline says what an alert is about and what is wrong: "Back walk-in: −8.2 °C,
// too warm for 34 min".
func Headline(v *rimewatch.AlertView, now rimewatch.Time) string {
	wrong := lower(phrase.Headline(&v.Alert, now))
	if measured(v) {
		wrong = rimewatch.Quantity(*v.Value, v.Unit) + ", " + wrong
	}
	return who(v) + ": " + wrong
}

// began is when the condition began, or else when the alert opened.
func began(v *rimewatch.AlertView) rimewatch.Time {
	if v.ConditionStartedAt != 0 {
		return v.ConditionStartedAt
	}
	return v.TriggeredAt
}

func place(s *rimewatch.Site) string {
	if s.Address == "" {
		return s.Name
	}
	return s.Name + ", " + s.Address
}
