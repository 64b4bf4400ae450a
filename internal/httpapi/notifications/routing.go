package notifications

import (
	"context"
	"slices"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/account"
	"github.com/rimewatch/rimewatch/internal/httpapi"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/wire"
)

// AlertMatch selects the alerts of a route or a silence. Empty lists match
// everything; all filled ones must match.
type AlertMatch struct {
	Severities     []rimewatch.Severity  `json:"severities,omitempty" maxItems:"2" enum:"warning,critical"`
	Types          []rimewatch.AlertType `json:"types,omitempty" maxItems:"100" doc:"Types of alerts. One that the service does not know is refused: it would never match."`
	SiteIDs        []int64               `json:"site_ids,omitempty" maxItems:"1000" minimum:"1"`
	EquipmentTypes []string              `json:"equipment_types,omitempty" maxItems:"100" pattern:"^[a-z0-9_]{1,64}$" patternDescription:"a slug of a-z 0-9 _"`
	DeviceSerials  []string              `json:"device_serials,omitempty" maxItems:"1000" maxLength:"64" doc:"Devices, and no others that may be registered later under the same serial."`
}

// MatchJSON is an AlertMatch in answers, where every list is there.
type MatchJSON struct {
	Severities     []rimewatch.Severity  `json:"severities"`
	Types          []rimewatch.AlertType `json:"types"`
	SiteIDs        []int64               `json:"site_ids"`
	EquipmentTypes []string              `json:"equipment_types"`
	DeviceSerials  []string              `json:"device_serials"`
}

// matchers resolves an AlertMatch: CodeUnknownDevice or CodeValidationFailed
// where it names what is not there.
func (a *api) matchers(ctx context.Context, in *AlertMatch) (rimewatch.Matchers, error) {
	m := rimewatch.Matchers{Severities: in.Severities, Types: in.Types, SiteIDs: in.SiteIDs, EquipmentTypes: in.EquipmentTypes}
	known := rimewatch.AlertTypes()
	for _, t := range in.Types {
		if !slices.Contains(known, t) {
			return m, rimewatch.Invalid("match.types", "%q is not known", t)
		}
	}
	var err error
	m.DeviceIDs, err = a.places(ctx, "match.", in.SiteIDs, in.DeviceSerials)
	return m, err
}

// places checks sites and resolves serials that a body names in fields with a
// prefix: CodeUnknownDevice or CodeValidationFailed.
func (a *api) places(ctx context.Context, prefix string, siteIDs []int64, serials []string) (deviceIDs []int64, err error) {
	workspace := httpapi.CallOf(ctx).Workspace()
	for _, serial := range serials {
		who := a.Store.Identify(workspace, []byte(serial))
		if who == nil {
			return nil, rimewatch.Errorf(rimewatch.CodeUnknownDevice, "There is no device with this serial.").With(prefix+"device_serials", "%q is not known", serial)
		}
		deviceIDs = append(deviceIDs, who.ID)
	}
	if len(siteIDs) == 0 {
		return deviceIDs, nil
	}
	sites, err := a.Sites.Sites(account.Operator(workspace)).List(ctx, workspace)
	if err != nil {
		return nil, err
	}
	for _, id := range siteIDs {
		if !slices.ContainsFunc(sites, func(s rimewatch.Site) bool { return s.ID == id }) {
			return nil, rimewatch.Invalid(prefix+"site_ids", "%d is not known", id)
		}
	}
	return deviceIDs, nil
}

// serialsOf names the devices of matchers, so that they can be shown.
func (a *api) serialsOf(ctx context.Context, list ...*rimewatch.Matchers) (map[int64]string, error) {
	var ids []int64
	for _, m := range list {
		ids = append(ids, m.DeviceIDs...)
	}
	return a.Store.Serials(ctx, httpapi.CallOf(ctx).Workspace(), ids)
}

func matchJSON(m *rimewatch.Matchers, serials map[int64]string) MatchJSON {
	out := MatchJSON{listed(m.Severities), listed(m.Types), listed(m.SiteIDs), listed(m.EquipmentTypes), make([]string, len(m.DeviceIDs))}
	for i, id := range m.DeviceIDs {
		out.DeviceSerials[i] = serials[id]
	}
	return out
}

