package ingest

import (
	"context"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/presence"
	"github.com/rimewatch/rimewatch/internal/store"
)

// leastAway is the shortest downtime that moves deadlines: four ticks.
const leastAway = 2 * rimewatch.Second

// watch records that the service hears its devices again, or still, at now. A time in which it
// could not is a downtime: it was not running, the store took no writes, or the
// process stood still (stopped, or one commit took that long). The downtime is durable
// before anything is evaluated at now. An error means that the store still takes no writes.
func (w *writer) watch(now rimewatch.Time) error {
	if now-w.watched >= leastAway && (w.away || !w.cfg.ByHand) {
		if err := w.addDowntime(now); err != nil {
			w.away = true
			return err
		}
	} else if !w.away {
		w.watched = max(w.watched, now)
		return nil
	}
	if err := w.markAlive(now); err != nil {
		return err
	}
	if err := w.rebuild(); err != nil {
		return err
	}
	w.away = false
	return nil
}

// addDowntime records a downtime until a moment. Every deadline moves by it.
func (w *writer) addDowntime(until rimewatch.Time) error {
	down := store.Downtime{From: w.watched, To: until}
	if err := w.store.AddDowntime(context.Background(), down); err != nil {
		return err
	}
	w.fleet.AddDowntime(presence.Downtime(down))
	w.watched = until
	return nil
}

// markAlive records that the service runs at now.
func (w *writer) markAlive(now rimewatch.Time) error {
	err := w.store.MarkAlive(context.Background(), now)
	if err != nil {
		w.away = true
		return err
	}
	w.watched, w.lastAlive = max(w.watched, now), now
	return nil
}
