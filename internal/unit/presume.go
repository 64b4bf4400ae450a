package unit

import (
	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/state"
)

// glimpse sees another level of the current in a single reading of a device that sends
// so seldom that a run may show in no second one. It is that of a run if the discharge
// line has become hot with it, which a start or a meter that strays do not do at once.
func (s *State) glimpse(o *Observation, amps float32) {
	w := &s.running
	if s.gap < countedGap || w.hi == 0 || w.separate() || amps < 1.6*w.hi || amps-w.hi < w.floor() {
		return
	}
	w.spikedAt = state.StampOf(o.At)
	before := s.last[rimewatch.CompressorDischargeTemp]
	if pipe, ok := o.Value(rimewatch.CompressorDischargeTemp); ok && before != 0 && pipe >= before.Float()+glimpsedRise {
		w.prev = state.FixedOf(float64(amps))
	}
}

const glimpsedRise = 8 // K

// presume takes a current that has shown one level only, well above none, for that
// of a compressor that never stops, unless its discharge line is cool. A stop that
// comes later proves it; a line that cools while no run has been seen to end refutes it:
// what draws the current are fans.
func (s *State) presume(o *Observation, amps float32) {
	w := &s.running
	least := float32(leastRunning)
	if w.bare {
		least = bareRunning
	}
	pipe, okPipe := o.Value(rimewatch.CompressorDischargeTemp)
	air, okAir := o.Value(rimewatch.AmbientTemp)
	switch cool := okPipe && okAir && pipe-air < float64(levelFloors[fromHeat]); {
	case cool && w.lo == 0 && s.phases.runs == 0 && w.known && w.on:
		w.hi, w.lo, w.lastOn = amps, amps, state.Stamp{}
	case cool || w.lastOn.Set() || o.At-s.born < presumeAfter || w.separate() || w.lo < least || amps < 0.7*w.hi:
	case w.spikedAt.Set() && o.At-w.spikedAt.Time() < presumeAfter: // there is another level
	default:
		w.lo = 0
	}
}
