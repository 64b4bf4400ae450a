package plan

import (
	"fmt"
	"slices"
	"time"

	"github.com/rimewatch/rimewatch"
)

// LastDigest is the last moment up to t at which a route's digest was due, by the
// clock of the workspace; 0 when the route has none.
func LastDigest(r *rimewatch.Route, t rimewatch.Time, zone *time.Location) rimewatch.Time {
	if r.DigestAt == nil {
		return 0
	}
	for day := range 3 {
		if c := wall(*r.DigestAt, t, -day, zone)[0]; c <= t {
			return c
		}
	}
	return t - rimewatch.Day
}

// Digested is a digest for one channel: what it lists, active alerts first.
type Digested struct {
	rimewatch.Delivery
	Alerts []rimewatch.AlertView
}

// Digest makes a route's digests of a moment: none when there is nothing to tell. alerts are
// the workspace's that are active or have ended since the digest before. What came after that
// moment waits for the next one, however late this one is made, as after a restart at night. By a
// member's own way one comes when its quiet hours are over.
func Digest(r *rimewatch.Route, rules *Rules, alerts []rimewatch.AlertView, due, now rimewatch.Time, zone *time.Location) []Digested {
	var list []rimewatch.AlertView
	for i := range alerts {
		v := &alerts[i]
		if v.TriggeredAt <= due && v.Severity == rimewatch.Warning && v.SuppressedBy == 0 && Matches(&r.Match, v) && rules.MutedUntil(v, now) == 0 {
			list = append(list, *v)
		}
	}
	if len(list) == 0 || len(r.Steps) == 0 || !r.Enabled {
		return nil
	}
	slices.SortStableFunc(list, func(a, b rimewatch.AlertView) int {
		if a.Status != b.Status {
			if a.Status == rimewatch.AlertActive {
				return -1
			}
			return 1
		}
		return int(min(max(a.TriggeredAt-b.TriggeredAt, -1), 1))
	})
	var out []Digested
	for i := range rules.Channels {
		c := &rules.Channels[i]
		its := slices.DeleteFunc(slices.Clone(list), func(v rimewatch.AlertView) bool {
			return !rules.mayKnow(c, &v) || !slices.Contains(rules.channelsOf(&v, &r.Steps[0], now), c.ID)
		})
		if !c.Enabled || len(its) == 0 {
			continue
		}
		at := now
		if c.Quiet != nil && quiet(c.Quiet, now, zone) {
			at = quietEnd(c.Quiet, now, zone)
		}
		out = append(out, Digested{rimewatch.Delivery{
			WorkspaceID: r.WorkspaceID, ChannelID: c.ID, RouteID: r.ID, Kind: rimewatch.DeliveryDigest,
			Key:    fmt.Sprintf("digest/%d/%s/%d", r.ID, due.Std().In(zone).Format(time.DateOnly), c.ID),
			Status: rimewatch.DeliveryPending, NextAttemptAt: at, CreatedAt: now,
		}, its})
	}
	return out
}
