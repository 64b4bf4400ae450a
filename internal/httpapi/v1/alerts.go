package v1

import (
	"context"
	"net/http"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/httpapi"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/wire"
)

// AlertListInput are the filters of the alert list.
type AlertListInput struct {
	httpapi.PageInput
	Status       string `query:"status" enum:"all,active,resolved" default:"active"`
	Severity     string `query:"severity" enum:"warning,critical"`
	Type         string `query:"type" maxLength:"64" doc:"An unknown type returns an empty list."`
	DeviceSerial string `query:"device_serial" maxLength:"64" doc:"Alerts of deleted devices that had this serial are among them. An unknown serial returns an empty list."`
	SiteID       int64  `query:"site_id" minimum:"0" doc:"Of devices of this site, and of the site itself."`
	Equipment    string `query:"equipment_type" maxLength:"200" doc:"Of devices of this type. An unknown type returns an empty list."`
	Label        string `query:"label.KEY" doc:"Only for devices whose label KEY has this value. KEY stands for any label; with several, a device must have all of them."`
	Predictive   string `query:"predictive" enum:"true,false" doc:"Whether they foresee what has not come yet, of whatever type."`
	Acknowledged string `query:"acknowledged" enum:"true,false"`
	Since        string `query:"since" format:"date-time" doc:"Triggered at or after this."`
}

// AlertList is a page of alerts.
type AlertList struct {
	Alerts     []wire.Alert    `json:"alerts"`
	Pagination wire.Pagination `json:"pagination"`
}

// yesOrNo is a filter that may be absent.
func yesOrNo(s string) *bool {
	if s == "" {
		return nil
	}
	yes := s == "true"
	return &yes
}

// alertFilter returns the store's form of the filters.
func alertFilter(c *httpapi.Call, in *AlertListInput) store.AlertFilter {
	f := store.AlertFilter{Severity: rimewatch.Severity(in.Severity), Type: rimewatch.AlertType(in.Type), Serial: in.DeviceSerial, SiteID: in.SiteID, Equipment: in.Equipment, Labels: c.Labels()}
	if in.Status != "all" {
		f.Status = rimewatch.AlertStatus(in.Status)
	}
	f.Predictive, f.Acknowledged = yesOrNo(in.Predictive), yesOrNo(in.Acknowledged)
	if in.Since != "" {
		f.Since, _ = rimewatch.ParseTime(in.Since)
	}
	return f
}

func (a alerts) listAlerts(ctx context.Context, in *AlertListInput) (AlertList, error) {
	c := httpapi.CallOf(ctx)
	list, page, err := httpapi.Page(c, httpapi.ListOf{Cursors: &a.cursors, Kind: httpapi.CursorAlerts, Owner: c.Workspace()}, &in.PageInput, func(from httpapi.Start) ([]rimewatch.AlertView, int, error) {
		p := store.AlertPage{BeforeAt: rimewatch.Time(from.A), BeforeID: from.B, Offset: from.Offset, Limit: from.Limit}
		return a.cfg.Alerts.Alerts(ctx, c.Workspace(), alertFilter(c, in), p)
	}, func(v *rimewatch.AlertView) (int64, int64) { return int64(v.TriggeredAt), v.ID })
	if err != nil {
		return AlertList{}, err
	}
	out := AlertList{make([]wire.Alert, len(list)), page}
	words := c.Words()
	for i := range list {
		out.Alerts[i] = wire.NewAlert(&list[i], words.For(&list[i]))
	}
	return out, nil
}

// AlertData is the data of answers about one alert.
type AlertData struct {
	Alert wire.AlertDetail `json:"alert"`
}

// alertData answers with an alert in the words of whoever asks.
func (a *core) alertData(ctx context.Context) func(rimewatch.AlertView, error) (AlertData, error) {
	return func(v rimewatch.AlertView, err error) (AlertData, error) {
		if err != nil {
			return AlertData{}, err
		}
		out := AlertData{wire.AlertDetail{Alert: wire.NewAlert(&v, httpapi.CallOf(ctx).Words().For(&v))}}
		if out.Alert.Escalation.Value, err = a.cfg.Escalation(ctx, &v); err != nil {
			return out, err
		}
		of, err := a.cfg.Store.Records().CasesOf(ctx, v.WorkspaceID, rimewatch.CaseAlert, []int64{v.ID})
		out.Alert.CaseID = wire.OrNull(of[v.ID])
		return out, err
	}
}

func (a alerts) getAlert(ctx context.Context, in *httpapi.AlertIDInput) (AlertData, error) {
	return a.alertData(ctx)(a.cfg.Alerts.Alert(ctx, httpapi.CallOf(ctx).Workspace(), in.Number()))
}

// AcknowledgeBody is how long an alert stays acknowledged.
type AcknowledgeBody struct {
	Note       *string `json:"note,omitempty" nullable:"true" maxLength:"2000"`
	ExpiresInS *int64  `json:"expires_in_s,omitempty" nullable:"true" minimum:"60" maximum:"2592000" doc:"s until the acknowledgement expires. Default: 4 h, 1 h for a critical alert."`
}

