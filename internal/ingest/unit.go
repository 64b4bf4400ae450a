package ingest

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/alert"
	"github.com/rimewatch/rimewatch/internal/deadline"
	"github.com/rimewatch/rimewatch/internal/engine"
	"github.com/rimewatch/rimewatch/internal/health"
	"github.com/rimewatch/rimewatch/internal/presence"
	"github.com/rimewatch/rimewatch/internal/store"
)

// unit is one device as the write path knows it. What the writer goroutine alone
// touches is ahead of what is durable by the groups under way, and is put back
// when one of them is lost.
type unit struct {
	deadline.Entry // of the writer goroutine
	facts

	id          int64
	workspaceID int64
	siteID      int64 // 0 = none
	createdAt   rimewatch.Time
	changedAt   rimewatch.Time // when it came online or went offline; of the writer goroutine
	sharedAt    rimewatch.Time // when its share was made
	share       health.Share   // what it contributes to its fleet
	counted     tally          // what it counts for in its workspace, which is durable
	savedSeq    store.Seq      // of the checkpoint that it was rebuilt from
	dirtySeq    store.Seq      // of the oldest commit behind its checkpoint, 0 = none
	missed      chain          // what its state has to catch up with while it is behind
	slot        int32          // of its state in memory, counted from 1; 0 = it is on the disk alone
	stagedAt    int32          // where in the group, counted from 1
	siteSlot    int32          // its place in its site
	announced   bool           // its shutdown was
	added       bool           // made by the group, not yet among the units
	deleted     bool
	online      bool
	outside     bool // an excursion lasts, or the short times of this day are one
	late        bool // in writer.rejudging, or on its way
	recent      bool // its state was in use since memory.coldest last passed
	needed      bool // its state must stay in memory for the moment
	saving      bool // its checkpoint is being written, and nothing newer is on the disk
	stale       bool // in writer.stale: its share may be older than its state
	lost        bool // its state may be ahead of what is durable
	behind      bool // its state is not what the log says yet: it was not needed since the start
}

// facts are what a group may change of a unit beside its state.
type facts struct {
	cfg    *engine.Config     // shared, never changed
	alerts []*rimewatch.Alert // active ones; rows and the slice are replaced, never changed
	vitals vitals
}

// mirror keeps at hand what sites, lists and lookups ask for of a state.
func (u *unit) mirror(state *engine.State) {
	p := &state.Presence
	u.online, u.changedAt, u.announced = p.Online, p.ChangedAt, p.Announced
	_, lasts := state.Health.Excursion()
	_, day := state.Health.Day()
	u.outside = lasts || day
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
	low           bool // its battery, by its own word
}

func (v *vitals) take(hb *heartbeat) {
	if hb.BatteryPct != nil {
		v.battery = hb.BatteryPct
	}
	if hb.Low != nil {
		v.low = *hb.Low
	}
	if hb.RSSI != nil {
		v.rssi = hb.RSSI
	}
	if hb.UptimeS != nil {
		v.uptime = hb.UptimeS
	}
}

