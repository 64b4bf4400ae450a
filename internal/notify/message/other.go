package message

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/phrase"
)

// Digest returns one message about several alerts: the active ones, then those
// that have been resolved since the last digest.
func (c *Context) Digest(list []rimewatch.AlertView) *Message {
	m := c.message("alert.digest", rimewatch.DeliveryDigest)
	d := &m.Data
	open := 0
	for i := range list {
		v := &list[i]
		l := Line{ID: v.ID, Severity: v.Severity, Over: v.Status == rimewatch.AlertResolved, Link: c.alertLink(v.ID)}
		if l.Over {
			l.Text = fmt.Sprintf("Resolved: %s: %s (for %s, until %s)", who(v), lower(phrase.Title(&v.Alert)), span(v.ResolvedAt.Sub(began(v))), moment(v.ResolvedAt, c.Zone))
		} else {
			open++
			l.Text = Headline(v, c.Now)
			if v.Site != nil {
				l.Text += " – " + v.Site.Name
			}
		}
		d.Alerts = append(d.Alerts, l)
	}
	if n := fitting(d.Alerts); n < len(d.Alerts) {
		d.Alerts = append(d.Alerts[:n], Line{Text: fmt.Sprintf("and %d more", len(list)-n), Link: c.link("/alerts")})
	}
	d.Subject = fmt.Sprintf("[digest] %s: %s", c.Workspace.Name, counted(open, len(list)-open))
	d.Text = fmt.Sprintf("Warnings in %s as of %s.", c.Workspace.Name, moment(c.Now, c.Zone))
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

func counted(open, over int) string {
	var s []string
	if open == 1 {
		s = append(s, "1 active warning")
	} else if open > 1 {
		s = append(s, fmt.Sprintf("%d active warnings", open))
	}
	if over > 0 {
		s = append(s, fmt.Sprintf("%d resolved", over))
	}
	return strings.Join(s, ", ")
}

// Test is what a person sends to try a channel.
func (c *Context) Test(channel string) *Message {
	m := c.message("channel.test", rimewatch.DeliveryTest)
	m.Data.Subject = fmt.Sprintf("[test] Rimewatch can reach you through “%s”", channel)
	m.Data.Text = fmt.Sprintf("This is a test of the channel “%s” in %s. Nothing is wrong: alerts will arrive here in the same way.", channel, c.Workspace.Name)
	m.Data.fact("Sent", moment(c.Now, c.Zone))
	m.Data.Link = c.link("/")
	return m
}

// Outage is what is said through another channel about one that fails.
type Outage struct {
	Channel string
	Since   rimewatch.Time
	Error   string
	Waiting []Line // what could not be sent there
	More    int    // how much else
}

// Failing returns the message that a channel is failing, for another channel.
func (c *Context) Failing(o *Outage) *Message {
	m := c.message("channel.failing", rimewatch.DeliveryFallback)
	d := &m.Data
	d.Subject = fmt.Sprintf("[trouble] The channel “%s” is failing", o.Channel)
	d.Text = fmt.Sprintf("Rimewatch cannot deliver messages through “%s”, so this one comes through another channel. Alerts may be waiting there unseen.", o.Channel)
	d.fact("Since", moment(o.Since, c.Zone))
	d.fact("Error", o.Error)
	d.fact("Workspace", c.Workspace.Name)
	d.Alerts = o.Waiting
	if o.More > 0 {
		d.Alerts = append(d.Alerts, Line{Text: fmt.Sprintf("and %d more", o.More), Link: c.link("/alerts")})
	}
	d.Link = c.link("/settings/notifications")
	d.Urgent = true
	return m
}

// Recovered returns the message that a failing channel works again.
func (c *Context) Recovered(o *Outage) *Message {
	m := c.message("channel.recovered", rimewatch.DeliveryFallback)
	d := &m.Data
	d.Subject = fmt.Sprintf("[ok] The channel “%s” works again", o.Channel)
	d.Text = fmt.Sprintf("Rimewatch can deliver messages through “%s” again. Those that were waiting are being sent.", o.Channel)
	d.fact("Since", moment(c.Now, c.Zone))
	d.fact("Workspace", c.Workspace.Name)
	d.Link = c.link("/settings/notifications")
	return m
}