func (a alerts) acknowledgeAlert(ctx context.Context, in *httpapi.AlertBody[*AcknowledgeBody]) (AlertData, error) {
	c := httpapi.CallOf(ctx)
	var note string
	var expires time.Duration
	if b := in.Body; b != nil {
		if b.Note != nil {
			note = *b.Note
		}
		if b.ExpiresInS != nil {
			expires = time.Duration(*b.ExpiresInS) * time.Second
		}
	}
	by, err := a.Actor(ctx, c.Principal)
	if err != nil {
		return AlertData{}, err
	}
	return a.alertData(ctx)(a.cfg.Writer.Acknowledge(ctx, c.Workspace(), in.Number(), by, note, expires))
}

// ResolveBody may say why an alert is over.
type ResolveBody struct {
	Note *string `json:"note,omitempty" nullable:"true" maxLength:"2000"`
}

func (a alerts) resolveAlert(ctx context.Context, in *httpapi.AlertBody[*ResolveBody]) (AlertData, error) {
	c := httpapi.CallOf(ctx)
	var note string
	if in.Body != nil && in.Body.Note != nil {
		note = *in.Body.Note
	}
	by, err := a.Actor(ctx, c.Principal)
	if err != nil {
		return AlertData{}, err
	}
	return a.alertData(ctx)(a.cfg.Writer.ResolveAlert(ctx, c.Workspace(), in.Number(), by, note))
}

// activeUnit finds the name of the unit or site that an active alert is about.
func (a alerts) activeUnit(c *httpapi.Call) (string, error) {
	in := httpapi.AlertIDInput{ID: c.R.PathValue("id")}
	v, err := a.cfg.Alerts.Alert(c.R.Context(), c.Workspace(), in.Number())
	switch {
	case err != nil:
		return "", err
	case v.Status != rimewatch.AlertActive:
		return "", rimewatch.Errorf(rimewatch.CodeAlertNotActive, "The alert is no longer active.")
	case v.DeviceName == "" && v.Site != nil:
		return v.Site.Name, nil
	}
	return v.DeviceName, nil
}

// AlertCountsInput narrows the counts.
type AlertCountsInput struct {
	Since string `query:"since" format:"date-time" doc:"Only alerts triggered at or after this."`
}

// AlertCounts are the numbers of retained alerts.
type AlertCounts struct {
	Total               int               `json:"total"`
	ByStatus            CountsByStatus    `json:"by_status"`
	BySeverity          CountsBySeverity  `json:"by_severity" doc:"Active and resolved ones."`
	ByStatusAndSeverity CountsByStatusAnd `json:"by_status_and_severity"`
}

// CountsByStatus counts alerts by status.
type CountsByStatus struct {
	Active   int `json:"active"`
	Resolved int `json:"resolved"`
}

// CountsBySeverity counts alerts by severity.
type CountsBySeverity struct {
	Warning  int `json:"warning"`
	Critical int `json:"critical"`
}

// CountsByStatusAnd counts alerts by status and severity.
type CountsByStatusAnd struct {
	Active   CountsBySeverity `json:"active"`
	Resolved CountsBySeverity `json:"resolved"`
}

func (a alerts) countAlerts(ctx context.Context, in *AlertCountsInput) (AlertCounts, error) {
	var since rimewatch.Time
	if in.Since != "" {
		since, _ = rimewatch.ParseTime(in.Since)
	}
	n, err := a.cfg.Alerts.AlertCounts(ctx, httpapi.CallOf(ctx).Workspace(), since)
	if err != nil {
		return AlertCounts{}, err
	}
	active := CountsBySeverity{n.ActiveWarning, n.ActiveCritical}
	resolved := CountsBySeverity{n.ResolvedWarning, n.ResolvedCritical}
	return AlertCounts{
		Total:               active.Warning + active.Critical + resolved.Warning + resolved.Critical,
		ByStatus:            CountsByStatus{active.Warning + active.Critical, resolved.Warning + resolved.Critical},
		BySeverity:          CountsBySeverity{active.Warning + resolved.Warning, active.Critical + resolved.Critical},
		ByStatusAndSeverity: CountsByStatusAnd{active, resolved},
	}, nil
}

// SummaryInput selects a part of the fleet.
type SummaryInput struct {
	SiteID int64 `query:"site_id" minimum:"0" doc:"Only the devices of this site, and their alerts; none if the site is unknown or not visible to you."`
}

