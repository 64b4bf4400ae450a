package plan_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/notify/plan"
)

const (
	ben   = 5 // his phone is channel 1
	mara  = 6 // the e-mail of channel 2 is hers alone; she may see site 3
	none  = 7 // has no way to be told
	polar = 9 // a contact whose number channel 3 calls
)

func to(kind rimewatch.TargetKind, id int64) rimewatch.Target {
	return rimewatch.Target{Kind: kind, ID: id}
}

func people(after rimewatch.Time, list ...rimewatch.Target) rimewatch.RouteStep {
	return rimewatch.RouteStep{AfterS: int(after / rimewatch.Second), Targets: list}
}

// staff adds members to the world, a contact and rotas: 1 has Ben until 13:00 UTC and Mara from then on, 2 nobody
// until 14:00 and then Ben, 3 nobody ever, 4 somebody who was removed.
func (w *world) staff() {
	r := &w.rules
	r.Channels[0].Kind, r.Channels[0].To = rimewatch.ChannelPush, []string{"ben@example.com"}
	r.Channels[1].Kind, r.Channels[1].To = rimewatch.ChannelEmail, []string{"Mara@example.com"}
	r.Channels[2].Kind, r.Channels[2].URL = rimewatch.ChannelCall, "twilio://sid:token@call?from=%2B15550100&to=%2B15550142"
	r.Members = []plan.Member{{UserID: ben, Name: "Ben", Email: "ben@example.com"}, {UserID: mara, Name: "Mara", Email: "mara@example.com", Sites: rimewatch.Sites{3}}, {UserID: none, Name: "Noa", Email: "noa@example.com"}}
	r.Contacts = []rimewatch.Contact{{ID: polar, Name: "Polar Service", Phone: "+1 555-0142"}, {ID: 10, Name: "Landlord", Phone: "+1 555 0199"}}
	daily := func(from, to int, user int64) rimewatch.Shift {
		return rimewatch.Shift{Days: 127, From: from * 60, To: to * 60, UserID: user}
	}
	rota := func(id int64, shifts ...rimewatch.Shift) plan.Rota {
		return plan.Rota{Rota: rimewatch.Rota{ID: id, Shifts: shifts}, Zone: time.UTC}
	}
	r.Rotas = []plan.Rota{rota(1, daily(0, 13, ben), daily(13, 0, mara)), rota(2, daily(14, 15, ben)), rota(3), rota(4, daily(0, 0, 99))}
	for i := range r.Channels {
		r.Channels[i].LastSuccessAt = t0 - hour
	}
}

// TestTargets: members, rotas and contacts are the channels that reach them alone, found when the step is taken.
func TestTargets(t *testing.T) {
	for _, c := range []struct {
		name  string
		site  int64
		steps []rimewatch.RouteStep
		want  string
	}{
		{"a member by phone, then one by mail, then a contact by call", 3, []rimewatch.RouteStep{people(0, to(rimewatch.TargetMember, ben)), people(15*minute, to(rimewatch.TargetMember, mara)), people(30*minute, to(rimewatch.TargetContact, polar))},
			"0:00 opened L0 → 1|0:15 opened L1 → 2|0:30 opened L2 → 3"},
		{"whoever is on duty at the moment of the step", 3, []rimewatch.RouteStep{people(0, to(rimewatch.TargetRota, 1)), people(90*minute, to(rimewatch.TargetRota, 1))},
			"0:00 opened L0 → 1|1:30 opened L1 → 2"},
		{"a shift that ends tells nobody anew", 3, []rimewatch.RouteStep{people(0, to(rimewatch.TargetRota, 1))}, "0:00 opened L0 → 1"},
		{"twice the same is told once", 3, []rimewatch.RouteStep{{ChannelIDs: []int64{1}, Targets: []rimewatch.Target{to(rimewatch.TargetMember, ben), to(rimewatch.TargetRota, 1)}}}, "0:00 opened L0 → 1"},
		{"somebody limited to other sites is not told", 4, []rimewatch.RouteStep{people(0, to(rimewatch.TargetMember, mara)), people(5*minute, to(rimewatch.TargetMember, ben))}, "0:05 opened L1 → 1"},
		{"a gap goes to everybody, and to whoever comes on duty next", 3, []rimewatch.RouteStep{people(0, to(rimewatch.TargetRota, 2))}, "0:00 unrouted L0 → 1|0:00 unrouted L0 → 2|0:00 unrouted L0 → 3"},
		{"a gap with a step after it", 3, []rimewatch.RouteStep{people(0, to(rimewatch.TargetRota, 2)), step(5*minute, 3)}, "0:05 opened L1 → 3|2:00 opened L0 → 1"},
		{"an empty rota", 3, []rimewatch.RouteStep{people(0, to(rimewatch.TargetRota, 3)), step(5*minute, 3)}, "0:05 opened L1 → 3"},
		{"a removed member", 3, []rimewatch.RouteStep{people(0, to(rimewatch.TargetRota, 4), to(rimewatch.TargetMember, 99)), step(5*minute, 3)}, "0:05 opened L1 → 3"},
		{"a member without a way", 3, []rimewatch.RouteStep{people(0, to(rimewatch.TargetMember, none)), step(5*minute, 3)}, "0:05 opened L1 → 3"},
		{"a contact that nothing reaches", 3, []rimewatch.RouteStep{people(0, to(rimewatch.TargetContact, 10)), step(5*minute, 3)}, "0:05 opened L1 → 3"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorldBefore(rimewatch.Critical, rimewatch.HighTemperature, route(1, c.steps...))
			w.staff()
			w.view.Site = &rimewatch.Site{ID: c.site}
			w.happen(t0, rimewatch.TransitionOpened)
			w.runUntil(t0 + 6*hour)
			if diff := cmp.Diff(c.want, strings.Join(w.told, "|")); diff != "" {
				t.Errorf("told (-want +got):\n%s", diff)
			}
		})
	}
}

// TestAheadOfDuty: who is told next is whoever is on duty then, not now.
func TestAheadOfDuty(t *testing.T) {
	w := newWorldBefore(rimewatch.Critical, rimewatch.HighTemperature, route(1, people(0, to(rimewatch.TargetMember, ben)), people(90*minute, to(rimewatch.TargetRota, 1))))
	w.staff()
	w.happen(t0, rimewatch.TransitionOpened)
	if a := plan.Alert(&w.in).Ahead; fmt.Sprint(clock(a.At), " ", a.Channels) != "1:30 [2]" {
		t.Errorf("ahead: %s %v", clock(a.At), a.Channels)
	}
}
