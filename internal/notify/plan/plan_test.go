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
	minute = rimewatch.Minute
	hour   = rimewatch.Hour
)

// t0 is 12:00 UTC on a Saturday.
var t0 = rimewatch.TimeOf(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC))

// world is one alert and those who may be told of it, played forward.
type world struct {
	in     plan.Input
	view   rimewatch.AlertView
	rules  plan.Rules
	next   rimewatch.Time
	broken map[int64]bool // channels whose messages stay pending
	told   []string       // what was told, one line each
}

// newWorld has an alert of device 7 at site 3 that opened at t0.
func newWorld(severity rimewatch.Severity, kind rimewatch.AlertType, routes ...rimewatch.Route) *world {
	w := newWorldBefore(severity, kind, routes...)
	w.happen(t0, rimewatch.TransitionOpened)
	return w
}

// newWorldBefore is newWorld right before the alert opens.
func newWorldBefore(severity rimewatch.Severity, kind rimewatch.AlertType, routes ...rimewatch.Route) *world {
	w := &world{broken: make(map[int64]bool)}
	w.view = rimewatch.AlertView{
		Alert: rimewatch.Alert{ID: 1, WorkspaceID: 1, DeviceID: 7, Status: rimewatch.AlertActive, Severity: severity, Type: kind, TriggeredAt: t0},
		Site:  &rimewatch.Site{ID: 3}, EquipmentType: "walkin_cooler",
	}
	for id := int64(1); id <= 4; id++ {
		w.rules.Channels = append(w.rules.Channels, rimewatch.Channel{ID: id, Enabled: id != 4})
	}
	w.rules.Routes = routes
	w.in = plan.Input{Alert: &w.view, Rules: &w.rules, Zone: time.UTC, Now: t0}
	return w
}

// phone makes a channel the phone of Mara, who is limited to sites.
func (w *world) phone(channel int64, sites ...int64) {
	c := &w.rules.Channels[channel-1]
	c.Kind, c.To = rimewatch.ChannelPush, []string{"mara@example.com"}
	w.rules.Members = []plan.Member{{UserID: 8, Name: "Mara", Email: "mara@example.com", Sites: sites}}
}

// happen adds a line to the timeline and changes the alert as it says.
func (w *world) happen(at rimewatch.Time, kind rimewatch.TransitionKind) {
	w.runUntil(at)
	a := &w.view.Alert
	switch kind {
	case rimewatch.TransitionEscalated:
		a.Severity = rimewatch.Critical
	case rimewatch.TransitionDeescalated:
		a.Severity = rimewatch.Warning
	case rimewatch.TransitionAcknowledged:
		a.AcknowledgedAt = at
	case rimewatch.TransitionAckExpired:
		a.AcknowledgedAt = 0
	case rimewatch.TransitionSuppressed:
		a.SuppressedBy = 99
	case rimewatch.TransitionReleased:
		a.SuppressedBy = 0
	case rimewatch.TransitionResolved:
		a.Status, a.ResolvedAt, a.Resolution = rimewatch.AlertResolved, at, rimewatch.ResolvedAuto
	default: // it stays as it is
	}
	w.in.Timeline = append(w.in.Timeline, rimewatch.AlertTransition{AlertID: 1, Kind: kind, At: at, Severity: a.Severity})
	w.look(at)
}

// look plans at a moment and makes what is wanted.
func (w *world) look(at rimewatch.Time) {
	w.in.Now = at
	r := plan.Alert(&w.in)
	w.next = r.Next
	for _, id := range r.Drop {
		w.in.Made[id-1].Status = rimewatch.DeliveryDropped
	}
	for _, d := range r.Wanted {
		d.ID = int64(len(w.in.Made) + 1)
		d.Status = rimewatch.DeliverySent
		if w.broken[d.ChannelID] {
			d.Status = rimewatch.DeliveryPending
		}
		w.in.Made = append(w.in.Made, d.Delivery)
		line := fmt.Sprintf("%s %s L%d → %d", clock(d.NextAttemptAt), d.Kind, d.Level, d.ChannelID)
		if d.After != "" {
			line += " after " + d.After
		}
		w.told = append(w.told, line)
	}
}

// runUntil looks whenever the plan has asked for it, up to but not at a moment.
func (w *world) runUntil(at rimewatch.Time) {
	for w.next != 0 && w.next < at {
		w.look(w.next)
	}
	w.in.Now = at
}

// clock is the time since t0.
func clock(t rimewatch.Time) string {
	m := int((t - t0) / minute)
	return fmt.Sprintf("%d:%02d", m/60, m%60)
}

func route(id int64, steps ...rimewatch.RouteStep) rimewatch.Route {
	return rimewatch.Route{ID: id, WorkspaceID: 1, Enabled: true, Recovery: true, Steps: steps}
}

func step(after rimewatch.Time, channels ...int64) rimewatch.RouteStep {
	return rimewatch.RouteStep{AfterS: int(after / rimewatch.Second), ChannelIDs: channels}
}

