package notifications

import (
	"context"
	"fmt"
	"net/http"

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
	Ended bool `query:"ended" default:"false" doc:"Include those that have ended, as long as they are kept."`
}

// SilenceList are the silences of a workspace.
type SilenceList struct {
	Silences []Silence `json:"silences"`
}

func (a *api) listSilences(ctx context.Context, in *SilenceListInput) (SilenceList, error) {
	c := httpapi.CallOf(ctx)
	after := c.Now
	if in.Ended {
		after = 0
	}
	list, _, err := a.Store.Silences().Select(ctx, c.Workspace(), store.Selection{EndAfter: after})
	if err != nil {
		return SilenceList{}, err
	}
	matches := make([]*rimewatch.Matchers, len(list))
	for i := range list {
		matches[i] = &list[i].Match
	}
	serials, err := a.serialsOf(ctx, matches...)
	if err != nil {
		return SilenceList{}, err
	}
	out := SilenceList{make([]Silence, len(list))}
	for i := range list {
		out.Silences[i] = silenceJSON(&list[i], serials, c.Now)
	}
	return out, nil
}

// SilenceData is the data of answers about one silence.
type SilenceData struct {
	Silence Silence `json:"silence"`
}

func (a *api) silenceData(ctx context.Context, s rimewatch.Silence, err error) (SilenceData, error) {
	if err != nil {
		return SilenceData{}, err
	}
	serials, err := a.serialsOf(ctx, &s.Match)
	if err != nil {
		return SilenceData{}, err
	}
	return SilenceData{silenceJSON(&s, serials, httpapi.CallOf(ctx).Now)}, nil
}

func (a *api) getSilence(ctx context.Context, in *httpapi.IDInput) (SilenceData, error) {
	s, err := a.Store.Silences().Get(ctx, httpapi.CallOf(ctx).Workspace(), in.Number())
	return a.silenceData(ctx, s, err)
}

// SilenceCreate is the body that makes a silence.
type SilenceCreate struct {
	Match    AlertMatch      `json:"match" doc:"{} silences everything."`
	StartsAt *rimewatch.Time `json:"starts_at,omitempty" nullable:"true" doc:"Default: now. The past counts as now."`
	EndsAt   rimewatch.Time  `json:"ends_at" nullable:"false" doc:"At most 30 days after starts_at."`
	Comment  *string         `json:"comment,omitempty" nullable:"true" maxLength:"500"`
}

func (a *api) createSilence(ctx context.Context, in *httpapi.BodyInput[SilenceCreate]) (SilenceData, error) {
	c := httpapi.CallOf(ctx)
	by, err := a.AuditActor(ctx, c.Principal)
	if err != nil {
		return SilenceData{}, err
	}
	s := rimewatch.Silence{WorkspaceID: c.Workspace(), StartsAt: c.Now, EndsAt: in.Body.EndsAt, CreatedBy: by, CreatedAt: c.Now}
	if in.Body.StartsAt != nil {
		s.StartsAt = max(*in.Body.StartsAt, c.Now)
	}
	if in.Body.Comment != nil {
		s.Comment = *in.Body.Comment
	}
	if s.EndsAt <= s.StartsAt {
		return SilenceData{}, rimewatch.Invalid("ends_at", "must be in the future and after starts_at")
	}
	if s.Match, err = a.matchers(ctx, &in.Body.Match); err != nil {
		return SilenceData{}, err
	}
	if err := a.Store.Silences().Create(ctx, &s); err != nil {
		return SilenceData{}, err
	}
	a.Notifier.Changed(c.Workspace())
	c.Header("Location", fmt.Sprintf("%s/v1/silences/%d", httpapi.Prefix, s.ID))
	return a.silenceData(ctx, s, nil)
}

func (a *api) endSilence(ctx context.Context, in *httpapi.IDInput) (SilenceData, error) {
	c := httpapi.CallOf(ctx)
	s, err := a.Store.Silences().Update(ctx, c.Workspace(), in.Number(), func(s *rimewatch.Silence) error {
		if !s.EndEarly(c.Now) {
			return rimewatch.Errorf(rimewatch.CodeConflict, "This silence has already ended.")
		}
		return nil
	})
	if err == nil {
		a.Notifier.Changed(c.Workspace())
	}
	return a.silenceData(ctx, s, err)
}

func (a *api) silenceRoutes() []httpapi.Route {
	read, write := httpapi.Scope(rimewatch.ScopeAlertsRead), httpapi.Scope(rimewatch.ScopeAlertsWrite)
	return []httpapi.Route{
		{
			Method: http.MethodGet, Path: "/v1/silences", ID: "list-silences", Tag: "Notifications", Summary: "List silences", Access: read,
			Description: "Those that are not over, by id.", Bind: httpapi.Handle(a.listSilences),
		},
		{
			Method: http.MethodPost, Path: "/v1/silences", ID: "create-silence", Tag: "Notifications", Summary: "Create a silence", Access: write, Body: httpapi.JSONBody,
			Status: http.StatusCreated, Also: []rimewatch.Code{rimewatch.CodeUnknownDevice, rimewatch.CodeQuotaExceeded},
			Description: "Matching alerts are recorded, but nobody is notified. Those still active when the silence ends are sent then. At most 500 that are active, planned or ended within the last week; 409 beyond that.", Bind: httpapi.Handle(a.createSilence),
		},
		{Method: http.MethodGet, Path: "/v1/silences/{id}", ID: "get-silence", Tag: "Notifications", Summary: "Get a silence", Access: read, Bind: httpapi.Handle(a.getSilence)},
		{
			Method: http.MethodPost, Path: "/v1/silences/{id}/end", ID: "end-silence", Tag: "Notifications", Summary: "End a silence", Access: write,
			Also: []rimewatch.Code{rimewatch.CodeConflict}, Bind: httpapi.Handle(a.endSilence),
		},
	}
}
