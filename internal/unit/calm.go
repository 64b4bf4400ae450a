package unit

import (
	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/state"
)

// calm holds the newest three readings of current and vibration while the
// compressor runs, newest first. Their median is what counts: single readings
// several times too high are common, and starts shake.
type calm struct {
	amps, vib [3]state.Fixed
	off       bool // the compressor does not run
}

// followCalm takes a reading.
func (m *calm) followCalm(o *Observation, on bool) {
	if m.off = !on; m.off {
		return
	}
	push := func(list *[3]state.Fixed, f rimewatch.Field) {
		if v := o.fixed[f]; v > 0 && o.Sane.Has(f) {
			list[2], list[1], list[0] = list[1], list[0], v
		}
	}
	push(&m.amps, rimewatch.AmpDraw)
	push(&m.vib, rimewatch.VibrationLevel)
}

// median is the middle of three readings; ok is false before there are three.
func median(list *[3]state.Fixed) (v float64, ok bool) {
	a, b, c := list[0], list[1], list[2]
	return max(min(a, b), min(max(a, b), c)).Float(), list[2] > 0
}

// Run is the current or the vibration that the newest run has shown, as Calm has it; ok is false before
// three readings of runs.
func (m *calm) Run(f rimewatch.Field) (v float64, ok bool) {
	if f == rimewatch.AmpDraw {
		return median(&m.amps)
	}
	return median(&m.vib)
}

// Calm is a measurement of the running compressor without single readings that
// stray: of current and vibration the median of the newest three, of all others
// the reading itself.
func (m *calm) Calm(o *Observation, f rimewatch.Field) (v float64, ok bool) {
	v, ok = o.Value(f)
	if !ok || m.off {
		return v, ok
	}
	if f == rimewatch.AmpDraw || f == rimewatch.VibrationLevel {
		return m.Run(f)
	}
	return v, true
}
