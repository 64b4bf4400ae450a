package evaluate

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/rimewatch/rimewatch"
)

// variation is a recording as it might have been: read at another interval, by another
// sensor, on another unit. No constant may rest on one file.
type variation struct {
	name string
	make func(list []rimewatch.Reading) []rimewatch.Reading
}

// asRecorded is the first of all variations.
var asRecorded = variation{"as recorded", func(list []rimewatch.Reading) []rimewatch.Reading { return list }}

// zoneVariations are those of a unit of which the zone is measured.
var zoneVariations = []variation{
	asRecorded,
	{"every 5 min", resampled(5 * rimewatch.Minute)},
	{"every 15 min", resampled(15 * rimewatch.Minute)},
	{"every 30 min", resampled(30 * rimewatch.Minute)},
	{"every 60 min", resampled(rimewatch.Hour)},
	{"0.5 K", mapped(rimewatch.ProductZoneTemp, func(v float64) float64 { return math.Round(2*v) / 2 })},
	{"1 K", mapped(rimewatch.ProductZoneTemp, math.Round)},
	{"1 °F", mapped(rimewatch.ProductZoneTemp, func(v float64) float64 { return (math.Round(1.8*v+32) - 32) / 1.8 })},
	{"noise 0.3 K", blurred(rimewatch.ProductZoneTemp, func(v, n float64) float64 { return v + 0.3*n })},
	{"a tenth lost", thinned(0.1)},
	{"half lost", thinned(0.5)},
	{"1 K colder", mapped(rimewatch.ProductZoneTemp, func(v float64) float64 { return v - 1 })},
	{"1 K warmer", mapped(rimewatch.ProductZoneTemp, func(v float64) float64 { return v + 1 })},
	{"faster by 0.7", paced(0.7)},
	{"slower by 1.4", paced(1.4)},
	{"6 h later", later(6 * rimewatch.Hour)},
	{"13 h later", later(13 * rimewatch.Hour)},
}

// ampsVariations are those of a unit of which only the current is measured.
var ampsVariations = func() []variation {
	list := []variation{
		asRecorded,
		{"every 1 min", resampled(rimewatch.Minute)},
		{"every 2 min", resampled(2 * rimewatch.Minute)},
		{"every 5 min", resampled(5 * rimewatch.Minute)},
		{"a tenth lost", thinned(0.1)},
		{"a third lost", thinned(0.33)},
		{"noise 3 %", blurred(rimewatch.AmpDraw, func(v, n float64) float64 { return max(0, v*(1+0.03*n)) })},
	}
	for _, level := range []float64{0.1, 0.13, 0.3, 1, 5} {
		list = append(list, variation{fmt.Sprintf("running at %g A", level), scaledTo(level, 0.001)})
	}
	return append(list,
		variation{"running at 0.13 A, 0.01 A", scaledTo(0.13, 0.01)},
		variation{"running at 0.25 A, 0.1 A", scaledTo(0.25, 0.1)},
		variation{"running at 2 A, 0.1 A", scaledTo(2, 0.1)},
		variation{"running at 0.15 A, every 2 min", func(list []rimewatch.Reading) []rimewatch.Reading {
			return resampled(2 * rimewatch.Minute)(scaledTo(0.15, 0.01)(list))
		}},
		variation{"running at 0.5 A, every 5 min, a tenth lost", func(list []rimewatch.Reading) []rimewatch.Reading {
			return thinned(0.1)(resampled(5 * rimewatch.Minute)(scaledTo(0.5, 0.01)(list)))
		}},
	)
}()

func altered(list []rimewatch.Reading, change func(r *rimewatch.Reading)) []rimewatch.Reading {
	out := slices.Clone(list)
	for i := range out {
		change(&out[i])
	}
	return out
}

// mapped changes the values of a measurement.
func mapped(f rimewatch.Field, to func(v float64) float64) func([]rimewatch.Reading) []rimewatch.Reading {
	return func(list []rimewatch.Reading) []rimewatch.Reading {
		return altered(list, func(r *rimewatch.Reading) {
			if r.Present.Has(f) {
				r.Values[f] = math.Round(1e3*to(r.Values[f])) / 1e3
			}
		})
	}
}

// blurred adds Gaussian noise, the same each time.
func blurred(f rimewatch.Field, to func(v, n float64) float64) func([]rimewatch.Reading) []rimewatch.Reading {
	return func(list []rimewatch.Reading) []rimewatch.Reading {
		random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // nothing is kept secret by it
		return mapped(f, func(v float64) float64 { return to(v, random.NormFloat64()) })(list)
	}
}

// resampled keeps the newest reading of each interval.
func resampled(every rimewatch.Time) func([]rimewatch.Reading) []rimewatch.Reading {
	return func(list []rimewatch.Reading) (out []rimewatch.Reading) {
		for i := range list {
			if len(out) == 0 || list[i].At-out[len(out)-1].At >= every-rimewatch.Second {
				out = append(out, list[i])
			}
		}
		return out
	}
}

