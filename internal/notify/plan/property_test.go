package plan_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/notify/plan"
	_ "github.com/rimewatch/rimewatch/internal/trial"
)

// dstNights are nights in which clocks are set, each with its zone: over two in
// the morning and back, by an hour and by half of one, on both halves of the earth.
var dstNights = []struct {
	zone string
	at   time.Time
}{
	{"Europe/Berlin", time.Date(2026, 3, 28, 18, 0, 0, 0, time.UTC)},
	{"Europe/Berlin", time.Date(2026, 10, 24, 18, 0, 0, 0, time.UTC)},
	{"America/New_York", time.Date(2026, 3, 8, 0, 0, 0, 0, time.UTC)},
	{"America/New_York", time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)},
	{"Australia/Lord_Howe", time.Date(2026, 4, 4, 8, 0, 0, 0, time.UTC)},
	{"Australia/Lord_Howe", time.Date(2026, 10, 3, 8, 0, 0, 0, time.UTC)},
	{"America/St_Johns", time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)},
	{"Asia/Tokyo", time.Date(2026, 11, 1, 8, 0, 0, 0, time.UTC)},
}

func zone(t interface{ Fatal(...any) }, name string) *time.Location {
	z, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

func drawRoute(t *rapid.T, id int64) rimewatch.Route {
	r := rimewatch.Route{ID: id, WorkspaceID: 1, Enabled: true, Recovery: rapid.Bool().Draw(t, "recovery")}
	after := rimewatch.Time(0)
	for range rapid.IntRange(1, 3).Draw(t, "levels") {
		channels := rapid.SliceOfNDistinct(rapid.Int64Range(1, 4), 1, 3, rapid.ID[int64]).Draw(t, "channels")
		r.Steps = append(r.Steps, step(after, channels...))
		after += rimewatch.Time(rapid.IntRange(1, 90).Draw(t, "delay")) * minute
	}
	if rapid.Bool().Draw(t, "repeats") {
		r.RepeatS = 60 * rapid.IntRange(10, 240).Draw(t, "repeat")
	}
	if rapid.Bool().Draw(t, "quiet") {
		r.Quiet = &rimewatch.QuietHours{From: rapid.IntRange(0, 1439).Draw(t, "from"), To: rapid.IntRange(0, 1439).Draw(t, "to")}
	}
	if rapid.IntRange(0, 3).Draw(t, "narrow") == 0 {
		r.Match.Severities = []rimewatch.Severity{rapid.SampledFrom([]rimewatch.Severity{rimewatch.Warning, rimewatch.Critical}).Draw(t, "of")}
	}
	return r
}

// TestPlanProperties plays lives of an alert: rises and falls, acknowledgements,
// explanations, silences, over nights in which clocks are set, with restarts and
// looks at moments that nobody asked for.
func TestPlanProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		night := rapid.SampledFrom(dstNights).Draw(t, "night")
		begin := rimewatch.TimeOf(night.at)
		var routes []rimewatch.Route
		for id := range rapid.Int64Range(0, 3).Draw(t, "routes") {
			routes = append(routes, drawRoute(t, id+1))
		}
		severity := rapid.SampledFrom([]rimewatch.Severity{rimewatch.Warning, rimewatch.Critical}).Draw(t, "severity")
		kind := rapid.SampledFrom([]rimewatch.AlertType{rimewatch.HighTemperature, rimewatch.DeviceOffline}).Draw(t, "type")
		w := newWorldBefore(severity, kind, routes...)
		w.view.TriggeredAt, w.in.Zone = begin, zone(t, night.zone)
		for range rapid.IntRange(0, 2).Draw(t, "silences") {
			from := begin + rimewatch.Time(rapid.IntRange(-120, 900).Draw(t, "from"))*minute
			silence(from, from+rimewatch.Time(rapid.IntRange(1, 300).Draw(t, "for"))*minute, rimewatch.Matchers{})(&w.rules)
		}
		w.happen(begin, rimewatch.TransitionOpened)
		at := begin
		for range rapid.IntRange(0, 8).Draw(t, "events") {
			at += rimewatch.Time(rapid.IntRange(1, 240).Draw(t, "later")) * minute
			if kind, ok := possible(t, &w.view.Alert); ok {
				w.happen(at, kind)
			} else {
				w.runUntil(at)
				w.look(at) // as after a restart
			}
			reached(t, w, at)
			if w.view.Status == rimewatch.AlertResolved {
				break
			}
		}
		w.runUntil(at + 12*hour)
		once(t, w)
		inTurn(t, w)
		recoveries(t, w)
		w.look(w.in.Now)
		before := len(w.in.Made)
		w.look(w.in.Now)
		if len(w.in.Made) != before {
			t.Fatalf("asked again it wants %s", w.told[before:])
		}
	})
}

