package event

import (
	"context"
	"encoding/json"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/phrase"
	"github.com/rimewatch/rimewatch/internal/wire"
)

// Viewer completes an alert by what is known of its device and site.
type Viewer interface {
	ViewAlert(ctx context.Context, a *rimewatch.Alert) (rimewatch.AlertView, error)
}

// alertData is the data of an event of an alert.
type alertData struct {
	Alert wire.Alert `json:"alert"`
	By    *string    `json:"by"` // a person or a program; nil = the service
	Note  *string    `json:"note"`
}

// Write returns an event as programs read it, its sentences in the words of l.
func Write(ctx context.Context, v Viewer, e *rimewatch.Event, l rimewatch.Locale) (wire.Event, error) {
	out := wire.Event{ID: e.ID(), At: e.At, Type: string(e.Type), Subject: e.Subject, SiteID: wire.OrNull(e.SiteID), Data: wire.EventData(e.Data)}
	t := e.Alert
	if t == nil {
		return out, nil
	}
	if t.Facts == nil { // damaged
		out.Data = wire.EventData("{}")
		return out, nil
	}
	view, err := v.ViewAlert(ctx, t.Facts)
	if err != nil {
		return out, err
	}
	data, err := wire.AppendJSON(nil, alertData{wire.NewAlert(&view, phrase.In(l).For(&view)), wire.OrNull(t.Actor), wire.OrNull(t.Note)})
	out.Data = wire.EventData(json.RawMessage(data))
	return out, err
}
