package engine

import (
	"errors"
	"fmt"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/alert"
	"github.com/rimewatch/rimewatch/internal/presence"
)

// Config is what a device is judged by. It may be shared between devices and is
// never changed: a device is given another one.
type Config struct {
	Alert    alert.Config
	Presence presence.Config
}

// ConfigOf gives a device's configuration.
func ConfigOf(d *rimewatch.Device) Config {
	e, _ := rimewatch.EquipmentBySlug(d.EquipmentType)
	return Config{
		Alert:    alert.Config{Equipment: e, Limits: d.Limits.Apply(e.Limits)},
		Presence: presence.Config{IntervalS: d.HeartbeatIntervalS, OfflineAfterS: d.OfflineAfterS},
	}
}

// State is everything that is remembered of one device between inputs. It
// holds no pointers: a step is taken on a copy that replaces it after the
// commit.
type State struct {
	Presence presence.State
	Alert    alert.State
}

// Site is what holds for all devices of a node.
type Site struct {
	Downtimes []presence.Downtime // oldest first
}

// Reading takes a reading that was newly stored. last marks the device's last
// of those that arrived together.
func (s *State) Reading(c *Config, site *Site, r *rimewatch.Reading, now rimewatch.Time, last bool, out []alert.Transition) []alert.Transition {
	s.Presence.Seen(now)
	return s.Alert.ObserveNext(&c.Alert, s.view(c), r, now, last, out)
}

// Heartbeat takes a heartbeat.
func (s *State) Heartbeat(c *Config, site *Site, shutdown bool, now rimewatch.Time, out []alert.Transition) []alert.Transition {
	s.Presence.Heartbeat(now, shutdown)
	return s.Alert.Tick(&c.Alert, s.view(c), now, out)
}

// Tick does what the passing of time brings. The downtimes are those that were
// known at now.
func (s *State) Tick(c *Config, site *Site, now rimewatch.Time, out []alert.Transition) []alert.Transition {
	s.Presence.Tick(c.Presence, site.Downtimes, now)
	return s.Alert.Tick(&c.Alert, s.view(c), now, out)
}

// Deadline is when Tick must be called next, 0 = never.
func (s *State) Deadline(c *Config, site *Site) rimewatch.Time {
	at := s.Presence.Deadline(c.Presence, site.Downtimes)
	if due := s.Alert.Deadline(&c.Alert, s.view(c)); due != 0 && (at == 0 || due < at) {
		at = due
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

const stateVersion = 1

// AppendBinary appends the state for a checkpoint.
func (s *State) AppendBinary(b []byte) []byte {
	b = append(b, stateVersion)
	b = s.Presence.AppendBinary(b)
	return s.Alert.AppendBinary(b)
}

// UnmarshalBinary reads what AppendBinary wrote.
func (s *State) UnmarshalBinary(b []byte) error {
	if len(b) == 0 || b[0] != stateVersion {
		return errors.New("engine: unknown version of state")
	}
	rest, err := s.Presence.DecodeBinary(b[1:])
	if err != nil {
		return err
	}
	if err := s.Alert.UnmarshalBinary(rest); err != nil {
		return fmt.Errorf("engine: %w", err)
	}
	return nil
}
