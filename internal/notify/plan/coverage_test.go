package plan_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/notify/plan"
)

// drawPlaces draws what narrows by place: two sites, two types, three devices.
func drawPlaces(t *rapid.T, m *rimewatch.Matchers) {
	some := func(label string) bool { return rapid.IntRange(0, 2).Draw(t, label) == 0 }
	if some("by site") {
		m.SiteIDs = rapid.SliceOfNDistinct(rapid.Int64Range(1, 3), 1, 2, rapid.ID[int64]).Draw(t, "sites")
	}
	if some("by type") {
		m.EquipmentTypes = []string{rapid.SampledFrom([]string{"cooler", "freezer"}).Draw(t, "type")}
	}
	if some("by device") {
		m.DeviceIDs = rapid.SliceOfNDistinct(rapid.Int64Range(1, 4), 1, 2, rapid.ID[int64]).Draw(t, "devices")
	}
}

// drawRules draws channels in every state, routes, silences and windows: those hold for all of the
// days that the plan is followed, or are over.
func drawRules(t *rapid.T) *plan.Rules {
	r := &plan.Rules{Members: []plan.Member{{UserID: 1, Email: "a@example.com", Sites: rimewatch.Sites{1}}, {UserID: 2, Email: "b@example.com", Sites: rimewatch.Sites{1, 2}}}}
	for id := range rapid.Int64Range(0, 4).Draw(t, "channels") {
		c := rimewatch.Channel{ID: id + 1, Enabled: rapid.IntRange(0, 3).Draw(t, "off") > 0}
		if rapid.IntRange(0, 2).Draw(t, "phone") == 0 { // of somebody who is limited to sites
			c.Kind, c.To = rimewatch.ChannelPush, []string{rapid.SampledFrom([]string{"a@example.com", "b@example.com", "gone@example.com"}).Draw(t, "owner")}
		}
		switch rapid.IntRange(0, 2).Draw(t, "state") {
		case 0:
			c.LastSuccessAt = t0 - hour
		case 1:
			c.LastSuccessAt, c.Failures = t0-hour, 3
		}
		r.Channels = append(r.Channels, c)
	}
	for id := range rapid.Int64Range(0, 3).Draw(t, "routes") {
		x := drawRoute(t, id+1)
		x.Enabled = rapid.IntRange(0, 3).Draw(t, "disabled") > 0
		if rapid.IntRange(0, 3).Draw(t, "by kind") == 0 {
			x.Match.Types = []rimewatch.AlertType{rapid.SampledFrom([]rimewatch.AlertType{rimewatch.HighTemperature, rimewatch.DeviceOffline}).Draw(t, "kind")}
		}
		drawPlaces(t, &x.Match)
		r.Routes = append(r.Routes, x)
	}
	r.Rotas = []plan.Rota{
		{Rota: rimewatch.Rota{ID: 1, Shifts: []rimewatch.Shift{{Days: 127, UserID: 1}}}, Zone: time.UTC},
		{Rota: rimewatch.Rota{ID: 2}, Zone: time.UTC}, {Rota: rimewatch.Rota{ID: 3, Shifts: []rimewatch.Shift{{Days: 127, UserID: 9}}}, Zone: time.UTC},
	}
	for i := range r.Routes {
		if rapid.IntRange(0, 2).Draw(t, "people") == 0 {
			s := &r.Routes[i].Steps[0]
			s.ChannelIDs, s.Targets = nil, []rimewatch.Target{rapid.SampledFrom([]rimewatch.Target{to(rimewatch.TargetMember, 2), to(rimewatch.TargetRota, 1), to(rimewatch.TargetRota, 2), to(rimewatch.TargetRota, 3)}).Draw(t, "target")}
		}
	}
	span := func() (from, to rimewatch.Time) {
		if rapid.IntRange(0, 2).Draw(t, "over") == 0 {
			return t0 - 2*hour, t0
		}
		return t0 - hour, t0 + 30*rimewatch.Day
	}
	for range rapid.IntRange(0, 2).Draw(t, "silences") {
		var m rimewatch.Matchers
		drawPlaces(t, &m)
		if rapid.Bool().Draw(t, "of warnings") {
			m.Severities = []rimewatch.Severity{rimewatch.Warning}
		}
		from, to := span()
		silence(from, to, m)(r)
	}
	if rapid.IntRange(0, 3).Draw(t, "work") == 0 {
		var m rimewatch.Matchers
		drawPlaces(t, &m)
		from, to := span()
		r.Maintenance = append(r.Maintenance, rimewatch.MaintenanceWindow{StartsAt: from, EndsAt: to, SiteIDs: m.SiteIDs, DeviceIDs: m.DeviceIDs})
	}
	return r
}

