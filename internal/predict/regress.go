package predict

import "math"

// The covariates by which what a unit shows is corrected: how warm it is around
// the condenser, how warm the zone is, what the supply gives.
const (
	covAmbient = iota // K above refAmbient
	covZone           // K above the zone of the first hours
	covVolts          // % above nominal
	numCov
)

const refAmbient = 25.0 // °C

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
	steady moments                       // of the hours with steady running
	all    moments                       // of all hours
	xy     [numChannels][numCoef]float32 // means of products of (1, covariates) with the channels
	coef   [numChannels][numCoef]float32
	bursts float32 // hours behind chBurst
}

// whileRunning are the channels that exist in hours with steady running only.
const whileRunning = channelSet(1<<chDischarge | 1<<chSuction | 1<<chAmps | 1<<chVibration)

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

// add takes a sample with the given memory in samples. The channels absent are
// left as they are.
func (m *model) add(x [numCov]float64, y [numChannels]float64, have channelSet, memory float64) {
	row := [numCoef]float64{1, x[0], x[1], x[2]}
	all, steady := m.all.add(&row, memory), 0.0
	if have&whileRunning != 0 {
		steady = m.steady.add(&row, memory)
	}
	for c := range numChannels {
		if !have.has(c) {
			continue
		}
		w := all
		switch {
		case whileRunning.has(c):
			w = steady
		case c == chBurst:
			m.bursts = min(m.bursts+1, float32(memory))
			w = 1 / float64(m.bursts)
		}
		for i := range numCoef {
			m.xy[c][i] += float32(w * (row[i]*y[c] - float64(m.xy[c][i])))
		}
	}
}

// priorWeight is how many samples, each a unit of covariate away from the mean,
// a prior slope is worth.
const priorWeight = 12

// fixed is a weight that holds a slope at its prior.
const fixed = 1e9

// solve fits the coefficients.
func (m *model) solve(prior *slopes) {
	for c := range numChannels {
		if c == chBurst {
			m.coef[c] = [numCoef]float32{m.xy[c][0]}
		}
	}
	m.fit(&m.steady, prior, false, chDischarge, chSuction, chAmps, chVibration)
	m.fit(&m.all, prior, true, chDuty, chZone)
}

// fit fits channels that share their moments; apart holds their slopes on the
// zone and the supply at the prior: those follow from the same causes.
func (m *model) fit(of *moments, prior *slopes, apart bool, channels ...int) {
	if of.n < 2 {
		return
	}
	var mean [numCov]float64
	var s [numCov][numCov]float64 // centred second moments of the covariates
	at := func(i, j int) float64 { return float64(of.xx[i*(i+1)/2+j]) }
	for i := range numCov {
		mean[i] = at(i+1, 0)
	}
	var ridge [numCov]float64
	for i := range numCov {
		for j := 0; j <= i; j++ {
			s[i][j] = at(i+1, j+1) - mean[i]*mean[j]
			s[j][i] = s[i][j]
		}
		ridge[i] = priorWeight / float64(of.n)
		if apart && i != covAmbient {
			ridge[i] = fixed
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

// n is how many hours with steady running the model rests on.
func (m *model) n() float32 { return m.steady.n }

// expect is what the model says a channel shows at the covariates.
func (m *model) expect(c int, x [numCov]float64) float64 {
	b := &m.coef[c]
	return float64(b[0]) + float64(b[1])*x[0] + float64(b[2])*x[1] + float64(b[3])*x[2]
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
