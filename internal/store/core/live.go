package core

import "github.com/rimewatch/rimewatch"

// live is a rimewatch.Live in less memory and without pointers.
type live struct {
	statusAt, seenAt, heartbeatAt rimewatch.Time
	tempAt                        rimewatch.Time // 0 before the first
	interval                      float64        // s between signs of life
	temp                          float64        // newest product-zone temperature by recorded_at, °C

	// The newest reading by recorded_at; at == 0 before the first.
	at, receivedAt  rimewatch.Time
	values          [rimewatch.NumCore]float64
	present, faults rimewatch.Fields
	flags           rimewatch.Flags

	offlineAfter int32 // s
	alerts       int32 // active ones
	online       bool
	frozen       bool
}

// extras are the values that few devices have.
type extras struct {
	optional      []float64 // of the newest reading
	battery, rssi *float64
	uptime        *int64
	low           bool           // its battery, by its own word
	zone          float64        // °C, see rimewatch.Presence
	zoneAt        rimewatch.Time // 0 = none
	// reach is the newest moment that was stored when the clock was set back to
	// before it, 0 = never.
	reach rimewatch.Time
}

func (d *device) latestFuture() rimewatch.Time {
	if d.extras == nil {
		return 0
	}
	return d.extras.reach
}

// latest is the newest reading of a device.
func (d *device) latest() rimewatch.Reading {
	l := &d.live
	r := rimewatch.Reading{At: l.at, ReceivedAt: l.receivedAt, Values: l.values, Present: l.present, Faults: l.faults, Flags: l.flags}
	if d.extras != nil {
		r.Optional = d.extras.optional
	}
	return r
}

// setLatest sets the newest reading.
func (d *device) setLatest(r *rimewatch.Reading) {
	l := &d.live
	l.at, l.receivedAt, l.values, l.present, l.faults, l.flags = r.At, r.ReceivedAt, r.Values, r.Present, r.Faults, r.Flags
	if d.extras != nil || r.Optional != nil {
		d.allocExtras().optional = r.Optional
	}
	if d.block != nil {
		d.block.reported[d.row.ID-d.block.first] = r.At != 0
	}
}

// show sets the device's presence.
func (d *device) show(p *rimewatch.Presence) {
	l := &d.live
	l.online, l.frozen = p.Status == rimewatch.Online, p.Frozen
	l.statusAt, l.seenAt, l.heartbeatAt = p.StatusChangedAt, p.LastSeenAt, p.LastHeartbeatAt
	l.offlineAfter, l.interval = int32(p.OfflineAfterS), p.IntervalS
	if d.extras != nil || p.BatteryLow || p.BatteryPct != nil || p.RSSI != nil || p.UptimeS != nil || p.ZoneTempAt != 0 {
		m := d.allocExtras()
		m.battery, m.rssi, m.uptime, m.low = p.BatteryPct, p.RSSI, p.UptimeS, p.BatteryLow
		m.zone, m.zoneAt = p.ZoneTemp, p.ZoneTempAt
	}
	if d.block != nil {
		d.block.online[d.row.ID-d.block.first] = l.online
	}
}

func (d *device) allocExtras() *extras {
	if d.extras == nil {
		d.extras = new(extras)
	}
	return d.extras
}

// fillLive fills in the device's present state.
func (d *device) fillLive(to *rimewatch.Live) {
	l := &d.live
	*to = rimewatch.Live{
		Presence: rimewatch.Presence{
			Status: rimewatch.Offline, StatusChangedAt: l.statusAt, LastSeenAt: l.seenAt, LastHeartbeatAt: l.heartbeatAt,
			OfflineAfterS: int(l.offlineAfter), IntervalS: l.interval, Frozen: l.frozen,
		},
		Latest: d.latest(), CurrentTemp: l.temp, CurrentTempAt: l.tempAt, ActiveAlerts: int(l.alerts),
	}
	if l.online {
		to.Status = rimewatch.Online
	}
	if m := d.extras; m != nil {
		to.BatteryPct, to.RSSI, to.UptimeS, to.BatteryLow = m.battery, m.rssi, m.uptime, m.low
		to.ZoneTemp, to.ZoneTempAt = m.zone, m.zoneAt
	}
}
