package message

import (
	"fmt"
	"strings"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/phrase"
)

// Reason says why a message about an alert is sent.
type Reason struct {
	Kind  rimewatch.DeliveryKind // opened, escalated, repeat or recovery
	Level int
	After string // of a repeat: "acknowledgement" or "silence" that ended, "" = time
}

var alertEvents = map[rimewatch.DeliveryKind]string{
	rimewatch.DeliveryOpened:    "alert.opened",
	rimewatch.DeliveryEscalated: "alert.escalated",
	rimewatch.DeliveryRepeat:    "alert.repeated",
	rimewatch.DeliveryRecovery:  "alert.resolved",
}

// Of returns the message about one alert.
func (c *Context) Of(v *rimewatch.AlertView, r Reason) *Message {
	m := c.message(alertEvents[r.Kind], r.Kind)
	d := &m.Data
	d.Level = r.Level
	if len(c.Alert) > 0 {
		d.Alert = c.Alert
	}
	if v.DeviceID != 0 {
		d.Device = &Device{v.DeviceID, v.DeviceSerial, v.DeviceName, v.EquipmentType}
	}
	if v.Site != nil {
		d.Site = &Site{v.Site.ID, v.Site.Name, v.Site.TimeZone, v.Site.Address}
	}
	d.Link = c.alertLink(v.ID)
	d.Urgent = v.Severity == rimewatch.Critical && r.Kind != rimewatch.DeliveryRecovery
	if r.Kind == rimewatch.DeliveryRecovery {
		c.over(d, v)
	} else {
		c.open(d, v, r)
	}
	return m
}

func (c *Context) open(d *Data, v *rimewatch.AlertView, r Reason) {
	lead := ""
	switch {
	case r.Kind == rimewatch.DeliveryEscalated:
		lead = "Now critical: "
	case r.Kind == rimewatch.DeliveryRepeat:
		lead = "Still active: "
	case r.Level > 0:
		lead = "Not acknowledged yet: "
	}
	d.Subject = fmt.Sprintf("[%s] %s%s", v.Severity, lead, Headline(v, c.Now))
	said := []string{}
	switch r.After {
	case "acknowledgement":
		said = append(said, "The acknowledgement has expired and the problem is still there.")
	case "silence":
		said = append(said, "The silence or maintenance window has ended and the problem is still there.")
	}
	d.Text = strings.Join(append(said, phrase.Message(&v.Alert)), " ")
	c.facts(d, v)
	d.fact("Since", moment(began(v), c.Zone)+", "+span(c.Now.Sub(began(v)))+" ago")
	if d.Link != "" && r.Kind != rimewatch.DeliveryRepeat {
		d.fact("To do", "Acknowledge it using the link, so that nobody else is woken.")
	} else if d.Link != "" {
		d.fact("To do", "Acknowledge it using the link to stop these reminders.")
	}
}

func (c *Context) over(d *Data, v *rimewatch.AlertView) {
	lasted := span(v.ResolvedAt.Sub(began(v)))
	switch v.Resolution {
	case rimewatch.ResolvedManual:
		d.Subject = fmt.Sprintf("[resolved] %s: resolved by %s after %s", who(v), orSomeone(v.ResolvedBy), lasted)
		d.Text = fmt.Sprintf("%s resolved the alert “%s”.", orSomeone(v.ResolvedBy), phrase.Title(&v.Alert))
		if v.Note != "" {
			d.Text += " Note: " + v.Note
		}
	case rimewatch.ResolvedSuperseded:
		d.Subject = fmt.Sprintf("[resolved] %s: removed", who(v))
		d.Text = fmt.Sprintf("%s was removed or replaced, so the alert “%s” is resolved.", who(v), phrase.Title(&v.Alert))
	default:
		d.Subject = fmt.Sprintf("[resolved] %s: %s after %s", who(v), lower(phrase.Ending(&v.Alert)), lasted)
		d.Text = phrase.Message(&v.Alert)
	}
	c.facts(d, v)
	d.fact("Started", moment(began(v), c.Zone))
	d.fact("Ended", moment(v.ResolvedAt, c.Zone)+", after "+lasted)
}

// facts are those that hold for an alert open or over.
func (c *Context) facts(d *Data, v *rimewatch.AlertView) {
	if v.DeviceID != 0 {
		what := who(v)
		if e, known := rimewatch.EquipmentBySlug(v.EquipmentType); known && e.Slug != rimewatch.OtherEquipment {
			label, _, _ := strings.Cut(e.Label, " (")
			what += " – " + label
		}
		if v.DeviceSerial != "" && v.DeviceSerial != v.DeviceName {
			what += " (" + v.DeviceSerial + ")"
		}
		d.fact("Unit", what)
	}
	if v.Site != nil {
		d.fact("Site", place(v.Site))
	}
	if measured(v) {
		d.fact("Measured", rimewatch.Quantity(*v.Value, v.Unit))
	}
	if v.Threshold != nil && measured(v) {
		d.fact("Limit", rimewatch.Quantity(*v.Threshold, v.Unit))
	}
	if v.PeakValue != nil && measured(v) && *v.PeakValue != *v.Value {
		d.fact("Worst", rimewatch.Quantity(*v.PeakValue, v.Unit))
	}
	if v.Prediction != nil {
		d.fact("Risk", phrase.Risk(v.Prediction))
	}
	d.fact("Workspace", c.Workspace.Name)
}

func (d *Data) fact(label, value string) {
	if value != "" {
		d.Facts = append(d.Facts, Fact{label, value})
	}
}

func orSomeone(name string) string {
	if name == "" {
		return "Someone"
	}
	return name
}
