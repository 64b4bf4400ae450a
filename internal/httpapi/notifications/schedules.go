package notifications

import (
	"context"
	"net/http"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/account"
	"github.com/rimewatch/rimewatch/internal/httpapi"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/wire"
)

// ReportSchedule is a temperature log that is mailed when its period is over.
type ReportSchedule struct {
	ID         int64                  `json:"id"`
	SiteID     *int64                 `json:"site_id" doc:"null = all sites."`
	Period     rimewatch.ReportPeriod `json:"period" enum:"weekly,monthly"`
	ChannelIDs []int64                `json:"channel_ids"`
	Enabled    bool                   `json:"enabled"`
	NextAt     rimewatch.Time         `json:"next_at" doc:"When the next report is sent; null while it is not enabled."`
	CreatedAt  rimewatch.Time         `json:"created_at" nullable:"false"`
	UpdatedAt  rimewatch.Time         `json:"updated_at" nullable:"false"`
}

// ReportScheduleData is the data of answers about one scheduled report.
type ReportScheduleData struct {
	Schedule ReportSchedule `json:"report_schedule"`
}

// ReportScheduleList are the scheduled reports of a workspace.
type ReportScheduleList struct {
	httpapi.Paged
	Schedules   []ReportSchedule `json:"report_schedules"`
	Unavailable *string          `json:"unavailable" doc:"Why this server cannot send any; null if it can." example:"this server has no mail server (--smtp-host)"`
}

// calendars returns the time zone of a site of the caller's workspace; that of the
// workspace for no site, and for one that is not there.
func (a *api) calendars(ctx context.Context) (func(siteID int64) *time.Location, error) {
	return a.calendarsOf(ctx, httpapi.CallOf(ctx).Workspace())
}

func (a *api) calendarsOf(ctx context.Context, workspaceID int64) (func(siteID int64) *time.Location, error) {
	by := account.Operator(workspaceID)
	w, err := a.Auth().Workspace(ctx, by)
	if err != nil {
		return nil, err
	}
	sites, err := a.Sites.Sites(by).List(ctx, workspaceID)
	if err != nil {
		return nil, err
	}
	names := map[int64]string{0: w.TimeZone}
	for i := range sites {
		names[sites[i].ID] = sites[i].TimeZone
	}
	return func(siteID int64) *time.Location {
		name, ok := names[siteID]
		if !ok {
			name = w.TimeZone
		}
		return rimewatch.ZoneOf(name)
	}, nil
}

func scheduleJSON(s *rimewatch.ReportSchedule, now rimewatch.Time, zone *time.Location) ReportSchedule {
	out := ReportSchedule{
		ID: s.ID, SiteID: wire.OrNull(s.SiteID), Period: s.Period, ChannelIDs: listed(s.ChannelIDs), Enabled: s.Enabled, CreatedAt: s.CreatedAt, UpdatedAt: s.UpdatedAt,
	}
	if s.Enabled {
		out.NextAt = s.Period.Next(now, s.Through, zone)
	}
	return out
}

func (a *api) listSchedules(ctx context.Context, list []rimewatch.ReportSchedule) (ReportScheduleList, error) {
	zone, err := a.calendars(ctx)
	if err != nil {
		return ReportScheduleList{}, err
	}
	c := httpapi.CallOf(ctx)
	out := ReportScheduleList{Schedules: make([]ReportSchedule, len(list)), Unavailable: wire.OrNull(c.Words().Say(a.Notifier.Missing(rimewatch.ChannelEmail)))}
	for i := range list {
		out.Schedules[i] = scheduleJSON(&list[i], c.Now, zone(list[i].SiteID))
	}
	return out, nil
}

func (a *api) showSchedule(ctx context.Context, s *rimewatch.ReportSchedule) (ReportScheduleData, error) {
	zone, err := a.calendars(ctx)
	if err != nil {
		return ReportScheduleData{}, err
	}
	return ReportScheduleData{scheduleJSON(s, httpapi.CallOf(ctx).Now, zone(s.SiteID))}, nil
}

// ReportScheduleCreate is the body that makes a scheduled report.
type ReportScheduleCreate struct {
	Period     rimewatch.ReportPeriod `json:"period" enum:"weekly,monthly" doc:"weekly: Monday to Sunday; monthly: a calendar month."`
	SiteID     *int64                 `json:"site_id,omitempty" nullable:"true" minimum:"1" doc:"null or absent = all sites."`
	ChannelIDs []int64                `json:"channel_ids" minItems:"1" maxItems:"20" minimum:"1" doc:"Channels of the kind email. Each gets the report in its own language and units."`
	Enabled    *bool                  `json:"enabled,omitempty" doc:"Default: true."`
}