// with changes a route.
func with(r rimewatch.Route, change func(*rimewatch.Route)) rimewatch.Route {
	change(&r)
	return r
}

func silence(from, to rimewatch.Time, m rimewatch.Matchers) func(*plan.Rules) {
	return func(r *plan.Rules) {
		r.Silences = append(r.Silences, rimewatch.Silence{StartsAt: from, EndsAt: to, Match: m})
	}
}

func TestAlert(t *testing.T) {
	type event struct {
		at   rimewatch.Time // after t0
		kind rimewatch.TransitionKind
	}
	three := route(1, step(0, 1), step(15*minute, 2), step(hour, 3))
	repeating := with(route(1, step(0, 1), step(30*minute, 2)), func(r *rimewatch.Route) { r.RepeatS = 3600 })
	night := with(route(1, step(0, 1), step(15*minute, 2)), func(r *rimewatch.Route) { r.Quiet = &rimewatch.QuietHours{From: 11 * 60, To: 18 * 60} })
	digest := 7 * 60
	for _, c := range []struct {
		name     string
		severity rimewatch.Severity
		kind     rimewatch.AlertType
		routes   []rimewatch.Route
		rules    func(*plan.Rules)
		broken   []int64
		events   []event
		until    rimewatch.Time // after t0
		want     string
	}{
		{name: "without a route every enabled channel is told at once", want: "0:00 opened L0 → 1|0:00 opened L0 → 2|0:00 opened L0 → 3"},
		{name: "without a route all are told of the end", events: []event{{hour, rimewatch.TransitionResolved}},
			want: "0:00 opened L0 → 1|0:00 opened L0 → 2|0:00 opened L0 → 3|1:00 recovery L0 → 1|1:00 recovery L0 → 2|1:00 recovery L0 → 3"},
		{name: "no route matches", routes: []rimewatch.Route{with(three, func(r *rimewatch.Route) { r.Match.Severities = []rimewatch.Severity{rimewatch.Critical} })}, want: ""},
		{name: "a route switched off is a route", routes: []rimewatch.Route{with(three, func(r *rimewatch.Route) { r.Enabled = false })}, want: ""},
		{name: "levels by their delays", routes: []rimewatch.Route{three}, want: "0:00 opened L0 → 1|0:15 opened L1 → 2|1:00 opened L2 → 3"},
		{name: "a channel switched off is left out", routes: []rimewatch.Route{route(1, step(0, 4), step(5*minute, 2))}, want: "0:05 opened L1 → 2"},
		{name: "matchers", routes: []rimewatch.Route{
			with(route(1, step(0, 1)), func(r *rimewatch.Route) {
				r.Match = rimewatch.Matchers{SiteIDs: []int64{3}, EquipmentTypes: []string{"walkin_cooler"}, Types: []rimewatch.AlertType{rimewatch.HighTemperature}, DeviceIDs: []int64{7, 8}}
			}),
			with(route(2, step(0, 2)), func(r *rimewatch.Route) { r.Match.SiteIDs = []int64{4} }),
			with(route(3, step(0, 3)), func(r *rimewatch.Route) {
				r.Match = rimewatch.Matchers{SiteIDs: []int64{3}, DeviceIDs: []int64{8}}
			}),
		}, want: "0:00 opened L0 → 1"},
		{name: "two routes, one channel: told once, its own levels all the same", routes: []rimewatch.Route{three, route(2, step(0, 1, 3), step(10*minute, 1))},
			events: []event{{2 * hour, rimewatch.TransitionResolved}},
			want:   "0:00 opened L0 → 1|0:00 opened L0 → 3|0:10 opened L1 → 1|0:15 opened L1 → 2|1:00 opened L2 → 3|2:00 recovery L0 → 1|2:00 recovery L0 → 3|2:00 recovery L1 → 2"},
		{name: "acknowledged: no further level", routes: []rimewatch.Route{three}, events: []event{{5 * minute, rimewatch.TransitionAcknowledged}}, want: "0:00 opened L0 → 1"},
		{name: "an acknowledgement that expires goes on where it stopped", routes: []rimewatch.Route{three},
			events: []event{{5 * minute, rimewatch.TransitionAcknowledged}, {45 * minute, rimewatch.TransitionAckExpired}},
			want:   "0:00 opened L0 → 1|0:45 repeat L0 → 1 after acknowledgement|1:00 opened L1 → 2|1:45 opened L2 → 3"},
		{name: "an acknowledgement that expires behind the last level that was told", routes: []rimewatch.Route{three},
			events: []event{{20 * minute, rimewatch.TransitionAcknowledged}, {4 * hour, rimewatch.TransitionAckExpired}}, until: 6 * hour,
			want: "0:00 opened L0 → 1|0:15 opened L1 → 2|4:00 repeat L0 → 1 after acknowledgement|4:00 repeat L1 → 2 after acknowledgement|4:45 opened L2 → 3"},
		{name: "reminders do not hold the next level up", routes: []rimewatch.Route{with(three, func(r *rimewatch.Route) { r.RepeatS = 600 })}, until: 26 * minute,
			want: "0:00 opened L0 → 1|0:10 repeat L0 → 1|0:15 opened L1 → 2|0:20 repeat L0 → 1|0:25 repeat L1 → 2"},
		{name: "a message that waits does not hold the next level up", routes: []rimewatch.Route{three}, broken: []int64{1},
			events: []event{{5 * minute, rimewatch.TransitionAcknowledged}, {45 * minute, rimewatch.TransitionAckExpired}},
			want:   "0:00 opened L0 → 1|1:00 opened L1 → 2|1:45 opened L2 → 3"},
		{name: "a later level that comes late holds the next one up", routes: []rimewatch.Route{with(three, func(r *rimewatch.Route) { r.Quiet = &rimewatch.QuietHours{From: 12*60 + 10, To: 18 * 60} })},
			until: 10 * hour, want: "0:00 opened L0 → 1|6:00 opened L1 → 2|6:45 opened L2 → 3"},
		{name: "a first level that another route told late", routes: []rimewatch.Route{with(night, func(r *rimewatch.Route) { r.ID = 2 }), night},
			until: 10 * hour, want: "6:00 opened L0 → 1|6:15 opened L1 → 2|6:15 opened L1 → 2"},
		{name: "an acknowledgement that expires in quiet hours", routes: []rimewatch.Route{with(three, func(r *rimewatch.Route) { r.Quiet = &rimewatch.QuietHours{From: 12*60 + 10, To: 18 * 60} })},
			events: []event{{5 * minute, rimewatch.TransitionAcknowledged}, {45 * minute, rimewatch.TransitionAckExpired}}, until: 10 * hour,
			want: "0:00 opened L0 → 1|6:00 repeat L0 → 1 after acknowledgement|6:15 opened L1 → 2|7:00 opened L2 → 3"},
		{name: "critical once more: the levels count from there", routes: []rimewatch.Route{
			with(route(1, step(0, 1), step(15*minute, 2)), func(r *rimewatch.Route) { r.Match.Severities = []rimewatch.Severity{rimewatch.Critical} })}, severity: rimewatch.Critical,
			events: []event{{5 * minute, rimewatch.TransitionDeescalated}, {2 * hour, rimewatch.TransitionEscalated}},
			want:   "0:00 opened L0 → 1|2:00 escalated L0 → 1|2:15 opened L1 → 2"},
		{name: "told, then silenced: those who are reminded have their time", routes: []rimewatch.Route{three}, rules: silence(t0+10*minute, t0+hour, rimewatch.Matchers{}),
			want: "0:00 opened L0 → 1|1:00 repeat L0 → 1 after silence|1:15 opened L1 → 2|2:00 opened L2 → 3"},
		{name: "reminders", routes: []rimewatch.Route{repeating}, until: 2*hour + 45*minute,
			want: "0:00 opened L0 → 1|0:30 opened L1 → 2|1:00 repeat L0 → 1|1:30 repeat L1 → 2|2:00 repeat L0 → 1|2:30 repeat L1 → 2"},
		{name: "no reminders while acknowledged", routes: []rimewatch.Route{repeating}, until: 6 * hour,
			events: []event{{40 * minute, rimewatch.TransitionAcknowledged}, {4 * hour, rimewatch.TransitionAckExpired}, {4*hour + 30*minute, rimewatch.TransitionResolved}},
			want:   "0:00 opened L0 → 1|0:30 opened L1 → 2|4:00 repeat L0 → 1 after acknowledgement|4:00 repeat L1 → 2 after acknowledgement|4:30 recovery L0 → 1|4:30 recovery L1 → 2"},
		{name: "no reminder behind a message that waits", routes: []rimewatch.Route{repeating}, broken: []int64{1}, until: 3 * hour,
			want: "0:00 opened L0 → 1|0:30 opened L1 → 2|1:30 repeat L1 → 2|2:30 repeat L1 → 2"},
		{name: "rises to critical", routes: []rimewatch.Route{three}, events: []event{{20 * minute, rimewatch.TransitionEscalated}},
			want: "0:00 opened L0 → 1|0:15 opened L1 → 2|0:20 escalated L0 → 1|0:20 escalated L1 → 2|1:00 opened L2 → 3"},
		{name: "rises while acknowledged: told, but no further level", routes: []rimewatch.Route{three},
			events: []event{{5 * minute, rimewatch.TransitionAcknowledged}, {20 * minute, rimewatch.TransitionEscalated}}, want: "0:00 opened L0 → 1|0:20 escalated L0 → 1"},
		{name: "rises twice", routes: []rimewatch.Route{route(1, step(0, 1))},
			events: []event{{5 * minute, rimewatch.TransitionEscalated}, {30 * minute, rimewatch.TransitionDeescalated}, {50 * minute, rimewatch.TransitionEscalated}},
			want:   "0:00 opened L0 → 1|0:05 escalated L0 → 1|0:50 escalated L0 → 1"},
		{name: "a route for critical alerts counts from the rise", routes: []rimewatch.Route{
			with(route(1, step(0, 1), step(15*minute, 2)), func(r *rimewatch.Route) { r.Match.Severities = []rimewatch.Severity{rimewatch.Critical} })},
			events: []event{{20 * minute, rimewatch.TransitionEscalated}, {2 * hour, rimewatch.TransitionResolved}},
			want:   "0:20 opened L0 → 1|0:35 opened L1 → 2|2:00 recovery L0 → 1|2:00 recovery L1 → 2"},
		{name: "a route for critical alerts, acknowledged as a warning", routes: []rimewatch.Route{
			with(route(1, step(0, 1), step(15*minute, 2)), func(r *rimewatch.Route) { r.Match.Severities = []rimewatch.Severity{rimewatch.Critical} })},
			events: []event{{5 * minute, rimewatch.TransitionAcknowledged}, {20 * minute, rimewatch.TransitionEscalated}}, want: "0:20 opened L0 → 1"},
		{name: "offline waits two minutes", kind: rimewatch.DeviceOffline, routes: []rimewatch.Route{three}, want: "0:02 opened L0 → 1|0:17 opened L1 → 2|1:02 opened L2 → 3"},
		{name: "offline for less than that", kind: rimewatch.DeviceOffline, routes: []rimewatch.Route{three}, events: []event{{minute, rimewatch.TransitionResolved}}, want: ""},
		{name: "explained by the site", kind: rimewatch.DeviceOffline, routes: []rimewatch.Route{three},
			events: []event{{minute, rimewatch.TransitionSuppressed}, {3 * hour, rimewatch.TransitionResolved}}, want: ""},
		{name: "explained for a time", kind: rimewatch.DeviceOffline, routes: []rimewatch.Route{three},
			events: []event{{minute, rimewatch.TransitionSuppressed}, {hour, rimewatch.TransitionReleased}},
			want:   "1:00 opened L0 → 1|1:15 opened L1 → 2|2:00 opened L2 → 3"},
		{name: "told, then explained, then not", kind: rimewatch.DeviceOffline, routes: []rimewatch.Route{route(1, step(0, 1))},
			events: []event{{10 * minute, rimewatch.TransitionSuppressed}, {hour, rimewatch.TransitionReleased}},
			want:   "0:02 opened L0 → 1|1:00 repeat L0 → 1 after silence"},
		{name: "silenced, then told", routes: []rimewatch.Route{three}, rules: silence(t0-hour, t0+hour, rimewatch.Matchers{SiteIDs: []int64{3}}),
			want: "1:00 opened L0 → 1|1:15 opened L1 → 2|2:00 opened L2 → 3"},
		{name: "over while silenced", routes: []rimewatch.Route{three}, rules: silence(t0-hour, t0+hour, rimewatch.Matchers{}),
			events: []event{{30 * minute, rimewatch.TransitionResolved}}, want: ""},
		{name: "told, then silenced", routes: []rimewatch.Route{route(1, step(0, 1))}, rules: silence(t0+10*minute, t0+hour, rimewatch.Matchers{}),
			events: []event{{20 * minute, rimewatch.TransitionNoted}}, want: "0:00 opened L0 → 1|1:00 repeat L0 → 1 after silence"},
		{name: "told, over while silenced: the end is told at its end", routes: []rimewatch.Route{route(1, step(0, 1))}, rules: silence(t0+10*minute, t0+hour, rimewatch.Matchers{}),
			events: []event{{20 * minute, rimewatch.TransitionResolved}}, want: "0:00 opened L0 → 1|1:00 recovery L0 → 1"},
		{name: "another's silence", routes: []rimewatch.Route{route(1, step(0, 1))}, rules: silence(t0-hour, t0+hour, rimewatch.Matchers{SiteIDs: []int64{4}}), want: "0:00 opened L0 → 1"},
		{name: "maintenance of the device", routes: []rimewatch.Route{route(1, step(0, 1))},
			rules: func(r *plan.Rules) {
				r.Maintenance = []rimewatch.MaintenanceWindow{{StartsAt: t0 - hour, EndsAt: t0 + 90*minute, DeviceIDs: []int64{7}}}
			}, want: "1:30 opened L0 → 1"},
		{name: "maintenance of everything", routes: []rimewatch.Route{route(1, step(0, 1))},
			rules: func(r *plan.Rules) {
				r.Maintenance = []rimewatch.MaintenanceWindow{{StartsAt: t0 - hour, EndsAt: t0 + 90*minute}}
			}, want: "1:30 opened L0 → 1"},
		{name: "maintenance elsewhere", routes: []rimewatch.Route{route(1, step(0, 1))},
			rules: func(r *plan.Rules) {
				r.Maintenance = []rimewatch.MaintenanceWindow{{StartsAt: t0 - hour, EndsAt: t0 + 90*minute, SiteIDs: []int64{4}, DeviceIDs: []int64{8}}}
			}, want: "0:00 opened L0 → 1"},
		{name: "quiet hours hold a warning back, and its levels as much", routes: []rimewatch.Route{night}, want: "6:00 opened L0 → 1|6:15 opened L1 → 2", until: 10 * hour},
		{name: "quiet hours do not hold a critical alert back", severity: rimewatch.Critical, routes: []rimewatch.Route{night}, want: "0:00 opened L0 → 1|0:15 opened L1 → 2"},
		{name: "a warning that becomes critical in quiet hours", routes: []rimewatch.Route{night}, events: []event{{hour, rimewatch.TransitionEscalated}}, want: "1:00 opened L0 → 1|1:15 opened L1 → 2"},
		{name: "a warning that is over before the morning", routes: []rimewatch.Route{night}, events: []event{{hour, rimewatch.TransitionResolved}}, want: "", until: 10 * hour},
		{name: "who was woken by it hears at once that it is over", severity: rimewatch.Critical, routes: []rimewatch.Route{night},
			events: []event{{10 * minute, rimewatch.TransitionDeescalated}, {20 * minute, rimewatch.TransitionResolved}}, want: "0:00 opened L0 → 1|0:20 recovery L0 → 1"},
		{name: "the end of a warning waits for the morning too", routes: []rimewatch.Route{with(route(1, step(0, 1)), func(r *rimewatch.Route) { r.Quiet = &rimewatch.QuietHours{From: 13 * 60, To: 18 * 60} })},
			events: []event{{2 * hour, rimewatch.TransitionResolved}}, want: "0:00 opened L0 → 1|6:00 recovery L0 → 1"},
		{name: "a digest holds warnings back", routes: []rimewatch.Route{with(three, func(r *rimewatch.Route) { r.DigestAt = &digest })}, want: "", until: 48 * hour},
		{name: "a digest does not hold a rise back", routes: []rimewatch.Route{with(three, func(r *rimewatch.Route) { r.DigestAt = &digest })},
			events: []event{{hour, rimewatch.TransitionEscalated}}, want: "1:00 opened L0 → 1|1:15 opened L1 → 2|2:00 opened L2 → 3"},
		{name: "a route without recovery", routes: []rimewatch.Route{with(three, func(r *rimewatch.Route) { r.Recovery = false })},
			events: []event{{5 * minute, rimewatch.TransitionResolved}}, want: "0:00 opened L0 → 1"},
		{name: "nobody is told of the end of what did not reach them", routes: []rimewatch.Route{route(1, step(0, 1, 2))}, broken: []int64{2},
			events: []event{{5 * minute, rimewatch.TransitionResolved}}, want: "0:00 opened L0 → 1|0:00 opened L0 → 2|0:05 recovery L0 → 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			severity, kind := c.severity, c.kind
			if severity == "" {
				severity = rimewatch.Warning
			}
			if kind == "" {
				kind = rimewatch.HighTemperature
			}
			w := newWorldBefore(severity, kind, c.routes...)
			for _, id := range c.broken {
				w.broken[id] = true
			}
			if c.rules != nil {
				c.rules(&w.rules)
			}
			w.happen(t0, rimewatch.TransitionOpened)
			for _, e := range c.events {
				w.happen(t0+e.at, e.kind)
			}
			until := c.until
			if until == 0 {
				until = 3 * hour
			}
			w.runUntil(t0 + until)
			if diff := cmp.Diff(c.want, strings.Join(w.told, "|")); diff != "" {
				t.Errorf("told (-want +got):\n%s", diff)
			}
			for _, d := range w.in.Made {
				if w.view.Status == rimewatch.AlertResolved && d.Status == rimewatch.DeliveryPending && d.Kind != rimewatch.DeliveryRecovery {
					t.Errorf("%s still waits although the alert is over", d.Key)
				}
			}
		})
	}
}

