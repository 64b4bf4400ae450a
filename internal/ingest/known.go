package ingest

import (
	"sync/atomic"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/engine"
	"github.com/rimewatch/rimewatch/internal/fleet"
	"github.com/rimewatch/rimewatch/internal/health"
)

// known are the fleet's sums and settings that readers see. The writer goroutine changes those that
// follow from states, and the committer those that follow from a durable group; both take the
// fleet's lock only to do so.
type known struct {
	durable  fleet.Position // of the last commit
	totals   map[int64]*totals
	verdicts [len(rimewatch.Verdicts)]int // see Verdicts
	settings settings                     // of the writer goroutine; it holds the lock to replace them
	lagging  atomic.Bool                  // units may still be judged by older settings
	worst    atomic.Int64                 // ns, the longest commit
	loaded   chan struct{}                // closed when no unit is behind any more
}

func (k *known) loading() bool {
	select {
	case <-k.loaded:
		return false
	default:
		return true
	}
}

func (k *known) total(workspaceID int64) *totals {
	t := k.totals[workspaceID]
	if t == nil {
		t = &totals{}
		k.totals[workspaceID] = t
	}
	return t
}

// refresh brings a unit's contribution to its fleet up to date. Under the lock.
func (k *known) refresh(u *unit, state *engine.State, cfg *engine.Config, now rimewatch.Time) {
	k.replace(u, shareOf(u, state, cfg, now), now)
}

// replace replaces a unit's contribution to its fleet. Under the lock.
func (k *known) replace(u *unit, share health.Share, now rimewatch.Time) {
	if share != u.Own.share {
		k.total(u.WorkspaceID).replace(u, u.Own.counted, share)
	}
	u.Own.sharedAt = now
}

// totals are a workspace's counts, kept up with every commit, and its health,
// which follows within two seconds.
type totals struct {
	counts
	seen  [rimewatch.Conditions]int32 // devices by the condition that people see them in
	fleet health.Fleet
}

// counts are of devices and of active alerts.
type counts struct {
	devices, online   int32
	warning, critical int32
}

// tally are the counts of one device.
type tally struct {
	counts
	condition rimewatch.Condition // as far as presence and alerts say
}

// tallyOf returns the counts of a device with its alerts.
func tallyOf(online bool, alerts []*rimewatch.Alert) tally {
	c := alertCounts(alerts)
	c.devices = 1
	if online {
		c.online = 1
	}
	return tally{c, rimewatch.ConditionOf(online, true, alerts)}
}

func alertCounts(alerts []*rimewatch.Alert) (c counts) {
	for _, a := range alerts {
		if a.Severity == rimewatch.Critical {
			c.critical++
		} else {
			c.warning++
		}
	}
	return c
}

// add counts others, or takes them away.
func (c *counts) add(o counts, sign int32) {
	c.devices += sign * o.devices
	c.online += sign * o.online
	c.warning += sign * o.warning
	c.critical += sign * o.critical
}

// replace replaces a unit's tally, which must be durable, and its contribution. Under the lock.
func (t *totals) replace(u *unit, now tally, share health.Share) {
	t.see(u, -1)
	t.add(u.Own.counted.counts, -1)
	t.add(now.counts, 1)
	t.fleet.Replace(u.Own.share, share)
	u.Own.counted, u.Own.share = now, share
	t.see(u, 1)
}

// see adds the condition of a unit, or takes it away. Presence and alerts count with
// the commit, so that the conditions never say other than the counts do.
func (t *totals) see(u *unit, sign int32) {
	if u.Own.counted.devices == 0 {
		return
	}
	c := u.Own.counted.condition
	if c == rimewatch.ConditionOK && u.Own.share.Unjudged() {
		c = rimewatch.ConditionUnjudged
	}
	t.seen[c] += sign
}

// shareOf returns a unit's contribution to its fleet.
func shareOf(u *unit, state *engine.State, cfg *engine.Config, now rimewatch.Time) health.Share {
	judged := rimewatch.Judged(cfg.Alert.Equipment, &cfg.Health.Limits, state.Health.Newest(), now) && !state.Unit.ZoneFrozen()
	switch {
	case state.Presence.LastSeen == 0 && judged:
		return health.Share{} // nothing to judge by yet
	case state.Presence.LastSeen == 0:
		return health.NewUnjudgedShare(health.Compliance{})
	case judged:
		c := state.Circumstances(cfg, now)
		return health.NewShare(state.Health.Score(&c), state.Health.Compliance(&cfg.Health, now, u.CreatedAt))
	default:
		return health.NewUnjudgedShare(state.Health.Compliance(&cfg.Health, now, u.CreatedAt))
	}
}
