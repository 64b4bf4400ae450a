package unit

import (
	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/state"
)

// door follows a door that stands open: by the device's own word, or by what it
// does to the unit. A run that does not end, under full load, while the zone
// keeps to a level well above the usual one is an open door; goods that came in
// warm cool down meanwhile, an evaporator fan that stands still takes load off
// the compressor, and a defrost is known by its hour.
type door struct {
	since state.Stamp // the zone has kept its level since, or the door is open since
	top   state.Fixed // °C, warmest zone since
	heard state.Stamp // when the device last said that it is open; not set: it said so in a message of its own, which holds until the next
	told  bool        // the device says that it is open
}

const (
	doorSure    = 30 * minute // of such a run before a door is suspected
	doorRise    = 1.5         // K above the slow mean of the zone
	doorFall    = 0.8         // K below its warmest: the zone recovers
	doorLoad    = 0.93        // share of the usual running current
	doorDamp    = 5           // %RH above the usual, where the sensor hangs in the zone
	doorRuns    = 3           // times the usual run
	doorLongest = 12 * hour   // a level that lasts longer is a new one
	doorSilence = 30 * minute // after which a device that says no more of its door is not believed
)

func (s *State) followDoor(c *Config, o *Observation, hold Hold) {
	d := &s.door
	open, sent := o.Reading.Flags.Bool(rimewatch.DoorOpen)
	heard := state.StampOf(o.At)
	if o.Reading.Present|o.Reading.Faults == 0 {
		heard = state.Stamp{}
	}
	switch {
	case sent && open && !d.told:
		*d = door{since: state.StampOf(o.At), heard: heard, told: true}
	case sent && open:
		d.heard = heard
	case sent:
		*d = door{}
	case s.zoneAt == 0, d.told && (!d.heard.Set() || o.At-d.heard.Time() < doorSilence):
	case d.told: // some devices send the flag only while it is set
		*d = door{}
	default:
		s.suspectDoor(c, o, hold)
	}
}

// suspectDoor looks for the signs of an open door.
func (s *State) suspectDoor(c *Config, o *Observation, hold Hold) {
	d, w := &s.door, &s.running
	zone := s.last[rimewatch.ProductZoneTemp]
	ran, usual := o.At-w.since.Time(), s.cycles.usualRun
	signs := s.Running() && usual > 0 && ran > rimewatch.Time(doorRuns*usual*float32(minute)) && hold&HoldDoor == 0 &&
		zone.Float() > float64(s.humps.mid)+doorRise && !s.MaySeemDefrosting(o.At) && o.At-s.defrost.ended.Time() > 2*hour
	if o.Valid.Has(rimewatch.AmpDraw) && w.source == fromAmps {
		signs = signs && o.Reading.Values[rimewatch.AmpDraw] >= doorLoad*float64(w.hi)
	}
	if c.HumidityInZone && o.Valid.Has(rimewatch.Humidity) {
		signs = signs && o.Reading.Values[rimewatch.Humidity] >= float64(s.humid.mean)+doorDamp
	}
	switch {
	case !signs:
		*d = door{}
	case !d.since.Set() || zone.Float() < d.top.Float()-doorFall || o.At-d.since.Time() > doorLongest:
		*d = door{since: state.StampOf(o.At), top: zone}
	default:
		d.top = max(d.top, zone)
	}
}

// DoorMinutes is how long a door has been open, or is suspected to be.
func (s *State) DoorMinutes() float64 {
	d := &s.door
	if !d.since.Set() {
		return 0
	}
	span := s.at - d.since.Time()
	if !d.told && span < doorSure {
		return 0
	}
	return float64(span) / float64(minute)
}

// DoorReported reports whether the device itself says that its door is open.
func (s *State) DoorReported() bool { return s.door.told }