// TestLimitedPeople: somebody who is limited to sites is told of these alone, by whatever route or none.
func TestLimitedPeople(t *testing.T) {
	for _, c := range []struct {
		name   string
		site   int64
		routes []rimewatch.Route
		do     func(w *world)
		want   string
	}{
		{name: "without a route", site: 3, want: "0:00 opened L0 → 1|0:00 opened L0 → 2|0:00 opened L0 → 3"},
		{name: "without a route, of another site", site: 4, want: "0:00 opened L0 → 1|0:00 opened L0 → 3"},
		{name: "by a route", site: 3, routes: []rimewatch.Route{route(1, step(0, 2))}, want: "0:00 opened L0 → 2"},
		{name: "by a route of all sites", site: 4, routes: []rimewatch.Route{route(1, step(0, 2), step(5*minute, 1))}, want: "0:05 opened L1 → 1"},
		{name: "a route that leads nowhere else leaves it to every channel that may know", site: 4, routes: []rimewatch.Route{route(1, step(0, 2))}, want: "0:00 unrouted L0 → 1|0:00 unrouted L0 → 3"},
		{name: "the unit leaves the site", site: 3, routes: []rimewatch.Route{with(route(1, step(0, 2)), func(r *rimewatch.Route) { r.RepeatS = 1800 })}, do: func(w *world) {
			w.move(t0+10*minute, 4, "walkin_cooler")
			w.happen(t0+hour, rimewatch.TransitionResolved)
		}, want: "0:00 opened L0 → 2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorldBefore(rimewatch.Critical, rimewatch.HighTemperature, c.routes...)
			for i := range w.rules.Channels {
				w.rules.Channels[i].LastSuccessAt = t0 - hour
			}
			w.phone(2, 3)
			w.view.Site = &rimewatch.Site{ID: c.site}
			w.happen(t0, rimewatch.TransitionOpened)
			if c.do != nil {
				c.do(w)
			}
			w.runUntil(t0 + 3*hour)
			if diff := cmp.Diff(c.want, strings.Join(w.told, "|")); diff != "" {
				t.Errorf("told (-want +got):\n%s", diff)
			}
		})
	}
}