// possible draws something that can happen to an alert; false = nothing does.
func possible(t *rapid.T, a *rimewatch.Alert) (rimewatch.TransitionKind, bool) {
	kinds := []rimewatch.TransitionKind{"", "", rimewatch.TransitionResolved}
	if a.Severity == rimewatch.Warning {
		kinds = append(kinds, rimewatch.TransitionEscalated)
	} else {
		kinds = append(kinds, rimewatch.TransitionDeescalated)
	}
	if a.AcknowledgedAt == 0 {
		kinds = append(kinds, rimewatch.TransitionAcknowledged)
	} else {
		kinds = append(kinds, rimewatch.TransitionAckExpired)
	}
	if a.SuppressedBy == 0 {
		kinds = append(kinds, rimewatch.TransitionSuppressed)
	} else {
		kinds = append(kinds, rimewatch.TransitionReleased)
	}
	kind := rapid.SampledFrom(kinds).Draw(t, "event")
	return kind, kind != ""
}

// once: no two deliveries have one key.
func once(t *rapid.T, w *world) {
	seen := make(map[string]bool)
	for _, d := range w.in.Made {
		if seen[d.Key] {
			t.Fatalf("%s twice", d.Key)
		}
		seen[d.Key] = true
	}
}

// inTurn: no level comes sooner after the level before it, or after the end of what
// held the alert back, than the route gives those of that level.
func inTurn(t *rapid.T, w *world) {
	ends := []rimewatch.Time{}
	for _, s := range w.rules.Silences {
		if s.EndsAt > w.view.TriggeredAt {
			ends = append(ends, s.EndsAt)
		}
	}
	for _, e := range w.in.Timeline {
		if e.Kind == rimewatch.TransitionAckExpired || e.Kind == rimewatch.TransitionReleased {
			ends = append(ends, e.At)
		}
	}
	for _, r := range w.rules.Routes {
		for level := 1; level < len(r.Steps); level++ {
			span := rimewatch.Time(r.Steps[level].AfterS-r.Steps[level-1].AfterS) * rimewatch.Second
			i := slices.IndexFunc(w.in.Made, func(d rimewatch.Delivery) bool {
				return d.RouteID == r.ID && d.Level == level && d.Kind == rimewatch.DeliveryOpened
			})
			if i < 0 {
				continue
			}
			at := w.in.Made[i].CreatedAt
			for _, d := range w.in.Made[:i] {
				if d.RouteID == r.ID && d.Level == level-1 && d.Kind == rimewatch.DeliveryOpened && at < d.CreatedAt+span {
					t.Fatalf("route %d: level %d at %s, the one before at %s", r.ID, level, clock(at), clock(d.CreatedAt))
				}
			}
			for _, end := range ends {
				if end <= at && at < end+span {
					t.Fatalf("route %d: level %d at %s, held back until %s", r.ID, level, clock(at), clock(end))
				}
			}
		}
	}
}