func (a alerts) healthSummary(ctx context.Context, in *SummaryInput) (wire.HealthSummary, error) {
	p := httpapi.CallOf(ctx).Principal
	var s wire.HealthSummary
	switch {
	case in.SiteID != 0:
		of := rimewatch.Sites{}
		if p.Sites().Has(in.SiteID) {
			of = rimewatch.Sites{in.SiteID}
		}
		s = a.cfg.Health.SummaryOf(p.WorkspaceID, of)
		ctx = store.WithSites(ctx, of)
	case p.Limit == nil:
		s = a.cfg.Health.Summary(p.WorkspaceID)
	default:
		s = a.cfg.Health.SummaryOf(p.WorkspaceID, p.Sites())
		n, err := a.cfg.Alerts.AlertCounts(ctx, p.WorkspaceID, 0) // of the sites themselves, too
		if err != nil {
			return s, err
		}
		s.ActiveAlerts, s.CriticalAlerts, s.WarningAlerts = n.ActiveCritical+n.ActiveWarning, n.ActiveCritical, n.ActiveWarning
	}
	c, err := a.cfg.Coverage(ctx, p.WorkspaceID, p.UserID)
	if err != nil {
		return s, err
	}
	s.Coverage = &c
	w, err := a.Settings.Get(ctx, p.WorkspaceID, a.Now())
	if err != nil {
		return s, err
	}
	waits, err := a.cfg.Store.Records().Paperwork(ctx, p.WorkspaceID, w.RequireAction)
	if err != nil {
		return s, err
	}
	s.Paperwork = &wire.Paperwork{Cases: waits.Cases, OldestAt: waits.Oldest}
	for _, of := range []struct {
		f store.CheckFilter
		n *int
	}{
		{store.CheckFilter{Status: rimewatch.CheckDue}, &s.Paperwork.ChecksDue}, {store.CheckFilter{Status: rimewatch.CheckMissed, From: a.Now() - 7*rimewatch.Day}, &s.Paperwork.ChecksMissed},
	} {
		if _, *of.n, err = a.cfg.Store.Records().Checks(ctx, p.WorkspaceID, of.f, store.Page{Limit: 1}); err != nil {
			return s, err
		}
	}
	return s, nil
}

func (a alerts) alertRoutes() []httpapi.Route {
	read, write := httpapi.Scope(rimewatch.ScopeAlertsRead), httpapi.Scope(rimewatch.ScopeAlertsWrite)
	gone := []rimewatch.Code{rimewatch.CodeAlertNotActive}
	return []httpapi.Route{
		{
			Method: http.MethodGet, Path: "/v1/alerts", Sited: true, ID: "list-alerts", Tag: "Alerts", Summary: "List alerts", Access: read, Paged: true,
			Description: "Newest first by triggered_at, then id. Only active ones, unless `status` is given.", Bind: httpapi.Handle(a.listAlerts),
		},
		{
			Method: http.MethodGet, Path: "/v1/alerts/counts", Sited: true, ID: "count-alerts", Tag: "Alerts", Summary: "Count alerts by status and severity", Access: read,
			Description: "All retained alerts, active and resolved.", Bind: httpapi.Handle(a.countAlerts),
		},
		{
			Method: http.MethodGet, Path: "/v1/alerts/{id}", Sited: true, ID: "get-alert", Tag: "Alerts", Summary: "Get an alert", Access: read, Bind: httpapi.Handle(a.getAlert),
		},
		{
			Method: http.MethodPost, Path: "/v1/alerts/{id}/acknowledge", Sited: true, ID: "acknowledge-alert", Tag: "Alerts", Summary: "Acknowledge an alert", Access: write,
			Body: httpapi.OptionalJSONBody, Also: gone, Description: "Says that someone is dealing with it. The alert stays active.", Bind: httpapi.Handle(a.acknowledgeAlert),
		},
		{
			Method: http.MethodPost, Path: "/v1/alerts/{id}/resolve", Sited: true, ID: "resolve-alert", Tag: "Alerts", Summary: "Resolve an alert", Access: write,
			Body: httpapi.OptionalJSONBody, Also: gone, Undo: httpapi.About(a.activeUnit),
			Description: "When the condition still holds, a new alert opens: after 30 minutes for a warning, 5 minutes for a critical one.", Bind: httpapi.Handle(a.resolveAlert),
		},
		{
			Method: http.MethodGet, Path: "/v1/alerts/{id}/timeline", Sited: true, ID: "get-alert-timeline", Tag: "Alerts", Summary: "Get all that happened to an alert", Access: read,
			Description: "Oldest first.", Bind: httpapi.Handle(a.alertTimeline),
		},
		{
			Method: http.MethodPost, Path: "/v1/alerts/{id}/notes", Sited: true, ID: "note-alert", Tag: "Alerts", Summary: "Write a note about an alert", Access: write,
			Body: httpapi.JSONBody, Description: "The note is added to the timeline, also of a resolved alert. An active alert is shown with its newest note.", Bind: httpapi.Handle(a.noteAlert),
		},
		{
			Method: http.MethodGet, Path: "/v1/devices/health/summary", Sited: true, ID: "health-summary", Tag: "Health", Summary: "Get the health of all devices",
			Access: httpapi.Scope(rimewatch.ScopeDevicesRead), Bind: httpapi.Handle(a.healthSummary),
		},
	}
}
