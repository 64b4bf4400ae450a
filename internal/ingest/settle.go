package ingest

import (
	"context"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/store"
)

// passSites judges the sites whose devices have changed, and those whose time
// has come.
func (w *writer) passSites(now rimewatch.Time) {
	for x, ok := w.eval.sites.due.Pop(now); ok; x, ok = w.eval.sites.due.Pop(now) {
		w.eval.sites.markDirty(x.id)
	}
	dirty := w.eval.sites.dirty
	w.eval.sites.dirty = nil
	for i, x := range dirty {
		for w.settleSite(x, now) {
		}
		if x.dirty { // a full disk: it is tried again at the next tick
			w.eval.sites.dirty = append(w.eval.sites.dirty, dirty[i:]...)
			return
		}
	}
}

// settleSite does one step of what is to be done about a site and reports whether
// there may be more.
func (w *writer) settleSite(x *site, now rimewatch.Time) bool {
	v := &todo{Verdict: w.eval.sites.judge(x, now), site: x}
	if v.Open {
		if err := w.prepareOutage(v); err != nil {
			w.troubled("look up a site", err)
			return false
		}
		if !v.Open {
			return true
		}
	}
	if v.Nothing() {
		x.dirty = false
		w.eval.sites.due.Set(x, v.Again)
		return false
	}
	w.eval.sites.todo = v
	ok := w.commit(nil, nil)
	w.eval.sites.todo = nil
	if ok && v.applied == 0 {
		x.dirty = false // what was to be done has become void; its cause touches the site again
	}
	return ok && v.applied > 0
}

// prepareOutage asks the store whether this outage was reported before (a person may have
// resolved its alert), and whether there is the site.
func (w *writer) prepareOutage(v *todo) error {
	ctx, x := context.Background(), v.site
	if !x.asked {
		list, _, err := w.store.Alerts(ctx, x.workspaceID, store.AlertFilter{Status: rimewatch.AlertResolved, Type: rimewatch.SiteOffline, Since: v.From}, store.AlertPage{Limit: 1000})
		if err != nil {
			return err
		}
		for i := range list {
			if list[i].SiteID == x.id {
				x.lastAlertAt = max(x.lastAlertAt, list[i].TriggeredAt)
			}
		}
		x.asked = true
		v.Open = v.From > x.lastAlertAt
	}
	if !v.Open {
		return nil
	}
	_, err := w.store.Sites().Get(ctx, x.workspaceID, x.id)
	if rimewatch.CodeOf(err) == rimewatch.CodeNotFound {
		x.lastAlertAt, v.Open = rimewatch.MaxTime, false
		return nil
	}
	return err
}
