package notifications

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/account"
	"github.com/rimewatch/rimewatch/internal/httpapi"
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
	Schedules   []ReportSchedule `json:"report_schedules"`
	Unavailable *string          `json:"unavailable" doc:"Why this server cannot send any; null if it can." example:"this server has no mail server (--smtp-host)"`
}

// calendars returns the time zone of a site of the caller's workspace; that of the
// workspace for no site, and for one that is not there.
func (a *api) calendars(ctx context.Context) (func(siteID int64) *time.Location, error) {
	c := httpapi.CallOf(ctx)
	w, err := a.Auth().Workspace(ctx, c.Principal)
	if err != nil {
		return nil, err
	}
	sites, err := a.Sites.Sites(ctx, account.Operator(c.Workspace()))
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

func (a *api) listSchedules(ctx context.Context, _ *httpapi.NoInput) (ReportScheduleList, error) {
	c := httpapi.CallOf(ctx)
	list, err := a.Store.ReportSchedules().List(ctx, c.Workspace())
	if err != nil {
		return ReportScheduleList{}, err
	}
	zone, err := a.calendars(ctx)
	if err != nil {
		return ReportScheduleList{}, err
	}
	out := ReportScheduleList{make([]ReportSchedule, len(list)), wire.OrNull(httpapi.CallOf(ctx).Words().Say(a.Notifier.Missing(rimewatch.ChannelEmail)))}
	for i := range list {
		out.Schedules[i] = scheduleJSON(&list[i], c.Now, zone(list[i].SiteID))
	}
	return out, nil
}

func (a *api) scheduleData(ctx context.Context, s *rimewatch.ReportSchedule, err error) (ReportScheduleData, error) {
	if err != nil {
		return ReportScheduleData{}, err
	}
	zone, err := a.calendars(ctx)
	if err != nil {
		return ReportScheduleData{}, err
	}
	return ReportScheduleData{scheduleJSON(s, httpapi.CallOf(ctx).Now, zone(s.SiteID))}, nil
}

func (a *api) getSchedule(ctx context.Context, in *httpapi.IDInput) (ReportScheduleData, error) {
	s, err := a.Store.ReportSchedules().Get(ctx, httpapi.CallOf(ctx).Workspace(), in.Number())
	return a.scheduleData(ctx, &s, err)
}

// ReportScheduleCreate is the body that makes a scheduled report.
type ReportScheduleCreate struct {
	Period     rimewatch.ReportPeriod `json:"period" enum:"weekly,monthly" doc:"weekly: Monday to Sunday; monthly: a calendar month."`
	SiteID     *int64                 `json:"site_id,omitempty" nullable:"true" minimum:"1" doc:"null or absent = all sites."`
	ChannelIDs []int64                `json:"channel_ids" minItems:"1" maxItems:"20" minimum:"1" doc:"Channels of the kind email. Each gets the report in its own language and units."`
	Enabled    *bool                  `json:"enabled,omitempty" doc:"Default: true."`
}

func (a *api) createSchedule(ctx context.Context, in *httpapi.BodyInput[ReportScheduleCreate]) (ReportScheduleData, error) {
	c, b := httpapi.CallOf(ctx), &in.Body
	zone, err := a.calendars(ctx)
	if err != nil {
		return ReportScheduleData{}, err
	}
	s := rimewatch.ReportSchedule{WorkspaceID: c.Workspace(), Period: b.Period, ChannelIDs: b.ChannelIDs, Enabled: b.Enabled == nil || *b.Enabled, CreatedAt: c.Now, UpdatedAt: c.Now}
	if b.SiteID != nil {
		s.SiteID = *b.SiteID
	}
	_, s.Through = s.Period.Over(c.Now, zone(s.SiteID))
	if err := a.Store.ReportSchedules().Create(ctx, &s); err != nil {
		return ReportScheduleData{}, err
	}
	c.Header("Location", fmt.Sprintf("%s/v1/report-schedules/%d", httpapi.Prefix, s.ID))
	return ReportScheduleData{scheduleJSON(&s, c.Now, zone(s.SiteID))}, nil
}

// ReportScheduleUpdate is the body that changes a scheduled report. Absent fields
// stay as they are.
type ReportScheduleUpdate struct {
	Period     rimewatch.ReportPeriod  `json:"period,omitempty" enum:"weekly,monthly"`
	SiteID     httpapi.Optional[int64] `json:"site_id,omitempty" minimum:"1" doc:"null = all sites."`
	ChannelIDs []int64                 `json:"channel_ids,omitempty" minItems:"1" maxItems:"20" minimum:"1"`
	Enabled    *bool                   `json:"enabled,omitempty"`
}

func (a *api) updateSchedule(ctx context.Context, in *httpapi.IDBody[ReportScheduleUpdate]) (ReportScheduleData, error) {
	c, b := httpapi.CallOf(ctx), &in.Body
	zone, err := a.calendars(ctx)
	if err != nil {
		return ReportScheduleData{}, err
	}
	s, err := a.Store.ReportSchedules().Update(ctx, c.Workspace(), in.Number(), func(s *rimewatch.ReportSchedule) error {
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
		// What is over when people ask for another report is not sent afterwards.
		if s.Period != before.Period || s.SiteID != before.SiteID || (s.Enabled && !before.Enabled) {
			_, s.Through = s.Period.Over(c.Now, zone(s.SiteID))
		}
		s.UpdatedAt = c.Now
		return nil
	})
	if err != nil {
		return ReportScheduleData{}, err
	}
	return ReportScheduleData{scheduleJSON(&s, c.Now, zone(s.SiteID))}, nil
}

func (a *api) deleteSchedule(ctx context.Context, in *httpapi.IDInput) (httpapi.Done, error) {
	return httpapi.Done{}, a.Store.ReportSchedules().Delete(ctx, httpapi.CallOf(ctx).Workspace(), in.Number())
}

// ReportSent are the deliveries of a report.
type ReportSent struct {
	Deliveries []Delivery `json:"deliveries"`
}

func (a *api) sendReport(ctx context.Context, in *httpapi.IDInput) (ReportSent, error) {
	c, id := httpapi.CallOf(ctx), in.Number()
	if _, err := a.Store.ReportSchedules().Get(ctx, c.Workspace(), id); err != nil {
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
	admin := httpapi.Person(rimewatch.RoleAdmin)
	return []httpapi.Route{
		{
			Method: http.MethodGet, Path: "/v1/report-schedules", ID: "list-report-schedules", Tag: "Notifications", Summary: "List scheduled reports", Access: admin,
			Description: "Temperature logs that are mailed as a PDF at six in the morning of the day after their week or month, by the clock of their site, or of the workspace for all sites.", Bind: httpapi.Handle(a.listSchedules),
		},
		{
			Method: http.MethodPost, Path: "/v1/report-schedules", ID: "create-report-schedule", Tag: "Notifications", Summary: "Create a scheduled report", Access: admin, Body: httpapi.JSONBody,
			Status: http.StatusCreated, Also: []rimewatch.Code{rimewatch.CodeQuotaExceeded},
			Description: "The first report covers the current week or month. At most 100; 409 beyond that.", Bind: httpapi.Handle(a.createSchedule),
		},
		{Method: http.MethodGet, Path: "/v1/report-schedules/{id}", ID: "get-report-schedule", Tag: "Notifications", Summary: "Get a scheduled report", Access: admin, Bind: httpapi.Handle(a.getSchedule)},
		{
			Method: http.MethodPatch, Path: "/v1/report-schedules/{id}", ID: "update-report-schedule", Tag: "Notifications", Summary: "Change a scheduled report", Access: admin, Body: httpapi.JSONBody,
			Description: "After a change of period or site, or when it is enabled again, it starts over: periods that have already ended are not sent.", Bind: httpapi.Handle(a.updateSchedule),
		},
		{Method: http.MethodDelete, Path: "/v1/report-schedules/{id}", ID: "delete-report-schedule", Tag: "Notifications", Summary: "Delete a scheduled report", Access: admin, Bind: httpapi.Handle(a.deleteSchedule)},
		{
			Method: http.MethodPost, Path: "/v1/report-schedules/{id}/send", ID: "send-report", Tag: "Notifications", Summary: "Send a scheduled report now", Access: admin, Status: http.StatusAccepted, Also: []rimewatch.Code{rimewatch.CodeConflict},
			Description: "Sends the report of the last week or month, whether or not it was sent before. Does not wait for the outcome. 409 when the server cannot send e-mail, or when none of the channels is enabled.", Bind: httpapi.Handle(a.sendReport),
		},
	}
}
