package message

import (
	"fmt"

	"github.com/rimewatch/rimewatch"
)

// Order returns the message that a member was given a work order. site is nil where the unit stands at none.
func (c *Context) Order(o *rimewatch.WorkOrder, site *rimewatch.Site) *Message {
	w := c.words()
	m := c.message("work_order.assigned", rimewatch.DeliveryOrder)
	d := &m.Data
	about := o.Unit
	if site != nil {
		d.Site = &Site{ID: site.ID, Name: site.Name, TimeZone: site.TimeZone, Address: site.Address}
		if about == "" {
			about = site.Name
		}
	}
	title := w.Sayf("Work for you: %s", about)
	if d.Urgent = o.Urgency == rimewatch.UrgencyEmergency; d.Urgent {
		title = w.Sayf("Emergency work for you: %s", about)
	}
	d.entitle(w.Say("work"), title)
	d.Text, d.WorkOrder = o.Problem, o.ID
	d.fact(w.Say("Unit"), o.Unit)
	if site != nil {
		d.fact(w.Say("Site"), site.Name)
		d.fact(w.Say("Address"), site.Address)
	}
	d.fact(w.Say("Access"), o.Access)
	d.fact(w.Say("Ordered by"), o.CreatedBy)
	d.Link = c.link(fmt.Sprintf("/work/%d", o.ID))
	return m
}
