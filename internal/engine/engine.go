package engine

import (
	"cmp"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/alert"
	"github.com/rimewatch/rimewatch/internal/health"
	"github.com/rimewatch/rimewatch/internal/predict"
	"github.com/rimewatch/rimewatch/internal/presence"
	"github.com/rimewatch/rimewatch/internal/unit"
)

// Config is what a device is judged by. It may be shared between devices and is
// never changed: a device is given another one.
type Config struct {
	Alert    alert.Config // and the settings of the unit
	Health   health.Config
	Presence presence.Config

	Offsets          []rimewatch.Offset // correct readings before they are judged
	CalibrationDueAt rimewatch.Time     // 0 = its probes were never calibrated
}

// ConfigOf returns a device's configuration.
func ConfigOf(d *rimewatch.Device) Config {
	e, _ := rimewatch.EquipmentBySlug(d.EquipmentType)
	limits := d.LimitsInForce()
	return Config{
		Alert:    alert.Config{Config: unit.Config{Equipment: e}, Limits: limits, Rules: alert.DefaultRules},
		Health:   health.Config{Limits: limits, Days: health.Days{Grace: e.ShortRunGrace()}},
		Presence: presenceConfig(d, &limits),
		Offsets:  d.Offsets, CalibrationDueAt: d.CalibrationDueAt(),
	}
}

// presenceConfig has silence noticed by when too warm goods would be alerted for, where they
// are.
func presenceConfig(d *rimewatch.Device, l *rimewatch.Limits) presence.Config {
	c := presence.Config{IntervalS: d.HeartbeatIntervalS, OfflineAfterS: cmp.Or(d.OfflineAfterS, l.OfflineAfterS), Habit: d.Habit}
	if l.Any() {
		c.AlarmDelayS = max(1, l.DelayS)
	}
	return c
}

// State is everything that is remembered of one device between inputs. It
// holds no pointers, and a step is taken in place, before the commit: the caller
// rebuilds it from the log when the commit fails.
type State struct {
	Presence presence.State
	Unit     unit.State
	Alert    alert.State
	Health   health.State
	Predict  predict.State
	own
}

// own is what no package beneath the engine remembers.
type own struct {
	Verdicts   Verdicts
	behind     behind
	battery    battery
	Maintained rimewatch.Time `state:"unmoved"` // end of the last maintenance window that is over
}

// reading takes a reading that was newly stored. last marks the device's last
// of those that arrived together.
func (s *State) reading(c *Config, down []presence.Downtime, r *rimewatch.Reading, now rimewatch.Time, last bool, out []alert.Transition) (_ []alert.Transition, over []health.Excursion) {
	imported, _ := r.Flags.Bool(rimewatch.Imported)
	if !imported {
		s.Presence.Seen(down, now)
	}
	if len(c.Offsets) > 0 {
		corrected := *r
		corrected.Correct(c.Offsets)
		r = &corrected
	}
	v, has := r.Value(rimewatch.ProductZoneTemp)
	judged := has && rimewatch.ProductZoneTemp.Plausible(v)
	if imported {
		if judged {
			s.Health.Brought(r.At)
		}
		return out, nil
	}
	if judged {
		if r.At > now { // nothing was measured in the future
			arrived := *r
			arrived.At = now
			over = s.Health.Observe(&c.Health, &arrived)
		} else {
			over = s.Health.Observe(&c.Health, r)
		}
	}
	view := s.view(c)
	out = s.Alert.Arrived(&c.Alert, view, &s.Unit, now, out)
	r = s.placed(r, now, rimewatch.Time(view.OfflineAfter.Milliseconds()))
	var o unit.Observation
	s.Unit.Observe(&c.Alert.Config, r, now, s.Alert.Hold()|s.Predict.Hold(), &o)
	out = s.Alert.Judge(&c.Alert, view, &s.Unit, &o, now, last, out)
	o.Unmet = s.Alert.Unmet()
	if r.At-s.behind.moves() >= s.Health.Newest() { // a late one says nothing about what runs
		s.hint(r)
	}
	return appendPredictions(out, s.Predict.Observe(&s.Unit, &o, now, nil), now), over
}

