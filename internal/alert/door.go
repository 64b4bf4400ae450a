package alert

import "github.com/rimewatch/rimewatch"

// doorState follows a door that stands open: by the device's own word, or by
// what it does to the unit. A run that does not end, under full load, while the
// zone keeps to a level well above the usual one is an open door; goods that
// came in warm cool down meanwhile, an evaporator fan that stands still takes
// load off the compressor, and a defrost is known by its hour.
type doorState struct {
	since stamp // the zone has kept its level since, or the door is open since
	top   fixed // °C, warmest zone since
	told  bool  // the device says that it is open
}

const (
	doorSure    = 30 * minute // of such a run before a door is suspected
	doorRise    = 1.5         // K above the slow mean of the zone
	doorFall    = 0.8         // K below its warmest: the zone recovers
	doorLoad    = 0.93        // share of the usual running current
	doorDamp    = 5           // %RH above the usual, where the sensor hangs in the zone
	doorRuns    = 3           // times the usual run
	doorLongest = 12 * hour   // a level that lasts longer is a new one
)

// judgeDoor suspects an open door. It never concerns the product: the limits of
// its temperature have alerts of their own.
func (s *State) judgeDoor(x *pass, r *rimewatch.Reading, valid rimewatch.Fields) {
	if x.c.Rules&RuleDoor == 0 || s.zoneAt == 0 {
		return
	}
	d := &s.door
	open, sent := r.Flags.Bool(rimewatch.DoorOpen)
	switch {
	case sent && open && !d.told:
		*d = doorState{since: stampOf(x.e), told: true}
	case sent && !open:
		*d = doorState{}
	case d.told:
	default:
		s.followDoor(x, r, valid)
	}
	if v := s.doorMinutes(); v > 0 || s.pool.track(ruleDoor) != nil {
		s.level(x, ruleDoor, v)
	}
}

// followDoor looks for the signs of an open door.
func (s *State) followDoor(x *pass, r *rimewatch.Reading, valid rimewatch.Fields) {
	d, w := &s.door, &s.run
	zone := s.last[rimewatch.ProductZoneTemp]
	ran := x.e - w.since.time()
	signs := w.known && w.on && w.usualRun > 0 && ran > rimewatch.Time(doorRuns*w.usualRun*float32(minute)) &&
		zone.float() > float64(s.melt.mean)+doorRise && !s.melting(x) && !s.isActive(ruleLowSuction) && x.e-s.melt.ended.time() > 2*hour
	if valid.Has(rimewatch.AmpDraw) && w.source == fromAmps {
		signs = signs && r.Values[rimewatch.AmpDraw] >= doorLoad*float64(w.hi)
	}
	if x.c.HumidityInZone && valid.Has(rimewatch.Humidity) {
		signs = signs && r.Values[rimewatch.Humidity] >= float64(s.damp.mean)+doorDamp
	}
	switch {
	case !signs:
		*d = doorState{}
	case d.since == (stamp{}) || zone.float() < d.top.float()-doorFall || x.e-d.since.time() > doorLongest:
		*d = doorState{since: stampOf(x.e), top: zone}
	default:
		d.top = max(d.top, zone)
	}
}

// doorMinutes is how long a door has been open, or is suspected to be.
func (s *State) doorMinutes() float64 {
	d := &s.door
	if d.since == (stamp{}) {
		return 0
	}
	span := s.at - d.since.time()
	if !d.told && span < doorSure {
		return 0
	}
	return float64(span) / float64(minute)
}

func (d *doorState) code(k *coder) {
	k.stamps(&d.since)
	integer(k, 4, &d.top)
	k.bools(&d.told)
}
