package unit

import (
	"math"

	"github.com/rimewatch/rimewatch"
)

// The covariates by which what a unit shows is corrected: how warm it is around
// the condenser, how warm the zone is, what the supply gives.
const (
	covAmbient = iota // K above RefAmbient
	covZone           // K above the zone of the first hours
	covVolts          // % above the usual
	numCov
)

// Conditions are the covariates at a moment.
type Conditions [numCov]float64

// AtAmbient are the usual conditions at an ambient temperature in K above
// RefAmbient.
func AtAmbient(k float64) Conditions { return Conditions{covAmbient: k} }

// RefAmbient is the ambient temperature at which baselines are stated, °C.
const RefAmbient = 25.0

// numCoef counts the coefficients of a channel: level and slopes.
const numCoef = 1 + numCov

// moments are the sums of a regression, as means: of the products of (1,
// covariates) with each other.
type moments struct {
	n  float32                              // samples, after forgetting
	xx [numCoef * (numCoef + 1) / 2]float32 // lower triangle
}

// model is a ridge regression of the channels on the covariates, kept as sums so
// that it learns sample by sample. Its prior is a slope per channel and
// covariate with the weight of so many samples at one unit of covariate from
// the mean; the level has no prior.
type model struct {
	steady  moments                       // of the hours with steady running
	all     moments                       // of all hours
	xy      [NumChannels][numCoef]float32 // means of products of (1, covariates) with the channels
	coef    [NumChannels][numCoef]float32
	own     [2]float64 `state:"-"` // what amps and vibration usually are, of xy: every reading asks, xy changes once an hour
	bursts  float32    // hours behind Burst
	gate    float32    // min after a start at which running is steady
	zoneRef float32    // °C of zone in the first hours
	volts   float32    // %, supply in running against the usual, mean of about a day
	ambient float32    // K above RefAmbient, likewise
	rest    float32    // K above RefAmbient, of the pipes at the end of the newest stops, where no ambient is measured
	hours   uint16     // of learning with steady running, saturating
}

// whileRunning are the channels that exist in hours with steady running only.
const whileRunning = Channels(1<<Discharge | 1<<Suction | 1<<Amps | 1<<Vibration)

func (m *moments) add(row *[numCoef]float64, memory float64) (weight float64) {
	m.n = min(m.n+1, float32(memory))
	w := 1 / float64(m.n)
	k := 0
	for i := range numCoef {
		for j := 0; j <= i; j++ {
			m.xx[k] += float32(w * (row[i]*row[j] - float64(m.xx[k])))
			k++
		}
	}
	return w
}

// at is the mean of the product of two of (1, covariates), i not before j.
func (m *moments) at(i, j int) float64 { return float64(m.xx[i*(i+1)/2+j]) }

// add takes a sample with the given memory in samples. What a channel that is absent
// would have shown is filled in, since it shares the moments of those that are there.
func (m *model) add(x Conditions, y [NumChannels]float64, have Channels, memory float64) {
	row := [numCoef]float64{1, x[0], x[1], x[2]}
	all, steady := m.all.add(&row, memory), 0.0
	if have&whileRunning != 0 {
		steady = m.steady.add(&row, memory)
	}
	for c := range NumChannels {
		w, of := all, &m.all
		switch {
		case c == Burst && have.Has(c):
			m.bursts = min(m.bursts+1, float32(memory))
			w = 1 / float64(m.bursts)
		case whileRunning.Has(c):
			w, of = steady, &m.steady
		}
		switch unseen := m.xy[c] == [numCoef]float32{}; {
		case w == 0 || !have.Has(c) && (unseen || c == Burst):
			continue
		case !have.Has(c):
			y[c] = m.guess(c, x)
		case unseen && c != Burst:
			for i := range numCoef { // as if it had always been so
				m.xy[c][i] = float32(of.at(i, 0) * y[c])
			}
			continue
		}
		for i := range numCoef {
			m.xy[c][i] += float32(w * (row[i]*y[c] - float64(m.xy[c][i])))
		}
	}
	m.keepOwn()
}

// keepOwn follows xy, which holds logarithms.
func (m *model) keepOwn() {
	for i := range m.own {
		m.own[i] = math.Exp(float64(m.xy[Amps+Channel(i)][0]) / 100)
	}
}

// yield lets what comes now outweigh what was learnt within a day: the unit has
// another setting.
func (m *model) yield() { m.steady.n, m.all.n = min(m.steady.n, yieldTo), min(m.all.n, yieldTo) }

const yieldTo = 72 // h

// Slopes that were learnt near the usual setting and season are wrong by as much
// far from them: per K of zone, and per K of ambient beyond what was met.
var (
	zoneDoubt    = [NumChannels]float64{Discharge: 1.5, Suction: 0.8, Amps: 2}
	ambientDoubt = [NumChannels]float64{Discharge: 0.8, Suction: 0.3, Amps: 0.8, Vibration: 0.5}
)