// placed is the reading at the time at which it is judged: its own, or that plus
// the lag of a clock that runs steadily behind.
func (s *State) placed(r *rimewatch.Reading, now, offlineAfter rimewatch.Time) *rimewatch.Reading {
	was, newest := s.behind.moves(), s.Unit.At()-stray(offlineAfter)
	late := r.At+was < newest
	more := s.behind.observe(now-r.At, now, offlineAfter, s.Unit.Interval(), late)
	// The memory was behind, too, unless it is of a time that a clock so far behind has not reached yet. The newest of
	// what strays may have been a little faster than this one.
	if more > 0 && !late {
		s.moveEvents(more)
	}
	by := s.behind.moves()
	if by == 0 {
		return r
	}
	moved := *r
	moved.At += by
	return &moved
}

// moveEvents moves what judges by event time by so many milliseconds. Health keeps
// the device's own time.
func (s *State) moveEvents(by rimewatch.Time) {
	s.Alert.Move(by, false, true)
	s.Unit.Move(by)
	s.Predict.Move(by)
}

// ZoneBefore is the product temperature that counts, °C, and its recorded_at, while a newer one is
// put aside because the unit cannot have reached it; ok is false otherwise.
func (s *State) ZoneBefore() (v float64, at rimewatch.Time, ok bool) {
	if !unit.Unreached(&s.Unit) {
		return 0, 0, false
	}
	return s.Unit.Last(rimewatch.ProductZoneTemp), s.Unit.ZoneAt() - s.behind.moves(), true
}

// tick does what the passing of time brings.
func (s *State) tick(c *Config, down []presence.Downtime, now rimewatch.Time, out []alert.Transition) []alert.Transition {
	s.Presence.Tick(c.Presence, down, now)
	return s.endMaintenance(c, now, s.Alert.Tick(&c.Alert, s.view(c), &s.Unit, now, out))
}

// Deadline is when a Tick is due, 0 = never.
func (s *State) Deadline(c *Config, down []presence.Downtime) rimewatch.Time {
	at := s.Presence.Deadline(c.Presence, down)
	if due := s.Alert.Deadline(&c.Alert, s.view(c), &s.Unit); due != 0 && (at == 0 || due < at) {
		at = due
	}
	if end := s.maintenanceEnd(c); end != 0 && (at == 0 || end < at) {
		at = end
	}
	return at
}

// SetBack moves all that is remembered when the service's clock is set back by so
// many milliseconds (by < 0) to now: deadlines keep their distance. Event times
// go with it unless the device's own clock has been telling the new time all
// along.
func (s *State) SetBack(by, now rimewatch.Time) {
	ownFormat.Move(&s.own, by) // the lag of a device with a clock of its own has become smaller, as its next reading shows
	events := s.Unit.At()-now > -by/2
	s.Presence.Move(by)
	s.Alert.Move(by, true, false)
	if events {
		s.moveEvents(by)
		s.Health.Move(by)
	}
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
	if lag := s.behind.lag - s.behind.moves(); lag >= rimewatch.Time(p.OfflineAfter.Milliseconds()) {
		p.Lag = lag
	}
	if !p.Online {
		p.OfflineSince = s.Presence.ChangedAt
	}
	return p
}

// Circumstances are what the health score rests on beside the State's memory:
// presence and the active alerts.
func (s *State) Circumstances(cfg *Config, now rimewatch.Time) health.Circumstances {
	c := health.Circumstances{Now: now, Offline: !s.Presence.Online}
	if due := cfg.CalibrationDueAt; due != 0 && due < now {
		c.Severity[health.Calibration] = 1
	}
	for a := range s.Alert.Active(&s.Unit) {
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
	s.addPrediction(&c)
	return c
}

// componentOf returns which part of the score an alert concerns. Predictions come
// with their own confidence; a site's silence is no fault of the device.
func componentOf(t rimewatch.AlertType) (health.Component, bool) {
	switch t {
	case rimewatch.HighTemperature, rimewatch.LowTemperature, rimewatch.SlowRecovery, rimewatch.SlowWarming, rimewatch.NotCooling:
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
