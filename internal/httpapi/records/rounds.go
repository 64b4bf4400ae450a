package records

import (
	"cmp"
	"context"
	"net/http"
	"slices"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/httpapi"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/wire"
)

// CheckTemplate is a round: the devices to look at, and the times.
type CheckTemplate struct {
	ID         int64                `json:"id"`
	Name       string               `json:"name"`
	SiteID     *int64               `json:"site_id" doc:"null = every site of the workspace, each with checks of its own."`
	Pack       *string              `json:"pack" doc:"The pack that it was made from; null = none."`
	Categories []rimewatch.Category `json:"categories" doc:"Of the equipment that is looked at; empty = of any."`
	DeviceIDs  []int64              `json:"device_ids" doc:"The devices that are looked at; empty = all."`
	Windows    []CheckWindow        `json:"windows"`
	Range      bool                 `json:"range" doc:"The lowest and the highest value since the check before are part of it."`
	Typed      bool                 `json:"typed" doc:"The value of another thermometer is asked for."`
	Tell       rimewatch.CheckTell  `json:"tell" enum:"missed,due,both,never" doc:"Of what those are told whom a warning of the site would be told first."`
	Enabled    bool                 `json:"enabled"`
	CreatedAt  rimewatch.Time       `json:"created_at" nullable:"false"`
	UpdatedAt  rimewatch.Time       `json:"updated_at" nullable:"false"`
}

// CheckWindow is a time of day at which a round is to be made.
type CheckWindow struct {
	Days []string `json:"days" minItems:"1" maxItems:"7" enum:"mon,tue,wed,thu,fri,sat,sun" doc:"On which it begins."`
	From string   `json:"from" pattern:"^([01][0-9]|2[0-3]):[0-5][0-9]$" patternDescription:"a time such as 06:00" example:"06:00" doc:"By the clock of the site, also in a night in which that is set."`
	To   string   `json:"to" pattern:"^([01][0-9]|2[0-3]):[0-5][0-9]$" patternDescription:"a time such as 10:00" example:"10:00" doc:"Up to from: on the next day. 15 minutes after it at least."`
}

func windowsOf(list []CheckWindow) []rimewatch.CheckWindow {
	out := make([]rimewatch.CheckWindow, len(list))
	for i, w := range list {
		out[i] = rimewatch.CheckWindow{Days: wire.DaySet(w.Days), From: wire.MinuteOf(w.From), To: wire.MinuteOf(w.To)}
	}
	return out
}

func windowsJSON(list []rimewatch.CheckWindow) []CheckWindow {
	out := make([]CheckWindow, len(list))
	for i := range list {
		w := &list[i]
		out[i] = CheckWindow{wire.DayNames(w.Weekdays()), rimewatch.TimeOfDay(w.From), rimewatch.TimeOfDay(w.To)}
	}
	return out
}

func templateJSON(t *rimewatch.CheckTemplate) CheckTemplate {
	return CheckTemplate{
		ID: t.ID, Name: t.Name, SiteID: wire.OrNull(t.SiteID), Pack: wire.OrNull(t.Pack), Categories: append([]rimewatch.Category{}, t.Categories...),
		DeviceIDs: append([]int64{}, t.DeviceIDs...), Windows: windowsJSON(t.Windows), Range: t.Ask.Range, Typed: t.Ask.Typed, Tell: t.Tell, Enabled: t.Enabled,
		CreatedAt: t.CreatedAt, UpdatedAt: t.UpdatedAt,
	}
}

// CheckTemplateList are the rounds of a workspace.
type CheckTemplateList struct {
	httpapi.Paged
	CheckTemplates []CheckTemplate `json:"check_templates"`
}

func listTemplates(_ context.Context, list []rimewatch.CheckTemplate) (CheckTemplateList, error) {
	out := CheckTemplateList{CheckTemplates: make([]CheckTemplate, len(list))}
	for i := range list {
		out.CheckTemplates[i] = templateJSON(&list[i])
	}
	return out, nil
}

// CheckTemplateData is the data of answers about one round.
type CheckTemplateData struct {
	CheckTemplate CheckTemplate `json:"check_template"`
}

func showTemplate(_ context.Context, t *rimewatch.CheckTemplate) (CheckTemplateData, error) {
	return CheckTemplateData{templateJSON(t)}, nil
}