// TestAhead: who is told next, and when, is said before it happens, and is what then happens.
func TestAhead(t *testing.T) {
	three := route(1, step(0, 1), step(15*minute, 4), step(hour, 3, 2))
	evening := with(route(1, step(0, 1), step(15*minute, 2)), func(r *rimewatch.Route) { r.Quiet = &rimewatch.QuietHours{From: 11 * 60, To: 18 * 60} })
	for _, c := range []struct {
		name   string
		kind   rimewatch.AlertType
		routes []rimewatch.Route
		do     func(w *world)
		want   string
	}{
		{name: "the next level that reaches anybody", routes: []rimewatch.Route{three}, want: "1:00 [3 2]"},
		{name: "the last one is told", routes: []rimewatch.Route{three}, do: func(w *world) { w.runUntil(t0 + 2*hour) }, want: "none"},
		{name: "acknowledged", routes: []rimewatch.Route{three}, do: func(w *world) { w.happen(t0+minute, rimewatch.TransitionAcknowledged) }, want: "none"},
		{name: "the acknowledgement has expired", routes: []rimewatch.Route{three}, do: func(w *world) {
			w.happen(t0+minute, rimewatch.TransitionAcknowledged)
			w.happen(t0+hour, rimewatch.TransitionAckExpired)
		}, want: "2:00 [3 2]"},
		{name: "two routes at the same moment", routes: []rimewatch.Route{route(1, step(0, 1), step(hour, 2)), route(2, step(0, 1), step(hour, 3), step(2*hour, 1))}, want: "1:00 [2 3]"},
		{name: "the earlier of two routes", routes: []rimewatch.Route{route(1, step(0, 1), step(hour, 2)), route(2, step(0, 1), step(30*minute, 3))}, want: "0:30 [3]"},
		{name: "quiet hours", routes: []rimewatch.Route{evening}, want: "6:00 [1]"},
		{name: "a device's silence waits for the site's", kind: rimewatch.DeviceOffline, routes: []rimewatch.Route{three}, want: "0:02 [1]"},
		{name: "over", routes: []rimewatch.Route{three}, do: func(w *world) { w.happen(t0+minute, rimewatch.TransitionResolved) }, want: "none"},
	} {
		t.Run(c.name, func(t *testing.T) {
			kind := c.kind
			if kind == "" {
				kind = rimewatch.HighTemperature
			}
			w := newWorld(rimewatch.Warning, kind, c.routes...)
			if c.do != nil {
				c.do(w)
			}
			ahead := plan.Alert(&w.in).Ahead
			got := "none"
			if ahead.At != 0 {
				got = fmt.Sprint(clock(ahead.At), " ", ahead.Channels)
			}
			if got != c.want {
				t.Fatalf("ahead is %s, not %s", got, c.want)
			}
			w.told = nil
			w.runUntil(ahead.At)
			if len(w.told) > 0 {
				t.Errorf("before that: %v", w.told)
			}
			if ahead.At != 0 {
				w.look(ahead.At)
			}
			if len(w.told) != len(ahead.Channels) {
				t.Errorf("then: %v", w.told)
			}
		})
	}
}

