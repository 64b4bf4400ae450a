package notifications

import (
	"cmp"
	"context"
	"net/http"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/httpapi"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/wire"
)

// Rota is who is on duty, week by week.
type Rota struct {
	ID            int64                  `json:"id"`
	Name          string                 `json:"name"`
	SiteID        *int64                 `json:"site_id" doc:"Whose clock it goes by; null = the workspace's."`
	Shifts        []Shift                `json:"shifts"`
	Overrides     []Override             `json:"overrides" doc:"Swaps, holidays and other changes, in the order in which they apply."`
	TellHandOver  rimewatch.TellHandOver `json:"tell_hand_over" enum:"open,always,never" doc:"When those who come on duty and those who go are told of it, over their own channels: while an alert is open that a route tells the rota of, at each hand-over, or never."`
	CalendarSince rimewatch.Time         `json:"calendar_since" doc:"When the link to its calendar was made; null = it has none."`
	OnDuty        []wire.PersonOnDuty    `json:"on_duty" doc:"Who is on duty now."`
	Gaps          []wire.DutyGap         `json:"gaps" doc:"When nobody is on duty within a week from now."`
	CreatedAt     rimewatch.Time         `json:"created_at" nullable:"false"`
	UpdatedAt     rimewatch.Time         `json:"updated_at" nullable:"false"`
}

// Shift is the duty of a member on some days of the week.
type Shift struct {
	Days     []string `json:"days" minItems:"1" maxItems:"7" enum:"mon,tue,wed,thu,fri,sat,sun" doc:"On which it begins."`
	From     string   `json:"from" pattern:"^([01][0-9]|2[0-3]):[0-5][0-9]$" patternDescription:"a time such as 22:00" example:"17:00" doc:"By the clock on the wall, also in a night in which that is set."`
	To       string   `json:"to" pattern:"^([01][0-9]|2[0-3]):[0-5][0-9]$" patternDescription:"a time such as 06:00" example:"08:00" doc:"Up to from: on the next day; equal to it: a whole day."`
	MemberID int64    `json:"member_id" minimum:"1" doc:"The user's id. Somebody who is no member any more is not on duty."`
}

// Override changes who is on duty for a time.
type Override struct {
	StartsAt  rimewatch.Time `json:"starts_at" nullable:"false"`
	EndsAt    rimewatch.Time `json:"ends_at" nullable:"false" doc:"Within a year of starts_at."`
	InsteadOf *int64         `json:"instead_of,omitempty" nullable:"true" minimum:"1" doc:"Whose duty it is otherwise; null = everybody's."`
	MemberID  *int64         `json:"member_id,omitempty" nullable:"true" minimum:"1" doc:"Who is on duty; null = nobody. Not the same as instead_of."`
	Note      string         `json:"note,omitempty" maxLength:"500"`
}

func shiftsOf(list []Shift) []rimewatch.Shift {
	out := make([]rimewatch.Shift, len(list))
	for i, s := range list {
		out[i] = rimewatch.Shift{Days: wire.DaySet(s.Days), From: wire.MinuteOf(s.From), To: wire.MinuteOf(s.To), UserID: s.MemberID}
	}
	return out
}

func overridesOf(list []Override) []rimewatch.Override {
	out := make([]rimewatch.Override, len(list))
	for i, o := range list {
		out[i] = rimewatch.Override{StartsAt: o.StartsAt, EndsAt: o.EndsAt, Note: o.Note}
		if o.InsteadOf != nil {
			out[i].InsteadOf = *o.InsteadOf
		}
		if o.MemberID != nil {
			out[i].UserID = *o.MemberID
		}
	}
	return out
}

// roster are the members, sites and clocks that answers about rotas need.
type roster struct {
	zone  func(siteID int64) *time.Location
	names map[int64]string // of members
	now   rimewatch.Time
}

func (a *api) roster(ctx context.Context) (x roster, err error) {
	c := httpapi.CallOf(ctx)
	return a.rosterOf(ctx, c.Workspace(), c.Now)
}

