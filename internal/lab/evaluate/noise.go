package evaluate

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"

	"github.com/rimewatch/rimewatch/internal/lab/detector"
)

// The noise that a tuning must bear: channels in which nothing happens, whose
// autocorrelation lasts for some share of the learning, watched for ten lengths of
// it. It has no labels and no files, so nothing can be fitted to it.
const (
	noiseLearn    = 400
	noiseLengths  = 10
	noiseSeeds    = 24
	noiseOpenings = 2.0  // at most, in noiseLengths
	noiseRows     = 0.05 // in alarm, at most
)

// noiseClasses are the shares of the learning for which autocorrelation lasts; the
// last class has a channel of each.
var noiseClasses = [...]float64{0, 0.01, 0.025, 0.05, 0.1, 0.25, 1}

// noisy is what a class of noise raised.
type noisy struct{ openings, rows float64 }

// underNoise runs a detector over a class of noise: 0 to len(noiseClasses)-1 one
// channel, len(noiseClasses) one channel of each class.
func underNoise(t detector.Tuning, class, seeds int) noisy {
	shares := noiseClasses[:]
	if class < len(noiseClasses) {
		shares = noiseClasses[class : class+1]
	}
	var sum noisy
	keep, row := make([]float64, len(shares)), make([]float64, len(shares))
	for seed := range seeds {
		r := rand.New(rand.NewPCG(uint64(seed), uint64(class)))
		d := detector.New(t, noiseLearn, either(len(shares))...)
		for k, share := range shares {
			keep[k], row[k] = 0, r.NormFloat64()
			if tau := share * noiseLearn; tau > 1 {
				keep[k] = (tau - 1) / (tau + 1)
			}
		}
		was := false
		for range noiseLearn * (1 + noiseLengths) {
			for k := range row {
				row[k] = keep[k]*row[k] + math.Sqrt(1-keep[k]*keep[k])*r.NormFloat64()
			}
			v := d.Observe(row)
			if v.Alarm && !was {
				sum.openings++
			}
			if was = v.Alarm; was {
				sum.rows++
			}
		}
	}
	return noisy{sum.openings / float64(seeds), sum.rows / float64(seeds*noiseLearn*noiseLengths)}
}

// passesNoise reports whether a tuning bears every class.
func passesNoise(t detector.Tuning) bool {
	for class := range len(noiseClasses) + 1 {
		if n := underNoise(t, class, noiseSeeds/2); n.openings > noiseOpenings || n.rows > noiseRows {
			return false
		}
	}
	return true
}

// printNoise prints what the tuning in use raises on each class.
func printNoise(stdout io.Writer) {
	fmt.Fprintf(stdout, "\nnoise in which nothing happens, autocorrelation as a share of the learning: alarms in %d learning lengths, share of rows in alarm\n", noiseLengths)
	for class := range len(noiseClasses) + 1 {
		n := underNoise(detector.DefaultTuning(), class, noiseSeeds)
		name := "all at once"
		if class < len(noiseClasses) {
			name = fmt.Sprintf("%.3g", noiseClasses[class])
		}
		fmt.Fprintf(stdout, "%-12s %.2f  %.1f %%\n", name, n.openings, 100*n.rows)
	}
}