func TestKeys(t *testing.T) {
	w := newWorld(rimewatch.Warning, rimewatch.HighTemperature, with(route(5, step(0, 1)), func(r *rimewatch.Route) { r.RepeatS = 3600 }))
	w.happen(t0+90*minute, rimewatch.TransitionAcknowledged)
	w.happen(t0+100*minute, rimewatch.TransitionAckExpired)
	w.happen(t0+101*minute, rimewatch.TransitionResolved)
	var keys []string
	for _, d := range w.in.Made {
		keys = append(keys, d.Key)
	}
	want := []string{"alert/1/0/opened/5/0/0/1", "alert/1/0/repeat/5/0/0/1", "alert/1/1/repeat/5/0/1/1", "alert/1/1/recovery/5/0/0/1"}
	if diff := cmp.Diff(want, keys); diff != "" {
		t.Error(diff)
	}
}

// move takes the alert's device to another site, or makes it of another type.
func (w *world) move(at rimewatch.Time, site int64, equipment string) {
	w.runUntil(at)
	from := rimewatch.Place{EquipmentType: w.view.EquipmentType}
	if w.view.Site != nil {
		from.SiteID = w.view.Site.ID
	}
	w.view.Site, w.view.EquipmentType = nil, equipment
	if site != 0 {
		w.view.Site = &rimewatch.Site{ID: site}
	}
	w.in.Timeline = append(w.in.Timeline, rimewatch.AlertTransition{AlertID: 1, Kind: rimewatch.TransitionMoved, At: at, Severity: w.view.Severity, From: &from})
	w.look(at)
}

