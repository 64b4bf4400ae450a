package plan

import (
	"slices"

	"github.com/rimewatch/rimewatch"
)

// route decides the deliveries of one route for an active alert that is not held back.
func (p *decision) route(r *rimewatch.Route) {
	if p.a.Severity == rimewatch.Warning {
		if r.DigestAt != nil {
			return // notified by Digest
		}
		if r.Quiet != nil && quiet(r.Quiet, p.Now, p.Zone) {
			end := quietEnd(r.Quiet, p.Now, p.Zone)
			p.lookAt(end)
			p.levels(r, end)
			return
		}
	}
	p.rise(r)
	p.remind(r) // before the levels, which count from it
	p.levels(r, p.Now)
	if r.RepeatS > 0 && p.a.AcknowledgedAt == 0 && len(p.notifiedBy(r)) > 0 {
		p.lookAt(p.Now + seconds(r.RepeatS))
	}
}

// start is the moment from which a route's delays count: the alert's own, or since when
// the route matches it. moved: it matches since the device has come to its place.
func (p *decision) start(r *rimewatch.Route) (at rimewatch.Time, moved bool) {
	at, matched := p.a.TriggeredAt, true
	for i := range p.Timeline {
		t := &p.Timeline[i]
		if t.Kind != rimewatch.TransitionOpened && !changesMatch(t.Kind) {
			continue
		}
		does := Matches(&r.Match, p.after(i+1))
		if does && !matched {
			at, moved = t.At, t.Kind == rimewatch.TransitionMoved
		}
		matched = does
	}
	return at, moved
}

// levels notifies the levels that are due: the first after its delay from the
// route's start, each other one after its delay from the level before it, counted
// from when those had the alert to answer for. Before a moment nobody is notified.
func (p *decision) levels(r *rimewatch.Route, earliest rimewatch.Time) {
	start, moved := p.start(r)
	from, waited := start, 0
	for level := range r.Steps {
		step := &r.Steps[level]
		if p.a.AcknowledgedAt != 0 && (level > 0 || moved || start <= p.a.AcknowledgedAt) {
			return
		}
		due := from + seconds(step.AfterS-waited)
		if level == 0 && p.a.Type == rimewatch.DeviceOffline {
			due = max(due, p.a.TriggeredAt+OfflineWait)
		}
		if first := max(due, earliest); p.Now < first && p.notified(r, level) == 0 {
			p.lookAt(first)
			p.lookAhead(r, level, first)
			return
		}
		for _, c := range step.ChannelIDs {
			if p.Now < earliest || !p.channels[c] || p.knows(r, level, c) {
				continue
			}
			if at := p.wayDue(r, level, c); p.Now < at {
				p.lookAt(at)
				p.ahead(at, c)
				continue
			}
			p.want(rimewatch.DeliveryOpened, r, level, 0, c, p.Now, "")
		}
		if p.notified(r, level) == 0 { // nobody is on duty: the next member is notified when the duty begins
			if next := p.Rules.dutyBegins(step, p.Now); next != 0 {
				p.lookAt(next)
			}
		}
		from, waited = p.answering(r, level, due), step.AfterS
	}
}

// lookAhead notes who is notified next by a route whose level is due at a moment to come:
// those of the first level from there on that has recipients.
func (p *decision) lookAhead(r *rimewatch.Route, level int, due rimewatch.Time) {
	a := &p.out.Ahead
	for ; level < len(r.Steps) && (a.At == 0 || due <= a.At); level++ {
		var list []int64
		x := p.Rules.found(p.Input.Alert, routeOf(p.Rules.routes(), r.ID), func(int) rimewatch.Time { return due })
		for _, c := range x.Steps[level].ChannelIDs {
			if p.channels[c] && !p.knows(r, level, c) {
				list = append(list, c)
			}
		}
		switch {
		case len(list) > 0 && due == a.At:
			list = slices.DeleteFunc(list, func(c int64) bool { return slices.Contains(a.Channels, c) })
			a.Channels = append(a.Channels, list...)
			return
		case len(list) > 0:
			*a = Ahead{due, list}
			return
		case level+1 < len(r.Steps):
			due += seconds(r.Steps[level+1].AfterS - r.Steps[level].AfterS)
		}
	}
}