// ZoneDoubt is how much of a channel's departure per K of unusual zone temperature
// may come from a slope that was learnt close to the setpoint only.
func (c Channel) ZoneDoubt() float64 { return zoneDoubt[c] }

// airSlopes are what a K of ambient does where the head pressure follows it.
var airSlopes = [NumChannels]float64{Discharge: 1.6, Amps: 0.8}

// airDoubted is how much of a channel's departure may come from an ambient, in K above RefAmbient, that was
// not met before. In the cold a unit's head pressure is held up: its lines do not follow
// any more, and a capillary tube passes less. One that was learnt there follows the heat by
// more, in which a capillary tube starves the evaporator and the suction line warms faster.
func (m *model) airDoubted(c Channel, ambient float64) float64 {
	mean := m.steady.at(1+covAmbient, 0)
	spread := math.Sqrt(max(0, m.steady.at(1+covAmbient, 1+covAmbient)-mean*mean))
	slope := float64(m.coef[c][1+covAmbient])
	colder, hotter := max(0, mean-ambient-spread), max(0, ambient-mean-spread)
	held := max(math.Abs(slope)*colder, (airSlopes[c]-slope)*hotter)
	if c == Suction {
		held = max(held, math.Abs(slope)*hotter)
	}
	return max(ambientDoubt[c]*max(0, math.Abs(ambient-mean)-2*spread-1.5), held)
}

// AirDoubted is how much of a departure may come from an ambient that was not met before.
func (b *baseline) AirDoubted(ch Channel, x Conditions) float64 {
	return b.model.airDoubted(ch, x[covAmbient])
}

// shrink takes a doubt off a departure.
func shrink(v, by float64) float64 { return math.Copysign(max(0, math.Abs(v)-by), v) }

// guess is what an absent channel would probably have shown.
func (m *model) guess(c Channel, x Conditions) float64 {
	if m.coef[c] == [numCoef]float32{} {
		return float64(m.xy[c][0])
	}
	return m.expect(c, x)
}

// priorWeight is how many samples, each a unit of covariate away from the mean,
// a prior slope is worth.
const priorWeight = 12

// pinned is a weight that holds a slope at its prior.
const pinned = 1e9

// solve fits the coefficients.
func (m *model) solve(prior *slopes) {
	for c := range NumChannels {
		if c == Burst {
			m.coef[c] = [numCoef]float32{m.xy[c][0]}
		}
	}
	m.fit(&m.steady, prior, false, Discharge, Suction, Amps, Vibration)
	m.fit(&m.all, prior, true, Duty, Zone)
}

// fit fits channels that share their moments; apart holds their slopes on the
// zone and the supply at the prior: those follow from the same causes.
func (m *model) fit(of *moments, prior *slopes, apart bool, channels ...Channel) {
	if of.n < 2 {
		return
	}
	var mean [numCov]float64
	var s [numCov][numCov]float64 // centred second moments of the covariates
	for i := range numCov {
		mean[i] = of.at(i+1, 0)
	}
	var ridge [numCov]float64
	for i := range numCov {
		for j := 0; j <= i; j++ {
			s[i][j] = of.at(i+1, j+1) - mean[i]*mean[j]
			s[j][i] = s[i][j]
		}
		ridge[i] = priorWeight / float64(of.n)
		if apart && i != covAmbient {
			ridge[i] = pinned
		}
		s[i][i] = max(s[i][i], 0) + ridge[i]
	}
	inv := invert3(s)
	for _, c := range channels {
		level := float64(m.xy[c][0])
		var rhs [numCov]float64
		for i := range numCov {
			rhs[i] = float64(m.xy[c][i+1]) - mean[i]*float64(m.xy[c][0]) + ridge[i]*prior[c][i]
		}
		for i := range numCov {
			b := 0.0
			for j := range numCov {
				b += inv[i][j] * rhs[j]
			}
			m.coef[c][i+1] = float32(b)
			level -= b * mean[i]
		}
		m.coef[c][0] = float32(level)
	}
}

// expect is what the model says a channel shows at the covariates. However far they are
// from what was met, no compressor runs for less than none of the time or for more than
// all of it.
func (m *model) expect(c Channel, x Conditions) float64 {
	b := &m.coef[c]
	v := float64(b[0]) + float64(b[1])*x[0] + float64(b[2])*x[1] + float64(b[3])*x[2]
	if c == Duty {
		return max(0, min(100, v))
	}
	return v
}

// invert3 inverts a symmetric positive definite matrix by cofactors.
func invert3(a [numCov][numCov]float64) (b [numCov][numCov]float64) {
	co := func(r, c int) float64 {
		r1, r2, c1, c2 := (r+1)%3, (r+2)%3, (c+1)%3, (c+2)%3
		return a[r1][c1]*a[r2][c2] - a[r1][c2]*a[r2][c1]
	}
	det := a[0][0]*co(0, 0) + a[0][1]*co(0, 1) + a[0][2]*co(0, 2)
	if math.Abs(det) < 1e-300 {
		return b
	}
	for i := range numCov {
		for j := range numCov {
			b[i][j] = co(j, i) / det
		}
	}
	return b
}

