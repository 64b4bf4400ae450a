package plan

import (
	"slices"

	"github.com/rimewatch/rimewatch"
)

// unrouted sends a critical alert that nobody was or will be notified of to every channel
// that is known to work, once: a person who cannot help is better than none. It is called
// for an active alert that nothing holds back; matching are the routes that apply.
func (p *decision) unrouted(matching []*rimewatch.Route) {
	if p.a.Severity != rimewatch.Critical || p.a.AcknowledgedAt != 0 {
		return
	}
	p.out.Unrouted = !slices.ContainsFunc(matching, func(r *rimewatch.Route) bool {
		return reaches(r, func(_ int, channel int64) bool { return p.channels[channel] })
	})
	if slices.ContainsFunc(p.made, func(d rimewatch.Delivery) bool {
		return d.Status == rimewatch.DeliverySent || d.Status == rimewatch.DeliveryPending || d.InDoubt
	}) {
		return
	}
	if slices.ContainsFunc(matching, func(r *rimewatch.Route) bool {
		return reaches(r, func(level int, channel int64) bool { return p.channels[channel] && !p.knows(r, level, channel) })
	}) {
		return // a level that is still to come
	}
	if due := p.a.TriggeredAt + OfflineWait; p.a.Type == rimewatch.DeviceOffline && p.Now < due {
		p.lookAt(due)
		return
	}
	after := ""
	if !p.out.Unrouted {
		after = "refused"
	}
	p.out.Untold = true
	for i := range p.Rules.Channels {
		c := &p.Rules.Channels[i]
		if !dependable(c) || !p.channels[c.ID] || p.hadUnrouted(c.ID) {
			continue
		}
		p.want(rimewatch.DeliveryUnrouted, &rimewatch.Route{}, 0, 0, c.ID, p.Now, after)
		p.out.Untold = false
	}
}

// dependable reports whether a channel is switched on and its last message arrived.
func dependable(c *rimewatch.Channel) bool {
	works, _ := c.Working()
	return c.Enabled && works
}

// reaches reports whether a level of a route names a channel that counts.
func reaches(r *rimewatch.Route, counts func(level int, channel int64) bool) bool {
	for level := range r.Steps {
		for _, c := range r.Steps[level].ChannelIDs {
			if counts(level, c) {
				return true
			}
		}
	}
	return false
}

// hadUnrouted reports whether a channel was sent the alert that way.
func (p *decision) hadUnrouted(channel int64) bool {
	return slices.ContainsFunc(p.made, func(d rimewatch.Delivery) bool {
		return d.Kind == rimewatch.DeliveryUnrouted && d.ChannelID == channel
	})
}