// TestMoved: who leaves a silence, a maintenance window or a route by moving, or enters
// one, is notified as if it had ended, or begun, then.
func TestMoved(t *testing.T) {
	sites := func(ids ...int64) rimewatch.Matchers { return rimewatch.Matchers{SiteIDs: ids} }
	here := with(route(1, step(0, 1), step(15*minute, 2)), func(r *rimewatch.Route) { r.Match = sites(3) })
	there := with(route(2, step(0, 3), step(20*minute, 2)), func(r *rimewatch.Route) { r.Match = sites(4) })
	late := with(route(2, step(30*minute, 3)), func(r *rimewatch.Route) { r.Match = sites(4) })
	coolers := func(r *plan.Rules) {
		silence(t0, t0+30*rimewatch.Day, rimewatch.Matchers{EquipmentTypes: []string{"walkin_cooler"}})(r)
	}
	window := func(r *plan.Rules) {
		r.Maintenance = append(r.Maintenance, rimewatch.MaintenanceWindow{SiteIDs: []int64{3}, StartsAt: t0, EndsAt: t0 + 30*rimewatch.Day})
	}
	for _, c := range []struct {
		name   string
		routes []rimewatch.Route
		rules  func(*plan.Rules)
		do     func(w *world)
		want   string
	}{
		{"out of a silence", []rimewatch.Route{route(1, step(0, 1))}, silence(t0, t0+30*rimewatch.Day, sites(3)),
			func(w *world) { w.move(t0+hour, 4, "walkin_cooler") }, "1:00 opened L0 → 1"},
		{"out of a maintenance window, the site being deleted", []rimewatch.Route{route(1, step(0, 1))}, window,
			func(w *world) { w.move(t0+hour, 0, "walkin_cooler") }, "1:00 opened L0 → 1"},
		{"out of a silence by its type", []rimewatch.Route{route(1, step(0, 1))}, coolers,
			func(w *world) { w.move(t0+hour, 3, "walkin_freezer") }, "1:00 opened L0 → 1"},
		{"out of a silence that began after it was told", []rimewatch.Route{route(1, step(0, 1))}, silence(t0+5*minute, t0+5*hour, sites(3)),
			func(w *world) { w.move(t0+hour, 4, "walkin_cooler") }, "0:00 opened L0 → 1|1:00 repeat L0 → 1 after silence"},
		{"from one silence into another", []rimewatch.Route{route(1, step(0, 1))},
			func(r *plan.Rules) {
				silence(t0, t0+5*hour, sites(3))(r)
				silence(t0, t0+2*hour, sites(4))(r)
			},
			func(w *world) { w.move(t0+hour, 4, "walkin_cooler") }, "2:00 opened L0 → 1"},
		{"to where a silence was over before", []rimewatch.Route{route(1, step(0, 1))}, silence(t0+5*minute, t0+10*minute, sites(4)),
			func(w *world) { w.move(t0+hour, 4, "walkin_cooler") }, "0:00 opened L0 → 1"},
		{"into a silence", []rimewatch.Route{route(1, step(0, 1), step(15*minute, 2))}, silence(t0, t0+2*hour, sites(4)),
			func(w *world) { w.move(t0+10*minute, 4, "walkin_cooler") }, "0:00 opened L0 → 1|2:00 repeat L0 → 1 after silence|2:15 opened L1 → 2"},
		{"from one route into another", []rimewatch.Route{here, there}, nil,
			func(w *world) { w.move(t0+10*minute, 4, "walkin_cooler") }, "0:00 opened L0 → 1|0:10 opened L0 → 3|0:30 opened L1 → 2"},
		{"into a route that waits", []rimewatch.Route{here, late}, nil,
			func(w *world) { w.move(t0+10*minute, 4, "walkin_cooler") }, "0:00 opened L0 → 1|0:40 opened L0 → 3"},
		{"into a route, acknowledged", []rimewatch.Route{here, there}, nil,
			func(w *world) {
				w.happen(t0+5*minute, rimewatch.TransitionAcknowledged)
				w.move(t0+10*minute, 4, "walkin_cooler")
			}, "0:00 opened L0 → 1"},
		{"a silence that was ended before it began", []rimewatch.Route{route(1, step(0, 1))}, silence(t0+hour, t0+hour, sites(3)), func(*world) {}, "0:00 opened L0 → 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorldBefore(rimewatch.Warning, rimewatch.HighTemperature, c.routes...)
			if c.rules != nil {
				c.rules(&w.rules)
			}
			w.happen(t0, rimewatch.TransitionOpened)
			c.do(w)
			w.runUntil(t0 + 6*hour)
			if diff := cmp.Diff(c.want, strings.Join(w.told, "|")); diff != "" {
				t.Errorf("told (-want +got):\n%s", diff)
			}
		})
	}
}

