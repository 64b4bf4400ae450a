package unit

import (
	"math"
	"slices"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/state"
)

const (
	second = rimewatch.Second
	minute = rimewatch.Minute
	hour   = rimewatch.Hour
)

// Config is the settings of a device. It may be shared between
// devices and is never changed.
type Config struct {
	Equipment      *rimewatch.Equipment // nil is treated as a type without habits
	NominalVoltage float64              // V; 0 = learn it
	HumidityInZone bool                 // the humidity sensor hangs in the zone, not at the condenser
}

// noHabit is that of a type that never defrosts.
var noHabit = rimewatch.Defrost{Kind: rimewatch.DefrostNone}

func (c *Config) habit() *rimewatch.Defrost {
	if c.Equipment == nil {
		return &noHabit
	}
	return &c.Equipment.Defrost
}

// State is what has been learnt of one device. The zero value is a device of
// which nothing is known. It holds no pointers: a copy is a snapshot.
type State struct {
	timing
	last   [rimewatch.NumCore]state.Fixed
	broken rimewatch.Fields

	unreached unreached
	stuck     stuck
	coming
	calm
	running
	cycles
	phases
	defrost
	humps  humps
	door   door
	supply supply
	places
	baseline

	hourEnd rimewatch.Time `state:"unmoved"` // of the hour that is being gathered
	winEnd  rimewatch.Time `state:"unmoved"` // of the six hours
	hour    hourly
	window  window
}

// baseline is what the unit's hours usually show, and how far they depart from
// it.
type baseline struct {
	model  model
	drifts [NumChannels]drift
	doubts
	resettling bool     // the thermostat was set anew
	lone       bool     // nothing but the current is measured
	shares     [4]uint8 // % running of the last four windows + 1; 0 = unknown
}

// Observation is what one reading shows.
type Observation struct {
	Reading  *rimewatch.Reading // corrected; not to be kept
	At       rimewatch.Time     // event time: when it was measured, never after its arrival
	Gap      rimewatch.Time     // since the reading before, 0 for the first
	Valid    rimewatch.Fields   // measurements that count
	Moved    rimewatch.Fields   // plausible measurements that are not the very number that counted last; the first of all is no other
	Sane     rimewatch.Fields   // measurements that are plausible by themselves and those that contradict others, without a zone or an ambient temperature that is doubted
	Warm     bool               // the compressor has run long enough to be judged
	AirLeapt bool               // the ambient differs so much from the reading before that nothing can be compared by it
	Late     bool               // not newer than the newest: nothing was learnt of it

	Tripped     bool // a run ended without result
	FailedStart bool
	WindowEnded bool                           // six hours were concluded before this reading
	DayEnded    bool                           // likewise a day
	Shown       Channels                       // in which they showed something new
	plain       rimewatch.Fields               // measurements that are plausible by themselves, those that are doubted included
	fixed       [rimewatch.NumCore]state.Fixed // of the measurements in plain, and of a zone that is put aside
	unreached   bool                           // the zone is put aside
	suspected   bool                           // the unit is, as HoldBaseline says

	// Unmet says that the unit does not do what it is for, as the rules have found of this
	// reading: nothing that is seen of its machine is an end of what ails it.
	Unmet bool

	Relearnt bool // learning began anew before this reading: the silence was long
}

// Value returns a measurement; ok is false where it is absent or implausible by
// itself.
func (o *Observation) Value(f rimewatch.Field) (v float64, ok bool) {
	return o.Reading.Values[f], o.Sane.Has(f)
}

// Hold is what must not be learned at present, since open alerts speak against
// its being normal.
type Hold uint8

// What can be held.
const (
	HoldBaseline Hold = 1 << iota // the unit is suspected to be failing
	HoldCycles                    // it starts too often
	HoldDoor                      // its warmth has another known cause than a door
)

// reasons are why a unit is learnt again, as numbers for the state; the first is
// a unit of which nothing was known.
var reasons = [...]rimewatch.Relearning{"", rimewatch.RelearnMaintenance, rimewatch.RelearnFixed, rimewatch.RelearnFalseAlarm, rimewatch.RelearnSilence, rimewatch.RelearnNormal}

// silentFor is a silence after which a unit may have been serviced, moved or
// replaced.
const silentFor = 14 * rimewatch.Day

// moveFor is a silence in which a unit may be moved to another place.
const moveFor = hour