func seconds(s int) rimewatch.Time { return rimewatch.Time(s) * rimewatch.Second }

// answering is since when those of a level that is due answer for the alert: since
// they were notified or, where it has been held back after that, since they were
// notified anew.
func (p *decision) answering(r *rimewatch.Route, level int, due rimewatch.Time) rimewatch.Time {
	at := p.notified(r, level)
	if at == 0 {
		at = due // nobody could be notified, or another route has done it
		for i := range p.made {
			if d := &p.made[i]; level == 0 && d.Kind == rimewatch.DeliveryOpened && slices.Contains(r.Steps[0].ChannelIDs, d.ChannelID) {
				at = max(at, d.CreatedAt)
				break
			}
		}
	}
	start, _ := p.start(r)
	held := max(p.ackExpiredAt, p.mutedEndAt, start)
	if at >= held {
		return at
	}
	for i := range p.made {
		if d := &p.made[i]; d.CreatedAt >= held && slices.Contains(r.Steps[level].ChannelIDs, d.ChannelID) {
			return d.CreatedAt
		}
	}
	return held
}

// notified is when a route notified one of its levels, 0 = not yet.
func (p *decision) notified(r *rimewatch.Route, level int) rimewatch.Time {
	for i := range p.made {
		if d := &p.made[i]; d.Kind == rimewatch.DeliveryOpened && d.RouteID == r.ID && d.Level == level {
			return d.CreatedAt
		}
	}
	return 0
}

// knows reports whether a channel has had a route's level, or, of level 0, has been
// notified by another route.
func (p *decision) knows(r *rimewatch.Route, level int, channel int64) bool {
	for i := range p.made {
		d := &p.made[i]
		if d.ChannelID != channel {
			continue
		}
		if d.Kind == rimewatch.DeliveryOpened && d.RouteID == r.ID && d.Level == level {
			return true
		}
		if d.RouteID != r.ID && level == 0 && d.Status != rimewatch.DeliveryDropped {
			return true
		}
	}
	return false
}

// rise notifies those again who know the alert as a warning.
func (p *decision) rise(r *rimewatch.Route) {
	if p.a.Severity != rimewatch.Critical || p.escalatedAt == 0 || (p.a.AcknowledgedAt != 0 && p.a.AcknowledgedAt >= p.escalatedAt) {
		return
	}
	for _, c := range p.notifiedBy(r) {
		if last, _ := p.lastNotified(c); last < p.escalatedAt {
			p.supersede(c)
			p.want(rimewatch.DeliveryEscalated, r, p.levelOf(r, c), p.escalations-1, c, p.Now, "")
		}
	}
}

// supersede drops what a channel was to hear of the alert while it was a warning: what is
// urgent goes first, and would be followed by older news.
func (p *decision) supersede(channel int64) {
	for i := range p.made {
		if d := &p.made[i]; d.ChannelID == channel && d.ID != 0 && d.Status == rimewatch.DeliveryPending && !d.Urgent && !d.InDoubt {
			p.out.Drop = append(p.out.Drop, d.ID)
			d.Status = rimewatch.DeliveryDropped
		}
	}
}

// remind notifies again after the route's span, and when an acknowledgement, a
// silence or an explanation has ended.
func (p *decision) remind(r *rimewatch.Route) {
	if p.a.AcknowledgedAt != 0 {
		return
	}
	for _, c := range p.notifiedBy(r) {
		last, waiting := p.lastNotified(c)
		if waiting {
			continue // the last message is still on its way: another would only wait behind it
		}
		after := ""
		switch {
		case p.ackExpiredAt > last:
			after = "acknowledgement"
		case p.mutedEndAt > last:
			after = "silence"
		case r.RepeatS == 0:
			continue
		case p.Now < last+seconds(r.RepeatS):
			p.lookAt(last + seconds(r.RepeatS))
			continue
		}
		if at := p.loud(c, p.Now); p.Now < at {
			p.lookAt(at)
			continue
		}
		p.want(rimewatch.DeliveryRepeat, r, p.levelOf(r, c), p.repeats(r, c), c, p.Now, after)
	}
}

