package unit

import (
	"math"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/state"
)

const (
	stuckFor  = hour // a zone sensor that shows one number this long …
	stuckRuns = 2    // … while the compressor started this often is stuck,
	stuckMore = 3    // unless it has stood still a third as long before: coarse and buffered probes do
	idleFor   = 24 * hour
	idleMore  = 10
	// A zone that stands still for stuckMore times as long as it ever did since it was known
	// for standKnown, and for standFor at least, or that never moved for neverFor, is stuck
	// whatever the compressor does. From frozenMore times as long nothing is judged by it.
	standFor   = 2 * hour
	standKnown = 2 * rimewatch.Day
	neverFor   = 24 * hour
	frozenMore = 2
	movingBy   = 2.0 // K by which a type's defrosts move the coarsest of sensors
	// gasMargin is how much hotter the gas is behind a running compressor than
	// before it, at least.
	gasMargin    = 15.0
	contradictIn = 10 * minute // of the run, when both pipes have warmed through
	muteShare    = 0.15        // of the usual current while running, which no running compressor draws
	muteFor      = 8 * 60      // s in a row for which the unit shakes as in a run without that
)

// stuck distinguishes a frozen zone sensor from a steady zone.
type stuck struct {
	same  state.Stamp // since when the zone temperature has not moved at all
	still uint16      // min, the longest that it stood still before and moved again
	step  float32     // K, least change of the zone that was ever seen: what its sensor resolves
	runs  uint8       // compressor starts since then
	stuck bool
}

// inspect finds which measurements of a reading count, and remembers which
// sensors are broken. A sensor mends by sending a plausible value; one that
// sends nothing stays what it was.
func (s *State) inspect(c *Config, o *Observation) {
	r := o.Reading
	if !s.Known() {
		s.doubts.begins(c, r)
	}
	bad := r.Faults&rimewatch.CoreFields | r.Implausible()
	o.plain = r.Present & rimewatch.CoreFields &^ bad
	if o.plain.Has(rimewatch.ProductZoneTemp) && s.zoneAt != 0 && o.At-s.born >= strange {
		v := state.PlausibleFixed(r.Values[rimewatch.ProductZoneTemp])
		if s.unreached.take(c.Equipment, v, s.last[rimewatch.ProductZoneTemp], o.At, s.zoneAt, s.Interval(), s.humps.steps) {
			o.plain, o.unreached, o.fixed[rimewatch.ProductZoneTemp] = o.plain&^(1<<rimewatch.ProductZoneTemp), true, v
		}
	}
	o.Sane = o.plain
	found := s.contradictions(c, o)
	s.broken = (s.broken|bad)&^(o.Sane&^found) | found
	// A channel that is set aside goes on to be compared, but does not count. Whether the
	// compressor runs shows in a current of any scale; the limits of the air hold.
	off := s.doubts.asideFields()
	o.Valid = o.Sane &^ found &^ (off &^ (1 << rimewatch.AmpDraw))
	if s.doubts.Mixup()&^PipesSwapped != 0 {
		o.Valid &^= 1 << rimewatch.AmbientTemp // nor do they of one that is another temperature
	}
	if s.doubts.stuck != 0 {
		still := s.doubts.stills.fields()
		o.Sane, o.Valid = o.Sane&^still, o.Valid&^still
	}
	o.Sane &^= s.doubts.surroundings()
	if o.plain.Has(rimewatch.ProductZoneTemp) {
		s.followStuck(c, o)
		if s.stuck.stuck {
			o.Sane, o.Valid = o.Sane&^(1<<rimewatch.ProductZoneTemp), o.Valid&^(1<<rimewatch.ProductZoneTemp)
		}
	}
}

