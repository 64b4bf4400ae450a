package message

import "github.com/rimewatch/rimewatch"

// The types of messages about checks.
const (
	checkDue    = "check.due"
	checkMissed = "check.missed"
)

// Check returns the message that a round is due at a site (nil = of devices without one), or was missed.
func (c *Context) Check(x *rimewatch.Check, site *Site) *Message {
	w := c.words()
	title, kind := w.Sayf("Check due: %s", x.Name), checkDue
	text := w.Sayf("To be done until %s.", w.Moment(x.To))
	if x.Status == rimewatch.CheckMissed {
		title, kind = w.Sayf("Check missed: %s", x.Name), checkMissed
		text = w.Sayf("It was due until %s, and nobody has entered it. It stays blank; what is entered now is a later note.", w.Moment(x.To))
		if x.Reason == rimewatch.CheckNotRunning {
			text = w.Sayf("It was due until %s, and Rimewatch was not running in that time.", w.Moment(x.To))
		}
	}
	if site != nil {
		title += " · " + site.Name
	}
	m := c.message(kind, rimewatch.DeliveryCheck)
	d := &m.Data
	d.Site = site
	d.entitle(w.Say("check"), title)
	d.Text = w.Count(len(x.Items), "%d unit.", "%d units.") + " " + text
	d.Link = c.link("/rounds")
	return m
}