// CheckTemplateListInput selects rounds.
type CheckTemplateListInput struct {
	httpapi.PageInput
	SiteID int64 `query:"site_id" minimum:"1" doc:"Only those of this site alone."`
}

func selectTemplates(_ *httpapi.Call, in *CheckTemplateListInput) store.Selection {
	return store.Selection{SiteID: in.SiteID}
}

// CheckTemplateCreate is the body that makes a round.
type CheckTemplateCreate struct {
	Name       string                `json:"name" minLength:"1" maxLength:"200" doc:"Unique in the workspace, without case."`
	Pack       string                `json:"pack,omitempty" maxLength:"40" example:"haccp-ampm" doc:"Of GET /v1/check-packs. What is absent of categories, windows, range and typed is as the pack has it."`
	SiteID     *int64                `json:"site_id,omitempty" nullable:"true" minimum:"1"`
	Categories *[]rimewatch.Category `json:"categories,omitempty" maxItems:"7" enum:"freezer,cooler,medical,transport,ice,compressor,other"`
	DeviceIDs  []int64               `json:"device_ids,omitempty" maxItems:"1000"`
	Windows    []CheckWindow         `json:"windows,omitempty" maxItems:"12" doc:"Needed without a pack."`
	Range      *bool                 `json:"range,omitempty"`
	Typed      *bool                 `json:"typed,omitempty"`
	Tell       rimewatch.CheckTell   `json:"tell,omitempty" enum:"missed,due,both,never" doc:"Default: missed."`
	Enabled    *bool                 `json:"enabled,omitempty" doc:"Default: true."`
}

func newTemplate(ctx context.Context, b *CheckTemplateCreate) (rimewatch.CheckTemplate, error) {
	c := httpapi.CallOf(ctx)
	p, _ := rimewatch.CheckPackBySlug(b.Pack)
	t := rimewatch.CheckTemplate{
		WorkspaceID: c.Workspace(), Name: b.Name, Pack: b.Pack, Categories: p.Categories, DeviceIDs: b.DeviceIDs, Windows: p.Windows, Ask: p.Ask,
		Tell: cmp.Or(b.Tell, rimewatch.TellMissed), Enabled: b.Enabled == nil || *b.Enabled, CreatedAt: c.Now, UpdatedAt: c.Now,
	}
	if b.SiteID != nil {
		t.SiteID = *b.SiteID
	}
	httpapi.Sent(&t.Categories, b.Categories)
	httpapi.Sent(&t.Ask.Range, b.Range)
	httpapi.Sent(&t.Ask.Typed, b.Typed)
	if b.Windows != nil {
		t.Windows = windowsOf(b.Windows)
	}
	return t, nil
}

// CheckTemplateUpdate is the body that changes a round. Absent fields stay as they are.
type CheckTemplateUpdate struct {
	Name       *string                 `json:"name,omitempty" minLength:"1" maxLength:"200"`
	SiteID     httpapi.Optional[int64] `json:"site_id,omitempty" minimum:"1" doc:"null = every site."`
	Categories *[]rimewatch.Category   `json:"categories,omitempty" maxItems:"7" enum:"freezer,cooler,medical,transport,ice,compressor,other"`
	DeviceIDs  *[]int64                `json:"device_ids,omitempty" maxItems:"1000"`
	Windows    *[]CheckWindow          `json:"windows,omitempty" minItems:"1" maxItems:"12" doc:"Replaces all windows."`
	Range      *bool                   `json:"range,omitempty"`
	Typed      *bool                   `json:"typed,omitempty"`
	Tell       *rimewatch.CheckTell    `json:"tell,omitempty" enum:"missed,due,both,never"`
	Enabled    *bool                   `json:"enabled,omitempty"`
}

func editTemplate(ctx context.Context, b *CheckTemplateUpdate) (func(*rimewatch.CheckTemplate) error, error) {
	now := httpapi.CallOf(ctx).Now
	return func(t *rimewatch.CheckTemplate) error {
		was := *t
		httpapi.Sent(&t.Name, b.Name)
		b.SiteID.Set(&t.SiteID, 0)
		httpapi.Sent(&t.Categories, b.Categories)
		httpapi.Sent(&t.DeviceIDs, b.DeviceIDs)
		httpapi.Sent(&t.Ask.Range, b.Range)
		httpapi.Sent(&t.Ask.Typed, b.Typed)
		httpapi.Sent(&t.Tell, b.Tell)
		httpapi.Sent(&t.Enabled, b.Enabled)
		if b.Windows != nil {
			t.Windows = windowsOf(*b.Windows)
		}
		if !t.SamePlan(&was) {
			t.Through = max(t.Through, now) // a change asks for no checks in the past
		}
		t.UpdatedAt = now
		return nil
	}, nil
}

