package capability

import (
	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/state"
)

const (
	second = rimewatch.Second
	minute = rimewatch.Minute
	hour   = rimewatch.Hour
)

// usual is at which zone temperature the unit begins and ends to cool. All three are
// streaming medians: defrosts, deliveries and single odd readings move them little.
type usual struct {
	cutIn   float32 // °C at which a run begins
	cutOut  float32 // °C at which it ends
	scatter float32 // K, median distance of a start from cutIn
	high    float32 // °C that the zone exceeds for 4 % of the time
	noise   float32 // K, mean second difference of the zone
	starts  uint16  // learnt from, saturating
	stops   uint16
}

const (
	leastStarts = 10               // before cutIn and cutOut are known
	firstStarts = 12               // learnt as means
	mostStarts  = 1000             // counted
	medianStep  = 0.15             // of the scatter, by which a median moves at a start
	leastStep   = 0.02             // K
	highShare   = 0.96             // quantile
	highIn      = 12 * hour        // by which it follows
	highFirst   = 2 * hour         // in the first days
	leastMargin = 0.3              // K beyond the usual start that count
	spanMargin  = 0.2              // of the usual differential, likewise
	scatters    = 3                // likewise
	slowAfter   = 330 * second     // between readings: what the thermostat does is not seen
	leastSpan   = float32(0.2)     // K between start and stop
	perNoise    = 3.5 / 1.95       // of a second difference, whose mean is 1.95 σ for white noise: 3.5 σ
	noiseStep   = float32(1 / 64.) // of a reading
)

// learnt reports whether starts and stops are known.
func (m *usual) learnt() bool { return m.starts >= leastStarts && m.stops >= leastStarts }

// span is the usual differential, K.
func (m *usual) span() float32 { return greater(leastSpan, m.cutIn-m.cutOut) }

// begin is the zone temperature beyond which the unit ought to cool, without a margin.
// Where starts are rare, as those of a compressor that turns slower instead of stopping,
// they are those after defrosts: how warm the zone is for 4 % of the time bounds it.
func (m *usual) begin(slow bool) float32 {
	if slow || !m.learnt() {
		return m.high
	}
	return lesser(m.cutIn, m.high)
}

// margin is how far beyond that the zone must be, K, where its sensor resolves step.
func (m *usual) margin(step float32) float32 {
	return greater(greater(leastMargin, spanMargin*m.span()), greater(greater(step, scatters*m.scatter), perNoise*m.noise))
}

// fall is by how much the zone must have fallen to be getting colder, K.
func (m *usual) fall(step float32) float32 {
	return greater(greater(leastMargin, 1.2*step), greater(0.2*m.span(), perNoise*m.noise))
}

func (m *usual) noteStart(v float32) {
	d := v - m.cutIn
	if m.starts < firstStarts {
		m.cutIn += d / float32(m.starts+1)
		m.scatter += (abs(v-m.cutIn) - m.scatter) / float32(m.starts+1)
	} else {
		m.cutIn += clamp(d, medianStep*m.scatter+leastStep)
		m.scatter = max(leastStep, m.scatter+clamp(abs(d)-m.scatter, medianStep*m.scatter))
	}
	m.starts = min(m.starts+1, mostStarts)
}

func (m *usual) noteStop(v float32) {
	if m.stops < firstStarts {
		m.cutOut += (v - m.cutOut) / float32(m.stops+1)
	} else {
		m.cutOut += clamp(v-m.cutOut, medianStep*m.scatter+leastStep)
	}
	m.stops = min(m.stops+1, mostStarts)
}

// follow lets the upper quantile follow the zone for a time.
func (m *usual) follow(v float32, dt, age rimewatch.Time) {
	tau := highIn
	if age < knownAfter {
		tau = highFirst
	}
	move := greater(1, m.span()) * float32(min(dt, 20*minute)) / float32(tau)
	if v > m.high {
		m.high += lesser(highShare*move, v-m.high)
	} else {
		m.high -= lesser((1-highShare)*move, m.high-v)
	}
}

// takeNoise takes three raw readings in a row, newest first.
func (m *usual) takeNoise(a, b, c state.Fixed) {
	d := a - b - (b - c)
	if m.noise == 0 {
		m.noise = 0.05
	}
	m.noise += noiseStep * (lesser(float32(max(d, -d))*1e-4, 4*m.noise) - m.noise)
}

// greater and lesser are of numbers that are none of NaN and −0, for which the built-in functions take three times
// as long.
func greater(a, b float32) float32 {
	if b > a {
		return b
	}
	return a
}

func lesser(a, b float32) float32 {
	if b < a {
		return b
	}
	return a
}

func abs(v float32) float32 { return greater(v, -v) }

// clamp bounds v to ±most.
func clamp(v, most float32) float32 { return greater(-most, lesser(v, most)) }
