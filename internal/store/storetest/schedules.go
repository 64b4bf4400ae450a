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
		c.ok(c.s.CreateReportSchedule(c.ctx, x))
	}
	list, err := c.s.ReportSchedules(c.ctx, a.ID)
	c.ok(err)
	c.same(list, []rimewatch.ReportSchedule{s, all})
	list, err = c.s.AllReportSchedules(c.ctx)
	c.ok(err)
	c.same(list, []rimewatch.ReportSchedule{s, far})

	nop := func(*rimewatch.ReportSchedule) error { return nil }
	for _, id := range []int64{far.ID, far.ID + 1, 0, -1} {
		_, err = c.s.ReportSchedule(c.ctx, a.ID, id)
		c.code(err, rimewatch.CodeNotFound)
		_, err = c.s.UpdateReportSchedule(c.ctx, a.ID, id, nop)
		c.code(err, rimewatch.CodeNotFound)
		c.code(c.s.ReportsThrough(c.ctx, a.ID, id, t0), rimewatch.CodeNotFound)
		c.code(c.s.DeleteReportSchedule(c.ctx, a.ID, id), rimewatch.CodeNotFound)
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
		c.field(c.s.CreateReportSchedule(c.ctx, &x), bad.field)
		_, err = c.s.UpdateReportSchedule(c.ctx, a.ID, s.ID, func(s *rimewatch.ReportSchedule) error { bad.change(s); return nil })
		c.field(err, bad.field)
	}

	changed, err := c.s.UpdateReportSchedule(c.ctx, a.ID, s.ID, func(x *rimewatch.ReportSchedule) error {
		*x = schedule(b.ID, 0, mail.ID)
		x.ID, x.CreatedAt, x.UpdatedAt, x.Through = 99, 5, t0+1, t0+2
		return nil
	})
	c.ok(err)
	s.SiteID, s.ChannelIDs, s.UpdatedAt, s.Through = 0, []int64{mail.ID}, t0+1, t0+2
	c.same(changed, s)
	c.ok(c.s.ReportsThrough(c.ctx, a.ID, s.ID, t0+3))
	s.Through = t0 + 3
	got, err := c.s.ReportSchedule(c.ctx, a.ID, s.ID)
	c.ok(err)
	c.same(got, s)

	c.code(c.s.DeleteChannel(c.ctx, a.ID, mail.ID), rimewatch.CodeConflict)
	c.ok(c.s.DeleteReportSchedule(c.ctx, a.ID, s.ID))
	c.ok(c.s.DeleteChannel(c.ctx, a.ID, mail.ID))
	c.ok(c.s.DeleteSite(c.ctx, b.ID, theirs))
	list, err = c.s.ReportSchedules(c.ctx, b.ID)
	c.ok(err)
	c.same(len(list), 0)

	for range rimewatch.MaxReportSchedules - 1 {
		x := schedule(a.ID, site, other.ID)
		c.ok(c.s.CreateReportSchedule(c.ctx, &x))
	}
	x := schedule(a.ID, site, other.ID)
	c.code(c.s.CreateReportSchedule(c.ctx, &x), rimewatch.CodeQuotaExceeded)
}
