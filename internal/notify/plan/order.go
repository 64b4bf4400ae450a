package plan

import (
	"fmt"
	"time"

	"github.com/rimewatch/rimewatch"
)

// Ordered are the messages about a work order to the member who has it, one for each of that member's ways.
// Quiet hours hold them back, unless it is an emergency.
func (r *Rules) Ordered(o *rimewatch.WorkOrder, zone *time.Location, now rimewatch.Time) (list []rimewatch.Delivery) {
	for i := range r.Channels {
		c := &r.Channels[i]
		if who := r.Owner(c); !c.Enabled || who == nil || !o.Assignee.IsPerson(who.UserID) || !who.Sites.Has(o.SiteID) {
			continue
		}
		at := now
		if c.Quiet != nil && o.Urgency != rimewatch.UrgencyEmergency && quiet(c.Quiet, now, zone) {
			at = quietEnd(c.Quiet, now, zone)
		}
		list = append(list, rimewatch.Delivery{
			WorkspaceID: o.WorkspaceID, ChannelID: c.ID, Kind: rimewatch.DeliveryOrder, Key: fmt.Sprintf("order/%d/%d/%d", o.ID, o.Revision, c.ID),
			Status: rimewatch.DeliveryPending, NextAttemptAt: at, CreatedAt: now, Urgent: o.Urgency == rimewatch.UrgencyEmergency,
		})
	}
	return list
}
