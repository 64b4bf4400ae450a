package notify

import (
	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/notify/message"
	"github.com/rimewatch/rimewatch/internal/store"
)

const (
	checkLate  = rimewatch.Hour // a check that came due, or was missed, longer ago is not notified any more
	checksTold = 1000           // that are looked at
)

// checkNews identifies the notification of a check.
type checkNews struct {
	id     int64
	status rimewatch.CheckStatus
}

// checks sends word of the checks of a workspace that are due or were missed, as their rounds want it. The keys of its
// deliveries prevent a second message, also after a restart.
func (b *batch) checks(w *rimewatch.Workspace, now rimewatch.Time) error {
	rounds, err := b.s.store.Records().CheckTemplates().List(b.ctx, w.ID)
	if err != nil || len(rounds) == 0 {
		return err
	}
	tell := make(map[int64]rimewatch.CheckTell)
	for i := range rounds {
		tell[rounds[i].ID] = rounds[i].Tell
	}
	list, _, err := b.s.store.Records().Checks(b.ctx, w.ID, store.CheckFilter{From: now - 2*rimewatch.Day, To: now + 1}, store.Page{Limit: checksTold})
	if err != nil {
		return err
	}
	for i := range list {
		c, since := &list[i], list[i].OpenedAt
		if c.Status == rimewatch.CheckMissed {
			since = max(since, c.To)
		}
		news := checkNews{c.ID, c.Status}
		if !tell[c.TemplateID].Of(c.Status) || since < now-checkLate || b.s.planner.checked[news] != 0 {
			continue
		}
		if err := b.check(w, c, now); err != nil {
			return err
		}
		b.s.planner.checked[news] = now
	}
	for news, at := range b.s.planner.checked {
		if at < now-2*checkLate {
			delete(b.s.planner.checked, news)
		}
	}
	return nil
}

func (b *batch) check(w *rimewatch.Workspace, x *rimewatch.Check, now rimewatch.Time) error {
	full, err := b.workspace(w.ID)
	if err != nil {
		return err
	}
	zone, site := b.s.zone(w.TimeZone), (*message.Site)(nil)
	if x.SiteID != 0 {
		s, err := b.s.store.Sites().Get(b.ctx, w.ID, x.SiteID)
		switch {
		case rimewatch.CodeOf(err) == rimewatch.CodeNotFound: // it was deleted since
			return nil
		case err != nil:
			return err
		}
		zone, site = b.s.zone(s.TimeZone), &message.Site{ID: s.ID, Name: s.Name, TimeZone: s.TimeZone, Address: s.Address}
	}
	for _, d := range full.rules.Check(x, zone, now) {
		c := b.s.context(w, localeOf(full.rules.Channels, d.ChannelID), d.Key, zone, now)
		body, err := c.Check(x, site).Encode()
		d.Body = body
		if err := b.s.put(&d, err); err != nil {
			return err
		}
	}
	return nil
}