// notifiedBy are the enabled channels that a route has notified that the alert opened.
func (p *decision) notifiedBy(r *rimewatch.Route) (list []int64) {
	seen := make(map[int64]bool)
	for i := range p.made {
		d := &p.made[i]
		if d.RouteID == r.ID && d.Status != rimewatch.DeliveryDropped && p.channels[d.ChannelID] && !seen[d.ChannelID] {
			seen[d.ChannelID] = true
			list = append(list, d.ChannelID)
		}
	}
	return list
}

// lastNotified is when a channel was last notified of the alert, and whether
// that, made before this decision, still waits to be sent.
func (p *decision) lastNotified(channel int64) (last rimewatch.Time, waiting bool) {
	for i := range p.made {
		d := &p.made[i]
		if d.ChannelID != channel || d.Status == rimewatch.DeliveryDropped {
			continue
		}
		last = max(last, d.CreatedAt)
		if d.Status == rimewatch.DeliveryPending && d.ID != 0 {
			waiting = true
		}
	}
	return last, waiting
}

// levelOf is the highest level at which a route has notified a channel.
func (p *decision) levelOf(r *rimewatch.Route, channel int64) (level int) {
	for i := range p.made {
		if d := &p.made[i]; d.RouteID == r.ID && d.ChannelID == channel {
			level = max(level, d.Level)
		}
	}
	return level
}

func (p *decision) repeats(r *rimewatch.Route, channel int64) (n int) {
	for i := range p.made {
		if d := &p.made[i]; d.RouteID == r.ID && d.ChannelID == channel && d.Kind == rimewatch.DeliveryRepeat {
			n++
		}
	}
	return n
}

// recovery notifies those who were or may have been notified that the alert is over, and
// drops what has not been sent by now. Who is being notified at this moment hears of the
// end after that.
func (p *decision) recovery() {
	notified := make(map[int64]bool)
	for i := range p.made {
		d := &p.made[i]
		switch {
		case d.Kind == rimewatch.DeliveryRecovery:
			notified[d.ChannelID] = true
		case d.Status == rimewatch.DeliveryPending:
			p.out.Drop = append(p.out.Drop, d.ID)
			if p.UnderWay[d.ID] {
				notified[d.ChannelID], p.out.Waits = true, true
			}
		}
	}
	routes := p.Rules.routes()
	for _, d := range p.made[:len(p.made):len(p.made)] {
		if (d.Status != rimewatch.DeliverySent && !d.InDoubt) || notified[d.ChannelID] || !p.channels[d.ChannelID] {
			continue
		}
		r := routeOf(routes, d.RouteID)
		if !r.Recovery {
			continue
		}
		notified[d.ChannelID] = true
		at := max(p.Now, p.mutedUntil())
		if r.Quiet != nil && !p.everCritical && quiet(r.Quiet, at, p.Zone) {
			at = quietEnd(r.Quiet, at, p.Zone)
		}
		if !p.everCritical {
			at = p.loud(d.ChannelID, at)
		}
		p.want(rimewatch.DeliveryRecovery, r, d.Level, 0, d.ChannelID, at, "")
	}
}

// routeOf finds the route of a delivery. Where it has been removed since, those
// who were notified are notified of the end too.
func routeOf(routes []*rimewatch.Route, id int64) *rimewatch.Route {
	for _, r := range routes {
		if r.ID == id {
			return r
		}
	}
	return &rimewatch.Route{ID: id, Recovery: true}
}
