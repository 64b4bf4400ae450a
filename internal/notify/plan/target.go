package plan

import (
	"slices"
	"strings"

	"github.com/rimewatch/rimewatch"
)

// found is a route whose steps name the channels of their targets: of a step that was taken those of
// that moment, of others those of now. Whoever comes on duty later is told by later steps.
func (p *decision) found(r *rimewatch.Route) *rimewatch.Route {
	return p.Rules.found(p.Input.Alert, r, func(level int) rimewatch.Time {
		if at := p.notified(r, level); at != 0 {
			return at
		}
		return p.Now
	})
}

func (r *Rules) found(v *rimewatch.AlertView, x *rimewatch.Route, at func(level int) rimewatch.Time) *rimewatch.Route {
	if !slices.ContainsFunc(x.Steps, func(s rimewatch.RouteStep) bool { return len(s.Targets) > 0 }) {
		return x
	}
	out := *x
	out.Steps = slices.Clone(x.Steps)
	for level := range out.Steps {
		out.Steps[level].ChannelIDs = r.channelsOf(v, &x.Steps[level], at(level))
	}
	return &out
}

// channelsOf are the channels of a step at a moment, each once.
func (r *Rules) channelsOf(v *rimewatch.AlertView, s *rimewatch.RouteStep, at rimewatch.Time) []int64 {
	list := slices.Clone(s.ChannelIDs)
	add := func(brings func(*rimewatch.Channel) bool) {
		for i := range r.Channels {
			if c := &r.Channels[i]; brings(c) && !slices.Contains(list, c.ID) {
				list = append(list, c.ID)
			}
		}
	}
	member := func(id int64) {
		i := slices.IndexFunc(r.Members, func(m Member) bool { return m.UserID == id })
		if i >= 0 && r.Members[i].Sites.Has(siteOf(v)) {
			add(func(c *rimewatch.Channel) bool { return owns(&r.Members[i], c) })
		}
	}
	for _, t := range s.Targets {
		switch t.Kind {
		case rimewatch.TargetMember:
			member(t.ID)
		case rimewatch.TargetRota:
			if x := r.rota(t.ID); x != nil {
				for _, id := range x.OnDuty(at, x.Zone, r.known) {
					member(id)
				}
			}
		case rimewatch.TargetContact:
			if i := slices.IndexFunc(r.Contacts, func(c rimewatch.Contact) bool { return c.ID == t.ID }); i >= 0 {
				add(func(c *rimewatch.Channel) bool { return Reaches(c, &r.Contacts[i]) })
			}
		}
	}
	return list
}

// owns reports whether a channel is a member's own: as its owner, or because it brings messages to that address alone.
func owns(m *Member, c *rimewatch.Channel) bool {
	if c.OwnerID != 0 {
		return c.OwnerID == m.UserID
	}
	return alone(c, m.Email)
}

// alone reports whether a channel brings messages to one address only.
func alone(c *rimewatch.Channel, email string) bool {
	return email != "" && len(c.To) == 1 && rimewatch.EmailKey(c.To[0]) == email
}

// Reaches reports whether a channel brings messages to a contact only.
func Reaches(c *rimewatch.Channel, x *rimewatch.Contact) bool {
	if c.Kind == rimewatch.ChannelCall {
		_, to, found := strings.Cut(c.URL, "to=")
		to, _, _ = strings.Cut(to, "&")
		return found && digits(to) != "" && digits(to) == digits(x.Phone)
	}
	return alone(c, rimewatch.EmailKey(x.Email))
}

func digits(phone string) string {
	return strings.Map(func(c rune) rune {
		if c < '0' || c > '9' {
			return -1
		}
		return c
	}, strings.TrimPrefix(phone, "%2B"))
}

func (r *Rules) rota(id int64) *Rota {
	for i := range r.Rotas {
		if r.Rotas[i].ID == id {
			return &r.Rotas[i]
		}
	}
	return nil
}

// known reports whether a user is a member.
func (r *Rules) known(user int64) bool {
	return slices.ContainsFunc(r.Members, func(m Member) bool { return m.UserID == user })
}

// dutyBegins returns when the duty of a step next changes, 0 = never.
func (r *Rules) dutyBegins(s *rimewatch.RouteStep, at rimewatch.Time) (next rimewatch.Time) {
	for _, t := range s.Targets {
		if x := r.rota(t.ID); t.Kind == rimewatch.TargetRota && x != nil {
			if n := x.Next(at, x.Zone); n != 0 && (next == 0 || n < next) {
				next = n
			}
		}
	}
	return next
}

// Named are the rotas that a route which is switched on names.
func (r *Rules) Named() (list []*Rota) {
	for i := range r.Rotas {
		t := rimewatch.Target{Kind: rimewatch.TargetRota, ID: r.Rotas[i].ID}
		for j := range r.Routes {
			if x := &r.Routes[j]; x.Enabled && names(x, t) {
				list = append(list, &r.Rotas[i])
				break
			}
		}
	}
	return list
}

// SitesOf are the sites whose alerts routes bring to a rota, of those that somebody may see; none of them is named
// where it is told of any. told: there is one.
func (r *Rules) SitesOf(x *Rota, may rimewatch.Sites) (list []int64, told bool) {
	list = []int64{}
	t := rimewatch.Target{Kind: rimewatch.TargetRota, ID: x.ID}
	for i := range r.Routes {
		route := &r.Routes[i]
		if !route.Enabled || !names(route, t) {
			continue
		}
		if len(route.Match.SiteIDs) == 0 {
			return []int64{}, true
		}
		for _, id := range route.Match.SiteIDs {
			if may.Has(id) && !slices.Contains(list, id) {
				list = append(list, id)
			}
		}
	}
	slices.Sort(list)
	return list, len(list) > 0
}

// Gaps returns the spans from a moment to another without anyone of a rota on duty.
func (r *Rules) Gaps(x *Rota, from, to rimewatch.Time) []rimewatch.Duty {
	return x.Rota.Gaps(from, to, x.Zone, r.known)
}