// TestUnrouted: a critical alert that no route brings to anybody goes once to every channel
// that is known to work, unless somebody has decided that nobody is to be told.
func TestUnrouted(t *testing.T) {
	elsewhere := with(route(1, step(0, 1)), func(r *rimewatch.Route) { r.Match.SiteIDs = []int64{9} })
	off := route(1, step(0, 4))
	acknowledged := func(w *world) { w.happen(t0, rimewatch.TransitionAcknowledged) }
	for _, c := range []struct {
		name     string
		severity rimewatch.Severity
		kind     rimewatch.AlertType
		routes   []rimewatch.Route
		rules    func(*plan.Rules)
		do       func(w *world)
		want     string
		untold   bool
	}{
		{name: "no route matches", routes: []rimewatch.Route{elsewhere}, want: "0:00 unrouted L0 → 1|0:00 unrouted L0 → 2"},
		{name: "the route's channel is off", routes: []rimewatch.Route{off}, want: "0:00 unrouted L0 → 1|0:00 unrouted L0 → 2"},
		{name: "the route is off", routes: []rimewatch.Route{with(route(1, step(0, 1)), func(r *rimewatch.Route) { r.Enabled = false })}, want: "0:00 unrouted L0 → 1|0:00 unrouted L0 → 2"},
		{name: "a later level will", routes: []rimewatch.Route{route(1, step(0, 4), step(5*minute, 3))}, want: "0:05 opened L1 → 3"},
		{name: "another route does", routes: []rimewatch.Route{off, route(2, step(0, 3))}, want: "0:00 opened L0 → 3"},
		{name: "a warning", severity: rimewatch.Warning, routes: []rimewatch.Route{elsewhere}},
		{name: "a warning that becomes critical", severity: rimewatch.Warning, routes: []rimewatch.Route{elsewhere}, do: func(w *world) { w.happen(t0+hour, rimewatch.TransitionEscalated) },
			want: "1:00 unrouted L0 → 1|1:00 unrouted L0 → 2"},
		{name: "a device's silence waits for the site's", kind: rimewatch.DeviceOffline, routes: []rimewatch.Route{elsewhere}, want: "0:02 unrouted L0 → 1|0:02 unrouted L0 → 2"},
		{name: "silenced", routes: []rimewatch.Route{elsewhere}, rules: silence(t0, t0+hour, rimewatch.Matchers{}), want: "1:00 unrouted L0 → 1|1:00 unrouted L0 → 2"},
		{name: "caused by another", severity: rimewatch.Warning, routes: []rimewatch.Route{elsewhere}, do: func(w *world) {
			w.happen(t0, rimewatch.TransitionSuppressed)
			w.happen(t0+minute, rimewatch.TransitionEscalated)
		}},
		{name: "acknowledged", severity: rimewatch.Warning, routes: []rimewatch.Route{elsewhere}, do: func(w *world) {
			w.happen(t0, rimewatch.TransitionEscalated)
			acknowledged(w)
		}, want: "0:00 unrouted L0 → 1|0:00 unrouted L0 → 2"},
		{name: "its end", routes: []rimewatch.Route{elsewhere}, do: func(w *world) { w.happen(t0+hour, rimewatch.TransitionResolved) },
			want: "0:00 unrouted L0 → 1|0:00 unrouted L0 → 2|1:00 recovery L0 → 1|1:00 recovery L0 → 2"},
		{name: "no channel is known to work", routes: []rimewatch.Route{elsewhere}, rules: func(r *plan.Rules) { r.Channels = r.Channels[2:] }, untold: true},
		{name: "no channel at all", rules: func(r *plan.Rules) { r.Channels = nil }, untold: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			severity, kind := c.severity, c.kind
			if severity == "" {
				severity = rimewatch.Critical
			}
			if kind == "" {
				kind = rimewatch.HighTemperature
			}
			w := newWorldBefore(severity, kind, c.routes...)
			for _, i := range []int{0, 1, 3} { // 3 was never tried, 4 is switched off
				w.rules.Channels[i].LastSuccessAt = t0 - hour
			}
			if c.rules != nil {
				c.rules(&w.rules)
			}
			w.happen(t0, rimewatch.TransitionOpened)
			if c.do != nil {
				c.do(w)
			}
			w.runUntil(t0 + 6*hour)
			if diff := cmp.Diff(c.want, strings.Join(w.told, "|")); diff != "" {
				t.Errorf("told (-want +got):\n%s", diff)
			}
			if r := plan.Alert(&w.in); r.Untold != c.untold || len(r.Wanted) > 0 {
				t.Errorf("untold %v, and wanted %v", r.Untold, r.Wanted)
			}
		})
	}
}
