package unit

import "math"

// A compressor whose load varies by itself has no usual pressures: what its pipes show and
// how it shakes follow what it has to do. How much that is shows in its current, so that
// takes the place of the supply, which such a drive evens out, among what the others are
// corrected by. It is no evidence then: at another load it says nothing of a fault.

// compareByLoad puts the load into the covariates of an hour. When it turns out that the load
// varies the unit is learnt anew, and it reports so. That it keeps still for a season changes nothing.
func (b *baseline) compareByLoad(varies bool, x *Conditions, y *[NumChannels]float64, have Channels) (anew bool) {
	m := &b.model
	shown := have.Has(Amps) && !b.Aside().Has(Amps)
	if varies && shown && !m.byLoad() {
		*m = model{gate: m.gate, zoneRef: m.zoneRef, ambient: m.ambient, rest: m.rest}
		b.drifts, anew = [NumChannels]drift{}, true
		m.loadRef = float32(y[Amps]) + 1e-3 // 0 would be none
	}
	if !m.byLoad() {
		return false
	}
	x[covVolts] = float64(m.volts)
	if shown {
		x[covVolts] = y[Amps] - float64(m.loadRef)
		m.volts += 0.1 * (float32(x[covVolts]) - m.volts)
	}
	return anew
}

func (m *model) byLoad() bool { return m.loadRef != 0 }

// ByLoad reports whether the unit is compared by the load of its compressor, which
// varies by itself.
func (b *baseline) ByLoad() bool { return b.model.byLoad() }

// LoadSlope is how much a channel follows the load, per % of current; 0 where the unit
// is not compared by it.
func (b *baseline) LoadSlope(ch Channel) float64 {
	if !b.ByLoad() {
		return 0
	}
	return float64(b.model.coef[ch][1+covVolts])
}

// unmetLoad is how much of a channel's departure may come from a load that was not met
// before: half of what the slope says beyond it.
func (m *model) unmetLoad(c Channel) float64 {
	if !m.byLoad() {
		return 0
	}
	mean := m.steady.at(1+covVolts, 0)
	spread := math.Sqrt(max(0, m.steady.at(1+covVolts, 1+covVolts)-mean*mean))
	return unmetShare * math.Abs(float64(m.coef[c][1+covVolts])) * max(0, math.Abs(float64(m.volts)-mean)-2*spread)
}

const unmetShare = 0.5
