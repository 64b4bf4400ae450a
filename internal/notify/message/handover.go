package message

import (
	"strings"

	"github.com/rimewatch/rimewatch"
)

// HandOver is a change of who is on duty, for one of those who come or go.
type HandOver struct {
	Rota   string // its name
	Comes  bool
	Until  rimewatch.Time // when the duty of whoever comes ends, 0 = that is far away
	Others []string       // who was on duty before, or is now
	Alerts []rimewatch.AlertView
}

// The types of messages about hand-overs.
const (
	dutyBegan = "duty.began"
	dutyEnded = "duty.ended"
)

// HandOver returns the message that somebody's duty has begun or ended, with what is open.
func (c *Context) HandOver(h *HandOver) *Message {
	w := c.words()
	others := strings.Join(h.Others, ", ")
	var text []string
	title, kind := w.Sayf("You are on duty: %s", h.Rota), dutyBegan
	switch {
	case h.Comes && h.Until != 0:
		text = append(text, w.Sayf("You are on duty for %s until %s.", h.Rota, w.Moment(h.Until)))
	case h.Comes:
		text = append(text, w.Sayf("You are on duty for %s.", h.Rota))
	default:
		title, kind = w.Sayf("Your duty has ended: %s", h.Rota), dutyEnded
		text = append(text, w.Sayf("Your duty for %s has ended.", h.Rota))
	}
	switch {
	case others == "" && !h.Comes:
		text = append(text, w.Say("Nobody is on duty now."))
	case others == "":
	case h.Comes:
		text = append(text, w.Sayf("Before you: %s.", others))
	default:
		text = append(text, w.Sayf("Now on duty: %s.", others))
	}
	m := c.message(kind, rimewatch.DeliveryHandOver)
	d := &m.Data
	if n := len(h.Alerts); n > 0 {
		text = append(text, w.Count(n, "%d alert is open:", "%d alerts are open:"))
	}
	for i := range h.Alerts {
		v := &h.Alerts[i]
		l := c.line(v)
		l.Text = w.headline(v, c.Now)
		if v.AcknowledgedAt != 0 {
			l.Text += ", " + w.Sayf("acknowledged by %s", v.AcknowledgedBy)
		}
		l.Text += at(v)
		d.Alerts = append(d.Alerts, l)
	}
	c.bound(d)
	d.entitle(w.Say("duty"), title)
	d.Text = strings.Join(text, " ")
	c.calls(d)
	d.Link = c.link("/alerts")
	return m
}

// line is an alert in a list, without its text.
func (c *Context) line(v *rimewatch.AlertView) Line {
	l := Line{ID: v.ID, Severity: v.Severity, Over: v.Status == rimewatch.AlertResolved, Acknowledged: v.AcknowledgedAt != 0, Link: c.alertLink(v.ID)}
	if v.Site != nil {
		l.SiteID = v.Site.ID
	}
	return l
}

// bound leaves as many lines as fit into a message, and says how many more there are.
func (c *Context) bound(d *Data) {
	if n := fitting(d.Alerts); n < len(d.Alerts) {
		d.Alerts = append(d.Alerts[:n], Line{Text: c.words().Sayf("and %d more", len(d.Alerts)-n), Link: c.link("/alerts")})
	}
}