// thinned loses a share of the rows.
func thinned(share float64) func([]rimewatch.Reading) []rimewatch.Reading {
	return func(list []rimewatch.Reading) (out []rimewatch.Reading) {
		random := rand.New(rand.NewPCG(3, 4)) //nolint:gosec // nothing is kept secret by it
		for i := range list {
			if random.Float64() >= share {
				out = append(out, list[i])
			}
		}
		return out
	}
}

// paced lets everything take longer by a factor, with the same readings.
func paced(by float64) func([]rimewatch.Reading) []rimewatch.Reading {
	return func(list []rimewatch.Reading) []rimewatch.Reading {
		begin := list[0].At
		return altered(list, func(r *rimewatch.Reading) {
			r.At = begin + rimewatch.Time(by*float64(r.At-begin))
			r.ReceivedAt = r.At
		})
	}
}

// later moves everything, so that its days and windows begin elsewhere.
func later(by rimewatch.Time) func([]rimewatch.Reading) []rimewatch.Reading {
	return func(list []rimewatch.Reading) []rimewatch.Reading {
		return altered(list, func(r *rimewatch.Reading) { r.At, r.ReceivedAt = r.At+by, r.ReceivedAt+by })
	}
}

// scaledTo scales a current so that it usually is at a level, A, while the unit runs, as
// a meter of some resolution shows it.
func scaledTo(level, resolution float64) func([]rimewatch.Reading) []rimewatch.Reading {
	return func(list []rimewatch.Reading) []rimewatch.Reading {
		var all []float64
		for i := range list {
			if v, ok := list[i].Value(rimewatch.AmpDraw); ok && v > 0.05 {
				all = append(all, v)
			}
		}
		by := level / quantile(all, 0.5)
		return mapped(rimewatch.AmpDraw, func(v float64) float64 { return resolution * math.Round(by*v/resolution) })(list)
	}
}

// varied is what a variation of a recording brought.
type varied struct {
	days      float64
	opened    map[rimewatch.AlertType][]rimewatch.Time
	predicted int
	learnt    bool // past learning within a week of running
	ranFor    rimewatch.Time
}

func play(typ string, list []rimewatch.Reading, limits *rimewatch.LimitOverrides) (v varied) {
	judge := newUnitJudge(typ, limits)
	v.opened = map[rimewatch.AlertType][]rimewatch.Time{}
	v.days = float64(list[len(list)-1].At-list[0].At) / float64(rimewatch.Day)
	var out []event
	for i := range list {
		out = judge.take(&list[i], out[:0])
		u := &judge.state.Unit
		if i > 0 && u.Running() {
			v.ranFor += min(list[i].At-list[i-1].At, 5*rimewatch.Minute)
		}
		v.learnt = v.learnt || !u.Learning() && v.ranFor <= 7*rimewatch.Day
		for k := range out {
			switch e := &out[k]; {
			case e.what != "opened" || ofRecording(e.typ):
			case e.predicts:
				v.predicted++
			default:
				v.opened[e.typ] = append(v.opened[e.typ], e.at)
			}
		}
	}
	return v
}

// isCurrentOnly reports whether nothing but the current is measured.
func isCurrentOnly(list []rimewatch.Reading) bool {
	return list[0].Present.Has(rimewatch.AmpDraw) && !list[0].Present.Has(rimewatch.ProductZoneTemp)
}

// varyReal plays the variations of a recording and prints what they have raised: as
// recorded, and the fewest and the most of all.
func varyReal(name, typ string, list []rimewatch.Reading, stdout io.Writer) {
	variations := zoneVariations
	if isCurrentOnly(list) {
		variations = ampsVariations
	}
	all := make([]varied, 0, len(variations))
	types := map[rimewatch.AlertType]bool{}
	predicted, predicting := 0, 0
	for _, vary := range variations {
		v := play(typ, vary.make(list), nil)
		all = append(all, v)
		for t := range v.opened {
			types[t] = true
		}
		if predicted += v.predicted; v.predicted > 0 {
			predicting++
		}
	}
	var told []string
	for _, t := range rimewatch.AlertTypes() {
		if !types[t] {
			continue
		}
		n := make([]float64, 0, len(all))
		for i := range all {
			n = append(n, float64(len(all[i].opened[t])))
		}
		told = append(told, fmt.Sprintf("%s %.0f (%.0f–%.0f)", t, n[0], slices.Min(n), slices.Max(n)))
	}
	if len(told) == 0 {
		told = []string{"nothing"}
	}
	learnt := "–"
	if isCurrentOnly(list) {
		n := 0
		for i := range all {
			if all[i].learnt {
				n++
			}
		}
		learnt = fmt.Sprintf("%d of %d", n, len(all))
	}
	fmt.Fprintf(stdout, "| %s | %s | %d | %s | %s | %d in %d |\n", name, typ, len(all), strings.Join(told, ", "), learnt, predicted, predicting)
}