func (a *api) rosterOf(ctx context.Context, workspaceID int64, now rimewatch.Time) (x roster, err error) {
	x.now = now
	if x.zone, err = a.calendarsOf(ctx, workspaceID); err != nil {
		return x, err
	}
	members, err := a.Store.People().Members(ctx, workspaceID)
	x.names = make(map[int64]string, len(members))
	for i := range members {
		x.names[members[i].UserID] = members[i].Name
		if members[i].Name == "" {
			x.names[members[i].UserID] = members[i].Email
		}
	}
	return x, err
}

func (x *roster) known(user int64) bool { _, ok := x.names[user]; return ok }

func (x *roster) onDuty(r *rimewatch.Rota, at rimewatch.Time) []wire.PersonOnDuty {
	users := r.OnDuty(at, x.zone(r.SiteID), x.known)
	out := make([]wire.PersonOnDuty, len(users))
	for i, id := range users {
		out[i] = wire.PersonOnDuty{ID: id, Name: x.names[id]}
	}
	return out
}

func (x *roster) json(r *rimewatch.Rota) Rota {
	out := Rota{
		ID: r.ID, Name: r.Name, SiteID: wire.OrNull(r.SiteID), Shifts: make([]Shift, len(r.Shifts)), Overrides: make([]Override, len(r.Overrides)),
		TellHandOver: r.TellHandOver, CalendarSince: r.CalendarAt,
		OnDuty: x.onDuty(r, x.now), Gaps: wire.NewDutyGaps(r.Gaps(x.now, x.now+wire.GapsAhead, x.zone(r.SiteID), x.known)), CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt,
	}
	for i, s := range r.Shifts {
		out.Shifts[i] = Shift{Days: wire.DayNames(s.Weekdays()), From: clockText(s.From), To: clockText(s.To), MemberID: s.UserID}
	}
	for i, o := range r.Overrides {
		out.Overrides[i] = Override{o.StartsAt, o.EndsAt, wire.OrNull(o.InsteadOf), wire.OrNull(o.UserID), o.Note}
	}
	return out
}

// RotaList are the rotas of a workspace.
type RotaList struct {
	httpapi.Paged
	Rotas []Rota `json:"rotas"`
}

func (a *api) listRotas(ctx context.Context, list []rimewatch.Rota) (RotaList, error) {
	x, err := a.roster(ctx)
	if err != nil {
		return RotaList{}, err
	}
	out := RotaList{Rotas: make([]Rota, len(list))}
	for i := range list {
		out.Rotas[i] = x.json(&list[i])
	}
	return out, nil
}

// RotaData is the data of answers about one rota.
type RotaData struct {
	Rota Rota `json:"rota"`
}

func (a *api) showRota(ctx context.Context, r *rimewatch.Rota) (RotaData, error) {
	x, err := a.roster(ctx)
	if err != nil {
		return RotaData{}, err
	}
	return RotaData{x.json(r)}, nil
}

// RotaCreate is the body that makes a rota.
type RotaCreate struct {
	Name         string                 `json:"name" minLength:"1" maxLength:"200" doc:"Unique in the workspace, without case."`
	SiteID       *int64                 `json:"site_id,omitempty" nullable:"true" minimum:"1"`
	Shifts       []Shift                `json:"shifts,omitempty" maxItems:"100" doc:"Without any nobody is on duty."`
	Overrides    []Override             `json:"overrides,omitempty" maxItems:"200"`
	TellHandOver rimewatch.TellHandOver `json:"tell_hand_over,omitempty" enum:"open,always,never" doc:"Default: open."`
}

func newRota(ctx context.Context, b *RotaCreate) (rimewatch.Rota, error) {
	c := httpapi.CallOf(ctx)
	r := rimewatch.Rota{WorkspaceID: c.Workspace(), Name: b.Name, Shifts: shiftsOf(b.Shifts), Overrides: overridesOf(b.Overrides), TellHandOver: cmp.Or(b.TellHandOver, rimewatch.TellOpen), CreatedAt: c.Now, UpdatedAt: c.Now}
	if b.SiteID != nil {
		r.SiteID = *b.SiteID
	}
	return r, nil
}

