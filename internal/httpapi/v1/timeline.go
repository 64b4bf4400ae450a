package v1

import (
	"context"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/httpapi"
	"github.com/rimewatch/rimewatch/internal/wire"
)

// AlertTransition is one line of an alert's timeline.
type AlertTransition struct {
	ID       int64                    `json:"id"`
	Kind     rimewatch.TransitionKind `json:"kind" doc:"opened, escalated, deescalated, updated, acknowledged, acknowledgement_expired, noted, suppressed, released, moved, feedback, corrective_action or resolved; an open set." example:"opened"`
	At       rimewatch.Time           `json:"at" nullable:"false"`
	Severity rimewatch.Severity       `json:"severity" enum:"warning,critical" doc:"After it."`
	Actor    *string                  `json:"actor" doc:"Who did it; null for the service itself."`
	Note     *string                  `json:"note"`
	Message  string                   `json:"message" doc:"The alert's message at that moment."`

	Prediction wire.Maybe[rimewatch.Prediction] `json:"prediction" doc:"As it was at that moment; null unless the alert is predictive."`
}

// AlertTimeline is all that happened to an alert.
type AlertTimeline struct {
	Transitions []AlertTransition `json:"transitions"`
}

func (a alerts) alertTimeline(ctx context.Context, in *httpapi.AlertIDInput) (AlertTimeline, error) {
	id := in.Number()
	workspace := httpapi.CallOf(ctx).Workspace()
	v, err := a.cfg.Alerts.Alert(ctx, workspace, id)
	if err != nil {
		return AlertTimeline{}, err
	}
	list, err := a.cfg.Alerts.Outbox().AlertTransitions(ctx, workspace, id)
	if err != nil {
		return AlertTimeline{}, err
	}
	words := httpapi.CallOf(ctx).Words().For(&v)
	out := AlertTimeline{make([]AlertTransition, len(list))}
	for i, t := range list {
		out.Transitions[i] = AlertTransition{ID: t.ID, Kind: t.Kind, At: t.At, Severity: t.Severity, Actor: wire.OrNull(t.Actor), Note: wire.OrNull(t.Note), Message: words.Then(&t)}
		if t.Facts != nil {
			out.Transitions[i].Prediction.Value = words.Prediction(t.Facts.Prediction)
		}
	}
	return out, nil
}

// NoteBody is a note about an alert.
type NoteBody struct {
	Note string `json:"note" minLength:"1" maxLength:"2000"`
}

func (a alerts) noteAlert(ctx context.Context, in *httpapi.AlertBody[NoteBody]) (AlertData, error) {
	c := httpapi.CallOf(ctx)
	by, err := a.Actor(ctx, c.Principal)
	if err != nil {
		return AlertData{}, err
	}
	return a.alertData(ctx)(a.cfg.Writer.NoteAlert(ctx, c.Workspace(), in.Number(), by, in.Body.Note))
}
