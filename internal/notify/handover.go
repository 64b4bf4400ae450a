package notify

import (
	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/notify/message"
	"github.com/rimewatch/rimewatch/internal/notify/plan"
	"github.com/rimewatch/rimewatch/internal/store"
)

const (
	handOverLate   = rimewatch.Hour // a hand-over that was missed for longer, as by a stop, is not notified any more
	handOverAlerts = 100            // alerts in a message about one
)

// handOvers sends word of the hand-overs of a workspace's rotas since it was last asked. The keys of
// its deliveries prevent a second message, also after a restart.
func (b *batch) handOvers(w *rimewatch.Workspace, now rimewatch.Time) error {
	rotas, err := b.s.store.Routing().Rotas().List(b.ctx, w.ID)
	if err != nil || len(rotas) == 0 {
		return err
	}
	full, err := b.workspace(w.ID)
	if err != nil {
		return err
	}
	for _, x := range full.rules.Named() {
		// A change of the rota hands nothing over for the time before it.
		after := max(b.s.planner.handed[x.ID], x.UpdatedAt-digestEvery, now-handOverLate)
		if err := b.handOver(w, full, full.rules.HandOvers(x, after, now), now); err != nil {
			return err
		}
		b.s.planner.handed[x.ID] = now
	}
	return nil
}

func (b *batch) handOver(w *rimewatch.Workspace, full *workspace, list []plan.HandOver, now rimewatch.Time) error {
	if len(list) == 0 {
		return nil
	}
	alerts, _, err := b.s.store.Alerts(b.ctx, w.ID, store.AlertFilter{Status: rimewatch.AlertActive}, store.AlertPage{Limit: handOverAlerts})
	if err != nil {
		return err
	}
	for i := range list {
		h := &list[i]
		for _, x := range full.rules.HandOver(h, alerts, now) {
			c := b.s.context(w, localeOf(full.rules.Channels, x.ChannelID), x.Key, h.Rota.Zone, now)
			if x.Comes {
				c.Contacts = contactsOf(&full.rules, x.Alerts...)
			}
			body, err := c.HandOver(&message.HandOver{Rota: h.Rota.Name, Comes: x.Comes, Until: x.Until, Others: x.Others, Alerts: x.Alerts}).Encode()
			d := x.Delivery
			d.Body = body
			if err := b.s.put(&d, err); err != nil {
				return err
			}
		}
	}
	return nil
}