// recoveries: who is told of the end was told of the alert, and once.
func recoveries(t *rapid.T, w *world) {
	told := make(map[int64]bool)
	over := make(map[int64]bool)
	for _, d := range w.in.Made {
		if d.Kind != rimewatch.DeliveryRecovery {
			told[d.ChannelID] = true
			if over[d.ChannelID] {
				t.Fatalf("channel %d is told %s after the end", d.ChannelID, d.Kind)
			}
			continue
		}
		if !told[d.ChannelID] || over[d.ChannelID] {
			t.Fatalf("channel %d is told of the end (told of the alert: %v, twice: %v)", d.ChannelID, told[d.ChannelID], over[d.ChannelID])
		}
		over[d.ChannelID] = true
	}
}

// reached: of an active alert that nothing holds back, every channel of the
// first level of every route that matches has been told, and no warning was told
// in quiet hours.
func reached(t *rapid.T, w *world, now rimewatch.Time) {
	a := &w.view.Alert
	if a.Status != rimewatch.AlertActive || a.AcknowledgedAt != 0 || a.SuppressedBy != 0 || w.rules.MutedUntil(&w.view, now) != 0 {
		return
	}
	routes := w.rules.Routes
	if len(routes) == 0 {
		routes = []rimewatch.Route{route(0, step(0, 1, 2, 3))}
	}
	for _, r := range routes {
		if !plan.Matches(&r.Match, &w.view) || (a.Severity == rimewatch.Warning && r.Quiet != nil && isQuiet(r.Quiet, now, w.in.Zone)) {
			continue
		}
		if a.Type == rimewatch.DeviceOffline && now < a.TriggeredAt+plan.OfflineWait {
			continue
		}
		for _, c := range r.Steps[0].ChannelIDs {
			if c == 4 { // switched off
				continue
			}
			if !slices.ContainsFunc(w.in.Made, func(d rimewatch.Delivery) bool {
				return d.ChannelID == c && d.Kind == rimewatch.DeliveryOpened
			}) {
				t.Fatalf("%s: route %d has not told channel %d", clock(now), r.ID, c)
			}
		}
	}
}

// isQuiet is what a person sees who looks at the clock on the wall.
func isQuiet(q *rimewatch.QuietHours, t rimewatch.Time, zone *time.Location) bool {
	l := t.Std().In(zone)
	m := l.Hour()*60 + l.Minute()
	if q.From <= q.To {
		return q.From <= m && m < q.To
	}
	return m >= q.From || m < q.To
}

// TestQuietEnd compares the end of quiet hours with a person who looks at the
// clock every minute, in nights in which it is set.
func TestQuietEnd(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		night := rapid.SampledFrom(dstNights).Draw(t, "night")
		z := zone(t, night.zone)
		begin := rimewatch.TimeOf(night.at) + rimewatch.Time(rapid.IntRange(0, 840).Draw(t, "minute"))*minute
		q := &rimewatch.QuietHours{From: rapid.IntRange(0, 1439).Draw(t, "from"), To: rapid.IntRange(0, 1439).Draw(t, "to")}
		w := newWorldBefore(rimewatch.Warning, rimewatch.HighTemperature, with(route(1, step(0, 1)), func(r *rimewatch.Route) { r.Quiet = q }))
		w.view.TriggeredAt, w.in.Zone = begin, z
		w.happen(begin, rimewatch.TransitionOpened)
		want := begin
		for isQuiet(q, want, z) {
			want += minute
		}
		w.runUntil(begin + 48*hour)
		if len(w.in.Made) != 1 || w.in.Made[0].CreatedAt != want {
			t.Fatalf("quiet %02d:%02d–%02d:%02d from %s: told %v, a person would at %s",
				q.From/60, q.From%60, q.To/60, q.To%60, begin.Std().In(z), w.told, want.Std().In(z))
		}
	})
}

