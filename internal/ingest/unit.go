package ingest

import (
	"cmp"
	"slices"
	"sync"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/alert"
	"github.com/rimewatch/rimewatch/internal/deadline"
	"github.com/rimewatch/rimewatch/internal/engine"
	"github.com/rimewatch/rimewatch/internal/health"
	"github.com/rimewatch/rimewatch/internal/store"
)

// unit is one device as the write path knows it.
type unit struct {
	deadline.Entry // of the writer goroutine

	id          int64
	workspaceID int64
	name        string         // for the sentences of alerts
	cfg         *engine.Config // shared, replaced with the state
	state       *engine.State  // nil while it is packed
	packed      []byte
	alerts      []*rimewatch.Alert // active ones; rows are replaced, never changed
	vitals      vitals
	createdAt   rimewatch.Time
	share       health.Share   // what it contributes to its fleet
	dirtySeq    store.Seq      // of the oldest commit behind its checkpoint, 0 = none
	slot        int32          // its place in the group, counted from 1
	pending     int32          // accepted readings of the group not yet stepped
	siteID      int64          // 0 = none; of the writer goroutine
	changedAt   rimewatch.Time // when it came online or went offline; likewise
	siteSlot    int32          // its place in its site
	announced   bool           // its shutdown was
	added       bool           // made by the group, not yet among the units
	deleted     bool
	online      bool
	outside     bool // an excursion lasts
	recent      bool // its state was in use since the memory's hand last passed
	stale       bool // its share is older than its state
}

// dirtyUnit is a unit that wants a checkpoint. It is stale when the unit's dirtySeq
// is another.
type dirtyUnit struct {
	unit   *unit
	seq    store.Seq
	since  rimewatch.Time
	inputs int64
}

// vitals are what heartbeats report of a device itself.
type vitals struct {
	battery, rssi *float64
	uptime        *int64
}

func (v *vitals) take(hb *heartbeat) {
	if hb.BatteryPct != nil {
		v.battery = hb.BatteryPct
	}
	if hb.RSSI != nil {
		v.rssi = hb.RSSI
	}
	if hb.UptimeS != nil {
		v.uptime = hb.UptimeS
	}
}

// presence is the unit's state in the words of the API.
func (st *staged) presence() rimewatch.Presence { return presenceOf(st.state, st.cfg, &st.vitals) }

func presenceOf(state *engine.State, cfg *engine.Config, v *vitals) rimewatch.Presence {
	p := &state.Presence
	out := rimewatch.Presence{
		Status:          rimewatch.Offline,
		StatusChangedAt: p.ChangedAt,
		LastSeenAt:      p.LastSeen,
		LastHeartbeatAt: p.LastHeartbeat,
		OfflineAfterS:   int(p.OfflineAfter(cfg.Presence).Seconds()),
		IntervalS:       p.Interval(cfg.Presence).Seconds(),
		BatteryPct:      v.battery,
		RSSI:            v.rssi,
		UptimeS:         v.uptime,
	}
	if p.Online {
		out.Status = rimewatch.Online
	}
	return out
}

// heartbeat is the form in which a heartbeat is logged.
type heartbeat struct {
	Offline    bool     `json:"o,omitempty"`
	BatteryPct *float64 `json:"b,omitempty"`
	RSSI       *float64 `json:"r,omitempty"`
	UptimeS    *int64   `json:"u,omitempty"`
}

func encodeHeartbeat(hb *rimewatch.Heartbeat) []byte {
	if !hb.Offline && hb.BatteryPct == nil && hb.RSSI == nil && hb.UptimeS == nil {
		return nil
	}
	b, err := encodePayload(heartbeat{hb.Offline, hb.BatteryPct, hb.RSSI, hb.UptimeS})
	if err != nil {
		return nil
	}
	return b
}

func decodeHeartbeat(b []byte) (hb heartbeat) {
	decodePayload(b, &hb)
	return hb
}

// configuration is what the log and the checkpoints keep of a device, so that
// a replay judges by the limits of the time.
type configuration struct {
	Type         string                    `json:"t,omitempty"`
	Workspace    *rimewatch.LimitOverrides `json:"w,omitempty"` // of the workspace for the type
	Windows      []window                  `json:"m,omitempty"` // of maintenance
	OnlyThat     bool                      `json:"x,omitempty"` // nothing but Workspace and Windows has changed
	Limits       *rimewatch.LimitOverrides `json:"l,omitempty"`
	IntervalS    int                       `json:"i,omitempty"`
	OfflineAfter int                       `json:"o,omitempty"`

	Offsets []rimewatch.Offset         `json:"c,omitempty"`
	Due     []rimewatch.CalibrationDue `json:"d,omitempty"`
}

// encodeConfig gives a device's configuration. The writer goroutine alone calls
// it, and recovery before it.
func (s *Service) encodeConfig(d *rimewatch.Device) []byte {
	c := configuration{
		Workspace: s.settings.limits.of(d.WorkspaceID, d.EquipmentType), Windows: s.settings.windows.of(d.WorkspaceID, d.SiteID, d.ID),
		Type: d.EquipmentType, IntervalS: d.HeartbeatIntervalS, OfflineAfter: d.OfflineAfterS, Offsets: d.Offsets, Due: d.CalibrationDue,
	}
	if !d.Limits.Empty() {
		c.Limits = d.Limits
	}
	return c.encode()
}

