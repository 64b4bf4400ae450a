package app

import (
	"context"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
	"github.com/rimewatch/rimewatch/internal/ticker"
)

// eraseEvery is how often workspaces are looked for whose time has come.
const eraseEvery = 10 * time.Minute

// runErasures erases workspaces until ctx ends. A clock that has jumped erases
// nothing before it can be believed.
func (a *App) runErasures(ctx context.Context) {
	for range ticker.Every(ctx.Done(), eraseEvery, nil) {
		if a.clock != nil && !a.clock.Sure() {
			continue
		}
		if err := a.Erase(ctx); err != nil && ctx.Err() == nil {
			a.log.Error("erase workspaces", "error", err)
		}
	}
}

// Erase erases the workspaces whose time has come: first nobody gets in, then the
// devices end as devices do, then everything that is stored goes. What was
// interrupted goes on at the next call.
func (a *App) Erase(ctx context.Context) error {
	ctx = store.WithActor(ctx, "service")
	due, err := a.Accounts.CloseDue(ctx, a.now())
	if err != nil {
		return err
	}
	for _, w := range due {
		if a.cfg.part != nil && !a.cfg.part.shard.Holds(w.ID) {
			continue
		}
		if err := a.erase(ctx, w.ID); err != nil {
			return err
		}
		a.log.Info("a workspace was erased", "workspace", w.ID)
	}
	return nil
}

func (a *App) erase(ctx context.Context, id int64) error {
	for {
		list, _, err := a.Store.Devices(ctx, id, store.DeviceFilter{}, store.Page{Limit: 100})
		if err != nil {
			return err
		}
		if len(list) == 0 {
			break
		}
		for i := range list {
			_, err := a.Ingest.DeleteDevice(ctx, id, list[i].Serial)
			if err != nil && rimewatch.CodeOf(err) != rimewatch.CodeDeviceNotFound {
				return err
			}
		}
	}
	sites, err := a.Store.Sites().List(ctx, id)
	if err != nil {
		return err
	}
	for _, s := range sites {
		if err := a.Ingest.SiteDeleted(ctx, s.ID); err != nil {
			return err
		}
	}
	return a.Store.EraseWorkspace(ctx, id)
}
