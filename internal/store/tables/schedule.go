package tables

import (
	"context"
	"slices"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
)

func errSchedule() error {
	return rimewatch.Errorf(rimewatch.CodeNotFound, "There is no such scheduled report.")
}

var scheduleTable = resource[rimewatch.ReportSchedule]{
	shape: resourceOf("report_schedule", errSchedule, nil, scheduleKey, func(s *rimewatch.ReportSchedule) []column {
		return []column{
			col("site_id", number(&s.SiteID)), col("period", text(&s.Period)), col("channel_ids", document(&s.ChannelIDs)), col("enabled", flag(&s.Enabled)),
			col("through", number(&s.Through)), col("updated_at", number(&s.UpdatedAt)),
		}
	}),
	created: "report_schedule.created", updated: "report_schedule.updated", deleted: "report_schedule.deleted",
	key:   scheduleKey,
	check: (*rimewatch.ReportSchedule).Check,
	most:  func(store.Quotas) int { return rimewatch.MaxReportSchedules }, kind: rimewatch.Sentencef("scheduled reports"),
	refers: checkSchedule,
	fields: func(s *rimewatch.ReportSchedule) store.Fields {
		return store.Fields{"site_id": s.SiteID, "period": string(s.Period), "channel_ids": written(s.ChannelIDs), "enabled": s.Enabled}
	},
}

func scheduleKey(s *rimewatch.ReportSchedule) key {
	return key{&s.ID, &s.WorkspaceID, &s.Revision, &s.CreatedAt, &s.SiteID}
}

// checkSchedule wants the site and the channels of a schedule to be its workspace's,
// and reports to go by mail.
func checkSchedule(conn Conn, s *rimewatch.ReportSchedule) error {
	if err := checkSite(conn, s.WorkspaceID, s.SiteID); err != nil {
		return err
	}
	list, err := channelTable.list(conn, "workspace_id = ? AND deleted = 0", s.WorkspaceID)
	if err != nil {
		return err
	}
	for _, id := range s.ChannelIDs {
		switch i := slices.IndexFunc(list, func(c rimewatch.Channel) bool { return c.ID == id }); {
		case i < 0:
			return rimewatch.Invalid("channel_ids", "there is no channel %d", id)
		case list[i].Kind != rimewatch.ChannelEmail:
			return rimewatch.Invalid("channel_ids", "must be e-mail channels: %q is not one", list[i].Name)
		}
	}
	return nil
}

// ReportSchedules implements store.Notifications.
func (t Routing) ReportSchedules() store.Resource[rimewatch.ReportSchedule] {
	return handle[rimewatch.ReportSchedule]{t.base, &scheduleTable, func(conn Conn, s *rimewatch.ReportSchedule) error {
		return deleteFrom(conn, "report_schedule", s.ID)
	}}
}

// AllReportSchedules implements store.Everywhere.
func (t Everywhere) AllReportSchedules(ctx context.Context) ([]rimewatch.ReportSchedule, error) {
	return scheduleTable.all(ctx, t.base, "enabled <> 0"+t.and("workspace_id")+" ORDER BY id")
}

// ReportsThrough implements store.Notifications.
func (t Routing) ReportsThrough(ctx context.Context, workspaceID, id int64, through rimewatch.Time) error {
	return t.write(ctx, func(conn Conn) error {
		return execOne(conn, errSchedule(), "UPDATE report_schedule SET through = ? WHERE id = ? AND workspace_id = ?", int64(through), id, workspaceID)
	})
}

// notScheduled is CodeConflict when a scheduled report goes to the channel.
func notScheduled(conn Conn, workspaceID, id int64) error {
	list, err := scheduleTable.list(conn, "workspace_id = ?", workspaceID)
	if err == nil && slices.ContainsFunc(list, func(s rimewatch.ReportSchedule) bool { return slices.Contains(s.ChannelIDs, id) }) {
		err = rimewatch.Errorf(rimewatch.CodeConflict, "Scheduled reports are sent to this channel.")
	}
	return err
}