func (c *configuration) encode() []byte {
	b, err := encodePayload(c)
	if err != nil {
		return nil
	}
	return b
}

// configs shares equal configurations between devices.
type configs struct {
	mu     sync.Mutex
	byJSON map[string]*engine.Config
	json   map[*engine.Config]string
}

func (c *configs) init() {
	c.byJSON = make(map[string]*engine.Config)
	c.json = make(map[*engine.Config]string)
}

func (c *configs) get(payload []byte) *engine.Config {
	c.mu.Lock()
	defer c.mu.Unlock()
	if cfg := c.byJSON[string(payload)]; cfg != nil {
		return cfg
	}
	var parsed configuration
	decodePayload(payload, &parsed)
	cfg := engine.ConfigOf(&rimewatch.Device{EquipmentType: parsed.Type, Limits: parsed.Limits, WorkspaceLimits: parsed.Workspace,
		HeartbeatIntervalS: parsed.IntervalS, OfflineAfterS: parsed.OfflineAfter, Offsets: parsed.Offsets, CalibrationDue: parsed.Due})
	cfg.Health.Excluded = spansOf(parsed.Windows)
	c.byJSON[string(payload)] = &cfg
	c.json[&cfg] = string(payload)
	return &cfg
}

// after gives the configuration that follows cfg by a logged change.
func (c *configs) after(cfg *engine.Config, payload []byte) *engine.Config {
	var change configuration
	decodePayload(payload, &change)
	if !change.OnlyThat {
		return c.get(payload)
	}
	now := c.parsed(cfg)
	now.Workspace, now.Windows = change.Workspace, change.Windows
	return c.get(now.encode())
}

func (c *configs) parsed(cfg *engine.Config) (out configuration) {
	decodePayload([]byte(c.payload(cfg)), &out)
	return out
}

func (c *configs) payload(cfg *engine.Config) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.json[cfg]
}

// transition turns what the rules say into rows and events.
func (w *writer) transition(st *staged, t *alert.Transition, now rimewatch.Time) {
	i := -1
	for k, row := range st.alerts {
		if row.Type == t.Type {
			i = k
			break
		}
	}
	if t.Kind == alert.Inhibited || t.Kind == alert.Released {
		w.inhibitWarning(st, i, t.Kind, now)
		return
	}
	row := &rimewatch.Alert{WorkspaceID: st.unit.workspaceID, DeviceID: st.unit.id, Type: t.Type, Status: rimewatch.AlertActive, TriggeredAt: now}
	if i >= 0 {
		copied := *st.alerts[i]
		row = &copied
	} else if t.Kind != alert.Opened {
		return // its row was resolved by a person in this very group
	}
	row.Severity, row.ConditionStartedAt, row.LastEvaluatedAt = t.Severity, t.ConditionStartedAt, now
	row.Metric, row.Unit, row.Flapping, row.Occurrences = t.Metric, t.Unit, t.Flapping, t.Occurrences
	if t.HasValue {
		value, peak := t.Value, t.Peak
		row.Value, row.PeakValue = &value, &peak
	}
	if t.HasThreshold {
		threshold := t.Threshold
		row.Threshold = &threshold
	}
	if t.HasHold {
		hold := t.HoldHours
		row.HoldH = &hold
	}
	if t.Kind == alert.Resolved {
		row.Status, row.Resolution, row.ResolvedAt = rimewatch.AlertResolved, cmp.Or(t.Resolution, rimewatch.ResolvedAuto), now
		row.Relearning = t.Relearning
	} else {
		row.Prediction = t.Prediction
		if i >= 0 {
			keepCommonMode(st.alerts[i], row)
		}
	}
	w.putAlert(st.unit.alerts, &st.alerts, i, row)
	w.group.tell(timelineKinds[t.Kind], row, now, "", "")
	w.group.events.Alerts = append(w.group.events.Alerts, alertEvent(t.Kind, row))
}

// inhibitWarning notes that the device's prediction inhibits its i-th alert, or
// does no longer.
func (w *writer) inhibitWarning(st *staged, i int, kind alert.Kind, now rimewatch.Time) {
	var by *rimewatch.Alert
	for _, row := range st.alerts {
		if row.Prediction != nil && kind == alert.Inhibited {
			by = row
		}
	}
	if i >= 0 && !inhibitedBy(st.alerts[i], by) {
		w.inhibit(st, i, by, now)
	}
}

// putAlert places a changed row among the staged alerts of a unit or site, whose
// i-th it is (-1 = a new one), and among the effects. committed are those from
// before the group.
func (w *writer) putAlert(committed []*rimewatch.Alert, alerts *[]*rimewatch.Alert, i int, row *rimewatch.Alert) {
	// The slice may still be the committed one: it is copied before it changes.
	list := append(make([]*rimewatch.Alert, 0, len(*alerts)+1), *alerts...)
	var old *rimewatch.Alert
	switch {
	case i < 0:
		row.ID = w.store.NewAlertID()
		list = append(list, row)
	case row.Status != rimewatch.AlertActive:
		old = list[i]
		list = append(list[:i], list[i+1:]...)
	default:
		old = list[i]
		list[i] = row
	}
	*alerts = list
	effects := &w.group.result
	if old == nil || slices.Contains(committed, old) {
		effects.Alerts = append(effects.Alerts, row)
		return
	}
	// The row changes for the second time in this group.
	effects.Alerts[slices.Index(effects.Alerts, old)] = row
	w.group.events.Replace(old, row)
}
