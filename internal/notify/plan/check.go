package plan

import (
	"fmt"
	"slices"
	"time"

	"github.com/rimewatch/rimewatch"
)

// Check makes the messages that a check is due, or was missed: to those who are called for its site first,
// unless that is silenced; like warnings not in their quiet hours. zone is the site's.
func (r *Rules) Check(c *rimewatch.Check, zone *time.Location, now rimewatch.Time) (list []rimewatch.Delivery) {
	v := Unit{DeviceID: nowhere.DeviceID, SiteID: c.SiteID}.probe()
	if r.MutedUntil(v, now) != 0 {
		return nil
	}
	enabled, made := r.enabled(v), make(map[int64]bool)
	for _, route := range r.matching(v) {
		if len(route.Steps) == 0 {
			continue
		}
		for _, id := range r.channelsOf(v, &route.Steps[0], now) {
			i := slices.IndexFunc(r.Channels, func(x rimewatch.Channel) bool { return x.ID == id })
			if i < 0 || !enabled[id] || made[id] {
				continue
			}
			made[id] = true
			at := now
			for _, q := range []*rimewatch.QuietHours{route.Quiet, r.Channels[i].Quiet} {
				if q != nil && quiet(q, at, zone) {
					at = quietEnd(q, at, zone)
				}
			}
			list = append(list, rimewatch.Delivery{
				WorkspaceID: c.WorkspaceID, ChannelID: id, RouteID: route.ID, Kind: rimewatch.DeliveryCheck, Key: fmt.Sprintf("check/%d/%s/%d", c.ID, c.Status, id),
				Status: rimewatch.DeliveryPending, NextAttemptAt: at, CreatedAt: now,
			})
		}
	}
	return list
}
