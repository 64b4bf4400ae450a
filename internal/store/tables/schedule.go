package tables

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
)

func errSchedule() error {
	return rimewatch.Errorf(rimewatch.CodeNotFound, "There is no such scheduled report.")
}

const scheduleColumns = "id, workspace_id, site_id, period, channel_ids, enabled, through, created_at, updated_at"

func scanSchedule(row Row, s *rimewatch.ReportSchedule) error {
	*s = rimewatch.ReportSchedule{
		ID: row.ColumnInt64(0), WorkspaceID: row.ColumnInt64(1), SiteID: row.ColumnInt64(2), Period: rimewatch.ReportPeriod(row.ColumnText(3)),
		Enabled: row.ColumnBool(5), Through: columnTime(row, 6), CreatedAt: columnTime(row, 7), UpdatedAt: columnTime(row, 8),
	}
	return fromJSON(row, 4, &s.ChannelIDs)
}

func schedules(conn Conn, where string, args ...any) ([]rimewatch.ReportSchedule, error) {
	return scanAll(conn, scanSchedule, "SELECT "+scheduleColumns+" FROM report_schedule WHERE "+where, args...)
}

func findSchedule(conn Conn, workspaceID, id int64) (rimewatch.ReportSchedule, error) {
	list, err := schedules(conn, "id = ? AND workspace_id = ?", id, workspaceID)
	if err == nil && len(list) == 0 {
		err = errSchedule()
	}
	if err != nil {
		return rimewatch.ReportSchedule{}, err
	}
	return list[0], nil
}

func scheduleFields(s *rimewatch.ReportSchedule) store.Fields {
	return store.Fields{"site_id": s.SiteID, "period": string(s.Period), "channel_ids": json.RawMessage(asJSON(s.ChannelIDs)), "enabled": s.Enabled}
}

// checkSchedule wants the site and the channels of a schedule to be its workspace's,
// and reports to go by mail.
func checkSchedule(conn Conn, s *rimewatch.ReportSchedule) error {
	if err := s.Check(); err != nil {
		return err
	}
	if s.SiteID != 0 {
		if _, err := findSite(conn, s.WorkspaceID, s.SiteID); rimewatch.CodeOf(err) == rimewatch.CodeNotFound {
			return rimewatch.Invalid("site_id", "is not known")
		} else if err != nil {
			return err
		}
	}
	list, err := channels(conn, "workspace_id = ? AND deleted = 0", s.WorkspaceID)
	if err != nil {
		return err
	}
	for _, id := range s.ChannelIDs {
		switch i := slices.IndexFunc(list, func(c rimewatch.Channel) bool { return c.ID == id }); {
		case i < 0:
			return rimewatch.Invalid("channel_ids", "there is no channel %d", id)
		case list[i].Kind != rimewatch.ChannelEmail:
			return rimewatch.Invalid("channel_ids", "must be channels for e-mail: %q is not one", list[i].Name)
		}
	}
	return nil
}

// CreateReportSchedule implements store.Notifications.
func (t Routing) CreateReportSchedule(ctx context.Context, s *rimewatch.ReportSchedule) error {
	return t.write(ctx, func(conn Conn) error {
		if err := room(conn, rimewatch.Sentencef("scheduled reports"), rimewatch.MaxReportSchedules, "SELECT count(*) FROM report_schedule WHERE workspace_id = ?", s.WorkspaceID); err != nil {
			return err
		}
		if err := checkSchedule(conn, s); err != nil {
			return err
		}
		id, err := insert(conn, errSchedule(), "INSERT INTO report_schedule (workspace_id, site_id, period, channel_ids, enabled, through, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
			s.WorkspaceID, s.SiteID, string(s.Period), asJSON(s.ChannelIDs), s.Enabled, int64(s.Through), int64(s.CreatedAt), int64(s.UpdatedAt))
		if err != nil {
			return err
		}
		s.ID = id
		return t.audit(ctx, conn, s.WorkspaceID, "report_schedule.created", subject("report_schedule", id), scheduleFields(s))
	})
}

