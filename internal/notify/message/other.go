package message

import (
	"encoding/json"
	"strings"

	"github.com/rimewatch/rimewatch"
)

// Digest returns one message about several alerts: the active ones, then those
// that have been resolved since the last digest.
func (c *Context) Digest(list []rimewatch.AlertView) *Message {
	m := c.message("alert.digest", rimewatch.DeliveryDigest)
	d := &m.Data
	w := c.words()
	open := 0
	for i := range list {
		v := &list[i]
		l := c.line(v)
		if l.Over {
			l.Text = w.Sayf("Resolved: %s: %s for %s, until %s", w.who(v), w.Lower(w.Title(&v.Alert)), w.span(v.ResolvedAt.Sub(began(v))), w.Moment(v.ResolvedAt))
		} else {
			open++
			l.Text = w.headline(v, c.Now)
		}
		l.Text += at(v)
		d.Alerts = append(d.Alerts, l)
	}
	c.bound(d)
	d.entitle(w.Say("digest"), c.Workspace.Name+": "+w.counted(open, len(list)-open))
	d.Text = w.Sayf("Warnings in %s as of %s.", c.Workspace.Name, w.Moment(c.Now))
	c.calls(d)
	d.Link = c.link("/alerts")
	return m
}

// maxLines bounds a list in a message, in bytes of JSON: names may be long, and
// the store does not take messages of any size.
const maxLines = 48 << 10

// fitting is how many of the lines may stand in a message.
func fitting(lines []Line) int {
	size := 0
	for i := range lines {
		b, _ := json.Marshal(lines[i]) // strings and numbers cannot fail
		if size += len(b) + 1; size > maxLines {
			return i
		}
	}
	return len(lines)
}

func (w words) counted(open, over int) string {
	var s []string
	if open > 0 {
		s = append(s, w.Count(open, "%d active warning", "%d active warnings"))
	}
	if over > 0 {
		s = append(s, w.Count(over, "%d resolved", "%d resolved"))
	}
	return strings.Join(s, ", ")
}

// Test is the message by which a person tries a channel.
func (c *Context) Test(channel string) *Message {
	m := c.message("channel.test", rimewatch.DeliveryTest)
	w := c.words()
	m.Data.entitle(w.Say("test"), w.Sayf("Rimewatch can reach you through “%s”", channel))
	m.Data.Text = w.Sayf("This is a test of the channel “%s” in %s. Nothing is wrong: alerts will arrive here in the same way.", channel, c.Workspace.Name)
	m.Data.fact(w.Say("Sent"), w.Moment(c.Now))
	m.Data.Link = c.link("/")
	return m
}

// Outage is the message through another channel about one that fails.
type Outage struct {
	Channel string
	Since   rimewatch.Time
	Error   rimewatch.Sentence
	Waiting []Line // what could not be sent there
	More    int    // how much else
}

// Line returns an alert as one of several, its severity first.
func (c *Context) Line(v *rimewatch.AlertView) Line {
	w := c.words()
	return Line{ID: v.ID, Severity: v.Severity, Text: "[" + w.severity(v.Severity) + "] " + w.headline(v, c.Now) + at(v), Link: c.alertLink(v.ID)}
}

// Failing returns the message that a channel is failing, for another channel.
func (c *Context) Failing(o *Outage) *Message {
	m := c.message("channel.failing", rimewatch.DeliveryFallback)
	d := &m.Data
	w := c.words()
	d.entitle(w.Say("trouble"), w.Sayf("The channel “%s” is failing", o.Channel))
	d.Text = w.Sayf("Rimewatch cannot deliver messages through “%s”, so this one comes through another channel. Alerts may be waiting there unseen.", o.Channel)
	d.fact(w.Say("Since"), w.Moment(o.Since))
	d.fact(w.Say("Error"), o.Error.In(w.Say))
	d.fact(w.Say("Workspace"), c.Workspace.Name)
	d.Alerts = o.Waiting
	if o.More > 0 {
		d.Alerts = append(d.Alerts, Line{Text: w.Sayf("and %d more", o.More), Link: c.link("/alerts")})
	}
	d.Link = c.link("/settings/notifications")
	d.Urgent = true
	return m
}

// WebhookOff returns the message that a webhook for programs was switched off.
func (c *Context) WebhookOff(o *Outage) *Message {
	m := c.message("webhook.off", rimewatch.DeliveryFallback)
	d := &m.Data
	w := c.words()
	d.entitle(w.Say("trouble"), w.Sayf("The webhook “%s” was switched off", o.Channel))
	d.Text = w.Sayf("Rimewatch sends no events to “%s” any more. Nothing is lost for 30 days: what was not delivered is sent when you switch it on again.", o.Channel)
	if o.Since != 0 {
		d.fact(w.Say("Since"), w.Moment(o.Since))
	}
	d.fact(w.Say("Error"), o.Error.In(w.Say))
	d.fact(w.Say("Workspace"), c.Workspace.Name)
	d.Link = c.link("/settings/webhooks")
	return m
}

// Recovered returns the message that a failing channel works again.
func (c *Context) Recovered(o *Outage) *Message {
	m := c.message("channel.recovered", rimewatch.DeliveryFallback)
	d := &m.Data
	w := c.words()
	d.entitle(w.Say("ok"), w.Sayf("The channel “%s” works again", o.Channel))
	d.Text = w.Sayf("Rimewatch can deliver messages through “%s” again. Those that were waiting are being sent.", o.Channel)
	d.fact(w.Say("Since"), w.Moment(c.Now))
	d.fact(w.Say("Workspace"), c.Workspace.Name)
	d.Link = c.link("/settings/notifications")
	return m
}
