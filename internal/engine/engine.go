package engine

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/alert"
	"github.com/rimewatch/rimewatch/internal/health"
	"github.com/rimewatch/rimewatch/internal/predict"
	"github.com/rimewatch/rimewatch/internal/presence"
)

// Config is what a device is judged by. It may be shared between devices and is
// never changed: a device is given another one.
type Config struct {
	Alert    alert.Config
	Health   health.Config
	Presence presence.Config
	Predict  predict.Config

	Offsets          []rimewatch.Offset // correct readings before they are judged
	CalibrationDueAt rimewatch.Time     // 0 = its probes were never calibrated
}

// ConfigOf gives a device's configuration.
func ConfigOf(d *rimewatch.Device) Config {
	e, _ := rimewatch.EquipmentBySlug(d.EquipmentType)
	limits := d.LimitsInForce()
	return Config{
		Alert:    alert.Config{Equipment: e, Limits: limits, Rules: alert.DefaultRules},
		Health:   health.Config{Limits: limits},
		Presence: presence.Config{IntervalS: d.HeartbeatIntervalS, OfflineAfterS: d.OfflineAfterS},
		Predict:  predict.Config{Equipment: e},
		Offsets:  d.Offsets, CalibrationDueAt: d.CalibrationDueAt(),
	}
}

// State is everything that is remembered of one device between inputs. It
// holds no pointers: a step is taken on a copy that replaces it after the
// commit.
type State struct {
	Presence presence.State
	Alert    alert.State
	Health   health.State
	Predict  predict.State
	Verdicts Verdicts

	Maintained rimewatch.Time // end of the last maintenance window that is over
}

// reading takes a reading that was newly stored. last marks the device's last
// of those that arrived together.
func (s *State) reading(c *Config, r *rimewatch.Reading, now rimewatch.Time, last bool, out []alert.Transition) (_ []alert.Transition, over health.Excursion) {
	s.Presence.Seen(now)
	if len(c.Offsets) > 0 {
		corrected := *r
		corrected.Correct(c.Offsets)
		r = &corrected
	}
	if v, has := r.Value(rimewatch.ProductZoneTemp); has && rimewatch.ProductZoneTemp.Plausible(v) {
		over, _ = s.Health.Observe(&c.Health, r)
	}
	out = s.Alert.ObserveNext(&c.Alert, s.view(c), r, now, last, out)
	if r.At >= s.Health.Newest() { // a late one says nothing about what runs
		s.hint(r)
	}
	return s.foresee(c, r, now, out), over
}

// tick does what the passing of time brings.
func (s *State) tick(c *Config, down []presence.Downtime, now rimewatch.Time, out []alert.Transition) []alert.Transition {
	s.Presence.Tick(c.Presence, down, now)
	return s.endMaintenance(c, now, s.Alert.Tick(&c.Alert, s.view(c), now, out))
}

// Deadline is when a Tick is due, 0 = never.
func (s *State) Deadline(c *Config, down []presence.Downtime) rimewatch.Time {
	at := s.Presence.Deadline(c.Presence, down)
	if due := s.Alert.Deadline(&c.Alert, s.view(c)); due != 0 && (at == 0 || due < at) {
		at = due
	}
	if end := s.maintenanceEnd(c); end != 0 && (at == 0 || end < at) {
		at = end
	}
	return at
}

// view is presence in the words of the rules.
func (s *State) view(c *Config) alert.Presence {
	p := alert.Presence{
		Online:       s.Presence.Online,
		OfflineAfter: s.Presence.OfflineAfter(c.Presence),
		LastSeen:     s.Presence.LastSeen,
		Announced:    s.Presence.Announced,
		NeverSeen:    s.Presence.LastSeen == 0,
	}
	if !p.Online {
		p.OfflineSince = s.Presence.ChangedAt
	}
	return p
}

const stateVersion = 3

// AppendBinary appends the state for a checkpoint.
func (s *State) AppendBinary(b []byte) []byte {
	b = append(b, stateVersion)
	b = s.Presence.AppendBinary(b)
	b = s.Health.AppendBinary(b)
	b = s.Predict.AppendBinary(b)
	b = s.Verdicts.appendBinary(b)
	b = binary.AppendVarint(b, int64(s.Maintained))
	return s.Alert.AppendBinary(b)
}

// UnmarshalBinary reads what AppendBinary wrote.
func (s *State) UnmarshalBinary(b []byte) error {
	if len(b) == 0 || b[0] != stateVersion {
		return errors.New("engine: unknown version of state")
	}
	rest, err := s.Presence.DecodeBinary(b[1:])
	if err != nil {
		return fmt.Errorf("engine: %w", err)
	}
	if rest, err = s.Health.DecodeBinary(rest); err != nil {
		return fmt.Errorf("engine: %w", err)
	}
	if rest, err = s.Predict.DecodeBinary(rest); err != nil {
		return fmt.Errorf("engine: %w", err)
	}
	if rest, err = s.Verdicts.decodeBinary(rest); err != nil {
		return err
	}
	at, n := binary.Varint(rest)
	if n <= 0 {
		return errors.New("engine: damaged state")
	}
	s.Maintained, rest = rimewatch.Time(at), rest[n:]
	if err := s.Alert.UnmarshalBinary(rest); err != nil {
		return fmt.Errorf("engine: %w", err)
	}
	return nil
}

// Circumstances are what the health score rests on beside the State's memory:
// presence and the active alerts.
func (s *State) Circumstances(cfg *Config, now rimewatch.Time) health.Circumstances {
	c := health.Circumstances{Now: now, Offline: !s.Presence.Online}
	if due := cfg.CalibrationDueAt; due != 0 && due < now {
		c.Severity[health.Calibration] = 1
	}
	for a := range s.Alert.Active {
		severity := 0.5
		if a.Severity == rimewatch.Critical {
			severity, c.OpenCritical = 1, true
		} else {
			c.OpenWarning = true
		}
		if k, ok := componentOf(a.Type); ok {
			c.Severity[k] = max(c.Severity[k], severity)
		}
	}
	s.foretell(&c)
	return c
}

// componentOf says which part of the score an alert speaks of. Predictions come
// with their own confidence; a site's silence is no fault of the device.
func componentOf(t rimewatch.AlertType) (health.Component, bool) {
	switch t {
	case rimewatch.HighTemperature, rimewatch.LowTemperature, rimewatch.SlowRecovery:
		return health.Temperature, true
	case rimewatch.HighDischargeTemperature, rimewatch.LowDischargeTemperature,
		rimewatch.HighSuctionTemperature, rimewatch.LowSuctionTemperature:
		return health.DischargeSuction, true
	case rimewatch.LowVoltage, rimewatch.HighVoltage, rimewatch.HighAmpDraw, rimewatch.LowAmpDraw,
		rimewatch.PowerLoss, rimewatch.CompressorStartFailure:
		return health.Electrical, true
	case rimewatch.HighVibration:
		return health.Vibration, true
	case rimewatch.ShortCycling, rimewatch.ExcessiveRunTime:
		return health.Cycling, true
	case rimewatch.SensorFault:
		return health.SensorFault, true
	case rimewatch.DeviceOffline, rimewatch.SensorStale:
		return health.DataFreshness, true
	default:
		return 0, false
	}
}