// UpdateReportSchedule implements store.Notifications.
func (t Routing) UpdateReportSchedule(ctx context.Context, workspaceID, id int64, change func(*rimewatch.ReportSchedule) error) (s rimewatch.ReportSchedule, err error) {
	err = t.write(ctx, func(conn Conn) error {
		old, err := findSchedule(conn, workspaceID, id)
		if err != nil {
			return err
		}
		s = old
		before := scheduleFields(&old)
		if err := change(&s); err != nil {
			return err
		}
		s.ID, s.WorkspaceID, s.CreatedAt = id, workspaceID, old.CreatedAt
		if err := checkSchedule(conn, &s); err != nil {
			return err
		}
		_, err = exec(conn, "UPDATE report_schedule SET site_id = ?, period = ?, channel_ids = ?, enabled = ?, through = ?, updated_at = ? WHERE id = ?",
			s.SiteID, string(s.Period), asJSON(s.ChannelIDs), s.Enabled, int64(s.Through), int64(s.UpdatedAt), id)
		if err != nil {
			return err
		}
		return t.auditChange(ctx, conn, workspaceID, "report_schedule.updated", subject("report_schedule", id), before, scheduleFields(&s))
	})
	if err != nil {
		return rimewatch.ReportSchedule{}, err
	}
	return s, nil
}

// DeleteReportSchedule implements store.Notifications.
func (t Routing) DeleteReportSchedule(ctx context.Context, workspaceID, id int64) error {
	return t.write(ctx, func(conn Conn) error {
		s, err := findSchedule(conn, workspaceID, id)
		if err != nil {
			return err
		}
		if _, err := exec(conn, "DELETE FROM report_schedule WHERE id = ?", id); err != nil {
			return err
		}
		return t.audit(ctx, conn, workspaceID, "report_schedule.deleted", subject("report_schedule", id), scheduleFields(&s))
	})
}

// ReportSchedule implements store.Notifications.
func (t Routing) ReportSchedule(ctx context.Context, workspaceID, id int64) (s rimewatch.ReportSchedule, err error) {
	err = t.read(ctx, func(conn Conn) (err error) {
		s, err = findSchedule(conn, workspaceID, id)
		return err
	})
	return s, err
}

// ReportSchedules implements store.Notifications.
func (t Routing) ReportSchedules(ctx context.Context, workspaceID int64) (list []rimewatch.ReportSchedule, err error) {
	err = t.read(ctx, func(conn Conn) (err error) {
		list, err = schedules(conn, "workspace_id = ? ORDER BY id", workspaceID)
		return err
	})
	return list, err
}

// AllReportSchedules implements store.Everywhere.
func (t Routing) AllReportSchedules(ctx context.Context) (list []rimewatch.ReportSchedule, err error) {
	err = t.read(ctx, func(conn Conn) (err error) {
		list, err = schedules(conn, "enabled <> 0"+t.and("workspace_id")+" ORDER BY id")
		return err
	})
	return list, err
}

// ReportsThrough implements store.Notifications.
func (t Routing) ReportsThrough(ctx context.Context, workspaceID, id int64, through rimewatch.Time) error {
	return t.write(ctx, func(conn Conn) error {
		n, err := exec(conn, "UPDATE report_schedule SET through = ? WHERE id = ? AND workspace_id = ?", int64(through), id, workspaceID)
		if err == nil && n == 0 {
			err = errSchedule()
		}
		return err
	})
}

// notScheduled is CodeConflict when a scheduled report goes to the channel.
func notScheduled(conn Conn, workspaceID, id int64) error {
	list, err := schedules(conn, "workspace_id = ?", workspaceID)
	if err == nil && slices.ContainsFunc(list, func(s rimewatch.ReportSchedule) bool { return slices.Contains(s.ChannelIDs, id) }) {
		err = rimewatch.Errorf(rimewatch.CodeConflict, "Scheduled reports are sent to this channel.")
	}
	return err
}
