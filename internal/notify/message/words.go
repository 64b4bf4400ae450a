package message

import (
	"strings"
	"time"

	"github.com/rimewatch/rimewatch"
)

// span is rimewatch.Span, but nobody counts the seconds of an alert.
func span(d time.Duration) string {
	if d < time.Minute {
		return "less than a minute"
	}
	return rimewatch.Span(d)
}

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

// finding is what an alert's title says of the one it names: "too warm".
func finding(v *rimewatch.AlertView) string {
	rest, named := strings.CutPrefix(v.Title, who(v))
	if !named {
		return v.Title
	}
	rest = strings.TrimSpace(rest)
	if strings.HasPrefix(rest, "(") {
		if _, after, ok := strings.Cut(rest, ") "); ok {
			rest = after
		}
	}
	return strings.TrimPrefix(rest, "is ")
}

// ending is the finding's opposite.
func ending(v *rimewatch.AlertView) string {
	if v.Type == rimewatch.PowerLoss {
		return "has power again"
	}
	return "no longer " + finding(v)
}

// measured tells whether the value says something at a glance: a measurement
// does; a difference, a count, or the zero volts of a power loss do not.
func measured(v *rimewatch.AlertView) bool {
	f, ok := rimewatch.FieldByName(v.Metric)
	return ok && v.Unit == f.Info().Unit && v.Value != nil && v.Prediction == nil && v.Type != rimewatch.PowerLoss
}

// headline is what, how much, for how long: "Back walk-in −8.2 °C, too warm for 34 min".
func headline(v *rimewatch.AlertView, now rimewatch.Time) string {
	s := who(v)
	found := finding(v)
	if found == v.Title {
		s = found
	} else if measured(v) {
		s += " " + rimewatch.Quantity(*v.Value, v.Unit) + ", " + found
	} else {
		s += ": " + found
	}
	if lasting := now.Sub(began(v)); lasting >= time.Minute && v.Prediction == nil {
		s += " for " + span(lasting)
	}
	return s
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
