package app

import (
	"context"
	"time"

	"github.com/rimewatch/rimewatch/internal/ticker"
)

// actEvery is the interval at which due acts are looked for.
const (
	actEvery   = time.Second
	actsAtOnce = 1000
)

// runActs carries out due acts until ctx ends.
func (a *App) runActs(ctx context.Context) {
	for range ticker.Every(ctx.Done(), actEvery, nil) {
		if err := a.CarryOut(ctx); err != nil && ctx.Err() == nil {
			a.log.Error("carry out what people have asked for", "error", err)
		}
	}
}

// CarryOut carries out the acts that are due and were not taken back. One that fails for
// now is tried again at the next call.
func (a *App) CarryOut(ctx context.Context) error {
	due, err := a.Store.Everywhere().AllDueActs(ctx, a.now(), actsAtOnce)
	if err != nil {
		return err
	}
	for i := range due {
		if err := a.API.CarryOut(ctx, &due[i]); err != nil && ctx.Err() == nil {
			a.log.Warn("an act could not be carried out yet", "act", due[i].ID, "does", due[i].Does, "error", err)
		}
	}
	return nil
}