// notified plays a critical alert of a unit forward for a week and reports whether a channel that works
// was notified. Messages of others stay on their way, as those of a channel that fails do for a day.
func notified(rules *plan.Rules, u plan.Unit) bool {
	w := newWorldBefore(rimewatch.Critical, rimewatch.HighTemperature)
	w.rules = *rules
	w.view.DeviceID, w.view.EquipmentType, w.view.Site = u.DeviceID, u.EquipmentType, nil
	if u.SiteID != 0 {
		w.view.Site = &rimewatch.Site{ID: u.SiteID}
	}
	working := make(map[int64]bool)
	for i := range rules.Channels {
		works, _ := rules.Channels[i].Working()
		working[rules.Channels[i].ID] = works
		w.broken[rules.Channels[i].ID] = !works
	}
	w.happen(t0, rimewatch.TransitionOpened)
	w.runUntil(t0 + 7*rimewatch.Day)
	return slices.ContainsFunc(w.in.Made, func(d rimewatch.Delivery) bool { return working[d.ChannelID] })
}

// TestCoverageIsWhatThePlannerDoes: a site is covered exactly where the planner would notify somebody
// of a critical alert of each of its units; a unit that is silenced leaves it to the others.
func TestCoverageIsWhatThePlannerDoes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rules := drawRules(t)
		var units []plan.Unit
		for id := range rapid.Int64Range(0, 4).Draw(t, "units") {
			units = append(units, plan.Unit{DeviceID: id + 1, SiteID: rapid.Int64Range(0, 2).Draw(t, "site"), EquipmentType: rapid.SampledFrom([]string{"cooler", "freezer"}).Draw(t, "equipment")})
		}
		got := rules.Coverage(slices.Values(units), t0)

		type site struct{ told, muted, missed bool }
		sites := make(map[int64]site)
		anywhere := len(units) == 0
		for _, u := range units {
			s := sites[u.SiteID]
			v := &rimewatch.AlertView{Alert: rimewatch.Alert{DeviceID: u.DeviceID, SiteID: u.SiteID, Severity: rimewatch.Critical, Type: rimewatch.HighTemperature}, EquipmentType: u.EquipmentType}
			switch told := notified(rules, u); {
			case rules.MutedUntil(v, t0) != 0:
				s.muted = true
				if told {
					t.Fatalf("unit %v is silenced, and somebody was notified", u)
				}
			case told:
				s.told, anywhere = true, true
			default:
				s.missed = true
			}
			sites[u.SiteID] = s
		}
		for id, s := range sites {
			i := slices.IndexFunc(got.Gaps, func(g rimewatch.CoverageGap) bool { return g.SiteID == id })
			if want := s.missed || s.muted && !s.told; want != (i >= 0) {
				t.Fatalf("site %d: covered %v, want %v (%+v)", id, i < 0, !want, s)
			}
			if i >= 0 && (got.Gaps[i].Reason == rimewatch.CoverageSilenced) == s.missed {
				t.Fatalf("site %d: %s (%+v)", id, got.Gaps[i].Reason, s)
			}
		}
		if got.Anywhere != anywhere || (got.Reason() == "") != (len(got.Gaps) == 0) {
			t.Fatalf("anywhere %v, want %v; reason %q of %d gaps", got.Anywhere, anywhere, got.Reason(), len(got.Gaps))
		}
	})
}

