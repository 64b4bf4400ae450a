package evaluate

import (
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/rimewatch/rimewatch/internal/lab/detector"
)

// folding is how nested cross-validation is done: in each of several random
// splits every file is judged by the tuning that was chosen on the files of the
// other folds.
const (
	foldSplits = 10
	folds      = 4
)

// foldGrid is what may be chosen. Tunings that raise too much on noise in which
// nothing happens are left out before any file is looked at.
func foldGrid() []detector.Tuning {
	grid := make([]detector.Tuning, 0, 144)
	for _, window := range []float64{0.05, 0.075, 0.1} {
		for _, effect := range []float64{0.4, 0.6, 0.8, 1} {
			for _, doubt := range []float64{5, 10, 20} {
				for _, threshold := range []float64{2, 2.5, 3, 3.5} {
					t := detector.DefaultTuning()
					t.Window, t.Effect, t.Doubt, t.Threshold = window, effect, doubt, threshold
					grid = append(grid, t)
				}
			}
		}
	}
	return grid
}

// cost is what is chosen by: false alarms and misses, as much of each as may be
// had weighing the same.
func (s outlierScore) cost() float64 { return s.FAR/8 + s.MAR/20 }

// crossValidate prints what the detector is worth on files that its tuning was not
// chosen on.
func crossValidate(ctx context.Context, tables []*table, stdout io.Writer) error {
	if len(tables) < folds {
		fmt.Fprintln(stdout, "cross-validated: too few files")
		return nil
	}
	all := foldGrid()
	grid := slices.DeleteFunc(slices.Clone(all), func(t detector.Tuning) bool { return !passesNoise(t) })
	if len(grid) == 0 {
		fmt.Fprintln(stdout, "cross-validated: no tuning passes the noise")
		return nil
	}
	results := make([][]pair, len(grid)) // by tuning and file
	for g := range grid {
		if err := ctx.Err(); err != nil {
			return err
		}
		for _, t := range tables {
			p, _ := skabPair(t, grid[g])
			results[g] = append(results[g], p)
		}
	}
	f1 := make([]float64, 0, foldSplits)
	var far, mar, found, wrong float64
	chosen := map[int]int{}
	var held []pair // of all splits, for the interval
	for split := range foldSplits {
		pairs := make([]pair, 0, len(tables))
		order := rand.New(rand.NewPCG(uint64(split), 17)).Perm(len(tables))
		for k := range folds {
			best := bestTuning(results, order, k)
			chosen[best]++
			for i, file := range order {
				if i%folds == k {
					pairs = append(pairs, results[best][file])
				}
			}
		}
		s, e := scoreOutliers(pairs), scoreEpisodes(pairs)
		f1, far, mar = append(f1, s.F1), far+s.FAR/foldSplits, mar+s.MAR/foldSplits
		found, wrong = found+float64(e.Detected)/foldSplits, wrong+float64(e.False)/foldSplits
		held = append(held, pairs...)
	}
	low, high := bootstrapF1(held)
	fmt.Fprintf(stdout, `
cross-validated: %d random splits into %d, the tuning of each fold chosen on the others out of the %d of %d that pass the noise below
outliers      F1 %.3f (95 %% interval over files %.3f to %.3f; splits %.3f to %.3f)  false-alarm rate %.1f %%  missed %.1f %%
episodes      %.1f of %d found, %.1f false
chosen        %s
`, foldSplits, folds, len(grid), len(all), meanOf(f1), low, high, slices.Min(f1), slices.Max(f1), far, mar, found, len(tables), wrong, mostChosen(grid, chosen))
	printHindsight(stdout, results)
	return nil
}

// printHindsight prints what the tunings miss at the least when each is scored on the very
// files that it is chosen on: nothing that is chosen on other files can do better than the
// best of them does here.
func printHindsight(stdout io.Writer, results [][]pair) {
	scores := make([]outlierScore, len(results))
	for g := range results {
		scores[g] = scoreOutliers(results[g])
	}
	fmt.Fprintf(stdout, "\nwith hindsight: the least that any of the %d misses on all files at once, by the false-alarm rate that is allowed\n", len(scores))
	for _, most := range hindsightRates {
		least, reach := outlierScore{MAR: 100}, 0
		for _, s := range scores {
			if s.FAR > most {
				continue
			}
			if s.MAR <= missedAim {
				reach++
			}
			if s.MAR < least.MAR {
				least = s
			}
		}
		fmt.Fprintf(stdout, "%4.0f %%        missed %.1f %% at %.1f %%, F1 %.3f; %d miss %.0f %% or less\n", most, least.MAR, least.FAR, least.F1, reach, missedAim)
	}
}

const missedAim = 20.0 // % of the rows of faults that may be missed, at 8 % false alarms

// hindsightRates are the false-alarm rates up to which tunings are compared, %.
var hindsightRates = [...]float64{4, 8, 100}

// bestTuning is the tuning with the least cost on the files outside a fold.
func bestTuning(results [][]pair, order []int, fold int) int {
	best, least := 0, math.Inf(1)
	for g := range results {
		train := make([]pair, 0, len(order))
		for i, file := range order {
			if i%folds != fold {
				train = append(train, results[g][file])
			}
		}
		if c := scoreOutliers(train).cost(); c < least {
			best, least = g, c
		}
	}
	return best
}

// mostChosen names the tuning that most folds took.
func mostChosen(grid []detector.Tuning, chosen map[int]int) string {
	most, total := 0, 0
	for g, n := range chosen {
		total += n
		if n > chosen[most] || n == chosen[most] && g < most {
			most = g
		}
	}
	t := grid[most]
	return fmt.Sprintf("window %.3f effect %.1f doubt %.0f threshold %.1f in %d of %d folds", t.Window, t.Effect, t.Doubt, t.Threshold, chosen[most], total)
}

// bootstrapF1 is the interval of F1 over draws of the files with replacement.
func bootstrapF1(pairs []pair) (low, high float64) {
	r := rand.New(rand.NewPCG(2, 5))
	files := len(pairs) / foldSplits
	all := make([]float64, 0, 400)
	for range cap(all) {
		draw := make([]pair, files)
		for i := range draw {
			draw[i] = pairs[r.IntN(len(pairs))]
		}
		all = append(all, scoreOutliers(draw).F1)
	}
	return quantile(all, 0.025), quantile(all, 0.975)
}

func meanOf(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return sum / float64(len(v))
}
