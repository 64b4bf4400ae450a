package unit

import (
	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/state"
)

// spike is what a current far above that of running has been taken for so far.
type spike uint8

const (
	noSpike spike = iota
	oneStart
	failedStart // and another attempt
	otherLoad
	inRun // amid a run, or amid another load: a reading that is wrong, for a start comes out of a standstill
)

// leastLocked returns how long a rotor that does not turn draws its current at least, before
// its protector opens: what ends sooner is a meter that strays.
func (w *running) leastLocked(at rimewatch.Time) rimewatch.Time {
	if w.Strays(at) {
		return 4 * second // with readings every second, also twice in a row
	}
	return 2 * second
}

// followSpike notes a current that only a starting or locked motor draws, and
// reports whether v is one. When no run follows, the start has failed.
func (s *State) followSpike(o *Observation, amps float32) bool {
	w := &s.running
	if w.hi > 0 && w.separate() && amps > spikeRatio*w.hi {
		switch lasted := o.At - w.spikedAt.Time(); {
		case w.spike == noSpike:
			w.spike, w.spikedAt, w.otherPipe = oneStart, state.StampOf(o.At), s.last[rimewatch.CompressorDischargeTemp]
			if w.known && w.on || float32(s.last[rimewatch.AmpDraw].Float()) > w.threshold(0.2) {
				w.spike = inRun
			}
		case lasted > spikeLasts:
			if w.spike == failedStart {
				s.cycles.unfail(o.At)
			}
			if w.spike == otherLoad && lasted >= otherLasts && w.compressorToo(o) {
				w.hi, w.spike = amps, noSpike // what ran before was the smaller load
				return false
			}
			w.spike, w.otherAmps = otherLoad, state.FixedOf(float64(amps))
		case w.likeOther(amps, o.At):
		case w.spike == oneStart && lasted >= spikeAgain && s.phases.showsStarts(s.gap, w, o.At):
			s.tryStart(o, w.spikeAmps) // the one before did not start either
			w.spike = failedStart
		}
		w.spikeAmps = amps
		return true
	}
	was := w.spike
	w.spike = noSpike
	if was == otherLoad {
		w.otherAt = w.spikedAt
	}
	switch {
	case was == noSpike || was == otherLoad || !s.phases.showsStarts(s.gap, w, o.At):
	case w.likeOther(w.spikeAmps, o.At):
	case was == inRun && amps >= w.hi*0.5:
		w.strayed = w.spikedAt // the run went on as if nothing had been: no start was
	case amps < w.hi*0.5 && was != inRun && o.At-w.spikedAt.Time() >= w.leastLocked(o.At):
		s.tryStart(o, w.spikeAmps)
	}
	return false
}

// alikeTries is by what share of it the currents of failed starts of one compressor differ at most:
// its motor stands still at all of them, which leaves the mains and the moment of the sample.
const alikeTries = 0.15

// tryStart takes a start of so many ampere that no run follows. It has failed where it is like
// those before it, two of a meter whose single readings are known to be wrong; then the one
// before has failed, too. One that is like no other is a reading that is wrong.
func (s *State) tryStart(o *Observation, amps float32) {
	w := &s.running
	was, at := float32(w.tried.Float()), w.triedAt
	w.tried, w.triedAt = state.FixedOf(float64(amps)), w.spikedAt
	if max(amps-was, was-amps) > alikeTries*was {
		w.alike = 0
		return
	}
	need := uint8(1)
	if w.Strays(o.At) {
		need = 2
	}
	counted := w.alike >= need
	if w.alike = min(w.alike+1, 2); w.alike < need {
		return
	}
	if !counted && o.At-at.Time() < 23*hour { // the hours of a day are kept
		s.cycles.fail(at.Time())
	}
	s.failStart(o)
}