// CheckPack is a ready-made round, with where it comes from.
type CheckPack struct {
	Slug       string               `json:"slug"`
	Name       string               `json:"name" doc:"In the language of the request, as text, read and unread are."`
	Text       string               `json:"text" doc:"What is asked for."`
	Source     string               `json:"source"`
	URL        *string              `json:"url"`
	Dated      *string              `json:"dated" doc:"The date of the source, or its year; null = it has none."`
	Read       string               `json:"read" doc:"What of the source was read to make the pack."`
	Unread     string               `json:"unread" doc:"What was not."`
	Categories []rimewatch.Category `json:"categories"`
	Windows    []CheckWindow        `json:"windows"`
	Range      bool                 `json:"range"`
	Typed      bool                 `json:"typed"`
}

// CheckPackList are all packs.
type CheckPackList struct {
	CheckPacks []CheckPack `json:"check_packs"`
}

func (a *api) listPacks(ctx context.Context, _ *httpapi.NoInput) (CheckPackList, error) {
	words := httpapi.CallOf(ctx).Words()
	var out CheckPackList
	for _, p := range rimewatch.CheckPacks() {
		out.CheckPacks = append(out.CheckPacks, CheckPack{
			p.Slug, words.Say(p.Name), words.Say(p.Text), p.Source, wire.OrNull(p.URL), wire.OrNull(p.Dated), words.Say(p.Read), words.Say(p.Unread),
			append([]rimewatch.Category{}, p.Categories...), windowsJSON(p.Windows), p.Ask.Range, p.Ask.Typed,
		})
	}
	return out, nil
}

func (a *api) roundRoutes() []httpapi.Route {
	read := httpapi.Either(rimewatch.RoleViewer, rimewatch.ScopeRecords)
	r := &httpapi.Resource[rimewatch.CheckTemplate]{
		Path: "/v1/check-templates", ID: "check-template", Tag: "Records", One: "a round", Many: "rounds", Read: read, Write: httpapi.Either(rimewatch.RoleAdmin, rimewatch.ScopeRecords),
		SitedReads: true,
		Things: func(context.Context) store.Resource[rimewatch.CheckTemplate] {
			return a.Store.Records().CheckTemplates()
		},
		Key:     func(t *rimewatch.CheckTemplate) (id, revision int64) { return t.ID, t.Revision },
		Named:   func(t *rimewatch.CheckTemplate) string { return t.Name },
		Cursors: &a.cursors,
		Changed: func(context.Context, *rimewatch.CheckTemplate) {
			if a.Rounds != nil {
				a.Rounds()
			}
		},

		ListText:   "Which devices somebody has to look at, and when: each window is a check on its days, at each site with such devices. Somebody who is limited to sites sees the rounds of these sites alone, and all their checks.",
		CreateText: "At most 100; 409 beyond that. A window that is open at that moment is due at once.",
		UpdateText: "Other windows, another site and switching it on hold for what begins after the change.",
		DeleteText: "What was recorded stays.",
		Also:       []rimewatch.Code{rimewatch.CodeConflict},
	}
	return slices.Concat([]httpapi.Route{
		httpapi.List(r, selectTemplates, listTemplates), httpapi.Create(r, newTemplate, showTemplate), httpapi.Get(r, showTemplate),
		httpapi.Update(r, editTemplate, showTemplate), httpapi.Delete(r),
	}, []httpapi.Route{{
		Method: http.MethodGet, Path: "/v1/check-packs", Sited: true, ID: "list-check-packs", Tag: "Records", Summary: "List packs of rounds", Access: read, Bind: httpapi.Handle(a.listPacks),
		Description: "What a rule, or a habit of the trade, asks for, as data: with its source, its date, and what of it was not read. Following a pack proves nothing about the rule.",
	}})
}
