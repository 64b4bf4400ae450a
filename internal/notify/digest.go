package notify

import (
	"context"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/notify/plan"
	"github.com/rimewatch/rimewatch/internal/store"
)

const (
	digestEvery  = 30 * rimewatch.Second // how often digests and reports are looked at
	digestLate   = 12 * rimewatch.Hour   // one that was missed for longer is not made up for
	digestAlerts = 100                   // alerts in one digest
	digestSearch = 30 * rimewatch.Day    // alerts triggered longer ago are not looked for among those that are over
)

// digests sends the digests that are due, and the messages of hand-overs and checks.
func (s *Service) digests(ctx context.Context, now rimewatch.Time) error {
	list, err := s.store.Workspaces(ctx)
	if err != nil {
		return err
	}
	b := s.newBatch(ctx)
	for i := range list {
		routes, err := s.store.Routing().Routes().List(ctx, list[i].ID)
		if err != nil {
			return err
		}
		for j := range routes {
			// One that cannot be sent is tried again and delays no other.
			if err := b.digest(&list[i], &routes[j], now); err != nil {
				s.log.Error("digest", "workspace", list[i].ID, "route", routes[j].ID, "err", err)
			}
		}
		if err := b.handOvers(&list[i], now); err != nil {
			s.log.Error("hand-over of a rota", "workspace", list[i].ID, "err", err)
		}
		if err := b.checks(&list[i], now); err != nil {
			s.log.Error("checks of a round", "workspace", list[i].ID, "err", err)
		}
	}
	return nil
}

// digest sends one route's digest if it is due.
func (b *batch) digest(w *rimewatch.Workspace, r *rimewatch.Route, now rimewatch.Time) error {
	s, zone := b.s, b.s.zone(w.TimeZone)
	due := plan.LastDigest(r, now, zone)
	if due == 0 || !r.Enabled || due <= max(s.planner.digested[r.ID], r.UpdatedAt-digestEvery, now-digestLate) {
		return nil
	}
	full, err := b.workspace(w.ID)
	if err != nil {
		return err
	}
	alerts, err := b.digestAlerts(w.ID, plan.LastDigest(r, due-1, zone))
	if err != nil {
		return err
	}
	list := plan.Digest(r, &full.rules, alerts, due, now, zone)
	for i := range list {
		d := &list[i]
		c := s.context(w, localeOf(full.rules.Channels, d.ChannelID), d.Key, zone, now)
		c.Contacts = contactsOf(&full.rules, d.Alerts...)
		body, err := c.Digest(d.Alerts).Encode()
		d.Body = body
		if err := s.put(&d.Delivery, err); err != nil {
			return err
		}
	}
	s.planner.digested[r.ID] = due
	return nil
}

// digestAlerts are the warnings that are active or have ended since a moment.
func (b *batch) digestAlerts(workspaceID int64, since rimewatch.Time) ([]rimewatch.AlertView, error) {
	f := store.AlertFilter{Status: rimewatch.AlertActive, Severity: rimewatch.Warning}
	list, _, err := b.s.store.Alerts(b.ctx, workspaceID, f, store.AlertPage{Limit: digestAlerts})
	if err != nil {
		return nil, err
	}
	f.Status, f.Since = rimewatch.AlertResolved, since-digestSearch
	over, _, err := b.s.store.Alerts(b.ctx, workspaceID, f, store.AlertPage{Limit: 5 * digestAlerts})
	if err != nil {
		return nil, err
	}
	for i := range over {
		if over[i].ResolvedAt > since && len(list) < digestAlerts {
			list = append(list, over[i])
		}
	}
	return list, nil
}
