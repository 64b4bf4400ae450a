package tables

import (
	"context"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
)

// actSQL makes the table of acts that may still be taken back.
const actSQL = `CREATE TABLE act (
	id INTEGER PRIMARY KEY AUTOINCREMENT,
	workspace_id INTEGER NOT NULL REFERENCES workspace(id),
	user_id INTEGER NOT NULL,
	by_name TEXT NOT NULL,
	does TEXT NOT NULL,
	about TEXT NOT NULL,
	method TEXT NOT NULL,
	target TEXT NOT NULL,
	if_match TEXT NOT NULL,
	body TEXT NOT NULL,
	ends_at INTEGER NOT NULL, -- until when it can be taken back
	state TEXT NOT NULL,
	settled_at INTEGER NOT NULL,
	settled_by TEXT NOT NULL,
	failure TEXT NOT NULL,
	created_at INTEGER NOT NULL,
	revision INTEGER NOT NULL DEFAULT 1
) STRICT;
CREATE INDEX act_by_workspace ON act(workspace_id);
CREATE INDEX act_due ON act(ends_at) WHERE state = 'pending'`

func errAct() error { return rimewatch.Errorf(rimewatch.CodeNotFound, "There is no such act.") }

var actTable = resource[rimewatch.Act]{
	shape: resourceOf("act", errAct, nil, actKey, func(a *rimewatch.Act) []column {
		return []column{
			fixed("user_id", number(&a.UserID)), fixed("by_name", text(&a.By)), fixed("does", text(&a.Does)), fixed("about", text(&a.About)),
			fixed("method", text(&a.Method)), fixed("target", text(&a.Target)), fixed("if_match", text(&a.IfMatch)), fixed("body", text(&a.Body)),
			fixed("ends_at", number(&a.EffectiveAt)), col("state", text(&a.State)), col("settled_at", number(&a.SettledAt)), col("settled_by", text(&a.SettledBy)),
			col("failure", text(&a.Failure)),
		}
	}),
	created: "act.created", updated: "act.updated", other: "act.undone",
	key:   actKey,
	span:  true,
	check: (*rimewatch.Act).Check,
	most:  func(store.Quotas) int { return rimewatch.MaxActs }, kind: rimewatch.Sentencef("acts"),
	fields: func(a *rimewatch.Act) store.Fields {
		f := store.Fields{"does": a.Does, "about": a.About}
		if a.State == rimewatch.ActUndone || a.State == rimewatch.ActFailed { // what was done is in the trail by itself
			f["reason"] = a.Failure
		}
		return f
	},
	changed: func(_, a *rimewatch.Act, diff store.Fields) bool {
		if len(diff) != 0 {
			diff["does"], diff["about"] = a.Does, a.About
		}
		return a.State == rimewatch.ActUndone
	},
}

func actKey(a *rimewatch.Act) key {
	return key{&a.ID, &a.WorkspaceID, &a.Revision, &a.CreatedAt, nil}
}

// Acts implements store.Control.
func (t Places) Acts() store.Resource[rimewatch.Act] {
	return handle[rimewatch.Act]{t.base, &actTable, nil}
}

// AllDueActs implements store.Everywhere.
func (t Everywhere) AllDueActs(ctx context.Context, now rimewatch.Time, limit int) (list []rimewatch.Act, err error) {
	return actTable.all(ctx, t.base, "state = 'pending' AND ends_at <= ? ORDER BY ends_at, id LIMIT ?", int64(now), limit)
}
