package ingest

import "slices"

// rollBack undoes groups that are lost, given from the newest to the oldest, and refuses their
// callers.
func (w *writer) rollBack(err error, groups ...*group) {
	w.fleet.Lock()
	for _, g := range groups {
		for i := range slices.Backward(g.staged) {
			st := &g.staged[i]
			st.Device.Own.stagedAt = 0
			w.fleet.Rollback(&st.Staged)
		}
	}
	w.eval.evaluated = w.known.durable
	w.fleet.Unlock()
	w.away = true
	w.troubled("commit", err)
	if err := w.rebuild(); err != nil {
		w.troubled("build lost states again", err)
	}
	for _, g := range slices.Backward(groups) {
		g.answer(err)
		recycle(&w.spare, g)
	}
}

// rebuild builds lost states again.
func (w *writer) rebuild() error {
	if !w.fleet.Lost() {
		return nil
	}
	w.fleet.Lock()
	defer w.fleet.Unlock()
	list, err := w.fleet.Rebuild()
	if err != nil {
		return err
	}
	for _, u := range list {
		state := w.fleet.State(u)
		w.eval.rejudging.look(u, state)
		w.eval.setDeadline(u, state)
		w.eval.sites.markDirty(u.Own.siteID)
		w.known.refresh(u, state, u.Config, w.clock())
	}
	w.eval.takeNews()
	return nil
}
