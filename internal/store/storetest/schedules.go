package storetest

import (
	"github.com/rimewatch/rimewatch"
)

func (c *control) reportSchedules() {
	a, b := c.workspace("a"), c.workspace("b")
	mail, other, foreign := c.channel(anEmail(a.ID, "x")), c.channel(anEmail(a.ID, "y")), c.channel(anEmail(b.ID, "x"))
	hook := c.channel(aWebhook(a.ID, "hook"))
	site, theirs := c.site(a, "s").ID, c.site(b, "s").ID
	schedule := func(w, site int64, channels ...int64) rimewatch.ReportSchedule {
		return rimewatch.ReportSchedule{WorkspaceID: w, SiteID: site, Period: rimewatch.ReportWeekly, ChannelIDs: channels, Enabled: true, Through: t0 - 5, CreatedAt: t0, UpdatedAt: t0}
	}
	s, all, far := schedule(a.ID, site, mail.ID, other.ID), schedule(a.ID, 0, other.ID), schedule(b.ID, theirs, foreign.ID)
	all.Period, all.Enabled = rimewatch.ReportMonthly, false
	for _, x := range []*rimewatch.ReportSchedule{&s, &all, &far} {
		c.ok(c.s.Routing().ReportSchedules().Create(c.ctx, x))
	}
	list, err := c.s.Everywhere().AllReportSchedules(c.ctx)
	c.ok(err)
	c.same(list, []rimewatch.ReportSchedule{s, far})

	for _, id := range []int64{far.ID, far.ID + 1, 0, -1} {
		c.code(c.s.Routing().ReportsThrough(c.ctx, a.ID, id, t0), rimewatch.CodeNotFound)
	}
	for _, bad := range []struct {
		field  string
		change func(*rimewatch.ReportSchedule)
	}{
		{"period", func(s *rimewatch.ReportSchedule) { s.Period = "daily" }},
		{"site_id", func(s *rimewatch.ReportSchedule) { s.SiteID = theirs }},
		{"site_id", func(s *rimewatch.ReportSchedule) { s.SiteID = -1 }},
		{"channel_ids", func(s *rimewatch.ReportSchedule) { s.ChannelIDs = nil }},
		{"channel_ids", func(s *rimewatch.ReportSchedule) { s.ChannelIDs = []int64{mail.ID, mail.ID} }},
		{"channel_ids", func(s *rimewatch.ReportSchedule) { s.ChannelIDs = []int64{foreign.ID} }},
		{"channel_ids", func(s *rimewatch.ReportSchedule) { s.ChannelIDs = []int64{hook.ID} }},
		{"channel_ids", func(s *rimewatch.ReportSchedule) { s.ChannelIDs = make([]int64, rimewatch.MaxStepTargets+1) }},
	} {
		x := schedule(a.ID, site, mail.ID)
		bad.change(&x)
		c.field(c.s.Routing().ReportSchedules().Create(c.ctx, &x), bad.field)
		_, err = c.s.Routing().ReportSchedules().Update(c.ctx, a.ID, s.ID, func(s *rimewatch.ReportSchedule) error { bad.change(s); return nil })
		c.field(err, bad.field)
	}

	c.ok(c.s.Routing().ReportsThrough(c.ctx, a.ID, s.ID, t0+3))
	s.Through = t0 + 3
	got, err := c.s.Routing().ReportSchedules().Get(c.ctx, a.ID, s.ID)
	c.ok(err)
	c.same(got, s)

	c.code(c.s.Routing().Channels().Delete(c.ctx, a.ID, mail.ID), rimewatch.CodeConflict)
	c.ok(c.s.Routing().ReportSchedules().Delete(c.ctx, a.ID, s.ID))
	c.ok(c.s.Routing().Channels().Delete(c.ctx, a.ID, mail.ID))
	c.ok(c.s.Sites().Delete(c.ctx, b.ID, theirs))
	list, err = c.s.Routing().ReportSchedules().List(c.ctx, b.ID)
	c.ok(err)
	c.same(len(list), 0)
}
