package notify

import (
	"context"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/notify/message"
	"github.com/rimewatch/rimewatch/internal/phrase"
	"github.com/rimewatch/rimewatch/internal/ticket"
	"github.com/rimewatch/rimewatch/internal/wire"
)

// letAcknowledge adds to a message that one member alone reads where that person acknowledges its
// alerts without signing in. Whether that is still so, the link is asked when it is used; where it
// cannot be found out now, the message goes without.
func (s *Service) letAcknowledge(ctx context.Context, c *rimewatch.Channel, m *message.Message) {
	if s.cfg.LinkKey == nil || s.cfg.Address == nil || !personal(c) {
		return
	}
	base := s.cfg.Address(ctx)
	if base == "" {
		return
	}
	rules, err := readWays(ctx, s.store, c.WorkspaceID)
	if err != nil {
		s.log.Error("links of a message", "channel", c.ID, "err", err)
		return
	}
	who := rules.Owner(c)
	if who == nil || !who.Role.Scopes().Has(rimewatch.ScopeAlertsWrite) {
		return
	}
	expires := s.now() + ticket.AcknowledgeLife
	m.LetAcknowledge(func(alertID, siteID int64) string {
		if !who.Sites.Has(siteID) {
			return ""
		}
		l := ticket.Link{Purpose: ticket.Acknowledge, WorkspaceID: c.WorkspaceID, Expires: expires, ID: alertID, UserID: who.UserID, ChannelID: c.ID}
		return base + ticket.AcknowledgePath + l.Encode(s.cfg.LinkKey)
	})
}

// personal reports whether a channel may bring links that act as who reads it: webhooks are programs', a
// notification of a browser and a phone call have ways of their own.
func personal(c *rimewatch.Channel) bool {
	return c.Kind == rimewatch.ChannelEmail && len(c.To) == 1 || c.Kind == rimewatch.ChannelService && c.OwnerID != 0
}

// CardStore keeps the data of an alert's card.
type CardStore interface {
	Workspace(ctx context.Context, id int64) (rimewatch.Workspace, error)
}

// Card writes an alert as a message about it does, for a page.
func Card(ctx context.Context, s CardStore, v *rimewatch.AlertView, l rimewatch.Locale, now rimewatch.Time) (wire.Card, error) {
	w, err := s.Workspace(ctx, v.WorkspaceID)
	if err != nil {
		return wire.Card{}, err
	}
	zone := rimewatch.ZoneOf(zoneName(v, &w))
	c := message.Context{Zone: zone, Locale: l, Now: now}
	kind := rimewatch.DeliveryOpened
	if v.Status == rimewatch.AlertResolved {
		kind = rimewatch.DeliveryRecovery
	}
	d := &c.Of(v, message.Reason{Kind: kind}).Safe(false).Data
	out := wire.Card{Workspace: w.Name, Slug: w.Slug, Title: d.Title(), Text: d.Text, Facts: []wire.Fact{}, Severity: v.Severity, Active: v.Status == rimewatch.AlertActive}
	for _, f := range d.Facts {
		out.Facts = append(out.Facts, wire.Fact(f))
	}
	words := phrase.In(l).At(zone)
	switch {
	case !out.Active:
		out.State = words.Sayf("This alert is over since %s.", words.Moment(v.ResolvedAt))
	case v.AcknowledgedAt != 0:
		out.State = words.Sayf("Acknowledged by %s, %s.", v.AcknowledgedBy, words.Moment(v.AcknowledgedAt))
	}
	return out, nil
}