// slopes is what a channel does per unit of a covariate.
type slopes = [NumChannels][numCov]float64

// The priors of the slopes: what typical units show, rounded, of the simulated
// types and of compressor tables. A unit's own history takes over within days;
// what it has not met yet, such as a summer, rests on them.
var (
	chilledPrior = slopes{
		Discharge: {1.6, 0.3, 0},
		Suction:   {0.45, 0.4, 0},
		Amps:      {0.8, 0.8, 0},
		Duty:      {2, 0, 0},
		Zone:      {0.03, 0, 0},
	}
	frozenPrior = slopes{
		Discharge: {1.7, 0.5, 0},
		Suction:   {0.35, 0.5, 0},
		Amps:      {0.8, 1.7, 0},
		Duty:      {2.5, 0, 0},
		Zone:      {0.03, 0, 0},
	}
)

// prior picks the prior of an equipment type: by its usual setpoint, below or
// above freezing.
func (c *Config) prior() *slopes {
	if e := c.Equipment; e != nil && e.Setpoint != nil && *e.Setpoint < -5 {
		return &frozenPrior
	}
	return &chilledPrior
}

// Conditions are the covariates of a single reading.
func (s *State) Conditions(o *Observation) (x Conditions) {
	x = s.model.standIn(s.AirMeasured())
	if v, ok := o.Value(rimewatch.AmbientTemp); ok {
		x[covAmbient] = v - RefAmbient
	}
	if v, ok := o.Value(rimewatch.ProductZoneTemp); ok {
		// The model does not hold far from the conditions that it has learnt.
		x[covZone] = max(-3, min(3, v-float64(s.model.zoneRef)))
	}
	if v, ok := o.Value(rimewatch.Voltage); ok {
		x[covVolts], _ = s.supply.off(v)
	}
	return x
}

// Expected is what a channel usually shows under the conditions, in K or °C, or
// as 100 times the logarithm of A or mm/s.
func (b *baseline) Expected(ch Channel, x Conditions) float64 { return b.model.expect(ch, x) }

// Departures are how far a single reading in steady running is from the usual,
// in the units of the channels.
func (s *State) Departures(o *Observation) (y [Vibration + 1]float64, have Channels) {
	x, off := s.Conditions(o), s.Aside()
	take := func(ch Channel, f rimewatch.Field, log bool) {
		v, ok := s.Calm(o, f)
		if !ok || log && v <= 0 || off.Has(ch) {
			return
		}
		if ch == Amps {
			v = s.OwnAmps(v)
		}
		if log {
			v = 100 * math.Log(v)
		}
		y[ch], have = v-s.model.expect(ch, x), have.With(ch)
	}
	take(Discharge, rimewatch.CompressorDischargeTemp, false)
	take(Suction, rimewatch.CompressorSuctionTemp, false)
	take(Amps, rimewatch.AmpDraw, true)
	take(Vibration, rimewatch.VibrationLevel, true)
	return y, have
}

// Usual describes the baseline of one channel.
type Usual struct {
	Level     float64 // at RefAmbient, in the channel's own measure
	PerKelvin float64 // change per K of ambient, in the unit of departures
	Scatter   float64 // standard deviation of six healthy hours, in the unit of departures
	Windows   int     // six-hour windows behind Scatter
}

// Usual returns the baseline of a channel; ok is false while it is not known.
func (b *baseline) Usual(ch Channel) (u Usual, ok bool) {
	if !b.Ready() || b.model.coef[ch] == [numCoef]float32{} {
		return u, false
	}
	d := &b.drifts[ch]
	_, level := b.Absolute(ch, 0, 0)
	return Usual{level, float64(b.model.coef[ch][1+covAmbient]), math.Sqrt(float64(d.spread)), int(d.n)}, true
}

// Absolute turns a departure into observed and expected values in the channel's
// own measure (°C, A, %, mm/s), at an ambient temperature in K above RefAmbient,
// the usual zone and supply.
func (b *baseline) Absolute(ch Channel, departure, ambient float64) (observed, expected float64) {
	e := b.model.expect(ch, AtAmbient(ambient))
	switch ch {
	case Amps, Vibration, Burst:
		return math.Exp((e + departure) / 100), math.Exp(e / 100)
	case Duty:
		return max(0, min(100, e+departure)), e
	default:
		return e + departure, e
	}
}

// Supply is how far the supply has been from the usual in running, %, a mean of
// about a day.
func (b *baseline) Supply() float64 { return float64(b.model.volts) }

// Ambient is the mean ambient temperature of about a day, K above RefAmbient.
func (b *baseline) Ambient() float64 { return float64(b.model.ambient) }
