package plan

import "github.com/rimewatch/rimewatch"

// wayDue is when a level of a route tells by a channel: at once, or, of a member's own ways, each so much later than
// the first of them as the member has said, and a warning not in its quiet hours.
func (p *decision) wayDue(r *rimewatch.Route, level int, channel int64) rimewatch.Time {
	c := p.channel(channel)
	if c == nil || c.OwnerID == 0 {
		return p.Now
	}
	who, first := p.Rules.Owner(c), c.AfterS
	for _, id := range r.Steps[level].ChannelIDs {
		if o := p.channel(id); o != nil && p.channels[id] && p.Rules.Owner(o) == who {
			first = min(first, o.AfterS)
		}
	}
	begun := p.notified(r, level)
	if begun == 0 {
		begun = p.Now
	}
	return p.loud(channel, max(p.Now, begun+seconds(c.AfterS-first)))
}

// loud is the first moment from one on at which a channel may bring the alert: a warning waits until its owner's quiet
// hours are over.
func (p *decision) loud(channel int64, at rimewatch.Time) rimewatch.Time {
	c := p.channel(channel)
	if c == nil || c.Quiet == nil || p.a.Severity == rimewatch.Critical || !quiet(c.Quiet, at, p.Zone) {
		return at
	}
	return quietEnd(c.Quiet, at, p.Zone)
}

func (p *decision) channel(id int64) *rimewatch.Channel {
	for i := range p.Rules.Channels {
		if p.Rules.Channels[i].ID == id {
			return &p.Rules.Channels[i]
		}
	}
	return nil
}

// ahead notes a channel that is told next, unless another one is before it.
func (p *decision) ahead(at rimewatch.Time, channel int64) {
	switch a := &p.out.Ahead; {
	case a.At == 0 || at < a.At:
		*a = Ahead{at, []int64{channel}}
	case at == a.At:
		a.Channels = append(a.Channels, channel)
	}
}
