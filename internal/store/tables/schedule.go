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
	shape: shapeOf("report_schedule", errSchedule, nil, func(s *rimewatch.ReportSchedule) []column {
		return []column{
			given("id", number(&s.ID)), fixed("workspace_id", number(&s.WorkspaceID)), col("site_id", number(&s.SiteID)), col("period", text(&s.Period)),
			col("channel_ids", document(&s.ChannelIDs)), col("enabled", flag(&s.Enabled)), col("through", number(&s.Through)),
			fixed("created_at", number(&s.CreatedAt)), col("updated_at", number(&s.UpdatedAt)),
		}
	}),
	created: "report_schedule.created", updated: "report_schedule.updated", deleted: "report_schedule.deleted",
	ids:   func(s *rimewatch.ReportSchedule) (id, workspaceID *int64) { return &s.ID, &s.WorkspaceID },
	check: (*rimewatch.ReportSchedule).Check,
	room: func(_ *base, conn Conn, s *rimewatch.ReportSchedule) error {
		return room(conn, rimewatch.Sentencef("scheduled reports"), rimewatch.MaxReportSchedules, "SELECT count(*) FROM report_schedule WHERE workspace_id = ?", s.WorkspaceID)
	},
	refers: checkSchedule,
	fields: func(s *rimewatch.ReportSchedule) store.Fields {
		return store.Fields{"site_id": s.SiteID, "period": string(s.Period), "channel_ids": written(s.ChannelIDs), "enabled": s.Enabled}
	},
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

// CreateReportSchedule implements store.Notifications.
func (t Routing) CreateReportSchedule(ctx context.Context, s *rimewatch.ReportSchedule) error {
	return scheduleTable.create(ctx, t.base, s)
}

// UpdateReportSchedule implements store.Notifications.
func (t Routing) UpdateReportSchedule(ctx context.Context, workspaceID, id int64, change func(*rimewatch.ReportSchedule) error) (rimewatch.ReportSchedule, error) {
	return scheduleTable.change(ctx, t.base, workspaceID, id, change)
}

// DeleteReportSchedule implements store.Notifications.
func (t Routing) DeleteReportSchedule(ctx context.Context, workspaceID, id int64) error {
	return scheduleTable.delete(ctx, t.base, workspaceID, id, func(conn Conn, _ *rimewatch.ReportSchedule) error {
		return execAll(conn, []any{id}, "DELETE FROM report_schedule WHERE id = ?")
	})
}

// ReportSchedule implements store.Notifications.
func (t Routing) ReportSchedule(ctx context.Context, workspaceID, id int64) (rimewatch.ReportSchedule, error) {
	return scheduleTable.get(ctx, t.base, workspaceID, id)
}

// ReportSchedules implements store.Notifications.
func (t Routing) ReportSchedules(ctx context.Context, workspaceID int64) ([]rimewatch.ReportSchedule, error) {
	return scheduleTable.all(ctx, t.base, "workspace_id = ? ORDER BY id", workspaceID)
}

// AllReportSchedules implements store.Everywhere.
func (t Routing) AllReportSchedules(ctx context.Context) ([]rimewatch.ReportSchedule, error) {
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
