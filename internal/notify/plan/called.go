package plan

import (
	"slices"
	"time"

	"github.com/rimewatch/rimewatch"
)

// Call is who is notified of an alert, and when, as long as nobody acknowledges it.
type Call struct {
	At       rimewatch.Time
	Channels []int64
}

// Called lists who would be notified, one after the other, of a critical alert that begins at a
// unit now: by the decision that alerts are sent by, made again at each moment at which
// it tells somebody. zone is the site's. It is empty while the alert would be held back, and where
// nobody would be told.
func (r *Rules) Called(u Unit, zone *time.Location, now rimewatch.Time) (list []Call) {
	v := u.probe()
	v.TriggeredAt = now
	in := Input{
		Alert: v, Rules: r, Zone: zone, Now: now,
		Timeline: []rimewatch.AlertTransition{{Kind: rimewatch.TransitionOpened, At: now, Severity: v.Severity}},
	}
	var told []int64
	for range rimewatch.MaxRouteSteps * rimewatch.MaxRoutes {
		x := Alert(&in)
		call := Call{At: in.Now}
		for i := range x.Wanted {
			d := x.Wanted[i].Delivery
			d.ID, d.Status, d.SentAt = int64(len(in.Made)+1), rimewatch.DeliverySent, in.Now
			in.Made = append(in.Made, d)
			if !slices.Contains(told, d.ChannelID) {
				call.Channels, told = append(call.Channels, d.ChannelID), append(told, d.ChannelID)
			}
		}
		if len(call.Channels) > 0 {
			list = append(list, call)
		}
		if x.Ahead.At <= in.Now {
			break
		}
		in.Now = x.Ahead.At
	}
	return list
}
