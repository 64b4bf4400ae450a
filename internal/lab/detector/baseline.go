package detector

import (
	"math"
	"slices"
)

// baseline is what a channel shows while its machine is healthy.
type baseline struct {
	mean   float64
	sd     float64 // of single samples
	spread float64 // variance of window means about the mean
	tau    float64 // integrated autocorrelation time, samples (1 = every sample is news)
	n      float64 // samples that count as seen
}

// winsor is the distance from the median, in robust deviations, beyond which a
// learning sample counts as lying at that distance: one bad minute in the
// learning period must not make the channel blind.
const winsor = 4

// learnBaseline describes a channel by its learning samples, of which NaN are
// left out. The window is the number of samples whose mean will be judged.
func learnBaseline(samples []float64, window int) baseline {
	x := make([]float64, 0, len(samples))
	for _, v := range samples {
		if !math.IsNaN(v) {
			x = append(x, v)
		}
	}
	if len(x) < 2*window {
		return baseline{n: 0, tau: 1}
	}
	centre, scale := robustScale(x)
	for i, v := range x {
		x[i] = max(-winsor, min(winsor, (v-centre)/scale))
	}
	m := meanOf(x)
	for i := range x {
		x[i] -= m
	}
	v := meanSquare(x)
	b := baseline{mean: centre + m*scale, sd: math.Sqrt(v) * scale, n: float64(len(x))}
	b.tau = autocorrelationTime(x, v)
	blocks := 0
	for i := 0; i+window <= len(x); i += window {
		a := meanOf(x[i : i+window])
		b.spread += a * a
		blocks++
	}
	b.spread *= scale * scale / float64(blocks-1)
	return b
}

// robustScale returns the median and half the distance between the 16 % and 84 %
// quantiles, which is the standard deviation of a normal sample. Where most
// samples are equal, as with coarsely quantised sensors, a third of the plain
// deviation takes its place.
func robustScale(x []float64) (centre, scale float64) {
	s := slices.Clone(x)
	slices.Sort(s)
	at := func(q float64) float64 { return s[int(q*float64(len(s)-1))] }
	m := meanOf(x)
	v := 0.0
	for _, a := range x {
		v += (a - m) * (a - m)
	}
	v /= float64(len(x))
	return s[len(s)/2], max((at(.84)-at(.16))/2, math.Sqrt(v)/3, 1e-12*max(1, math.Abs(m)))
}

// autocorrelationTime sums 1 + 2 Σ ρ(h) over the lags h until the correlation
// is gone or the lag passes five times the sum (A. Sokal, "Monte Carlo methods
// in statistical mechanics", 1997, section 3). x has mean 0 and variance v.
func autocorrelationTime(x []float64, v float64) float64 {
	tau := 1.0
	if v == 0 {
		return tau
	}
	for h := 1; h < len(x)/2; h++ {
		c := 0.0
		for i := h; i < len(x); i++ {
			c += x[i] * x[i-h]
		}
		r := c / (v * float64(len(x)))
		if r < 0.02 {
			break
		}
		tau += 2 * r
		if float64(h) > 5*tau {
			break
		}
	}
	return tau
}

// independent is how many independent samples the baseline rests on.
func (b *baseline) independent() float64 { return b.n / b.tau }

func meanOf(x []float64) float64 {
	s := 0.0
	for _, v := range x {
		s += v
	}
	return s / float64(len(x))
}

func meanSquare(x []float64) float64 {
	s := 0.0
	for _, v := range x {
		s += v * v
	}
	return s / float64(len(x))
}
