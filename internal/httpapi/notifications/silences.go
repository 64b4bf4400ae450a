package notifications

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/httpapi"
	"github.com/rimewatch/rimewatch/internal/store"
)

// Silence keeps matching alerts from being notified for a time.
type Silence struct {
	ID        int64          `json:"id"`
	Match     MatchJSON      `json:"match"`
	StartsAt  rimewatch.Time `json:"starts_at" nullable:"false"`
	EndsAt    rimewatch.Time `json:"ends_at" nullable:"false"`
	Comment   string         `json:"comment"`
	CreatedBy string         `json:"created_by"`
	CreatedAt rimewatch.Time `json:"created_at" nullable:"false"`
	Active    bool           `json:"active" doc:"It has begun and is not over."`
}

func silenceJSON(s *rimewatch.Silence, serials map[int64]string, now rimewatch.Time) Silence {
	return Silence{s.ID, matchJSON(&s.Match, serials), s.StartsAt, s.EndsAt, s.Comment, s.CreatedBy, s.CreatedAt, s.StartsAt <= now && now < s.EndsAt}
}

// SilenceListInput selects silences.
type SilenceListInput struct {
	httpapi.AllOrPage
	Ended bool `query:"ended" default:"false" doc:"Include those that have ended, as long as they are kept."`
}

// SilenceList are the silences of a workspace.
type SilenceList struct {
	httpapi.Paged
	Silences []Silence `json:"silences"`
}

func selectSilences(c *httpapi.Call, in *SilenceListInput) store.Selection {
	return selectSpans(c, in.Ended)
}

// selectSpans selects the spans that are not over, or all.
func selectSpans(c *httpapi.Call, ended bool) store.Selection {
	if ended {
		return store.Selection{}
	}
	return store.Selection{EndAfter: c.Now}
}

func (a *api) listSilences(ctx context.Context, list []rimewatch.Silence) (SilenceList, error) {
	matches := make([]*rimewatch.Matchers, len(list))
	for i := range list {
		matches[i] = &list[i].Match
	}
	serials, err := a.serialsOf(ctx, matches...)
	if err != nil {
		return SilenceList{}, err
	}
	out := SilenceList{Silences: make([]Silence, len(list))}
	for i := range list {
		out.Silences[i] = silenceJSON(&list[i], serials, httpapi.CallOf(ctx).Now)
	}
	return out, nil
}

// SilenceData is the data of answers about one silence.
type SilenceData struct {
	Silence Silence `json:"silence"`
}

func (a *api) showSilence(ctx context.Context, s *rimewatch.Silence) (SilenceData, error) {
	serials, err := a.serialsOf(ctx, &s.Match)
	if err != nil {
		return SilenceData{}, err
	}
	return SilenceData{silenceJSON(s, serials, httpapi.CallOf(ctx).Now)}, nil
}

// SilenceCreate is the body that makes a silence.
type SilenceCreate struct {
	Match      AlertMatch      `json:"match" doc:"{} silences everything."`
	Everything bool            `json:"everything,omitempty" doc:"Needed from a signed-in person where match is {}."`
	StartsAt   *rimewatch.Time `json:"starts_at,omitempty" nullable:"true" doc:"Default: now. The past counts as now."`
	EndsAt     rimewatch.Time  `json:"ends_at" nullable:"false" doc:"At most 30 days after starts_at."`
	Comment    *string         `json:"comment,omitempty" nullable:"true" maxLength:"500"`
}

func (a *api) newSilence(ctx context.Context, b *SilenceCreate) (s rimewatch.Silence, err error) {
	c := httpapi.CallOf(ctx)
	by, err := a.AuditActor(ctx, c.Principal)
	if err != nil {
		return s, err
	}
	s = rimewatch.Silence{WorkspaceID: c.Workspace(), StartsAt: c.Now, EndsAt: b.EndsAt, CreatedBy: by, CreatedAt: c.Now}
	if b.StartsAt != nil {
		s.StartsAt = max(*b.StartsAt, c.Now)
	}
	if b.Comment != nil {
		s.Comment = *b.Comment
	}
	if s.EndsAt <= s.StartsAt {
		return s, rimewatch.Invalid("ends_at", "must be in the future and after starts_at")
	}
	m := &b.Match
	if err := scoped(c, "match", b.Everything, len(m.Severities)+len(m.Types)+len(m.SiteIDs)+len(m.EquipmentTypes)+len(m.DeviceSerials)); err != nil {
		return s, err
	}
	s.Match, err = a.matchers(ctx, m)
	return s, err
}

// scoped refuses what a person made about everything without having said so: a field left
// empty must not silence every alert. Programs keep the meaning of an empty scope.
func scoped(c *httpapi.Call, field string, everything bool, named int) error {
	if named == 0 && !everything && c.Principal.Session {
		return rimewatch.Invalid(field, "must name what it is about; with everything: true it is about the whole workspace")
	}
	return nil
}

func endSilence(ctx context.Context, s *rimewatch.Silence) error {
	if !s.EndEarly(httpapi.CallOf(ctx).Now) {
		return rimewatch.Errorf(rimewatch.CodeConflict, "This silence has already ended.")
	}
	return nil
}

// breadth has a silence wait that is about more than one site. It refuses what cannot be made.
func (a *api) breadth(c *httpapi.Call) (d httpapi.Delay, err error) {
	var b SilenceCreate
	if err := json.Unmarshal(c.JSON(), &b); err != nil {
		return d, err
	}
	s, err := a.newSilence(c.R.Context(), &b)
	if err == nil {
		err = s.Check()
	}
	if err != nil {
		return d, err
	}
	sites := slices.Clone(s.Match.SiteIDs)
	for _, serial := range b.Match.DeviceSerials {
		if who := a.Store.Identify(c.Workspace(), []byte(serial)); who != nil {
			sites = append(sites, who.SiteID)
		}
	}
	slices.Sort(sites)
	return httpapi.Delay{About: s.Comment, Now: len(slices.Compact(sites)) == 1 || len(s.Match.DeviceIDs) == 1}, nil
}

func (a *api) silenceRoutes() []httpapi.Route {
	r := &httpapi.Resource[rimewatch.Silence]{
		Path: "/v1/silences", ID: "silence", Tag: "Notifications", One: "a silence", Many: "silences",
		Read: httpapi.Scope(rimewatch.ScopeAlertsRead), Write: httpapi.Scope(rimewatch.ScopeAlertsWrite),
		Things:  func(context.Context) store.Resource[rimewatch.Silence] { return a.Store.Routing().Silences() },
		Key:     func(s *rimewatch.Silence) (id, revision int64) { return s.ID, s.Revision },
		Changed: func(ctx context.Context, _ *rimewatch.Silence) { a.changed(ctx) },
		Cursors: &a.cursors,

		ListText:   "Those that are not over, by id.",
		CreateText: "Matching alerts are recorded, but nobody is notified. Those still active when the silence ends are sent then. At most 500 that are active, planned or ended within the last week; 409 beyond that.",
		Also:       []rimewatch.Code{rimewatch.CodeUnknownDevice},
	}
	create := httpapi.Create(r, a.newSilence, a.showSilence)
	create.Undo = a.breadth
	return []httpapi.Route{
		httpapi.List(r, selectSilences, a.listSilences), create, httpapi.Get(r, a.showSilence),
		httpapi.Act(r, "end", "End a silence", endSilence, a.showSilence),
	}
}
