package httpapi

import (
	"context"
	"fmt"
	"net/http"

	"github.com/rimewatch/rimewatch"
)

type silenceStore interface {
	CreateSilence(ctx context.Context, s *rimewatch.Silence) error
	UpdateSilence(ctx context.Context, workspaceID, id int64, change func(*rimewatch.Silence) error) (rimewatch.Silence, error)
	Silence(ctx context.Context, workspaceID, id int64) (rimewatch.Silence, error)
	Silences(ctx context.Context, workspaceID int64, endAfter rimewatch.Time) ([]rimewatch.Silence, error)
}

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

// SilenceListInput says which silences are wanted.
type SilenceListInput struct {
	Ended bool `query:"ended" default:"false" doc:"Include those that have ended, as long as they are kept."`
}

// SilenceList are the silences of a workspace.
type SilenceList struct {
	Silences []Silence `json:"silences"`
}

func (a *API) listSilences(ctx context.Context, in *SilenceListInput) (SilenceList, error) {
	c := callOf(ctx)
	after := c.now
	if in.Ended {
		after = 0
	}
	list, err := a.cfg.Notifications.Silences(ctx, c.workspace(), after)
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
		out.Silences[i] = silenceJSON(&list[i], serials, c.now)
	}
	return out, nil
}

// SilenceData is the data of answers about one silence.
type SilenceData struct {
	Silence Silence `json:"silence"`
}

func (a *API) silenceData(ctx context.Context, s rimewatch.Silence, err error) (SilenceData, error) {
	if err != nil {
		return SilenceData{}, err
	}
	serials, err := a.serialsOf(ctx, &s.Match)
	if err != nil {
		return SilenceData{}, err
	}
	return SilenceData{silenceJSON(&s, serials, callOf(ctx).now)}, nil
}

func (a *API) getSilence(ctx context.Context, in *IDInput) (SilenceData, error) {
	id, err := in.id()
	if err != nil {
		return SilenceData{}, err
	}
	s, err := a.cfg.Notifications.Silence(ctx, callOf(ctx).workspace(), id)
	return a.silenceData(ctx, s, err)
}

// SilenceCreate is the body that makes a silence.
type SilenceCreate struct {
	Match    AlertMatch      `json:"match" doc:"{} silences everything."`
	StartsAt *rimewatch.Time `json:"starts_at,omitempty" nullable:"true" doc:"Default: now. The past counts as now."`
	EndsAt   rimewatch.Time  `json:"ends_at" nullable:"false" doc:"At most 30 days after starts_at."`
	Comment  *string         `json:"comment,omitempty" nullable:"true" maxLength:"500"`
}

// SilenceCreateInput carries the body that makes a silence.
type SilenceCreateInput struct {
	Body SilenceCreate
}

func (a *API) createSilence(ctx context.Context, in *SilenceCreateInput) (SilenceData, error) {
	c := callOf(ctx)
	by, err := a.auditActor(ctx, c.principal)
	if err != nil {
		return SilenceData{}, err
	}
	s := rimewatch.Silence{WorkspaceID: c.workspace(), StartsAt: c.now, EndsAt: in.Body.EndsAt, CreatedBy: by, CreatedAt: c.now}
	if in.Body.StartsAt != nil {
		s.StartsAt = max(*in.Body.StartsAt, c.now)
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
	if err := a.cfg.Notifications.CreateSilence(ctx, &s); err != nil {
		return SilenceData{}, err
	}
	a.cfg.Notifier.Changed(c.workspace())
	c.header("Location", fmt.Sprintf("%s/v1/silences/%d", Prefix, s.ID))
	return a.silenceData(ctx, s, nil)
}

func (a *API) endSilence(ctx context.Context, in *IDInput) (SilenceData, error) {
	id, err := in.id()
	if err != nil {
		return SilenceData{}, err
	}
	c := callOf(ctx)
	s, err := a.cfg.Notifications.UpdateSilence(ctx, c.workspace(), id, func(s *rimewatch.Silence) error {
		if s.EndsAt <= c.now || s.EndsAt == s.StartsAt {
			return rimewatch.Errorf(rimewatch.CodeConflict, "This silence has already ended.")
		}
		s.EndsAt = max(s.StartsAt, c.now)
		return nil
	})
	if err == nil {
		a.cfg.Notifier.Changed(c.workspace())
	}
	return a.silenceData(ctx, s, err)
}

func (a *API) silenceRoutes() []route {
	read, write := scope(rimewatch.ScopeAlertsRead), scope(rimewatch.ScopeAlertsWrite)
	return []route{
		{
			method: http.MethodGet, path: "/v1/silences", id: "list-silences", tag: "Notifications", summary: "List silences", access: read,
			description: "Those that are not over, by id.", bind: handle(a.listSilences),
		},
		{
			method: http.MethodPost, path: "/v1/silences", id: "create-silence", tag: "Notifications", summary: "Make a silence", access: write, body: jsonBody,
			status: http.StatusCreated, also: []rimewatch.Code{rimewatch.CodeUnknownDevice, rimewatch.CodeConflict},
			description: "Matching alerts are recorded, but nobody is notified. Those still active when the silence ends are sent then. At most 500 that are active, planned or ended within the last week; 409 beyond that.", bind: handle(a.createSilence),
		},
		{method: http.MethodGet, path: "/v1/silences/{id}", id: "get-silence", tag: "Notifications", summary: "Get a silence", access: read, bind: handle(a.getSilence)},
		{
			method: http.MethodPost, path: "/v1/silences/{id}/end", id: "end-silence", tag: "Notifications", summary: "End a silence", access: write,
			also: []rimewatch.Code{rimewatch.CodeConflict}, bind: handle(a.endSilence),
		},
	}
}