// contradictions names sensors whose values cannot be true together: a running
// compressor whose discharge line is no warmer than its suction line, and a
// running compressor without voltage.
func (s *State) contradictions(c *Config, o *Observation) rimewatch.Fields {
	const gas = rimewatch.Fields(1<<rimewatch.CompressorDischargeTemp | 1<<rimewatch.CompressorSuctionTemp)
	const supply = rimewatch.Fields(1<<rimewatch.Voltage | 1<<rimewatch.AmpDraw)
	found, v := rimewatch.Fields(0), &o.Reading.Values
	if o.Sane&gas == gas {
		const field = rimewatch.CompressorDischargeTemp
		switch ran := o.At - s.running.since.Time(); {
		case s.Running() && !s.Slow() && ran >= s.cycles.warmUp() && pipesCross(o):
			s.doubts.swapped |= PipesSwapped
		case s.Running() && !s.Slow() && ran >= contradictIn:
			margin := gasMargin
			if s.Modulated() {
				margin = 0 // a slow one hardly heats its gas
			}
			if v[field] < v[rimewatch.CompressorSuctionTemp]+margin {
				found = found.With(field)
			} else {
				s.doubts.swapped &^= PipesSwapped
			}
		default:
			// The pipes of a stopped compressor say nothing about it.
			found |= s.broken & (1 << field)
		}
		if s.doubts.swapped&PipesSwapped != 0 {
			found |= gas
		}
	}
	if o.Sane&supply == supply && s.running.known &&
		v[rimewatch.Voltage] < 0.5*s.NominalVoltage(c) && float32(v[rimewatch.AmpDraw]) > s.running.threshold(0.5) {
		found = found.With(rimewatch.Voltage)
	}
	if s.meterMute(o) {
		found = found.With(rimewatch.AmpDraw)
	}
	return found
}

// meterMute reports whether the meter of the current shows nothing of a compressor
// that runs, as the device says or as it shakes while it does: its scale was changed,
// A to kA or mA to A, or its clamp is off. It is right again when it shows a run.
func (s *State) meterMute(o *Observation) bool {
	w, v := &s.running, &o.Reading.Values
	usual := s.usual(Amps)
	shows := v[rimewatch.AmpDraw] >= muteShare*usual
	if usual == 0 || shows && w.mute == 0 || !o.Sane.Has(rimewatch.AmpDraw) {
		return false // with nothing to take back
	}
	runs, known := s.runsBeside(o)
	if !known {
		return false
	}
	if shows {
		w.mute = 0
		return false
	}
	switch {
	case runs && w.mute == 0 && state.FixedOf(v[rimewatch.VibrationLevel]) == s.last[rimewatch.VibrationLevel]: // it may be stuck
	case runs:
		w.mute += uint16(min(o.Gap, 5*minute) / second)
	case w.mute <= muteFor:
		w.mute = 0
	}
	w.mute = min(w.mute, 2*muteFor)
	return w.mute > muteFor
}

// runsBeside reports whether the compressor runs by signs other than its current; known is
// false where nothing tells.
func (s *State) runsBeside(o *Observation) (runs, known bool) {
	if flag, sent := o.Reading.Flags.Bool(rimewatch.CompressorOn); sent {
		return flag, true
	}
	w := &s.running
	if !o.Sane.Has(rimewatch.VibrationLevel) || w.shakes < 2*w.rests+leastShaking {
		return false, false
	}
	vib := state.FixedOf(o.Reading.Values[rimewatch.VibrationLevel])
	return vib > (w.shakes+w.rests)/2 && vib < w.shakes+w.shakes/2, true // much more would be another scale of its own
}

