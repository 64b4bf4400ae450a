package notify

import (
	"cmp"
	"context"
	"slices"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/notify/plan"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/wire"
)

// EscalationStore keeps the data that an escalation follows from.
type EscalationStore interface {
	ruleStore
	Outbox() store.Outbox
}

// Escalation finds the recipients of an alert so far and the next ones, by the decision that
// messages are sent by. It is nil once the alert is over.
func Escalation(ctx context.Context, s EscalationStore, v *rimewatch.AlertView, now rimewatch.Time) (*wire.Escalation, error) {
	if v.Status != rimewatch.AlertActive {
		return nil, nil //nolint:nilnil // null in the answer
	}
	w, err := s.Workspace(ctx, v.WorkspaceID)
	if err != nil {
		return nil, err
	}
	rules, err := readRules(ctx, s, v.WorkspaceID, now-endedKept)
	if err != nil {
		return nil, err
	}
	in := plan.Input{Alert: v, Rules: &rules, Zone: rimewatch.ZoneOf(zoneName(v, &w)), Now: now}
	if in.Timeline, err = s.Outbox().AlertTransitions(ctx, v.WorkspaceID, v.ID); err != nil {
		return nil, err
	}
	if in.Made, err = s.Outbox().AlertDeliveries(ctx, v.WorkspaceID, v.ID); err != nil {
		return nil, err
	}
	r := plan.Alert(&in)
	out := &wire.Escalation{Told: []wire.Told{}, NextAt: r.Ahead.At, Next: []wire.Recipient{}}
	for i := range in.Made {
		d := &in.Made[i]
		if d.SentAt == 0 || d.AlertID != v.ID {
			continue
		}
		out.Level = max(out.Level, d.Level+1)
		to, at := recipient(&rules, d.ChannelID), d.SentAt
		if j := slices.IndexFunc(out.Told, func(t wire.Told) bool { return t.Recipient == to }); j >= 0 {
			out.Told[j].At = min(out.Told[j].At, at)
		} else {
			out.Told = append(out.Told, wire.Told{Recipient: to, At: at})
		}
	}
	slices.SortStableFunc(out.Told, func(x, y wire.Told) int { return cmp.Compare(x.At, y.At) })
	for _, c := range r.Ahead.Channels {
		if to := recipient(&rules, c); !slices.Contains(out.Next, to) {
			out.Next = append(out.Next, to)
		}
	}
	return out, nil
}

// Called finds who would be notified of a critical alert that begins now at a site (0 = at a unit
// without one), by the routes that are not narrowed to some units or types.
func Called(ctx context.Context, s ruleStore, workspaceID int64, site *rimewatch.Site, now rimewatch.Time) ([]wire.Call, error) {
	w, err := s.Workspace(ctx, workspaceID)
	if err != nil {
		return nil, err
	}
	rules, err := readRules(ctx, s, workspaceID, now)
	if err != nil {
		return nil, err
	}
	calls := rules.Called(plan.Unit{DeviceID: -1, SiteID: site.ID}, rimewatch.ZoneOf(cmp.Or(site.TimeZone, w.TimeZone)), now)
	out := make([]wire.Call, len(calls))
	for i, c := range calls {
		out[i] = wire.Call{AfterS: int64((c.At - now) / rimewatch.Second), To: []wire.Recipient{}}
		for _, channel := range c.Channels {
			if to := recipient(&rules, channel); !slices.Contains(out[i].To, to) {
				out[i].To = append(out[i].To, to)
			}
		}
	}
	return out, nil
}

// recipient is the person or group that a channel reaches.
func recipient(r *plan.Rules, channel int64) wire.Recipient {
	for i := range r.Channels {
		c := &r.Channels[i]
		if c.ID != channel {
			continue
		}
		if m := r.Owner(c); m != nil {
			return wire.Recipient{Kind: "member", ID: m.UserID, Name: m.Name}
		}
		for j := range r.Contacts {
			if x := &r.Contacts[j]; plan.Reaches(c, x) {
				return wire.Recipient{Kind: "contact", ID: x.ID, Name: x.Name}
			}
		}
		return wire.Recipient{Kind: "channel", ID: c.ID, Name: c.Name}
	}
	return wire.Recipient{Kind: "channel", ID: channel}
}