// presenceOf is a state in the words of the API. A learnt interval is rounded to
// what it is known to: it moves a little with every reading, and not each of them
// is news.
func presenceOf(state *engine.State, cfg *engine.Config, v *vitals) rimewatch.Presence {
	p := &state.Presence
	out := rimewatch.Presence{
		Status:          rimewatch.Offline,
		StatusChangedAt: p.ChangedAt,
		LastSeenAt:      p.LastSeen,
		LastHeartbeatAt: p.LastHeartbeat,
		OfflineAfterS:   int(p.OfflineAfter(cfg.Presence).Seconds()),
		IntervalS:       intervalOf(p, cfg).Seconds(),
		BatteryPct:      v.battery,
		BatteryLow:      v.low,
		RSSI:            v.rssi,
		UptimeS:         v.uptime,
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

// shown is what people see of a device's presence, beside when it was last seen:
// that follows from its readings.
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

// heartbeat is the form in which a heartbeat is logged.
type heartbeat struct {
	Offline    bool     `json:"o,omitempty"`
	BatteryPct *float64 `json:"b,omitempty"`
	RSSI       *float64 `json:"r,omitempty"`
	UptimeS    *int64   `json:"u,omitempty"`
	Low        *bool    `json:"l,omitempty"` // its battery, by its own word
	LowPct     int      `json:"p,omitempty"` // level at which batteries of its kind are low
}

func encodeHeartbeat(hb *rimewatch.Heartbeat) []byte {
	if !hb.Offline && hb.BatteryPct == nil && hb.BatteryLow == nil && hb.RSSI == nil && hb.UptimeS == nil {
		return nil
	}
	b, err := encodePayload(heartbeat{hb.Offline, hb.BatteryPct, hb.RSSI, hb.UptimeS, hb.BatteryLow, hb.BatteryLowPct})
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
	Zone         string                    `json:"z,omitempty"` // whose days short times out of range add up by; "" = they do not
	Since        rimewatch.Time            `json:"s,omitempty"` // from which day on
	OnlyThat     bool                      `json:"x,omitempty"` // nothing but Workspace, Windows, Zone and Since has changed
	Limits       *rimewatch.LimitOverrides `json:"l,omitempty"`
	IntervalS    int                       `json:"i,omitempty"`
	OfflineAfter int                       `json:"o,omitempty"`
	Habit        rimewatch.Habit           `json:"h,omitempty"`

	Offsets []rimewatch.Offset         `json:"c,omitempty"`
	Due     []rimewatch.CalibrationDue `json:"d,omitempty"`
}

// encodeConfig returns a device's configuration. The writer goroutine alone calls
// it, and recovery before it.
func (s *Service) encodeConfig(d *rimewatch.Device) []byte {
	c := configuration{
		Workspace: s.settings.limits.of(d.WorkspaceID, d.EquipmentType), Windows: s.settings.windows.of(d.WorkspaceID, d.SiteID, d.ID),
		Type: d.EquipmentType, IntervalS: d.HeartbeatIntervalS, OfflineAfter: d.OfflineAfterS, Habit: d.Habit, Offsets: d.Offsets, Due: d.CalibrationDue,
	}
	c.Zone, c.Since = s.zoneOf(d)
	if !d.Limits.Empty() {
		c.Limits = d.Limits
	}
	return c.encode()
}

// zoneOf is settings.zoneOf of a device, whose site may be newer than the settings.
func (s *Service) zoneOf(d *rimewatch.Device) (zone string, since rimewatch.Time) {
	zone, since = s.settings.zoneOf(d.WorkspaceID, d.SiteID)
	if d.SiteID != 0 && s.settings.zones[d.SiteID] == "" {
		if site, err := s.store.Sites().Get(context.Background(), d.WorkspaceID, d.SiteID); err == nil {
			zone = site.TimeZone
		}
	}
	return zone, since
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
		HeartbeatIntervalS: parsed.IntervalS, OfflineAfterS: parsed.OfflineAfter, Habit: parsed.Habit, Offsets: parsed.Offsets, CalibrationDue: parsed.Due})
	cfg.Health.Excluded = spansOf(parsed.Windows)
	if parsed.Zone != "" {
		cfg.Health.Days.Zone, cfg.Health.Days.Since = rimewatch.ZoneOf(parsed.Zone), parsed.Since
	}
	c.byJSON[string(payload)] = &cfg
	c.json[&cfg] = string(payload)
	return &cfg
}

// after returns the configuration that follows cfg by a logged change.
func (c *configs) after(cfg *engine.Config, payload []byte) *engine.Config {
	c.mu.Lock()
	known := c.byJSON[string(payload)] // none of which is OnlyThat
	c.mu.Unlock()
	if known != nil {
		return known
	}
	var change configuration
	decodePayload(payload, &change)
	if !change.OnlyThat {
		return c.get(payload)
	}
	now := c.parsed(cfg)
	now.Workspace, now.Windows, now.Zone, now.Since = change.Workspace, change.Windows, change.Zone, change.Since
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

// transition turns what the rules say into rows and events. replacement is the id of the prediction that
// replaces another one in this step, 0 = none does.
func (w *writer) transition(st *staged, t *alert.Transition, replacement int64, now rimewatch.Time) {
	i := -1
	for k, row := range st.alerts {
		if row.Type == t.Type && row.Part == t.Part {
			i = k
			break
		}
	}
	if t.Kind == alert.Inhibited || t.Kind == alert.Released {
		w.inhibitWarning(st, i, t.Kind, now)
		return
	}
	row := &rimewatch.Alert{WorkspaceID: st.unit.workspaceID, DeviceID: st.unit.id, Type: t.Type, Part: t.Part, Status: rimewatch.AlertActive, TriggeredAt: now}
	switch {
	case i >= 0:
		copied := *st.alerts[i]
		row = &copied
	case t.Kind != alert.Opened:
		return // its row was resolved by a person in this very group
	case t.Prediction != nil:
		row.ID = replacement
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
	row.Usual, row.Unmet = nil, t.Unmet
	if t.HasUsual {
		usual := t.Usual
		row.Usual = &usual
	}
	if t.HasHold {
		hold := t.HoldHours
		row.HoldH = &hold
	}
	if t.Kind == alert.Resolved {
		row.Status, row.Resolution, row.ResolvedAt = rimewatch.AlertResolved, cmp.Or(t.Resolution, rimewatch.ResolvedAuto), now
		row.Relearning, row.Superseded, row.Ending = t.Relearning, t.Superseded, t.Ending
		if t.Ending == rimewatch.EndedOtherFault {
			row.ReplacedBy = replacement
		}
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
		if row.ID == 0 {
			row.ID = w.s.store.NewAlertID()
		}
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