func (a *api) newSchedule(ctx context.Context, b *ReportScheduleCreate) (s rimewatch.ReportSchedule, err error) {
	zone, err := a.calendars(ctx)
	if err != nil {
		return s, err
	}
	c := httpapi.CallOf(ctx)
	s = rimewatch.ReportSchedule{WorkspaceID: c.Workspace(), Period: b.Period, ChannelIDs: b.ChannelIDs, Enabled: b.Enabled == nil || *b.Enabled, CreatedAt: c.Now, UpdatedAt: c.Now}
	if b.SiteID != nil {
		s.SiteID = *b.SiteID
	}
	_, s.Through = s.Period.Over(c.Now, zone(s.SiteID))
	return s, nil
}

// ReportScheduleUpdate is the body that changes a scheduled report. Absent fields
// stay as they are.
type ReportScheduleUpdate struct {
	Period     rimewatch.ReportPeriod  `json:"period,omitempty" enum:"weekly,monthly"`
	SiteID     httpapi.Optional[int64] `json:"site_id,omitempty" minimum:"1" doc:"null = all sites."`
	ChannelIDs []int64                 `json:"channel_ids,omitempty" minItems:"1" maxItems:"20" minimum:"1"`
	Enabled    *bool                   `json:"enabled,omitempty"`
}

func (a *api) editSchedule(ctx context.Context, b *ReportScheduleUpdate) (func(*rimewatch.ReportSchedule) error, error) {
	zone, err := a.calendars(ctx)
	now := httpapi.CallOf(ctx).Now
	return func(s *rimewatch.ReportSchedule) error {
		before := *s
		if b.Period != "" {
			s.Period = b.Period
		}
		b.SiteID.Set(&s.SiteID, 0)
		if b.ChannelIDs != nil {
			s.ChannelIDs = b.ChannelIDs
		}
		if b.Enabled != nil {
			s.Enabled = *b.Enabled
		}
		// Reports of periods that are over by the change are not sent afterwards.
		if s.Period != before.Period || s.SiteID != before.SiteID || (s.Enabled && !before.Enabled) {
			_, s.Through = s.Period.Over(now, zone(s.SiteID))
		}
		s.UpdatedAt = now
		return nil
	}, err
}

// ReportSent are the deliveries of a report.
type ReportSent struct {
	Deliveries []Delivery `json:"deliveries"`
}

func (a *api) sendReport(ctx context.Context, in *httpapi.IDInput) (ReportSent, error) {
	c, id := httpapi.CallOf(ctx), in.Number()
	if _, err := a.Store.Routing().ReportSchedules().Get(ctx, c.Workspace(), id); err != nil {
		return ReportSent{}, err
	}
	if err := a.maySend(c); err != nil {
		return ReportSent{}, err
	}
	list, err := a.Notifier.SendReport(ctx, c.Workspace(), id)
	if err != nil {
		return ReportSent{}, err
	}
	out, err := a.deliveriesJSON(ctx, list)
	return ReportSent{out}, err
}

func (a *api) scheduleRoutes() []httpapi.Route {
	admin := httpapi.Scope(rimewatch.ScopeNotifications)
	r := &httpapi.Resource[rimewatch.ReportSchedule]{
		Path: "/v1/report-schedules", ID: "report-schedule", Tag: "Notifications", One: "a scheduled report", Many: "scheduled reports", Read: admin, Write: admin,
		Things: func(context.Context) store.Resource[rimewatch.ReportSchedule] {
			return a.Store.Routing().ReportSchedules()
		},
		Key:     func(s *rimewatch.ReportSchedule) (id, revision int64) { return s.ID, s.Revision },
		Named:   func(*rimewatch.ReportSchedule) string { return "" },
		Cursors: &a.cursors,

		ListText:   "Temperature logs that are mailed as a PDF at six in the morning of the day after their week or month, by the clock of their site, or of the workspace for all sites.",
		CreateText: "The first report covers the current week or month. At most 100; 409 beyond that.",
		UpdateText: "After a change of period or site, or when it is enabled again, it starts over: periods that have already ended are not sent.",
	}
	return []httpapi.Route{
		httpapi.List(r, httpapi.All, a.listSchedules), httpapi.Create(r, a.newSchedule, a.showSchedule), httpapi.Get(r, a.showSchedule),
		httpapi.Update(r, a.editSchedule, a.showSchedule), httpapi.Delete(r),
		{
			Method: http.MethodPost, Path: "/v1/report-schedules/{id}/send", ID: "send-report", Tag: "Notifications", Summary: "Send a scheduled report now", Access: admin, Status: http.StatusAccepted, Also: []rimewatch.Code{rimewatch.CodeConflict},
			Description: "Sends the report of the last week or month, whether or not it was sent before. Does not wait for the outcome. 409 when the server cannot send e-mail, or when none of the channels is enabled.", Bind: httpapi.Handle(a.sendReport),
		},
	}
}
