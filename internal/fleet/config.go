package fleet

import (
	"sync"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/engine"
	"github.com/rimewatch/rimewatch/internal/health"
)

// Configuration is the form of a device's settings in the log and the checkpoints, so that
// a replay judges by the limits of the time.
type Configuration struct {
	Type         string                    `json:"t,omitempty"`
	Workspace    *rimewatch.LimitOverrides `json:"w,omitempty"` // of the workspace for the type
	Windows      []Window                  `json:"m,omitempty"` // of maintenance
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

// Encode returns the form in which it is logged.
func (c *Configuration) Encode() []byte {
	b, err := encodePayload(c)
	if err != nil {
		return nil
	}
	return b
}

// Configs shares equal configurations between devices.
type Configs struct {
	mu     sync.Mutex
	byJSON map[string]*engine.Config
	json   map[*engine.Config]string
}

func (c *Configs) init() {
	c.byJSON = make(map[string]*engine.Config)
	c.json = make(map[*engine.Config]string)
}

// Get returns the configuration that a payload, which is not OnlyThat, holds.
func (c *Configs) Get(payload []byte) *engine.Config {
	c.mu.Lock()
	defer c.mu.Unlock()
	if cfg := c.byJSON[string(payload)]; cfg != nil {
		return cfg
	}
	var parsed Configuration
	decodePayload(payload, &parsed)
	cfg := engine.ConfigOf(&rimewatch.Device{EquipmentType: parsed.Type, Limits: parsed.Limits, WorkspaceLimits: parsed.Workspace,
		HeartbeatIntervalS: parsed.IntervalS, OfflineAfterS: parsed.OfflineAfter, Habit: parsed.Habit, Offsets: parsed.Offsets, CalibrationDue: parsed.Due})
	cfg.Health.Excluded = Spans(parsed.Windows)
	if parsed.Zone != "" {
		cfg.Health.Days.Zone, cfg.Health.Days.Since = rimewatch.ZoneOf(parsed.Zone), parsed.Since
	}
	c.byJSON[string(payload)] = &cfg
	c.json[&cfg] = string(payload)
	return &cfg
}

// after returns the configuration that follows cfg by a logged change.
func (c *Configs) after(cfg *engine.Config, payload []byte) *engine.Config {
	c.mu.Lock()
	known := c.byJSON[string(payload)] // none of which is OnlyThat
	c.mu.Unlock()
	if known != nil {
		return known
	}
	var change Configuration
	decodePayload(payload, &change)
	if !change.OnlyThat {
		return c.Get(payload)
	}
	now := c.Parsed(cfg)
	now.Workspace, now.Windows, now.Zone, now.Since = change.Workspace, change.Windows, change.Zone, change.Since
	return c.Get(now.Encode())
}

// Parsed returns the Configuration that a configuration was made of.
func (c *Configs) Parsed(cfg *engine.Config) (out Configuration) {
	decodePayload([]byte(c.payload(cfg)), &out)
	return out
}

func (c *Configs) payload(cfg *engine.Config) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.json[cfg]
}

// Window is the time [From, To) in ms since the epoch.
type Window [2]int64

// Spans are windows as health takes them.
func Spans(list []Window) []health.Span {
	out := make([]health.Span, 0, len(list))
	for _, w := range list {
		out = append(out, health.Span{From: rimewatch.Time(w[0]), To: rimewatch.Time(w[1])})
	}
	return out
}