func TestCoverageReasons(t *testing.T) {
	works := rimewatch.Channel{ID: 1, Enabled: true, ChannelHealth: rimewatch.ChannelHealth{LastSuccessAt: t0 - hour}}
	off := works
	off.Enabled = false
	failing := works
	failing.Failures = 1
	untested := rimewatch.Channel{ID: 1, Enabled: true}
	other := rimewatch.Channel{ID: 2, Enabled: true, ChannelHealth: works.ChannelHealth}
	at := func(site int64) func(*rimewatch.Route) {
		return func(r *rimewatch.Route) { r.Match.SiteIDs = []int64{site} }
	}
	for _, c := range []struct {
		name     string
		channels []rimewatch.Channel
		routes   []rimewatch.Route
		want     rimewatch.CoverageReason
	}{
		{name: "no channel", want: rimewatch.CoverageNoChannel},
		{name: "disabled", channels: []rimewatch.Channel{off}, want: rimewatch.CoverageOff},
		{name: "failing", channels: []rimewatch.Channel{failing}, want: rimewatch.CoverageFailing},
		{name: "untested", channels: []rimewatch.Channel{untested}, want: rimewatch.CoverageUntested},
		{name: "works", channels: []rimewatch.Channel{works}},
		{name: "a route to a channel that is disabled, another works", channels: []rimewatch.Channel{off, other}, routes: []rimewatch.Route{route(1, step(0, 1))}},
		{name: "a route to one that fails is tried for a day before another has its turn", channels: []rimewatch.Channel{failing, other}, routes: []rimewatch.Route{route(1, step(0, 1))}, want: rimewatch.CoverageFailing},
		{name: "a later step works", channels: []rimewatch.Channel{failing, other}, routes: []rimewatch.Route{route(1, step(0, 1), step(hour, 2))}},
		{name: "another site's route, and what works gets it", channels: []rimewatch.Channel{works}, routes: []rimewatch.Route{with(route(1, step(0, 1)), at(9))}},
		{name: "another site's route, and nothing works", channels: []rimewatch.Channel{untested}, routes: []rimewatch.Route{with(route(1, step(0, 1)), at(9))}, want: rimewatch.CoverageNoRoute},
	} {
		t.Run(c.name, func(t *testing.T) {
			rules := &plan.Rules{Channels: c.channels, Routes: c.routes}
			got := rules.Coverage(slices.Values([]plan.Unit{{DeviceID: 7, SiteID: 3, EquipmentType: "cooler"}}), t0)
			if got.Reason() != c.want {
				t.Errorf("%q, want %q", got.Reason(), c.want)
			}
		})
	}
}

// TestCoverageHolds: what holds is listed where it is about a unit that somebody may see, and work on
// one of two units leaves their site covered.
func TestCoverageHolds(t *testing.T) {
	rules := &plan.Rules{Channels: []rimewatch.Channel{{ID: 1, Enabled: true, ChannelHealth: rimewatch.ChannelHealth{LastSuccessAt: t0 - hour}}}}
	rules.Silences = []rimewatch.Silence{
		{ID: 1, StartsAt: t0 - hour, EndsAt: t0 + hour, Match: rimewatch.Matchers{DeviceIDs: []int64{7}}, Comment: "delivery", CreatedBy: "mara@example.com"},
		{ID: 2, StartsAt: t0 - hour, EndsAt: t0 + 3*hour, Match: rimewatch.Matchers{SiteIDs: []int64{4}}},
		{ID: 3, StartsAt: t0 + 1, EndsAt: t0 + 3*hour},
		{ID: 4, StartsAt: t0 - hour, EndsAt: t0},
	}
	rules.Maintenance = []rimewatch.MaintenanceWindow{{ID: 5, StartsAt: t0, EndsAt: t0 + 2*hour, SiteIDs: []int64{9}, DeviceIDs: []int64{8}, Reason: "cleaning"}}
	at := func(units ...plan.Unit) rimewatch.Coverage { return rules.Coverage(slices.Values(units), t0) }

	got := at(plan.Unit{DeviceID: 7, SiteID: 3, EquipmentType: "cooler"}, plan.Unit{DeviceID: 6, SiteID: 3, EquipmentType: "cooler"})
	want := rimewatch.Coverage{Anywhere: true, Held: []rimewatch.Hold{{Kind: rimewatch.HoldSilence, ID: 1, Match: rimewatch.Matchers{DeviceIDs: []int64{7}}, EndsAt: t0 + hour, Comment: "delivery", CreatedBy: "mara@example.com"}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error("one of two units:", diff)
	}
	got = at(plan.Unit{DeviceID: 8, SiteID: 3, EquipmentType: "cooler"}, plan.Unit{DeviceID: 5, SiteID: 4, EquipmentType: "cooler"})
	want = rimewatch.Coverage{
		Gaps: []rimewatch.CoverageGap{{SiteID: 3, Reason: rimewatch.CoverageSilenced}, {SiteID: 4, Reason: rimewatch.CoverageSilenced}},
		Held: []rimewatch.Hold{
			{Kind: rimewatch.HoldSilence, ID: 2, Match: rimewatch.Matchers{SiteIDs: []int64{4}}, EndsAt: t0 + 3*hour},
			{Kind: rimewatch.HoldMaintenance, ID: 5, Match: rimewatch.Matchers{SiteIDs: []int64{9}, DeviceIDs: []int64{8}}, EndsAt: t0 + 2*hour, Comment: "cleaning"},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error("all units of two sites:", diff)
	}
}