// RotaUpdate is the body that changes a rota. Absent fields stay as they are.
type RotaUpdate struct {
	Name         *string                 `json:"name,omitempty" minLength:"1" maxLength:"200"`
	SiteID       httpapi.Optional[int64] `json:"site_id,omitempty" minimum:"1" doc:"null = the workspace's clock."`
	Shifts       *[]Shift                `json:"shifts,omitempty" maxItems:"100" doc:"Replaces all shifts."`
	Overrides    *[]Override             `json:"overrides,omitempty" maxItems:"200" doc:"Replaces all overrides."`
	TellHandOver *rimewatch.TellHandOver `json:"tell_hand_over,omitempty" enum:"open,always,never"`
}

func editRota(ctx context.Context, b *RotaUpdate) (func(*rimewatch.Rota) error, error) {
	now := httpapi.CallOf(ctx).Now
	return func(r *rimewatch.Rota) error {
		httpapi.Sent(&r.Name, b.Name)
		httpapi.Sent(&r.TellHandOver, b.TellHandOver)
		b.SiteID.Set(&r.SiteID, 0)
		if b.Shifts != nil {
			r.Shifts = shiftsOf(*b.Shifts)
		}
		if b.Overrides != nil {
			r.Overrides = overridesOf(*b.Overrides)
		}
		r.UpdatedAt = now
		return nil
	}, nil
}

// OnDutyInput asks who is on duty at a moment.
type OnDutyInput struct {
	httpapi.IDInput
	At string `query:"at" format:"date-time" doc:"Default: now."`
}

// OnDutyData is who is on duty at a moment.
type OnDutyData struct {
	At     rimewatch.Time      `json:"at" nullable:"false"`
	OnDuty []wire.PersonOnDuty `json:"on_duty" doc:"Empty: nobody is."`
	Until  rimewatch.Time      `json:"until" doc:"When that changes at the earliest; null: never."`
}

func (a *api) onDuty(ctx context.Context, in *OnDutyInput) (OnDutyData, error) {
	c := httpapi.CallOf(ctx)
	r, err := a.Store.Routing().Rotas().Get(ctx, c.Workspace(), in.Number())
	if err != nil {
		return OnDutyData{}, err
	}
	x, err := a.roster(ctx)
	if err != nil {
		return OnDutyData{}, err
	}
	at := c.Now
	if in.At != "" {
		at, _ = rimewatch.ParseTime(in.At)
	}
	return OnDutyData{at, x.onDuty(&r, at), r.Next(at, x.zone(r.SiteID))}, nil
}

func (a *api) rotaRoutes() []httpapi.Route {
	admin := httpapi.Scope(rimewatch.ScopeNotifications)
	r := &httpapi.Resource[rimewatch.Rota]{
		Path: "/v1/rotas", ID: "rota", Tag: "Notifications", One: "a rota", Many: "rotas", Read: admin, Write: admin,
		Things:  func(context.Context) store.Resource[rimewatch.Rota] { return a.Store.Routing().Rotas() },
		Key:     func(r *rimewatch.Rota) (id, revision int64) { return r.ID, r.Revision },
		Named:   func(r *rimewatch.Rota) string { return r.Name },
		Changed: func(ctx context.Context, _ *rimewatch.Rota) { a.changed(ctx) },
		Cursors: &a.cursors,

		ListText:   "Who is on duty, week by week: a target of the steps of routes. Who is told is decided at the moment of the step.",
		DeleteText: "409 while a route names it.",
		Also:       []rimewatch.Code{rimewatch.CodeConflict}, DeleteAlso: []rimewatch.Code{rimewatch.CodeConflict},
	}
	return append(a.calendarRoutes(), []httpapi.Route{
		httpapi.List(r, httpapi.All, a.listRotas), httpapi.Create(r, newRota, a.showRota), httpapi.Get(r, a.showRota), httpapi.Update(r, editRota, a.showRota), httpapi.Delete(r),
		{
			Method: http.MethodGet, Path: "/v1/rotas/{id}/on-duty", ID: "get-on-duty", Tag: "Notifications", Summary: "Find who is on duty", Access: admin, Bind: httpapi.Handle(a.onDuty),
			Description: "At a moment, by the clock of the rota's site.",
		},
	}...)
}