// TestLastDigest: digests come once a day, at their minute where the clock shows
// it, and at the moment the clock is set over it where it does not.
func TestLastDigest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		night := rapid.SampledFrom(dstNights).Draw(t, "night")
		z := zone(t, night.zone)
		at := rapid.IntRange(0, 1439).Draw(t, "at")
		r := &rimewatch.Route{DigestAt: &at}
		last := rimewatch.Time(0)
		days := make(map[string]bool)
		for now := rimewatch.TimeOf(night.at) - 24*hour; now < rimewatch.TimeOf(night.at)+48*hour; now += 5 * minute {
			due := plan.LastDigest(r, now, z)
			if due == last {
				continue
			}
			if due > now || due < last || (last != 0 && due <= now-5*minute) {
				t.Fatalf("at %s it was due at %s, before that at %s", now, due, last)
			}
			l := due.Std().In(z)
			if l.Hour()*60+l.Minute() != at {
				if before := due.Add(-time.Millisecond).Std().In(z); before.Hour()*60+before.Minute() >= at || l.Hour()*60+l.Minute() <= at {
					t.Fatalf("a digest of %02d:%02d comes at %s", at/60, at%60, l)
				}
			}
			if day := l.Format(time.DateOnly); days[day] {
				t.Fatalf("two digests on %s", day)
			} else {
				days[day] = true
			}
			last = due
		}
		if len(days) < 3 {
			t.Fatalf("only %d digests in three days", len(days))
		}
	})
}

func TestDigest(t *testing.T) {
	at := 7*60 + 30
	r := with(route(2, step(0, 1, 4, 2)), func(r *rimewatch.Route) { r.DigestAt = &at; r.WorkspaceID = 1 })
	alert := func(id int64, s rimewatch.Severity, status rimewatch.AlertStatus, by int64) rimewatch.AlertView {
		return rimewatch.AlertView{Alert: rimewatch.Alert{ID: id, Severity: s, Status: status, SuppressedBy: by, TriggeredAt: rimewatch.Time(id)}}
	}
	w := newWorld(rimewatch.Warning, rimewatch.HighTemperature)
	alerts := []rimewatch.AlertView{
		alert(1, rimewatch.Warning, rimewatch.AlertResolved, 0), alert(3, rimewatch.Warning, rimewatch.AlertActive, 0),
		alert(2, rimewatch.Warning, rimewatch.AlertActive, 0), alert(4, rimewatch.Critical, rimewatch.AlertActive, 0), alert(5, rimewatch.Warning, rimewatch.AlertActive, 3),
		alert(int64(t0)+1, rimewatch.Warning, rimewatch.AlertActive, 0), // it came after the digest was due
	}
	alerts[1].Site = &rimewatch.Site{ID: 3}
	w.phone(2, 3) // is told of that site alone
	var got string
	for _, d := range plan.Digest(&r, &w.rules, alerts, t0, t0+minute, time.UTC) {
		got += d.Key + ":"
		for i := range d.Alerts {
			got += fmt.Sprint(" ", d.Alerts[i].ID)
		}
		got += "|"
	}
	if want := "digest/2/2026-11-21/1: 2 3 1|digest/2/2026-11-21/2: 3|"; got != want {
		t.Errorf("the digests are %s, not %s", got, want)
	}
	w.rules.Members = []plan.Member{{UserID: 9}}
	w.rules.Channels[0].OwnerID, w.rules.Channels[0].Quiet = 9, &rimewatch.QuietHours{From: 0, To: 24*60 - 1}
	for _, d := range plan.Digest(&r, &w.rules, alerts, t0, t0+minute, time.UTC) {
		if own := d.ChannelID == w.rules.Channels[0].ID; own != (d.NextAttemptAt > t0+minute) {
			t.Errorf("to channel %d at %s: a member's own way comes after its quiet hours, no other waits", d.ChannelID, d.NextAttemptAt)
		}
	}
	if none := plan.Digest(&r, &w.rules, alerts[3:], t0, t0, time.UTC); none != nil {
		t.Errorf("a digest of nothing is sent: %v", none)
	}
}
