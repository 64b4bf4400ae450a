package notify

import (
	"context"

	"github.com/rimewatch/rimewatch"
)

// TellOrder lets the member who has a work order know, over that member's own ways. It returns once the messages are
// stored.
func (s *Service) TellOrder(ctx context.Context, o *rimewatch.WorkOrder) error {
	w, err := s.store.Workspace(ctx, o.WorkspaceID)
	if err != nil {
		return err
	}
	rules, err := readWays(ctx, s.store, o.WorkspaceID)
	if err != nil {
		return err
	}
	var site *rimewatch.Site
	zone := s.zone(w.TimeZone)
	if o.SiteID != 0 {
		x, err := s.store.Sites().Get(ctx, o.WorkspaceID, o.SiteID)
		if err != nil {
			return err
		}
		site, zone = &x, s.zone(x.TimeZone)
	}
	now := s.now()
	for _, d := range rules.Ordered(o, zone, now) {
		d.Body, err = s.context(&w, localeOf(rules.Channels, d.ChannelID), d.Key, zone, now).Order(o, site).Encode()
		if err := s.put(&d, err); err != nil {
			return err
		}
	}
	return nil
}
