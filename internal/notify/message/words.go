package message

import (
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/phrase"
)

// words are the reader's, on the clock of the place.
type words struct{ phrase.Words }

func (c *Context) words() words {
	zone := c.Zone
	if zone == nil {
		zone = time.UTC
	}
	return words{phrase.In(c.Locale).At(zone)}
}

// words are those in which a message is written.
func (d *Data) words() words { return (&Context{Locale: d.Locale}).words() }

// span is Span, but nobody counts the seconds of an alert.
func (w words) span(d time.Duration) string {
	if d < time.Minute {
		return w.Say("less than a minute")
	}
	return w.Span(d)
}

func (w words) severity(s rimewatch.Severity) string {
	if s == rimewatch.Critical {
		return w.Say("critical")
	}
	return w.Say("warning")
}

// who names what an alert is about.
func (w words) who(v *rimewatch.AlertView) string {
	switch {
	case v.DeviceName != "":
		return v.DeviceName
	case v.DeviceSerial != "":
		return v.DeviceSerial
	case v.Site != nil:
		return v.Site.Name
	default:
		return w.Say("The workspace")
	}
}

// measured reports whether the value says something at a glance: a measurement
// does; a difference, a count, or the zero volts of a power loss do not.
func measured(v *rimewatch.AlertView) bool {
	f, ok := rimewatch.FieldByName(v.Metric)
	return ok && v.Unit == f.Info().Unit && v.Value != nil && v.Prediction == nil && v.Type != rimewatch.PowerLoss
}

// headline returns an alert's unit and condition: "Back walk-in: −8.2 °C,
// too warm for 34 min".
func (w words) headline(v *rimewatch.AlertView, now rimewatch.Time) string {
	wrong := w.Lower(w.Headline(&v.Alert, now))
	if measured(v) {
		wrong = w.Quantity(*v.Value, v.Unit) + ", " + wrong
	}
	return w.who(v) + ": " + wrong
}

// began is when the condition began, or else when the alert opened.
func began(v *rimewatch.AlertView) rimewatch.Time {
	if v.ConditionStartedAt != 0 {
		return v.ConditionStartedAt
	}
	return v.TriggeredAt
}

// at is the site of a unit, behind what is said of it in a list.
func at(v *rimewatch.AlertView) string {
	if v.Site == nil || v.DeviceID == 0 {
		return ""
	}
	return " – " + v.Site.Name
}

func place(s *rimewatch.Site) string {
	if s.Address == "" {
		return s.Name
	}
	return s.Name + ", " + s.Address
}