// followStuck finds a zone sensor that has frozen at one number. Half an hour
// on the same tenth of a degree happens; not while the compressor cycles.
func (s *State) followStuck(c *Config, o *Observation) {
	w, v := &s.stuck, o.Reading.Values[rimewatch.ProductZoneTemp]
	if !w.stuck && s.blind(o.Gap) {
		w.same, w.runs = state.StampOf(o.At), 0
	}
	if s.zoneAt == 0 || state.FixedOf(v) != s.last[rimewatch.ProductZoneTemp] {
		if d := float32(math.Abs(v - s.last[rimewatch.ProductZoneTemp].Float())); s.zoneAt != 0 && (w.step == 0 || d < w.step) {
			w.step = d
		}
		if stood := (o.At - w.same.Time()) / minute; w.same.Set() && !w.stuck {
			w.still = max(w.still, uint16(min(stood, 24*60)))
		}
		w.same, w.runs, w.stuck = state.StampOf(o.At), 0, false
		return
	}
	stood := o.At - w.same.Time()
	switch {
	case w.runs >= stuckRuns && stood >= max(stuckFor, stuckMore*minutes(int(w.still))):
		w.stuck = true
	case w.step > 0 && s.Running() && w.runs == 0 && stood >= max(idleFor, idleMore*minutes(int(w.still))): // a compressor that never stops
		w.stuck = true
	case stood < w.standsFor():
	case w.step > 0:
		w.stuck = w.stuck || o.At-s.born >= standKnown
	default:
		w.stuck = w.stuck || moves(c.Equipment, state.FixedOf(v))
	}
}

// standsFor is for how long the zone may show one number where nothing tells what the compressor
// does.
func (w *stuck) standsFor() rimewatch.Time {
	if w.step == 0 {
		return neverFor
	}
	return max(standFor, stuckMore*minutes(int(w.still)))
}

// moves reports whether a zone of a type that shows v must move within a day, by the
// resolution of its sensor: that of one which shows whole degrees may be as coarse.
func moves(e *rimewatch.Equipment, v state.Fixed) bool {
	return e != nil && e.Setpoint != nil && (v%1_0000 != 0 || e.Defrost.ExcursionK >= movingBy)
}

// ZoneStill returns since when the product zone has shown the one number at which its sensor is
// stuck, 0 = it is not, or has not been for long enough to tell without the compressor.
func (s *State) ZoneStill() rimewatch.Time {
	if !s.stuck.stuck || s.at-s.stuck.same.Time() < s.stuck.standsFor() {
		return 0
	}
	return s.stuck.same.Time()
}

// ZoneFrozen reports whether it has done so for so long that the unit is not judged.
func (s *State) ZoneFrozen() bool {
	return s.stuck.stuck && s.at-s.stuck.same.Time() >= frozenMore*s.stuck.standsFor()
}

// Contradicted reports whether sensors contradict each other or show what cannot be
// at present.
func (s *State) Contradicted() bool { return s.broken != 0 }

// Broken are the sensors that do not count at present.
func (s *State) Broken() rimewatch.Fields {
	set := s.broken | s.doubts.asideFields() | s.doubts.surroundings() | s.doubts.stills.fields()
	if !s.coming.comes(rimewatch.AmbientTemp) {
		set &^= 1 << rimewatch.AmbientTemp // it is missing, not wrong
	}
	if s.stuck.stuck {
		set = set.With(rimewatch.ProductZoneTemp)
	}
	return set
}

// SetAside are the sensors of which nothing is concluded, for more than a reading that is
// wrong by itself.
func (b *doubts) SetAside() rimewatch.Fields {
	set := b.asideFields() | b.surroundings() | b.stills.fields()
	if b.swapped&PipesSwapped != 0 {
		set |= probePipes
	}
	return set
}

// Fresh is when the device last sent the measurements that are awaited of it: its zone
// temperature when it ever sent one, otherwise anything. A broken zone sensor
// is another matter.
func (s *State) Fresh() rimewatch.Time {
	if s.zoneAt == 0 || s.zoneAt != s.at && s.Broken().Has(rimewatch.ProductZoneTemp) {
		return s.at
	}
	return s.zoneAt
}

// ZoneStep is the least change of the zone that was ever seen, K: what its sensor
// resolves; 0 before the first.
func (s *State) ZoneStep() float64 { return float64(s.stuck.step) }

// ZoneFixed is the newest temperature of the product zone that counted.
func (s *State) ZoneFixed() state.Fixed { return s.last[rimewatch.ProductZoneTemp] }
