package message

import (
	"strings"

	"github.com/rimewatch/rimewatch"
)

// Reason is why a message about an alert is sent.
type Reason struct {
	Kind  rimewatch.DeliveryKind // opened, escalated, repeat, recovery or unrouted
	Level int
	After string // of a repeat: "acknowledgement" or "silence" that ended, "" = time; of unrouted: "refused" by the channels of its route
}

var alertEvents = map[rimewatch.DeliveryKind]string{
	rimewatch.DeliveryOpened:    "alert.opened",
	rimewatch.DeliveryEscalated: "alert.escalated",
	rimewatch.DeliveryRepeat:    "alert.repeated",
	rimewatch.DeliveryRecovery:  "alert.resolved",
	rimewatch.DeliveryUnrouted:  "alert.opened",
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
	w := c.words()
	lead := ""
	switch {
	case r.Kind == rimewatch.DeliveryEscalated:
		lead = w.Say("Now critical:") + " "
	case r.Kind == rimewatch.DeliveryRepeat:
		lead = w.Say("Still active:") + " "
	case r.Kind == rimewatch.DeliveryUnrouted && r.After == "":
		lead = w.Say("No route matched:") + " "
	case r.Kind == rimewatch.DeliveryUnrouted:
		lead = w.Say("No channel of its route works:") + " "
	case r.Level > 0:
		lead = w.Say("Not acknowledged yet:") + " "
	}
	d.entitle(w.severity(v.Severity), lead+w.headline(v, c.Now))
	sentences := []string{}
	switch r.After {
	case "acknowledgement":
		sentences = append(sentences, w.Say("The acknowledgement has expired and the problem is still there."))
	case "silence":
		sentences = append(sentences, w.Say("The silence or maintenance window has ended and the problem is still there."))
	}
	sentences = append(sentences, w.Message(&v.Alert))
	if r.Kind == rimewatch.DeliveryUnrouted {
		sentences = append(sentences, w.Say("Nobody else could be notified, so this goes to every channel that works. Check the routes in the settings."))
	}
	d.Text = strings.Join(sentences, " ")
	c.facts(d, v)
	d.fact(w.Say("Since"), w.Sayf("%s, %s ago", w.Moment(began(v)), w.span(c.Now.Sub(began(v)))))
	c.calls(d)
	d.fact(w.Say("Workspace"), c.Workspace.Name)
	if d.Link != "" && r.Kind != rimewatch.DeliveryRepeat {
		d.fact(w.Say("To do"), w.Say("Acknowledge it using the link, so that nobody else is woken."))
	} else if d.Link != "" {
		d.fact(w.Say("To do"), w.Say("Acknowledge it using the link to stop these reminders."))
	}
}

func (c *Context) over(d *Data, v *rimewatch.AlertView) {
	w := c.words()
	lasted, name, title := w.span(v.ResolvedAt.Sub(began(v))), w.who(v), w.Title(&v.Alert)
	var subject string
	switch {
	case v.Resolution == rimewatch.ResolvedManual:
		by := v.ResolvedBy
		if by == "" {
			by = w.Say("Someone")
		}
		subject = w.Sayf("%s: resolved by %s after %s", name, by, lasted)
		d.Text = w.Sayf("%s resolved the alert “%s”.", by, title)
		if v.Note != "" {
			d.Text += " " + w.Sayf("Note: %s", v.Note)
		}
	case v.EndedBecause() == rimewatch.EndedRemoved:
		subject = w.Sayf("%s: removed", name)
		d.Text = w.Sayf("%s was removed or replaced, so the alert “%s” is resolved.", name, title)
	default:
		subject = w.Sayf("%s: %s after %s", name, w.Lower(w.Ending(&v.Alert)), lasted)
		d.Text = w.Message(&v.Alert)
	}
	d.entitle(w.Say("resolved"), subject)
	c.facts(d, v)
	d.fact(w.Say("Started"), w.Moment(began(v)))
	d.fact(w.Say("Ended"), w.Sayf("%s, after %s", w.Moment(v.ResolvedAt), lasted))
	d.fact(w.Say("Workspace"), c.Workspace.Name)
}

// facts are those that hold for an alert open or over.
func (c *Context) facts(d *Data, v *rimewatch.AlertView) {
	w := c.words()
	if v.DeviceID != 0 {
		what := w.who(v)
		if e, known := rimewatch.EquipmentBySlug(v.EquipmentType); known && e.Slug != rimewatch.OtherEquipment {
			label, _, _ := strings.Cut(w.Say(e.Label), " (")
			what += " – " + label
		}
		if v.DeviceSerial != "" && v.DeviceSerial != v.DeviceName {
			what += " (" + v.DeviceSerial + ")"
		}
		d.fact(w.Say("Unit"), what)
	}
	if v.Site != nil {
		d.fact(w.Say("Site"), place(v.Site))
	}
	if measured(v) {
		d.fact(w.Say("Measured"), w.Quantity(*v.Value, v.Unit))
	}
	if v.Threshold != nil && measured(v) {
		d.fact(w.Say("Limit"), w.Quantity(*v.Threshold, v.Unit))
	}
	if v.PeakValue != nil && measured(v) && *v.PeakValue != *v.Value {
		d.fact(w.Say("Worst"), w.Quantity(*v.PeakValue, v.Unit))
	}
	if v.Prediction != nil {
		d.fact(w.Say("Forecast"), w.Risk(v.Prediction))
	}
}

func (d *Data) fact(label, value string) {
	if value != "" {
		d.Facts = append(d.Facts, Fact{label, value})
	}
}

// calls adds whom to call.
func (c *Context) calls(d *Data) {
	label := c.words().Say("Call")
	for i := range c.Contacts[:min(len(c.Contacts), maxCalls)] {
		d.fact(label, call(&c.Contacts[i]))
	}
}

// maxCalls bounds the contacts in a message.
const maxCalls = 5

// call is whom to call, where and what for: "Polar Service: +1 555 0142 (refrigeration, contract 4711)".
func call(x *rimewatch.Contact) string {
	s := x.Name
	if x.Company != "" && x.Company != x.Name {
		s += ", " + x.Company
	}
	s += ": " + x.Phone
	if what := strings.Trim(x.Role+", "+x.Note, ", "); what != "" {
		s += " (" + rimewatch.Shorten(what, maxWhat) + ")"
	}
	return s
}

const maxWhat = 120 // bytes: a mail has the rest of the page
