package ingest

import (
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/engine"
	"github.com/rimewatch/rimewatch/internal/fleet"
	"github.com/rimewatch/rimewatch/internal/presence"
)

// presenceOf returns a state in the words of the API. A learnt interval is rounded to its
// precision: it moves a little with every reading, and not each of these moves is news.
func presenceOf(state *engine.State, cfg *engine.Config, v *fleet.Vitals) rimewatch.Presence {
	p := &state.Presence
	out := rimewatch.Presence{
		Status:          rimewatch.Offline,
		StatusChangedAt: p.ChangedAt,
		LastSeenAt:      p.LastSeen,
		LastHeartbeatAt: p.LastHeartbeat,
		OfflineAfterS:   int(p.OfflineAfter(cfg.Presence).Seconds()),
		IntervalS:       intervalOf(p, cfg).Seconds(),
		BatteryPct:      v.Battery,
		BatteryLow:      v.Low,
		RSSI:            v.RSSI,
		UptimeS:         v.Uptime,
		Frozen:          state.Unit.ZoneFrozen(),
	}
	if v, at, aside := state.ZoneBefore(); aside {
		out.ZoneTemp, out.ZoneTempAt = v, at
	}
	if p.Online {
		out.Status = rimewatch.Online
	}
	return out
}

// intervalOf returns the time between signs of life, a learnt one of a minute and
// more in seconds, a shorter one in tenths.
func intervalOf(p *presence.State, cfg *engine.Config) time.Duration {
	d := p.Interval(cfg.Presence)
	if d >= 59*time.Second {
		return d.Round(time.Second)
	}
	return d.Round(time.Second / 10)
}

// shown is the part of a device's presence that people see, except when it was last seen, which
// follows from its readings.
type shown struct {
	changedAt, heartbeatAt rimewatch.Time
	offlineAfter, interval time.Duration
	online, announced      bool
	frozen, aside          bool
}

func shownOf(state *engine.State, cfg *engine.Config) shown {
	p := &state.Presence
	_, _, aside := state.ZoneBefore()
	return shown{
		changedAt: p.ChangedAt, heartbeatAt: p.LastHeartbeat, online: p.Online, announced: p.Announced,
		offlineAfter: p.OfflineAfter(cfg.Presence).Truncate(time.Second), interval: intervalOf(p, cfg),
		frozen: state.Unit.ZoneFrozen(), aside: aside,
	}
}