// movedAway reports whether it is by so much warmer or colder around a unit that was not
// heard of for a while than it ever was there, that it must stand at another place: what
// is usual there is learnt before it is judged.
func movedAway(s *State, r *rimewatch.Reading) bool {
	air, sent := r.Value(rimewatch.AmbientTemp)
	usual, spread, known := s.UsualAmbient()
	return sent && known && rimewatch.AmbientTemp.Plausible(air) && math.Abs(air-usual) > max(moveLeast, moveSpreads*spread)
}

const (
	moveLeast   = 6.0 // K
	moveSpreads = 3.5 // mean absolute deviations
)

// Observe takes a reading that arrived at now. One that is not newer than the
// newest seen changes nothing.
func (s *State) Observe(c *Config, r *rimewatch.Reading, now rimewatch.Time, hold Hold, o *Observation) {
	// A clock that runs ahead, by at most the five minutes that are accepted,
	// counts by arrival: nothing can have begun in the future.
	*o = Observation{Reading: r, At: min(r.At, now), suspected: hold&HoldBaseline != 0}
	if r.At <= s.newest && o.At <= s.at { // the newest may have come from a clock that is ahead
		o.Late = true
		return
	}
	s.newest = max(s.newest, r.At)
	if s.at != 0 {
		o.Gap = max(0, o.At-s.at)
		if o.Gap > silentFor {
			s.Relearn(rimewatch.RelearnSilence, o.At)
			o.Relearnt = true
		} else if o.Gap > moveFor && movedAway(s, r) {
			s.phases.resettled = state.StampOf(o.At)
			s.model.yield()
		}
	}
	if s.born == 0 {
		s.born = o.At
	}
	if o.At >= s.hourEnd {
		s.endHour(c, hold, o)
	}
	s.coming.take(r)
	s.inspect(c, o)
	for f := range rimewatch.NumCore {
		if o.plain.Has(f) {
			if o.fixed[f] = state.PlausibleFixed(r.Values[f]); o.fixed[f] != s.last[f] && s.at != 0 && (s.last[f] != 0 || f >= rimewatch.AmpDraw) {
				o.Moved |= 1 << f
			}
		}
	}
	followStill(s, o)
	s.learnGap(o.Gap)
	s.cycles.roll(s.at, o.At)
	s.followRun(o)
	s.followCalm(o, s.Running())
	s.followDefrost(o)
	s.followPhase(c, o)
	s.gather(o)
	s.doubts.followSensors(o, &s.last)
	s.followProbes(o)
	s.at = o.At
	was := s.last
	s.last = o.fixed
	for f := range (rimewatch.CoreFields &^ o.Valid).All() { // nor is what was put aside
		s.last[f] = was[f]
	}
	if o.Valid.Has(rimewatch.ProductZoneTemp) {
		s.zoneAt = o.At
	}
	if o.Valid.Has(rimewatch.Voltage) {
		s.supply.learn(r.Values[rimewatch.Voltage], s.Learning())
	}
	s.places.learn(o)
	s.followDoor(c, o, hold)
}

// Relearn forgets the baseline of the unit, after a repair, a move or a
// prediction that was wrong. What it measured last is kept, and what goes on.
func (s *State) Relearn(why rimewatch.Relearning, at rimewatch.Time) {
	reason := max(0, slices.Index(reasons[:], why))
	*s = State{
		timing: timing{newest: s.newest, at: s.at, zoneAt: s.zoneAt, born: at, why: uint8(reason), gap: s.gap}, last: s.last, broken: s.broken,
		stuck:   stuck{same: s.stuck.same, step: s.stuck.step, stuck: s.stuck.stuck},
		cycles:  cycles{startCount: s.cycles.startCount, runSeconds: s.cycles.runSeconds, counted: s.cycles.counted},
		defrost: s.defrost,
		humps:   humps{mid: s.humps.mid, dev: s.humps.dev, from: s.humps.from, prev: s.humps.prev, steps: s.humps.steps, movedAt: s.humps.movedAt},
		door:    door{since: s.door.since, heard: s.door.heard, told: s.door.told},
	}
	if !s.door.told {
		s.door = door{}
	}
}

// Last is the newest value of a measurement that counted, 0 before the first.
func (s *State) Last(f rimewatch.Field) float64 { return s.last[f].Float() }

func minutes(m int) rimewatch.Time { return rimewatch.Time(m) * minute }
