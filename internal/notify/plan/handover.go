package plan

import (
	"fmt"
	"slices"

	"github.com/rimewatch/rimewatch"
)

// HandOver is a moment at which others come on duty by a rota.
type HandOver struct {
	Rota          *Rota
	At            rimewatch.Time
	Before, After []int64 // users
}

// HandOvers are those of a rota after a moment, up to another one.
func (r *Rules) HandOvers(x *Rota, after, to rimewatch.Time) (list []HandOver) {
	duties := x.Duties(after, to+1, x.Zone, r.known)
	for i := 1; i < len(duties); i++ {
		h := HandOver{x, duties[i].From, duties[i-1].Users, duties[i].Users}
		if len(without(h.Before, h.After))+len(without(h.After, h.Before)) > 0 {
			list = append(list, h)
		}
	}
	return list
}

// without are the users of a list that are not in another one.
func without(list, other []int64) (out []int64) {
	for _, u := range list {
		if !slices.Contains(other, u) {
			out = append(out, u)
		}
	}
	return out
}

// Handed is the message about a hand-over for one channel of somebody who comes on duty, or goes.
type Handed struct {
	rimewatch.Delivery
	Comes  bool
	Until  rimewatch.Time // end of the incoming member's duty, 0 = not within HandOverAhead
	Others []string       // who was on duty before, or is now
	Alerts []rimewatch.AlertView
}

// HandOverAhead is how far the end of a duty is looked for.
const HandOverAhead = 8 * rimewatch.Day

// HandOver makes the messages about a hand-over: to those who come, and to those who go. alerts are the
// workspace's active ones; those that were open then, and of which a route tells the rota, are listed
// as far as the person may see them.
func (r *Rules) HandOver(h *HandOver, alerts []rimewatch.AlertView, now rimewatch.Time) (list []Handed) {
	if h.Rota.TellHandOver == rimewatch.TellNever {
		return nil
	}
	var open []rimewatch.AlertView
	for i := range alerts {
		v := &alerts[i]
		if v.Status == rimewatch.AlertActive && v.TriggeredAt <= h.At && v.SuppressedBy == 0 && r.MutedUntil(v, now) == 0 && r.concerns(h.Rota, v) {
			open = append(open, *v)
		}
	}
	for _, user := range without(h.After, h.Before) {
		list = append(list, r.handed(h, user, true, open, now)...)
	}
	for _, user := range without(h.Before, h.After) {
		list = append(list, r.handed(h, user, false, open, now)...)
	}
	return list
}

// concerns reports whether a route sends an alert to a rota.
func (r *Rules) concerns(x *Rota, v *rimewatch.AlertView) bool {
	t := rimewatch.Target{Kind: rimewatch.TargetRota, ID: x.ID}
	for i := range r.Routes {
		if route := &r.Routes[i]; route.Enabled && names(route, t) && Matches(&route.Match, v) {
			return true
		}
	}
	return false
}

// names reports whether a step of a route names a target.
func names(r *rimewatch.Route, t rimewatch.Target) bool {
	return slices.ContainsFunc(r.Steps, func(s rimewatch.RouteStep) bool { return slices.Contains(s.Targets, t) })
}

// handed are the messages to one person.
func (r *Rules) handed(h *HandOver, user int64, comes bool, open []rimewatch.AlertView, now rimewatch.Time) (list []Handed) {
	i := slices.IndexFunc(r.Members, func(m Member) bool { return m.UserID == user })
	if i < 0 {
		return nil
	}
	who := &r.Members[i]
	one := Handed{Comes: comes, Others: r.called(h.After)}
	if comes {
		one.Others = r.called(without(h.Before, h.After))
		for _, d := range h.Rota.Duties(h.At, h.At+HandOverAhead, h.Rota.Zone, r.known) {
			if !slices.Contains(d.Users, user) {
				one.Until = d.From
				break
			}
		}
	}
	for i := range open {
		if who.Sites.Has(siteOf(&open[i])) {
			one.Alerts = append(one.Alerts, open[i])
		}
	}
	if len(one.Alerts) == 0 && h.Rota.TellHandOver != rimewatch.TellAlways {
		return nil
	}
	what := "ended"
	if comes {
		what = "began"
	}
	for i := range r.Channels {
		c := &r.Channels[i]
		if !c.Enabled || !owns(who, c) {
			continue
		}
		one.Delivery = rimewatch.Delivery{
			WorkspaceID: h.Rota.WorkspaceID, ChannelID: c.ID, Kind: rimewatch.DeliveryHandOver,
			Key:    fmt.Sprintf("duty/%d/%d/%s/%d", h.Rota.ID, h.At, what, c.ID),
			Status: rimewatch.DeliveryPending, NextAttemptAt: now, CreatedAt: now,
		}
		list = append(list, one)
	}
	return list
}

// called are the names of users.
func (r *Rules) called(users []int64) (names []string) {
	for _, u := range users {
		if i := slices.IndexFunc(r.Members, func(m Member) bool { return m.UserID == u }); i >= 0 {
			names = append(names, r.Members[i].Name)
		}
	}
	return names
}
