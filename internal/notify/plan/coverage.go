package plan

import (
	"cmp"
	"iter"
	"maps"
	"slices"

	"github.com/rimewatch/rimewatch"
)

// Unit is a device as far as routes, silences and windows tell devices apart.
type Unit struct {
	DeviceID      int64
	SiteID        int64 // 0 = none
	EquipmentType string
}

// probe is a critical alert that begins at a unit now: its goods are too warm.
func (u Unit) probe() *rimewatch.AlertView {
	return &rimewatch.AlertView{
		Alert:         rimewatch.Alert{DeviceID: u.DeviceID, SiteID: u.SiteID, Severity: rimewatch.Critical, Type: rimewatch.HighTemperature, Status: rimewatch.AlertActive},
		EquipmentType: u.EquipmentType,
	}
}

// nowhere is a unit that nothing names: only what is not narrowed by place matches it.
var nowhere = Unit{DeviceID: -1, SiteID: -1}

// Coverage finds the sites of some units where nobody would be notified of a critical alert
// that begins now. A channel counts once a message has arrived through it and until one has
// not; one that is later in its route counts as well.
func (r *Rules) Coverage(units iter.Seq[Unit], now rimewatch.Time) rimewatch.Coverage {
	holds := r.holds(now)
	if len(holds) == 0 && r.routed(nowhere.probe(), now) == "" {
		return rimewatch.Coverage{Anywhere: true} // everybody's route: no unit has to be looked at
	}
	named := r.named()
	reasons := make(map[Unit]rimewatch.CoverageReason)
	sites := make(map[int64]*tally)
	holding := make([]bool, len(holds))
	for u := range units {
		at := sites[u.SiteID]
		if at == nil {
			at = &tally{}
			sites[u.SiteID] = at
		}
		if !named[u.DeviceID] {
			u.DeviceID = nowhere.DeviceID // as all of its type and site
		}
		reason, known := reasons[u]
		if !known {
			v := u.probe()
			reason = r.reason(v, now)
			reasons[u] = reason
			for i := range holds {
				holding[i] = holding[i] || holds[i].about(v)
			}
		}
		at.add(reason)
	}
	out := rimewatch.Coverage{Anywhere: len(sites) == 0}
	for _, id := range slices.Sorted(maps.Keys(sites)) {
		t := sites[id]
		out.Anywhere = out.Anywhere || t.told
		if reason := t.reason(); reason != "" {
			out.Gaps = append(out.Gaps, rimewatch.CoverageGap{SiteID: id, Reason: reason})
		}
	}
	for i := range holds {
		if holding[i] {
			out.Held = append(out.Held, holds[i].Hold)
		}
	}
	return out
}

// tally is what is known of the units of a site.
type tally struct {
	told, silenced bool                     // somebody would be notified of one; one is silenced
	worst          rimewatch.CoverageReason // of those of which nobody would be for another reason
}

func (t *tally) add(reason rimewatch.CoverageReason) {
	order := rimewatch.CoverageReasons()
	switch {
	case reason == "":
		t.told = true
	case reason == rimewatch.CoverageSilenced:
		t.silenced = true
	case t.worst == "" || slices.Index(order, reason) < slices.Index(order, t.worst):
		t.worst = reason
	}
}

// reason is why nobody would be notified at the site, "" = somebody would be. Work on one
// unit leaves the site to those who watch the others.
func (t *tally) reason() rimewatch.CoverageReason {
	if t.worst == "" && t.silenced && !t.told {
		return rimewatch.CoverageSilenced
	}
	return t.worst
}

// reason is why nobody would be notified of an alert that begins now, "" = somebody would be.
func (r *Rules) reason(v *rimewatch.AlertView, now rimewatch.Time) rimewatch.CoverageReason {
	if r.MutedUntil(v, now) != 0 {
		return rimewatch.CoverageSilenced
	}
	reason := r.routed(v, now)
	if reason == rimewatch.CoverageNoRoute || reason == rimewatch.CoverageOff {
		if slices.ContainsFunc(r.Channels, func(c rimewatch.Channel) bool { return dependable(&c) && r.mayKnow(&c, v) }) {
			return "" // what no route brings to anybody goes to them
		}
	}
	return reason
}

// routed is why no route brings an alert to a channel that works, "" = one does.
func (r *Rules) routed(v *rimewatch.AlertView, now rimewatch.Time) rimewatch.CoverageReason {
	if len(r.Channels) == 0 {
		return rimewatch.CoverageNoChannel
	}
	enabled := r.enabled(v)
	if !slices.ContainsFunc(r.Channels, func(c rimewatch.Channel) bool { return c.Enabled }) {
		return rimewatch.CoverageOff
	}
	best := rimewatch.CoverageNoRoute
	for _, route := range r.matching(v) {
		if best == rimewatch.CoverageNoRoute && len(r.Routes) > 0 {
			best = rimewatch.CoverageOff
		}
		for i := range r.Channels {
			c := &r.Channels[i]
			if !enabled[c.ID] || !reaches(r.found(v, route, func(int) rimewatch.Time { return now }), func(_ int, id int64) bool { return id == c.ID }) {
				continue
			}
			switch works, tried := c.Working(); {
			case works:
				return ""
			case !tried:
				best = rimewatch.CoverageUntested
			case best != rimewatch.CoverageUntested:
				best = rimewatch.CoverageFailing
			}
		}
	}
	return best
}

// named are the devices that a route, a silence or a window names.
func (r *Rules) named() map[int64]bool {
	out := make(map[int64]bool)
	add := func(ids []int64) {
		for _, id := range ids {
			out[id] = true
		}
	}
	for i := range r.Routes {
		add(r.Routes[i].Match.DeviceIDs)
	}
	for i := range r.Silences {
		add(r.Silences[i].Match.DeviceIDs)
	}
	for i := range r.Maintenance {
		add(r.Maintenance[i].DeviceIDs)
	}
	return out
}

// hold is a silence or window with the alerts that it is about by their place alone.
type hold struct {
	rimewatch.Hold
	about func(*rimewatch.AlertView) bool
}

// holds are the silences and windows that hold messages back, the last to end first.
func (r *Rules) holds(now rimewatch.Time) (list []hold) {
	for i := range r.Silences {
		s := &r.Silences[i]
		if now < s.StartsAt || s.EndsAt <= now {
			continue
		}
		place := rimewatch.Matchers{SiteIDs: s.Match.SiteIDs, EquipmentTypes: s.Match.EquipmentTypes, DeviceIDs: s.Match.DeviceIDs}
		list = append(list, hold{
			rimewatch.Hold{Kind: rimewatch.HoldSilence, ID: s.ID, Match: s.Match, EndsAt: s.EndsAt, Comment: s.Comment, CreatedBy: s.CreatedBy},
			func(v *rimewatch.AlertView) bool { return Matches(&place, v) },
		})
	}
	for i := range r.Maintenance {
		w := &r.Maintenance[i]
		if now < w.StartsAt || w.EndsAt <= now {
			continue
		}
		list = append(list, hold{
			rimewatch.Hold{
				Kind: rimewatch.HoldMaintenance, ID: w.ID, Match: rimewatch.Matchers{SiteIDs: w.SiteIDs, DeviceIDs: w.DeviceIDs},
				EndsAt: w.EndsAt, Comment: w.Reason, CreatedBy: w.CreatedBy,
			},
			func(v *rimewatch.AlertView) bool { return covers(w, v) },
		})
	}
	slices.SortStableFunc(list, func(x, y hold) int { return cmp.Compare(y.EndsAt, x.EndsAt) })
	return list
}