// listed is a list that is never null.
func listed[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// Route defines who is notified of which alerts, and when.
type Route struct {
	ID        int64                  `json:"id"`
	Name      string                 `json:"name"`
	Enabled   bool                   `json:"enabled"`
	Match     MatchJSON              `json:"match"`
	Steps     []StepJSON             `json:"steps"`
	RepeatS   int                    `json:"repeat_s" doc:"s between reminders while the alert is active and not acknowledged; 0 = none."`
	Recovery  bool                   `json:"recovery" doc:"Whoever was notified is also notified when the alert is resolved."`
	Quiet     wire.Maybe[QuietHours] `json:"quiet_hours" doc:"Warnings wait until the quiet hours end; critical alerts do not."`
	DigestAt  *string                `json:"digest_at" doc:"Local time of day at which warnings are sent together; null = immediately." example:"07:30"`
	CreatedAt rimewatch.Time         `json:"created_at" nullable:"false"`
	UpdatedAt rimewatch.Time         `json:"updated_at" nullable:"false"`
}

// RouteStep is an escalation level.
type RouteStep struct {
	AfterS     int      `json:"after_s" minimum:"0" maximum:"604800" doc:"s after the alert was triggered; not if it is resolved or acknowledged by then. Rises from step to step: what it rises by is counted from when the step before was really notified, or notified again after an acknowledgement or a silence."`
	ChannelIDs []int64  `json:"channel_ids,omitempty" maxItems:"20" minimum:"1" doc:"With targets at least one."`
	Targets    []Target `json:"targets,omitempty" maxItems:"20" doc:"People, found at the moment of the step."`
}

// Target is the recipient of a step.
type Target struct {
	Kind string `json:"kind" enum:"channel,member,rota,contact" doc:"channel: as if it stood in channel_ids. member: by the channels that bring messages to that person alone: phones, and e-mail channels of that one address. rota: whoever is on duty then. contact: by the e-mail channels of that one address and calls to that number, if there are any."`
	ID   int64  `json:"id" minimum:"1" doc:"Of a member the user's."`
}

// StepJSON is a RouteStep in answers, where every list is there.
type StepJSON struct {
	AfterS     int      `json:"after_s" minimum:"0" maximum:"604800"`
	ChannelIDs []int64  `json:"channel_ids" maxItems:"20" minimum:"1" doc:"Empty where the step names people alone."`
	Targets    []Target `json:"targets"`
}

func stepJSON(s *rimewatch.RouteStep) StepJSON {
	out := StepJSON{s.AfterS, listed(s.ChannelIDs), make([]Target, len(s.Targets))}
	for i, t := range s.Targets {
		out.Targets[i] = Target{string(t.Kind), t.ID}
	}
	return out
}

func stepOf(s *RouteStep) rimewatch.RouteStep {
	out := rimewatch.RouteStep{AfterS: s.AfterS, ChannelIDs: listed(s.ChannelIDs)}
	for _, t := range s.Targets {
		if t.Kind == "channel" {
			out.ChannelIDs = append(out.ChannelIDs, t.ID)
		} else {
			out.Targets = append(out.Targets, rimewatch.Target{Kind: rimewatch.TargetKind(t.Kind), ID: t.ID})
		}
	}
	return out
}

// QuietHours are a daily span in the time zone of the alert's site, or of the
// workspace.
type QuietHours struct {
	From string `json:"from" pattern:"^([01][0-9]|2[0-3]):[0-5][0-9]$" patternDescription:"a time such as 22:00" example:"22:00"`
	To   string `json:"to" pattern:"^([01][0-9]|2[0-3]):[0-5][0-9]$" patternDescription:"a time such as 06:00" example:"06:00" doc:"Before from: on the next day."`
}

func clockText(minute int) string { return rimewatch.TimeOfDay(minute) }

func routeJSON(r *rimewatch.Route, serials map[int64]string) Route {
	out := Route{
		ID: r.ID, Name: r.Name, Enabled: r.Enabled, Match: matchJSON(&r.Match, serials), Steps: make([]StepJSON, len(r.Steps)),
		RepeatS: r.RepeatS, Recovery: r.Recovery, CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt,
	}
	for i := range r.Steps {
		out.Steps[i] = stepJSON(&r.Steps[i])
	}
	if r.Quiet != nil {
		out.Quiet.Value = &QuietHours{clockText(r.Quiet.From), clockText(r.Quiet.To)}
	}
	if r.DigestAt != nil {
		out.DigestAt = wire.OrNull(clockText(*r.DigestAt))
	}
	return out
}

// RouteList are the routes of a workspace.
type RouteList struct {
	httpapi.Paged
	Routes []Route `json:"routes"`
}

func (a *api) listRoutes(ctx context.Context, list []rimewatch.Route) (RouteList, error) {
	matches := make([]*rimewatch.Matchers, len(list))
	for i := range list {
		matches[i] = &list[i].Match
	}
	serials, err := a.serialsOf(ctx, matches...)
	if err != nil {
		return RouteList{}, err
	}
	out := RouteList{Routes: make([]Route, len(list))}
	for i := range list {
		out.Routes[i] = routeJSON(&list[i], serials)
	}
	return out, nil
}

// RouteData is the data of answers about one route.
type RouteData struct {
	Route Route `json:"route"`
}

func (a *api) showRoute(ctx context.Context, r *rimewatch.Route) (RouteData, error) {
	serials, err := a.serialsOf(ctx, &r.Match)
	if err != nil {
		return RouteData{}, err
	}
	return RouteData{routeJSON(r, serials)}, nil
}

// RouteFields are the settings of a route. Absent fields stay as they are;
// null goes back to the default.
type RouteFields struct {
	Enabled  httpapi.Optional[bool]       `json:"enabled,omitempty" doc:"Default: true."`
	Match    httpapi.Optional[AlertMatch] `json:"match,omitempty" doc:"Replaces the whole match. Default: all alerts."`
	RepeatS  httpapi.Optional[int]        `json:"repeat_s,omitempty" minimum:"0" maximum:"604800" doc:"0, or at least 60. Default: 0."`
	Recovery httpapi.Optional[bool]       `json:"recovery,omitempty" doc:"Default: true."`
	Quiet    httpapi.Optional[QuietHours] `json:"quiet_hours,omitempty" doc:"Default: none."`
	DigestAt httpapi.Optional[string]     `json:"digest_at,omitempty" pattern:"^([01][0-9]|2[0-3]):[0-5][0-9]$" patternDescription:"a time such as 07:30" doc:"Default: now."`
}

// apply changes r; match is what the fields' match resolves to.
func (f *RouteFields) apply(r *rimewatch.Route, match rimewatch.Matchers, steps []RouteStep) {
	f.Enabled.Set(&r.Enabled, true)
	f.RepeatS.Set(&r.RepeatS, 0)
	f.Recovery.Set(&r.Recovery, true)
	if f.Match.Sent {
		r.Match = match
	}
	if steps != nil {
		r.Steps = make([]rimewatch.RouteStep, len(steps))
		for i := range steps {
			r.Steps[i] = stepOf(&steps[i])
		}
	}
	if f.Quiet.Sent {
		r.Quiet = nil
		if q := f.Quiet.Value; q != nil {
			r.Quiet = &rimewatch.QuietHours{From: wire.MinuteOf(q.From), To: wire.MinuteOf(q.To)}
		}
	}
	if f.DigestAt.Sent {
		r.DigestAt = nil
		if f.DigestAt.Value != nil {
			minute := wire.MinuteOf(*f.DigestAt.Value)
			r.DigestAt = &minute
		}
	}
}

func (a *api) routeMatch(ctx context.Context, f *RouteFields) (rimewatch.Matchers, error) {
	if f.Match.Value == nil {
		return rimewatch.Matchers{}, nil
	}
	return a.matchers(ctx, f.Match.Value)
}

// RouteCreate is the body that makes a route.
type RouteCreate struct {
	Name  string      `json:"name" minLength:"1" maxLength:"200" doc:"Unique in the workspace, without case."`
	Steps []RouteStep `json:"steps" minItems:"1" maxItems:"10" doc:"Escalation levels, by rising delay."`
	RouteFields
}

func (a *api) newRoute(ctx context.Context, b *RouteCreate) (rimewatch.Route, error) {
	match, err := a.routeMatch(ctx, &b.RouteFields)
	c := httpapi.CallOf(ctx)
	r := rimewatch.Route{WorkspaceID: c.Workspace(), Name: b.Name, Enabled: true, Recovery: true, CreatedAt: c.Now, UpdatedAt: c.Now}
	b.apply(&r, match, b.Steps)
	return r, err
}

// RouteUpdate is the body that changes a route.
type RouteUpdate struct {
	Name  *string     `json:"name,omitempty" minLength:"1" maxLength:"200"`
	Steps []RouteStep `json:"steps,omitempty" minItems:"1" maxItems:"10" doc:"Replaces all steps."`
	RouteFields
}

func (a *api) editRoute(ctx context.Context, b *RouteUpdate) (func(*rimewatch.Route) error, error) {
	match, err := a.routeMatch(ctx, &b.RouteFields)
	now := httpapi.CallOf(ctx).Now
	return func(r *rimewatch.Route) error {
		if b.Name != nil {
			r.Name = *b.Name
		}
		b.apply(r, match, b.Steps)
		r.UpdatedAt = now
		return nil
	}, err
}

func (a *api) routingRoutes() []httpapi.Route {
	admin := httpapi.Scope(rimewatch.ScopeNotifications)
	r := &httpapi.Resource[rimewatch.Route]{
		Path: "/v1/routes", ID: "route", Tag: "Notifications", One: "a route", Many: "routes", Read: admin, Write: admin,
		Things:  func(context.Context) store.Resource[rimewatch.Route] { return a.Store.Routing().Routes() },
		Key:     func(r *rimewatch.Route) (id, revision int64) { return r.ID, r.Revision },
		Named:   func(r *rimewatch.Route) string { return r.Name },
		Changed: func(ctx context.Context, _ *rimewatch.Route) { a.changed(ctx) },
		Cursors: &a.cursors,

		ListText: "Who is notified of which alerts, and when. Every route that matches an alert applies. Without any route, every enabled channel is notified of everything immediately.",
		Also:     []rimewatch.Code{rimewatch.CodeConflict, rimewatch.CodeUnknownDevice},
	}
	return []httpapi.Route{
		httpapi.List(r, httpapi.All, a.listRoutes), httpapi.Create(r, a.newRoute, a.showRoute), httpapi.Get(r, a.showRoute), httpapi.Update(r, a.editRoute, a.showRoute),
		httpapi.Delete(r),
	}
}
